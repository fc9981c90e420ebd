"""Shows how the order of runs by leximin differs from that by the mean, on judgments and runs of your own.

Usage: python benchmarks/leximin.py QRELS RUN... [-m MEASURE]

It prints both ranks of each run, with the mean, the tail mean of its worst tenth of the queries and its worst value;
then Kendall's tau between the two orders. docs/over-queries.md quotes it for the runs of the TREC 2003 Robust track.
"""

import argparse
import math

import numpy as np

import lexirecall
from lexirecall.meta.correlation import kendall_tau
from lexirecall.statistics.aggregate import shared_ranks

TAIL = 10  # the worst tenth of the queries


def main() -> None:
    """Read the arguments, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("qrels")
    parser.add_argument("runs", nargs="+")
    parser.add_argument("-m", "--measure", default="R@1000")
    given = parser.parse_args()
    positions = lexirecall.project(given.qrels, given.runs)
    scores = lexirecall.evaluate(positions, measures=[given.measure])
    order = lexirecall.rank(positions, preference=given.measure, method="leximin").order
    direction, values = scores.measures[0].direction, scores.values[:, :, 0]
    means = direction * scores.means[:, 0]
    worst_first = np.sort(direction * values, axis=1)
    tails = direction * worst_first[:, : math.ceil(values.shape[1] / TAIL)].mean(axis=1)
    by_mean = shared_ranks(means)
    print(f"{'run':<16} {'leximin':>7} {'by mean':>7} {'mean':>8} {'worst 10 %':>10} {'worst':>8}")
    for s in order.best_first:
        numbers = f"{direction * means[s]:8.4f} {tails[s]:10.4f} {order.scores[s]:8.4f}"
        print(f"{scores.runs[s]:<16} {order.ranks[s]:>7} {by_mean[s]:>7} {numbers}")
    tau = kendall_tau(np.stack([-order.ranks.astype(float), means]))[0, 1]
    print(f"\nKendall's tau: {tau:.3f}, {len(scores.runs)} runs, {values.shape[1]} queries, {given.measure}")


if __name__ == "__main__":
    main()
