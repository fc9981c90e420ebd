"""Hostile input: files whose reading takes forever if anything in it is quadratic.

Hardly any of this is timed: a reader that is quadratic here would not come back. The Python reader, which means the
same, is given smaller files.
"""

import bz2
import gzip
import lzma
import time
import tracemalloc
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

from lexirecall import Judgments
from lexirecall.errors import FormatError
from lexirecall.formats import lines, native, unpacking
from lexirecall.formats.jsontext import load_json
from lexirecall.formats.native import project_native, read_qrels_native
from lexirecall.formats.source import Source
from lexirecall.formats.trec import project_text, read_qrels
from lexirecall.judgments import IntArray
from lexirecall.manifest import Conventions
from lexirecall.reader import is_built
from lexirecall.tracks import RunPositions


@dataclass(frozen=True)
class Reader:
    """One of the readers, and how much smaller than for the compiled one its files are."""

    judge: Callable[[Source], Judgments]
    project: Callable[..., RunPositions]
    ease: int

    def read(self, path: Path, judgments: Judgments, ties: str = "trec") -> RunPositions:
        with Source(path) as source:
            return self.project(source, "run", judgments, Conventions(ties=ties), needs_judged=False)


needs_compiler = pytest.mark.skipif(not is_built(), reason="there was no C compiler")
both_readers = pytest.mark.parametrize(
    "reader",
    [
        pytest.param(Reader(read_qrels_native, project_native, 1), id="native", marks=needs_compiler),
        pytest.param(Reader(read_qrels, project_text, 20), id="python"),
    ],
)


def write(path: Path, parts: Iterable[bytes]) -> Path:
    path.write_bytes(b"".join(parts))
    return path


def judging(documents: Iterable[bytes], query: bytes = b"q") -> Judgments:
    return Judgments.from_grades({query: dict.fromkeys(documents, 1.0)})


def numbers_of(run: RunPositions, judgments: Judgments) -> IntArray:
    """Return the numbers in the names of documents found, d0000017 and the like, in the order of their positions."""
    return np.array([int(judgments.documents[document][1:]) for document in run.found.documents.tolist()])


def shuffled(count: int) -> Iterable[int]:
    """Give 0 … count - 1 in an order that is neither up nor down."""
    return (7919 * i % count for i in range(count))  # 7919 is prime, and divides none of the counts


# Ties and orders


