"""What holds for every row of the table of measures, so that a new row is tested on arrival; values worked by hand."""

import importlib
import math
import pkgutil
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import lexirecall.measures
from lexirecall import Measure, Positions, parse_measure, project
from lexirecall.errors import DataError, UsageError
from lexirecall.judgments import FloatArray
from lexirecall.measures import GROUPS, MEASURES, Parameter
from lexirecall.measures.recall_level import needed_for_recall
from lexirecall.measures.references import REFERENCES
from lexirecall.measures.row import Row
from lexirecall.names import rows
from lexirecall.preferences import PREFERENCES
from lexirecall.results import Projection
from strategies import costly, quick
from table import all_measures, needs_size, variants

Grades = list[float | None]


def ranking_of(
    shown: Sequence[float | None], missing: list[float], corpus_size: int | None = None, **conventions: Any
) -> Positions:
    """Return one ranking in which each document is named by its place, and what is judged but not shown is named m…

    Every document has a provider of its own, so that a measure of providers is one of the documents.
    """
    judged = {f"d{place}": grade for place, grade in enumerate(shown) if grade is not None}
    judged |= {f"m{number}": grade for number, grade in enumerate(missing)}
    ranking = [f"d{place}" for place in range(len(shown))]
    own = {document: document for document in (*judged, *ranking, "other")}
    conventions |= {"corpus_size": corpus_size, "providers": own, "needs_judged": True}
    return project({"q": judged}, {"q": ranking}, **conventions)


def value(measure: Measure, ranking: Positions) -> float:
    return float(measure.scores(ranking.at_level(measure.level(1)))[0, 0])


shown_grades = st.lists(st.sampled_from([None, None, -1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0]), min_size=1, max_size=9)
missing_grades = st.lists(st.sampled_from([0.0, 1.0, 2.0]), max_size=3)


@st.composite
def improvements(draw: st.DrawFn) -> tuple[Grades, Grades]:
    """A list of grades, and the same after a relevant document has changed places with a non-relevant one above it."""
    before = draw(shown_grades)
    upper = draw(st.sampled_from([None, -1.0, 0.0]))
    lower = draw(st.sampled_from([1.0, 2.0, 3.0]))
    i = draw(st.integers(0, len(before)))
    j = draw(st.integers(i, len(before)))
    return (
        [*before[:i], upper, *before[i:j], lower, *before[j:]],
        [*before[:i], lower, *before[i:j], upper, *before[j:]],
    )


# The table itself


def test_every_row_of_every_module_is_in_the_table() -> None:
    modules = [
        importlib.import_module(f"lexirecall.measures.{m.name}")
        for m in pkgutil.iter_modules(lexirecall.measures.__path__)
    ]
    rows = [row for module in modules for row in getattr(module, "ROWS", ())]
    declared = {id(value) for module in modules for value in vars(module).values() if isinstance(value, Measure)}
    assert {id(module) for module in modules if hasattr(module, "ROWS")} == {id(group) for group in GROUPS}
    assert {row.name: row for row in rows} == MEASURES
    assert len(rows) == len(MEASURES)
    assert declared == {id(row) for row in rows}


@pytest.mark.parametrize("row", MEASURES.values(), ids=str)
def test_every_row_says_what_it_is(row: Measure) -> None:
    assert row.title
    assert row.formula
    assert row.reference in REFERENCES
    assert row.direction in (1, -1)
    assert row.limits[0] < row.limits[1]
    assert row.decimals == 0 if row.total == "sum" else row.decimals > 0  # counts are whole numbers


