"""Positions files: positions kept in Parquet, one row for each run, query and judged document.

Belongs here: the layout of such a file, writing one, and opening one. Not here: from rows to Positions (rows), reading
one in the place of a run (formats), writing files (output). pyarrow is imported late (extra `frames`).

The columns are run, query, document, grade, position (null if the run does not retrieve the document), retrieved (how
long the ranking is; null if the run does not answer the query), corpus_size if it is known, and, if ties count as the
mean over all orders, tie_start and tie_size: how many documents come before the group of equal scores, and how many it
has. Runs, queries and documents are in the order of the positions, the same queries and documents for every run. A
query without a judged document has one row, with neither document nor grade. What is not about a row is JSON in the
metadata of the file, by which it is known.
"""

import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from inspect import signature
from typing import Any, BinaryIO

import numpy as np

from lexirecall.errors import FormatError, LexirecallError, UsageError, newer_format
from lexirecall.installing import how_to_install
from lexirecall.judgments import IntArray
from lexirecall.manifest import Conventions
from lexirecall.positions import Positions
from lexirecall.positions.rows import COUNTS, JudgedRows, are_all, are_counts, positions_of, require
from lexirecall.segments import Segments
from lexirecall.text import to_bytes
from lexirecall.trees import json_tree
from lexirecall.version import VERSION

KEY = b"lexirecall.positions"
FORMAT = 2
"""Grows when files can no longer be read by an older version."""
_MAGIC = b"PAR1"
_REPEATED = ["run", "query", "grade", "retrieved", "corpus_size"]
_PROJECT_AGAIN = "project the runs again"


# Writing


def to_parquet(positions: Positions) -> bytes:
    """Return the content of a positions file."""
    _check_kept(positions)
    pa, parquet = _pyarrow("writing a positions file")
    file, table = io.BytesIO(), pa.table(_columns(positions, pa), metadata={KEY: json.dumps(_facts(positions))})
    encodings = dict.fromkeys({"position", "tie_start", "tie_size"} & {*table.schema.names}, "DELTA_BINARY_PACKED")
    parquet.write_table(
        table,
        file,
        compression="zstd",
        compression_level=9,
        use_dictionary=[name for name in _REPEATED if name in table.schema.names],
        column_encoding={"document": "DELTA_BYTE_ARRAY", **encodings},  # ids of a query often begin alike
        row_group_size=len(table) or None,
        data_page_size=1 << 26,
        write_page_checksum=True,
        **_whole_pages(parquet),
    )
    return file.getvalue()


def _whole_pages(parquet: Any) -> dict[str, int]:
    """Return what lets a page hold all rows: every run repeats the judgments, and packing sees that within a page."""
    name = "max_rows_per_page"  # not an option of older versions, which have no such limit
    return {name: 1 << 62} if name in signature(parquet.write_table).parameters else {}


def _check_kept(positions: Positions) -> None:
    """Raise if there is something that a file does not keep."""
    with_file = "project without them and save that; give them again together with the file"
    if positions.units is not None or positions.served is not None:
        raise UsageError("units are not kept in a positions file", remedy=with_file)
    if positions.providers is not None:
        raise UsageError("providers are not kept in a positions file", remedy=with_file)
    grades, owners = positions.judgments.grades, Segments(positions.judgments.offsets).owners
    if ((np.diff(owners) == 0) & (grades[1:] > 0) & (grades[:-1] <= 0)).any():  # after with_labels; others rely on it
        problem = "positions without some labels are not kept in a positions file"
        raise UsageError(problem, remedy="save them with all labels, and remove these again")
    if len(set(positions.runs)) < len(positions.runs):
        raise UsageError("two runs have the same name, and a positions file knows runs by name", remedy="rename one")


def _columns(positions: Positions, pa: Any) -> dict[str, Any]:
    layout, (num_runs, _) = JudgedRows.of(positions.judgments), positions.shape
    rows = np.tile(layout.queries, num_runs)
    is_known = np.tile(layout.has_document, num_runs)
    grades = np.zeros(len(layout.queries))
    grades[layout.has_document] = positions.judgments.grades
    documents: list[bytes | None] = [None] * len(layout.queries)
    for row, document in zip(np.flatnonzero(layout.has_document).tolist(), positions.judgments.documents, strict=True):
        documents[row] = document
    names = [to_bytes(run) for run in positions.runs]
    columns = {
        "run": _ids(names, pa).take(pa.array(np.repeat(np.arange(num_runs), len(layout.queries)))),
        "query": _ids(positions.judgments.query_ids, pa).take(pa.array(rows)),
        "document": _ids(documents, pa).take(pa.array(np.tile(np.arange(len(documents)), num_runs))),
        "grade": pa.array(np.tile(grades, num_runs), mask=~is_known),
        **{name: pa.array(values, mask=values < 0) for name, values in _places(positions, layout).items()},
        "retrieved": pa.array(
            layout.of_rankings(positions.num_retrieved), mask=~layout.of_rankings(positions.answered)
        ),
    }
    if positions.corpus_size is not None:
        columns["corpus_size"] = pa.array(positions.corpus_size[rows])
    return columns


