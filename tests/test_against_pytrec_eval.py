"""Every measure shared with trec_eval, against pytrec_eval (package pytrec-eval-terrier), which bundles trec_eval 9.

What the oracle does otherwise, by design, and the tests therefore leave to it:
* it evaluates the queries that judgments and run have in common, and no others;
* it holds scores in single precision, so that we are asked for score_dtype="float32";
* it takes whole grades only;
* of `set_F_0.5` and `set_F_2` in one call it returns one, and of `P` and `P_3` only `P_3`: one call for each beta, and
  cut-offs always named;
* it reads beyond its buffers, and crashes or hangs, where all grades of a query are negative or no document is left to
  rank: it is not asked about such queries, and a test of their own says what they are worth to us;
* it prints a recall of iprec_at_recall with two digits, and so names 0.125 and 0.13 alike: two digits are asked for.
All values are equal to the last bit, and so is what is printed of them: we add and divide in the same order. nDCG alone
may differ in the last digit where numpy has logarithms of its own.
"""

import math
import random
from collections.abc import Iterator

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from lexirecall import Measure, Positions, parse_measure, project
from strategies import SCORES, Collection, Qrels, Run, collections, costly
from suites.cases import crashes_trec_eval

PLAIN = (
    "map", "ndcg", "recip_rank", "Rprec", "bpref", "infAP", "set_P", "set_recall", "num_ret", "num_rel", "num_rel_ret",
)  # fmt: skip
WITH_CUTOFF = ("map_cut", "ndcg_cut", "P", "recall", "success")
BETAS = (1, 0.5, 2, 7)
RECALLS = ("0.00", "0.07", "0.10", "0.25", "0.33", "0.50", "0.70", "0.95", "1.00")
INTEGER_GRADES = (-3.0, -2.0, -1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0)
FLOAT32_SCORES = tuple(score for score in SCORES if abs(score) < 1e38)  # beyond is undefined in the oracle's C


def names_asked(cutoffs: tuple[int, ...]) -> list[str]:
    """Spell the measures as the oracle does; we read the same spelling."""
    cut = [f"{name}_{cutoff}" for name in WITH_CUTOFF for cutoff in cutoffs]
    return [*PLAIN, *cut, *(f"iprec_at_recall_{recall}" for recall in RECALLS)]


def oracle(qrels: Qrels, run: Run, names: list[str], level: int, *, judged_only: bool) -> dict[str, dict[str, float]]:
    whole = {
        query: {document: int(grade) for document, grade in judged.items()}
        for query, judged in qrels.items()
        if not crashes_trec_eval(judged, run.get(query, {}), judged_only=judged_only)
    }
    evaluator = pytrec_eval.RelevanceEvaluator(
        whole, set(names), relevance_level=level, judged_docs_only_flag=judged_only
    )
    values: dict[str, dict[str, float]] = evaluator.evaluate(run)
    return values


def differences(qrels: Qrels, run: Run, names: list[str], level: int, *, judged_only: bool) -> Iterator[str]:
    """Name every value in which the oracle differs from us."""
    positions = project(qrels, run, score_dtype="float32", judged_only=judged_only, needs_judged=True)
    theirs = oracle(qrels, run, names, level, judged_only=judged_only)
    for name in names:
        yield from _differing(positions, parse_measure(name), name, level, theirs)
    for beta in BETAS:  # the oracle calls all of them set_F
        of_beta = oracle(qrels, run, [f"set_F_{beta}"], level, judged_only=judged_only)
        yield from _differing(positions, parse_measure(f"SetF(beta={beta})"), "set_F", level, of_beta)


HAS_LOGARITHMS_OF_C = all(np.log2(float(rank)) == math.log2(rank) for rank in range(1, 1500))
"""Not so with numpy 1 on processors with AVX-512, where discounts differ from those of trec_eval in the last digit."""


def _differing(
    positions: Positions, measure: Measure, name: str, level: int, theirs: dict[str, dict[str, float]]
) -> Iterator[str]:
    scores = measure.scores(positions.at_level(measure.level(level)))[0]
    for query, values in theirs.items():
        ours = scores[positions.queries.index(query)]
        is_same = ours == values[name] or (not HAS_LOGARITHMS_OF_C and ours == pytest.approx(values[name], rel=1e-14))
        if not is_same or f"{ours:6.4f}" != f"{values[name]:6.4f}":
            yield f"{measure} of request {query}: {ours}, but {name} is {values[name]}"


drawn = collections(grades=INTEGER_GRADES, scores=FLOAT32_SCORES, max_runs=1, with_size=False)


@pytest.mark.parametrize("judged_only", [False, True])
@costly(100)
@given(drawn, st.sampled_from([1, 2, 3]))
def test_every_shared_measure_equals_pytrec_eval(judged_only: bool, collection: Collection, level: int) -> None:
    run = collection.runs["system1"]
    names = names_asked(cutoffs=(1, 2, 3, 5, 10))
    assert not list(differences(collection.qrels, run, names, level, judged_only=judged_only))


