"""Every measure of the table, under every convention, against the slow twin that reads like its definition."""

import math
from collections.abc import Callable, Iterator
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall import Measure, project
from lexirecall.errors import UsageError
from lexirecall.exposure import EXPOSURES
from lexirecall.fields import choices_of
from lexirecall.manifest import Conventions
from lexirecall.measures import MEASURES
from lexirecall.names import parse_measures
from strategies import DOCUMENTS, LEVELS, Collection, Ordering, collections, costly, orderings, quick
from table import ONE_ORDER, all_measures, check_twins, needs_size

TRIED = parse_measures([
    "AP AP@2 AP(rel=2) RR RR@2 RR(rel=2)@3 RBP RBP(p=0.5) RBP@2 RBP(p=0.95,rel=2)@3 R@1 R@3 R(rel=2)@4 P@1 P@5",
    "Success@1 Success@3 Rprec Rprec(rel=0.5) TSE TSE@3 TSE(rel=2) TSE(e=dcg) TSE(e=dcg)@2 TSE(e=rbp) TSE(e=rbp,p=0.5)",
    "All@1 All@3 All(rel=2)@4 Reached@3 Reached(r=0.5)@1 Reached(r=0.07)@3 Reached(r=1)@3 Reached(r=0.34,rel=2)@4",
    "SL1 SL1(rel=2) SL3 LastRel RE RE(rel=2) Depth@0.07 Depth@0.5 Depth@0.95 Depth@1",
    "nDCG nDCG@1 nDCG@3 nDCG(dcg=exp-log2) nDCG(dcg=exp-log2)@2 nDCG(rel=2) nDCG(rel=2)@2 nDCG(rel=level)",
    "nDCG(gains={0:0,1:1,2:3}) nDCG(gains={1:0,0.5:2})@3 nDCG(gains={0.25:0,0.5:0,1:0,1.5:0,2:0,4:0})",
    "ERR ERR@2 ERR(max_grade=5) GradedRBP GradedRBP(p=0.5)@2 GradedRBP(max_grade=4) Compat Compat(p=0.5)",
    "Compat(p=1) Compat(normalize=False) Accuracy Accuracy@2 Accuracy(rel=2)@3 NumQ NumQ(rel=2) SetAP SetAP(rel=2)",
    "NumRet NumRel NumRel(rel=2) NumRelRet SetP SetP(rel=2) SetP(relative=True) SetP(relative=True,rel=2)",
    "SetR SetF SetF(beta=2) SetF(beta=0.5) SetF(beta=0)",
    "Bpref Bpref(rel=2) infAP infAP(rel=2) Judged@1 Judged@3 IPrec@0 IPrec@0.1 IPrec@0.5 IPrec@0.7 IPrec(rel=2)@1",
    "R@20% R(rel=2)@35% R@100% All@50% Success@7% Reached(r=0.5)@30% RRF@0.07 RRF@0.5 RRF(rel=2)@1 ERF@0.1 ERF@0.29",
    "ERF@1 ATD ATD(rel=2) Loss Loss(rel=2) TNR@0.5 TNR@0.95 TNR(rel=2)@1 AsreviewWSS@0.5 AsreviewWSS@0.95",
    "AsreviewWSS@1 AsreviewERF@0.1 AsreviewERF@0.5 AsreviewERF@1 AsreviewTNR@0.5 AsreviewTNR@0.95 AsreviewTNR@1",
    "TSE(e=linear) TSE(e=linear)@3 WSS@0.5 WSS@0.95 WSS(rel=2)@1",
    "LexiRecallPercentile LexiRecallPercentile(rel=2) LexiRecallBits Linear Linear(rel=2)",
    "MetricLexiRecall MetricLexiRecall(epsilon=0.1) MetricLexiRecall(epsilon=0.999,rel=2)",
])  # fmt: skip
"""Settings that have gone wrong before, or could; a row that is not among them is tried with its usual ones."""
Twin = Callable[[naive.Lines, dict[str, float], Measure], float]


def settings_tried() -> list[Measure]:
    """Return every row of the table with settings; those of providers have twins that know the documents by name."""
    named = {measure.name for measure in TRIED}
    return TRIED + [m for m in all_measures() if m.name not in named and not m.needs_providers]


def measures_for(collection: Collection) -> list[Measure]:
    return [measure for measure in settings_tried() if collection.corpus_size is not None or not needs_size(measure)]


def alike(ours: float, theirs: float) -> bool:
    """Tell whether two values are equal, or both undefined."""
    if not math.isfinite(ours) or not math.isfinite(theirs):
        return not math.isfinite(ours) and not math.isfinite(theirs)
    return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12)


