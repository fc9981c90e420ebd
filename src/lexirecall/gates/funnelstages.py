"""Stages: what a funnel is asked about, and the positions of the relevant documents in the list of each stage.

Belongs here: how stages are written, and reading them. Not here: what becomes of documents (funnelfates).

A stage is a run, or several searches in the order of the calls, `a.run+b.run`: their union, in the order of first
appearance, call by call. `STAGE@100` hands the first 100 documents of its list on to the next stage. A file whose name
has these signs is that file.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from lexirecall.errors import UsageError, is_several, listed
from lexirecall.fields import among
from lexirecall.formats import Qrels, Run, load_judgments, project
from lexirecall.formats.listing import check_listable, load_lists
from lexirecall.formats.naming import check_names
from lexirecall.formats.source import Source
from lexirecall.formats.wholelists import JoinedRun
from lexirecall.judgments import IntArray
from lexirecall.manifest import MOST_DOCUMENTS, Conventions, Sources
from lexirecall.paths import exists
from lexirecall.positions import Positions
from lexirecall.text import whole_number_of
from lexirecall.verbs.explain import check_single_order
from lexirecall.verbs.subject import positions_of

StageGiven = Run | Sequence[Run]
StagesGiven = StageGiven | Sequence[StageGiven] | Mapping[str, StageGiven]


class StageSpec(NamedTuple):
    """A stage as it is asked for."""

    name: str
    runs: tuple[Run, ...]
    """Several if it is several searches, in the order of the calls."""
    depth: int | None = None
    """How many documents are handed on; all of them if None."""


class StageLists(NamedTuple):
    """The lists of the stages, as far as they matter."""

    names: tuple[str, ...]
    positions: Positions
    runs: IntArray
    """Which run of the positions each stage is, [S]."""
    depths: IntArray
    """How many documents each stage hands on, [S]."""
    num_repeats: IntArray
    """How many documents of each query the searches of a stage returned before, [S, Q]."""


def asked_stages(stages: StagesGiven, stdin_name: str | None = None) -> list[StageSpec]:
    """Return the stages, with their names and depths.

    >>> for stage in asked_stages(["runs/bm25.run@1000", "a.run+b.run@20"]):
    ...     print(stage)
    StageSpec(name='bm25.run@1000', runs=('runs/bm25.run',), depth=1000)
    StageSpec(name='a.run+b.run@20', runs=('a.run', 'b.run'), depth=20)
    """
    asked = list(_asked(stages, stdin_name))
    if not asked:
        raise UsageError("no stages are given", remedy="give a run for each stage, the first stage first")
    runs = [run for stage in asked for run in stage.runs]
    if stdin_name is not None and "-" not in [run for run in runs if isinstance(run, str)]:
        raise UsageError(f"stdin is called {stdin_name!r}, but no run is read from it", remedy="give - as a stage")
    check_names((stage.name, _shown(stage)) for stage in asked)
    return asked


def _asked(stages: StagesGiven, stdin_name: str | None) -> Iterator[StageSpec]:
    if isinstance(stages, (str, os.PathLike)):
        stages = [stages]
    if isinstance(stages, Mapping):
        for name, stage in stages.items():
            _, depth = _with_depth(str(name))
            runs, own_depth = _runs_of(stage)
            if depth is not None and own_depth is not None and depth != own_depth:
                problem = f"stage {name!r} hands on {depth:,} documents by its name and {own_depth:,} by its run"
                raise UsageError(problem, remedy="give one depth")
            suffix = "" if own_depth is None or depth is not None else f"@{own_depth}"
            yield StageSpec(f"{name}{suffix}", runs, own_depth if depth is None else depth)
        return
    if not is_several(stages) or hasattr(stages, "columns"):
        raise UsageError(f"stages is of type {type(stages).__name__}, but must be a list of runs or {{name: run}}")
    for number, stage in enumerate(stages, 1):
        runs, depth = _runs_of(stage)
        suffix = "" if depth is None else f"@{depth}"
        yield StageSpec(_name_of(runs, number, stdin_name) + suffix, runs, depth)


def _name_of(runs: tuple[Run, ...], number: int, stdin_name: str | None) -> str:
    """Name files by their file names, and others by their place."""
    files = [os.fspath(run) for run in runs if isinstance(run, (str, os.PathLike))]
    if len(files) < len(runs):
        return f"stage{number}"
    return "+".join(stdin_name if file == "-" and stdin_name is not None else Source(file).run_name for file in files)


def _runs_of(stage: Any) -> tuple[tuple[Run, ...], int | None]:
    if isinstance(stage, (str, os.PathLike)):
        text, depth = _with_depth(os.fspath(stage))
        return tuple(_files_of(text)), depth
    if isinstance(stage, (list, tuple)):
        if not stage:
            raise UsageError("a stage has no runs", remedy="give its searches in the order of the calls")
        return tuple(stage), None
    return (stage,), None


def _with_depth(text: str) -> tuple[str, int | None]:
    """Split what comes before the last @ from the depth behind it; a file of that name has no depth."""
    head, sign, number = text.rpartition("@")
    if not sign or not head or exists(text):
        return text, None
    try:
        depth = whole_number_of(number)
    except ValueError:
        return text, None
    if not 1 <= depth <= MOST_DOCUMENTS:
        problem = f"stage {text!r}: the depth is {depth}, but must be a whole number from 1 to {MOST_DOCUMENTS}"
        raise UsageError(problem, remedy="write how many documents are handed on, as in bm25.run@100")
    return head, depth


def _files_of(text: str) -> Iterator[str]:
    """Give the files that are joined by +; a file whose own name has that sign is one, the longest such name first."""
    parts = text.split("+")
    start = 0
    while start < len(parts):
        ends = (end for end in range(len(parts), start, -1) if exists("+".join(parts[start:end])))
        end = next(ends, start + 1)
        if not (file := "+".join(parts[start:end])):
            raise UsageError(f"stage {text!r} has no run before or behind a +", remedy="write it as in a.run+b.run")
        if end < len(parts) and _with_depth(file)[1] is not None:
            remedy = "the depth of a stage is at its end, and of all its searches: a.run+b.run@100"
            raise UsageError(f"stage {text!r}: {file!r} has a depth of its own", remedy=remedy)
        yield file
        start = end


def _shown(stage: StageSpec) -> str:
    files = [os.fspath(run) for run in stage.runs if isinstance(run, (str, os.PathLike))]
    return "+".join(files) or "in memory"


def read_stages(qrels: Qrels | Positions, stages: StagesGiven | None, options: Mapping[str, Any]) -> StageLists:
    """Read judgments and stages; or take positions that were made before, of which stages are runs by name."""
    check_single_order(among(Conventions, options))
    if isinstance(qrels, Positions):
        positions = positions_of(qrels, None, [], options)
        check_single_order(asdict(positions.conventions))
        return _chosen(positions, stages)
    if stages is None:
        raise UsageError("no stages are given", remedy="give judgments and stages, or positions from project")
    asked = asked_stages(stages, options.get("stdin_name"))
    options = {name: value for name, value in options.items() if name != "stdin_name"}
    if any(len(stage.runs) > 1 for stage in asked):
        conventions, sources = Conventions(**among(Conventions, options)), Sources(**among(Sources, options))
        check_listable(conventions, sources, "to join the searches of a stage")
    if options.get("units") is None:
        qrels = load_judgments(qrels, options.get("columns"))
    runs = {stage.name: _run_of(stage, qrels, options) for stage in asked}
    positions = project(qrels, runs, **options)
    if positions.runs != tuple(runs):  # a mapping of queries to scores by document is one run to `project`
        raise UsageError("the stages hold no runs", remedy="give {name: run}, or a list of runs")
    repeats = [run.num_repeats if isinstance(run, JoinedRun) else 0 * row
               for run, row in zip(runs.values(), positions.num_retrieved, strict=True)]  # fmt: skip
    return StageLists(positions.runs, positions, np.arange(len(asked)), _depths(asked), np.array(repeats))


def _run_of(stage: StageSpec, qrels: Qrels, options: Mapping[str, Any]) -> Any:
    """Return the run of a stage, joined if there are several."""
    if len(stage.runs) == 1:
        return stage.runs[0]
    named = {f"{_name_of((run,), number, None)} (call {number})": run for number, run in enumerate(stage.runs, 1)}
    return JoinedRun(stage.name, load_lists(qrels, named, **options))


def _depths(asked: Iterable[StageSpec]) -> IntArray:
    return np.array([MOST_DOCUMENTS if stage.depth is None else stage.depth for stage in asked], np.int64)


def _chosen(positions: Positions, stages: StagesGiven | None) -> StageLists:
    """Return the runs of positions as stages: all of them, or those that are named."""
    names: Any = positions.runs if stages is None else [stages] if isinstance(stages, str) else stages
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        problem = "stages hold more than names, but positions are given"
        raise UsageError(problem, remedy="name the runs of the positions, as in ['bm25@100', 'reranked']")
    asked = []
    for name in names:
        run, depth = (name, None) if name in positions.runs else _with_depth(name)
        asked.append(StageSpec(name, (run,), depth))
    if unknown := [stage.runs[0] for stage in asked if stage.runs[0] not in positions.runs]:
        problem = f"the positions have no run {listed(map(repr, unknown))}"
        raise UsageError(problem, remedy=f"the runs are {listed(positions.runs, 9)}")
    check_names((stage.name, "positions") for stage in asked)
    runs = np.array([positions.runs.index(str(stage.runs[0])) for stage in asked], np.int64)
    repeats = np.zeros((len(asked), len(positions.queries)), np.int64)
    return StageLists(tuple(stage.name for stage in asked), positions, runs, _depths(asked), repeats)
