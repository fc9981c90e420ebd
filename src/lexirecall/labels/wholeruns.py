"""Whole runs: judgments and runs with every document, and what is decided between the runs whatever is judged.

Belongs here: reading them once for lists and positions, decisions with their flip numbers, and a comparison that counts
the safe ones. Not here: flip numbers (flips), everything else that is asked of unjudged documents (missing).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lexirecall.equality import FieldEquality
from lexirecall.errors import UsageError
from lexirecall.fields import among, takes
from lexirecall.formats import Qrels, Runs, project
from lexirecall.formats.listing import load_lists
from lexirecall.formats.wholelists import JoinedRun, Lists
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.labels.flips import flips_of, has_flips
from lexirecall.labels.forecasts import RunPairs
from lexirecall.labels.lexiflips import alone_of
from lexirecall.labels.pools import Labelling, LabelPool, pools_of
from lexirecall.labels.unjudgedoptions import check_asked
from lexirecall.manifest import READING, Conventions, Policies, Sources
from lexirecall.names import Evaluable, Names
from lexirecall.positions import Positions
from lexirecall.preferences.pairs import SignArray
from lexirecall.progress import Progress
from lexirecall.verbs.compare import compare
from lexirecall.verbs.comparison import Comparison, SafeDecisions
from lexirecall.verbs.rank import contrasted
from lexirecall.verbs.subject import asked_of
from lexirecall.verbs.testing import Testing


@dataclass(frozen=True, slots=True)
class WholeRuns:
    """Judgments and runs, read once: whole lists, and the positions in them."""

    lists: Lists
    positions: Positions
    pools: tuple[LabelPool, ...]

    @property
    def labelling(self) -> Labelling:
        """What makes positions of labels."""
        positions = self.positions
        return Labelling(positions.runs, positions.conventions, corpus_size=positions.corpus_size)


def read_whole(
    qrels: Qrels | Positions, runs: Runs | None, options: Mapping[str, Any], *, needs_judged: bool = False
) -> WholeRuns:
    """Read judgments and runs, or raise if there are no whole lists in which documents could be labelled."""
    if isinstance(qrels, Positions):
        problem = "positions are given, which do not hold the documents without a judgment"
        raise UsageError(problem, remedy="give judgments and runs")
    if runs is None:
        raise UsageError("no runs are given", remedy="give judgments and runs")
    conventions, sources = Conventions(**among(Conventions, options)), Sources(**among(Sources, options))
    check_asked(conventions, sources)
    lists = load_lists(qrels, runs, **options)
    joined = {run.name: JoinedRun(run.name, Lists(lists.judgments, (run,))) for run in lists.runs}
    again = {name: value for name, value in options.items() if name not in ("columns", "stdin_name", "show_progress")}
    positions = replace(
        project(lists.judgments, joined, needs_judged=needs_judged, **again), frame_library=lists.frame_library
    )
    return WholeRuns(lists, positions, tuple(pools_of(lists)))


@dataclass(frozen=True, slots=True, eq=False)
class KnownDecisions(FieldEquality):
    """What is decided between P pairs of runs on Q queries under one measure, and what it takes to reverse it."""

    signs: SignArray
    """Which run is better, [P, Q]: 1 the first, -1 the second, 0 neither."""
    numbers: FloatArray | None
    """Flip numbers, [P, Q]: infinite if no label can reverse it, nan if it is not decided; None if not known."""
    unjudged: IntArray
    """How many unjudged documents either run retrieves, [P, Q]."""

    @property
    def safe_decisions(self) -> SafeDecisions:
        """On how many queries one run is better, and how many of these decisions no label can reverse, [P]."""
        safe = None if self.numbers is None else np.asarray(np.isposinf(self.numbers).sum(axis=1))
        return SafeDecisions(np.asarray((self.signs != 0).sum(axis=1)), safe)


def decisions_of(
    read: WholeRuns,
    rows: Sequence[Evaluable],
    policies: Policies,
    pairs: RunPairs,
    *,
    show_progress: bool | None = False,
) -> Iterator[KnownDecisions]:
    """Give the decisions of pairs of runs under each measure, with flip numbers where these are known."""
    alone = [alone_of(pool.places > 0, pool.is_unjudged) for pool in read.pools]
    a, b = pairs
    num_unjudged = np.stack([unshared.counts[a, b] + unshared.unjudged.sum(axis=1)[b] for unshared in alone], axis=1)
    num_flips = sum(map(has_flips, rows)) * len(read.pools)
    with Progress("counting flips", num_flips, shown=show_progress) as progress:
        for row in rows:
            signs = np.sign(contrasted(read.positions, row, policies).between(a, b)).astype(np.int8)
            numbers = None
            if has_flips(row):
                numbers = flips_of(read.pools, row, policies, pairs, read.labelling, progress=progress).numbers
            yield KnownDecisions(signs, numbers, num_unjudged)


@takes(Testing, Policies, *READING, warns=True)
def compare_with_safe(
    qrels: Qrels | Positions,
    runs: Runs | None = None,
    measures: Names | None = None,
    *,
    baseline: str | Sequence[str] | None = None,
    **options: Any,
) -> Comparison:
    """Compare runs as `compare` does, and count the decisions that no label of an unjudged document can reverse.

    >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    >>> runs = {"one": {"q1": ["a"], "q2": ["a"]}, "two": {"q1": ["x"], "q2": ["x", "y"]}}
    >>> [row] = compare_with_safe(qrels, runs, "LexiRecall").rows()
    >>> row["wins"], row["decided"], row["safe"]  # x and y, two documents found, would reverse q2
    (2, 2, 1)
    """
    reading = {name: value for record in READING for name, value in among(record, options).items()}
    rows = asked_of(qrels, measures, options)
    read = read_whole(qrels, runs, reading, needs_judged=any(row.needs_judged for row in rows))
    others = {name: value for name, value in options.items() if name not in reading}
    show_progress = options.get("show_progress", False)
    comparison = compare(read.positions, measures=measures, baseline=baseline, show_progress=show_progress, **others)
    policies, asked = Policies(**among(Policies, options)), [compared.measure for compared in comparison.measures]
    pairs = comparison.measures[0].a, comparison.measures[0].b
    known = decisions_of(read, asked, policies, pairs, show_progress=show_progress)
    return replace(comparison, safe=tuple(decisions.safe_decisions for decisions in known))
