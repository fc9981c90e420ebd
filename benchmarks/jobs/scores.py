"""Prints, as JSON, the CPU seconds from a matrix of scores to positions, and those of sorting its rows."""

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from lexirecall import project_scores
from lexirecall.reader import VARIABLE

CALLS = 4


def seconds_of(work: Callable[[], Any]) -> float:
    """Return what the quickest of some calls takes; the first pays for imports, and any of them for its neighbours."""
    seconds = []
    for _ in range(CALLS):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def main() -> None:
    num_queries, num_documents, num_relevant = map(int, sys.argv[1:])
    rng = np.random.default_rng(2025)
    scores = rng.standard_normal((num_queries, num_documents), np.float32)
    relevant = [rng.choice(num_documents, num_relevant, replace=False) for _ in range(num_queries)]
    seconds = {
        "argsort of the rows": seconds_of(lambda: np.argsort(-scores, axis=1)),
        "project_scores": seconds_of(lambda: project_scores(scores, relevant)),
    }
    rounded = scores.round(1)
    seconds["the same, tied scores"] = seconds_of(lambda: project_scores(rounded, relevant))
    double = scores.astype(np.float64)
    seconds["the same, float64"] = seconds_of(lambda: project_scores(double, relevant))
    os.environ[VARIABLE] = "python"
    seconds["the same, without the kernel"] = seconds_of(lambda: project_scores(scores, relevant))
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
