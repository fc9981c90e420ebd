"""JUnit: what a gate decided as XML that continuous integration shows test by test.

Belongs here: which test cases there are, which of them fail, and text that XML allows. Not here: what is decided
(decisions, checks).

There is a case for each decision, for each requirement, and for each query that lost a document. A query fails if a
requirement that fails names it, or if the new run is worse by the number found or by LexiRecall, and on this query too.
Other measures need not have changed where a document was lost, so the query passes, and its output says what it lost.
So no case fails if the gate passes, and at least one does if it fails.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from lexirecall.errors import counted, listed
from lexirecall.gates.changes import Change, DocumentMove
from lexirecall.gates.markdown import places_of
from lexirecall.gates.result import GateResult
from lexirecall.text import visible
from lexirecall.texts import shortened

_FORBIDDEN = re.compile("[\ufffe\uffff]")  # all else that XML does not allow is made visible as a control character
_MESSAGE = 300  # characters


@dataclass(frozen=True, slots=True)
class _TestCase:
    """One test case."""

    suite: str
    name: str
    fails: bool
    message: str
    lines: tuple[str, ...] = ()
    """Everything there is to say: in a failure or, if it passes, as its output."""


def junit(result: GateResult) -> str:
    """Return what a gate decided as JUnit XML; it lists every lost document."""
    cases = [*_decided(result), *_required(result), *_lost(result)]
    root = ET.Element("testsuites", {"name": "lexirecall gate", **_counts(cases)})
    for name in dict.fromkeys(case.suite for case in cases):
        members = [case for case in cases if case.suite == name]
        suite = ET.SubElement(root, "testsuite", {"name": name, **_counts(members)})
        for case, title in zip(members, _distinct(case.name for case in members), strict=True):
            _add(suite, case, title)
    ET.indent(root)
    content: str = ET.tostring(root, encoding="us-ascii").decode()  # other characters as references, for any terminal
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{content}'


def _counts(cases: list[_TestCase]) -> dict[str, str]:
    failures = sum(case.fails for case in cases)
    return {"tests": str(len(cases)), "failures": str(failures), "errors": "0", "skipped": "0", "time": "0"}


def _add(suite: ET.Element, case: _TestCase, title: str) -> None:
    element = ET.SubElement(suite, "testcase", {"classname": case.suite, "name": title, "time": "0"})
    lines = "\n".join(map(_allowed, (case.message, *case.lines)))
    if case.fails:
        message = _allowed(shortened(case.message, _MESSAGE))
        ET.SubElement(element, "failure", {"message": message, "type": "gate"}).text = lines
    else:
        ET.SubElement(element, "system-out").text = lines


def _allowed(text: str) -> str:
    r"""Return text that XML allows, on one line.

    >>> print(_allowed("a\x00b\uffff"))
    a\x00b\uffff
    """
    return _FORBIDDEN.sub(lambda match: match[0].encode("unicode_escape").decode(), visible(text))


def _distinct(names: Iterable[str]) -> Iterator[str]:
    """Give the names as XML has them; those that look alike are numbered, since cases of one name are taken for one."""
    seen: set[str] = set()
    for name in map(_allowed, names):
        number, title = 1, name
        while title in seen:
            number += 1
            title = f"{name} ({number})"
        seen.add(title)
        yield title


def _decided(result: GateResult) -> Iterator[_TestCase]:
    for decision in result.decisions:
        yield _TestCase("no worse than the baseline", decision.name, decision.fails, decision.sentence())
    for build in result.kept:
        yield _TestCase("no worse than the baseline", build.name or "this build", not build.passed, build.sentence())


def _required(result: GateResult) -> Iterator[_TestCase]:
    for check in result.checks:
        lines = tuple(
            f"{offence.query}: {_document(moved, result)}" for offence in check.offences for moved in offence.documents
        )
        yield _TestCase("required", check.name, not check.passed, check.sentence, lines)


def _lost(result: GateResult) -> Iterator[_TestCase]:
    named = {offence.query for check in result.checks if not check.passed for offence in check.offences}
    failing = {decision.name for decision in result.decisions if decision.fails}
    for change in result.changes:
        if change.lost:
            finds_less = change.found_now < change.found_before
            is_worse = ("LexiRecall" in failing and change.sign < 0) or ("NumRelRet" in failing and finds_less)
            fails = change.query in named or is_worse
            lines = tuple(_document(moved, result) for moved in change.lost)
            yield _TestCase("nothing lost", change.query, fails, _lost_on(change, result), lines)


def _lost_on(change: Change, result: GateResult) -> str:
    text = result.text_of_query(change.query)
    told = "" if text is None else f" (query: {shortened(text)})"
    documents = listed(moved.document for moved in change.lost)
    return f"{counted(len(change.lost), 'relevant document')} lost: {documents}{told}"


def _document(moved: DocumentMove, result: GateResult) -> str:
    text = result.text_of_document(moved.document)
    return f"{moved.document} ({places_of(moved)})" + ("" if text is None else f": {shortened(text)}")
