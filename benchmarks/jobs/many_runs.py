"""Compares runs under seven measures, from simulated positions on, and prints how many pairs differ.

Usage: RUNS QUERIES RELEVANT [BASELINE | --only-simulate]
"""

import sys

from pairs import simulate
from statistics_of_pairs import MEASURES

from lexirecall import compare


def main() -> None:
    num_runs, num_queries, num_relevant = map(int, sys.argv[1:4])
    baseline = sys.argv[4] if len(sys.argv) > 4 else None
    positions = simulate(num_runs, num_queries, num_relevant)
    if baseline == "--only-simulate":
        return
    comparison = compare(positions, measures=MEASURES, baseline=baseline)
    print(*(int((each.corrected < 0.05).sum()) for each in comparison.measures))


if __name__ == "__main__":
    main()
