"""Streams: packed data are read to their end or refused, and nothing that never ends is waited for."""

import bz2
import gzip
import io
import lzma
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

from lexirecall import evaluate, project
from lexirecall.errors import FormatError
from lexirecall.formats import pipes
from lexirecall.formats.source import Source
from lexirecall.labels.stops import evaluate_stops
from lexirecall.meta.collection import read_collections

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, 1),
    "gz without isal": lambda data: gzip.compress(data, 1),
    "bz2": lambda data: bz2.compress(data, 1),
    "xz": lambda data: lzma.compress(data, preset=0),
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}
packed_any_way = pytest.mark.parametrize("packing", PACKERS)
HALVES = b"q Q0 a 1 3 t\n" * 50_000, b"q Q0 b 2 2 t\n" * 50_000
GARBAGE = b"this is not compressed at all, but plain text\n"


@pytest.fixture(autouse=True)
def library_of_gzip(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "without isal" in request.node.name:
        monkeypatch.setitem(sys.modules, "isal", None)
        monkeypatch.setitem(sys.modules, "isal.igzip_lib", None)


def unpacked(path: Path, data: bytes) -> bytes:
    path.write_bytes(data)
    with Source(path) as source:
        return source.read_whole()


@packed_any_way
def test_every_stream_of_a_file_is_read(packing: str, tmp_path: Path) -> None:
    parts = [PACKERS[packing](half) for half in HALVES]
    assert unpacked(tmp_path / "run", b"".join(parts)) == b"".join(HALVES)
    assert unpacked(tmp_path / "run", parts[0] + PACKERS[packing](b"") + parts[1]) == b"".join(HALVES)


@packed_any_way
@pytest.mark.parametrize("place", [4, 5, 10, 12, 20, 0.5, -9, -5])
def test_a_damaged_second_stream_is_never_left_out(packing: str, place: float, tmp_path: Path) -> None:
    """Some bytes only say how it was made; then all of it is there."""
    first, second = (PACKERS[packing](half) for half in HALVES)
    at = int(place * len(second)) if place == 0.5 else int(place)
    damaged = bytearray(second)
    damaged[at] ^= 0xFF
    try:
        found = unpacked(tmp_path / "run", first + bytes(damaged))
    except FormatError:
        return
    assert found == b"".join(HALVES)


@packed_any_way
def test_a_second_stream_that_breaks_off_is_an_error_wherever_it_does(packing: str, tmp_path: Path) -> None:
    first, second = PACKERS[packing](b"q Q0 a 1 3 t\n"), PACKERS[packing](b"q Q0 b 2 2 t\n")
    for size in range(1, len(second)):
        with pytest.raises(FormatError, match=r"truncated|corrupt|bytes after the end|unknown"):
            unpacked(tmp_path / "run", first + second[:size])


@packed_any_way
@pytest.mark.parametrize("garbage", [b"x", GARBAGE, b"\0\0x\0", np.random.default_rng(1).bytes(70_000), b"B", b"\n"])
def test_bytes_after_the_end_are_refused_by_name(packing: str, garbage: bytes, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"run: there are bytes after the end of the compressed data: b'.+'"):
        unpacked(tmp_path / "run", PACKERS[packing](HALVES[0]) + garbage)


@pytest.mark.parametrize(
    ("packing", "num_zeros", "is_legal"),
    [
        *(("gz", 1, True), ("gz", 511, True), ("gz", 100_000, True), ("xz", 4, True), ("xz", 100_000, True)),
        *(("xz", 3, False), ("xz", 70_001, False), ("bz2", 4, False), ("zst", 4, False), ("zst", 8, False)),
    ],
)
def test_padding_is_zeros_where_the_format_allows_it(
    packing: str, num_zeros: int, is_legal: bool, tmp_path: Path
) -> None:
    first, second = (PACKERS[packing](half) for half in HALVES)
    for data, whole in ((first, HALVES[0]), (first + bytes(num_zeros) + second, b"".join(HALVES))):
        if is_legal:
            assert unpacked(tmp_path / "run", data + bytes(num_zeros)) == whole
        else:
            with pytest.raises(FormatError, match="bytes after the end"):
                unpacked(tmp_path / "run", data + bytes(num_zeros))


@packed_any_way
@pytest.mark.parametrize("reader", ["python", "compiled"])
def test_a_run_of_two_streams_is_a_whole_run(
    packing: str, reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reader == "python":
        monkeypatch.setenv("LEXIRECALL_READER", "python")
    pack, run = PACKERS[packing], tmp_path / "run"
    run.write_bytes(pack(b"q Q0 a 1 3 t\n") + pack(b"q Q0 b 2 2 t\n"))
    assert evaluate({"q": {"a": 1, "b": 1}}, run, ["AP"]).to_dict() == {"run": {"AP": 1.0}}
    run.write_bytes(pack(b"q Q0 a 1 3 t\n") + GARBAGE)
    with pytest.raises(FormatError, match="bytes after the end"):
        evaluate({"q": {"a": 1, "b": 1}}, run, ["AP"])


FORMS = {
    "newlines": b"\n",
    "spaces": b" ",
    "one letter": b"a",
    "zeros": b"\0",
    "empty rows": b",,\n",
    "quoted rows": b'"","",""\n',
    "a JSON list": b"[",
    "lines of JSON": b'{"q": 1}\n',
}
HEADS = {
    "text": b"q Q0 a 1 3 t\n",
    "CSV": b"qid,docno,score\nq,a,3\n",
    "CSV with quotation marks": b'qid,docno,score\nq,"a",3\n',
    "an export of ASReview": b"record_id,asreview_label,asreview_time\n1,1,2026-05-01\n",
    "JSON": b'{"q": ["a"',
    "nothing": b"",
}


@pytest.mark.parametrize("packing", ["bz2", "zst"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("head", HEADS)
def test_what_unpacks_to_far_more_than_text_does_costs_little(
    packing: str, form: str, head: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.csv"
    path.write_bytes(PACKERS[packing](HEADS[head]) + PACKERS[packing](FORMS[form] * (1 << 17)) * 300)
    start = time.process_time()
    with pytest.raises(FormatError):
        project({"q": {"a": 1}, "run": {"1": 1}}, path)
    assert time.process_time() - start < 10  # under load; about one is usual


# What never ends


def command(words: list[str], feed: str = "") -> tuple[int, str]:
    """Run the command line behind a pipe, with little memory."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)); "
    run = [sys.executable, "-c", limit + "from lexirecall.cli import main; main()", *words]
    with subprocess.Popen(["sh", "-c", feed or "true"], stdout=subprocess.PIPE) as feeder:
        done = subprocess.run(run, stdin=feeder.stdout, capture_output=True, text=True, check=False)
        assert feeder.stdout is not None
        feeder.stdout.close()
    return done.returncode, done.stderr


NEVER_ENDING = {
    "QRELS": "eval {} run",
    "RUN": "eval qrels {}",
    "--by": "compare qrels run other --by {}",
    "--providers": "eval qrels run --providers {}",
    "--units": "eval qrels run --units {}",
    "--corpus-size": "eval qrels run --corpus-size {}",
    "--texts": "explain qrels run other --texts {}",
    "--weights": "fuse qrels run other --weights {} -o fused",
    "--collections": "study --collections {}",
    "--query-ids": "project qrels --query-vectors q.npy --corpus-vectors q.npy --query-ids {} -o kept",
    "--query-vectors": "project qrels --query-vectors {} --corpus-vectors q.npy -o kept",
    "--corpus-ids": "gate qrels run --baseline other --corpus-ids {}",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.save(tmp_path / "q.npy", np.eye(2, dtype=np.float32))
    (tmp_path / "qrels").write_text("q 0 a 1\nr 0 b 1\n")
    (tmp_path / "run").write_text("q Q0 a 1 2 t\nr Q0 b 1 2 t\n")
    (tmp_path / "other").write_text("q Q0 b 1 2 t\nr Q0 b 1 2 t\n")
    return tmp_path


@pytest.mark.skipif(not Path("/dev/zero").is_char_device(), reason="no such device")
@pytest.mark.parametrize("where", NEVER_ENDING)
@pytest.mark.parametrize("path", ["/dev/zero", "/dev/full"])
def test_a_device_that_never_ends_is_refused_wherever_a_file_is_named(where: str, path: str, folder: Path) -> None:
    code, error = command(NEVER_ENDING[where].format(path).split())
    assert code in (1, 2)
    assert "Traceback" not in error
    assert "bug" not in error
    assert path in error


@pytest.mark.parametrize("feed", ["yes ''", "tr '\\0' a < /dev/zero", "yes", "cat /dev/zero"])
@pytest.mark.parametrize("where", ["RUN", "QRELS", "--by", "--texts"])
def test_a_pipe_that_never_ends_is_an_error(feed: str, where: str, folder: Path) -> None:
    code, error = command(NEVER_ENDING[where].format("-").split(), feed)
    assert code in (1, 2), error
    assert "Traceback" not in error
    assert "bug" not in error


def test_a_pipe_is_read_again_from_its_beginning_and_taken_only_as_far_as_it_is_read(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"q 0 a 1\n")
    pipe = pipes.Pipe(os.fdopen(reading, "rb", buffering=0), "x")
    assert pipe.read(3) == b"q 0"
    pipe.seek(0)
    assert pipe.read(8) == b"q 0"
    assert pipe.read(100) == b" a 1\n"
    os.close(writing)
    assert pipe.whole().read() == b"q 0 a 1\n"
    pipe.close()


@pytest.mark.parametrize(
    ("bound", "text", "problem"),
    [
        ("_MOST", b"q 0 a 1\n" * 100_000, "gives more than 0 MiB, and must be kept"),
        ("_LONGEST", b"q" * 500_000, "without a line end"),
        ("_MOST_BLANKS", b"q 0 a 1\n" + b" \n\0\t" * 200_000, "of blanks in a row"),
    ],
)
def test_what_a_pipe_gives_has_bounds(bound: str, text: bytes, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipes, bound, 1 << 17)
    with pytest.raises(FormatError, match=f"x: {problem}|x: gives more than 0 MiB {problem}"):
        pipes.Pipe(io.BytesIO(text), "x").whole()


NO_ROOM = """
import resource
import sys
from lexirecall.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are Unix")
def test_a_pipe_that_does_not_fit_on_the_disk_is_never_read_again_in_part(folder: Path) -> None:
    """The lines of two queries in turn are read twice; what fits on the disk ends with a whole line."""
    run = b"".join(b"%s Q0 d%05d 1 %d t\n" % (query, k, -k) for k in range(4000) for query in (b"q", b"r"))
    arguments = [sys.executable, "-c", NO_ROOM, str(run.rindex(b"r Q0")), "eval", "qrels", "-", "-m", "NumRet"]
    made = subprocess.run(arguments, cwd=folder, input=run, capture_output=True, check=False)
    assert (made.returncode, made.stdout) == (1, b"")
    assert b"standard input: no space left on device" in made.stderr


def test_an_empty_device_is_an_empty_file(folder: Path) -> None:
    with pytest.raises(FormatError, match="the file is empty"):
        evaluate("qrels", "/dev/null")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_nobody_waits_for_a_pipe_within_a_folder_or_in_place_of_vectors(folder: Path) -> None:
    (folder / "table").mkdir()
    os.mkfifo(folder / "table" / "part.csv")
    for words in ("eval qrels table", "project qrels --query-vectors {0} --corpus-vectors {0} -o kept.parquet"):
        code, error = command(words.format("table/part.csv").split())
        assert code == 1
        assert "part.csv: is not a regular file" in error


@pytest.mark.parametrize("what", ["a link that leads nowhere", "a pipe"])
def test_a_pattern_or_a_folder_of_runs_leaves_out_nothing_but_folders(what: str, folder: Path) -> None:
    (folder / "runs").mkdir()
    (folder / "runs" / "a.run").write_text("q Q0 a 1 2 t\nr Q0 b 1 2 t\n")
    (folder / "runs" / "old.run").mkdir()
    (folder / "c.toml").write_text('[[collection]]\nname = "c"\nqrels = "qrels"\nruns = ["runs/*.run", "other"]\n')
    ways: tuple[Callable[[], Any], ...] = (
        lambda: evaluate("qrels", "runs/*.run").runs,
        lambda: [run.run for run in evaluate_stops("qrels", stops="runs", corpus_size=9).runs],
        lambda: [run for run in read_collections("c.toml")[0].read().positions.runs if run != "other"],
    )
    assert [[Path(name).name for name in way()] for way in ways] == [["a.run"]] * 3
    if what == "a pipe" and not hasattr(os, "mkfifo"):
        pytest.skip("needs named pipes")
    strange = folder / "runs" / "b.run"
    os.mkfifo(strange) if what == "a pipe" else strange.symlink_to(folder / "gone")
    for way in ways:
        with pytest.raises(FormatError, match=r"b\.run: is not a regular file, nor a link to one"):
            way()


# Line ends


@pytest.mark.parametrize("reader", ["python", "native"])
@pytest.mark.parametrize(
    ("run", "line"),
    [
        (b"q Q0 a 1 3 t\rq Q0 b 2 2 t\r", 1),
        (b"# made by hand\rq Q0 a 1 3 t\rq Q0 b 2 2 t\r", 1),
        (b"q Q0 a 1 3 t\r\nq Q0 b 2 2 t\rq Q0 c 3 1 t\r\n", 2),
        (b"q Q0 a 1 3 t\n\n\nq Q0 b 2 2 t\rq Q0 c 3 1 t", 4),
        (b"q Q0 a 1 3 t\n" * 1 + b"#" * ((1 << 18) - 14) + b"\rq Q0 b 2 2 t\n", 2),
    ],
)
def test_a_line_end_of_old_macs_is_refused(
    reader: str, run: bytes, line: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXIRECALL_READER", reader)
    (tmp_path / "run").write_bytes(run)
    with pytest.raises(FormatError, match=rf"run:{line}: a carriage return is within the line"):
        evaluate({"q": {"a": 1, "b": 1}}, tmp_path / "run", ["AP"])
    (tmp_path / "run").write_bytes(re.sub(rb"Q0 (\w) \d \d t", rb"0 \1 1", run))
    with pytest.raises(FormatError, match=rf"run:{line}: a carriage return is within the line"):
        evaluate(tmp_path / "run", {"q": ["a"]}, ["AP"])


@pytest.mark.parametrize("reader", ["python", "native"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r\r\n"])
def test_other_line_ends_are_read(reader: str, end: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEXIRECALL_READER", reader)
    (tmp_path / "run").write_bytes(end.join([b"q Q0 a 1 3 t", b"q Q0 b 2 2 t", b""]) + b"q Q0 c 3 1 t\r")
    assert evaluate({"q": {"a": 1, "c": 1}}, tmp_path / "run", ["R@3"]).to_dict() == {"run": {"R@3": 1.0}}