@both_readers
@pytest.mark.parametrize(("ties", "is_unordered"), [("trec", False), ("trec", True), ("worst", True), ("input", True)])
def test_a_million_ties(tmp_path: Path, reader: Reader, ties: str, is_unordered: bool) -> None:
    """Every tenth document is judged; ids descending by bytes is numbers descending."""
    count = 1_000_000 // reader.ease
    lower = b"q Q0 zero 0 0 t\n" if is_unordered else b""  # a score that others are above, though they come later
    path = write(tmp_path / "run", [lower, *map(b"q Q0 d%07d 0 1 t\n".__mod__, shuffled(count))])
    judgments = judging(map(b"d%07d".__mod__, range(0, count, 10)))
    run = reader.read(path, judgments, ties)
    positions, numbers = run.found.positions, numbers_of(run, judgments)
    if ties == "input":
        order = np.fromiter(shuffled(count), int)
        assert (order[positions - 1] == numbers).all()
    elif ties == "worst":
        assert positions.tolist() == list(range(count - count // 10 + 1, count + 1))
        assert numbers.tolist() == list(range(0, count, 10))[::-1]
    else:
        assert (positions == count - numbers).all()
    assert len(positions) == count // 10
    assert run.num_retrieved.tolist() == [count + is_unordered]


@both_readers
def test_one_query_of_two_million_lines(tmp_path: Path, reader: Reader) -> None:
    count = 2_000_000 // reader.ease
    path = write(tmp_path / "run", (b"q Q0 d%07d 0 %d t\n" % (i, count - i) for i in range(count)))
    judgments = judging(map(b"d%07d".__mod__, range(0, count, 1000)))
    run = reader.read(path, judgments)
    assert run.found.positions.tolist() == list(range(1, count, 1000))
    assert run.num_retrieved.tolist() == [count]


@both_readers
def test_a_ranking_from_the_bottom_to_the_top_in_which_every_document_is_judged(tmp_path: Path, reader: Reader) -> None:
    count = 300_000 // reader.ease
    path = write(tmp_path / "run", (b"q Q0 d%07d 0 %d.5 t\n" % (i, i) for i in range(count)))
    judgments = judging(map(b"d%07d".__mod__, range(count)))
    run = reader.read(path, judgments)
    assert run.found.positions.tolist() == list(range(1, count + 1))
    assert (numbers_of(run, judgments) == np.arange(count)[::-1]).all()


# Long lines


@both_readers
@pytest.mark.parametrize("block", [4096, 1 << 20])
def test_a_line_of_20_megabytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Reader, block: int) -> None:
    """It may be an id or a comment; the lines around it are read."""
    monkeypatch.setattr(native, "_BLOCK", block)
    long = b"x" * (20_000_000 // reader.ease)
    text = [b"q Q0 a 1 3 t\n", b"#" + long + b"\n", b"q Q0 " + long + b" 2 2 t\n", b"q Q0 b 3 1 " + long]
    run = reader.read(write(tmp_path / "run", text), judging([b"a", long, b"b"]))
    assert run.found.positions.tolist() == [1, 2, 3]


@both_readers
def test_a_line_of_two_million_fields(tmp_path: Path, reader: Reader) -> None:
    count = 2_000_000 // reader.ease
    path = write(tmp_path / "run", [b"q Q0 a 1 3 t\n", b"x " * count])
    with pytest.raises(FormatError, match=r"run:2: a run line has 6 fields .*, found more than 7: "):
        reader.read(path, judging([b"a"]))


@both_readers
@pytest.mark.parametrize(("digits", "score"), [(b"0", 0.0), (b"9", 10.0)])
def test_a_score_of_a_million_digits(tmp_path: Path, reader: Reader, digits: bytes, score: float) -> None:
    """Below, equal to and above it."""
    long = digits + b"." + digits * 1_000_000
    scores = {b"a": b"%f" % (score - 0.5), b"b": b"%f" % score, b"c": long, b"d": b"%f" % (score + 0.5)}
    path = write(tmp_path / "run", (b"q Q0 %s 0 %s t\n" % pair for pair in scores.items()))
    run = reader.read(path, judging(scores))
    assert run.found.documents.tolist() == [3, 2, 1, 0]
    assert run.found.positions.tolist() == [1, 2, 3, 4]


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": lambda data: gzip.compress(data, 1),
    "bz2": lambda data: bz2.compress(data, 1),
    "xz": lambda data: lzma.compress(data, preset=0),
    "zst": zstandard.compress,
}


@both_readers
@pytest.mark.parametrize("packing", PACKERS)
def test_a_line_without_an_end_is_refused_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Reader, packing: str
) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 1 << 20)
    path = write(tmp_path / "run", [PACKERS[packing](b"q Q0 a 1 3 t\n" + b"x" * (96 << 20))])
    judgments = judging([b"a"])
    for read in (lambda: reader.read(path, judgments), lambda: reader.judge(Source(path))):
        tracemalloc.start()
        try:
            with pytest.raises(
                FormatError,
                match=r"run:(2: line 2 is longer than 1 MiB|1: a qrels line| the compressed data unpacks to more)\b",
            ):
                read()
            assert tracemalloc.get_traced_memory()[1] < 72 << 20
        finally:
            tracemalloc.stop()


@both_readers
def test_a_line_may_be_as_long_as_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Reader) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 1 << 20)
    long = b"x" * ((1 << 20) - len(b"q Q0  1 3 t"))
    judgments = judging([long])
    path = write(tmp_path / "run", [b"q Q0 %s 1 3 t\n" % long])
    assert reader.read(path, judgments).found.positions.tolist() == [1]
    with pytest.raises(FormatError, match=r"run:1: line 1 is longer than 1 MiB\n  "):
        reader.read(write(path, [b"q Q0 %sx 1 3 t\n" % long]), judgments)


# Blank lines


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


