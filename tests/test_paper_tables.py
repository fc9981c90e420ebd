"""The paper's tables and numeric figures: what it prints, within the tolerance, and what is known in closed form."""

import json
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise
from math import comb, log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall.paper import (
    datasets,
    orientation,
    properties,
    recsys,
    reproduce,
    stochastic,
    ties_by_corpus,
    ties_by_depth,
    ties_by_relevant,
    worst_case_agreement,
)
from lexirecall.paper.exhibit import Exhibit, PaperValue
from lexirecall.paper.papervalues import beside, tolerance_of_shares
from lexirecall.paper.property_methods import COLUMNS
from lexirecall.paper.rankings import random_placements, random_positions
from lexirecall.paper.sharedlines import coinciding
from lexirecall.tables import FORMATS
from lexirecall.theory import tie_probability, tie_probability_tse

SEED = 2025
SAMPLED = ("worst-case-agreement", "ties-by-depth")
NAMES = (
    *SAMPLED,
    "ties-by-corpus",
    "ties-by-relevant",
    "properties",
    "recsys",
    "datasets",
    "orientation",
    "stochastic",
)
DRAWN = ("ties-by-depth", "recsys", "orientation", "stochastic")


@cache
def exhibited(name: str) -> Exhibit:
    return reproduce(name, SEED)


def values(name: str, key: str, value: str = "value") -> dict[tuple[Any, str], Any]:
    return {(row[key], row["measure"]): row[value] for row in exhibited(name).rows}


# All of them


@pytest.mark.parametrize("name", NAMES)
def test_an_exhibit_has_a_name_a_title_and_rows_with_its_columns(name: str) -> None:
    exhibit = exhibited(name)
    assert exhibit.name == name
    assert exhibit.title
    assert exhibit.rows
    assert all(tuple(row) == exhibit.columns for row in exhibit.rows)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", FORMATS)
def test_an_exhibit_can_be_printed_in_every_format(name: str, form: str) -> None:
    text = exhibited(name).render(form)
    assert len(text) > 400
    if form == "jsonl":
        assert [json.loads(line) for line in text.splitlines()] == [dict(row) for row in exhibited(name).rows]


@pytest.mark.parametrize("name", [*SAMPLED, "ties-by-corpus"])
def test_the_same_seed_gives_the_same_exhibit(name: str) -> None:
    assert reproduce(name, SEED).rows == exhibited(name).rows


@pytest.mark.parametrize("name", SAMPLED)
def test_another_seed_gives_another_sample(name: str) -> None:
    assert reproduce(name, SEED + 1).rows != exhibited(name).rows


