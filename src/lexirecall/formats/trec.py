"""TREC text: qrels and runs, line by line.

Belongs here: what the lines of a file mean, and what is wrong with those that make no sense. Not here: opening and
unpacking (source), rankings (lists).

    qrels  query  ignored  document  grade              run  query  ignored  document  ignored  score  [tag  [ignored
    …]] corpus sizes  query  size                       providers  document  name, which may hold blanks

Fields are separated by any blanks; empty lines and lines that begin with # are skipped. This is the readable
reader: it defines what a file means, and holds one query at a time.

Fields after the tag of a run are ignored and counted, as in trec_eval's format, unless they may be there because an id
holds a blank: then the rank is not a number, or the score is where the tag should be.
"""

import contextlib
from collections.abc import Iterator
from itertools import islice
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING

from lexirecall.errors import FormatError, plain, shown
from lexirecall.formats.lines import NoLines, groups_of_lines, nothing_in
from lexirecall.formats.rankedlist import LEAVE_ONE, DuplicateDocument, RankedList
from lexirecall.formats.source import BYTE_ORDER_MARK, Source
from lexirecall.judgments import Judgments
from lexirecall.manifest import MOST_DOCUMENTS, Conventions
from lexirecall.text import number_of, to_text
from lexirecall.tracks import RunPositions

if TYPE_CHECKING:
    from lexirecall.formats.wholelists import RunLists
    from lexirecall.units.unitmap import UnitMap

_NEWLINES = b"\r\n"
_MOST_FIELDS = 7  # one more than any line needs
_MOST_DIGITS = 1000  # of a whole number; Python refuses to read more than a few thousand
_ORDER = "Judgments come first, then runs: QRELS RUN..."


def lines(source: Source, most: int = _MOST_FIELDS) -> Iterator[tuple[int, list[bytes]]]:
    """Give the number and the fields of each line that has any; what follows the first `most` is one field."""
    number, empty = 0, True
    for first, together in groups_of_lines(source):
        if first == 1:
            together[0] = together[0].removeprefix(BYTE_ORDER_MARK)
        for number, line in enumerate(together, first):
            if b"\0" in line:
                raise _nul_byte(source, number, line)
            fields = line.split(None, most)  # the last may hold many
            if fields and not fields[0].startswith(b"#"):
                empty = False
                yield number, fields
    if empty:
        raise nothing_in(source, number)


def _nul_byte(source: Source, number: int, line: bytes) -> FormatError:
    remedy = "is this a binary file, or UTF-16 text?"
    return FormatError(source.name, number, f"a NUL byte: {shown(line.rstrip(_NEWLINES))}", remedy=remedy)


def read_qrels(source: Source) -> Judgments:
    """Read judgments: query, a column that is ignored, document, grade."""
    with damage_first(source):
        return _read_qrels(source)


@contextlib.contextmanager
def damage_first(source: Source) -> Iterator[None]:
    """If a line makes no sense, say first whether the file is damaged."""
    try:
        yield
    except NoLines:
        raise
    except FormatError:
        source.check_intact()
        raise


def _read_qrels(source: Source) -> Judgments:
    grades: dict[bytes, dict[bytes, float]] = {}
    num_repeated = 0
    for number, fields in lines(source):
        if len(fields) != 4:
            remedy = f"is this a run? {_ORDER}" if len(fields) == 6 else ""
            if len(fields) == 5:
                remedy = f"is there a blank inside an id, or is this a run? {_ORDER}"
            raise wrong_fields(source, number, "qrels", 4, "query 0 document grade", fields, remedy)
        query, _, document, text = fields
        grade = grade_in(text, source, number)
        judged = grades.setdefault(query, {})
        if document in judged:
            if judged[document] != grade:
                raise _judged_twice(source, number, query, document, judged[document], grade)
            num_repeated += 1
        judged[document] = grade
    return Judgments.from_grades(grades, name=source.name, num_repeated=num_repeated)


def read_sizes(source: Source) -> dict[bytes, int]:
    """Read a file of corpus sizes: query, size."""
    sizes: dict[bytes, int] = {}
    for number, fields in lines(source):
        if len(fields) != 2:
            raise wrong_fields(source, number, "corpus size", 2, "query size", fields, "write a line for each query")
        query, text = fields
        size = int(text) if text.isdigit() and len(text) <= _MOST_DIGITS else 0
        if not 0 < size < MOST_DOCUMENTS:
            problem = f"the corpus size is not a whole number above 0: {shown(text)}"
            raise FormatError(source.name, number, problem, remedy="write how many documents there are, as in 528155")
        if sizes.setdefault(query, size) != size:
            earlier = next(n for n, others in lines(source) if others[0] == query)
            problem = f"query {shown(query)} has size {size} here and {sizes[query]} on line {earlier}"
            raise FormatError(source.name, number, problem, remedy="keep one of the two lines")
    return sizes


