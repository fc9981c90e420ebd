"""Preferences: all pairs at once against one pair at a time, and what holds for every one of them."""

import math
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall import Measure, Preference, evaluate, parse_measure, parse_preference, project, register
from lexirecall.errors import UsageError
from lexirecall.manifest import Policies
from lexirecall.measures import AP
from lexirecall.measures.references import REFERENCES
from lexirecall.meta.decisions import decide
from lexirecall.preferences import PREFERENCES, by_level, deciding_level, preference_of
from lexirecall.preferences.contrasts import signs_of_ranks
from lexirecall.results import Projection
from strategies import LEVELS, Collection, collections, costly, quick
from table import all_measures, all_preferences, check_twins

NAMES = [*map(str, all_preferences())]
LEVELS_DRAWN = st.sampled_from(LEVELS)


@st.composite
def rankings(draw: st.DrawFn, *, size: int | None = None, most: int = 12) -> list[int]:
    """The positions of the retrieved documents, of at most `size` relevant ones."""
    return sorted(draw(st.sets(st.integers(1, most), max_size=4 if size is None else size)))


def padded(ranking: list[int], m: int) -> list[float]:
    return [*map(float, ranking), *[math.inf] * (m - len(ranking))]


def case_at(ranking: list[int], m: int) -> naive.Case:
    """Return the ranking with relevant documents at these positions, of m in all."""
    shown = [1.0 if place in ranking else None for place in range(1, max(ranking, default=0) + 1)]
    return naive.Case(shown, {str(number): 1.0 for number in range(m)})


def case_of(collection: Collection, run: str, query: str, level: float) -> naive.Case:
    judged = collection.qrels[query]
    order = naive.ranked([*collection.runs[run].get(query, {}).items()], judged)
    return naive.Case(naive.grades_shown(order, judged), judged, level)


# The definition


@pytest.mark.parametrize("name", NAMES)
@given(x=rankings(), y=rankings())
@costly(150)
def test_a_preference_between_two_rankings_is_its_definition(name: str, x: list[int], y: list[int]) -> None:
    preference = parse_preference(name)
    expected = naive.preference(preference.name, preference.settings, case_at(x, 4), case_at(y, 4))
    assert preference.of(x, y, 4) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
@given(collection=collections(max_runs=5), level=st.sampled_from(LEVELS))
@costly(60)
def test_all_pairs_at_once_are_each_pair_alone(name: str, collection: Collection, level: float) -> None:
    preference = parse_preference(name)
    at = preference.level(level)
    pairs = preference.pairs(project(collection.qrels, collection.runs).at_level(at))
    for a, b in np.ndindex(pairs.values.shape[:2]):
        for q, query in enumerate(pairs.queries):
            x, y = (case_of(collection, pairs.runs[s], query, at) for s in (a, b))
            expected = naive.preference(preference.name, preference.settings, x, y) if x.m else 0
            assert pairs.values[a, b, q] == pytest.approx(expected, abs=1e-12)
            assert pairs.taking_part[a, q] == (x.m > 0)


def test_graded_rpp_compares_each_grade_on_its_own() -> None:
    """(3 · 2/3 + 1 · (-1)) / 4, where an implementation that keeps the vector of one grade says 2/3."""
    runs = {"x": {"q": ["b", "c", "a", "n"]}, "y": {"q": ["a", "n", "b", "c"]}}
    positions = project({"q": {"a": 2, "b": 1, "c": 1}}, runs)
    for name, expected in {"RPP": 2 / 3, "RPP(rel=2)": -1, "RPP(graded=True)": 0.25}.items():
        preference = parse_preference(name)
        values = preference.pairs(positions.at_level(preference.level(1))).values
        assert values[0, 1, 0] == pytest.approx(expected)
        assert values[1, 0, 0] == -values[0, 1, 0]


def test_weights_that_add_up_to_the_same_tie_exactly() -> None:
    """1/2 + 1/3 + 1/6 = 1, in floats only nearly; ahead at the first level, behind at levels 2, 3 and 6."""
    x, y = [1, 4, 6, 8, 9, 13], [2, 3, 5, 8, 9, 12]
    assert parse_preference("RPP(weight='inverse')").of(x, y) == 0


