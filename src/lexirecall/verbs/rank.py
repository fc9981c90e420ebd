"""Rank: one order of runs, from the preferences between each pair of them, or from their values.

Belongs here: the verb and its result. Not here: the methods (statistics.aggregate), layout (tables).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexirecall.aggregation import Resampling
from lexirecall.errors import DataError, UsageError, counted, listed
from lexirecall.fields import taken, takes
from lexirecall.formats import Qrels, Runs
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.manifest import READING, Note, Policies
from lexirecall.measures import Measure
from lexirecall.names import Evaluable, parse_preference
from lexirecall.positions import Positions
from lexirecall.preferences import Preference, preference_of
from lexirecall.preferences.contrasts import Contrasts
from lexirecall.preferences.pairs import win_rates
from lexirecall.statistics.aggregate import METHODS, Order, check_method, most_runs, order_runs
from lexirecall.statistics.binomial import sign_pvalues
from lexirecall.statistics.bootstrap import ResampledOrder, bootstrap_order, check_resampled, significant_ranks
from lexirecall.statistics.corrections import correct
from lexirecall.statistics.leximin import LEXIMIN, deciding_query, order_by_leximin, worst_first
from lexirecall.tables import Table, defined, number, whole
from lexirecall.verbs.averages import end_of, with_interval
from lexirecall.verbs.conversion import ColumnValues, Convertible, columns_of
from lexirecall.verbs.evaluate import QueryValues, scores_of
from lexirecall.verbs.intervals import Intervals
from lexirecall.verbs.printable import Printable
from lexirecall.verbs.resamples import ENDS, check_bootstrap, on_order, resamples
from lexirecall.verbs.subject import num_given, positions_of

_COLUMNS = ("run", "rank", "score")
_RANKS = ("rank_low", "rank_high", "best_rank", "worst_rank")
_RESAMPLED = (*ENDS, "first", *_RANKS)
_ALPHA = 0.05


@takes(Resampling, Policies, *READING, warns=True)
def rank(
    qrels: Qrels | Positions,
    runs: Runs | None = None,
    preference: str | Evaluable = "LexiRecall",
    *,
    method: str = "winrate",
    **options: Any,
) -> "Ranking":
    """Put runs in one order, from a preference between each pair of them on each query.

    `preference` is LexiRecall, LexiPrecision, RPP or any measure. `method` is winrate, borda, copeland, mc4, for up to
    30 runs kemeny, or leximin, which needs a measure and compares the runs' sorted values, the worst first. Runs that
    the method cannot tell apart share a rank. `bootstrap` is how often to resample the queries, from `seed`, and to
    order the runs again by winrate, borda or copeland. The other arguments are those of `evaluate`.

    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
    >>> runs = {"old": {"q1": ["b"], "q2": ["c"]}, "new": {"q1": ["a", "b"], "q2": ["c"]}, "same": {"q1": ["a", "b"]}}
    >>> print(rank(qrels, runs, method="copeland"))
    run   rank  pairs won
    new      1        2.0
    old      2        0.5
    same     2        0.5
    note: judged queries that a run does not answer (of 2: same 1) count as the worst case, nothing retrieved \
