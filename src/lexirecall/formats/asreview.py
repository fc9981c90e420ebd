"""ASReview: what a project file, or the CSV that ASReview exports, says about one review.

Belongs here: the layout of these files, and refusing what is broken. Not here: what a review means to an evaluation
(reviews).

A project is a zip archive with `project.json` and SQLite databases. Version 3 has one, `results.db`; version 2 has
`results.db` for its review and `data_store.db`, version 1 only `results.sql` for its review. A row of the table
`results` is a record that was shown, in the order in which records were shown: whoever changes a label changes it
there, and ASReview logs the former one elsewhere. Prior knowledge has no querier, or the strategy `prior` in version 1.
The number of records is that of the table `record`, or of `record_table` in version 1. Nothing of a file is executed:
the databases are copied to a temporary folder, opened read-only, and only tables are read.
"""

import contextlib
import math
import re
import shutil
import sqlite3
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any

from lexirecall.errors import FormatError, counted, shown
from lexirecall.formats.cells import cells_of_rows, possible_headers
from lexirecall.formats.reviews import Record, Review
from lexirecall.formats.source import NOT_UNPACKED, Source
from lexirecall.formats.values import NUMBER
from lexirecall.trees import json_tree

_ID, _LABEL, _TIME, _RANKING = "record_id", "asreview_label", "asreview_time", "asreview_ranking"
_STATE = re.compile(r"reviews/([^/]+)/results\.(db|sql)")
_STATE_3, _RECORDS_2 = "results.db", "data_store.db"
_VERSIONS = {
    3: (_STATE_3, "record", "included, duplicate_of", "querier"),
    2: (_RECORDS_2, "record", "included, NULL", "querier"),
    1: (None, "record_table", "NULL, NULL", "query_strategy"),
}
"""The database of the records if it is not that of the review, their table, what it says of each, and who showed it."""
_BLOCK = 1 << 20
_ROOM = 1 << 26
_MOST_UNPACKED = 100  # times the packed size of a database, beyond the room that any may take
_Shown = tuple[Record, int | None, bool]
"""A record that was shown, its label, and whether it is prior knowledge."""
_EXPORT_AGAIN = "export the project from ASReview again"
_DAY_TIME = re.compile(
    r"\d{4}-\d\d-\d\d(?P<time>[ T]\d\d:\d\d(?P<seconds>:\d\d([.]\d+)?)?(?P<zone>Z|[+-]\d\d:?\d\d)?)?", re.ASCII
)
_TIMES_REMEDY = "write all times alike, such as 2026-05-01 14:03:59"


def is_export(source: Source) -> bool:
    """Tell whether a file is a CSV file that ASReview wrote, by its columns."""
    return any({_LABEL, _RANKING} & {*header.names} for header in possible_headers(source.head))


def read_project(source: Source) -> Review:
    """Read the review of a project file."""
    with source.open_packed() as packed, _archive(packed, source.name) as archive:
        names = archive.namelist()
        if "project.json" not in names:
            raise _another_archive(source.name)
        if doubled := next((name for name, number in Counter(names).items() if number > 1), None):
            raise FormatError(source.name, None, f"the archive holds {shown(doubled)} twice", remedy=_EXPORT_AGAIN)
        with archive.open("project.json") as file:
            about = json_tree(file.read(_BLOCK), f"{source.name}: project.json", remedy=_EXPORT_AGAIN)
        if not isinstance(about, dict):
            raise FormatError(source.name, None, "project.json is not a JSON object", remedy=_EXPORT_AGAIN)
        state, num_others = _state_of(names, about, source.name)
        with tempfile.TemporaryDirectory() as folder:
            rows, known, num_duplicates = _tables_of(archive, state, folder, source.name)
    _check_records(rows, known, source.name)
    remark = f"{counted(num_others, 'further review')} of the project left out" if num_others else ""
    if num_duplicates:
        remark = f"{counted(num_duplicates, 'record')} said to duplicate another, counted like any other"
    labelled = [*known.items(), *((record, label) for record, label, _ in rows)]
    labels = {record: label for record, label in labelled if label is not None}
    priors = frozenset(record for record, label, is_prior in rows if is_prior and label is not None)
    return Review(
        name=source.name, run_name=source.run_name, query=_query(about, source.run_name),
        read={record: None for record, label, is_prior in rows if label is not None and not is_prior},
        labels=labels, priors=priors, num_records=len(known), num_pending=sum(label is None for _, label, _ in rows),
        remark=remark and f"{source.name}: {remark}",
    )  # fmt: skip


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


