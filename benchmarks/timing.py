"""Timing of whole commands: CPU seconds, wall seconds and peak memory of a process and its children.

Belongs here: running commands one after the other and counting. Imports nothing large: the peak memory of a child
begins with that of the process that started it.
"""

import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

SLOW = 8
"""A command that takes more CPU seconds than this runs at most three times."""
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""What linear algebra reads."""


def with_threads(number: int) -> dict[str, str]:
    """Return an environment in which ranx, polars and DuckDB have so many threads, and linear algebra has one.

    DuckDB reads no environment: the jobs that use it set what BENCHMARK_THREADS says.
    """
    theirs = ("NUMBA_NUM_THREADS", "POLARS_MAX_THREADS", "BENCHMARK_THREADS")
    return dict.fromkeys(THREADS, "1") | dict.fromkeys(theirs, str(number))


CORES = os.cpu_count() or 1
ALL_CORES, ONE_THREAD = with_threads(CORES), with_threads(1)
"""What every command has; and what jobs have that measure work which is ours in one thread."""


class Usage(NamedTuple):
    """What one process has used."""

    cpu: float
    wall: float
    peak: float
    """Megabytes."""


@dataclass(frozen=True)
class Command:
    """A command, and what its environment has beside ALL_CORES; `once` is for one that would be different later."""

    label: str
    arguments: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    once: bool = False


@dataclass
class Timing:
    """All measurements of one command."""

    label: str
    usages: list[Usage]
    output: str = ""
    remark: str = ""

    def median(self, what: str) -> float:
        """Return the median of `cpu`, `wall` or `peak`."""
        return float(statistics.median(getattr(usage, what) for usage in self.usages))

    def range(self, what: str) -> tuple[float, float]:
        """Return the least and the most."""
        values = [getattr(usage, what) for usage in self.usages]
        return min(values), max(values)

    def to_dict(self) -> dict[str, Any]:
        """Return what can be kept as JSON; the output is not."""
        return asdict(self) | {"output": ""}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> "Timing":
        """Return what was kept."""
        return cls(**record | {"usages": [Usage(*usage) for usage in record["usages"]]})


class CommandError(Exception):
    """A command ended with an error."""


def environment_of(command: Command) -> dict[str, str]:
    """Return what a command sees: the threads are ours to say, not the caller's."""
    environment = os.environ | ALL_CORES | dict(command.environment)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # or every start would compile the package anew
    return environment


def run(command: Command) -> tuple[Usage, str]:
    """Run a command; return what it used and what it printed."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        child = subprocess.Popen(command.arguments, stdout=output, stderr=errors, env=environment_of(command))
        _, status, own = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        used = [own, *_left_behind()]
        if child.returncode:
            errors.seek(0)
            message = errors.read().decode(errors="replace").strip().splitlines()
            raise CommandError(
                f"{command.label} ended with exit code {child.returncode}: {message[-1] if message else ''}"
            )
        output.seek(0)
        cpu = sum(each.ru_utime + each.ru_stime for each in used)
        peak = max(each.ru_maxrss for each in used) * 1024 / 1e6
        return Usage(cpu, wall, peak), output.read().decode()


def adopt() -> None:
    """Become the parent of processes that a command leaves behind, such as Spark's Java process; only Linux can."""
    if sys.platform == "linux":
        set_child_subreaper = 36
        ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0)


def _left_behind() -> list[Any]:
    """Wait for such processes, and return what they have used."""
    used = []
    while True:
        try:
            used.append(os.wait4(-1, 0)[2])
        except ChildProcessError:
            return used


def interleaved(commands: Sequence[Command], repeats: int) -> list[Timing]:
    """Run commands in turn: what disturbs the machine then disturbs them all."""
    timings = [Timing(command.label, []) for command in commands]
    for repeat in range(repeats):
        for command, timing in zip(commands, timings, strict=True):
            if timing.remark or (repeat >= 1 and command.once) or (repeat >= 3 and timing.median("cpu") > SLOW):
                continue
            try:
                usage, timing.output = run(command)
                timing.usages.append(usage)
            except CommandError as error:
                timing.remark = str(error)
    return timings
