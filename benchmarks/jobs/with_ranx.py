"""The job with ranx: from text files to measures for each query; prints the means. Usage: QRELS RUN..."""

import sys

from means import print_means
from ranx import Qrels, Run, evaluate

NAMES = {"AP": "map", "nDCG": "ndcg", "RR": "mrr", "R@1000": "recall@1000", "Rprec": "r-precision"}


def main(path_of_qrels: str, *runs: str) -> None:
    qrels = Qrels.from_file(path_of_qrels, kind="trec")
    for path in runs:
        run = Run.from_file(path, kind="gz" if path.endswith(".gz") else "trec")
        means = evaluate(qrels, run, list(NAMES.values()))  # keeps the values of each query in the run
        print_means(path, {name: float(means[theirs]) for name, theirs in NAMES.items()})


main(*sys.argv[1:])
