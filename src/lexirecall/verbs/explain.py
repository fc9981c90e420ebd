"""Explain: why one run is preferred to another, query by query, and what each misses.

Belongs here: the verb and the page of all queries. Not here: one query (explanation), layout (tables).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from lexirecall.errors import UsageError, counted, hint_at, listed, names_in, shown
from lexirecall.fields import among, taken, takes
from lexirecall.formats import Qrels, Runs
from lexirecall.judgments import Judgments
from lexirecall.manifest import READING, Conventions, Note, Policies
from lexirecall.names import Evaluable, parse_names
from lexirecall.notebook import CellPart, DisplayedResult, TitledTable
from lexirecall.positions import Positions, Projection
from lexirecall.preferences import LEXI_RECALL
from lexirecall.tables import Table, render, whole
from lexirecall.text import to_text, visible
from lexirecall.texts import Texts, shortened, texts_or_none
from lexirecall.verbs.census import Census
from lexirecall.verbs.decidingqueries import DecidingQueries
from lexirecall.verbs.explanation import REASONS, QueryExplanation, Side, joined
from lexirecall.verbs.notes import notes_on_queries
from lexirecall.verbs.serving import judgments_of_documents, servings_of
from lexirecall.verbs.subject import positions_of

_COLUMNS = (
    "query", "preferred", "decided_by", "level", "num_relevant", "found_a", "found_b", "position_a", "position_b",
    "only_a", "only_b",
)  # fmt: skip


@takes(Policies, *READING, warns=True)
def explain(
    qrels: Qrels | Positions,
    runs: Runs | None = None,
    *,
    pair: tuple[str, str] | None = None,
    measure: str | Evaluable | None = None,
    texts: Any = None,
    **options: Any,
) -> "Explanation":
    """Explain which of two runs LexiRecall prefers on each query, and why.

    The arguments are those of `evaluate`. If there are more than two runs, `pair` names the two. `measure` adds the
    queries that decide the difference of the two runs under a measure: its mean and its tail. `texts` are the words of
    queries and documents, as `lexirecall.texts.load_texts` takes them.

    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
    >>> old, new = {"q1": ["a", "x", "b"], "q2": ["c"]}, {"q1": ["x", "a", "b"], "q2": ["z"]}
    >>> explanation = explain(qrels, {"old": old, "new": new})
    >>> for query in explanation.queries:
    ...     print(query.id, query.sentence())
    q2 old is preferred: it finds 1 of the 1 relevant document, new 0; new lacks c.
    q1 old is preferred: both find 2 of the 2 relevant documents, the last 1 at the same positions; the one before \