@pytest.mark.parametrize("row", [*MEASURES.values(), *PREFERENCES.values()], ids=str)
def test_every_row_explains_itself_in_a_sentence_or_two(row: Row) -> None:
    """And says why its defaults are what they are, if it has any, naming each of them."""
    chosen = [name for name, parameter in row.parameters.items() if parameter.default is not None]
    about = row.about if chosen else {name: text for name, text in row.about.items() if name != "defaults"}
    for text in about.values():
        assert re.fullmatch(r"(?!.*  )[^ ].*\.", text), text
        assert len(text) < 200
        assert len(re.findall(r"\.(?= |$)", text)) <= 2, text
        assert not re.search(r"\b(request|item|system)s?\b", re.sub("known-item|recommender systems", "", text)), text
    assert bool(row.defaults) == bool(chosen)
    assert all(re.search(rf"\b{name}\b", row.defaults) for name in chosen)


def test_the_row_of_a_user_need_not_explain_itself() -> None:
    assert set(Measure("Most", "number of relevant items", of_positions=len).about.values()) == {""}


def test_every_reference_is_used() -> None:
    assert {row.reference for row in rows().values()} == REFERENCES.keys()


def test_no_two_rows_share_a_spelling() -> None:
    spellings = [{name.lower() for name in (row.name, *row.aliases, *row.trec) if name} for row in MEASURES.values()]
    assert len(set().union(*spellings)) == sum(map(len, spellings))


# Properties of all rows


@pytest.mark.parametrize("corpus_size", [None, 30])
@costly(60)
@given(swap=improvements(), missing=missing_grades)
def test_moving_a_relevant_document_up_never_hurts(
    corpus_size: int | None, swap: tuple[Grades, Grades], missing: list[float]
) -> None:
    """Where the row does not say otherwise; a row with the wrong direction fails too."""
    before, after = (ranking_of(shown, missing, corpus_size) for shown in swap)
    for measure in all_measures():
        if not measure.rewards_moving_up or (needs_size(measure) and not corpus_size):
            continue
        worse, better = value(measure, before), value(measure, after)
        if math.isfinite(worse) or math.isfinite(better):
            assert measure.direction * (better - worse) >= -1e-12, measure


def test_moving_a_relevant_document_up_can_hurt_inferred_average_precision() -> None:
    """Fourth, below one of three that was in the pool: 1/4 + 3/4 · 1/3 · 1/2. Third, below none: 1/3."""
    before, after = (ranking_of(shown, []) for shown in ([None, None, -1, 1], [None, None, 1, -1]))
    assert value(MEASURES["infAP"], before) == pytest.approx(3 / 8)
    assert value(MEASURES["infAP"], after) == pytest.approx(1 / 3)


@quick(60)
@given(shown=shown_grades, missing=missing_grades)
def test_appending_an_unjudged_document_changes_only_what_counts_the_list(shown: Grades, missing: list[float]) -> None:
    before, after = (ranking_of(listed, missing, 30) for listed in (shown, [*shown, None]))
    for measure in all_measures():
        if not measure.counts_list:
            assert value(measure, after) == pytest.approx(value(measure, before), abs=1e-12), measure


@pytest.mark.parametrize("row", [row for row in MEASURES.values() if row.counts_list], ids=str)
def test_appending_an_unjudged_document_changes_what_counts_the_list(row: Measure) -> None:
    before, after = (ranking_of(shown, [1]) for shown in ([1, None], [1, None, None]))
    assert any(value(measure, before) != value(measure, after) for measure in variants(row))


def test_with_optimistic_imputation_returning_nothing_pays() -> None:
    """An unjudged document appended moves the missing ones down: 1/1 + 2/2 over 2 becomes 1/2 + 2/3 over 2."""
    nothing, one = (ranking_of([None] * length, [1, 1], imputation="optimistic") for length in (0, 1))
    assert value(MEASURES["AP"], nothing) == 1
    assert value(MEASURES["AP"], one) == pytest.approx((1 / 2 + 2 / 3) / 2)


@quick(60)
@given(shown=shown_grades, missing=missing_grades)
def test_the_corpus_size_changes_only_measures_of_the_missing_documents(shown: Grades, missing: list[float]) -> None:
    rankings = [ranking_of(shown, missing, size) for size in (None, 30, 40)]
    for measure in all_measures():
        if measure.corpus != "ignored" or measure.needs_size:
            continue
        unknown, *known = (value(measure, ranking) for ranking in rankings)
        assert known == pytest.approx([unknown, unknown], abs=0, nan_ok=True), measure


