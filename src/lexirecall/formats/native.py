"""The compiled reader: judgments and runs in text, block by block, straight to arrays.

Belongs here: handing judgments and blocks to lexirecall._native and taking arrays back, in the forms that the readers
of dicts and tables share. Not here: what lines mean (trec), dicts (dicts), tables (arrow).

It understands a file as the Python reader does. If a line makes no sense, that reader says why. That reader also reads
what is rare: queries with scattered lines, and duplicates to be left out.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import repeat
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from lexirecall.formats import lines
from lexirecall.formats.assembly import assemble, tracks_of
from lexirecall.formats.parts import Outcome, Span, free_cores, parts_of, together
from lexirecall.formats.rankedlist import DuplicateDocument
from lexirecall.formats.source import Source
from lexirecall.formats.trec import check_run_line, damage_first, listed_twice, project_text, read_qrels
from lexirecall.judgments import FloatArray, IntArray, Judgments, PackedIds, offsets_of
from lexirecall.manifest import Conventions
from lexirecall.text import to_text
from lexirecall.tracks import RunPositions, Tracks

if TYPE_CHECKING:
    from lexirecall.units.unitmap import UnitMap

_BLOCK = 1 << 18
_READ_ON, _BAD_LINE, _DUPLICATE, _LONG_LINE, _AGAIN = 0, 1, 2, 4, 6  # as in reader.h; the rest is read in Python
_STOPPED = -1  # because of another part
_FINDER: str | None = None  # of blanks: plain, sse2, avx2, neon, or the fastest
_TIES = {"trec": 0, "expected": 0, "input": 1, "worst": 2, "best": 3}  # the mean over orders needs the blocks only
_POWERS = range(-342, 309)
_tables: "WeakKeyDictionary[UnitMap, Any]" = WeakKeyDictionary()
_lock = Lock()


def read_qrels_native(source: Source) -> Judgments:
    """Read judgments, as `read_qrels` does; that reader also says what is wrong with them."""
    from lexirecall import _native

    reader = _native.new_judgments(powers_of_ten(), secret(), lines.LONGEST_LINE)
    if _feed(_native, reader, source) != _READ_ON:
        return read_qrels(source)
    *arrays, num_repeated, number = _native.judgments(reader)
    judgments = judgments_from(arrays, source.name, num_repeated=num_repeated)
    if not judgments.queries:
        raise lines.nothing_in(source, number)
    return judgments


def project_native(
    source: Source,
    name: str,
    judgments: Judgments,
    conventions: Conventions,
    units: "UnitMap | None" = None,
    *,
    needs_judged: bool,
) -> RunPositions:
    """Read a run straight into positions, as `project_text` does."""
    from lexirecall import _native

    with damage_first(source):
        arrays = arrays_of(judgments, conventions, units, needs_judged=needs_judged)
        read = _read_run(_native, source, arrays, conventions)
        if read.status == _LONG_LINE:
            raise lines.too_long(source, read.number)
        if read.status == _READ_ON and read.num_lines == 0:
            raise lines.nothing_in(source, read.number)
        if read.status == _BAD_LINE:
            check_run_line(source, read.number, read.line, strict=conventions.strict)
        if read.status == _DUPLICATE and conventions.duplicates == "error":
            raise listed_twice(source, DuplicateDocument(judgments.query_ids[read.query], read.line))
    if read.status != _READ_ON:
        return project_text(source, name, judgments, conventions, units, needs_judged=needs_judged)
    return assemble(
        name,
        judgments,
        conventions,
        tracks_from(read.found, len(judgments.queries)),
        np.frombuffer(read.num_retrieved, np.int64),
        needs_judged=needs_judged,
        num_unjudged=read.unjudged.count(b"\n"),
        num_extra=read.num_extra,
    )


def _read_run(native: Any, source: Source, arrays: "Arrays", conventions: Conventions) -> Outcome:
    """Read a run as if scores descend within each query, and again, keeping all rows, if that is not so.

    A large file is read in parts, and again from its beginning if that does not work out: for what is wrong with it,
    and on which line.
    """
    rules = rules_of(conventions)

    def read(part: Span | None, careful: bool, is_over: Event) -> Outcome:
        reader = native.new_run(
            *arrays, powers_of_ten(), *rules, conventions.strict, lines.LONGEST_LINE, careful, _FINDER
        )
        status = _feed(native, reader, source) if part is None else _feed_part(native, reader, source, part, is_over)
        if status != _READ_ON:
            is_over.set()
        return Outcome(status, *native.run(reader))

    with free_cores() as num_cores:
        parts = parts_of(source, num_cores, len(arrays.num_tracked))
        whole = _read_parts(read, parts) if len(parts) > 1 else None
    if whole is None:
        whole = read(None, False, Event())
    return read(None, True, Event()) if whole.status == _AGAIN else whole


def _read_parts(read: Callable[[Span, bool, Event], Outcome], parts: list[Span]) -> Outcome | None:
    """Read all parts at once; return what they say together, or None if that is not what the file says."""
    from concurrent.futures import ThreadPoolExecutor  # not on top: it imports much, and small files need no threads

    for careful in (False, True):
        is_over = Event()
        with ThreadPoolExecutor(len(parts)) as pool:
            try:
                outcomes = list(pool.map(read, parts, repeat(careful), repeat(is_over)))
            except BaseException:
                is_over.set()
                raise
        statuses = {outcome.status for outcome in outcomes}
        if statuses == {_READ_ON}:
            return together(outcomes)
        if _AGAIN not in statuses:
            return None
    return None


class Arrays(NamedTuple):
    """Judgments as every compiled reader takes them, as in given.h."""

    query_ids: bytes
    query_borders: IntArray
    offsets: IntArray
    num_tracked: IntArray
    document_ids: bytes
    document_borders: IntArray
    grades: FloatArray
    units: Any
    """In which places are counted; None if they are counted in documents."""


def arrays_of(
    judgments: Judgments, conventions: Conventions, units: "UnitMap | None" = None, *, needs_judged: bool
) -> Arrays:
    """Return judgments for a compiled reader: which documents are tracked depends on what is asked for."""
    wants_all = needs_judged or conventions.judged_only
    return Arrays(
        query_ids=judgments.query_ids.buffer,
        query_borders=judgments.query_ids.offsets,
        offsets=judgments.offsets,
        num_tracked=np.diff(judgments.offsets) if wants_all else judgments.num_positive,
        document_ids=judgments.documents.buffer,
        document_borders=judgments.documents.offsets,
        grades=judgments.grades,
        units=None if units is None else _table_of(units),
    )


def _table_of(units: "UnitMap") -> Any:
    """Return a map's documents that may bring no unit, as every compiled reader takes them; None if there are none.

    The table is made once for all runs.
    """
    with _lock:
        if units not in _tables:
            _tables[units] = _new_table(units, np.flatnonzero(units.shares))
        return _tables[units]


def _new_table(units: "UnitMap", slots: IntArray) -> Any:
    from lexirecall import _native
    from lexirecall.providers import members

    if not len(slots):
        return None
    queries = PackedIds.pack([query for query in units.slots if query is not None])
    documents = PackedIds.pack([units.documents[slot] for slot in slots.tolist()])
    return _native.new_units(
        queries.buffer,
        queries.offsets,
        documents.buffer,
        documents.offsets,
        units.owners[slots],
        offsets_of(np.diff(units.offsets)[slots]),
        units.units[members(units.offsets, slots)],
        secret(),
    )


def rules_of(conventions: Conventions) -> tuple[int, int, bool]:
    """Return a new key for ids, and the rules by which every compiled reader puts rows in order."""
    return secret(), _TIES[conventions.ties], conventions.score_dtype == "float32"


def judgments_from(arrays: Sequence[bytes], name: str, **more: Any) -> Judgments:
    """Return judgments as every compiled reader gives them."""
    query_ids, query_borders, offsets, num_positive, documents, borders, grades = arrays
    packed = PackedIds(query_ids, np.frombuffer(query_borders, np.int64))
    return Judgments(
        queries=tuple(map(to_text, packed)),
        query_ids=packed,
        offsets=np.frombuffer(offsets, np.int64),
        documents=PackedIds(documents, np.frombuffer(borders, np.int64)),
        grades=np.frombuffer(grades, np.float64),
        num_positive=np.frombuffer(num_positive, np.int64),
        name=name,
        **more,
    )


def tracks_from(found: bytes, num_rankings: int) -> Tracks:
    """Return where judged documents are as every compiled reader gives them."""
    return tracks_of(np.frombuffer(found, np.int64).reshape(-1, 5), num_rankings)


def secret() -> int:
    """Return a key of the hash of ids, which nobody else should know.

    >>> 0 <= secret() < 2**64
    True
    """
    return int.from_bytes(os.urandom(8))


def _feed(native: Any, reader: Any, source: Source) -> int:
    with source.open() as stream:
        for block in (_ahead if source.is_packed else _in_turn)(stream):
            if status := native.feed(reader, block):
                return int(status)
    return int(native.finish(reader))


def _feed_part(native: Any, reader: Any, source: Source, part: Span, is_over: Event) -> int:
    """Read a part of a file, unless another part has failed."""
    start, stop = part
    with source.open_from(start) as stream:
        block = memoryview(bytearray(_BLOCK))
        while not is_over.is_set():
            count = stream.readinto(block if stop is None else block[: stop - start])  # type: ignore[attr-defined]
            if not count:
                return int(native.finish(reader))
            start += count
            if status := native.feed(reader, block[:count]):
                return int(status)
    return _STOPPED


def _in_turn(stream: Any) -> Iterator[memoryview]:
    """Read one block after the other, all into the same memory."""
    block = memoryview(bytearray(_BLOCK))
    while count := stream.readinto(block):
        yield block[:count]


def _ahead(stream: Any) -> Iterator[memoryview]:
    """Unpack the next block while this one is read."""
    from concurrent.futures import ThreadPoolExecutor

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
    # The table of Lemire (2021); 2^2048 / 10^342 still has 912 bits, so its highest 128 are exact.
    words = []
    for power in _POWERS:
        digits = 10**power if power >= 0 else (1 << 2048) // 10**-power
        shift = digits.bit_length() - 128
        bits = digits >> shift if shift >= 0 else digits << -shift
        words += [bits >> 64, bits & (2**64 - 1)]
    return np.array(words, np.uint64).tobytes()
