"""Intervals: between which ends the numbers of one run over queries are likely to be, over other queries.

Belongs here: which number has an interval by which method, and what is said about it. Not here: the methods
(statistics), the numbers (averages, breakdown).

A number has an interval only where the method holds what it says on values of real runs: on fewer queries, and for
means of TSE, none does. It is cut to what the measure can be.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lexirecall.aggregation import Resampling
from lexirecall.equality import FieldEquality
from lexirecall.errors import listed
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.manifest import Note
from lexirecall.measures import Measure
from lexirecall.measures.providers import WORST_PROVIDER_OVERALL
from lexirecall.names import Evaluable
from lexirecall.preferences import Preference
from lexirecall.statistics.hall import FEWEST, mean_intervals
from lexirecall.statistics.proportions import preference_interval
from lexirecall.statistics.queryaggregate import FEWEST_IN_TAIL, QueryAggregate, quantile_intervals
from lexirecall.statistics.studentized import NUM_RESAMPLES, studentized_intervals
from lexirecall.verbs.resamples import resamples
from lexirecall.verbs.shares import SHARE, footnote_of, share_ends

MEAN = QueryAggregate("mean", "mean")
Ends = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class Intervals(FieldEquality):
    """The intervals of one number over queries, of S runs × M measures."""

    lows: FloatArray
    """[S, M]; nan where there is no interval, infinite where it has no end."""
    highs: FloatArray
    methods: tuple[str, ...]
    """Of each measure, by which method: a phrase, empty if there is none."""
    alpha: float
    notes: tuple[Note, ...] = ()

    @classmethod
    def of(
        cls,
        values: FloatArray,
        measures: Sequence[Evaluable],
        asked: Resampling,
        *,
        over: QueryAggregate = MEAN,
        alpha: float = 0.05,
        show_progress: bool | None = False,
    ) -> "Intervals":
        """Return the intervals of values, [S, Q, M]; of means that are shares of queries also if none are asked for.

        >>> from lexirecall.measures import AP
        >>> values = np.array([0.0, 0.0, 0.0, 0.1, 0.1, 0.2, 0.3, 0.9]).reshape(1, 8, 1)
        >>> made = Intervals.of(values, [AP], Resampling(bootstrap=999))
        >>> made.lows.round(3).tolist(), made.highs.round(3).tolist()
        ([[0.034]], [[0.86]])
        >>> made.footnote
        '[low, high]: 95 % interval of a mean, by the studentized bootstrap (999 resamples of the queries, seed 0)'
        """
        if over.kind == "mean":  # only a mean leaves undefined values out: elsewhere they count as infinitely deep
            values = np.where(np.isinf(values), np.nan, values)
        kinds = [_kind(row, values[:, :, c], over, asked) for c, row in enumerate(measures)]
        lows, highs = np.full((2, len(values), len(measures)), np.nan)
        for kind in sorted({*kinds} & _METHODS.keys()):
            which = [c for c, name in enumerate(kinds) if name == kind]
            directions = np.repeat([measures[c].direction for c in which], len(values))
            columns = values[:, :, which].transpose(1, 2, 0).reshape(values.shape[1], -1)
            question = _Question(
                over=over, directions=directions, num_runs=len(values), asked=asked, alpha=alpha,
                show_progress=show_progress,
            )  # fmt: skip
            ends = _METHODS[kind](columns, question)
            for bounds, end in zip((lows, highs), ends, strict=True):
                bounds[:, which] = end.reshape(len(which), len(values)).T
        least, most = _limits(values, measures)
        lows, highs = np.clip(lows, least, most), np.clip(highs, least, most)
        methods = tuple(_phrase(kind, over, row, asked) for kind, row in zip(kinds, measures, strict=True))
        notes = tuple(_notes(values, measures, kinds, lows, over)) if asked.has_intervals else ()
        return cls(lows, highs, methods, alpha, notes)

    def in_order(self, order: IntArray) -> "Intervals":
        """Return the intervals with the runs in another order."""
        return replace(self, lows=self.lows[order], highs=self.highs[order])

    @property
    def footnote(self) -> str:
        """What the brackets of a table mean."""
        return footnote_of(self.phrases, self.alpha)

    @property
    def phrases(self) -> list[str]:
        """The methods of the intervals that there are."""
        return [phrase for phrase, lows in zip(self.methods, self.lows.T, strict=True) if not np.isnan(lows).all()]


@dataclass(frozen=True, slots=True)
class _Question:
    """What intervals of some columns are asked for."""

    over: QueryAggregate
    directions: IntArray
    """Of each column."""
    num_runs: int
    asked: Resampling
    alpha: float
    show_progress: bool | None


def _by_hall(values: FloatArray, asked: _Question) -> Ends:
    return mean_intervals(values, alpha=asked.alpha)


def _by_t(values: FloatArray, asked: _Question) -> Ends:
    return mean_intervals(values, alpha=asked.alpha, is_skewed=False)


def _by_share(values: FloatArray, asked: _Question) -> Ends:
    counts = (~np.isnan(values)).sum(axis=0)
    means = np.nansum(values, axis=0) / np.maximum(counts, 1)
    return share_ends(means, counts, np.ones(len(counts), bool), alpha=asked.alpha)


def _by_tango(values: FloatArray, asked: _Question) -> Ends:
    """Return the ends of win rates against one other run, (1 + d)/2 with d = (wins - losses)/queries."""
    wins, losses, counts = ((is_so).sum(axis=0) for is_so in (values == 1, values == 0, ~np.isnan(values)))
    low, high = preference_interval(wins, losses, counts, alpha=asked.alpha)
    return (1 + low) / 2, (1 + high) / 2


def _by_order(values: FloatArray, asked: _Question) -> Ends:
    return quantile_intervals(values, asked.over, alpha=asked.alpha)


def _by_resamples(values: FloatArray, asked: _Question) -> Ends:
    lows, highs = studentized_intervals(
        asked.directions * values, asked.over, num_resamples=asked.asked.bootstrap or NUM_RESAMPLES,
        seed=asked.asked.seed, alpha=asked.alpha, show_progress=asked.show_progress,
    )  # fmt: skip
    # Values were negated where less is better: there the interval is turned back, and its ends change places.
    is_mirrored = asked.directions < 0
    return np.where(is_mirrored, -highs, lows), np.where(is_mirrored, -lows, highs)


_METHODS: dict[str, Callable[[FloatArray, _Question], Ends]] = {
    "hall": _by_hall, "t": _by_t, "share": _by_share, "tango": _by_tango, "order": _by_order,
    "resamples": _by_resamples,
}  # fmt: skip
_WHY = {
    "sum": "a sum over queries has no interval: {}",
    "minimum": "a minimum has no interval: {}",
    "rare": "no method gives this mean an interval that holds (--over median has one): {}",
    "few": f"no interval of a mean of fewer than {FEWEST} queries: {{}}",
    "few in the tail": f"no interval of a tail of fewer than {FEWEST_IN_TAIL} queries (a larger share has one): {{}}",
    "equal": "no interval where the values that decide are all equal: {}",
    "undefined": "no interval of a number that is undefined: {}",
    "too few for a quantile": "no interval of a quantile of so few queries: {}",
}
"""Why a number has no interval."""


def _kind(row: Evaluable, values: FloatArray, over: QueryAggregate, asked: Resampling) -> str:
    """Return the method for one measure, [S, Q], or why there is none; "" if nothing is asked for."""
    is_mean, is_rate = over.kind == "mean", isinstance(row, Preference)
    rules = (
        (is_mean and row.is_share and _are_among(values, (0, 1)), "share"),
        (not asked.has_intervals, ""),
        (over.kind == "min" or _is_like(row, WORST_PROVIDER_OVERALL), "minimum"),
        (over.kind == "tail", "resamples"),
        (not is_mean, "order"),
        (is_rate and len(values) == 2 and _are_among(values, (0, 0.5, 1)), "tango"),
        (row.total == "sum", "sum"),
        (isinstance(row, Measure) and not row.is_steady, "rare"),
        (asked.bootstrap is not None, "resamples"),
        (is_rate, "t"),
    )
    return next((kind for is_so, kind in rules if is_so), "hall")


def _is_like(row: Evaluable, known: Measure) -> bool:
    """Tell whether it is a measure of the table, whatever its settings."""
    return isinstance(row, Measure) and row.formulas == known.formulas


def _are_among(values: FloatArray, few: Sequence[float]) -> bool:
    """Tell whether there are no other values: over all orders of tied documents there are."""
    return bool((np.isnan(values) | np.isin(values, few)).all())


def _limits(values: FloatArray, measures: Sequence[Evaluable]) -> Ends:
    """Return what measures can be, [M]; nothing limits one whose values are beyond the limits that it states."""
    stated = [row.limits if isinstance(row, Measure) else (0, 1) for row in measures]
    least, most = np.array(stated, float).T
    finite = np.where(np.isfinite(values), values, least)
    return (
        np.where((finite < least).any(axis=(0, 1)), -np.inf, least),
        np.where((np.maximum(finite, least) > most).any(axis=(0, 1)), np.inf, most),
    )


def _phrase(kind: str, over: QueryAggregate, row: Evaluable, asked: Resampling) -> str:
    what = "tail" if over.kind == "tail" else "win rate" if isinstance(row, Preference) else "mean"
    return {
        "hall": "of a mean, by Hall's transformation of t",
        "t": "of a win rate, by t over the queries",
        "share": SHARE,
        "tango": "of a win rate, by Tango's score test",
        "order": f"of a {over.kind}, by order statistics",
        "resamples": f"of a {what}, by the studentized bootstrap "
        + resamples(asked.bootstrap or NUM_RESAMPLES, asked.seed),
    }.get(kind, "")


def _notes(
    values: FloatArray, measures: Sequence[Evaluable], kinds: Sequence[str], lows: FloatArray, over: QueryAggregate
) -> Iterator[Note]:
    """Say which numbers have no interval, and why: one sentence for each reason."""
    names: dict[str, list[str]] = {}
    for c, (row, kind) in enumerate(zip(measures, kinds, strict=True)):
        without = [run_values for run_values, low in zip(values[:, :, c], lows[:, c], strict=True) if np.isnan(low)]
        reasons = (_why(run_values, kind, over) for run_values in without if not np.isnan(run_values).all())
        why = kind if kind in _WHY else next(reasons, "")
        if why and without:
            names.setdefault(why, []).append(str(row) if over.kind == "mean" else f"{over} {row}")
    for why, which in names.items():
        yield Note("no interval", _WHY[why].format(listed(which, 9)), len(which))


def _why(values: FloatArray, kind: str, over: QueryAggregate) -> str:
    """Return why one run has no interval by a method that others may have."""
    n = int((~np.isnan(values)).sum())
    if kind == "order":
        return "too few for a quantile"
    if np.isinf(values).any():
        return "undefined"
    if over.kind == "tail" and over.num_of(n) < FEWEST_IN_TAIL:
        return "few in the tail"
    return "few" if n < FEWEST else "equal"
