"""Lines: a text cut into its numbered lines, in bounded memory.

Belongs here: where lines begin and end, and how long one may be. Not here: what a line means (trec).

The length of a line is limited, so no file takes more memory than that, however well it is packed. Blank lines cost no
more than reading them.
"""

import re
from collections.abc import Generator, Iterator
from typing import NoReturn

from lexirecall.errors import FormatError, shown
from lexirecall.formats.source import BYTE_ORDER_MARK, Source

LONGEST_LINE = 1 << 26  # bytes, without the newline
_BLOCK = 1 << 18  # never more than the longest line: only a line that is broken off by blocks can be too long
LONE_RETURN = re.compile(rb"\r[^\r\n]")
_GAP = re.compile(rb"\n\s*\n")


class NoLines(FormatError):  # noqa: N818 - the name says what the text lacks
    """A text has no lines with content, or a line without an end; there is no need to look for damage."""


def groups_of_lines(source: Source) -> Iterator[tuple[int, list[bytes]]]:
    """Give the lines, without their ends, in groups with the number of the first; blank lines between are left out."""
    number, begun = 1, bytearray()
    with source.open() as stream:
        while block := stream.read(_BLOCK):
            begun += block
            end = begun.rfind(b"\n", len(begun) - len(block))
            if (len(begun) if end < 0 else begun.find(b"\n")) > LONGEST_LINE:
                raise too_long(source, number)
            if end >= 0:
                number = yield from _groups(source, bytes(begun[:end]), number)
                del begun[: end + 1]
        if begun:
            yield from _groups(source, bytes(begun), number)


def numbered_lines(source: Source) -> Iterator[tuple[int, bytes]]:
    """Give the lines with their numbers, without their ends and without blank lines."""
    for first, group in groups_of_lines(source):
        for number, line in enumerate(group, first):
            text = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
            if text and not text.isspace():
                yield number, text


def _groups(source: Source, text: bytes, number: int) -> Generator[tuple[int, list[bytes]], None, int]:
    """Cut a text that begins on this line; return the number of the line after it."""
    if b"\r" in text and (lone := LONE_RETURN.search(text)):
        yield from _groups(source, text[: max(0, text.rfind(b"\n", 0, lone.start()))], number)  # errors come in order
        _refuse_return(source, text, lone.start(), number)
    start = 0
    for gap in _GAP.finditer(text):
        group = text[start : gap.start()].split(b"\n")
        yield number, group
        number += len(group) + text.count(b"\n", gap.start() + 1, gap.end())
        start = gap.end()
    group = text[start:].split(b"\n")
    yield number, group
    return number + len(group)


def _refuse_return(source: Source, text: bytes, place: int, number: int) -> NoReturn:
    start, end = text.rfind(b"\n", 0, place) + 1, text.find(b"\n", place)
    problem = f"a carriage return is within the line: {shown(text[start : end if end >= 0 else None])}"
    remedy = "if lines end so, as on old Macs, convert them: tr '\\r' '\\n' < IN > OUT"
    raise FormatError(source.name, number + text.count(b"\n", 0, place), problem, remedy=remedy)


def too_long(source: Source, number: int) -> NoLines:
    """Return the error about a line that is too long to be one."""
    size = f"{LONGEST_LINE >> 20} MiB" if LONGEST_LINE >> 20 else f"{LONGEST_LINE:,} bytes"
    problem = f"line {number:,} is longer than {size}"
    return NoLines(source.name, number, problem, remedy="is this text with line breaks?")


def nothing_in(source: Source, num_lines: int) -> NoLines:
    """Return the error about a file without content."""
    problem = "the file has only empty lines and comments" if num_lines else "the file is empty"
    return NoLines(source.name, None, problem, remedy="was it written completely?")
