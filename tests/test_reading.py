"""Reading: whatever legal form judgments and runs come in, the same positions come out."""

import bz2
import gzip
import io
import json
import lzma
import os
import random
import sys
import threading
import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from lexirecall import Positions, evaluate, project
from lexirecall.errors import DataError, FormatError, UsageError
from lexirecall.formats.source import Source
from strategies import quick

Nested = dict[str, dict[str, float]]

QRELS: Nested = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"d": 1}}
RUN: Nested = {"q1": {"x": 3.0, "a": 2.0, "b": 1.5, "c": 1.0}, "q2": {"y": 0.5, "d": 0.25}, "q9": {"z": 1.0}}
QRELS_TEXT = b"q1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq2 0 d 1\n"
RUN_LINES = [f"{q} Q0 {d} {rank} {run[d]} tag" for q, run in RUN.items() for rank, d in enumerate(run)]
RUN_TEXT = "".join(f"{line}\n" for line in RUN_LINES).encode()
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard.compress,
}  # fmt: skip


def placed(positions: Positions, run: int = 0) -> dict[str, Any]:
    """Return what was read of one run, by query: length, places of the judged documents, and their grades."""
    judgments = positions.judgments
    tracks = [track for track in (positions.found, positions.others) if track is not None]
    seen: dict[str, Any] = {"without judgments": positions.num_unjudged[run]}
    for q, query in enumerate(positions.queries):
        segment = run * len(positions.queries) + q
        places = {}
        for track in tracks:
            start, stop = track.segments.offsets[segment : segment + 2]
            at = zip(track.documents[start:stop].tolist(), track.positions[start:stop].tolist(), strict=True)
            places.update(
                {judgments.documents[document]: (place, judgments.grades[document]) for document, place in at}
            )
        seen[query] = (positions.answered[run, q], positions.num_retrieved[run, q], places)
    return seen


def read(qrels: Any, run: Any) -> dict[str, Any]:
    return placed(project(qrels, run, needs_judged=True))


EXPECTED: dict[str, Any] = {
    "without judgments": 1,
    "q1": (True, 4, {b"a": (2, 1.0), b"b": (3, 0.0), b"c": (4, 2.0)}),
    "q2": (True, 2, {b"d": (2, 1.0)}),
}


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def read_text(folder: Path, run: bytes = RUN_TEXT, qrels: bytes = QRELS_TEXT) -> dict[str, Any]:
    return read(write(folder / "qrels.txt", qrels), write(folder / "a.run", run))


# Packing


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("suffix", ["", ".txt", ".gz", ".zst"])
def test_a_file_is_unpacked_by_its_content_whatever_its_suffix(tmp_path: Path, packing: str, suffix: str) -> None:
    pack = PACKERS[packing]
    qrels, run = write(tmp_path / f"q{suffix}", pack(QRELS_TEXT)), write(tmp_path / f"r{suffix}", pack(RUN_TEXT))
    assert read(qrels, run) == EXPECTED


@pytest.mark.parametrize("packing", PACKERS)
def test_files_packed_in_several_parts_are_read_to_the_end(tmp_path: Path, packing: str) -> None:
    parts = [f"{line}\n".encode() for line in RUN_LINES]
    assert read_text(tmp_path, b"".join(map(PACKERS[packing], [b"", *parts]))) == EXPECTED


def flushed_after_each_line(text: bytes) -> bytes:
    writer = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    pieces = [writer.compress(line) + writer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) for line in text.splitlines(True)]
    return b"".join(pieces) + writer.flush()


ZST: dict[str, Callable[[bytes], bytes]] = {
    "size and checksum": zstandard.ZstdCompressor(write_checksum=True).compress,
    "no size": zstandard.ZstdCompressor(write_content_size=False, level=1).compress,
    "many blocks": flushed_after_each_line,
    "two frames": lambda text: zstandard.compress(text[:50]) + zstandard.compress(b"") + zstandard.compress(text[50:]),
    "equal bytes": lambda text: zstandard.compress(text + b"\n" * 300_000),
}


