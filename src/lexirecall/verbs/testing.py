"""Testing: how pairs of runs are tested.

Belongs here: the record of these options, and the test that they name. Not here: the tests themselves (statistics),
what is done with them (compare).
"""

from dataclasses import asdict, dataclass, field
from typing import Any

from lexirecall.aggregation import Resampling
from lexirecall.errors import UsageError
from lexirecall.fields import check_choices, option
from lexirecall.manifest import MOST_RESAMPLES
from lexirecall.measures.measure import ask
from lexirecall.statistics.corrections import CORRECTIONS
from lexirecall.statistics.hsd import LAYOUTS
from lexirecall.statistics.maxt import MAX_T
from lexirecall.statistics.paired import SIGN_TEST_TIES, TESTS, PairedTests, default_test
from lexirecall.statistics.portions import Summarized


@dataclass(frozen=True, slots=True)
class Testing(Resampling):
    """How pairs of runs are tested."""

    test: str = field(
        default="auto",
        metadata=option(
            "auto: the sign test for lexicographic preferences, the paired t test for whatever has a size.",
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

    __test__ = False  # pytest would take it for a class of tests

    def __post_init__(self) -> None:
        Resampling.__post_init__(self)  # super() does not find it in a class with slots
        check_choices(self)
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha is {self.alpha}, but must be above 0 and below 1")
        if self.num_resamples is not None and self.num_resamples < 1:
            raise UsageError(f"the number of resamples is {self.num_resamples}, but must be 1 or more")

    @property
    def is_simultaneous(self) -> bool:
        """Whether the test covers all pairs at once and needs no correction."""
        return self.has_layout or self.test == MAX_T

    @property
    def has_layout(self) -> bool:
        """Whether the test compares responses in a layout of runs and queries."""
        return self.test in LAYOUTS

    def of_pair(self, differences: Summarized) -> str:
        """Return the name of the test of each pair by itself; the one that suits if none is asked for."""
        return default_test(differences) if self.is_simultaneous or self.test == "auto" else self.test

    @property
    def settings(self) -> dict[str, Any]:
        """What a test may ask for by name; it decides itself on the number of resamples if none is given."""
        settings = {**asdict(self), "ties": self.test_ties}
        return {name: value for name, value in settings.items() if value is not None}


def run_test(testing: Testing, differences: Summarized, *, show_progress: bool | None = False) -> PairedTests:
    """Test each pair by itself, by the test that is asked for or the one that suits the differences."""
    available = {**testing.settings, "show_progress": show_progress}
    result: PairedTests = ask(TESTS[testing.of_pair(differences)], differences, available)
    return result
