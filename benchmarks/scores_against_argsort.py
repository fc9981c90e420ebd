"""Compares positions from scores with those of sorted rows, block by block: 1,000 queries × 1,000,000 documents.

    python benchmarks/scores_against_argsort.py [--queries 1000] [--documents 1000000] [--relevant 20]

Half of the blocks hold scores with ties. Prints how many positions were compared; exits with 1 if one differs.
"""

import argparse
import sys
import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from lexirecall import project_scores

BLOCK = 8


def blocks(num_queries: int, num_documents: int) -> Iterator[npt.NDArray[np.float32]]:
    """Give scores of some queries at a time, by turns all different, but for chance, and of few values."""
    rng = np.random.default_rng(2025)
    for number, start in enumerate(range(0, num_queries, BLOCK)):
        scores = rng.standard_normal((min(BLOCK, num_queries - start), num_documents), np.float32)
        yield scores.round(2) if number % 2 else scores


def by_sorting(scores: npt.NDArray[np.float32], relevant: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the positions in the sorted rows; what is tied stays in the order of the columns."""
    positions = np.empty_like(relevant)
    places = np.empty(scores.shape[1], np.int64)
    for row, documents, found in zip(scores, relevant, positions, strict=True):
        places[np.argsort(-row, kind="stable")] = np.arange(1, len(row) + 1)
        found[:] = np.sort(places[documents])
    return positions


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name, default in (("queries", 1000), ("documents", 1_000_000), ("relevant", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    rng, num_compared, num_wrong, seconds = np.random.default_rng(1), 0, 0, [0.0, 0.0]
    for scores in blocks(asked.queries, asked.documents):
        relevant = np.array([rng.choice(asked.documents, asked.relevant, replace=False) for _ in scores])
        start = time.process_time()
        counted = project_scores(scores, list(relevant), ties="input").found.positions.reshape(relevant.shape)
        middle = time.process_time()
        expected = by_sorting(scores, relevant)
        seconds[0] += middle - start
        seconds[1] += time.process_time() - middle
        num_compared += counted.size
        num_wrong += int((counted != expected).sum())
    print(f"{num_compared:,} positions compared, {num_wrong:,} differ")
    print(f"CPU s: {seconds[0]:.1f} by counting, {seconds[1]:.1f} by sorting")
    sys.exit(num_wrong > 0)


if __name__ == "__main__":
    main()
