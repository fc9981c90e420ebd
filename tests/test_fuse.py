"""Fusing runs: what is learnt never saw what is reported, it survives bad runs, and nonsense is refused."""

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from command import Command
from lexirecall import compare, evaluate, fuse, parse_measure, project
from lexirecall.errors import DataError, FormatError, LexirecallError, UsageError
from lexirecall.learn import fusion
from lexirecall.learn.baselines import BASELINES, BEST_RUN
from lexirecall.learn.fusionresult import FUSED
from lexirecall.learn.fusiontables import COLUMNS
from lexirecall.learn.modelchoice import best_of, folds_of, inner_folds, num_fits, settings_to_try
from lexirecall.learn.weightsfile import FusionWeights
from lexirecall.manifest import Policies
from lexirecall.results import FusedRun
from lexirecall.tables import FORMATS

Qrels = dict[str, dict[str, int]]
RowFacts = dict[str, dict[str, float]]
FIXED: dict[str, Any] = {"discount": 0.9, "regularization": 0.001}
"""Nothing is chosen, which takes most of the time."""


def run_of(qrels: Qrels, strength: float, depth: int, rng: np.random.Generator, size: int = 300) -> RowFacts:
    """Return a run that lifts relevant documents above the noise by so much; below 0, it puts them last."""
    made: RowFacts = {}
    for query, judged in qrels.items():
        scores = rng.normal(size=size)
        scores[[int(document[1:]) for document in judged]] += strength
        top = np.argsort(-scores)[:depth]
        made[query] = {f"d{at}": round(float(scores[at]), 6) for at in top}
    return made


def collection(seed: int = 0, num_queries: int = 24) -> tuple[Qrels, dict[str, RowFacts], np.random.Generator]:
    """Return judgments, and three runs of different worth."""
    rng = np.random.default_rng(seed)
    qrels = {f"q{q}": {f"d{at}": 1 for at in rng.choice(300, 8, replace=False)} for q in range(num_queries)}
    strengths = {"strong": 2.2, "middle": 1.4, "weak": 0.7}
    return qrels, {name: run_of(qrels, strength, 120, rng) for name, strength in strengths.items()}, rng


QRELS, RUNS, RNG = collection()
EXTRA: dict[str, RowFacts] = {
    "copy": RUNS["strong"],
    "noise": run_of(QRELS, 0.0, 120, RNG),
    "adversary": run_of(QRELS, -3.0, 300, RNG),
    "half": {query: own for query, own in run_of(QRELS, 1.5, 120, RNG).items() if int(query[1:]) % 2},
    "empty": {query: {} if query == "q0" else own for query, own in run_of(QRELS, 1.2, 120, RNG).items()},
    "deep": run_of(QRELS, 1.0, 300, RNG),
    "shallow": run_of(QRELS, 1.8, 5, RNG),
}
GOOD = {
    "qrels.txt": "".join(f"{q} 0 {d} {g}\n" for q, own in QRELS.items() for d, g in own.items()).encode(),
    **{
        name: "".join(f"{q} Q0 {d} 1 {s} {name}\n" for q, own in run.items() for d, s in own.items()).encode()
        for name, run in RUNS.items()
    },
}


@pytest.fixture(scope="module")
def made() -> FusedRun:
    return fuse(QRELS, RUNS)


@pytest.fixture(scope="module")
def plain() -> FusedRun:
    return fuse(QRELS, RUNS, **FIXED)


def rows_of(result: FusedRun, kind: str) -> list[dict[str, Any]]:
    return [row for row in result.rows() if row["kind"] == kind]


def better(a: RowFacts, b: RowFacts, measure: str = "LexiRecall") -> dict[str, Any]:
    """Return how one run compares with another."""
    [row] = compare(QRELS, {"a": a, "b": b}, measure).rows()
    return row


# What is reported


def test_numbers_are_those_of_the_run_that_is_written(made: FusedRun, tmp_path: Path) -> None:
    made.save(tmp_path / "fused.run")
    everything = {FUSED: tmp_path / "fused.run", **RUNS}
    own = {(row["run"], row["measure"]): row["value"] for row in rows_of(made, "mean")}
    for row in evaluate(QRELS, everything, ["R@1000", "AP", "nDCG", "Depth@0.95"]).rows():
        assert own[row["run"], row["measure"]] == row["value"]
    assert evaluate(QRELS, made.to_dict(), "AP").to_dict()["run"]["AP"] == own[FUSED, "AP"]


def test_ranks_of_the_written_run_count_from_1(plain: FusedRun) -> None:
    ranks = [int(line.split()[3]) for line in plain.to_trec().splitlines() if line.startswith("q0 ")]
    assert ranks == [*range(1, len(ranks) + 1)]


