"""Options: the options of what is asked about unjudged documents.

Belongs here: the record, with its help and its checks, and what whole lists with labels of their own do not go together
with. Not here: what is done with them (missing).
"""

from dataclasses import dataclass, field
from typing import Any

from lexirecall.errors import UsageError, check_count
from lexirecall.fields import option
from lexirecall.formats.listing import check_listable
from lexirecall.labels.rates import stated_rate
from lexirecall.manifest import Conventions, Sources

VIEWS = ("summary", "runs", "pairs", "queries", "judge", "hindsight")
"""What a result can show."""
DEFAULT_SAMPLES = 500
MOST_SAMPLES = 10**5  # a share would not move, and all are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class UnjudgedOptions:
    """What is asked about unjudged documents.

    >>> UnjudgedOptions(samples=9)
    Traceback (most recent call last):
    lexirecall.errors.UsageError: samples needs the chance that an unjudged document is relevant
      state one for all with --rate 0.02, or rate=0.02 in Python
    """

    rate: float | None = field(
        default=None,
        metadata=option(
            "Experimental: say what to expect if every unjudged document is relevant with the chance P, from 0 to 1, "
            "independently of the others.",
            "number",
            metavar="P",
        ),
    )
    samples: int | None = field(
        default=None,
        metadata=option(
            "With --rate or --judge: how many labellings of the unjudged documents to draw. [default: 500]",
            "whole",
            least=1,
            most=MOST_SAMPLES,
            metavar="N",
        ),
    )
    seed: int = field(default=0, metadata=option("Seed of the random labels.", "whole", metavar="N"))
    judge: int | None = field(
        default=None,
        metadata=option(
            "List the N unjudged documents whose labels would change most decisions, with an empty grade to fill in. "
            "Without --rate, what was judged says which are likelier to be relevant.",
            "whole",
            least=1,
            metavar="N",
        ),
    )
    judged_with: Any = field(
        default=None,
        metadata=option(
            "With --rate: say what became of what was expected, by judgments that were made since.",
            "file",
            metavar="NEW_QRELS",
        ),
    )

    def __post_init__(self) -> None:
        if self.samples is not None:
            check_count("samples", self.samples, 1, MOST_SAMPLES)
        check_count("seed", self.seed, 0)
        if self.judge is not None:
            check_count("judge", self.judge, 1)
        if self.rate is not None:
            stated_rate(self.rate)  # says what is wrong before anything is read
        needing = [name for name in ("judged_with", "samples") if getattr(self, name) is not None]
        if needing and self.rate is None and not (self.judge and self.judged_with is None):
            problem = f"{needing[0]} needs the chance that an unjudged document is relevant"
            raise UsageError(problem, remedy="state one for all with --rate 0.02, or rate=0.02 in Python")


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
    check_listable(conventions, sources, "to label unjudged documents")
