"""Depths: how many documents of each ranking were read.

Belongs here: one number, numbers by query, or by run and query, from memory or from a file; and which options would
change what a depth means. Not here: what was found down to there (samples, stops).

A file has lines `query depth`, or `run query depth`; a first line that names them is skipped.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

from lexirecall.errors import FormatError, UsageError, shown
from lexirecall.formats.columns import USUAL, spelling
from lexirecall.formats.memory import numbers_from_mapping
from lexirecall.formats.naming import single
from lexirecall.formats.source import Source
from lexirecall.formats.trec import lines
from lexirecall.manifest import MOST_DOCUMENTS
from lexirecall.text import to_text

_REMEDY = "write how many documents were read, as in 1200"


def check_whole(options: Mapping[str, Any]) -> None:
    """Raise if an option cuts rankings, or puts documents into them that were not retrieved.

    >>> check_whole({"depth": 100})
    Traceback (most recent call last):
    lexirecall.errors.UsageError: depth is given, but how much was read says nothing without the whole ranking
      leave it out
    """
    changed = [name for name in ("depth", "judged_only") if options.get(name)]
    if options.get("imputation") == "optimistic":
        changed.append("optimistic imputation")
    if changed:
        problem = f"{' and '.join(changed)} {'is' if len(changed) == 1 else 'are'} given, but how much was read"
        raise UsageError(f"{problem} says nothing without the whole ranking", remedy="leave it out")


@dataclass(frozen=True, slots=True)
class Depths:
    """How many documents were read.

    >>> depths = load_depths({"bm25": {"q1": 120}})
    >>> depths.of("bm25", b"q1"), depths.of("bm25", b"q2"), load_depths(50).of("bm25", b"q1")
    (120, None, 50)
    """

    name: str
    """What messages call them."""
    everywhere: int | None = None
    by_query: Mapping[bytes, int] = field(default_factory=dict)
    """Of every run."""
    by_run: Mapping[str, Mapping[bytes, int]] = field(default_factory=dict)

    def of(self, run: str, query: bytes) -> int | None:
        """Return how many documents of a ranking were read; None if it is not known."""
        if self.everywhere is not None:
            return self.everywhere
        return self.by_run[run].get(query) if run in self.by_run else self.by_query.get(query)


def load_depths(depths: Any, name: str = "read") -> Depths:
    """Take depths in any of their forms: a number, {query: depth}, {run: {query: depth}}, or a file.

    >>> load_depths({"q": -1})
    Traceback (most recent call last):
    lexirecall.errors.UsageError: read: the depth of query 'q' is -1, but must be a whole number, 0 or more
    """
    if isinstance(depths, (str, os.PathLike)):
        with Source(single(depths, name)) as source:
            return _from_lines(source)
    if not isinstance(depths, Mapping):
        return Depths(name, _checked(depths, name, "the depth"))
    is_by_run = any(isinstance(value, Mapping) for value in depths.values())
    if is_by_run:
        if len({*map(str, depths)}) < len(depths):
            raise UsageError(f"{name}: two runs have the same name", remedy="rename one; names are text")
        by_run = {str(run): _by_query(of_run, name, f" of run {run!r}") for run, of_run in depths.items()}
        return Depths(name, by_run=by_run)
    return Depths(name, by_query=_by_query(depths, name))


def _by_query(depths: Any, name: str, of_run: str = "") -> dict[bytes, int]:
    if not isinstance(depths, Mapping):
        raise UsageError(f"{name}: the depths{of_run} are {depths!r}", remedy="give {query: depth} for every run")
    return numbers_from_mapping(
        depths, name, lambda query, depth: _checked(depth, name, f"the depth of query {query!r}{of_run}")
    )


def _checked(depth: Any, name: str, what: str) -> int:
    if not isinstance(depth, Integral) or isinstance(depth, bool) or not 0 <= int(depth) <= MOST_DOCUMENTS:
        raise UsageError(f"{name}: {what} is {depth!r}, but must be a whole number, 0 or more")
    return int(depth)


def _is_header(fields: list[bytes]) -> bool:
    """Tell the names of columns from a first row whose depth is misspelt, which must not be skipped."""
    names = [spelling(to_text(field)) for field in fields]
    return len(fields) in (2, 3) and names[-2] in {"query", *USUAL["query"]} and not any(map(str.isdigit, names[-1]))


def _from_lines(source: Source) -> Depths:
    by_query: dict[bytes, int] = {}
    by_run: dict[str, dict[bytes, int]] = {}
    size = 0
    for number, fields in lines(source):
        *ids, text = fields
        if number == 1 and _is_header(fields):
            size = len(fields)
            continue
        size = size or len(fields)
        if len(fields) not in (2, 3) or len(fields) != size:
            problem = f"a line has 2 fields (query depth) or 3 (run query depth), found {len(fields)}"
            raise FormatError(source.name, number, f"{problem}: {shown(b' '.join(fields))}", remedy=_REMEDY)
        if not (text.isdigit() and len(text) <= 20 and int(text) <= MOST_DOCUMENTS):
            raise FormatError(source.name, number, f"the depth is not a whole number: {shown(text)}", remedy=_REMEDY)
        depths = by_query if size == 2 else by_run.setdefault(to_text(ids[0]), {})
        if depths.setdefault(ids[-1], int(text)) != int(text):
            problem = f"query {shown(ids[-1])} has depth {int(text)} here and {depths[ids[-1]]} before"
            raise FormatError(source.name, number, problem, remedy="keep one of the two lines")
    return Depths(source.name, by_query=by_query, by_run=by_run)
