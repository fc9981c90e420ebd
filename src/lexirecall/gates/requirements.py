"""Requirements: what a run must reach whatever its baseline, in words.

Belongs here: the forms of requirements, and how they are read. Not here: whether they hold (checks).
"""

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lexirecall.errors import LexirecallError, UsageError
from lexirecall.measures import Measure
from lexirecall.names import parse_measure
from lexirecall.statistics.over import Over
from lexirecall.text import number_of

FORMS = (
    "All@20>=0.9",
    "tail:0.1 of R@100 >= 0.5",
    "no query loses a relevant document",
    "every relevant document is found within the first 50",
)
"""One example of each."""
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
_COMPARED = re.compile(r"(?:(?P<over>[a-z]+(?::\S+)?)\s+of\s+)?(?P<measure>.+?)\s*(?P<sign>>=|<=|>|<)\s*(?P<limit>\S+)")
_WITHIN = r"(?:\s+within\s+the\s+first\s+(?P<depth>[1-9][0-9]*))?"
_STATEMENTS = {
    "lost": re.compile(rf"no\s+query\s+loses\s+a\s+relevant\s+document{_WITHIN}", re.IGNORECASE),
    "found": re.compile(rf"every\s+relevant\s+document\s+is\s+found{_WITHIN}", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class Limit:
    """A number over the queries that must be on one side of a limit.

    >>> print(Limit.parse("tail:0.1 of R@100>=.5"))
    tail:0.1 of R@100 >= 0.5
    """

    over: Over
    measure: Measure
    sign: str
    limit: float

    @classmethod
    def parse(cls, text: str) -> "Limit":
        """Read it; raise if it is none."""
        match = _COMPARED.fullmatch(text.strip())
        if match is None:
            raise UsageError("it is in none of the forms")
        over = Over.parse(match["over"] or "mean")
        try:
            limit = number_of(match["limit"])
        except ValueError:
            raise UsageError(f"{match['limit']!r} is not a number") from None
        return cls(over, parse_measure(match["measure"]), match["sign"], limit)

    def holds(self, value: float) -> bool:
        """Tell whether a value is on the right side; one that is not defined is not."""
        return _OPERATORS[self.sign](value, self.limit)

    @property
    def subject(self) -> str:
        """What is limited."""
        return f"{'' if self.over.kind == 'mean' else f'{self.over.text} of '}{self.measure}"

    def __str__(self) -> str:
        return f"{self.subject} {self.sign} {self.limit:.10g}"


@dataclass(frozen=True, slots=True)
class Statement:
    """A requirement about every relevant document.

    >>> print(Statement("lost", 10))
    no query loses a relevant document within the first 10
    """

    kind: str
    """lost: none that the baseline has; found: none at all is missing."""
    depth: int | None

    @property
    def within(self) -> str:
        """How deep a document may be, in words."""
        return "" if self.depth is None else f" within the first {self.depth}"

    def reaches(self, position: int | None) -> bool:
        """Tell whether a document at this position counts as found."""
        return position is not None and (self.depth is None or position <= self.depth)

    def __str__(self) -> str:
        words = {"lost": "no query loses a relevant document", "found": "every relevant document is found"}
        return words[self.kind] + self.within


Requirement = Limit | Statement


def parse_requirements(texts: Iterable[str]) -> tuple[Requirement, ...]:
    """Read requirements; raise one error about all that cannot be read.

    >>> [str(each) for each in parse_requirements(["All@20>=0.9", "No query loses a relevant document"])]
    ['All@20 >= 0.9', 'no query loses a relevant document']
    >>> parse_requirements(["All@20=1", "AP > much"])
    Traceback (most recent call last):
    lexirecall.errors.UsageError: cannot read the requirement 'All@20=1': it is in none of the forms
      and 'AP > much': 'much' is not a number
      write one such as 'All@20>=0.9', 'tail:0.1 of R@100 >= 0.5', 'no query loses a relevant document' or \
'every relevant document is found within the first 50'
    """
    made: list[Requirement] = []
    wrong = []
    for text in texts:
        try:
            made.append(_statement(text) or Limit.parse(text))
        except LexirecallError as error:
            wrong.append(f"{text!r}: {error.problem}")
    if wrong:
        *forms, last = map(repr, FORMS)
        remedy = f"write one such as {', '.join(forms)} or {last}"
        raise UsageError("cannot read the requirement " + "\n  and ".join(wrong), remedy=remedy)
    return tuple(made)


def _statement(text: str) -> Statement | None:
    for kind, form in _STATEMENTS.items():
        if match := form.fullmatch(text.strip()):
            return Statement(kind, int(match["depth"]) if match["depth"] else None)
    return None
