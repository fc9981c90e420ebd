"""Scores: positions from a matrix of scores, [queries, documents].

Belongs here: `project_scores`, and what may be given to it. Not here: counting (rowcounts), what counts mean
(scorecounts).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lexirecall.errors import DataError, FormatError, UsageError, counted, shown
from lexirecall.formats.arrays import array_of, listed_ids
from lexirecall.formats.idtypes import TEXT, type_of_keys
from lexirecall.formats.marks import Axes, Marks, check_different, marks_of
from lexirecall.formats.memory import ID_SHAPE
from lexirecall.formats.rowcounts import count_rows
from lexirecall.formats.scorecounts import ScoreCounts, conventions_of, positions_of, tie_order
from lexirecall.judgments import IntArray, Judgments, PackedIds, offsets_of
from lexirecall.positions import Positions
from lexirecall.providers import members
from lexirecall.segments import Segments
from lexirecall.text import id_of, to_bytes, to_text


def project_scores(
    scores: Any,
    relevant: Any,
    *,
    exclude: Any = None,
    query_ids: Sequence[Any] | npt.NDArray[Any] | None = None,
    document_ids: Sequence[Any] | npt.NDArray[Any] | None = None,
    name: str = "run",
    **options: Any,
) -> Positions:
    """Find the positions of the relevant documents from the scores of all documents: no sort, no list, no cut-off.

    `scores` is an array [queries, documents] of numpy, torch, jax or cupy, or {name: scores} for several runs. Arrays
    on a GPU are counted there (extra `arrays`). `relevant` says which documents are relevant: a mask or grades
    [queries, documents], where 0 is not judged; a scipy.sparse matrix of grades, where a stored 0 is judged not
    relevant; or for each query its document's index, or a list of indices. `exclude`, in the same forms, removes
    documents from the corpus of a query, such as those seen in training; none of them may be relevant. Ids are indices
    as text unless given. Ties
    are broken by `document_ids` as in a run, unless `ties` says otherwise. Options are `ties`, `depth`, `judged_only`
    and `imputation`, as in `project`.

    The positions are those that `project` would find if all scores were written to a run and n were the corpus size.
    A score of -inf is a score like others; a score of NaN is an error unless its document is excluded.

    >>> scores = np.array([[0.1, 0.9, 0.5, 0.7], [0.3, 0.2, 0.1, 0.4]])
    >>> positions = project_scores(scores, [[0, 3], [1]], exclude=[[1], []])
    >>> positions.found.positions.tolist(), positions.corpus_size.tolist()
    ([1, 3, 3], [3, 4])
    """
    conventions = conventions_of("project_scores", options)
    arrays = _arrays(scores if isinstance(scores, Mapping) else {name: scores})
    queries = None if query_ids is None else listed_ids(query_ids, "query_ids")
    documents = None if document_ids is None else listed_ids(document_ids, "document_ids")
    axes = _axes(arrays, queries, documents)
    judged, excluded = _judged(relevant, axes), _excluded(exclude, axes)
    numbers = _in_corpus(judged, excluded, axes)
    judgments = _judgments(judged, axes, TEXT if queries is None else type_of_keys(queries))
    order = tie_order(conventions.ties, axes.document_ids, axes.num_documents)
    wanted = judged if len(numbers) == len(judged.documents) else judged.ordered(numbers)
    num_documents = axes.num_documents - np.diff(excluded.offsets)
    segments = Segments(wanted.offsets)
    by_name = {
        label: ScoreCounts(
            judgments, segments, numbers, *count_rows(*array, wanted, excluded, order, axes), num_documents
        )
        for label, array in arrays.items()
    }
    return positions_of(by_name, conventions)


def _arrays(runs: Mapping[Any, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the scores of each run, by its name as text."""
    arrays: dict[str, tuple[Any, Any]] = {}
    for name, scores in runs.items():
        if str(name) in arrays:
            raise UsageError(f"two runs have the same name: {str(name)!r}", remedy="rename one; names are text")
        arrays[str(name)] = _matrix(scores, str(name))
    return arrays


def _matrix(scores: Any, name: str) -> tuple[Any, Any]:
    if hasattr(scores, "tocsr"):
        problem = f"the scores of {name} are a sparse matrix, but every document needs a score"
        raise UsageError(problem, remedy="give scores.toarray(), and exclude the documents that have no score")
    array, namespace = array_of(scores, f"the scores of {name}")
    if len(array.shape) != 2 or 0 in array.shape:
        problem = f"the scores of {name} have the shape {list(array.shape)}, but must be [queries, documents]"
        raise UsageError(problem, remedy="give a row for each query, with a score for each document")
    return array, namespace