@pytest.mark.parametrize("row", [row for row in MEASURES.values() if row.corpus != "ignored"], ids=str)
def test_the_corpus_size_changes_measures_of_the_missing_documents(row: Measure) -> None:
    shown_and_missing: list[tuple[Grades, list[float]]] = [
        ([1, 1], []),
        ([None, 1], []),
        ([None, 1], [1]),
        ([None, None], [1, 1]),
    ]
    rankings = [[ranking_of(*listed, size) for size in (30, 40)] for listed in shown_and_missing]
    for measure in variants(row):
        if not measure.is_cut:
            assert any(value(measure, in_30) != value(measure, in_40) for in_30, in_40 in rankings), measure


@quick(60)
@given(shown=shown_grades, missing=missing_grades)
@example(shown=[], missing=[1.0])
def test_values_lie_within_the_limits_that_a_row_gives(shown: Grades, missing: list[float]) -> None:
    ranking = ranking_of(shown, missing, 30)
    for measure in all_measures():
        low, high = measure.limits
        assert math.isnan(value(measure, ranking)) or low - 1e-12 <= value(measure, ranking) <= high + 1e-12, measure


# Worked by hand: positions 2, 3 and 8 of six relevant documents, as in the paper's example of imputation


IDEAL = sum(1 / math.log2(k + 1) for k in range(1, 7))
EXAMPLE: dict[str, float] = {
    "AP": (1 / 2 + 2 / 3 + 3 / 8) / 6,
    "AP@5": (1 / 2 + 2 / 3) / 6,
    "RR": 1 / 2,
    "RR@1": 0,
    "nDCG": (1 / math.log2(3) + 1 / 2 + 1 / math.log2(9)) / IDEAL,
    "nDCG@3": (1 / math.log2(3) + 1 / 2) / (1 + 1 / math.log2(3) + 1 / 2),
    "RBP(p=0.5)": 1 / 4 + 1 / 8 + 1 / 256,
    "RBP": 0.2 * (0.8 + 0.8**2 + 0.8**7),
    "R@3": 2 / 6,
    "P@5": 2 / 5,
    "P@10": 3 / 10,
    "Success@1": 0,
    "Success@2": 1,
    "All@8": 0,
    "Reached@8": 0,
    "Reached(r=0.5)@7": 0,  # the third of six is eighth
    "Reached(r=0.5)@8": 1,
    "Rprec": 2 / 6,  # of the first six, 2 and 3
    "SL1": 1,
    "Depth@0.5": 8,  # the third of six
    "IPrec@0": 2 / 3,  # at position 3
    "IPrec@0.5": 3 / 8,
    "IPrec@1": 0,
    "ERR": 1 / 16 / 2 + 15 / 16**2 / 3 + 15**2 / 16**3 / 8,
    "Bpref": 3 / 6,  # no judged non-relevant document is above any
    "SetR": 3 / 6,
    "NumRel": 6,
    "NumRelRet": 3,
}
PLACEMENTS = math.comb(1000, 6)
WORSE = math.comb(997, 3) - 1 - (math.comb(1, 1) + math.comb(2, 2) + math.comb(7, 3))  # 998, 999 and 1000 stay
WITH_1000 = {
    "TSE": 1 / 1000,
    "TSE(e='dcg')": 1 / math.log2(1001),
    "TSE(e='rbp')": 0.2 * 0.8**999,
    "TSE(e='linear')": 0,  # 1 - 1000/1000
    "SL3": 994,
    "LastRel": 1000,
    "RE": (2 + 3 + 8 + 998 + 999 + 1000) / 6 - 7 / 2,
    "Depth@0.95": 1000,
    "WSS@0.5": 992 / 1000 - (1 - 0.5),
    "WSS@0.95": 0 - (1 - 0.95),
    "R@0.5%": 2 / 6,  # of the first five
    "All@80%": 0,
    "RRF@0.008": 3 / 6,
    "ERF@0.1": 3 / 6 - 100 / 1000,
    "ATD": (2 + 3 + 8 + 998 + 999 + 1000) / 6,
    "Loss": (2 + 3 + 8 + 998 + 999 + 1000 - 21) / (6 * 994),
    "TNR@0.5": 989 / 994,  # five of those that are not relevant are above the third
    "TNR@0.95": 0,
    "AsreviewWSS@0.5": (417 - 7) / 1000,  # round(6 j/999) is 3 from j = 417 on
    "AsreviewERF@0.1": (3 - 1) / 6,  # round(6 · 99/999) is 1
    "AsreviewTNR@0.5": 0.99497,
    "LexiRecallPercentile": WORSE / (PLACEMENTS - 1),
    "Linear": 1 - (2 + 3 + 8 + 998 + 999 + 1000) / 6 / 1000,
    "MetricLexiRecall": (1000.5 * (1 + 2 / 1001.5 + 992 / 1001.5**2 + 997 / 1001.5**3) + 998 / 1001.5**3)
    / (1000 * 1001.5**2),
    "LexiRecallBits": math.log1p(WORSE / (PLACEMENTS - WORSE)) / math.log(2),
}


