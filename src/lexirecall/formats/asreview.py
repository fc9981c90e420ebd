"""ASReview: what a project file, or the CSV that ASReview exports, says about one review.

Belongs here: the layout of these files, and refusing what is broken. Not here: what a review means to an evaluation
(reviews).

A project is a zip archive with `project.json` and, for its review, one SQLite database: `results.db` in version 2,
`results.sql` in version 1. A row of its table `results` is a record that was shown, in the order in which records were
shown. Prior knowledge has no querier in version 2, and the strategy `prior` in version 1. The number of records is
that of the table `record` of `data_store.db`, or of `record_table` in version 1. Nothing of a file is executed: the
databases are copied to a temporary folder, opened read-only, and only tables are read.
"""

import contextlib
import csv
import io
import json
import re
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any

from lexirecall.errors import FormatError, counted, shown
from lexirecall.formats.cells import possible_headers
from lexirecall.formats.reviews import Record, Review
from lexirecall.formats.source import NOT_UNPACKED, Source

_LABEL, _TIME, _RANKING = "asreview_label", "asreview_time", "asreview_ranking"
_STATE = re.compile(r"reviews/([^/]+)/results\.(db|sql)")
_RECORDS = "data_store.db"
_BLOCK = 1 << 20
_ROOM = 1 << 26
_MOST_UNPACKED = 100  # times the packed size of a database, beyond the room that any may take
_Shown = tuple[Record, int | None, bool]
"""A record that was shown, its label, and whether it is prior knowledge."""
_EXPORT_AGAIN = "export the project from ASReview again"


def is_export(source: Source) -> bool:
    """Tell whether a file is a CSV file that ASReview wrote, by its columns."""
    return any({_LABEL, _RANKING} & {*header.names} for header in possible_headers(source.head))


def read_project(source: Source) -> Review:
    """Read the review of a project file."""
    with source.open_packed() as packed, _archive(packed, source.name) as archive:
        names = archive.namelist()
        if "project.json" not in names:
            raise _another_archive(source.name)
        about = _about(archive, source.name)
        state, num_others = _state_of(names, about, source.name)
        with tempfile.TemporaryDirectory() as folder:
            results = _unpacked(archive, state, folder, source.name)
            if state.endswith(".sql"):
                rows, included, n = _first_version(results, source.name)
            else:
                if _RECORDS not in names:
                    raise FormatError(source.name, None, f"the project has no {_RECORDS}", remedy=_EXPORT_AGAIN)
                records = _unpacked(archive, _RECORDS, folder, source.name)
                rows, included, n = _second_version(results, records, source.name)
    labels = included | {record: label for record, label, _ in rows if label is not None}
    priors = frozenset(record for record, label, is_prior in rows if is_prior and label is not None)
    return Review(
        source.name,
        source.run_name,
        _query(about, source.run_name),
        {record: None for record, label, is_prior in rows if label is not None and not is_prior},
        labels,
        priors,
        n,
        num_pending=sum(label is None for _, label, _ in rows),
        remark=f"{source.name}: {counted(num_others, 'further review')} of the project left out" if num_others else "",
    )


@contextlib.contextmanager
def _archive(packed: IO[bytes], name: str) -> Iterator[zipfile.ZipFile]:
    """Open an archive; whatever is wrong with it becomes an error with a remedy."""
    try:
        with zipfile.ZipFile(packed) as archive:
            yield archive
    except (zipfile.BadZipFile, EOFError, NotImplementedError, UnicodeDecodeError, zlib.error) as error:
        if not name.endswith(".asreview"):
            raise _another_archive(name) from None
        raise FormatError(name, None, f"the zip archive is broken ({error})", remedy="copy it again") from None
    except RuntimeError as error:  # of zipfile, which has no error of its own for a password
        raise FormatError(name, None, f"the zip archive cannot be opened ({error})", remedy=_EXPORT_AGAIN) from None


def _another_archive(name: str) -> FormatError:
    return FormatError(name, None, NOT_UNPACKED[0], remedy=f"{NOT_UNPACKED[1]}, and projects of ASReview")


def _about(archive: zipfile.ZipFile, name: str) -> dict[str, Any]:
    with archive.open("project.json") as file:
        text = file.read(_BLOCK)
    try:
        about = json.loads(text)
    except (ValueError, RecursionError):
        about = None
    if not isinstance(about, dict):
        raise FormatError(name, None, "project.json is not a JSON object", remedy=_EXPORT_AGAIN)
    return about