@pytest.mark.parametrize("packer", ZST)
def test_zst_frames_of_every_form_are_read_and_missing_bytes_noticed(tmp_path: Path, packer: str) -> None:
    text = b"".join(b"q Q0 d%d 1 %d t\n" % (i, -i) for i in range(99))
    packed, path = ZST[packer](text), tmp_path / "run"
    path.write_bytes(packed)
    assert Source(path).read_whole().rstrip() == text.rstrip()
    for size in range(len(packed) - 8, len(packed)):
        path.write_bytes(packed[:size])
        with pytest.raises(FormatError, match="truncated"):
            Source(path).read_whole()


def test_a_skippable_frame_of_a_zst_file_is_skipped(tmp_path: Path) -> None:
    skippable = b"\x50\x2a\x4d\x18\x04\0\0\0abcd"  # parallel compressors write one before each frame
    assert read_text(tmp_path, zstandard.compress(RUN_TEXT) + skippable) == EXPECTED
    assert read_text(tmp_path, skippable + zstandard.compress(RUN_TEXT)) == EXPECTED


def test_a_byte_order_mark_is_skipped_even_if_it_is_packed_in_parts(tmp_path: Path) -> None:
    parts = [b"\xef", b"\xbb\xbf" + RUN_TEXT]
    assert read_text(tmp_path, b"".join(map(zstandard.compress, parts))) == EXPECTED


@pytest.mark.parametrize("name", ["PAR1", "BZh9", "PK", "input", "-"])
def test_a_query_may_be_called_as_a_packed_file_begins(tmp_path: Path, name: str) -> None:
    seen = read_text(tmp_path, RUN_TEXT.replace(b"q1", name.encode()), QRELS_TEXT.replace(b"q1", name.encode()))
    assert seen[name] == EXPECTED["q1"]


@pytest.mark.parametrize("packing", PACKERS)
def test_a_run_may_come_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packing: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PACKERS[packing](RUN_TEXT))))
    positions = project(write(tmp_path / "q", QRELS_TEXT), "-", needs_judged=True)
    assert (placed(positions), positions.runs) == (EXPECTED, ("-",))


def test_a_run_from_standard_input_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, other = write(tmp_path / "q", QRELS_TEXT), write(tmp_path / "other.run", RUN_TEXT)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RUN_TEXT)))
    assert project(qrels, ["-", other], stdin_name="bm25").runs == ("bm25", "other.run")
    with pytest.raises(UsageError, match=r"no run is read from it\n.*give - as one of the runs"):
        project(qrels, [other], stdin_name="bm25")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RUN_TEXT)))
    with pytest.raises(UsageError, match=r"two runs have the same name: 'other\.run'"):
        project(qrels, ["-", other], stdin_name="other.run")


def test_judgments_may_come_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(QRELS_TEXT)))
    assert read("-", RUN) == EXPECTED


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("text", [RUN_TEXT, "\n".join(reversed(RUN_LINES[:6:2] + RUN_LINES[1::2])).encode()])
def test_both_may_come_from_a_named_pipe_even_if_a_run_must_be_read_twice(tmp_path: Path, text: bytes) -> None:
    pipes = {tmp_path / "pipe.qrels": QRELS_TEXT, tmp_path / "pipe.run": text}
    writers = [threading.Thread(target=write, args=pipe, daemon=True) for pipe in pipes.items()]
    for pipe, writer in zip(pipes, writers, strict=True):
        os.mkfifo(pipe)
        writer.start()
    seen = read(*pipes)
    for writer in writers:
        writer.join()
    assert seen["q1"] == EXPECTED["q1"]


