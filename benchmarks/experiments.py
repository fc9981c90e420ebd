"""Experiments: what is measured, and on which collection.

Belongs here: one function for each benchmark; it returns timings of commands, and other figures.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from contestants import JOBS, MEASURES, OURS, all_commands, job, lexirecall, ours, remark_on_agreement, ways_of_peers
from timing import CORES, ONE_THREAD, THREADS, Command, Timing, interleaved, run

ONE_RUN, TWO_RUNS, ONE_QUERY = "one run", "two runs", "its first query, with the judgments of all"
CONTROL = f"hashing in {CORES} threads"
PARQUET, MIXED = "Parquet", "DuckDB, rows mixed"
TINY_EVAL, TINY_COMPARE = "lexirecall eval, 3 queries × 20 documents", "lexirecall compare, the same twice"
NUMPY = "import numpy"
MANY_RUNS = 500
EVERY_PAIR, WITH_BASELINE, NO_PAIR = "compare, all pairs", "compare, with a baseline", "the simulation alone"
WITHOUT_UNITS, WITH_UNITS = "without units", "identity map"
PAIRS = {
    "110 runs × 249 queries, 70 relevant": (110, 249, 70),
    "21 runs × 6,000 queries, 20 relevant": (21, 6000, 20),
}
SCORED = {"6,000 queries × 3,700 documents, 20 relevant": (6000, 3700, 20)}
IN_DICTS = {
    "50 queries × 1,000 documents": (50, 1000, 100, 20, 1),
    "1,000 queries × 100 documents": (1000, 100, 10, 3, 1),
    "7,000 queries × 100 documents": (7000, 100, 5, 1, 1),
    "1 query × 100 documents, 100 calls": (1, 100, 20, 5, 100),
}
"""Queries, documents in a list, judged ones, relevant ones, and calls."""
WAYS = (
    "text", "text, gz", "text, zst", "dicts", "polars frames", "pandas frames", "pyarrow tables", "DuckDB relations",
    "Parquet, grouped by query", "Parquet, rows mixed", "Parquet, DuckDB engine", "matrix of scores", "positions file",
)  # fmt: skip
RESAMPLED = {"126 runs × 50 queries, 70 relevant": (126, 50, 70)}
"""Runs, queries and relevant documents."""


@dataclass(frozen=True)
class Setting:
    """Where the data are, how much of them is used, and how often everything is repeated."""

    folder: Path
    repeats: int
    share: float
    trec_eval: str | None = None
    """The program, if it was built."""

    def files(self, name: str) -> tuple[str, list[str]]:
        """Make a collection in a process of its own; return the paths of judgments and runs."""
        script = Path(__file__).with_name("data.py")
        command = [sys.executable, str(script), name, str(self.folder), str(self.share)]
        paths = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        return paths["qrels"], paths["runs"]


@dataclass
class Outcome:
    """The result of a benchmark."""

    title: str
    timings: list[Timing] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return what can be kept as JSON."""
        timings = [timing.to_dict() for timing in self.timings]
        return {"title": self.title, "timings": timings, "figures": self.figures}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> "Outcome":
        """Return what was kept."""
        return cls(record["title"], [Timing.from_dict(each) for each in record["timings"]], record["figures"])

    def timing(self, label: str) -> Timing | None:
        """Return the timing of a command, if it was measured."""
        return next((timing for timing in self.timings if timing.label == label and timing.usages), None)


def against_peers(name: str, title: str) -> Callable[[Setting], Outcome]:
    """Return the benchmark of the whole job on one collection."""

    def measure(setting: Setting) -> Outcome:
        qrels, runs = setting.files(name)
        cold = name == "robust" and setting.share == 1
        commands = list(all_commands(qrels, runs, setting.folder, trec_eval=setting.trec_eval, with_cold=cold))
        timings = interleaved(commands, setting.repeats)
        for timing in timings[1:]:
            timing.remark = timing.remark or remark_on_agreement(timing, timings[0], qrels, runs)
        return Outcome(title, timings, _size(runs))

    return measure