@pytest.mark.parametrize("name", [*NAMES, "AP", "LastRel"])
@given(collection=collections(max_runs=4, with_size=True))
@costly(30)
def test_the_size_of_the_blocks_changes_nothing(name: str, collection: Collection) -> None:
    preference = parse_preference(name)
    positions = project(collection.qrels, collection.runs, corpus_size=collection.corpus_size)
    projection = positions.at_level(preference.level(1))
    whole = preference.pairs(projection)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_level, "BUDGET", 1)
        in_small_blocks = preference.pairs(projection)
    assert (whole.signs == in_small_blocks.signs).all()
    assert np.allclose(whole.values, in_small_blocks.values, rtol=0, atol=1e-15)


# What holds for all


EVERY = [*NAMES, *(str(measure) for measure in all_measures() if not measure.needs_providers)]


def counts_list(name: str) -> bool:
    """Tell whether the length of the list matters, which of two vectors is the last position."""
    measure = parse_preference(name).measure
    return measure is not None and measure.counts_list


def all_rankings(m: int) -> list[tuple[int, ...]]:
    """All sets of positions that m relevant documents can have among the first seven, some of them or all missing."""
    return [found for size in range(m + 1) for found in combinations(range(1, 8), size)]


def all_signs(preference: Preference, m: int) -> Any:
    """Compare each pair of these rankings; nan where one of them has no value."""
    pairs = preference.pairs(Projection.of_vectors(all_rankings(m), m, level=preference.level(1), corpus_size=12))
    return np.where(pairs.taking_part & pairs.taking_part.T, np.sign(pairs.values[:, :, 0]), np.nan)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("m", [1, 3, 4])
def test_every_preference_is_antisymmetric(name: str, m: int) -> None:
    signs = all_signs(parse_preference(name), m)
    assert np.array_equal(signs, -signs.T, equal_nan=True)


@pytest.mark.parametrize("name", [name for name in EVERY if parse_preference(name).transitive])
@pytest.mark.parametrize("m", [1, 3, 4])
def test_a_preference_that_says_so_is_transitive(name: str, m: int) -> None:
    signs = all_signs(parse_preference(name), m)
    for y in range(len(signs)):
        x_to_y, y_to_z = signs[:, y, None], signs[None, y, :]
        follows = (x_to_y >= 0) & (y_to_z >= 0)
        assert np.array_equal(signs[follows], np.maximum(x_to_y, y_to_z)[follows])


@pytest.mark.parametrize("name", [name for name in EVERY if not counts_list(name)])
@pytest.mark.parametrize("m", [1, 3, 4])
def test_moving_a_relevant_document_up_is_never_worse(name: str, m: int) -> None:
    numbers = {ranking: number for number, ranking in enumerate(all_rankings(m))}
    signs = all_signs(parse_preference(name), m)
    for ranking in numbers:
        for moved, place in product(ranking, range(1, 8)):
            if place < moved and place not in ranking:
                better = tuple(sorted({*ranking, place} - {moved}))
                assert signs[numbers[better], numbers[ranking]] >= 0, (better, ranking)


def test_every_preference_has_a_twin_and_every_twin_a_row() -> None:
    check_twins(PREFERENCES, naive.PREFERENCES, "PREFERENCES")


@given(x=rankings(), y=rankings())
@quick(200)
def test_the_deciding_level_is_the_last_difference(x: list[int], y: list[int]) -> None:
    p, q = np.array(padded(x, 4)), np.array(padded(y, 4))
    level = deciding_level(p, q)
    if level is None:
        assert x == y
    else:
        assert np.sign(q[level - 1] - p[level - 1]) == PREFERENCES["LexiRecall"].of(x, y, 4)
        assert (p[level:] == q[level:]).all()


@pytest.mark.parametrize("row", PREFERENCES.values(), ids=str)
def test_every_row_says_what_it_is(row: Preference) -> None:
    assert row.title
    assert row.formula
    assert row.reference in REFERENCES
    assert "two or more runs" in row.needs