# Lines


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(RUN_TEXT.replace(b" ", b"\t"), id="tabs"),
        pytest.param(RUN_TEXT.replace(b" ", b"   \t "), id="several blanks"),
        pytest.param(RUN_TEXT.replace(b" ", b"\x0c").replace(b"\nq2", b"\n  \x0bq2"), id="form feeds"),
        pytest.param(RUN_TEXT.replace(b"\n", b"\r\n"), id="carriage returns"),
        pytest.param(RUN_TEXT.replace(b"\n", b" \n"), id="blanks at the end"),
        pytest.param(b"\xef\xbb\xbf" + RUN_TEXT, id="byte order mark"),
        pytest.param(RUN_TEXT.replace(b"\n", b"\n\n \t\n"), id="empty lines"),
        pytest.param(b"# first\n# second\n" + RUN_TEXT.replace(b"\n", b"\n  #\n#x y z\n"), id="comments"),
        pytest.param(RUN_TEXT + b"# last", id="a comment at the end"),
        pytest.param(RUN_TEXT.removesuffix(b"\n"), id="no newline at the end"),
        pytest.param(RUN_TEXT.replace(b" tag\n", b"\n"), id="no tag"),
        pytest.param(RUN_TEXT.replace(b" 0 ", b" 7 ").replace(b" 1 ", b" x "), id="ranks that mean nothing"),
        pytest.param("\n".join(sorted(RUN_LINES, key=lambda line: line[6:])).encode(), id="interleaved requests"),
        pytest.param("\n".join(reversed(RUN_LINES)).encode(), id="from the last to the first"),
    ],
)
def test_a_run_in_odd_layout_means_the_same(tmp_path: Path, text: bytes) -> None:
    assert read_text(tmp_path, text) == EXPECTED


def test_fields_after_the_tag_are_ignored_and_counted(tmp_path: Path) -> None:
    run = write(tmp_path / "a.run", RUN_TEXT.replace(b" tag\n", b" tag more 1 2.5\n", 3))
    positions = project(QRELS, run, needs_judged=True)
    assert (placed(positions), positions.num_extra) == (EXPECTED, (3,))
    (note,) = [note for note in evaluate(QRELS, run).notes if note.kind == "extra fields"]
    assert note.text == "3 lines (a.run 3) have fields after the run tag, which are ignored; --strict refuses them"
    assert evaluate(QRELS, run).manifest.runs[0]["lines_with_extra_fields"] == 3


def test_fields_after_the_tag_count_also_where_queries_are_interleaved_or_not_judged(tmp_path: Path) -> None:
    text = b"q1 Q0 a 1 2 t u\nq9 Q0 a 1 2 t u\nq1 Q0 b 2 1 t\nq2 Q0 d 1 1 t\nq1 Q0 c 3 0 t u v\n"
    assert project(QRELS, write(tmp_path / "a.run", text)).num_extra == (3,)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"q1 Q0 the title 1 0.5 tag", "'title' is where the rank should be"),
        (b"q1 Q0 doc 12 1 0.5 tag", "'0.5' is where the run tag should be"),
        (b"q1 Q0 volume 3 12 1 0.5 tag", "'1' is where the run tag should be"),
    ],
)
def test_a_blank_inside_an_id_is_not_taken_for_a_field_after_the_tag(tmp_path: Path, line: bytes, said: str) -> None:
    with pytest.raises(
        FormatError, match=rf"a\.run:8: a run line has 6 fields .*\n  is there a blank inside an id\? {said}"
    ):
        read_text(tmp_path, RUN_TEXT + line)


def test_a_strict_reader_refuses_fields_after_the_tag(tmp_path: Path) -> None:
    run = write(tmp_path / "a.run", RUN_TEXT + b"q9 Q0 x 1 0.5 tag more\n")
    assert project(QRELS, run).num_extra == (1,)
    with pytest.raises(FormatError, match=r"a\.run:8: a run line has 6 fields .*, found 7: 'q9 Q0 x 1 0\.5 tag more'"):
        project(QRELS, run, strict=True)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(QRELS_TEXT.replace(b" ", b"\t \x0c"), id="blanks"),
        pytest.param(QRELS_TEXT.replace(b"\n", b"\r\n"), id="carriage returns"),
        pytest.param(b"\xef\xbb\xbf" + QRELS_TEXT.removesuffix(b"\n"), id="byte order mark, no newline"),
        pytest.param(b"# one\n# two\n\n" + QRELS_TEXT.replace(b"\n", b"\n#\n#\n\n") + b"# end", id="comments"),
        pytest.param(b"q1 0 a 1\nq2 Q0 d 1\nq1 1.5 b 0\nq1 - c 2\n", id="interleaved, any second column"),
        pytest.param(b"q1 0 a 1.0\nq1 0 b -0\nq1 0 c 2e0\nq2 0 d +1\n", id="grades written otherwise"),
        pytest.param(json.dumps(QRELS).encode(), id="JSON"),
        pytest.param(lzma.compress(json.dumps(QRELS, indent=1).encode()), id="packed JSON"),
    ],
)
def test_judgments_in_odd_layout_mean_the_same(tmp_path: Path, text: bytes) -> None:
    assert read_text(tmp_path, qrels=text) == EXPECTED


