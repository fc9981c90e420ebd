"""One measure: the pairs of runs under one measure, with the test of each and what regards all of them.

Belongs here: what a comparison holds of one measure. Not here: how it comes about (compare), rows and tables
(comparison).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lexirecall.equality import FieldEquality
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.measures import Measure
from lexirecall.names import Evaluable
from lexirecall.statistics.attainable import Attainable
from lexirecall.statistics.differences import FEWEST_EFFECTIVE
from lexirecall.statistics.hsd import HSD
from lexirecall.statistics.influence import Influence
from lexirecall.statistics.paired import SIGN_TEST, PairedTests
from lexirecall.tables import defined


@dataclass(frozen=True, eq=False)
class FamilyTest(FieldEquality):
    """What is concluded from the P pairs of one measure together: it decides which pairs differ."""

    corrected: FloatArray
    """p with regard to all pairs, [P]: the p of each pair corrected, or that of a test of all pairs at once."""
    method: str
    """The test, in words."""
    correction: str
    attainable: Attainable
    """How small p can be on these queries."""
    num_resamples: int
    """How many permutations or sign patterns were tried; 0 if none."""
    layout: HSD | None
    """The responses that HSD compares; None for other tests."""
    lows: FloatArray
    """Where the intervals begin that hold all at once with the chance 1 - alpha, [P]; nan where there is none."""
    highs: FloatArray
    """Where they end, [P]."""
    scope: str
    """What is regarded together, in words; empty where nothing is decided."""


@dataclass(frozen=True, eq=False)
class Equivalence(FieldEquality):
    """Whether the two runs of each pair differ by less than a margin."""

    margin: float
    pvalues: FloatArray
    """The larger of the p of "the difference is -margin or less" and of "it is margin or more", [P]."""
    corrected: FloatArray
    """The same with regard to all pairs, [P]."""

    def verdicts(self, compared: "MeasureComparison", alpha: float) -> list[str]:
        """Return what is concluded about each pair, [P]."""
        d, is_better = f"{self.margin:g}", compared.is_significant(alpha)
        is_equivalent = self.corrected < alpha
        is_far = is_better & ((compared.family.lows > self.margin) | (compared.family.highs < -self.margin))
        verdicts = np.select(
            [is_far, is_better & is_equivalent, is_better, is_equivalent],
            [f"better by at least {d}", f"better, by less than {d}", "better", "equivalent"],
            "undecided",
        )
        return list(verdicts.tolist())


@dataclass(frozen=True, eq=False)
class MeasureComparison(FieldEquality):
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
    """On how many queries both have a value: these make the mean."""
    effects: FloatArray
    """d_z = mean / standard deviation, or for signs the probability of superiority (wins + ties/2)/n."""
    effective: FloatArray
    """The effective number of queries, min(u, 3 (sum d²)²/sum d⁴), u of them untied; nan for signs, and if all tie."""
    deviations: FloatArray
    """Standard deviation of the differences; nan below two queries."""
    num_one_sided: IntArray
    """On how many queries only one of the two has a value, and wins; then wins and losses decide, not the mean."""
    own: PairedTests
    """The test of each pair by itself: the one asked for, or that which suits the measure if all are tested at once."""
    family: FamilyTest
    withheld: BoolArray
    """Which pairs have no letter, whatever p: the test does not hold there, or contradicts the mean, [P]."""
    equivalence: Equivalence | None = None
    """Whether runs differ by less than a margin, if one is asked for."""
    influence: Influence | None = None
    """Whether letters survive without any one query; None where that is not known."""
    queries: tuple[str, ...] = ()
    """The names of the queries that `influence` knows."""

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
        with np.errstate(invalid="ignore"):
            return np.where(self.own.by_signs, (self.wins - self.losses) / self.num_compared, self.means)

    @property
    def tests(self) -> list[str]:
        """The test that decides about each pair, in words, [P]."""
        return self.own_tests if self.method == self.own.method else [self.method] * len(self.a)

    @property
    def own_tests(self) -> list[str]:
        """The test of each pair by itself, in words, [P]."""
        return [SIGN_TEST if by_signs else self.own.method for by_signs in self.own.by_signs.tolist()]

    @property
    def methods(self) -> list[str]:
        """The tests that decide about any pair, in words."""
        return sorted(set(self.tests) or {self.method}, key=lambda name: name != self.method)

    @property
    def num_compared(self) -> IntArray:
        """On how many queries it is known which of the two is better, or that they tie, [P]."""
        return self.wins + self.ties + self.losses

    @property
    def is_steady(self) -> bool:
        """Whether tests and intervals suit means of this measure; of a preference they do."""
        return not isinstance(self.measure, Measure) or self.measure.is_steady

    @property
    def rests_on_few(self) -> BoolArray:
        """For which pairs too few queries make most of the difference of their means, [P]."""
        return np.asarray((self.effective < FEWEST_EFFECTIVE) & (self.num_one_sided == 0))

    def is_significant(self, alpha: float) -> BoolArray:
        """Tell which pairs differ, [P]."""
        return np.asarray((self.corrected < alpha) & ~self.withheld)

    def better(self, num_runs: int, alpha: float) -> BoolArray:
        """Tell which run is significantly better than which, [S, S]."""
        better = np.zeros((num_runs, num_runs), bool)
        significant = self.is_significant(alpha)
        better[self.a, self.b] = significant & (self.tested > 0)
        better[self.b, self.a] = significant & (self.tested < 0)
        return better

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of rows that differ from pair to pair; None where a number is undefined."""
        layout, none = self.family.layout, np.full(len(self.a), np.nan)
        responses = (none,) * 3 if layout is None else (layout.differences, layout.lows, layout.highs)
        columns = {
            "mean": self.means, "wins": self.wins, "ties": self.ties, "losses": self.losses, "p": self.pvalues,
            "p_corrected": self.corrected, "queries": self.num_queries, "low": self.lows, "high": self.highs,
            "effect": self.effects, **dict(zip(("response", "response_low", "response_high"), responses, strict=True)),
            "effective": self.effective, "estimate": self.own.estimates,
            "low_all": self.family.lows, "high_all": self.family.highs,
        }  # fmt: skip
        numbers = {name: [defined(value) for value in column.tolist()] for name, column in columns.items()}
        return {**numbers, **self._influences(), "test": self.tests}

    def _influences(self) -> dict[str, list[Any]]:
        """Return whether each letter survives without any one query, and without which one p is largest if not."""
        none: list[Any] = [None] * len(self.a)
        if (found := self.influence) is None:
            return {"survives": none, "influence": none}
        survives = [bool(k == 0) if asked else None for k, asked in zip(found.num_turning, found.is_asked, strict=True)]
        names = [self.queries[q] if s is False else None for s, q in zip(survives, found.worst.tolist(), strict=True)]
        return {"survives": survives, "influence": names}

    def equivalences(self, alpha: float) -> dict[str, list[Any]]:
        """Return the columns of rows that say whether runs differ by less than a margin, if one is asked for."""
        if (asked := self.equivalence) is None:
            return {}
        numbers = {"p_eq": asked.pvalues, "p_eq_corrected": asked.corrected}
        columns = {name: [defined(value) for value in column.tolist()] for name, column in numbers.items()}
        return {**columns, "verdict": asked.verdicts(self, alpha)}
