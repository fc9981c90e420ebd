"""Mismatches in Spark: systems that retrieve no judged item at all, with ids of both sides.

Belongs here: the few queries that look for them, if a system has found nothing relevant. Not here: the tables
(spark_tables), what a reader is told (verbs).

A table has no order, so the request is the first by its text.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lexirecall.engines.spark_session import pyspark
from lexirecall.engines.spark_tables import Tables
from lexirecall.formats.mismatch import EXAMPLES
from lexirecall.tracks import Mismatch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def mismatches(tables: Tables, suspects: Sequence[str]) -> tuple[Mismatch, ...]:
    """Return examples for those of the suspects that retrieve no judged item, of any grade and depth."""
    if not suspects:
        return ()
    matched = {row.system for row in tables.query(tables.plan.matched()).collect()}
    names = [name for name in suspects if name not in matched]
    if not names:
        return ()
    lengths = tables.lengths.where(tables.lengths["system"].isin(names))
    first = lengths.groupBy("system").agg(pyspark("sql.functions").min("request").alias("request"))
    retrieved = _least_items(tables.runs.join(first, ["system", "request"]), "system", "request")
    requests = [row.request for row in retrieved]
    judged = _least_items(tables.judgments.where(tables.judgments["request"].isin(requests)), "request")
    ours = {row.request: tuple(row.items_) for row in judged}
    found = {row.system: Mismatch(row.system, row.request, tuple(row.items_), ours[row.request]) for row in retrieved}
    return tuple(found[name] for name in names)


def _least_items(frame: "DataFrame", *keys: str) -> list[Any]:
    """Return the least ids of items for each key."""
    functions = pyspark("sql.functions")
    least = functions.slice(functions.array_sort(functions.collect_set("item")), 1, EXAMPLES)
    return frame.groupBy(*keys).agg(least.alias("items_")).collect()