def parts(chart: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Give a chart and all its parts."""
    yield chart
    for part in (*chart.get("layer", ()), *chart.get("hconcat", ())):
        yield from parts(part)


def drawn(chart: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the rows that are the data of a chart and its parts."""
    return [row for part in parts(chart) for row in part.get("data", {}).get("values", ())]


@pytest.mark.parametrize("name", DRAWN)
def test_a_chart_has_marks_and_data(name: str) -> None:
    for chart in exhibited(name).charts.values():
        described = chart().to_dict()
        marks = {part["mark"]["type"] for part in parts(described) if "mark" in part}
        assert marks == ({"bar", "rule", "text"} if name == "recsys" else {"line", "point"})
        assert len(drawn(described)) > 15


def test_only_figures_have_charts() -> None:
    assert tuple(name for name in NAMES if exhibited(name).charts) == DRAWN


# Agreement with the worst case


def test_agreement_with_the_worst_case_is_what_the_paper_prints() -> None:
    exhibit = exhibited("worst-case-agreement")
    assert not any(row["differs"] for row in exhibit.rows)
    assert len(exhibit.rows) == 4 * 7
    assert exhibit.table is not None
    assert not exhibit.table.marks


def test_what_the_specification_prints_is_what_is_compared_with() -> None:
    paper = values("worst-case-agreement", "n", "paper")
    columns = ("tied", "TSE", "R@1000", "Rprec", "AP", "nDCG")
    assert [paper[10**3, name] for name in columns] == [0.012, 1.0, 0.0, 0.285, 0.541, 0.535]
    assert [paper[10**4, name] for name in columns] == [0.001, 1.0, 0.420, 0.077, 0.552, 0.549]
    assert [paper[10**5, name] for name in columns] == [0.0, 1.0, 0.179, 0.008, 0.554, 0.555]
    assert [paper[10**6, name] for name in columns] == [0.0, 1.0, 0.026, 0.001, 0.547, 0.554]


@pytest.mark.parametrize("n", worst_case_agreement.PAPER)
def test_total_search_efficiency_always_agrees_with_the_worst_case(n: int) -> None:
    assert values("worst-case-agreement", "n")[n, "TSE"] == 1


@pytest.mark.parametrize("n", worst_case_agreement.PAPER)
def test_the_share_tied_in_the_worst_case_is_near_its_expectation(n: int) -> None:
    expected = worst_case_agreement.expected_ties(n)
    spread = (expected * (1 - expected) / worst_case_agreement.NUM_PAIRS) ** 0.5
    assert abs(values("worst-case-agreement", "n")[n, "tied"] - expected) < 4 * spread


def test_the_expected_share_of_ties_is_a_mean_over_all_numbers_of_relevant_documents() -> None:
    by_hand = [sum(comb(p - 1, m - 1) ** 2 for p in range(m, 1001)) / comb(1000, m) ** 2
               for m in range(5, 51)]  # fmt: skip
    assert worst_case_agreement.expected_ties(1000) == pytest.approx(sum(by_hand) / 46)


def test_average_precision_agrees_in_553_of_1000_pairs_of_a_small_corpus() -> None:
    rng = np.random.default_rng(SEED)
    shares = worst_case_agreement.agreement(worst_case_agreement.simulated(rng, 40_000, 1000), rng)
    assert shares["AP"] == pytest.approx(0.5535, abs=0.0088)  # 3.5 σ
    assert any(".553" in remark and ".541" in remark for remark in exhibited("worst-case-agreement").remarks)


@given(st.integers(0, 2**32), st.sampled_from([60, 1000, 5000]))
def test_agreement_is_that_of_its_slow_twin(seed: int, n: int) -> None:
    pair = worst_case_agreement.simulated(np.random.default_rng(seed), 12, n)
    projection = pair.at_level(1)
    x, y = ([tuple(map(int, projection.vector(s, q))) for q in range(12)] for s in (0, 1))
    pairs = list(zip(x, y, strict=True))
    if all(p[-1] == q[-1] for p, q in pairs):
        return
    found = worst_case_agreement.agreement(pair, np.random.default_rng(seed))
    slow = {
        "TSE": lambda p: Fraction(1, p[-1]),
        "R@1000": lambda p: Fraction(sum(position <= 1000 for position in p)),
        "Rprec": lambda p: Fraction(sum(position <= len(p) for position in p)),
        "AP": lambda p: sum((Fraction(i, position) for i, position in enumerate(p, 1)), Fraction()),
    }
    for name, value in slow.items():
        assert found[name] == pytest.approx(float(naive.agreement_with_worst_case(pairs, value)))
    assert found["tied"] == pytest.approx(sum(p[-1] == q[-1] for p, q in pairs) / 12)


def test_agreement_is_undefined_where_the_worst_case_separates_nothing() -> None:
    same = random_positions(np.random.default_rng(1), 2, np.array([1, 1]), 1)
    shares = worst_case_agreement.agreement(same, np.random.default_rng(1))
    assert shares["tied"] == 1
    assert np.isnan(shares["TSE"])


# Random rankings


@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(12, 40))
def test_random_placements_are_ascending_positions_in_the_corpus(seed: int, m: int, n: int) -> None:
    placements = random_placements(np.random.default_rng(seed), 20, m, n)
    assert placements.shape == (20, m)
    assert placements.min() >= 1
    assert placements.max() <= n
    assert (np.diff(placements) > 0).all()


@pytest.mark.parametrize(("m", "n"), [(2, 5), (9, 10)])  # few of many, and many of few
def test_every_placement_is_as_likely(m: int, n: int) -> None:
    placements = random_placements(np.random.default_rng(SEED), 20_000, m, n)
    _, counts = np.unique(placements, axis=0, return_counts=True)
    assert len(counts) == 10
    assert ((counts - 2000) ** 2 / 2000).sum() < 29.7  # χ² with 9 degrees of freedom, p = .0005


def test_random_rankings_are_complete_and_each_query_keeps_its_number_of_relevant_documents() -> None:
    positions = random_positions(np.random.default_rng(SEED), 3, np.array([4, 1, 4, 7]), 50)
    projection = positions.at_level(1)
    assert positions.shape == (3, 4)
    assert projection.num_relevant.tolist() == [4, 1, 4, 7]
    for s, q in np.ndindex(3, 4):
        vector = projection.vector(s, q)
        assert np.isfinite(vector).all()
        assert (np.diff(vector) > 0).all()


