"""Table files: Parquet and CSV mean what the same rows in text mean, however they are packed and named."""

import bz2
import gzip
import io
import lzma
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from lexirecall import compare, evaluate, explain, project, rank
from lexirecall.errors import FormatError, UsageError
from lexirecall.fields import choices_of
from lexirecall.formats import count_runs
from lexirecall.formats.folders import files_of
from lexirecall.formats.kinds import table_files
from lexirecall.formats.labels import judgments_from_files, judgments_in_rows
from lexirecall.formats.source import Source
from lexirecall.formats.tablefiles import TableFiles, UnopenedTable, open_tables
from lexirecall.installing import how_to_install
from lexirecall.manifest import Conventions
from strategies import costly
from test_frames import Rows, rows, seen

pl = pytest.importorskip("polars")

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard.compress,
}  # fmt: skip
every_packing = pytest.mark.parametrize("packing", PACKERS)

QRELS = pl.DataFrame({"query_id": ["007", "007", "8"], "doc_id": ["a", "b", "a"], "relevance": [1, 2, 1]})
RUN = pl.DataFrame(
    {"query_id": ["007", "007", "8", "9"], "doc_id": ["x", "b", "a", "a"], "score": [2.0, 1.0, 0.5, 1.0]}
)
BOTH = pl.concat([RUN.with_columns(run=pl.lit("x")), RUN.with_columns(-pl.col("score"), run=pl.lit("y"))])
EXPECTED = {"007": [2], "8": [1]}


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(content)
    return path


def parquet(frame: Any) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def written(frame: Any, separator: str = ",") -> bytes:
    text: str = frame.write_csv(separator=separator)
    return text.encode()


WRITERS: dict[str, Callable[[Any], bytes]] = {
    "parquet": parquet,
    "commas": written,
    "semicolons": lambda frame: written(frame, ";"),
    "tabs": lambda frame: written(frame, "\t"),
    "byte order mark": lambda frame: b"\xef\xbb\xbf" + written(frame),
    "carriage returns": lambda frame: written(frame).replace(b"\n", b"\r\n"),
    "carriage returns only": lambda frame: written(frame).replace(b"\n", b"\r"),
    "blanks": lambda frame: written(frame).replace(b",", b" ,\t ").replace(b"\n", b" \n"),
}
every_writer = pytest.mark.parametrize("form", WRITERS)


def places(qrels: Any, run: Any, **reading: Any) -> dict[str, list[int]]:
    positions = project(qrels, run, **reading)
    offsets = positions.found.segments.offsets
    return {
        query: positions.found.positions[offsets[q] : offsets[q + 1]].tolist()
        for q, query in enumerate(positions.queries)
    }


@every_packing
@every_writer
def test_tables_are_recognized_by_their_content(tmp_path: Path, packing: str, form: str) -> None:
    pack = PACKERS[packing]
    qrels = write(tmp_path / "qrels.txt", pack(WRITERS[form](QRELS)))
    assert places(qrels, write(tmp_path / "a.run", pack(WRITERS[form](RUN)))) == EXPECTED


@every_packing
@every_writer
def test_a_table_may_come_from_standard_input(monkeypatch: pytest.MonkeyPatch, packing: str, form: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PACKERS[packing](WRITERS[form](RUN)))))
    assert places(QRELS, "-") == EXPECTED


@every_writer
@costly(15)
@given(some=rows(), ties=st.sampled_from(choices_of(Conventions, "ties")))
def test_a_table_file_means_what_text_means(
    tmp_path_factory: pytest.TempPathFactory, form: str, some: Rows, ties: str
) -> None:
    folder = tmp_path_factory.getbasetemp() / "tables"
    judged, runs = some.frames(pl.DataFrame)
    lines = "".join(f"{q} 0 {d} {grade!r}\n" for q, d, grade in some.judged)
    qrels_text = write(folder / "qrels.txt", lines.encode())
    texts = []
    for run in dict.fromkeys(row[0] for row in some.retrieved):
        own = "".join(f"{q} Q0 {d} 0 {score!r} t\n" for name, q, d, score in some.retrieved if name == run)
        texts.append(write(folder / run, own.encode()))
    qrels, table = write(folder / "qrels.table", WRITERS[form](judged)), write(folder / "table", WRITERS[form](runs))
    assert seen(project(qrels, table, ties=ties)) == seen(project(qrels_text, texts, ties=ties))


