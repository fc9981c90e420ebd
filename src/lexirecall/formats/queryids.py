"""Query ids: what the query of each row is called.

Belongs here: the choice among ids, the words of a query and the number of its row. Not here: what else rows hold
(queryrows).

An id takes precedence over the words, and these over the number: two files of the same queries then agree even if their
rows are in another order. The number is used only if the words are missing or not unique.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from lexirecall.errors import FormatError, listed, shown
from lexirecall.formats.jsontext import JsonRows
from lexirecall.formats.memory import ID_SHAPE
from lexirecall.formats.rowforms import QUERY_IDS, QUERY_TEXTS, RowForm, found_at, value_at
from lexirecall.text import id_of


class QueryIds(NamedTuple):
    """The ids of the queries of some rows."""

    ids: tuple[Any, ...]
    texts: tuple[str | None, ...]
    """The words of the queries; None where they are not known."""
    are_numbers: bool = False
    why: str = ""
    """Why they are numbers of rows."""


def query_ids(rows: JsonRows, forms: Sequence[RowForm], query_key: str | None = None) -> QueryIds:
    """Choose the ids of the queries: those under the key that is given, or under that of a form, or a usual one.

    >>> from lexirecall.formats.jsontext import rows_of
    >>> query_ids(rows_of([{"query": "why?"}, {"query": "how?"}], "rows.json"), []).ids
    ('why?', 'how?')
    >>> query_ids(rows_of([{"query": "why?"}, {"query": "why?"}], "rows.json"), []).why
    "2 rows have the text 'why?'"
    """
    texts = tuple(_text(row.content, forms) for row in rows.rows)
    paths = [query_key] if query_key is not None else [*(form.query for form in forms if form.query), *QUERY_IDS]
    for path in dict.fromkeys(paths):
        values = [value_at(row.content, path) for row in rows.rows]
        if any(value is not None for value in values):
            _check(rows, values, path)
            return QueryIds(tuple(values), texts)
    if query_key is not None:
        keys = listed(dict.fromkeys(key for row in rows.rows for key in row.content), most=12)
        raise FormatError(rows.name, None, f"no row has the key {shown(query_key)}", remedy=f"the keys are {keys}")
    if None in texts:
        why = "its text is missing" if set(texts) == {None} else "some texts are missing"
    elif (most := Counter(texts).most_common(1)) and most[0][1] > 1:
        why = f"{most[0][1]:,} rows have the text {shown(str(most[0][0]))}"
    else:
        return QueryIds(texts, texts)
    return QueryIds(tuple(range(1, len(rows.rows) + 1)), texts, are_numbers=True, why=why)


def _text(content: Any, forms: Sequence[RowForm]) -> str | None:
    """Return the words of a query, if one key has them."""
    for path in dict.fromkeys((*(form.text for form in forms if form.text), *QUERY_TEXTS)):
        found = [value for _, value in found_at(content, path) if isinstance(value, str)]
        if len(found) == 1:
            return found[0]
    return None


def _check(rows: JsonRows, values: Sequence[Any], path: str) -> None:
    """Raise if a row has no id, or that of another row."""
    seen: dict[bytes, str] = {}
    for row, value in zip(rows.rows, values, strict=True):
        if value is None:
            problem = f"no id of the query under {shown(path)}, where other rows have one"
            raise rows.error(row, problem, remedy="give each row an id, or name another key: --columns query=KEY")
        try:
            query = id_of(value)
        except (TypeError, ValueError):
            problem = f"{shown(repr(value))} under {shown(path)} is not a query id"
            raise rows.error(row, problem, remedy=ID_SHAPE) from None
        if query in seen:
            problem = f"query {shown(query)} has been on {seen[query]} already"
            raise rows.error(row, problem, remedy="keep one of them, or name another key: --columns query=KEY")
        seen[query] = rows.place(row)
