"""Fields: an option is one field of a frozen record, and everything else is read from there.

Belongs here: what a field says in addition to its type and default, and how the fields of records become the keywords
of a function. Not here: the options themselves (manifest), what the command line makes of them (cli).
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import wraps
from numbers import Real
from typing import Any, ParamSpec, TypeVar

from lexirecall.errors import UsageError, choice, hint_at, is_ours
from lexirecall.notices import warn_of

P = ParamSpec("P")
R = TypeVar("R")
_KEY = "option"
_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "choice": ((str,), "one of {}"),
    "flag": ((), "True or False"),  # which `taken` knows by their names
    "number": ((Real,), "a number"),
    "whole": ((Real,), "a whole number"),
    "text": ((str, Iterable), "text, or several texts"),
    "pairs": ((Mapping,), "a mapping from names"),
    "several": ((str, Iterable), "text, or several texts"),
}
"""What a keyword may be, for each kind of option; files have many forms."""


@dataclass(frozen=True, slots=True)
class Option:
    """What people see of a field: its help, and which values it takes."""

    help: str
    kind: str
    """choice, flag, number, whole (number), size (a whole number or a file), file, text, several (texts) or pairs
    (name=value)."""
    choices: tuple[str, ...] = ()
    least: int = 0
    """Of whole numbers."""
    most: int = 2**53
    metavar: str | None = None
    example: str = ""
    """Of pairs."""
    flag: str = ""
    """Its name on the command line, if that is not the name of the field."""


def option(
    help: str,  # noqa: A002 - as click calls it
    kind: str = "choice",
    **more: Any,
) -> dict[str, Option]:
    """Return the metadata of a field that the command line offers; other fields are only keywords."""
    return {_KEY: Option(help, kind, **more)}


def option_of(field: "Field[Any]") -> Option | None:
    """Return what people see of a field, None if it is not offered."""
    found: Option | None = field.metadata.get(_KEY)
    return found


def offered(*records: type) -> Iterator[tuple["Field[Any]", Option]]:
    """Give the fields of records that the command line offers."""
    for record in records:
        for field in fields(record):
            if (found := option_of(field)) is not None:
                yield field, found


def choices_of(record: type, name: str) -> tuple[str, ...]:
    """Return the values that a field of a record may have."""
    return next(found.choices for field, found in offered(record) if field.name == name)


def check_choices(record: Any) -> None:
    """Raise if a field of a record has a value that is not offered; None is allowed if it is the default."""
    for field, found in offered(type(record)):
        value = getattr(record, field.name)
        if found.kind == "choice" and not (value is None and field.default is None):
            choice(field.name, value, found.choices)


def names_of(*records: type) -> tuple[str, ...]:
    """Return the names of the fields of records."""
    return tuple(field.name for record in records for field in fields(record))


def among(record: type, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are fields of a record."""
    return {name: options[name] for name in names_of(record) if name in options}


def taken(record: Callable[..., R], options: dict[str, Any]) -> R:
    """Make a record from the options that are its fields, each of the type it must be, and remove them from the others.

    >>> options = {"help": "of what", "kind": "flag", "other": 1}
    >>> taken(Option, options).kind, options
    ('flag', {'other': 1})
    """
    chosen = {name: options.pop(name) for name in names_of(record) if name in options}  # type: ignore[arg-type]
    for field, found in offered(record):  # type: ignore[arg-type]
        types, what = _TYPES.get(found.kind, ((object,), ""))
        value = chosen.get(field.name, field.default)
        is_truth = type(value).__name__ in ("bool", "bool_")  # numpy's too; to Python, its own is a number
        fits = found.kind == "flag" if is_truth and what else isinstance(value, types)
        if not (fits or value is field.default):
            text = what.format(", ".join(found.choices))
            raise UsageError(f"{field.name} is {value!r:.100}, but must be {text}")
    return record(**chosen)


def takes(*records: type, warns: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let the `**options` of a function be the fields of records: its signature shows them, and refuses all others.

    If it warns, code outside the package is warned of the notes of its result that change numbers. Commands and
    adapters, which call the same functions, say what is to be said in their own ways.

    >>> @dataclass(frozen=True)
    ... class Size:
    ...     width: int = 80
    >>> @takes(Size)
    ... def draw(text, **options): return options
    >>> print(inspect.signature(draw))
    (text, *, width: int = 80)
    >>> draw("x", widht=3)
    Traceback (most recent call last):
    TypeError: draw() has no keyword 'widht': did you mean 'width'?
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = _signature(function, records)

        @wraps(function)
        def checked(*arguments: P.args, **options: P.kwargs) -> R:
            for name in options:
                if name not in signature.parameters:
                    hint = hint_at(name, signature.parameters)
                    raise TypeError(f"{function.__name__}() has no keyword {name!r}: {hint}")
            result = function(*arguments, **options)
            if warns and not is_ours(sys._getframe(1)):
                warn_of(getattr(result, "notes", ()), options)
            return result

        checked.__signature__ = signature  # type: ignore[attr-defined]
        return checked

    return decorate


def _signature(function: Callable[..., Any], records: tuple[type, ...]) -> inspect.Signature:
    """Return the signature with a keyword for each field instead of `**options`."""
    signature = inspect.signature(function)
    named = [
        parameter for parameter in signature.parameters.values() if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    more = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=field.type,
        )
        for record in records
        for field in fields(record)
        if field.name not in signature.parameters
    ]
    return signature.replace(parameters=[*named, *more])