def test_judgments_of_beir_are_read(tmp_path: Path) -> None:
    qrels = write(tmp_path / "test.tsv", b"query-id\tcorpus-id\tscore\n007\tb\t1\n007\ta\t0\n")
    assert places(qrels, write(tmp_path / "a.run", b"007 Q0 x 1 2 t\n007 Q0 b 2 1 t\n")) == {"007": [2]}


@pytest.mark.parametrize("packing", PACKERS)
def test_parquet_that_unpacks_to_far_more_than_its_size_is_refused(packing: str, tmp_path: Path) -> None:
    """Its rows are the same ones again and again, which take memory by the gigabyte once they are read."""
    rows = pl.DataFrame({"query_id": ["q"], "doc_id": ["a"], "score": [1.0]})
    many = pl.select(pl.repeat("q", 2**21).alias("query_id")).with_columns(doc_id=pl.lit("a"), score=1.0)
    write(tmp_path / "small.parquet", PACKERS[packing](parquet(rows)))
    write(tmp_path / "bomb.parquet", PACKERS[packing](parquet(many)))
    assert evaluate({"q": {"a": 1}}, tmp_path / "small.parquet", ["AP"]).means.tolist() == [[1.0]]
    with pytest.raises(
        FormatError, match=r"bomb\.parquet: 2,097,152 rows in [0-9,]+ bytes unpack to more than 1,000 times"
    ):
        evaluate({"q": {"a": 1}}, tmp_path / "bomb.parquet", ["AP"])


def test_no_part_of_a_folder_unpacks_to_far_more_than_its_size(tmp_path: Path) -> None:
    many = pl.select(pl.repeat("q", 2**21).alias("query_id")).with_columns(doc_id=pl.lit("a"), score=1.0)
    for number, frame in enumerate((RUN, many)):
        write(tmp_path / "run" / f"{number}.parquet", parquet(frame))
    with pytest.raises(FormatError, match=r"1\.parquet: 2,097,152 rows"):
        evaluate({"q": {"a": 1}}, tmp_path / "run", ["AP"])


def test_judgments_that_unpack_to_far_more_than_their_size_are_refused(tmp_path: Path) -> None:
    many = pl.select(pl.repeat("q", 2**21).alias("query_id")).with_columns(doc_id=pl.lit("a"), relevance=1)
    path = write(tmp_path / "qrels.parquet", parquet(many))
    with pytest.raises(FormatError, match=r"qrels\.parquet: 2,097,152 rows"):
        evaluate(path, {"q": ["a"]}, ["AP"])