def large_collection(seed: int, num_queries: int = 25) -> tuple[Qrels, Run]:
    """Rankings of up to a thousand documents with rounded scores, so that about every second one is tied."""
    random_of = random.Random(seed)  # noqa: S311 - no secret
    documents = [f"D{number}-{random_of.choice('abAB')}" for number in range(3000)]
    qrels: Qrels = {}
    run: Run = {}
    for number in range(num_queries):
        query = f"r{number}"
        pool = random_of.sample(documents, random_of.choice([5, 50, 300]))
        qrels[query] = {document: float(random_of.choice(INTEGER_GRADES)) for document in pool}
        retrieved = random_of.sample(documents, random_of.choice([10, 400, 1000]))
        retrieved += random_of.sample(pool, len(pool) // 2)
        run[query] = {
            document: round(random_of.gauss(0.3 * max(qrels[query].get(document, 0), 0), 1), 2)
            for document in retrieved
        }
    return qrels, run


@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_large_collection_equals_pytrec_eval(level: int, judged_only: bool) -> None:
    qrels, run = large_collection(seed=20250214 + level)
    names = names_asked(cutoffs=(1, 5, 10, 15, 20, 30, 100, 200, 500, 1000))
    assert not list(differences(qrels, run, names, level, judged_only=judged_only))


@pytest.mark.parametrize(("found", "m"), [(75, 160), (1, 160), (3, 32), (13, 160), (621, 2000), (7, 7), (49, 49)])
def test_half_way_between_two_printed_digits_is_what_pytrec_eval_has(found: int, m: int) -> None:
    """75/160 is 0.46875, which prints as 0.4688; a sum of 75 times 1/160 lies below it, and printed as 0.4687."""
    qrels: Qrels = {"q": {f"r{number}": 1.0 for number in range(m)}}
    ranked = [f"r{number}" for number in range(found)] + [f"x{number}" for number in range(m)]
    run: Run = {"q": {document: -float(place) for place, document in enumerate(ranked)}}
    names = ["Rprec", f"P_{m}", f"recall_{m}", "map", "set_recall", "set_P", "ndcg", "bpref"]
    assert not list(differences(qrels, run, names, 1, judged_only=False))
    assert parse_measure("Rprec").of(range(1, found + 1), m) == found / m


def test_large_collections_have_ties_and_grades_below_zero_and_are_evaluated_whole() -> None:
    """The oracle is only worth something where the collection has what rankings differ in."""
    qrels, run = large_collection(seed=20250214)
    assert oracle(qrels, run, ["map"], 1, judged_only=False).keys() == qrels.keys()
    tied = [len(scores) - len(set(scores.values())) for scores in run.values()]
    assert sum(tied) > 1000
    assert {grade for judged in qrels.values() for grade in judged.values()} == set(INTEGER_GRADES)


def test_two_values_of_beta_are_both_answered() -> None:
    """Where the oracle returns one set_F for `set_F_0.5` and `set_F_2`, we return both."""
    positions = project({"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 2.0, "x": 1.0}}, score_dtype="float32")
    # one of two retrieved is relevant, one of three relevant is retrieved: (1 + beta) · 1 / (2 + beta · 3)
    for beta, expected in {0.5: 1.5 / 3.5, 2: 3 / 8}.items():
        assert parse_measure(f"SetF(beta={beta})").scores(positions.at_level(1)) == pytest.approx(expected)


def test_queries_that_the_oracle_drops_are_kept_as_worst_case() -> None:
    """The oracle leaves out a judged query that the run does not answer; we keep it, with nothing retrieved."""
    qrels: Qrels = {"q": {"a": 1.0}, "unanswered": {"b": 1.0, "c": 0.0}}
    run: Run = {"q": {"a": 1.0}}
    assert list(oracle(qrels, run, ["map"], 1, judged_only=False)) == ["q"]
    positions = project(qrels, run, needs_judged=True)
    assert positions.answered.tolist() == [[True, False]]
    for name in ("map", "bpref", "ndcg", "infAP", "P_5", "set_P", "num_ret", "num_rel_ret"):
        measure = parse_measure(name)
        assert measure.scores(positions.at_level(measure.level(1)))[0, 1] == 0
    assert parse_measure("num_rel").scores(positions.at_level(1)).tolist() == [[1, 1]]


@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("name", names_asked(cutoffs=(1, 10)))
def test_queries_that_crash_the_oracle_are_worth_nothing(name: str, judged_only: bool) -> None:
    """No document above grade -1, or nothing retrieved: every measure is 0; num_rel and num_ret count what there is."""
    qrels: Qrels = {"negative": {"a": -1.0, "b": -3.0}, "empty": {"a": 1.0, "b": 0.0}, "none": {}}
    run: Run = {"negative": {"a": 1.0, "x": 2.0}, "empty": {}, "none": {"a": 1.0}}
    positions = project(qrels, run, score_dtype="float32", judged_only=judged_only, needs_judged=True)
    measure = parse_measure(name)
    num_retrieved = [0, 0, 0] if judged_only else [2, 0, 1]
    expected = {"num_rel": [0, 1, 0], "num_ret": num_retrieved}.get(name, [0, 0, 0])
    assert measure.scores(positions.at_level(measure.level(1))).tolist() == [expected]


@pytest.mark.parametrize(
    ("low", "high"), [(0.50000000001, 0.50000000002), (16777216.0, 16777217.0)], ids=["fractions", "integers"]
)
def test_near_ties_are_ties_in_single_precision_only(low: float, high: float) -> None:
    qrels: Qrels = {"q": {"a": 1.0}}
    run: Run = {"q": {"a": high, "b": low}}
    single, double = (project(qrels, run, score_dtype=dtype).at_level(1) for dtype in ("float32", "float64"))
    reciprocal_rank = parse_measure("recip_rank")
    assert reciprocal_rank.scores(single) == oracle(qrels, run, ["recip_rank"], 1, judged_only=False)["q"]["recip_rank"]
    assert reciprocal_rank.scores(single) == 0.5
    assert reciprocal_rank.scores(double) == 1
