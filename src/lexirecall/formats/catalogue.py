"""The catalogue of ir_datasets: judgments by the name of a data set, as in `ir_datasets:vaswani`.

Belongs here: from such a name to judgments. Not here: files (trec, tablefiles). ir_datasets
(extra `irds`) downloads what it does not have yet, and keeps it.
"""

from collections.abc import Iterable, Iterator
from importlib import import_module
from math import isfinite
from typing import Any

from lexirecall.errors import DataError, FormatError, UsageError, listed, plain, shown
from lexirecall.installing import how_to_install
from lexirecall.judgments import Judgments
from lexirecall.text import to_bytes

PREFIX = "ir_datasets:"


def is_catalogued(qrels: object) -> bool:
    """Tell whether judgments are given by the name of a data set.

    >>> is_catalogued("ir_datasets:vaswani"), is_catalogued("qrels.txt")
    (True, False)
    """
    return isinstance(qrels, str) and qrels.startswith(PREFIX)


def judgments_from_catalogue(qrels: str) -> Judgments:
    """Take the judgments of a data set; what must be downloaded for them is downloaded first.

    A document that is judged more than once, with different grades, is an error: ir_datasets gives one judgment for
    each subtopic, and none of these is the judgment of the query.

    >>> judgments_from_catalogue("ir_datasets:vaswani").num_relevant(1).sum()  # doctest: +SKIP
    2083
    """
    name = qrels.removeprefix(PREFIX)
    dataset = _dataset(name)
    if not dataset.has_qrels():
        raise DataError(f"{qrels} has no judgments", remedy=_with_judgments(name))
    try:
        return _judgments(dataset.qrels_iter(), qrels)
    except (OSError, RuntimeError, ValueError) as error:  # a download that fails, or a file that it cannot read
        raise _unreadable(qrels, error) from None


def _catalogue() -> Any:
    try:
        return import_module("ir_datasets")
    except ModuleNotFoundError:
        remedy = f"{how_to_install('irds')}, or give a file of judgments"
        raise UsageError("ir_datasets is not installed", remedy=remedy) from None


def _dataset(name: str) -> Any:
    ir_datasets = _catalogue()
    try:
        return ir_datasets.load(name)
    except KeyError:
        from difflib import get_close_matches

        near = get_close_matches(name, ir_datasets.registry, n=3)
        hint = (
            f"did you mean {' or '.join(PREFIX + other for other in near)}?" if near else "`ir_datasets list` names all"
        )
        raise UsageError(f"ir_datasets has no data set {shown(name)}", remedy=hint) from None


def _with_judgments(name: str) -> str:
    """Name the parts of a data set that have judgments."""
    ir_datasets = _catalogue()
    parts = sorted(part for part in ir_datasets.registry if part.startswith(f"{name}/"))
    judged = [PREFIX + part for part in parts if ir_datasets.load(part).has_qrels()]
    return f"these parts of it have judgments: {listed(judged)}" if judged else "give a file of judgments"


def _judgments(judgments: Iterable[Any], name: str) -> Judgments:
    grades: dict[bytes, dict[bytes, float]] = {}
    num_repeated = 0
    for judgment in judgments:
        judged, document = grades.setdefault(to_bytes(judgment.query_id), {}), to_bytes(judgment.doc_id)
        grade = _grade(judgment, name)
        num_repeated += document in judged
        if judged.setdefault(document, grade) != grade:
            which = f"document {shown(document)} of query {shown(judgment.query_id)}"
            problem = f"{which} has the grades {plain(judged[document])} and {plain(grade)}"
            remedy = "are these judgments of subtopics? Give a file with one grade for each document"
            raise FormatError(name, None, problem, remedy=remedy)
    if not grades:
        raise DataError(f"{name} has no judgments", remedy="give a file of judgments")
    return Judgments.from_grades(grades, name=name, num_repeated=num_repeated)


def _grade(judgment: Any, name: str) -> float:
    try:
        grade = float(judgment.relevance)
    except (AttributeError, TypeError, ValueError):
        problem = f"the grade of a judgment is not a number: {shown(repr(judgment))}"
        raise FormatError(name, None, problem, remedy="give a file of judgments") from None
    if not isfinite(grade):
        raise FormatError(name, None, f"the grade of a judgment is not finite: {shown(repr(judgment))}")
    return grade


def _unreadable(qrels: str, error: Exception) -> FormatError:
    """Return the error about what could not be downloaded or read: why, and what to do instead."""
    reason = error.args[1][-1][1] if _is_from_mirrors(error) else error
    why = f"({shown(str(reason) or type(reason).__name__)})"
    if not (addresses := list(dict.fromkeys(_addresses(error)))):
        return FormatError(qrels, None, f"ir_datasets cannot read it {why}", remedy="give a file of judgments")
    return FormatError(
        qrels,
        None,
        f"the judgments cannot be downloaded from {listed(addresses)} {why}",
        remedy="check the network, or give a file; on a machine with a network, "
        f"`ir_datasets export {qrels.removeprefix(PREFIX)} qrels > qrels.txt` writes one",
    )


def _addresses(error: Exception) -> Iterator[str]:
    """Give the addresses that were tried: one error knows its own, several are listed with their sources."""
    if _is_from_mirrors(error):
        yield from (source.url for source, _ in error.args[1] if hasattr(source, "url"))
    elif url := getattr(getattr(error, "request", None), "url", None):
        yield url


def _is_from_mirrors(error: Exception) -> bool:
    return len(error.args) == 2 and isinstance(error.args[1], list) and bool(error.args[1])