def test_the_preference_of_a_measure_says_what_the_measure_says() -> None:
    said = replace(AP, history="From afar.", use="Use it twice.", misses="It is blind.", defaults="As ever.")
    assert preference_of(said).about == said.about


def test_lexicographic_preferences_are_signs_and_the_others_have_a_size() -> None:
    """A sign is a whole number, and what has a size is not always one."""
    for name in (*NAMES, "AP"):
        preference = parse_preference(name)
        values = [preference.of(x, y, 3) for x in ([1, 4, 6], [2, 3, 9]) for y in ([2, 3, 5], [2, 8, 9], [3])]
        assert preference.is_sized == any(not value.is_integer() for value in values), name


# Measures as preferences


def test_a_metric_preference_sees_one_position_however_deep() -> None:
    """1/p - 1/(p+1) falls below 1e-12 from p = 10^6 on: the tolerance is relative."""
    deep = 10**8
    assert parse_preference("TSE").of([deep], [deep + 1]) == pytest.approx(1e-16)
    assert parse_preference("RE").of([deep, deep + 2], [deep + 1, deep + 3], corpus_size=10**9) > 0


@st.composite
def deep_rankings(draw: st.DrawFn) -> list[int]:
    """At most three positions of relevant documents, where exposures that fall fast are 0 in floats."""
    return sorted(draw(st.sets(st.sampled_from([1, 2, 3, 1074, 1075, 1076, 1200, 1201, 2000, 100_000]), max_size=3)))


@pytest.mark.parametrize("cutoff", ["", "@2", "@1200"])
@pytest.mark.parametrize("e", ["ap", "dcg", "rbp", "rbp,p=0.5", "rbp,p=0.01", "linear"])
@pytest.mark.parametrize("corpus_size", [None, 200_000])
@given(vectors=st.lists(deep_rankings(), min_size=2, max_size=5), data=st.data())
@costly(25)
def test_total_search_efficiency_compares_by_the_last_position_whatever_its_exposure(
    e: str, cutoff: str, corpus_size: int | None, vectors: list[list[int]], data: st.DataObject
) -> None:
    if e == "linear" and corpus_size is None:
        return
    name, m = f"TSE(e={e}){cutoff}", data.draw(st.integers(3, 4))
    projection = Projection.of_vectors(vectors, m, corpus_size=corpus_size)
    pairs, decisions = (
        parse_preference(name).pairs(projection),
        decide(parse_measure(name), projection.source, Policies()),
    )
    values = parse_measure(name).scores(projection)[:, 0]
    at = [projection.vector(s, 0, imputed=True).tolist() for s in range(len(vectors))]
    for s, t in combinations(range(len(vectors)), 2):
        sign = naive.by_last_position(at[s], at[t], float(cutoff[1:] or "inf"))
        assert pairs.signs[s, t, 0] == decisions.against_later(s)[t - s - 1, 0] == sign
        assert pairs.values[t, s, 0] == -pairs.values[s, t, 0]
        assert abs(pairs.values[s, t, 0]) == max(abs(values[s] - values[t]), 5e-324 * abs(sign))


def test_a_difference_below_every_float_counts_as_a_win_and_moves_no_mean() -> None:
    qrels = {"deep": {"a": 1}, "top": {"a": 1}}
    nothing = [f"x{place}" for place in range(2000)]
    runs: dict[str, Any] = {
        "x": {"deep": [*nothing[:1199], "a"], "top": ["a"]},
        "y": {"deep": [*nothing[:1999], "a"], "top": ["x0", "a"]},
    }
    preference = parse_preference("TSE(e=rbp,p=0.5)")
    pairs = preference.pairs(project(qrels, runs).at_level(1))
    assert (pairs.wins[0, 1], pairs.ties[0, 1], pairs.losses[0, 1]) == (2, 0, 0)
    assert pairs.values[0, 1].tolist() == [5e-324, 0.25]
    assert pairs.values[0, 1].mean() == 0.125
    assert preference.scores(project(qrels, runs).at_level(1)).tolist() == [[1, 1], [0, 0]]