@pytest.mark.parametrize("name", EXAMPLE)
@pytest.mark.parametrize("corpus_size", [None, 1000])
def test_the_papers_example_whatever_the_corpus_size(name: str, corpus_size: int | None) -> None:
    value = parse_measure(name).of([2, 3, 8], num_relevant=6, corpus_size=corpus_size)
    assert value == pytest.approx(EXAMPLE[name], rel=1e-12)


@pytest.mark.parametrize("name", WITH_1000)
def test_the_papers_example_in_a_corpus_of_1000(name: str) -> None:
    assert parse_measure(name).of([2, 3, 8], 6, corpus_size=1000) == pytest.approx(WITH_1000[name], rel=1e-12)


DISCOUNTS = sum(1 / math.log2(p + 1) for p in (2, 3, 8, 998, 999, 1000))
AS_IN_THE_PAPER = {
    "AP": (1 / 2 + 2 / 3 + 3 / 8 + 4 / 998 + 5 / 999 + 6 / 1000) / 6,
    "RR": 1 / 2,
    "RBP": 0.2 * (0.8 + 0.8**2 + 0.8**7 + 0.8**997 + 0.8**998 + 0.8**999),
    "nDCG": DISCOUNTS / IDEAL,
    "nDCG(rel=1)": DISCOUNTS / IDEAL,
    "ERR": sum((15 / 16) ** i / 16 / p for i, p in enumerate((2, 3, 8, 998, 999, 1000))),
    "IPrec@1": 6 / 1000,
    **{
        name: EXAMPLE[name]
        for name in ("AP@5", "nDCG@3", "R@3", "P@5", "Rprec", "Success@2", "SetR", "Bpref", "NumRelRet")
    },
    **{name: WITH_1000[name] for name in ("TSE", "SL3", "LastRel", "RE", "Linear", "LexiRecallBits")},
}


@pytest.mark.parametrize("name", AS_IN_THE_PAPER)
def test_the_papers_example_with_its_imputation_for_every_measure(name: str) -> None:
    ranking = ranking_of([None, 1, 1, None, None, None, None, 1], [1, 1, 1], 1000, imputation="paper")
    assert value(parse_measure(name), ranking) == pytest.approx(AS_IN_THE_PAPER[name], rel=1e-12)


