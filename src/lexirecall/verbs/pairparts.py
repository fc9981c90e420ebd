"""Pair parts: how far apart each pair of runs is in other numbers than the mean, and in groups of queries.

Belongs here: the differences of each pair over all queries and over each group, whether they vary by group, and their
rows and tables. Not here: tests of mean differences (compare), the numbers themselves (statistics), what is said about
them (partnotes).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lexirecall.aggregation import Aggregation
from lexirecall.errors import UsageError, listed
from lexirecall.groups import Groups
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.names import Evaluable
from lexirecall.preferences import Preference
from lexirecall.statistics.attainable import resamples_needed
from lexirecall.statistics.corrections import correct
from lexirecall.statistics.interaction import FEWEST, Interaction, interactions
from lexirecall.statistics.overpairs import OverPairs, compare_over
from lexirecall.statistics.portions import PairDifferences
from lexirecall.statistics.queryaggregate import QueryAggregate, overs_of
from lexirecall.tables import Table, defined, number, whole
from lexirecall.verbs.breakdown import EVERY, Breakdown
from lexirecall.verbs.measurecomparison import MeasureComparison
from lexirecall.verbs.resamples import percent
from lexirecall.verbs.testing import Testing, run_test

VARIES = ("interaction", "interaction_p", "interaction_p_corrected")
"""The columns that say whether a difference varies by group."""
_TESTED = ("p", "p_corrected")
_ALWAYS = ("difference", "low", "high")
TAIL_TEST = "t of the influence on both tails"
"""How differences of tails are tested."""
PairColumns = Mapping[str, list[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class PairPart:
    """The differences of P pairs under one measure, in one number over all queries or over those of a group."""

    group: str | None
    """None for all queries."""
    over: QueryAggregate
    differences: FloatArray
    """Positive if the first run is better, [P]; nan where undefined."""
    num_queries: IntArray
    """On how many queries each pair is compared, [P]."""
    columns: PairColumns
    """What the rows of the pairs hold, by name; None where undefined."""
    test: str | None = None
    correction: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class MeasureParts:
    """The differences of P pairs under one measure, over all queries first."""

    compared: MeasureComparison
    parts: tuple[PairPart, ...]
    interaction: Interaction | None = None
    corrected: FloatArray | None = None
    """The p of the interaction with regard to all pairs, [P]."""

    def of_pair(self, k: int) -> Iterator[PairPart]:
        """Give the parts of one pair: all queries, then the groups, the one with the lowest difference first."""
        yield from (part for part in self.parts if part.group is None)
        firsts: dict[str, PairPart] = {}
        for part in self.parts:
            if part.group is not None:
                firsts.setdefault(part.group, part)
        for group in sorted(firsts, key=lambda name: _or_last(firsts[name].differences[k])):
            yield from (part for part in self.parts if part.group == group)

    def varies(self, k: int) -> dict[str, float | None]:
        """Return whether the difference of a pair varies by group, in the columns of VARIES."""
        if self.interaction is None or self.corrected is None:
            return dict.fromkeys(VARIES)
        columns = self.interaction.shares, self.interaction.pvalues, self.corrected
        return {name: defined(column[k].item()) for name, column in zip(VARIES, columns, strict=True)}


def _or_last(difference: float) -> float:
    return np.inf if np.isnan(difference) else float(difference)


@dataclass(frozen=True, slots=True, eq=False)
class PairParts:
    """The differences of all pairs under all measures."""

    runs: tuple[str, ...]
    measures: tuple[MeasureParts, ...]
    asked: Aggregation
    testing: Testing

    @property
    def overs(self) -> tuple[QueryAggregate, ...]:
        """What the differences are over, in the order asked for."""
        return overs_of(self.asked.over)

    @property
    def has_groups(self) -> bool:
        """Whether groups are asked for."""
        return self.asked.by is not None

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that say what a difference is over."""
        return (*(("group",) if self.has_groups else ()), *(("over",) if self.asked.over else ()))

    def columns(self, every: Sequence[str]) -> tuple[str, ...]:
        """Return the columns of the rows, from those of rows of means."""
        after = VARIES if self.has_groups else ()
        return (*every[:3], *self.keys, "difference", *every[3:], *after)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give one row for each pair, measure, group and number; positive differences say that a is better."""
        for parts in self.measures:
            names = parts.compared.columns()
            for k, (a, b) in enumerate(zip(parts.compared.a.tolist(), parts.compared.b.tolist(), strict=True)):
                pair = {"a": self.runs[a], "b": self.runs[b], "measure": str(parts.compared.measure)}
                for part in parts.of_pair(k):
                    labels = {"group": part.group, "over": str(part.over)}
                    values = {name: part.columns[name][k] if name in part.columns else None for name in names}
                    yield {
                        **pair, **{key: labels[key] for key in self.keys}, "difference": _defined(part.differences[k]),
                        **values, "test": values["test"] or part.test, "correction": part.correction,
                        **self._varies(parts, part, k),
                    }  # fmt: skip

    def _varies(self, parts: MeasureParts, part: PairPart, k: int) -> dict[str, Any]:
        if not self.has_groups:
            return {}
        is_tested = part.group is None and part.over.kind == "mean"
        return parts.varies(k) if is_tested else dict.fromkeys(VARIES)

    def tables(self, decimals: int) -> list[Table]:
        """Lay out the differences, and below them whether they vary by group."""
        return [self._differences(decimals), *([self._variation(decimals)] if self._tests_groups else [])]

    @property
    def _tests_groups(self) -> bool:
        tests = (parts.interaction for parts in self.measures)
        return any(not np.isnan(test.pvalues).all() for test in tests if test is not None)

    def _differences(self, decimals: int) -> Table:
        rows = list(self.rows())
        shown = [
            name
            for name in ("difference", "estimate", "low", "high", *_TESTED)
            if name in _ALWAYS or any(row[name] is not None for row in rows)
        ]
        cells = tuple(
            (
                row["a"], row["b"], row["measure"], *(row[key] or EVERY for key in self.keys), whole(row["queries"]),
                *(_text(row[name], decimals) for name in shown),
            )
            for row in rows
        )  # fmt: skip
        header = ("a", "b", "measure", *self.keys, "queries", *shown)
        texts = frozenset(range(3, 3 + len(self.keys)))
        return Table(header, cells, numbers_from=3, texts=texts, footnote=self._footnote())

    def _footnote(self) -> str:
        says = ["difference: positive if a is better"]
        level = percent(self.testing.alpha)
        if any(over.kind == "mean" for over in self.overs):
            says.append(f"low, high of a mean difference: {level} interval of the pair by itself")
        if any(over.kind == "median" for over in self.overs):
            says.append(f"estimate: the median of the differences, to which its low and high belong ({level} interval)")
        if tails := [str(over) for over in self.overs if over.kind == "tail"]:
            says.append(f"low, high, p of a difference in {', '.join(tails)}: {TAIL_TEST} ({level} interval)")
        if self.has_groups:
            says.append("groups: the lowest difference of each pair first")
        return "; ".join(says)

    def _variation(self, decimals: int) -> Table:
        rows = []
        for parts in self.measures:
            for k, (a, b) in enumerate(zip(parts.compared.a.tolist(), parts.compared.b.tolist(), strict=True)):
                if (test := parts.interaction) is not None:
                    counts = str(test.num_groups[k]), str(test.num_queries[k])
                    numbers = (_text(value, decimals) for value in parts.varies(k).values())
                    rows.append((self.runs[a], self.runs[b], str(parts.compared.measure), *counts, *numbers))
        header = ("a", "b", "measure", "groups", "queries", "between groups", "p", "p_corrected")
        footnote = (
            "does the difference vary by group? between groups: their share of the squares of the differences; p: "
            f"by handing out the groups of {FEWEST} or more queries at random ({self.testing.correction}, "
            f"seed {self.testing.seed})"
        )
        return Table(header, tuple(rows), numbers_from=3, footnote=footnote)


def _text(value: float | None, decimals: int) -> str:
    return "-" if value is None else number(value, decimals)


def _defined(value: float) -> float | None:
    return defined(float(value))


@dataclass(frozen=True, slots=True, eq=False)
class PairData:
    """What the parts of one measure are made of."""

    compared: MeasureComparison
    values: FloatArray
    """Of each run on each query, [S, Q]; infinite where a document was not retrieved at any known depth."""
    differences: PairDifferences
    """Of the pairs of `compared`."""


def parts_of(
    data: Sequence[PairData],
    runs: tuple[str, ...],
    breakdown: Breakdown,
    asked: Aggregation,
    testing: Testing,
    *,
    show_progress: bool | None = False,
) -> PairParts:
    """Compare the pairs of each measure in the numbers, and in the groups of a breakdown, that are asked for."""
    shown = tuple(part.group for part in breakdown.parts if part.group is not None)
    results = []
    for pairs in data:
        parts = [
            part
            for group, queries in ((None, None), *_members(breakdown.groups, shown))
            for part in _parts_in(pairs, group, queries, overs_of(asked.over), testing)
        ]
        result = MeasureParts(pairs.compared, tuple(parts))
        tests_mean = any(over.kind == "mean" for over in overs_of(asked.over))
        if breakdown.groups is not None and tests_mean:
            result = _with_interaction(result, pairs, breakdown.groups, shown, testing, show_progress=show_progress)
        results.append(result)
    return PairParts(runs, tuple(results), asked, testing)


def own_overs(measure: Evaluable, overs: Sequence[QueryAggregate]) -> list[QueryAggregate]:
    """Return in what runs can be compared: a preference is about two rankings, so a run has no worst queries under it.

    >>> from lexirecall.preferences import LEXI_RECALL
    >>> [str(over) for over in own_overs(LEXI_RECALL, overs_of(["mean", "tail:0.1"]))]
    ['mean']
    """
    return [over for over in overs if over.kind == "mean" or not isinstance(measure, Preference)]


def check_over(asked: Aggregation, testing: Testing, measures: Sequence[Evaluable]) -> None:
    """Raise before anything is read if there is nothing to compare, or nothing to resample."""
    if asked.is_asked and testing.bootstrap is not None:
        raise UsageError(
            "bootstrap adds intervals to the table of runs, and over and by replace that table", remedy="leave it out"
        )
    is_set = testing.margin is not None, testing.primary is not None, testing.family != "each"
    if asked.is_asked and any(is_set):
        name = ("margin", "primary", "family")[is_set.index(True)]
        raise UsageError(
            f"{name} is about means over all queries, and over and by show other differences, corrected by measure",
            remedy=f"leave {name} out, or over and by",
        )
    overs = overs_of(asked.over)
    if not any(own_overs(measure, overs) for measure in measures):
        raise UsageError(
            f"{listed(map(str, measures))} compares two rankings of one query, and a run has no value of its own",
            remedy="name a measure, such as -m R@1000, or add --over mean",
        )


def _members(groups: Groups | None, shown: Sequence[str]) -> list[tuple[str, IntArray]]:
    return [] if groups is None else [(name, queries) for name, queries in groups.members() if name in shown]


def _parts_in(
    data: PairData,
    group: str | None,
    queries: IntArray | None,
    overs: Sequence[QueryAggregate],
    testing: Testing,
) -> Iterator[PairPart]:
    """Give the differences over all queries, or over some."""
    for over in own_overs(data.compared.measure, overs):
        if over.kind == "mean":
            yield (
                _whole_means(data.compared, over) if queries is None else _means_in(data, group, queries, over, testing)
            )
            continue
        values = data.values if queries is None else data.values[:, queries]
        pairs = compare_over(
            values, over, data.compared.a, data.compared.b, direction=data.compared.measure.direction,
            alpha=testing.alpha,
        )  # fmt: skip
        yield _of_over(pairs, group, over, testing)


def _whole_means(compared: MeasureComparison, over: QueryAggregate) -> PairPart:
    columns = compared.columns()
    return PairPart(
        group=None, over=over, differences=compared.means, num_queries=compared.num_queries, columns=columns,
        test=compared.method, correction=compared.correction,
    )  # fmt: skip


def _of_over(pairs: OverPairs, group: str | None, over: QueryAggregate, testing: Testing) -> PairPart:
    """Return the differences in another number; those of tails over all queries are tested."""
    ends = {"low": pairs.lows, "high": pairs.highs, "estimate": pairs.estimates}
    known = {name: np.where(np.isinf(end), np.nan, end) for name, end in ends.items()}  # an end may be open
    arrays: dict[str, Any] = {"queries": pairs.num_queries, **known}
    if over.kind != "tail":
        return PairPart(group, over, pairs.differences, pairs.num_queries, _columns(arrays))
    if group is not None:  # as for means, tests are about all queries
        return PairPart(
            group=group, over=over, differences=pairs.differences, num_queries=pairs.num_queries,
            columns=_columns(arrays), test=TAIL_TEST,
        )  # fmt: skip
    columns = _columns({**arrays, "p": pairs.pvalues, "p_corrected": correct(pairs.pvalues, testing.correction)})
    return PairPart(
        group=group, over=over, differences=pairs.differences, num_queries=pairs.num_queries, columns=columns,
        test=TAIL_TEST, correction=testing.correction,
    )  # fmt: skip


def _means_in(data: PairData, group: str | None, queries: IntArray, over: QueryAggregate, testing: Testing) -> PairPart:
    """Return the mean differences in a group, with the interval of each pair by itself."""
    pairs = data.differences.on(queries)
    # Only the interval is shown, and the tests by resampling have that of the t test.
    plain = replace(testing, test="auto" if testing.test == "randomization" else testing.test)
    test = run_test(plain, pairs)
    columns = _columns(
        {
            "mean": pairs.means, "wins": pairs.wins, "ties": pairs.ties, "losses": pairs.losses,
            "queries": pairs.num_queries, "low": test.lows, "high": test.highs, "estimate": test.estimates,
        }
    )  # fmt: skip
    return PairPart(
        group=group, over=over, differences=pairs.means, num_queries=pairs.num_queries, columns=columns,
        test=test.method,
    )  # fmt: skip


def _columns(arrays: Mapping[str, Any]) -> PairColumns:
    return {name: [defined(value) for value in array.tolist()] for name, array in arrays.items()}


def _with_interaction(
    parts: MeasureParts,
    data: PairData,
    groups: Groups,
    shown: Sequence[str],
    testing: Testing,
    *,
    show_progress: bool | None,
) -> MeasureParts:
    """Test whether the differences vary by group, over the groups that are shown."""
    is_shown = np.append(np.array([name in shown for name in groups.names], bool), False)  # the last: without a group
    group_of = np.where(is_shown[groups.of_query], groups.of_query, -1)
    needed = resamples_needed(len(data.differences.a), correction=testing.correction, alpha=testing.alpha)
    test = interactions(
        data.differences, group_of, num_resamples=testing.num_resamples or needed, seed=testing.seed,
        show_progress=show_progress,
    )  # fmt: skip
    return replace(parts, interaction=test, corrected=correct(test.pvalues, testing.correction))