def test_over_all_orders_of_tied_documents_the_mean_exposure_is_compared() -> None:
    """First, second or third, against second: the mean position is the same, that of 1/p is 11/18."""
    runs: dict[str, Any] = {"x": {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}, "y": {"q": {"b": 3.0, "a": 2.0}}}
    projection = project({"q": {"a": 1}}, runs, ties="expected").at_level(1)
    assert parse_preference("TSE").pairs(projection).values[0, 1, 0] == pytest.approx(11 / 18 - 1 / 2)


def test_where_lower_is_better_the_lower_value_is_preferred() -> None:
    assert parse_preference("LastRel").of([1, 5], [2, 3]) == -2
    assert parse_preference("TSE").of([1, 5], [2, 3]) < 0


def test_an_undefined_value_is_worse_than_every_other_and_in_no_mean() -> None:
    qrels = {"q": {"a": 1}, "r": {"a": 1}, "s": {"a": 1}}
    runs = {"x": {"q": ["a"], "r": ["b"]}, "y": {"q": ["b", "a"], "r": ["a"]}}
    pairs = parse_preference("LastRel").pairs(project(qrels, runs).at_level(1))
    assert pairs.num_queries.tolist() == [[3, 3], [3, 3]]
    assert (pairs.wins[0, 1], pairs.ties[0, 1], pairs.losses[0, 1]) == (1, 1, 1)
    assert pairs.means[0, 1] == 1
    assert [parse_preference("LastRel").of(x, y, 2) for x, y in (([1, 2], [1]), ([1], [1, 2]), ([1], [2]))] == [
        math.inf, -math.inf, 0,
    ]  # fmt: skip


def test_own_measures_may_be_undefined_too() -> None:
    """An infinite value is the worst only where it is on the side of the bad ones; nan is no value at all."""
    last, best = (
        Measure("Last", "the last position", of_positions=lambda p: p.max(), direction=direction)
        for direction in (-1, 1)
    )
    assert preference_of(last).of([5], [1], 2) == 0
    assert preference_of(last).of([1, 2], [1], 2) == math.inf
    assert math.isnan(preference_of(best).of([1, 2], [1], 2))
    assert math.isnan(preference_of(Measure("Nothing", "", of_positions=lambda p: p[0] * math.nan)).of([1], [2]))


UNDEFINED = [measure for measure in all_measures() if measure.corpus == "if missing"]


@pytest.mark.parametrize("measure", UNDEFINED, ids=str)
@given(collection=collections(max_runs=3), level=LEVELS_DRAWN)
@quick(60)
def test_signs_are_those_of_values_of_which_the_undefined_are_the_worst(
    measure: Measure, collection: Collection, level: float
) -> None:
    positions = project(collection.qrels, collection.runs)
    pairs = preference_of(measure).pairs(positions.at_level(measure.level(level)))
    decided = decide(measure, positions, Policies(level=level))
    for q, query in enumerate(positions.queries):
        cases = [case_of(collection, run, query, measure.level(level)) for run in positions.runs]
        values = [naive.value(measure.name, measure.settings, case) if case.m else 0 for case in cases]
        signs = [[naive.better(measure.direction, x, y) for y in values] for x in values]
        assert pairs.signs[:, :, q].tolist() == signs
        if cases[0].m:
            assert decided.ranks is not None
            ranks = decided.ranks[:, q]
            assert np.sign(ranks[None, :] - ranks[:, None]).tolist() == signs


def test_the_level_in_a_name_holds_for_the_preference() -> None:
    assert parse_preference("AP(rel=2)").level(1) == 2
    assert parse_preference("LexiRecall(rel=3)").level(1) == 3
    assert parse_preference("LexiRecall").level(4) == 4


# Counting


