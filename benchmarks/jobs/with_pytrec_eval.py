"""The job with pytrec_eval: from text files to measures for each query; prints the means. Usage: QRELS RUN..."""

import gzip
import sys
from pathlib import Path
from typing import IO

import pytrec_eval
from means import print_means

NAMES = {"AP": "map", "nDCG": "ndcg", "RR": "recip_rank", "R@1000": "recall_1000", "Rprec": "Rprec"}


def text(path: str) -> IO[str]:
    return gzip.open(path, "rt") if path.endswith(".gz") else Path(path).open()


def main(qrels: str, *runs: str) -> None:
    with text(qrels) as file:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), set(NAMES.values()))
    for path in runs:
        with text(path) as file:
            values = evaluator.evaluate(pytrec_eval.parse_run(file))
        means = {
            name: pytrec_eval.compute_aggregated_measure(theirs, [each[theirs] for each in values.values()])
            for name, theirs in NAMES.items()
        }
        print_means(path, means)


main(*sys.argv[1:])
