"""Spark: evaluation of data frames on a cluster, with the numbers of every other way.

Belongs here: the verbs over Spark's data frames, and their result. Not here: the plan (plan), the tables
(spark_tables), what runs on the workers (kernels).

Where the judged items stand comes from SQL. Gathered to one row for each judged request they go in Arrow batches to
the same kernels as everything else, on the workers. What comes to the driver is sums, counts and names of systems.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from lexirecall.engines.batches import Layout
from lexirecall.engines.kernels import ROWS, STATE, Kernel, PairKernel, Sum, total_of
from lexirecall.engines.spark_mismatch import mismatches
from lexirecall.engines.spark_session import check_libraries, explained, match_python, pyspark, session
from lexirecall.engines.spark_tables import Tables, Workspace, check_frame, no_common_request, prepare
from lexirecall.engines.tallies import PairTally, Tally, Task
from lexirecall.errors import DataError, UsageError, counted
from lexirecall.fields import taken, takes
from lexirecall.formats.casts import SPARK
from lexirecall.formats.columns import Given
from lexirecall.formats.plan import Plan
from lexirecall.manifest import Conventions, Note, Policies, check_level, versions_in_use
from lexirecall.names import Evaluable, Names, parse_preference
from lexirecall.verbs.averages import Averages
from lexirecall.verbs.census import Census
from lexirecall.verbs.compare import check_number
from lexirecall.verbs.evaluate import computable
from lexirecall.verbs.given import asked_measures
from lexirecall.verbs.notes import ignored_level, notes_on_requests, undefined_note

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lexirecall.engines.spark_tables import Frames

__all__ = ["SparkScores", "evaluate", "preference_counts", "session", "sort_keys"]


@dataclass(frozen=True, eq=False)
class SparkScores:
    """The means, here; and the values of each request, on the cluster.

    The gathered rows are held in Spark's memory, or on its disks, until `close`; as a context manager it closes itself.
    """

    averages: Averages
    per_request: "DataFrame"
    """run, query (as in the judgments), measure, value (null where undefined); computed when it is asked for."""
    gathered: "DataFrame"
    """One row for each judged request, from which the values are computed."""

    def close(self) -> None:
        """Let go of the gathered rows; `per_request` would gather them anew."""
        self.gathered.unpersist()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __str__(self) -> str:
        return str(self.averages)


@takes(Policies, Conventions)
def evaluate(
    qrels: "DataFrame",
    runs: "Frames",
    measures: Names | None = None,
    *,
    columns: Given = None,
    corpus_size: int | None = None,
    **options: Any,
) -> SparkScores:
    """Evaluate runs against judgments, as `lexirecall.evaluate` does, where the rows are.

    `runs` has the columns of a run, found by their usual names or given as `columns`: many systems if there is a
    column of them, or else one that is called `run`; {name: frame} names them. `options` say how requests count and how
    rankings become positions, as there. Means and values are those of every other way, bit for bit.

    >>> evaluate(qrels, runs, ["LexiRecall", "AP"]).averages.to_dict()  # doctest: +SKIP
    {'early': {'LexiRecall': 0.5, 'AP': 0.875}, 'late': {'LexiRecall': 0.5, 'AP': 0.5416666666666666}}
    """
    policies, conventions = taken(Policies, options), _checked(corpus_size, options)
    asked = asked_measures(measures, has_providers=False)
    with _gathering(qrels, runs, columns, conventions, asked) as (tables, gathered):
        num_systems = len(tables.systems)
        rows, left_out = computable(num_systems, conventions.ties, asked, is_default=measures is None)
        task = Task(rows, policies)
        kernel = Kernel(_layout(tables, asked, corpus_size), task)
        kernel.try_out()
        tally = _total(gathered, kernel.tallies, Tally())
        _check(tally, tables, corpus_size)
        numbers = tally.numbers["counts"], tally.numbers["num_due"]
        census = _census(tally, task, tables, corpus_size)
        census.check_relevant(rows, policies.level)
        versions = {**versions_in_use(), "pyspark": pyspark("version").__version__}
        notes = (*left_out, *_notes(tally, task, census))
        manifest = census.manifest(rows, policies, notes, versions=versions, reader="spark")
        averages = Averages(tables.systems, rows, tally.means(rows), *numbers, manifest)
        values = gathered.mapInArrow(kernel.rows, ROWS)
        return SparkScores(averages, values.withColumn("query", values["query"].cast(tables.request_type)), gathered)


@takes(Policies, Conventions)
def preference_counts(
    qrels: "DataFrame",
    runs: "Frames",
    preferences: str | Evaluable | Sequence[str | Evaluable] = ("LexiRecall",),
    *,
    columns: Given = None,
    corpus_size: int | None = None,
    **options: Any,
) -> list[dict[str, Any]]:
    """Count wins, ties and losses of every two systems: one row for each preference and pair.

    A row has a, b, measure, mean, wins, ties, losses and requests, as in `lexirecall.compare`: positive mean and wins
    say that a is better, and a comes before b. The other arguments are those of `evaluate`.

    >>> preference_counts(qrels, runs, ["LexiRecall"])  # doctest: +SKIP
    [{'a': 'early', 'b': 'late', 'measure': 'LexiRecall', 'mean': 0.0, 'wins': 1, 'ties': 0, 'losses': 1, …}]
    """
    policies, conventions = taken(Policies, options), _checked(corpus_size, options)
    asked = [preferences] if isinstance(preferences, (str, Evaluable)) else preferences
    parsed = tuple(parse_preference(each) for each in asked)
    with _gathering(qrels, runs, columns, conventions, parsed) as (tables, gathered):
        check_number(len(tables.systems))
        task = Task(parsed, policies)
        kernel = PairKernel(_layout(tables, parsed, corpus_size), task, parsed)
        kernel.try_out()
        tally = _total(gathered, kernel.tallies, PairTally())
        gathered.unpersist()
        return list(tally.rows(tables.systems, parsed))


def sort_keys(
    qrels: "DataFrame",
    runs: "Frames",
    *,
    columns: Given = None,
    level: float = 1,
    ties: str = "trec",
    score_dtype: str = "float64",
    duplicates: str = "error",
) -> "DataFrame":
    """Return run, query, sort_key: bytes of which the smaller is the better ranking of a query by LexiRecall.

    They are those of `lexirecall.exact.sort_key`, for every run and every query with a relevant document, answered
    or not.

    >>> sort_keys(qrels, runs).orderBy("query", "sort_key")  # doctest: +SKIP
    DataFrame[run: string, query: string, sort_key: binary]
    """
    if ties == "expected":
        raise UsageError("a sort key has one order of tied items", remedy="choose ties trec, worst or best")
    check_level(level)
    conventions = Conventions(ties=ties, score_dtype=score_dtype, duplicates=duplicates)
    check_frame(qrels, "qrels")
    workspace, plan = Workspace(qrels.sparkSession), Plan(conventions, SPARK)
    try:
        with explained():
            tables = prepare(workspace, qrels, runs, columns, plan)
            query = f"CAST(request AS {tables.request_type}) AS query"
            return tables.query(f"SELECT system AS run, {query}, sort_key FROM ({plan.sort_keys(level)}) AS keys")
    finally:
        workspace.release()


def _checked(corpus_size: Any, options: dict[str, Any]) -> Conventions:
    if corpus_size is not None and (
        isinstance(corpus_size, bool) or not isinstance(corpus_size, int) or corpus_size < 1
    ):
        raise UsageError(f"the corpus size is {corpus_size!r}, but must be one whole number above 0")
    conventions = taken(Conventions, options)
    conventions.warn_of_optimism()
    conventions.require_corpus_size(corpus_size)
    return conventions


def _layout(tables: Tables, rows: Sequence[Evaluable], corpus_size: int | None) -> Layout:
    return Layout(tables.systems, tables.plan.conventions, corpus_size, any(row.needs_judged for row in rows))


@contextmanager
def _gathering(
    qrels: "DataFrame",
    runs: "Frames",
    columns: Given,
    conventions: Conventions,
    rows: Sequence[Evaluable],
) -> "Iterator[tuple[Tables, DataFrame]]":
    """Give the checked tables and the rows gathered from them, which are held, and let go if something fails."""
    plan = Plan(conventions, SPARK, keeps_others=any(row.needs_judged for row in rows))
    check_libraries()
    check_frame(qrels, "qrels")
    match_python(qrels.sparkSession)
    workspace, gathered = Workspace(qrels.sparkSession), None
    try:
        with explained():
            tables = prepare(workspace, qrels, runs, columns, plan)
            gathered = tables.gathered().persist(pyspark("storagelevel").StorageLevel.MEMORY_AND_DISK)
            yield tables, gathered
    except BaseException:
        if gathered is not None:
            gathered.unpersist()
        raise
    finally:
        workspace.release()


def _total(gathered: "DataFrame", kernel: Callable[..., Any], total: Sum) -> Sum:
    return total_of((bytes(row.state) for row in gathered.mapInArrow(kernel, STATE).collect()), total)


def _check(tally: Tally, tables: Tables, corpus_size: int | None) -> None:
    """Raise where a run answers nothing, or a corpus is too small."""
    answered = tally.numbers["runs"][:, 0]
    if strangers := [name for name, count in zip(tables.systems, answered, strict=True) if not count]:
        raise no_common_request(strangers, tables.judgments)
    needed, request, s, num_retrieved, num_missing = tally.largest
    if corpus_size is not None and needed > corpus_size:
        raise DataError(
            f"the corpus size {corpus_size:,} is too small for request {request!r}: {tables.systems[s]} retrieved "
            f"{counted(num_retrieved, 'item')}, without {counted(num_missing, 'relevant item')}",
            remedy=f"it needs {needed:,} or more",
        )


def _census(tally: Tally, task: Task, tables: Tables, corpus_size: int | None) -> Census:
    num_requests, num_judged, num_positive = tally.numbers["qrels"].tolist()
    answered, unanswered, retrieved, found = tally.numbers["runs"].T.tolist()
    strangers = [name for name, number in zip(tables.systems, found, strict=True) if not number]
    return Census(
        name="qrels",
        systems=tables.systems,
        conventions=tables.plan.conventions,
        corpus_size=corpus_size,
        num_requests=num_requests,
        num_judged=num_judged,
        num_positive=num_positive,
        num_repeated=tables.num_repeated,
        highest_grade=tally.highest_grade,
        has_grades=tables.has_grades,
        empty={level: tally.empty[level] for level in task.levels},
        answered=answered,
        unanswered=unanswered,
        retrieved=retrieved,
        found=found,
        unjudged=tables.num_unjudged,
        duplicates=tables.num_duplicates,
        extra=[0] * len(tables.systems),
        mismatches=mismatches(tables, strangers),
    )


def _notes(tally: Tally, task: Task, census: Census) -> Iterator[Note]:
    yield from ignored_level(task.measures, task.policies.level)
    yield from notes_on_requests(census, task.policies)
    undefined = zip(task.measures, tally.numbers["missing"].tolist(), tally.numbers["due"].tolist(), strict=True)
    yield from undefined_note(undefined)
