"""A study: its fast counts are the definitions, its answers are known where the data are, and it never reads twice."""

import csv
import io
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
from command import Command
from lexirecall import Positions, Preference, compare, evaluate, parse_preference, project, simulate_collection, study
from lexirecall.errors import DataError, FormatError, UsageError
from lexirecall.manifest import Policies
from lexirecall.meta import MEASURES, TABLES, Collection, CollectionFiles, read_collections
from lexirecall.meta.agreement import agreement
from lexirecall.meta.collection import from_files
from lexirecall.meta.data import depth_label
from lexirecall.meta.decisions import Decisions, concordance, decide, dense_ranks
from lexirecall.meta.degradation import TENTHS, degradation_rows, kept_labels, num_kept, random_places
from lexirecall.meta.digest import digests, percent
from lexirecall.meta.figures import charts
from lexirecall.meta.ties import share_of_ties
from lexirecall.names import Evaluable, parse_measures, parse_names
from lexirecall.preferences import preference_of
from lexirecall.results import Projection, Study
from lexirecall.verbs.rank import compared_pairs
from strategies import LEVELS, collections, quick
from strategies import Collection as Drawn
from table import all_measures, all_preferences, needs_size

# Systems that agree on the first two relevant documents and differ only in the position of the third
DEPTHS = {"near": 20, "far": 40, "farther": 60}
TAIL_QRELS = {f"q{i}": {"a": 1, "b": 1, "c": 1} for i in range(8)}
TAIL_RUNS: dict[str, Any] = {
    name: {q: ["a", "b", *(f"x{i}" for i in range(depth - 3)), "c"] for q in TAIL_QRELS}
    for name, depth in DEPTHS.items()
}

TINY_QRELS = {"q1": {"a": 1, "b": 2, "x": 0}, "q2": {"c": 1, "d": 1, "e": 1}, "q3": {"z": 0}}
TINY_RUNS: dict[str, Any] = {
    "early": {"q1": ["a", "x", "b"], "q2": ["c", "y", "d"], "q3": ["z"]},
    "late": {"q1": ["x", "a", "b"], "q2": ["y", "c", "d", "e"], "q3": ["z"]},
    "short": {"q1": ["a"], "q2": ["y"], "q3": ["z"]},
}


def lines_of(run: dict[str, list[str]]) -> bytes:
    return "".join(f"{q} Q0 {d} 0 {-i} t\n" for q, ranking in run.items() for i, d in enumerate(ranking)).encode()


def judgments_of(qrels: dict[str, dict[str, int]]) -> bytes:
    return "".join(f"{q} 0 {d} {g}\n" for q, judged in qrels.items() for d, g in judged.items()).encode()


GOOD = {"qrels": judgments_of(TINY_QRELS), **{name: lines_of(run) for name, run in TINY_RUNS.items()}}
FILES = tuple(GOOD)