def test_weights_are_laid_out_with_three_decimals_the_heaviest_run_first(plain: FusedRun) -> None:
    sums = {run: sum(weights.values()) for run, weights in plain.weights.runs.items()}
    for run, (name, *cells) in zip(
        sorted(sums, key=sums.__getitem__)[::-1], plain.tables()["Weights"].rows, strict=True
    ):
        assert name == run
        assert [float(cell) for cell in cells] == pytest.approx(
            [*plain.weights.runs[run].values(), sums[run]], abs=5e-4
        )
        assert {len(str(cell).split(".")[1]) for cell in cells} == {3}


def test_no_query_of_a_fused_run_is_without_judgments(plain: FusedRun) -> None:
    assert {row["without_judgments"] for row in plain.scores.manifest.runs} == {0}


def test_every_document_of_any_run_is_ranked(made: FusedRun) -> None:
    fused = made.to_dict()
    for query in QRELS:
        assert {*fused[query]} == {document for run in RUNS.values() for document in run[query]}
        assert [*fused[query].values()] == sorted(fused[query].values(), reverse=True)


def test_rows_have_their_columns_and_pairs_are_those_of_compare(made: FusedRun) -> None:
    for kind, columns in COLUMNS.items():
        for row in rows_of(made, kind):
            assert tuple(row) == ("kind", *columns)
    assert [row["run"] for row in rows_of(made, "mean")[::5]] == [FUSED, *BASELINES, BEST_RUN, *RUNS]
    assert {(row["a"], row["b"]) for row in rows_of(made, "pair")} == {
        (FUSED, other) for other in (*BASELINES, BEST_RUN)
    }
    rrf = {
        query: {d: sum(1 / (61 + [*run[query]].index(d)) for run in RUNS.values() if d in run[query]) for d in own}
        for query, own in made.to_dict().items()
    }
    mine = next(row for row in rows_of(made, "pair") if row["b"] == "RRF" and row["measure"] == "AP")
    again = better(made.to_dict(), rrf, "AP")
    assert (mine["mean"], mine["p"], mine["wins"]) == pytest.approx((again["mean"], again["p"], again["wins"]))


def test_sentences_follow_the_numbers(made: FusedRun) -> None:
    first, *others = made.sentences()
    assert first.startswith("24 queries in 5 folds, each ranked by weights that were learnt on the other folds")
    rows = rows_of(made, "pair")
    for sentence, other in zip(others, (*BASELINES, BEST_RUN), strict=True):
        own = [row for row in rows if row["b"] == other]
        gained = [row["measure"] for row in own if row["p_corrected"] < 0.05 and row["mean"] > 0]
        lost = [row["measure"] for row in own if row["p_corrected"] < 0.05 and row["mean"] < 0]
        assert ("Nothing is gained over" in sentence) == (not gained and not lost)
        assert ("better than" in sentence) == bool(gained)
        assert ("worse than" in sentence) == bool(lost)
        assert all(f"{measure} (" in sentence for measure in gained + lost)


def test_nothing_is_gained_by_fusing_a_run_with_itself() -> None:
    twice = fuse(QRELS, {"one": RUNS["strong"], "two": RUNS["strong"]}, ["LexiRecall", "AP"], **FIXED)
    for sentence in twice.sentences()[1:]:
        assert sentence.startswith("Nothing is gained over")
        assert sentence.endswith("), AP.")
    assert twice.weights.runs["one"] == pytest.approx(twice.weights.runs["two"])


def test_the_same_seed_gives_the_same_and_another_seed_other_folds(plain: FusedRun) -> None:
    again, other = fuse(QRELS, RUNS, **FIXED), fuse(QRELS, RUNS, seed=1, **FIXED)
    assert again.to_trec() == plain.to_trec()
    assert other.to_trec() != plain.to_trec()


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_printed(plain: FusedRun, form: str) -> None:
    text = plain.render(form)
    assert "CombSUM" in text
    if form == "jsonl":
        assert {json.loads(line)["kind"] for line in text.splitlines()} == {*COLUMNS}


def test_results_convert_to_frames() -> None:
    rows = [(q, d, s) for q, own in RUNS["strong"].items() for d, s in own.items()]
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    made = fuse(QRELS, {"strong": frame, "weak": RUNS["weak"]}, "AP", **FIXED).to_frame()
    assert isinstance(made, pl.DataFrame)
    assert {*made["kind"]} == {*COLUMNS}


# Never below reciprocal rank fusion


def rrf_of(runs: Mapping[str, RowFacts | dict[str, list[str]]], query: str) -> list[str]:
    """Rank the documents of a query by reciprocal rank fusion; equal ones by id, the highest first."""
    rankings = [[*run[query]] for run in runs.values() if query in run]
    sums = {d: round(sum(1 / (61 + own.index(d)) for own in rankings if d in own), 12) for own in rankings for d in own}
    return sorted(sums, key=lambda document: (sums[document], document), reverse=True)