def read_providers(source: Source) -> Iterator[tuple[bytes, bytes]]:
    """Read a map of providers: document, and after the first blank the provider's name, which may hold blanks."""
    with damage_first(source):
        for number, fields in lines(source, most=1):
            if len(fields) != 2:
                raise wrong_fields(source, number, "provider", 2, "document provider", fields, "")
            yield fields[0], fields[1].strip()


def project_text(
    source: Source,
    name: str,
    judgments: Judgments,
    conventions: Conventions,
    units: "UnitMap | None" = None,
    *,
    needs_judged: bool,
) -> RunPositions:
    """Read a run straight into positions, one query at a time."""
    from lexirecall.formats.lists import project_rankings  # not on top: most runs are left to the compiled reader

    def project_from(rankings: Iterator[RankedList]) -> RunPositions:
        return project_rankings(name, rankings, judgments, conventions, units, needs_judged=needs_judged)

    with damage_first(source):
        try:
            try:
                return project_from(_by_group(source, judgments, strict=conventions.strict))
            except _InterleavedQuery:
                return project_from(_gathered(source, strict=conventions.strict))
        except DuplicateDocument as error:
            raise listed_twice(source, error) from None


def lists_of_text(
    source: Source, name: str, judgments: Judgments, conventions: Conventions, *, needs_scores: bool = False
) -> "RunLists":
    """Read the whole rankings of a run, in order."""
    from lexirecall.formats.lists import order_rankings  # not on top: most runs are left to the compiled reader

    with damage_first(source):
        try:
            rankings = _gathered(source, strict=conventions.strict)
            return order_rankings(name, rankings, judgments, conventions, needs_scores=needs_scores)
        except DuplicateDocument as error:
            raise listed_twice(source, error) from None


class _InterleavedQuery(Exception):  # noqa: N818 - a detour, not an error
    """The lines of a query are not together."""


RunLine = tuple[bytes, bytes, float, bool]
"""Query, document and score, and whether more fields follow the tag."""


def run_lines(source: Source, *, strict: bool = False) -> Iterator[RunLine]:
    """Give what each line of a run says."""
    for number, fields in lines(source):
        try:
            query, _, document, _, text, _ = fields  # as nearly every line is
            score = number_of(text)
        except ValueError:
            score = nan
        yield _run_line(source, number, fields, strict) if isnan(score) else (query, document, score, False)


def _run_line(source: Source, number: int, fields: list[bytes], strict: bool) -> RunLine:
    has_more = len(fields) > 6
    if has_more or len(fields) < 5:
        remedy = f"is this a qrels file? {_ORDER}" if len(fields) == 4 else ""
        if has_more and not strict:
            remedy = _blank_inside(fields)
        if remedy or strict or not has_more:
            raise wrong_fields(source, number, "run", 6, "query Q0 document rank score tag", fields, remedy)
    try:
        score = number_of(fields[4])
    except ValueError:
        score = _number(fields[4], source, number, "score")
    if score != score:  # noqa: PLR0124 - only NaN differs from itself
        problem = f"the score is NaN: {shown(b' '.join(fields))}"
        raise FormatError(
            source.name, number, problem, remedy="NaN cannot be ordered: write a number, or leave out the document"
        )
    return fields[0], fields[2], score, has_more


def _blank_inside(fields: list[bytes]) -> str:
    """Say why a blank inside an id may be the reason for too many fields on a line; say nothing if it is not."""
    if not fields[3][fields[3].startswith((b"+", b"-")) :].isdigit():
        return f"is there a blank inside an id? {shown(fields[3])} is where the rank should be"
    try:
        number_of(fields[5])
    except ValueError:
        return ""
    return f"is there a blank inside an id? {shown(fields[5])} is where the run tag should be"


def check_run_line(source: Source, number: int, line: bytes, *, strict: bool) -> None:
    """Raise what is wrong with a line that another reader could not make sense of."""
    if b"\0" in line:
        raise _nul_byte(source, number, line)
    _run_line(source, number, line.split(None, _MOST_FIELDS), strict)


