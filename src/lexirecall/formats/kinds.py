"""Kinds: what an input is, and what reads it in each role that it can serve.

Belongs here: the one table of what judgments, runs, providers, units, groups and corpus sizes may be given as. Not
here: what lines, keys and rows mean (trec, memory, rows, labels, unitrows, grouping), what runs are called (naming).

A new format is one row: how to recognize it, which roles it serves, and what reads it. The first row that knows an
input and serves its role counts. Files are known by their content; a file that is none of the others is text. What
reads text is imported here; whatever else a row needs is imported when an input is of its kind.
"""

import os
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from lexirecall.errors import FormatError, UsageError
from lexirecall.formats.catalogue import is_catalogued, judgments_from_catalogue
from lexirecall.formats.cells import csv_header
from lexirecall.formats.columns import Given
from lexirecall.formats.folders import files_of, is_beir_folder, judgments_of_folder
from lexirecall.formats.forms import TextRun, is_form
from lexirecall.formats.frames import is_frame, is_of_spark
from lexirecall.formats.native import read_qrels_native
from lexirecall.formats.sizes import sizes_from_mapping
from lexirecall.formats.source import FileType, Source, source_of
from lexirecall.formats.trec import read_providers, read_qrels, read_sizes
from lexirecall.judgments import Judgments
from lexirecall.paths import exists
from lexirecall.reader import reader_in_use

if TYPE_CHECKING:
    from lexirecall.formats.queryrows import QueryRows
    from lexirecall.formats.reviews import Reviews
    from lexirecall.formats.roletable import RoleTable
    from lexirecall.formats.tablefiles import TableFiles


class Input(NamedTuple):
    """An input, or the source if it is a file, and what it is for."""

    value: Any
    role: str
    """Whether it holds `qrels`, a `run`, `providers`, `units`, `subtopics` (judgments of them), `groups` or
    `corpus_size`."""
    columns: Given = None
    run: str = ""
    """The name of a run that does not name itself."""
    is_given: bool = False
    """Whether that name takes precedence over the run's own."""

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.value.name if isinstance(self.value, Source) else self.run or self.role


class Kind(NamedTuple):
    """A row of the table."""

    knows: Callable[[Input], bool]
    roles: Collection[str]
    read: Callable[[Input], Any]
    """Returns judgments, a form of runs, pairs, groups or sizes, as the role says."""


# What is read of an opened input in each role


def read_mapping(content: Mapping[Any, Any], entry: Input) -> Any:
    """Read a mapping, of Python or of JSON.

    >>> read_mapping({"q": 100}, Input(None, "corpus_size"))
    {b'q': 100}
    """
    name = entry.name
    match entry.role:
        case "qrels":
            from lexirecall.formats.dicts import load_mapping

            return load_mapping(content, name)
        case "run":
            from lexirecall.formats.mappingrun import MappingRun

            return MappingRun(content, entry.run, name)
        case "providers":
            from lexirecall.formats.memory import pairs_from_mapping

            return pairs_from_mapping(content, name)
        case "corpus_size":
            return sizes_from_mapping(content)
    from lexirecall.formats.grouping import groups_from_mapping
    from lexirecall.formats.unitrows import subtopics_from_mapping, units_from_mapping

    read = {"groups": groups_from_mapping, "units": units_from_mapping, "subtopics": subtopics_from_mapping}
    return read[entry.role](content, name)


def read_table(table: "RoleTable", entry: Input) -> Any:
    """Read a table: a frame, or the rows of files."""
    from lexirecall.formats.grouping import groups_from_table
    from lexirecall.formats.labels import judgments_from_table, pairs_from_table
    from lexirecall.formats.tableruns import TableRun
    from lexirecall.formats.unitrows import subtopics_from_table, units_from_table

    if entry.role == "run":
        return TableRun(table, entry.run, entry.is_given)
    read: dict[str, Callable[[RoleTable], Any]] = {
        "qrels": judgments_from_table, "providers": pairs_from_table, "groups": groups_from_table,
        "units": units_from_table, "subtopics": subtopics_from_table,
    }  # fmt: skip
    return read[entry.role](table)


def _files(entry: Input) -> "TableFiles":
    """Return the files of a table: Parquet or CSV, or a folder of one of them."""
    from lexirecall.formats.tablefiles import TableFiles, common_header

    source, role, columns = entry.value, entry.role, entry.columns
    if source.type is FileType.FOLDER:
        paths = tuple(files_of(source.path))
        return TableFiles(entry.name, paths, common_header(paths, role, columns), source.path)
    header = None if source.type is FileType.PARQUET else csv_header(source, role, columns)
    return TableFiles(entry.name, (source.path,), header)


