"""Sensitivity: how many pairs of systems a measure shows to be different.

Belongs here: discriminative power under several tests. Not here: the tests (statistics) and how they are run (verbs).
"""

from dataclasses import asdict
from typing import Any

import numpy as np

from lexirecall.meta.collection import Collection
from lexirecall.names import Evaluable, parse_preference
from lexirecall.statistics.power import discriminative_power
from lexirecall.verbs.compare import compare

COLUMNS = ("collection", "label", "measure", "test", "paired", "hsd", "t", "sign", "pairs")


def power_row(row: Evaluable, collection: Collection, *, alpha: float = 0.05) -> dict[str, Any]:
    """Return the share of pairs of systems with p < alpha for one measure.

    `paired`: by the test that suits it, the sign test for lexicographic preferences and the t test for sizes, with
    Holm's correction over all pairs; `test` says which it is. `hsd`: by Tukey's honestly significant difference. `t`
    and `sign`: by the same test for all measures, with Holm's correction, whether it suits them or not. So a difference
    between measures cannot come from their tests. A share is None if there is no p-value.

    >>> from lexirecall import parse_measure, project
    >>> qrels = {f"q{i}": {"a": 1} for i in range(9)}
    >>> runs = {"good": {q: ["a"] for q in qrels}, "bad": {q: ["x", "a"] for q in qrels}}
    >>> power_row(parse_measure("RR"), Collection("mine", project(qrels, runs)))
    {'measure': 'RR', 'test': 't', 'paired': 1.0, 'hsd': 1.0, 't': 1.0, 'sign': 1.0, 'pairs': 1}

    Reference: DiazEM25, statistical sensitivity.
    """
    shares = {test: _power(row, collection, test, alpha) for test in ("hsd", "t", "sign")}
    test = "t" if parse_preference(row).is_sized else "sign"
    num_systems = len(collection.positions.systems)
    num_pairs = num_systems * (num_systems - 1) // 2
    return {"measure": str(row), "test": test, "paired": shares[test], **shares, "pairs": num_pairs}


def _power(row: Evaluable, collection: Collection, test: str, alpha: float) -> float | None:
    options = asdict(collection.policies)
    comparison = compare(collection.positions, measures=[row], test=test, alpha=alpha, **options)
    power = discriminative_power(comparison.measures[0].corrected, alpha)
    return None if np.isnan(power) else power
