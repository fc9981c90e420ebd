"""What can go wrong, said so that the reader knows what to do next.

Belongs here: exception classes and how they word themselves.

Every error that a user can cause derives from `LexirecallError`. The command line prints its text without
a traceback and leaves with its `exit_code`: 1 for bad data, 2 for bad usage.
"""

import copyreg
import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from numbers import Integral
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, TypeGuard

from lexirecall.version import VERSION

__all__ = ["DataError", "FormatError", "LexirecallError", "LexirecallWarning", "UnknownMeasure", "UsageError"]

_SHOWN = 80  # characters of offending text that a message repeats
_PACKAGE = str(Path(__file__).parent) + os.sep


class FallbackOption(NamedTuple):
    """An option that lets the work go on all the same, and what each of its values does.

    >>> way = FallbackOption("duplicates", {"first": "the first line", "best": "the highest score"})
    >>> print(way.in_python())
    duplicates='first' (the first line) or 'best' (the highest score)
    >>> print(way.on_command_line())
    --duplicates first (the first line) or best (the highest score)
    """

    option: str
    values: Mapping[str, str]

    def in_python(self) -> str:
        """Write it as a keyword."""
        return f"{self.option}={' or '.join(f'{value!r} ({what})' for value, what in self.values.items())}"

    def on_command_line(self) -> str:
        """Write it as an option."""
        values = " or ".join(f"{value} ({what})" for value, what in self.values.items())
        return f"--{self.option.replace('_', '-')} {values}"


class LexirecallError(Exception):
    """Something is wrong with the input; the text says what, where and how to fix it.

    The code that raises it knows which option would help, but not whether its caller has that option, or how it is
    written there. So `way_on` is kept apart. It is written as in Python, unless the caller chooses otherwise with
    `offer`.
    """

    exit_code = 1

    def __init__(self, problem: str, *, remedy: str = "", way_on: FallbackOption | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.way_on = way_on
        self._remedy = remedy
        self._way_on_text = way_on.in_python() if way_on else ""

    def __reduce__(self) -> tuple[Any, ...]:
        # as in `object`: that of exceptions would call `__init__` with the text
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]

    @property
    def remedy(self) -> str:
        """What the reader can do."""
        return f"{self._remedy}, or go on with {self._way_on_text}" if self._way_on_text else self._remedy

    def advise(self, first: str) -> None:
        """Put what may be the better remedy before the one there is."""
        self._remedy = f"{first}; otherwise {self._remedy}"

    def offer_only(self, value: str) -> None:
        """Leave out the other values of the way on, which the caller does not have."""
        if self.way_on is not None and value in self.way_on.values:
            self.way_on = FallbackOption(self.way_on.option, {value: self.way_on.values[value]})
            self._way_on_text = self.way_on.in_python()

    def offer(self, options: Iterable[str]) -> None:
        """Write the way on as on the command line, if it is among these options; otherwise leave it out."""
        if self.way_on is not None:
            self._way_on_text = self.way_on.on_command_line() if self.way_on.option in options else ""

    def __str__(self) -> str:
        return f"{self.problem}\n  {self.remedy}" if self.remedy else self.problem


class DataError(LexirecallError):
    """The judgments and the runs can be read, but cannot be evaluated together."""


class FormatError(LexirecallError):
    """A file, or a value given in memory, cannot be read.

    >>> print(FormatError("bm25.run", 2, "the score is not a number: 'abc'", remedy="write it as 12.5 or 1e-3"))
    bm25.run:2: the score is not a number: 'abc'
      write it as 12.5 or 1e-3
    """

    def __init__(
        self, source: str, line: int | None, problem: str, *, remedy: str = "", way_on: FallbackOption | None = None
    ) -> None:
        super().__init__(
            f"{source}:{line}: {problem}" if line else f"{source}: {problem}", remedy=remedy, way_on=way_on
        )
        self.source = source
        self.line = line


class UsageError(LexirecallError, ValueError):
    """An option or an argument is not one of those offered."""

    exit_code = 2


class UnknownMeasure(UsageError):  # noqa: N818 - the name says what happened, as KeyError does
    """One or more measure names are not in the table; the text lists all of them."""


class LexirecallWarning(UserWarning):
    """Something that was given did not count, or something was made up in its place; the text says what."""


def newer_format(
    source: str, written_by: object, otherwise: str, *, what: str = "", line: int | None = None
) -> FormatError:
    """Return the error of a file that a newer version has written; `otherwise` is what to do without that version.

    >>> print(newer_format("bm25.parquet", "9.0", "project the runs again"))  # doctest: +ELLIPSIS
    bm25.parquet: was written by lexirecall 9.0, in a newer format (this is lexirecall ...)
      use lexirecall 9.0 or later, or project the runs again
    """
    writer, remedy = f"lexirecall {written_by}", f"use lexirecall {written_by} or later"
    if not isinstance(written_by, str):
        writer, remedy = "a later lexirecall", "update lexirecall"
    problem = f"{what}was written by {writer}, in a newer format (this is lexirecall {VERSION})"
    return FormatError(source, line, problem, remedy=f"{remedy}, or {otherwise}")


