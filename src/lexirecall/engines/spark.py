"""Spark: evaluation of data frames on a cluster, with the same numbers as everywhere.

Belongs here: the verbs over Spark's data frames, and their result. Not here: the plan (plan), the tables
(spark_tables), what runs on the workers (kernels).

SQL finds where the judged items are. Gathered to one row for each judged request, they go in Arrow batches to the same
kernels as everything else, on the workers. Only sums, counts and names of systems come to the driver, and the values of
queries if more than their mean is asked for.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from lexirecall.aggregation import MIN_QUERIES, Aggregation, Resampling
from lexirecall.engines.batches import Layout
from lexirecall.engines.kernels import ROWS, STATE, Addends, Asked, Kernel, RowKernel, total_of
from lexirecall.engines.spark_faults import every_row, explained, quietly
from lexirecall.engines.spark_groups import NamedGroups, check_number_of_values, read_aggregation
from lexirecall.engines.spark_mismatch import mismatches
from lexirecall.engines.spark_owners import items_without, owners_of_items, strange_owners
from lexirecall.engines.spark_session import check_libraries, match_python, pyspark, session
from lexirecall.engines.spark_tables import Tables, no_common_request, prepare
from lexirecall.engines.spark_workspace import Workspace, check_frame
from lexirecall.errors import UsageError
from lexirecall.fields import taken, takes
from lexirecall.formats import CorpusSize, corpus_sizes
from lexirecall.formats.casts import SPARK
from lexirecall.formats.columns import Given
from lexirecall.formats.plan import Plan
from lexirecall.groups import Groups
from lexirecall.judgments import BoolArray
from lexirecall.manifest import Conventions, Note, Policies, check_level, versions_in_use
from lexirecall.measures.providers import key_of, worst_off
from lexirecall.names import Names
from lexirecall.positions import Positions
from lexirecall.statistics.paired import ADDED_UP
from lexirecall.verbs.averages import Averages
from lexirecall.verbs.census import Census
from lexirecall.verbs.compare import check_number, conclude, indices_of
from lexirecall.verbs.comparison import Comparison
from lexirecall.verbs.evaluate import computable, with_breakdown
from lexirecall.verbs.exposures import Exposures
from lexirecall.verbs.given import asked_measures
from lexirecall.verbs.owners import level_of_providers, overall_rows
from lexirecall.verbs.tally import Tally
from lexirecall.verbs.testing import Testing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lexirecall.engines.spark_owners import SparkProviders
    from lexirecall.engines.spark_tables import Frames
    from lexirecall.engines.spark_units import SparkUnits

__all__ = ["SparkScores", "compare", "evaluate", "session", "sort_keys"]


@dataclass(frozen=True, eq=False)
class SparkScores:
    """The means, here; and the values of each query, on the cluster.

    The gathered rows are held in Spark's memory, or on its disks, until `close`. As a context manager it closes itself.
    """

    averages: Averages
    per_query: "DataFrame"
    """run, query (as in the judgments), measure, value (null if undefined); computed on demand."""
    gathered: "DataFrame"
    """One row for each judged query, from which the values are computed."""

    def close(self) -> None:
        """Let go of the gathered rows; `per_query` would gather them again."""
        self.gathered.unpersist()

    def providers(self, *, min_queries: int = MIN_QUERIES) -> Exposures:
        """Return exposure, merit and ratio of every provider with so many queries or more, the lowest ratio first."""
        return Exposures.of(self.averages, min_queries=min_queries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __str__(self) -> str:
        return str(self.averages)


@takes(Aggregation, Policies, Conventions)
def evaluate(
    qrels: "DataFrame",
    runs: "Frames",
    measures: Names | None = None,
    *,
    columns: Given = None,
    corpus_size: CorpusSize = None,
    providers: "SparkProviders" = None,
    units: "SparkUnits" = None,
    **options: Any,
) -> SparkScores:
    """Evaluate runs against judgments, as `lexirecall.evaluate` does, where the rows are.

    `runs` has the columns of a run, found by their usual names or given as `columns`. It holds many runs if there is a
    column of them, otherwise one, called `run`; {name: frame} names them. `options` say how queries count and how
    rankings become positions, as there. `providers` and `units` are frames of Spark, or what they may be there. Means
    and values are the same as in memory, bit for bit.

    >>> evaluate(qrels, runs, ["LexiRecall", "AP"]).averages.to_dict()  # doctest: +SKIP
    {'early': {'LexiRecall': 0.5, 'AP': 0.875}, 'late': {'LexiRecall': 0.5, 'AP': 0.5416666666666666}}
    """
    asked = taken(Aggregation, options)
    check_frame(qrels, "qrels")
    group_map = read_aggregation(asked, qrels, columns)
    with _gathering(qrels, runs, measures, columns, corpus_size, providers, units, options) as job:
        averages = job.broken_down(asked, group_map) if asked.is_asked else job.averages(*job.total(job.asked.values))
        values = job.gathered.mapInArrow(RowKernel(job.layout, job.asked).rows, ROWS)
        query = values["query"].cast(job.tables.request_type)
        return SparkScores(averages, values.withColumn("query", query), job.gathered)


@takes(Testing, Policies, Conventions)
def compare(
    qrels: "DataFrame",
    runs: "Frames",
    measures: Names | None = None,
    *,
    baseline: str | Sequence[str] | None = None,
    columns: Given = None,
    corpus_size: CorpusSize = None,
    providers: "SparkProviders" = None,
    units: "SparkUnits" = None,
    **options: Any,
) -> Comparison:
    """Compare each pair of runs, or each with one or more baselines, as `lexirecall.compare` does, where the rows are.

    The tests are the t test and the sign test, which need only sums and counts. P-values, intervals and all else are
    the same as in memory, bit for bit. The other arguments are those of `evaluate`.

    >>> next(compare(qrels, runs, ["LexiRecall"]).rows())["wins"]  # doctest: +SKIP
    1
    """
    testing = taken(Testing, options)
    check_added_up(testing)
    with _gathering(qrels, runs, measures, columns, corpus_size, providers, units, options) as job:
        check_number(len(job.tables.systems))
        references = indices_of(baseline, job.tables.systems)
        tally, pairs = job.total(job.asked.pairs)
        averages = job.averages(tally)
        squares = job.total(partial(job.asked.squares, [totals.means for totals in pairs.totals]))
        summaries = [totals.with_squares(each) for totals, each in zip(pairs.totals, squares, strict=True)]
        job.gathered.unpersist()
        return conclude(averages, summaries, pairs.order(), testing, references=references)


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
    """Return run, query, sort_key: bytes; the smaller key is the better ranking of a query by LexiRecall.

    The keys are those of `lexirecall.exact.sort_key`, for every run and every query with a relevant document, answered
    or not.

    >>> sort_keys(qrels, runs).orderBy("query", "sort_key")  # doctest: +SKIP
    DataFrame[run: string, query: string, sort_key: binary]
    """
    if ties == "expected":
        raise UsageError("a sort key needs one order of tied documents", remedy="choose ties trec, worst or best")
    check_level(level)
    conventions = Conventions(ties=ties, score_dtype=score_dtype, duplicates=duplicates)
    check_frame(qrels, "qrels")
    workspace, plan = Workspace(qrels.sparkSession), Plan(conventions, SPARK)
    try:
        with explained(), every_row(qrels, runs):
            tables = prepare(workspace, qrels, runs, columns, plan)
            query = f"CAST(request AS {tables.request_type}) AS query"
            return tables.query(f"SELECT system AS run, {query}, sort_key FROM ({plan.sort_keys(level)}) AS keys")
    finally:
        workspace.release()


def check_added_up(testing: Testing) -> None:
    """Raise if a test, or the bootstrap, needs more than sums and counts."""
    if testing.bootstrap is not None:
        raise UsageError(
            "Spark cannot resample the queries: the bootstrap needs every value, and Spark returns sums and counts",
            remedy="leave it out; or project the runs (engine='duckdb' if they are large), then compare",
        )
    if testing.test not in ("auto", *ADDED_UP):
        raise UsageError(
            f"Spark can run only the tests t and sign: {testing.test} needs every difference",
            remedy="choose t or sign; or project the runs (engine='duckdb' if they are large), then compare",
        )


@dataclass(frozen=True, slots=True)
class _Job:
    """Rows that have been gathered, and what is asked of them."""

    tables: Tables
    gathered: "DataFrame"
    """One row for each judged request."""
    layout: Layout
    asked: Asked
    left_out: list[Note]

    def total(self, count: Callable[[Positions], Addends]) -> Addends:
        """Add up what is counted over all requests, on the workers; raise if a corpus is too small for one of them."""
        kernel = Kernel(self.layout, count)
        kernel.try_out(max(1.0, *(row.level(self.asked.policies.level) for row in self.asked.measures)))
        states = self.gathered.mapInArrow(kernel.states, STATE).collect()
        shortage, *counted = total_of(bytes(row.state) for row in states)
        if shortage is not None:
            raise shortage.error()
        return tuple(counted)

    def broken_down(self, asked: Aggregation, group_map: NamedGroups | None) -> Averages:
        """Return the numbers that are asked for instead of the means, for which every value comes to the driver."""
        num_requests = self.tables.judgments.select("request").distinct().count()
        check_number_of_values(len(self.tables.systems), num_requests, len(self.asked.measures))
        tally, collected = self.total(self.asked.every_value)
        requests, valued = collected.in_order(self.asked.measures)
        groups = None if group_map is None else Groups.from_map(group_map[0], requests, name=group_map[1])
        return with_breakdown(self.averages(tally), valued, asked, groups, Resampling())

    def with_worst_off(self) -> "_Job":
        """Find out who is worst off over all requests, if a measure needs it; no portion of them can tell."""
        if not any(row.sparse and row.needs_providers for row in self.asked.measures):
            return self
        rows = overall_rows(self.asked.measures)
        exposures = self.total(self.asked.exposures)
        known = {
            key_of(row, self.asked.policies): worst_off(each.audit(self.tables.systems))
            for row, each in zip(rows, exposures, strict=True)
        }
        return replace(self, layout=replace(self.layout, worst_off=known))

    def averages(self, tally: Tally) -> Averages:
        """Return the means with their record."""
        tables, census, owners = self.tables, tally.census, tally.owners
        if strangers := _named(census, census.answered == 0):
            raise no_common_request(strangers, tables.judgments)
        census = replace(
            census,
            name="qrels",
            corpus_size=self.layout.corpus_size,
            num_repeated=tables.num_repeated,
            has_grades=tables.has_grades,
            unjudged=tables.num_unjudged,
            duplicates=tables.num_duplicates,
            mismatches=mismatches(tables, _named(census, census.found == 0)),
            units=tables.named_units(census.units),
        )
        if owners is not None and tables.owners is not None:
            if not owners.providers and census.num_positive:
                raise strange_owners(owners.name, tables.owners, tables.judgments)
            if owners.at_level[1]:
                without = items_without(tables.owners, tables.judgments, level_of_providers(*self.asked))
                owners = replace(owners, without=without)
        versions = {**versions_in_use(), "pyspark": pyspark("version").__version__}
        return replace(tally, census=census, owners=owners).averages(
            *self.asked, left_out=self.left_out, versions=versions, reader="spark"
        )


def _named(census: Census, which: BoolArray) -> list[str]:
    return [name for name, is_one in zip(census.systems, which, strict=True) if is_one]


@contextmanager
def _gathering(
    qrels: "DataFrame",
    runs: "Frames",
    measures: Names | None,
    columns: Given,
    corpus_size: CorpusSize,
    providers: "SparkProviders",
    units: "SparkUnits",
    options: dict[str, Any],
) -> Iterator[_Job]:
    """Give the rows gathered from checked tables; they are held, and let go if something fails."""
    policies, conventions = taken(Policies, options), taken(Conventions, options)
    conventions.warn_of_optimism()
    conventions.require_corpus_size(corpus_size)
    conventions.check_units(units, providers)
    sizes = corpus_sizes(corpus_size)
    asked = asked_measures(measures, has_providers=providers is not None)
    needs_judged = any(row.needs_judged for row in asked)
    plan = Plan(conventions, SPARK, keeps_others=needs_judged)
    check_libraries()
    check_frame(qrels, "qrels")
    match_python(qrels.sparkSession)
    workspace, gathered = Workspace(qrels.sparkSession), None
    try:
        with explained(), every_row(qrels, runs, providers, units):
            owners, name = owners_of_items(workspace, providers, columns)
            tables = replace(prepare(workspace, qrels, runs, columns, plan, units), owners=owners)
            found = tables.units_of_batches()
            shared = -math.inf if found is None else found.whole.highest_shared
            refused = [row for row in asked if not row.coincides and row.level(policies.level) <= shared]
            rows, left_out = computable(
                len(tables.systems), conventions.ties, asked, is_default=measures is None, refused=refused
            )
            n = tables.sizes(sizes) if callable(sizes) else sizes
            layout = Layout(tables.systems, conventions, n, needs_judged, name, units=found)
            gathered = tables.gathered().persist(pyspark("storagelevel").StorageLevel.MEMORY_AND_DISK)
            yield _Job(tables, gathered, layout, Asked(rows, policies), left_out).with_worst_off()
    except BaseException:
        if gathered is not None:
            with quietly():
                gathered.unpersist()
        raise
    finally:
        workspace.release()
