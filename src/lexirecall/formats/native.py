"""The compiled reader: judgments and runs in text, block by block, straight to arrays.

Belongs here: handing judgments and blocks to lexirecall._native and taking arrays back. Not here: what lines mean
(trec).

It understands a file as the Python reader does. If a line makes no sense, that reader says why. That reader also reads
what is rare: requests with scattered lines, and duplicates to be left out.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np

from lexirecall.formats import lines
from lexirecall.formats.assembly import assemble, tracks_of
from lexirecall.formats.lists import DuplicateItem
from lexirecall.formats.source import Source
from lexirecall.formats.trec import check_run_line, damage_first, listed_twice, project_text, read_qrels
from lexirecall.judgments import IntArray, Judgments, PackedIds
from lexirecall.manifest import Conventions
from lexirecall.text import to_text
from lexirecall.tracks import SystemPositions

_BLOCK = 1 << 18
_READ_ON, _BAD_LINE, _DUPLICATE, _LONG_LINE = 0, 1, 2, 4  # as in reader.h; the rest is read in Python
TIES = {"trec": 0, "expected": 0, "input": 1, "worst": 2, "best": 3}  # the mean over orders needs the blocks only
_POWERS = range(-342, 309)


def read_qrels_native(source: Source) -> Judgments:
    """Read judgments, as `read_qrels` does; that reader also says what is wrong with them."""
    from lexirecall import _native

    reader = _native.new_judgments(powers_of_ten(), secret(), lines.LONGEST_LINE)
    if _feed(_native, reader, source) != _READ_ON:
        return read_qrels(source)
    request_ids, request_borders, offsets, num_positive, items, borders, grades, num_repeated, number = (
        _native.judgments(reader)
    )
    packed = PackedIds(request_ids, np.frombuffer(request_borders, np.int64))
    if not len(packed):
        raise lines.nothing_in(source, number)
    return Judgments(
        requests=tuple(map(to_text, packed)),
        request_ids=packed,
        offsets=np.frombuffer(offsets, np.int64),
        items=PackedIds(items, np.frombuffer(borders, np.int64)),
        grades=np.frombuffer(grades, np.float64),
        num_positive=np.frombuffer(num_positive, np.int64),
        name=source.name,
        num_repeated=num_repeated,
    )


def project_native(
    source: Source, name: str, judgments: Judgments, conventions: Conventions, *, needs_judged: bool
) -> SystemPositions:
    """Read a run straight into positions, as `project_text` does."""
    from lexirecall import _native

    wants_all = needs_judged or conventions.judged_only
    num_tracked = np.diff(judgments.offsets) if wants_all else judgments.num_positive
    with damage_first(source):
        reader = _new_run(_native, judgments, num_tracked, conventions)
        status = _feed(_native, reader, source)
        found, num_retrieved, num_unjudged, num_extra, number, num_lines, line, request = _native.run(reader)
        if status == _LONG_LINE:
            raise lines.too_long(source, number)
        if status == _READ_ON and num_lines == 0:
            raise lines.nothing_in(source, number)
        if status == _BAD_LINE:
            check_run_line(source, number, line, strict=conventions.strict)
        if status == _DUPLICATE and conventions.duplicates == "error":
            raise listed_twice(source, DuplicateItem(judgments.request_ids[request], line))
    if status != _READ_ON:
        return project_text(source, name, judgments, conventions, needs_judged=needs_judged)
    return assemble(
        name,
        judgments,
        conventions,
        tracks_of(np.frombuffer(found, np.int64).reshape(-1, 5), len(judgments.requests)),
        np.frombuffer(num_retrieved, np.int64),
        needs_judged=needs_judged,
        num_unjudged=num_unjudged,
        num_extra=num_extra,
    )


def _new_run(native: Any, judgments: Judgments, num_tracked: IntArray, conventions: Conventions) -> Any:
    return native.new_run(
        judgments.request_ids.buffer,
        judgments.request_ids.offsets,
        judgments.offsets,
        num_tracked,
        judgments.items.buffer,
        judgments.items.offsets,
        judgments.grades,
        powers_of_ten(),
        secret(),
        TIES[conventions.ties],
        conventions.score_dtype == "float32",
        conventions.strict,
        lines.LONGEST_LINE,
    )


def secret() -> int:
    """Return the key of the hash of ids, which nobody else should know."""
    return int.from_bytes(os.urandom(8))


def _feed(native: Any, reader: Any, source: Source) -> int:
    with source.open() as stream:
        for block in (_ahead if source.is_packed else _in_turn)(stream):
            if status := native.feed(reader, block):
                return int(status)
    return int(native.finish(reader))


def _in_turn(stream: Any) -> Iterator[memoryview]:
    """Read one block after the other, all into the same memory."""
    block = memoryview(bytearray(_BLOCK))
    while count := stream.readinto(block):
        yield block[:count]


def _ahead(stream: Any) -> Iterator[memoryview]:
    """Unpack the next block while this one is read."""
    this, other = memoryview(bytearray(_BLOCK)), memoryview(bytearray(_BLOCK))
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(stream.readinto, this)
        while count := coming.result():
            coming = pool.submit(stream.readinto, other)
            yield this[:count]
            this, other = other, this


@cache
def powers_of_ten() -> bytes:
    """Return the highest 128 bits of 10^-342 … 10^308, rounded down: what correct rounding of decimals needs.

    >>> powers_of_ten()[16 * 342 : 16 * 343].hex()  # 10^0 is a one and nothing but zeros
    '00000000000000800000000000000000'
    """
    words = []
    for power in _POWERS:
        digits = 10**power if power >= 0 else (1 << 2048) // 10**-power
        shift = digits.bit_length() - 128
        bits = digits >> shift if shift >= 0 else digits << -shift
        words += [bits >> 64, bits & (2**64 - 1)]
    return np.array(words, np.uint64).tobytes()