@both_readers
@pytest.mark.parametrize("blank", [b"\n", b" \n", b"\r\n"])
def test_blank_lines_cost_less_than_counting_them_in_python(tmp_path: Path, reader: Reader, blank: bytes) -> None:
    count = 10_000_000
    path = write(tmp_path / "run", [blank * count])

    def read() -> None:
        with pytest.raises(FormatError, match="run: the file has only empty lines and comments"):
            reader.read(path, judging([b"a"]))

    def count_all() -> None:
        for _ in range(count):
            pass

    assert seconds(read) < 3 * seconds(count_all)


@both_readers
@pytest.mark.parametrize("blank", [b"\n", b" \n", b"\r\n", b" \t\x0b\n\n"])
def test_blank_lines_are_counted(tmp_path: Path, reader: Reader, blank: bytes) -> None:
    """Between lines, and across blocks."""
    number = 1_000_000 * blank.count(b"\n")
    path = write(tmp_path / "run", [blank * 1_000_000, b"q Q0 a 1 3 t\n", blank * 1_000_000, b"  bad"])
    with pytest.raises(FormatError, match=rf"run:{2 * number + 2}: a run line has 6 fields"):
        reader.read(path, judging([b"a"]))


# Packed data


def test_zst_is_unpacked_into_whole_blocks(tmp_path: Path) -> None:
    text = b"".join(b"q Q0 d%d 1 %d t\n" % (i, i) for i in range(100_000))
    block, sizes = bytearray(1 << 16), []
    with Source(write(tmp_path / "run.zst", [zstandard.compress(text)])).open() as stream:
        while size := stream.readinto(block):  # type: ignore[attr-defined]
            sizes.append(size)
    assert sum(sizes) == len(text)
    assert set(sizes[:-1]) == {1 << 16}


def zst_of_equal_bytes(num_blocks: int) -> bytes:
    """Write a frame of blocks that repeat a blank 131,072 times, in four bytes each."""
    head = b"\x28\xb5\x2f\xfd" + bytes([0, 56])  # no checksum, a window of 128 KiB
    blocks = [((1 << 17) << 3 | 1 << 1 | (i == num_blocks - 1)).to_bytes(3, "little") + b" " for i in range(num_blocks)]
    return head + b"".join(blocks)


def test_zst_is_unpacked_a_few_blocks_at_a_time_however_small_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "ROOM", 1 << 30)
    num_blocks, size = 300, 0
    packed = zst_of_equal_bytes(num_blocks)
    with Source(write(tmp_path / "run.zst", [packed])).open() as stream:
        unbuffered: Any = stream.raw  # type: ignore[attr-defined]
        while unbuffered.readinto(bytearray(1)):
            size += 1 + len(unbuffered._unpacked)
            assert len(unbuffered._unpacked) < 16 << 17
            unbuffered._unpacked = memoryview(b"")
    assert size + (1 << 18) >= num_blocks << 17  # what was looked at first is gone


@pytest.mark.parametrize("packing", ["xz", "zst"])
def test_json_that_unpacks_to_far_more_than_text_does_is_refused(tmp_path: Path, packing: str) -> None:
    path = write(tmp_path / "run", [PACKERS[packing](b'{"q": ["a"' + b" " * (80 << 20) + b"]}")])
    with pytest.raises(FormatError, match="run: the compressed data unpacks to more than 1,000 times its size"):
        load_json(Source(path), "a run is an object")


def test_a_key_that_is_there_twice_among_many(tmp_path: Path) -> None:
    keys = ",".join(f'"d{i}": 1' for i in range(300_000))
    path = write(tmp_path / "qrels", [f'{{"q": {{{keys}, "d299999": 1}}}}'.encode()])
    with pytest.raises(FormatError, match="the key 'd299999' occurs twice in one object"):
        load_json(Source(path), "a run is an object")


# Hashes


def colliding(count: int) -> list[bytes]:
    """Return ids that the compiled reader's hash (native/hash.h) could not tell apart if its secret key were 0.

    Of sixteen bytes it multiplies the first eight with the others, and these are chosen so that they become 0.
    """
    zero = (16 * 0x9E3779B97F4A7C15 % (1 << 64)).to_bytes(8, "little")
    return [b"%08d" % i + zero for i in shuffled(count)]


