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
from lexirecall.installing import how_to_install
from lexirecall.manifest import Policies
from lexirecall.meta import FILES as WRITTEN
from lexirecall.meta import MEASURES, TABLES, Collection, CollectionFiles, read_collections
from lexirecall.meta.agreement import agreement, is_by_definition
from lexirecall.meta.collection import from_files
from lexirecall.meta.conclusions import Conclusions, Outcomes, conclude
from lexirecall.meta.data import depth_label
from lexirecall.meta.decisions import Decisions, concordance, decide, dense_ranks
from lexirecall.meta.degradation import TENTHS, degradation_rows, kept_labels, num_kept, random_places
from lexirecall.meta.digest import Digest, digests
from lexirecall.meta.figures import charts
from lexirecall.meta.halves import QUANTITIES
from lexirecall.meta.resampling import Bootstrap, query_orders
from lexirecall.meta.shares import PooledShares
from lexirecall.meta.summary import summarize
from lexirecall.meta.ties import share_of_ties
from lexirecall.names import Evaluable, parse_measures, parse_names
from lexirecall.preferences import preference_of
from lexirecall.results import Projection, Study
from lexirecall.statistics.corrections import correct
from lexirecall.statistics.kendall import kendall_tau
from lexirecall.statistics.power import discriminative_power
from lexirecall.tables import percent
from lexirecall.verbs.rank import contrasted
from strategies import LEVELS, collections, costly, quick
from strategies import Collection as Drawn
from table import all_measures, all_preferences, needs_size

# Runs that agree on the first two relevant documents and differ only in the position of the third
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
    collection = simulate_collection(3, num_queries=6)
    return project(collection.qrels, collection.runs)


def row_of(name: str) -> Evaluable:
    return parse_names(name)[0]


def column(made: Study, table: str, name: str) -> dict[str, Any]:
    """Return one column of a table by measure; of the last row if there are several."""
    return {row["measure"]: row[name] for row in made.tables[table]}


# Slow twins


def case_of(judged: dict[str, float], run: dict[str, dict[str, float]], query: str, level: float) -> naive.Case:
    order = naive.ranked([*run.get(query, {}).items()], judged)
    return naive.Case(naive.grades_shown(order, judged), judged, level)


def naive_sign(name: str, x: naive.Case, y: naive.Case) -> int:
    row = row_of(name)
    if isinstance(row, Preference):
        difference = naive.preference(row.name, row.settings, x, y)
        return (difference > 1e-12) - (difference < -1e-12)
    (measure,) = parse_measures(name)
    mine, theirs = (naive.value(measure.name, measure.settings, case) for case in (x, y))
    return naive.better(measure.direction, mine, theirs)


def naive_decided(name: str, drawn: Drawn, level: float) -> naive.Decided:
    """Compare each pair of runs on each query that has something relevant."""
    level = row_of(name).level(level)
    decided = {}
    for query, judged in drawn.qrels.items():
        cases = {run: case_of(judged, lines, query, level) for run, lines in drawn.runs.items()}
        for a, b in combinations(cases, 2):
            if cases[a].m:
                decided[query, a, b] = naive_sign(name, cases[a], cases[b])
    return decided


def without(drawn: Drawn, removed: set[tuple[str, str]]) -> Drawn:
    qrels = {q: {d: g for d, g in judged.items() if (q, d) not in removed} for q, judged in drawn.qrels.items()}
    return Drawn(qrels, drawn.runs)


def removed_by(positions: Positions, kept: Any) -> set[tuple[str, str]]:
    """Return queries and documents that lose their labels."""
    judgments = positions.judgments
    owners = np.repeat(np.arange(len(judgments.queries)), np.diff(judgments.offsets))
    return {(judgments.queries[owners[i]], judgments.documents[i].decode()) for i in np.flatnonzero(~kept).tolist()}


def is_share(value: float | None, expected: Fraction | None) -> bool:
    return value is None if expected is None else value == pytest.approx(float(expected), rel=1e-12)


BINARY, BINARY_10 = "nDCG(rel='level')", "nDCG(rel='level')@10"
OF_DOCUMENTS = [measure for measure in all_measures() if not measure.needs_providers]
TWINNED = [BINARY, *map(str, all_preferences())]
VALUED = [m for m in OF_DOCUMENTS if m.corpus != "if missing" and not needs_size(m) and not m.sparse]
TWINNED += [str(m) for m in VALUED if not m.needs_judged]
"""Those that every ranking has a value of, whatever else is known."""


@given(
    drawn=collections(max_runs=4, with_size=False),
    level=st.sampled_from(LEVELS),
    name=st.sampled_from(TWINNED),
    kept=st.randoms(use_true_random=False),
)
@costly(200)
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
    drawn=collections(max_runs=5),
    name=st.sampled_from([BINARY, "AP(rel=2)", *map(str, all_preferences()), *map(str, OF_DOCUMENTS)]),
    policies=st.builds(
        Policies, st.sampled_from(LEVELS), st.sampled_from(["all", "intersection"]), st.sampled_from(["skip", "zero"])
    ),
)
@costly(250)
def test_decisions_by_ranks_are_those_of_all_pairs(drawn: Drawn, name: str, policies: Policies) -> None:
    preference = parse_preference(name)
    assume(drawn.corpus_size or not (preference.measure and needs_size(preference.measure)))
    positions = project(drawn.qrels, drawn.runs, needs_judged=True, **drawn.given_size)
    pairs = contrasted(positions, preference, policies).held()
    decisions = decide(row_of(name), positions, policies)
    assert (decisions.taking_part == pairs.taking_part).all()
    assert preference.transitive if decisions.ranks is not None else preference.measure is None
    for s in range(len(positions.runs) - 1):
        both = pairs.taking_part[s] & pairs.taking_part[s + 1 :]
        assert (decisions.against_later(s) * both == pairs.signs[s, s + 1 :]).all()
    upper = np.triu_indices(len(positions.runs), 1)
    assert decisions.num_compared == pairs.num_queries[upper].sum()
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
    assert by_ranks.tied.tolist() == by_signs.tied.tolist()
    assert np.array_equal(by_ranks.balances, by_signs.balances, equal_nan=True)
    one, other = concordance(by_ranks, by_signs), concordance(by_signs, by_signs)
    for name in ("compared", "same", "decided", "tied"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()


@given(
    ranks=st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=2, max_size=6),
    absent=st.sets(st.integers(0, 5)),
)
@quick(100)
def test_what_two_measures_say_the_same_of_is_counted_pair_by_pair(ranks: list[list[int]], absent: set[int]) -> None:
    """Two queries under two measures."""
    x, y = (np.array(ranks, np.int16)[:, columns] for columns in (slice(0, 2), slice(2, 4)))
    part = np.array([[s not in absent, True] for s in range(len(ranks))])
    counts = concordance(Decisions(part, ranks=x), Decisions(part, ranks=y))
    for q in range(2):
        pairs = [(a, b) for a, b in combinations(range(len(ranks)), 2) if part[a, q] and part[b, q]]
        signs = [(np.sign(x[b, q] - x[a, q]), np.sign(y[b, q] - y[a, q])) for a, b in pairs]
        assert counts.compared[q] == len(pairs)
        assert counts.same[q] == sum(mine == theirs != 0 for mine, theirs in signs)
        assert counts.decided[q] == sum(theirs != 0 for _, theirs in signs)
        assert counts.tied[q] == sum(mine == theirs == 0 for mine, theirs in signs)