@pytest.fixture
def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes seconds; most tests are not about it."""
    monkeypatch.setitem(sys.modules, "altair", None)


def tail() -> Positions:
    return project(TAIL_QRELS, TAIL_RUNS)


def tiny() -> Positions:
    return project(TINY_QRELS, TINY_RUNS)


def simulated() -> Positions:
    collection = simulate_collection(3, num_requests=6)
    return project(collection.qrels, collection.runs)


def row_of(name: str) -> Evaluable:
    return parse_names(name)[0]


def column(made: Study, table: str, name: str) -> dict[str, Any]:
    """Return one column of a table by measure; of the last row if there are several."""
    return {row["measure"]: row[name] for row in made.tables[table]}


# Slow twins


def case_of(judged: dict[str, float], run: dict[str, dict[str, float]], request: str, level: float) -> naive.Case:
    order = naive.ranked([*run.get(request, {}).items()], judged)
    return naive.Case(naive.grades_shown(order, judged), judged, level)


def naive_sign(name: str, x: naive.Case, y: naive.Case) -> int:
    row = row_of(name)
    if isinstance(row, Preference):
        difference = naive.preference(row.name, row.settings, x, y)
        return (difference > 1e-12) - (difference < -1e-12)
    (measure,) = parse_measures(name)
    mine, theirs = (naive.value(measure.name, measure.settings, case) for case in (x, y))
    if math.isclose(mine, theirs, rel_tol=1e-12):
        return 0
    return measure.direction * ((mine > theirs) - (mine < theirs))


def naive_decided(name: str, drawn: Drawn, level: float) -> naive.Decided:
    """Compare each pair of systems on each request that has something relevant."""
    level = row_of(name).level(level)
    decided = {}
    for request, judged in drawn.qrels.items():
        cases = {run: case_of(judged, lines, request, level) for run, lines in drawn.runs.items()}
        for a, b in combinations(cases, 2):
            if cases[a].m:
                decided[request, a, b] = naive_sign(name, cases[a], cases[b])
    return decided


def without(drawn: Drawn, removed: set[tuple[str, str]]) -> Drawn:
    qrels = {q: {d: g for d, g in judged.items() if (q, d) not in removed} for q, judged in drawn.qrels.items()}
    return Drawn(qrels, drawn.runs)


def removed_by(positions: Positions, kept: Any) -> set[tuple[str, str]]:
    """Return requests and documents that lose their labels."""
    judgments = positions.judgments
    owners = np.repeat(np.arange(len(judgments.requests)), np.diff(judgments.offsets))
    return {(judgments.requests[owners[i]], judgments.items[i].decode()) for i in np.flatnonzero(~kept).tolist()}


def is_share(value: float | None, expected: Fraction | None) -> bool:
    return value is None if expected is None else value == pytest.approx(float(expected), rel=1e-12)


BINARY, BINARY_10 = "nDCG(rel='level')", "nDCG(rel='level')@10"
OF_ITEMS = [measure for measure in all_measures() if not measure.needs_providers]
TWINNED = [BINARY, *map(str, all_preferences())]
TWINNED += [str(m) for m in OF_ITEMS if m.corpus != "if missing" and not needs_size(m) and not m.needs_judged]
"""Those that every ranking has a value of, whatever else is known."""


@given(
    drawn=collections(max_systems=4, with_size=False),
    level=st.sampled_from(LEVELS),
    name=st.sampled_from(TWINNED),
    kept=st.randoms(use_true_random=False),
)
@quick(200)
def test_ties_agreement_and_what_labels_change_are_their_definitions(
    drawn: Drawn, level: float, name: str, kept: Any
) -> None:
    positions, policies = project(drawn.qrels, drawn.runs), Policies(level)
    is_kept = np.array([kept.random() < 0.6 for _ in positions.judgments.grades], bool)
    row, reference = row_of(name), row_of("LexiRecall")
    full, now = decide(row, positions, policies), decide(row, positions.with_labels(is_kept), policies)
    all_labels = naive_decided(name, drawn, level)
    fewer_labels = naive_decided(name, without(drawn, removed_by(positions, is_kept)), level)
    assert (full.num_compared, now.num_compared) == (len(all_labels), len(fewer_labels))
    assert is_share(share_of_ties(full), naive.share_tied(all_labels))
    assert is_share(share_of_ties(now), naive.share_tied(fewer_labels))
    siding, _ = agreement(decide(reference, positions, policies), full)
    assert is_share(siding, naive.share_siding(naive_decided("LexiRecall", drawn, level), all_labels))
    counts = concordance(now, full)
    unchanged = Fraction(counts.num_same + counts.num_tied, counts.num_compared) if counts.num_compared else None
    assert unchanged == naive.share_unchanged(fewer_labels, all_labels, untied=False)
    untied = Fraction(counts.num_same, counts.num_decided) if counts.num_decided else None
    assert untied == naive.share_unchanged(fewer_labels, all_labels, untied=True)


@given(
    drawn=collections(max_systems=5),
    name=st.sampled_from([BINARY, "AP(rel=2)", *map(str, all_preferences()), *map(str, OF_ITEMS)]),
    policies=st.builds(
        Policies, st.sampled_from(LEVELS), st.sampled_from(["all", "intersection"]), st.sampled_from(["skip", "zero"])
    ),
)
@quick(250)
def test_decisions_by_ranks_are_those_of_all_pairs(drawn: Drawn, name: str, policies: Policies) -> None:
    preference = parse_preference(name)
    assume(drawn.corpus_size or not (preference.measure and needs_size(preference.measure)))
    positions = project(drawn.qrels, drawn.runs, needs_judged=True, **drawn.given_size)
    pairs = compared_pairs(positions, preference, policies)
    decisions = decide(row_of(name), positions, policies)
    assert (decisions.taking_part == pairs.taking_part).all()
    assert preference.transitive if decisions.ranks is not None else preference.measure is None
    for s in range(len(positions.systems) - 1):
        both = pairs.taking_part[s] & pairs.taking_part[s + 1 :]
        assert (decisions.against_later(s) * both == pairs.signs[s, s + 1 :]).all()
    upper = np.triu_indices(len(positions.systems), 1)
    assert decisions.num_compared == pairs.num_requests[upper].sum()
    assert decisions.num_tied == pairs.ties[upper].sum()


@given(
    ranks=st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2), min_size=2, max_size=6),
    absent=st.sets(st.integers(0, 5)),
)
@quick(100)
def test_orders_and_signs_are_counted_alike(ranks: list[list[int]], absent: set[int]) -> None:
    order = np.array(ranks, np.int16)
    part = np.array([[s not in absent, True] for s in range(len(ranks))])
    by_ranks = Decisions(part, ranks=order)
    by_signs = Decisions(part, signs=np.sign(order[None] - order[:, None]).astype(np.int8))
    assert by_ranks.num_tied == by_signs.num_tied
    assert concordance(by_ranks, by_signs) == concordance(by_signs, by_ranks) == concordance(by_ranks, by_ranks)


def test_values_that_differ_by_rounding_share_a_rank() -> None:
    """(1, 2, 4, 12) and (1, 3, 4, 6) have the same AP, not in floats."""
    x, y = [1, 2, 4, 12], [1, 3, 4, 6]
    runs = {
        name: {"q": [f"r{found.index(p)}" if p in found else f"x{p}" for p in range(1, 13)]}
        for name, found in (("x", x), ("y", y))
    }
    positions = project({"q": {f"r{i}": 1 for i in range(4)}}, runs)
    (ap,) = parse_measures("AP")
    values = ap.scores(positions.at_level(1))
    assert values[0, 0] != values[1, 0]
    assert dense_ranks(values).ravel().tolist() == [0, 0]
    assert decide(ap, positions, Policies()).num_tied == 1


# Labels that go


@given(drawn=collections(max_systems=3), choice=st.randoms(use_true_random=False))
@quick(150)
def test_removing_labels_is_reading_again_without_them(drawn: Drawn, choice: Any) -> None:
    positions = project(drawn.qrels, drawn.runs, needs_judged=True, **drawn.given_size)
    kept = np.array([choice.random() < 0.7 for _ in positions.judgments.grades], bool)
    fewer = positions.with_labels(kept)
    again = without(drawn, removed_by(positions, kept)).qrels
    if not fewer.judgments.num_positive.any():
        return
    read = project(again, drawn.runs, needs_judged=True, **drawn.given_size)
    assert fewer.judgments.num_positive.tolist() == read.judgments.num_positive.tolist()
    assert fewer.num_found.tolist() == read.num_found.tolist()
    rows: list[Any] = [measure for measure in OF_ITEMS if drawn.corpus_size or not needs_size(measure)]
    rows += all_preferences() if len(drawn.runs) > 1 else []
    levels = [level for level in LEVELS if read.judgments.num_relevant(level).any()]
    for level in levels:
        values, expected = (evaluate(each, measures=rows, level=level).values for each in (fewer, read))
        assert values == pytest.approx(expected, rel=1e-12, abs=1e-15, nan_ok=True)


def test_labels_of_expected_ties_can_go() -> None:
    runs = {"q1": {"a": 1.0, "b": 1.0, "x": 1.0}}
    positions = project({"q1": {"a": 1, "b": 1}}, runs, ties="expected")
    read = project({"q1": {"b": 1}}, runs, ties="expected")
    fewer = positions.with_labels(np.array([False, True]))
    assert evaluate(fewer, measures=["AP", "RR"]).to_dict() == evaluate(read, measures=["AP", "RR"]).to_dict()


def test_a_level_that_all_reach_shares_the_positions() -> None:
    positions = tiny()
    assert positions.at_level(1).found is positions.found
    assert positions.at_level(2).found is not positions.found


@pytest.mark.parametrize(
    "conventions", [{"judged_only": True}, {"imputation": "optimistic"}, {"ties": "worst"}, {"ties": "best"}], ids=str
)
def test_labels_stay_where_the_order_depends_on_them(conventions: dict[str, Any]) -> None:
    positions = project(TINY_QRELS, TINY_RUNS, **conventions)
    with pytest.raises(UsageError, match="labels cannot be removed, because these positions depend on them"):
        positions.with_labels(np.ones(len(positions.judgments.grades), bool))


@pytest.mark.parametrize("kept", [np.ones(3, bool), np.ones(7)], ids=["too few", "no booleans"])
def test_the_labels_to_keep_are_a_boolean_for_each_judgment(kept: Any) -> None:
    with pytest.raises(UsageError, match="give a boolean for each of the 7 judged documents"):
        tiny().with_labels(kept)


# Which labels go


@pytest.mark.parametrize("tenths", TENTHS)
def test_the_number_of_labels_left_is_rounded_half_up_and_at_least_one(tenths: int) -> None:
    m = np.arange(60)
    expected = [naive.labels_left(int(each), Fraction(tenths, 10)) for each in m]
    assert num_kept(m, tenths).tolist() == expected
    assert num_kept(np.array([0, 1, 5]), tenths).tolist()[:2] == [0, 1]


def test_items_are_sampled_in_proportion_to_their_weights_without_replacement() -> None:
    """All pairs of four items, against the exact chances; 4 σ of 20,000 draws."""
    weights, num_draws = [1, 2, 3, 6], 20_000
    bits = np.random.PCG64(5)
    offsets = np.arange(0, 4 * num_draws + 1, 4)
    places = random_places(np.tile(np.array(weights, float), num_draws), offsets, bits).reshape(num_draws, 4)
    assert (np.sort(places, axis=1) == np.arange(4)).all()
    drawn = Counter(tuple(np.flatnonzero(row < 2).tolist()) for row in places)
    for pair in combinations(range(4), 2):
        chance = float(naive.chance_of_sample(weights, pair))
        spread = math.sqrt(chance * (1 - chance) / num_draws)
        assert drawn[pair] / num_draws == pytest.approx(chance, abs=4 * spread)


@pytest.mark.parametrize("removal", ["uniform", "frequency"])
def test_each_share_takes_labels_from_what_a_smaller_one_left(removal: str) -> None:
    positions = simulated()
    judgments = positions.judgments
    before = np.ones(len(judgments.grades), bool)
    shares = list(kept_labels(positions, 1, removal, np.random.PCG64(0)))
    assert len(shares) == 9
    for tenths, kept in enumerate(shares, 1):
        assert (kept <= before).all()
        assert kept[judgments.grades < 1].all()
        left = np.array([kept[a:b].sum() - (judgments.grades[a:b] < 1).sum() for a, b in spans(judgments.offsets)])
        assert left.tolist() == num_kept(judgments.num_relevant(1), tenths).tolist()
        before = kept


def spans(offsets: Any) -> list[tuple[int, int]]:
    return list(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True))


def test_by_frequency_what_many_runs_retrieve_keeps_its_label() -> None:
    """One document that all of three runs retrieve, and one that none does: weights 4 and 1."""
    qrels = {f"q{i}": {"seen": 1, "unseen": 1} for i in range(4000)}
    positions = project(qrels, {name: {q: ["seen"] for q in qrels} for name in "xyz"})
    for removal, chance in {"frequency": 0.8, "uniform": 0.5}.items():
        *_, kept = kept_labels(positions, 1, removal, np.random.PCG64(1))
        assert kept.reshape(-1, 2)[:, 0].mean() == pytest.approx(chance, abs=4 * math.sqrt(chance * 0.5 / 4000))


def test_only_labels_at_the_level_go() -> None:
    qrels = {"q": {"a": 5, "b": 4, "c": 3, "d": 0}}
    positions = project(qrels, {"x": {"q": ["a"]}, "y": {"q": ["b"]}})
    *_, kept = kept_labels(positions, 4, "uniform", np.random.PCG64(0))
    assert sorted(kept[:2].tolist()) == [False, True]
    assert kept[2:].all()


def test_labels_that_nobody_retrieves_change_denominators_only() -> None:
    qrels = {q: {**judged, **{f"lost{i}": 1 for i in range(4)}} for q, judged in TAIL_QRELS.items()}
    positions = project(qrels, {**TAIL_RUNS, "none": {q: ["x"] for q in qrels}})
    kept = np.array([not item.startswith(b"lost") for item in positions.judgments.items])
    fewer = positions.with_labels(kept)
    assert (positions.judgments.num_relevant(1)[0], fewer.judgments.num_relevant(1)[0]) == (7, 3)
    for name in ("LexiRecall", "LexiPrecision", "AP", "nDCG", "RR", "R@1000", "R@30"):
        full, now = (decide(row_of(name), each, Policies()) for each in (positions, fewer))
        counts = concordance(now, full)
        assert counts.num_same == counts.num_decided == full.num_compared - full.num_tied
        assert now.num_tied == full.num_tied
    before, after = (evaluate(each, measures=["AP", "R@1000"]).to_dict()["near"] for each in (positions, fewer))
    assert after["R@1000"] == 1
    assert before["R@1000"] == pytest.approx(3 / 7)
    assert after["AP"] == pytest.approx(before["AP"] * 7 / 3)
    tse = [decide(row_of("TSE"), each, Policies()).num_tied for each in (positions, fewer)]
    assert tse == [6 * len(qrels), 0]


def test_the_rows_of_degradation_are_means_over_their_samples() -> None:
    positions, policies = simulated(), Policies()
    rows = [row_of(name) for name in ("LexiRecall", "Rprec")]
    full = [decide(row, positions, policies) for row in rows]
    found = degradation_rows(Collection("x", positions), rows, full, num_samples=3, seed=4)
    assert len(found) == 2 * 10 * 2
    for number, removal in enumerate(("uniform", "frequency")):
        bits = np.random.PCG64([4, number])
        samples = [list(kept_labels(positions, 1, removal, bits)) for _ in range(3)]
        for row in found:
            if row["removal"] != removal or row["removed"] == 0:
                continue
            index = [str(each) for each in rows].index(row["measure"])
            degraded = [
                decide(rows[index], positions.with_labels(sample[round(10 * row["removed"]) - 1]), policies)
                for sample in samples
            ]
            counts = [concordance(now, full[index]) for now in degraded]
            assert row["samples"] == 3
            assert row["ties"] == pytest.approx(np.mean([share_of_ties(now) for now in degraded]))
            unchanged = np.mean([(each.num_same + each.num_tied) / each.num_compared for each in counts])
            assert row["agreement"] == pytest.approx(unchanged)
            assert row["agreement_untied"] == pytest.approx(np.mean([c.num_same / c.num_decided for c in counts]))


def test_without_removal_every_decision_stays() -> None:
    made = study({"tiny": tiny()}, measures=["AP", "TSE"], num_samples=2)
    whole = [row for row in made.tables["degradation"] if row["removed"] == 0]
    assert len(whole) == 2 * 3
    for row in whole:
        assert (row["agreement"], row["agreement_untied"], row["samples"]) == (1.0, 1.0, 1)
        assert row["ties"] == column(made, "ties", "ties")[row["measure"]]
        assert row["labels"] == 2.5


# What a study finds where the answer is known


def test_of_systems_that_differ_in_the_tail_only_measures_of_the_tail_know() -> None:
    made = study({"tail": tail()}, num_samples=2)
    ties = column(made, "ties", "ties")
    assert {name for name, share in ties.items() if share == 0} == {"LexiRecall", "TSE", "AP", BINARY}
    assert {name for name, share in ties.items() if share == 1} == {"R@1000", "Rprec", "RR", BINARY_10}
    sides = column(made, "agreement", "agreement")
    assert sides == {"TSE": 1, "AP": 1, BINARY: 1, "R@1000": None, "Rprec": None, "RR": None, BINARY_10: None}
    for test in ("paired", "hsd", "t", "sign"):
        power = column(made, "sensitivity", test)
        assert {name for name, share in power.items() if share == 1} == {"LexiRecall", "TSE", "AP", BINARY}
        assert {name for name, share in power.items() if share == 0} == {"R@1000", "Rprec", "RR", BINARY_10}
    assert column(made, "sensitivity", "test") == {**dict.fromkeys(MEASURES, "t"), "LexiRecall": "sign"}


@given(drawn=collections(grades=(1.0, 2.0, 3.0, 4.0, 4.0, 5.0, 5.0), max_systems=4, with_size=False))
@quick(20)
def test_a_study_of_ratings_is_that_of_the_binary_labels_at_its_level(drawn: Drawn) -> None:
    """What is below the level has no gain, and a label that is removed takes its own away."""
    if len(drawn.runs) < 2 or not any(grade >= 4 for judged in drawn.qrels.values() for grade in judged.values()):
        return
    binary = {q: {item: float(grade >= 4) for item, grade in judged.items()} for q, judged in drawn.qrels.items()}
    rated, labelled = (
        study({"stars": project(qrels, drawn.runs)}, level=level, num_samples=1)
        for qrels, level in ((drawn.qrels, 4), (binary, 1))
    )
    assert rated.tables == labelled.tables
    assert not any(note.kind == "level" for note in rated.notes)


def test_a_measure_that_contradicts_has_no_agreement() -> None:
    runs = {"first": {"q": ["a", "x", "x2", "b"]}, "last": {"q": ["x", "a", "b"]}}
    made = study({"two": project({"q": {"a": 1, "b": 1}}, runs)}, measures=["RR", "LastRel"], num_samples=1)
    assert column(made, "agreement", "agreement") == {"RR": 0.0, "LastRel": 1.0}


def test_a_tie_of_lexirecall_counts_as_disagreement() -> None:
    """The grade of what is found first matters to nDCG only."""
    runs = {"x": {"q": ["a", "b"]}, "y": {"q": ["b", "a"]}}
    made = study({"graded": project({"q": {"a": 2, "b": 1}}, runs)}, measures=["nDCG"], num_samples=1)
    assert column(made, "agreement", "agreement") == {"nDCG": 0.0}
    assert column(made, "ties", "ties") == {"LexiRecall": 1.0, "nDCG": 0.0}


@given(drawn=collections(max_systems=4, with_size=False), level=st.sampled_from(LEVELS))
@quick(80)
def test_where_all_lists_are_at_most_k_deep_agreement_with_recall_is_one(drawn: Drawn, level: float) -> None:
    positions, policies = project(drawn.qrels, drawn.runs), Policies(level)
    share, separated = agreement(*(decide(row_of(name), positions, policies) for name in ("LexiRecall", "R@12")))
    assert share == (1.0 if separated else None)


@given(drawn=collections(max_systems=4, with_size=False))
@quick(80)
def test_lexirecall_never_ties_where_total_search_efficiency_separates(drawn: Drawn) -> None:
    positions = project(drawn.qrels, drawn.runs)
    share, separated = agreement(*(decide(row_of(name), positions, Policies()) for name in ("LexiRecall", "TSE")))
    assert share == (1.0 if separated else None)


def test_power_is_what_compare_finds() -> None:
    simulated = simulate_collection(2, num_requests=12)
    made = study({"x": project(simulated.qrels, simulated.runs)}, measures=["AP", "RPP"], num_samples=1, alpha=0.1)
    for name, test in (("paired", "auto"), ("hsd", "hsd"), ("t", "t"), ("sign", "sign")):
        comparison = compare(simulated.qrels, simulated.runs, ["LexiRecall", "AP", "RPP"], test=test, alpha=0.1)
        expected = {str(each.measure): np.mean(each.corrected < 0.1) for each in comparison.measures}
        assert column(made, "sensitivity", name) == pytest.approx(expected)


def test_one_request_has_no_power_where_a_variance_is_needed() -> None:
    made = study({"one": project({"q": {"a": 1}}, {"x": {"q": ["a"]}, "y": {"q": ["b", "a"]}})}, measures=["AP"])
    (lexirecall, ap) = made.tables["sensitivity"]
    assert (ap["paired"], ap["hsd"], ap["sign"]) == (None, None, 0.0)
    assert (lexirecall["paired"], lexirecall["t"]) == (0.0, None)
    assert "-" in made.summary()


@pytest.mark.parametrize(
    ("retrieved", "label"),
    [(1000.01, "deep"), (1000, "standard"), (100.01, "standard"), (100, "shallow"), (0, "shallow")],
)
def test_the_depth_label_is_open_below(retrieved: float, label: str) -> None:
    assert depth_label(retrieved) == label


def test_the_data_table_counts_what_is_studied() -> None:
    runs = {**TINY_RUNS, "silent": {"q1": ["a", "b"]}}
    made = study({"tiny": project(TINY_QRELS, runs)}, measures=["AP"], num_samples=1)
    (row,) = made.tables["data"]
    assert (row["queries"], row["runs"], row["relevant"], row["label"]) == (2, 4, 2.5, "shallow")
    assert row["retrieved"] == pytest.approx((3 + 3 + 3 + 4 + 1 + 1 + 2 + 0) / 8)
    assert row["recall"] == pytest.approx((1 + 2 / 3 + 1 + 1 + 1 / 2 + 0 + 1 + 0) / 8)
    answered = study({"tiny": project(TINY_QRELS, runs)}, measures=["AP"], num_samples=1, queries="intersection")
    assert answered.tables["data"][0]["retrieved"] == pytest.approx((3 + 3 + 3 + 4 + 1 + 1 + 2) / 7)
    assert answered.tables["ties"][0]["compared"] == 6 + 3
    assert made.tables["ties"][0]["compared"] == 6 + 6
    zero = study({"tiny": project(TINY_QRELS, runs)}, measures=["AP"], num_samples=1, no_relevant="zero")
    assert [row["compared"] for row in zero.tables["ties"]] == [18, 18]


def test_the_level_says_what_is_relevant() -> None:
    made = study({"tiny": tiny()}, measures=["AP", "nDCG"], num_samples=1, level=2)
    assert made.tables["data"][0]["queries"] == 1
    assert column(made, "ties", "compared") == {"LexiRecall": 3, "AP": 3, "nDCG": 6}


# The same numbers again


def test_the_same_seed_gives_the_same_study() -> None:
    first, second, other = (study({"s": simulated()}, num_samples=2, seed=seed) for seed in (5, 5, 6))
    assert first.tables == second.tables
    assert first.summary() == second.summary()
    for name in TABLES:
        assert (first.tables[name] == other.tables[name]) == (name != "degradation")


def test_the_order_of_the_runs_makes_no_difference() -> None:
    collection = simulate_collection(3, num_requests=6)
    backwards = dict(reversed(collection.runs.items()))
    one, other = (study({"s": project(collection.qrels, runs)}, num_samples=2) for runs in (collection.runs, backwards))
    for name in TABLES.keys() - {"data"}:
        assert one.tables[name] == other.tables[name]
    assert one.tables["data"][0] == pytest.approx(other.tables["data"][0])


def test_a_collection_is_studied_as_if_it_were_alone() -> None:
    both = study({"tail": tail(), "s": simulated()}, num_samples=2)
    alone = study({"s": simulated()}, num_samples=2)
    for name in TABLES:
        assert tuple(row for row in both.tables[name] if row["collection"] == "s") == alone.tables[name]


GOLDEN = {
    "data": """\
