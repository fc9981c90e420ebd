"""The values of other packages beside ours, on the same cases.

Belongs here: who is asked for what, how close values must be, and the differences that are known. Not here: the cases.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from math import isclose, isnan
from typing import Any

from suites.cases import Cases, crashes_trec_eval, draw_cases

Values = Mapping[str, float]
"""{query: value} of one measure."""
Grades = Mapping[str, float]

TREC_NAMES = ("all_trec", "P_1,3,7", "recall_1,3,7", "ndcg_cut_1,3,7", "map_cut_1,3,7", "success_1,3,7")
NOT_NUMBERS = {"runid", "relstring"}
IR_MEASURES = (
    "P@1", "P@5", "P(rel=2)@5", "P(judged_only=True)@3", "R@5", "R(rel=2)@3", "AP", "AP@5", "AP(rel=2)", "RR", "RR@3",
    "RR(rel=2)", "Rprec", "nDCG", "nDCG@5", "nDCG(dcg='exp-log2')@5", "Bpref", "Bpref(rel=2)", "infAP", "IPrec@0.1",
    "IPrec@0.5", "NumRet", "NumRel", "NumRet(rel=1)", "NumQ", "SetP", "SetR", "SetF", "SetF(beta=2.0)", "SetAP",
    "SetP(relative=True)", "Success@3", "Judged@5", "ERR@5", "Compat(p=0.8)", "Accuracy",
)  # fmt: skip
RANX = (
    "hits@3", "hit_rate@3", "precision@1", "precision@5", "precision", "recall@5", "recall", "f1@5", "f1",
    "r-precision", "mrr", "mrr@3", "map", "map@5", "ndcg", "ndcg@5", "ndcg_burges@5", "dcg@5", "dcg_burges@5", "rbp.80",
    "map-l2", "mrr-l2",
)  # fmt: skip
CLOSE = 1e-12
ONE_BY_ONE = 1000
RATIOS = {
    "P", "recall", "success", "set_P", "set_recall", "num_ret", "num_rel", "num_rel_ret", "num_q", "Rprec", "R",
    "Success", "SetP", "SetR", "NumRet", "NumRel", "NumQ", "Judged", "hits", "hit_rate", "precision", "r-precision",
}  # fmt: skip
"""Ratios of counts, which must be equal to the last bit."""


@dataclass(frozen=True, slots=True)
class KnownScores:
    """A difference with a reason: of which peer, in which measures, in which cases."""

    peer: str
    measures: tuple[str, ...]
    """The first letters of their names; ("",) means all."""
    reason: str
    is_met: Callable[[Grades, Grades, float, float], bool]
    """From grades, scores, our value and theirs."""


def _rounded(digits: int, ours: float, theirs: float) -> bool:
    return isclose(ours, theirs, abs_tol=0.5000001 * 10**-digits, rel_tol=0)


def _precision(grades: Grades, scores: Grades) -> float:
    return sum(grades.get(document, 0) > 0 for document in scores) / len(scores)


KNOWN = (
    KnownScores(
        "ir_measures.gdeval", ("",), "gdeval rounds to five digits",
        lambda _grades, _scores, ours, theirs: _rounded(5, ours, theirs),
    ),
    KnownScores(
        "ir_measures.judged", ("Judged",), "a grade below 0 means not judged, as in trec_eval",
        lambda grades, _scores, _ours, _theirs: min(grades.values()) < 0,
    ),
    KnownScores(
        "ir_measures.compat", ("Compat",), "there a score of 0 or below is no better than not being retrieved",
        lambda _grades, scores, _ours, _theirs: min(scores.values()) <= 0,
    ),
    KnownScores(
        "ir_measures.ranx", ("SetP(relative=True)",), "its provider of ranx takes relative=True and ignores it",
        lambda grades, scores, _ours, theirs: theirs == _precision(grades, scores),
    ),
    KnownScores(
        "ranx", ("bpref",), "ranx has no bpref if no document is judged to be non-relevant",
        lambda grades, _scores, _ours, theirs: min(grades.values()) > 0 and isnan(theirs),
    ),
    KnownScores(
        "ranx", ("rbp",), "RBP is binary at the level; in ranx grades above 1 count as gains",
        lambda grades, _scores, _ours, _theirs: any(grade > 1 for grade in grades.values()),
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tally:
    """How one measure of a peer and ours agree."""

    peer: str
    measure: str
    num_cases: int
    num_equal: int
    reasons: dict[str, int]
    """How many differ for each known reason."""
    unexplained: tuple[str, ...]


def tally(peer: str, measure: str, cases: Cases, ours: Values, theirs: Values) -> Tally:
    """Compare the values of the queries that the peer answers; what it answers and we do not differs too."""
    equal, reasons, unexplained = 0, dict[str, int](), []
    for query, value in theirs.items():
        own = ours.get(query)
        if own is not None and is_equal(measure, own, value):
            equal += 1
        elif reason := _reason(peer, measure, cases, query, own, value):
            reasons[reason] = reasons.get(reason, 0) + 1
        else:
            unexplained.append(f"{query}: {own} here, {value} there; {cases.qrels.get(query)}, {cases.run.get(query)}")
    return Tally(peer, measure, len(theirs), equal, reasons, tuple(unexplained))


def is_equal(measure: str, ours: float, theirs: float) -> bool:
    """Tell whether two values are the same: to the last bit for ratios of counts."""
    if isnan(ours) or isnan(theirs):
        return isnan(ours) and isnan(theirs)
    return ours == theirs if _family(measure) in RATIOS else isclose(ours, theirs, rel_tol=CLOSE, abs_tol=CLOSE)


def _family(measure: str) -> str:
    """Return the name of a measure without its cut-off and settings.

    >>> [_family(name) for name in ("P_5", "P(rel=2)@5", "precision@5", "num_rel", "mrr-l2", "r-precision")]
    ['P', 'P', 'precision', 'num_rel', 'mrr', 'r-precision']
    """
    name = measure.partition("@")[0].partition("(")[0].partition("-l")[0]
    start, _, end = name.rpartition("_")
    return start if start and end.replace(".", "").isdigit() else name


def _reason(peer: str, measure: str, cases: Cases, query: str, ours: float | None, theirs: float) -> str:
    given = cases.qrels.get(query, {}), cases.run.get(query, {})
    return next(
        (
            known.reason
            for known in KNOWN
            if known.peer == peer and measure.startswith(known.measures) and ours is not None
            if known.is_met(*given, ours, theirs)
        ),
        "",
    )


def with_pytrec_eval(number: int, seed: int) -> Iterator[Tally]:
    """Compare every measure of trec_eval; ties are trec_eval's, so that equal scores are asked about."""
    cases = draw_cases(number, seed, tied=True)
    both = cases.qrels.keys() & cases.run.keys()
    cases = cases.only({q for q in both if not crashes_trec_eval(cases.qrels[q], cases.run[q])})
    theirs, ours = import_module("pytrec_eval"), import_module("lexirecall.adapters.pytrec_eval")
    for level in (1, 2):
        values = theirs.RelevanceEvaluator(cases.qrels, set(TREC_NAMES), relevance_level=level).evaluate(cases.run)
        keys = sorted(next(iter(values.values())).keys() - NOT_NUMBERS)
        own = ours.RelevanceEvaluator(cases.qrels, keys, relevance_level=level, score_dtype="float32")
        found = own.evaluate(cases.run)
        for key in keys:
            name = f"{key} (level {level})"
            yield tally("pytrec_eval", name, cases, _column(found, key), _column(values, key))