def _state_of(names: list[str], about: dict[str, Any], name: str) -> tuple[str, int]:
    """Return the database of the review, of several that of the first one that is listed, and how many others are."""
    version = about.get("project_file_version")
    if isinstance(version, int) and version > max(_VERSIONS):
        problem = f"the project is of version {version:,}, and versions 1 to {max(_VERSIONS)} can be read"
        raise FormatError(name, None, problem, remedy="export the records as CSV, or update lexirecall")
    if _STATE_3 in names:
        return _STATE_3, 0
    # in reverse, so that of a review with both, results.db replaces results.sql
    found = {match[1]: state for state in sorted(names, reverse=True) if (match := _STATE.fullmatch(state))}
    listed = about.get("reviews")
    ids = [review.get("id") for review in listed if isinstance(review, dict)] if isinstance(listed, list) else []
    for review_id in [*ids, *sorted(found)]:
        if isinstance(review_id, str) and review_id in found:
            return found[review_id], len(found) - 1
    raise FormatError(name, None, "the project holds no review", remedy="screen or simulate, then export it again")


def _query(about: dict[str, Any], file_name: str) -> str:
    """Return what the review is called: its dataset, so that simulations of one dataset are runs for one query."""
    datasets = about.get("datasets")
    names = [entry.get("name") for entry in datasets if isinstance(entry, dict)] if isinstance(datasets, list) else []
    dataset = names[0] if len(names) == 1 else about.get("dataset_path")
    if isinstance(dataset, str) and dataset:
        return PurePosixPath(dataset).stem
    name = about.get("name")
    return name if isinstance(name, str) and name else PurePosixPath(file_name).stem


def _unpacked(archive: zipfile.ZipFile, member: str, folder: str, name: str) -> Path:
    """Copy a database into a folder; refuse one that unpacks to far more than any does."""
    path, info = Path(folder) / PurePosixPath(member).name, archive.getinfo(member)
    beside = {entry.filename for entry in archive.filelist if entry.file_size}
    if unwritten := {f"{member}-wal", f"{member}-journal"} & beside:
        problem = f"{unwritten.pop()} holds what was not yet written to {member}"
        raise FormatError(name, None, problem, remedy="end what writes to the project, then export it again")
    if info.file_size > max(_ROOM, _MOST_UNPACKED * info.compress_size):  # no more than that is ever unpacked
        problem = f"{member} unpacks to more than {_MOST_UNPACKED} times its size"
        raise FormatError(name, None, problem, remedy=_EXPORT_AGAIN)
    with archive.open(member) as packed, path.open("wb") as file:
        shutil.copyfileobj(packed, file)
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


