"""JSON tables: rows of JSON that are about one query and one document each.

Belongs here: telling such rows from rows about one query (queryrows), and their columns as a table. Not here: what
columns and rows mean (columns, rows, labels).
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lexirecall.errors import shown
from lexirecall.formats.columns import Given, find_columns, has_usual_columns
from lexirecall.formats.jsontext import JsonRows
from lexirecall.formats.roletable import RoleTable, open_frame, used_columns
from lexirecall.formats.rowforms import JsonObject, paths_to
from lexirecall.formats.tablefiles import polars_for


def is_json_table(rows: JsonRows, role: str, columns: Given) -> bool:
    """Tell whether each row has one document of a `run` or of `qrels`, under a usual key or under one that is given.

    >>> from lexirecall.formats.jsontext import rows_of
    >>> is_json_table(rows_of([{"query_id": 7, "doc_id": "a", "score": 0.5}], "rows"), "run", None)
    True
    """
    contents = [row.content for row in rows.rows]
    key = (columns or {}).get(f"{role}.document") or (columns or {}).get("document")
    if key is not None:
        value = next((content[key] for content in contents if content.get(key) is not None), None)
        return isinstance(value, (str, int, float))
    return has_usual_columns(_keys(contents)) and not paths_to(contents, role)


def open_json_table(rows: JsonRows, role: str, columns: Given) -> RoleTable:
    """Take rows as a table; a key that a row lacks is a missing value."""
    pl = polars_for(rows.name)
    contents = [row.content for row in rows.rows]
    found = find_columns(_keys(contents), role, columns, source=rows.name)
    used = used_columns(found, role)
    others = {key for key in _keys(contents) if all(_is_text(content.get(key)) for content in contents)} - {*used}
    frame = pl.DataFrame([_series(pl, name, rows) for name in [*used, *sorted(others)]])
    table = open_frame(frame, role, columns, name=rows.name)

    def place(row: int) -> tuple[str, int]:
        return rows.name, rows.rows[row].number

    return replace(table, place_of=place) if rows.are_lines else table


def _keys(contents: Sequence[JsonObject]) -> list[str]:
    return [*dict.fromkeys(key for content in contents for key in content)]


def _series(pl: Any, name: str, rows: JsonRows) -> Any:
    """Return a column; values of several types stay what they are."""
    values = [row.content.get(name) for row in rows.rows]
    has_truth = {*map(type, values)} - {type(None)} > {bool}  # which would be 1 and 0 behind a number
    try:
        return pl.Series(name, values, dtype=pl.Object if has_truth else None)
    except UnicodeEncodeError:
        row = next(row for row in rows.rows if not _is_unicode(row.content.get(name)))
        problem = f"{shown(ascii(row.content[name]))} under {shown(name)} is not valid Unicode"
        raise rows.error(row, problem, remedy="a lone surrogate is not a character") from None
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        return pl.Series(name, values, dtype=pl.Object)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and _is_unicode(value)


def _is_unicode(value: Any) -> bool:
    return not re.search("[\ud800-\udfff]", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
