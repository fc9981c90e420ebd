"""The tables, for the terminal and for docs/benchmarks.md.

Belongs here: the layout. Not here: measuring (timing, suites), what is to be reached (targets).
"""

import os
import platform
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from contestants import PEERS, installed
from suites import Outcome, baseline
from targets import verdicts

HEADER = ("", "CPU s", "least to most", "wall s", "peak MB", "CPU ratio", "runs", "")
READING_HEADER = (
    "", "MB", "plain, in blocks", "plain, at once", "native", "MB/s", "native / plain", "judgments",
)  # fmt: skip
WORDS = {True: "yes", False: "not yet", None: "could not be told"}
Row = tuple[str, ...]


def rows(name: str, outcome: Outcome) -> Iterator[Row]:
    """Give the table of one benchmark, its header first."""
    if name == "reading":
        yield READING_HEADER
        yield from _reading_rows(outcome)
        return
    if name in ("pairs", "comparisons"):
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
    for name, seconds in outcome.figures.items():
        low, high = seconds["ratios"][0], seconds["ratios"][-1]
        yield (
            name,
            f"{seconds['megabytes']:.0f}",
            f"{seconds['in blocks']:.3f}",
            f"{seconds['at once']:.3f}",
            f"{seconds['native']:.3f}",
            f"{seconds['megabytes'] / seconds['native']:.0f}",
            f"{seconds['native'] / seconds['in blocks']:.1f} ({low:.1f} to {high:.1f})",
            f"{seconds['judgments']:.3f}",
        )


def as_text(name: str, outcome: Outcome) -> str:
    """Lay a table out for the terminal."""
    table = list(rows(name, outcome))
    widths = [max(len(row[c]) for row in table) for c in range(len(table[0]))]
    lines = [
        "  ".join(_aligned(cell, w, c) for c, (cell, w) in enumerate(zip(row, widths, strict=True))) for row in table
    ]
    return "\n".join([f"{name}: {outcome.title}", *(line.rstrip() for line in lines)])


def _aligned(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column == 0 else cell.rjust(width)


def as_markdown(name: str, outcome: Outcome) -> str:
    """Lay a table out for the page."""
    header, *body = rows(name, outcome)
    lines = [header, tuple("---" if c == 0 else "---:" for c in range(len(header))), *body]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines)


def machine() -> dict[str, str]:
    """Describe what was measured on, by kind and not by name."""
    packages = {"lexirecall": "lexirecall", "numpy": "numpy"} | PEERS | {"numba": "numba"}
    versions = ", ".join(f"{name} {installed(package)}" for name, package in packages.items() if installed(package))
    return {
        "Processor": f"{_processor()}, {os.cpu_count()} cores",
        "System": f"{platform.system()} {platform.release().split('-')[0]}, {platform.machine()}",
        "Versions": f"Python {platform.python_version()}, {versions}",
        "Load": f"{os.getloadavg()[2]:.1f} on average, this measurement included; wall times suffer from it",
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
    """Return the command, without the folder where the data lay: that is nobody's concern."""
    folder = {i + k for i, argument in enumerate(arguments) if argument == "--folder" for k in (0, 1)}
    command = " ".join(["python benchmarks/run.py", *(a for i, a in enumerate(arguments) if i not in folder)])
    return f"`{command}`" + (", after earlier calls with the same `--folder` for the other tables" if folder else "")


INTRODUCTION = """# Benchmarks

From text files to AP, nDCG, RR, R@1000, Rprec and TSE of every request and LexiRecall of all pairs of runs, means and
win rates printed; the peers compute the five that they have. Every figure is that of a whole command in a process of
its own, start-up included: the CPU time (user and system) of the process with its children, wall time, and the peak of
its resident memory. The commands take turns; shown are medians, and the least and the most CPU time; what takes more
than eight seconds is run three times only, and ranx with an empty cache once. The ratio is to the CPU time of
lexirecall in the same table. The lexirecall command asks numpy for one thread of linear algebra
(OPENBLAS_NUM_THREADS=1); the peers run as they come. Plain reading depends on how it is done: into the same megabyte
of memory again and again it is several times faster than into fresh memory. Collections are simulated from a seed. The
figures of one table belong together; those of another machine will differ.

`make bench` measures, `python benchmarks/run.py --write` writes this page.
"""

_OF_TABLES = (
    "From text files, from Parquet to polars frames, and from Parquet through the engines, to the same means; "
    "20,000 requests of 1,000 items, ten relevant. Spark runs once, on this machine; its peak is that of its largest "
    "process."
)
EXPLANATIONS = {
    "table": _OF_TABLES,
    "tables": f"{_OF_TABLES} Each once.",
    "tiny": "The ratio is to `python -c 'import numpy'`.",
    "threads": "The ratio is to one run. With two, CPU time doubles and wall time should not, if a second core is "
    "free; hashing in two threads shows how far it was.",
    "pairs": "CPU seconds within one process, from positions to the preference of every two systems on every request, "
    "and to their wins, ties and losses.",
    "comparisons": "CPU seconds within one process, from positions to corrected p-values, intervals, effect sizes and "
    "requests needed of 5,995 pairs; the first column includes the import of scipy.",
    "reading": "CPU seconds within one process, start-up not counted: the files read plainly, in blocks of 1 MB and at "
    "once, and from text to positions by the compiled reader; last the judgments. Plain "
    "reading of deep is unpacking.",
}


def billion_rows(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Say, from what each further row has cost, what a billion of them would cost."""
    if not {"table", "tables"} <= outcomes.keys():
        return
    few, many = outcomes["table"], outcomes["tables"]
    more_rows = many.figures["rows"] - few.figures["rows"]
    yield "\n## A billion rows, on paper\n"
    yield BILLION
    yield "|  | CPU µs of each further row | CPU hours of a billion | peak MB of 20 and of 80 million |"
    yield "| --- | ---: | ---: | ---: |"
    for timing in many.timings:
        first = few.timing(timing.label)
        if first and timing.usages:
            each = (timing.median("cpu") - first.median("cpu")) / more_rows
            peaks = f"{first.median('peak'):.0f}, {timing.median('peak'):.0f}"
            yield f"| {timing.label} | {1e6 * each:.2f} | {1e9 * each / 3600:.2f} | {peaks} |"


BILLION = """What was not measured but follows: from 20 to 80 million rows, each further row costs the CPU time below; a
billion cost that many hours, over as many cores as there are. Text and DuckDB keep their memory whatever the number
of rows (DuckDB spills what is beyond its limit, and needs about the size of the table on disk for that); frames must
fit into memory whole; Spark needs what one partition of a sort needs.
"""


def write(path: Path, outcomes: Mapping[str, Outcome], about: Mapping[str, str]) -> None:
    """Write the page."""
    parts = [INTRODUCTION, "\n".join(f"- {what}: {value}" for what, value in about.items()) + "\n"]
    parts += ["## What it should reach\n", "| | reached | |", "| --- | --- | --- |"]
    parts += [f"| {aim} | {found} | {WORDS[met]} |" for aim, found, met in verdicts(outcomes)]
    for name, outcome in outcomes.items():
        size = outcome.figures.get("megabytes")
        note = EXPLANATIONS.get(name, "")
        note = f"{size:.0f} MB of runs. {note}".strip() if isinstance(size, float) else note
        parts += [f"\n## {outcome.title}\n", f"{note}\n" if note else "", as_markdown(name, outcome)]
    parts += billion_rows(outcomes)
    text = "\n".join(part for part in parts if part)
    path.write_text(text + "\n")