def _state_of(names: list[str], about: dict[str, Any], name: str) -> tuple[str, int]:
    """Return the database of the review, of several that of the first one that is listed, and how many others are."""
    found = {match[1]: each for each in sorted(names, reverse=True) if (match := _STATE.fullmatch(each))}
    listed = about.get("reviews")
    ids = [each.get("id") for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    for each in [*ids, *sorted(found)]:
        if each in found:
            return found[each], len(found) - 1
    raise FormatError(name, None, "the project holds no review", remedy="screen or simulate, then export it again")


def _query(about: dict[str, Any], file_name: str) -> str:
    """Return what the review is called: its dataset, so that simulations of one dataset are runs for one query."""
    datasets = about.get("datasets")
    names = [each.get("name") for each in datasets if isinstance(each, dict)] if isinstance(datasets, list) else []
    dataset = names[0] if len(names) == 1 else about.get("dataset_path")
    if isinstance(dataset, str) and dataset:
        return PurePosixPath(dataset).stem
    name = about.get("name")
    return name if isinstance(name, str) and name else PurePosixPath(file_name).stem


def _unpacked(archive: zipfile.ZipFile, member: str, folder: str, name: str) -> Path:
    """Copy a database into a folder; refuse one that unpacks to far more than any does."""
    path = Path(folder) / PurePosixPath(member).name
    most = max(_ROOM, _MOST_UNPACKED * archive.getinfo(member).compress_size)
    size = 0
    with archive.open(member) as packed, path.open("wb") as file:
        while block := packed.read(_BLOCK):
            size += len(block)
            if size > most:
                problem = f"{member} unpacks to more than {_MOST_UNPACKED} times its size"
                raise FormatError(name, None, problem, remedy=_EXPORT_AGAIN)
            file.write(block)
    return path


@contextlib.contextmanager
def _database(path: Path, name: str) -> Iterator[sqlite3.Connection]:
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            database.execute("PRAGMA trusted_schema = OFF")
            yield database
    except sqlite3.Error as error:
        problem = f"its database {path.name} cannot be read ({error})"
        raise FormatError(name, None, problem, remedy=_EXPORT_AGAIN) from None


def _rows(database: sqlite3.Connection, table: str, columns: tuple[str, ...], name: str) -> list[Any]:
    """Return columns of a table in the order of its rows; raise if it is a view, or lacks one of them."""
    kinds = [kind for (kind,) in database.execute("SELECT type FROM sqlite_master WHERE name = ?", (table,))]
    known = {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
    if kinds != ["table"] or not known.issuperset(columns):
        problem = f"expected a table {table} with the columns {', '.join(columns)} in its database"
        raise FormatError(name, None, problem, remedy="is it of a version of ASReview below 1 or above 2?")
    return database.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY rowid").fetchall()  # noqa: S608


def _first_version(results: Path, name: str) -> tuple[list[_Shown], dict[Record, int], int]:
    with _database(results, name) as database:
        rows = _rows(database, "results", ("record_id", "label", "query_strategy"), name)
        records = _rows(database, "record_table", ("record_id",), name)
    return [(*_labelled(record, label, name), how == "prior") for record, label, how in rows], {}, len(records)


def _second_version(results: Path, records: Path, name: str) -> tuple[list[_Shown], dict[Record, int], int]:
    """Return what was shown, the labels that came with the dataset, and the number of records."""
    with _database(results, name) as database:
        rows = _rows(database, "results", ("record_id", "label", "querier"), name)
    with _database(records, name) as database:
        known = [
            _labelled(record, label, name)
            for record, label in _rows(database, "record", ("record_id", "included"), name)
        ]
    included: dict[Record, int] = {record: label for record, label in known if label is not None}
    return [(*_labelled(record, label, name), how is None) for record, label, how in rows], included, len(known)


def _labelled(record: Any, label: Any, name: str) -> tuple[int, int | None]:
    """Return the id of a record and its label, None if it has none; raise if they are something else."""
    if not isinstance(record, int) or not (label is None or (isinstance(label, int) and label in (-1, 0, 1))):
        problem = f"record {shown(repr(record))} has the label {shown(repr(label))}"
        raise FormatError(name, None, problem, remedy="a label is 0 or 1, and the id of a record a whole number")
    return record, None if label == -1 else label


def read_export(source: Source) -> Review:
    """Read a CSV file that ASReview exported: records in the order of the times at which they were labelled.

    The times are in seconds, so records may be tied. Prior knowledge is not marked.
    """
    header = next(each for each in possible_headers(source.head) if {_LABEL, _RANKING} & {*each.names})
    if missing := [each for each in (_LABEL, _TIME) if each not in header.names]:
        problem = f"the export has no column {' or '.join(missing)}, so when each record was labelled is unknown"
        raise FormatError(source.name, None, problem, remedy="give the project file (.asreview) instead")
    with source.open() as stream, io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="") as text:
        try:
            rows = list(csv.DictReader(text, delimiter=header.separator))
        except csv.Error as error:
            problem = f"the rows cannot be read ({error})"
            raise FormatError(source.name, None, problem, remedy=_EXPORT_AGAIN) from None
    shown_at: dict[int | str, float | None] = {}
    labels: dict[int | str, int] = {}
    has_ids = all((row.get("record_id") or "").strip() for row in rows)
    for number, row in enumerate(rows, 1):
        record = row["record_id"].strip() if has_ids else number
        if (label := (row[_LABEL] or "").strip()) in ("", "-1"):
            continue
        if label.removesuffix(".0") not in ("0", "1") or record in labels:
            problem = f"record {shown(str(record))} has the label {shown(label)}" + (
                ", and another" * (record in labels)
            )
            raise FormatError(source.name, None, problem, remedy="each record has one label, 0 or 1")
        labels[record] = int(label[0])
        shown_at[record] = -_seconds(row[_TIME] or "", source.name)
    remark = f"{source.name}: {counted(len(labels), 'record')} with a label; prior knowledge is not marked in an export"
    query = PurePosixPath(source.run_name).stem
    return Review(source.name, source.run_name, query, shown_at, labels, frozenset(), len(rows), remark=remark)


def _seconds(text: str, name: str) -> float:
    for read in (float, _since_1970):
        try:
            return float(read(text.strip()))
        except (ValueError, OverflowError):
            continue
    problem = f"the time of a label is {shown(text)}"
    raise FormatError(name, None, problem, remedy="expected a time such as 2026-05-01 14:03:59")


def _since_1970(text: str) -> float:
    """Return seconds; a time without a zone is the same everywhere, and no hour of it is missing or twice there."""
    time = datetime.fromisoformat(text)
    return (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp()
