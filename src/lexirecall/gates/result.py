"""Gate result: what a gate decided, and everything that it decided on.

Belongs here: the result, its rows and its tables. Not here: Markdown (markdown), JUnit XML (junit), how it comes about
(gate).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lexirecall.errors import choice, counted
from lexirecall.gates.changes import Change, DocumentMove
from lexirecall.gates.checks import RequirementCheck
from lexirecall.gates.decisions import Decision
from lexirecall.gates.labels import Label
from lexirecall.gates.ledger import Build
from lexirecall.manifest import Manifest, Note
from lexirecall.notebook import CellPart, DisplayedResult
from lexirecall.tables import Table, number, to_jsonl, whole
from lexirecall.text import visible
from lexirecall.texts import Texts, shortened, texts_beside

FORMS = ("table", "markdown", "junit", "jsonl")
"""How it is printed."""
SHOWN = 20
"""Documents, or queries, that tables and Markdown list."""
_PREFERRED = {1: "new", -1: "baseline", 0: None}


@dataclass(frozen=True, eq=False)
class GateResult(DisplayedResult):
    """What a gate decided; true if it passes, so that `assert gate(...)` does what it says."""

    new: str
    """The new run, as people call it."""
    baseline: str | None
    """The baseline; None if there is none, and requirements decide."""
    num_queries: int
    num_relevant: int
    """How many relevant documents these queries have."""
    alpha: float
    """The chance of a false alarm, over all builds if there is a ledger."""
    level: float
    """What this build could spend of it; alpha without a ledger."""
    build: Build | None
    """Which build on these queries it is, if there is a ledger."""
    decisions: tuple[Decision, ...]
    """Is the new run worse than the baseline? One for each measure, and for each number and group asked for; none if
    the build keeps an earlier verdict."""
    checks: tuple[RequirementCheck, ...]
    """Does the new run do what is required of it?"""
    changes: tuple[Change, ...]
    """What each query lost and gained, the worst first; queries without a change are not listed."""
    unknown: tuple[Label, ...]
    """Relevant documents that no run finds and no file of the corpus knows; empty without such a file."""
    notes: tuple[Note, ...]
    manifest: Manifest
    texts: Texts | None = None

    def __bool__(self) -> bool:
        return self.passed

    @property
    def passed(self) -> bool:
        """Whether the gate lets the new run pass."""
        return not self.num_failed

    @property
    def num_failed(self) -> int:
        """How many decisions and requirements fail."""
        decided = sum(decision.fails for decision in self.decisions) + sum(not build.passed for build in self.kept)
        return decided + sum(not check.passed for check in self.checks)

    @property
    def num_checks(self) -> int:
        """How many decisions and requirements there are."""
        return len(self.decisions) + len(self.kept) + len(self.checks)

    @property
    def kept(self) -> list[Build]:
        """The build, if it keeps an earlier verdict that would not be reached now."""
        return [self.build] if self.build is not None and self.build.is_kept else []

    @property
    def verdict(self) -> str:
        """The verdict in one line."""
        total = counted(self.num_checks, "check")
        against = "" if self.baseline is None else f" against {self.baseline}"
        word = f"fails: {self.num_failed:,} of {total}" if self.num_failed else f"passes: {total}"
        return f"The gate {word} ({self.new}{against}, {counted(self.num_queries, 'query')})"

    @property
    def failures(self) -> list[str]:
        """Why the gate fails, a sentence for each decision and requirement that does."""
        decided = [decision.sentence() for decision in self.decisions if decision.fails]
        decided += [build.sentence() for build in self.kept if not build.passed]
        return decided + [check.sentence for check in self.checks if not check.passed]

    @property
    def lost(self) -> list[tuple[Change, DocumentMove]]:
        """Every relevant document that only the baseline finds, the worst query first."""
        return [(change, moved) for change in self.changes for moved in change.lost]

    @property
    def gained(self) -> list[tuple[Change, DocumentMove]]:
        """Every relevant document that only the new run finds."""
        return [(change, moved) for change in self.changes for moved in change.gained]

    @property
    def later(self) -> list[Change]:
        """The queries that lose no document, and find some later."""
        return [change for change in self.changes if change.is_worse and not change.lost]

    def text_of_query(self, query: str) -> str | None:
        """Return the text of a query, if there is one."""
        return None if self.texts is None else self.texts.of_query(query)

    def text_of_document(self, document: str) -> str | None:
        """Return the text of a document, if there is one."""
        return None if self.texts is None else self.texts.of_document(document)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give everything as rows for programs; each says of which kind it is."""
        yield {
            "kind": "verdict", "passed": self.passed, "failed": self.num_failed, "new": self.new,
            "baseline": self.baseline, "queries": self.num_queries, "relevant": self.num_relevant,
            "alpha": self.alpha, "level": self.level, **_row_of(self.build),
        }  # fmt: skip
        yield from (decision.row() for decision in self.decisions)
        for check in self.checks:
            yield check.row()
            for offence in check.offences:
                for moved in offence.documents:
                    details = self._moved(offence.query, moved)
                    yield {"kind": "offence", "requirement": str(check.requirement), **details}
        for kind, documents in (("lost", self.lost), ("gained", self.gained)):
            yield from ({"kind": kind, **self._moved(change.query, moved)} for change, moved in documents)
        for change in self.changes:
            yield {
                "kind": "query", "query": change.query, "preferred": _PREFERRED[change.sign],
                "relevant": change.num_relevant, "found_baseline": change.found_before, "found_new": change.found_now,
                "lost": len(change.lost), "gained": len(change.gained), "why": change.sentence,
                **texts_beside(self.texts, change.query),
            }  # fmt: skip
        yield from ({"kind": "label", "query": label.query, "document": label.document} for label in self.unknown)
        yield from ({"kind": "note", "about": note.kind, "text": note.text} for note in self.notes)

    def _moved(self, query: str, moved: DocumentMove) -> dict[str, Any]:
        return {
            "query": query, "document": moved.document, "was": moved.was, "now": moved.now,
            **texts_beside(self.texts, query, moved.document),
        }  # fmt: skip

    def render(self, form: str = "table", *, bold: bool = False) -> str:
        """Return it in one of the formats of the command line."""
        choice("format", form, FORMS)
        if form == "jsonl":
            return to_jsonl(self.rows())
        if form == "markdown":
            from lexirecall.gates.markdown import markdown

            return markdown(self)
        if form == "junit":
            from lexirecall.gates.junit import junit

            return junit(self)
        return self.to_text(bold=bold)

    def to_text(self, *, bold: bool = False) -> str:
        """Lay everything out for a terminal."""
        verdict = visible(self.verdict)
        parts = [f"\x1b[1m{verdict}\x1b[0m" if bold else verdict]
        parts += ["\n".join(visible(f"  {sentence}") for sentence in self.failures)] if self.failures else []
        parts += [table.to_text(bold=bold) for table in self.tables()]
        return "\n\n".join(parts)

    def __str__(self) -> str:
        return "\n".join([self.to_text(), *(f"note: {visible(note.text)}" for note in self.notes)])

    def _parts(self) -> Iterator[CellPart]:
        yield from (self.verdict, *self.failures)
        yield from self.tables()

    def tables(self) -> Iterator[Table]:
        """Give the tables: decisions, requirements, what was lost, what was only found later, what was gained."""
        if self.decisions:
            yield decisions_table(self)
        if self.checks:
            yield checks_table(self)
        for check in self.checks:
            if check.offences and not check.is_of_any_loss:
                pairs = [(offence.query, moved) for offence in check.offences for moved in offence.documents]
                yield self._documents(f"against {check.requirement}", pairs)
        if self.lost:
            yield self._documents("lost", [(change.query, moved) for change, moved in self.lost])
        if self.later:
            later = tuple((change.query, change.sentence) for change in self.later[:SHOWN])
            yield Table(("found later", "why"), later, texts=frozenset({1}), footnote=_more(len(self.later)))
        if self.gained:
            yield self._documents("gained", [(change.query, moved) for change, moved in self.gained])
        if self.unknown:
            labels = tuple((label.query, label.document) for label in self.unknown[:SHOWN])
            footnote = _more(len(self.unknown))
            yield Table(("query", "unknown label"), labels, texts=frozenset({1}), footnote=footnote)

    def _documents(self, title: str, moved: list[tuple[str, DocumentMove]]) -> Table:
        """Lay out the first documents of a list: where they were and where they are."""
        rows = tuple(
            (query, move.document, whole(move.was), whole(move.now), *self._shown(move.document))
            for query, move in moved[:SHOWN]
        )
        header = ("query", title, "was at", "is at", *(("text",) if self.texts is not None else ()))
        return Table(header, rows, numbers_from=2, texts=frozenset({4}), footnote=_more(len(moved)))

    def _shown(self, document: str) -> tuple[str, ...]:
        if self.texts is None:
            return ()
        text = self.texts.of_document(document)
        return ("" if text is None else shortened(text, 60),)


