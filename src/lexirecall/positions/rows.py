"""Rows: the rows of a positions file, one for each run, query and judged document, and back to Positions.

Belongs here: which rows there are, and the checks of rows that somebody else may have changed. Not here: Parquet and
what is said beside the rows (file), what positions cannot be (contradictions).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lexirecall.errors import listed
from lexirecall.judgments import BoolArray, IntArray, Judgments, PackedIds, offsets_of
from lexirecall.manifest import MOST_DOCUMENTS, Conventions
from lexirecall.positions import Positions
from lexirecall.positions.contradictions import contradiction
from lexirecall.segments import Segments
from lexirecall.text import to_bytes, to_text
from lexirecall.tracks import Mismatch, Tracks

if TYPE_CHECKING:
    import pyarrow as pa

COUNTS = {
    "without_judgments": "num_unjudged", "duplicates_left_out": "num_duplicates", "extra_fields": "num_extra"
}  # fmt: skip
"""What was left out of each run, and the fields of Positions that say so."""
_IDS = ("large_string", "large_binary", "string", "binary")
_TYPES = {
    **dict.fromkeys(("run", "query", "document"), _IDS),
    "grade": ("double",),
    **dict.fromkeys(("position", "retrieved", "corpus_size", "tie_start", "tie_size"), ("int64",)),
}
_OPTIONAL = ("corpus_size", "tie_start", "tie_size")


@dataclass(frozen=True, slots=True)
class JudgedRows:
    """The rows of one run."""

    queries: IntArray
    """Of each row."""
    has_document: BoolArray
    """Whether a row is of a judged document: a query without any has a row all the same."""

    @classmethod
    def of(cls, judgments: Judgments) -> "JudgedRows":
        """Return the rows for some judgments."""
        sizes = np.diff(judgments.offsets)
        queries = np.repeat(np.arange(len(sizes)), np.maximum(sizes, 1))
        return cls(queries, (sizes > 0)[queries])

    def of_rankings(self, values: Any) -> Any:
        """Repeat values of rankings, [S, Q], in all their rows."""
        return values[:, self.queries].ravel()


def positions_of(table: "pa.Table", facts: Mapping[str, Any]) -> Positions:
    """Return the positions that rows are, and what is said beside them; raise if they are not as they were written.

    Errors are of many kinds, most of them ValueError: whoever knows the name of the file turns them into one.
    """
    _check_columns(table)
    judgments, layout = _judgments(table, facts)
    num_runs = len(facts["runs"])
    retrieved = _of_queries(table, "retrieved", layout, num_runs)
    sizes = _of_queries(table, "corpus_size", layout, num_runs)[0] if "corpus_size" in table.schema.names else None
    require(sizes is None or (sizes >= 0).all(), "a corpus size is missing")  # of 0: everything is excluded
    conventions, is_whole = _conventions(facts["conventions"]), facts["nonrelevant"]
    tracks = _tracks(table, layout, retrieved.shape)
    is_as_ruled = (tracks.block_starts is not None) == (conventions.ties == "expected")
    require(is_as_ruled or not len(tracks.documents), "groups of equal scores do not go with its ties")
    all_sizes = None if sizes is None else np.tile(sizes, num_runs)
    problem = contradiction(tracks, retrieved.ravel(), all_sizes, judgments, conventions, is_whole=is_whole)
    require(not problem, problem)
    is_positive = judgments.grades[tracks.documents] > 0
    counts: dict[str, Any] = {field: tuple(facts[name]) for name, field in COUNTS.items()}
    positions = Positions(
        runs=tuple(facts["runs"]),
        judgments=judgments,
        conventions=conventions,
        answered=retrieved >= 0,
        num_retrieved=np.maximum(retrieved, 0),
        found=tracks.filter(is_positive),
        others=tracks.filter(~is_positive) if is_whole else None,
        corpus_size=sizes,
        mismatches=tuple(map(_mismatch, facts["mismatches"])),
        **counts,
    )
    names = [mismatch.run for mismatch in positions.mismatches]
    finds = {positions.runs[s] for s in np.flatnonzero(positions.num_found.sum(axis=1)).tolist()}
    are_apart = len({*names}) == len(names) and {*names} <= {*positions.runs} - finds
    require(are_apart, "a run that finds nothing judged finds something")
    if sizes is not None:
        positions.check_corpus_size(sizes)
    return positions


def _check_columns(table: "pa.Table") -> None:
    """Raise unless the columns are those that are written, and of their types."""
    names = table.schema.names
    require(("tie_start" in names) == ("tie_size" in names), "one of the columns tie_start and tie_size is missing")
    for name, types in _TYPES.items():
        require(name in names or name in _OPTIONAL, f"the column {name!r} is missing")
        require(names.count(name) < 2, f"there are two columns {name!r}")
        type_name = str(table.schema.field(name).type) if name in names else types[0]
        require(type_name in types, f"the column {name!r} is of type {type_name[:80]}")


def _conventions(rules: Mapping[str, Any]) -> Conventions:
    flags = [name for name, value in asdict(Conventions()).items() if isinstance(value, bool)]
    require(all(type(rules.get(name, False)) is bool for name in flags), "one of its rules is neither true nor false")
    require(rules.get("depth") is None or type(rules["depth"]) in (int, float), "its depth is not a number")
    return Conventions(**rules)


def _mismatch(facts: Any) -> Mismatch:
    mismatch = Mismatch(facts["run"], facts["query"], tuple(facts["retrieved"]), tuple(facts["judged"]))
    require(
        are_all([mismatch.run, mismatch.query, *mismatch.retrieved, *mismatch.judged], str),
        "an example of an id is not text",
    )
    return mismatch


def _of_queries(table: "pa.Table", name: str, layout: JudgedRows, num_runs: int) -> IntArray:
    """Return a number of each run and query, [S, Q], which all rows of it must repeat; -1 for null."""
    values = _numbers(table, name).reshape(num_runs, len(layout.queries))
    of_queries = values[:, np.flatnonzero(np.diff(layout.queries, prepend=-1))]
    require((layout.of_rankings(of_queries) == values.ravel()).all(), f"the rows of a query differ in {name!r}")
    return of_queries


def _judgments(table: "pa.Table", facts: Mapping[str, Any]) -> tuple[Judgments, JudgedRows]:
    """Return the judgments, which every run of the file must repeat."""
    about, num_runs = facts["qrels"], len(facts["runs"])
    require(are_all([about["name"], about["query_type"]], str), "its judgments have no name")
    require(about["query_type"] == "text" or np.dtype(about["query_type"]).kind in "iuf", "its ids have no type")
    require(are_counts([about["repeated"]]) and type(about["has_grades"]) is bool, "its judgments are not described")
    num_rows, rest = divmod(len(table), max(num_runs, 1))
    require(num_runs > 0 and rest == 0, "rows are missing")
    first = table.slice(0, num_rows)
    _check_runs(table, first, facts["runs"])
    queries, ids = _coded(first, "query")
    require((np.diff(queries, prepend=0) >= 0).all(), "rows are not in order")  # numbers are in order of appearance
    if about["query_type"] != "text":
        np.array(list(map(to_text, ids))).astype(about["query_type"])  # raises if one of them is not a number
    codes, _ = _coded(first, "document")
    has_document = codes >= 0
    pairs = queries * (codes.max(initial=0) + 1) + codes
    require(len(np.unique(pairs[has_document])) == has_document.sum(), "a document has two rows")
    require((np.bincount(queries)[queries] == 1)[~has_document].all(), "a row has no document")
    require(
        (first["grade"].is_valid().to_numpy() == has_document).all(), "a document has no grade, or a grade no document"
    )
    grades = first["grade"].drop_null().to_numpy().astype(np.float64)
    require(np.isfinite(grades).all(), "a grade is not finite")
    is_next = np.diff(queries[has_document]) == 0
    require(not (is_next & (np.diff(grades > 0) & (grades[1:] > 0))).any(), "rows are not in order")
    require(len(ids) == about["queries"] and len(grades) == about["judged"], "rows are missing")
    judgments = Judgments(
        queries=tuple(map(to_text, ids)),
        query_ids=PackedIds.pack(ids),
        offsets=offsets_of(np.bincount(queries[has_document], minlength=len(ids))),
        documents=PackedIds.pack(_bytes(first["document"].drop_null())),
        grades=grades,
        num_positive=np.bincount(queries[has_document], grades > 0, len(ids)).astype(np.int64),
        name=about["name"],
        num_repeated=about["repeated"],
        has_grades=about["has_grades"],
        query_type=about["query_type"],
    )
    return judgments, JudgedRows(queries, has_document)


def _check_runs(table: "pa.Table", first: "pa.Table", names: list[str]) -> None:
    """Raise unless the rows of each run are those of the first, but for where documents are."""
    runs, found = _coded(table, "run")
    require(found == [to_bytes(name) for name in names], f"the runs are not {listed(names)}")
    require((runs == np.repeat(np.arange(len(names)), len(first))).all(), "rows are not in order")
    common = [name for name in ("query", "document", "grade", "corpus_size") if name in table.schema.names]
    for s, name in enumerate(names[1:], 1):
        rows = table.slice(s * len(first), len(first)).select(common)
        require(rows.equals(first.select(common)), f"the judgments of {name} differ from those of others")


def _tracks(table: "pa.Table", layout: JudgedRows, shape: tuple[int, ...]) -> Tracks:
    """Return the positions of all documents that have one."""
    positions = _numbers(table, "position")
    at = np.flatnonzero(positions >= 0)
    runs, rows = np.divmod(at, max(len(layout.queries), 1))
    documents = np.cumsum(layout.has_document)[rows] - 1
    rankings = runs * shape[1] + layout.queries[rows]
    require(layout.has_document[rows].all(), "a position is not one of a document")
    order = np.lexsort((documents, positions[at], rankings))
    groups = [_numbers(table, name) for name in ("tie_start", "tie_size") if name in table.schema.names]
    require(all(((group >= 0) == (positions >= 0)).all() for group in groups), "a group of equal scores is missing")
    segments = Segments(offsets_of(np.bincount(rankings, minlength=shape[0] * shape[1])))
    return Tracks(segments, positions[at][order], documents[order], *(group[at][order] for group in groups))


def _coded(table: "pa.Table", name: str) -> tuple[IntArray, list[bytes]]:
    """Return the number of each id, in the order in which they appear, -1 for null; and the ids."""
    encoded = table[name].combine_chunks().dictionary_encode()
    return encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64), _bytes(encoded.dictionary)


def _bytes(values: Any) -> list[bytes]:
    return [value if isinstance(value, bytes) else value.encode() for value in values.to_pylist()]


def _numbers(table: "pa.Table", name: str) -> IntArray:
    """Return whole numbers, -1 for null; raise if one of them is negative, or larger than floats can tell apart."""
    values = np.asarray(table[name].fill_null(-1).to_numpy(), np.int64)
    num_possible = np.count_nonzero((values >= 0) & (values <= MOST_DOCUMENTS))
    require(num_possible == len(values) - table[name].null_count, f"a number of the column {name!r} is out of range")
    return values


def require(condition: Any, otherwise: str) -> None:
    """Raise ValueError unless a condition holds."""
    if not condition:
        raise ValueError(otherwise)


def are_counts(values: Any) -> bool:
    """Tell whether this is a list of whole numbers from 0 on."""
    return are_all(values, int) and min(values, default=0) >= 0


def are_all(values: Any, kind: type) -> bool:
    """Tell whether this is a list of values of one type."""
    return isinstance(values, list) and all(type(value) is kind for value in values)
