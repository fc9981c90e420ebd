"""Passes: both passes over a corpus, whether they are done at once, go on from a file, or are shared by processes.

Belongs here: the order of the work. Not here: its parts (counting, checkpoint, processes).
"""

from dataclasses import dataclass

import numpy as np

from lexirecall.errors import DataError, LexirecallError, WayOn, counted, listed, shown, warn
from lexirecall.formats.embeddings.backends import Backend
from lexirecall.formats.embeddings.checkpoint import Checkpoint
from lexirecall.formats.embeddings.counting import Counter, CountState, Located, locate
from lexirecall.formats.embeddings.processes import Processes, share_counts, share_located
from lexirecall.formats.embeddings.shards import Corpus
from lexirecall.formats.embeddings.sought import Sought
from lexirecall.judgments import IntArray
from lexirecall.progress import Progress
from lexirecall.text import to_text


@dataclass(frozen=True, slots=True)
class Passes:
    """What to count, in what, by whom."""

    corpus: Corpus
    sought: Sought
    backend: Backend
    ties: str
    missing: str
    checkpoint: Checkpoint
    processes: Processes
    show_progress: bool | None

    def run(self) -> tuple[Located, CountState]:
        """Return where the judged items are, and the counts over the whole corpus."""
        kept, error = self._kept()
        located, size, state = Located.nothing(len(self.sought.rows)), 0, CountState.nothing(len(self.sought.rows))
        try:
            if kept is not None:
                located, state, size = kept
            elif error is None:
                located, size = locate(self.corpus, self.sought, self.backend)
        except LexirecallError as problem:
            error = problem
        whole, offset = share_located(self.processes, self.sought, located, size, error)
        self._check_missing(whole)
        counter, error = Counter(self.sought, whole, self.backend, self.ties, offset), None
        try:
            state = self._counted(counter, located, state, size)
        except LexirecallError as problem:
            error = problem
        kind = self.backend.kind if self.backend.has_scored else None
        return whole, share_counts(self.processes, state, kind, error)

    def _kept(self) -> tuple[tuple[Located, CountState, int] | None, LexirecallError | None]:
        try:
            return self.checkpoint.load(), None
        except LexirecallError as error:
            return None, error

    def _counted(self, counter: Counter, own: Located, state: CountState, size: int) -> CountState:
        """Count over the shards that have not been counted."""
        with Progress("counting documents", size, shown=self.show_progress) as progress:
            for number, shard in enumerate(self.corpus.shards()):
                if not self.checkpoint.is_done(number, shard):
                    for block in shard.blocks(self.backend.block):
                        state = state + counter.count(block)
                        progress.advance(len(block.ids))
                    self.checkpoint.save(own, state, size, shard)
                else:
                    progress.advance(len(shard.ids))
        if state.num_items != size:
            problem = f"the corpus had {counted(size, 'document')} at first, and then {state.num_items:,}"
            raise DataError(problem, remedy="give the same blocks each time that they are asked for")
        return state

    def _check_missing(self, located: Located) -> None:
        """Raise, or warn, if relevant items are not in the corpus; warn if excluded ones are not."""
        sought = self.sought
        is_absent, is_judged = located.indices < 0, sought.is_judged
        if problem := self._named(np.flatnonzero(is_absent & ~is_judged), "excluded document"):
            warn(f"{problem}; there is nothing to exclude")
        is_relevant = is_judged & (sought.judgments.grades[sought.items] > 0)
        if not (problem := self._named(np.flatnonzero(is_absent & is_relevant), "relevant document")):
            return
        if self.missing == "error":
            way_on = WayOn("missing", {"last": "place them at its end"})
            raise DataError(problem, remedy="check that ids are written the same way", way_on=way_on)
        warn(f"{problem}; placed at its end")

    def _named(self, lost: IntArray, what: str) -> str:
        """Say how many pairs are not in the corpus, and name some; nothing if there are none."""
        ids = dict.fromkeys(self.sought.ids[pair] for pair in lost[:1000].tolist())
        total = max(len(ids), len(lost)) if len(lost) > 1000 else None
        examples = listed((shown(to_text(each)) for each in ids), total=total)
        return f"{counted(len(lost), what)} not in the corpus: {examples}" if len(lost) else ""
