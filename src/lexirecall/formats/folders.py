"""Folders: which files belong to a folder that is one table, or a data set as BEIR keeps it.

Belongs here: the one rule by which frames, DuckDB and Spark choose the files of a folder. Not here: reading them
(tablefiles, duckdb, engines).

A data set of BEIR has the judgments of a split in `qrels/SPLIT.tsv`, beside `corpus.jsonl` and `queries.jsonl`. Each
may be compressed. Any other folder is a table.

A table is Parquet files or CSV files, also in folders within the folder. A file that cannot be read, is empty or is of
another kind is an error, because nobody could tell what was lost. These are skipped: names that begin with `.` or `_`,
such as `_SUCCESS`; checksums; and files that only describe the others: README, LICENSE and Markdown.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from lexirecall.errors import FormatError, shown
from lexirecall.formats.source import PARQUET, SUFFIXES
from lexirecall.paths import exists, is_file

_MAGIC = b"PAR1"
_LEAST = 12  # bytes: twice the magic, and the length of the footer
_PARQUET_NAMES = (".parquet", ".parq", ".pq")
_PACKINGS = ("", *SUFFIXES)
_CSV_NAMES = tuple(f"{kind}{packing}" for kind in (".csv", ".tsv") for packing in _PACKINGS)
_OF_BEIR = tuple(f"{name}.jsonl{packing}" for name in ("corpus", "queries") for packing in _PACKINGS)
_ABOUT, _BESIDE = ("readme", "license", "licence"), (".md", ".crc")
_REMEDY = "repair or remove it; names that begin with . or _ are skipped"


def files_of(folder: str) -> list[str]:
    """Return the files of a folder that is one table: all Parquet, or all CSV.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "_SUCCESS").write_bytes(b"")
    ...     _ = Path(folder, "part-0.csv").write_bytes(b"qid,docno,score")
    ...     [Path(file).name for file in files_of(folder)]
    ['part-0.csv']
    """
    files = sorted(_found(folder))
    if not files:
        remedy = "name a file, or a folder of Parquet or CSV files"
        raise FormatError(folder, None, "is a folder without Parquet or CSV files", remedy=remedy)
    are_parquet = [is_parquet(file) for file in files]
    if any(are_parquet) and not all(are_parquet):
        other = files[are_parquet.index(False)]
        remedy = "a folder is one table, with only Parquet files or only CSV files; move the others"
        raise FormatError(str(other), None, "is CSV in a folder of Parquet files", remedy=remedy)
    return [str(file) for file in files]


def _found(folder: str) -> Iterator[Path]:
    for here, folders, names in os.walk(folder, onerror=_refuse, followlinks=True):
        folders[:] = sorted(name for name in folders if not _is_hidden(name))
        yield from (Path(here, name) for name in names if is_part(name))


def is_part(path: str) -> bool:
    """Tell whether a file, by its path within a folder, is part of the table.

    >>> is_part("run=bm25/part-0.parquet"), is_part("_temporary/0/part-0.parquet"), is_part("README.md")
    (True, False, False)
    """
    name = Path(path).name.lower()
    return not any(map(_is_hidden, Path(path).parts)) and not name.startswith(_ABOUT) and not name.endswith(_BESIDE)


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)  # _day=1 is a partition


def is_parquet(file: Path) -> bool:
    """Tell Parquet from CSV; raise if a file is damaged, or neither."""
    if exists(file) and not is_file(file):  # a pipe, which is never written to, or a device
        raise FormatError(str(file), None, "is not a regular file", remedy=_REMEDY)
    keeps_positions = False
    try:
        with file.open("rb") as opened:
            head = opened.read(len(PARQUET))
            size = opened.seek(0, os.SEEK_END)
            if head == PARQUET:
                opened.seek(max(size - len(_MAGIC), 0))
                check_end(str(file), size, opened.read())
                from lexirecall.positions.file import holds_positions  # not on top: most files are no tables

                keeps_positions = holds_positions(opened)
    except OSError as error:
        _refuse(error, file)
    if not size:
        raise empty_file(str(file))
    if keeps_positions:
        remedy = "name the file itself, or a pattern such as folder/*.parquet"
        raise FormatError(str(file), None, "is a positions file, but a folder is one table", remedy=remedy)
    if head == PARQUET:
        return True
    if file.name.lower().endswith(_CSV_NAMES):
        return False
    what = "not a Parquet file" if file.name.lower().endswith(_PARQUET_NAMES) else "neither a Parquet nor a CSV file"
    raise FormatError(str(file), None, f"is {what}: it begins with {head!r}", remedy=_REMEDY)


def empty_file(name: str) -> FormatError:
    """Return the error about a file without content."""
    return FormatError(name, None, "the file is empty (0 bytes)", remedy=_REMEDY)


def check_end(name: str, size: int, end: bytes) -> None:
    """Raise unless Parquet ends as it begins."""
    if size < _LEAST or end != _MAGIC:
        raise FormatError(name, None, "the Parquet file is truncated", remedy="copy it again")


def _refuse(error: OSError, file: Path | None = None) -> NoReturn:
    name = str(file or error.filename)
    raise FormatError(name, None, str(error.strerror).lower(), remedy=_REMEDY) from None


def is_beir_folder(path: str) -> bool:
    """Tell whether a path is that of a data set as BEIR keeps it."""
    return Path(path, "qrels").is_dir() and any(Path(path, name).is_file() for name in _OF_BEIR)


def judgments_of_folder(path: str) -> str:
    r"""Return the file of judgments, if the folder has one split; raise if it has several.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Path(folder, "qrels").mkdir()
    ...     _ = Path(folder, "qrels", "test.tsv").write_text("query-id\tcorpus-id\tscore\n")
    ...     Path(judgments_of_folder(folder)).name
    'test.tsv'
    """
    files = sorted(file for packing in _PACKINGS for file in (Path(path) / "qrels").glob(f"*.tsv{packing}"))
    if len(files) == 1:
        return str(files[0])
    if not files:
        raise FormatError(path, None, "has no judgments: qrels/ has no .tsv file", remedy="name a file of judgments")
    splits = " and ".join(shown(file.name.partition(".tsv")[0]) for file in files)
    raise FormatError(path, None, f"has judgments of {splits}", remedy=f"name one of the files, such as {files[-1]}")