def is_ours(frame: FrameType) -> bool:
    """Tell whether code of the package is running in a frame."""
    return frame.f_code.co_filename.startswith(_PACKAGE)


def warn(text: str, category: type[UserWarning] = LexirecallWarning) -> None:
    """Warn, and name the line outside the package that led here, however deep in the package the reason was found."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and is_ours(frame):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def shown(text: bytes | str) -> str:
    r"""Return offending text as a message should repeat it: quoted, escaped, and not too long.

    >>> shown(b"301 Q0 FR94-1\n")
    "'301 Q0 FR94-1'"
    >>> shown("x" * 1000)[-39:]
    "xxxxxxxxxxxxxxxxxx'… (1,000 characters)"
    """
    if isinstance(text, bytes):
        size, text = len(text), text[: 4 * _SHOWN + 4].decode(errors="replace")
    else:
        size = len(text)
    text = text.rstrip("\r\n")
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}… ({size:,} characters)"


def plain(value: float) -> str:
    """Return a number as a person writes it, without losing a digit.

    >>> plain(2.0), plain(0.12345678)
    ('2', '0.12345678')
    """
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def listed(names: Iterable[str], most: int = 5, total: int | None = None) -> str:
    """Join names for a message, the first few in full and the rest as a count; they may be the first of a `total`.

    >>> listed(["a", "b", "c"], most=2), listed(["a", "b"], most=2, total=9)
    ('a, b and 1 more', 'a, b and 7 more')
    """
    names = list(names)
    head = ", ".join(names[:most])
    rest = (len(names) if total is None else total) - most
    return f"{head} and {rest:,} more" if rest > 0 else head


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "document"), counted(1234, "document"), counted(2, "query")
    ('1 document', '1,234 documents', '2 queries')
    """
    plural = noun[:-1] + "ies" if noun.endswith("ry") else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that looks most like an unknown one, if any does.

    >>> nearest("widht", ("width", "height")), nearest("colour", ("width", "height"))
    ('width', None)
    """
    from difflib import get_close_matches  # not on top: most names are known

    return next(iter(get_close_matches(name, tuple(known), n=1)), None)


def hint_at(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Suggest what an unknown name may mean, or else list the known ones, or say something else.

    >>> hint_at("widht", ("width", "height")), hint_at("colour", ("width", "height"))
    ("did you mean 'width'?", 'choose from width, height')
    """
    known = tuple(known)
    near = nearest(name, known)
    return f"did you mean {near!r}?" if near is not None else otherwise or f"choose from {', '.join(known)}"


def choice(option: str, value: object, allowed: Iterable[str], remedy: str = "") -> None:
    """Raise unless the value of an option is one of those offered.

    >>> choice("ties", "random", ("trec", "input"))
    Traceback (most recent call last):
    lexirecall.errors.UsageError: ties is 'random', but must be one of trec, input
    """
    allowed = tuple(allowed)
    if value not in allowed:
        raise UsageError(f"{option} is {value!r}, but must be one of {', '.join(allowed)}", remedy=remedy)


def is_several(value: object) -> TypeGuard[Iterable[Any]]:
    """Tell whether a value holds others, in some order or none; text is one value, and so is an array of no dimension.

    >>> is_several(["AP"]), is_several("AP"), is_several(1)
    (True, False, False)
    """
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes)) and getattr(value, "ndim", 1) != 0


def names_in(option: str, value: Any) -> tuple[str, ...]:
    """Return the texts that an option was given, one or several or None; raise if one is no text.

    >>> names_in("over", "min"), names_in("over", ["min", "max"]), names_in("over", None)
    (('min',), ('min', 'max'), ())
    """
    values = () if value is None else tuple(value) if is_several(value) else (value,)
    for name in values:
        if not isinstance(name, str):
            raise UsageError(f"{option} is {name!r:.100}, but must be text, or several texts")
    return values


def check_count(name: str, value: object, least: int, most: int | None = None, remedy: str = "") -> None:
    """Raise unless the value is a whole number, and neither too small nor too large.

    >>> check_count("seed", -1, 0)
    Traceback (most recent call last):
    lexirecall.errors.UsageError: seed is -1, but must be a whole number of at least 0
    """
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or not least <= value <= (value if most is None else most):  # type: ignore[operator]
        span = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise UsageError(f"{name} is {value!r}, but must be a whole number {span}", remedy=remedy)
