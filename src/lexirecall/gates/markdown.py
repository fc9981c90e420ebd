"""Markdown: what a gate decided, for a comment on a change or the summary of a build.

Belongs here: what is shown in which order, and what is left out if it does not fit. Not here: escaping (tables), what
is decided (decisions, checks).

Ids are shown as code, so nothing in them has a meaning; texts are escaped.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from lexirecall.errors import counted
from lexirecall.gates.changes import Change, DocumentMove
from lexirecall.gates.checks import RequirementCheck
from lexirecall.gates.result import SHOWN, GateResult, checks_table, decisions_table
from lexirecall.tables import Table
from lexirecall.tables import markdown as escaped
from lexirecall.tables import markdown_code as as_code
from lexirecall.texts import shortened

LIMIT = 60_000
"""Characters, at most: GitHub refuses comments above 65,536."""
_NAME = 100  # characters of the name of a run
_BEGINS = re.compile(r"\s|[-+=]|\d+[.)]")


@dataclass(frozen=True)
class _Section:
    """A title or the head of a table, and rows, of which the last ones can be left out."""

    opening: str
    rows: Sequence[str] = ()
    closing: str = ""

    def with_rows(self, num_rows: int) -> str:
        """Return its Markdown, with so many rows, and say how many there are if that is not all."""
        left = len(self.rows) - num_rows
        note = f"\n({counted(left, 'more row')} left out: this comment would be too long)" if left else ""
        return "\n".join([self.opening, *self.rows[:num_rows], *filter(None, [note, self.closing])])

    @property
    def fixed(self) -> int:
        """How many characters it has at least."""
        return len(self.with_rows(0)) + len("\n\n")


def markdown(result: GateResult) -> str:
    """Return what a gate decided as Markdown of at most 60,000 characters: the verdict first, then what it rests on."""
    sections = [section for section in _sections(result) if section.opening]
    room = LIMIT - sum(section.fixed for section in sections)
    shown = []
    for section in sections:
        num_rows = 0
        for row in section.rows:
            if len(row) + 1 > room:
                break
            room -= len(row) + 1
            num_rows += 1
        shown.append(section.with_rows(num_rows))
    return "\n\n".join(shown)


def _sections(result: GateResult) -> Iterator[_Section]:
    yield _verdict(result)
    if result.decisions:
        failing = [decision.fails for decision in result.decisions]
        yield _of_table(decisions_table(result), failing)
    if result.checks:
        yield _of_table(checks_table(result), [not check.passed for check in result.checks])
    yield _lost(result)
    yield from (_offending(check, result) for check in result.checks if not check.is_of_any_loss)
    yield _later(result)
    yield _gained(result)
    yield _unknown(result)
    yield _listed("**Notes**", [_sentence(note.text) for note in result.notes])


def _verdict(result: GateResult) -> _Section:
    against = "" if result.baseline is None else f" against {_name(result.baseline)}"
    runs = f"{_name(result.new)}{against}, {counted(result.num_queries, 'query')}"
    total = counted(result.num_checks, "check")
    if result.passed:
        return _Section(f"**The gate passes**: {total} ({runs})")
    rows = [_sentence(failure) for failure in result.failures]
    return _Section(f"**The gate fails**: {result.num_failed:,} of {total} ({runs})\n", rows)


def _sentence(text: str) -> str:
    """Return a document that is a sentence, also if it starts with what begins a list or a block of code."""
    return f"- {as_code(text) if _BEGINS.match(text) else escaped(text)}"


def _name(run: str) -> str:
    return as_code(shortened(run, _NAME))


def _of_table(table: Table, failing: Sequence[bool]) -> _Section:
    """Return a table with the verdicts that fail, in its last column, in bold."""
    bold = frozenset((row, len(table.header) - 1) for row, fails in enumerate(failing) if fails)
    head, rule, *rows = replace(table, best=bold, footnote="").to_markdown().splitlines()
    return _Section(f"{head}\n{rule}", rows, f"\n{escaped(table.footnote)}" if table.footnote else "")


# Lists


def _listed(title: str, rows: Sequence[str], closing: str = "") -> _Section:
    """Return a list under its title, nothing if there are no rows."""
    return _Section(f"{title}\n", rows, closing) if rows else _Section("")


def _lost(result: GateResult) -> _Section:
    lost = [_LostDocuments(change.query, change.lost, _found(change)) for change in result.changes if change.lost]
    return _listed(f"**Lost**: {_total(lost)}", _rows(lost, result), _more(lost))


def _found(change: Change) -> str:
    total = counted(change.num_relevant, "relevant document")
    return f": finds {change.found_now:,} of {total}, {change.found_before:,} before"


def _offending(check: RequirementCheck, result: GateResult) -> _Section:
    offences = [_LostDocuments(offence.query, offence.documents) for offence in check.offences]
    title = f"**Against** {escaped(str(check.requirement))}: {_total(offences)}"
    return _listed(title, _rows(offences, result), _more(offences))


def _later(result: GateResult) -> _Section:
    rows = [f"- {_query(change.query, result)}: {escaped(change.sentence)}" for change in result.later[:SHOWN]]
    more = f"- and {counted(len(result.later) - SHOWN, 'more query')}" if len(result.later) > SHOWN else ""
    return _listed(f"**Found later**, and nothing lost: {counted(len(result.later), 'query')}", rows, more)


def _gained(result: GateResult) -> _Section:
    gained = [_LostDocuments(change.query, change.gained) for change in result.changes if change.gained]
    title = f"<details><summary><b>Gained</b>: {_total(gained)}</summary>"
    more = _more(gained)
    return _listed(title, _rows(gained, result), f"{more}\n\n</details>" if more else "\n</details>")


def _unknown(result: GateResult) -> _Section:
    labels = result.unknown
    rows = [f"- {as_code(label.document)}, relevant to {as_code(label.query)}" for label in labels[:SHOWN]]
    more = f"- and {len(labels) - SHOWN:,} more" if len(labels) > SHOWN else ""
    title = f"**Labels to look at**: {counted(len(labels), 'relevant document')} that no run and no list of ids knows"
    return _listed(title, rows, more)


def _query(query: str, result: GateResult) -> str:
    text = result.text_of_query(query)
    return as_code(query) + ("" if text is None else f" ({escaped(shortened(text))})")


class _LostDocuments(NamedTuple):
    """A query, and documents of it that are to be listed."""

    query: str
    documents: Sequence[DocumentMove]
    remark: str = ""


def _rows(listed: Iterable[_LostDocuments], result: GateResult) -> list[str]:
    """Return a row for each query, as far as the first documents of all go."""
    rows, room = [], SHOWN
    for entry in listed:
        if room > 0:
            documents = (f"  - {_document(document, result)}" for document in entry.documents[:room])
            rows.append("\n".join([f"- {_query(entry.query, result)}{entry.remark}", *documents]))
        room -= len(entry.documents)
    return rows


def _document(moved: DocumentMove, result: GateResult) -> str:
    text = result.text_of_document(moved.document)
    return f"{as_code(moved.document)} ({places_of(moved)})" + ("" if text is None else f": {escaped(shortened(text))}")


def places_of(moved: DocumentMove) -> str:
    """Say where a document was and where it is.

    >>> [places_of(DocumentMove("d", was, now)) for was, now in ((4, 30), (4, None), (None, None))]
    ['was at 4, now at 30', 'was at 4', 'not found']
    """
    places = [("was at", moved.was), ("now at", moved.now)]
    return ", ".join(f"{word} {place:,}" for word, place in places if place is not None) or "not found"


def _total(listed: Sequence[_LostDocuments]) -> str:
    documents = sum(len(entry.documents) for entry in listed)
    return f"{counted(documents, 'relevant document')} on {counted(len(listed), 'query')}"


def _more(listed: Iterable[_LostDocuments]) -> str:
    left = sum(len(entry.documents) for entry in listed) - SHOWN
    return f"- and {counted(left, 'more relevant document')}" if left > 0 else ""