def start_up(setting: Setting) -> Outcome:
    """Measure commands that do almost nothing, beside the import of numpy."""
    qrels, runs = setting.files("tiny")
    commands = [
        Command(NUMPY, [sys.executable, "-c", "import numpy"], dict.fromkeys(THREADS, str(CORES))),
        Command(f"{NUMPY}, one thread", [sys.executable, "-c", "import numpy"]),
        Command(f"{NUMPY} and click, one thread", [sys.executable, "-c", "import numpy, click"]),
        lexirecall("--version", label="lexirecall --version"),
        ours(qrels, runs, label=TINY_EVAL),
        lexirecall("compare", qrels, *_twice(runs), label=TINY_COMPARE),
    ]
    return Outcome("Start-up", interleaved(commands, max(15, setting.repeats)))


def _twice(runs: list[str]) -> tuple[str, str]:
    """Return the one run, and the same under another name."""
    second = Path(runs[0]).with_name("second.run")
    if not second.exists():
        second.symlink_to(runs[0])
    return runs[0], str(second)


def many_runs(setting: Setting) -> Outcome:
    """Measure the comparison of hundreds of runs, of all pairs and of those with a baseline."""
    shape = [str(max(2, round(setting.share * MANY_RUNS))), "1000", "10"]
    commands = [
        Command(label, [sys.executable, str(JOBS / "many_runs.py"), *shape, *more], ONE_THREAD)
        for label, more in ((EVERY_PAIR, []), (WITH_BASELINE, ["s0"]), (NO_PAIR, ["--only-simulate"]))
    ]
    return Outcome(f"{MANY_RUNS} runs × 1,000 queries, seven measures", interleaved(commands, min(3, setting.repeats)))


def reading(setting: Setting) -> Outcome:
    """Measure the readers alone beside plain reading, all within one process each time."""
    outcome = Outcome("Reading alone")
    library = {"NEWLINES": compiled(setting.folder)}
    for name in ("robust", "wide", "recommender", "deep", "deepest"):
        qrels, runs = setting.files(name)
        command = job("reading", qrels, runs, label=name, environment=library)
        several = [json.loads(run(command)[1]) for _ in range(setting.repeats)]
        seconds = {key: statistics.median(each[key] for each in several) for key in several[0]}
        ratios = sorted(each["native"] / each["in blocks"] for each in several)
        outcome.figures[name] = seconds | {"megabytes": _megabytes(runs), "ratios": ratios}
    return outcome


