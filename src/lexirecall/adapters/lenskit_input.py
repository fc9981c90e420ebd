"""Item lists and collections of them, as LensKit has them: from these to judgments, tables of runs, and positions.

Belongs here: reading these. Not here: LensKit's metrics, and what is computed (lenskit). This module does not import
LensKit: its objects say what they are.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lexirecall.errors import DataError, UsageError, counted, listed, plain, shown
from lexirecall.formats.idtypes import TEXT, type_of_keys
from lexirecall.formats.lists import project_rankings
from lexirecall.formats.memory import id_in, judgments_from_mapping
from lexirecall.formats.rankedlist import DuplicateDocument, RankedList
from lexirecall.judgments import Judgments
from lexirecall.manifest import Conventions
from lexirecall.positions import Positions
from lexirecall.text import to_bytes, to_text

ItemList = Any
"""LensKit's list of items, with scores or an order."""
RankedLists = Any
"""LensKit's ItemListCollection: item lists by key."""

GRADE_FIELDS = ("rating", "gain")
"""The fields of a test list that may hold grades; the first one present counts."""
_ONE = "this user"  # a metric is not told whose list it measures


@dataclass(frozen=True, slots=True)
class RunTable:
    """One run as a table of user, item and score, and the users it answers, even with an empty list."""

    table: Any
    queries: frozenset[str]


def table_of(lists: RankedLists, name: str, key_fields: tuple[str, ...]) -> RunTable:
    """Put the lists of a run one after the other; in an ordered list the first item gets the highest score."""
    import pyarrow as pa

    keys: list[str] = []
    items: list[Any] = []
    scores: list[Any] = []
    filled: list[str] = []
    for key, ranked in lists_of(lists, key_fields, name):
        keys.append(key)
        if len(ranked):
            order, ids = _scores(ranked, key, name), ranked.ids(format="arrow")
            scored = ~np.isnan(order)
            items.append(ids if scored.all() else ids.filter(pa.array(scored)))
            scores.append(order[scored])
            filled.append(key)
    if not sum(map(len, scores)):
        raise DataError(f"{name} has no recommendations", remedy="check that it is the right run")
    users = pa.DictionaryArray.from_arrays(np.repeat(np.arange(len(filled)), [*map(len, scores)]), pa.array(filled))
    columns = {"user_id": users, "item_id": _joined(items), "score": np.concatenate(scores)}
    return RunTable(pa.table(columns), frozenset(keys))


def lists_of(lists: RankedLists, key_fields: tuple[str, ...], name: str) -> Iterator[tuple[str, ItemList]]:
    """Give each list with the text of its key; only these fields of the key count."""
    theirs = key_fields_of(lists, name)
    if missing := [field for field in key_fields if field not in theirs]:
        raise DataError(
            f"the keys of {name} have no field {missing[0]!r}, but the test data's do; found {listed(theirs, 99)}",
            remedy="rename a field with rename_key()",
        )
    places = [theirs.index(field) for field in key_fields]
    seen: set[str] = set()
    for key, item_list in lists.items():
        text = text_of(tuple(key[place] for place in places))
        if text in seen:
            raise DataError(f"{name} has two lists for {shown(text)}", remedy="keep one of them")
        seen.add(text)
        if item_list is not None:
            yield text, item_list


def key_fields_of(lists: RankedLists, name: str) -> tuple[str, ...]:
    """Return the names of the key's fields, or raise if this is not a collection."""
    if not (hasattr(lists, "key_fields") and hasattr(lists, "items")):
        raise UsageError(f"{name} is a {type(lists).__name__}, but must be an ItemListCollection")
    return tuple(lists.key_fields)


def text_of(key: Any) -> str:
    r"""Return the text of a key; its fields are separated by `|`, which is escaped inside a field.

    >>> text_of((7,)), text_of(7.0), text_of(("u|1", 3))
    ('7', '7', 'u\\|1|3')
    """
    values = key if isinstance(key, tuple) else (key,)
    whole = [int(value) if isinstance(value, float) and value.is_integer() else value for value in values]
    texts = [to_text(to_bytes(value)) for value in whole]
    return texts[0] if len(texts) == 1 else "|".join(text.replace("\\", "\\\\").replace("|", "\\|") for text in texts)


def _scores(ranked: ItemList, key: str, name: str) -> Any:
    """Return numbers that fall along the ranking; nan for an item without a score, which top_n() leaves out too."""
    if ranked.ordered:
        ranks = ranked.field("rank")
        if ranks is not None and (np.diff(ranks) <= 0).any():
            raise DataError(
                f"{name}: the list for {shown(key)} is ordered, but its ranks do not ascend",
                remedy="sort by rank before you make the lists",
            )
        return -np.arange(len(ranked), dtype=float)
    scores = ranked.scores()
    if scores is None:
        problem = f"{name}: the list for {shown(key)} is not ordered and has no scores"
        raise DataError(problem, remedy="make it with ordered=True if it is a ranking")
    return np.asarray(scores, float)


