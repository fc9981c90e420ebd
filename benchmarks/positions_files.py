"""Measures positions files beside the runs they are made from: their size, how long reading takes, and equal values.

Usage: python benchmarks/positions_files.py [QRELS RUN...]

Without arguments it writes a run of the shape of MS MARCO (6,980 queries × 1,000 documents, one relevant each).
docs/positions-files.md quotes it.
"""

import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import lexirecall

MEASURES = ["LexiRecall", "TSE", "R@1000", "Rprec", "AP", "nDCG", "RR", "Bpref"]
QUERIES, DOCUMENTS, CORPUS = 6_980, 1_000, 8_841_823


def write_simulated(folder: Path) -> list[Path]:
    """Write judgments and a run; the relevant document is among those retrieved for nine queries in ten."""
    draw = random.Random(1)  # noqa: S311 - nothing secret
    with (folder / "qrels").open("w") as qrels, (folder / "simulated.run").open("w") as run:
        for q in range(QUERIES):
            found = draw.sample(range(CORPUS), DOCUMENTS)
            relevant = draw.choice(found) if draw.random() < 0.9 else draw.randrange(CORPUS)
            qrels.write(f"{q + 1_000_000} 0 {relevant} 1\n")
            run.writelines(
                f"{q + 1_000_000} Q0 {d} {i + 1} {20 - i / 100:.6f} simulated\n" for i, d in enumerate(found)
            )
    return [folder / "qrels", folder / "simulated.run"]


def timed(act: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a function returns, and the CPU seconds that it takes."""
    start = time.process_time()
    made = act()
    return made, time.process_time() - start


def main() -> None:
    """Read the arguments, and print."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        qrels, *runs = map(Path, sys.argv[1:]) if len(sys.argv) > 1 else write_simulated(folder)
        positions, reading = timed(lambda: lexirecall.project(qrels, runs, needs_judged=True))
        _, saving = timed(lambda: positions.save(folder / "kept.parquet"))
        again, loading = timed(lambda: lexirecall.project(qrels, folder / "kept.parquet", needs_judged=True))
        before, after = (lexirecall.evaluate(each, measures=MEASURES).values for each in (positions, again))
        packed = sum(path.stat().st_size for path in runs)
        print(f"runs {len(runs)}, queries {len(positions.queries)}, judged {len(positions.judgments.grades):,}")
        print(f"runs {packed / 1e6:,.1f} MB, positions file {(folder / 'kept.parquet').stat().st_size / 1e3:,.0f} kB")
        print(f"CPU seconds: reading runs {reading:.2f}, saving {saving:.2f}, reading the positions file {loading:.2f}")
        print(f"values equal to the bit: {np.array_equal(before, after, equal_nan=True)} ({before.size:,} values)")


if __name__ == "__main__":
    main()