def test_a_folder_of_beir_may_be_compressed_and_every_split_counts(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    write(tmp_path / "corpus.jsonl.gz", gzip.compress(b"{}\n"))
    write(tmp_path / "qrels" / "test.tsv.gz", gzip.compress(b"query-id\tcorpus-id\tscore\n007\tb\t1\n"))
    run = write(tmp_path / "a.run", b"007 Q0 x 1 2 t\n007 Q0 b 2 1 t\n")
    assert places(str(tmp_path), run) == {"007": [2]}
    write(tmp_path / "qrels" / "dev.tsv", b"query-id\tcorpus-id\tscore\n007\tx\t1\n")
    with pytest.raises(FormatError, match="has judgments of 'dev' and 'test'"):
        places(str(tmp_path), run)


@pytest.mark.parametrize("cell", ["b ", " b", "\tb\t", '"b"', '" b "', '"b\n"'])
def test_blanks_around_a_cell_do_not_count(tmp_path: Path, cell: str) -> None:
    path = write(tmp_path / "a.csv", f"qid , docno, score\n007,x,2\n 007 ,{cell}, 1 \n".encode())
    assert places(QRELS, path) == {"007": [2], "8": []}
    assert places(QRELS, path, columns={"run.document": "docno"}) == {"007": [2], "8": []}


def test_quoted_cells_hold_anything(tmp_path: Path) -> None:
    document = 'say "x",\r\n\ty'
    quoted = '"' + document.replace('"', '""') + '"'
    path = write(tmp_path / "a.csv", f'"qid","the\ndocno",score,\nq,{quoted},1,"2"\n,,,\n'.encode())
    assert places({"q": {document: 1}}, path, columns={"document": "the\ndocno"}) == {"q": [1]}


@pytest.mark.parametrize(
    ("names", "document"),
    [
        ("userId,movieId,score", "movieId"),
        ("customer_id,product_id,score", "product_id"),
        ("user,track_id,score", "track_id"),
    ],
)
def test_usual_names_of_recommender_data_are_known(tmp_path: Path, names: str, document: str) -> None:
    path = write(tmp_path / "a.csv", f"{names}\n007,b,1\n".encode())
    assert places(QRELS, path) == {"007": [1], "8": []}
    both = write(tmp_path / "b.csv", f"{names},book_id\n007,b,1,c\n".encode())
    with pytest.raises(
        FormatError, match=rf"the document ids may be in the column '{document}' or 'book_id'\n.*document={document}"
    ):
        project(QRELS, both)
    assert places(QRELS, both, columns={"run.document": document}) == {"007": [1], "8": []}


def test_providers_may_be_a_table_file(tmp_path: Path) -> None:
    for content in (
        b"item,provider\na,Knopf\nb,Insel & Co\n",
        parquet(pl.DataFrame({"item": ["a", "b"], "provider": ["Knopf", "Insel & Co"]})),
    ):
        found = project(QRELS, RUN, providers=write(tmp_path / "owners", content)).providers
        assert found is not None
        assert found.names == ("Insel & Co", "Knopf")


def test_only_the_columns_that_are_needed_are_read(tmp_path: Path) -> None:
    frame = RUN.with_columns(title=pl.lit("long"), rank=1)
    for content in (parquet(frame), written(frame)):
        with Source(write(tmp_path / "a", content)) as source:
            files = table_files(source, "run")
            assert files is not None
            assert open_tables(files, source, "run").frame.columns == ["query_id", "doc_id", "score"]


# Names and folders


def test_a_table_names_its_runs_or_is_named_by_its_file(tmp_path: Path) -> None:
    both = write(tmp_path / "both.parquet", parquet(BOTH))
    one = write(tmp_path / "bm25.parquet.gz", gzip.compress(parquet(RUN)))
    text = write(tmp_path / "dense.run", b"8 Q0 a 1 1 t\n")
    assert project(QRELS, both).runs == ("x", "y")
    assert project(QRELS, [one, both, text]).runs == ("bm25.parquet", "x", "y", "dense.run")
    assert project(QRELS, {"mine": one, "text": text}).runs == ("mine", "text")
    with pytest.raises(FormatError, match=r"both\.parquet: the column 'run' has 2 runs"):
        project(QRELS, {"mine": both})
    with pytest.raises(
        UsageError, match=r"two runs have the same name: 'x' \(.*both\.parquet and .*both\.parquet\), 'y'"
    ):
        project(QRELS, [both, both])
    assert (count_runs(both), count_runs([one, text]), count_runs([text, str(text)[:-4]])) == (None, 2, 2)
    assert (count_runs([one, text], most=1), count_runs([text, str(text)[:-4]], most=1)) == (None, 2)
    assert (count_runs("-"), count_runs(tmp_path), count_runs(text)) == (None, None, 1)


def test_files_of_one_name_may_hold_different_runs(tmp_path: Path) -> None:
    files = [
        write(tmp_path / name / "part-0.parquet", parquet(RUN.with_columns(run=pl.lit(name)))) for name in ("x", "y")
    ]
    assert project(QRELS, files).runs == ("x", "y")


def test_a_folder_of_parquet_is_one_table(tmp_path: Path) -> None:
    write(tmp_path / "runs" / "1.parquet", parquet(RUN[:2]))
    write(tmp_path / "runs" / "more" / "2.parquet", parquet(RUN[2:]))
    write(tmp_path / "runs" / "_SUCCESS", b"")
    write(tmp_path / "runs" / ".1.parquet.crc", parquet(RUN))
    write(tmp_path / "qrels" / "1", parquet(QRELS))
    assert places(tmp_path / "qrels", tmp_path / "runs") == EXPECTED
    assert project(QRELS, f"{tmp_path}/runs/").runs == ("runs",)


def test_a_folder_of_csv_is_one_table(tmp_path: Path) -> None:
    write(tmp_path / "runs" / "system=x y" / "1.csv", written(RUN[:2]))
    write(tmp_path / "runs" / "system=x y" / "2.csv.gz", gzip.compress(written(RUN[2:])))
    write(tmp_path / "runs" / "system=z" / "1.csv", written(RUN))
    positions = project(QRELS, tmp_path / "runs")
    assert (positions.runs, positions.found.positions.tolist()) == (("x y", "z"), [2, 1, 2, 1])
    write(tmp_path / "runs" / "system=z" / "2.csv", b"query_id,doc_id,score\n\n7,a,high\n")
    with pytest.raises(FormatError, match=r"runs/system=z/2\.csv:3: the score is not a number: 'high'"):
        project(QRELS, tmp_path / "runs")
    write(tmp_path / "runs" / "system=z" / "2.csv", b"doc_id,query_id,score\na,007,1\n")
    with pytest.raises(FormatError, match=r"system=z/2\.csv:1: the header differs from that of .*system=x y/1\.csv"):
        project(QRELS, tmp_path / "runs")


def link_to_nothing(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


ODD_FILES: dict[str, tuple[str, Any, str]] = {
    "zero bytes": ("2.parquet", b"", r"the file is empty \(0 bytes\)"),
    "zero bytes, no suffix": ("part-2", b"", r"the file is empty \(0 bytes\)"),
    "garbage": ("2.parquet", b"garbage", r"is not a Parquet file: it begins with b'garba'"),
    "truncated": ("2.parquet", parquet(RUN)[:-5], r"the Parquet file is truncated"),
    "only a head": ("2.parquet", parquet(RUN)[:6], r"the Parquet file is truncated"),
    "packed": ("2.parquet.gz", gzip.compress(parquet(RUN)), r"is neither a Parquet nor a CSV file"),
    "CSV": ("2.csv", written(RUN), r"is CSV in a folder of Parquet files\n.*one table"),
    "text": ("bm25.run", b"007 Q0 b 1 1 t\n", r"is neither a Parquet nor a CSV file: it begins with b'007 Q'"),
    "a link to nothing": ("2.parquet", link_to_nothing, r"no such file"),
    "damaged within": (
        "2.parquet",
        parquet(RUN)[:30] + b"\xff" * 60 + parquet(RUN)[90:],
        r"the table cannot be read: ",
    ),
}
every_odd_file = pytest.mark.parametrize("odd", ODD_FILES)


def folder_with(tmp_path: Path, odd: str) -> tuple[Path, str]:
    """Make a folder of one good partition and of one that is odd; return it and what is to be said."""
    name, content, said = ODD_FILES[odd]
    write(tmp_path / "runs" / "system=x" / "1.parquet", parquet(RUN))
    path = tmp_path / "runs" / "system=y" / name
    path.parent.mkdir()
    content(path) if callable(content) else path.write_bytes(content)
    return tmp_path / "runs", rf"runs/system=y/{name}: {said}"


@every_odd_file
def test_a_file_of_a_folder_that_cannot_be_read_is_named(tmp_path: Path, odd: str) -> None:
    folder, said = folder_with(tmp_path, odd)
    with pytest.raises(FormatError, match=said):
        project(QRELS, folder)


def test_a_folder_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = folder_with(tmp_path, "garbage")

    def refuse(path: Path, *_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refuse)
        with pytest.raises(FormatError, match=r"system=x/1\.parquet: permission denied"):
            files_of(str(folder))
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: refuse(path) if "system=y" in str(path) else scan(path))
    with pytest.raises(FormatError, match=r"system=y: permission denied"):
        files_of(str(folder))


def test_files_that_only_speak_of_a_table_are_passed_over(tmp_path: Path) -> None:
    for name in (
        "_SUCCESS",
        ".1.parquet.crc",
        "README.md",
        "README.txt",
        "LICENSE",
        "1.parquet.crc",
        "_metadata",
        "_old/2",
    ):
        write(tmp_path / "runs" / name, b"x")
    with pytest.raises(FormatError, match="is a folder without Parquet or CSV files"):
        project(QRELS, tmp_path / "runs")
    write(tmp_path / "runs" / "_day=1" / "1.parquet", parquet(RUN))
    assert places(QRELS, tmp_path / "runs") == EXPECTED


def test_folders_of_partitions_are_columns(tmp_path: Path) -> None:
    for run in ("007", "08"):
        write(tmp_path / "runs" / f"system={run}" / "part-0.parquet", parquet(RUN))
    positions = project(QRELS, tmp_path / "runs")
    assert (positions.runs, positions.found.positions.tolist()) == (("007", "08"), [2, 1, 2, 1])
    assert project(QRELS, f"{tmp_path}/runs/system=*").runs == ("system=007", "system=08")


def test_a_pattern_stands_for_each_file_that_matches(tmp_path: Path) -> None:
    text = "".join(f"{q} Q0 {d} 0 {score} t\n" for q, d, score in RUN.rows()).encode()
    for name, content in {"b.run": text, "a.run": text, "c.parquet": parquet(BOTH), "d.txt": text}.items():
        write(tmp_path / name, content)
    (tmp_path / "e.run").mkdir()
    assert project(QRELS, f"{tmp_path}/*.run").runs == ("a.run", "b.run")
    assert project(QRELS, [f"{tmp_path}/[ac].*", tmp_path / "d.txt"]).runs == ("a.run", "x", "y", "d.txt")
    assert project(QRELS, {"mine": f"{tmp_path}/a.*"}).runs == ("mine",)
    with pytest.raises(UsageError, match=r"run 'mine': .*\*\.run' matches 2 files"):
        project(QRELS, {"mine": f"{tmp_path}/*.run"})
    with pytest.raises(UsageError, match=r"qrels: .*\*\.run' matches 2 files.*\n.*folder"):
        project(f"{tmp_path}/*.run", RUN)
    with pytest.raises(FormatError, match=r"\*\.csv: no file matches"):
        project(QRELS, f"{tmp_path}/*.csv")


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    for name, content in {"a*[1].run": parquet(RUN), "ab1.run": b"x", "q?.csv": written(QRELS)}.items():
        write(tmp_path / name, content)
    assert places(tmp_path / "q?.csv", tmp_path / "a*[1].run") == EXPECTED


# The verbs


def test_every_verb_takes_table_files(tmp_path: Path) -> None:
    qrels = write(tmp_path / "qrels.csv", written(QRELS))
    files = [write(tmp_path / f"{name}.parquet", parquet(BOTH.filter(run=name))) for name in ("x", "y")]
    assert evaluate(qrels, files[0], ["AP"]).to_dict() == {"x": {"AP": 0.625}}
    assert compare(qrels, files, ["AP"]).runs == ("x", "y")
    assert rank(qrels, files).runs == ("x", "y")
    assert len(explain(qrels, files).queries) == 2


# What is wrong


@pytest.mark.parametrize("share", [0.3, 0.9, 0.999])
def test_a_truncated_parquet_file_is_refused(tmp_path: Path, share: float) -> None:
    content = parquet(RUN)
    for pack in (bytes, gzip.compress):
        path = write(tmp_path / "a", pack(content[: int(share * len(content))]))
        with pytest.raises(FormatError, match=r"a: the Parquet file is truncated\n"):
            project(QRELS, path)


@pytest.mark.parametrize("place", [20, 40, -100, -20, -6])
def test_a_corrupt_parquet_file_is_refused_or_read(tmp_path: Path, place: int) -> None:
    """Not every byte matters, but whatever comes of one that is wrong is an error that names the file."""
    content = bytearray(parquet(RUN))
    content[place] ^= 0xFF
    try:
        project(QRELS, write(tmp_path / "a", bytes(content)))
    except FormatError as error:
        assert str(error).startswith(f"{tmp_path}/a: ")  # noqa: PT017 - either is right


def test_a_parquet_footer_that_is_no_footer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"a: the table cannot be read: "):
        project(QRELS, write(tmp_path / "a", b"PAR1\x15" + b"\xff" * 50 + b"PAR1"))