def alike(seed: int, num_queries: int = 12) -> tuple[Qrels, dict[str, RowFacts]]:
    """Return judgments and three runs of equal worth, over which weights gain nothing."""
    rng = np.random.default_rng(seed)
    qrels = {f"q{q}": {f"d{at}": 1 for at in rng.choice(100, 4, replace=False)} for q in range(num_queries)}
    return qrels, {name: run_of(qrels, 1.2, 100, rng, size=100) for name in ("a", "b", "c")}


@pytest.fixture(scope="module")
def mixed() -> FusedRun:
    """A copy makes RRF better: it ranks the queries of some folds, and weights those of the others."""
    return fuse(QRELS, {**RUNS, "copy": RUNS["strong"]}, ["LexiRecall", "AP"], **FIXED)


@pytest.mark.parametrize("seed", range(5))
def test_where_learning_gains_nothing_the_fused_run_is_rrf(seed: int, tmp_path: Path) -> None:
    qrels, runs = alike(seed)
    made = fuse(qrels, runs, ["AP", "LexiRecall"], **FIXED)
    assert {row["way"] for row in rows_of(made, "fold")} == {"RRF"}
    assert made.sentences()[0] == (
        "The fused run is RRF, in all 5 folds (12 queries): on the other folds, learnt weights show no gain over it in "
        "AP."
    )
    assert all([*ranked] == rrf_of(runs, query) for query, ranked in made.to_dict().items())
    assert [(row["wins"], row["losses"]) for row in rows_of(made, "pair") if row["b"] == "RRF"] == [(0, 0)] * 2
    made.weights.save(tmp_path / "rrf.json")
    assert json.loads((tmp_path / "rrf.json").read_text())["version"] == 1
    applied = fuse(qrels, runs, "AP", weights=tmp_path / "rrf.json")
    assert (applied.weights, applied.to_trec()) == (made.weights, made.to_trec())
    assert applied.sentences()[0].startswith("12 queries ranked by RRF, which is what weights that were learnt on 12")


def test_folds_that_show_no_gain_are_ranked_by_rrf_and_the_others_are_not(mixed: FusedRun) -> None:
    assert mixed.sentences()[0].startswith("The fused run is RRF in 3 of 5 folds (14 of 24 queries): on the other")
    assert repr(mixed).endswith("learnt in 2 folds, RRF in 3>")
    runs, ranked = {**RUNS, "copy": RUNS["strong"]}, mixed.to_dict()
    for fold in mixed.folds:
        for query in (f"q{at}" for at in fold.queries):
            assert ([*ranked[query]] == rrf_of(runs, query)) == fold.is_rrf
    assert not mixed.weights.is_rrf


def test_the_first_measure_decides_between_weights_and_rrf(mixed: FusedRun, made: FusedRun) -> None:
    assert fuse(QRELS, {**RUNS, "copy": RUNS["strong"]}, ["AP", "LexiRecall"], **FIXED).num_rrf == 0 < mixed.num_rrf
    assert {row["way"] for row in rows_of(made, "fold")} == {"learnt"}


@pytest.mark.parametrize("number", range(5))
def test_whether_rrf_ranks_a_fold_does_not_depend_on_its_labels(number: int, mixed: FusedRun) -> None:
    fold = mixed.folds[number]
    spoilt = {f"q{query}": {f"d{at}": 1 for at in range(290 - number, 300)} for query in fold.queries}
    other = fuse({**QRELS, **spoilt}, {**RUNS, "copy": RUNS["strong"]}, ["LexiRecall", "AP"], **FIXED)
    assert other.folds[number].is_rrf == fold.is_rrf
    assert all(other.to_dict()[f"q{query}"] == mixed.to_dict()[f"q{query}"] for query in fold.queries)


def test_labels_at_random_are_never_fused_better_than_by_rrf() -> None:
    """Of 20 collections in which nothing can be learnt, the report says of none that something is gained over RRF."""
    for seed in range(20):
        qrels, runs = alike(100 + seed)
        rng = np.random.default_rng(seed)
        labels = {query: {f"d{at}": 1 for at in rng.choice(100, 4, replace=False)} for query in qrels}
        made = fuse(labels, runs, ["LexiRecall", "AP"], seed=seed, **FIXED)
        pairs = [row for row in rows_of(made, "pair") if row["b"] == "RRF"]
        assert not [row for row in pairs if row["p_corrected"] < 0.05 and row["mean"] > 0]