collection\tqueries\truns\trelevant\tretrieved\trecall\tlabel
tiny\t2\t3\t2.5\t2.5\t0.6944444444444443\tshallow
""",
    "agreement": """\
collection\tlabel\tmeasure\tagreement\tseparated
tiny\tshallow\tR@1000\t1.0\t5
tiny\tshallow\tRR\t0.6\t5
""",
    "ties": """\
collection\tlabel\tmeasure\tties\tcompared
tiny\tshallow\tLexiRecall\t0.0\t6
tiny\tshallow\tR@1000\t0.16666666666666666\t6
tiny\tshallow\tRR\t0.16666666666666666\t6
""",
    "sensitivity": """\
collection\tlabel\tmeasure\ttest\tpaired\thsd\tt\tsign\tpairs
tiny\tshallow\tLexiRecall\tsign\t0.0\t0.0\t0.0\t0.0\t3
tiny\tshallow\tR@1000\tt\t0.0\t0.0\t0.0\t0.0\t3
tiny\tshallow\tRR\tt\t0.0\t0.0\t0.0\t0.0\t3
""",
}


@pytest.mark.parametrize("table", GOLDEN)
def test_tables_are_plain_tsv(table: str) -> None:
    """By hand: LexiRecall puts late before early before short on q2, and early and late share q1's last position."""
    made = study({"tiny": tiny()}, measures=["R@1000", "RR"], num_samples=2)
    assert made.to_tsv(table) == GOLDEN[table]


