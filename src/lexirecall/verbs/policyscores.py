"""Policy scores: runs that are samples of policies, seen as the policies that drew them.

Belongs here: expected values, the worst-off user and pairs of policies, and how they print and convert themselves. Not
here: how they are computed (policysamples), the values of single runs (scores).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lexirecall.errors import UsageError, counted, listed
from lexirecall.fields import taken, takes
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.manifest import Manifest, Note, Policies
from lexirecall.measures import Measure
from lexirecall.names import Names
from lexirecall.notebook import CellPart, DisplayedResult
from lexirecall.positions import Positions
from lexirecall.preferences import LEXI_RECALL, Preference
from lexirecall.tables import FORMATS, Table, defined, number, render, whole
from lexirecall.text import visible
from lexirecall.theory.expectations import MAX_WANTED, standard_error
from lexirecall.verbs.conversion import ColumnValues, Convertible, columns_of
from lexirecall.verbs.evaluate import scores_of
from lexirecall.verbs.policysamples import (
    PolicyPair,
    RelevantPlaces,
    WorstOff,
    has_users,
    mean_of,
    policy_pairs,
    samples_of,
    worst_off,
)
from lexirecall.verbs.subject import asked_measures

COLUMNS = ("policy", "measure", "samples", "mean", "error", "worst_off", "worst_off_error", "queries")
"""A row of a policy and a measure."""
PAIR_COLUMNS = ("other", "wins", "losses")
"""What a row of two policies has besides."""


@dataclass(frozen=True, eq=False)
class PolicyScores(DisplayedResult, Convertible):
    """What users can expect of P policies, by M measures, and which of two policies is preferred.

    >>> from lexirecall import project
    >>> runs = {"even#1": {"q": ["a", "b"]}, "even#2": {"q": ["b", "a"]}, "fixed#1": {"q": ["a", "x", "b"]}}
    >>> scores = PolicyScores.of(project({"q": {"a": 1, "b": 1}}, runs), ["AP", "LexiRecall"])
    >>> [(row["policy"], row["mean"], row["worst_off"]) for row in scores.rows()][:2]
    [('even', 1.0, 1.0), ('fixed', 0.8333333333333333, 0.3333333333333333)]
    >>> scores.pairs[0].mean
    1.0
    """

    policies: tuple[str, ...]
    samples: IntArray
    """How many runs are samples of each policy, [P]."""
    measures: tuple[Measure, ...]
    queries: tuple[str, ...]
    values: FloatArray
    """The mean over samples of each query, [P, Q, M]; nan where undefined."""
    value_errors: FloatArray
    """Its standard error over samples, [P, Q, M]."""
    means: FloatArray
    """The mean over samples of the mean over queries, [P, M]."""
    errors: FloatArray
    """Its standard error over samples, [P, M]; nan for one sample."""
    worst: dict[tuple[int, int], WorstOff]
    """The worst-off users by policy and measure; measures that are not sums over recall levels have none."""
    pairs: tuple[PolicyPair, ...]
    manifest: Manifest
    digits: int | None = None
    """Decimals in tables; those of each measure if None."""
    frame_library: str = ""

    @classmethod
    @takes(Policies)
    def of(cls, positions: Positions, measures: Names | None = None, **options: Any) -> "PolicyScores":
        """Take runs whose names are equal before the last # as samples of one policy."""
        policies, samples = taken(Policies, options), samples_of(positions.runs)
        if positions.conventions.ties == "expected":
            problem = "what users can expect of policies needs one order of tied documents"
            raise UsageError(problem, remedy="choose another tie rule: trec, input, worst or best")
        asked = asked_measures(measures, has_providers=False)
        preferences = [row for row in asked if isinstance(row, Preference)] or [LEXI_RECALL]
        if len(samples) == 1 and not any(isinstance(row, Measure) for row in asked):
            problem = (
                f"{listed(map(str, preferences))} compares policies, and there is one only ({next(iter(samples))})"
            )
            raise UsageError(problem, remedy="give samples of two or more policies, or a measure such as AP")
        scores, _ = scores_of(positions, asked, policies, is_default=measures is None)
        kept = [c for c, row in enumerate(scores.measures) if isinstance(row, Measure)]
        rows = tuple(row for row in scores.measures if isinstance(row, Measure))
        values, of_runs = scores.values[:, :, kept], scores.means[:, kept]
        worst = _worst(positions, rows, policies, samples)
        pairs = tuple(pair for row in preferences for pair in policy_pairs(row, positions, policies, samples))
        notes = (*scores.notes, *_notes(rows, samples, worst))
        return cls(
            policies=tuple(samples),
            samples=np.array([len(runs) for runs in samples.values()]),
            measures=rows,
            queries=positions.queries,
            values=np.stack([_over(mean_of, values[runs]) for runs in samples.values()]),
            value_errors=np.stack([_over(_error_of, values[runs]) for runs in samples.values()]),
            means=np.stack([_over(mean_of, of_runs[runs]) for runs in samples.values()]),
            errors=np.stack([_over(_error_of, of_runs[runs]) for runs in samples.values()]),
            worst=worst,
            pairs=pairs,
            manifest=replace(scores.manifest, notes=notes),
            frame_library=positions.frame_library,
        )

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader of the numbers should know."""
        return self.manifest.notes

    def __repr__(self) -> str:
        return f"<PolicyScores: {len(self.policies)} × {counted(len(self.measures), 'measure')}>"

    def rows(self, *, per_query: bool = False) -> Iterator[dict[str, Any]]:
        """Give a row for each policy and measure, then one for each pair of policies and preference.

        The mean of a pair is the expected preference for `policy` over `other`. What a row does not have is None. With
        `per_query`, rows also have the query, "all" for what is over queries, and each query has rows of its own.
        """
        columns = self.columns(per_query=per_query)
        for row in self._every_row(per_query=per_query):
            yield {name: row.get(name) for name in columns}

    @staticmethod
    def columns(*, per_query: bool = False) -> tuple[str, ...]:
        """Return the columns of the rows."""
        return (*COLUMNS[:1], *(["query"] if per_query else []), *COLUMNS[1:], *PAIR_COLUMNS)

    def _every_row(self, *, per_query: bool) -> Iterator[dict[str, Any]]:
        for p, c in np.ndindex(self.means.shape):
            if per_query:
                yield from (self._query_row(p, c, q) for q in range(len(self.queries)))
            yield self._row(p, c)
        for pair in self.pairs:
            numbers = {name: defined(getattr(pair, name)) for name in ("mean", "error", "wins", "losses")}
            names = {"policy": pair.a, "other": pair.b, "query": "all", "measure": pair.preference}
            yield {**names, **numbers, "queries": pair.queries}

    def _row(self, p: int, c: int) -> dict[str, Any]:
        worst = self.worst.get((p, c))
        return {
            "policy": self.policies[p],
            "query": "all",
            "measure": str(self.measures[c]),
            "samples": int(self.samples[p]),
            "mean": defined(self.means[p, c]),
            "error": defined(self.errors[p, c]),
            "worst_off": None if worst is None else defined(worst.mean),
            "worst_off_error": None if worst is None else defined(worst.error),
            "queries": int((~np.isnan(self.values[p, :, c])).sum()),
        }

    def _query_row(self, p: int, c: int, q: int) -> dict[str, Any]:
        worst = self.worst.get((p, c))
        return {
            "policy": self.policies[p],
            "query": self.queries[q],
            "measure": str(self.measures[c]),
            "samples": int(self.samples[p]),
            "mean": defined(self.values[p, q, c]),
            "error": defined(self.value_errors[p, q, c]),
            "worst_off": None if worst is None else defined(worst.values[q]),
        }

    def with_digits(self, digits: int) -> "PolicyScores":
        """Return the scores with so many decimals in tables."""
        return replace(self, digits=digits)

    def table(self, *, per_query: bool = False) -> Table:
        """Lay the policies out, one row for each measure; or one row for each measure and query."""
        decimals = {str(row): row.decimals for row in self.measures}
        rows = []
        for row in self._every_row(per_query=per_query):
            if "other" not in row:
                numbers = (row.get(name) for name in ("mean", "error", "worst_off", "worst_off_error"))
                shown = (self._number(value, decimals[row["measure"]]) for value in numbers)
                query = [row["query"]] if per_query else []
                ends = (whole(row["samples"]), *shown, whole(row["queries"]) if "queries" in row else "")
                rows.append((row["policy"], *query, row["measure"], *ends))
        header = ("policy", *(["query"] if per_query else []), "measure", "samples", "mean", "error", "worst off")
        start = len(header) - 4
        return Table((*header, "its error", "queries"), tuple(rows), numbers_from=start, footnote=self._footnote)

    def pair_table(self) -> Table:
        """Lay the pairs of policies out, one row for each preference."""
        rows = tuple(
            (
                pair.a, pair.b, pair.preference,
                *(self._number(value, 4) for value in (pair.mean, pair.error, pair.wins, pair.losses)),
                str(pair.queries),
            )
            for pair in self.pairs
        )  # fmt: skip
        header = ("policy", "other", "preference", "mean", "error", "wins", "losses", "queries")
        return Table(header, rows, numbers_from=3, footnote=_ON_PAIRS)

    def _number(self, value: float | None, decimals: int) -> str:
        shown = 4 if decimals == 0 else decimals  # a mean over samples of counts is a fraction
        return number(np.nan if value is None else value, shown if self.digits is None else self.digits)

    @property
    def _footnote(self) -> str:
        without = [str(row) for c, row in enumerate(self.measures) if (0, c) not in self.worst]
        remark = (
            f"; not known for {listed(without, 9)}: not a sum over recall levels, or made of grades" if without else ""
        )
        return _ON_POLICIES + remark

    def render(self, form: str = "table", *, per_query: bool = False, bold: bool = False, raw: bool = False) -> str:
        """Return the result in one of the formats of the command line."""
        tables = self._tables(per_query=per_query)
        if form in FORMATS and (of_table := FORMATS[form].of_table) is not None:
            return "\n\n".join(of_table(table, bold) for table in tables)
        rows = self.rows(per_query=per_query)
        return render(form, tables[0], rows, self.columns(per_query=per_query), bold=bold, raw=raw)

    def _tables(self, *, per_query: bool = False) -> list[Table]:
        tables = [self.table(per_query=per_query)] if self.measures else []
        return [*tables, self.pair_table()] if self.pairs else tables

    def _parts(self) -> Iterable[CellPart]:
        return self._tables()

    def __str__(self) -> str:
        return "\n".join([self.render(), *(f"note: {visible(note.text)}" for note in self.notes)])

    def _conversion(self) -> tuple[ColumnValues, str]:
        return columns_of(self.rows(), self.columns()), self.frame_library


_ON_POLICIES = (
    "mean: over samples and queries; worst off: what the user who can expect least can expect, chosen on every other "
    "sample and estimated on the rest, mean over queries; errors: standard errors over samples"
)
_ON_PAIRS = (
    "mean: wins less losses, over all pairs of samples, one of each policy, and over queries; error: its standard error"
)


def _over(function: Callable[[FloatArray], float], values: FloatArray) -> FloatArray:
    """Apply a function to the values of all samples, which are the first axis."""
    return np.apply_along_axis(function, 0, values) if values.size else np.zeros(values.shape[1:])


def _error_of(values: FloatArray) -> float:
    return standard_error(values[~np.isnan(values)])


def _worst(
    positions: Positions, measures: tuple[Measure, ...], policies: Policies, samples: dict[str, IntArray]
) -> dict[tuple[int, int], WorstOff]:
    """Find the worst-off users by each measure that has users, [P, M]."""
    levels = {row.level(policies.level) for row in measures}
    located = {level: RelevantPlaces(positions.at_level(level)) for level in levels}
    return {
        (p, c): worst_off(row, located[row.level(policies.level)], runs, policies.counted(positions, row))
        for c, row in enumerate(measures)
        if has_users(row, positions, policies.level)
        for p, runs in enumerate(samples.values())
    }


def _notes(
    measures: tuple[Measure, ...], samples: dict[str, IntArray], worst: dict[tuple[int, int], WorstOff]
) -> Iterator[Note]:
    """Say what the worst-off users do not cover."""
    if alone := [policy for policy, runs in samples.items() if len(runs) == 1]:
        text = f"one sample only ({listed(alone)}): its worst-off user is that of this ranking, and there is no error"
        yield Note("one sample", text, len(alone))
    large, undefined = (_most(measures, worst, name) for name in ("num_large", "num_undefined"))
    if large:
        text = (
            f"queries with more than {MAX_WANTED} relevant documents, whose users are too many to enumerate: left out "
            f"of worst off by {_listed(large)}"
        )
        yield Note("users not enumerated", text, max(large.values()))
    if undefined:
        text = (
            "queries with a document that a sample does not retrieve, so that its users can expect no defined value: "
            f"left out of worst off by {_listed(undefined)}; --corpus-size gives it a place"
        )
        yield Note("undefined users", text, max(undefined.values()))


def _most(measures: tuple[Measure, ...], worst: dict[tuple[int, int], WorstOff], name: str) -> dict[str, int]:
    """Return how many queries are left out by each measure, with the policy of which the most are."""
    counts: dict[str, int] = {}
    for (_, c), users in worst.items():
        counts[str(measures[c])] = max(counts.get(str(measures[c]), 0), getattr(users, name))
    return {measure: count for measure, count in counts.items() if count}


def _listed(counts: dict[str, int]) -> str:
    return listed((f"{measure} ({count:,})" for measure, count in counts.items()), 9)
