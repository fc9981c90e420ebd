"""JSON files: whether one holds {query: documents}, or rows, and where.

Belongs here: telling the shapes of JSON apart, by their content. Not here: JSON text (jsontext), what rows mean
(queryrows), what mappings mean (memory).

Rows are on a line each, in a list, or in a list under any key of an object. A row is about one query, or about one
query and one document: then they are a table. Predictions of MTEB are {subset: {split:
{query: {document: score}}}}.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lexirecall.errors import FormatError, shown
from lexirecall.formats.columns import Given, has_usual_columns
from lexirecall.formats.jsontext import JsonRows, load_json_or_rows, rows_of
from lexirecall.formats.memory import SHAPES
from lexirecall.formats.queryrows import QueryRows
from lexirecall.formats.rowforms import found_at, is_row, rows_within
from lexirecall.formats.source import BYTE_ORDER_MARK, Source

if TYPE_CHECKING:
    from lexirecall.formats.roletable import RoleTable

_TEXT = rb'"(?:[^"\\]|\\.)*+"'
_NUMBERED = re.compile(rb"\s*\{\s*" + _TEXT + rb"\s*:\s*\{\s*" + _TEXT + rb"\s*:\s*-?[0-9]")
_ABOUT_THE_MODEL = "mteb_model_meta"


def open_json(source: Source, role: str, columns: Given = None) -> "Mapping[str, Any] | QueryRows | RoleTable":
    """Read JSON that holds `qrels` or a `run`: {query: documents}, rows about one query, or a table."""
    content = load_json_or_rows(source, SHAPES[role])
    if not isinstance(content, JsonRows):
        splits = _splits(content) if role == "run" else {}
        if splits:
            return _one_split(splits, source.name, columns)
        rows = _rows_in(content, source.name, role, columns)
        if rows is None:
            return content
        content = rows
    return _table(content, role, columns) or QueryRows.of(content, role, source.run_name, columns)


def _table(rows: JsonRows, role: str, columns: Given) -> "RoleTable | None":
    from lexirecall.formats.jsontables import is_json_table, open_json_table  # not on top: most rows are no tables

    return open_json_table(rows, role, columns) if is_json_table(rows, role, columns) else None


def may_hold_rows(source: Source) -> bool:
    """Tell by the first bytes whether JSON may hold rows: it does not begin as {query: {document: number}}."""
    return not _NUMBERED.match(source.head.removeprefix(BYTE_ORDER_MARK))


def _rows_in(content: Mapping[str, Any], name: str, role: str, columns: Given) -> JsonRows | None:
    """Return the rows of an object: itself, or the list of objects that it has; None if it is {query: documents}."""
    named = [path for what, path in (columns or {}).items() if what.rpartition(".")[2] in ("query", "document")]
    is_flat = has_usual_columns([*content]) and not any(isinstance(value, (dict, list)) for value in content.values())
    if is_flat or is_row(content) or any(True for path in named for _ in found_at(content, path)):
        return rows_of([content], name)
    found = rows_within(content)
    if len(found) > 1:  # other lists may say what was tried, or how it went
        found = {
            key: rows for key, rows in found.items() if QueryRows.of(rows_of(rows, name), role, "", columns).holds(role)
        }
    if len(found) > 1:
        problem = f"the rows may be under {' or '.join(map(shown, found))}"
        raise FormatError(name, None, problem, remedy="write one of these lists to a file of its own")
    return next((rows_of(rows, name) for rows in found.values()), None)


def _splits(content: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the runs of predictions of MTEB by subset and split; nothing if this is anything else."""
    subsets = {subset: runs for subset, runs in content.items() if subset != _ABOUT_THE_MODEL}
    splits = {
        f"{subset}.{split}": run
        for subset, runs in subsets.items()
        if isinstance(runs, Mapping)
        for split, run in runs.items()
    }
    is_complete = all(isinstance(runs, Mapping) for runs in subsets.values())
    return splits if is_complete and all(map(_is_run, splits.values())) else {}


def _is_run(content: Any) -> bool:
    """Tell {query: {document: score}} from {document: score}."""
    return isinstance(content, Mapping) and all(isinstance(scores, Mapping) for scores in content.values())


def _one_split(splits: Mapping[str, Mapping[str, Any]], name: str, columns: Given) -> Mapping[str, Any]:
    first, chosen = next(iter(splits)), (columns or {}).get("run.document")
    if chosen is None and len(splits) == 1:
        return splits[first]
    if chosen is not None and chosen in splits:
        return splits[chosen]
    problem = f"the file holds predictions of {' and '.join(map(shown, splits))}"
    remedy = f"say which, as in columns={{'run.document': {first!r}}} or --columns run.document={first}"
    raise FormatError(name, None, problem, remedy=remedy)
