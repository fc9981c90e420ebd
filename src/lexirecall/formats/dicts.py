"""Dicts: judgments and runs that are Python objects, through the compiled module straight to arrays.

Belongs here: handing dicts and lists to lexirecall._native and taking arrays back. Not here: what they mean, and what
is wrong with them (memory), what becomes of rankings (lists).

It takes plain types only: dicts and lists; ids that are text, bytes or whole numbers; Python's and numpy's numbers. If
there is anything else, or anything wrong, the way through memory and lists reads the whole of it.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from lexirecall.formats.assembly import assemble
from lexirecall.formats.idtypes import type_of_keys
from lexirecall.formats.lists import project_rankings
from lexirecall.formats.memory import judgments_from_mapping, rankings_from_mapping
from lexirecall.formats.native import arrays_of, judgments_from, rules_of, secret, tracks_from
from lexirecall.judgments import Judgments
from lexirecall.manifest import Conventions
from lexirecall.reader import reader_in_use
from lexirecall.tracks import RunPositions
from lexirecall.units.unitmap import UnitMap

_WHOLE = (np.int64, np.int32, np.int16, np.int8, np.uint64, np.uint32, np.uint16, np.uint8)
_PLAIN = ((defaultdict,), (np.ndarray,), (np.str_,), _WHOLE, (np.float32, np.float64, np.float16, *_WHOLE))
"""Types besides Python's own: of dicts that keep the order of their keys, of lists, of ids and of numbers."""


def load_mapping(grades: Mapping[Any, Any], name: str) -> Judgments:
    """Take judgments from {query: {document: grade}}, as `judgments_from_mapping` does.

    >>> load_mapping({1: {"a": 0, "b": 0.5}}, "qrels").grades.tolist()
    [0.5, 0.0]
    """
    judgments = _judgments(grades, name) if reader_in_use() == "native" else None
    return judgments_from_mapping(grades, name) if judgments is None else judgments


def _judgments(grades: Mapping[Any, Any], name: str) -> Judgments | None:
    from lexirecall import _native

    arrays = _native.judgments_of_dict(grades, _PLAIN, secret())
    if arrays is None or not grades:
        return None
    return judgments_from(arrays, name, query_type=type_of_keys(grades))


def project_mapping(
    run: Mapping[Any, Any],
    name: str,
    label: str,
    judgments: Judgments,
    conventions: Conventions,
    units: UnitMap | None = None,
    *,
    needs_judged: bool,
) -> RunPositions:
    """Turn {query: {document: score}} or {query: [document, …]} into positions; messages call it by its label.

    >>> judgments = load_mapping({"q": {"a": 1}}, "qrels")
    >>> project_mapping({"q": ["x", "a"]}, "bm25", "run", judgments, Conventions(), needs_judged=False).found.positions
    array([2])
    """
    if reader_in_use() == "native":
        positions = _projected(run, name, judgments, conventions, units, needs_judged=needs_judged)
        if positions is not None:
            return positions
    rankings = rankings_from_mapping(run, label)
    return project_rankings(name, rankings, judgments, conventions, units, needs_judged=needs_judged)


def _projected(
    run: Mapping[Any, Any],
    name: str,
    judgments: Judgments,
    conventions: Conventions,
    units: UnitMap | None,
    *,
    needs_judged: bool,
) -> RunPositions | None:
    from lexirecall import _native

    arrays = arrays_of(judgments, conventions, units, needs_judged=needs_judged)
    parts = _native.run_of_dict(run, _PLAIN, *arrays, *rules_of(conventions))
    if parts is None:
        return None
    found, num_retrieved, num_unjudged = parts
    return assemble(
        name,
        judgments,
        conventions,
        tracks_from(found, len(judgments.queries)),
        np.frombuffer(num_retrieved, np.int64),
        needs_judged=needs_judged,
        num_unjudged=num_unjudged,
    )
