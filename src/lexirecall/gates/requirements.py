"""Requirements: what a run must reach whatever its baseline, in words.

Belongs here: the forms of requirements, and how they are read. Not here: whether they hold (checks).
"""

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isfinite, log, log1p, nan

from lexirecall.errors import LexirecallError, UsageError
from lexirecall.measures import Measure
from lexirecall.measures.measure import TOLERANCE
from lexirecall.names import parse_measure
from lexirecall.statistics.queryaggregate import QueryAggregate
from lexirecall.text import number_of

FORMS = (
    "All@20>=0.9",
    "tail:0.1 of R@100 >= 0.5",
    "no query loses a relevant document",
    "at most 2% of queries lose a relevant document",
    "every relevant document is found within the first 50",
)
"""One example of each."""
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
_COMPARED = re.compile(r"(?:(?P<over>[a-z]+(?::\S+)?)\s+of\s+)?(?P<measure>.+?)\s*(?P<sign>>=|<=|>|<)\s*(?P<limit>\S+)")
_WITHIN = r"(?:\s+within\s+the\s+first\s+(?P<depth>[1-9][0-9]{0,15}))?"
_STATEMENTS = [
    ("lost", re.compile(rf"no\s+query\s+loses\s+a\s+relevant\s+document{_WITHIN}", re.IGNORECASE)),
    ("lost", re.compile(
        rf"at\s+most\s+(?P<share>[^\s%]+)\s*%\s+of\s+(?:the\s+)?queries\s+lose\s+a\s+relevant\s+document{_WITHIN}"
        r"(?:\s+with\s+(?P<confidence>[^\s%]+)\s*%\s+confidence)?", re.IGNORECASE,
    )),
    ("found", re.compile(rf"every\s+relevant\s+document\s+is\s+found{_WITHIN}", re.IGNORECASE)),
]  # fmt: skip
_PERCENTAGE = re.compile(r"(?:[0-9]{1,3}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Limit:
    """A number over the queries that must be on one side of a limit.

    >>> print(Limit.parse("tail:0.1 of R@100>=.5"))
    tail:0.1 of R@100 >= 0.5
    """

    over: QueryAggregate
    measure: Measure
    sign: str
    limit: float

    @classmethod
    def parse(cls, text: str) -> "Limit":
        """Read it; raise if it is none."""
        match = _COMPARED.fullmatch(text.strip())
        if match is None:
            raise UsageError("it is in none of the forms")
        over = QueryAggregate.parse(match["over"] or "mean")
        try:
            limit = number_of(match["limit"])
        except ValueError:
            limit = nan
        if not isfinite(limit):
            raise UsageError(f"{match['limit']!r} is not a finite number")
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
    """A requirement about every relevant document, or about those of all but a share of the queries.

    >>> print(Statement("lost", 10))
    no query loses a relevant document within the first 10
    >>> print(Statement("lost", None, Fraction(1, 40), Fraction(95, 100)))
    at most 2.5% of queries lose a relevant document with 95% confidence
    """

    kind: str
    """lost: none that the baseline has; found: none at all is missing."""
    depth: int | None
    share: Fraction = Fraction(0)
    """Of the queries: on so many something may be lost."""
    confidence: Fraction | None = None
    """With which the share must be shown not to be larger, beyond these queries; None if only these matter."""

    @property
    def within(self) -> str:
        """How deep a document may be, in words."""
        return "" if self.depth is None else f" within the first {self.depth}"

    @property
    def limit(self) -> float:
        """The share as a number."""
        return float(self.share)

    @property
    def risk(self) -> float:
        """The chance that the share is larger though the requirement holds."""
        return 0.0 if self.confidence is None else float(1 - self.confidence)

    @property
    def fewest(self) -> int:
        """How many queries it takes for no loss at all to be enough: (1 - share)^n is at most the risk."""
        if self.confidence is None:
            return 0
        return ceil(log(self.risk) / log1p(-self.limit) - TOLERANCE)

    def reaches(self, position: int | None) -> bool:
        """Tell whether a document at this position counts as found."""
        return position is not None and (self.depth is None or position <= self.depth)

    def __str__(self) -> str:
        if self.share:
            sure = "" if self.confidence is None else f" with {percent(self.confidence)} confidence"
            return f"at most {percent(self.share)} of queries lose a relevant document{self.within}{sure}"
        words = {"lost": "no query loses a relevant document", "found": "every relevant document is found"}
        return words[self.kind] + self.within


def percent(share: Fraction | float) -> str:
    """Write a share in percent, as it is read.

    >>> percent(Fraction(1, 40)), percent(0.0123456)
    ('2.5%', '1.23456%')
    """
    return f"{float(100 * share):.12g}%"


Requirement = Limit | Statement


def parse_requirements(texts: Iterable[str]) -> tuple[Requirement, ...]:
    """Read requirements; raise one error about all that cannot be read.

    >>> [str(each) for each in parse_requirements(["All@20>=0.9", "No query loses a relevant document"])]
    ['All@20 >= 0.9', 'no query loses a relevant document']
    >>> parse_requirements(["All@20=1", "AP > much"])
    Traceback (most recent call last):
    lexirecall.errors.UsageError: cannot read the requirement 'All@20=1': it is in none of the forms
      and 'AP > much': 'much' is not a finite number
      write one such as 'All@20>=0.9', 'tail:0.1 of R@100 >= 0.5', 'no query loses a relevant document', \
'at most 2% of queries lose a relevant document' or 'every relevant document is found within the first 50'
    """
    requirements: list[Requirement] = []
    wrong = []
    for text in texts:
        try:
            requirements.append(_statement(text) or Limit.parse(text))
        except LexirecallError as error:
            wrong.append(f"{text!r:.200}: {error.problem}")
    if wrong:
        *forms, last = map(repr, FORMS)
        remedy = f"write one such as {', '.join(forms)} or {last}"
        raise UsageError("cannot read the requirement " + "\n  and ".join(wrong), remedy=remedy)
    return tuple(requirements)


def _statement(text: str) -> Statement | None:
    for kind, form in _STATEMENTS:
        if match := form.fullmatch(text.strip()):
            parts = match.groupdict()
            share, confidence = (parts.get(name) for name in ("share", "confidence"))
            return Statement(
                kind, int(parts["depth"]) if parts["depth"] else None,
                Fraction(0) if share is None else _share(share, 0),
                None if confidence is None else _share(confidence, 50),
            )  # fmt: skip
    return None


def _share(text: str, above: int) -> Fraction:
    """Read a percentage that is above a number, and below 100."""
    if not (_PERCENTAGE.fullmatch(text) and above < Fraction(text) < 100):
        raise UsageError(f"{text + '%'!r:.50} is not a percentage above {above} and below 100")
    return Fraction(text) / 100