def _places(positions: Positions, layout: "JudgedRows") -> dict[str, IntArray]:
    """Return what is known of each judged document that was retrieved, -1 where nothing is."""
    tracks = [tracks for tracks in (positions.found, positions.others) if tracks is not None]
    has_blocks = any(track.block_starts is not None for track in tracks)
    names = ("position", "tie_start", "tie_size") if has_blocks else ("position",)
    places = {name: np.full(positions.shape[0] * len(layout.queries), -1, np.int64) for name in names}
    for track in tracks:
        at = (
            track.segments.owners // max(positions.shape[1], 1) * len(layout.queries)
            + np.flatnonzero(layout.has_document)[track.documents]
        )
        values = (track.positions, track.block_starts, track.block_sizes)
        for name, value in zip(places, values, strict=False):
            if value is not None:
                places[name][at] = value
    return places


def _ids(ids: Iterable[bytes | None], pa: Any) -> Any:
    """Return ids as text, or as bytes if one of them is not UTF-8."""
    values = pa.array(ids, pa.large_binary())
    try:
        return values.cast(pa.large_string())
    except pa.ArrowInvalid:
        return values


def _facts(positions: Positions) -> dict[str, Any]:
    """Return what a file says that is not about a row."""
    judgments = positions.judgments
    return {
        "format": FORMAT,
        "lexirecall": VERSION,
        "runs": list(positions.runs),
        "conventions": asdict(positions.conventions),
        "nonrelevant": positions.others is not None,
        **{name: list(getattr(positions, field)) for name, field in COUNTS.items()},
        "mismatches": [asdict(mismatch) for mismatch in positions.mismatches],
        "qrels": {
            "name": judgments.name,
            "queries": len(judgments.queries),
            "judged": len(judgments.grades),
            "repeated": judgments.num_repeated,
            "has_grades": judgments.has_grades,
            "query_type": judgments.query_type,
        },
    }


# Reading


def holds_positions(file: BinaryIO) -> bool:
    """Tell whether Parquet is a positions file, by the end of it, where its metadata is; the rest is not read."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(size - 8, 0))
    end = file.read(8)  # Parquet ends with the length of its metadata, in 4 bytes, and its magic
    if len(end) < 8 or end[4:] != _MAGIC:
        return False
    file.seek(max(size - 8 - int.from_bytes(end[:4], "little"), 0))
    return KEY in file.read()


def from_parquet(content: str | BinaryIO, name: str) -> Positions:
    """Read a positions file, by its path or as an open file, which messages call `name`."""
    pa, parquet = _pyarrow(f"{name}: reading a positions file")
    try:
        with parquet.ParquetFile(content, page_checksum_verification=True) as file:
            metadata = file.schema_arrow.metadata or {}
            table = file.read() if KEY in metadata else None
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).split("\n", 1)[0][:200]
        raise FormatError(name, None, f"the positions file cannot be read: {reason}", remedy="is it damaged?") from None
    if table is None:
        remedy = "lexirecall project and Positions.save write one"
        raise FormatError(name, None, "is Parquet, but not a positions file", remedy=remedy)
    try:
        return positions_of(table, _known_facts(metadata[KEY], name))
    except FormatError:
        raise
    except (LexirecallError, LookupError, ArithmeticError, AttributeError, RecursionError, TypeError, ValueError,
            pa.ArrowException) as error:  # fmt: skip
        reason = error.problem if isinstance(error, LexirecallError) else str(error)
        reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else reason
        problem = f"is not as lexirecall wrote it: {reason}"
        raise FormatError(name, None, problem, remedy=f"was it changed? {_PROJECT_AGAIN.capitalize()}") from None


def _known_facts(text: bytes, name: str) -> Mapping[str, Any]:
    try:
        facts: Mapping[str, Any] = json_tree(text, "its metadata")
    except FormatError as error:
        raise ValueError(error.problem) from None
    require(isinstance(facts, dict), "its metadata is not a JSON object")
    require(are_counts([facts["format"]]) and facts["format"] > 0, "its format is not a number")
    require(isinstance(facts["conventions"], dict), "its conventions have no names")
    if facts["format"] > FORMAT or not facts["conventions"].keys() <= asdict(Conventions()).keys():
        raise newer_format(name, str(facts["lexirecall"]), _PROJECT_AGAIN)
    require(are_all(facts["runs"], str), "its runs are not a list of names")
    for counts in map(facts.__getitem__, COUNTS):
        require(are_counts(counts) and len(counts) in (0, len(facts["runs"])), "a run has no count of its own")
    require(type(facts["nonrelevant"]) is bool, "it does not say what it keeps")
    return facts if facts["format"] > 1 else _of_first_format(facts)


def _of_first_format(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """Format 1 said items, system and request for documents, run and query."""
    conventions = {name: "documents" if rule == "items" else rule for name, rule in facts["conventions"].items()}
    named = [{**mismatch, "run": mismatch["system"], "query": mismatch["request"]} for mismatch in facts["mismatches"]]
    return {**facts, "conventions": conventions, "mismatches": named}


def _pyarrow(what: str) -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ModuleNotFoundError:
        problem = f"{what} needs pyarrow, which is not installed"
        raise UsageError(problem, remedy=how_to_install("frames")) from None
    return pa, parquet
