"""Prints, as JSON, the CPU seconds that all pairs of runs take with each preference, from positions on."""

import json
import sys
import time

import numpy as np

from lexirecall import Judgments, Positions, parse_preference
from lexirecall.judgments import offsets_of
from lexirecall.manifest import Conventions
from lexirecall.segments import Segments
from lexirecall.tracks import RunPositions, Tracks

PREFERENCES = ("LexiRecall", "LexiPrecision", "AP", "RPP", "LexiPrecision(size='rr')")
DEPTH = 1000


def simulate(num_runs: int, num_queries: int, num_relevant: int) -> Positions:
    """Place each relevant document with probability .6, anywhere in the list."""
    rng = np.random.default_rng(2025)
    m = np.maximum(1, rng.poisson(num_relevant, num_queries))
    judged = {str(q).encode(): {str(i).encode(): 1.0 for i in range(m[q])} for q in range(num_queries)}
    judgments = Judgments.from_grades(judged)
    runs = []
    for s in range(num_runs):
        num_found = np.minimum(rng.binomial(m, 0.6), DEPTH)
        positions = [np.sort(rng.choice(DEPTH, r, replace=False) + 1) for r in num_found]
        documents = [judgments.offsets[q] + rng.permutation(m[q])[:r] for q, r in enumerate(num_found)]
        tracks = Tracks(Segments(offsets_of(num_found)), np.concatenate(positions), np.concatenate(documents))
        everywhere = np.ones(num_queries, bool)
        runs.append(RunPositions(f"s{s}", everywhere, np.full(num_queries, DEPTH), tracks, None))
    return Positions.stack(judgments, runs, Conventions())


def main() -> None:
    projection = simulate(*map(int, sys.argv[1:])).at_level(1)
    seconds = {}
    for name in PREFERENCES:
        preference = parse_preference(name)
        start = time.process_time()
        pairs = preference.pairs(projection)
        _ = pairs.wins, pairs.ties, pairs.losses
        seconds[name] = time.process_time() - start
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