# Ties by chance


def test_tie_probabilities_by_corpus_size_are_the_papers_but_for_one() -> None:
    differing = [(row["n"], row["measure"]) for row in exhibited("ties-by-corpus").rows if row["differs"]]
    assert differing == [(1000, "Rprec")]
    assert values("ties-by-corpus", "n")[1000, "Rprec"] == pytest.approx(0.8257, abs=0.00005)
    assert "0.8257 !" in exhibited("ties-by-corpus").render()


def test_tie_probabilities_by_relevant_documents_are_the_papers_but_for_one() -> None:
    differing = [(row["m"], row["measure"]) for row in exhibited("ties-by-relevant").rows if row["differs"]]
    assert differing == [(10, "R@1000")]
    assert values("ties-by-relevant", "m")[10, "R@1000"] == pytest.approx(0.9803, abs=0.00005)


def test_the_two_tables_of_ties_agree_where_they_meet() -> None:
    by_corpus, by_relevant = values("ties-by-corpus", "n"), values("ties-by-relevant", "m")
    for name in ties_by_corpus.MEASURES:
        assert by_corpus[10**6, name] == by_relevant[10, name]


def test_the_remarks_name_the_slips_in_the_third_digit() -> None:
    assert any(".8257" in remark and ".825 " in remark for remark in exhibited("ties-by-corpus").remarks)
    assert any(".9803" in remark and ".981 " in remark for remark in exhibited("ties-by-relevant").remarks)


@pytest.mark.parametrize("m", ties_by_relevant.PAPER)
def test_average_precision_hardly_ever_ties(m: int) -> None:
    assert values("ties-by-relevant", "m")[m, "AP"] <= 0.0005


# Ties over retrieval depth


@pytest.mark.parametrize("measure", ["R@1000", "Rprec", "TSE", "LexiRecall"])
@pytest.mark.parametrize(("m", "n"), [(1, 6), (2, 7), (3, 7), (4, 9)])
def test_expected_ties_are_the_share_of_all_pairs_of_lists(measure: str, m: int, n: int) -> None:
    def tied_by(placement: tuple[int, ...], k: int) -> object:
        retrieved = tuple(p for p in placement if p <= k)
        return {
            "R@1000": len(retrieved),
            "Rprec": sum(p <= m for p in retrieved),
            "TSE": placement[-1] if len(retrieved) == m else n + 1,
            "LexiRecall": retrieved,
        }[measure]

    for k in range(1, n + 1):
        share = naive.tie_probability(partial(tied_by, k=k), m, n)
        assert ties_by_depth.expected_ties(measure, m, k, n) == pytest.approx(float(share))


def test_simulated_ties_are_near_the_expected_ones_at_every_depth() -> None:
    num_pairs = ties_by_depth.NUM_QUERIES * ties_by_depth.PAIRS_PER_QUERY
    for row in exhibited("ties-by-depth").rows:
        if row["measure"] == "AP":
            assert row["expected"] is None
            continue
        p = row["expected"]
        assert abs(row["tied"] - p) <= 4 * (p * (1 - p) / num_pairs) ** 0.5 + 2 / num_pairs, row


def test_a_list_of_the_whole_corpus_ties_as_complete_rankings_do() -> None:
    n = ties_by_depth.CORPUS_SIZE
    assert ties_by_depth.expected_ties("TSE", 10, n) == pytest.approx(tie_probability_tse(10, n))
    assert ties_by_depth.expected_ties("LexiRecall", 5, n) == pytest.approx(tie_probability("LexiRecall", 5, n).value)
    assert ties_by_depth.expected_ties("R@1000", 5, n) == pytest.approx(tie_probability("R@1000", 5, n).value)


def test_by_lexirecall_no_pair_ties_that_average_precision_separates() -> None:
    tied = values("ties-by-depth", "k", "tied")
    for k in ties_by_depth.DEPTHS:
        assert tied[k, "LexiRecall"] <= tied[k, "AP"]
        assert tied[k, "LexiRecall"] <= min(tied[k, "TSE"], tied[k, "R@1000"], tied[k, "Rprec"])