def _rows(database: sqlite3.Connection, table: str, columns: str, name: str) -> list[Any]:
    """Return columns of a table in the order of its rows; raise if it is a view, or lacks one of them."""
    kinds = [kind for (kind,) in database.execute("SELECT type FROM sqlite_master WHERE name = ?", (table,))]
    known = {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
    needed = [column for column in columns.split(", ") if column != "NULL"]
    if kinds != ["table"] or not known.issuperset(needed):
        problem = f"expected a table {table} with the columns {', '.join(needed)} in its database"
        raise FormatError(name, None, problem, remedy="is it of a version of ASReview below 1 or above 3?")
    return database.execute(f"SELECT {columns} FROM {table} ORDER BY rowid").fetchall()  # noqa: S608


def _tables_of(
    archive: zipfile.ZipFile, state: str, folder: str, name: str
) -> tuple[list[_Shown], dict[Record, int | None], int]:
    """Return what was shown, all records with the labels that came with the dataset, and how many are duplicates."""
    version = 3 if state == _STATE_3 else 1 if state.endswith(".sql") else 2
    records, table, columns, how = _VERSIONS[version]
    if records not in (None, *archive.namelist()):
        raise FormatError(name, None, f"the project has no {records}", remedy=_EXPORT_AGAIN)
    with _database(_unpacked(archive, state, folder, name), name) as database:
        rows = _rows(database, "results", f"record_id, label, {how}", name)
    with _database(_unpacked(archive, records or state, folder, name), name) as database:
        listed = _rows(database, table, f"record_id, {columns}", name)
    known: dict[Record, int | None] = dict(_labelled(record, label, name) for record, label, _ in listed)
    if len(known) < len(listed):
        raise FormatError(name, None, f"its table {table} lists a record twice", remedy=_EXPORT_AGAIN)
    prior = "prior" if version == 1 else None
    screening: list[_Shown] = [(*_labelled(record, label, name), shown_by == prior) for record, label, shown_by in rows]
    return screening, known, sum(original is not None for _, _, original in listed)


def _check_records(rows: list[_Shown], known: dict[Record, int | None], name: str) -> None:
    """Raise if a record was shown twice, as ASReview never does, or is not in the dataset."""
    labels: dict[Record, int | None] = {}
    for record, label, _ in rows:
        if record in labels:
            both = " and ".join("no label" if one is None else str(one) for one in (labels[record], label))
            problem = f"record {record} is labelled twice: {both}"
            raise FormatError(name, None, problem, remedy="label it once more in ASReview, and export the project")
        if record not in known:
            problem = (
                f"record {record} was labelled, but is not among the {counted(len(known), 'record')} of the dataset"
            )
            raise FormatError(name, None, problem, remedy=_EXPORT_AGAIN)
        labels[record] = label


def _labelled(record: Any, label: Any, name: str) -> tuple[Record, int | None]:
    """Return the id of a record and its label, None if it has none; raise if they are something else."""
    if not isinstance(record, int) or not (label is None or (isinstance(label, int) and label in (-1, 0, 1))):
        problem = f"record {shown(repr(record))} has the label {shown(repr(label))}"
        raise FormatError(name, None, problem, remedy="a label is 0 or 1, and the id of a record a whole number")
    return str(record), None if label == -1 else label


def read_export(source: Source) -> Review:
    """Read a CSV file that ASReview exported: records in the order of the times at which they were labelled.

    The times are in seconds, so records may be tied. Prior knowledge is not marked.
    """
    header = next(header for header in possible_headers(source.head) if {_LABEL, _RANKING} & {*header.names})
    if missing := [column for column in (_LABEL, _TIME) if column not in header.names]:
        problem = f"the export has no column {' or '.join(missing)}, so when each record was labelled is unknown"
        raise FormatError(source.name, None, problem, remedy="give the project file (.asreview) instead")
    for column in (_ID, _LABEL, _TIME):
        if (number := header.names.count(column)) > 1:
            problem = f"{number} columns are called {column!r}"
            raise FormatError(source.name, 1, problem, remedy="give each its own name, or leave one out")
    label_at, time_at = header.names.index(_LABEL), header.names.index(_TIME)
    # since version 2 an export begins with the number of the record, in a column without a name
    id_at = header.names.index(_ID) if _ID in header.names else None if header.names[0] else 0
    source.check_intact()  # before it is cut into lines, which may be far more than any file has
    lines: dict[Record, int] = {}
    read: dict[Record, float | None] = {}
    labels: dict[Record, int] = {}
    times = _Times(source.name)
    for number, (line, cells) in enumerate(cells_of_rows(source, header), 1):
        record = str(number) if id_at is None else cells[id_at]
        if record == "":
            problem, remedy = "the record_id is missing", "fill it in, or remove the column: rows are then counted"
            raise FormatError(source.name, line, problem, remedy=remedy)
        if record in lines:
            problem = f"record {shown(record)} is listed twice, first on line {lines[record]:,}"
            raise FormatError(source.name, line, problem, remedy="remove one of them")
        lines[record] = line
        label, time = cells[label_at], cells[time_at]
        if label == "-1" or label == time == "":
            continue
        if label.removesuffix(".0") not in ("0", "1"):
            problem = f"record {shown(record)} has the label {shown(label)}"
            remedy = "a label is 0 or 1; leave it and its time out if unknown"
            raise FormatError(source.name, line, problem, remedy=remedy)
        labels[record] = int(label[0])
        read[record] = -times.seconds(time, line)
    of_all = f"{len(labels):,} of {counted(len(lines), 'record')}"
    remark = f"{source.name}: {of_all} with a label; prior knowledge is not marked in an export"
    return Review(
        name=source.name, run_name=source.run_name, query=PurePosixPath(source.run_name).stem, read=read, labels=labels,
        priors=frozenset(), num_records=len(lines), remark=remark,
    )  # fmt: skip


class _Times:
    """The times of one export, which are all written alike: numbers of seconds and dates do not mix."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._first: tuple[str, str, int] | None = None

    def seconds(self, text: str, line: int) -> float:
        """Return a time as seconds; without a zone it is the same everywhere, and no hour of it is missing or twice."""
        form, seconds = "", math.nan
        try:
            if re.fullmatch(NUMBER, text):
                form, seconds = "a number", float(text)
            elif match := _DAY_TIME.fullmatch(text):
                form = "a time" if match["seconds"] else "a minute" if match["time"] else "a day"
                form += " with a zone" if match["zone"] else ""
                moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
                seconds = (moment if match["zone"] else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            seconds = math.nan  # there is no such day
        if not math.isfinite(seconds):
            raise FormatError(self._name, line, f"the time of the label is {shown(text)}", remedy=_TIMES_REMEDY)
        self._first = self._first or (form, text, line)
        if form != self._first[0]:
            other, first, at = self._first
            problem = f"the time of the label is {form}, {shown(text)}, but {other} on line {at:,}, {shown(first)}"
            raise FormatError(self._name, line, problem, remedy=_TIMES_REMEDY)
        return seconds
