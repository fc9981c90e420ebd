"""Stops: how reviews ended that were stopped at a recorded depth, where everything relevant is known.

Belongs here: the verb, the recall, cost and reliability of recorded stops, and their rows and tables. Not here: what a
sample shows when relevance is not known (certificates).

A review that read k of n documents, and in them f of m relevant ones, has the recall f/m and the cost k. Its work saved
over sampling is f/m - k/n: what it left out, less what it missed. The ideal stop is the least depth with the recall
that is wanted, and what was read beyond it is the overshoot. The reliability is the share of reviews that reach the
wanted recall, with Clopper and Pearson's interval.
"""

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lexirecall.errors import DataError, UsageError, choice, counted, listed
from lexirecall.fields import taken, takes
from lexirecall.formats import Qrels, Runs, has_runs, project
from lexirecall.judgments import BoolArray, IntArray
from lexirecall.labels.certificates import percent
from lexirecall.labels.certification import CertificateOptions
from lexirecall.labels.depths import Depths, check_whole, load_depths
from lexirecall.manifest import READING, Note, Policies
from lexirecall.notebook import CellPart, DisplayedResult
from lexirecall.paths import is_folder, regular
from lexirecall.positions import Positions, Projection
from lexirecall.statistics.hypergeometric import exact_share
from lexirecall.statistics.shares import share_interval
from lexirecall.tables import FORMATS, Table, number, to_delimited, whole
from lexirecall.text import to_text, visible
from lexirecall.verbs.census import Census
from lexirecall.verbs.notes import notes_on_reading
from lexirecall.verbs.subject import positions_of

__all__ = ["RunStops", "Stop", "Stops", "evaluate_stops"]

WANTED = 0.95
"""The recall to reach, unless another is wanted."""


class Stop(NamedTuple):
    """Where one review stopped, and what it had found."""

    run: str
    query: str
    depth: int
    corpus_size: int
    relevant: int
    found: int
    ideal: int | None
    """The least depth with the wanted recall; None if the ranking never has it."""

    @property
    def recall(self) -> float:
        """The share of the relevant documents that were found."""
        return self.found / self.relevant

    @property
    def share(self) -> float:
        """The share of the corpus that was read."""
        return self.depth / self.corpus_size

    @property
    def saved(self) -> float:
        """The work saved over sampling: negative if a random order would have done as well with less."""
        return self.recall - self.share

    @property
    def overshoot(self) -> int | None:
        """How many documents were read beyond the ideal stop; negative if the review stopped before it."""
        return None if self.ideal is None else self.depth - self.ideal

    def row(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "kind": "stop", "run": self.run, "query": self.query, "depth": self.depth, "corpus_size": self.corpus_size,
            "relevant": self.relevant, "found": self.found, "recall": self.recall, "share": self.share,
            "saved": self.saved, "ideal": self.ideal, "overshoot": self.overshoot,
        }  # fmt: skip