@pytest.mark.parametrize(("num_queries", "folds", "num_rrf"), [(6, 3, 3), (10, 5, 0)])
def test_few_queries_tell_by_wins_and_too_few_not_at_all(num_queries: int, folds: int, num_rrf: int) -> None:
    """Weights are better on every query here. A mean of so few has no interval; four wins may be chance, eight not."""
    few = {query: QRELS[query] for query in list(QRELS)[:num_queries]}
    made = fuse(few, {"strong": RUNS["strong"], "adversary": EXTRA["adversary"]}, "AP", folds=folds, **FIXED)
    assert (made.num_rrf, made.num_folds) == (num_rrf, folds)


def test_queries_that_are_in_no_fold_are_ranked_as_the_weights_of_all_say() -> None:
    qrels, runs = alike(0)
    listed = {name: {query: [*own] for query, own in run.items()} for name, run in runs.items()}
    made = fuse({**qrels, "q3": {"nowhere": 1}}, {**listed, "none": {"q0": []}}, "AP", **FIXED)
    assert [(row["fold"], row["way"]) for row in rows_of(made, "fold")][-1] == (None, "RRF")
    assert [*made.to_dict()["q3"]] == rrf_of(listed, "q3")


def test_a_written_run_has_digits_enough_to_be_rrf(tmp_path: Path) -> None:
    """1/(60 + 157) + 1/(60 + 159) is above 1/(60 + 148) + 1/(60 + 169), by 4e-10."""

    def ranking(name: str, above: int, below: int) -> list[str]:
        return [{above: "a", below: "z"}.get(rank, f"{name}{rank}") for rank in range(1, 171)]

    qrels, runs = {"q": {"a": 1}}, {"x": {"q": ranking("x", 157, 148)}, "y": {"q": ranking("y", 159, 169)}}
    equal = FusionWeights({name: {"reciprocal": 1.0} for name in runs}, ("reciprocal",), 0.9, 0.01, 50)
    fuse(qrels, runs, "AP", weights=equal).save(tmp_path / "fused.run")
    [read] = evaluate(qrels, tmp_path / "fused.run", "RR").to_dict().values()
    assert read["RR"] == 1 / (1 + rrf_of(runs, "q").index("a"))


def test_equal_weights_of_reciprocal_ranks_are_rrf_wherever_they_are_from() -> None:
    features = ("score", "reciprocal")
    equal = FusionWeights({name: {"score": 0.0, "reciprocal": 2.5} for name in RUNS}, features, 0.9, 0.01, 50)
    made = fuse(QRELS, RUNS, "AP", weights=equal)
    assert all([*ranked] == rrf_of(RUNS, query) for query, ranked in made.to_dict().items())
    negative = FusionWeights({name: {"reciprocal": -1.0} for name in RUNS}, ("reciprocal",), 0.9, 0.01, 50)
    assert not negative.is_rrf


# Held out


def test_no_query_is_ranked_by_weights_that_saw_its_labels(plain: FusedRun) -> None:
    """Other labels for a query change the rankings of other folds, but never its own fold's."""
    fold = next(own for own in plain.folds if 0 in own.queries)
    spoilt = {"q0": dict.fromkeys((f"d{at}" for at in range(0, 300, 2)), 1)}
    other = fuse({**QRELS, **spoilt}, RUNS, **FIXED)
    before, after = plain.to_dict(), other.to_dict()
    inside = [f"q{query}" for query in fold.queries]
    assert all(before[query] == after[query] for query in inside)
    assert all(before[query] != after[query] for query in QRELS if query not in inside)


def test_settings_and_the_best_run_are_chosen_without_the_queries_they_are_for(made: FusedRun) -> None:
    fold = next(own for own in made.folds if 0 in own.queries)
    spoilt = {f"q{query}": {f"d{at}": 1 for at in range(290, 300)} for query in fold.queries}
    other = fuse({**QRELS, **spoilt}, RUNS)
    again = next(own for own in other.folds if 0 in own.queries)
    assert (again.settings, again.best_run) == (fold.settings, fold.best_run)
    before, after = made.to_dict(), other.to_dict()
    assert all(before[f"q{query}"] == after[f"q{query}"] for query in fold.queries)


def test_folds_hold_each_query_once_and_inner_folds_none_of_the_outer() -> None:
    for number in (2, 3, 4, 5, 6, 7, 11):
        folds = folds_of(np.arange(11), number, 3)
        assert sorted(np.concatenate(folds).tolist()) == [*range(11)]
        for held_out in (*range(number), None):
            inner = np.concatenate(inner_folds(folds, held_out)).tolist()
            outer = [] if held_out is None else folds[held_out].tolist()
            assert sorted(inner + outer) == [*range(11)]
    assert num_fits(folds_of(np.arange(20), 5, 0), 12) == (10 + 5 + 1) * 12


