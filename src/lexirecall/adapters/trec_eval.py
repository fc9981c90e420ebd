"""trec_eval's output: the lines that it prints for judgments and a run.

Belongs here: which topics count, the lines and their order. Not here: the measures (trec_names), the options (cli).
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from lexirecall.adapters.trec_names import TrecColumn, aggregate, columns, needs_judged, values
from lexirecall.errors import LexirecallError, UsageError, counted, listed
from lexirecall.formats import Qrels, Run, project
from lexirecall.formats.kinds import TEXT, Input, kind_of
from lexirecall.formats.source import Source
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
    score_dtype: str = "float64",
) -> Output:
    """Return what trec_eval prints: a line for each measure, for each topic if `per_topic`, and for all topics.

    A topic counts if it is judged and in the run. With `complete`, every judged topic counts, as 0 if the run lacks it.
    Topics come in the order of their bytes, measures in trec_eval's order.

    >>> output = evaluate({"1": {"a": 1, "b": 1}}, {"1": {"x": 2.0, "a": 1.0}}, ["num_ret", "map", "P.5"])
    >>> [line.split() for line in output.lines]
    [['num_ret', 'all', '2'], ['map', 'all', '0.2500'], ['P_5', 'all', '0.2000']]
    """
    asked = columns(list(measures))
    try:
        positions = project(
            qrels,
            run,
            score_dtype=score_dtype,
            depth=depth,
            judged_only=judged_only,
            corpus_size=num_documents,
            needs_judged=needs_judged(asked),
        )
    except LexirecallError as error:
        error.offer(())  # like trec_eval, this offers no way to go on past an error
        raise
    if len(positions.systems) != 1:
        raise UsageError(
            f"there are {len(positions.systems)} runs, but only one can be evaluated: {listed(positions.systems)}",
            remedy="lexirecall eval takes several",
        )
    found = values(positions, asked, level)
    topics = _topics(positions)
    lines = list(_topic_lines(positions, topics, asked, found)) if per_topic else []
    if summary:
        missing = found[~positions.answered[0]] if complete else found[:0]
        lines += _summary_lines(asked, found[topics], missing, tag_of(run, positions))
    return Output(tuple(lines), tuple(_notes(positions, complete=complete)))


def _topics(positions: Positions) -> list[int]:
    """Return the topics that the run answers, in the order of their bytes."""
    return sorted(np.flatnonzero(positions.answered[0]).tolist(), key=lambda q: to_bytes(positions.requests[q]))


def _topic_lines(
    positions: Positions, topics: Sequence[int], asked: Sequence[TrecColumn], found: FloatArray
) -> Iterator[str]:
    requests = positions.requests
    printed = [(c, column) for c, column in enumerate(asked) if column.family.shown != "summary"]
    for q in topics:
        for c, column in printed:
            if column.family.name == "relstring":
                text = f"'{relevance_string(positions, q, int(column.parameters[0]))}'"
            else:
                text = _number(column, found[q, c])
            yield _line(column.name, requests[q], text)


def _summary_lines(asked: Sequence[TrecColumn], rows: FloatArray, missing: FloatArray, tag: str) -> Iterator[str]:
    """Average the rows, [topics, columns]; a missing topic has counts, such as num_rel, and counts as 0 in a mean."""
    for c, column in enumerate(asked):
        total, numbers = column.family.total, rows[:, c].tolist()
        if column.family.name == "runid":
            yield _line("runid", "all", tag)
        elif column.family.shown != "topics":
            value = aggregate(total, numbers, len(missing)) + (missing[:, c].sum() if total == "sum" else 0)
            yield _line(column.name, "all", _number(column, value))


def _line(name: str, topic: str, text: str) -> str:
    return f"{name:<22}\t{topic}\t{text}"


def _number(column: TrecColumn, value: float) -> str:
    return str(int(value)) if column.family.is_count else f"{value:6.4f}"


def _notes(positions: Positions, *, complete: bool) -> Iterator[Note]:
    yield from mismatch_note(positions.mismatches)
    missing = [positions.requests[q] for q in np.flatnonzero(~positions.answered[0])]
    if missing and not complete:
        number = counted(len(missing), "judged topic")
        yield Note(
            "unanswered", f"{number} not in the run: left out ({listed(missing)}); -c counts them as 0", len(missing)
        )
    if num_extra := sum(positions.num_extra):
        yield extra_fields(num_extra)


def relevance_string(positions: Positions, request: int, length: int) -> str:
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
    signs = ["-"] * min(length, int(positions.num_retrieved[0, request]))
    for tracks in (positions.found, positions.others):
        for place, grade in _grades_of(tracks, positions, request, len(signs)):
            signs[place - 1] = "." if grade < 0 else ">" if grade > 9 else str(int(grade))
    return "".join(signs)


def _grades_of(tracks: Tracks, positions: Positions, request: int, depth: int) -> Iterator[tuple[int, float]]:
    start, stop = tracks.segments.offsets[request : request + 2]
    places = tracks.positions[start:stop]
    shown = places <= depth
    grades = positions.judgments.grades[tracks.items[start:stop][shown]]
    return zip(places[shown].tolist(), grades.tolist(), strict=True)


def tag_of(run: Run, positions: Positions) -> str:
    """Return the tag in a run's first line; or its name, if it is not a text file that can be opened again.

    >>> from lexirecall import project
    >>> run = {"q": {"a": 1.0}}
    >>> tag_of(run, project({"q": {"a": 1}}, run))
    'run'
    """
    name = positions.systems[0]
    if not isinstance(run, (str, os.PathLike)) or not is_file(run):
        return name
    with Source(run) as source:
        if kind_of(Input(source, "run")) is not TEXT:
            return name
        fields = next(islice(lines_of(source), 1))[1]
    return to_text(fields[5]) if len(fields) > 5 else name