def _read_files(entry: Input) -> Any:
    """Read a table in files; judgments and runs need not be held in memory as a table."""
    from lexirecall.formats.labels import judgments_from_files
    from lexirecall.formats.tablefiles import UnopenedTable
    from lexirecall.formats.tableruns import TableFileRun

    unopened = UnopenedTable(_files(entry), entry.value, entry.role, entry.columns)
    if entry.role == "run":
        return TableFileRun(unopened, entry.run, entry.is_given)
    return judgments_from_files(unopened) if entry.role == "qrels" else read_table(unopened.table, entry)


def _read_rows(rows: "QueryRows", entry: Input) -> Any:
    from lexirecall.formats.mappingrun import MappingRun

    return rows.judgments() if entry.role == "qrels" else MappingRun(rows.ranked, entry.run, rows.name)


def _read_text(entry: Input) -> Any:
    source: Source = entry.value
    match entry.role:
        case "qrels":
            return read_qrels_native(source) if reader_in_use() == "native" else read_qrels(source)
        case "run":
            return TextRun(source, entry.run)
        case "providers":
            return read_providers(source)
        case "corpus_size":
            return read_sizes(source)
        case "groups":
            from lexirecall.formats.grouping import read_groups

            return read_groups(source)
    from lexirecall.formats.unitrows import read_subtopics, read_units

    return read_units(source) if entry.role == "units" else read_subtopics(source)


# What recognizes and opens an input


def is_rows(value: object) -> "TypeGuard[QueryRows]":
    """Tell whether these are rows that have been read; nobody has made any before their module was imported."""
    # another thread may be importing it at this moment
    rows = getattr(sys.modules.get("lexirecall.formats.queryrows"), "QueryRows", None)
    return rows is not None and isinstance(value, rows)


def _read_frame(entry: Input) -> Any:
    from lexirecall.formats.roletable import open_frame

    name, value = f"run {entry.name!r}" if entry.is_given else entry.name, entry.value
    if is_of_spark(value):
        from lexirecall.engines.spark_files import rows_in_memory

        value = rows_in_memory(value, entry.role, entry.columns, name)
    return read_table(open_frame(value, entry.role, entry.columns, name=name), entry)


def is_review(source: Source) -> bool:
    """Tell whether a file is a project of ASReview, as every archive must be, or the CSV that ASReview exports."""
    if source.type is not FileType.LINES or b"asreview_" not in source.head:
        return source.type is FileType.ARCHIVE
    from lexirecall.formats.asreview import is_export

    return is_export(source)


def reviews_in(source: Source) -> "Reviews":
    """Read the review of a file that holds one."""
    from lexirecall.formats.asreview import read_export, read_project
    from lexirecall.formats.reviews import Reviews

    return Reviews((read_project(source) if source.type is FileType.ARCHIVE else read_export(source),))


def _read_review(entry: Input) -> Any:
    from lexirecall.formats.mappingrun import MappingRun

    reviews = reviews_in(entry.value)
    if entry.role == "qrels":
        return reviews.judgments()
    return MappingRun(reviews.reviews[0].ranking(), entry.run, entry.name)


def is_positions(source: Source) -> bool:
    """Tell whether a file holds positions; of any other than Parquet, nothing is imported to know that."""
    if source.type is not FileType.PARQUET:
        return False
    from lexirecall.formats.positionsrun import is_positions_file

    return is_positions_file(source)


def _read_positions(entry: Input) -> Any:
    from lexirecall.formats.positionsrun import PositionsRun, read_positions

    positions = read_positions(entry.value)
    if entry.role == "qrels":
        return replace(positions.judgments, name=entry.name)
    return PositionsRun(positions, entry.run, entry.is_given, entry.name)


def _read_beir(entry: Input) -> Any:
    with Source(judgments_of_folder(entry.value.path)) as source:
        return read_input(entry._replace(value=source))


def _is_csv(entry: Input) -> bool:
    """Tell by the first line, which names columns that serve the role."""
    return isinstance(entry.value, Source) and csv_header(entry.value, entry.role, entry.columns) is not None


def _read_json(entry: Input) -> Any:
    if entry.role not in _SIDES:
        from lexirecall.formats.jsontext import load_json
        from lexirecall.formats.memory import SHAPES

        return read_mapping(load_json(entry.value, SHAPES[entry.role]), entry)
    from lexirecall.formats.jsonfiles import open_json
    from lexirecall.formats.queryrows import QueryRows

    content = open_json(entry.value, entry.role, entry.columns)
    if isinstance(content, Mapping):
        return read_mapping(content, entry)
    return _read_rows(content, entry) if isinstance(content, QueryRows) else read_table(content, entry)


