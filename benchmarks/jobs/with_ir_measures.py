"""The job with ir_measures: from text files to measures per request; prints the means. Usage: QRELS RUN..."""

import sys

import ir_measures
from ir_measures import AP, RR, R, Rprec, nDCG
from means import print_means

MEASURES = {"AP": AP, "nDCG": nDCG, "RR": RR, "R@1000": R @ 1000, "Rprec": Rprec}


def main(qrels: str, *runs: str) -> None:
    evaluator = ir_measures.evaluator(list(MEASURES.values()), ir_measures.read_trec_qrels(qrels))
    for path in runs:
        results = evaluator.calc(ir_measures.read_trec_run(path))  # the values of each request as well
        print_means(path, {name: results.aggregated[measure] for name, measure in MEASURES.items()})


main(*sys.argv[1:])
