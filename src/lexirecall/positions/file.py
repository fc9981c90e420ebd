"""Positions files: positions kept in Parquet, one row for each run, query and judged document.

Belongs here: the layout of such a file, and both ways between it and Positions. Not here: reading one in the place of a
run (formats), writing files (output). pyarrow is imported late (extra `frames`).

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
from dataclasses import asdict, dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from lexirecall.errors import FormatError, LexirecallError, UsageError, listed, newer_format
from lexirecall.installing import how_to_install
from lexirecall.judgments import BoolArray, IntArray, Judgments, PackedIds, offsets_of
from lexirecall.manifest import Conventions
from lexirecall.positions import Positions
from lexirecall.segments import Segments
from lexirecall.text import to_bytes, to_text
from lexirecall.tracks import Mismatch, Tracks, reachable
from lexirecall.version import VERSION

if TYPE_CHECKING:
    import pyarrow as pa

KEY = b"lexirecall.positions"
FORMAT = 1
"""Grows when files can no longer be read by an older version."""
_COUNTS = {
    "without_judgments": "num_unjudged", "duplicates_left_out": "num_duplicates", "extra_fields": "num_extra"
}  # fmt: skip
"""What was left out of each run, and the fields of Positions that say so."""
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
    if len(set(positions.systems)) < len(positions.systems):
        raise UsageError("two runs have the same name, and a positions file knows runs by name", remedy="rename one")


def _columns(positions: Positions, pa: Any) -> dict[str, Any]:
    layout, (num_runs, _) = _JudgedRows.of(positions.judgments), positions.shape
    rows = np.tile(layout.requests, num_runs)
    is_known = np.tile(layout.has_item, num_runs)
    grades = np.zeros(len(layout.requests))
    grades[layout.has_item] = positions.judgments.grades
    documents: list[bytes | None] = [None] * len(layout.requests)
    for row, document in zip(layout.rows.tolist(), positions.judgments.items, strict=True):
        documents[row] = document
    names = [to_bytes(system) for system in positions.systems]
    columns = {
        "run": _ids(names, pa).take(pa.array(np.repeat(np.arange(num_runs), len(layout.requests)))),
        "query": _ids(positions.judgments.request_ids, pa).take(pa.array(rows)),
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


def _places(positions: Positions, layout: "_JudgedRows") -> dict[str, IntArray]:
    """Return what is known of each judged document that was retrieved, -1 where nothing is."""
    tracks = [tracks for tracks in (positions.found, positions.others) if tracks is not None]
    has_blocks = any(each.block_starts is not None for each in tracks)
    names = ("position", "tie_start", "tie_size") if has_blocks else ("position",)
    places = {name: np.full(positions.shape[0] * len(layout.requests), -1, np.int64) for name in names}
    for each in tracks:
        at = each.segments.owners // max(positions.shape[1], 1) * len(layout.requests) + layout.rows[each.items]
        values = (each.positions, each.block_starts, each.block_sizes)
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
        "runs": list(positions.systems),
        "conventions": asdict(positions.conventions),
        "nonrelevant": positions.others is not None,
        **{name: list(getattr(positions, field)) for name, field in _COUNTS.items()},
        "mismatches": [asdict(mismatch) for mismatch in positions.mismatches],
        "qrels": {
            "name": judgments.name,
            "queries": len(judgments.requests),
            "judged": len(judgments.grades),
            "repeated": judgments.num_repeated,
            "has_grades": judgments.has_grades,
            "query_type": judgments.request_type,
        },
    }


@dataclass(frozen=True, slots=True)
class _JudgedRows:
    """The rows of one run."""

    requests: IntArray
    """Of each row."""
    has_item: BoolArray
    """Whether a row is of a judged item: a request without any has a row all the same."""

    @classmethod
    def of(cls, judgments: Judgments) -> "_JudgedRows":
        sizes = np.diff(judgments.offsets)
        requests = np.repeat(np.arange(len(sizes)), np.maximum(sizes, 1))
        return cls(requests, (sizes > 0)[requests])

    @property
    def rows(self) -> IntArray:
        """The row of each judged item."""
        return np.flatnonzero(self.has_item)

    def of_rankings(self, values: Any) -> Any:
        """Repeat values of rankings, [S, Q], in all their rows."""
        return values[:, self.requests].ravel()


# Reading


def holds_positions(file: BinaryIO) -> bool:
    """Tell whether Parquet is a positions file, by the end of it, where its metadata is; the rest is not read."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(size - 8, 0))
    end = file.read(8)
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
        return _positions(table, _known_facts(metadata[KEY], name))
    except FormatError:
        raise
    except (LexirecallError, LookupError, AttributeError, TypeError, ValueError, pa.ArrowException) as error:
        reason = error.problem if isinstance(error, LexirecallError) else str(error)
        reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else reason
        problem = f"is not as lexirecall wrote it: {reason}"
        raise FormatError(name, None, problem, remedy=f"was it changed? {_PROJECT_AGAIN.capitalize()}") from None


