"""Testing: how pairs of runs are tested.

Belongs here: the record of these options, and the test that they name. Not here: the tests themselves (statistics),
what is done with them (compare).
"""

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from lexirecall.aggregation import Resampling
from lexirecall.errors import UsageError
from lexirecall.fields import check_choices, option
from lexirecall.judgments import BoolArray, FloatArray
from lexirecall.manifest import MOST_RESAMPLES
from lexirecall.measures.measure import ask
from lexirecall.statistics.attainable import MAX_T_OF_VALUES
from lexirecall.statistics.corrections import CORRECTIONS
from lexirecall.statistics.hsd import LAYOUTS
from lexirecall.statistics.maxt import MAX_T
from lexirecall.statistics.paired import SIGN_TEST_TIES, TESTS, PairedTests, default_test, intervals
from lexirecall.statistics.portions import PairDifferences


@dataclass(frozen=True, slots=True)
class Testing(Resampling):
    """How pairs of runs are tested."""

    test: str = field(
        default="auto",
        metadata=option(
            "auto: the paired t test, and the sign test for lexicographic preferences, for shares of queries and for "
            "pairs of runs that only a few queries tell apart.",
            choices=("auto", *TESTS, *LAYOUTS, MAX_T),
        ),
    )
    correction: str = field(
        default="holm",
        metadata=option(
            "Correction for the many pairs of one measure; max-t and hsd need none.", choices=tuple(CORRECTIONS)
        ),
    )
    alpha: float = field(default=0.05, metadata=option("Significance level.", "number"))
    num_resamples: int | None = field(
        default=None,
        metadata=option(
            "How many resamples to draw. By default 10,000, or as many as randomization needs for the correction.",
            "whole",
            least=1,
            most=MOST_RESAMPLES,
            flag="resamples",
        ),
    )
    test_ties: str = field(
        default="drop",
        metadata=option("Tied queries in the sign test: left out, or half for each side.", choices=SIGN_TEST_TIES),
    )

    family: str = field(
        default="each",
        metadata=option(
            "What p is corrected over: the pairs under each measure by itself, or those under all measures together.",
            choices=("each", "measures"),
        ),
    )
    primary: str | None = field(
        default=None,
        metadata=option("The one measure that is decided about. The others are shown, without letters.", "text"),
    )
    margin: float | None = field(
        default=None,
        metadata=option(
            "The largest difference that does not matter: say which runs differ by less, and which by more.", "number"
        ),
    )

    __test__ = False  # pytest would take it for a class of tests

    def __post_init__(self) -> None:
        Resampling.__post_init__(self)  # super() does not find it in a class with slots
        check_choices(self)
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha is {self.alpha}, but must be above 0 and below 1")
        if self.num_resamples is not None and self.num_resamples < 1:
            raise UsageError(f"the number of resamples is {self.num_resamples}, but must be 1 or more")
        if self.margin is not None and not self.margin > 0:
            raise UsageError(f"the margin is {self.margin:g}, but must be above 0", remedy="give a difference, as 0.02")
        if self.family == "measures" and self.primary is not None:
            raise UsageError(
                "with a primary measure only that one is decided about, and nothing is corrected over several",
                remedy="leave out one of primary and family",
            )
        if self.family == "measures" and self.has_layout:
            raise UsageError(
                f"{self.test} compares the runs under one measure, and has no p over several measures",
                remedy="choose max-t, or another test with a correction",
            )

    @property
    def is_simultaneous(self) -> bool:
        """Whether the test covers all pairs at once and needs no correction."""
        return self.has_layout or self.test == MAX_T

    @property
    def has_layout(self) -> bool:
        """Whether the test compares responses in a layout of runs and queries."""
        return self.test in LAYOUTS

    @property
    def is_of_means(self) -> bool:
        """Whether a test of means is asked for, which decides also where none suits the pair."""
        return self.has_layout or self.test in ("t", "randomization")

    @property
    def suits_pairs(self) -> bool:
        """Whether the test of each pair by itself is the one that suits it, because none is asked for."""
        return self.is_simultaneous or self.test == "auto"

    def of_pair(self, differences: PairDifferences) -> str:
        """Return the name of the test of each pair by itself; of those of sizes, where `by_signs` does not tell it."""
        return default_test(differences) if self.suits_pairs else self.test

    def by_signs(self, differences: PairDifferences) -> BoolArray:
        """Tell for which pairs the sign test decides, [P]; always where only one of two runs has some value."""
        if self.of_pair(differences) == "sign":
            return np.ones(len(differences.a), bool)
        return np.asarray((differences.num_one_sided > 0) | (self.suits_pairs & differences.is_by_signs))

    def deciding(self, differences: PairDifferences) -> str:
        """Return the name of the test that decides about the most pairs: how small its p can be limits them all."""
        if self.test == MAX_T and not differences.is_signs:
            return MAX_T_OF_VALUES
        if self.is_simultaneous:
            return self.test
        return "sign" if self.by_signs(differences).all() else self.of_pair(differences)

    @property
    def settings(self) -> dict[str, Any]:
        """What a test may ask for by name; it decides itself on the number of resamples if none is given."""
        settings = {**asdict(self), "ties": self.test_ties}
        return {name: value for name, value in settings.items() if value is not None}


def run_test(
    testing: Testing, differences: PairDifferences, *, num_tests: int | None = None, show_progress: bool | None = False
) -> PairedTests:
    """Test each pair by itself, by the test that is asked for or the one that suits the pair.

    Their p are corrected over `num_tests`, if these are more. Where only one of two runs has a value on some query,
    that query is in no mean: there is no interval.
    """
    available = {**testing.settings, "num_tests": num_tests, "show_progress": show_progress}
    result: PairedTests = ask(TESTS[testing.of_pair(differences)], differences, available)
    if not (by_signs := testing.by_signs(differences)).any():
        return result
    by_wins: PairedTests = ask(TESTS["sign"], differences, available)
    pvalues = np.where(by_signs, by_wins.pvalues, result.pvalues)
    estimates, lows, highs = pair_intervals(testing, differences)
    return replace(result, pvalues=pvalues, lows=lows, highs=highs, estimates=estimates, by_signs=by_signs)


def pair_intervals(testing: Testing, differences: PairDifferences) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the interval of each pair by itself that belongs to its test: what it is about, and its ends, [P]."""
    plain = intervals(testing.of_pair(differences), differences, alpha=testing.alpha)
    by_wins = intervals("sign", differences, alpha=testing.alpha)
    by_signs, one_sided = testing.by_signs(differences), differences.num_one_sided > 0
    estimates, lows, highs = (
        np.where(one_sided, np.nan, np.where(by_signs, *ends)) for ends in zip(by_wins, plain, strict=True)
    )
    return estimates, lows, highs
