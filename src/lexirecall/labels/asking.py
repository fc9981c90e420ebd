"""Asking: the options of what is asked about unjudged documents.

Belongs here: the record, with its help and its checks, and what whole lists with labels of their own do not go together
with. Not here: what is done with them (missing).
"""

from dataclasses import dataclass, field
from typing import Any

from lexirecall.errors import UsageError
from lexirecall.fields import option
from lexirecall.formats.listing import check_listable
from lexirecall.labels.rates import stated_rate
from lexirecall.manifest import Conventions, Sources

VIEWS = ("summary", "runs", "pairs", "queries", "judge", "hindsight")
"""What a result can show."""
MOST_SAMPLES = 10**5  # a share would not move, and all are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What is asked about unjudged documents.

    >>> Asking(samples=-1)
    Traceback (most recent call last):
    lexirecall.errors.UsageError: samples is -1, but must be a whole number from 0 to 100000
    """

    rate: float | None = field(
        default=None,
        metadata=option(
            "Chance that an unjudged document is relevant, from 0 to 1. [default: estimated from judged documents "
            "around the same depth; a guess]",
            "number",
            metavar="P",
        ),
    )
    samples: int = field(
        default=500,
        metadata=option(
            "How many labellings of the unjudged documents to draw; 0 draws none.",
            "whole",
            most=MOST_SAMPLES,
            metavar="N",
        ),
    )
    seed: int = field(default=0, metadata=option("Seed of the random labels.", "whole", metavar="N"))
    judge: int | None = field(
        default=None,
        metadata=option(
            "List the N unjudged documents whose labels would change most decisions, with an empty grade to fill in.",
            "whole",
            least=1,
            metavar="N",
        ),
    )
    judged_with: Any = field(
        default=None,
        metadata=option("Compare the forecasts with judgments that were made since.", "file", metavar="NEW_QRELS"),
    )

    def __post_init__(self) -> None:
        limits = {"samples": (0, MOST_SAMPLES), "seed": (0, None), "judge": (1, None)}
        for name, (least, most) in limits.items():
            value = getattr(self, name)
            if value is None and name == "judge":
                continue
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            if not is_whole or value < least or (most is not None and value > most):
                span = f"of at least {least}" if most is None else f"from {least} to {most}"
                raise UsageError(f"{name} is {value!r}, but must be a whole number {span}")
        if self.rate is not None:
            stated_rate(self.rate)  # says what is wrong before anything is read
        if self.samples == 0 and (self.judge is not None or self.judged_with is not None):
            name = "judge" if self.judge is not None else "judged_with"
            raise UsageError(f"{name} needs sampled labels, and samples is 0", remedy="leave samples out")


def check_view(view: str | None, *, judge: bool, judged_with: bool) -> None:
    """Raise if a view is to be shown that needs what was not asked for.

    >>> check_view("judge", judge=False, judged_with=False)
    Traceback (most recent call last):
    lexirecall.errors.UsageError: there is no list of what to judge to show
      ask for one with --judge N, or judge= in Python
    """
    if view == "judge" and not judge:
        problem = "there is no list of what to judge to show"
        raise UsageError(problem, remedy="ask for one with --judge N, or judge= in Python")
    if view == "hindsight" and not judged_with:
        problem = "there are no new judgments to show forecasts against"
        raise UsageError(problem, remedy="give them with --judged-with NEW_QRELS, or judged_with= in Python")


def check_asked(conventions: Conventions, sources: Sources) -> None:
    """Raise if rankings are read in a way that leaves unjudged documents out, or lets labels move documents.

    >>> check_asked(Conventions(judged_only=True), Sources(units={"a": "u"}))
    Traceback (most recent call last):
    lexirecall.errors.UsageError: unjudged documents cannot be labelled with judged_only, which leaves them out; \
units, because a label is of a document
      leave these out
    """
    refused = {
        "judged_only, which leaves them out": conventions.judged_only,
        "units, because a label is of a document": sources.units is not None,
        "providers, because no measure of them is computed": sources.providers is not None,
        "ties='expected', which has no single order": conventions.ties == "expected",
        f"ties={conventions.ties!r}, because labels would change the order of equal scores": (
            conventions.ties in ("worst", "best")
        ),
        "imputation='optimistic', which invents positions": conventions.imputation == "optimistic",
    }
    if wrong := [what for what, is_given in refused.items() if is_given]:
        problem = f"unjudged documents cannot be labelled with {'; '.join(wrong)}"
        raise UsageError(problem, remedy="leave these out" if len(wrong) > 1 else "leave it out")
    check_listable(conventions, sources)
