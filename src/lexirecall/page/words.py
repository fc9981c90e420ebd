"""Words: the texts of queries and documents that a page shows.

Belongs here: their compact form, and how many fit. Not here: reading them (texts), where they are shown (assets).
"""

from dataclasses import dataclass, field
from typing import Any

from lexirecall.errors import counted
from lexirecall.judgments import IntArray
from lexirecall.page.findings import Findings
from lexirecall.page.limits import Limits
from lexirecall.positions import Projection
from lexirecall.text import to_text
from lexirecall.texts import Texts
from lexirecall.verbs.serving import judgments_of_documents


@dataclass(slots=True)
class _Pool:
    """Texts that are each held once, and referred to by index, because a document may be relevant to many queries."""

    room: int
    """How many characters fit."""
    places: dict[str, int] = field(default_factory=dict)
    size: int = 0
    num_left_out: int = 0

    def place(self, text: str | None) -> int:
        """Return the index of a text, -1 if there is none or it does not fit."""
        if not text:
            return -1
        if text not in self.places:
            if self.size + len(text) > self.room:
                self.num_left_out += 1
                return -1
            self.size += len(text)
            self.places[text] = len(self.places)
        return self.places[text]


def text_columns(
    findings: Findings, texts: Texts | None, queries: IntArray, limits: Limits, serving: list[list[str]] | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Return the texts under one key, and sentences about those that are missing; nothing without texts.

    `words` has each text once. `queries` has an index of it for each query, `documents` one for each of the relevant
    documents of a query, in the order of `relevant`. If units must be found, the documents are those that serve them,
    in the order given.

    >>> from lexirecall import report
    >>> texts = {"queries": {"q": "black bears"}, "documents": {"a": "They attack."}}
    >>> page = report({"q": {"a": 1, "b": 1}}, {"q": ["b"]}, "RR", output=None, texts=texts)
    >>> page.payload["texts"]
    {'words': ['black bears', 'They attack.'], 'queries': [0], 'documents': [[1, -1]]}
    >>> page.payload["left_out"]
    ['1 of 2 documents has no text.']
    """
    if texts is None:
        return {}, []
    names = [findings.positions.queries[q] for q in queries.tolist()]
    documents = [_relevant(findings.projection, q) for q in queries.tolist()] if serving is None else serving
    wanted = (document for of_query in documents for document in of_query)
    read = texts.wanted(names, wanted, judgments=judgments_of_documents(findings.positions), limit=limits.length)
    pool = _Pool(limits.text_characters)
    columns = {
        "queries": [pool.place(read.of_query(name)) for name in names],
        "documents": [[pool.place(read.of_document(document)) for document in of_query] for of_query in documents],
    }
    sentences = [f"{note.text}." for note in read.notes]
    if pool.num_left_out:
        sentences.append(f"{counted(pool.num_left_out, 'text')}: left out, because the page would be too large.")
    return {"texts": {"words": [*pool.places], **columns}}, sentences


def _relevant(projection: Projection, q: int) -> list[str]:
    """Return the whole ids of the relevant documents of a query; on the page they may be cut."""
    judgments = projection.source.judgments
    start, stop = judgments.offsets[q : q + 2].tolist()
    return [
        to_text(judgments.documents[document])
        for document in range(start, stop)
        if judgments.grades[document] >= projection.level
    ]
