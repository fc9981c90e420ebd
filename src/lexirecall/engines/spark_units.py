"""Units in Spark: the map of documents to what must be found, and the judgments of items that follow from it.

Belongs here: taking the map in any of its forms, whether judgments name items or units, and which units each judged
item serves. Not here: the other tables (spark_tables), what becomes of units (units, batches).

What is wrong with a map is said in one place, by UnitMap: the rows that show it come to the driver and are given to it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from lexirecall.engines.batches import UnitsOfBatches
from lexirecall.engines.spark_frames import FRAME, numbered, select
from lexirecall.engines.spark_workspace import Workspace, is_frame
from lexirecall.errors import shown
from lexirecall.formats import UnitsGiven, load_unit_map
from lexirecall.formats.casts import SPARK, Column, row_error
from lexirecall.formats.columns import Given, find_columns
from lexirecall.manifest import Conventions
from lexirecall.text import to_bytes, to_text
from lexirecall.units import EXAMPLES, WholeMap
from lexirecall.units.judged import SUBTOPICS, IdCounts, without_items
from lexirecall.units.unitmap import UnitMap

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    SparkUnits: TypeAlias = DataFrame | UnitsGiven | None

_RULES = ("any", "all")
_NAMES = {"unit": "name", "rule": "rule"}
_REMEDIES = {
    "unit": "leave out documents that stand for no unit",
    "rule": "the rule is any or all; name another column, as in columns={'units.rule': ...}",
}


@dataclass(frozen=True, slots=True)
class UnitTable:
    """A map of units in Spark, checked."""

    frame: "DataFrame"
    """item, unit, needs_all (null where the map does not say), and request if there is a map for each request."""
    name: str
    """What messages call it."""

    @property
    def keys(self) -> tuple[str, ...]:
        """What the units of an item are found by."""
        return ("request", "item") if self.is_by_request else ("item",)

    @property
    def is_by_request(self) -> bool:
        """Whether there is a map for each request."""
        return "request" in self.frame.columns

    def joined(self, left: str, right: str, column: str) -> str:
        """Return the condition under which an id of judgments is that of a column of the map."""
        columns = {"item": column, **({"request": "request"} if self.is_by_request else {})}
        return " AND ".join(f"{left}.{mine} = {right}.{theirs}" for mine, theirs in columns.items())


def served_units(
    workspace: Workspace, judged: "DataFrame", units: "SparkUnits", columns: Given, conventions: Conventions
) -> "tuple[UnitTable | None, Serving | None]":
    """Return the map of units and which units the judged items serve, from what was judged; nothing if no map is given.

    A map that is not a frame of Spark is read here.
    """
    if units is None:
        return None, None
    if is_subtopics(units):
        return _table_of_subtopics(workspace, judged), _serving_of_subtopics(workspace, judged, conventions)
    if is_frame(units):
        table = _checked(workspace, cast("DataFrame", units), columns)
    else:
        read = load_unit_map(cast("UnitsGiven", units), columns)
        table = UnitTable(workspace.hold(_handed_over(workspace, read)), read.name)
    return table, _serving(workspace, judged, table, conventions)


def is_subtopics(units: Any) -> bool:
    """Tell whether the units are in the judgments."""
    return isinstance(units, str) and units == SUBTOPICS


def _handed_over(workspace: Workspace, units: UnitMap) -> "DataFrame":
    import pyarrow as pa

    rows = [
        (None if key is None else to_text(key), to_text(item), to_text(name), units.needs_all.get((key, name)))
        for key, slots in units.slots.items()
        for item in slots
        for name in units.units_of(key or b"", item)
    ]
    requests, items, names, rules = zip(*rows, strict=True)
    columns = {"item": pa.array(items, pa.string()), "unit": pa.array(names, pa.string())}
    if not units.is_common:
        columns["request"] = pa.array(requests, pa.string())
    return workspace.spark.createDataFrame(pa.table({**columns, "needs_all": pa.array(rules, pa.bool_())}))


def _checked(workspace: Workspace, units: "DataFrame", columns: Given) -> UnitTable:
    """Return a map that came as a frame of Spark."""
    found = find_columns(units.columns, "units", columns, source="units").roles("units")
    own, kinds, places = numbered(units, found, "units", "units")
    given = {role: Column(name, kinds[name]) for role, name in places.items()}
    values = ", ".join(f"{column.id(SPARK)} AS {role}" for role, column in given.items())
    faults = ", ".join(f"{column.fault(SPARK)} AS {role}_fault" for role, column in given.items())
    rows = select(workspace, f"SELECT {values}, {faults} FROM {FRAME}", own)
    _check_rows(workspace, rows, [*given])
    owner = "request, unit" if "request" in given else "unit"
    rule = f"max(rule = 'all') OVER (PARTITION BY {owner})" if "rule" in given else "CAST(NULL AS BOOLEAN)"
    keys = ", ".join(role for role in ("request", "item", "unit") if role in given)
    text = f"SELECT DISTINCT {keys}, {rule} AS needs_all FROM {{rows}}"
    table = UnitTable(workspace.hold(workspace.sql(text, rows=rows)), "units")
    if "rule" in given:
        _check_rules(workspace, rows, owner)
    _check_names(workspace, table)
    return table


def _check_rows(workspace: Workspace, rows: "DataFrame", roles: Iterable[str]) -> None:
    """Raise if rows of a map lack something."""
    wrong = {role: f"{role} IS NULL" for role in roles}
    wrong["unit"] += " OR trim(unit) = ''"
    if "rule" in wrong:
        wrong["rule"] += f" OR rule NOT IN ({', '.join(map(repr, _RULES))})"
    request = "request" if "request" in wrong else "CAST(NULL AS STRING)"
    packed = f"struct('units', CAST(NULL AS STRING), {request}, item, '', {{role}}_fault, {{role}})"
    counts = ", ".join(
        f"count_if({each}) AS no_{role}, min({packed.format(role=role)}) FILTER (WHERE {each}) AS {role}_example"
        for role, each in wrong.items()
    )
    total = workspace.sql(f"SELECT count(*) AS num_rows, {counts} FROM {{rows}}", rows=rows).collect()[0]
    if not total["num_rows"]:
        UnitMap.of_columns([], [])  # says that it is empty
    for role in wrong:
        if number := total[f"no_{role}"]:
            *example, value = total[f"{role}_example"]
            said = None if value is None else (f"{shown(value)} is not the {_NAMES[role]} of a unit", _REMEDIES[role])
            raise row_error(role, number, total["num_rows"], example, said)


def _check_rules(workspace: Workspace, rows: "DataFrame", owner: str) -> None:
    """Raise if a unit has both rules."""
    text = f"SELECT {owner}, min(item) AS item FROM {{rows}} GROUP BY {owner} HAVING count(DISTINCT rule) > 1"
    if (row := workspace.sql(text, rows=rows).first()) is not None:
        UnitMap.of_columns([to_bytes(row.item)] * 2, [to_bytes(row.unit)] * 2, rules=_RULES)


def _check_names(workspace: Workspace, units: UnitTable) -> None:
    """Raise if names go round in a circle; only names that are both of an item and of a unit can."""
    also = "AND x.request = m.request" if units.is_by_request else ""
    text = (
        "SELECT m.* FROM {units} AS m "
        f"LEFT SEMI JOIN {{units}} AS x ON x.unit = m.item {also} "
        f"LEFT SEMI JOIN {{units}} AS y ON y.item = m.unit {also.replace('x.', 'y.')} WHERE m.item <> m.unit"
    )
    if rows := workspace.sql(text, units=units.frame).collect():
        items, names = ([to_bytes(row[role]) for row in rows] for role in ("item", "unit"))
        UnitMap.of_columns(items, names, [to_bytes(row.request) for row in rows] if units.is_by_request else None)


@dataclass(frozen=True, slots=True)
class Serving:
    """The judgments of items, and which units each item serves."""

    items: "DataFrame"
    """request, item, grade, units (unit, grade, needs_all); a request of which no unit has an item has a row without
    an item."""
    judged: str
    """Whether the judgments name items or units."""

    def of_batches(self, workspace: Workspace, name: str) -> UnitsOfBatches:
        """Return what holds for the units of all batches."""
        text = (
            "SELECT max(size(units)) AS most_units, sum(size(units)) AS num_pairs, "
            "bool_or(exists(units, each -> each.needs_all)) AS needs_all, "
            "max(get(sort_array(transform(units, each -> each.grade), false), 1)) AS highest_shared, "
            "(SELECT count(DISTINCT request, unit.unit) FROM (SELECT request, explode(units) AS unit FROM {items})) "
            "AS num_units FROM {items}"
        )
        counts = workspace.sql(text, items=self.items).collect()[0]
        is_one_to_one = (counts.most_units or 0) <= 1 and counts.num_units == (counts.num_pairs or 0)
        shared = float("-inf") if counts.highest_shared is None else float(counts.highest_shared)
        return UnitsOfBatches(name, self.judged, WholeMap(is_one_to_one, shared), bool(counts.needs_all))

    def unmapped(self) -> tuple[str, ...]:
        """Return the first items of a positive grade that stand for no unit."""
        return tuple(_first(self.items.where("grade > 0 AND size(units) = 0").select("item")))


def _serving(workspace: Workspace, judged: "DataFrame", units: UnitTable, conventions: Conventions) -> Serving:
    """Return the judgments of items that follow from judgments (request, item, grade) of items or of units."""
    itself = conventions.unmapped == "itself"
    which = conventions.judged or _counts(workspace, judged, units).judged(units.name, "qrels", itself=itself)
    is_all = str(conventions.unit_rule == "all").lower()
    if which == "items":
        item, unit, joined = "j.item", "coalesce(u.unit, j.item)" if itself else "u.unit", "item"
    else:
        item, unit, joined = "coalesce(u.item, j.item)" if itself else "u.item", "j.item", "unit"
        _check_served(workspace, judged, units, itself=itself)
    pairs = (
        f"SELECT j.request, {item} AS item, {unit} AS unit, j.grade, coalesce(u.needs_all, {is_all}) AS needs_all "
        f"FROM {{judged}} AS j LEFT JOIN {{units}} AS u ON {units.joined('j', 'u', joined)}"
    )
    text = (
        "SELECT request, item, max(CASE WHEN item IS NOT NULL THEN grade END) AS grade, collect_list(CASE "
        "WHEN item IS NOT NULL AND unit IS NOT NULL THEN struct(unit, grade, needs_all) END) AS units "
        f"FROM ({pairs}) AS pairs GROUP BY request, item"
    )
    return Serving(workspace.hold(workspace.sql(text, judged=judged, units=units.frame)), which)


def _check_served(workspace: Workspace, judged: "DataFrame", units: UnitTable, *, itself: bool) -> None:
    """Raise if a relevant unit has no item."""
    if itself:
        return
    text = (
        f"SELECT j.request, j.item FROM {{judged}} AS j LEFT ANTI JOIN {{units}} AS u "
        f"ON {units.joined('j', 'u', 'unit')} WHERE j.grade > 0"
    )
    without = workspace.sql(text, judged=judged, units=units.frame)
    if examples := without.orderBy("request", "item").take(EXAMPLES):
        raise without_items(units.name, [(row.request, row.item) for row in examples], without.count())


def _counts(workspace: Workspace, judged: "DataFrame", units: UnitTable) -> IdCounts:
    """Count the relevant ids that the map has as items, as units, and as neither."""
    owner = "request, " if units.is_by_request else ""

    def side(column: str, other: str) -> str:
        """Return the ids of a column, and whether each is mapped to itself alone."""
        alone = f"min({other}) = {column} AND max({other}) = {column}"
        return f"(SELECT {owner}{column}, {alone} AS is_alone FROM {{units}} GROUP BY {owner}{column})"

    text = (
        "SELECT count(*) AS total, count(i.is_alone) AS items, count(u.is_alone) AS units, "
        "count_if(i.is_alone IS NULL AND u.is_alone IS NULL) AS neither, "
        "min(CASE WHEN NOT (i.is_alone AND u.is_alone) THEN j.item END) AS ambiguous FROM {judged} AS j "
        f"LEFT JOIN {side('item', 'unit')} AS i ON {units.joined('j', 'i', 'item')} "
        f"LEFT JOIN {side('unit', 'item')} AS u ON {units.joined('j', 'u', 'unit')} WHERE j.grade > 0"
    )
    counts = workspace.sql(text, judged=judged, units=units.frame).collect()[0]
    strangers: list[str] = []
    if counts.neither:
        known = units.frame.select("item").union(units.frame.select("unit"))
        strangers = _first(judged.where("grade > 0").select("item").join(known, "item", "left_anti"))
    return IdCounts(**counts.asDict(), strangers=strangers, of_map=_first(units.frame.select("item")))


def _first(items: "DataFrame") -> list[str]:
    return [row.item for row in items.distinct().orderBy("item").take(EXAMPLES)]


def _serving_of_subtopics(workspace: Workspace, pairs: "DataFrame", conventions: Conventions) -> Serving:
    """Return the judgments of items that follow from judgments of pairs (request, item, unit, grade)."""
    is_all = str(conventions.unit_rule == "all").lower()
    text = (
        f"SELECT request, item, max(grade) AS grade, collect_list(struct(unit, grade, {is_all} AS needs_all)) AS units "
        "FROM {pairs} GROUP BY request, item"
    )
    return Serving(workspace.hold(workspace.sql(text, pairs=pairs)), "items")


def _table_of_subtopics(workspace: Workspace, pairs: "DataFrame") -> UnitTable:
    """Return the map that judgments of pairs are: the items that are relevant to each unit."""
    text = "SELECT request, item, unit, CAST(NULL AS BOOLEAN) AS needs_all FROM {pairs} WHERE grade > 0"
    return UnitTable(workspace.sql(text, pairs=pairs), SUBTOPICS)
