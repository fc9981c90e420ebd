"""Parts: one large file of text, cut between two queries, so that several cores can read it.

Belongs here: where to cut, into how many parts, and what the parts say together. Not here: reading one (native).

A cut is only a guess that pays: if the lines of a query turn out to be in two parts, or if anything is wrong with a
line, the file is read from its beginning, by one core.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import IO, NamedTuple

import numpy as np

from lexirecall.formats.source import BYTE_ORDER_MARK, Source

_LEAST = 16 << 20  # bytes of a part: fewer are not worth a thread
_MOST_PARTS = 16
_MOST_HELD = 1 << 18  # judged queries, over all parts but one: each part has a table of them, about 50 bytes each
_STEP = 1 << 16
_LONGEST = 1 << 16  # a line that is longer is no place to cut
_busy = 0
_lock = threading.Lock()

Span = tuple[int, int | None]
"""Where a part begins, and where it ends; the last ends with the file."""


class Outcome(NamedTuple):
    """What the compiled reader says of a run, or of a part of it; after the first, as in module.c."""

    status: int
    found: bytes
    num_retrieved: bytes
    unjudged: bytes
    """The ids of queries without judgments, each with a newline behind it."""
    num_extra: int
    number: int
    num_lines: int
    line: bytes
    query: int


def num_cores() -> int:
    """Return how many threads can work at once: one where none can be started, as in a browser, whatever it has."""
    return 1 if sys.platform == "emscripten" else os.cpu_count() or 1


@contextlib.contextmanager
def free_cores() -> Iterator[int]:
    """Give the number of cores for one more file, as long as it is read."""
    global _busy  # noqa: PLW0603 - cores are what all files share
    with _lock:
        _busy += 1
        free = max(1, num_cores() // _busy)
    try:
        yield free
    finally:
        with _lock:
            _busy -= 1


def parts_of(source: Source, num_cores: int, num_queries: int) -> list[Span]:
    """Cut a file; there is one part if it is small, packed or a pipe, or if there is no good place to cut."""
    most = min(num_cores, _MOST_PARTS, source.size // _LEAST, 1 + _MOST_HELD // max(1, num_queries))
    if most < 2 or not source.is_plain_file:
        return [(0, None)]
    starts = [0]
    with source.open_from(0) as stream:
        size = source.size
        for number in range(1, most):
            start = _border(stream, max(starts[-1], size * number // most), size)
            if start is None:
                break
            starts.append(start)
    return list(zip(starts, [*starts[1:], None], strict=True))


def _border(stream: IO[bytes], start: int, size: int) -> int | None:
    """Return where a line begins that has another query than the line before it, not far behind the start."""
    first, _ = _line_after(stream, start)
    low, high, step = start, start + _STEP, _STEP
    if first is None:
        return None
    while _line_after(stream, high)[0] in (None, first):
        low, high, step = high, high + step, 2 * step
        if high >= size:
            return None
    while high - low > 1:  # the first query is on the line after `low`, and another one on the line after `high`
        middle = (low + high) // 2
        if _line_after(stream, middle)[0] in (None, first):
            low = middle
        else:
            high = middle
    query, border = _line_after(stream, high)
    is_marked = query is not None and query.startswith(BYTE_ORDER_MARK)  # which says nothing in a first line only
    return None if is_marked else border


def _line_after(stream: IO[bytes], place: int) -> tuple[bytes | None, int]:
    """Return the query of the first line that begins after a place, and where that line begins."""
    stream.seek(place)
    start = place + len(stream.readline(_LONGEST))
    return _query_of(stream.readline(_LONGEST)), start


def _query_of(line: bytes) -> bytes | None:
    """Return the query of a line; None if it has none, or if the line is too long."""
    fields = line.split(None, 1)
    return fields[0] if fields and line.endswith(b"\n") and not fields[0].startswith(b"#") else None


def together(parts: Sequence[Outcome]) -> Outcome | None:
    r"""Return what the parts of a file say together; None if the lines of a judged query are in two of them.

    >>> answers = [np.array(numbers).tobytes() for numbers in ([3, -1], [-1, 2])]
    >>> parts = [Outcome(0, b"", each, b"q\nr\n", 0, 5, 5, b"", 0) for each in answers]
    >>> outcome = together(parts)
    >>> np.frombuffer(outcome.num_retrieved, np.int64).tolist(), outcome.unjudged, outcome.num_lines
    ([3, 2], b'q\nr\n', 10)
    >>> together([parts[0], parts[0]])
    """
    answers = np.stack([np.frombuffer(part.num_retrieved, np.int64) for part in parts])
    if ((answers >= 0).sum(axis=0) > 1).any():
        return None
    unjudged = dict.fromkeys(line for part in parts for line in part.unjudged.splitlines(keepends=True))
    return Outcome(
        status=max(part.status for part in parts),
        found=b"".join(part.found for part in parts),
        num_retrieved=answers.max(axis=0).tobytes(),
        unjudged=b"".join(unjudged),
        num_extra=sum(part.num_extra for part in parts),
        number=sum(part.number for part in parts),
        num_lines=sum(part.num_lines for part in parts),
        line=b"",
        query=0,
    )