def test_the_golden_removal_of_half_the_labels() -> None:
    text = study({"tiny": tiny()}, measures=["RR"], num_samples=2).to_tsv("degradation")
    head, *lines = text.splitlines()
    assert head == "\t".join(TABLES["degradation"])
    assert len(lines) == 2 * 10 * 2
    assert [line for line in lines if "\t0.5\t" in line.partition("\tRR")[0].partition("\tLexiRecall")[0] + "\t"] == [
        "tiny\tshallow\tuniform\t0.5\tLexiRecall\t0.16666666666666666\t0.6666666666666666\t0.6666666666666666\t1.5\t2",
        "tiny\tshallow\tuniform\t0.5\tRR\t0.16666666666666666\t1.0\t1.0\t1.5\t2",
        "tiny\tshallow\tfrequency\t0.5\tLexiRecall\t0.16666666666666666\t0.6666666666666667\t0.6666666666666667\t1.5\t2",
        "tiny\tshallow\tfrequency\t0.5\tRR\t0.25\t0.6666666666666666\t0.7\t1.5\t2",
    ]


# What may be studied


def test_lexirecall_comes_first_and_each_measure_once() -> None:
    positions = tiny()
    (rr,) = parse_measures("RR")
    asked: list[Any] = [["RR", "AP", "RR"], "RR LexiRecall AP", [preference_of(rr), "AP"]]
    for measures in asked:
        made = study({"tiny": positions}, measures=measures, num_samples=1)
        assert list(column(made, "ties", "ties")) == ["LexiRecall", "RR", "AP"]
    assert list(column(study({"tiny": positions}, num_samples=1), "ties", "ties")) == list(MEASURES)