@pytest.mark.parametrize("options", [{"folds": 3, "discount": 0.9}, {"folds": 4}, FIXED])
def test_progress_counts_every_fit(options: dict[str, Any], reported: Callable[..., list[Any]]) -> None:
    reports = reported(fusion)
    qrels = {query: QRELS[query] for query in list(QRELS)[:8]}
    fuse(qrels, RUNS, "AP", **options)
    (label, total, shown), *advances = reports
    assert (label, shown, sum(advances)) == ("learning", False, total)


def test_leave_one_out_has_a_fold_for_each_query() -> None:
    qrels = {query: QRELS[query] for query in list(QRELS)[:6]}
    made = fuse(qrels, RUNS, "AP", folds=6, **FIXED)
    assert [len(own.queries) for own in made.folds] == [1] * 6


def test_the_first_measure_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def recorded(*given: Any) -> int:
        asked.append(str(given[1]))
        return best_of(*given)

    monkeypatch.setattr(fusion, "best_of", recorded)
    fuse(QRELS, RUNS, ["AP", "nDCG"], discount=0.9)
    assert {*asked} == {"AP"}


def test_a_run_that_misses_a_document_is_worse_than_one_that_finds_it_late() -> None:
    """Where no run has a value on every query, their means cannot be compared, but their values can."""
    qrels = {f"q{q}": {"a": 1, "b": 1} for q in range(3)}
    runs = {
        "early": {"q0": ["a", "b"], "q1": ["a"], "q2": ["a"]},
        "late": {query: ["a", "x", "y", "b"] for query in qrels},
    }
    made = best_of(project(qrels, runs), parse_measure("LastRel"), Policies(), np.arange(3))
    assert list(runs)[made] == "late"


def test_given_settings_are_not_chosen() -> None:
    assert settings_to_try(0.5, 0.1) == [(0.5, 0.1)]
    made = fuse(QRELS, RUNS, "AP", discount=0.5, regularization=0.1)
    assert {row["discount"] for row in rows_of(made, "fold")} == {0.5}


# Bad runs


@pytest.mark.parametrize("name", EXTRA)
def test_a_run_more_does_no_harm(name: str, plain: FusedRun) -> None:
    """Fused with it, held-out rankings are not significantly worse (two-sided p of the pair at 5 %).

    AP tells of 24 queries whether learning gains over RRF; by LexiRecall it often stays open, and RRF ranks.
    """
    more = fuse(QRELS, {**RUNS, name: EXTRA[name]}, "AP", **FIXED)
    for measure in ("R@100", "AP"):  # LexiRecall counts the new documents that only the new run has
        row = better(more.to_dict(), plain.to_dict(), measure)
        assert row["mean"] >= 0 or row["p"] >= 0.05, (name, measure, row)


def test_noise_and_an_adversary_get_little_weight() -> None:
    made = fuse(QRELS, {**RUNS, "noise": EXTRA["noise"], "adversary": EXTRA["adversary"]}, "LexiRecall", **FIXED)
    total = {name: sum(own.values()) for name, own in made.weights.runs.items()}
    assert total["noise"] < 0.2 * total["strong"]
    assert total["adversary"] < 0.05 * total["strong"]


def test_an_adversary_among_few_ruins_rrf_but_not_what_is_learnt() -> None:
    made = fuse(QRELS, {"strong": RUNS["strong"], "adversary": EXTRA["adversary"]}, ["LexiRecall", "AP"], **FIXED)
    for row in rows_of(made, "pair"):
        if row["b"] == "RRF":
            assert row["mean"] > 0
            assert row["p_corrected"] < 0.01


def test_negative_weights_turn_an_adversary_into_help() -> None:
    runs = {"weak": RUNS["weak"], "adversary": EXTRA["adversary"]}
    bounded, free = fuse(QRELS, runs, "AP", **FIXED), fuse(QRELS, runs, "AP", allow_negative=True, **FIXED)
    assert min(bounded.weights.runs["adversary"].values()) == 0
    assert min(free.weights.runs["adversary"].values()) < 0
    assert better(free.to_dict(), bounded.to_dict(), "AP")["mean"] > 0.1


# What does not matter


def same(a: RowFacts, b: RowFacts, tolerance: float) -> bool:
    return all(math.isclose(score, b[q][d], abs_tol=tolerance) for q, own in a.items() for d, score in own.items())


def test_the_order_of_the_runs_does_not_matter(plain: FusedRun) -> None:
    turned = fuse(QRELS, dict(reversed(RUNS.items())), **FIXED)
    assert same(plain.to_dict(), turned.to_dict(), 0.01)
    assert turned.scores.to_dict()[FUSED]["AP"] == pytest.approx(plain.scores.to_dict()[FUSED]["AP"], abs=1e-3)


