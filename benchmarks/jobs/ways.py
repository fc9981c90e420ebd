"""Evaluates one run that comes in one of many forms; prints what it took, and how far its values are from text's.

Usage: WAY FOLDER. `make_ways.py` has written the folder; the way `text` comes first, and keeps its values there. What
is read before (frames, dicts, matrices) is not counted, but its memory is.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from ways_of_peers import PEERS, as_dicts

import lexirecall

MEASURES = ("AP", "nDCG", "RR", "R@1000", "Rprec", "TSE")
Work = Callable[[], Any]
"""Gives values: an array [queries, measures], of as many of the measures as there are."""


def main(way: str, folder: Path) -> None:
    work = (WAYS | PEERS)[way](folder)
    held = megabytes("VmRSS")
    forget_peak()
    work()  # what is imported and compiled once is not counted
    cpu, wall = cpu_seconds(), time.perf_counter()
    values = work()
    used = {"CPU s": cpu_seconds() - cpu, "wall s": time.perf_counter() - wall, "MB before": held}
    used["peak MB"] = max(megabytes("VmHWM"), most_of(resource.RUSAGE_CHILDREN))
    kept = folder / "values.npy"
    if way == "text":
        np.save(kept, values)
    reference = np.load(kept)[:, : values.shape[1]]
    if not np.array_equal(np.isnan(reference), np.isnan(values)):
        raise SystemExit(f"{way} has no values where text has them, or the other way round")
    used |= {"values": values.size, "away": float(np.nanmax(np.abs(values - reference)))}
    print(json.dumps(used))


def cpu_seconds() -> float:
    """Return the CPU time of this process and of those that it has waited for, such as trec_eval."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


def most_of(whom: int) -> float:
    return resource.getrusage(whom).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e6 / 1024)


def megabytes(what: str) -> float:
    """Return the memory of this process, now (VmRSS) or at most (VmHWM); elsewhere than on Linux, always the most."""
    status = Path("/proc/self/status")
    if not status.exists():
        return most_of(resource.RUSAGE_SELF)
    line = next(line for line in status.read_text().splitlines() if line.startswith(what))
    return int(line.split()[1]) * 1024 / 1e6


def forget_peak() -> None:
    """Begin anew with the most memory, where the run can."""
    if Path("/proc/self/clear_refs").exists():
        Path("/proc/self/clear_refs").write_text("5")


def values_of(qrels: Any, run: Any = None) -> Any:
    """Evaluate judgments and a run, or positions."""
    return lexirecall.evaluate(qrels, run, MEASURES).values[0]


def of_file(qrels: str, run: str) -> Callable[[Path], Work]:
    return lambda folder: lambda: values_of(folder / qrels, folder / run)


def of_dicts(folder: Path) -> Work:
    qrels, run = as_dicts(folder)
    return lambda: values_of(qrels, {"run": run})


def of_frames(library: str) -> Callable[[Path], Work]:
    def prepared(folder: Path) -> Work:
        import polars as pl

        frames = [pl.read_parquet(folder / name).drop("run", strict=False) for name in (JUDGED, GROUPED)]
        ways = {"polars": lambda each: each, "pandas": lambda each: each.to_pandas(), "pyarrow": pl.DataFrame.to_arrow}
        qrels, run = map(ways[library], frames)
        del frames
        return lambda: values_of(qrels, {"run": run})

    return prepared


def of_relations(folder: Path) -> Work:
    import duckdb

    duckdb.execute(f"SET threads TO {int(os.environ.get('BENCHMARK_THREADS', '1'))}")
    qrels, run = (duckdb.read_parquet(str(folder / name)) for name in (JUDGED, GROUPED))
    return lambda: values_of(qrels, {"run": run.project("query_id, doc_id, score")})


def by_engine(folder: Path) -> Work:
    return lambda: values_of(lexirecall.project(folder / JUDGED, folder / GROUPED, engine="duckdb"))


def of_scores(folder: Path) -> Work:
    with np.load(folder / "matrix.npz") as file:
        scores, grades, queries, documents = (file[name] for name in ("scores", "grades", "queries", "documents"))
    ids = {"query_ids": queries.tolist(), "document_ids": documents.tolist()}
    return lambda: values_of(lexirecall.project_scores(scores, grades, **ids))


TEXT, JUDGED, GROUPED = "qrels.txt", "parquet.qrels.parquet", "parquet/system00.parquet"
WAYS: dict[str, Callable[[Path], Work]] = {
    "text": of_file(TEXT, "system00.run"),
    "text, gz": of_file(TEXT, "packed.run.gz"),
    "text, zst": of_file(TEXT, "packed.run.zst"),
    "dicts": of_dicts,
    "polars frames": of_frames("polars"),
    "pandas frames": of_frames("pandas"),
    "pyarrow tables": of_frames("pyarrow"),
    "DuckDB relations": of_relations,
    "Parquet, grouped by query": of_file(JUDGED, GROUPED),
    "Parquet, rows mixed": of_file(JUDGED, "mixed.parquet"),
    "Parquet, DuckDB engine": by_engine,
    "matrix of scores": of_scores,
    "positions file": of_file(TEXT, "positions.parquet"),
}


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
