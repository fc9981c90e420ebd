"""Options: the options of a gate.

Belongs here: the record, with its help and its checks. Not here: what is done with them (gate).
"""

import math
from dataclasses import dataclass, field
from typing import Any

from lexirecall.errors import UsageError, names_in
from lexirecall.fields import option

MOST_BUILDS = 10**6
_LONGEST = 200  # characters of the name of a build


@dataclass(frozen=True, slots=True)
class GateOptions:
    """What a run must do to pass.

    >>> GateOptions(margin=-0.1)
    Traceback (most recent call last):
    lexirecall.errors.UsageError: margin is -0.1, but must be 0 or more
      0.01 allows a loss below 0.01 on the scale of the measure
    """

    margin: float | None = field(
        default=None,
        metadata=option(
            "Fail unless it is shown that the loss is below D, on the scale of the measure; for LexiRecall, "
            "LexiPrecision and NumRelRet, losses minus wins as a share of the queries. [default: fail if a loss is "
            "shown]",
            "number",
            metavar="D",
        ),
    )
    require: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "What the new run must do in any case, such as 'All@20>=0.9', 'tail:0.1 of R@100 >= 0.5', 'no query loses "
            "a relevant document', 'at most 5% of queries lose a relevant document within the first 100 with 95% "
            "confidence' or 'every relevant document is found within the first 50'. Can be repeated.",
            "several",
            metavar="'…'",
        ),
    )
    alpha: float = field(
        default=0.05,
        metadata=option(
            "Chance of a false alarm, over all measures together, and over all builds of a ledger.", "number"
        ),
    )
    ledger: Any = field(
        default=None,
        metadata=option(
            "Keep the builds that were tested on the same queries in FILE, and test each at its share of alpha. One "
            "that is run again keeps its verdict.",
            "file",
            metavar="FILE",
        ),
    )
    build: str | None = field(
        default=None,
        metadata=option(
            "Name of this build in the ledger, such as a commit id. [default: known by what it finds where]",
            "text",
            metavar="NAME",
        ),
    )
    builds: int | None = field(
        default=None,
        metadata=option(
            "How many builds the ledger is for: each is tested at alpha/N. [default: any number, at 6 alpha/(pi² t²)]",
            "whole",
            least=1,
            most=MOST_BUILDS,
            metavar="N",
        ),
    )
    corpus_ids: Any = field(
        default=None,
        metadata=option(
            "Ids of all documents, one on each line: relevant documents that are not among them are listed.",
            "file",
            metavar="FILE",
        ),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "require", names_in("require", self.require))
        if self.margin is not None and not (self.margin >= 0 and math.isfinite(self.margin)):
            remedy = "0.01 allows a loss below 0.01 on the scale of the measure"
            raise UsageError(f"margin is {self.margin:g}, but must be 0 or more", remedy=remedy)
        if not 0 < self.alpha < 0.5:
            raise UsageError(f"alpha is {self.alpha:g}, but must be above 0 and below 0.5")
        object.__setattr__(self, "alpha", float(self.alpha))  # as the ledger keeps it
        self._check_ledger()

    def _check_ledger(self) -> None:
        """Raise if what is said of the ledger makes no sense."""
        if self.ledger is None and (names := [name for name in ("build", "builds") if getattr(self, name) is not None]):
            raise UsageError(f"{names[0]} is given, but there is no ledger", remedy="add --ledger FILE")
        if self.build is not None and not _is_name(self.build):
            problem = f"build is {self.build!r:.100}, but must be 1 to {_LONGEST} characters that can be printed"
            raise UsageError(problem, remedy="a commit id, for instance")
        if self.builds is not None:
            if not (1 <= self.builds <= MOST_BUILDS and self.builds % 1 == 0):
                raise UsageError(f"builds is {self.builds}, but must be a whole number from 1 to {MOST_BUILDS}")
            object.__setattr__(self, "builds", int(self.builds))


def _is_name(text: object) -> bool:
    """Tell whether a text can be read and shown: no control characters, and not only blanks."""
    return isinstance(text, str) and bool(text.strip()) and len(text) <= _LONGEST and text.isprintable()
