"""The tables, for the terminal and for docs/benchmarks.md.

Belongs here: the layout. Not here: measuring (timing, experiments), the aims (targets).
"""

import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from textwrap import fill
from typing import Any

from contestants import PEERS, installed
from experiments import Outcome, baseline
from targets import verdicts
from timing import CORES

HEADER = ("", "CPU s", "least to most", "wall s", "peak MB", "CPU ratio", "runs", "")
READING = {
    "in blocks": "plain", "fresh memory": "into fresh memory", "newlines": "and memchr of line ends",
    "crc32": "and CRC-32", "blake2b": "and BLAKE2b", "native": "lexirecall", "judgments": "judgments",
}  # fmt: skip
WAYS_HEADER = ("", "CPU s", "wall s", "MB before", "peak MB", "values", "greatest difference from text")
WORDS = {True: "yes", False: "not yet", None: "cannot tell"}
Row = tuple[str, ...]
_WHOLE: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}


def rows(name: str, outcome: Outcome) -> Iterator[Row]:
    """Give the table of one benchmark, its header first."""
    if name in _OWN_ROWS:
        yield from _OWN_ROWS[name](outcome)
        return
    if name in ("pairs", "comparisons", "resamples", "scores", "frames", "dicts"):
        yield ("CPU s", *next(iter(outcome.figures.values())))
        yield from ((title, *(f"{each:.3f}" for each in found.values())) for title, found in outcome.figures.items())
        return
    yield HEADER
    base = outcome.timing(baseline(name))
    for timing in outcome.timings:
        if not timing.usages:
            yield (timing.label, *[""] * 6, timing.remark)
            continue
        low, high = timing.range("cpu")
        ratio = f"{timing.median('cpu') / base.median('cpu'):.1f}" if base else ""
        yield (
            timing.label,
            f"{timing.median('cpu'):.2f}",
            f"{low:.2f} to {high:.2f}",
            f"{timing.median('wall'):.2f}",
            f"{timing.median('peak'):.0f}",
            ratio,
            str(len(timing.usages)),
            timing.remark,
        )


def _reading_rows(outcome: Outcome) -> Iterator[Row]:
    yield ("", "MB", *READING.values(), "MB/s", "lexirecall / plain")
    for name, seconds in outcome.figures.items():
        low, high = seconds["ratios"][0], seconds["ratios"][-1]
        yield (
            name,
            f"{seconds['megabytes']:.0f}",
            *(f"{seconds[key]:.3f}" if key in seconds else "" for key in READING),
            f"{seconds['megabytes'] / seconds['native']:.0f}",
            f"{seconds['native'] / seconds['in blocks']:.1f} ({low:.1f} to {high:.1f})",
        )


def _way_rows(outcome: Outcome) -> Iterator[Row]:
    yield WAYS_HEADER
    for way, found in outcome.figures.items():
        seconds = (f"{found[key]:.2f}" for key in WAYS_HEADER[1:3])
        megabytes = (f"{found[key]:.0f}" for key in WAYS_HEADER[3:5])
        yield (way, *seconds, *megabytes, f"{found['values']:,.0f}", f"{found['away']:g}")


_OWN_ROWS: dict[str, Callable[[Outcome], Iterator[Row]]] = {"reading": _reading_rows, "ways": _way_rows}


def as_text(name: str, outcome: Outcome) -> str:
    """Lay out a table for the terminal."""
    table = list(rows(name, outcome))
    widths = [max(len(row[c]) for row in table) for c in range(len(table[0]))]
    lines = [
        "  ".join(_aligned(cell, w, c) for c, (cell, w) in enumerate(zip(row, widths, strict=True))) for row in table
    ]
    return "\n".join([f"{name}: {outcome.title}", *(line.rstrip() for line in lines)])


def _aligned(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column == 0 else cell.rjust(width)


def as_markdown(name: str, outcome: Outcome) -> str:
    """Lay out a table for the page."""
    header, *body = rows(name, outcome)
    lines = [header, tuple("---" if c == 0 else "---:" for c in range(len(header))), *body]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines)


