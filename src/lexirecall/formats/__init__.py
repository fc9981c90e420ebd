"""Formats: from files, frames and dicts to positions.

Belongs here: `project`, which takes judgments and runs in any of their forms and gives Positions. Not here: what these
forms are (kinds).
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from lexirecall.errors import DataError, FormatError, UsageError, listed, warn
from lexirecall.fields import taken, takes
from lexirecall.formats.columns import Given, check_given
from lexirecall.formats.forms import EngineForm, Form, read_form
from lexirecall.formats.frames import Frame, is_frame, is_of_spark, library_of, names_in
from lexirecall.formats.kinds import Input, is_path, is_rows, no_input, read_input
from lexirecall.formats.naming import NamedRun, Run, Runs, check_names, count_runs, has_runs, name_runs, single
from lexirecall.formats.parts import num_cores
from lexirecall.formats.sides import may_hold_both, sides_of
from lexirecall.formats.sizes import agreed_sizes, checked_size, with_own_sizes
from lexirecall.formats.source import FileType, Source
from lexirecall.judgments import IntArray, Judgments
from lexirecall.manifest import READING, Conventions, Sources
from lexirecall.positions import Positions
from lexirecall.progress import Progress
from lexirecall.providers import Providers
from lexirecall.text import to_bytes
from lexirecall.tracks import RunPositions

if TYPE_CHECKING:
    from lexirecall.groups import Groups
    from lexirecall.units import Units
    from lexirecall.units.judged import Subtopics
    from lexirecall.units.unitmap import UnitMap

__all__ = [
    "CorpusSize",
    "Frame",
    "Given",
    "GroupMap",
    "ProviderMap",
    "Qrels",
    "Run",
    "Runs",
    "UnitsGiven",
    "check_common",
    "check_engine",
    "corpus_sizes",
    "count_runs",
    "has_runs",
    "load_group_map",
    "load_groups",
    "load_judgments",
    "load_pairs",
    "load_positions",
    "load_subtopics",
    "load_unit_map",
    "load_units",
    "may_hold_both",
    "memory_of_positions",
    "nothing_in_common",
    "opened_run",
    "origin_of",
    "project",
    "sizes_of_queries",
]

Qrels = str | os.PathLike[str] | Mapping[Any, Mapping[Any, Any]] | Judgments | Frame
CorpusSize = int | str | os.PathLike[str] | Mapping[Any, int] | None
GroupMap = str | os.PathLike[str] | Mapping[Any, Any] | Frame
ProviderMap = str | os.PathLike[str] | Mapping[Any, Any] | Frame | None
UnitsGiven = str | os.PathLike[str] | Mapping[Any, Any] | Frame


@takes(*READING)
def project(qrels: Qrels, runs: Runs | None = None, *, needs_judged: bool = False, **options: Any) -> Positions:
    """Find the positions of the judged documents in every run: the relevance projection, for all levels at once.

    `qrels` is a file, {query: {document: grade}}, a data frame or `ir_datasets:NAME`. `runs` is one run, several, or
    {name: run}. A run is a file, {query: {document: score}}, {query: [document, …]} without scores, or a data frame.
    Frames are those of pandas, polars, pyarrow, duckdb and others. Parquet and CSV files are read like frames. Rows of
    JSON may hold judgments and a run, and then `runs` may be left out; beside other such rows they are the first run. A
    pattern such as `runs/*.run` stands for each file that matches. A table may hold many runs. Its columns are found by
    their usual names, or `columns` maps roles to names, as in {"query": "user", "qrels.grade": "stars"}. `providers`,
    for the measures of their exposure, is a file of lines `document provider`, {document: provider}, {document:
    [provider, …]} or a table. `units` says what must be found, if not the documents themselves: a file of lines
    `document unit`, {document: unit}, {query: {document: unit}}, a table, or "@subtopics". With `engine="duckdb"`,
    DuckDB sorts the rows of runs in limited memory: Parquet and CSV, frames and relations. With `engine="spark"`, Spark
    does, on this machine or a cluster; a frame of Spark needs no engine. `engine_options` are the settings of DuckDB
    (memory_limit, by default "600MB", threads, temp_directory, connection) or of Spark (master, and its own names).
    `needs_judged` keeps the judged non-relevant documents too, for the measures that need them.

    >>> positions = project({"q": {"a": 1, "b": 1}}, {"q": {"a": 0.7, "x": 0.9, "b": 0.1}})
    >>> positions.found.positions.tolist()
    [2, 3]
    """
    conventions, sources = taken(Conventions, options), taken(Sources, options)
    conventions.warn_of_optimism()
    conventions.check_units(sources.units, sources.providers)
    columns = sources.columns
    check_given(columns)
    if sources.engine is not None:  # which reads no positions file, so that nobody else can bring the size
        conventions.require_corpus_size(sources.corpus_size)
        check_engine(conventions, sources)
    named = name_runs(runs, columns, sources.stdin_name) if has_runs(runs) else []
    qrels, sources = at_hand(qrels, sources), _at_hand_beside(sources)
    with sides_of(qrels, named, columns, sources.stdin_name) as (judged, named):
        judgments, units, unit_map = load_units(judged, conventions, sources)
    sizes = sizes_of_queries(sources.corpus_size, judgments)
    owners = _load_providers(sources.providers, judgments, columns)
    counted = unit_map if conventions.count == "units" else None
    projected = _read_runs(conventions, sources, judgments, named, counted, needs_judged=needs_judged)
    check_common(judgments, projected)
    sizes = agreed_sizes(sizes, projected, judgments.queries)
    conventions.require_corpus_size(sizes)  # a positions file may have brought it
    positions = Positions.stack(judgments, projected, conventions, sizes, owners, units)
    return replace(positions, frame_library=origin_of(qrels, named))


def load_judgments(qrels: Qrels, columns: Given = None) -> Judgments:
    """Take judgments in any of their forms: a file, {query: {document: grade}}, a data frame or `ir_datasets:NAME`.

    The result stands wherever judgments may. In a loop over runs, load them once: each call is then spared reading
    them, and what it counts in them is kept for the next.

    >>> judgments = load_judgments({"q": {"a": 1, "b": 0}})
    >>> [project(judgments, run).found.positions.tolist() for run in ({"q": ["a"]}, {"q": {"b": 0.9, "a": 0.4}})]
    [[1], [2]]
    >>> import polars
    >>> load_judgments(polars.DataFrame({"user_id": [7, 7], "document_id": [1, 2], "rating": [5, 3]})).grades.tolist()
    [5.0, 3.0]
    """
    with _read(Input(qrels, "qrels", columns)) as (judgments, _):
        return cast("Judgments", judgments)


def load_positions(path: str | os.PathLike[str]) -> Positions:
    """Read the positions file that `Positions.save` or `lexirecall project` wrote.

    Every verb takes the positions in the place of judgments and runs. The file itself stands wherever a run may stand.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     project({"q": {"a": 1}}, {"q": ["x", "a"]}).save(f"{folder}/model.parquet")
    ...     load_positions(f"{folder}/model.parquet")
    <Positions: 1 run × 1 query, 1 document of a positive grade found>
    """
    with _source(path, "positions", None) as source:
        if source.type is not FileType.PARQUET:
            raise FormatError(source.name, None, "is not a positions file", remedy="lexirecall project writes one")
        from lexirecall.formats.positionsrun import read_positions

        return read_positions(source)


def load_units(
    qrels: Qrels, conventions: Conventions, sources: Sources
) -> "tuple[Judgments, Units | None, UnitMap | None]":
    """Take judgments with the units that they are about; the judgments that come out are of documents.

    >>> sources = Sources(units={"c1": "d", "c2": "d"})
    >>> judgments, units, _ = load_units({"q": {"d": 1}}, Conventions(), sources)
    >>> list(judgments.documents), list(units.judgments.documents)
    ([b'c1', b'c2'], [b'd'])
    """
    if sources.units is None:
        return load_judgments(qrels, sources.columns), None, None
    from lexirecall.units.judged import SUBTOPICS, units_of_judgments, units_of_subtopics

    if isinstance(sources.units, str) and sources.units == SUBTOPICS:
        return units_of_subtopics(*load_subtopics(qrels, conventions, sources.columns), conventions)
    judgments, unit_map = load_judgments(qrels, sources.columns), load_unit_map(sources.units, sources.columns)
    return *units_of_judgments(judgments, unit_map, conventions), unit_map


def load_subtopics(qrels: Qrels, conventions: Conventions, columns: Given = None) -> "tuple[Subtopics, str]":
    """Take judgments of pairs of unit and document in any of their forms, and what messages call them."""
    if conventions.judged == "units":
        raise UsageError("judged is 'units', but subtopics are judged with documents", remedy="leave it out")
    with _read(Input(qrels, "subtopics", columns)) as (subtopics, name):
        return subtopics, name


def load_unit_map(units: UnitsGiven, columns: Given = None) -> "UnitMap":
    """Take a map of units in any of its forms.

    >>> load_unit_map({"c1": "d", "c2": ["d", "e"]}).units_of(b"q", b"c2")
    [b'd', b'e']
    """
    with _read(Input(units, "units", columns)) as (unit_map, _):
        return cast("UnitMap", unit_map)


def _load_providers(providers: ProviderMap, judgments: Judgments, columns: Given = None) -> Providers | None:
    """Take a map of documents to their providers in any of its forms.

    >>> judgments = load_judgments({"q": {"a": 1, "b": 1}})
    >>> _load_providers({"a": "Knopf", "b": ["Knopf", "Insel"]}, judgments).names
    ('Insel', 'Knopf')
    """
    if providers is None:
        return None
    with _read(Input(providers, "providers", columns)) as (pairs, name):
        return Providers.from_pairs(pairs, judgments, name=name)  # one by one: a map may be of all documents there are


def load_pairs(providers: ProviderMap, columns: Given = None) -> tuple[list[tuple[bytes, bytes]], str]:
    """Take pairs of document and provider in any of their forms, and what messages call them.

    >>> load_pairs({"a": "Knopf", "b": ["Knopf", "Insel"]})
    ([(b'a', b'Knopf'), (b'b', b'Knopf'), (b'b', b'Insel')], 'providers')
    """
    with _read(Input(providers, "providers", columns)) as (pairs, name):
        return list(pairs), name


def load_groups(by: GroupMap, queries: Sequence[str], columns: Given = None, *, qrels: Any = None) -> "Groups":
    """Take the groups of judged queries in any of their forms, or from the column of this name in frames of judgments.

    >>> load_groups({"q1": "easy", "q2": "hard"}, ["q1", "q2"]).names
    ('easy', 'hard')
    """
    from lexirecall.groups import Groups

    group_of, name = load_group_map(by, columns, qrels=qrels)
    return Groups.from_map(group_of, queries, name=name)


def load_group_map(by: GroupMap, columns: Given = None, *, qrels: Any = None) -> tuple[dict[bytes, bytes], str]:
    """Take the group of each query in any of its forms, and what messages call them.

    >>> load_group_map({"q1": "easy", 7: "hard"})
    ({b'q1': b'easy', b'7': b'hard'}, 'groups')
    """
    entry = Input(by, "groups", columns)
    # a column comes before a file of the same name; without either, the message names the columns
    if isinstance(by, str) and is_frame(qrels) and (by in (names := names_in(qrels)) or not os.path.exists(by)):  # noqa: PTH110
        if by not in names:
            problem = f"by is {by!r}, but the judgments have no such column, and there is no such file"
            raise UsageError(problem, remedy=f"the columns are {listed(names, most=12)}")
        group_columns = {role.replace("qrels.", "groups."): name for role, name in (columns or {}).items()}
        entry = Input(qrels, "groups", {**group_columns, "groups.group": by}, "qrels")
    with _read(entry) as (group_of, name):
        return group_of, name


def origin_of(qrels: Qrels, named: list[NamedRun]) -> str:
    """Return the library that frames come from, those of the runs first; an empty text if there are none."""
    inputs = (value for value in (*(run.run for run in named), qrels) if not is_rows(value))  # rows have columns too
    frames = [value for value in inputs if is_frame(value)]
    return library_of(frames[0]) if frames else ""


@contextmanager
def _read(entry: Input, advance: Callable[[int], None] | None = None) -> Iterator[tuple[Any, str]]:
    """Give the content of an input, read for its role, and what messages call it; a file stays open until the end."""
    with ExitStack() as stack:
        if is_path(entry.value, entry.role):
            entry = entry._replace(value=stack.enter_context(_source(entry.value, entry.role, advance)))
        yield read_input(entry), entry.name


@contextmanager
def opened_run(
    run: NamedRun, conventions: Conventions, sources: Sources, advance: Callable[[int], None] | None = None
) -> Iterator[Form]:
    """Give the form of a run, which can be read until the end."""
    if (engine := engine_of(run, sources)) is not None:
        with engine_run(engine).opened(run, conventions, sources) as form:
            yield form
        return
    with _read(Input(run.run, "run", sources.columns, run.name, run.is_given), advance) as (form, _):
        yield form


def engine_of(run: NamedRun, sources: Sources) -> str | None:
    """Return the engine that sorts the rows of a run; frames of Spark stay where they are."""
    return sources.engine or ("spark" if is_of_spark(run.run) else None)


def engine_run(engine: str) -> type[EngineForm]:
    """Return what a run is under an engine: the only place that knows them apart."""
    if engine == "duckdb":
        from lexirecall.formats.duckdb import DuckdbRun

        return DuckdbRun
    from lexirecall.engines.spark import SparkRun

    return SparkRun


def _source(path: Any, role: str, advance: Callable[[int], None] | None) -> Source:
    """Return the source of a file; one that was looked at to tell what it is stays the same."""
    if not isinstance(path, (str, os.PathLike)):
        raise no_input(path, role)
    source = path if isinstance(path, Source) else Source(path if role == "run" else single(path, role))
    source.advance = advance
    return source


def check_engine(conventions: Conventions, sources: Sources) -> None:
    """Raise if an engine cannot do what is asked of it, or does not take its settings.

    >>> check_engine(Conventions(), Sources(engine="duckdb", engine_options={"memory": "2GB"}))
    Traceback (most recent call last):
    lexirecall.errors.UsageError: engine_options has no 'memory'
      did you mean 'memory_limit'?
    """
    if sources.engine is not None:
        engine_run(sources.engine).check(conventions, sources)


def at_hand(table: Any, sources: Sources) -> Any:
    """Return a table at a URL, which only Spark can see, as a frame of Spark; anything else as it is.

    >>> at_hand("qrels.parquet", Sources(engine="spark"))
    'qrels.parquet'
    """
    if sources.engine != "spark" or not (isinstance(table, str) and "://" in table):
        return table
    from lexirecall.engines.spark_files import frame_at

    return frame_at(table, sources)


def _at_hand_beside(sources: Sources) -> Sources:
    units, providers = (at_hand(table, sources) for table in (sources.units, sources.providers))
    return replace(sources, units=units, providers=providers)


def _read_runs(
    conventions: Conventions,
    sources: Sources,
    judgments: Judgments,
    named: list[NamedRun],
    units: "UnitMap | None",
    *,
    needs_judged: bool,
) -> list[RunPositions]:
    by_engines = [run for run in named if engine_of(run, sources) is not None]
    sent = units if any(engine_of(run, sources) == "spark" for run in by_engines) else None
    text = memory_of_positions(judgments, conventions, len(by_engines), sent, needs_judged=needs_judged)
    if by_engines and text:
        if sources.show_progress is False:
            warn(text)
        else:  # at once: what commands warn of comes at the end
            print(f"note: {text}", file=sys.stderr)  # noqa: T201
    size = sum(run.size for run in named if run not in by_engines)
    with Progress("reading runs", size, shown=sources.show_progress if size else False) as progress:

        def read(run: NamedRun) -> list[RunPositions]:
            with opened_run(run, conventions, sources, progress.advance) as form:
                return read_form(form, judgments, conventions, units, needs_judged=needs_judged)

        # an engine uses all cores for one run, and says by itself how far it is
        parts = [read(run) for run in named] if by_engines else _side_by_side(read, named, progress)
    check_names((run.name, named_run.label) for named_run, part in zip(named, parts, strict=True) for run in part)
    return [run for part in parts for run in part]


_MUCH = 10**9  # bytes


def memory_of_positions(
    judgments: Judgments,
    conventions: Conventions,
    num_runs: int,
    sent: "UnitMap | None" = None,
    *,
    needs_judged: bool = False,
) -> str:
    """Say how much memory runs may take that an engine sorts, in tables of which each holds one or more; or nothing.

    A map of units that is `sent` to workers takes memory in each of them.

    >>> judgments = Judgments.from_grades({b"q": {b"a": 1, b"b": 0}})
    >>> memory_of_positions(judgments, Conventions(), 3)
    ''
    """
    number = len(judgments.grades) if needs_judged or conventions.judged_only else int(judgments.num_positive.sum())
    size = number * (32 if conventions.ties == "expected" else 16)
    parts = []
    if size * num_runs > _MUCH:
        parts.append(
            f"positions take up to {size / 1e9:.1f} GB of memory for each run, of {number:,} judged documents if all "
            "are found, and about twice that while they come in"
        )
    if sent is not None and sent.num_bytes > _MUCH / 10:
        parts.append(f"the map of units, {sent.num_bytes / 1e6:,.0f} MB, is sent to every worker of Spark")
    return "; ".join(parts)


def _side_by_side(
    read: Callable[[NamedRun], list[RunPositions]], named: list[NamedRun], progress: Progress
) -> list[list[RunPositions]]:
    """Read several runs at once; the first error in the order given is the one raised."""
    num_threads = min(len(named), num_cores())
    if num_threads == 1:
        return [read(run) for run in named]
    from concurrent.futures import ThreadPoolExecutor  # not on top: it imports much, and often there is one run only

    with ThreadPoolExecutor(num_threads) as pool:
        futures = [pool.submit(read, run) for run in named]
        try:
            return [future.result() for future in futures]
        except BaseException:  # an error, or the user's interruption: nobody should read on for nothing
            progress.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def check_common(judgments: Judgments, runs: list[RunPositions]) -> None:
    """Raise if a run answers none of the judged queries."""
    strangers = [run.name for run in runs if not run.answered.any()]
    if strangers:
        raise nothing_in_common(strangers, judgments.queries)


def nothing_in_common(strangers: Sequence[str], queries: Sequence[str]) -> DataError:
    """Return the error about runs that answer none of the judged queries, with examples of these."""
    return DataError(
        f"no query in common with the judgments: {listed(strangers)}",
        remedy=f"the judgments have queries such as {listed(map(repr, queries), most=3)}; "
        "are the ids written the same way, and is it the right file?",
    )


def corpus_sizes(corpus_size: CorpusSize) -> int | Callable[[Sequence[str]], IntArray] | None:
    """Return n, or a function that gives n of each judged query, [Q], if it is not the same for all; None if unknown.

    >>> corpus_sizes(100)
    100
    >>> corpus_sizes({"q": 100, "r": 90, "s": 80})(["q", "s"]).tolist()
    [100, 80]
    """
    if corpus_size is None:
        return None
    if isinstance(corpus_size, (int, np.integer)):
        return checked_size(corpus_size)
    with _read(Input(corpus_size, "corpus_size")) as (sizes, name):
        return partial(_sizes_of, sizes, name)


def sizes_of_queries(corpus_size: CorpusSize, judgments: Judgments) -> IntArray | None:
    """Return n of each judged query, [Q], as it is given or as the judgments have it; None if it is unknown.

    >>> sizes_of_queries(100, Judgments.from_grades({b"q": {b"a": 1}, b"r": {b"a": 1}})).tolist()
    [100, 100]
    """
    n, queries = corpus_sizes(corpus_size), judgments.queries
    sizes = n(queries) if callable(n) else None if n is None else np.full(len(queries), n)
    return with_own_sizes(sizes, judgments)


def _sizes_of(sizes: Mapping[bytes, int], name: str, queries: Sequence[str]) -> IntArray:
    missing = [query for query in queries if to_bytes(query) not in sizes]
    if missing:
        problem = f"{name}: no corpus size is given for {listed(missing)}"
        raise DataError(problem, remedy="give one for each judged query")
    return np.array([sizes[to_bytes(query)] for query in queries], np.int64)