def backwards(projection: Projection) -> Iterator[tuple[Any, Any]]:
    blocks = parse_preference("LexiRecall").blocks
    assert blocks is not None
    return ((requests, -signs) for requests, signs in blocks(projection))


def test_a_preference_that_is_no_order_is_studied_too() -> None:
    own = Preference("Own", "LexiRecall the other way round", blocks=backwards)
    made = study({"s": simulated()}, measures=["RPP", own], num_samples=1)
    sides = column(made, "agreement", "agreement")
    assert sides["Own"] == 0
    assert 0.5 < sides["RPP"] < 1
    assert column(made, "sensitivity", "test")["RPP"] == "t"
    assert all(row["agreement"] == 1 for row in made.tables["degradation"] if row["removed"] == 0)


def test_measures_get_what_they_need() -> None:
    bpref = CollectionFiles("tiny", TINY_QRELS, TINY_RUNS)
    assert column(study([bpref], measures=["Bpref"], num_samples=1), "ties", "ties")["Bpref"] < 1
    provided = CollectionFiles("tiny", TINY_QRELS, TINY_RUNS, {"providers": {"a": "x", "b": "y", "c": "x"}})
    assert (
        column(study([provided], measures=["WorstProvider"], num_samples=1), "ties", "compared")["WorstProvider"] == 6
    )
    with pytest.raises(UsageError, match="needs a map of documents to providers"):
        study({"tiny": tiny()}, measures=["WorstProvider"])
    with pytest.raises(UsageError, match="needs_judged=True"):
        study({"tiny": tiny()}, measures=["Bpref"])


def test_values_that_are_not_defined_are_not_compared() -> None:
    made = study({"tiny": tiny()}, measures=["LastRel"], num_samples=2)
    assert column(made, "ties", "compared") == {"LexiRecall": 6, "LastRel": 1}
    assert [note.kind for note in made.notes].count("undefined") == 1


@pytest.mark.parametrize(
    "conventions", [{"judged_only": True}, {"imputation": "optimistic"}, {"ties": "worst"}], ids=str
)
def test_where_the_order_depends_on_labels_none_are_removed_and_the_rest_is_told(conventions: dict[str, Any]) -> None:
    made = study({"tiny": project(TINY_QRELS, TINY_RUNS, **conventions)})
    assert made.tables["degradation"] == ()
    assert len(made.tables["ties"]) == len(MEASURES)
    assert made.notes[-1].kind == "degradation"
    assert "missing labels" not in made.summary()
    assert "half" not in made.summary()
    assert not any(name.startswith("degradation") for name in charts(made.tables))


