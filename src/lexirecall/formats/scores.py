"""Scores: positions from a matrix of scores, [queries, documents].

Belongs here: `project_scores`, and what may be given to it. Not here: counting (rowcounts), what counts mean (counted).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lexirecall.errors import DataError, FormatError, UsageError, shown
from lexirecall.formats.arrays import array_of, on_host
from lexirecall.formats.counted import Counted, conventions_of, positions_of, tie_order
from lexirecall.formats.idtypes import TEXT, type_of_keys
from lexirecall.formats.marks import Axes, Marks, check_different, marks_of
from lexirecall.formats.memory import ID_SHAPE
from lexirecall.formats.rowcounts import count_rows
from lexirecall.judgments import Judgments, PackedIds
from lexirecall.positions import Positions
from lexirecall.segments import Segments
from lexirecall.text import id_of, to_bytes, to_text


def project_scores(
    scores: Any,
    relevant: Any,
    *,
    exclude: Any = None,
    query_ids: Sequence[Any] | npt.NDArray[Any] | None = None,
    item_ids: Sequence[Any] | npt.NDArray[Any] | None = None,
    name: str = "run",
    **options: Any,
) -> Positions:
    """Find the positions of the relevant documents from the scores of all documents: no sort, no list, no cut-off.

    `scores` is an array [queries, documents] of numpy, torch, jax or cupy, or {name: scores} for several runs. Arrays
    on a GPU are counted there (extra `arrays`). `relevant` says which documents are relevant: a mask or grades
    [queries, documents], where 0 is not judged; a scipy.sparse matrix of grades, where a stored 0 is judged not
    relevant; or for each query its document's index, or a list of indices. `exclude`, in the same forms, removes
    documents from the corpus of a query, such as those seen in training. Ids are indices as text unless given. Ties
    are broken by `item_ids` as in a run, unless `ties` says otherwise. Options are `ties`, `depth`, `judged_only` and
    `imputation`, as in `project`.

    The positions are those that `project` would find if all scores were written to a run and n were the corpus size.
    A score of -inf is a score like others; a score of NaN is an error unless its document is excluded.

    >>> scores = np.array([[0.1, 0.9, 0.5, 0.7], [0.3, 0.2, 0.1, 0.4]])
    >>> positions = project_scores(scores, [[0, 3], [1]], exclude=[[1], []])
    >>> positions.found.positions.tolist(), positions.corpus_size.tolist()
    ([1, 3, 3], [3, 4])
    """
    conventions = conventions_of("project_scores", options)
    systems = dict(scores) if isinstance(scores, Mapping) else {name: scores}
    arrays = {str(each): _matrix(given, str(each)) for each, given in systems.items()}
    axes = _axes(arrays, query_ids, item_ids)
    judged, excluded = _judged(relevant, axes), _excluded(exclude, axes)
    _check_apart(judged, excluded, axes)
    judgments = _judgments(judged, axes, TEXT if query_ids is None else type_of_keys(query_ids))
    order = tie_order(conventions.ties, axes.item_ids, axes.num_items)
    segments, numbers = Segments(judged.offsets), np.arange(len(judged.items))
    num_items = axes.num_items - np.diff(excluded.offsets)
    counted = {
        each: Counted(judgments, segments, numbers, *count_rows(*array, judged, excluded, order, axes), num_items)
        for each, array in arrays.items()
    }
    return positions_of(counted, conventions)


def _matrix(given: Any, name: str) -> tuple[Any, Any]:
    if hasattr(given, "tocsr"):
        problem = f"the scores of {name} are a sparse matrix, but every document needs a score"
        raise UsageError(problem, remedy="give scores.toarray(), and exclude the documents that have no score")
    array, namespace = array_of(given, f"the scores of {name}")
    if len(array.shape) != 2 or 0 in array.shape:
        problem = f"the scores of {name} have the shape {list(array.shape)}, but must be [queries, documents]"
        raise UsageError(problem, remedy="give a row for each query, with a score for each document")
    return array, namespace


def _axes(arrays: Mapping[str, tuple[Any, Any]], query_ids: Any, item_ids: Any) -> Axes:
    if not arrays:
        raise UsageError("no scores are given", remedy="give an array, or {name: array}")
    shapes = {name: tuple(array.shape) for name, (array, _) in arrays.items()}
    (first, (num_requests, num_items)), *others = shapes.items()
    for name, shape in others:
        if shape != (num_requests, num_items):
            problem = f"the scores of {name} have the shape {list(shape)}, those of {first} {[num_requests, num_items]}"
            raise UsageError(problem, remedy="all runs score the same documents for the same queries")
    requests = _ids(query_ids, num_requests, "query")
    queries = [str(q) for q in range(num_requests)] if requests is None else [to_text(each) for each in requests]
    return Axes(queries, _ids(item_ids, num_items, "document"), num_items)


def _ids(given: Any, size: int, what: str) -> list[bytes] | None:
    """Return ids as bytes; raise unless there are as many as rows or columns, all different."""
    if given is None:
        return None
    name = "query_ids" if what == "query" else "item_ids"
    values = on_host(given).tolist() if hasattr(given, "dtype") else list(given)
    if len(values) != size:
        noun = "queries" if what == "query" else "documents"
        raise UsageError(f"{name} has {len(values):,} ids, but the scores have {size:,} {noun}", remedy="give one each")
    ids = [_id(value, name, what) for value in values]
    if len(set(ids)) < size:
        seen: set[bytes] = set()
        twice = next(each for each in ids if each in seen or seen.add(each))  # type: ignore[func-returns-value]
        raise FormatError(name, None, f"the id {to_text(twice)!r} occurs twice", remedy="ids are compared as text")
    return ids


def _id(value: Any, name: str, what: str) -> bytes:
    try:
        return id_of(value)
    except (TypeError, ValueError):  # not an id, or not valid Unicode
        problem = f"{shown(ascii(value))} is not a {what} id"
        raise FormatError(name, None, problem, remedy=ID_SHAPE) from None


def _judged(relevant: Any, axes: Axes) -> Marks:
    """Return the judged items, those of a positive grade first, as judgments have them."""
    marks = marks_of(relevant, axes, "relevant")
    check_different(marks, axes, "relevant")
    return marks.ordered(np.lexsort((marks.grades <= 0, marks.owners)))


def _excluded(exclude: Any, axes: Axes) -> Marks:
    if exclude is None:
        return Marks(np.zeros(axes.shape[0] + 1, np.int64), np.zeros(0, np.int64), np.zeros(0))
    marks = marks_of(exclude, axes, "exclude")
    marked = np.flatnonzero(marks.grades != 0)
    _, first = np.unique(marks.keys(axes.num_items)[marked], return_index=True)  # twice excluded is excluded
    return marks.ordered(marked[first])


def _check_apart(judged: Marks, excluded: Marks, axes: Axes) -> None:
    """Raise if an item is judged and excluded: it cannot be found where it is not."""
    if len(both := np.flatnonzero(np.isin(judged.keys(axes.num_items), excluded.keys(axes.num_items)))):
        place = axes.place(int(judged.owners[both[0]]), int(judged.items[both[0]]))
        problem = f"{place} is both relevant and excluded"
        raise DataError(problem, remedy="leave it out of one of them: what is excluded is not in the corpus")


def _judgments(judged: Marks, axes: Axes, request_type: str) -> Judgments:
    ids = {item: axes.item(item) for item in np.unique(judged.items).tolist()}
    num_positive = np.bincount(judged.owners[judged.grades > 0], minlength=axes.shape[0])
    return Judgments(
        requests=tuple(axes.requests),
        request_ids=PackedIds.pack([to_bytes(request) for request in axes.requests]),
        offsets=judged.offsets,
        items=PackedIds.pack([ids[item] for item in judged.items.tolist()]),
        grades=judged.grades,
        num_positive=num_positive,
        name="relevant",
        request_type=request_type,
    )
