"""Compared: the pairs of runs under one measure, with the test of each and what regards all of them.

Belongs here: what a comparison holds of one measure. Not here: how it comes about (compare), rows and tables
(comparison).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.names import Evaluable
from lexirecall.statistics.attainable import Attainable
from lexirecall.statistics.hsd import HSD
from lexirecall.statistics.paired import PairedTests
from lexirecall.tables import defined


@dataclass(frozen=True, eq=False)
class FamilyTest:
    """What is concluded from the P pairs of one measure together: it decides which pairs differ."""

    corrected: FloatArray
    """p with regard to all pairs, [P]: the p of each pair corrected, or that of a test of all pairs at once."""
    method: str
    """The test, in words."""
    correction: str
    attainable: Attainable
    """How small p can be on these queries."""
    num_resamples: int = 0
    """How many permutations or sign patterns were tried; 0 if none."""
    layout: HSD | None = None
    """The responses that HSD compares; None for other tests."""


@dataclass(frozen=True, eq=False)
class MeasureComparison:
    """Every pair of runs under one measure or preference; the arrays have one entry for each pair."""

    measure: Evaluable
    a: IntArray
    """Index of the first run."""
    b: IntArray
    """Index of the second, which comes after it."""
    means: FloatArray
    """Mean difference, or mean preference; positive if the first is better, whatever the direction of the measure."""
    wins: IntArray
    ties: IntArray
    losses: IntArray
    num_queries: IntArray
    effects: FloatArray
    """d_z = mean / standard deviation, or for signs the probability of superiority (wins + ties/2)/n."""
    effective: FloatArray
    """The effective number of queries, min(n, 3 (sum d²)²/sum d⁴); nan for the sign test, and if all tie."""
    deviations: FloatArray
    """Standard deviation of the differences; nan below two queries."""
    own: PairedTests
    """The test of each pair by itself: the one asked for, or that which suits the measure if all are tested at once."""
    family: FamilyTest

    @property
    def pvalues(self) -> FloatArray:
        """The p of each pair by itself."""
        return self.own.pvalues

    @property
    def lows(self) -> FloatArray:
        """Lower end of the confidence interval of each pair by itself, on the scale of the mean."""
        return self.own.lows

    @property
    def highs(self) -> FloatArray:
        """Upper end of that interval."""
        return self.own.highs

    @property
    def corrected(self) -> FloatArray:
        """The p of each pair with regard to all pairs, which decides."""
        return self.family.corrected

    @property
    def method(self) -> str:
        """The test that decides, in words."""
        return self.family.method

    @property
    def correction(self) -> str:
        """How p is corrected for the number of pairs."""
        return self.family.correction

    @property
    def num_left_out(self) -> int:
        """How many queries are not in the layout of HSD, because some run has no value there."""
        return self.family.layout.num_left_out if self.family.layout else 0

    @cached_property
    def tested(self) -> FloatArray:
        """The difference that decides who is better: of responses with HSD, of wins and losses with the sign test."""
        if self.family.layout:
            return self.family.layout.differences
        if self.method.startswith("sign test"):
            with np.errstate(invalid="ignore"):
                return np.asarray((self.wins - self.losses) / self.num_queries)
        return self.means

    def is_significant(self, alpha: float) -> BoolArray:
        """Tell which pairs differ, [P]."""
        return np.asarray(self.corrected < alpha)

    def better(self, num_systems: int, alpha: float) -> BoolArray:
        """Tell which run is significantly better than which, [S, S]."""
        better = np.zeros((num_systems, num_systems), bool)
        significant = self.is_significant(alpha)
        better[self.a, self.b] = significant & (self.tested > 0)
        better[self.b, self.a] = significant & (self.tested < 0)
        return better

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of rows that hold a number for each pair; None where it is undefined."""
        layout, none = self.family.layout, np.full(len(self.a), np.nan)
        responses = (none,) * 3 if layout is None else (layout.differences, layout.lows, layout.highs)
        columns = {
            "mean": self.means, "wins": self.wins, "ties": self.ties, "losses": self.losses, "p": self.pvalues,
            "p_corrected": self.corrected, "queries": self.num_queries, "low": self.lows, "high": self.highs,
            "effect": self.effects, **dict(zip(("response", "response_low", "response_high"), responses, strict=True)),
            "effective": self.effective, "estimate": self.own.estimates,
        }  # fmt: skip
        return {name: [defined(value) for value in column.tolist()] for name, column in columns.items()}
