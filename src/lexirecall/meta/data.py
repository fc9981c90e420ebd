"""Data: how large a collection is and how deep its rankings go.

Belongs here: the table of collections, and the label of their depth.
"""

from typing import Any

import numpy as np

from lexirecall.measures import SET_R
from lexirecall.meta.collection import Collection

COLUMNS = ("collection", "task", "queries", "runs", "teams", "relevant", "retrieved", "recall", "label")
LABELS = ("deep", "standard", "shallow")


def depth_label(retrieved: float) -> str:
    """Return the label of rankings of this mean length: deep above 1000, shallow up to 100, standard between.

    >>> [depth_label(k) for k in (1000.5, 1000, 100.5, 100)]
    ['deep', 'standard', 'standard', 'shallow']

    Reference: DiazEM25, the table of data sets.
    """
    if retrieved > 1000:
        return "deep"
    return "standard" if retrieved > 100 else "shallow"


def describe(collection: Collection) -> dict[str, Any]:
    """Count queries and runs, with the mean numbers of relevant and of retrieved documents per query.

    Queries that are not eligible are not counted. A query that a run does not answer is an empty list, or left
    out with queries="intersection". `recall` is the mean share of the relevant documents that a run retrieves.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 1}, "r": {"c": 0}}, {"x": {"q": ["a", "z"]}, "y": {"q": []}})
    >>> describe(Collection("mine", positions))
    {'collection': 'mine', 'task': '', 'queries': 1, 'runs': 2, 'teams': 2, 'relevant': 2.0, 'retrieved': 1.0, \
'recall': 0.25, 'label': 'shallow'}
    """
    positions, policies = collection.positions, collection.policies
    projection = positions.at_level(policies.level)
    eligible, counted = policies.eligible(positions), policies.counted(positions)
    retrieved = _mean(positions.num_retrieved[counted])
    return {
        "collection": collection.name,
        "task": collection.task,
        "queries": int(eligible.sum()),
        "runs": len(positions.runs),
        "teams": int(collection.team_numbers.max()) + 1,
        "relevant": _mean(projection.num_relevant[eligible]),
        "retrieved": retrieved,
        "recall": _mean(SET_R.scores(projection)[counted]),
        "label": depth_label(retrieved),
    }


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else 0.0