def _axes(arrays: Mapping[str, tuple[Any, Any]], query_ids: list[Any] | None, document_ids: list[Any] | None) -> Axes:
    if not arrays:
        raise UsageError("no scores are given", remedy="give an array, or {name: array}")
    shapes = {name: tuple(array.shape) for name, (array, _) in arrays.items()}
    (first, (num_queries, num_documents)), *others = shapes.items()
    for name, shape in others:
        if shape != (num_queries, num_documents):
            problem = (
                f"the scores of {name} have the shape {list(shape)}, those of {first} {[num_queries, num_documents]}"
            )
            raise UsageError(problem, remedy="all runs score the same documents for the same queries")
    ids = _ids(query_ids, num_queries, "query")
    queries = [str(q) for q in range(num_queries)] if ids is None else [to_text(query) for query in ids]
    return Axes(queries, _ids(document_ids, num_documents, "document"), num_documents)


def _ids(values: list[Any] | None, size: int, what: str) -> list[bytes] | None:
    """Return ids as bytes; raise unless there are as many as rows or columns, all different."""
    if values is None:
        return None
    name = "query_ids" if what == "query" else "document_ids"
    if len(values) != size:
        problem = f"{name} has {counted(len(values), 'id')}, but the scores have {counted(size, what)}"
        raise UsageError(problem, remedy="give one each")
    ids = [_id(value, name, what) for value in values]
    if len(set(ids)) < size:
        seen: set[bytes] = set()
        twice = next(key for key in ids if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise FormatError(name, None, f"the id {to_text(twice)!r} occurs twice", remedy="ids are compared as text")
    return ids


def _id(value: Any, name: str, what: str) -> bytes:
    try:
        return id_of(value)
    except (TypeError, ValueError):  # not an id, or not valid Unicode
        problem = f"{shown(ascii(value))} is not a {what} id"
        raise FormatError(name, None, problem, remedy=ID_SHAPE) from None


def _judged(relevant: Any, axes: Axes) -> Marks:
    """Return the judged documents, those of a positive grade first, as judgments have them."""
    marks = marks_of(relevant, axes, "relevant")
    check_different(marks, axes, "relevant")
    is_other = marks.grades <= 0
    return marks.ordered(np.lexsort((is_other, marks.owners))) if is_other.any() else marks


def _excluded(exclude: Any, axes: Axes) -> Marks:
    if exclude is None:
        return Marks(np.zeros(axes.shape[0] + 1, np.int64), np.zeros(0, np.int64), np.zeros(0))
    marks = marks_of(exclude, axes, "exclude")
    marked = np.flatnonzero(marks.grades != 0)
    _, first = np.unique(marks.keys(axes.num_documents)[marked], return_index=True)  # twice excluded is excluded
    return marks.ordered(marked[first])


def _in_corpus(judged: Marks, excluded: Marks, axes: Axes) -> IntArray:
    """Return which judged documents are in the corpus; raise if a relevant one is excluded: it cannot be found."""
    is_out = np.isin(judged.keys(axes.num_documents), excluded.keys(axes.num_documents))
    if len(both := np.flatnonzero(is_out & (judged.grades > 0))):
        place = axes.place(int(judged.owners[both[0]]), int(judged.documents[both[0]]))
        problem = f"{place} is both relevant and excluded"
        raise DataError(problem, remedy="leave it out of one of them: what is excluded is not in the corpus")
    return np.flatnonzero(~is_out)


def _judgments(judged: Marks, axes: Axes, query_type: str) -> Judgments:
    num_positive = np.bincount(judged.owners[judged.grades > 0], minlength=axes.shape[0])
    return Judgments(
        queries=tuple(axes.queries),
        query_ids=PackedIds.pack([to_bytes(query) for query in axes.queries]),
        offsets=judged.offsets,
        documents=_packed(judged.documents, axes),
        grades=judged.grades,
        num_positive=num_positive,
        name="relevant",
        query_type=query_type,
    )


def _packed(documents: IntArray, axes: Axes) -> PackedIds:
    """Return the id of each document; each different one becomes text once."""
    is_there = np.zeros(axes.num_documents, bool)
    is_there[documents] = True
    distinct = PackedIds.pack([axes.document(document) for document in np.flatnonzero(is_there).tolist()])
    numbers = (np.cumsum(is_there) - 1)[documents]
    text = np.frombuffer(distinct.buffer, np.uint8)[members(distinct.offsets, numbers)]
    return PackedIds(text.tobytes(), offsets_of(np.diff(distinct.offsets)[numbers]))
