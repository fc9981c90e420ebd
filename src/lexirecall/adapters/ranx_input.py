"""ranx's arrays: a pair of id and number for each document, a table for each query, and no ids of queries.

Belongs here: turning such tables into dicts and ranked lists. Not here: its objects Qrels and Run (ranx).

ranx's `evaluate` takes `[[[id, number], …], …]` as an array, or as a list of arrays if their lengths differ. It matches
judgments and run by place, and takes the pairs of a run in the order given: their scores do not matter.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from lexirecall.errors import DataError, UsageError, counted

_SHAPE = "give [[id, number], …] for each query, in the same order in the judgments and in the run"
_WIDTH = 2


def are_arrays(tables: Any) -> bool:
    """Tell whether judgments or a run are arrays of pairs, one for each query.

    >>> are_arrays(np.zeros((3, 5, 2))), are_arrays([np.zeros((5, 2)), np.zeros((1, 2))]), are_arrays({"q": ["a"]})
    (True, True, False)
    """
    if isinstance(tables, np.ndarray):
        return True
    if type(tables).__module__.startswith("numba.typed"):
        return True
    return isinstance(tables, (list, tuple)) and bool(tables) and all(isinstance(table, np.ndarray) for table in tables)


def from_arrays(qrels: Any, run: Any) -> tuple[dict[int, dict[Any, float]], dict[int, list[Any]]]:
    """Turn arrays into {place: {document: grade}} and {place: [document, …]}.

    >>> from_arrays(np.array([[[12, 0.5], [25, 1]]]), [np.array([[25, 0.1], [7, 0.9]])])
    ({0: {12: 0.5, 25: 1.0}}, {0: [25, 7]})
    """
    if not (are_arrays(qrels) and are_arrays(run)):
        other = type(run if are_arrays(qrels) else qrels).__name__
        problem = f"one of judgments and run has arrays, which have no ids of queries, and the other is a {other}"
        raise UsageError(problem, remedy=_SHAPE)
    if len(qrels) != len(run):
        problem = f"the judgments have {counted(len(qrels), 'query')}, and the run has {len(run):,}"
        raise DataError(problem, remedy="arrays are matched by place: give an empty one where nothing is retrieved")
    judged = {place: _grades(table, place) for place, table in enumerate(qrels)}
    return judged, {place: _ids(_pairs(table, place, "run")) for place, table in enumerate(run)}


def _grades(table: Any, place: int) -> dict[Any, float]:
    pairs = _pairs(table, place, "judgments")
    grades: dict[Any, float] = {}
    for document, grade in zip(_ids(pairs), pairs[:, 1].tolist(), strict=True):
        if grades.setdefault(document, grade) != grade:
            problem = f"the judgments of query {place} give document {document} two grades: {grades[document]}, {grade}"
            raise DataError(problem, remedy="keep one of the pairs")
    return grades


def _pairs(table: Any, place: int, what: str) -> np.ndarray[Any, Any]:
    pairs = np.asarray(table)
    if pairs.size == 0:
        return np.empty((0, 2))
    if pairs.ndim != 2 or pairs.shape[1] != _WIDTH:
        raise UsageError(f"{what}: query {place} has the shape {pairs.shape}, but must have pairs", remedy=_SHAPE)
    return pairs


def _ids(pairs: Iterable[Any]) -> list[Any]:
    """Return the ids; a whole number as an int, because those of ranx are hashes, of more digits than a float has."""
    return [int(number) if float(number).is_integer() else number for number in (pair[0] for pair in pairs)]