BAD_CSV = [
    (b"qid,docno,score\n007,a,1\n\n007,b,high\n", r":4: the score is not a number: 'high'"),
    (b"qid,docno,score\r\n007,a,1\r\n\r\n007,b,high\r\n\r\n", r":4: the score is not a number: 'high'"),
    (b'qid,docno,score\n007,"a\nb",1\n007,b,\n', r":4: the score is missing or NaN"),
    (b"qid;docno;score\n007;a;1,5\n", r":2: the score is not a number: '1,5'\n.*1\.5"),
    ("qid,docno,score\n007,a,١٢\n".encode(), r":2: the score is not a number: '١٢'\n  write a plain number"),
    (b"qid,docno,score\n007,a,nan\n", r":2: the score is missing or NaN"),
    (b"qid,docno,score\n,a,1\n", r":2: the query id is missing"),
    (b"qid,docno,score\n007,a,1\n007,b,1\n007,a,2\n", r":4: document 'a' of query '007' .* first on line 2"),
    (b"qid,docno,score\n", r": the table has no rows"),
    (b"qid,docno,points\n007,a,1\n", r": found no column of scores or ranks among qid, docno, points"),
    (b"qid,docno,score\n007,a,1,5\n", r":2: the row has 4 cells, but the header has 3: '007,a,1,5'"),
    (b"qid,docno,score\n007,a,1\n007,b\n", r":3: the row has 2 cells, but the header has 3: '007,b'"),
    (b"qid,docno,score\n007,a,1\n  \n", r":3: the row has 1 cell, but the header has 3: '  '"),
    (b"qid,docno,score,title\n007,a,1,\n007,b,2\n", r":3: the row has 3 cells, but the header has 4"),
    (b'qid,docno,score\n007,a,1\n007, "b",1\n', r":3: a quotation mark is inside a cell: '007, \"b\",1'\n"),
    (b'qid,docno,score\n007,"a" ,1\n', r":2: a quotation mark is inside a cell"),
    (b'qid,docno,score\n007,a"b,1\n007,c"d,2\n', r":2: a quotation mark is inside a cell"),
    (b'qid,docno,score\n007,a,1\n007,"b,1\n007,c,1\n', r":3: a quotation mark is never closed: '007,\"b,1'"),
    (b"qid,docno,score\n007,%s,1\n007,b,x\n" % (b"a" * 200_000), r":3: the score is not a number: 'x'"),
    (b"qid,docno,score\r007,a,1\r\r007,b,high\r", r":4: the score is not a number: 'high'"),
    (b"qid,docno,score\n007,a\rb,1\n", r":2: a line end of another kind is within the row: '007,a\\rb,1'\n  end all"),
    (b"qid,docno,score\n007,a,1\r007,b,2\n", r":2: a line end of another kind is within the row"),
    (b'qid,docno,score\n007,"a\rc",1\n007,b\rc,2\n', r":3: a line end of another kind is within the row"),
    (b"qid,docno,score\n007,a%s\rb,1\n" % (b"a" * ((1 << 20) - 22)), r":2: a line end of another kind is within"),
    (b"qid,docno,score\r007,a\nb,1\r", r":2: a line end of another kind is within the row: '007,a\\nb,1'"),
    (b"qid,docno,score,score\n007,a,1,2\n", r": 2 columns are called 'score'\n"),
    (b"qid,docno,score, score\n007,a,1,2\n", r": 2 columns are called 'score'\n"),
    (b"qid,docno,score,Score\n007,a,1,2\n", r": the scores may be in the column 'score' or 'Score'\n.*say which"),
    (b"qid,docno,score\n007,a,1_0\n", r":2: the score is not a number: '1_0'"),
    (b"qid,docno,score\n007,\xff,1\n", r":2: not UTF-8 text: b'007,\\xff,1'"),
]


