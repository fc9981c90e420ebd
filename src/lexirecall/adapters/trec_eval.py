"""trec_eval's output: the lines that it prints for judgments and a run.

Belongs here: which topics count, the lines and their order. Not here: the measures (trec_columns), the options (cli).
"""

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lexirecall.adapters.trec_columns import TrecColumn, aggregate, columns, needs_judged, values
from lexirecall.adapters.trec_names import VERSIONS, Compat
from lexirecall.errors import DataError, LexirecallError, UsageError, counted, listed
from lexirecall.formats import Qrels, Run, project
from lexirecall.formats.kinds import TEXT, Input, kind_of
from lexirecall.formats.source import BYTE_ORDER_MARK, Source
from lexirecall.formats.trec import lines as lines_of
from lexirecall.judgments import FloatArray
from lexirecall.manifest import Note
from lexirecall.paths import is_file
from lexirecall.positions import Positions
from lexirecall.text import to_bytes, to_text
from lexirecall.tracks import Tracks
from lexirecall.verbs.notes import extra_fields, mismatch_note

__all__ = ["Output", "evaluate"]

DEFAULT = ("official",)
SCORE_DTYPES: dict[Compat, str] = {9: "float32", 10: "float64"}
"""How precise the scores are in each version."""
_TAIL = 1 << 16  # bytes at the end of a run, with its last line


@dataclass(frozen=True, slots=True)
class Output:
    """The lines, and notes for their reader."""

    lines: tuple[str, ...]
    notes: tuple[Note, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)


def evaluate(
    qrels: Qrels,
    run: Run,
    measures: Iterable[str] = DEFAULT,
    *,
    per_topic: bool = False,
    complete: bool = False,
    summary: bool = True,
    level: float = 1,
    depth: int | None = None,
    judged_only: bool = False,
    num_documents: int | None = None,
    compat: Compat = 10,
    score_dtype: str | None = None,
    zscores: str | os.PathLike[str] | None = None,
    topic: str | None = None,
) -> Output:
    """Return what trec_eval prints: a line for each measure, for each topic if `per_topic`, and for all topics.

    A topic counts if it is judged and in the run. With `complete`, every judged topic counts, as 0 if the run lacks it.
    Topics come in the order of their bytes, measures in trec_eval's order. `compat` is the version whose rules hold, 9
    or 10. Scores have its precision, float32 or float64, unless `score_dtype` says otherwise. `zscores` is a file of
    means and deviations, by which values become z-scores. `topic` is the only one to evaluate.

    >>> output = evaluate({"1": {"a": 1, "b": 1}}, {"1": {"x": 2.0, "a": 1.0}}, ["num_ret", "map", "P.5"])
    >>> [line.split() for line in output.lines]
    [['num_ret', 'all', '2'], ['map', 'all', '0.2500'], ['P_5', 'all', '0.2000']]
    """
    if compat not in VERSIONS:
        raise UsageError(f"compat is {compat!r}, but must be 9 or 10, the version of trec_eval")
    asked = columns(list(measures), compat)
    positions = _positions(
        qrels,
        run,
        score_dtype=score_dtype or SCORE_DTYPES[compat],
        depth=depth,
        judged_only=judged_only,
        corpus_size=num_documents,
        needs_judged=needs_judged(asked),
    )
    listed_topics = _topics(positions, every=complete and compat == 10, only=topic)
    table = _TopicValues(
        positions, listed_topics, asked, values(positions, asked, level)[listed_topics], complete=complete
    )
    if zscores is not None:
        table = table.with_zscores(zscores)
    lines = list(table.topic_lines()) if per_topic else []
    if summary:
        lines += table.summary_lines(tag_of(run, positions))
    return Output(tuple(lines), tuple(_notes(positions, complete=complete)))


def _positions(qrels: Qrels, run: Run, **options: Any) -> Positions:
    """Project one run; like trec_eval, this offers no way to go on past an error."""
    try:
        positions = project(qrels, run, **options)
    except LexirecallError as error:
        error.offer(())
        raise
    if len(positions.runs) != 1:
        raise UsageError(
            f"there are {len(positions.runs):,} runs, but only one can be evaluated: {listed(positions.runs)}",
            remedy="lexirecall eval takes several",
        )
    return positions


def _topics(positions: Positions, *, every: bool, only: str | None) -> list[int]:
    """Return the topics that the run answers, or every judged one, in the order of their bytes."""
    counts = np.ones(positions.shape[1], bool) if every else positions.answered[0]
    if only is not None:
        counts = counts & np.array([query == only for query in positions.queries], bool)
        if not counts.any():
            raise DataError(f"topic {only!r} is not both judged and in the run")
    return sorted(np.flatnonzero(counts).tolist(), key=lambda q: to_bytes(positions.queries[q]))


