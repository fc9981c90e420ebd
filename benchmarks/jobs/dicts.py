"""Prints, as JSON, the CPU seconds from runs as dicts to five measures of every query, with judgments loaded before.

Usage: QUERIES DOCUMENTS JUDGED RELEVANT CALLS. Each contestant has its own form of judgments; a run comes as a dict, as
it would from a model or an index. The contestants take turns, and the quickest turn of each counts.
"""

import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from lexirecall import evaluate, load_judgments
from lexirecall.adapters import pytrec_eval as our_pytrec_eval

Job = Callable[[], Any]
MEASURES = ("AP", "nDCG", "RR", "R@1000", "Rprec")
TREC_NAMES = {"map", "ndcg", "recip_rank", "recall_1000", "Rprec"}
RANX_NAMES = ["map", "ndcg", "mrr", "recall@1000", "r-precision"]
TURNS = 5


def main() -> None:
    *shape, calls = map(int, sys.argv[1:])
    jobs = dict(contestants(*simulate(*shape)))
    for job in jobs.values():  # what is imported, compiled and computed once is not counted
        job()
    seconds = {label: min(times) for label, times in measured(jobs, calls).items()}
    print(json.dumps(seconds))


def measured(jobs: dict[str, Job], calls: int) -> dict[str, list[float]]:
    """Return what each contestant takes for so many calls, in each turn."""
    times: dict[str, list[float]] = {label: [] for label in jobs}
    for _ in range(TURNS):
        for label, job in jobs.items():
            start = time.process_time()
            for _ in range(calls):
                job()
            times[label].append(time.process_time() - start)
    return times


def simulate(num_queries: int, num_documents: int, num_judged: int, num_relevant: int) -> tuple[Any, Any]:
    """Return judgments and a run; scores descend, and the judged documents are as likely in the list as outside it."""
    rng = random.Random(2025)  # noqa: S311 - not for secrets
    qrels, run = {}, {}
    for query in map(str, range(301, 301 + num_queries)):
        documents = [f"FR94-{number:07d}" for number in rng.sample(range(10**7), num_documents + num_judged)]
        judged = rng.sample(documents, num_judged)
        qrels[query] = {document: int(i < num_relevant) for i, document in enumerate(judged)}
        scores = sorted((rng.uniform(0, 30) for _ in range(num_documents)), reverse=True)
        run[query] = dict(zip(documents[:num_documents], scores, strict=True))
    return qrels, run


def contestants(qrels: Any, run: Any) -> Iterator[tuple[str, Job]]:
    """Give our ways, and those of the peers that are installed."""
    judgments = load_judgments(qrels)
    adapter = our_pytrec_eval.RelevanceEvaluator(qrels, TREC_NAMES)
    yield "evaluate", lambda: evaluate(judgments, run, MEASURES)
    yield "our pytrec_eval", lambda: adapter.evaluate(run)
    yield from with_pytrec_eval(qrels, run)
    yield from with_ir_measures(qrels, run)
    yield from with_ranx(qrels, run)


def with_pytrec_eval(qrels: Any, run: Any) -> Iterator[tuple[str, Job]]:
    try:
        import pytrec_eval
    except ModuleNotFoundError:
        return
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, TREC_NAMES)
    yield "pytrec_eval", lambda: evaluator.evaluate(run)


def with_ir_measures(qrels: Any, run: Any) -> Iterator[tuple[str, Job]]:
    try:
        import ir_measures
    except ModuleNotFoundError:
        return
    from lexirecall.adapters.ir_measures import provider

    measures = [ir_measures.AP, ir_measures.nDCG, ir_measures.RR, ir_measures.R @ 1000, ir_measures.Rprec]
    ours, theirs = provider.evaluator(measures, qrels), ir_measures.evaluator(measures, qrels)
    yield "our ir_measures", lambda: list(ours.iter_calc(run))
    yield "ir_measures", lambda: list(theirs.iter_calc(run))
    yield "our ir_measures, means", lambda: ours.calc_aggregate(run)
    yield "ir_measures, means", lambda: theirs.calc_aggregate(run)


def with_ranx(qrels: Any, run: Any) -> Iterator[tuple[str, Job]]:
    try:
        import ranx
    except ModuleNotFoundError:
        return
    judgments = ranx.Qrels(qrels)
    yield "ranx", lambda: ranx.evaluate(judgments, ranx.Run(run), RANX_NAMES)


if __name__ == "__main__":
    main()