def project_list(output: ItemList, test: ItemList, level: float, field: str | None) -> Positions:
    """Find the positions of the items of one test list in one list."""
    judgments = judgments_of([(_ONE, test)], level, field)
    try:
        rankings = [_ranking(output)]
        run = project_rankings("the output", rankings, judgments, Conventions(), needs_judged=True)
    except DuplicateDocument as error:
        raise DataError(
            f"item {shown(error.document)} is listed twice in one list", remedy="keep one of them"
        ) from None
    return Positions.stack(judgments, [run], Conventions())


def _ranking(output: ItemList) -> RankedList:
    """Return one list as our reader of rankings takes it."""
    ids = [id_in(item, "the output", _ONE) for item in output.ids().tolist()] if len(output) else []
    scores = _scores(output, _ONE, "the output").tolist() if ids else []
    if output.ordered or not ids:
        return RankedList(to_bytes(_ONE), ids, None)
    scored = [(item, value) for item, value in zip(ids, scores, strict=True) if value == value]  # noqa: PLR0124 - not nan
    return RankedList(to_bytes(_ONE), [item for item, _ in scored], [value for _, value in scored])


def _joined(arrays: list[Any]) -> Any:
    """Return the ids of all lists as one column; as text if their types differ."""
    import pyarrow as pa

    types = {array.type for array in arrays}
    if len(types) > 1:
        arrays = [array.cast(pa.large_string()) for array in arrays]
    return pa.concat_arrays(arrays)


def judgments_of(tests: Iterable[tuple[str, ItemList]], level: float, field: str | None) -> Judgments:
    """Return the test data as judgments."""
    lists = list(tests)
    chosen = _grade_field([item_list for _, item_list in lists], field)
    same_grade = max(level, 1.0)
    grades: dict[str, dict[Any, float]] = {}
    num_repeated = 0
    for key, item_list in lists:
        ids = item_list.ids().tolist() if len(item_list) else []
        values = [same_grade] * len(ids) if chosen is None else _grades(item_list, chosen, key)
        pairs = dict(zip(ids, values, strict=True))
        if len(pairs) < len(ids):
            num_repeated += len(ids) - len(pairs)
            _refuse_contradiction(ids, values, pairs, key)
        grades[key] = pairs
    judgments = judgments_from_mapping(grades, "the test data")
    return replace(judgments, num_repeated=num_repeated, has_grades=chosen is not None)


def _grade_field(lists: list[ItemList], field: str | None) -> str | None:
    for name in GRADE_FIELDS if field is None else (field,):
        if any(item_list.field(name) is not None for item_list in lists):
            return name
    if field is not None:
        raise DataError(f"the test data have no field {field!r}", remedy="leave it out if every item is relevant")
    return None


def _grades(item_list: ItemList, field: str, key: str) -> list[float]:
    if not len(item_list):
        return []
    values = item_list.field(field)
    if values is None:
        problem = f"the test list for {shown(key)} has no field {field!r}, but others have it"
        raise DataError(problem, remedy="give it to all test lists")
    grades: list[float] = values.tolist()
    return grades


def _refuse_contradiction(ids: list[Any], values: list[float], pairs: dict[Any, float], key: str) -> None:
    for item, value in zip(ids, values, strict=True):
        if value != pairs[item]:
            which = f"item {shown(str(item))} of {shown(key)}"
            problem = f"the test data give {which} the grades {plain(value)} and {plain(pairs[item])}"
            raise DataError(problem, remedy="keep one of them")


def refuse_duplicates(lists: RankedLists, name: str, key_fields: tuple[str, ...]) -> None:
    """Say which list has an item twice, in words for lists rather than for tables."""
    for key, item_list in lists_of(lists, key_fields, name):
        ids = item_list.ids().tolist() if len(item_list) else []
        if again := len(ids) - len(set(ids)):
            which = f"item {shown(str(_repeated(ids)))} is listed twice in the list for {shown(key)}"
            rest = f" ({counted(again, 'such document')} there)" if again > 1 else ""
            raise DataError(f"{name}: {which}{rest}", remedy="keep one, or go on with duplicates='first'") from None


def _repeated(ids: list[Any]) -> Any:
    seen: set[Any] = set()
    return next(item for item in ids if item in seen or seen.add(item))  # type: ignore[func-returns-value]


def type_of_users(test: RankedLists) -> str:
    """Return the type of keys with a single field; several fields are joined as text."""
    return type_of_keys(key[0] for key, _ in test.items()) if len(test.key_fields) == 1 else TEXT
