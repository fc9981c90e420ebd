"""Naming: which runs there are, and what each is called.

Belongs here: one run or several, patterns of files, and names. Not here: what a run is (kinds), reading it.

A table, in memory or in a file, may hold several runs and name them itself; that is known once it is read.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any, NamedTuple, TypeGuard

from lexirecall.errors import UsageError, shown
from lexirecall.formats.columns import Given
from lexirecall.formats.frames import Frame
from lexirecall.formats.kinds import Input, is_rows, kind_of, may_hold_table
from lexirecall.formats.source import Source
from lexirecall.paths import matching

Run = str | os.PathLike[str] | Mapping[Any, Any] | Frame
Runs = Run | Sequence[Run] | Mapping[str, Run]
_RENAME = "rename one; a run is named by its file, or in a positions file by lexirecall project --name"


class NamedRun(NamedTuple):
    """A run and what it is called; or a table of runs, and the name to use if it names none itself."""

    name: str
    run: Run
    """A file is a source, so that whoever looks at it to tell what it is does so for all."""
    is_given: bool = False
    """Whether the name was given with the run, and so takes precedence over the run's own."""

    @property
    def size(self) -> int:
        """Bytes to read, as far as known."""
        return self.run.size if isinstance(self.run, Source) else 0

    @property
    def label(self) -> str:
        """What messages call it."""
        if isinstance(self.run, Source):
            return self.run.path
        return f"run {self.name!r}" if self.is_given else self.name


def has_runs(runs: Runs | None) -> TypeGuard[Runs]:
    """Tell whether any runs are given; the files of judgments may bring their own.

    >>> has_runs([]), has_runs(None), has_runs("bm25.run")
    (False, False, True)
    """
    return runs is not None and not (isinstance(runs, (list, tuple)) and not runs)


def name_runs(runs: Runs, columns: Given = None, stdin_name: str | None = None) -> list[NamedRun]:
    """Name every run, and refuse two with the same name; patterns stand for the files that match.

    A table, which may be known as one by `columns` only, names its runs itself.

    >>> [run.name for run in name_runs(["runs/bm25.run.gz", "dense.run"])]
    ['bm25.run', 'dense.run']
    >>> [run.name for run in name_runs(["-", "dense.run"], stdin_name="bm25")]
    ['bm25', 'dense.run']
    """
    named = _named(runs)
    if stdin_name is not None:
        named = _with_stdin_named(named, stdin_name)
    if not named:
        raise UsageError("no runs to evaluate")
    times = Counter(run.name for run in named)
    known = [run for run in named if times[run.name] > 1 and not (run.is_given or may_hold_table(run.run, columns))]
    check_names([(run.name, _shown(run.run)) for run in known])
    return named


def _with_stdin_named(named: list[NamedRun], name: str) -> list[NamedRun]:
    are_stdin = [isinstance(run.run, Source) and run.run.path == "-" for run in named]
    if not any(are_stdin):
        raise UsageError(f"stdin is called {name!r}, but no run is read from it", remedy="give - as one of the runs")
    return [run._replace(name=name) if is_stdin else run for run, is_stdin in zip(named, are_stdin, strict=True)]


def check_names(named: Iterable[tuple[str, str]]) -> None:
    """Raise if two of these have the same name; each comes with its source."""
    sources: dict[str, list[str]] = {}
    for name, source in named:
        sources.setdefault(name, []).append(source)
    if twice := sorted(name for name, those in sources.items() if len(those) > 1):
        what = ", ".join(f"{name!r} ({' and '.join(sources[name])})" for name in twice)
        raise UsageError(f"two runs have the same name: {what}", remedy=_RENAME)


def count_runs(runs: Runs, most: int | None = None, columns: Given = None) -> int | None:
    """Return how many runs these are; None if only reading tells, because a table may hold several.

    From two to `most`, no file is opened, and each table counts as one: what matters is that there are enough. Whether
    tables hold too many shows once they are read.

    >>> count_runs(["bm25.run", "dense.run"]), count_runs({"q": ["a"]})
    (2, 1)
    """
    if not isinstance(runs, (Sized, os.PathLike)) and not _is_in_memory(runs):  # used up by counting
        return None
    named = name_runs(runs, columns)
    is_enough = 2 <= len(named) <= (most or len(named))
    return len(named) if is_enough or not any(may_hold_table(run.run, columns) for run in named) else None


def single(path: str | os.PathLike[str], what: str) -> str:
    """Return the one file that a path or a pattern stands for."""
    files = matching(path)
    if len(files) > 1:
        problem = f"{what}: {os.fspath(path)!r} matches {len(files):,} files, but must match one"
        raise UsageError(problem, remedy="name one file, or a folder of Parquet files that are one table")
    return files[0]


def _named(runs: Runs) -> list[NamedRun]:
    if isinstance(runs, (str, os.PathLike)):
        return _numbered([runs])
    if isinstance(runs, Mapping):
        if not _maps_names(runs):
            return [NamedRun("run", runs)]
        return [NamedRun(str(name), _one(run, str(name)), is_given=True) for name, run in runs.items()]
    if _is_in_memory(runs):
        return [NamedRun("run", runs)]
    # going through a data frame gives its columns
    if not isinstance(runs, Iterable) or hasattr(runs, "columns") or getattr(runs, "ndim", 1) == 0:
        raise UsageError(f"runs is of type {type(runs).__name__}, but must be a run, several runs or {{name: run}}")
    return _numbered(runs)


def _numbered(runs: Iterable[Run]) -> list[NamedRun]:
    """Name files by their file names, and others by their place."""
    named = []
    for number, run in enumerate(runs, 1):
        if isinstance(run, (str, os.PathLike)):
            named += [NamedRun(source.run_name, source) for source in map(Source, matching(run))]
        elif is_rows(run):
            named.append(NamedRun(run.run_name, run))
        elif _is_in_memory(run):
            named.append(NamedRun(f"run{number}", run))
        else:
            raise UsageError(f"a run is of type {type(run).__name__}, but must be a path, a mapping or a data frame")
    return named


def _is_in_memory(run: object) -> TypeGuard[Mapping[Any, Any] | Frame]:
    """Tell whether something is a run by itself, and not the path of one."""
    return kind_of(Input(run, "run")) is not None


def _one(run: Run, name: str) -> Run:
    return Source(single(run, f"run {name!r}")) if isinstance(run, (str, os.PathLike)) else run


def _shown(run: Run) -> str:
    return shown(run.path) if isinstance(run, Source) else f"a {type(run).__name__}"


def _maps_names(runs: Mapping[Any, Any]) -> bool:
    """Tell {name: run} from a single run {query: {document: score}}: only there does a value hold rankings itself."""
    for value in runs.values():
        if not isinstance(value, Mapping):
            return isinstance(value, (str, os.PathLike)) or _is_in_memory(value)
        if value:
            inner = next(iter(value.values()))
            return isinstance(inner, Mapping) or (hasattr(inner, "__len__") and not isinstance(inner, (str, bytes)))
    return False