def test_many_runs_do_not_overflow_a_byte() -> None:
    order = np.arange(300, dtype=np.int16)[:, None]
    made = concordance(Decisions(np.ones((300, 1), bool), ranks=order), Decisions(np.ones((300, 1), bool), ranks=order))
    assert made.num_same == made.num_compared == 300 * 299 // 2


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


@given(drawn=collections(max_runs=3), choice=st.randoms(use_true_random=False))
@costly(150)
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
    rows: list[Any] = [measure for measure in OF_DOCUMENTS if drawn.corpus_size or not needs_size(measure)]
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


def test_documents_are_sampled_in_proportion_to_their_weights_without_replacement() -> None:
    """All pairs of four documents, against the exact chances; 4 σ of 20,000 draws."""
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
    kept = np.array([not document.startswith(b"lost") for document in positions.judgments.documents])
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
    bootstrap = Bootstrap(np.ones(6, bool))
    found, differences = degradation_rows(Collection("x", positions), rows, full, bootstrap, num_samples=3, seed=4)
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
            kept = [each.num_same / each.num_decided for each in counts]
            assert row["agreement_untied"] == pytest.approx(np.mean(kept))
            assert row["agreement_untied_sd"] == pytest.approx(np.std(kept, ddof=1))
            assert row["agreement_untied_low"] <= row["agreement_untied"] <= row["agreement_untied_high"]
            assert (row["pairs"], row["queries"], row["compared"]) == (6, 6, 36)
    assert [(row["quantity"], row["a"], row["b"]) for row in differences] == [
        ("kept_uniform", "LexiRecall", "Rprec"), ("kept_frequency", "LexiRecall", "Rprec"),
    ]  # fmt: skip
    half = {row["measure"]: row["agreement_untied"] for row in found if row["removed"] == 0.5}
    assert differences[1]["difference"] == pytest.approx(half["LexiRecall"] - half["Rprec"])


def test_without_removal_every_decision_stays() -> None:
    made = study({"tiny": tiny()}, measures=["AP", "TSE"], num_samples=2)
    whole = [row for row in made.tables["degradation"] if row["removed"] == 0]
    assert len(whole) == 2 * 3
    for row in whole:
        assert (row["agreement"], row["agreement_untied"], row["samples"]) == (1.0, 1.0, 1)
        assert row["ties"] == column(made, "ties", "ties")[row["measure"]]
        assert row["labels"] == 2.5


# What a study finds where the answer is known


def test_of_runs_that_differ_in_the_tail_only_measures_of_the_tail_know() -> None:
    made = study({"tail": tail()}, num_samples=2)
    ties = column(made, "ties", "ties")
    assert {name for name, share in ties.items() if share == 0} == {"LexiRecall", "TSE", "AP", BINARY}
    assert {name for name, share in ties.items() if share == 1} == {"R@1000", "Rprec", "RR", BINARY_10}
    sides = column(made, "agreement", "agreement")
    assert sides == {"TSE": 1, "AP": 1, BINARY: 1, "R@1000": None, "Rprec": None, "RR": None, BINARY_10: None}
    for test in ("sign", "hsd_signs", "paired", "hsd", "t"):
        power = column(made, "sensitivity", test)
        assert {name for name, share in power.items() if share == 1} == {"LexiRecall", "TSE", "AP", BINARY}
        assert {name for name, share in power.items() if share == 0} == {"R@1000", "Rprec", "RR", BINARY_10}
    assert column(made, "sensitivity", "test") == {
        **dict.fromkeys(MEASURES, "t"), "LexiRecall": "sign", "TSE": "sign",
    }  # fmt: skip


@given(drawn=collections(grades=(1.0, 2.0, 3.0, 4.0, 4.0, 5.0, 5.0), max_runs=4, with_size=False))
@costly(20)
def test_a_study_of_ratings_is_that_of_the_binary_labels_at_its_level(drawn: Drawn) -> None:
    """What is below the level has no gain, and a label that is removed takes its own away."""
    if len(drawn.runs) < 2 or not any(grade >= 4 for judged in drawn.qrels.values() for grade in judged.values()):
        return
    binary = {
        q: {document: float(grade >= 4) for document, grade in judged.items()} for q, judged in drawn.qrels.items()
    }
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


@given(drawn=collections(max_runs=4, with_size=False), level=st.sampled_from(LEVELS))
@quick(80)
def test_where_all_lists_are_at_most_k_deep_agreement_with_recall_is_one(drawn: Drawn, level: float) -> None:
    positions, policies = project(drawn.qrels, drawn.runs), Policies(level)
    share, separated = agreement(*(decide(row_of(name), positions, policies) for name in ("LexiRecall", "R@12")))
    assert share == (1.0 if separated else None)


@given(
    drawn=collections(max_runs=4),
    level=st.sampled_from(LEVELS),
    imputation=st.sampled_from(["pessimistic", "optimistic"]),
    cutoff=st.integers(1, 12),
)
@costly(150)
def test_what_is_marked_as_agreeing_by_definition_agrees(
    drawn: Drawn, level: float, imputation: Any, cutoff: int
) -> None:
    positions, policies = project(drawn.qrels, drawn.runs, imputation=imputation, **drawn.given_size), Policies(level)
    reference = decide(row_of("LexiRecall"), positions, policies)
    cut = [f"{name}@{cutoff}" for name in ("R", "P", "Success", "Reached", "All", "nDCG", "RR")]
    names = [
        str(each) for each in OF_DOCUMENTS if not each.needs_judged and (drawn.corpus_size or not needs_size(each))
    ]
    for row in map(row_of, (*names, *cut, "R(rel=2)@12")):
        if is_by_definition(row, positions, policies):
            assert agreement(reference, decide(row, positions, policies))[0] in (None, 1.0), row


