"""Kinds: what an input is, and what reads it in each role that it can serve.

Belongs here: the one table of what judgments, runs, providers, units, groups and corpus sizes may be given as. Not
here: what lines, keys and rows mean (trec, memory, rows, labels, unitrows, grouping), what runs are called (naming).

A new format is one row: how to recognize it, how to open it and, for each role, what reads it. The first row that
knows an input counts. Files are known by their content; a file that is none of the others is text. What reads text is
imported here; whatever else a row needs is imported when an input is of its kind.
"""

import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from lexirecall.errors import FormatError
from lexirecall.formats.catalogue import is_catalogued, judgments_from_catalogue
from lexirecall.formats.cells import csv_header
from lexirecall.formats.columns import Given
from lexirecall.formats.folders import PARQUET, files_of
from lexirecall.formats.forms import TextRun, is_form
from lexirecall.formats.frames import is_frame, is_of_spark
from lexirecall.formats.native import read_qrels_native
from lexirecall.formats.sizes import sizes_from_mapping
from lexirecall.formats.source import BYTE_ORDER_MARK, ZIP, Source
from lexirecall.formats.trec import read_providers, read_qrels, read_sizes
from lexirecall.judgments import Judgments
from lexirecall.paths import is_folder
from lexirecall.reader import reader_in_use

if TYPE_CHECKING:
    from lexirecall.formats.queryrows import QueryRows
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


Readers = Mapping[str, Callable[[Any, Input], Any]]
"""By role, what turns an opened input into judgments, a form of runs, pairs, groups or sizes."""


class Kind(NamedTuple):
    """A row of the table."""

    knows: Callable[[Input], bool]
    opened: Callable[[Input], Any]
    readers: Readers
    files: "Callable[[Input], TableFiles] | None" = None
    """The files of a table."""


def _late(module: str) -> Any:
    return import_module(f"lexirecall.formats.{module}")


def _in_file(knows: Callable[[Source, Input], bool]) -> Callable[[Input], bool]:
    return lambda given: isinstance(given.value, Source) and knows(given.value, given)


def _is_json(source: Source, _: Input) -> bool:
    """Tell by the first character; blanks may come before it, up to a limit."""
    return source.head.removeprefix(BYTE_ORDER_MARK).lstrip().startswith((b"{", b"["))


def _is_positions_file(source: Source, _: Input) -> bool:
    is_parquet = not is_folder(source.path) and source.head.startswith(PARQUET)
    return is_parquet and bool(_late("positionsrun").is_positions_file(source))


def _table(knows: Callable[[Source, Input], bool], files: "Callable[[Input], TableFiles]") -> Kind:
    return Kind(
        _in_file(knows),
        lambda given: _late("tablefiles").UnopenedTable(files(given), given.value, given.role, given.columns),
        _TABLE_FILES,
        files,
    )


def _files(given: Input, header: Any = None) -> "TableFiles":
    from lexirecall.formats.tablefiles import TableFiles

    return TableFiles(given.name, (given.value.path,), header)


def _folder_files(given: Input) -> "TableFiles":
    from lexirecall.formats.tablefiles import TableFiles, common_header

    paths = tuple(files_of(given.value.path))
    return TableFiles(given.name, paths, common_header(paths, given.role, given.columns), given.value.path)


def _as_whole(read: Callable[[Any, Input], Any]) -> Callable[[Any, Input], Any]:
    return lambda unopened, given: read(unopened.table, given)


def _opened_frame(given: Input) -> Any:
    name, value = f"run {given.name!r}" if given.is_given else given.name, given.value
    if is_of_spark(value):
        from lexirecall.engines.spark_files import rows_in_memory

        value = rows_in_memory(value, given.role, given.columns, name)
    return _late("roletable").open_frame(value, given.role, given.columns, name=name)


def _opened_beir(given: Input) -> Judgments:
    with Source(_late("beirfolders").judgments_of_folder(given.value.path)) as source:
        judgments: Judgments = read_input(given._replace(value=source))
        return judgments