@given(collection=collections(max_runs=5))
@quick(60)
def test_wins_ties_and_losses_add_up_to_the_queries(collection: Collection) -> None:
    pairs = parse_preference("LexiRecall").pairs(project(collection.qrels, collection.runs).at_level(1))
    has_documents = pairs.taking_part.any(axis=0).sum()
    assert (pairs.wins + pairs.ties + pairs.losses == has_documents).all()
    assert (pairs.wins == (pairs.signs > 0).sum(axis=2)).all()
    assert (pairs.losses == pairs.wins.T).all()
    if has_documents:
        assert pairs.means == pytest.approx(pairs.values.sum(axis=2) / has_documents)
    else:
        assert np.isnan(pairs.means).all()


def test_runs_that_do_not_take_part_are_not_counted() -> None:
    qrels = {"q": {"a": 1}, "r": {"a": 1}}
    runs = {"x": {"q": ["a"], "r": ["b", "a"]}, "y": {"q": ["b", "a"]}, "z": {"r": ["a"]}}
    positions = project(qrels, runs)
    pairs = parse_preference("LexiRecall").pairs(positions.at_level(1), positions.answered)
    assert pairs.num_queries.tolist() == [[2, 1, 1], [1, 1, 0], [1, 0, 1]]
    assert pairs.wins.tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 0]]
    assert np.isnan(pairs.means[1, 2])


def test_the_worst_off_provider_of_a_preference_is_that_of_the_queries_that_count() -> None:
    qrels = {"q": {"a": 1}, "r": {"b": 1}}
    runs = {"x": {"q": ["z", "y", "a"]}, "y": {"q": ["z", "y", "w", "a"], "r": ["b"]}}
    positions = project(qrels, runs, providers={"a": "A", "b": "B"})
    pairs = parse_preference("WorstProviderOverall").pairs(positions.at_level(1), positions.answered)
    assert pairs.values[0, 1].tolist() == pytest.approx([1 / 3 - 1 / 4, 0])


# In `eval`


@given(collection=collections(max_runs=4), name=st.sampled_from(NAMES))
@quick(60)
def test_a_preference_in_eval_is_the_win_rate(collection: Collection, name: str) -> None:
    positions = project(collection.qrels, collection.runs)
    preference = parse_preference(name)
    projection = positions.at_level(preference.level(1))
    num_runs = len(positions.runs)
    if num_runs < 2 or not projection.num_relevant.any():
        return
    values = evaluate(positions, measures=[preference]).values[:, :, 0]
    signs = preference.pairs(projection).signs
    for s, q in np.ndindex(values.shape):
        if projection.num_relevant[q]:
            others = [signs[s, other, q] for other in range(num_runs) if other != s]
            won = sum(sign > 0 for sign in others) + sum(sign == 0 for sign in others) / 2
            assert values[s, q] == pytest.approx(won / (num_runs - 1))
        else:
            assert np.isnan(values[s, q])


QRELS = {"q": {"a": 1, "b": 1}, "r": {"c": 2}, "none": {"d": 0}}
RUNS: dict[str, Any] = {"x": {"q": ["a", "b"], "r": ["c"]}, "y": {"q": ["b"], "r": ["c"]}, "z": {"q": ["b", "a"]}}


def test_win_rates_worked_by_hand() -> None:
    values = evaluate(QRELS, RUNS, "LexiRecall").to_dict(per_query=True)
    assert values["x"] == {"q": {"LexiRecall": 0.75}, "r": {"LexiRecall": 0.75}, "none": {"LexiRecall": None}}
    assert values["y"]["q"] == {"LexiRecall": 0}
    assert values["z"] == {"q": {"LexiRecall": 0.75}, "r": {"LexiRecall": 0}, "none": {"LexiRecall": None}}


def test_with_intersection_a_run_is_compared_with_those_that_answer() -> None:
    values = evaluate(QRELS, RUNS, "LexiRecall", queries="intersection").to_dict(per_query=True)
    assert values["x"]["r"] == {"LexiRecall": 0.5}
    assert values["z"]["r"] == {"LexiRecall": None}


def test_without_relevant_documents_everyone_ties() -> None:
    scores = evaluate(QRELS, RUNS, ["LexiRecall", "AP"], no_relevant="zero").to_dict(per_query=True)
    assert {run: values["none"] for run, values in scores.items()} == {
        run: {"LexiRecall": 0.5, "AP": 0} for run in RUNS
    }


