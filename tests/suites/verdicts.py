"""What became of each test of a suite, and whether the table of reasons says so.

Belongs here: outcomes, the table in `reasons.tsv`, and what is printed of both. Not here: how suites are run.
"""

from collections.abc import Iterator, Sequence
from csv import DictReader
from dataclasses import dataclass
from pathlib import Path

from lexirecall.errors import LexirecallError, listed

REASONS = Path(__file__).with_name("reasons.tsv")
PASSED, REFUSED, DIFFERING, SKIPPED = KINDS = ("passed", "refused", "differing", "skipped")
"""Refused: our code says that it does not do that. Differing: it gives something else than the test expects."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a test, and what it said."""

    test: str
    kind: str
    detail: str = ""

    @classmethod
    def of_error(cls, test: str, error: BaseException) -> "Outcome":
        """Tell a refusal of ours from any other error."""
        kind = REFUSED if isinstance(error, LexirecallError) else DIFFERING
        said = str(error).strip().splitlines() or [""]
        return cls(test, kind, f"{type(error).__name__}: {said[0]}")


Reasons = dict[str, tuple[str, str]]
"""{test: (kind, reason)} of the tests of a suite that do not pass."""


def read_reasons(suite: str, path: Path = REASONS) -> Reasons:
    """Return the rows of the table for a suite."""
    with path.open(encoding="utf-8", newline="") as file:
        return {
            row["test"]: (row["outcome"], row["reason"])
            for row in DictReader(file, delimiter="\t", quoting=3)  # as it is written: tests have quotes in their names
            if row["suite"] == suite
        }


def report(suite: str, outcomes: Sequence[Outcome], reasons: Reasons) -> Iterator[str]:
    """Say what became of each test, with its reason or else with what it said, and how many there are of each kind."""
    for outcome in outcomes:
        known, reason = reasons.get(outcome.test, ("", ""))
        why = reason if known == outcome.kind else outcome.detail
        yield f"{outcome.kind:<9}  {outcome.test}" + (f"\n{'':<11}{why}" if why else "")
    counts = {kind: sum(outcome.kind == kind for outcome in outcomes) for kind in KINDS}
    yield f"{suite}: {len(outcomes)} tests, " + ", ".join(f"{n} {kind}" for kind, n in counts.items() if n)


def faults(outcomes: Sequence[Outcome], reasons: Reasons) -> Iterator[str]:
    """Say where the table is not true: a test fails without a row, or not as its row says."""
    if not outcomes:
        yield "the folder has no test of this suite"
    for outcome in outcomes:
        known = reasons.get(outcome.test, (PASSED, ""))[0]
        if outcome.kind != known:
            yield f"{outcome.test}: {outcome.kind}, but {REASONS.name} says {known}"


def missing(outcomes: Sequence[Outcome], reasons: Reasons) -> Iterator[str]:
    """Say which rows of the table name a test that the folder does not have: it may be of another version."""
    if others := sorted(reasons.keys() - {outcome.test for outcome in outcomes}):
        yield f"{REASONS.name} also names tests that this folder does not have: {listed(others, 99)}"
