"""Spark with executors in processes of their own: whatever fails, the answer is that of text files, or a clear error.

An executor is killed, or all of them, or one runs out of memory; files are damaged, replaced and removed; the disk is
full; Python dies on the workers, or lacks the package.

Run as `python tests/spark_cluster.py [ROWS]`; it leaves with 1 if anything differs. Not collected by pytest.
"""

# ruff: noqa: T201 - what it saw is for who ran it

import faulthandler
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.find_spark_home import _find_spark_home

import lexirecall
from lexirecall.engines import spark as engine
from lexirecall.errors import DataError, FormatError, LexirecallError, UsageError
from lexirecall.results import Scores
from test_spark import FORTY, HARMS, damage, table_of

MASTER = "local-cluster[2,1,1024]"
MEASURES = ["LexiRecall", "TSE", "R@1000", "Rprec", "AP", "nDCG", "RR", "Bpref"]
RUNS = ("bm25", "dense", "fused")
MOST_SECONDS = 1800
SETTINGS = {"spark.sql.shuffle.partitions": "16", "spark.executor.memory": "1g"}
QUICK = {"spark.sql.shuffle.partitions": "2", "spark.executor.memory": "600m", "spark.task.maxFailures": "2"}
HEAVY_ROWS, MANY_RELEVANT = 1_000_000, 10_000


