"""Formats: from files and dicts to positions.

Belongs here: `project`, which takes judgments and runs in any of their forms and gives Positions, and the choice of
the reader for each form. Imports everything above measures.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from lexirecall.errors import DataError, FormatError, UsageError, listed, shown
from lexirecall.formats.memory import (
    PROVIDERS_SHAPE,
    QRELS_SHAPE,
    RUN_SHAPE,
    is_json,
    judgments_from_mapping,
    load_json,
    pairs_from_mapping,
    rankings_from_mapping,
)
from lexirecall.formats.native import project_native, read_qrels_native
from lexirecall.formats.ranking import DuplicateItem, project_rankings
from lexirecall.formats.source import Source
from lexirecall.formats.trec import MOST_ITEMS, project_text, read_providers, read_qrels, read_sizes
from lexirecall.judgments import IntArray, Judgments
from lexirecall.manifest import Conventions
from lexirecall.positions import Positions, SystemPositions
from lexirecall.progress import Progress
from lexirecall.providers import Providers
from lexirecall.reader import reader_in_use
from lexirecall.text import to_bytes

Qrels = str | os.PathLike[str] | Mapping[Any, Mapping[Any, Any]] | Judgments
Run = str | os.PathLike[str] | Mapping[Any, Any]
Runs = Run | Sequence[Run] | Mapping[str, Run]
CorpusSize = int | str | os.PathLike[str] | Mapping[Any, int] | None
ProviderMap = str | os.PathLike[str] | Mapping[Any, Any] | None


class Reading(TypedDict, total=False):
    """How judgments and runs are read: the keywords of `project`, which every verb that takes files passes on."""

    corpus_size: CorpusSize
    ties: str
    score_dtype: str
    depth: int | None
    judged_only: bool
    duplicates: str
    imputation: str
    providers: ProviderMap
    show_progress: bool | None


def project(
    qrels: Qrels,
    runs: Runs,
    *,
    corpus_size: CorpusSize = None,
    ties: str = "trec",
    score_dtype: str = "float64",
    depth: int | None = None,
    judged_only: bool = False,
    duplicates: str = "error",
    imputation: str = "pessimistic",
    providers: ProviderMap = None,
    needs_judged: bool = False,
    show_progress: bool | None = False,
) -> Positions:
    """Find where the judged items stand in every run: the relevance projection, for all levels at once.

    `qrels` is a file or {request: {document: grade}}. `runs` is one run, several, or {name: run}; a run is a file,
    {request: {document: score}} or, without scores, {request: [document, …]}. `providers`, for the measures of their
    exposure, is a file of lines `document provider`, {document: provider} or {document: [provider, …]}. `needs_judged`
    carries the judged non-relevant items along, for the measures that ask for them.

    >>> positions = project({"q": {"a": 1, "b": 1}}, {"q": {"a": 0.7, "x": 0.9, "b": 0.1}})
    >>> positions.found.positions.tolist()
    [2, 3]
    """
    conventions = Conventions(ties, score_dtype, depth, judged_only, duplicates, imputation)
    judgments = load_judgments(qrels)
    sizes = _corpus_sizes(corpus_size, judgments)
    owners = load_providers(providers, judgments)
    named = name_runs(runs)
    with Progress("reading runs", sum(run.size for run in named), shown=show_progress) as progress:

        def read(run: "NamedRun") -> SystemPositions:
            return _read_run(run, judgments, conventions, progress.advance, needs_judged=needs_judged)

        systems = _side_by_side(read, named, progress)
    _check_common(judgments, systems)
    return Positions.stack(judgments, systems, conventions, sizes, owners)


@dataclass(frozen=True, slots=True)
class NamedRun:
    """A run and what it is called."""

    name: str
    run: Run

    @property
    def size(self) -> int:
        """Bytes to read, as far as known."""
        return 0 if isinstance(self.run, Mapping) else Source(self.run).size


def load_judgments(qrels: Qrels) -> Judgments:
    """Take judgments in any of their forms."""
    if isinstance(qrels, Judgments):
        return qrels
    if isinstance(qrels, Mapping):
        return judgments_from_mapping(qrels, "qrels")
    with _source(qrels, "qrels") as source:
        if not is_json(source):
            return read_qrels_native(source) if reader_in_use() == "native" else read_qrels(source)
        return judgments_from_mapping(load_json(source, QRELS_SHAPE), source.name)


def load_providers(providers: ProviderMap, judgments: Judgments) -> Providers | None:
    """Take a map of documents to their providers in any of its forms.

    >>> judgments = load_judgments({"q": {"a": 1, "b": 1}})
    >>> load_providers({"a": "Knopf", "b": ["Knopf", "Insel"]}, judgments).names
    ('Insel', 'Knopf')
    """
    if providers is None:
        return None
    if isinstance(providers, Mapping):
        return Providers.from_pairs(pairs_from_mapping(providers, "providers"), judgments)
    with _source(providers, "providers") as source:
        if is_json(source):
            pairs = pairs_from_mapping(load_json(source, PROVIDERS_SHAPE), source.name)
        else:
            pairs = read_providers(source)
        return Providers.from_pairs(pairs, judgments, name=source.name)


def name_runs(runs: Runs) -> list[NamedRun]:
    """Name every run, and refuse two of one name.

    >>> [run.name for run in name_runs(["runs/bm25.run.gz", "dense.run"])]
    ['bm25.run', 'dense.run']
    """
    if isinstance(runs, (str, os.PathLike)):
        runs = [runs]
    elif isinstance(runs, Mapping):
        runs = runs if _maps_names(runs) else {"run": runs}
    if isinstance(runs, Mapping):
        named = [NamedRun(str(name), run) for name, run in runs.items()]
    elif not isinstance(runs, Iterable) or hasattr(runs, "columns"):  # going through a data frame gives its columns
        raise UsageError(f"runs is a {type(runs).__name__}, but must be a run, several, or a mapping of names to runs")
    else:
        named = [NamedRun(_run_name(run, number), run) for number, run in enumerate(runs, 1)]
    if not named:
        raise UsageError("there are no runs to evaluate")
    names = [run.name for run in named]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        what = ", ".join(
            f"{name!r} ({' and '.join(shown(str(r.run)) for r in named if r.name == name)})" for name in twice
        )
        raise UsageError(f"two runs have the same name: {what}", remedy="rename one; a run is named by its file")
    return named


def _maps_names(runs: Mapping[Any, Any]) -> bool:
    """Tell {name: run} from a single run {request: {document: score}}: only there does a value hold rankings itself."""
    for value in runs.values():
        if isinstance(value, (str, os.PathLike)):
            return True
        if isinstance(value, Mapping):
            if not value:
                continue
            inner = next(iter(value.values()))
            return isinstance(inner, Mapping) or (hasattr(inner, "__len__") and not isinstance(inner, (str, bytes)))
        return False
    return False


def _run_name(run: Run, number: int) -> str:
    return f"run{number}" if isinstance(run, Mapping) else _source(run, "a run").run_name


def _source(path: Any, what: str, advance: Callable[[int], None] | None = None) -> Source:
    if not isinstance(path, (str, os.PathLike)):
        raise UsageError(f"{what} is a {type(path).__name__}, but must be a path or a mapping")
    return Source(path, advance)


def _read_run(
    named: NamedRun,
    judgments: Judgments,
    conventions: Conventions,
    advance: Callable[[int], None],
    *,
    needs_judged: bool,
) -> SystemPositions:
    content, name = named.run, named.name
    read_text = project_native if reader_in_use() == "native" else project_text
    if not isinstance(content, Mapping):
        with _source(content, "a run", advance) as source:
            if not is_json(source):
                return read_text(source, name, judgments, conventions, needs_judged=needs_judged)
            content, name = load_json(source, RUN_SHAPE), source.name
    try:
        rankings = rankings_from_mapping(content, name)
        return project_rankings(named.name, rankings, judgments, conventions, needs_judged=needs_judged)
    except DuplicateItem as error:
        problem = f"document {shown(error.item)} of request {shown(error.request)} is listed twice"
        raise FormatError(name, None, problem, remedy="remove one of them, or go on with duplicates='first'") from None


def _side_by_side(
    read: Callable[[NamedRun], SystemPositions], named: list[NamedRun], progress: Progress
) -> list[SystemPositions]:
    """Read several runs at once; the first error in the order given is the one raised."""
    if len(named) == 1:
        return [read(named[0])]
    with ThreadPoolExecutor(min(len(named), os.cpu_count() or 1)) as pool:
        futures = [pool.submit(read, run) for run in named]
        try:
            return [future.result() for future in futures]
        except BaseException:  # an error, or the user's interruption: let nobody read on for nothing
            progress.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _check_common(judgments: Judgments, systems: list[SystemPositions]) -> None:
    strangers = [system.name for system in systems if not system.answered.any()]
    if strangers:
        raise DataError(
            f"no request in common with the judgments: {listed(strangers)}",
            remedy=f"the judgments have requests such as {listed(map(repr, judgments.requests), most=3)}; "
            "are the ids written the same way, and is it the right file?",
        )


def _checked_size(size: Any) -> int:
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or not 0 < size < MOST_ITEMS:
        raise UsageError(f"the corpus size is {size!r}, but must be a whole number above 0")
    return int(size)


def _corpus_sizes(corpus_size: CorpusSize, judgments: Judgments) -> IntArray | None:
    """Return n of each request."""
    if corpus_size is None:
        return None
    if isinstance(corpus_size, (int, np.integer)):
        return np.full(len(judgments.requests), _checked_size(corpus_size), np.int64)
    if isinstance(corpus_size, Mapping):
        sizes, name = {to_bytes(request): _checked_size(size) for request, size in corpus_size.items()}, "corpus_size"
    else:
        with _source(corpus_size, "corpus_size") as source:
            sizes, name = read_sizes(source), source.name
    missing = [request for request in judgments.requests if to_bytes(request) not in sizes]
    if missing:
        problem = f"{name}: no corpus size is given for {listed(missing)}"
        raise DataError(problem, remedy="give one for each judged request")
    return np.array([sizes[to_bytes(request)] for request in judgments.requests], np.int64)
