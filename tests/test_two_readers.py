"""One meaning, two readers: whatever a file holds, the compiled reader and the readable one say the same of it."""

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lexirecall import Judgments, LexirecallError, evaluate, project
from lexirecall.errors import FormatError, UsageError
from lexirecall.fields import choices_of
from lexirecall.formats import lines, lists, native
from lexirecall.formats.source import Source
from lexirecall.formats.trec import project_text, read_qrels
from lexirecall.manifest import Conventions
from lexirecall.reader import is_built, reader_in_use
from strategies import quick

pytestmark = pytest.mark.skipif(not is_built(), reason="the compiled reader was not built: there was no C compiler")

QRELS = {
    b"q1": {b"a": 1.0, b"b": 2.0, b"c": 0.0, b"d": -1.0, "ä".encode(): 1.0, b"e" * 70: 1.0},
    b"q2": {b"a": 1.0, b"x": 0.5},
    b"#q": {b"a": 1.0},
    b"q3": {b"a": 0.0},
}
JUDGMENTS = Judgments.from_grades(QRELS)

QUERIES = st.sampled_from([b"q1", b"q1", b"q2", b"q3", b"q", b"q11", b"\xff"])
DOCUMENTS = st.sampled_from([*QRELS[b"q1"], b"x", b"y", b"z", b"B", b"aa", b"\x01", b"e" * 71, b"f" * 300]) | st.binary(
    min_size=1, max_size=12
).filter(lambda document: not document.split() or document.split() == [document])
NUMBERS = (
    st.floats(allow_nan=False).map(repr)
    | st.integers(-3, 3).map(str)
    | st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
    | st.sampled_from(["0.5", "0.50", ".5", "5.", "-0.0", "inf", "-Infinity", "1e400", "1e-400"])
)

NO_NUMBERS = st.sampled_from(
    [
        "nan",
        "NaN",
        "",
        "1__0",
        "1_0",
        "1_000.5",
        "_1",
        "\uff11",
        "0x10",
        "1e",
        "--1",
        "1,5",
        "abc",
        ".",
        "e5",
        "½",
        "1 2",
    ]
)
RANKS = st.sampled_from([b"1", b"1", b"-12", b"+0", b"+-1", b"-", b"1.0", b"1e3", b"word", b"inf", b"1_0", b"\0"])
BLANKS = st.sampled_from([b" ", b"\t", b"  ", b" \t ", b"\v", b"\f", b"\r", b" \x1c"])
ENDS = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b" \n", b"\n\n", b"\n# a comment\n", b"\n \t\n", b"\n  #\n"])


@st.composite
def regular_lines(draw: st.DrawFn) -> bytes:
    fields = [draw(QUERIES), b"Q0", draw(DOCUMENTS), b"1", draw(NUMBERS).encode(), b"tag", b"more", b"1", b"fields"]
    blank = draw(BLANKS)
    return (
        draw(st.sampled_from([b"", b"", blank]))
        + blank.join(fields[: draw(st.sampled_from([6, 6, 6, 5, 7, 9]))])
        + draw(ENDS)
    )


@st.composite
def bad_lines(draw: st.DrawFn) -> bytes:
    rank, tag = draw(RANKS), draw(st.just(b"tag") | (NUMBERS | NO_NUMBERS).map(str.encode))
    fields = [draw(QUERIES), b"Q0", draw(DOCUMENTS), rank, draw(NUMBERS | NO_NUMBERS).encode(), tag, b"more", b"fields"]
    return b" ".join(fields[: draw(st.integers(1, 8))]) + draw(ENDS)


@st.composite
def runs(draw: st.DrawFn) -> bytes:
    """Make a run: mostly with the rows of a query together, and with few scores; now and then anything."""
    lines = draw(st.lists(regular_lines(), min_size=1, max_size=30))
    if draw(st.booleans()):
        lines.sort(key=lambda line: line.split()[0])
    if draw(st.booleans()):
        lines = list({tuple(line.split()[0:3:2]): line for line in lines}.values())
    if draw(st.integers(0, 3)) == 0:
        lines.insert(draw(st.integers(0, len(lines))), draw(bad_lines() | st.binary(max_size=100)))
    text = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"])) + b"".join(lines)
    return text.removesuffix(b"\n") if draw(st.booleans()) else text