def test_a_query_without_judgments_counts_once_even_if_its_lines_stand_apart(tmp_path: Path) -> None:
    text = b"u Q0 a 1 2 t\nq1 Q0 a 1 2 t\nu Q0 b 2 1 t\nq2 Q0 d 1 2 t\nu Q0 c 3 0 t\n"
    assert read_text(tmp_path, text)["without judgments"] == 1


def test_grades_may_be_negative_or_fractions(tmp_path: Path) -> None:
    run = b"q Q0 a 1 4 t\nq Q0 b 2 3 t\nq Q0 c 3 2 t\nq Q0 d 4 1 t\n"
    seen = read_text(tmp_path, run, b"q 0 a -1\nq 0 b 0.5\nq 0 c -2.5\nq 0 d 1.75\n")
    assert seen["q"][2] == {b"a": (1, -1.0), b"b": (2, 0.5), b"c": (3, -2.5), b"d": (4, 1.75)}


def test_scores_are_read_as_float_reads_them(tmp_path: Path) -> None:
    written = [
        "-inf",
        "-1e400",
        "-1000",
        ".5",
        "+1",
        "1e3",
        "1000.5",
        "1e400",
        "Infinity",
        "0.1",
        "0.10000000000000001",
    ]
    by_score = sorted(enumerate(written), key=lambda pair: (float(pair[1]), f"d{pair[0]}"), reverse=True)
    text = "".join(f"q Q0 d{i} 1 {score} t\n" for i, score in enumerate(written)).encode()
    seen = read_text(tmp_path, text, "".join(f"q 0 d{i} 1\n" for i in range(len(written))).encode())
    assert seen["q"][2] == {f"d{i}".encode(): (place, 1.0) for place, (i, _) in enumerate(by_score, 1)}


# Ids


def test_ties_are_broken_by_the_bytes_of_the_ids() -> None:
    documents = ["b", "B", "a", "10", "9", "é", "z", "\U00010000", "\uffff"]
    seen = read({"q": dict.fromkeys(documents, 1)}, {"q": dict.fromkeys(documents, 0.0)})
    order = sorted(map(str.encode, documents), reverse=True)
    assert seen["q"][2] == {document: (place, 1.0) for place, document in enumerate(order, 1)}


def test_ids_that_are_not_utf_8_are_compared_by_their_bytes(tmp_path: Path) -> None:
    seen = read_text(tmp_path, b"\xfc Q0 \xff 1 1 t\n\xfc Q0 \xfe 2 1 t\n", b"\xfc 0 \xfe 1\n")
    assert seen[b"\xfc".decode(errors="surrogateescape")][2] == {b"\xfe": (2, 1.0)}


@pytest.mark.parametrize("query_id", [7, np.int64(7), "7", b"7"])
@pytest.mark.parametrize("ranking", [{12: 1.0}, {"12": 1}, ["12"], (12,), np.array([12]), np.array(["12"])])
def test_an_integer_id_is_its_text(query_id: Any, ranking: Any) -> None:
    assert read({"7": {12: 1}}, {query_id: ranking})["7"][2] == {b"12": (1, 1.0)}


@pytest.mark.parametrize("seven", [7.0, np.float64(7), np.float32(7), Decimal("7.0"), Fraction(7)])
def test_a_whole_number_is_an_id_whatever_its_type(seven: Any) -> None:
    runs: list[Any] = [{"q": {seven: 1.0}}, {"q": [seven]}, {"q": np.array([seven])}]
    for run in runs:
        assert read({"q": {seven: 1}}, run)["q"][2] == {b"7": (1, 1.0)}


NO_IDS = [
    None, True, False, 1.5, float("nan"), float("inf"), 2.0**53, 1e300, np.bool_(True), Decimal("1.5"),
    Decimal("Infinity"), (1, 2), object(),
]  # fmt: skip