def _known_facts(text: bytes, name: str) -> Mapping[str, Any]:
    facts: Mapping[str, Any] = json.loads(text)
    _require(isinstance(facts, dict), "its metadata is not a JSON object")
    _require(isinstance(facts["format"], int), "its format is not a number")
    _require(isinstance(facts["conventions"], dict), "its conventions have no names")
    if facts["format"] > FORMAT or not facts["conventions"].keys() <= asdict(Conventions()).keys():
        raise newer_format(name, facts["lexirecall"], _PROJECT_AGAIN)
    _require(_are_all(facts["runs"], str), "its runs are not a list of names")
    for counts in map(facts.__getitem__, _COUNTS):
        _require(_are_all(counts, int) and len(counts) in (0, len(facts["runs"])), "a run has no count of its own")
    return facts


def _are_all(values: Any, kind: type) -> bool:
    return isinstance(values, list) and all(type(value) is kind for value in values)


def _positions(table: "pa.Table", facts: Mapping[str, Any]) -> Positions:
    for name in ("run", "query", "document", "grade", "position", "retrieved"):
        _require(name in table.schema.names, f"the column {name!r} is missing")
    judgments, layout = _judgments(table, facts)
    num_runs, num_rows = len(facts["runs"]), len(layout.requests)
    shape = (num_runs, len(judgments.requests))
    first = np.flatnonzero(np.diff(layout.requests, prepend=-1))
    lengths = _numbers(table, "retrieved").reshape(num_runs, num_rows)
    retrieved = lengths[:, first]
    _require((layout.of_rankings(retrieved) == lengths.ravel()).all(), "the lengths of a ranking differ")
    found, others = _tracks(table, judgments, layout, shape)
    conventions = Conventions(**facts["conventions"])
    if conventions.imputation != "optimistic":  # which places below the list what is missing from it
        for tracks in (found, others):
            are_within = reachable(tracks, retrieved.ravel()[tracks.segments.owners])
            _require(are_within.all(), "a position is below the end of its ranking")
    counts = [tuple(facts[name]) for name in _COUNTS]
    positions = Positions(
        systems=tuple(facts["runs"]),
        judgments=judgments,
        conventions=conventions,
        answered=retrieved >= 0,
        num_retrieved=np.maximum(retrieved, 0),
        found=found,
        others=others if facts["nonrelevant"] else None,
        corpus_size=_sizes(table)[:num_rows][first] if "corpus_size" in table.schema.names else None,
        num_unjudged=counts[0],
        num_duplicates=counts[1],
        num_extra=counts[2],
        mismatches=tuple(
            Mismatch(each["system"], each["request"], tuple(each["retrieved"]), tuple(each["judged"]))
            for each in facts["mismatches"]
        ),
    )
    if positions.corpus_size is not None:
        positions.check_corpus_size(positions.corpus_size)
    return positions


def _sizes(table: "pa.Table") -> IntArray:
    sizes = _numbers(table, "corpus_size")
    _require((sizes >= 0).all(), "a corpus size is missing")  # of 0: everything is excluded
    return sizes