CONVENTIONS = st.builds(
    Conventions,
    ties=st.sampled_from(choices_of(Conventions, "ties")),
    score_dtype=st.sampled_from(choices_of(Conventions, "score_dtype")),
    depth=st.none() | st.integers(1, 8),
    duplicates=st.sampled_from(["error", *choices_of(Conventions, "duplicates")]),
    strict=st.sampled_from([False, False, True]),
)
LIMITS = st.sampled_from([1 << 26, 1 << 26, 40, 25])  # of the length of a line


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("readers")


def outcome(read: Callable[[], Any]) -> Any:
    """Return what a reader gave, as plain values, or what it said."""
    try:
        return plain(read())
    except LexirecallError as error:
        return type(error), str(error)


def plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (field.name for field in dataclasses.fields(value) if field.name not in ("_lookups", "_num_relevant"))
        return {name: plain(getattr(value, name)) for name in fields}
    return value.tolist() if isinstance(value, np.ndarray) else value


@contextmanager
def cut_otherwise(block: int, longest: int) -> Iterator[None]:
    """Let both readers read blocks of this size, and refuse lines that are longer than this.

    The readable one orders rankings of so many lines together.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "LONGEST_LINE", longest)
        patch.setattr(lines, "_BLOCK", min(block, longest))
        patch.setattr(native, "_BLOCK", block)
        patch.setattr(lists, "_BATCH", block)
        yield


@quick(400)
@given(runs(), CONVENTIONS, st.booleans(), st.sampled_from([1, 7, 64, 1 << 20]), LIMITS)
@example(b"q1 Q0 a 1 1 t\nq1 Q0 b 1 nan t\n", Conventions(), False, 1, 99)
@example(b"q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\nq1 Q0 b 1 1 t", Conventions(), True, 3, 99)
@example(b"q1 Q0 a 1 1 t\nq1 Q0 a 1 1 t\nq1 Q0 b 1\n", Conventions(), False, 5, 99)
@example(b"\n \n\n\r\nq1 Q0 a 1 1 t and more\n\n\n\nq1 Q0 b c 1 1 t\n", Conventions(), False, 5, 99)
@example(b"q1 Q0 a 1 1 t\n" + b" " * 13 + b"\n" + b"#" * 14 + b"\n", Conventions(), False, 5, 13)
def test_both_readers_find_the_same_in_a_run(
    folder: Path, text: bytes, conventions: Conventions, needs_judged: bool, block: int, longest: int
) -> None:
    path = folder / "run"
    path.write_bytes(text)
    with cut_otherwise(block, longest):
        readable = outcome(lambda: project_text(Source(path), "r", JUDGMENTS, conventions, needs_judged=needs_judged))
        compiled = outcome(
            lambda: native.project_native(Source(path), "r", JUDGMENTS, conventions, needs_judged=needs_judged)
        )
    assert compiled == readable


@st.composite
def qrels(draw: st.DrawFn) -> bytes:
    lines = []
    for _ in range(draw(st.integers(0, 25))):
        fields = [draw(QUERIES), b"0", draw(DOCUMENTS), draw(st.integers(-2, 3).map(str) | NUMBERS).encode(), b"more"]
        lines.append(draw(BLANKS).join(fields[: draw(st.sampled_from([4] * 30 + [3, 5]))]) + draw(ENDS))
    text = draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + b"".join(lines)
    return text.removesuffix(b"\n") if draw(st.booleans()) else text


@quick(400)
@given(qrels(), st.sampled_from([1, 7, 64, 1 << 20]), LIMITS)
@example(b"q 0 a 1\nr 0 a 1\nq 0 a 1\nq 0 b -1\nq 0 c 2.5\n", 5, 99)
@example(b"q 0 a 1\nq 0 a 2\n", 64, 99)
@example(b"\n\n # x\n\n", 64, 99)
def test_both_readers_find_the_same_in_judgments(folder: Path, text: bytes, block: int, longest: int) -> None:
    path = folder / "qrels"
    path.write_bytes(text)
    with cut_otherwise(block, longest):
        readable = outcome(lambda: read_qrels(Source(path)))
        compiled = outcome(lambda: native.read_qrels_native(Source(path)))
    assert compiled == readable


@quick(2000)
@given(NUMBERS | NO_NUMBERS | st.floats(allow_nan=False, allow_subnormal=True).map(repr))
def test_a_decimal_is_read_as_float_reads_it_or_left_to_it(text: str) -> None:
    from lexirecall import _native

    value = _native.decimal(text.encode(), native.powers_of_ten())
    if value is not None:
        assert np.float64(value).tobytes() == np.float64(float(text)).tobytes()


def test_ordinary_decimals_need_no_help() -> None:
    """What programs print (up to 17 significant digits) is decided quickly, all but a vanishing few."""
    from lexirecall import _native

    rng = np.random.default_rng(5)
    texts = [repr(value) for value in rng.normal(size=2000).tolist()] + [
        f"{value:.6f}" for value in rng.gamma(2, 9, 2000)
    ]
    left = [text for text in texts if _native.decimal(text.encode(), native.powers_of_ten()) is None]
    assert len(left) < 5


# The choice


def test_the_environment_chooses_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEXIRECALL_READER", raising=False)
    assert reader_in_use() == "native"
    for name in ("native", "python"):
        monkeypatch.setenv("LEXIRECALL_READER", name)
        assert reader_in_use() == name
        assert evaluate({"q": {"a": 1}}, {"q": ["a"]}).manifest.reader == name
    monkeypatch.setenv("LEXIRECALL_READER", "rust")
    with pytest.raises(UsageError, match="LEXIRECALL_READER is 'rust', but must be one of native, python"):
        reader_in_use()


def test_a_reader_that_is_not_there_cannot_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexirecall.reader.is_built", lambda: False)
    monkeypatch.delenv("LEXIRECALL_READER", raising=False)
    assert reader_in_use() == "python"
    monkeypatch.setenv("LEXIRECALL_READER", "native")
    with pytest.raises(UsageError, match="was not built"):
        reader_in_use()


@pytest.mark.parametrize("name", ["native", "python"])
def test_the_version_says_which_reader_is_in_use(name: str) -> None:
    words = [sys.executable, "-m", "lexirecall", "--version"]
    environment = {**os.environ, "LEXIRECALL_READER": name}
    assert (
        f"(reader: {name};" in subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout
    )


def test_two_threads_read_two_runs_at_once(tmp_path: Path) -> None:
    """The compiled reader lets other threads run: each of many runs comes out as if it were alone."""
    paths = []
    for r in range(8):
        paths.append(tmp_path / f"{r}.run")
        paths[-1].write_text(
            "".join(f"q{q} Q0 d{i * (r + 1) % 997} 1 {1 / (i + 2)!r} t\n" for q in range(20) for i in range(300))
        )
    judged = {f"q{q}": {f"d{i}": 1 for i in range(0, 60, 7)} for q in range(20)}
    together = project(judged, paths)
    alone = [project(judged, path).found.positions.tolist() for path in paths]
    assert together.found.positions.tolist() == [position for positions in alone for position in positions]


def test_damage_is_named_before_the_line_that_it_garbles(tmp_path: Path) -> None:
    import gzip

    packed = bytearray(gzip.compress(b"".join(b"q1 Q0 d%d 1 %d t\n" % (i, -i) for i in range(5000)), mtime=0))
    packed[len(packed) // 2] ^= 0xFF
    (tmp_path / "a.gz").write_bytes(packed)
    with pytest.raises(FormatError, match=r"corrupt|truncated"):
        native.project_native(Source(tmp_path / "a.gz"), "a", JUDGMENTS, Conventions(), needs_judged=False)