@pytest.mark.parametrize("value", NO_IDS, ids=[*map(repr, NO_IDS[:-1]), "object"])
def test_what_is_neither_text_nor_a_whole_number_is_not_an_id(value: Any) -> None:
    document = r"query 'q': .* is not a document id\n  (ids are text or whole numbers|a run is)"
    good: Any = {"q": {"a": 1}}
    for qrels, run in [({"q": {value: 1}}, good), (good, {"q": {value: 1.0}}), (good, {"q": ["a", value]})]:
        with pytest.raises(FormatError, match=document):
            project(qrels, run)
    for qrels, run in [({value: {"a": 1}}, good), (good, {"q": ["a"], value: ["a"]})]:
        with pytest.raises(FormatError, match=r"is not a query id\n  (ids are text or whole numbers|a run is)"):
            project(qrels, run)


def test_integer_ids_are_tied_in_the_order_of_their_text() -> None:
    assert read({1: {9: 1}}, {1: {9: 0.5, 10: 0.5}})["1"][2] == {b"9": (1, 1.0)}


# Dicts, lists and JSON


def test_dicts_of_scores_are_a_run() -> None:
    assert read(QRELS, RUN) == EXPECTED


@pytest.mark.parametrize("kind", [list, tuple, np.array, iter])
def test_a_ranked_list_needs_no_scores(kind: Callable[[list[str]], Any]) -> None:
    ranked = {query: kind(list(scores)) for query, scores in RUN.items()}
    assert read(QRELS, ranked) == EXPECTED


def test_true_and_false_are_1_and_0_as_in_a_table() -> None:
    judged: dict[str, list[Any]] = {"query_id": ["q", "q"], "doc_id": ["a", "b"], "relevance": [True, False]}
    run = {"q": {"a": False, "b": True}}
    expected = {b"a": (2, 1.0), b"b": (1, 0.0)}
    assert read({"q": {"a": True, "b": False}}, run)["q"][2] == read(pl.DataFrame(judged), run)["q"][2] == expected


def test_numbers_of_numpy_are_numbers() -> None:
    grades = {"q": {"a": np.int64(1), "b": np.float32(0.5), "c": np.int8(-1), "d": np.bool_(True)}}
    scores = {"q": {"a": np.float32(0.1), "b": np.float64(0.2), "c": np.int32(3), "d": np.uint8(4)}}
    assert read(grades, scores)["q"][2] == {b"a": (4, 1.0), b"b": (3, 0.5), b"c": (2, -1.0), b"d": (1, 1.0)}


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize(
    "run",
    [RUN, {q: list(s) for q, s in RUN.items()}, {q: {d: int(v * 4) for d, v in s.items()} for q, s in RUN.items()}],
    ids=["scores", "ranked lists", "whole numbers"],
)
def test_a_run_may_be_json(tmp_path: Path, run: Any, packing: str) -> None:
    text = b"\xef\xbb\xbf \n" + json.dumps(run, indent=2).encode()
    assert read_text(tmp_path, PACKERS[packing](text)) == EXPECTED


@pytest.mark.parametrize("text", ['{"q1": {"a": 1, "a": 2}}', '{"q1": {"a": 1}, "q1": {"b": 1}}', '{"q1": ["a", "a"]}'])
def test_json_that_says_something_twice_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(FormatError, match=r"a\.run: .*'(a|q1)'.* twice"):
        read_text(tmp_path, text.encode())


# Several runs, and their names


def test_runs_read_side_by_side_are_the_same_as_one_by_one(tmp_path: Path) -> None:
    runs = [write(tmp_path / f"{n}.run", "\n".join(random.Random(n).sample(RUN_LINES, 5)).encode()) for n in range(9)]  # noqa: S311
    together = project(QRELS, runs, needs_judged=True)
    assert together.runs == tuple(run.name for run in runs)
    assert [placed(together, s) for s in range(len(runs))] == [read(QRELS, run) for run in runs]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("bm25.run", "bm25.run"), ("bm25.run.gz", "bm25.run"), ("bm25.txt.zst", "bm25.txt"), ("input.bm25.xz", "bm25"),
        ("my.input.bz2", "my.input"), ("a b:c.run", "a b:c.run"), ("input.", "input."),
    ],
)  # fmt: skip
def test_a_run_is_named_by_its_file(tmp_path: Path, file: str, name: str) -> None:
    assert project(QRELS, write(tmp_path / file, RUN_TEXT)).runs == (name,)