def _by_group(source: Source, judgments: Judgments, *, strict: bool) -> Iterator[RankedList]:
    """Give each query when its lines end; raise if a judged one goes on later."""
    closed: set[bytes] = set()
    judged = judgments.index
    ranking = RankedList(b"", [], [])
    for query, document, score, has_more in run_lines(source, strict=strict):
        if query != ranking.query:
            if ranking.documents:
                closed.add(ranking.query)
                yield ranking
            if query in closed and query in judged:
                raise _InterleavedQuery
            ranking = RankedList(query, [], [])
        ranking.documents.append(document)
        ranking.scores.append(score)  # type: ignore[union-attr] # a run file always has scores
        if has_more:
            ranking.num_extra += 1
    yield ranking


def _gathered(source: Source, *, strict: bool) -> Iterator[RankedList]:
    """Give each query once the whole file is read."""
    rankings: dict[bytes, RankedList] = {}
    for query, document, score, has_more in run_lines(source, strict=strict):
        ranking = rankings.setdefault(query, RankedList(query, [], []))
        ranking.documents.append(document)
        ranking.scores.append(score)  # type: ignore[union-attr]
        if has_more:
            ranking.num_extra += 1
    yield from rankings.values()


def grade_in(text: bytes, source: Source, number: int) -> float:
    """Read the grade on a line."""
    return _number(text, source, number, "grade")


def _number(text: bytes, source: Source, number: int, what: str) -> float:
    """Read a finite number; scores may be infinite and do not come here when they can be read."""
    try:
        value = number_of(text)
    except ValueError:
        remedy = "is this another kind of file, or is a column missing?"
        if number == 1:
            remedy = "is this a header? Remove it, or begin it with #"
        if text.replace(b"_", b"").isdigit():
            remedy = f"write it without underscores, as in {text.replace(b'_', b'').decode()}"
        elif text.replace(b",", b".", 1).replace(b".", b"", 1).lstrip(b"+-").isdigit():
            remedy = f"write the decimal point as in {text.replace(b',', b'.').decode()}"
        raise FormatError(source.name, number, f"the {what} is not a number: {shown(text)}", remedy=remedy) from None
    if not isfinite(value):
        raise FormatError(
            source.name, number, f"the {what} is not finite: {shown(text)}", remedy="write a plain number"
        )
    return value


def wrong_fields(
    source: Source, number: int, kind: str, count: int, names: str, fields: list[bytes], remedy: str
) -> FormatError:
    """Return the error about a line with too few or too many fields."""
    text = b" ".join(fields).rstrip()
    found = str(len(fields)) if len(fields) <= _MOST_FIELDS else f"more than {_MOST_FIELDS}"
    if any(byte < 32 for byte in text[:400]):
        remedy = "this looks like binary data, not text"
    elif len(fields) < count and text.count(b",") >= count - 1:
        remedy = "fields are separated by blanks, not by commas"
    elif not remedy:
        remedy = (
            "is there a blank inside an id?" if len(fields) > count else "is a column missing, or is the file cut off?"
        )
    problem = f"a {kind} line has {count} fields ({names}), found {found}: {shown(text)}"
    return FormatError(source.name, number, problem, remedy=remedy)


def _judged_twice(
    source: Source, number: int, query: bytes, document: bytes, first: float, second: float
) -> FormatError:
    earlier = next(n for n, fields in lines(source) if fields[0:3:2] == [query, document])
    grades = f"has grade {plain(second)} here and {plain(first)} on line {earlier}"
    problem = f"document {shown(document)} of query {shown(query)} {grades}"
    return FormatError(source.name, number, problem, remedy="keep one of the two lines")


def listed_twice(source: Source, error: DuplicateDocument) -> FormatError:
    """Return the error that names both lines, and both tags if the lines may be of two runs."""
    wanted = [error.query, error.document]
    (first, one), (second, other) = islice((line for line in lines(source) if line[1][0:3:2] == wanted), 2)
    remedy = "remove one of them"
    if len({fields[5] for fields in (one, other) if len(fields) > 5}) > 1:
        remedy = (
            f"if {shown(one[5])} and {shown(other[5])} are two runs, give each a file of its own; otherwise {remedy}"
        )
    return FormatError(
        source.name,
        second,
        f"document {shown(error.document)} of query {to_text(error.query)!r} is listed twice, first on line {first}",
        remedy=remedy,
        way_on=LEAVE_ONE,
    )
