"""Owners in Spark: the map of documents to their providers.

Belongs here: taking the map in any of its forms, checking it, and examples for messages. Not here: the other tables
(spark_tables), exposure (measures).
"""

from typing import TYPE_CHECKING, TypeAlias, cast

from lexirecall.engines.spark_frames import FRAME, numbered, select
from lexirecall.engines.spark_workspace import Workspace, is_frame
from lexirecall.errors import DataError, shown
from lexirecall.formats import ProviderMap, load_pairs
from lexirecall.formats.casts import SPARK, Column, row_error
from lexirecall.formats.columns import Given, find_columns
from lexirecall.formats.values import PROVIDER_REMEDY
from lexirecall.providers import EXAMPLES, empty_map, strange_map
from lexirecall.text import to_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    SparkProviders: TypeAlias = DataFrame | ProviderMap


def owners_of_items(
    workspace: Workspace, providers: "SparkProviders", columns: Given
) -> "tuple[DataFrame | None, str | None]":
    """Return the providers of each item, and what messages call the map; what is not a frame of Spark is read here."""
    if providers is None:
        return None, None
    if is_frame(providers):
        return _checked(workspace, cast("DataFrame", providers), columns), "providers"
    import pyarrow as pa

    pairs, name = load_pairs(cast("ProviderMap", providers), columns)
    if not pairs:
        raise empty_map(name)
    items, names = ([to_text(text) for text in texts] for texts in zip(*pairs, strict=True))
    table = pa.table({"item": pa.array(items, pa.string()), "provider": pa.array(names, pa.string())})
    return _checked(workspace, workspace.spark.createDataFrame(table), None), name


def _checked(workspace: Workspace, providers: "DataFrame", columns: Given) -> "DataFrame":
    """Return the providers of each item: item, owners."""
    found = find_columns(providers.columns, "providers", columns, source="providers")
    own, kinds, places = numbered(providers, {"item": found.item, "provider": found.provider}, "providers", "providers")
    given = {role: Column(name, kinds[name]) for role, name in places.items()}
    values = ", ".join(f"{column.id(SPARK)} AS {role}" for role, column in given.items())
    faults = ", ".join(f"{column.fault(SPARK)} AS {role}_fault" for role, column in given.items())
    rows = select(workspace, f"SELECT {values}, {faults} FROM {FRAME}", own)
    problems = {"item": "item IS NULL", "provider": "provider IS NULL OR trim(provider) = ''"}
    packed = "struct('providers', CAST(NULL AS STRING), CAST(NULL AS STRING), item, '', {role}_fault, provider)"
    counts = ", ".join(
        f"count_if({wrong}) AS no_{role}, min({packed.format(role=role)}) FILTER (WHERE {wrong}) AS {role}_example"
        for role, wrong in problems.items()
    )
    total = workspace.sql(f"SELECT count(*) AS num_rows, {counts} FROM {{rows}}", rows=rows).collect()[0]
    if not total["num_rows"]:
        raise empty_map("providers")
    for role in problems:
        if number := total[f"no_{role}"]:
            *example, name = total[f"{role}_example"]
            said = None if name is None else (f"{shown(name)} is not the name of a provider", PROVIDER_REMEDY)
            raise row_error(role, number, total["num_rows"], example, said)
    text = "SELECT item, collect_set(provider) AS owners FROM {rows} GROUP BY item"
    return workspace.hold(workspace.sql(text, rows=rows))


def items_without(owners: "DataFrame", judgments: "DataFrame", level: float) -> tuple[int, list[str]]:
    """Count the different relevant items without a provider, and name the first."""
    items = judgments.where(f"grade >= {level!r}").join(owners, "item", "left_anti").select("item").distinct()
    return items.count(), _first(items)


def strange_owners(name: str, owners: "DataFrame", judgments: "DataFrame") -> DataError:
    """Return the error about a map without a provider for any relevant item, with items of both sides."""
    return strange_map(name, _first(owners), _first(judgments.where("grade > 0").select("item").distinct()))


def _first(frame: "DataFrame") -> list[str]:
    return [row.item for row in frame.orderBy("item").take(EXAMPLES)]