def test_a_place_among_all_does_not_agree_by_definition_where_the_whole_corpus_is_retrieved() -> None:
    runs = {"all": {"q": ["x", "a", "b"]}, "one": {"q": ["a"]}}  # found at 3 and imputed at 3 are one to the measure
    for corpus_size, is_certain in ((3, False), (4, True)):
        positions = project({"q": {"a": 1, "b": 1}}, runs, corpus_size=corpus_size)
        measure = row_of("LexiRecallPercentile")
        share, _ = agreement(*(decide(row, positions, Policies()) for row in (row_of("LexiRecall"), measure)))
        assert (share, is_by_definition(measure, positions, Policies())) == (float(is_certain), is_certain)


@given(drawn=collections(max_runs=4, with_size=False))
@quick(80)
def test_lexirecall_never_ties_where_total_search_efficiency_separates(drawn: Drawn) -> None:
    positions = project(drawn.qrels, drawn.runs)
    share, separated = agreement(*(decide(row_of(name), positions, Policies()) for name in ("LexiRecall", "TSE")))
    assert share == (1.0 if separated else None)


def test_power_is_what_compare_finds() -> None:
    simulated = simulate_collection(2, num_queries=12)
    made = study({"x": project(simulated.qrels, simulated.runs)}, measures=["AP", "RPP"], num_samples=1, alpha=0.1)
    (of_signs,) = {row["hsd_signs"] for row in made.tables["sensitivity"] if row["measure"] == "LexiRecall"}
    assert of_signs == column(made, "sensitivity", "hsd")["LexiRecall"]
    for name, test in (("paired", "auto"), ("hsd", "hsd"), ("t", "t"), ("sign", "sign")):
        comparison = compare(simulated.qrels, simulated.runs, ["LexiRecall", "AP", "RPP"], test=test, alpha=0.1)
        expected = {str(each.measure): np.mean(each.corrected < 0.1) for each in comparison.measures}
        assert column(made, "sensitivity", name) == pytest.approx(expected)


def test_one_query_has_no_power_where_a_variance_is_needed() -> None:
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
    assert first.tables["data"] == other.tables["data"]
    assert all(first.tables[name] != other.tables[name] for name in ("degradation", "halves", "correlation"))
    assert column(first, "ties", "ties") == column(other, "ties", "ties")


def test_the_order_of_the_runs_makes_no_difference() -> None:
    collection = simulate_collection(3, num_queries=6)
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
collection\ttask\tqueries\truns\tteams\trelevant\tretrieved\trecall\tlabel
tiny\t\t2\t3\t3\t2.5\t2.5\t0.6944444444444443\tshallow
""",
    "agreement": """\
collection\ttask\tlabel\tmeasure\tagreement\tagreement_low\tagreement_high\tby_definition\tseparated\tcompared\tpairs\tqueries
tiny\t\tshallow\tR@1000\t1.0\t\t\tTrue\t5\t6\t3\t2
tiny\t\tshallow\tRR\t0.6\t\t\tFalse\t5\t6\t3\t2
""",
    "ties": """\
collection\ttask\tlabel\tmeasure\tties\tties_low\tties_high\tcompared\tpairs\tqueries
tiny\t\tshallow\tLexiRecall\t0.0\t\t\t6\t3\t2
tiny\t\tshallow\tR@1000\t0.16666666666666666\t\t\t6\t3\t2
tiny\t\tshallow\tRR\t0.16666666666666666\t\t\t6\t3\t2
""",
    "sensitivity": """\
collection\ttask\tlabel\tmeasure\tsign\tsign_low\tsign_high\thsd_signs\ttest\tpaired\thsd\tt\tcompared\tpairs\tqueries
tiny\t\tshallow\tLexiRecall\t0.0\t\t\t0.0\tsign\t0.0\t0.0\t0.0\t6\t3\t2
tiny\t\tshallow\tR@1000\t0.0\t\t\t0.0\tt\t0.0\t0.0\t0.0\t6\t3\t2
tiny\t\tshallow\tRR\t0.0\t\t\t0.0\tt\t0.0\t0.0\t0.0\t6\t3\t2
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
    rows = csv.DictReader(io.StringIO(text), delimiter="\t")
    shown = ("removal", "measure", "ties", "agreement", "agreement_untied", "labels", "samples", "compared")
    assert [tuple(row[name] for name in shown) for row in rows if row["removed"] == "0.5"] == [
        ("uniform", "LexiRecall", "0.16666666666666666", "0.6666666666666666", "0.6666666666666666", "1.5", "2", "6"),
        ("uniform", "RR", "0.16666666666666666", "1.0", "1.0", "1.5", "2", "6"),
        ("frequency", "LexiRecall", "0.16666666666666666", "0.6666666666666666", "0.6666666666666666", "1.5", "2", "6"),
        ("frequency", "RR", "0.25", "0.6666666666666666", "0.7", "1.5", "2", "6"),
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
    return ((queries, -signs) for queries, signs in blocks(projection))


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


def test_values_that_are_not_defined_are_worse_than_all_others() -> None:
    made = study({"tiny": tiny()}, measures=["LastRel", "TSE"], num_samples=2)
    assert column(made, "ties", "compared") == {"LexiRecall": 6, "LastRel": 6, "TSE": 6}
    assert column(made, "ties", "ties")["LastRel"] == column(made, "ties", "ties")["TSE"]
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
    assert "half: kept" not in made.summary()
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
    assert "told apart by the same test for all, the sign test: LexiRecall 100 %." in " ".join(made.summary().split())


def test_a_share_is_never_rounded_to_nothing_or_everything() -> None:
    shares = (0.0, 0.0004, 0.0006, 0.5, 0.9994, 0.9996, 1.0, None)
    assert [*map(percent, shares)] == ["0 %", "< 0.1 %", "0.1 %", "50.0 %", "99.9 %", "> 99.9 %", "100 %", "-"]


def test_the_summary_says_what_the_tail_shows() -> None:
    text = " ".join(study({"tail": tail()}, num_samples=2).summary().split())
    assert "tail: 3 runs on 8 queries with 3.0 relevant documents each" in text
    assert (
        "tied, lowest first: nDCG(rel='level') 0 %, AP 0 %, TSE 0 %, LexiRecall 0 %, nDCG(rel='level')@10 100 %" in text
    )
    assert "R@1000, Rprec, RR and nDCG(rel='level')@10 decide less than 5 % of the comparisons." in text
    assert "LexiRecall ties less often than R@1000, Rprec, RR and nDCG(rel='level')@10, for these runs." in text
    assert "between LexiRecall and TSE, AP or nDCG(rel='level') in this." in text
    assert "decides the same way: TSE 100 % by definition, AP 100 %, nDCG(rel='level') 100 %." in text
    assert "tells apart more pairs than R@1000, Rprec, RR and nDCG(rel='level')@10, for these runs." in text
    assert "Too few decisions to say so of R@1000, Rprec, RR and nDCG(rel='level')@10." in text


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
        {"collection": "c", "measure": measure, "removal": "uniform", "removed": f, "ties": 0.0, "compared": 100}
        | {"agreement_untied": 1.0, "agreement_untied_low": share, "separated": separated}
        for f, share in kept.items()
        for measure, separated in (("AP", 50), ("TSE", 4))
    ]
    tables = {name: list[dict[str, Any]]() for name in TABLES}
    tables["data"] = [{"collection": "c", "task": "", "label": "deep"}]
    tables["ties"] = [{"collection": "c", "measure": name, "ties": 0.5, "compared": 100} for name in ("AP", "TSE")]
    tables["degradation"] = rows
    assert digests(tables)[0].value("AP", "survives") == 0.2
    assert digests(tables)[0].value("TSE", "survives") is None