def is_rows(given: object) -> "TypeGuard[QueryRows]":
    """Tell whether these are rows that have been read; nobody has made any before their module was imported."""
    module = sys.modules.get("lexirecall.formats.queryrows")
    return module is not None and isinstance(given, module.QueryRows)


def _is_review(source: Source, _: Input) -> bool:
    """Tell by the first bytes, and by the name of a project that is broken."""
    if is_folder(source.path):
        return False
    return _is_project(source) or (b"asreview_" in source.head and bool(_late("asreview").is_export(source)))


def _is_project(source: Source) -> bool:
    """Tell whether to read a project of ASReview: no other archive can be read."""
    return source.head.startswith(ZIP) or source.name.endswith(".asreview")


def _opened_review(given: Input) -> Any:
    from lexirecall.formats.reviews import Reviews

    read = "read_project" if _is_project(given.value) else "read_export"
    return Reviews((getattr(_late("asreview"), read)(given.value),))


def _opened_json(given: Input) -> Any:
    if given.role in _ROWS:
        return _late("jsonfiles").open_json(given.value, given.role, given.columns)
    return _late("jsontext").load_json(given.value, _late("memory").SHAPES[given.role])


def _by_content(role: str) -> Callable[[Any, Input], Any]:
    """Return what reads JSON in a role: a mapping, rows about one query, or a table."""

    def read(content: Any, given: Input) -> Any:
        readers = _MAPPING if isinstance(content, Mapping) else _ROWS if is_rows(content) else _TABLE
        return readers[role](content, given)

    return read


_MAPPING: Readers = {
    "qrels": lambda content, given: _late("dicts").load_mapping(content, given.name),
    "run": lambda content, given: _late("mappingrun").MappingRun(content, given.run, given.name),
    "providers": lambda content, given: _late("memory").pairs_from_mapping(content, given.name),
    "groups": lambda content, given: _late("grouping").groups_from_mapping(content, given.name),
    "units": lambda content, given: _late("unitrows").units_from_mapping(content, given.name),
    "subtopics": lambda content, given: _late("unitrows").subtopics_from_mapping(content, given.name),
}
_TABLE: Readers = {
    "qrels": lambda table, _: _late("labels").judgments_from_table(table),
    "run": lambda table, given: _late("tableruns").TableRun(table, given.run, given.is_given),
    "providers": lambda table, _: _late("labels").pairs_from_table(table),
    "groups": lambda table, _: _late("grouping").groups_from_table(table),
    "units": lambda table, _: _late("unitrows").units_from_table(table),
    "subtopics": lambda table, _: _late("unitrows").subtopics_from_table(table),
}
_TABLE_FILES: Readers = {
    **{role: _as_whole(read) for role, read in _TABLE.items()},
    "qrels": lambda unopened, _: _late("labels").judgments_from_files(unopened),
    "run": lambda unopened, given: _late("tableruns").TableFileRun(unopened, given.run, given.is_given),
}
_ROWS: Readers = {
    "qrels": lambda rows, _: rows.judgments(),
    "run": lambda rows, given: _late("mappingrun").MappingRun(rows.ranked, given.run, rows.name),
}
_JSON: Readers = {
    **_MAPPING,
    **{role: _by_content(role) for role in _ROWS},
}
_TEXT: Readers = {
    "qrels": lambda source, _: read_qrels_native(source) if reader_in_use() == "native" else read_qrels(source),
    "run": lambda source, given: TextRun(source, given.run),
    "providers": lambda source, _: read_providers(source),
    "groups": lambda source, _: _late("grouping").read_groups(source),
    "units": lambda source, _: _late("unitrows").read_units(source),
    "subtopics": lambda source, _: _late("unitrows").read_subtopics(source),
    "corpus_size": lambda source, _: read_sizes(source),
}