def test_the_places_of_missing_documents_of_different_grades_are_averaged_over() -> None:
    """Grades 1 and 3 are missing, at 9 and 10 in either order: 2/log2(10) + 2/log2(11), over the best 3, 2 and 1."""
    ranking = ranking_of([2], [1, 3], 10, imputation="paper")
    ideal = 3 + 2 / math.log2(3) + 1 / 2
    gained = 2 + 2 / math.log2(10) + 2 / math.log2(11)
    assert value(MEASURES["nDCG"], ranking) == pytest.approx(gained / ideal, rel=1e-14)


@pytest.mark.parametrize("n", [3, 10])
def test_with_the_papers_imputation_what_was_not_retrieved_is_not_in_the_top(n: int) -> None:
    """All three are missing; in a corpus of three they are at 1, 2 and 3, and yet were not found."""
    ranking = ranking_of([], [1, 1, 1], n, imputation="paper")
    for measure in (row @ 10 if row.at == "cutoff" else row for row in MEASURES.values()):
        is_of_positions = not (measure.needs_judged or measure.needs_units or measure.sparse)
        if measure.is_cut and measure.corpus == "ignored" and measure.direction > 0 and is_of_positions:
            assert value(measure, ranking) == 0, measure
    assert value(MEASURES["AP"], ranking) > 0
    runs = {"one": {"q": ["a"]}, "none": {"q": []}}
    both = project({"q": dict.fromkeys("abc", 1)}, runs, corpus_size=n, imputation="paper").at_level(1)
    assert PREFERENCES["LexiRecall"].pairs(both).values[0, 1].tolist() == [1]


def test_the_papers_imputation_needs_a_corpus_size() -> None:
    with pytest.raises(UsageError, match="imputation='paper' needs the corpus size") as caught:
        ranking_of([1], [1], imputation="paper")
    assert "--corpus-size" in str(caught.value)


@pytest.mark.parametrize("name", ["TSE", "TSE(e='dcg')", "TSE(e='rbp')", "TSE@1000"])
def test_the_papers_example_without_a_corpus_size(name: str) -> None:
    assert parse_measure(name).of([2, 3, 8], 6) == 0


def test_the_share_that_is_to_be_reached_is_counted_in_exact_decimals() -> None:
    """ceil(0.07 · 100) is 7, and 8 in floats; ceil(0.9 · 9) is 9, and ceil(0.9 · 10) is 9."""
    first_seven = [*range(1, 8), *range(900, 993)]
    assert parse_measure("Reached(r=0.07)@7").of(first_seven) == 1
    assert parse_measure("Reached(r=0.07)@6").of(first_seven) == 0
    assert [parse_measure("Reached@9").of([*range(1, 10), 50][-m:], m) for m in (9, 10)] == [0, 1]
    assert parse_measure("Reached(r=1)@5").of([1, 5]) == parse_measure("All@5").of([1, 5]) == 1


@pytest.mark.parametrize("measure", [m for m in all_measures() if m.is_share], ids=str)
@quick(30)
@given(shown=shown_grades, missing=missing_grades)
def test_a_measure_that_is_a_share_of_queries_is_0_or_1(measure: Measure, shown: Grades, missing: list[float]) -> None:
    assert value(measure, ranking_of(shown, missing, 30 if measure.needs_size else None)) in (0, 1)


# What is undefined, and what is refused


@pytest.mark.parametrize("measure", [m for m in all_measures() if m.corpus == "if missing"], ids=str)
def test_without_a_corpus_size_a_missing_document_leaves_its_position_undefined(measure: Measure) -> None:
    assert not math.isfinite(measure.of([], num_relevant=6))
    assert math.isfinite(measure.of([2, 3, 8]))


def test_without_a_corpus_size_a_found_position_is_defined_even_if_others_are_missing() -> None:
    assert MEASURES["SL1"].of([2], num_relevant=6) == 1
    assert parse_measure("Depth@0.5").of([2, 3, 8], num_relevant=6) == 8
    assert not math.isfinite(MEASURES["SL1"].of([], num_relevant=6))