def test_the_same_rankings_tie_less_the_deeper_they_are_cut_but_for_shares_of_a_fixed_cut() -> None:
    tied = values("ties-by-depth", "k", "tied")
    for name in ("TSE", "AP", "LexiRecall"):
        assert all(tied[k, name] >= tied[deeper, name] for k, deeper in pairwise(ties_by_depth.DEPTHS))
    assert len({tied[k, "R@1000"] for k in ties_by_depth.DEPTHS if k >= 1000}) == 1
    assert len({tied[k, "Rprec"] for k in ties_by_depth.DEPTHS if k >= 50}) == 1


def test_shares_of_ties_are_those_of_a_slow_twin() -> None:
    sizes, num_pairs, depths = np.array([5, 9]), 15, (2000, 30_000, 240_000)
    shares = ties_by_depth.tied_shares(np.random.default_rng(SEED), sizes, num_pairs, depths)
    projection = random_positions(np.random.default_rng(SEED), 2 * num_pairs, sizes, 250_000).at_level(1)
    for k in depths:
        ties = {"TSE": 0, "R@1000": 0, "LexiRecall": 0}
        for pair, q in np.ndindex(num_pairs, 2):
            x, y = ([p for p in projection.vector(s, q) if p <= k] for s in (pair, pair + num_pairs))
            ties["LexiRecall"] += x == y
            ties["R@1000"] += sum(p <= 1000 for p in x) == sum(p <= 1000 for p in y)
            ties["TSE"] += bool(max(len(x), len(y)) < sizes[q]) or (len(x) == len(y) and x[-1] == y[-1])
        assert {name: shares[k][name] for name in ties} == pytest.approx({name: n / 30 for name, n in ties.items()})


def test_lines_that_coincide_are_drawn_as_one() -> None:
    rows = drawn(exhibited("ties-by-depth").charts["ties-by-depth"]().to_dict())
    assert {row["measure"] for row in rows} == {"R@1000", "Rprec", "TSE", "AP, LexiRecall"}


def test_lines_that_part_anywhere_stay_two() -> None:
    rows = [{"measure": name, "v": v} for name, vs in {"a": (0, 1), "b": (0, 0.9), "c": (0.001, 1)}.items() for v in vs]
    merged, names = coinciding(rows, "v", ["a", "b", "c"])
    assert names == ["a, c", "b"]
    assert [row["v"] for row in merged] == [0, 1, 0, 0.9]


# Orientation


@pytest.mark.parametrize("m", range(1, 16))
def test_orientation_is_known_in_closed_form(m: int) -> None:
    n = orientation.CORPUS_SIZE
    found = {
        (row["orientation"], row["measure"]): row["value"] for row in exhibited("orientation").rows if row["m"] == m
    }
    ideal = sum(1 / log2(k + 1) for k in range(1, m + 1))
    closed = {
        ("precision", "RR"): 1 - 1 / (n - m + 1),
        ("recall", "RR"): 1 - 1 / n if m == 1 else 0,
        ("precision", "R@1000"): 1 / m,
        ("recall", "R@1000"): 1 / m,
        ("precision", "Rprec"): 1 / m,
        ("recall", "Rprec"): 1 / m,
        ("precision", "AP"): (1 - 1 / (n - m + 1)) / m,
        ("recall", "AP"): 1 / m - 1 / n,
        ("precision", "nDCG"): (1 - 1 / log2(n - m + 2)) / ideal,
        ("recall", "nDCG"): (1 / log2(m + 1) - 1 / log2(n + 1)) / ideal,
        ("precision", "RBP(p=0.5)"): 0.5,
        ("recall", "RBP(p=0.5)"): 0.5**m,
        ("precision", "TSE"): float(m == 1),
        ("recall", "TSE"): 1,
    }
    assert found == pytest.approx(closed)


def test_the_two_figures_of_orientation_name_their_lines_alike() -> None:
    for kind in ("precision", "recall"):
        rows = drawn(exhibited("orientation").charts[f"orientation-{kind}"]().to_dict())
        assert {row["measure"] for row in rows} == {"RR", "nDCG", "AP, R@1000, Rprec", "RBP(p=0.5)", "TSE"}


# Stochastic rankers


@pytest.mark.parametrize("m", range(1, 26))
def test_the_worst_case_of_optimal_rankers_is_known_in_closed_form(m: int) -> None:
    found = {(row["measure"], row["ranker"]): row["worst"] for row in exhibited("stochastic").rows if row["m"] == m}
    exposures: dict[str, Callable[[int], float]] = {
        **dict.fromkeys(("AP", "RR", "TSE"), lambda p: 1 / p),
        "nDCG": lambda p: 1 / log2(p + 1),
        "RBP(p=0.5)": lambda p: 0.5**p,
    }
    for name in stochastic.MEASURES:
        e = exposures[name]
        assert found[name, "deterministic"] == pytest.approx(e(m))
        mean = sum(map(e, range(1, m + 1))) / m
        assert found[name, "stochastic"] == pytest.approx(e(m) if name == "TSE" else mean)