def _judgments(table: "pa.Table", facts: Mapping[str, Any]) -> tuple[Judgments, _JudgedRows]:
    """Return the judgments, which every run of the file must repeat."""
    about, num_runs = facts["qrels"], len(facts["runs"])
    _require(_are_all([about["name"], about["query_type"]], str), "its judgments have no name")
    _require(about["query_type"] == "text" or np.dtype(about["query_type"]).kind in "iuf", "its ids have no type")
    num_rows, rest = divmod(len(table), max(num_runs, 1))
    _require(num_runs > 0 and rest == 0, "rows are missing")
    own = table.slice(0, num_rows)
    _check_runs(table, own, facts["runs"])
    requests, queries = _coded(own, "query")
    _require((np.diff(requests, prepend=0) >= 0).all(), "rows are not in order")  # numbers are in order of appearance
    codes, _ = _coded(own, "document")
    has_item = codes >= 0
    pairs = requests * (codes.max(initial=0) + 1) + codes
    _require(len(np.unique(pairs[has_item])) == has_item.sum(), "a document has two rows")
    _require((np.bincount(requests)[requests] == 1)[~has_item].all(), "a row has no document")
    grades = own["grade"].drop_null().to_numpy().astype(np.float64)
    _require(np.isfinite(grades).all(), "a grade is not finite")
    _require(len(queries) == about["queries"] and len(grades) == about["judged"] == has_item.sum(), "rows are missing")
    judgments = Judgments(
        requests=tuple(map(to_text, queries)),
        request_ids=PackedIds.pack(queries),
        offsets=offsets_of(np.bincount(requests[has_item], minlength=len(queries))),
        items=PackedIds.pack(_bytes(own["document"].drop_null())),
        grades=grades,
        num_positive=np.bincount(requests[has_item], grades > 0, len(queries)).astype(np.int64),
        name=about["name"],
        num_repeated=int(about["repeated"]),
        has_grades=bool(about["has_grades"]),
        request_type=about["query_type"],
    )
    return judgments, _JudgedRows(requests, has_item)


def _check_runs(table: "pa.Table", own: "pa.Table", names: list[str]) -> None:
    """Raise unless the rows of each run are those of the first, but for where documents are."""
    runs, found = _coded(table, "run")
    _require(found == [to_bytes(name) for name in names], f"the runs are not {listed(names)}")
    _require((runs == np.repeat(np.arange(len(names)), len(own))).all(), "rows are not in order")
    common = [name for name in ("query", "document", "grade", "corpus_size") if name in table.schema.names]
    for s, name in enumerate(names[1:], 1):
        rows = table.slice(s * len(own), len(own))
        _require(rows.select(common).equals(own.select(common)), f"the judgments of {name} differ from those of others")


def _tracks(
    table: "pa.Table", judgments: Judgments, layout: _JudgedRows, shape: tuple[int, int]
) -> tuple[Tracks, Tracks]:
    """Return the positions of the documents of a positive grade, and those of the others."""
    positions = _numbers(table, "position")
    at = np.flatnonzero(positions >= 0)
    systems, rows = np.divmod(at, max(len(layout.requests), 1))
    items = np.cumsum(layout.has_item)[rows] - 1
    rankings = systems * shape[1] + layout.requests[rows]
    _require(layout.has_item[rows].all() and (positions[at] > 0).all(), "a position is not one of a document")
    order = np.lexsort((items, positions[at], rankings))
    names = [name for name in ("position", "tie_start", "tie_size") if name in table.schema.names]
    values = [_numbers(table, name)[at][order] for name in names]
    _require(all((value >= 0).all() for value in values), "a group of equal scores is missing")
    items, rankings = items[order], rankings[order]
    is_next = rankings[1:] == rankings[:-1]
    _require((np.diff(values[0])[is_next] > 0).all(), "two documents have the same position")
    segments = Segments(offsets_of(np.bincount(rankings, minlength=shape[0] * shape[1])))
    tracks, is_positive = Tracks(segments, values[0], items, *values[1:]), judgments.grades[items] > 0
    return tracks.filter(is_positive), tracks.filter(~is_positive)


def _coded(table: "pa.Table", name: str) -> tuple[IntArray, list[bytes]]:
    """Return the number of each id, in the order in which they appear, -1 for null; and the ids."""
    encoded = table[name].combine_chunks().dictionary_encode()
    return encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64), _bytes(encoded.dictionary)


def _bytes(values: Any) -> list[bytes]:
    return [each if isinstance(each, bytes) else each.encode() for each in values.to_pylist()]


def _numbers(table: "pa.Table", name: str) -> IntArray:
    """Return whole numbers, -1 for null."""
    return np.asarray(table[name].cast("int64").fill_null(-1).to_numpy(), np.int64)


def _require(condition: Any, otherwise: str) -> None:
    if not condition:
        raise ValueError(otherwise)


def _pyarrow(what: str) -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ModuleNotFoundError:
        problem = f"{what} needs pyarrow, which is not installed"
        raise UsageError(problem, remedy=how_to_install("frames")) from None
    return pa, parquet
