"""Grouping: the group of each query, from lines, mappings and tables.

Belongs here: what `query group` lines, {query: group} and rows of query and group mean. Not here: what becomes of
the groups (lexirecall.groups), which input is what (kinds).

A query has one group. It may be said more than once, but not in two ways.
"""

from collections.abc import Mapping
from numbers import Integral
from typing import Any

from lexirecall.errors import FormatError, shown
from lexirecall.formats.memory import GROUPS_SHAPE
from lexirecall.formats.roletable import RoleTable
from lexirecall.formats.source import Source
from lexirecall.formats.trec import damage_first, lines
from lexirecall.text import id_of

_LINE = "write a line for each query: its id, a blank or tab, and the name of its group, without blanks"
_KEEP_ONE = "a query has one group: keep one of the two"

GroupOf = dict[bytes, bytes]
"""The group of each query."""


def read_groups(source: Source) -> GroupOf:
    """Read lines of query and group."""
    group_of: GroupOf = {}
    with damage_first(source):
        for number, fields in lines(source, most=2):
            if len(fields) != 2:
                problem = f"a line has 2 fields (query group), found {'1' if len(fields) == 1 else 'more'}"
                raise FormatError(source.name, number, f"{problem}: {shown(b' '.join(fields))}", remedy=_LINE)
            query, group = fields
            if group_of.setdefault(query, group) != group:
                earlier = next(n for n, others in lines(source, most=2) if others[0] == query)
                problem = _two_groups(query, group, group_of[query], f"on line {earlier}")
                raise FormatError(source.name, number, problem, remedy=_KEEP_ONE)
    return group_of


def groups_from_mapping(content: Mapping[Any, Any], name: str) -> GroupOf:
    """Take groups from {query: group}.

    >>> groups_from_mapping({7: "easy", "q2": 2}, "groups")
    {b'7': b'easy', b'q2': b'2'}
    """
    group_of: GroupOf = {}
    for query, group in content.items():
        key, value = _id(query, "a query id", name), _id(group, f"the group of query {query!r}", name)
        if group_of.setdefault(key, value) != value:
            raise FormatError(name, None, _two_groups(key, value, group_of[key], "before"), remedy=_KEEP_ONE)
    return group_of


def _id(value: Any, what: str, name: str) -> bytes:
    try:
        if isinstance(value, (str, bytes, Integral)) and not isinstance(value, bool) and (text := id_of(value)).strip():
            return text
    except TypeError:
        pass
    raise FormatError(name, None, f"cannot use {shown(repr(value))} as {what}", remedy=GROUPS_SHAPE)


def groups_from_table(table: RoleTable) -> GroupOf:
    """Take groups from rows of query and group."""
    queries, groups = table.ids("query"), table.ids("group")
    keys, names = ([text.encode() for text in ids.texts()] for ids in (queries, groups))
    group_of: dict[int, tuple[int, int]] = {}
    for row, (query, group) in enumerate(zip(queries.codes.tolist(), groups.codes.tolist(), strict=True)):
        known, earlier = group_of.setdefault(query, (group, row))
        if known != group:
            problem = _two_groups(keys[query], names[group], names[known], table.place(earlier))
            raise table.error(row, problem, remedy=_KEEP_ONE)
        if not names[group].strip():
            problem = f"{shown(names[group])} is not the name of a group"
            raise table.error(row, problem, remedy="leave out queries without a group")
    return {keys[query]: names[group] for query, (group, _) in group_of.items()}


def _two_groups(query: bytes, here: bytes, there: bytes, where: str) -> str:
    return f"query {shown(query)} is in group {shown(here)} here and in {shown(there)} {where}"
