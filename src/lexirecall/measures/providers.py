"""Exposure of providers: how much attention the sellers, authors or publishers of relevant documents get from users.

Belongs here: η of known providers, the rows that look for the worst-off of them, and the audit of them all. Not here:
the map of documents to providers (lexirecall.providers), possible providers (theory).

η(π, R, R') = sum_i e(p_i) [document_i in R'], where R' are the relevant documents of one provider. A document of
several providers counts in full for each. The missing documents are at the last places of the corpus, n-(m-r)+1 … n.
Nobody knows which document has which place, so each has the mean exposure of these places. Where n is unknown, it has
none.

The merit of a provider is the number of its relevant documents. What it is due on a query is the exposure of all
providers there, shared in proportion to merit. Its ratio is the sum of η over the sum of what it is due. Because each
query is shared by itself, nobody is marked down for queries that have many relevant documents or are served badly.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lexirecall.equality import FieldEquality
from lexirecall.errors import UsageError, choice
from lexirecall.exposure import EXPOSURES
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.manifest import Policies
from lexirecall.measures.bottom import num_missing, sum_over_missing
from lexirecall.measures.measure import Measure, ask, is_equal
from lexirecall.measures.parameter import Parameter
from lexirecall.measures.recall_level import PATIENCE
from lexirecall.positions import Positions, Projection
from lexirecall.providers import Providers, members
from lexirecall.sums import ExactSums

_EXPOSURE = Parameter("ap", options=tuple(EXPOSURES))
_DIGITS = 12  # decimals in which ratios are compared: equal ones may differ in their last digits


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """η for each of C pairs of a query and a provider with a relevant document for it, by query and then provider."""

    queries: IntArray
    providers: IntArray
    num_documents: IntArray
    """How many of the query's relevant documents are the provider's."""
    exposures: FloatArray
    """η in each run, [S, C]."""

    def of_runs(self, order: IntArray) -> "Shares":
        """Return the shares with the runs in another order."""
        return replace(self, exposures=self.exposures[order])

    @property
    def due(self) -> FloatArray:
        """What η would be if the relevant documents of a query, whosever they are, had equal exposure, [S, C].

        >>> shares = Shares(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([3, 1, 2]), np.array([[0.5, 1.5, 0.7]]))
        >>> shares.due.tolist()
        [[1.5, 0.5, 0.7]]
        """
        if not len(self.queries):
            return self.exposures
        is_first = np.diff(self.queries, prepend=-1) > 0
        starts, of_pair = np.flatnonzero(is_first), np.cumsum(is_first) - 1
        totals = np.add.reduceat(self.exposures, starts, axis=1)
        merits = np.add.reduceat(self.num_documents, starts)
        return np.asarray(totals[:, of_pair] * (self.num_documents / merits[of_pair]))


def shares_of_providers(projection: Projection, e: str, p: float) -> Shares:
    """Compute η of every provider on every query for which it has a relevant document.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 1}}, {"q": ["x", "a"]}, providers={"a": "Ada", "b": ["Ada", "Ben"]})
    >>> shares_of_providers(positions.at_level(1), "ap", 0.8).exposures.tolist()  # of Ada and of Ben
    [[0.5, 0.0]]
    """
    owners = owners_of(projection.source)
    judgments, num_names = projection.source.judgments, len(owners.names)
    relevant = np.flatnonzero(judgments.grades >= projection.level)
    claims = members(owners.offsets, relevant)
    queries = np.searchsorted(judgments.offsets, relevant, side="right") - 1
    keys = np.repeat(queries, np.diff(owners.offsets)[relevant]) * num_names + owners.indices[claims]
    pairs, pair_of_claim, num_documents = np.unique(keys, return_inverse=True, return_counts=True)
    pair_at = np.zeros(len(owners.indices), np.int64)
    pair_at[claims] = pair_of_claim
    queries, providers = np.divmod(pairs, max(num_names, 1))
    exposures = _exposures(projection, owners, pair_at, num_documents, queries, {"e": e, "p": p})
    return Shares(queries, providers, num_documents, exposures)


def _exposures(
    projection: Projection,
    owners: Providers,
    pair_at: IntArray,
    num_documents: IntArray,
    queries: IntArray,
    settings: dict[str, Any],
) -> FloatArray:
    """Add up, for each run and pair, the exposures of the documents that were retrieved and of those that were not."""
    found = projection.found
    num_runs, num_queries = projection.source.shape
    num_owners = np.diff(owners.offsets)[found.documents]
    runs = np.repeat(found.segments.owners // num_queries, num_owners)
    keys = runs * len(num_documents) + pair_at[members(owners.offsets, found.documents)]
    seen = np.repeat(exposure_of(projection.positions, n_of_found(projection), **settings), num_owners)
    shape = num_runs, len(num_documents)
    exposures = np.bincount(keys, seen, minlength=num_runs * len(num_documents)).reshape(shape).astype(float)
    if (mean := mean_at_bottom(projection, settings)) is None:
        return exposures
    num_found = np.bincount(keys, minlength=num_runs * len(num_documents)).reshape(shape)
    return exposures + (num_documents - num_found) * mean[:, queries]


def n_of_found(projection: Projection) -> Any:
    """Return n for each relevant document that was found; nan if it is unknown."""
    n = projection.source.corpus_size
    return np.nan if n is None else projection.per_document_of_query(n.astype(float))


def mean_at_bottom(projection: Projection, settings: dict[str, Any]) -> FloatArray | None:
    """Return the mean exposure of the places that missing documents have, [S, Q]; None if n is unknown."""
    if projection.source.corpus_size is None:
        return None
    at_bottom = sum_over_missing(projection, lambda places, levels, m, n: exposure_of(places, n, **settings))
    return np.asarray(at_bottom / np.maximum(num_missing(projection), 1))


def exposure_of(positions: FloatArray, n: Any, e: str, p: float) -> FloatArray:
    """Return e(p) of positions."""
    return np.asarray(ask(EXPOSURES[e], positions, {"p": p, "n": n}), dtype=float)


def owners_of(positions: Positions) -> Providers:
    """Return the map of providers; raise if there is none."""
    if positions.providers is None:
        raise UsageError("the positions have no map of documents to providers", remedy="give providers= to project()")
    return positions.providers


@dataclass(frozen=True, slots=True, eq=False)
class ProviderExposure(FieldEquality):
    """Exposure of each of P providers with a relevant document, in S runs, over the queries for which it has one."""

    runs: tuple[str, ...]
    providers: tuple[str, ...]
    """In the order of their bytes."""
    exposures: FloatArray
    """Mean of η over the provider's queries, [S, P]; nan where the run answers none of them and only those count."""
    ratios: FloatArray
    """Exposure over what the provider is due, [S, P]; nan where its queries give no provider any exposure."""
    num_queries: IntArray
    """Over how many queries, [S, P]."""
    num_documents: IntArray
    """How many relevant documents the provider has over these queries, [S, P]; one counts once for each query."""

    def is_worst(self, run: str | int = 0) -> BoolArray:
        """Tell which providers have the smallest mean exposure in a run, [P]; several may be equal."""
        exposures = self.exposures[self._index(run)]
        return is_equal(exposures, np.min(exposures, where=~np.isnan(exposures), initial=np.inf, keepdims=True))

    def worst(self, run: str | int = 0) -> tuple[str, ...]:
        """Name the worst-off provider in a run; if several are equal, those with the most queries first."""
        columns = np.flatnonzero(self.is_worst(run))
        order = np.argsort(-self.num_queries[self._index(run), columns], kind="stable")
        return tuple(self.providers[c] for c in columns[order].tolist())

    def _index(self, run: str | int) -> int:
        if isinstance(run, str):
            choice("run", run, self.runs)
            return self.runs.index(run)
        return run

    def lowest_first(self, run: str | int = 0, min_queries: int = 0) -> IntArray:
        """Return the providers with so many queries or more, the lowest ratio first; undefined ratios are last.

        Ratios that are equal but for rounding are in the order of the names.
        """
        s = self._index(run)
        chosen = np.flatnonzero(self.num_queries[s] >= min_queries)
        return chosen[np.argsort(self.ratios[s, chosen].round(_DIGITS), kind="stable")]

    def in_order(self, order: IntArray) -> "ProviderExposure":
        """Return the exposures with the runs in another order."""
        return ProviderExposure(
            runs=tuple(self.runs[s] for s in order.tolist()),
            providers=self.providers,
            exposures=self.exposures[order],
            ratios=self.ratios[order],
            num_queries=self.num_queries[order],
            num_documents=self.num_documents[order],
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give a row for each run and provider, the lowest ratio first: run, provider, exposure, merit, ratio, queries.

        The merit of a provider is the number of its relevant documents. What is undefined is None.
        """
        for s in range(len(self.runs)):
            yield from (self.row(s, c) for c in self.lowest_first(s).tolist())

    def row(self, s: int, c: int) -> dict[str, Any]:
        """Return the row of one run and one provider, by their numbers."""
        return {
            "run": self.runs[s],
            "provider": self.providers[c],
            "exposure": _defined(self.exposures[s, c]),
            "merit": int(self.num_documents[s, c]),
            "ratio": _defined(self.ratios[s, c]),
            "queries": int(self.num_queries[s, c]),
        }

    def to_dict(self) -> dict[str, dict[str, float | None]]:
        """Return {run: {provider: mean exposure}}; None where undefined."""
        result: dict[str, dict[str, float | None]] = {run: {} for run in self.runs}
        for row in self.rows():
            result[row["run"]][row["provider"]] = row["exposure"]
        return result


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def provider_exposure(
    positions: Positions, exposure: str = "ap", *, p: float = 0.8, level: float = 1, queries: str = "all"
) -> ProviderExposure:
    """Return exposure, merit and their ratio for every provider, for a full audit.

    η of a provider on a query is sum_i e(p_i) over its relevant documents; `exposure` is ap, dcg, rbp (with patience p)
    or linear (which needs n). The mean is over the queries for which the provider has a relevant document. With
    queries="intersection" it is over those of them that the run answers. The merit of a provider is the number of its
    relevant documents. The ratio is what it gets, over what it would get if the relevant documents of each query had
    equal exposure; that it is not 1 is no evidence by itself.

    >>> from lexirecall import project
    >>> judged = {"q1": {"a": 1, "b": 1, "c": 1}, "q2": {"b": 1}}
    >>> ranked = {"q1": ["b", "x", "y", "a"], "q2": ["x", "b"]}
    >>> audit = provider_exposure(project(judged, ranked, providers={"a": "Ada", "b": ["Ada", "Ben"], "c": "Cy"}))
    >>> audit.to_dict(), audit.worst()
    ({'run': {'Cy': 0.0, 'Ada': 0.875, 'Ben': 0.75}}, ('Cy',))
    >>> {row["provider"]: round(row["ratio"], 4) for row in audit.rows()}
    {'Cy': 0.0, 'Ada': 1.0769, 'Ben': 1.4118}

    Reference: DiazEM25, provider utility.
    """
    policies = Policies(level=level, queries=queries)
    choice("exposure", exposure, EXPOSURES)
    if positions.conventions.ties == "expected":
        raise UsageError(
            "the mean of the worst-off provider over all orders of tied documents has no closed form",
            remedy="choose another tie rule: trec, input, worst or best",
        )
    shares = shares_of_providers(positions.at_level(level), exposure, PATIENCE.check("p", p))
    return audit_of(positions, shares, policies.counted(positions))


def audit_of(positions: Positions, shares: Shares, among: BoolArray | None) -> ProviderExposure:
    """Add up the shares of each provider; `among` says which queries of a run count. Sums are exact."""
    which, column = np.unique(shares.providers, return_inverse=True)
    counts = np.ones_like(shares.exposures, bool) if among is None else among[:, shares.queries]
    num_queries, num_documents = np.zeros((2, len(which), len(positions.runs)), np.int64)
    np.add.at(num_queries, column, counts.T)
    np.add.at(num_documents, column, counts.T * shares.num_documents[:, None])
    sums, due = (
        ExactSums.grouped(np.where(counts, share, 0.0).T, column, len(which)).rounded()
        for share in (shares.exposures, shares.due)
    )
    means = np.where(num_queries > 0, sums / np.maximum(num_queries, 1), np.nan)
    ratios = np.divide(sums, due, out=np.full(sums.shape, np.nan), where=due > 0)
    names = owners_of(positions).names
    providers = tuple(names[number] for number in which.tolist())
    return ProviderExposure(
        runs=positions.runs, providers=providers, exposures=means.T, ratios=ratios.T, num_queries=num_queries.T,
        num_documents=num_documents.T,
    )  # fmt: skip


def audit_by(positions: Positions, row: Measure, policies: Policies) -> ProviderExposure:
    """Return the exposures that a measure of providers is about."""
    projection = positions.at_level(row.level(policies.level))
    shares = shares_of_providers(projection, row.values["e"], row.values["p"])
    return audit_of(positions, shares, policies.counted(positions, row))


def worst_off(audit: ProviderExposure) -> tuple[str, ...]:
    """Name the worst-off provider of each run, for the measure of their exposure.

    If several are equal, it is the one with the most queries, and then the first by name. Without providers the names
    are empty.
    """
    if not audit.providers:
        return ("",) * len(audit.runs)
    is_worst = np.array([audit.is_worst(s) for s in range(len(audit.runs))])
    chosen = np.where(is_worst, audit.num_queries, -1).argmax(axis=1)
    return tuple(audit.providers[c] for c in chosen.tolist())


def _worst_of_query(projection: Projection, e: str, p: float) -> FloatArray:
    """Return the smallest η of each query; undefined where no relevant document has a provider."""
    shares = shares_of_providers(projection, e, p)
    values = np.tile(np.where(projection.num_relevant > 0, np.nan, 0.0), (projection.source.shape[0], 1))
    queries, starts = np.unique(shares.queries, return_index=True)
    if len(queries):
        values[:, queries] = np.minimum.reduceat(shares.exposures, starts, axis=1)
    return values


def _worst_overall(projection: Projection, e: str, p: float, among: BoolArray | None) -> FloatArray:
    """Return η of the worst-off provider of each run, on its queries; undefined on others with a relevant document."""
    shares, owners = shares_of_providers(projection, e, p), owners_of(projection.source)
    names = worst_off(audit_of(projection.source, shares, among))
    values = np.tile(np.where(projection.num_relevant > 0, np.nan, 0.0), (projection.source.shape[0], 1))
    numbers = {name: number for number, name in enumerate(owners.names)}
    chosen = np.array([numbers.get(name, -1) for name in names])
    runs, pairs = np.nonzero(shares.providers == chosen[:, None])
    values[runs, shares.queries[pairs]] = shares.exposures[runs, pairs]
    return values


WORST_PROVIDER = Measure(
    "WorstProvider",
    "exposure of the worst-off provider of the query",
    function=_worst_of_query,
    formula="min over the providers with a relevant document of sum_i e(p_i) over their documents, e as for TSE",
    reference="DiazEM25",
    history="Follows the exposure of providers in Diaz, Ekstrand and Mitra (2025), for providers that are known.",
    use="Use it to see, query by query, whether a provider of relevant documents gets no attention.",
    misses="It looks at one provider of each query and ignores how the others share the attention.",
    defaults="With e='ap', exposure is e(i) = 1/i, as for TSE. Only e='rbp' uses p, which is 0.8 as for RBP.",
    corpus="optional",
    needs_providers=True,
    parameters={"e": _EXPOSURE, "p": PATIENCE},
)
WORST_PROVIDER_OVERALL = Measure(
    "WorstProviderOverall",
    "exposure of the provider that is worst off over all queries, on the queries for which it has a relevant document",
    function=_worst_overall,
    formula="sum_i e(p_i) over the documents of the provider whose mean over queries is smallest, e as for TSE",
    reference="DiazEM25",
    history="Follows the exposure of providers in Diaz, Ekstrand and Mitra (2025), for providers that are known.",
    use="Use it to find the provider that gets the least attention over all queries.",
    misses="It looks at one provider, which can differ from run to run, so runs may be compared on different queries.",
    defaults="With e='ap', exposure is e(i) = 1/i, as for TSE. Only e='rbp' uses p, which is 0.8 as for RBP.",
    corpus="optional",
    needs_providers=True,
    sparse=True,
    parameters={"e": _EXPOSURE, "p": PATIENCE},
)
TITLE = "Exposure of providers"
ROWS = (WORST_PROVIDER, WORST_PROVIDER_OVERALL)