def differences(
    collection: Collection, measures: list[Measure], level: float, twin: Twin, **conventions: Any
) -> Iterator[str]:
    """Name every value in which the twin differs."""
    positions = project(collection.qrels, collection.runs, needs_judged=True, **collection.given_size, **conventions)
    for measure in measures:
        scores = measure.scores(positions.at_level(measure.level(level)))
        assert scores.shape == (len(collection.runs), len(collection.qrels))
        for s, run in enumerate(collection.runs.values()):
            for q, (query, judged) in enumerate(collection.qrels.items()):
                theirs = twin(list(run.get(query, {}).items()), judged, measure)
                if not alike(scores[s, q], theirs):
                    yield f"{measure} of system {s + 1}, request {query}: {scores[s, q]}, but the twin has {theirs}"


def twins(collection: Collection, level: float, ordering: Ordering, ties: str, imputation: str = "pessimistic") -> Twin:
    """Return the slow way to a value: of the one order that a tie rule gives, or of all orders."""

    def of_order(order: list[str], judged: dict[str, float], measure: Measure) -> float:
        shown = naive.grades_shown(order, judged, ordering.depth, judged_only=ordering.judged_only)
        case = naive.Case(shown, judged, measure.level(level), collection.corpus_size, imputation)
        sees_bottom = imputation == "paper" and not (measure.is_cut or measure.needs_judged)
        cases = naive.completed(case) if sees_bottom else [case]
        return fmean(naive.value(measure.name, measure.settings, each) for each in cases)

    def twin(lines: naive.Lines, judged: dict[str, float], measure: Measure) -> float:
        if ties == "expected":
            return naive.expected(lines, ordering.score_dtype, lambda order: of_order(order, judged, measure))
        return of_order(naive.ranked(lines, judged, ties, ordering.score_dtype), judged, measure)

    return twin


def conventions_of(ordering: Ordering) -> dict[str, Any]:
    return {"score_dtype": ordering.score_dtype, "depth": ordering.depth, "judged_only": ordering.judged_only}


def test_every_row_of_the_table_has_a_twin_and_every_twin_a_row() -> None:
    of_documents = (row.name for row in MEASURES.values() if not (row.needs_providers or row.needs_units))
    check_twins(of_documents, naive.MEASURES, "MEASURES")


def test_every_exposure_has_a_twin_and_every_twin_a_row() -> None:
    check_twins(EXPOSURES, naive.EXPOSURES, "EXPOSURES")


def test_the_settings_tried_cover_every_setting_that_is_offered() -> None:
    tried = {(measure.name, setting) for measure in settings_tried() for setting in measure.settings}
    offered = {
        (row.name, setting)
        for row in MEASURES.values()
        for setting in row.parameters
        if not (row.needs_providers or row.needs_units)
    }
    assert not offered - tried, "add measures with these settings to TRIED"


@pytest.mark.parametrize("ties", ONE_ORDER)
@costly(50)
@given(collections(), orderings(), st.sampled_from(LEVELS))
def test_every_measure_equals_its_twin(ties: str, collection: Collection, ordering: Ordering, level: float) -> None:
    twin = twins(collection, level, ordering, ties)
    measures = measures_for(collection)
    assert not list(differences(collection, measures, level, twin, ties=ties, **conventions_of(ordering)))


@pytest.mark.parametrize("ties", ONE_ORDER)
@costly(30)
@given(collections(), orderings(), st.sampled_from(LEVELS))
def test_every_measure_equals_its_twin_with_optimistic_imputation(
    ties: str, collection: Collection, ordering: Ordering, level: float
) -> None:
    twin = twins(collection, level, ordering, ties, "optimistic")
    measures = measures_for(collection)
    conventions = {"imputation": "optimistic", "ties": ties, **conventions_of(ordering)}
    assert not list(differences(collection, measures, level, twin, **conventions))


few_documents = collections(documents=DOCUMENTS[:6], with_size=True)  # so that all orders of those missing can be tried


@costly(80)
@given(few_documents, orderings(), st.sampled_from(LEVELS))
def test_every_measure_equals_its_twin_with_the_imputation_of_the_paper(
    collection: Collection, ordering: Ordering, level: float
) -> None:
    twin = twins(collection, level, ordering, "trec", "paper")
    conventions = {"imputation": "paper", **conventions_of(ordering)}
    assert not list(differences(collection, measures_for(collection), level, twin, **conventions))


