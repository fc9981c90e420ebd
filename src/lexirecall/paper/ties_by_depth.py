"""How often two random rankings tie if only the top k documents of each are retrieved.

Belongs here: the simulation, its figure, and the closed forms that it should match.

What is not retrieved is at the bottom of the corpus. So TSE ties as soon as both rankings lack a relevant document.
LexiRecall ties only if both retrieve the same number of them at the same positions: mostly, if they retrieve none.
"""

from collections.abc import Mapping
from math import comb
from typing import Any

import numpy as np

from lexirecall.judgments import IntArray
from lexirecall.measures.measure import is_equal
from lexirecall.names import parse_measure
from lexirecall.paper.exhibit import Exhibit
from lexirecall.paper.rankings import random_positions
from lexirecall.paper.sharedlines import coinciding
from lexirecall.plots import lines
from lexirecall.positions import Projection
from lexirecall.preferences.orders import lexirecall_ranks
from lexirecall.tables import Table, number
from lexirecall.theory import hypergeometric, tie_probability, tie_probability_recall

CORPUS_SIZE = 250_000
NUM_QUERIES = 25
PAIRS_PER_QUERY = 200
FEWEST, MOST = 5, 50
"""Relevant documents of a query."""
MEASURES = ("R@1000", "Rprec", "TSE", "AP", "LexiRecall")
DEPTHS = (
    10, 100, 500, 1_000, 2_000, 3_000, 5_000, 7_500, 10_000, 15_000, 20_000, 30_000, 50_000, 75_000, 100_000, 125_000,
    150_000, 175_000, 200_000, 212_500, 225_000, 235_000, 240_000, 245_000, 247_500, 249_000, 250_000,
)  # fmt: skip
COLUMNS = ("k", "measure", "tied", "expected")


def exhibit(seed: int) -> Exhibit:
    """Simulate pairs of rankings and cut them at every depth."""
    rng = np.random.default_rng(seed)
    num_relevant = rng.integers(FEWEST, MOST, NUM_QUERIES, endpoint=True)
    shares = tied_shares(rng, num_relevant, PAIRS_PER_QUERY)
    rows = tuple(
        {"k": k, "measure": name, "tied": share, "expected": _mean_expected(name, num_relevant, k)}
        for k, by_measure in shares.items()
        for name, share in by_measure.items()
    )
    return Exhibit(
        name="ties-by-depth",
        title=f"Share of tied rankings by retrieval depth k, for n = {CORPUS_SIZE:,} and {NUM_QUERIES} queries",
        columns=COLUMNS,
        rows=rows,
        table=_table(shares),
        charts={"ties-by-depth": lambda: _chart(rows)},
        remarks=(
            f"{PAIRS_PER_QUERY} pairs of random rankings for each query, the same ones at every depth; "
            f"m ~ U({FEWEST}, {MOST}). The paper does not say how many pairs it drew, nor at which depths it cut.",
            "The rows hold the simulated shares and, except for AP, the expected ones in closed form.",
            "AP and LexiRecall tie if both rankings retrieve nothing relevant, and hardly ever otherwise.",
        ),
    )


def tied_shares(
    rng: np.random.Generator, num_relevant: IntArray, num_pairs: int, depths: tuple[int, ...] = DEPTHS
) -> dict[int, dict[str, float]]:
    """Return the share of random pairs of rankings that tie, by depth and measure.

    >>> shares = tied_shares(np.random.default_rng(1), np.array([5, 9]), 10, depths=(1, 250_000))
    >>> shares[1]["TSE"], shares[250_000]["LexiRecall"]
    (1.0, 0.0)
    """
    rankings = random_positions(rng, 2 * num_pairs, num_relevant, CORPUS_SIZE)
    shares = {}
    for k in depths:
        projection = rankings.cut(k).at_level(1)
        shares[k] = {name: _tied_share(projection, name) for name in MEASURES}
    return shares


def _tied_share(projection: Projection, name: str) -> float:
    """Compare the first half of the runs with the second."""
    if name == "LexiRecall":
        values = lexirecall_ranks(projection).astype(float)  # a total order: equal rankings, equal ranks
    else:
        values = parse_measure(name).scores(projection)
    half = len(values) // 2
    return float(is_equal(values[:half], values[half:]).mean())


def expected_ties(measure: str, num_relevant: int, depth: int, corpus_size: int = CORPUS_SIZE) -> float | None:
    """Return the probability that two random rankings tie if only their top k count; None for AP, which has no formula.

    For LexiRecall it is sum_r P(r retrieved)² / C(k, r). By TSE two rankings tie if the last document is at the same
    position, or missing in both.

    >>> round(expected_ties("TSE", 10, 100_000), 4), round(expected_ties("LexiRecall", 10, 10_000), 4)
    (0.9998, 0.442)
    """
    if measure == "LexiRecall":
        retrieved = hypergeometric(depth, num_relevant, corpus_size)
        return float(sum(p * p / comb(depth, r) for r, p in enumerate(retrieved) if p))
    if measure == "TSE":
        return tie_probability(f"TSE@{depth}", num_relevant, corpus_size).value
    cutoffs: Mapping[str, int] = {"R@1000": 1000, "Rprec": num_relevant}
    if measure not in cutoffs:
        return None
    return tie_probability_recall(min(cutoffs[measure], depth), num_relevant, corpus_size)


def _mean_expected(measure: str, num_relevant: IntArray, depth: int) -> float | None:
    values = [expected_ties(measure, m, depth) for m in num_relevant.tolist()]
    return None if values[0] is None else float(np.mean([value for value in values if value is not None]))


def _table(shares: Mapping[int, Mapping[str, float]]) -> Table:
    rows = [(f"{k:,}", *(number(share, 3) for share in of_depth.values())) for k, of_depth in shares.items()]
    return Table(("k", *MEASURES), tuple(rows), numbers_from=0)


def _chart(rows: tuple[dict[str, Any], ...]) -> Any:
    drawn, names = coinciding(rows, "tied", MEASURES)
    return lines(
        drawn,
        x="k",
        y="tied",
        series="measure",
        names=names,
        x_title="retrieval depth k (documents)",
        log_x=True,
        ticks=(10, 100, 1_000, 10_000, 100_000),
        y_title="share of tied pairs",
        size=(400, 220),
    )