@pytest.mark.parametrize("shown", [[1, 1], [1], []], ids=str)
@pytest.mark.parametrize("measure", [m for m in all_measures() if needs_size(m)], ids=str)
def test_without_a_corpus_size_what_is_a_share_of_it_is_refused(measure: Measure, shown: Grades) -> None:
    with pytest.raises(UsageError, match="needs the corpus size"):
        value(measure, ranking_of(shown, [1.0] * (2 - len(shown))))


@pytest.mark.parametrize(
    ("e", "expected"), [("ap", 1 / 3), ("dcg", 1 / 2), ("rbp", 0.2 * 0.8**2), ("rbp,p=0.5", 1 / 8), ("linear", 0.7)]
)
def test_total_search_efficiency_is_the_exposure_of_the_last_document(e: str, expected: float) -> None:
    assert parse_measure(f"TSE(e={e})").of([1, 3], corpus_size=10) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("recall", "m", "needed"), [(0.07, 100, 7), (0.14, 50, 7), (0.95, 20, 19), (0.95, 21, 20), (0.001, 5, 1), (1, 9, 9)]
)
def test_a_share_of_the_relevant_documents_is_counted_in_exact_decimals(recall: float, m: int, needed: int) -> None:
    assert needed_for_recall(recall, np.array([m])) == needed
    assert parse_measure(f"Depth@{recall}").of(list(range(1, 2 * m, 2))) == 2 * needed - 1


def test_expected_reciprocal_rank_refuses_grades_beyond_its_scale() -> None:
    """A grade of 5 on a scale that ends at 4 would satisfy with probability 31/16."""
    with pytest.raises(DataError, match=r"up to 4.*up to 5") as caught:
        value(MEASURES["ERR"], ranking_of([5], []))
    assert "ERR(max_grade=5)" in str(caught.value)
    assert value(parse_measure("ERR(max_grade=5)"), ranking_of([5], [])) == pytest.approx(31 / 32)


# A user's own measures


def spread_of(positions: FloatArray) -> float:
    return float(positions[-1] - positions[0])


def test_a_measure_of_ones_own_by_exposure_and_weight() -> None:
    squared = Measure("Squared", "falls fast", exposure=lambda i: 1 / i**2, weight=lambda i, m: 0 * i + 1 / m)
    assert squared.of([1, 2], num_relevant=4) == pytest.approx((1 + 1 / 4) / 4)
    # one relevant document tied with another: first or second, 1 or 1/4
    tied = project({"q": {"a": 1}}, {"q": {"a": 1.0, "x": 1.0}}, ties="expected")
    assert squared.scores(tied.at_level(1)) == pytest.approx((1 + 1 / 4) / 2)


def test_a_measure_of_ones_own_by_positions() -> None:
    spread = Measure("Spread", "from the first to the last", of_positions=spread_of, direction=-1)
    assert spread.of([2, 3, 8]) == 6
    assert spread.of([2, 3, 8], 6) == math.inf
    assert spread.of([2, 3, 8], 6, corpus_size=1000) == 998
    with pytest.raises(UsageError, match="no closed form"):
        spread.scores(project({"q": {"a": 1}}, {"q": {"a": 1.0}}, ties="expected").at_level(1))


def test_a_measure_of_ones_own_by_function_with_a_setting() -> None:
    def found_times(projection: Projection, factor: float) -> Any:
        return factor * projection.sum(np.ones(len(projection.found.positions)))

    scaled = Measure("Scaled", "found, times a factor", function=found_times, parameters={"factor": Parameter(2)})
    assert scaled.of([2, 3, 8], 6) == 6
    assert scaled(factor=3).of([2, 3, 8], 6) == 9


def test_a_measure_is_one_formula() -> None:
    with pytest.raises(UsageError, match="give exposure and weight, or function, or of_positions"):
        Measure("Half", "exposure only", exposure=lambda i: 1 / i)
    with pytest.raises(UsageError, match="give exposure and weight"):
        Measure("Both", "two formulas", function=spread_of, of_positions=spread_of)