@quick(40)
@given(collections(), st.none() | st.integers(1, 6), st.sampled_from(LEVELS))
def test_ranked_lists_without_scores_are_taken_in_their_order(
    collection: Collection, depth: int | None, level: float
) -> None:
    """Ranked lists have no ties, so that no tie rule reorders them."""
    lists = {name: {q: list(scores) for q, scores in run.items()} for name, run in collection.runs.items()}
    positions = project(collection.qrels, lists, depth=depth, needs_judged=True, **collection.given_size)
    falling = {
        name: {q: {document: -rank for rank, document in enumerate(scores)} for q, scores in run.items()}
        for name, run in collection.runs.items()
    }
    scored = project(collection.qrels, falling, depth=depth, needs_judged=True, **collection.given_size)
    for measure in measures_for(collection):
        at = measure.level(level)
        pairs = zip(measure.scores(positions.at_level(at)).flat, measure.scores(scored.at_level(at)).flat, strict=True)
        assert all(alike(ours, theirs) for ours, theirs in pairs), measure


# Scores from a small set, so that blocks of tied documents are common; few documents, so that all orders can be tried
tied_collections = collections(
    scores=(1.0, 1.0, 1.0, 0.50000000001, 0.50000000002), documents=DOCUMENTS[:5], max_runs=1
)


@costly(80)
@given(tied_collections, orderings(both=False), st.sampled_from(LEVELS))
def test_expected_value_is_the_mean_over_all_orders_of_tied_documents(
    collection: Collection, ordering: Ordering, level: float
) -> None:
    measures = [measure for measure in measures_for(collection) if measure.has_closed_form]
    twin = twins(collection, level, ordering, "expected")
    assert not list(differences(collection, measures, level, twin, ties="expected", **conventions_of(ordering)))


tied_with_size = collections(
    scores=(1.0, 1.0, 1.0, 0.5),
    documents=DOCUMENTS[:5],
    max_runs=1,
    with_size=True,
    grades=(0.0, 0.5, 1.0, 2.0, 3.0),
)


@costly(80)
@given(tied_with_size, orderings(both=False), st.sampled_from(LEVELS))
def test_expected_value_with_the_imputation_of_the_paper_is_the_mean_over_all_orders_of_tied_and_missing_documents(
    collection: Collection, ordering: Ordering, level: float
) -> None:
    measures = [measure for measure in measures_for(collection) if measure.has_closed_form]
    twin = twins(collection, level, ordering, "expected", "paper")
    conventions = {"imputation": "paper", "ties": "expected", **conventions_of(ordering)}
    assert not list(differences(collection, measures, level, twin, **conventions))


def test_expected_value_is_finite_when_the_cut_never_hides_the_document_that_counts() -> None:
    """Two of three tied documents are relevant, two are shown: one of those is first in 2/3 of orders, else second."""
    positions = project({"q": {"a": 1, "b": 1}}, {"q": {"a": 1, "b": 1, "x": 1}}, ties="expected", depth=2)
    assert MEASURES["SL1"].scores(positions.at_level(1)) == pytest.approx(1 / 3)


@pytest.mark.parametrize("measure", [m for m in settings_tried() if not m.has_closed_form], ids=str)
def test_measures_without_a_closed_form_refuse_expected_ties(measure: Measure) -> None:
    run = {"q": {"a": 1.0, "b": 1.0}}
    positions = project({"q": {"a": 1}}, run, ties="expected", needs_judged=True, corpus_size=9)
    with pytest.raises(UsageError, match="no closed form") as caught:
        measure.scores(positions.at_level(measure.level(1)))
    assert str(measure) in str(caught.value)


def test_expected_ties_refuse_conventions_without_a_closed_form() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    with pytest.raises(UsageError, match="optimistic"):
        project(qrels, run, ties="expected", imputation="optimistic")
    with pytest.raises(UsageError, match="depth"):
        project(qrels, run, ties="expected", depth=3, judged_only=True)


lines = st.lists(st.tuples(st.sampled_from("abcdé"), st.sampled_from([0.0, 1.0, 2.0])), min_size=1, max_size=8)


@pytest.mark.parametrize("rule", [rule for rule in choices_of(Conventions, "duplicates") if rule != "error"])
@pytest.mark.parametrize("ties", ["trec", "input"])
@quick(30)
@given(lines=lines)
def test_repeated_documents_are_left_out_as_the_rule_says(
    rule: str, ties: str, lines: naive.Lines, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Only a file can list a document twice with two scores: in a dict its keys would be one."""
    path = tmp_path_factory.mktemp("runs") / "repeated.run"
    path.write_text("".join(f"q Q0 {document} 1 {score} tag\n" for document, score in lines), encoding="utf-8")
    judged = {"a": 1.0, "c": 1.0, "é": 1.0, "b": 0.0}
    positions = project({"q": judged}, path, duplicates=rule, ties=ties)
    unique = naive.without_duplicates(lines, rule)
    case = naive.Case(naive.grades_shown(naive.ranked(unique, judged, ties), judged), judged)
    assert positions.found.positions.tolist() == case.found
    assert positions.num_retrieved.tolist() == [[len(unique)]]
    assert positions.num_duplicates == (len(lines) - len(unique),)