@dataclass(frozen=True, slots=True, eq=False)
class _TopicValues:
    """The values of the topics that count, [topics, columns], and how they are printed."""

    positions: Positions
    topics: Sequence[int]
    asked: Sequence[TrecColumn]
    values: FloatArray
    complete: bool
    mark: str = ""
    """What z-scores have before the name of a measure."""

    def with_zscores(self, path: str | os.PathLike[str]) -> "_TopicValues":
        from lexirecall.adapters.trec_zscores import read_deviations, zscores  # not on top: few ask for them

        queries, names = self.positions.queries, [column.name for column in self.asked]
        found = zscores(self.values, [queries[q] for q in self.topics], names, read_deviations(path))
        return replace(self, values=found, mark="Z")

    def topic_lines(self) -> Iterator[str]:
        queries = self.positions.queries
        printed = [(c, column) for c, column in enumerate(self.asked) if column.family.shown != "summary"]
        for row, q in enumerate(self.topics):
            for c, column in printed:
                if column.family.is_text:
                    text = f"'{relevance_string(self.positions, q, int(column.parameters[0]))}'"
                    yield _line(column.name, queries[q], text)
                else:
                    yield self._line(column, queries[q], self.values[row, c])

    def summary_lines(self, tag: str) -> Iterator[str]:
        """Average the topics; with -c, those that are not among them count as 0."""
        num_missing = self.positions.shape[1] - len(self.topics) if self.complete else 0
        for c, column in enumerate(self.asked):
            if column.family.shown == "topics":
                continue
            if column.family.is_text:
                yield _line(column.name, "all", tag)
            elif self.complete and column.family.total == "relevant":
                yield self._line(column, "all", float(self.positions.judgments.num_positive.sum()))
            else:
                value = aggregate(column.family.total, self.values[:, c].tolist(), num_missing)
                yield self._line(column, "all", value)

    def _line(self, column: TrecColumn, topic: str, value: float) -> str:
        is_count = column.family.is_count and not self.mark
        return self.mark + _line(column.name, topic, str(int(value)) if is_count else f"{value:6.4f}")


def _line(name: str, topic: str, text: str) -> str:
    return f"{name:<22}\t{topic}\t{text}"


def _notes(positions: Positions, *, complete: bool) -> Iterator[Note]:
    yield from mismatch_note(positions.mismatches)
    missing = [positions.queries[q] for q in np.flatnonzero(~positions.answered[0])]
    if missing and not complete:
        number = counted(len(missing), "judged topic")
        yield Note(
            "unanswered", f"{number} not in the run: left out ({listed(missing)}); -c counts them as 0", len(missing)
        )
    if num_extra := sum(positions.num_extra):
        yield extra_fields(num_extra)


def relevance_string(positions: Positions, query: int, length: int) -> str:
    """Write the grades of the first documents of a ranking, one sign for each: trec_eval's `relstring`.

    `>` is a grade above 9, `-` a document that is not in the judgments, `.` one with a grade below 0.

    >>> from lexirecall import project
    >>> ranked = {"q": ["a", "x", "b", "c", "d"]}
    >>> positions = project({"q": {"a": 2, "b": 0, "c": -1, "d": 12}}, ranked, needs_judged=True)
    >>> relevance_string(positions, 0, 10)
    '2-0.>'
    """
    if positions.others is None:
        raise UsageError("the positions lack judged non-relevant documents", remedy="project(..., needs_judged=True)")
    signs = ["-"] * min(length, int(positions.num_retrieved[0, query]))
    for tracks in (positions.found, positions.others):
        for place, grade in _grades_of(tracks, positions, query, len(signs)):
            signs[place - 1] = "." if grade < 0 else ">" if grade > 9 else str(int(grade))
    return "".join(signs)


def _grades_of(tracks: Tracks, positions: Positions, query: int, depth: int) -> Iterator[tuple[int, float]]:
    start, stop = tracks.segments.offsets[query : query + 2]
    places = tracks.positions[start:stop]
    shown = places <= depth
    grades = positions.judgments.grades[tracks.documents[start:stop][shown]]
    return zip(places[shown].tolist(), grades.tolist(), strict=True)


def tag_of(run: Run, positions: Positions) -> str:
    """Return the tag in a run's last line; or its name, if it is not a text file that can be opened again.

    >>> from lexirecall import project
    >>> run = {"q": {"a": 1.0}}
    >>> tag_of(run, project({"q": {"a": 1}}, run))
    'run'
    """
    name = positions.runs[0]
    if not isinstance(run, (str, os.PathLike)) or not is_file(run):
        return name
    with Source(run) as source:
        if kind_of(Input(source, "run")) is not TEXT:
            return name
        fields = _last_line(source)
    return to_text(fields[5]) if len(fields) > 5 else name


def _last_line(source: Source) -> list[bytes]:
    """Return the fields of the last line with content, from the end of the file if a whole line is there."""
    tail, is_whole = _tail(source)
    pieces = [line.split() for line in tail.split(b"\n")]
    for fields in reversed(pieces if is_whole else pieces[1:]):
        if fields and not fields[0].startswith(b"#"):
            return fields
    last: list[bytes] = []
    for _, last in lines_of(source):  # noqa: B007 - the last one is wanted
        pass
    return last


def _tail(source: Source) -> tuple[bytes, bool]:
    """Return the end of the text, and whether it is the whole text."""
    if source.is_plain_file:
        start = max(source.size - _TAIL, 0)
        with source.open_from(start) as stream:
            return stream.read().removeprefix(b"" if start else BYTE_ORDER_MARK), start == 0
    blocks: deque[bytes] = deque(maxlen=2)
    num_blocks = 0
    with source.open() as stream:
        while block := stream.read(_TAIL):
            blocks.append(block)
            num_blocks += 1
    return b"".join(blocks).removeprefix(b"" if num_blocks > 2 else BYTE_ORDER_MARK), num_blocks <= 2
