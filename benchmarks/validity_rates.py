"""Labels that depend on each other: how estimated chances vary together, as a forecast would have to know.

Belongs here: a forecast that was tried, and that `unjudged` does not offer, because it is too far off for LexiRecall on
one of two collections. Not here: counting that (validity_forecasts), the chances (lexirecall.labels.rates).

If a document is more likely relevant than was estimated, so are others of its query, and others that the same run has
for it. So with z_q and z_qr, independent normal numbers of variance σ², document d of query q is relevant with the
chance

    logistic(l_d + z_q + mean of z_qr over the n_d runs r that retrieve d),

l_d such that its chance over all of them is still p_d: their sum has the variance τ² = σ²(1 + 1/n_d), and the mean over
it is taken by Gauss-Hermite quadrature. All estimates may be wrong together, too: each labelling shifts every l_d by
the same normal number, of the variance v that the log odds of all judged documents have over bootstrap samples of
queries.

σ is that of SPREADS under which what each run alone contributed is most likely, hidden one run at a time: what it alone
has above its first unjudged document. These documents share one normal number within a query, of the variance that each
has: 2 σ² if no other run has the document, σ²(1 + 1/n_d) if others have it further down.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from lexirecall.formats.wholelists import Lists
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.labels.pools import LabelPool
from lexirecall.labels.rates import EstimatedRates, Rates, RetrievedDocuments, fit, logistic, raised, retrieved_by

SPREADS = np.arange(0, 3.25, 0.25)
ASSUMED = 1.5
"""σ where few runs contributed anything of their own."""
LEAST_RUNS, LEAST_CELLS = 5, 30
_BOOTSTRAP = 200
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_NEAREST = 1e-12  # to 0 and 1 that a chance is taken to be, so that it has log odds

Contributed = tuple[IntArray, FloatArray, IntArray, BoolArray]
"""What one run alone contributed: of each document the query, the chance as estimated without these, how many runs have
it, and the label."""


@dataclass(frozen=True, slots=True)
class Together(Rates):
    """Estimated chances that vary together."""

    rates: EstimatedRates
    spread: float
    """σ of the effects that labels have in common."""
    is_likeliest: bool
    """Whether σ is estimated rather than assumed."""
    variance: float
    """v, of the log odds of all documents together."""

    @classmethod
    def of(cls, lists: Lists, level: float = 1) -> "Together":
        """Estimate all of it."""
        retrieved, num_queries = retrieved_by(lists, level), len(lists.judgments.queries)
        rates = EstimatedRates.of(*fit(retrieved, retrieved.is_judged, num_queries))
        spread, is_likeliest = spread_of(_contributed(retrieved, contributors(lists), num_queries))
        kinds = retrieved.is_judged & retrieved.is_relevant, retrieved.is_judged
        relevant, judged = (np.bincount(retrieved.queries, each, num_queries) for each in kinds)
        return cls(rates, spread, is_likeliest, variance_of(relevant, judged))

    def chances(self, pool: LabelPool) -> FloatArray:
        """Return the chance of each unjudged document, [I]."""
        return self.rates.chances(pool)

    def draw(self, pool: LabelPool, num_samples: int, seed: int) -> BoolArray:
        """Draw labels of a pool that vary together, [B, I]; all pools share the shifts of a labelling."""
        shifts = np.random.default_rng(seed).normal(0, np.sqrt(self.variance), num_samples)
        asked = np.flatnonzero(pool.is_unjudged)
        made = np.zeros((num_samples, len(pool.documents)), bool)
        made[:, asked] = drawn_together(
            self.chances(pool)[asked], pool.places[:, asked] > 0, self.spread, shifts,
            np.random.default_rng([seed, pool.query]),
        )  # fmt: skip
        return made


def _contributed(retrieved: RetrievedDocuments, owners: IntArray, num_queries: int) -> Iterator[Contributed]:
    """Give what each run alone contributed, with chances estimated without that."""
    is_judged, queries = retrieved.is_judged, retrieved.queries[retrieved.is_judged]
    is_relevant = retrieved.is_relevant[is_judged]
    for s in range(len(retrieved.weights)):
        is_hidden = owners == s
        if not is_hidden.any() or is_relevant[~is_hidden].all():
            continue
        is_known = is_judged.copy()
        is_known[is_judged] = ~is_hidden
        point, factors = fit(retrieved, is_known, num_queries)
        chances = logistic(point @ retrieved.features[:, is_hidden])
        counts = (retrieved.weights[:, is_hidden] > 0).sum(axis=0)
        yield queries[is_hidden], raised(chances, factors[queries[is_hidden]]), counts, is_relevant[is_hidden]


def contributors(lists: Lists) -> IntArray:
    """Tell which run alone has each judged document above its first unjudged one, in the order of what is retrieved.

    -1 if none or several have.
    """
    made = []
    for query, (_, of_runs) in enumerate(lists):
        lookup, grades = lists.judgments.lookup(query), lists.judgments.grades
        found: dict[bytes, list[int]] = {}
        for s, ranking in enumerate(of_runs):
            is_contributed = True
            for document in ranking or ():
                is_judged = document in lookup and bool(grades[lookup[document]] >= 0)
                is_contributed = is_contributed and is_judged
                if is_judged:
                    found.setdefault(document, []).extend([s] * is_contributed)
        made += [runs[0] if len(runs) == 1 else -1 for runs in found.values()]
    return np.array(made, np.int64)


def centres(chances: FloatArray, spreads: FloatArray) -> FloatArray:
    """Return the log odds that a normal number of deviation τ, added to them, gives the chances p on average, [I].

    >>> centres(np.array([0.5, 0.1, 0.1]), np.array([2.0, 0.0, 2.0])).round(3).tolist()
    [0.0, -2.197, -3.417]
    """
    known = np.clip(chances, _NEAREST, 1 - _NEAREST)
    wanted = np.log(known / (1 - known))
    made = wanted * np.sqrt(1 + spreads**2 / 2.89)  # logistic(x) is about Φ(x/1.7)
    for _ in range(50):  # Newton's method, on log odds, where what is sought is nearly a line
        at = logistic(made[:, None] + spreads[:, None] * _NODES)
        mean, slope = at @ _WEIGHTS, (at * (1 - at)) @ _WEIGHTS
        step = (wanted - np.log(mean / (1 - mean))) * mean * (1 - mean) / slope
        made = made + step
        if not np.abs(step).max(initial=0) > 1e-9:
            break
    return np.asarray(made)


def drawn_together(
    chances: FloatArray, is_retrieved: BoolArray, spread: float, shifts: FloatArray, rng: np.random.Generator
) -> BoolArray:
    """Draw B labels of the documents of a query, [B, I], that S runs retrieve, [S, I]; `shifts` of log odds, [B]."""
    counts = is_retrieved.sum(axis=0)
    logits = centres(chances, spread * np.sqrt(1 + 1 / counts)).astype(np.float32)
    size = len(shifts), 1 + len(is_retrieved)
    effects = spread * rng.standard_normal(size, np.float32)
    weights = np.vstack([np.ones(len(chances)), is_retrieved / counts]).astype(np.float32)
    together = logits + shifts[:, None].astype(np.float32) + effects @ weights
    return np.asarray(rng.random(together.shape, np.float32) * (1 + np.exp(-together)) < 1)


def spread_of(contributed: Iterable[Contributed]) -> tuple[float, bool]:
    """Return σ, and whether it is the most likely one; ASSUMED if too little is known."""
    totals, num_runs, num_cells = np.zeros(len(SPREADS)), 0, 0
    for queries, chances, counts, is_relevant in contributed:
        cells = np.unique(queries, return_inverse=True)[1]
        num_runs, num_cells = num_runs + 1, num_cells + int(cells.max()) + 1
        totals += [likelihood(cells, chances, is_relevant, spread * np.sqrt(1 + 1 / counts)) for spread in SPREADS]
    if num_runs < LEAST_RUNS or num_cells < LEAST_CELLS:
        return ASSUMED, False
    return float(SPREADS[totals.argmax()]), True


def likelihood(cells: IntArray, chances: FloatArray, is_relevant: BoolArray, spreads: FloatArray) -> float:
    """Return the log likelihood of labels if the documents of each cell share a normal number, of these deviations.

    >>> at_once, apart = np.array([0, 0]), np.array([0, 1])
    >>> both = np.array([0.5, 0.5]), np.array([True, True])
    >>> [round(float(np.exp(likelihood(cells, *both, np.array([2.0, 2.0])))), 4) for cells in (at_once, apart)]
    [0.3486, 0.25]
    """
    logits = centres(chances, spreads)[:, None] + spreads[:, None] * _NODES
    of_documents = -np.logaddexp(0, np.where(is_relevant[:, None], -logits, logits))
    of_cells = np.zeros((int(cells.max()) + 1, len(_NODES)))
    np.add.at(of_cells, cells, of_documents)
    return float(np.logaddexp.reduce(of_cells + np.log(_WEIGHTS), axis=1).sum())


def variance_of(relevant: FloatArray | IntArray, judged: FloatArray | IntArray, seed: int = 0) -> float:
    """Return the variance of the log odds of all judged documents over bootstrap samples of the queries.

    >>> round(variance_of(np.array([1.0, 3.0]), np.array([4.0, 8.0])), 3)  # with half a document more of each kind
    0.033
    """
    num = len(judged)
    counts = np.random.default_rng(seed).multinomial(num, np.full(num, 1 / num), _BOOTSTRAP)
    return float(np.log((counts @ relevant + 0.5) / (counts @ (judged - relevant) + 0.5)).var(ddof=1))