def machine() -> dict[str, str]:
    """Describe the machine by its kind, not by its name."""
    names = ("lexirecall", "numpy", *PEERS, "numba", "polars", "pandas", "pyarrow", "duckdb", "pyspark")
    packages = {name: PEERS.get(name, name) for name in names}
    versions = ", ".join(f"{name} {installed(package)}" for name, package in packages.items() if installed(package))
    return {
        "Processor": f"{_processor()}, {CORES} cores",
        "System": f"{platform.system()} {platform.release().split('-')[0]}, {platform.machine()}",
        "Versions": f"Python {platform.python_version()}, {versions}",
        "Load": f"{os.getloadavg()[2]:.1f} on average, with this measurement; it makes wall times longer",
        "Date": datetime.now(UTC).date().isoformat(),
        "Command": _command(sys.argv[1:]),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def _command(arguments: list[str]) -> str:
    """Return the command without the names of folders: they do not matter to readers."""
    shown = [
        "DIR" if i and arguments[i - 1] in ("--folder", "--trec-eval") else argument
        for i, argument in enumerate(arguments)
    ]
    command = " ".join(["python benchmarks/run.py", *shown])
    earlier = ", after earlier calls with the same `--folder` for the other tables"
    return f"`{command}`" + (earlier if "--folder" in arguments else "")


INTRODUCTION = """# Benchmarks

Each command goes from text files to AP, nDCG, RR, R@1000, Rprec and TSE of every query and to LexiRecall of all pairs
of runs, and prints means and win rates; the peers compute the five measures that they have. Every figure is for a whole
command in its own process, with start-up: the CPU time (user and system) of the process and its children, the wall
time, and the peak of its resident memory. The commands take turns. The tables show medians, and the least and the most
CPU time. A command that takes more than eight seconds runs only three times, and ranx with an empty cache runs once.
The ratio is to the CPU time of lexirecall in the same table.

All have the same threads. A whole command may use every core: lexirecall and Spark do so by themselves, ranx, polars
and DuckDB by NUMBA_NUM_THREADS, POLARS_MAX_THREADS and `SET threads`, which the benchmark sets; pytrec_eval,
ir_measures and trec_eval have one thread. What is measured within one process has one thread for each, except where a
table says otherwise. Linear algebra has one thread everywhere (OPENBLAS_NUM_THREADS, OMP_NUM_THREADS and
MKL_NUM_THREADS are 1). trec_eval is compiled with `cc -O3` from a folder that `--trec-eval` names, and is called once
for each run; it does not read gz files.

Collections are simulated from a seed. Compare figures only within a table; another machine will give others.

`make bench` measures (`make bench TREC_EVAL=DIR` with trec_eval), and `python benchmarks/run.py --write` writes this
page.
"""

_OF_TABLES = (
    "From text files, from Parquet in batches, from Parquet to polars frames, and from Parquet through the engines, "
    "to the same means; by hand, without checks, to average precision alone: 20,000 queries with 1,000 documents each, "
    "ten of them relevant. Where rows are mixed, nothing groups them: they become a frame in memory, or DuckDB sorts "
    "them. Spark runs once, on this machine; its peak is that of "
    "its largest process."
)
EXPLANATIONS = {
    "table": _OF_TABLES,
    "tables": f"{_OF_TABLES} Each command runs once.",
    "many runs": "From simulated positions to corrected p-values, with the import and the simulation, which is also "
    "shown alone. The ratio is to the comparison of all pairs.",
    "tiny": "The ratio is to `python -c 'import numpy'`, in which linear algebra starts a thread for each core, as it "
    "does by itself. lexirecall asks for one: numpy with one thread and click are what is not its own in its start-up.",
    "threads": "The ratio is to one run. With two runs, CPU time doubles; so does wall time, if one run has all cores. "
    "A run of one query, with the same judgments, shows what the command does besides reading a run. Hashing in one "
    "thread for each core shows how many cores were free.",
    "ways": "2,000 queries × 1,000 documents, which are the whole corpus, so that a matrix of scores says the same as "
    "a run. Each way has a process of its own. CPU and wall time are those of `evaluate` from the form to AP, nDCG, "
    "RR, R@1000, Rprec and TSE of every query, without imports; the memory before is that of the process with the form "
    "in it, if it is in memory, and the peak is that of the process. Text, Parquet and DuckDB may use all cores. The "
    "last column is the greatest difference between a value of a query and the one that text gives. The peers compute "
    "the five measures that they have, with their own judgments made each time; trec_eval prints four decimals, and "
    "ranx breaks ties in another way.",
    "pairs": "CPU seconds within one process, from positions to the preference between each pair of runs on each "
    "query, and to their wins, ties and losses.",
    "comparisons": "CPU seconds within one process, from positions to corrected p-values, intervals and effect "
    "sizes for 5,995 pairs; the first column includes imports.",
    "resamples": "CPU seconds within one process that `bootstrap=10_000` adds to `evaluate` and to `rank`; and those "
    "of the max-T test of all pairs under one measure, with 10,000 sign patterns.",
    "scores": "CPU seconds within one process: `np.argsort(-scores, axis=1)` alone, then `project_scores` from scores "
    "and lists of indices to positions, then with scores rounded to one decimal, with float64, and in numpy where no "
    "kernel was compiled.",
    "frames": "CPU seconds within one process, from a run in memory, its rows together, to positions; and to average "
    "precision alone, in the libraries themselves and without checks.",
    "dicts": "CPU seconds within one process, from a run {query: {document: score}} to AP, nDCG, RR, R@1000 and Rprec "
    "of every query, with judgments that each has loaded before; without start-up, and with one thread for all. Our "
    "adapters give what the packages of their names give. Ranx makes its own form of the run first.",
    "reading": "CPU seconds within one process, without start-up. Plain reading is in blocks of 1 MB, into the same "
    "memory again and again; into fresh memory, the system clears each page first. Then what was read is looked at: "
    "for line ends, with memchr in C, and at every byte, by the CRC-32 of zlib and by BLAKE2b. Each of these includes "
    "plain reading. Then from text to positions by the compiled reader, which shares large files among all cores, and "
    "the judgments alone. For deep, plain reading is unpacking. No reader of lines can do with less than plain reading "
    "and the search for line ends.",
}


def billion_rows(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Say what a billion rows would cost, from the cost of each further row."""
    if not {"table", "tables"} <= outcomes.keys():
        return
    few, many = outcomes["table"], outcomes["tables"]
    more_rows = many.figures["rows"] - few.figures["rows"]
    yield "\n## A billion rows, on paper\n"
    yield BILLION
    yield "|  | CPU µs for each further row | CPU hours for a billion | peak MB for 20 and for 80 million |"
    yield "| --- | ---: | ---: | ---: |"
    for timing in many.timings:
        first = few.timing(timing.label)
        if first and timing.usages:
            each = (timing.median("cpu") - first.median("cpu")) / more_rows
            peaks = f"{first.median('peak'):.0f}, {timing.median('peak'):.0f}"
            yield f"| {timing.label} | {1e6 * each:.2f} | {1e9 * each / 3600:.2f} | {peaks} |"


BILLION = """\
This was not measured, but follows: from 20 to 80 million rows, each further row costs the CPU time below. A billion
rows cost that many CPU hours, shared by all cores. Text, Parquet and DuckDB need the same memory for any number of
rows. (DuckDB spills what is beyond its limit; on disk it needs about the size of the table for that.) Frames must fit
into memory as a whole. Spark needs memory for one partition of a sort.
"""


def write(path: Path, outcomes: Mapping[str, Outcome], about: Mapping[str, str]) -> None:
    """Write the page."""
    entries = [fill(f"- {what}: {value}", 120, subsequent_indent="  ", **_WHOLE) for what, value in about.items()]
    parts = [INTRODUCTION, "\n".join(entries) + "\n"]
    parts += ["## Aims\n", "| aim | result | reached |", "| --- | --- | --- |"]
    parts += [f"| {aim} | {found} | {WORDS[met]} |" for aim, found, met in verdicts(outcomes)]
    for name, outcome in outcomes.items():
        size = outcome.figures.get("megabytes")
        note = EXPLANATIONS.get(name, "")
        note = f"{size:.0f} MB of runs. {note}".strip() if isinstance(size, float) else note
        parts += [
            f"\n## {outcome.title}\n",
            f"{fill(note, 120, **_WHOLE)}\n" if note else "",
            as_markdown(name, outcome),
        ]
    parts += billion_rows(outcomes)
    text = "\n".join(part for part in parts if part)
    path.write_text(text + "\n")
