"""How often measures agree with the worst case, on pairs of random rankings.

Belongs here: the simulation and its table.

The worst-off of all possible users of a ranking wants only its last relevant document. So the worst case of every
top-heavy measure with z(1, 1) = 1 is better in the ranking where this document is higher, whatever the exposure.
"""

import numpy as np

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.measures import LAST_REL
from lexirecall.measures.measure import is_equal
from lexirecall.names import parse_measure
from lexirecall.paper.exhibit import Exhibit, PaperValue
from lexirecall.paper.papervalues import COLUMNS, beside, rows_of, tolerance_of_shares
from lexirecall.paper.rankings import random_positions
from lexirecall.positions import Positions
from lexirecall.theory import tie_probability_tse

NUM_PAIRS = 10_000
FEWEST, MOST = 5, 50
"""Relevant documents of a query."""
MEASURES = ("TSE", "R@1000", "Rprec", "AP", "nDCG")
PAPER = {
    10**3: (0.012, 1.000, 0.000, 0.285, 0.541, 0.535, 0.492),
    10**4: (0.001, 1.000, 0.420, 0.077, 0.552, 0.549, 0.497),
    10**5: (0.000, 1.000, 0.179, 0.008, 0.554, 0.555, 0.498),
    10**6: (0.000, 1.000, 0.026, 0.001, 0.547, 0.554, 0.499),
}
"""By corpus size: the share of ties in the worst case, the agreement of each measure, and of a coin."""


def exhibit(seed: int) -> Exhibit:
    """Simulate pairs of rankings for every corpus size of the paper."""
    rng = np.random.default_rng(seed)
    cells = {n: _held(agreement(simulated(rng, NUM_PAIRS, n), rng), printed) for n, printed in PAPER.items()}
    return Exhibit(
        "worst-case-agreement",
        "Agreement of measures with the worst case, over pairs of random rankings that it separates",
        ("n", *COLUMNS),
        rows_of("n", cells),
        beside("n", cells),
        remarks=(
            f"{NUM_PAIRS:,} pairs for each corpus size n, m ~ U({FEWEST}, {MOST}); a tie does not count as agreement.",
            "Both are samples: chance explains up to 3.5 σ of their difference, plus .0005 of rounding.",
            "AP at n = 1,000 is .553 over a million pairs; the paper's .541 is a low draw.",
            f"Exact shares of ties: {', '.join(f'{expected_ties(n):.6f} for n = {n:,}' for n in PAPER)}.",
        ),
    )  # fmt: skip


def simulated(rng: np.random.Generator, num_pairs: int, corpus_size: int) -> Positions:
    """Draw two rankings of the corpus for each of `num_pairs` queries, with 5 to 50 relevant documents.

    >>> simulated(np.random.default_rng(1), 4, 1000).shape
    (2, 4)
    """
    return random_positions(rng, 2, rng.integers(FEWEST, MOST, num_pairs, endpoint=True), corpus_size)


def agreement(pairs: Positions, rng: np.random.Generator) -> dict[str, float]:
    """Return the share of queries tied in the worst case and, over the others, how often each measure agrees with it.

    A measure agrees if it prefers the ranking that the worst case prefers. A coin is measured too. If the worst case
    separates no query, agreement is nan.

    >>> shares = agreement(simulated(np.random.default_rng(1), 100, 1000), np.random.default_rng(2))
    >>> shares["TSE"], shares["R@1000"]  # the top 1,000 are all there is
    (1.0, 0.0)
    """
    projection = pairs.at_level(1)
    worst = signs(-LAST_REL.scores(projection))
    separated = worst != 0
    chosen = {name: signs(parse_measure(name).scores(projection)) for name in MEASURES}
    chosen["random"] = signs(rng.random(pairs.shape))
    num_separated = int(separated.sum()) or np.nan
    agreeing = {name: float((sign == worst)[separated].sum() / num_separated) for name, sign in chosen.items()}
    return {"tied": float(1 - separated.mean()), **agreeing}


def signs(values: FloatArray) -> IntArray:
    """Return 1 where the first of two runs has the higher value, -1 where the second has, 0 where they tie, [Q].

    >>> signs(np.array([[0.5, 0.1 + 0.2], [0.75, 0.3]])).tolist()
    [-1, 0]
    """
    x, y = values
    return np.where(is_equal(x, y), 0, np.sign(x - y)).astype(np.int64)


def expected_ties(corpus_size: int) -> float:
    """Return the probability of a tie in the worst case, as m varies.

    >>> round(expected_ties(1000), 4)
    0.0142
    """
    return float(np.mean([tie_probability_tse(m, corpus_size) for m in range(FEWEST, MOST + 1)]))


def _held(shares: dict[str, float], printed: tuple[float, ...]) -> dict[str, PaperValue]:
    return {
        name: PaperValue(share, theirs, tolerance_of_shares(share, theirs, NUM_PAIRS))
        for (name, share), theirs in zip(shares.items(), printed, strict=True)
    }
