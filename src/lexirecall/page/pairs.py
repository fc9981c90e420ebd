"""Pairs: every two systems under one measure, in the order of a page.

Belongs here: the columns of the pair matrix.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.names import parse_preference
from lexirecall.page.findings import Findings
from lexirecall.page.rounding import rounded
from lexirecall.statistics.differences import Differences
from lexirecall.verbs.comparison import MeasureComparison
from lexirecall.verbs.rank import compared_pairs

DIGITS = 4


@dataclass(frozen=True)
class Square:
    """Turns columns over the pairs of a comparison, a before b as given, into columns over the pairs of a page."""

    a: IntArray
    b: IntArray
    places: list[int]
    """The systems, best first."""
    num_paired: int

    def column(self, forth: Any, back: Any) -> FloatArray:
        """Return a column of the page, where `forth` is said of (a, b) and `back` of (b, a); nan for other pairs."""
        size = len(self.places)
        square = np.full((size, size), np.nan)
        square[self.a, self.b], square[self.b, self.a] = forth, back
        best = self.places[: self.num_paired]
        return square[np.ix_(best, best)][np.triu_indices(len(best), 1)]


def pair_columns(findings: Findings, num_paired: int) -> dict[str, Any]:
    """Return the pairs of the first systems, a before b: mean difference, interval, p, wins, ties and losses.

    Where the interval and p are about another difference than that of the means, as with HSD of a preference, it is
    there as `tested`. With a baseline, pairs without it have means and counts, but no interval and no p.
    """
    a, b = np.triu_indices(num_paired, 1)
    comparison = findings.comparison
    columns = [] if comparison is None else [_columns(findings, each, num_paired) for each in comparison.measures]
    empty: dict[str, list[float]] = {key: [] for key in ("mean", "low", "high", "p", "wins", "ties", "losses")}
    return {"a": a.tolist(), "b": b.tolist(), "by_measure": columns or [empty for _ in findings.scores.measures]}


def _columns(findings: Findings, compared: MeasureComparison, num_paired: int) -> dict[str, Any]:
    tested = Square(compared.a, compared.b, findings.places, num_paired)
    every = _every_pair(findings, compared)
    pairs = Square(every.a, every.b, findings.places, num_paired)
    means = pairs.column(every.means, -every.means)
    responses = tested.column(compared.responses, -compared.responses)
    columns = {
        "mean": means,
        "low": tested.column(compared.lows, -compared.highs),
        "high": tested.column(compared.highs, -compared.lows),
        "p": tested.column(compared.corrected, compared.corrected),
        "wins": pairs.column(every.wins, every.losses),
        "ties": pairs.column(every.ties, every.ties),
        "losses": pairs.column(every.losses, every.wins),
    }
    if not np.allclose(np.where(np.isnan(responses), means, responses), means, atol=1e-12, equal_nan=True):
        columns["tested"] = responses
    counts = ("wins", "ties", "losses")
    return {name: rounded(column, 16 if name in counts else DIGITS) for name, column in columns.items()}


def _every_pair(findings: Findings, compared: MeasureComparison) -> MeasureComparison | Differences:
    """Return what has means and counts of every two systems; a comparison with a baseline has only those with it."""
    if findings.comparison is None or findings.comparison.baseline is None:
        return compared
    return Differences.of(compared_pairs(findings.positions, parse_preference(compared.measure), findings.policies))