def simulated(num_rows: int) -> tuple[pa.Table, pa.Table]:
    """Make runs with tied scores; the first query has a million rows and ten thousand relevant documents."""
    rng = np.random.default_rng(8)
    num_queries = 1 + max(num_rows - HEAVY_ROWS, 0) // (1000 * len(RUNS))
    parts = [(RUNS[0], 0, HEAVY_ROWS)]
    parts += [(name, q, 1000) for name in RUNS for q in range(1, num_queries) if rng.random() < 0.95]
    parts += [(name, 0, 1000) for name in RUNS[1:]]
    sizes = [size for _, _, size in parts]
    offsets = [rng.integers(0, 2000) if size == 1000 else 0 for size in sizes]
    runs = pa.table(
        {
            "run": np.repeat([name for name, _, _ in parts], sizes),
            "query_id": np.repeat([f"q{q}" for _, q, _ in parts], sizes),
            "doc_id": pa.array(np.concatenate([np.arange(n) + o for n, o in zip(sizes, offsets, strict=True)])),
            "score": np.round(rng.exponential(size=sum(sizes)), 3),
        }
    )
    judged = [MANY_RELEVANT, *rng.integers(5, 80, num_queries - 1)]
    documents = [np.sort(rng.choice(HEAVY_ROWS if n == MANY_RELEVANT else 3000, n, replace=False)) for n in judged]
    grades = rng.integers(0, 4, sum(judged))
    grades[:MANY_RELEVANT] += grades[:MANY_RELEVANT] == 0
    qrels = pa.table(
        {
            "query_id": np.repeat([f"q{q}" for q in range(num_queries)], judged),
            "doc_id": pa.array(np.concatenate(documents)),
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
    names = np.array(runs["run"].to_pylist())
    for name in RUNS:
        rows = runs.filter(pa.array(names == name)).to_pydict()
        with (folder / name).open("w") as stream:
            columns = rows["query_id"], rows["doc_id"], rows["score"]
            stream.writelines(f"{q} Q0 {d} 0 {s!r} {name}\n" for q, d, s in zip(*columns, strict=True))
    return lexirecall.evaluate(folder / "qrels", [folder / name for name in RUNS], MEASURES)


def executors(of: int = 0, sign: bytes = b"CoarseGrainedExecutorBackend") -> Iterator[int]:
    """Give the process ids of the executors of a program, this one unless another is given, or of another part."""
    of = of or os.getpid()
    parents, found = {}, []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            pid, command = int(folder.name), (folder / "cmdline").read_bytes()
            parents[pid] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue  # it has just ended
        if sign in command:
            found.append(pid)
    for pid in found:
        ancestor = pid
        while ancestor in parents and ancestor != of:
            ancestor = parents[ancestor]
        if ancestor == of:
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


def is_same(scores: Scores, expected: Scores) -> bool:
    """Compare means and all values, bit for bit."""
    pairs = zip(*(each.to_dict(per_query=True).items() for each in (scores, expected)), strict=True)
    differing = sum(one != other for one, other in pairs)
    is_equal = scores.to_dict() == expected.to_dict()
    print(f"  means {'equal' if is_equal else 'DIFFER'}; the values of {differing} of {len(expected.runs)} runs differ")
    return is_equal and not differing


def survives_a_kill(folder: Path, expected: Scores) -> bool:
    """Evaluate, and kill an executor the second time and while runs are compared."""
    with cluster(SETTINGS) as spark:
        runs = spark.read.parquet(str(folder / "runs.parquet"))
        qrels = lexirecall.load_judgments(folder / "qrels")
        print(f"{MASTER}: executors {sorted(executors())}")
        began = time.monotonic()
        is_right = is_same(lexirecall.evaluate(qrels, runs, MEASURES), expected)
        print(f"  {time.monotonic() - began:.0f} s")
        with killing(spark):
            is_right &= is_same(lexirecall.evaluate(qrels, runs, MEASURES), expected)
        with killing(spark):
            found = list(lexirecall.compare(qrels, runs, MEASURES).rows())
        wanted = list(lexirecall.compare(folder / "qrels", [folder / name for name in RUNS], MEASURES).rows())
        differing = sum(row != other for row, other in zip(found, wanted, strict=True))
        print(f"  {differing} of {len(wanted)} rows of the comparison differ")
        return is_right and not differing and num_lost(spark) > 1


@contextmanager
def killing(spark: Any) -> Iterator[None]:
    """Kill an executor while something is computed."""
    killer = Killer(spark.sparkContext.statusTracker())
    killer.start()
    yield
    killer.over.set()
    print(f"killed executor {killer.killed} in {killer.stage}; Spark lost {num_lost(spark)}")


@contextmanager
def cluster(settings: dict[str, str]) -> Iterator[Any]:
    """Start executors, and end with them and their logs."""
    spark = engine.session(MASTER, **settings)
    spark.sparkContext.setLogLevel("OFF")
    logs = Path(_find_spark_home(), "work", spark.sparkContext.applicationId)
    try:
        yield spark
    finally:
        spark.stop()
        shutil.rmtree(logs, ignore_errors=True)


def refuses(name: str, call: Callable[[], Any], error: type[LexirecallError], said: str) -> bool:
    """Print what comes of a call that must fail, and tell whether it is the error expected."""
    began = time.monotonic()
    try:
        found: Any = call()
    except Exception as raised:
        found = raised
    is_right = type(found) is error and re.search(said, str(found)) is not None and len(str(found)) < 1000
    print(f"{name}: {'as it should be' if is_right else 'WRONG'}, after {time.monotonic() - began:.0f} s")
    print(f"  {type(found).__name__}: {str(found)[:1000]}", flush=True)
    return is_right


def faults(folder: Path) -> Iterator[bool]:
    """Tell of each fault whether it is said what went wrong."""
    with cluster(QUICK) as spark:
        qrels = {query: {document: grade} for query, document, grade in FORTY}
        for harm, (do_harm, said) in HARMS.items():
            path = table_of(folder / harm, write_page_checksum=True)
            runs = spark.read.parquet(str(path))
            do_harm(path / "1.parquet")
            call = lambda runs=runs: lexirecall.project(qrels, runs)  # noqa: E731
            yield refuses(f"harm to {harm} of a file", call, FormatError, rf"1\.parquet: {said}")
        runs = spark.read.parquet(str(table_of(folder / "whole")))
        yield from faults_of_python(folder, qrels, runs)
        text = "SELECT concat('q', id) AS qid, concat('d', x) AS docid, 1D / x AS score FROM (SELECT id, "
        text += "explode(sequence(1L, 400000000L + id)) AS x FROM range(2))"  # 3 GB at once
        huge = spark.sql(text)
        yield refuses("too little memory", lambda: lexirecall.project(qrels, huge), DataError, "ran out of memory")
        long = spark.sql(
            "SELECT concat('q', id % 40) AS qid, sha(string(id)) AS docid, 1D AS score FROM range(90000000)"
        )
        killer = KillsAll(spark.sparkContext.statusTracker())
        killer.start()
        yield refuses("all killed", lambda: lexirecall.project(qrels, long), DataError, "lost its executors")
        killer.over.set()


def harming(harm: str) -> Callable[[Any], Any]:
    def harmed(batches: Any) -> Any:
        return eval(harm) or batches  # noqa: S307 - our own

    return harmed


def faults_of_python(folder: Path, qrels: Any, runs: Any) -> Iterator[bool]:
    """Tell the same of Pythons on the workers that lack the package, are not there, or die."""
    venv.create(folder / "bare")
    bare = folder / "bare" / "python"
    package = Path(lexirecall.__file__).parents[1]
    # the executors hand on the path of modules of this program, in which the package may be
    path = f"$(echo $PYTHONPATH | tr : '\\n' | grep -v '^{package}/*$' | paste -sd :)"
    bare.write_text(f'#!/bin/sh\nPYTHONPATH="{path}" exec {folder}/bare/bin/python "$@"\n')
    bare.chmod(0o755)
    context, said = (
        runs.sparkSession.sparkContext,
        {bare: "workers lacks the module", Path("/no/python"): "/no/python"},
    )
    before = os.environ.get("PYSPARK_PYTHON"), context.pythonExec
    for python, words in said.items():
        os.environ["PYSPARK_PYTHON"] = context.pythonExec = str(python)
        yield refuses(f"Python is {python}", lambda: lexirecall.project(qrels, runs), UsageError, words)
    os.environ.pop("PYSPARK_PYTHON") if before[0] is None else os.environ.update(PYSPARK_PYTHON=before[0])
    context.pythonExec = before[1]
    harms = {"dies": ("__import__('os')._exit(7)", "a Python process .* died"), "fails": ("1 / 0", "ZeroDivisionError")}
    for what, (harm, words) in harms.items():
        harmed = runs.mapInArrow(harming(harm), runs.schema)
        yield refuses(f"Python {what}", partial(lexirecall.project, qrels, harmed), DataError, words)


class KillsAll(Killer):
    """Kills every executor that is at work, again and again."""

    def run(self) -> None:
        while not self.over.wait(3):  # Spark does not count a task as failed that has not begun
            stages = map(self.tracker.getStageInfo, self.tracker.getActiveStageIds())
            for pid in executors() if any(info and info.numActiveTasks for info in stages) else ():
                with suppress(ProcessLookupError):  # it has ended by itself
                    os.kill(pid, signal.SIGKILL)


def command_fails(name: str, qrels: Path, runs: Path, said: str, *, kills: bool = False, **environment: str) -> bool:
    """Run the command line, and tell whether it says what went wrong, in a few words and without half a result."""
    output = qrels.parent / "output.csv"
    words = f"eval {qrels} {runs} -m AP --engine spark --master {MASTER} -f csv -o {output}".split()
    began, given = time.monotonic(), {**os.environ, **environment}
    call = [sys.executable, "-c", "from lexirecall.cli import run; run()", *words]
    with subprocess.Popen(call, env=given, stderr=subprocess.PIPE, text=True) as process:
        while kills and process.poll() is None and len([*executors(process.pid)]) < 2:
            time.sleep(0.2)
        for pid in executors(process.pid, b"org.apache.spark.deploy.SparkSubmit") if kills else ():
            os.kill(pid, signal.SIGKILL)
        errors = process.communicate()[1]
    is_right = process.returncode == 1 and re.search(said, errors) is not None and not output.exists()
    is_right &= not re.search(r"\tat |Traceback|a bug in", errors)
    print(f"{name}: {'as it should be' if is_right else 'WRONG'}, after {time.monotonic() - began:.0f} s")
    print("  " + errors.replace("\n", "\n  "), flush=True)
    return is_right


def full_disk(folder: Path) -> bool:
    """Let Spark keep its temporary files where there is little space."""
    tiny = folder / "tiny"
    tiny.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(tiny)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        print("full disk: left out, since only root can mount a small one")
        return True
    try:
        paths = folder / "qrels.parquet", folder / "runs.parquet"
        return command_fails("full disk", *paths, "disk .* is full", SPARK_LOCAL_DIRS=str(tiny))
    finally:
        subprocess.run(["umount", str(tiny)], check=False)


def main(num_rows: int) -> int:
    faulthandler.dump_traceback_later(MOST_SECONDS, exit=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs, qrels = simulated(num_rows)
        pq.write_table(runs, folder / "runs.parquet", row_group_size=200_000)
        pq.write_table(qrels, folder / "qrels.parquet")
        expected = as_text(runs, qrels, folder)
        print(f"{runs.num_rows:,} rows, {qrels.num_rows:,} judgments of {len(expected.queries):,} requests")
        seen = [survives_a_kill(folder, expected), *faults(folder), full_disk(folder)]
        damage(table_of(folder / "command") / "3.parquet", 0)
        seen.append(
            command_fails("the command", folder / "qrels.parquet", folder / "command", "3.parquet: Spark cannot")
        )
        paths = folder / "qrels.parquet", folder / "runs.parquet"
        seen.append(command_fails("Spark itself is killed", *paths, "the Spark process has ended", kills=True))
    print(f"{sum(seen)} of {len(seen)} as it should be")
    return 0 if all(seen) else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3_000_000))
