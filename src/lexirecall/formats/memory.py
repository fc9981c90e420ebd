"""Judgments, runs and providers that are already in memory: dicts of dicts, and ranked lists.

Belongs here: {query: {document: value}}, {query: [document, …]}, {document: provider} and {query: size}. Not here: text
(trec, jsontext), what becomes of rankings (lists).

Ids are text, or whole numbers, which are taken as their text: 7 and "7" are the same query. A grade or a score is any
real number; true and false are 1 and 0, as in a table.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from math import inf, isfinite
from numbers import Integral, Real
from typing import Any

from lexirecall.errors import FormatError, is_several, shown
from lexirecall.formats.idtypes import type_of_keys
from lexirecall.formats.rankedlist import RankedList
from lexirecall.formats.values import PROVIDER_REMEDY
from lexirecall.judgments import Judgments
from lexirecall.text import id_of

QRELS_SHAPE = "judgments are {query: {document: grade}}"
PROVIDERS_SHAPE = "a map of providers is {document: name} or {document: [name, ...]}"
ID_SHAPE = 'ids are text or whole numbers, such as "FR94-1" or 17'
RUN_SHAPE = "a run is {query: {document: score}} or, without scores, {query: [document, ...]}"
GROUPS_SHAPE = "groups are {query: group}"
UNITS_SHAPE = "a map of units is {document: unit}, {document: [unit, ...]} or {query: {document: unit}}"
SUBTOPICS_SHAPE = "judgments of subtopics are {query: {subtopic: {document: grade}}}"
SHAPES = {
    "qrels": QRELS_SHAPE,
    "run": RUN_SHAPE,
    "providers": PROVIDERS_SHAPE,
    "groups": GROUPS_SHAPE,
    "units": UNITS_SHAPE,
    "subtopics": SUBTOPICS_SHAPE,
}
"""What a mapping in each role looks like."""

_NO_LISTS = (bytearray, memoryview, Set)
"""What can be gone through, but is one text, or has no order."""


def judgments_from_mapping(grades: Mapping[Any, Any], name: str) -> Judgments:
    """Take judgments from {query: {document: grade}}.

    >>> judgments_from_mapping({1: {"a": 1, "b": 0.5}}, "qrels").grades.tolist()
    [1.0, 0.5]
    """
    read: dict[bytes, dict[bytes, float]] = {}
    for query, judged in grades.items():
        if not isinstance(judged, Mapping):
            raise FormatError(
                name,
                None,
                f"the value of query {query!r} is not a mapping: {shown(repr(judged))}",
                remedy=QRELS_SHAPE,
            )
        if id_in(query, name) in read:
            raise FormatError(
                name, None, f"two queries have the same text: {str(query)!r}", remedy="ids are compared as text"
            )
        entries = [*judged.items()]  # once: what is read may change by that
        pairs = {id_in(document, name, query): grade_of(grade, query, document, name) for document, grade in entries}
        if len(pairs) < len(entries):
            raise FormatError(name, None, f"two documents of query {query!r} have the same text", remedy=QRELS_SHAPE)
        read[id_in(query, name)] = pairs
    if not read:
        raise FormatError(name, None, "the judgments are empty", remedy=QRELS_SHAPE)
    return Judgments.from_grades(read, name=name, query_type=type_of_keys(grades))


def rankings_from_mapping(run: Mapping[Any, Any], name: str) -> Iterator[RankedList]:
    """Take rankings from {query: {document: score}} or {query: [document, …]}."""
    seen: set[bytes] = set()
    for query, listed in run.items():
        if id_in(query, name) in seen:
            raise FormatError(
                name, None, f"two queries have the same text: {str(query)!r}", remedy="ids are compared as text"
            )
        seen.add(id_in(query, name))
        if isinstance(listed, Mapping):
            entries = [*listed.items()]  # once: what is read may change by that
            scores = [_score(score, query, document, name) for document, score in entries]
            yield RankedList(id_in(query, name), [id_in(document, name, query) for document, _ in entries], scores)
        elif is_several(listed) and not isinstance(listed, _NO_LISTS):
            documents = listed.tolist() if hasattr(listed, "tolist") else listed
            yield RankedList(id_in(query, name), [id_in(document, name, query) for document in documents], None)
        else:
            raise FormatError(
                name, None, f"the value of query {query!r} is not a ranking: {shown(repr(listed))}", remedy=RUN_SHAPE
            )


def pairs_from_mapping(providers: Mapping[Any, Any], name: str) -> Iterator[tuple[bytes, bytes]]:
    """Take pairs of document and provider from {document: provider} or {document: [provider, …]}.

    >>> list(pairs_from_mapping({7: ["Knopf", "Insel"], "b": 12}, "providers"))
    [(b'7', b'Knopf'), (b'7', b'Insel'), (b'b', b'12')]
    """
    for document, owners in providers.items():
        for owner in owners if is_several(owners) and not isinstance(owners, Mapping) else (owners,):
            is_name = isinstance(owner, (str, bytes, Integral)) and not isinstance(owner, bool)
            if not is_name or not id_in(owner, name).strip():
                problem = f"document {document!r}: {shown(repr(owner))} is not the name of a provider"
                raise FormatError(name, None, problem, remedy=f"{PROVIDERS_SHAPE}; {PROVIDER_REMEDY}")
            yield id_in(document, name), id_in(owner, name)


def numbers_from_mapping(content: Mapping[Any, Any], name: str, checked: Callable[[Any, Any], int]) -> dict[bytes, int]:
    """Take whole numbers from {query: number}; `checked` returns one, given the query and what it has.

    >>> numbers_from_mapping({7: 90, "r": 100}, "corpus_size", lambda _, size: size)
    {b'7': 90, b'r': 100}
    """
    numbers: dict[bytes, int] = {}
    for query, value in content.items():
        key, number = id_in(query, name), checked(query, value)
        if numbers.setdefault(key, number) != number:
            problem = f"query {shown(key)} has {number} here and {numbers[key]} before"
            raise FormatError(name, None, problem, remedy="keep one of the two: ids are compared as text")
    return numbers


def id_in(identifier: Any, name: str, query: Any = None) -> bytes:
    """Return the bytes of an id: of a document of this query, or of a query itself."""
    if type(identifier) is str and identifier.isascii():  # nearly all ids, and fast
        return identifier.encode()
    try:
        return id_of(identifier)
    except TypeError:
        what, where = ("document", f"query {query!r}: ") if query is not None else ("query", "")
        problem = f"{where}{shown(repr(identifier))} is not a {what} id"
        remedy = RUN_SHAPE if isinstance(identifier, (Mapping, Sequence)) else ID_SHAPE
        raise FormatError(name, None, problem, remedy=remedy) from None
    except UnicodeEncodeError:
        problem = f"the id {shown(ascii(identifier))} is not valid Unicode"
        raise FormatError(name, None, problem, remedy="ids are text; a lone surrogate is not a character") from None
    except ValueError as error:  # a whole number with thousands of digits
        raise FormatError(name, None, f"an id cannot be written as text: {error}", remedy=ID_SHAPE) from None


def grade_of(value: Any, query: Any, document: Any, name: str) -> float:
    """Return a grade; raise if it is not a finite number."""
    if type(value) is int and -(2**53) < value < 2**53:
        return float(value)
    number = _real(value, "grade", query, document, name)
    if not isfinite(number):
        problem = f"query {query!r}, document {document!r}: the grade is not finite: {value!r}"
        raise FormatError(name, None, problem, remedy="write a plain number")
    return number


def _score(value: Any, query: Any, document: Any, name: str) -> float:
    number = value if type(value) is float else _real(value, "score", query, document, name)
    if number != number:  # noqa: PLR0124 - only NaN differs from itself
        problem = f"query {query!r}, document {document!r}: the score is NaN"
        raise FormatError(
            name, None, problem, remedy="NaN cannot be ordered: write a number, or leave out the document"
        )
    return number


def _real(value: Any, what: str, query: Any, document: Any, name: str) -> float:
    """Accept Python's and numpy's numbers alike, and nothing that only looks like one."""
    if not isinstance(value, Real) and not hasattr(value, "__float__"):
        problem = f"query {query!r}, document {document!r}: the {what} is not a number: {shown(repr(value))}"
        raise FormatError(name, None, problem, remedy=QRELS_SHAPE if what == "grade" else RUN_SHAPE)
    try:
        return float(value)
    except OverflowError:  # as in text, where 1e400 is infinite
        return inf if value > 0 else -inf
    except (TypeError, ValueError) as error:
        problem = f"query {query!r}, document {document!r}: the {what} is not a number: {error}"
        raise FormatError(name, None, problem, remedy="write a plain number") from None