JUDGED = Kind(lambda given: isinstance(given.value, Judgments), lambda given: given.value, {"qrels": lambda it, _: it})
MAPPING = Kind(
    lambda given: isinstance(given.value, Mapping),
    lambda given: given.value,
    {**_MAPPING, "corpus_size": lambda content, _: sizes_from_mapping(content)},
)
FORM = Kind(lambda given: is_form(given.value), lambda given: given.value, {"run": lambda it, _: it})
FRAME = Kind(lambda given: is_frame(given.value), _opened_frame, _TABLE)
CATALOGUED = Kind(
    lambda given: is_catalogued(given.value),
    lambda given: judgments_from_catalogue(given.value),
    {"qrels": lambda it, _: it},
)
REVIEW = Kind(
    _in_file(_is_review),
    _opened_review,
    {
        "qrels": lambda reviews, _: reviews.judgments(),
        "run": lambda reviews, given: _late("mappingrun").MappingRun(reviews.given[0].ranking(), given.run, given.name),
    },
)
POSITIONS_FILE = Kind(
    _in_file(_is_positions_file),
    lambda given: _late("positionsrun").read_positions(given.value),
    {
        "qrels": lambda positions, given: replace(positions.judgments, name=given.name),
        "run": lambda positions, given: _late("positionsrun").PositionsRun(
            positions, given.run, given.is_given, given.name
        ),
    },
)
BEIR_FOLDER = Kind(
    _in_file(lambda source, _: is_folder(source.path) and _late("beirfolders").is_beir_folder(source.path)),
    _opened_beir,
    {"qrels": lambda it, _: it},
)
FOLDER = _table(lambda source, _: is_folder(source.path), _folder_files)
PARQUET_FILE = _table(lambda source, _: source.head.startswith(PARQUET), _files)
CSV = _table(
    lambda source, given: csv_header(source, given.role, given.columns) is not None,
    lambda given: _files(given, csv_header(given.value, given.role, given.columns)),
)
ROWS = Kind(lambda given: is_rows(given.value), lambda given: given.value, _ROWS)
JSON = Kind(_in_file(_is_json), _opened_json, _JSON)
TEXT = Kind(_in_file(lambda *_: True), lambda given: given.value, _TEXT)

KINDS = (
    JUDGED, MAPPING, ROWS, FORM, FRAME, CATALOGUED, REVIEW, POSITIONS_FILE, BEIR_FOLDER, FOLDER, PARQUET_FILE, CSV,
    JSON, TEXT,
)  # fmt: skip


def _kinds(given: Input) -> Iterator[Kind]:
    return (kind for kind in KINDS if given.role in kind.readers and kind.knows(given))


def kind_of(given: Input) -> Kind | None:
    """Return what an input is; None for a path, which is known only as a source, and for what cannot be an input.

    >>> kind_of(Input({"q": {"a": 1}}, "qrels")) is MAPPING, kind_of(Input("bm25.run", "run"))
    (True, None)
    """
    return next(_kinds(given), None)


def read_input(given: Input) -> Any:
    """Read an input that is in memory, or a source, as what it is for.

    >>> read_input(Input({"q": 100}, "corpus_size"))
    {b'q': 100}
    """
    kind = next(_kinds(given))
    return kind.readers[given.role](kind.opened(given), given)


def table_files(path: str | os.PathLike[str], role: str, columns: Given = None) -> "TableFiles | None":
    """Return the files of a table that an engine reads itself; None for anything else."""
    with Source(path) as source:
        given = Input(source, role, columns)
        kind = kind_of(given)
        return kind.files(given) if kind is not None and kind.files is not None else None


def may_hold_table(run: object, columns: Given = None) -> bool:
    """Tell whether something may be a table of several runs: a frame, a folder, or a file that looks like one.

    A pipe cannot be looked into without emptying it, so the answer is yes.
    """
    if not isinstance(run, (str, os.PathLike)):
        return kind_of(Input(run, "run")) is FRAME
    path = os.fspath(run)
    try:
        if path == "-" or not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116
            return True
        with Source(path) as source:
            return kind_of(Input(source, "run", columns)) in (POSITIONS_FILE, PARQUET_FILE, CSV)
    except (OSError, ValueError, FormatError):
        return False  # whoever reads it will say what is wrong
