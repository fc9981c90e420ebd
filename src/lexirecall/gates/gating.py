"""Gating: the options of a gate.

Belongs here: the record, with its help and its checks. Not here: what is done with them (gate).
"""

import math
from dataclasses import dataclass, field
from typing import Any

from lexirecall.aggregation import Resampling
from lexirecall.errors import UsageError
from lexirecall.fields import option


@dataclass(frozen=True, slots=True)
class Gating(Resampling):
    """What a run must do to pass.

    >>> Gating(margin=-0.1)
    Traceback (most recent call last):
    lexirecall.errors.UsageError: margin is -0.1, but must be 0 or more
      0.01 allows a loss below 0.01 on the scale of the measure
    """

    margin: float | None = field(
        default=None,
        metadata=option(
            "Fail unless it is shown that the loss is below D, on the scale of the measure; for LexiRecall and "
            "LexiPrecision, losses minus wins as a share of the queries. [default: fail if a loss is shown]",
            "number",
            metavar="D",
        ),
    )
    require: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "What the new run must do in any case, such as 'All@20>=0.9', 'tail:0.1 of R@100 >= 0.5', 'no query loses "
            "a relevant document' or 'every relevant document is found within the first 50'. Can be repeated.",
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
            "Count the builds that were tested on the same queries in FILE, and test each at its share of alpha.",
            "file",
            metavar="FILE",
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
        Resampling.__post_init__(self)  # super() does not find it in a class with slots
        require = (self.require,) if isinstance(self.require, str) else tuple(self.require or ())
        object.__setattr__(self, "require", require)
        if self.margin is not None and not (self.margin >= 0 and math.isfinite(self.margin)):
            remedy = "0.01 allows a loss below 0.01 on the scale of the measure"
            raise UsageError(f"margin is {self.margin:g}, but must be 0 or more", remedy=remedy)
        if not 0 < self.alpha < 0.5:
            raise UsageError(f"alpha is {self.alpha:g}, but must be above 0 and below 0.5")
