"""Labels that rot: relevant documents that are no longer there.

Belongs here: relevant ids that no run finds and no list of the corpus knows. Not here: documents that were not judged.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from lexirecall.errors import DataError, UsageError, counted, is_several, listed, shown
from lexirecall.formats.lines import numbered_lines
from lexirecall.formats.source import Source
from lexirecall.manifest import Note
from lexirecall.output import FilePath
from lexirecall.text import to_bytes
from lexirecall.verbs.explanation import QueryExplanation

_EXAMPLES = 3


class Label(NamedTuple):
    """A relevant document that nothing knows: the judgments name it, and no run and no list of the corpus has it."""

    query: str
    document: str


def unknown_labels(queries: Iterable[QueryExplanation], corpus_ids: FilePath | Iterable[object]) -> tuple[Label, ...]:
    """Return the relevant documents that no run finds and that are not in the corpus, in the order of the queries.

    >>> unknown_labels([], ["d1"])
    ()
    """
    queries = list(queries)
    if any(query.noun == "unit" for query in queries):
        raise UsageError("corpus_ids are of documents, but units must be found", remedy="leave them out")
    relevant = [(query.id, document, document in missing) for query in queries
                for missing in [set(query.found_by_neither)] for document in query.a.documents]  # fmt: skip
    wanted = {to_bytes(document) for _, document, _ in relevant}
    known, num_ids, examples = _known(wanted, corpus_ids)
    if wanted and not known:
        name = os.fspath(corpus_ids) if isinstance(corpus_ids, (str, os.PathLike)) else "corpus_ids"
        theirs, ours = (
            listed(map(shown, ids), _EXAMPLES)
            for ids in (examples, dict.fromkeys(document for _, document, _ in relevant))
        )
        raise DataError(
            f"{name}: none of its {counted(num_ids, 'id')} is a relevant document: it has ids such as {theirs}, the "
            f"judgments have {ours}",
            remedy="are the ids written the same way, and is it the right file?",
        )
    return tuple(
        Label(query, document)
        for query, document, is_missing in relevant
        if is_missing and to_bytes(document) not in known
    )


def _known(wanted: set[bytes], corpus_ids: FilePath | Iterable[object]) -> tuple[set[bytes], int, Sequence[bytes]]:
    """Return which of the wanted ids are there, how many there are, and examples; only wanted ones are kept."""
    known: set[bytes] = set()
    examples: list[bytes] = []
    num_ids = 0
    for document in _ids(corpus_ids):
        num_ids += 1
        if num_ids <= _EXAMPLES:
            examples.append(document)
        if document in wanted:
            known.add(document)
    return known, num_ids, examples


def _ids(corpus_ids: Any) -> Iterator[bytes]:
    if is_several(corpus_ids):
        yield from map(to_bytes, corpus_ids)
        return
    with Source(corpus_ids) as source:
        yield from (line.strip() for _, line in numbered_lines(source))


def note_on(queries: Sequence[QueryExplanation], unknown: Sequence[Label], corpus_ids: object) -> Iterator[Note]:
    """Say how many relevant documents nothing knows, or how many may be such if nothing says what there is."""
    if unknown:
        documents = counted(len({label.document for label in unknown}), "relevant document")
        examples = listed((shown(label.document) for label in unknown), _EXAMPLES)
        text = f"labels may be out of date: no run and no list of the corpus has {documents}: {examples}"
        yield Note("unknown labels", text, len(unknown))
    elif corpus_ids is None and (total := sum(len(query.found_by_neither) for query in queries)):
        are = "is" if total == 1 else "are"
        text = f"{counted(total, 'relevant document')} {are} found by no run; --corpus-ids FILE tells which still exist"
        yield Note("found by no run", text, total)