def test_the_names_of_documents_do_not_matter(plain: FusedRun) -> None:
    def renamed(of: dict[str, Any]) -> dict[str, Any]:
        return {query: {f"x{999 - int(d[1:])}": value for d, value in own.items()} for query, own in of.items()}

    other = fuse(renamed(QRELS), {name: renamed(run) for name, run in RUNS.items()}, **FIXED)
    assert same(renamed(plain.to_dict()), other.to_dict(), 0.01)


def test_increasing_functions_of_scores_do_not_matter_to_features_of_ranks() -> None:
    options = {"features": "reciprocal,log,retrieved", **FIXED}
    bent = {n: {q: {d: math.exp(s) for d, s in own.items()} for q, own in run.items()} for n, run in RUNS.items()}
    listed = {name: {query: [*own] for query, own in run.items()} for name, run in RUNS.items()}
    given, curved, without = (fuse(QRELS, runs, "AP", **options) for runs in (RUNS, bent, listed))
    assert given.to_trec() == curved.to_trec() == without.to_trec()
    assert not any(note.kind == "no scores" for note in given.notes)
    assert "3 runs without scores (strong, middle, weak): ranks take their place" in [
        note.text for note in without.notes
    ]


# Weights for use elsewhere


def test_weights_learnt_on_one_half_are_applied_to_the_other(tmp_path: Path) -> None:
    halves = [{q: own for q, own in QRELS.items() if int(q[1:]) % 2 == odd} for odd in (0, 1)]
    learnt = fuse(halves[0], RUNS, **FIXED)
    learnt.weights.save(tmp_path / "weights.json")
    applied = fuse(halves[1], dict(reversed(RUNS.items())), weights=tmp_path / "weights.json")
    assert (
        applied.sentences()[0]
        == "12 queries ranked by weights that were learnt on 12 queries; nothing was learnt here."
    )
    assert applied.weights == learnt.weights
    assert not [note for note in applied.notes if note.kind == "learnt on"]
    [note] = [note for note in fuse(QRELS, RUNS, weights=learnt.weights).notes if note.kind == "learnt on"]
    assert note.text.startswith("12 queries with the id of one that the weights were learnt on: if they are the same,")
    own = np.array([list(learnt.weights.runs[name].values()) for name in RUNS])
    query = "q1"
    document = next(iter(applied.to_dict()[query]))
    wanted = 0.0
    for weights, run in zip(own, RUNS.values(), strict=True):
        places = {d: rank for rank, d in enumerate(run[query], 1)}
        if document in places:
            low, high = min(run[query].values()), max(run[query].values())
            rank = places[document]
            features = [
                (run[query][document] - low) / (high - low),
                61 / (60 + rank),
                1 - math.log(rank) / math.log(121),
                1,
            ]
            wanted += float(weights @ features)
    assert applied.to_dict()[query][document] == pytest.approx(wanted, abs=1e-8)


def test_weights_may_rank_a_single_query() -> None:
    weights = fuse(QRELS, RUNS, **FIXED).weights
    one = fuse({"q0": QRELS["q0"]}, RUNS, "AP", weights=weights)
    assert list(one.to_dict()) == ["q0"]
    assert BEST_RUN not in one.scores.to_dict()
    assert "too few queries for 5 folds: no best run is chosen" in [note.text for note in one.notes]


WRONG_WEIGHTS = {
    "not json": ("{", "not valid JSON"),
    "other": ('{"a": 1}', "these are not weights of a fusion"),
    "list": ("[1]", "these are not weights of a fusion"),
    "version": (
        '{"format": "lexirecall fusion weights", "version": 9}',
        "was written by a later lexirecall, in a newer format",
    ),
    "features": (
        '{"format": "lexirecall fusion weights", "version": 1, "features": ["x"]}',
        "the features must be some of",
    ),
    "a feature twice": (
        '{"format": "lexirecall fusion weights", "version": 1, "features": ["log", "log"], "runs": {"a": {"log": 1}}, '
        '"discount": 1, "regularization": 1, "queries": 1}',
        "a feature is listed twice: log, log",
    ),
    "not which queries": (
        '{"format": "lexirecall fusion weights", "version": 1, "features": ["log"], "runs": {"a": {"log": 1}}, '
        '"discount": 1, "regularization": 1, "queries": 1}',
        "query_ids must be a list of texts",
    ),
    "runs": (
        '{"format": "lexirecall fusion weights", "version": 1, "features": ["log"], "runs": {}}',
        "there are no runs",
    ),
    "nan": (
        '{"format": "lexirecall fusion weights", "version": 1, "features": ["log"], "runs": {"a": {"log": NaN}}}',
        "a number is not finite: 'NaN'",
    ),
    "numbers": (
        '{"format": "lexirecall fusion weights", "version": 1, "features": ["log"], "runs": {"a": {"log": 1}}}',
        "discount, regularization and queries must be numbers",
    ),
}


