"""The job with ir_measures: from text files to measures for each query; prints the means. Usage: QRELS RUN..."""

import sys
from typing import Any

import ir_measures
from ir_measures import AP, RR, R, Rprec, nDCG
from means import print_means

MEASURES = {"AP": AP, "nDCG": nDCG, "RR": RR, "R@1000": R @ 1000, "Rprec": Rprec}


def main(qrels: str, *runs: str) -> None:
    judgments = ir_measures.read_trec_qrels(qrels)  # type: ignore[no-untyped-call]
    evaluator = ir_measures.evaluator(list(MEASURES.values()), judgments)
    for path in runs:
        run = ir_measures.read_trec_run(path)  # type: ignore[no-untyped-call]
        means: Any = evaluator.calc(run).aggregated  # the values of each query are there as well
        print_means(path, {name: means[measure] for name, measure in MEASURES.items()})


main(*sys.argv[1:])
