"""Prints, as JSON, the CPU seconds that 10,000 resamples of the queries add to evaluating and ranking all runs.

Then those of the max-T test of all pairs under one measure, with as many sign patterns.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from pairs import simulate
from statistics_of_pairs import MEASURES

from lexirecall import compare, evaluate, rank

RESAMPLES = 10_000


def seconds_of(work: Callable[..., Any]) -> float:
    """Return how much longer it takes with resamples than without."""
    times = []
    for options in ({}, {}, {"bootstrap": RESAMPLES}):  # the first pays for imports
        start = time.process_time()
        work(**options)
        times.append(time.process_time() - start)
    return times[2] - times[1]


def main() -> None:
    positions = simulate(*map(int, sys.argv[1:]))
    seconds = {"means and win rates": seconds_of(lambda **more: evaluate(positions, measures=MEASURES, **more))}
    for method in ("winrate", "borda", "copeland"):
        seconds[f"ranks by {method}"] = seconds_of(lambda method=method, **more: rank(positions, method=method, **more))
    start = time.process_time()
    compare(positions, measures=["AP"], test="max-t", num_resamples=RESAMPLES)
    seconds["max-T of one measure"] = time.process_time() - start
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