def test_names_cannot_draw_on_the_terminal() -> None:
    made = study({"\x1b[31mred": tiny()}, measures=["RR"], num_samples=1)
    assert "\x1b" not in made.summary()
    assert made.files(figures=False)["data.tsv"].startswith(b"collection")


# Sentences that the numbers do not carry


def invented(**changes: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return tables of one collection in which LexiRecall is as good as AP, with other numbers where they are given."""
    key = {"collection": "c", "task": "", "label": "standard"}
    counts = {"compared": 1000, "separated": 900, "pairs": 10, "queries": 100}
    shares: dict[str, Any] = {"samples": 30, "removed": 0.5, "removal": "uniform", "by_definition": False}
    for name in ("ties", "agreement", "agreement_untied", "sign", "hsd", "hsd_signs", "paired", *QUANTITIES):
        shares |= {name: 0.5, f"{name}_low": 0.4, f"{name}_high": 0.6}
    rows = [
        {**key, **counts, **shares, "measure": name, "test": test, **changes.get(name, {})}
        for name, test in (("LexiRecall", "sign"), ("AP", "t"))
    ]
    named = {"a": "LexiRecall", "b": "AP", "difference": 0.0, "low": -0.1, "high": 0.1, "over": "queries and runs"}
    quantities = ("ties", "agreement", "power", "kept_uniform")
    contrasts = [{**key, **named, "quantity": name, **changes.get(name, {})} for name in quantities]
    data = {**key, "queries": 100, "runs": 5, "relevant": 9.0, "retrieved": 500.0, "recall": 0.5}
    tau = {**key, "a": "LexiRecall", "b": "AP", "tau": 0.8, "tau_low": 0.7, "tau_high": 0.9}
    rows_of = dict.fromkeys(("ties", "sensitivity", "halves", "degradation"), rows)
    return {**rows_of, "agreement": rows[1:], "data": [data], "correlation": [tau], "contrasts": contrasts}


def said(**changes: dict[str, Any]) -> str:
    return " ".join(summarize(invented(**changes)).split())


@pytest.mark.parametrize(
    ("quantity", "more", "less"),
    [
        ("ties", "LexiRecall ties more often than AP", "LexiRecall ties less often than AP"),
        ("power", "LexiRecall tells apart more pairs than AP", "LexiRecall tells apart fewer pairs than AP"),
        ("kept_uniform", "LexiRecall keeps a larger share of its decisions", "LexiRecall keeps a smaller share"),
    ],
)
def test_a_difference_is_stated_as_it_is_and_only_beyond_its_interval(quantity: str, more: str, less: str) -> None:
    with_nothing, with_more, with_less = (
        said(**{quantity: {"low": low, "high": high}}) for low, high in ((-0.1, 0.1), (0.1, 0.3), (-0.3, -0.1))
    )
    undecided = "The data do not show a difference between LexiRecall and AP in this."
    assert (more in with_nothing, less in with_nothing, with_nothing.count(undecided)) == (False, False, 3)
    assert (more in with_more, less in with_more, with_more.count(undecided)) == (True, False, 2)
    assert (more in with_less, less in with_less, with_less.count(undecided)) == (False, True, 2)
    assert undecided in said(**{quantity: {"low": None, "high": None}})


def test_a_measure_that_hardly_decides_does_not_survive_best() -> None:
    text = said(
        AP={"ties": 0.96, "separated": 40, "agreement_untied_low": 1.0}, LexiRecall={"agreement_untied_low": 0.95}
    )
    assert "AP decides less than 5 % of the comparisons." in text
    assert "up to this share: 50 % for LexiRecall. Too few decisions to say so of AP." in text


def test_hsd_and_hsd_on_signs_are_both_there_and_where_they_disagree_is_said() -> None:
    text = said()
    assert all(f" {name} " in text for name in ("HSD", "HSD on signs"))
    assert "HSD and HSD on signs disagree" not in text
    apart = said(AP={"hsd": 0.3, "hsd_signs": 0.6})
    assert (
        "HSD and HSD on signs disagree on whether LexiRecall tells apart more pairs than AP (HSD 50.0 % to 30.0 %, on "
        "signs 50.0 % to 60.0 %)."
    ) in apart
    assert "HSD and HSD on signs disagree" not in said(AP={"hsd": 0.3, "hsd_signs": 0.5})
    one, other = invented(AP={"hsd": 0.3, "hsd_signs": 0.6}), invented()
    both = {name: [*rows, *({**row, "collection": "d"} for row in other[name])] for name, rows in one.items()}
    assert "tells apart more pairs than AP (on 1 of 2 collections)." in " ".join(summarize(both).split())


def test_the_legend_names_the_measures_that_are_tested_by_signs() -> None:
    assert "(t test for values, sign test for LexiRecall); HSD and own" in said()
    assert "(t test for values, sign test for LexiRecall and AP); HSD and own" in said(AP={"test": "sign"})


def test_what_holds_by_definition_is_marked() -> None:
    text = said(AP={"by_definition": True, "agreement": 1.0, "agreement_low": 1.0, "agreement_high": 1.0})
    assert " 100 %* " in text
    assert "*: by definition, whatever the data." in text
    assert "AP 100 % by definition." in text
    assert "by definition" not in said()
    one, other = invented(AP={"by_definition": True, "agreement": 1.0}), invented()
    both = {name: [*rows, *({**row, "collection": "d"} for row in other[name])] for name, rows in one.items()}
    assert "AP 75.0 % (50.0 to 100.0) by definition on 1 of 2 collections." in " ".join(summarize(both).split())
    assert "75.0 %*" not in summarize(both)
    rows = study({"tiny": tiny()}, measures=["R@3", "R@4", "RR"], num_samples=1).table("agreement").rows
    assert [row[3] for row in rows] == ["1.000", "1.000 by definition", "0.600"]


def test_measures_of_other_comparisons_are_not_compared() -> None:
    text = said(AP={"compared": 77}, ties={"low": 0.1, "high": 0.3}, power={"low": 0.1, "high": 0.3})
    assert "AP: over fewer or more comparisons than LexiRecall, so not compared." in text
    assert "than AP" not in text


def test_agreement_that_may_be_chance_is_called_so() -> None:
    assert "AP may agree by chance only." in said()
    assert "by chance only" not in said(AP={"agreement_low": 0.51})


def test_what_depth_changes_is_not_claimed_of_collections_that_differ_in_more() -> None:
    several: dict[str, list[dict[str, Any]]] = {}
    for label, share in {"deep": 0.1, "shallow": 0.6}.items():
        for i in range(3):
            for name, rows in invented().items():
                own = {"collection": f"{label}{i}", "label": label, "ties": share + i / 100}
                several.setdefault(name, []).extend({**row, **own} for row in rows)
    text = " ".join(summarize(several).split())
    assert "deep (runs return more than 1,000 documents per query): deep0, deep1, deep2; shallow (" in text
    assert "Collections of other depths may differ in more than depth: cut the same runs to see what" in text
    assert "does the depth" not in text
    assert "often than on" not in text
    alike = {name: [row for row in rows if row["label"] == "deep"] for name, rows in several.items()}
    assert "differ in more than depth" not in summarize(alike)


def test_of_several_collections_most_must_show_a_difference_and_none_its_opposite() -> None:
    for intervals, expected in {
        ((0.1, 0.2), (0.1, 0.2), (-0.1, 0.2)): True,
        ((0.1, 0.2), (-0.1, 0.2), (-0.1, 0.2)): False,
        ((0.1, 0.2), (0.1, 0.2), (-0.2, -0.1)): False,
        ((0.1, 0.2), (None, None)): False,
        (): False,
    }.items():
        digest = Digest(("a", "b"), {}, differences={("ties", "a", "b"): intervals})
        assert digest.exceeds("ties", "a", "b") is expected
        assert not digest.exceeds("ties", "b", "a")


def test_where_nothing_can_be_significant_a_note_says_so() -> None:
    notes = [note.text for note in study({"tiny": tiny()}, measures=["AP"], num_samples=1).notes]
    assert any("no difference can be significant" in text for text in notes)
    notes = [note.text for note in study({"tail": tail()}, measures=["AP"], num_samples=1).notes]
    assert not any("no difference can be significant" in text for text in notes)


# Other samples of the queries


def test_resamples_draw_every_query_as_often() -> None:
    queries = np.array([True, False, True, True, True])
    counts = np.concatenate(list(Bootstrap(queries, seed=3, num_resamples=5000).blocks()))
    assert counts.shape == (5000, 4)
    assert (counts.sum(axis=1) == 4).all()
    assert counts.mean(axis=0) == pytest.approx(1, abs=4 * math.sqrt(0.75 / 5000))
    assert counts.var(axis=0) == pytest.approx(0.75, abs=0.06)  # binomial: 4 draws of 1/4


@given(parts=st.lists(st.tuples(st.integers(0, 3), st.integers(3, 5)), min_size=6, max_size=9))
@quick(30)
def test_a_resampled_share_is_that_of_the_queries_drawn(parts: list[tuple[int, int]]) -> None:
    share = PooledShares.of([([part for part, _ in parts], [whole for _, whole in parts])])
    bootstrap = Bootstrap(np.ones(len(parts), bool), num_resamples=20)
    (drawn,) = bootstrap.blocks()
    expected = [naive.share_drawn(parts, [int(count) for count in row]) for row in drawn]
    assert share.resampled(bootstrap).ravel().tolist() == [float(each) for each in expected]


def test_a_block_of_another_size_draws_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    bootstrap = Bootstrap(np.ones(7, bool), num_resamples=10)
    whole = np.concatenate(list(bootstrap.blocks()))
    monkeypatch.setattr("lexirecall.statistics.bootstrap._BLOCK", 21)
    assert np.array_equal(np.concatenate(list(bootstrap.blocks())), whole)


@given(means=st.lists(st.lists(st.integers(0, 4), min_size=5, max_size=5), min_size=2, max_size=2))
@quick(100)
def test_tau_is_that_of_scipy_and_of_counting(means: list[list[int]]) -> None:
    from scipy.stats import kendalltau

    found = kendall_tau(np.array(means, float))[0, 1]
    assert found == pytest.approx(naive.kendall_tau(*means), nan_ok=True)
    assert found == pytest.approx(kendalltau(*means).statistic, nan_ok=True)


def test_tau_is_between_the_orders_that_eval_prints() -> None:
    made = study({"s": simulated()}, measures=["AP", "RR"], num_samples=1)
    table = evaluate(simulated(), measures=["LexiRecall", "AP", "RR"]).to_dict()
    for row in made.tables["correlation"]:
        x, y = ([values[row[side]] for values in table.values()] for side in ("a", "b"))
        assert row["tau"] == pytest.approx(naive.kendall_tau(x, y))
        assert row["tau_low"] <= row["tau"] + 1e-12
        assert (row["runs"], row["pairs"], row["queries"]) == (4, 6, 6)


@pytest.mark.parametrize("name", ["LexiRecall", "AP", "RPP", "LastRel"])
def test_conclusions_on_a_sample_are_those_of_compare_on_its_queries(name: str) -> None:
    collection = simulate_collection(5, num_queries=14)
    del collection.runs[next(iter(collection.runs))]["q1" if "q1" in collection.qrels else next(iter(collection.qrels))]
    options: dict[str, Any] = {"queries": "intersection"}
    positions, policies, row = project(collection.qrels, collection.runs), Policies(**options), row_of(name)
    outcomes = Outcomes.of(row, decide(row, positions, policies), positions, policies)
    chosen = [0, 1, 3, 4, 6, 7, 8, 9, 11, 13]
    weights = np.zeros((1, 14))
    weights[0, chosen] = 1
    made = conclude(outcomes, weights)
    names = positions.judgments.queries
    some = {names[i]: collection.qrels[names[i]] for i in chosen}
    compared = compare(some, collection.runs, [name], test="sign", **options).measures[0]
    assert made.corrected[:, 0] == pytest.approx(compared.corrected, nan_ok=True)
    assert made.balances[:, 0].tolist() == (compared.wins - compared.losses).tolist()
    means = np.nan_to_num(compared.means)
    assert made.directions[:, 0].tolist() == np.where(np.abs(means) < 1e-12, 0, np.sign(means)).tolist()


def test_halves_share_no_query_and_say_what_compare_says_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three splits of 17 queries into 8 and 8, each half compared by itself."""
    monkeypatch.setattr("lexirecall.meta.halves.NUM_SPLITS", 3)
    collection = simulate_collection(5, num_queries=17)
    positions = project(collection.qrels, collection.runs)
    names = positions.judgments.queries
    rows = study({"s": positions}, measures=["AP"], num_samples=1, seed=4, alpha=0.4).tables["halves"]
    orders = query_orders(17, 3, 4)
    for row in rows:
        (whole,) = compare(collection.qrels, collection.runs, [row["measure"]], test="sign").measures
        kept = []
        for order in orders.tolist():
            halves: list[Any] = []
            for chosen in (order[:8], order[8:16]):
                some = {names[i]: collection.qrels[names[i]] for i in chosen}
                halves += compare(some, collection.runs, [row["measure"]], test="sign").measures
            means, corrected = ([getattr(each, name) for each in halves] for name in ("means", "corrected"))
            sides = np.sign(means[0]) * np.sign(means[1])
            balances = [np.sign(each.wins - each.losses) for each in halves]
            (one, other), both = (p < 0.4 for p in corrected), balances[0] * balances[1]
            kept.append([
                np.mean(sides[(means[0] != 0) | (means[1] != 0)] > 0),
                np.mean(one & other & (both > 0)), np.mean(one & other & (both < 0)), np.mean([one, other]),
                np.mean([np.sign(each) * np.sign(whole.means) > 0 for each in means]),
            ])  # fmt: skip
        shares = [row[name] for name in QUANTITIES]
        assert shares == pytest.approx(np.mean(kept, axis=0).tolist())
        assert (row["splits"], row["queries"], row["pairs"]) == (3, 8, 6)
        assert row["same_direction_low"] <= row["same_direction"] <= row["same_direction_high"]
    assert any(row["both_significant"] > 0 for row in rows)


def test_halves_of_what_never_changes_agree_and_one_query_has_none() -> None:
    rows = study({"tail": tail()}, measures=["AP", "RR"], num_samples=1).tables["halves"]
    assert [row["same_direction"] for row in rows] == [1.0, 1.0, None]
    assert [(row["queries"], row["opposite"], row["significant"]) for row in rows] == [(4, 0.0, 0.0)] * 3
    one = study({"one": project({"q": {"a": 1}}, {"x": {"q": ["a"]}, "y": {"q": ["b", "a"]}})}, measures=["AP"])
    assert one.tables["halves"] == ()
    assert "Would fewer queries do?" not in one.summary()


# Other samples of the runs

ALIKE = ["a", "a", "b", "c", "d", "e", "f", "g", "h"]
"""The team of each of nine runs: eight teams, the fewest that are drawn."""


def drawn_from(bootstrap: Bootstrap) -> Iterator[tuple[list[int], list[int]]]:
    """Give the runs and the queries of each resample, each as often as it is drawn."""
    runs = bootstrap.runs()
    assert runs is not None
    (queries,) = bootstrap.blocks()
    for ours, theirs in zip(runs.T.astype(int), queries.astype(int), strict=True):
        yield np.repeat(np.arange(len(ours)), ours).tolist(), np.repeat(np.arange(len(theirs)), theirs).tolist()


def test_a_resample_counts_pairs_of_different_runs_and_draws_teams_as_a_whole() -> None:
    numbers = np.arange(36 * 6).reshape(36, 6)
    place: Any = {pair: i for i, pair in enumerate(combinations(range(9), 2))}
    teams = np.unique(ALIKE, return_inverse=True)[1]
    bootstrap = Bootstrap(np.ones(6, bool), seed=2, num_resamples=30, teams=teams)
    expected = []
    for runs, queries in drawn_from(bootstrap):
        assert runs.count(0) == runs.count(1)
        pairs = [tuple(sorted(pair)) for pair in combinations(runs, 2) if pair[0] != pair[1]]
        expected.append(sum(int(numbers[place[pair]][q]) for pair in pairs for q in queries))
    assert bootstrap.over == "queries and teams"
    assert bootstrap.pooled([numbers])[:, 0].tolist() == expected


def test_teams_are_drawn_independently_of_queries_and_each_as_often() -> None:
    bootstrap = Bootstrap(np.ones(8, bool), seed=3, num_resamples=5000, teams=np.arange(8))
    runs = bootstrap.runs()
    assert runs is not None
    assert (runs.sum(axis=0) == 8).all()
    assert runs.mean(axis=1) == pytest.approx(1, abs=4 * math.sqrt(7 / 8 / 5000))
    queries = np.concatenate(list(bootstrap.blocks()))
    correlations = np.corrcoef(runs, queries.T)[:8, 8:]
    assert abs(correlations).max() < 5 / math.sqrt(5000)


def test_the_correction_of_a_resample_is_over_the_pairs_that_it_has() -> None:
    pvalues = np.array([[0.01], [0.02], [0.3], [np.nan], [0.004]])
    drawn = np.array([[2.0], [1], [4], [3], [0]])
    made = Conclusions(np.zeros((5, 1), int), np.zeros((5, 1), int), pvalues, np.argsort(pvalues, axis=0))
    assert made.corrected == pytest.approx(correct(pvalues), nan_ok=True)
    expanded = [p for p, n in zip(pvalues.ravel(), drawn.ravel(), strict=True) for _ in range(int(n))]
    for alpha in (0.05, 0.08, 0.2):
        expected = discriminative_power(correct(expanded), alpha)
        assert made.powers(alpha, drawn).tolist() == [expected]
    assert made.powers(0.05).tolist() == [discriminative_power(correct(pvalues), 0.05)]


def test_a_contrast_is_its_estimate_and_196_deviations_of_resampled_runs_and_queries() -> None:
    collection = simulate_collection(4, num_queries=12)
    runs = {f"{name}{i}": run for i in range(3) for name, run in collection.runs.items()}
    positions = project(collection.qrels, runs)
    [by_runs] = [row for row in study({"s": positions}, measures="RR").tables["contrasts"] if row["quantity"] == "ties"]
    teams = {name: name[:-1] for name in runs}
    [fixed] = [
        row for row in study(positions, teams=teams, measures="RR").tables["contrasts"] if row["quantity"] == "ties"
    ]
    assert (by_runs["over"], fixed["over"]) == ("queries and runs", "queries")
    assert by_runs["difference"] == fixed["difference"]
    for row in (by_runs, fixed):
        assert row["high"] - row["difference"] == pytest.approx(row["difference"] - row["low"])
    assert by_runs["high"] - by_runs["low"] > 1.2 * (fixed["high"] - fixed["low"])
    tied = {name: naive_decided_of(positions, name) for name in ("LexiRecall", "RR")}
    bootstrap = Bootstrap(np.ones(12, bool), teams=np.argsort(np.argsort(positions.runs)))
    place = {pair: i for i, pair in enumerate(combinations(range(12), 2))}
    drawn = []
    for number, (runs_drawn, queries) in enumerate(drawn_from(bootstrap)):
        if number == 300:
            break
        pairs = [place[a, b] if a < b else place[b, a] for a, b in combinations(runs_drawn, 2) if a != b]
        ties = [tied[name][np.ix_(pairs, queries)].mean() for name in ("LexiRecall", "RR")]
        drawn.append(ties[0] - ties[1])
    reach = 1.959964 * np.std(drawn, ddof=1)
    assert by_runs["high"] - by_runs["difference"] == pytest.approx(reach, rel=0.15)


def naive_decided_of(positions: Positions, name: str) -> Any:
    """Return which pairs a measure ties on which queries, [P, Q]."""
    pairs = contrasted(positions, parse_preference(name), Policies()).held()
    return pairs.signs[np.triu_indices(len(positions.runs), 1)] == 0


def test_of_fewer_than_eight_teams_a_difference_is_stated_for_these_runs() -> None:
    runs = {f"{name} {i}": run for i in range(3) for name, run in TAIL_RUNS.items()}
    positions = project(TAIL_QRELS, runs)
    made = study(positions, measures="RR", num_samples=1)
    text = " ".join(made.summary().split())
    assert "LexiRecall ties less often than RR. " in text
    assert "A difference is stated if its interval, over queries and runs, does not include 0." in text
    few = study(positions, measures="RR", num_samples=1, teams={name: name.split()[0] for name in runs})
    assert few.tables["data"][0]["teams"] == 3
    assert few.manifest.conventions["collections"]["qrels"]["teams"]["near 1"] == "near"
    text = " ".join(few.summary().split())
    assert "LexiRecall ties less often than RR, for these runs." in text
    assert "Over queries alone, as there are fewer than 8 teams, it is about these runs." in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"early us\nlate us them\nshort x\n", "teams:2: a line has 2 fields (run team), found more: 'late us them'"),
        (b"early\n", "teams:1: a line has 2 fields (run team), found 1: 'early'"),
        (b"early us\n\nlaet them\n", "teams:3: there is no run 'laet'\n  did you mean 'late'?"),
        (b"early us\nlate x\nearly us\n", "teams:3: run 'early' is listed twice, of team 'us' and of 'us'"),
        (b"early us\nlate x\nearly y\n", "teams:3: run 'early' is listed twice, of team 'us' and of 'y'"),
        (b"early us\n", "teams: no team of 2 runs: 'late', 'short'\n  write a line for each run"),
        (b"early us\nlate us\nshort us\n", "teams: all runs are of team 'us', so there is no other team to draw"),
        (b"", "teams: the file is empty"),
        (b"early us\nla\0te x\n", "teams:2: a NUL byte"),
    ],
)
def test_what_is_wrong_with_teams_is_said_with_its_line(command: Command, text: bytes, message: str) -> None:
    outcome = command("study", *FILES, "--teams", "teams", "--samples", "1", "-m", "RR", teams=text)
    assert (outcome.code, outcome.out) == (1, "")
    assert message in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    ("teams", "message"),
    [
        ({"late": "x", "short": "y", "nobody": "z"}, "teams: there is no run 'nobody'"),
        ({"late": "x", "short": "y"}, "teams: no team of 1 run: 'early'"),
        (dict.fromkeys(TINY_RUNS, "us"), "teams: all runs are of team 'us'"),
    ],
)
def test_teams_of_a_mapping_are_checked_alike(teams: dict[str, str], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        study(tiny(), measures="RR", teams=teams, num_samples=1)
    with pytest.raises(UsageError, match=r"teams is 7, but must be a file or {run: team}"):
        study(tiny(), measures="RR", teams=7, num_samples=1)
    with pytest.raises(UsageError, match="teams: given beside collections"):
        study([Collection("x", tiny())], teams=teams)


# Drawings


def test_one_collection_is_bars_and_several_are_boxes_by_depth() -> None:
    pytest.importorskip("altair")
    larger = simulate_collection(3, num_queries=12)
    one = study({"s": project(larger.qrels, larger.runs)}, num_samples=2)
    several = study({"s": simulated(), "tail": tail()}, num_samples=2)
    names = {
        "agreement", "ties", "sensitivity-sign", "sensitivity-hsd-signs", "sensitivity-paired", "sensitivity-hsd",
        "halves-direction", "halves-significance",
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


def test_tasks_make_panels_of_tables_and_figures() -> None:
    pytest.importorskip("altair")
    given = [
        Collection("s", simulated(), task="retrieval"),
        Collection("t", tiny()),
        Collection("u", tail(), task="=x"),
        Collection("v", tiny(), task="retrieval"),
    ]
    made = study(given, measures=["AP"], num_samples=2)
    assert [row["task"] for row in made.tables["data"]] == ["retrieval", "", "=x", "retrieval"]
    assert {row[0] for row in made.table("ties").rows} == {
        "retrieval, standard", "retrieval, shallow", "other, shallow", "=x, shallow"
    }  # fmt: skip
    drawn = charts(made.tables)["ties"].to_dict()["vconcat"]
    assert [each["facet"]["column"]["sort"] for each in drawn] == [
        ["retrieval, standard", "retrieval, shallow"], ["other, shallow"], ["=x, shallow"]
    ]  # fmt: skip
    degraded = charts(made.tables)["degradation-ties"].to_dict()
    assert [len(row["hconcat"]) for row in degraded["vconcat"]] == [2, 2, 1, 1, 1, 1]
    assert '"retrieval, standard, removed at random"' in json.dumps(degraded)
    text = " ".join(made.summary().split())
    assert text.startswith("4 collections. retrieval, standard (runs return more than 100 and up to 1,000 documents")
    assert "; retrieval, shallow (runs return up to 100 documents per query): v; other, shallow (" in text
    assert "\nretrieval, shallow " in made.summary()
    assert made.to_tsv("ties").splitlines()[-3].startswith("u\t'=x\tshallow\tAP\t")


def test_the_lines_of_a_figure_have_bands() -> None:
    pytest.importorskip("altair")
    collection = simulate_collection(3, num_queries=8)
    made = study({"s": project(collection.qrels, collection.runs)}, measures=["AP"], num_samples=2)
    panel = charts(made.tables)["degradation-agreement"].to_dict()["hconcat"][0]
    assert [layer["mark"]["type"] for layer in panel["layer"]] == ["area", "line", "point"]
    (band,) = (layer["encoding"] for layer in panel["layer"] if layer["mark"]["type"] == "area")
    assert (band["y"]["field"], band["y2"]["field"]) == ("low", "high")


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
    assert one.positions.runs == tuple(sorted(TINY_RUNS))
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
        ("level = 2", "measure = 2", "unknown key 'measure'\n  choose from name, task, qrels, runs, teams"),
        ("level = 2", 'level = "2"', "level is '2', but must be a number"),
        ("level = 2", "level = true", "level is True, but must be a number"),
        ("level = 2", "level = 0", "collection 'tiny at 2': level is 0"),
        ("depth = 2", "depth = 0", "collection 'tiny at 2': depth is 0"),
        ("depth = 2", "depth = 2.5", "depth is 2.5, but must be a whole number"),
        ("corpus_size = 100", 'corpus_size = "gone"', "corpus_size: the file"),
        ("corpus_size = 100", "corpus_size = 1.5", "corpus_size is 1.5, but must be a whole number or text"),
        ("judged_only = true", "judged_only = 1", "judged_only is 1, but must be true or false"),
        ("level = 2", 'teams = "gone"', "teams: the file"),
        ("level = 2", "teams = 7", "teams is 7, but must be text"),
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
    assert (collection.name, collection.qrels, collection.runs) == ("data", files[0], files[1:])
    assert from_files(files, name="mine").name == "mine"
    assert collection.read().positions.runs == ("early", "late")


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
    assert found.keys() == expected.keys() == set(WRITTEN)
    assert found["ties.tex"].startswith(rb"\begin{tabular}{lllrrrr}")
    assert found["ties.md"].startswith(b"| panel | collection | measure | ties |")
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
        f"note: figures need altair and vl-convert: {how_to_install('plots')}",
    ]


def test_figures_come_in_three_formats(command: Command, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    outcome = command("study", *FILES, "--samples", "1", "-m", "RR", "-o", "out")
    assert outcome.code == 0
    assert outcome.err.splitlines()[-1] == "note: tables, figures and this summary are in out"
    found = written(tmp_path / "out")
    for name in ("agreement", "ties", "sensitivity-sign", "sensitivity-paired", "degradation-agreement"):
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
    assert [line.split("\t")[:3] for line in data[1:]] == [["tiny", "", "2"], ["tiny at 2", "", "1"]]


@pytest.mark.usefixtures("without_figures")
def test_a_name_and_a_task_can_be_given(command: Command, folder: Path) -> None:
    files = ("data/qrels", "data/runs/early", "data/runs/late")
    named = command("study", *files, "--name", "mine", "--samples", "1", "-m", "RR", "-o", "out")
    assert (named.code, named.out.split(":")[0]) == (0, "mine")
    assert command("study", *files, "--samples", "1", "-m", "RR", "-o", "out").out.split(":")[0] == "data"
    for option in ("name", "task"):
        both = command("study", "--collections", "collections.toml", f"--{option}", "mine")
        assert (both.code, both.out) == (2, "")
        assert f"both --collections and --{option} are given\n  give each collection its {option} in" in both.err
    tasked = command("study", *files, "--task", "toys", "--samples", "1", "-m", "RR", "-o", "out")
    assert (tasked.code, (folder / "out" / "data.tsv").read_text().splitlines()[1].split("\t")[1]) == (0, "toys")
    text = TOML.replace(b'name = "tiny"\n', b'name = "tiny"\ntask = "toys"\n').decode()
    (folder / "tasks.toml").write_text(text)
    assert [each.task for each in read_collections(folder / "tasks.toml")] == ["toys", ""]
    (folder / "tasks.toml").write_text(text.replace('"toys"', "7"))
    with pytest.raises(FormatError, match="task is 7, but must be text"):
        read_collections(folder / "tasks.toml")


@pytest.mark.usefixtures("without_figures")
def test_the_same_command_writes_the_same_files(command: Command, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert command("study", *FILES, "--samples", "2", "-o", name).code == 0
    assert written(tmp_path / "one") == written(tmp_path / "two")
    command("study", *FILES, "--samples", "2", "--seed", "1", "-o", "two")
    one, two = written(tmp_path / "one"), written(tmp_path / "two")
    assert one["degradation.tsv"] != two["degradation.tsv"]
    assert one["data.tsv"] == two["data.tsv"]


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