is at 1 in old (a) and at 2 in new (a).
    """
    policies = taken(Policies, options)
    check_single_order(among(Conventions, options))
    loaded = texts_or_none(texts, options.get("columns"), options.get("show_progress", False))
    row = None if measure is None else _one_measure(measure)
    positions = positions_of(qrels, runs, [LEXI_RECALL] if row is None else [LEXI_RECALL, row], options)
    check_single_order(asdict(positions.conventions))
    a, b = _two_of(positions.runs, pair)
    projection = positions.at_level(policies.level)
    is_compared = policies.counted(positions, LEXI_RECALL)[[a, b]].all(axis=0)
    explained = [
        QueryExplanation(positions.queries[q], _side(projection, a, q), _side(projection, b, q))
        for q in np.flatnonzero(is_compared).tolist()
    ]
    notes = tuple(notes_on_queries(Census.of(positions, policies), policies))
    ordered = tuple(sorted(explained, key=lambda query: query.weight))
    deciding = None if row is None else DecidingQueries.of(positions, row, a, b, policies)
    judgments = judgments_of_documents(positions)
    explanation = Explanation((positions.runs[a], positions.runs[b]), ordered, notes, deciding, judgments)
    return explanation if loaded is None else explanation.with_texts(loaded)


def _one_measure(measure: str | Evaluable) -> Evaluable:
    rows = parse_names(measure)
    if len(rows) != 1:
        raise UsageError(f"there are {len(rows)} measures, but one difference is explained", remedy="name one measure")
    return rows[0]


def check_single_order(conventions: Mapping[str, Any]) -> None:
    """Raise if there is no order whose positions could be shown, or only an invented one."""
    if conventions.get("ties") == "expected":
        raise UsageError("ties='expected' has no single order to show", remedy="choose trec, input, worst or best")
    if conventions.get("imputation") == "optimistic":
        raise UsageError("optimistic imputation shows documents that were not retrieved", remedy="leave it out")


def _two_of(runs: tuple[str, ...], pair: tuple[str, str] | None) -> tuple[int, int]:
    """Return which two runs are explained: those that are named, or the only two."""
    if pair is None:
        if len(runs) != 2:
            if len(runs) < 2:
                raise UsageError(f"there is only one run: {listed(runs)}", remedy="give two")
            remedy = "choose two with --pair A B, or pair=(a, b) in Python"
            raise UsageError(f"there are more than two runs: {listed(runs)}", remedy=remedy)
        return 0, 1
    names = names_in("pair", pair)
    if len(names) != 2:
        raise UsageError(f"pair is {pair!r:.100}, but must be the names of two runs")
    if unknown := [name for name in names if name not in runs]:
        raise UsageError(f"no run is called {unknown[0]!r}", remedy=f"the runs are {listed(runs, 9)}")
    return runs.index(names[0]), runs.index(names[1])


def _side(projection: Projection, s: int, q: int) -> Side:
    source, judgments = projection.source, projection.source.judgments
    start, stop = projection.found.segments.offsets[s * len(source.queries) + q :][:2]
    found = projection.found.documents[start:stop].tolist()
    first, last = judgments.offsets[q : q + 2].tolist()
    missing = set(range(first, last)).difference(found)
    relevant = [*found, *(document for document in sorted(missing) if judgments.grades[document] >= projection.level)]
    names = tuple(to_text(judgments.documents[document]) for document in relevant)
    servings = servings_of(projection, s, q, relevant)
    return Side(source.runs[s], projection.vector(s, q), names, int(source.num_retrieved[s, q]), servings)


@dataclass(frozen=True)
class Explanation(DisplayedResult):
    """Why each of two runs is preferred where it is; the queries are in the order of what decides them."""

    runs: tuple[str, str]
    queries: tuple[QueryExplanation, ...]
    notes: tuple[Note, ...]
    deciding: DecidingQueries | None = None
    """The queries that decide the difference under a measure, if one was given."""
    judgments: Judgments | None = field(default=None, repr=False, compare=False)
    """Those of the documents, which tell what a file of texts is about."""
    texts: Texts | None = None
    """The texts of the queries, and of the documents that only one run finds, if there are any."""

    def with_texts(self, texts: Texts) -> "Explanation":
        """Return the same with the texts of the queries and of the documents that only one run finds."""
        documents: set[str] = set()
        if self.deciding is None:  # its lists name no documents
            documents = {document for query in self.queries for document in query.spoken_for_one}
        names = {query.id for query in self.queries}.union(() if self.deciding is None else self.deciding.queries)
        read = texts.wanted(names, documents, judgments=self.judgments)
        deciding = None if self.deciding is None else replace(self.deciding, texts=read)
        queries = tuple(replace(query, texts=read) for query in self.queries)
        return replace(self, queries=queries, deciding=deciding, texts=read, notes=(*self.notes, *read.notes))

    @cached_property
    def _by_name(self) -> dict[str, QueryExplanation]:
        return {query.id: query for query in self.queries}

    def query(self, name: str, texts: Texts | None = None) -> QueryExplanation:
        """Return the explanation of one query, with the texts of all of its relevant documents."""
        if name not in self._by_name:
            hint = hint_at(name, self._by_name, f"there are {listed(map(repr, self._by_name), most=3)}")
            raise UsageError(f"no query {shown(name)} with relevant documents is compared", remedy=hint)
        known = texts or self.texts
        found = self._by_name[name]
        return found if known is None else found.with_texts(known, self.judgments)

    @property
    def noun(self) -> str:
        """What must be found: a document, or a unit."""
        return self.queries[0].noun if self.queries else "document"

    @property
    def counts(self) -> dict[str, tuple[int, int]]:
        """For each reason, how many queries it decides for the first run and for the second; ties count for both."""
        decided = Counter((query.reason, query.sign) for query in self.queries)
        return {
            reason: (decided[reason, 1] or decided[reason, 0], decided[reason, -1] or decided[reason, 0])
            for reason in REASONS
        }

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give one row for each query: the preferred run, what decides, and the documents that only one run finds."""
        for query in self.queries:
            at = None if query.level is None else query.level - 1
            places = [None if at is None else side.positions[at] for side in (query.a, query.b)]
            yield {
                "query": query.id,
                "preferred": query.preferred,
                "decided_by": query.reason,
                "level": query.level,
                "num_relevant": query.num_relevant,
                "found_a": query.a.num_found,
                "found_b": query.b.num_found,
                **{
                    f"position_{letter}": None if place is None or np.isinf(place) else int(place)
                    for letter, place in zip("ab", places, strict=True)
                },
                "only_a": list(query.only_a),
                "only_b": list(query.only_b),
                **self._texts_of(query),
            }

    def _texts_of(self, query: QueryExplanation) -> dict[str, Any]:
        """Return the texts of a row, whole: of the query, and of the documents that only one run finds."""
        if self.texts is None:
            return {}
        texts = [[query.text_in(run, document) for document in only] for run, only in query.found_by_one.items()]
        return {"text": query.text, **dict(zip(("texts_a", "texts_b"), texts, strict=True))}

    def table(self, limit: int = 0) -> Table:
        """Lay out the queries, the most clearly decided first; at most `limit` of them (0 for all)."""
        a, b = self.runs
        header = ("query", "preferred", "decided by", "relevant", f"{a} finds", f"{b} finds", "at level", a, b)
        heading = ("text",) if self.texts is not None and self.texts.has_queries else ()
        rows = [
            (
                row["query"],
                row["preferred"] or "-",
                REASONS[row["decided_by"]],
                whole(row["num_relevant"]),
                whole(row["found_a"]),
                whole(row["found_b"]),
                *("-" if row[key] is None else f"{row[key]:,}" for key in ("level", "position_a", "position_b")),
                *(shortened(row[key] or "-") for key in heading),
            )
            for row in self.rows()
        ]
        shown = tuple(rows[:limit] if limit else rows)
        return Table((*header, *heading), shown, numbers_from=3, texts=frozenset({len(header)}))

    def to_text(self, *, limit: int = 20, bold: bool = False) -> str:
        """Lay out the page for a terminal: the balance, the queries, and the documents that only one run finds.

        If a measure was given, it is the queries that decide its difference.
        """
        if self.deciding is not None:
            return self.deciding.to_text(limit=limit, bold=bold)
        more = len(self.queries) - limit if limit else 0
        table = self.table(limit).to_text(bold=bold)
        hint = f"\n({counted(more, 'more query')}: --limit 0 shows all)" if more > 0 else ""
        example = self.queries[0].id if self.queries else ""
        return "\n\n".join(
            [
                visible(self._preferred()),
                self._balance().to_text(bold=bold),
                table + hint,
                *self._only_one_finds(limit),
                self._found_by_neither(),
                f"One query in full: --query {visible(example)}",
            ]
        )

    def _preferred(self) -> str:
        a, b = self.runs
        num_ties = sum(query.sign == 0 for query in self.queries)
        wins = [sum(query.sign == sign for query in self.queries) for sign in (1, -1)]
        return (
            f"{a} is preferred on {wins[0]:,} of {counted(len(self.queries), 'query')}, {b} on {wins[1]:,}, "
            f"and {num_ties:,} tie. What decides:"
        )

    def _balance(self) -> Table:
        (a, b), counts = self.runs, self.counts
        rows = tuple((text, *map(str, counts[reason])) for reason, text in REASONS.items() if reason != "tie")
        return Table(("decided by", f"for {a}", f"for {b}"), rows)

    def _only_one_finds(self, limit: int) -> Iterator[str]:
        """List the documents that one run finds and the other does not, the ones found soonest first."""
        for part in self._found_by_one():
            if isinstance(part, str):
                yield visible(part)
                continue
            title, table = part
            more = len(table.rows) - limit if limit else 0
            hint = f"\n({counted(more, f'more {self.noun}')}: --limit 0 shows all)" if more > 0 else ""
            yield f"{visible(title)}\n\n{replace(table, rows=table.rows[: limit or None]).to_text()}{hint}"

    def _found_by_one(self) -> Iterator[str | TitledTable]:
        for mine, other, attribute in ((*self.runs, "only_a"), (*self.runs[::-1], "only_b")):
            found = sorted(
                (position, query.id, document, query.text_in(mine, document) or "-")
                for query in self.queries
                for document, position in getattr(query, attribute).items()
            )
            if not found:
                yield f"{mine} finds no relevant {self.noun} that {other} does not."
                continue
            rows = tuple((query, document, f"{position:,}", text) for position, query, document, text in found)
            title = f"{mine} finds {counted(len(rows), f'relevant {self.noun}')} that {other} does not:"
            yield TitledTable(title, self._table_of_documents(rows))

    def _table_of_documents(self, rows: tuple[tuple[str, str, str, str], ...]) -> Table:
        header = ("query", self.noun, "position")
        if self.texts is None or not self.texts.has_documents:
            return Table(header, tuple(row[:3] for row in rows), numbers_from=2)
        cells = tuple((*row[:3], shortened(row[3])) for row in rows)
        return Table((*header, "text"), cells, numbers_from=2, texts=frozenset({3}))

    def _found_by_neither(self) -> str:
        total = sum(query.num_relevant for query in self.queries)
        missing = sum(len(query.found_by_neither) for query in self.queries)
        return f"Neither finds {missing:,} of the {counted(total, f'relevant {self.noun}')}."

    def render(self, form: str = "table", *, limit: int = 20, bold: bool = False, raw: bool = False) -> str:
        """Return the page in one of the formats of the command line; all but the table hold every query."""
        if self.deciding is not None:
            return self.deciding.render(form, limit=limit, bold=bold, raw=raw)
        if form == "table":
            return self.to_text(limit=limit, bold=bold)
        rows = self.rows() if form == "jsonl" else map(joined, self.rows())
        columns = _COLUMNS if self.texts is None else (*_COLUMNS, "text")
        return render(form, self.table(), rows, columns, raw=raw)

    def __str__(self) -> str:
        return self.to_text()

    def _parts(self) -> Iterator[CellPart]:
        if self.deciding is not None:
            yield from self.deciding._parts()
            return
        yield from (self._preferred(), self._balance(), self.table(), *self._found_by_one(), self._found_by_neither())

    def _pictured(self) -> object:
        return self.queries[0] if self.queries and self.deciding is None else None