def test_a_mapping_of_names_to_runs_is_told_from_a_single_run(tmp_path: Path) -> None:
    ranked = {query: list(scores) for query, scores in RUN.items()}
    path = write(tmp_path / "a.run", RUN_TEXT)
    several: dict[str, Any] = {"dict": RUN, "lists": ranked, "path": path, "text": str(path)}
    single: list[Any] = [RUN, ranked, {"q1": {}}, path, [path, RUN]]
    assert project(QRELS, several).runs == ("dict", "lists", "path", "text")
    assert [project(QRELS, runs).runs for runs in single] == [*[("run",)] * 3, ("a.run",), ("a.run", "run2")]


def test_a_mapping_of_names_may_begin_with_an_empty_run() -> None:
    with pytest.raises(DataError, match="no query in common with the judgments: empty"):
        project(QRELS, {"empty": {}, "bm25": RUN})


# Any layout, and memory

IDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=3).filter(
    lambda text: text[0] not in "#{[\ufeff"
)


def nested(values: st.SearchStrategy[float]) -> st.SearchStrategy[Nested]:
    return st.dictionaries(IDS, st.dictionaries(IDS, values, min_size=1, max_size=6), min_size=1, max_size=4)


def odd_layout(lines: list[list[str]], rng: random.Random) -> bytes:
    """Write lines in any order, with blanks, comments and line ends as they come."""
    text = rng.choice(["", "\ufeff"])
    for fields in rng.sample(lines, len(lines)):
        text += rng.choice(["", "", "\n", " \t\r\n", "#\n", "# a b\n#\n"]) + rng.choice(["", "", " "])
        text += "".join(field + rng.choice([" ", "\t", "  ", "\x0c ", "\x0b"]) for field in fields)
        text += rng.choice(["\n", "\r\n"])
    return rng.choice([text, text.rstrip(), text + "# end"]).encode()


@quick(100)
@given(nested(st.integers(-2, 3)), nested(st.floats(allow_nan=False)), st.data())
def test_any_layout_gives_the_positions_of_the_dict(
    tmp_path_factory: pytest.TempPathFactory, qrels: Nested, run: Nested, data: st.DataObject
) -> None:
    rng = data.draw(st.randoms(use_true_random=False))
    judged = [[q, rng.choice("0x"), d, str(grade)] for q, grades in qrels.items() for d, grade in grades.items()]
    run = {**run, next(iter(qrels)): next(iter(run.values()))}
    written = [
        [q, "Q0", d, str(rng.randrange(9)), rng.choice([repr(s), f"{s:.17e}"]), *rng.choice([[], ["tag"]])]
        for q, scores in run.items()
        for d, s in scores.items()
    ]
    seen = read_text(tmp_path_factory.getbasetemp(), odd_layout(written, rng), odd_layout(judged, rng))
    assert seen == read(qrels, run)


def test_a_progress_bar_is_drawn_when_reading_takes_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "a.run", RUN_TEXT)
    project(QRELS, path, show_progress=True)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("lexirecall.progress.PATIENCE", -1)
    project(QRELS, path, show_progress=True)
    out, err = capsys.readouterr()
    assert (out, "reading runs" in err) == ("", True)


def peak_memory(call: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        kept = call()
        assert kept
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_follows_the_judgments_and_one_query(tmp_path: Path) -> None:
    lines = [f"q{q} Q0 doc-{q}-{i} {i} {1000 - i} t" for q in range(200) for i in range(300)]
    path = write(tmp_path / "long.run", "\n".join(lines).encode())
    qrels = {f"q{q}": {f"doc-{q}-{i}": 1 for i in range(3)} for q in range(200)}
    everything = peak_memory(lambda: [(*line.split(),) for line in path.read_bytes().splitlines()])
    project(qrels, path, needs_judged=True)  # imports what it needs
    assert (
        peak_memory(lambda: project(qrels, path, needs_judged=True)) < everything / 4
    )  # a few blocks, whatever the size of the file