def _column(values: Mapping[str, Mapping[str, float]], key: str) -> Values:
    return {query: row[key] for query, row in values.items() if key in row}


def with_ir_measures(number: int, seed: int) -> Iterator[Tally]:
    """Compare with each provider of ir_measures in its own measures; equal scores only where trec_eval orders them."""
    package, ours = import_module("ir_measures"), import_module("lexirecall.adapters.ir_measures")
    import_module("pandas").set_option("future.infer_string", False)  # its provider of ranx predates pandas 3
    sets = {tied: draw_cases(number, seed, tied=tied) for tied in (False, True)}
    for name, provider in package.providers.registry.items():
        if name in (ours.NAME, "runtime", "trectools") or not provider.is_available():
            continue
        cases = _can_be_asked(sets[name == "pytrec_eval"])
        own = ours.LexirecallProvider(score_dtype="float32")
        for measure in map(package.parse_measure, IR_MEASURES):
            if own.supports(measure) and provider.supports(measure):
                asked = _with_a_nonrelevant(cases) if name == "accuracy" else cases
                found, values = (_calculated(each, measure, asked) for each in (own, provider))
                yield tally(f"ir_measures.{name}", str(measure), asked, found, values)


def _can_be_asked(cases: Cases) -> Cases:
    """Leave out what makes the providers crash: a query in one of the two only, or without anything to rank."""
    both = cases.qrels.keys() & cases.run.keys()
    return cases.only({q for q in both if not crashes_trec_eval(cases.qrels[q], cases.run[q], judged_only=True)})


def _with_a_nonrelevant(cases: Cases) -> Cases:
    """Leave out the rankings of relevant documents alone, at which the provider of Accuracy divides by 0."""
    return cases.only({q for q in cases.qrels if any(cases.qrels[q].get(document, 0) < 1 for document in cases.run[q])})


def _calculated(provider: Any, measure: Any, cases: Cases) -> Values:
    return {str(each.query_id): float(each.value) for each in provider.iter_calc([measure], cases.qrels, cases.run)}


def with_ranx(number: int, seed: int) -> Iterator[Tally]:
    """Compare ranx's metrics; it has a tie rule of its own, no empty ranking, and no grade below 0."""
    cases = draw_cases(number, seed, tied=False)
    both = {q for q in cases.qrels.keys() & cases.run.keys() if cases.run[q]}
    qrels = {q: {document: max(grade, 0) for document, grade in cases.qrels[q].items()} for q in sorted(both)}
    cases = Cases(qrels, {q: cases.run[q] for q in sorted(both)})
    theirs, ours = import_module("ranx"), import_module("lexirecall.adapters.ranx")
    given = theirs.Qrels(cases.qrels), theirs.Run(cases.run)
    for name in RANX:
        found = ours.evaluate(cases.qrels, cases.run, name, return_mean=False)
        values = theirs.evaluate(*given, name, return_mean=False)
        yield tally("ranx", name, cases, *(_by_query(cases.qrels, each) for each in (found, values)))
    # Of many queries at once, the bpref of ranx 0.3.21 is not what it is of each alone: it is asked one by one.
    few = cases.only({*list(cases.qrels)[:ONE_BY_ONE]})
    found = ours.evaluate(few.qrels, few.run, "bpref", return_mean=False)
    alone = [
        theirs.evaluate(theirs.Qrels({q: few.qrels[q]}), theirs.Run({q: few.run[q]}), "bpref", return_mean=False)[0]
        for q in few.qrels
    ]
    yield tally("ranx", "bpref", few, *(_by_query(few.qrels, each) for each in (found, alone)))


def _by_query(queries: Iterable[str], values: Iterable[Any]) -> Values:
    return dict(zip(queries, map(float, values), strict=True))


ORACLES: dict[str, Callable[[int, int], Iterator[Tally]]] = {
    "pytrec_eval": with_pytrec_eval,
    "ir_measures": with_ir_measures,
    "ranx": with_ranx,
}
