"""Testing: how pairs of runs are tested.

Belongs here: the record of these options. Not here: the tests (statistics), what is done with them (compare).
"""

from dataclasses import dataclass, field

from lexirecall.errors import UsageError
from lexirecall.fields import check_choices, option
from lexirecall.manifest import MOST_RESAMPLES, Resampling
from lexirecall.statistics.corrections import CORRECTIONS
from lexirecall.statistics.hsd import SIMULTANEOUS
from lexirecall.statistics.paired import SIGN_TEST_TIES, TESTS


@dataclass(frozen=True, slots=True)
class Testing(Resampling):
    """How pairs of runs are tested."""

    test: str = field(
        default="auto",
        metadata=option(
            "auto: the sign test for lexicographic preferences, the paired t test for whatever has a size.",
            choices=("auto", *TESTS, *SIMULTANEOUS),
        ),
    )
    correction: str = field(
        default="holm",
        metadata=option("Correction for the many pairs of one measure; hsd needs none.", choices=tuple(CORRECTIONS)),
    )
    alpha: float = field(default=0.05, metadata=option("Significance level.", "number"))
    num_resamples: int = field(
        default=10_000,
        metadata=option(
            "How many resamples randomization and randomized-hsd draw.",
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

    __test__ = False  # pytest would take it for a class of tests

    def __post_init__(self) -> None:
        Resampling.__post_init__(self)  # super() does not find it in a class with slots
        check_choices(self)
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha is {self.alpha}, but must be above 0 and below 1")
        if self.num_resamples < 1:
            raise UsageError(f"the number of resamples is {self.num_resamples}, but must be 1 or more")

    @property
    def is_simultaneous(self) -> bool:
        """Whether the test covers all runs at once and needs no correction."""
        return self.test in SIMULTANEOUS