def _in_file(knows: Callable[[Source], bool]) -> Callable[[Input], bool]:
    return lambda entry: isinstance(entry.value, Source) and knows(entry.value)


_SIDES = ("qrels", "run")
_TABLES = (*_SIDES, "providers", "groups", "units", "subtopics")
_ALL = (*_TABLES, "corpus_size")

JUDGED = Kind(lambda entry: isinstance(entry.value, Judgments), ("qrels",), lambda entry: entry.value)
MAPPING = Kind(lambda entry: isinstance(entry.value, Mapping), _ALL, lambda entry: read_mapping(entry.value, entry))
ROWS = Kind(lambda entry: is_rows(entry.value), _SIDES, lambda entry: _read_rows(entry.value, entry))
FORM = Kind(lambda entry: is_form(entry.value), ("run",), lambda entry: entry.value)
FRAME = Kind(lambda entry: is_frame(entry.value), _TABLES, _read_frame)
CATALOGUED = Kind(
    lambda entry: is_catalogued(entry.value), ("qrels",), lambda entry: judgments_from_catalogue(entry.value)
)
REVIEW = Kind(_in_file(is_review), _SIDES, _read_review)
POSITIONS_FILE = Kind(_in_file(is_positions), _SIDES, _read_positions)
BEIR_FOLDER = Kind(
    _in_file(lambda source: source.type is FileType.FOLDER and is_beir_folder(source.path)), ("qrels",), _read_beir
)
FOLDER = Kind(_in_file(lambda source: source.type is FileType.FOLDER), _TABLES, _read_files)
PARQUET_FILE = Kind(_in_file(lambda source: source.type is FileType.PARQUET), _TABLES, _read_files)
CSV = Kind(_is_csv, _TABLES, _read_files)
JSON = Kind(_in_file(lambda source: source.type is FileType.JSON), _TABLES, _read_json)
TEXT = Kind(_in_file(lambda _: True), _ALL, _read_text)

KINDS = (
    JUDGED, MAPPING, ROWS, FORM, FRAME, CATALOGUED, REVIEW, POSITIONS_FILE, BEIR_FOLDER, FOLDER, PARQUET_FILE, CSV,
    JSON, TEXT,
)  # fmt: skip


def kind_of(entry: Input) -> Kind | None:
    """Return what an input is; None for a path, which is known only as a source, and for what cannot be an input.

    >>> kind_of(Input({"q": {"a": 1}}, "qrels")) is MAPPING, kind_of(Input("bm25.run", "run"))
    (True, None)
    """
    return next((kind for kind in KINDS if entry.role in kind.roles and kind.knows(entry)), None)


def is_path(value: object, role: str) -> "TypeGuard[str | os.PathLike[str]]":
    """Tell whether an input is a file, by its path or as a source; judgments may also be the name of a data set.

    >>> is_path("qrels.txt", "qrels"), is_path("ir_datasets:vaswani", "qrels"), is_path({"q": {"a": 1}}, "run")
    (True, False, False)
    """
    return isinstance(value, (str, os.PathLike)) and not (role == "qrels" and is_catalogued(value))


def read_input(entry: Input) -> Any:
    """Read an input that is in memory, or a source, as what it is for.

    >>> read_input(Input({"q": 100}, "corpus_size"))
    {b'q': 100}
    """
    if (kind := kind_of(entry)) is None:
        raise no_input(entry.value, entry.role)
    return kind.read(entry)


def no_input(value: object, role: str) -> UsageError:
    """Return the error about something that cannot be an input."""
    what = "a run" if role == "run" else role
    return UsageError(f"{what} is of type {type(value).__name__}, but must be a path, a mapping or a data frame")


def table_files(source: Source, role: str, columns: Given = None) -> "TableFiles | None":
    """Return the files of a table that an engine reads itself; None for anything else."""
    entry = Input(source, role, columns)
    kind = kind_of(entry)
    return _files(entry) if kind is not None and kind.read is _read_files else None


def may_hold_table(run: object, columns: Given = None) -> bool:
    """Tell whether something may be a table of several runs: a frame, a folder, or a file that looks like one.

    A pipe cannot be looked into without emptying it, so the answer is yes.
    """
    if not isinstance(run, (str, os.PathLike)):
        return kind_of(Input(run, "run")) is FRAME
    source = source_of(run)
    if not source.is_regular:
        return source.path == "-" or exists(source)
    try:
        with source:
            return source.type is FileType.PARQUET or kind_of(Input(source, "run", columns)) is CSV
    except FormatError:
        return False  # whoever reads it will say what is wrong