@dataclass(frozen=True)
class RunStops:
    """The stops of one run."""

    run: str
    stops: tuple[Stop, ...]
    wanted: float
    confidence: float

    @property
    def reached(self) -> int:
        """How many reviews have the wanted recall."""
        wanted = exact_share(self.wanted)
        return sum(stop.found >= wanted * stop.relevant for stop in self.stops)

    @property
    def interval(self) -> tuple[float, float]:
        """The exact interval of the share of such reviews."""
        counts = np.array([self.reached]), np.array([len(self.stops)])
        (low,), (high,) = share_interval(*counts, alpha=float(1 - exact_share(self.confidence)))
        return float(low), float(high)

    @property
    def worst(self) -> Stop:
        """The review with the least recall, the first of several."""
        return min(self.stops, key=lambda stop: stop.recall)

    @property
    def overshoot(self) -> float | None:
        """Documents read beyond the ideal stop: the mean over the reviews that reach the wanted recall."""
        beyond = [over for stop in self.stops if (over := stop.overshoot) is not None and over >= 0]
        return sum(beyond) / len(beyond) if beyond else None

    def row(self) -> dict[str, Any]:
        """Return it for programs."""
        low, high = self.interval
        return {
            "kind": "stops", "run": self.run, "queries": len(self.stops), "wanted": self.wanted,
            "confidence": self.confidence, "recall": _mean([stop.recall for stop in self.stops]),
            "recall_min": self.worst.recall, "worst_query": self.worst.query, "reached": self.reached,
            "reliability": self.reached / len(self.stops), "low": low, "high": high,
            "depth": _mean([stop.depth for stop in self.stops]), "share": _mean([stop.share for stop in self.stops]),
            "saved": _mean([stop.saved for stop in self.stops]), "overshoot": self.overshoot,
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class Stops(DisplayedResult):
    """How the reviews of each run ended."""

    runs: tuple[RunStops, ...]
    notes: tuple[Note, ...]

    def __repr__(self) -> str:
        return f"<Stops: {counted(len(self.runs), 'run')}, {counted(sum(len(run.stops) for run in self.runs), 'stop')}>"

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give a row for each run, and then one for each review; `kind` tells."""
        yield from (run.row() for run in self.runs)
        yield from (stop.row() for run in self.runs for stop in run.stops)

    def table(self) -> Table:
        """Lay out the runs."""
        wanted, confidence = percent(self.runs[0].wanted), percent(self.runs[0].confidence)
        header = ("run", "queries", "recall", "least", f"reach {wanted}", "low", "high", "read", "share", "saved",
                  "overshoot")  # fmt: skip
        cells = []
        for run in self.runs:
            row = run.row()
            shares = (row[name] for name in ("recall", "recall_min", "reliability", "low", "high"))
            over = math.nan if row["overshoot"] is None else row["overshoot"]
            costs = (number(row["depth"], 1), number(row["share"]), number(row["saved"]), number(over, 1))
            cells.append((run.run, whole(row["queries"]), *map(number, shares), *costs))
        footnote = (
            f"low and high: {confidence} interval of the share of queries that reach {wanted}; read and share: the "
            f"documents read, on average; saved: recall less share; overshoot: read beyond the least depth with "
            f"{wanted}, where that is reached"
        )
        return Table(header, tuple(cells), footnote=footnote)

    def render(self, form: str = "table", *, bold: bool = False, raw: bool = False) -> str:
        """Return it in one of the formats of the command line; those for programs have every review."""
        choice("format", form, FORMATS)
        chosen = FORMATS[form]
        if chosen.of_table:
            return chosen.of_table(self.table(), bold)
        if chosen.of_rows:
            return chosen.of_rows(self.rows())
        rows = [*self.rows()]
        columns = tuple(dict.fromkeys(name for row in rows for name in row))
        return to_delimited(
            ({name: row.get(name) for name in columns} for row in rows), columns, chosen.delimiter, raw=raw
        )

    def __str__(self) -> str:
        return "\n".join([self.table().to_text(), *(f"note: {visible(note.text)}" for note in self.notes)])

    def _parts(self) -> Iterable[CellPart]:
        return [self.table()]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


@takes(CertificateOptions, Policies, *READING, warns=True)
def evaluate_stops(qrels: Qrels | Positions, runs: Runs | None = None, *, stops: Any, **options: Any) -> Stops:
    """Say how reviews ended that were stopped: their recall, what they cost, and how often they reach what is wanted.

    `stops` says after how many documents each was stopped: a number, {query: depth}, {run: {query: depth}}, or a file
    of lines `query depth` or `run query depth`. It may also be a folder of runs that were cut where they stopped; then
    `runs` may be left out, and the corpus size is needed. Otherwise the corpus is as large as the ranking is long,
    unless its size is given. `wanted` is the recall to reach, 0.95 unless given. A query that a run does not answer is
    left out there, whatever `queries` says: nothing was read. The other arguments are those of `evaluate`.

    >>> made = evaluate_stops({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b", "y", "z"]}, stops=2, wanted=1)
    >>> stop = made.runs[0].stops[0]
    >>> stop.recall, stop.share, stop.overshoot, made.runs[0].reached
    (0.5, 0.4, -1, 0)
    """
    certifying, policies = taken(CertificateOptions, options), taken(Policies, options)
    if unused := [name for name in ("assume", "looks") if getattr(certifying, name) is not None]:
        raise UsageError(f"{' and '.join(unused)} cannot be used with stops: nothing is sampled", remedy="leave it out")
    check_whole(options)
    if options.get("ties") == "expected":
        raise UsageError("ties='expected' has no single order to stop in", remedy="choose trec, input, worst or best")
    depths: Depths | Positions
    if isinstance(stops, (str, os.PathLike)) and is_folder(stops):
        depths = project(qrels, _files_in(stops), **options)  # type: ignore[arg-type]
        has_own = isinstance(qrels, Positions) or has_runs(runs)
        positions = positions_of(qrels, runs, [], options) if has_own else depths
        if not has_own and depths.corpus_size is None:
            problem = "the runs were cut where they stopped, so that the size of the corpus is not known"
            raise UsageError(problem, remedy="give --corpus-size N or FILE, or the whole runs beside them")
    else:
        positions, depths = positions_of(qrels, runs, [], options), load_depths(stops, "stops")
    return _ended(positions, depths, certifying, policies)


def _files_in(folder: str | os.PathLike[str]) -> list[str]:
    return regular(sorted(str(path) for path in Path(folder).iterdir() if not path.name.startswith(".")))


def _ended(
    positions: Positions, stops: Depths | Positions, certifying: CertificateOptions, policies: Policies
) -> Stops:
    census = Census.of(positions, policies)
    depths = _depths_of(positions, stops)
    projection = positions.at_level(policies.level)
    counts = (depths >= 0) & replace(policies, queries="intersection").counted(positions)
    sizes = positions.num_retrieved if positions.corpus_size is None else np.broadcast_to(
        positions.corpus_size, positions.shape)  # fmt: skip
    if (beyond := counts & (depths > sizes)).any():
        names = (f"{positions.runs[s]} query {positions.queries[q]}" for s, q in np.argwhere(beyond).tolist())
        problem = f"{counted(int(beyond.sum()), 'stop')} below the end of the corpus ({listed(names, 3)})"
        raise DataError(problem, remedy="stops count documents of the ranking; give --corpus-size if it has more")
    if not counts.any():
        problem = "no ranking of a query with a relevant document has a stop"
        raise DataError(problem, remedy="are the names of runs and the ids of queries written the same way?")
    wanted = WANTED if certifying.wanted is None else certifying.wanted
    runs = tuple(
        RunStops(
            positions.runs[s],
            tuple(
                _stop(projection, s, q, int(depths[s, q]), int(sizes[s, q]), wanted)
                for q in np.flatnonzero(counts[s]).tolist()
            ),
            wanted,
            certifying.confidence,
        )
        for s in np.flatnonzero(counts.any(axis=1)).tolist()
    )
    return Stops(runs, (*notes_on_reading(census), *_notes(positions, stops, counts, depths, policies)))


def _depths_of(positions: Positions, stops: Depths | Positions) -> IntArray:
    """Return the depth of each ranking, -1 if none is known, [S, Q]."""
    if isinstance(stops, Positions):
        # Runs that were cut where they stopped: the length of a ranking is the depth.
        known = {name: s for s, name in enumerate(stops.runs)}
        depths = np.where(stops.answered, stops.num_retrieved, -1)
        empty = np.full(positions.shape[1], -1, np.int64)
        return np.array([depths[known[name]] if name in known else empty for name in positions.runs])
    return np.array(
        [
            [-1 if (depth := stops.of(name, query)) is None else depth for query in positions.judgments.query_ids]
            for name in positions.runs
        ],
        np.int64,
    )


def _stop(projection: Projection, s: int, q: int, depth: int, corpus_size: int, wanted: float) -> Stop:
    places = projection.vector(s, q)
    # In floats 0.07 * 100 is above 7, and its ceiling would be 8.
    needed = math.ceil(exact_share(wanted) * len(places))
    ideal = places[needed - 1]
    return Stop(
        run=projection.source.runs[s],
        query=projection.source.queries[q],
        depth=depth,
        corpus_size=corpus_size,
        relevant=len(places),
        found=int((places <= depth).sum()),
        ideal=None if math.isinf(ideal) else int(ideal),
    )


def _notes(
    positions: Positions, stops: Depths | Positions, counts: BoolArray, depths: IntArray, policies: Policies
) -> Iterator[Note]:
    """Say what is left out."""
    if strange := _unknown(positions, stops):
        yield Note("unknown stops", f"stops ignored: {listed(strange)} not among the runs and queries", len(strange))
    is_eligible = policies.eligible(positions)
    if empty := int((~is_eligible).sum()):
        text = f"{counted(empty, 'query')} left out: without a relevant document there is no recall"
        yield Note("no relevant document", text, empty)
    if without := int(((depths < 0) & is_eligible).sum()):
        names = [name for s, name in enumerate(positions.runs) if (depths[s] < 0)[is_eligible].any()]
        yield Note("no stop", f"{counted(without, 'ranking')} left out: no stop is recorded ({listed(names)})", without)
    if unanswered := int(((depths >= 0) & is_eligible & ~counts).sum()):
        yield Note(
            "unanswered", f"{counted(unanswered, 'query')} left out of a run that does not answer it", unanswered
        )


def _unknown(positions: Positions, stops: Depths | Positions) -> list[str]:
    """Return the runs, or else the queries, that stops are recorded for and that are not there."""
    if isinstance(stops, Positions):
        return [name for name in stops.runs if name not in positions.runs]
    queries = {query for depths in (stops.by_query, *stops.by_run.values()) for query in depths}
    known = positions.judgments.index
    strange = [to_text(query) for query in sorted(queries) if query not in known]
    return [name for name in stops.by_run if name not in positions.runs] + strange