def test_a_single_run_has_no_win_rate_and_a_note_says_so() -> None:
    scores = evaluate(QRELS, {"x": RUNS["x"]})
    assert "LexiRecall" not in scores.to_dict()["x"]
    assert scores.notes[0].text == "LexiRecall compares runs, and there is one only: left out"
    with pytest.raises(UsageError, match="LexiRecall, RPP compares runs, and there is one only") as caught:
        evaluate(QRELS, {"x": RUNS["x"]}, "LexiRecall RPP")
    assert caught.value.exit_code == 2


def test_lexirecall_is_the_first_of_the_default_measures() -> None:
    assert [*evaluate(QRELS, RUNS).to_dict()["x"]] == ["LexiRecall", "TSE", "R@1000", "Rprec", "AP", "nDCG", "RR"]


def test_expected_ties_leave_preferences_out_of_the_default_and_refuse_them_if_asked_for() -> None:
    scores = evaluate(QRELS, RUNS, ties="expected")
    assert "LexiRecall" not in scores.to_dict()["x"]
    assert scores.notes[0].text == "LexiRecall has no closed form over the orders of tied documents: left out"
    with pytest.raises(UsageError, match="mean of LexiRecall over all orders of tied documents has no closed form"):
        evaluate(QRELS, RUNS, ["LexiRecall"], ties="expected")


# Names


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("lexirecall", "LexiRecall"),
        ("LexiPrecision(size=sign)", "LexiPrecision"),
        ("lexiprecision(size=RR)", "LexiPrecision(size='rr')"),
        ("rrlexiprecision", "LexiPrecision(size='rr')"),
        ("rpp(weight=inverse,rel=2)", "RPP(weight='inverse',rel=2)"),
        ("invrpp", "RPP(weight='inverse')"),
        ("dcgrpp", "RPP(weight='dcg')"),
        ("RPP(graded=true)", "RPP(graded=True)"),
        ("RPP(graded=False)", "RPP"),
        ("map", "AP"),
    ],
)
def test_preferences_are_read_in_these_spellings(written: str, canonical: str) -> None:
    assert str(parse_preference(written)) == canonical
    assert str(parse_preference(canonical)) == canonical


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("LexiRecal", "did you mean 'LexiRecall'"),
        ("RPP(weight=log)", "weight is 'log', but must be one of uniform, inverse, dcg"),
        ("RPP(graded=2)", "graded is 2, but must be True or False"),
        ("RPP(graded=True,rel=2)", "exclude each other"),
        ("LexiRecall@10", "takes no cut-off"),
        ("LexiRecall(size=rr)", "no setting 'size'"),
        ("AP RR", "names 2 preferences, but must name one"),
    ],
)
def test_a_wrong_name_of_a_preference_is_an_error_that_helps(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_preference(name)


def test_a_preference_is_no_measure() -> None:
    with pytest.raises(UsageError, match="LexiRecall: a preference compares two rankings"):
        parse_measure("LexiRecall")


def test_a_preference_is_made_of_blocks_or_of_a_measure() -> None:
    both: dict[str, Any] = {"blocks": signs_of_ranks, "measure": AP}
    for parts in ({}, both):
        with pytest.raises(UsageError, match="Own: give blocks, or a measure"):
            Preference("Own", "of nothing, or of two things", **parts)


def test_a_preference_of_ones_own_is_used_by_name_once_it_is_registered() -> None:
    own = Preference(
        "Own", "more is better", blocks=lambda projection: signs_of_ranks(-projection.sum(projection.positions > 0))
    )
    try:
        assert register(own) is own
        assert evaluate(QRELS, RUNS, "own(rel=1)").to_dict(per_query=True)["y"]["q"] == {"Own(rel=1)": 0}
    finally:
        PREFERENCES.pop("Own", None)
    with pytest.raises(UsageError, match="a measure called 'RPP' already exists"):
        register(Preference("RPP", "taken", blocks=own.blocks))