@pytest.mark.parametrize(("content", "said"), BAD_CSV)
def test_a_csv_file_that_is_no_run_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(FormatError, match=rf"a\.txt{said}"):
        project(QRELS, write(tmp_path / "a.txt", content))


def test_a_csv_file_without_a_header_that_is_known_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", b"who,what,points\n007,b,1\n")
    with pytest.raises(
        FormatError, match=r"a\.csv: found no column of query ids and document ids among who, what, points"
    ):
        project(QRELS, path)
    columns = {"run.query": "who", "run.document": "what", "score": "points"}
    assert places(QRELS, path, columns=columns) == {"007": [1], "8": []}
    assert places(QRELS, write(tmp_path / "a", path.read_bytes()), columns=columns) == {"007": [1], "8": []}


def test_text_and_json_in_a_file_called_csv_stay_what_they_are(tmp_path: Path) -> None:
    assert places(QRELS, write(tmp_path / "a.csv", b"007 Q0 b 1 1 t\n")) == {"007": [1], "8": []}
    assert places(QRELS, write(tmp_path / "b.csv", b'{"007": {"b": 1, "c": 2}}')) == {"007": [2], "8": []}


def test_without_polars_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.parquet", parquet(RUN))
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(
        UsageError,
        match=r"a\.parquet: reading .* needs polars, which is not installed\n  " + re.escape(how_to_install("frames")),
    ):
        project({"007": {"a": 1}}, path)


