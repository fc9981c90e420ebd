"""Spark with executors in processes of their own: the answer is that of text files, also if one of them is killed.

Run as `python tests/spark_cluster.py [ROWS]`; it leaves with 1 if anything differs. Not collected by pytest.
"""

# ruff: noqa: T201 - what it saw is for who ran it

import faulthandler
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.find_spark_home import _find_spark_home

import lexirecall
from lexirecall.engines import spark as engine
from lexirecall.results import Scores

MASTER = "local-cluster[2,1,1024]"
MEASURES = ["LexiRecall", "TSE", "R@1000", "Rprec", "AP", "nDCG", "RR", "Bpref"]
SYSTEMS = ("bm25", "dense", "fused")
MOST_SECONDS = 1800
HEAVY_ROWS, MANY_RELEVANT = 1_000_000, 10_000


def simulated(num_rows: int) -> tuple[pa.Table, pa.Table]:
    """Make runs with tied scores; the first request has a million rows and ten thousand relevant items."""
    rng = np.random.default_rng(8)
    num_requests = 1 + max(num_rows - HEAVY_ROWS, 0) // (1000 * len(SYSTEMS))
    parts = [(SYSTEMS[0], 0, HEAVY_ROWS)]
    parts += [(name, q, 1000) for name in SYSTEMS for q in range(1, num_requests) if rng.random() < 0.95]
    parts += [(name, 0, 1000) for name in SYSTEMS[1:]]
    sizes = [size for _, _, size in parts]
    offsets = [rng.integers(0, 2000) if size == 1000 else 0 for size in sizes]
    runs = pa.table(
        {
            "system": np.repeat([name for name, _, _ in parts], sizes),
            "query_id": np.repeat([f"q{q}" for _, q, _ in parts], sizes),
            "doc_id": pa.array(np.concatenate([np.arange(n) + o for n, o in zip(sizes, offsets, strict=True)])),
            "score": np.round(rng.exponential(size=sum(sizes)), 3),
        }
    )
    judged = [MANY_RELEVANT, *rng.integers(5, 80, num_requests - 1)]
    items = [np.sort(rng.choice(HEAVY_ROWS if n == MANY_RELEVANT else 3000, n, replace=False)) for n in judged]
    grades = rng.integers(0, 4, sum(judged))
    grades[:MANY_RELEVANT] += grades[:MANY_RELEVANT] == 0
    qrels = pa.table(
        {
            "query_id": np.repeat([f"q{q}" for q in range(num_requests)], judged),
            "doc_id": pa.array(np.concatenate(items)),
            "relevance": grades,
        }
    )
    return runs, qrels


def as_text(runs: pa.Table, qrels: pa.Table, folder: Path) -> Scores:
    """Write the same rows as TREC files and evaluate them."""
    with (folder / "qrels").open("w") as stream:
        stream.writelines(
            f"{q} 0 {d} {g}\n" for q, d, g in zip(*(qrels[c].to_pylist() for c in qrels.column_names), strict=True)
        )
    systems = np.array(runs["system"].to_pylist())
    for name in SYSTEMS:
        rows = runs.filter(pa.array(systems == name)).to_pydict()
        with (folder / name).open("w") as stream:
            columns = rows["query_id"], rows["doc_id"], rows["score"]
            stream.writelines(f"{q} Q0 {d} 0 {s!r} {name}\n" for q, d, s in zip(*columns, strict=True))
    return lexirecall.evaluate(folder / "qrels", [folder / name for name in SYSTEMS], MEASURES)


def executors() -> Iterator[int]:
    """Give the process ids of this program's executors."""
    parents, found = {}, []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            pid, command = int(folder.name), (folder / "cmdline").read_bytes()
            parents[pid] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue  # it has just ended
        if b"CoarseGrainedExecutorBackend" in command:
            found.append(pid)
    for pid in found:
        ancestor = pid
        while ancestor in parents and ancestor != os.getpid():
            ancestor = parents[ancestor]
        if ancestor == os.getpid():
            yield pid


class Killer(threading.Thread):
    """Kills an executor as soon as a stage has done some of its tasks and is at work on others."""

    def __init__(self, tracker: Any) -> None:
        super().__init__(daemon=True)
        self.tracker, self.killed, self.over = tracker, 0, threading.Event()
        self.stage = ""

    def run(self) -> None:
        while not self.over.is_set() and not self.killed:
            for stage in self.tracker.getActiveStageIds():
                info = self.tracker.getStageInfo(stage)
                if info and info.numTasks >= 8 and info.numCompletedTasks >= 2 and info.numActiveTasks:
                    self.stage = f"stage {stage} ({info.numCompletedTasks} of {info.numTasks} tasks done)"
                    self.killed = max(executors())
                    os.kill(self.killed, signal.SIGKILL)
                    break
            self.over.wait(0.02)


def num_lost(spark: Any) -> int:
    """Count the executors that Spark knows to be gone."""
    known = spark.sparkContext._jsc.sc().statusStore().executorList(False)
    return sum(not known.apply(i).isActive() for i in range(known.size()))


def is_same(scores: engine.SparkScores, expected: Scores) -> bool:
    """Compare means and all values, bit for bit."""
    values = {(row.run, row.query, row.measure): row.value for row in scores.per_request.collect()}
    of_text = {
        (run, query, measure): value
        for run, queries in expected.to_dict(per_request=True).items()
        for query, named in queries.items()
        for measure, value in named.items()
    }
    differing = [key for key in {*values, *of_text} if values.get(key) != of_text.get(key)]
    is_equal = scores.averages.to_dict() == expected.to_dict()
    print(f"  means {'equal' if is_equal else 'DIFFER'}; {len(differing):,} of {len(of_text):,} values differ")
    return is_equal and not differing and len(values) == len(of_text)


def main(num_rows: int) -> int:
    faulthandler.dump_traceback_later(MOST_SECONDS, exit=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs, qrels = simulated(num_rows)
        pq.write_table(runs, folder / "runs.parquet", row_group_size=200_000)
        pq.write_table(qrels, folder / "qrels.parquet")
        expected = as_text(runs, qrels, folder)
        print(f"{runs.num_rows:,} rows, {qrels.num_rows:,} judgments of {len(expected.requests):,} requests")
        spark = engine.session(MASTER, **{"spark.sql.shuffle.partitions": "16", "spark.executor.memory": "1g"})
        frames = spark.read.parquet(str(folder / "qrels.parquet")), spark.read.parquet(str(folder / "runs.parquet"))
        print(f"{MASTER}: executors {sorted(executors())}")
        began = time.monotonic()
        with engine.evaluate(*frames, MEASURES) as scores:
            is_right = is_same(scores, expected)
        print(f"  {time.monotonic() - began:.0f} s")
        killer = Killer(spark.sparkContext.statusTracker())
        killer.start()
        with engine.evaluate(*frames, MEASURES) as scores:
            print(f"killed executor {killer.killed} in {killer.stage}; Spark lost {num_lost(spark)}")
            is_right &= is_same(scores, expected)
        killer.over.set()
        is_right &= killer.killed > 0 and num_lost(spark) > 0
        logs = Path(_find_spark_home(), "work", spark.sparkContext.applicationId)  # the executors' own
        spark.stop()
        shutil.rmtree(logs, ignore_errors=True)
    print("the same" if is_right else "NOT the same")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3_000_000))
