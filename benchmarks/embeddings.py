"""Exact positions from vectors on the CPU, beside the matrix products alone, in one run: CPU time, wall time, memory.

`python benchmarks/embeddings.py` draws vectors from a seed, prints one table as Markdown, and compares the
positions of some queries with a sort of all their scores.
"""

import argparse
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from lexirecall import project_embeddings

WIDTH = 384
BLOCK, TILE = 4096, 1024  # documents and queries that project_embeddings multiplies at a time


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return CPU time, wall time, and the result."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    return time.process_time() - cpu, time.perf_counter() - wall, result


def products(queries: Any, corpus: Any) -> Any:
    """Multiply all queries with all documents, tile by tile; return the scores of some queries."""
    kept = []
    for start in range(0, len(corpus), BLOCK):
        for first in range(0, len(queries), TILE):
            scores = queries[first : first + TILE] @ corpus[start : start + BLOCK].T
            kept += [scores[:20].copy()] if first == 0 else []
    return np.concatenate(kept, axis=1)


def num_wrong(positions: Any, scores: Any, qrels: dict[str, dict[str, int]]) -> int:
    """Sort the scores of some queries, and count the positions that are not those of the sort."""
    wrong = 0
    for q, row in enumerate(scores):
        own = np.sort(row[[int(n) for n in qrels[str(q)]]])[::-1]
        exact = len(row) - np.searchsorted(np.sort(row), own, side="right") + 1
        start, stop = positions.found.segments.offsets[q : q + 2]
        wrong += int((positions.found.positions[start:stop] != exact).sum())
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--documents", type=int, default=49 * BLOCK)
    given = parser.parse_args()
    rng = np.random.default_rng(1)
    queries = rng.standard_normal((given.queries, WIDTH), np.float32)
    corpus = rng.standard_normal((given.documents, WIDTH), np.float32)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cpu, wall, scores = timed(lambda: products(queries, corpus))
    print(f"{given.queries:,} queries × {given.documents:,} documents × {WIDTH} dimensions, float32\n")
    print("| work | CPU s | wall s | CPU, products alone = 1 | wrong |\n|---|---:|---:|---:|---:|")
    print(f"| products alone | {cpu:.2f} | {wall:.2f} | 1.00 | |")
    for number in (1, 8, 64):
        drawn = rng.integers(0, given.documents, (given.queries, number))
        qrels = {str(q): {str(n): 1 for n in row} for q, row in enumerate(drawn.tolist())}
        own, own_wall, positions = timed(
            lambda qrels=qrels: project_embeddings(queries, corpus, qrels, block=BLOCK, ties="best")
        )
        wrong = num_wrong(positions, scores, qrels)
        print(f"| positions, {number} relevant each | {own:.2f} | {own_wall:.2f} | {own / cpu:.2f} | {wrong} |")
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"\nmemory beyond the vectors: at most {(after - before) / 1024:.0f} MB (checks included)")
    cores = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    print(f"machine: {len(cores)} cores, {cores[0].partition(': ')[2]}; numpy {np.__version__}")


if __name__ == "__main__":
    main()
