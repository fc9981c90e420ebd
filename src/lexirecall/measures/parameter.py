"""Settings of measures: their defaults and what is allowed.

Belongs here: checking one value, a map of grades to gains, and a cut-off that is a share of the corpus.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.judgments import IntArray


@dataclass(frozen=True, slots=True)
class Share:
    """A cut-off in percent of the corpus, as in R@10%.

    >>> Share(10), Share(12.5).fraction
    (10%, 0.125)
    """

    percent: float

    def __repr__(self) -> str:
        return f"{self.percent!r}%"

    @classmethod
    def of_fraction(cls, fraction: float) -> "Share":
        """Return the share that a number from 0 to 1 stands for.

        >>> Share.of_fraction(0.07)
        7%
        """
        from fractions import Fraction  # not on top: few measures have shares

        return cls(_plain(float(Fraction(str(fraction)) * 100)))

    @property
    def fraction(self) -> float:
        """The share as a number from 0 to 1."""
        from fractions import Fraction

        return float(Fraction(str(self.percent)) / 100)

    def of(self, n: Any) -> IntArray:
        """Return how many of n documents it is at most, floor(n percent/100), without the errors of binary fractions.

        >>> Share(7).of(np.array([100, 99])).tolist(), Share(29).of(100).tolist(), int(0.29 * 100)
        ([7, 6], 29, 28)
        """
        from fractions import Fraction

        exact = Fraction(str(self.percent)) / 100
        sizes, where = np.unique(np.ravel(n), return_inverse=True)
        most = np.array([int(size) * exact.numerator // exact.denominator for size in sizes], np.int64)
        return np.asarray(most[where.reshape(np.shape(n))])


@dataclass(frozen=True, slots=True)
class Parameter:
    """A setting that a measure offers: its default, and what is allowed."""

    default: Any = None
    kind: type = float
    above: float = -np.inf
    low: float = -np.inf
    high: float = np.inf
    below: float = np.inf
    options: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    """Words that it takes instead of a number."""

    def check(self, name: str, value: Any) -> Any:
        """Return the value in its proper type, or raise with what is allowed.

        >>> Parameter(above=0, high=1).check("recall", Share(95))
        0.95
        """
        if isinstance(value, Share) and self.high == 1:
            value = value.fraction
        if self.options:
            if str(value).lower() in self.options:
                return str(value).lower()
            raise UsageError(f"{name} is {value!r}, but must be one of {', '.join(self.options)}")
        if self.kind is bool:
            if str(value).lower() in ("true", "false"):
                return str(value).lower() == "true"
            raise UsageError(f"{name} is {value!r}, but must be True or False")
        if str(value).lower() in self.words:
            return str(value).lower()
        if not _is_number(value):
            raise UsageError(f"{name} is {value!r}, but must be {' or '.join(['a number', *map(repr, self.words)])}")
        if not (self.low <= value <= self.high and self.above < value < self.below) or value != self.kind(value):
            is_percent = self.high == 1 and 1 < value <= 100
            remedy = f"it is a share: write {value / 100:g} for {value:g} %" if is_percent else ""
            raise UsageError(f"{name} is {value!r}, but must be {self._range()}", remedy=remedy)
        return _plain(value)

    def _range(self) -> str:
        noun = "a whole number" if self.kind is int else "a number"
        bounds = {"above": self.above, "at least": self.low, "at most": self.high, "below": self.below}
        words = [f"{word} {bound:g}" for word, bound in bounds.items() if abs(bound) < 1e18]
        link = "of " if words and words[0].startswith("at ") else ""
        return f"{noun} {link}{' and '.join(words)}".strip()


class Gains(dict[float, float]):
    """A map of grades to gains, printed without blanks and in the order of the grades.

    >>> Gains({2: 3, 1: 0.5})
    {1:0.5,2:3}
    """

    def __repr__(self) -> str:
        return "{" + ",".join(f"{grade!r}:{gain!r}" for grade, gain in sorted(self.items())) + "}"


@dataclass(frozen=True, slots=True)
class ShareOrNumber(Parameter):
    """A cut-off: a number of documents, or a share of the corpus."""

    def check(self, name: str, value: Any) -> Any:
        """Return a number, or a share above 0 and at most 100%; or raise with what is allowed.

        >>> ShareOrNumber(kind=int, low=1).check("R: cutoff", Share(10.0))
        10%
        """
        if isinstance(value, Share):
            if not 0 < value.percent <= 100:
                raise UsageError(f"{name} is {value!r}, but a share must be above 0% and at most 100%")
            return Share(_plain(value.percent))
        if isinstance(value, float) and 0 < value < 1:
            remedy = f"for a share of the corpus, write {value * 100:g}%"
            raise UsageError(f"{name} is {value!r}, but must be {self._range()}", remedy=remedy)
        return Parameter.check(self, name, value)


@dataclass(frozen=True, slots=True)
class GainMap(Parameter):
    """A setting that maps grades to gains; a grade that is not in the map is its own gain."""

    def check(self, name: str, value: Any) -> Gains | None:
        """Return the map without entries that change nothing, or None if none is left; or raise with what is allowed.

        >>> GainMap().check("gains", {0: 0, 1: 1.0, 2: 3})
        {2:3}
        """
        if value is None:
            return None
        if not isinstance(value, Mapping):
            remedy = "write it as {grade:gain,…}, such as {1:0,2:3}"
            raise UsageError(f"{name} is {value!r}, but must be a map of grades to gains", remedy=remedy)
        for grade, gain in value.items():
            _check_gain(f"{name}: the gain of grade {grade!r}", grade, gain)
        changed = {_plain(grade): _plain(gain) for grade, gain in value.items() if gain != max(grade, 0)}
        return Gains(changed) or None


def _check_gain(what: str, grade: Any, gain: Any) -> None:
    if not (_is_number(grade) and abs(grade) < np.inf):
        raise UsageError(f"{what} is given, but a grade must be a number")
    if not (_is_number(gain) and 0 <= gain < np.inf):
        raise UsageError(f"{what} is {gain!r}, but must be a number, 0 or more")
    if grade <= 0 < gain:
        remedy = "grade 0 means not relevant, and a negative grade not judged: raise the grades of the judgments by 1"
        raise UsageError(f"{what} is {gain!r}, but only grades above 0 have a gain", remedy=remedy)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _plain(value: float) -> float:
    """Return a number as an int, if it is a whole one, or a float."""
    return int(value) if float(value).is_integer() else float(value)


CUTOFF = Parameter(kind=int, low=1, below=2**62)
CUTOFF_OR_SHARE = ShareOrNumber(kind=int, low=1, below=2**62)
RECALL = Parameter(above=0, high=1)
LEVEL = Parameter(above=0, high=1e15)
OWN_LEVEL = Parameter(above=0, high=1e15, words=("level",))
"""For rows that use the grades themselves by default: a grade, or `level` for the level in force."""