def test_progress_counts_the_bytes_of_a_table_file(tmp_path: Path) -> None:
    advanced: list[int] = []
    path = write(tmp_path / "a.parquet", parquet(RUN))
    with Source(path, advanced.append) as source:
        files = table_files(source, "run")
        assert files is not None
        open_tables(files, source, "run")
    assert sum(advanced) >= path.stat().st_size


def test_scores_are_not_taken_for_grades(tmp_path: Path) -> None:
    """A run in the place of judgments has a column of scores, which BEIR's judgments have too, of whole numbers."""
    run, qrels = tmp_path / "run.tsv", tmp_path / "qrels.tsv"
    run.write_text("query-id\tcorpus-id\tscore\nq\ta\t0.5\nq\tb\t0.25\n")
    qrels.write_text("query-id\tcorpus-id\tscore\nq\ta\t1\nq\tb\t0\n")
    assert project(qrels, run).found.positions.tolist() == [1]
    with pytest.raises(FormatError, match=r"run.tsv:2: the column 'score' holds fractions.*: 0.5\n.*is this a run"):
        project(run, qrels)
    assert project(run, qrels, columns={"qrels.grade": "score"}).judgments.grades.tolist() == [0.5, 0.25]


def test_a_table_known_by_given_columns_only_holds_as_many_runs_as_it_says(tmp_path: Path) -> None:
    rows = b"run,query_id,film,score\nx,7,a,2\ny,7,b,2\n"
    path, again = write(tmp_path / "films.csv", rows), tmp_path / "again" / "films.csv"
    again.parent.mkdir()
    write(again, rows.replace(b"x,", b"v,").replace(b"y,", b"w,"))
    options: dict[str, Any] = {"columns": {"document": "film"}}
    qrels = {"7": {"a": 1}}
    assert compare(qrels, path, ["RR"], **options).runs == ("x", "y")
    assert [row["run"] for row in rank(qrels, path, **options).rows()] == ["x", "y"]
    assert evaluate(qrels, [path, again], ["RR"], **options).runs == ("x", "y", "v", "w")