def decisions_table(result: GateResult) -> Table:
    """Lay out what was decided under each measure."""
    has_margin = any(decision.margin is not None for decision in result.decisions)
    bound = ("at least", "margin") if has_margin else ("p",)
    rows = []
    for decision in result.decisions:
        compared = decision.compared
        counts = map(whole, (compared.wins, compared.ties, compared.losses))
        p = "-" if compared.is_of_tails else f"{decision.p_corrected:.3g}"
        shown = (number(compared.low), number(-(decision.margin or 0))) if has_margin else (p,)
        rows.append((decision.name, number(compared.difference), *counts, *shown, decision.verdict))
    header = ("measure", "difference", "better", "tied", "worse", *bound, "verdict")
    return Table(header, tuple(rows), texts=frozenset({len(header) - 1}), footnote=_footnote(result, has_margin))


def checks_table(result: GateResult) -> Table:
    """Lay out what is required, what was found, and whether it will do."""
    rows = tuple((check.name, check.sentence, _word(check.passed)) for check in result.checks)
    return Table(("requirement", "found", "verdict"), rows, texts=frozenset({1, 2}))


def _footnote(result: GateResult, has_margin: bool) -> str:
    tests = list(dict.fromkeys(decision.compared.method for decision in result.decisions))
    num_tested = sum(has_margin or decision.compared.differs for decision in result.decisions)
    many = f", corrected for {counted(num_tested, 'decision')}" if num_tested > 1 else ""
    build = "" if result.build is None else f"; {_told(result.build)}"
    how = "lower end of the one-sided interval" if has_margin else f"one-sided p ({', '.join(tests)})"
    return f"difference: new less baseline; {how}{many}; alpha {result.alpha:g}{build}"


def _told(build: Build) -> str:
    """Say which build it is."""
    name = "" if build.name is None else f" {build.name}"
    if not build.spends:
        return f"build{name}, which spends nothing, at {build.level:.2g}"
    again = ", as when it was first tested" if build.is_known else ""
    return f"build{name and f'{name},'} {build.number} on these queries, at {build.level:.2g}{again}"


def _row_of(build: Build | None) -> dict[str, Any]:
    if build is None:
        return {"build": None, "build_name": None, "spends": None, "known": None, "kept": None}
    return {
        "build": build.number, "build_name": build.name, "spends": build.spends, "known": build.is_known,
        "kept": build.is_kept,
    }  # fmt: skip


def _word(passed: bool) -> str:
    return "passes" if passed else "FAILS"


def _more(total: int) -> str:
    return f"and {total - SHOWN:,} more: -f jsonl lists all" if total > SHOWN else ""