def test_every_measure_of_the_stochastic_table_is_drawn_or_the_same_as_one_that_is() -> None:
    worst = {(row["m"], row["measure"], row["ranker"]): row["worst"] for row in exhibited("stochastic").rows}
    for m in range(1, stochastic.MOST_RELEVANT + 1):
        for ranker in stochastic.RANKERS:
            assert worst[m, "RR", ranker] == pytest.approx(worst[m, "AP", ranker])
        assert worst[m, "TSE", "deterministic"] == pytest.approx(worst[m, "TSE", "stochastic"])
    assert {*stochastic.PANELS, "RR", "TSE"} == {*stochastic.MEASURES}


# RecSys


def test_recall_is_measured_by_less_than_a_third_of_the_papers() -> None:
    rows = exhibited("recsys").rows
    assert [row["year"] for row in rows] == list(range(2007, 2025))
    assert (
        sum(row["share"] for row in rows) / 18
        == pytest.approx(recsys.mean_of_years())
        == pytest.approx(0.306, abs=5e-4)
    )
    assert recsys.share_of_all() == pytest.approx(189 / 582)
    assert "0.306; the paper's text says a third" in exhibited("recsys").render()


# Data sets


def test_the_label_of_a_data_set_follows_from_how_much_is_retrieved() -> None:
    for row in exhibited("datasets").rows:
        k = row["docs/query"]
        assert row["label"] == ("deep" if k > 1000 else "standard" if k > 100 else "shallow"), row["data"]


def test_all_data_sets_of_the_paper_are_there_once() -> None:
    rows = exhibited("datasets").rows
    assert len({row["data"] for row in rows}) == len(rows) == 36
    assert [row["task"] for row in rows].count("recommendation") == 15
    robust = next(row for row in rows if row["data"] == "robust (2004)")
    assert list(robust.values())[2:6] == [249, 110, 69.93, 913.82]


def test_every_data_set_says_where_it_is_from() -> None:
    rows = exhibited("datasets").rows
    assert {row["from"] for row in rows if row["task"] == "retrieval"} == {datasets.NIST[0]}
    assert {row["data"] for row in rows if row["from"] == datasets.REPOSITORY[0]} == {
        "beerAdvocate", "libraryThing", "movielens"
    }  # fmt: skip


# Properties


def test_every_cell_of_the_exhibit_is_what_the_table_claims() -> None:
    claimed = {
        (name, column): ours
        for name, row in {**properties.TABLE, **properties.AT_ONE_LEVEL}.items()
        for column, (_, ours) in row.cells().items()
    }
    assert {(row["property"], row["methods"]): row["holds"] for row in exhibited("properties").rows} == claimed


def test_a_cell_in_which_the_paper_errs_says_why() -> None:
    erring = [row for row in exhibited("properties").rows if row["paper"] not in (None, row["holds"])]
    assert len(erring) == 6
    assert all(row["because"] for row in erring)
    assert exhibited("properties").render().count("(paper ") == 6


def test_what_enumeration_cannot_tell_is_said_to_be_argued_in_the_cell() -> None:
    argued = {row["property"] for row in exhibited("properties").rows if row["how"] == "argued"}
    assert argued == {"boundedness", "completeness"}
    assert exhibited("properties").render().count(", by argument") >= 2 * (len(COLUMNS) - 1)


# Beside the paper


def test_two_samples_may_be_as_far_apart_as_their_spread_and_rounding_allow() -> None:
    assert tolerance_of_shares(0.5, 0.5, 10_000) == pytest.approx(3.5 * (2 * 0.25 / 10_000) ** 0.5 + 0.0005)
    assert tolerance_of_shares(0.0, 1.0, 100) == tolerance_of_shares(1.0, 0.0, 100)


def test_what_the_paper_does_not_print_is_left_empty_and_never_differs() -> None:
    table = beside("n", {10: {"TSE": PaperValue(0.5, None)}})
    assert table.rows == (("10", "ours", "0.5000"), ("", "paper", ""))
    assert not table.marks
    assert not table.footnote