@pytest.mark.parametrize("ids", ["text", "large text", "categories", "int16", "uint64"])
@pytest.mark.parametrize("grades", ["int64", "float32", "none"])
def test_judgments_in_batches_are_those_of_the_whole_table(tmp_path: Path, ids: str, grades: str) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    types = {"text": pa.string(), "large text": pa.large_string(), "int16": pa.int16(), "uint64": pa.uint64()}
    queries = pa.array(["7", "7", "8", "9"])
    queries = queries.dictionary_encode() if ids == "categories" else queries.cast(types[ids])
    columns = {"query_id": queries, "doc_id": pa.array(["a", "b", "a", "c"])}
    if grades != "none":
        columns["relevance"] = pa.array([0, 2, 1, -1]).cast(getattr(pa, grades)())
    path = tmp_path / "qrels.parquet"
    parquet.write_table(pa.table(columns), path)
    unopened = UnopenedTable(TableFiles(str(path), (str(path),), None), Source(path), "qrels", None)
    batched, whole = judgments_from_files(unopened), judgments_in_rows(unopened.table)
    assert batched.query_type == whole.query_type
    assert (batched.queries, batched.has_grades, batched.name) == (whole.queries, whole.has_grades, whole.name)
    assert list(batched.documents) == list(whole.documents)
    for name in ("offsets", "grades", "num_positive"):
        assert getattr(batched, name).tolist() == getattr(whole, name).tolist()