@pytest.mark.parametrize(
    ("collections", "options", "message"),
    [
        ({}, {}, "no collection to study"),
        ([], {}, "no collection to study"),
        ("tiny", {"measures": "LexiRecal"}, "did you mean 'LexiRecall'"),
        ("tiny", {"num_samples": 0}, "num_samples is 0, but must be a whole number of at least 1"),
        ("tiny", {"seed": -1}, "seed is -1"),
        ("tiny", {"alpha": 1.5}, "alpha is 1.5"),
        ("tiny", {"level": 0}, "level is 0"),
        ("tiny", {"queries": "some"}, "queries is 'some'"),
        ("one", {}, "x: there is only one run"),
        ("twice", {}, "two collections are called 'x'"),
        ("expected", {}, "LexiRecall, whose mean over all orders of tied documents has no closed form"),
    ],
)
def test_what_cannot_be_studied_is_said(collections: Any, options: dict[str, Any], message: str) -> None:
    made: dict[str, Callable[[], Any]] = {
        "tiny": lambda: {"x": tiny()},
        "one": lambda: {"x": project(TINY_QRELS, {"only": TINY_RUNS["early"]})},
        "twice": lambda: [Collection("x", tiny()), Collection("x", tiny())],
        "expected": lambda: {"x": project(TINY_QRELS, TINY_RUNS, ties="expected")},
    }
    with pytest.raises(UsageError, match=message):
        study(made[collections]() if isinstance(collections, str) else collections, **options)


def test_nothing_relevant_is_an_error() -> None:
    with pytest.raises(DataError, match="no query has a relevant document"):
        study({"tiny": tiny()}, level=3)


# Words


def test_lexirecall_alone_can_be_studied() -> None:
    made = study({"tail": tail()}, measures="LexiRecall", num_samples=1)
    assert made.tables["agreement"] == ()
    assert "sides" not in made.summary().splitlines()[3]
    assert "agreement" not in charts(made.tables)
    assert "By HSD, every measure tells 100 % of the pairs of runs apart." in " ".join(made.summary().split())


def test_a_share_is_never_rounded_to_nothing_or_everything() -> None:
    shares = (0.0, 0.0004, 0.0006, 0.5, 0.9994, 0.9996, 1.0, None)
    assert [*map(percent, shares)] == ["0 %", "< 0.1 %", "0.1 %", "50.0 %", "99.9 %", "> 99.9 %", "100 %", "-"]


def test_the_summary_says_what_the_tail_shows() -> None:
    text = " ".join(study({"tail": tail()}, num_samples=2).summary().split())
    assert "tail: 3 runs on 8 queries with 3.0 relevant documents each" in text
    assert (
        "tied, lowest first: nDCG(rel='level') 0 %, AP 0 %, TSE 0 %, LexiRecall 0 %, nDCG(rel='level')@10 100 %" in text
    )
    assert "Do not rely on R@1000, Rprec, RR or nDCG(rel='level')@10 alone" in text
    assert "TSE (100 %), AP (100 %) and nDCG(rel='level') (100 %) take its side where they decide." in text
    assert (
        "By HSD, LexiRecall tells the most pairs of runs apart (100 %), and nDCG(rel='level')@10 the fewest (0 %)."
        in text
    )
    assert "LexiRecall tells apart 100 % by the t test (best other: TSE, 100 %)" in text
    assert "Shallow (up to 100 documents per query)" in text


def test_the_summary_fits_on_a_page_and_in_its_lines() -> None:
    for made in (study({"s": simulated()}, num_samples=1), study({"a": tail(), "b": tiny()}, num_samples=1)):
        lines = made.summary().splitlines()
        assert len(lines) < 66
        assert max(map(len, lines)) <= 100
        assert not any(line.startswith("%") for line in lines)
        assert str(made) == made.summary()


def test_of_several_collections_the_summary_tells_medians() -> None:
    both = study({"tail": tail(), "s": simulated(), "t": tiny()}, num_samples=1)
    assert {row["collection"]: row["label"] for row in both.tables["data"]} == {
        "tail": "shallow", "s": "standard", "t": "shallow"
    }  # fmt: skip
    everything, by_label = digests(both.tables)
    assert list(by_label) == ["standard", "shallow"]
    ties = {row["collection"]: row["ties"] for row in both.tables["ties"] if row["measure"] == "R@1000"}
    assert everything.value("R@1000", "ties") == np.median([*ties.values()])
    assert by_label["shallow"].value("R@1000", "ties") == (ties["tail"] + ties["t"]) / 2
    assert by_label["standard"].value("R@1000", "ties") == ties["s"]
    text = both.summary()
    assert text.startswith(
        "3 collections. standard (runs return more than 100 and up to 1,000 documents per query): s; "
    )
    assert "\nstandard " in text
    assert "\nshallow " in text


def test_a_measure_survives_up_to_the_share_before_it_first_fails() -> None:
    kept = {0.0: 1.0, 0.1: 0.95, 0.2: 0.9, 0.3: 0.89, 0.4: 0.95}
    rows = [
        {"collection": "c", "measure": "AP", "removal": "uniform", "removed": f, "ties": 0.0, "agreement_untied": share}
        for f, share in kept.items()
    ]
    empty: dict[str, Any] = {"agreement": [], "sensitivity": [], "data": [{"collection": "c", "label": "deep"}]}
    tables = {**empty, "ties": [{"collection": "c", "measure": "AP", "ties": 0.1}], "degradation": rows}
    assert digests(tables)[0].value("AP", "survives") == 0.2


def test_names_cannot_draw_on_the_terminal() -> None:
    made = study({"\x1b[31mred": tiny()}, measures=["RR"], num_samples=1)
    assert "\x1b" not in made.summary()
    assert made.files(figures=False)["data.tsv"].startswith(b"collection")


# Drawings


def test_one_collection_is_bars_and_several_are_boxes_by_depth() -> None:
    pytest.importorskip("altair")
    one = study({"s": simulated()}, num_samples=1)
    several = study({"s": simulated(), "tail": tail()}, num_samples=1)
    names = {
        "agreement", "ties", "sensitivity-paired", "sensitivity-hsd",
        "degradation-ties", "degradation-agreement", "degradation-agreement-untied",
    }  # fmt: skip
    assert charts(one.tables).keys() == charts(several.tables).keys() == names
    assert charts(one.tables)["ties"].to_dict()["layer"][0]["mark"]["type"] == "bar"
    boxes = charts(several.tables)["ties"].to_dict()
    assert boxes["facet"]["column"]["sort"] == ["standard", "shallow"]
    panels = json.dumps(charts(several.tables)["degradation-ties"].to_dict())
    for label in ("standard", "shallow"):
        for how in ("at random", "by frequency"):
            assert f'"{label}, removed {how}"' in panels