(--queries intersection leaves them out)
    """
    policies, resampling, row = taken(Policies, options), taken(Resampling, options), parse_preference(preference)
    check_bootstrap(resampling, _ALPHA)
    if resampling.bootstrap is not None:
        check_resampled(method)
    _check_number(num_given(qrels, runs, options, most_runs(method)), method)
    _check_measure(row, method)
    positions = positions_of(qrels, runs, [row], options)
    _check_number(len(positions.runs), method)
    scores, _ = scores_of(positions, [row.measure or row], policies)
    if row.measure is not None and method == LEXIMIN:
        order, on_leximin = _by_leximin(positions, row.measure, policies)
        return Ranking(positions.runs, str(row), order, (*scores.notes, *on_leximin), positions.frame_library)
    pairs = contrasted(positions, row, policies)
    show_progress = options.get("show_progress", False)
    order = order_runs(pairs, method, show_progress=show_progress)
    resampled = _resampled(pairs, row, method, resampling, show_progress=show_progress)
    notes = (*scores.notes, *_not_compared(pairs), *_in_cycles(pairs, order), *_on_certainty(resampled))
    return Ranking(
        runs=positions.runs, preference=str(row), order=order, notes=notes, frame_library=positions.frame_library,
        resampled=resampled,
    )  # fmt: skip


def _check_measure(row: Preference, method: str) -> None:
    """Raise if the method compares values and a preference has none."""
    if method == LEXIMIN and row.measure is None:
        raise UsageError(
            f"leximin compares the values of a measure on all queries, and {row} compares two rankings of one query",
            remedy="name a measure, such as -m R@1000, or preference='R@1000' in Python",
        )


def _by_leximin(positions: Positions, measure: Measure, policies: Policies) -> tuple[Order, Iterator[Note]]:
    """Order the runs by their sorted values on the queries that all runs have, and say what was left out."""
    values = QueryValues.of(positions, [measure], policies).placed[:, :, 0]
    is_common = ~np.isnan(values).any(axis=0)
    if not is_common.any():
        raise DataError(
            f"no query has a value of {measure} for every run, and leximin compares the runs on the same queries",
            remedy="leave out runs, or choose --method winrate",
        )
    num_partial = int((~np.isnan(values)).any(axis=0).sum() - is_common.sum())
    common = values[:, is_common]
    return order_by_leximin(common, measure.direction), _on_leximin(common, measure, num_partial)


def _on_leximin(values: FloatArray, measure: Measure, num_partial: int) -> Iterator[Note]:
    """Say which values leximin compares, and how far into them it looks."""
    if num_partial:
        text = f"{counted(num_partial, 'query')} on which some run has no value: left out of leximin"
        yield Note("not common", text, num_partial)
    if total := int(np.isinf(values).sum()):
        text = f"values that are undefined because a document was not retrieved ({total:,}): the worst under leximin"
        yield Note("infinitely deep", text, total)
    places = worst_first(values, measure.direction)
    if num_equal := int((places[:, 0] == places[:, 0].max()).sum() - 1):
        text = (
            f"{counted(num_equal + 1, 'run')} have the same worst value, and the next worst queries decide; "
            f"the order is complete after the {deciding_query(places):,} worst of {counted(values.shape[1], 'query')}"
        )
        yield Note("equal worst", text, num_equal + 1)


@dataclass(frozen=True, eq=False)
class RankCertainty:
    """How certain an order of S runs is."""

    order: ResampledOrder
    """What becomes of it in resamples of the queries."""
    win_rates: Intervals | None
    """The intervals of the scores, which only win rates have."""
    tested: tuple[IntArray, IntArray]
    """The best and the worst rank that sign tests of all pairs leave to each run, by Holm, [S]."""

    @property
    def columns(self) -> tuple[Iterable[Any], ...]:
        """What rows say of each run, in the order of their columns."""
        none = [None] * len(self.order.first)
        rates = self.win_rates
        ends = (none, none) if rates is None else (map(end_of, end[:, 0].tolist()) for end in (rates.lows, rates.highs))
        ranks = (self.order.first, self.order.rank_lows, self.order.rank_highs, *self.tested)
        return (*ends, *(column.tolist() for column in ranks))


def _resampled(
    pairs: Contrasts, row: Preference, method: str, resampling: Resampling, *, show_progress: bool | None
) -> RankCertainty | None:
    if resampling.bootstrap is None:
        return None
    order = bootstrap_order(
        pairs,
        method,
        num_resamples=resampling.bootstrap,
        seed=resampling.seed,
        alpha=_ALPHA,
        show_progress=show_progress,
    )
    rates = None
    if method == "winrate":
        values = win_rates(pairs.blocks(), pairs.taking_part)[:, :, None]
        rates = Intervals.of(values, [row], resampling, alpha=_ALPHA, show_progress=show_progress)
    return RankCertainty(order, rates, _tested_ranks(pairs))


def _tested_ranks(pairs: Contrasts) -> tuple[IntArray, IntArray]:
    wins = pairs.wins
    a, b = np.triu_indices(len(wins), 1)
    is_better = np.zeros(wins.shape, bool)
    is_significant = correct(sign_pvalues(wins[a, b], wins[b, a]), "holm") < _ALPHA
    is_better[a, b] = is_significant & (wins[a, b] > wins[b, a])
    is_better[b, a] = is_significant & (wins[b, a] > wins[a, b])
    return significant_ranks(is_better)


def _on_certainty(certainty: RankCertainty | None) -> Iterator[Note]:
    if certainty is None:
        return
    if certainty.win_rates is None:
        text = f"no interval of the score: only a win rate has one that holds ({METHODS['winrate'].title})"
        yield Note("no interval of the score", text, 1)
    else:
        yield from certainty.win_rates.notes


def _check_number(num_runs: int | None, method: str) -> None:
    if num_runs is None:
        return
    check_method(method, num_runs)
    if num_runs < 2:
        raise UsageError("there is only one run, and nothing to rank it against", remedy="give two or more runs")


def contrasted(positions: Positions, row: Evaluable, policies: Policies) -> Contrasts:
    """Return what compares any pair of runs on the queries that count under these policies.

    Queries without relevant documents are ties, if they count; they do where higher is better.

    >>> from lexirecall import parse_measure, project
    >>> positions = project({"q": {"a": 1}, "r": {"a": 0}}, {"x": {"q": ["a"]}, "y": {"q": ["b"]}})
    >>> pairs = contrasted(positions, parse_measure("AP"), Policies(no_relevant="zero"))
    >>> pairs.wins.tolist(), pairs.num_queries.tolist()
    ([[0, 1], [0, 0]], [[2, 2], [2, 2]])
    """
    preference = preference_of(row) if isinstance(row, Measure) else row
    projection = positions.at_level(preference.level(policies.level))
    return preference.contrasts(projection, policies.counted(positions, preference), with_empty=True)


def _not_compared(pairs: Contrasts) -> Iterator[Note]:
    first, second = np.nonzero(np.triu(pairs.num_queries == 0, 1))
    if total := len(first):
        names = listed((f"{pairs.runs[a]} and {pairs.runs[b]}" for a, b in zip(first, second, strict=True)), 3)
        text = f"{counted(total, 'pair')} of runs without a common query ({names}): counted as tied"
        yield Note("not compared", text, total)


def _in_cycles(pairs: Contrasts, order: Order) -> Iterator[Note]:
    """Name the cycles, with the queries that are won and lost at each step."""
    if total := len(order.cycles):
        wins = pairs.wins
        steps = [[f"{wins[a, b]}:{wins[b, a]}" for a, b in _around(cycle)] for cycle in order.cycles]
        which = [
            f"{' > '.join(_shortened([pairs.runs[s] for s in (*cycle, cycle[0])]))} ({listed(counts)} queries)"
            for cycle, counts in zip(order.cycles, steps, strict=True)
        ]
        has = "a cycle" if total == 1 else f"{total:,} cycles"
        yield Note("cycle", f"the majority has {has}: {listed(which, 3)}", total)


def _around(cycle: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    return zip(cycle, (*cycle[1:], cycle[0]), strict=True)


def _shortened(names: list[str], most: int = 6) -> list[str]:
    """Leave out the middle of a long cycle.

    >>> _shortened(list("abcdefgha"))
    ['a', 'b', 'c', 'd', 'e', '…', 'a']
    """
    return names if len(names) <= most + 1 else [*names[: most - 1], "…", names[-1]]


@dataclass(frozen=True, eq=False)
class Ranking(Printable, Convertible):
    """An order of runs, which prints and converts itself.

    >>> ranking = rank({"q": {"a": 1}}, {"x": {"q": ["b", "a"]}, "y": {"q": ["a"]}})
    >>> list(ranking.rows())
    [{'run': 'y', 'rank': 1, 'score': 1.0}, {'run': 'x', 'rank': 2, 'score': 0.0}]
    """

    runs: tuple[str, ...]
    """The runs in the order given, which is that of `order`'s arrays."""
    preference: str
    order: Order
    notes: tuple[Note, ...]
    frame_library: str = ""
    resampled: RankCertainty | None = None
    """How certain the order is, if resamples of the queries are asked for."""

    @property
    def method(self) -> str:
        """How the runs were put in order."""
        return self.order.method

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give run, rank and score of each run, best first; equal ones in the order given. None if it is undefined.

        If the queries were resampled, also the interval of a win rate (low, high), the share of the resamples in which
        the run is first, the resampling range of its rank (rank_low, rank_high), and the best and the worst rank that
        sign tests of all pairs leave to it (best_rank, worst_rank).
        """
        certainty = [] if self.resampled is None else list(zip(*self.resampled.columns, strict=True))
        scores, ranks = [defined(score) for score in self.order.scores.tolist()], self.order.ranks.tolist()
        for s in self.order.best_first:
            more = dict(zip(_RESAMPLED, certainty[s], strict=True)) if certainty else {}
            yield {"run": self.runs[s], "rank": ranks[s], "score": scores[s], **more}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the rows."""
        return _COLUMNS if self.resampled is None else (*_COLUMNS, *_RESAMPLED)

    def _conversion(self) -> tuple[ColumnValues, str]:
        return columns_of(self.rows(), self.columns), self.frame_library

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return {run: {"rank": rank, "score": score}}, best first, with what the rows have in addition."""
        return {row.pop("run"): row for row in self.rows()}

    def table(self) -> Table:
        """Lay the order out, best first; the best is emphasized, unless all are."""
        rows = list(self.rows())
        best = frozenset((r, 2) for r, row in enumerate(rows) if row["rank"] == 1 and rows[-1]["rank"] > 1)
        header = ("run", "rank", METHODS[self.method].title)
        if self.resampled is None:
            return Table(header, tuple(map(self._cells, rows)), best=best)
        cells, footnote = tuple(map(self._resampled_cells, rows)), _on_resamples(self.resampled)
        columns = (*header, "first", "resampling range", "ranks by tests")
        return Table(columns, cells, best=best, footnote=footnote)

    def _pictured(self) -> object:
        return self

    def _cells(self, row: dict[str, Any]) -> tuple[str, ...]:
        score = np.nan if row["score"] is None else row["score"]
        return row["run"], whole(row["rank"]), number(score, METHODS[self.method].decimals)

    def _resampled_cells(self, row: dict[str, Any]) -> tuple[str, ...]:
        run, place, score = self._cells(row)
        low, high = (number(np.nan if row[end] is None else row[end], METHODS[self.method].decimals) for end in ENDS)
        places = (f"{row[low]} to {row[high]}" for low, high in (_RANKS[:2], _RANKS[2:]))
        return run, place, with_interval(score, low, high), number(row["first"], 3), *places


def _on_resamples(certainty: RankCertainty) -> str:
    """Return what is written below a table of an order that was resampled."""
    order = certainty.order
    says = (
        "" if certainty.win_rates is None else certainty.win_rates.footnote,
        f"{on_order(order.alpha)} {resamples(order.num_resamples, order.seed)}",
        "ranks by tests: 1 + the runs that are significantly better, to all but those that are worse (sign test, Holm)",
    )
    return "; ".join(filter(None, says))