@pytest.mark.parametrize("name", WRONG_WEIGHTS)
def test_wrong_files_of_weights_are_refused(name: str, tmp_path: Path) -> None:
    text, problem = WRONG_WEIGHTS[name]
    path = tmp_path / "weights.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=problem):
        fuse(QRELS, RUNS, weights=path)


def test_weights_of_other_runs_are_refused_with_all_names() -> None:
    weights = FusionWeights({"strong": {"log": 1.0}, "bm25": {"log": 1.0}}, ("log",), 0.9, 0.01, 10)
    wanted = "no run is called 'bm25'; there are no weights for 'middle', 'weak'"
    with pytest.raises(DataError, match=wanted):
        fuse(QRELS, RUNS, weights=weights)


# What is left out, and what is refused


def test_what_cannot_be_found_or_learnt_from_is_counted() -> None:
    qrels = {**QRELS, "q1": {**QRELS["q1"], "nowhere": 1}, "q2": {"elsewhere": 1}, "q3": {"d1": 0}}
    runs = {**RUNS, "weak": {**RUNS["weak"], "unknown": {"d1": 1.0}}}
    made = fuse(qrels, runs, "AP", **FIXED)
    texts = {note.kind: note.text for note in made.notes}
    assert texts["in no run"] == "2 relevant documents of 2 queries in no run: missed by all alike"
    assert texts["nothing to learn from"].startswith(
        "2 queries without a relevant document in any run (q2, q3): ranked"
    )
    assert texts["not fused"] == "1 query without judgments: left out of the fused run"
    assert texts["unjudged documents"].endswith("they count as not relevant, in learning too")
    assert {"q2", "q3"} <= {*made.to_dict()}
    assert "unknown" not in made.to_dict()


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "one run": (lambda: fuse(QRELS, {"strong": RUNS["strong"]}), "there is only one run"),
    "no runs": (lambda: fuse(QRELS), "no runs are given"),
    "positions": (lambda: fuse(project(QRELS, RUNS)), "positions are given"),
    "engine": (lambda: fuse(QRELS, RUNS, engine="duckdb"), "whole lists are needed"),
    "units": (lambda: fuse(QRELS, RUNS, units={"d1": "u"}), "units, because documents are ranked"),
    "ties": (lambda: fuse(QRELS, RUNS, ties="best"), "ties='best', which orders documents by their labels"),
    "folds": (lambda: fuse(QRELS, RUNS, folds=1), "folds is 1, but must be a whole number of at least 2"),
    "many folds": (lambda: fuse(QRELS, RUNS, folds=25), "folds is 25, but there are only 24 queries"),
    "few queries": (lambda: fuse({"q0": QRELS["q0"]}, RUNS, folds=2), "too few to learn from"),
    "features": (lambda: fuse(QRELS, RUNS, features="log,rank,bm25"), "unknown features 'rank', 'bm25'"),
    "no features": (lambda: fuse(QRELS, RUNS, features=[]), "no features are given"),
    "negative": (lambda: fuse(QRELS, RUNS, regularization=-1.0), "regularization is -1.0"),
    "nan": (lambda: fuse(QRELS, RUNS, regularization=math.nan), "regularization is nan"),
    "discount": (lambda: fuse(QRELS, RUNS, discount=1.5), "discount is 1.5, but must be from 0 to 1"),
    "both": (lambda: fuse(QRELS, RUNS, weights="w.json", discount=0.5), "weights are given, and nothing is learnt"),
    "nothing": (lambda: fuse({"q0": {"other": 1}}, RUNS, folds=2), "no run retrieves a relevant document"),
    "empty runs": (
        lambda: fuse(QRELS, {"a": {"q0": {}}, "b": {"q1": {}}}, folds=2),
        "no run retrieves a relevant document",
    ),
    "name": (lambda: fuse(QRELS, {"RRF": RUNS["weak"], "b": RUNS["weak"]}), "a run cannot be called 'RRF'"),
    "no file": (lambda: fuse(QRELS, RUNS, weights="nowhere.json"), "nowhere.json: no such file"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_fused_is_refused_with_the_reason(name: str) -> None:
    call, problem = REFUSED[name]
    with pytest.raises(LexirecallError) as caught:
        call()
    assert problem in str(caught.value)


def test_an_id_with_a_blank_cannot_be_written_as_text() -> None:
    runs = {name: {q: {f"{d} x": s for d, s in own.items()} for q, own in run.items()} for name, run in RUNS.items()}
    qrels = {q: {f"{d} x": grade for d, grade in own.items()} for q, own in QRELS.items()}
    made = fuse(qrels, runs, "AP", **FIXED)
    with pytest.raises(DataError, match="holds a blank"):
        made.to_trec()


def test_a_query_that_would_be_a_comment_cannot_be_written_as_text() -> None:
    runs = {name: {f"#{q}": own for q, own in run.items()} for name, run in RUNS.items()}
    made = fuse({f"#{q}": own for q, own in QRELS.items()}, runs, "AP", **FIXED)
    with pytest.raises(DataError, match=r"the query '#.*' begins with #, as a comment does"):
        made.to_trec()


# On the command line


SETTINGS = ("--discount", "0.9", "--regularization", "0.001")


def test_the_command_writes_what_the_verb_makes(command: Command, tmp_path: Path, plain: FusedRun) -> None:
    words = ["fuse", "qrels.txt", *RUNS, *SETTINGS, "--save-weights", "weights.json", "-f", "jsonl", "-o", "fused.run"]
    done = command(*words)
    assert done.code == 0, done.err
    assert (tmp_path / "fused.run").read_text() == plain.to_trec()
    assert FusionWeights.from_json((tmp_path / "weights.json").read_text()) == plain.weights
    assert [json.loads(line)["kind"] for line in done.out.splitlines()] == [row["kind"] for row in plain.rows()]
    again = command("fuse", "qrels.txt", *RUNS, "--weights", "weights.json", "-o", "again.run")
    assert again.code == 0, again.err
    assert "nothing was learnt here" in again.out


WRONG = {
    "no -o": (("fuse", "qrels.txt", "strong", "weak"), 2, "Missing option '-o'"),
    "stdout": (("fuse", "qrels.txt", "strong", "weak", "-o", "-"), 2, "the report goes to standard output"),
    "compressed": (("fuse", "qrels.txt", "strong", "weak", "-o", "f.run.gz"), 2, "not compressed"),
    "input": (("fuse", "qrels.txt", "strong", "weak", "-o", "weak"), 2, "-o 'weak' is also an input"),
    "twice": (("fuse", "qrels.txt", "strong", "weak", "-o", "f", "--save-weights", "f"), 2, "is the same file as"),
    "swapped": (("fuse", "strong", "qrels.txt", "weak", "-o", "f"), 1, "is this a run?"),
    "one run": (("fuse", "qrels.txt", "strong", "-o", "f"), 2, "there is only one run"),
    "features": (
        ("fuse", "qrels.txt", "strong", "weak", "--features", "x,y", "-o", "f"),
        2,
        "unknown features 'x', 'y'",
    ),
    "folds": (("fuse", "qrels.txt", "strong", "weak", "--folds", "1", "-o", "f"), 2, "folds"),
    "nan": (("fuse", "qrels.txt", "strong", "weak", "--regularization", "nan", "-o", "f"), 2, "nan"),
    "engine": (("fuse", "qrels.txt", "strong", "weak", "--engine", "duckdb", "-o", "f"), 2, "whole lists are needed"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_commands_end_with_a_message(name: str, command: Command, tmp_path: Path) -> None:
    words, code, message = WRONG[name]
    done = command(*words)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert not (tmp_path / "f").exists()


def test_a_positions_file_is_refused(command: Command, tmp_path: Path) -> None:
    assert command("project", "qrels.txt", "weak", "-o", "weak.parquet").code == 0
    done = command("fuse", "qrels.txt", "strong", "weak.parquet", "-o", "f")
    assert done.code == 1
    assert "whole lists are needed" in done.err


def test_other_names_of_runs_end_with_1(command: Command, tmp_path: Path) -> None:
    FusionWeights({"x": {"log": 1.0}}, ("log",), 0.9, 0.01, 10).save(tmp_path / "weights.json")
    done = command("fuse", "qrels.txt", "strong", "weak", "--weights", "weights.json", "-o", "f")
    assert done.code == 1
    assert "no run is called 'x'; there are no weights for 'strong', 'weak'" in done.err


def test_an_unknown_option_names_the_one_that_may_be_meant() -> None:
    with pytest.raises(TypeError, match="did you mean 'folds'"):
        fuse(QRELS, RUNS, fold=3)


def test_weights_and_save_weights_do_not_go_together(command: Command, tmp_path: Path) -> None:
    words = ("--weights", "w.json", "--save-weights", "x.json", "-o", "f")
    done = command("fuse", "qrels.txt", "strong", "weak", *words)
    assert done.code == 2
    assert "nothing is learnt" in done.err


def test_a_usage_error_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="folds is 0"):
        fuse(QRELS, RUNS, folds=0)
    assert issubclass(UsageError, ValueError)
