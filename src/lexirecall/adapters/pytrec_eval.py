"""pytrec_eval's interface: `import lexirecall.adapters.pytrec_eval as pytrec_eval` is all that changes.

Belongs here: the names of the package pytrec_eval (and of its fork pytrec-eval-terrier), with the same arguments and
results. Not here: the measures (trec_columns), which are those of trec_eval 9. You do not need the package itself.

>>> evaluator = RelevanceEvaluator({"q1": {"d1": 0, "d2": 1}}, {"map", "ndcg_cut_10"})
>>> evaluator.evaluate({"q1": {"d1": 1.0, "d2": 0.5}})
{'q1': {'map': 0.5, 'ndcg_cut_10': 0.6309297535714575}}
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import Any, TypeVar

from lexirecall.adapters.trec_columns import TrecColumn, aggregate, columns, needs_judged, values
from lexirecall.adapters.trec_names import NICKNAMES
from lexirecall.errors import FormatError, UsageError, choice, listed, shown
from lexirecall.fields import choices_of
from lexirecall.formats import project
from lexirecall.formats.dicts import load_mapping
from lexirecall.formats.memory import QRELS_SHAPE, RUN_SHAPE, id_in
from lexirecall.manifest import Conventions
from lexirecall.text import number_of, whole_number_of

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

QueryId = TypeVar("QueryId")
IntOrFloat = TypeVar("IntOrFloat", int, float)

supported_nicknames: dict[str, set[str]] = {name: set(measures) for name, measures in NICKNAMES[9].items()}
supported_measures: set[str] = set().union(*supported_nicknames.values())


class KindError(UsageError, TypeError):
    """Something that is given is not what is meant here; pytrec_eval raises TypeError, so that this is one too."""


class LineError(FormatError, ValueError):
    """A line cannot be read; pytrec_eval raises ValueError."""


class RelevanceEvaluator:
    """Evaluates runs against judgments, as pytrec_eval's class of this name does.

    `query_relevance` is {query: {document: grade}}. Grades may be fractions, numbers may be numpy's, and ids may be
    integers. `measures` are trec_eval's names, of single measures, of families (`P` is `P_5`, `P_10`, …) or of sets
    (`official`), or ours (`TSE`). Scores are compared in double precision; `score_dtype="float32"` ties those that
    pytrec_eval ties. Of a family and some of its cut-offs, `{"P", "P_3"}`, the result has these cut-offs only. What is
    not such a dict, id or number is a TypeError, and an unknown measure is a ValueError.

    >>> evaluator = RelevanceEvaluator({7: {1: 1, 2: 1}}, {"recip_rank", "P_2"}, score_dtype="float32")
    >>> evaluator.evaluate({7: {1: 0.5, 3: 0.50000000001}})
    {7: {'recip_rank': 0.5, 'P_2': 0.5}}
    """

    def __init__(
        self,
        query_relevance: Mapping[Any, Mapping[Any, Any]],
        measures: Iterable[str],
        relevance_level: float = 1,
        judged_docs_only_flag: bool = False,
        *,
        score_dtype: str = "float64",
    ) -> None:
        choice("score_dtype", score_dtype, choices_of(Conventions, "score_dtype"))
        if not isinstance(query_relevance, Mapping):
            raise KindError(f"query_relevance is a {type(query_relevance).__name__}", remedy=QRELS_SHAPE)
        _check_level(relevance_level)
        self._columns = columns(_names(measures), 9)
        self._level = relevance_level
        self._judged_only = bool(judged_docs_only_flag)
        self._score_dtype = score_dtype
        # as in pytrec_eval, a query without any judgment does not count
        judged = {query: grades for query, grades in query_relevance.items() if not _is_empty(grades)}
        with _type_errors():
            self._judgments = load_mapping(judged, "query_relevance") if judged else None
        self._index = {} if self._judgments is None else self._judgments.index

    def evaluate(self, scores: Mapping[QueryId, Any]) -> dict[QueryId, dict[str, float]]:
        """Return {query: {measure: value}} for the queries that are judged and in the run.

        `scores` is {query: {document: score}}, or {query: [document, …]} in the order of a ranking. Query ids come back
        as the run has them. A query without relevant documents has the value 0; for names that begin with `gm_` it is
        the logarithm of the floor.

        >>> RelevanceEvaluator({"q": {"a": 1}, "unanswered": {"b": 1}}, {"map"}).evaluate({"q": ["x", "a"], "r": ["a"]})
        {'q': {'map': 0.5}}
        """
        if not isinstance(scores, Mapping):
            raise KindError(f"scores is a {type(scores).__name__}", remedy=RUN_SHAPE)
        index = self._index
        with _type_errors():
            rows = {query: row for query in scores if (row := index.get(id_in(query, "scores"))) is not None}
        if not rows or self._judgments is None or not self._columns:
            return {query: {} for query in rows}
        answered = scores if len(rows) == len(scores) else {query: scores[query] for query in rows}
        _check_rankings(answered)
        with _type_errors():
            positions = project(
                self._judgments,
                {"scores": answered},
                score_dtype=self._score_dtype,
                judged_only=self._judged_only,
                needs_judged=needs_judged(self._columns),
            )
        table = values(positions, self._columns, self._level).tolist()
        keys = _keys(self._columns)
        return {query: dict(zip(keys, table[row], strict=True)) for query, row in rows.items()}


def _check_level(level: Any) -> None:
    if not (isinstance(level, Real) and level > 0):  # type: ignore[operator] # every real number can be compared
        raise KindError(f"relevance_level is {level!r}, but must be a number above 0")


def _names(measures: Iterable[str]) -> list[str]:
    """Return the names of measures, all of them text."""
    if not isinstance(measures, Iterable):
        raise KindError(f"measures is a {type(measures).__name__}", remedy='name some: {"map", "ndcg_cut_10"}')
    names = [measures] if isinstance(measures, str) else list(measures)
    if others := [name for name in names if not isinstance(name, str)]:
        raise KindError(f"names of measures are text, but here are {listed(map(repr, others))}")
    return names


def _is_empty(grades: Any) -> bool:
    return isinstance(grades, Mapping) and not grades


def _check_rankings(scores: Mapping[Any, Any]) -> None:
    """Raise if any ranking is a single value: all of them together would look like one ranking of documents."""
    for query, ranking in scores.items():
        if isinstance(ranking, (str, bytes)) or not isinstance(ranking, Iterable):
            raise KindError(f"scores: the value of query {query!r} is not a ranking: {ranking!r}", remedy=RUN_SHAPE)


@contextmanager
def _type_errors() -> Iterator[None]:
    """Raise TypeError, as pytrec_eval does, if ids, grades or scores cannot be read."""
    try:
        yield
    except FormatError as error:
        raise KindError(error.problem, remedy=error.remedy) from None


def _keys(asked: Sequence[TrecColumn]) -> list[str]:
    """Name the columns as pytrec_eval does: by the family, if the parameters are not cut-offs.

    Two such columns have the names that trec_eval prints, `set_F_0.5` and `set_F_2`.
    """
    families = [column.family.name for column in asked]
    return [
        column.family.name
        if column.family.takes in ("numbers", "lengths", "weights", "levels")
        and families.count(column.family.name) == 1
        else column.name
        for column in asked
    ]


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """Aggregate the values of queries: the sum for `num_…`, exp of the mean for `gm_…`, otherwise the mean.

    >>> compute_aggregated_measure("num_rel", [3, 4]), compute_aggregated_measure("map", [0.5, 0.25])
    (7.0, 0.375)
    """
    total = "sum" if measure.startswith("num_") else "geometric" if measure.startswith("gm_") else "mean"
    return aggregate(total, [float(value) for value in values])  # type: ignore[arg-type] # one of its three


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Read the lines of a run, `query Q0 document rank score tag`, from an open file or a list.

    >>> parse_run(["301 Q0 FR94-1 1 12.5 bm25"])
    {'301': {'FR94-1': 12.5}}
    """
    run: dict[str, dict[str, float]] = {}
    for number, fields in _lines(f_run, 6, "run", "query Q0 document rank score tag"):
        _add(run, number, "run", fields[0], fields[2], _parsed(number_of, fields[4], number, "run"))
    return run


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Read the lines of judgments, `query 0 document grade`, from an open file or a list.

    >>> parse_qrel(["301 0 FR94-1 1", "301 0 FR94-2 0"])
    {'301': {'FR94-1': 1, 'FR94-2': 0}}
    """
    qrel: dict[str, dict[str, int]] = {}
    for number, fields in _lines(f_qrel, 4, "qrel", "query 0 document grade"):
        _add(qrel, number, "qrel", fields[0], fields[2], _parsed(whole_number_of, fields[3], number, "qrel"))
    return qrel


def _lines(lines: Iterable[str], num_fields: int, what: str, shape: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if len(fields) not in (0, num_fields):
            problem = f"a line must have {num_fields} fields ({shape}), but this one has {len(fields)}: {shown(line)}"
            raise LineError(what, number, problem)
        if fields:
            yield number, fields


def _parsed(read: Callable[[str], IntOrFloat], text: str, number: int, what: str) -> IntOrFloat:
    try:
        return read(text)
    except ValueError:
        problem = "the score is not a number" if what == "run" else "the grade is not a whole number"
        remedy = "lexirecall.evaluate reads files with fractional grades" if what == "qrel" else ""
        raise LineError(what, number, f"{problem}: {shown(text)}", remedy=remedy) from None


def _add(
    table: dict[str, dict[str, IntOrFloat]], number: int, what: str, query: str, document: str, value: IntOrFloat
) -> None:
    row = table.setdefault(query, {})
    if document in row:
        raise LineError(what, number, f"document {document!r} of query {query!r} is listed twice")
    row[document] = value
