"""Values that are exact: ratios of counts are one quotient, and the best ranking has the maximum, to the last bit."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexirecall import Judgments, Measure, Positions, parse_measure, project
from lexirecall.judgments import FloatArray, IntArray, PackedIds, offsets_of
from lexirecall.manifest import Conventions
from lexirecall.measures.ratio import Ratio
from lexirecall.results import Projection
from lexirecall.segments import Segments
from lexirecall.tracks import Tracks
from strategies import quick

UP_TO_2000 = np.arange(1, 2001)
CUTOFFS = (1, 2, 7, 10, 49, 100, 1000, 2000, 2500)
"""Below, at and above the numbers of relevant documents."""
ALWAYS_1 = ("AP", "RR", "Rprec", "nDCG", "nDCG(dcg=exp-log2)", "SetR", "SetP", "SetF", "Bpref", "IPrec@0", "IPrec@1")


def best_rankings(m: IntArray, grades: FloatArray | None = None, *, in_blocks_of: int = 0) -> Positions:
    """Return a ranking of each query that is as good as can be: its m relevant documents and nothing else, best first.

    With `in_blocks_of` the scores of so many are equal, one after the other.
    """
    segments = Segments(offsets_of(m))
    places, documents = segments.ordinals, np.arange(m.sum())
    nothing = Tracks(Segments(np.zeros(len(m) + 1, np.int64)), documents[:0], documents[:0])
    starts = sizes = None
    if in_blocks_of:
        starts = (places - 1) // in_blocks_of * in_blocks_of
        sizes = np.minimum(in_blocks_of, np.repeat(m, m) - starts)
    return Positions(
        runs=("best",),
        judgments=Judgments(
            queries=tuple(map(str, range(len(m)))),
            query_ids=PackedIds.pack([b""] * len(m)),
            offsets=segments.offsets,
            documents=PackedIds.pack([]),  # no measure asks for names
            grades=np.ones(len(documents)) if grades is None else grades,
            num_positive=m,
        ),
        conventions=Conventions(ties="expected" if in_blocks_of else "trec"),
        answered=np.ones((1, len(m)), bool),
        num_retrieved=m[None, :],
        found=Tracks(segments, places, documents, starts, sizes),
        others=nothing,
        corpus_size=None,
    )


def values(name: str, positions: Positions) -> FloatArray:
    measure = parse_measure(name)
    of_queries: FloatArray = measure.scores(positions.at_level(measure.level(1)))[0]
    return of_queries


@pytest.fixture(scope="module")
def best() -> Positions:
    return best_rankings(UP_TO_2000)


@pytest.mark.parametrize("name", ALWAYS_1)
def test_the_best_ranking_has_exactly_1(name: str, best: Positions) -> None:
    assert (values(name, best) == 1).all()


@pytest.mark.parametrize("k", CUTOFFS)
def test_the_best_ranking_has_exactly_the_maximum_at_a_cutoff(k: int, best: Positions) -> None:
    most = np.minimum(k, UP_TO_2000)
    assert (values(f"R@{k}", best) == most / UP_TO_2000).all()
    assert (values(f"AP@{k}", best) == most / UP_TO_2000).all()
    assert (values(f"P@{k}", best) == most / k).all()
    for name in (f"nDCG@{k}", f"Success@{k}", f"RR@{k}"):
        assert (values(name, best) == 1).all(), name


@pytest.mark.parametrize("name", ["nDCG", "nDCG(dcg=exp-log2)", *(f"nDCG@{k}" for k in CUTOFFS)])
def test_the_best_ranking_of_graded_documents_has_exactly_1(name: str) -> None:
    rng = np.random.default_rng(7)
    grades = [np.sort(rng.choice([0.5, 1, 2, 3, 4], m))[::-1] for m in UP_TO_2000.tolist()]
    assert (values(name, best_rankings(UP_TO_2000, np.concatenate(grades))) == 1).all()


@pytest.mark.parametrize("size", [2, 3, 7, 1000])
def test_the_best_ranking_has_exactly_the_maximum_whatever_is_tied_in_it(size: int) -> None:
    """All that is tied is relevant, so that every order of it is as good."""
    m = np.arange(1, 100)
    tied = best_rankings(m, in_blocks_of=size)
    for name in ("AP", "RR", "Rprec", "nDCG", "SetR", "SetP", "SetF"):
        assert (values(name, tied) == 1).all(), name
    for k in (1, 2, 7, 49, 100):
        most = np.minimum(k, m)
        assert (values(f"R@{k}", tied) == most / m).all()
        assert (values(f"P@{k}", tied) == most / k).all()
        assert (values(f"nDCG@{k}", tied) == 1).all()
        assert (values(f"Success@{k}", tied) == 1).all()


@pytest.mark.parametrize("name", ["nDCG", "nDCG@10", "R@7", "R@10", "P@49", "Rprec", "Success@2"])
def test_two_thousand_sizes_of_tied_blocks(name: str) -> None:
    m = UP_TO_2000
    most = {"R@7": np.minimum(7, m) / m, "R@10": np.minimum(10, m) / m, "P@49": np.minimum(49, m) / 49}
    assert (values(name, best_rankings(m, in_blocks_of=2000)) == most.get(name, 1)).all()


# A ratio of counts is one quotient


@quick(100)
@given(st.sets(st.integers(1, 3000), max_size=300), st.integers(0, 100), st.sampled_from(CUTOFFS))
def test_a_ratio_of_counts_is_one_quotient(places: set[int], missing: int, k: int) -> None:
    m = len(places) + missing
    if not m:
        return
    found, first = sum(p <= k for p in places), sum(p <= m for p in places)
    for name, expected in {
        f"R@{k}": found / m,
        f"P@{k}": found / k,
        "Rprec": first / m,
        "SetR": len(places) / m,
    }.items():
        assert parse_measure(name).of(sorted(places), m) == expected


@quick(100)
@given(st.sets(st.integers(1, 3000), min_size=1, max_size=300), st.integers(0, 100))
def test_average_precision_adds_up_one_after_the_other_and_is_divided_once(places: set[int], missing: int) -> None:
    total = 0.0
    for i, p in enumerate(sorted(places), 1):
        total += i / p
    m = len(places) + missing
    assert parse_measure("AP").of(sorted(places), m) == total / m


Blocks = list[tuple[int, int]]
"""Blocks of tied documents from the top: how many documents, how many of them relevant."""
blocks_of_tied_documents = st.lists(
    st.integers(1, 6).flatmap(lambda b: st.tuples(st.just(b), st.integers(0, b))), max_size=5
)


def orders_of(blocks: Blocks) -> list[list[int]]:
    """Return the positions of the relevant documents under all orders, each as likely as the others."""
    starts = np.cumsum([0, *(size for size, _ in blocks)]).tolist()
    choices = [
        combinations(range(start + 1, start + size + 1), relevant)
        for start, (size, relevant) in zip(starts, blocks, strict=False)
    ]
    return [[p for chosen in order for p in chosen] for order in product(*map(list, choices))]


@pytest.mark.parametrize("depth", [None, 4])
@quick(60)
@given(blocks_of_tied_documents, st.integers(0, 3), st.integers(1, 12))
def test_the_mean_of_a_count_over_all_orders_is_one_quotient(
    depth: int | None, blocks: Blocks, missing: int, k: int
) -> None:
    m = sum(relevant for _, relevant in blocks) + missing
    documents = [(block, number < relevant) for block, (size, relevant) in enumerate(blocks) for number in range(size)]
    run = {f"d{number}": -float(block) for number, (block, _) in enumerate(documents)}
    judged = {f"d{number}": 1 for number, (_, relevant) in enumerate(documents) if relevant}
    judged |= {f"m{number}": 1 for number in range(missing)}
    if not m:
        return
    tied = project({"q": judged}, {"q": run}, ties="expected", depth=depth)
    orders = [[p for p in order if p <= (depth or p)] for order in orders_of(blocks)]
    shown = min(len(documents), depth or len(documents))
    counts = {
        f"R@{k}": [Fraction(sum(p <= k for p in order), m) for order in orders],
        f"P@{k}": [Fraction(sum(p <= k for p in order), k) for order in orders],
        "Rprec": [Fraction(sum(p <= m for p in order), m) for order in orders],
        f"Success@{k}": [Fraction(any(p <= k for p in order)) for order in orders],
        "SetR": [Fraction(len(order), m) for order in orders],
        "SetP": [Fraction(len(order), max(shown, 1)) for order in orders],
        "NumRelRet": [Fraction(len(order)) for order in orders],
    }
    for name, of_orders in counts.items():
        assert values(name, tied) == [float(sum(of_orders) / len(orders))], name


# How a formula says what it is divided by


def test_a_measure_of_ones_own_is_divided_once_too() -> None:
    own = Measure("Own", "recall", exposure=lambda i: i <= 10, weight=lambda _, m: Ratio(1, m))
    assert own.of(list(range(1, 8))) == 1
    summed = Measure("Summed", "recall", exposure=lambda i: i <= 10, weight=lambda _, m: 1 / m)
    assert summed.of(list(range(1, 8))) == pytest.approx(1)


def test_a_divisor_that_depends_on_the_recall_level_divides_each_term() -> None:
    own = Measure("Own", "by level", exposure=lambda i: Ratio(1, i), weight=lambda i, m: Ratio(1, i + m))
    assert own.of([2, 5], 4) == pytest.approx(1 / 2 / 5 + 1 / 5 / 6)


def test_sums_are_those_of_a_loop() -> None:
    """A sum in pairs, or in eight strands, has other last bits."""
    terms = np.random.default_rng(1).random(5000)
    segments = Segments(np.array([0, 1000, 1000, 1007, 5000]))
    loop = [0.0] * 4
    for owner, term in zip(segments.owners, terms.tolist(), strict=True):
        loop[owner] += term
    assert segments.sum(terms).tolist() == loop
    assert Projection.of_vectors([[1, 2], []], 2).sum(np.array([0.25, 0.5])).tolist() == [[0.75], [0.0]]


@pytest.mark.parametrize(
    "name", ["SetAP", "SetP(relative=True)", "Compat", "Compat(p=0.5)", "Compat(p=0.999)", "Accuracy"]
)
def test_the_best_list_has_exactly_the_value_1_under_measures_of_sets_and_of_ideal_orders(name: str) -> None:
    """SetAP needs a list of the relevant documents only, and Accuracy one more."""
    measure = parse_measure(name)
    for m in range(1, 121):
        judged = {f"d{number:03}": 1 + number % 4 for number in range(m)}
        best = sorted(judged, key=judged.__getitem__, reverse=True)
        rest = [] if name == "SetAP" else [f"x{number}" for number in range(m % 7 + 1)]
        positions = project({"q": judged}, {"q": [*best, *rest]})
        assert measure.scores(positions.at_level(measure.level(1))).tolist() == [[1.0]], m
