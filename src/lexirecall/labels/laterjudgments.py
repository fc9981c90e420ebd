"""Later judgments: what judgments that were made later say about documents that nobody had judged.

Belongs here: a pool before and after them. Not here: what was forecast (hindsight).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, Judgments
from lexirecall.labels.pools import LabelPool
from lexirecall.text import to_text


class LaterJudgments(NamedTuple):
    """One query, before and after the new judgments."""

    asked: LabelPool
    """What was judged since is unjudged; what was not is not relevant."""
    labelled: LabelPool
    """With the new grades."""
    changed: tuple[tuple[str, str, float, float], ...]
    elsewhere: FloatArray
    """The grades of what was judged since and no run retrieves."""


def judged_since(pool: LabelPool, judgments: Judgments, new: Judgments, index: Mapping[bytes, int]) -> LaterJudgments:
    """Return a pool as it was and as it is with the `new` judgments, of which `index` finds the queries.

    >>> from lexirecall.formats.listing import load_lists
    >>> from lexirecall.labels.pools import pools_of
    >>> lists = load_lists({"q": {"a": 1}}, {"bm25": {"q": ["x", "a", "y"]}})
    >>> new = Judgments.from_grades({b"q": {b"a": 0, b"x": 2, b"z": 1}})
    >>> since = judged_since(next(pools_of(lists)), lists.judgments, new, new.index)
    >>> since.asked.grades.tolist(), since.labelled.grades.tolist(), since.changed, since.elsewhere.tolist()
    ([nan, 1.0, 0.0], [2.0, 1.0, 0.0], (('q', 'a', 1.0, 0.0),), [1.0])
    """
    old = _grades(judgments, pool.query)
    added = _grades(new, index.get(judgments.query_ids[pool.query]))
    grades = np.array([added.get(document, np.nan) for document in pool.documents], float)
    is_asked: BoolArray = pool.is_unjudged & ~np.isnan(grades)
    asked = np.where(pool.is_unjudged, np.where(is_asked, np.nan, 0.0), pool.grades)
    labelled = np.where(is_asked, grades, np.nan_to_num(asked))
    known = {*pool.documents, *old}
    elsewhere = np.array([grade for document, grade in added.items() if document not in known and grade > 0], float)
    return LaterJudgments(
        replace(pool, grades=asked),
        replace(pool, grades=labelled, missed=np.concatenate([pool.missed, elsewhere])),
        tuple(
            (judgments.queries[pool.query], to_text(document), old[document], grade)
            for document, grade in added.items()
            if document in old and old[document] != grade
        ),
        elsewhere,
    )


def _grades(judgments: Judgments, query: int | None) -> dict[bytes, float]:
    """Return the grades of what was judged; a negative one says that it was not."""
    if query is None:
        return {}
    grades = ((document, float(judgments.grades[at])) for document, at in judgments.lookup(query).items())
    return {document: grade for document, grade in grades if grade >= 0}