def test_lines_of_more_measures_than_colours_are_those_of_the_first() -> None:
    pytest.importorskip("altair")
    made = study({"t": tiny()}, measures=[f"P@{k}" for k in range(1, 13)], num_samples=1)
    drawn = json.dumps(charts(made.tables)["degradation-ties"].to_dict())
    assert '{"measure": "P@9", "removed": 0.5,' in drawn
    assert "P@10" not in drawn


# A file of collections


TOML = b"""\
[[collection]]
name = "tiny"
qrels = "data/qrels"
runs = ["data/runs/*", "data/runs/early"]

[[collection]]
name = "tiny at 2"
qrels = "data/qrels"
runs = "data/runs/*"
level = 2
depth = 2
corpus_size = 100
judged_only = true
queries = "intersection"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data" / "runs").mkdir(parents=True)
    (tmp_path / "data" / "qrels").write_bytes(GOOD["qrels"])
    for name in TINY_RUNS:
        (tmp_path / "data" / "runs" / name).write_bytes(GOOD[name])
    (tmp_path / "collections.toml").write_bytes(TOML)
    return tmp_path


def test_a_file_lists_collections_with_paths_of_its_own(folder: Path) -> None:
    first, second = read_collections(folder / "collections.toml", {"level": 1.0, "depth": 3})
    assert (first.name, second.name) == ("tiny", "tiny at 2")
    assert first.runs == second.runs == [str(folder / "data" / "runs" / name) for name in sorted(TINY_RUNS)]
    assert first.options == {"level": 1.0, "depth": 3}
    one, other = first.read(), second.read()
    assert one.positions.systems == tuple(sorted(TINY_RUNS))
    assert (one.policies, other.policies) == (Policies(1.0), Policies(2, "intersection"))
    assert one.positions.corpus_size is None
    assert other.positions.corpus_size is not None
    assert other.positions.num_retrieved.max() == 2
    assert other.positions.conventions.judged_only


def test_absolute_paths_and_odd_names_are_found(folder: Path) -> None:
    odd = folder / "data" / "runs" / "run[1].gz"
    odd.write_bytes(GOOD["early"])
    text = f'[[collection]]\nname = "x"\nqrels = "{folder}/data/qrels"\nruns = ["{odd}", "{folder}/data/runs/l*"]\n'
    (folder / "absolute.toml").write_text(text)
    (found,) = read_collections(str(folder / "absolute.toml"))
    assert found.runs == [str(odd), str(folder / "data" / "runs" / "late")]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "tiny"', "name = tiny", "collections.toml:2: not valid TOML"),
        ('name = "tiny"', "", "collection 1: name is missing"),
        ('name = "tiny"', "name = 7", "collection 1: name is 7, but must be text"),
        ('name = "tiny"', 'name = "tiny at 2"', "several collections are called 'tiny at 2'"),
        ('qrels = "data/qrels"', "", "collection 'tiny': qrels is missing"),
        ('qrels = "data/qrels"', 'qrels = "gone"', "collection 'tiny': qrels: the file"),
        ('runs = ["data/runs/*", "data/runs/early"]', "", "collection 'tiny': runs is missing"),
        ('runs = ["data/runs/*", "data/runs/early"]', "runs = [1]", "runs is [1], but must be paths or patterns"),
        ('runs = ["data/runs/*", "data/runs/early"]', "runs = []", "runs is [], but must be paths or patterns"),
        ('"data/runs/*", "data/runs/early"', '"data/gone/*"', "collection 'tiny': runs: no file matches"),
        ('"data/runs/*", "data/runs/early"', '"data/runs/**b"', "collection 'tiny': runs: "),
        ('"data/runs/*", "data/runs/early"', '"data/runs/early"', "collection 'tiny': runs: there is only one run"),
        ("level = 2", "lewel = 2", "collection 'tiny at 2': unknown key 'lewel'\n  did you mean 'level'?"),
        ("level = 2", "measure = 2", "unknown key 'measure'\n  choose from name, qrels, runs"),
        ("level = 2", 'level = "2"', "level is '2', but must be a number"),
        ("level = 2", "level = true", "level is True, but must be a number"),
        ("level = 2", "level = 0", "collection 'tiny at 2': level is 0"),
        ("depth = 2", "depth = 0", "collection 'tiny at 2': depth is 0"),
        ("depth = 2", "depth = 2.5", "depth is 2.5, but must be a whole number"),
        ("corpus_size = 100", 'corpus_size = "gone"', "corpus_size: the file"),
        ("corpus_size = 100", "corpus_size = 1.5", "corpus_size is 1.5, but must be a whole number or text"),
        ("judged_only = true", "judged_only = 1", "judged_only is 1, but must be true or false"),
        ('queries = "intersection"', 'queries = "some"', "collection 'tiny at 2': queries is 'some'"),
        ("judged_only = true", 'ties = "expected"', "collection 'tiny at 2': a study compares with LexiRecall"),
        ("[[collection]]", "[[collections]]", "unknown key 'collections' outside of any collection"),
    ],
)
def test_what_is_wrong_in_the_file_is_named_with_collection_and_key(
    folder: Path, old: str, new: str, message: str
) -> None:
    text = TOML.decode()
    assert old in text
    path = folder / "collections.toml"
    path.write_text(text.replace(old, new) if old == "[[collection]]" else text.replace(old, new, 1))
    with pytest.raises(FormatError) as caught:
        read_collections(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert caught.value.exit_code == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "has no list of collections"), (b"collection = 1", "has no list"), (b"\xff", "not UTF-8 text")],
)
def test_a_file_without_collections_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "c.toml").write_bytes(content)
    with pytest.raises(FormatError, match=message):
        read_collections(tmp_path / "c.toml")


def test_judgments_and_runs_that_follow_each_other_are_a_collection(folder: Path) -> None:
    files = [str(folder / "data" / name) for name in ("qrels", "runs/early", "runs/late")]
    collection = from_files(files, {"level": 1})
    assert (collection.name, collection.qrels, collection.runs) == ("qrels", files[0], files[1:])
    assert collection.read().positions.systems == ("early", "late")


# The command


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.usefixtures("without_figures")
def test_the_command_prints_the_summary_and_writes_a_folder(command: Command, tmp_path: Path) -> None:
    outcome = command("study", *FILES, "--samples", "2", "--seed", "3")
    made = study([from_files(["qrels", "early", "late", "short"])], num_samples=2, seed=3)
    assert (outcome.code, outcome.out) == (0, made.summary())
    expected = made.files(figures=False)
    found = written(tmp_path / "lexirecall-study")
    assert found.keys() == expected.keys() == {*(f"{name}.tsv" for name in TABLES), "summary.txt", "manifest.json"}
    assert {name: text for name, text in found.items() if name != "manifest.json"} == {
        name: text for name, text in expected.items() if name != "manifest.json"
    }
    manifest = json.loads(found["manifest.json"])
    assert manifest["conventions"]["seed"] == 3
    assert manifest["conventions"]["collections"]["qrels"]["runs"] == ["early", "late", "short"]
    assert [row["name"] for row in manifest["measures"]] == list(MEASURES)
    rows = list(csv.DictReader(io.StringIO(found["ties.tsv"].decode()), delimiter="\t"))
    assert [row["measure"] for row in rows] == list(MEASURES)
    assert outcome.err.splitlines()[-2:] == [
        "note: tables and this summary are in lexirecall-study",
        "note: figures need altair and vl-convert: pip install 'lexirecall[plots]'",
    ]


def test_figures_come_in_three_formats(command: Command, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    outcome = command("study", *FILES, "--samples", "1", "-m", "RR", "-o", "out")
    assert outcome.code == 0
    assert outcome.err.splitlines()[-1] == "note: tables, figures and this summary are in out"
    found = written(tmp_path / "out")
    for name in ("agreement", "ties", "sensitivity-hsd", "sensitivity-paired", "degradation-agreement"):
        assert found[f"{name}.svg"].startswith(b"<svg")
        assert found[f"{name}.pdf"].startswith(b"%PDF")
        assert found[f"{name}.png"].startswith(b"\x89PNG")


@pytest.mark.usefixtures("without_figures")
def test_the_command_studies_a_file_of_collections(command: Command, folder: Path) -> None:
    outcome = command("study", "--collections", "collections.toml", "--samples", "1", "-m", "RR", "-o", "out")
    assert outcome.code == 0
    assert outcome.out.startswith("2 collections. shallow")
    assert "tiny at 2: with these rules (judged-only" in outcome.err
    data = (folder / "out" / "data.tsv").read_text().splitlines()
    assert [line.split("\t")[:2] for line in data[1:]] == [["tiny", "2"], ["tiny at 2", "1"]]


@pytest.mark.usefixtures("without_figures")
def test_the_same_command_writes_the_same_files(command: Command, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert command("study", *FILES, "--samples", "2", "-o", name).code == 0
    assert written(tmp_path / "one") == written(tmp_path / "two")
    command("study", *FILES, "--samples", "2", "--seed", "1", "-o", "two")
    one, two = written(tmp_path / "one"), written(tmp_path / "two")
    assert one["degradation.tsv"] != two["degradation.tsv"]
    assert one["ties.tsv"] == two["ties.tsv"]


@pytest.mark.usefixtures("without_figures")
def test_the_conventions_reach_the_study(command: Command, tmp_path: Path) -> None:
    outcome = command("study", *FILES, "--level", "2", "--depth", "2", "--samples", "1", "-m", "AP")
    assert (outcome.code, outcome.out.splitlines()[0]) == (
        0, "qrels: 3 runs on 1 query with 1.0 relevant documents each. On average a run returns 1.7 documents"
    )  # fmt: skip
    outcome = command("study", *FILES, "--imputation", "optimistic", "--samples", "1", "-m", "AP")
    assert outcome.err.startswith("warning: optimistic imputation")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "there is nothing to study"),
        (("qrels",), 2, "there are no runs"),
        (("qrels", "early"), 2, "there is only one run"),
        (("qrels", "early", "late", "--collections", "c.toml"), 2, "both --collections and files are given"),
        (("qrels", "early", "early"), 2, "two runs have the same name"),
        (("qrels", "early", "late", "-m", "LexiRecal"), 2, "did you mean 'LexiRecall'"),
        (("qrels", "early", "late", "-m", "TSE(e=linear)"), 2, "--corpus-size"),
        (("qrels", "early", "late", "--samples", "0"), 2, "--samples"),
        (("qrels", "early", "late", "--alpha", "2"), 2, "alpha is 2"),
        (("qrels", "early", "late", "--ties", "expected"), 2, "no closed form"),
        (("qrels", "early", "late", "-o", "early"), 2, "'early' exists and is not a folder"),
        (("qrels", "-", "-"), 2, "only one file can be read from stdin"),
        (("qrels", "early", "gone"), 1, "gone: no such file"),
        (("qrels", "early", "late", "--level", "3"), 1, "no query has a relevant document"),
        (("--collections", "gone.toml"), 1, "gone.toml: no such file"),
        (("--collections", "qrels"), 1, "qrels:1: not valid TOML"),
        (("qrels", "early", "late", "--samples", "1", "-m", "RR", "-o", "early/x"), 1, "cannot be written"),
    ],
)
@pytest.mark.usefixtures("without_figures")
def test_bad_usage_is_an_error_without_a_result(
    command: Command, tmp_path: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    outcome = command("study", *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert message in outcome.err
    assert "Traceback" not in outcome.err
    assert {path.name for path in tmp_path.iterdir()} == set(GOOD)


def test_the_name_of_a_collection_is_no_formula_in_a_table(command: Command, tmp_path: Path) -> None:
    listed = b'[[collection]]\nname = "=c"\nqrels = "qrels"\nruns = ["early", "late"]\n'
    arguments = ("study", "--collections", "list.toml", "--samples", "1", "-m", "AP", "-o")
    guarded = command(*arguments, "guarded", **{"list.toml": listed})
    raw = command(*arguments, "raw", "--raw", **{"list.toml": listed})
    assert (guarded.code, raw.code) == (0, 0)
    tables = {folder: (tmp_path / folder / "ties.tsv").read_text() for folder in ("guarded", "raw")}
    assert "\n'=c\t" in tables["guarded"]
    assert tables["raw"] == tables["guarded"].replace("'", "")
    assert "cells that a spreadsheet would run are written with a leading apostrophe" in guarded.err
    assert "apostrophe" not in raw.err


def test_options_beside_collections_that_bring_their_own_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="level, ties: given beside collections, which have their own options"):
        study([CollectionFiles("mine", {"q": {"a": 1}}, {"x": {"q": ["a"]}, "y": {"q": ["b"]}})], level=2, ties="best")
    without_runs: list[Any] = [str(tmp_path / "qrels.txt"), {"q": {"a": 1}}, [{"q": {"a": 1}}]]
    for alone in without_runs:
        with pytest.raises(UsageError, match="no runs are given"):
            study(alone)
