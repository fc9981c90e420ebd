"""Passes: both passes over a corpus, whether it is one process that makes them or several.

Belongs here: the order of the work. Not here: its parts (counting, processes).
"""

import numpy as np

from lexirecall.errors import DataError, FallbackOption, LexirecallError, counted, listed, shown, warn
from lexirecall.formats.embeddings.backends import Backend
from lexirecall.formats.embeddings.counting import CorpusPlaces, Counter, locate
from lexirecall.formats.embeddings.processes import Processes, share_counts, share_located
from lexirecall.formats.embeddings.shards import Corpus
from lexirecall.formats.embeddings.soughtpairs import SoughtPairs
from lexirecall.judgments import IntArray
from lexirecall.progress import Progress
from lexirecall.text import to_text

_SAME = "give the same blocks each time that they are asked for"


def both_passes(
    corpus: Corpus,
    sought: SoughtPairs,
    backend: Backend,
    processes: Processes,
    *,
    ties: str,
    missing: str,
    show_progress: bool | None,
) -> tuple[CorpusPlaces, IntArray, int]:
    """Return where the judged documents are, the counts over the whole corpus, and its size."""
    located, size, counts = CorpusPlaces.nothing(len(sought.rows)), 0, np.zeros((3, len(sought.rows)), np.int64)
    error: LexirecallError | None = None
    try:
        located, size = locate(corpus, sought, backend)
    except LexirecallError as problem:
        error = problem  # every process must take part in the sum, or the others wait for it: it raises after that
    whole, offset, num_documents = share_located(processes, sought, located, size, error)
    _check_missing(sought, whole, missing)  # all know the same by now, so that all raise, or none
    error = None
    try:
        _count(corpus, Counter(sought, whole, backend, ties, offset), counts, size, show_progress)
    except LexirecallError as problem:
        error = problem
    counts = share_counts(processes, counts, backend.kind if backend.has_scored else None, error)
    if ((counts[1] == 0) & (whole.indices >= 0) & sought.is_judged).any():  # none ties with itself
        raise DataError("the vectors of the corpus changed between its two readings", remedy=_SAME)
    return whole, counts, num_documents


def _count(corpus: Corpus, counter: Counter, counts: IntArray, size: int, show_progress: bool | None) -> None:
    """Add the counts over all shards."""
    num_documents = 0
    with Progress("counting documents", size, shown=show_progress) as progress:
        for shard in corpus.shards():
            for block in shard.blocks(counter.backend.block):
                counts += counter.count(block)
                num_documents += len(block.ids)
                progress.advance(len(block.ids))
    if num_documents != size:
        problem = f"the corpus had {counted(size, 'document')} at first, and then {num_documents:,}"
        raise DataError(problem, remedy=_SAME)


def _check_missing(sought: SoughtPairs, located: CorpusPlaces, missing: str) -> None:
    """Raise, or warn, if relevant documents are not in the corpus; warn if excluded ones are not."""
    is_absent, is_judged = located.indices < 0, sought.is_judged
    if problem := _named(sought, np.flatnonzero(is_absent & ~is_judged), "excluded document"):
        warn(f"{problem}; there is nothing to exclude")
    is_relevant = is_judged & (sought.judgments.grades[sought.documents] > 0)
    if not (problem := _named(sought, np.flatnonzero(is_absent & is_relevant), "relevant document")):
        return
    if missing == "error":
        way_on = FallbackOption("missing", {"last": "place them at its end"})
        raise DataError(problem, remedy="check that ids are written the same way", way_on=way_on)
    warn(f"{problem}; placed at its end")


def _named(sought: SoughtPairs, lost: IntArray, what: str) -> str:
    """Say how many pairs are not in the corpus, and name some; nothing if there are none."""
    ids = dict.fromkeys(sought.ids[pair] for pair in lost[:1000].tolist())
    total = max(len(ids), len(lost)) if len(lost) > 1000 else None
    examples = listed((shown(to_text(document)) for document in ids), total=total)
    return f"{counted(len(lost), what)} not in the corpus: {examples}" if len(lost) else ""
