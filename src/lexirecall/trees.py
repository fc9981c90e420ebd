"""Trees: JSON and TOML that somebody else wrote, read within bounds.

Belongs here: what is refused in any such text, and how that is said. Not here: what a tree means, and opening files.

A key that occurs twice in one object is an error, and so is a tree that is deeper than any that people or tools write.
Numbers of settings, and of files that we write, are finite and have few digits. Data keep the numbers that JSON has,
because their reader decides what they mean: a score may be infinite.
"""

import json
import re
from math import isfinite
from typing import Any, NoReturn

from lexirecall.errors import FormatError, shown

DEEPEST = 100
"""Lists and objects within each other: far fewer than exhaust the stack of whoever reads or shows them."""
MOST_DIGITS = 100
_BLANKS = " \t\r\n"
_BRACKETS = (dict, list)
_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+"""
_PARTS = re.compile(rf"(?:^|[\[{{,])[ \t]*+(?:{_PART}\.[ \t]*+){{{DEEPEST}}}", re.MULTILINE)
"""A key of very many parts, which takes tomllib the square of the time."""
_LINE = re.compile(r" \(at line (\d+), column \d+\)")


class MoreText(FormatError):  # noqa: N818 - the name says what is wrong
    """Text follows the value of JSON."""


def json_tree(
    text: bytes | str, name: str, line: int | None = None, *, remedy: str = "", are_data: bool = False
) -> Any:
    """Return the value that JSON text is, or raise a FormatError; with a `line`, it repeats the text.

    >>> json_tree('{"a": [1, 2.5]}', "mine.json")
    {'a': [1, 2.5]}
    >>> json_tree('{"a": 1, "a": 2}', "mine.json", 7)
    Traceback (most recent call last):
    lexirecall.errors.FormatError: mine.json:7: the key 'a' occurs twice in one object
      keep one of them
    """
    try:
        written = text if isinstance(text, str) else text.decode(json.detect_encoding(text), "surrogatepass")
        value = _decoded(_DATA if are_data else _SETTINGS, written)
        if written.count("[") + written.count("{") > DEEPEST:  # no tree is deeper than that; few texts have so many
            _check_depth(value)
    except _RepeatedKey as error:
        problem = f"the key {shown(str(error))} occurs twice in one object"
        raise FormatError(name, line, problem, remedy="keep one of them") from None
    except json.JSONDecodeError as error:
        kind = MoreText if error.msg == "Extra data" else FormatError
        problem = f"not valid JSON: {error.msg}" + (f": {shown(text)}" if line else "")
        raise kind(name, line or error.lineno, problem, remedy=remedy) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise _refusal("JSON", error, name, line, remedy) from None
    return value


def toml_tree(text: bytes, name: str) -> dict[str, Any]:
    r"""Return the table that TOML text is, or raise a FormatError.

    >>> toml_tree(b"depth = 10", "mine.toml")
    {'depth': 10}
    >>> toml_tree(b"depth = 1\ndepth = 2", "mine.toml")
    Traceback (most recent call last):
    lexirecall.errors.FormatError: mine.toml:2: not valid TOML: Cannot overwrite a value: 'depth = 2'
      see https://toml.io
    """
    import tomllib  # not on top: few commands read it

    remedy = "see https://toml.io"
    try:
        written = text.decode() + "\n"  # for the number of the last line
        value = tomllib.loads(_PARTS.sub(_refuse, written), parse_float=_finite)
        _check_depth(value, checks_numbers=True)
    except tomllib.TOMLDecodeError as error:
        line, problem = None, str(error)
        if found := _LINE.search(problem):
            line = int(found[1])
            *_, last = written.split("\n", line)[:line]  # splitlines would cut at marks within a text
            problem = f"{problem[: found.start()]}: {shown(last)}"
        raise FormatError(name, line, f"not valid TOML: {problem}", remedy=remedy) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise _refusal("TOML", error, name, None, remedy) from None
    return value


def _decoded(decoder: json.JSONDecoder, text: str) -> Any:
    """Do as `decode` does, which takes twice the time for a line."""
    value, end = decoder.raw_decode(text, len(text) - len(text.lstrip(_BLANKS)))
    if rest := text[end:].lstrip(_BLANKS):
        raise json.JSONDecodeError("Extra data", text, len(text) - len(rest))
    return value


def _refuse(*_found: object) -> NoReturn:
    raise RecursionError


def _refusal(form: str, error: Exception, name: str, line: int | None, remedy: str) -> FormatError:
    """Return the error about text that no parser took, though it may follow the grammar."""
    if isinstance(error, UnicodeDecodeError):
        return FormatError(name, line, f"not UTF-8 text: {error.reason}", remedy="convert it to UTF-8")
    reason = str(error) or "it does not fit into memory"
    if isinstance(error, RecursionError):
        reason = f"it is nested more than {DEEPEST} deep"
    elif "set_int_max_str_digits" in reason:  # Python speaks to whoever writes the program
        reason = "a number has thousands of digits"
    return FormatError(name, line, f"not valid {form}: {reason}", remedy=remedy)


def _check_depth(value: Any, *, checks_numbers: bool = False) -> None:
    """Go through a tree level by level, because the stack may not suffice."""
    held = [value]
    for _ in range(DEEPEST + 1):
        for number in held if checks_numbers else ():
            if type(number) is int:
                _whole(str(number))
        level = [node for node in held if type(node) in _BRACKETS]
        if not level:
            return
        held = [child for node in level for child in (node.values() if type(node) is dict else node)]
    _refuse()


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number has more than {MOST_DIGITS} digits: {shown(digits)}")
    return int(digits)


def _finite(digits: str) -> float:
    if len(digits) > MOST_DIGITS:
        _whole(digits)
    if not isfinite(number := float(digits)):
        raise ValueError(f"a number is not finite: {shown(digits)}")
    return number


class _RepeatedKey(Exception):  # noqa: N818 - a detour to the error, which names the file
    """A key occurs twice in one object."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        seen: set[str] = set()
        raise _RepeatedKey(next(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]
    return content


_DATA = json.JSONDecoder(object_pairs_hook=_unique)
_SETTINGS = json.JSONDecoder(object_pairs_hook=_unique, parse_int=_whole, parse_float=_finite, parse_constant=_finite)