def compiled(folder: Path) -> str:
    """Compile the search for line ends; return its path, or nothing if there is no compiler."""
    library = folder / "newlines.so"
    command = ["cc", "-O3", "-shared", "-fPIC", str(JOBS / "newlines.c"), "-o", str(library)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        return ""
    return str(library.resolve())


def pairs(setting: Setting) -> Outcome:
    """Measure all pairs of runs on all queries, from positions on, within one process each time."""
    return _inside("All pairs of runs, from positions on", "pairs", PAIRS, setting.repeats)


def comparisons(setting: Setting) -> Outcome:
    """Measure the tests of all pairs under seven measures, within one process each time."""
    most = dict(list(PAIRS.items())[:1])
    return _inside("All pairs tested under seven measures", "statistics_of_pairs", most, min(3, setting.repeats))


def resamples(setting: Setting) -> Outcome:
    """Measure 10,000 resamples of the queries, within one process each time."""
    return _inside("10,000 resamples of the queries, seven measures", "resamples", RESAMPLED, min(3, setting.repeats))


def scores(setting: Setting) -> Outcome:
    """Measure positions from a matrix of scores, beside a sort of its rows, within one process each time."""
    return _inside("Positions from a matrix of scores, float32", "scores", SCORED, setting.repeats)


def dicts(setting: Setting) -> Outcome:
    """Measure runs that are dicts beside the peers, within one process each time."""
    cache = {"NUMBA_CACHE_DIR": str(setting.folder / "numba")}  # so that ranx compiles once
    return _inside("Dicts, judgments loaded once", "dicts", IN_DICTS, setting.repeats, environment=cache)


def _inside(
    title: str,
    script: str,
    shapes: Mapping[str, tuple[int, ...]],
    repeats: int,
    *,
    environment: Mapping[str, str] | None = None,
) -> Outcome:
    """Run a script that prints seconds, with one thread, and keep their medians."""
    outcome = Outcome(title)
    environment = {**ONE_THREAD, **(environment or {})}
    for name, shape in shapes.items():
        command = Command(name, [sys.executable, str(JOBS / f"{script}.py"), *map(str, shape)], environment)
        several = [json.loads(run(command)[1]) for _ in range(repeats)]
        outcome.figures[name] = {key: statistics.median(each[key] for each in several) for key in several[0]}
    return outcome


def units(setting: Setting) -> Outcome:
    """Measure the whole job with maps of units, one of which changes nothing, beside the job without one."""
    qrels, runs = setting.files("robust")
    itself, fives = (Path(qrels).with_name(name) for name in ("identity.tsv", "fives.tsv"))
    if not fives.exists():
        documents = dict.fromkeys(line.split()[2] for line in Path(qrels).read_text().splitlines())
        itself.write_text("".join(f"{document}\t{document}\n" for document in documents))
        fives.write_text("".join(f"{document}\tunit-{i // 5}\n" for i, document in enumerate(documents)))
    commands = [ours(qrels, runs, label=WITHOUT_UNITS)]
    for label, path in ((WITH_UNITS, itself), ("five documents to a unit", fives)):
        more = ("--units", str(path))
        commands.append(ours(qrels, runs, label=label, more=more))
        commands.append(ours(qrels, runs, label=f"{label}, places in units", more=(*more, "--count", "units")))
    return Outcome("Maps of every judged document to units, Robust04-like", interleaved(commands, setting.repeats))


def threads(setting: Setting) -> Outcome:
    """Measure one large run, two of that size at once, and what the command does besides reading a run."""
    qrels, runs = setting.files("1 GB")
    commands = [
        ours(qrels, runs, label=ONE_RUN),
        ours(qrels, [*_twice(runs)], label=TWO_RUNS),
        ours(qrels, [_first_query(runs[0])], label=ONE_QUERY),
        Command(CONTROL, [sys.executable, str(JOBS / "hashing.py")]),
    ]
    return Outcome("One large file, and two at once", interleaved(commands, setting.repeats), _size(runs))


def _first_query(run_file: str) -> str:
    """Write the lines of the first query to a run of their own."""
    first = Path(run_file).with_name("first.run")
    with Path(run_file).open() as lines:
        line = next(lines)
        query = line.split()[0]
        first.write_text(line + "".join(takewhile(lambda line: line.split()[0] == query, lines)))
    return str(first)


def memory(setting: Setting) -> Outcome:
    """Measure the peak memory for run files of different sizes."""
    outcome = Outcome("Peak memory")
    commands = []
    for name in ("tiny", "100 MB", "500 MB", "50 MB of judgments"):
        qrels, runs = setting.files(name)
        sizes = f"one run of {_megabytes(runs):.1f} MB, judgments of {_megabytes([qrels]):.1f} MB"
        commands += [ours(qrels, runs, label=sizes)]
    outcome.timings = interleaved(commands, setting.repeats)
    return outcome


def tables(num_runs: int) -> Callable[[Setting], Outcome]:
    """Return the benchmark of text, frames and engines on tables of several runs."""

    def measure(setting: Setting) -> Outcome:
        qrels, runs = setting.files("tables")
        folder = Path(runs[0]).parent / "parquet"
        judged, mixed = f"{folder}.qrels.parquet", folder.with_name("mixed.parquet")
        if not mixed.exists():  # it is written last
            script = str(JOBS / "as_parquet.py")
            subprocess.run([sys.executable, script, qrels, str(folder), *runs], check=True)
        table = str(folder) if num_runs > 1 else str(folder / f"{Path(runs[0]).stem}.parquet")
        commands = [
            ours(qrels, runs[:num_runs], label="text"),
            ours(judged, [table], label=PARQUET),
            *by_hand(judged, table, num_runs),
            Command("polars frames", [sys.executable, str(JOBS / "with_frames.py"), judged, table, *MEASURES]),
            ours(judged, [table], label="DuckDB", engine="duckdb"),
            *(in_no_order(judged, str(mixed)) if num_runs == 1 else []),
            ours(judged, [table], label="Spark", engine="spark", once=True),
        ]
        timings = interleaved(commands, 1 if num_runs > 1 else min(3, setting.repeats))
        for timing in timings[1:]:
            timing.remark = timing.remark or remark_on_agreement(timing, timings[0], qrels, runs)
        num_rows = round(20e6 * setting.share) * num_runs
        return Outcome(
            f"Tables: 20 million rows × {num_runs} run{'s' if num_runs > 1 else ''}",
            timings,
            {"rows": num_rows},
        )

    return measure


def in_no_order(judged: str, mixed: str) -> list[Command]:
    """Return the commands for a run whose rows are mixed: as a frame in memory, and through DuckDB."""
    return [ours(judged, [mixed], label=f"{PARQUET}, rows mixed"), ours(judged, [mixed], label=MIXED, engine="duckdb")]


def by_hand(judged: str, table: str, num_runs: int) -> list[Command]:
    """Return commands that compute average precision of one run in the libraries themselves."""
    script = str(JOBS / "by_hand.py")
    ways = {"DuckDB": "duckdb", "polars": "polars"} if num_runs == 1 else {}
    return [
        Command(f"{name} by hand, AP only", [sys.executable, script, way, judged, table]) for name, way in ways.items()
    ]


def frames(setting: Setting) -> Outcome:
    """Measure frames of one run beside the same rows as text, within one process each time."""
    qrels, (run_file,) = setting.files("frames")
    command = job("frames", qrels, [run_file], label="frames", environment=ONE_THREAD)
    several = [json.loads(run(command)[1]) for _ in range(setting.repeats)]
    title = "7,000 queries × 100 documents"
    medians = {key: statistics.median(each[key] for each in several) for key in several[0]}
    return Outcome("Frames of 700,000 rows", figures={title: medians})


def ways(setting: Setting) -> Outcome:
    """Measure one run in every form in which it may come, and compare all values with those of text."""
    qrels, _ = setting.files("ways")
    folder = Path(qrels).parent
    if not (folder / "positions.parquet").exists():
        subprocess.run([sys.executable, str(JOBS / "make_ways.py"), str(folder)], check=True)
    outcome = Outcome("Every way in, the same values")
    environment = {"NUMBA_CACHE_DIR": str(setting.folder / "numba"), "TREC_EVAL": setting.trec_eval or ""}
    for way in (*WAYS, *ways_of_peers(with_trec_eval=setting.trec_eval is not None)):
        command = Command(way, [sys.executable, str(JOBS / "ways.py"), way, str(folder)], environment)
        repeats = setting.repeats if way in WAYS else min(3, setting.repeats)
        several = [json.loads(run(command)[1]) for _ in range(repeats)]
        outcome.figures[way] = {key: statistics.median(each[key] for each in several) for key in several[0]}
        outcome.figures[way]["away"] = max(each["away"] for each in several)
    return outcome


def _size(runs: list[str]) -> dict[str, Any]:
    return {"megabytes": _megabytes(runs)}


def _megabytes(paths: list[str]) -> float:
    return sum(Path(path).stat().st_size for path in paths) / 1e6


SUITES: dict[str, Callable[[Setting], Outcome]] = {
    "robust": against_peers(
        "robust", "Robust04-like: 20 runs × 249 queries × 1,000 documents, 1,250 judged, 70 relevant"
    ),
    "wide": against_peers("wide", "Wide: 1 run × 100,000 queries × 100 documents, about one relevant"),
    "recommender": against_peers(
        "recommender", "Recommender-like: 21 runs × 6,000 queries × 100 documents, 6 relevant"
    ),
    "deep": against_peers("deep", "Deep: 10 runs × 30 queries × 10,000 documents, gz"),
    "pairs": pairs,
    "comparisons": comparisons,
    "many runs": many_runs,
    "resamples": resamples,
    "scores": scores,
    "dicts": dicts,
    "tiny": start_up,
    "reading": reading,
    "units": units,
    "threads": threads,
    "memory": memory,
    "ways": ways,
    "frames": frames,
    "table": tables(1),
    "tables": tables(4),
}
BASELINES = {"tiny": NUMPY, "threads": ONE_RUN, "memory": "", "reading": "", "pairs": "", "comparisons": ""}
BASELINES |= {"table": "text", "tables": "text", "units": WITHOUT_UNITS}
BASELINES |= dict.fromkeys(("resamples", "scores", "ways", "frames", "dicts"), "")
BASELINES |= {"many runs": EVERY_PAIR}
"""The row that the others are compared with, if it is not ours."""


def baseline(name: str) -> str:
    """Return the label of the row that the others are compared with, or nothing."""
    return BASELINES.get(name, OURS)
