"""Pairs: each pair of runs under one measure, in the order of a page.

Belongs here: the columns of the pair matrix.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lexirecall.judgments import FloatArray, IntArray
from lexirecall.page.findings import Findings
from lexirecall.page.rounding import rounded
from lexirecall.statistics.portions import PortionedPairs
from lexirecall.verbs.measurecomparison import MeasureComparison
from lexirecall.verbs.rank import contrasted

DIGITS = 4
_COUNTS = ("wins", "ties", "losses")


@dataclass(frozen=True)
class Square:
    """Turns columns over the pairs of a comparison, a before b as given, into columns over the pairs of a page."""

    a: IntArray
    b: IntArray
    places: list[int]
    """The runs, best first."""
    num_paired: int

    def column(self, forth: Any, back: Any) -> FloatArray:
        """Return a column of the page, with `forth` for (a, b) and `back` for (b, a); nan for other pairs."""
        size = len(self.places)
        square = np.full((size, size), np.nan)
        square[self.a, self.b], square[self.b, self.a] = forth, back
        best = self.places[: self.num_paired]
        return square[np.ix_(best, best)][np.triu_indices(len(best), 1)]


def pair_columns(findings: Findings, num_paired: int) -> dict[str, Any]:
    """Return the pairs of the first runs, a before b: mean difference, interval, p, wins, ties and losses.

    `p` and the interval regard all pairs, `p_raw` this pair alone. Without a letter a small p is left out.
    HSD adds the difference of responses, which its p is about, with its interval. With a baseline, pairs without it
    have means and counts, but no interval and no p.
    """
    a, b = np.triu_indices(num_paired, 1)
    comparison = findings.comparison
    measures = () if comparison is None else comparison.measures
    columns = [_columns(findings, compared, num_paired) for compared in measures]
    empty: dict[str, list[float]] = {key: [] for key in ("mean", "low", "high", "p", "p_raw", *_COUNTS)}
    return {"a": a.tolist(), "b": b.tolist(), "by_measure": columns or [empty for _ in findings.scores.measures]}


def _columns(findings: Findings, compared: MeasureComparison, num_paired: int) -> dict[str, Any]:
    tested = Square(compared.a, compared.b, findings.places, num_paired)
    every = _every_pair(findings, compared)
    pairs = Square(every.a, every.b, findings.places, num_paired)
    is_withheld = compared.withheld & (compared.corrected < findings.testing.alpha)
    decisive = np.where(is_withheld, np.nan, compared.corrected)
    columns = {
        "mean": pairs.column(every.means, -every.means),
        "low": tested.column(compared.family.lows, -compared.family.highs),
        "high": tested.column(compared.family.highs, -compared.family.lows),
        "p": tested.column(decisive, decisive),
        "p_raw": tested.column(compared.pvalues, compared.pvalues),
        "wins": pairs.column(every.wins, every.losses),
        "ties": pairs.column(every.ties, every.ties),
        "losses": pairs.column(every.losses, every.wins),
    }
    if layout := compared.family.layout:
        columns["response"] = tested.column(layout.differences, -layout.differences)
        columns["response_low"] = tested.column(layout.lows, -layout.highs)
        columns["response_high"] = tested.column(layout.highs, -layout.lows)
    short = {name: rounded(column, 16 if name in _COUNTS else DIGITS) for name, column in columns.items()}
    return short | {"p": _on_its_side(columns["p"], short["p"], findings.testing.alpha)}


def _on_its_side(pvalues: FloatArray, short: list[Any], alpha: float) -> list[Any]:
    """Keep all digits of a p that rounding would move across alpha: 0.049999 is not 0.05.

    >>> _on_its_side(np.array([0.049999, 0.012345]), [0.05, 0.01234], 0.05)
    [0.049999, 0.01234]
    """
    pairs = zip(pvalues.tolist(), short, strict=True)
    return [p if near is not None and (p < alpha) != (near < alpha) else near for p, near in pairs]


def _every_pair(findings: Findings, compared: MeasureComparison) -> MeasureComparison | PortionedPairs:
    """Return means and counts of each pair of runs; a comparison with a baseline has only pairs with it."""
    if findings.comparison is None or not findings.comparison.baselines:
        return compared
    return PortionedPairs.of(contrasted(findings.positions, compared.measure, findings.policies))
