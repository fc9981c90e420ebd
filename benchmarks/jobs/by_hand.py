"""Average precision as one would write it oneself, without checks. Usage: polars|duckdb QRELS.parquet RUN.parquet."""

import os
import sys
from collections.abc import Callable
from typing import Any

import duckdb
import polars as pl
from means import print_means


def with_polars(qrels: pl.LazyFrame, run: pl.LazyFrame) -> float:
    relevant = qrels.filter(pl.col("relevance") > 0)
    places = (
        run.select("query_id", "doc_id", "score")
        .sort("query_id", "score", "doc_id", descending=[False, True, True])
        .with_columns(position=pl.int_range(1, pl.len() + 1).over("query_id"))
        .join(relevant, on=["query_id", "doc_id"])
        .with_columns(found=pl.col("position").rank("ordinal").over("query_id"))
    )
    sums = places.group_by("query_id").agg((pl.col("found") / pl.col("position")).sum().alias("sum"))
    sizes = relevant.group_by("query_id").agg(pl.len().alias("size"))
    values = sizes.join(sums, on="query_id", how="left").select(pl.col("sum").fill_null(0) / pl.col("size"))
    return float(values.collect().to_series().mean())  # type: ignore[arg-type]


def with_duckdb(qrels: Any, run: Any) -> float:  # noqa: ARG001 - the query names them
    """Take what DuckDB finds by name here: frames, or relations."""
    duckdb.execute(f"SET threads TO {int(os.environ.get('BENCHMARK_THREADS', '1'))}")
    rows = duckdb.sql("""
        WITH relevant AS (SELECT query_id, doc_id FROM qrels WHERE relevance > 0),
        places AS (SELECT query_id, doc_id, row_number() OVER best AS position FROM run
            WINDOW best AS (PARTITION BY query_id ORDER BY score DESC, doc_id DESC)),
        found AS (SELECT query_id, position, row_number() OVER (PARTITION BY query_id ORDER BY position) AS found
            FROM places JOIN relevant USING (query_id, doc_id)),
        sums AS (SELECT query_id, sum(found / position) AS sum FROM found GROUP BY query_id),
        sizes AS (SELECT query_id, count(*) AS size FROM relevant GROUP BY query_id)
        SELECT avg(coalesce(sum, 0) / size) FROM sizes LEFT JOIN sums USING (query_id)
    """).fetchall()
    return float(rows[0][0])


WAYS: dict[str, tuple[Callable[[str], Any], Callable[[Any, Any], float]]] = {
    "polars": (pl.scan_parquet, with_polars),
    "duckdb": (duckdb.read_parquet, with_duckdb),
}


def main(way: str, qrels: str, run: str) -> None:
    opened, average_precision = WAYS[way]
    print_means(run.replace(".parquet", ".run"), {"AP": average_precision(opened(qrels), opened(run))})


if __name__ == "__main__":
    main(*sys.argv[1:])