@both_readers
def test_ids_chosen_to_collide_do_not(tmp_path: Path, reader: Reader) -> None:
    count = 200_000 // reader.ease
    ids = colliding(count)
    assert len(set(ids)) == count
    path = write(tmp_path / "run", (b"q Q0 %s 0 %d t\n" % (document, -i) for i, document in enumerate(ids)))
    run = reader.read(path, judging(ids[::2]))
    assert run.found.positions.tolist() == list(range(1, count, 2))


# Many queries


@both_readers
def test_many_queries_of_one_line(tmp_path: Path, reader: Reader) -> None:
    """Every other document is the one that was judged."""
    count = 200_000 // reader.ease
    path = write(tmp_path / "run", (b"q%d Q0 d%d 0 1 t\n" % (i, i % 2) for i in shuffled(count)))
    judgments = Judgments.from_grades({b"q%d" % i: {b"d1": 1.0} for i in range(count)})
    run = reader.read(path, judgments)
    assert run.num_retrieved.tolist() == [1] * count
    assert run.found.segments.sizes.tolist() == [0, 1] * (count // 2)
    assert set(run.found.positions.tolist()) == {1}


@both_readers
@pytest.mark.parametrize("num_queries", [1, 2, 200_000])
def test_queries_that_nobody_judged(tmp_path: Path, reader: Reader, num_queries: int) -> None:
    """Even if their lines are scattered over the file."""
    count = 200_000 // reader.ease
    path = write(tmp_path / "run", (b"u%d Q0 d%d 0 1 t\n" % (i % num_queries, i) for i in range(count)))
    run = reader.read(path, judging([b"d1"]))
    assert run.num_unjudged == min(num_queries, count)
    assert run.answered.tolist() == [False]
    assert run.found.positions.tolist() == []


@both_readers
def test_judged_queries_whose_lines_alternate(tmp_path: Path, reader: Reader) -> None:
    count = 100_000 // reader.ease
    path = write(tmp_path / "run", (b"q%d Q0 d%d 0 %d t\n" % (i % 2, i, -i) for i in range(2 * count)))
    judgments = Judgments.from_grades({b"q0": {b"d0": 1.0}, b"q1": {b"d%d" % (2 * count - 1): 1.0}})
    assert reader.read(path, judgments).found.positions.tolist() == [1, count]


@both_readers
def test_a_large_query_makes_the_small_ones_after_it_no_slower(tmp_path: Path, reader: Reader) -> None:
    large, small = 500_000 // reader.ease, 20_000 // reader.ease
    text = [b"q0 Q0 d%d 0 %d t\n" % (i, -i) for i in range(large)]
    text += [b"q%d Q0 a 0 1 t\n" % i for i in range(1, small)]
    judgments = Judgments.from_grades({b"q%d" % i: {b"a": 1.0, b"d7": 1.0} for i in range(small)})
    run = reader.read(write(tmp_path / "run", text), judgments)
    assert run.found.positions.tolist() == [8] + [1] * (small - 1)


# Judgments


@both_readers
@pytest.mark.parametrize("num_queries", [1, 2, 400_000])
def test_many_judgments(tmp_path: Path, reader: Reader, num_queries: int) -> None:
    """Those of one query, of two that alternate, and one for each query; each is there twice."""
    count = 400_000 // reader.ease
    text = [b"q%d 0 d%d %d\n" % (i % num_queries, i, i % 2) for i in range(count)]
    judgments = reader.judge(Source(write(tmp_path / "qrels", text * 2)))
    assert len(judgments.queries) == min(num_queries, count)
    assert judgments.num_repeated == count
    assert sorted(judgments.documents) == sorted(b"d%d" % i for i in range(count))
    assert judgments.num_positive.sum() == count // 2


@both_readers
def test_judged_ids_chosen_to_collide_do_not(tmp_path: Path, reader: Reader) -> None:
    ids = colliding(200_000 // reader.ease)
    judgments = reader.judge(Source(write(tmp_path / "qrels", map(b"q 0 %s 1\n".__mod__, ids))))
    assert list(judgments.documents) == ids
