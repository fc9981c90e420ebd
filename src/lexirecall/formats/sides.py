"""Sides: judgments and runs, of which one file may hold both.

Belongs here: which file is what, and that files with judgments of their own agree. Not here: what rows hold
(queryrows), what runs are called (naming).

Rows that hold both sides can be evaluated by themselves. If all runs are such rows, the file that is given as
judgments is also the first run. Otherwise it is judgments, and nothing else. The same holds for reviews.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lexirecall.errors import DataError, FormatError, UsageError, counted, shown
from lexirecall.formats.columns import Given
from lexirecall.formats.kinds import JSON, Input, is_path, is_review, is_rows, kind_of, reviews_in
from lexirecall.formats.naming import NamedRun
from lexirecall.formats.source import FileType, Source
from lexirecall.judgments import Judgments
from lexirecall.paths import is_folder, matching

if TYPE_CHECKING:
    from lexirecall.formats.queryrows import QueryRows
    from lexirecall.formats.reviews import Review, Reviews


@contextmanager
def sides_of(
    qrels: Any, named: list[NamedRun], columns: Given = None, stdin_name: str | None = None
) -> Iterator[tuple[Any, list[NamedRun]]]:
    """Give judgments and runs; what was opened to tell what it is comes back as it is, and is closed at the end.

    `stdin_name` is what judgments from stdin are called if they bring a run.

    >>> with sides_of({"q": {"a": 1}}, []):
    ...     pass
    Traceback (most recent call last):
    lexirecall.errors.UsageError: no runs are given
      give judgments and runs, or one file of rows that hold both
    """
    with ExitStack() as stack:
        judgments = qrels
        if (source := _one_file(qrels)) is not None:
            stack.enter_context(source)
            if is_review(source):
                yield _with_reviews(reviews_in(source).reviews[0], source, named)
                return
            judgments = _rows_in(source, "qrels", columns) or source
        if is_rows(judgments):
            runs = _with_own(judgments, source, named, columns, stdin_name)
            is_left_out = judgments.holds("run") and not any(run.run is judgments for run in runs)
            yield replace(judgments, leaves_run=True) if is_left_out else judgments, runs
            return
        if not named:
            raise UsageError("no runs are given", remedy="give judgments and runs, or one file of rows that hold both")
        yield judgments, named


def _with_own(
    judgments: "QueryRows", first: Source | None, named: list[NamedRun], columns: Given, stdin_name: str | None
) -> list[NamedRun]:
    """Return the runs beside judgments that are rows: these bring a run if no other is given, or only rows are."""
    read = [_read(run, first, judgments, columns) for run in named]
    rows = [run.run for run in read if is_rows(run.run) and run.run.holds("qrels") and run.run.holds("run")]
    for other in rows:
        if other is not judgments:
            _check_agreement(judgments, other)
    is_first_run = len(rows) == len(read) and judgments not in rows and not any(run.is_given for run in named)
    if named and not (is_first_run and judgments.holds("run")):
        return read
    if "document" in (columns or {}):
        problem = "columns: document is given for rows that hold judgments and a run"
        raise UsageError(problem, remedy="say which is meant: qrels.document or run.document")
    is_stdin = first is not None and first.path == "-"
    return [NamedRun((stdin_name if is_stdin else None) or judgments.run_name, judgments), *read]


def _with_reviews(first_review: "Review", first: Source, named: list[NamedRun]) -> tuple[Judgments, list[NamedRun]]:
    """Return the judgments of all reviews that are given, and the runs; a review brings a run as rows do."""
    from lexirecall.formats.reviews import Reviews

    found: list[tuple[NamedRun, Review | None]] = []
    for run in named:
        source = _one_file(run.run)
        if _is_same_file(source, first):
            found.append((run, first_review))
        elif source is None or not source.is_regular:
            found.append((run, None))
        else:
            with source:
                found.append((run, reviews_in(source).reviews[0] if is_review(source) else None))
    others = [review for _, review in found if review is not None and review is not first_review]
    all_are_others = all(review is not None and review is not first_review for _, review in found)
    if all_are_others and not any(run.is_given for run in named):
        found = [(NamedRun(first_review.run_name, first), first_review), *found]
    reviews = Reviews((first_review, *others))
    judgments = reviews.judgments()
    if not any(review is first_review for _, review in found):
        remark = f"{first_review.name} holds a run too, which is left out because other runs are given"
        judgments = replace(judgments, remarks=(*judgments.remarks, remark))
    return judgments, [run if review is None else _as_run(run, review, reviews) for run, review in found]


def _as_run(run: NamedRun, review: "Review", reviews: "Reviews") -> NamedRun:
    return run._replace(run=review.ranking(reviews.left_out(review.query)))


def may_hold_both(qrels: Any, columns: Given = None) -> bool:
    """Tell whether judgments may bring a run of their own, which only reading them will tell."""
    if (source := _one_file(qrels)) is None:
        return is_rows(qrels)
    if not source.is_regular:  # a pipe cannot be looked into without emptying it
        return not is_folder(source)
    try:
        with source:
            return is_review(source) or _may_hold_rows(source, "qrels", columns)
    except FormatError:
        return False  # whoever reads it will say what is wrong


def _one_file(side: Any) -> Source | None:
    """Return the source of an input that is one file."""
    if isinstance(side, Source):
        return side
    paths = matching(side) if is_path(side, "qrels") else ()
    return Source(paths[0]) if len(paths) == 1 else None


def _is_same_file(one: Source | None, other: Source | None) -> bool:
    return one is not None and other is not None and os.path.realpath(one) == os.path.realpath(other)


def _rows_in(source: Source, role: str, columns: Given) -> "QueryRows | None":
    """Return the rows of a file that holds rows."""
    if not _may_hold_rows(source, role, columns):
        return None
    from lexirecall.formats.jsonfiles import open_json

    content = open_json(source, role, columns)
    return content if is_rows(content) else None


def _may_hold_rows(source: Source, role: str, columns: Given) -> bool:
    """Tell by its first bytes; what reads rows is imported for JSON only, and not for CSV that begins like it."""
    if source.type is not FileType.JSON or kind_of(Input(source, role, columns)) is not JSON:
        return False
    from lexirecall.formats.jsonfiles import may_hold_rows

    return may_hold_rows(source)


def _read(run: NamedRun, first: Source | None, judgments: "QueryRows", columns: Given) -> NamedRun:
    """Read a run that is rows; the file of the judgments has been read."""
    source = _one_file(run.run)
    if _is_same_file(source, first):
        return run._replace(run=judgments)
    if source is None or not source.is_regular:
        return run
    with source:
        rows = _rows_in(source, "run", columns)
        return run if rows is None else run._replace(run=rows)


def _check_agreement(first: "QueryRows", other: "QueryRows") -> None:
    """Raise if rows of two files judge the same query differently; a query that is only in one file is left alone."""
    ours, theirs = _judged(first), _judged(other)
    if differing := [query for query in ours if query in theirs and ours[query] != theirs[query]]:
        (_, our_grades), (_, their_grades) = ours[differing[0]], theirs[differing[0]]
        documents = [
            document
            for document in {**our_grades, **their_grades}
            if our_grades.get(document) != their_grades.get(document)
        ]
        what = f"document {shown(documents[0])} of query" if documents else "the text of row"
        raise DataError(
            f"rows must agree in their judgments, but {first.name} and {other.name} differ in "
            f"{counted(len(differing), 'query')}, such as {what} {shown(differing[0])}",
            remedy="give the judgments as a file of their own: QRELS RUN...",
        )


def _judged(rows: "QueryRows") -> dict[bytes, tuple[str | None, dict[bytes, Any]]]:
    """Return the grades of each query, with its words if it is called by the number of its row."""
    from lexirecall.formats.memory import id_in

    words = dict(zip(rows.ids.ids, rows.ids.texts, strict=True)) if rows.ids.are_numbers else {}
    return {
        id_in(query, rows.name): (
            words.get(query),
            {id_in(document, rows.name, query): judged[document] for document in judged},
        )
        for query, judged in rows.judged.items()
    }
