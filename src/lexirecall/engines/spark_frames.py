"""Frames for Spark: the user's data frames in the form that the plan needs, whatever their columns are called.

Belongs here: one frame at a time, and SQL over it. Not here: which frames there are and what is wrong in them
(spark_tables, spark_owners, spark_units).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from lexirecall.engines.spark_session import pyspark
from lexirecall.engines.spark_workspace import Workspace, check_frame
from lexirecall.formats.casts import SPARK
from lexirecall.formats.columns import Columns, Given, check_one_system, find_columns
from lexirecall.formats.plan import CONSTANT, Plan
from lexirecall.formats.values import check_kind, kind_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NAME, _LABEL = "lexirecall name", "lexirecall label"  # columns that are added to the frames that come in
FRAME = "lexirecall_frame"  # stands in SQL for such a frame


def rows_of_frame(
    workspace: Workspace,
    frame: "DataFrame",
    columns: Given,
    plan: Plan,
    name: str,
    *,
    label: str = "",
    ignores_systems: bool = False,
    are_cells: bool = False,
) -> "DataFrame":
    """Return system, request, item and score of all rows, and their faults; `name` is for a frame that names none."""
    check_frame(frame, f"the run {name!r}")
    label = label or name
    found = find_columns(frame.columns, "run", columns, source=label)
    roles = (replace(found, system=None) if ignores_systems else found).roles("run")
    own, kinds, places = numbered(frame, roles, name, label)
    if ignores_systems and found.system:
        named = own.select(f"c{frame.columns.index(found.system)}").distinct().dropna()
        check_one_system(found.system, named.count(), label)
    placed = replace(Columns(system=_NAME), **places)  # type: ignore[arg-type]
    return select(workspace, plan.rows(FRAME, placed, kinds, label=SPARK.name(_LABEL), are_cells=are_cells), own)


def numbered(
    frame: "DataFrame", roles: Mapping[str, str | None], name: str, label: str
) -> "tuple[DataFrame, dict[str, str], dict[str, str]]":
    """Return the frame with columns that are called by their places, what each of them holds, and which is which.

    Spark takes names that differ only in case for the same. And if a view of the user's own frame were dropped, what is
    cached of that frame would go with it.
    """
    kinds = [kind_of(kind) for _, kind in frame.dtypes]
    places = {role: frame.columns.index(column) for role, column in roles.items() if column}
    for role, place in places.items():
        check_kind(kinds[place], role, frame.columns[place], label)
    lit = pyspark("sql.functions").lit
    own = frame.toDF(*(f"c{place}" for place in range(len(kinds))))
    own = own.withColumn(_NAME, lit(name)).withColumn(_LABEL, lit(label))
    by_place = {**{f"c{place}": kind for place, kind in enumerate(kinds)}, _NAME: CONSTANT}
    return own, by_place, {role: f"c{place}" for role, place in places.items()}


def select(workspace: Workspace, selection: str, frame: "DataFrame") -> "DataFrame":
    """Run a selection from FRAME on a frame; the user's names in it may hold braces."""
    text = selection.replace("{", "{{").replace("}", "}}")
    return workspace.sql(text.replace(FRAME, "{frame}"), frame=frame)
