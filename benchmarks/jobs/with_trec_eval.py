"""The job with trec_eval, one process for each run; prints the means. Usage: PROGRAM QRELS RUN..."""

import subprocess
import sys

from means import print_means

NAMES = {"AP": "map", "nDCG": "ndcg", "RR": "recip_rank", "R@1000": "recall_1000", "Rprec": "Rprec"}
ASKED = ("map", "ndcg", "recip_rank", "recall.1000", "Rprec")


def main(program: str, qrels: str, *runs: str) -> None:
    options = [argument for name in ASKED for argument in ("-m", name)]
    for path in runs:
        output = subprocess.run([program, *options, qrels, path], check=True, capture_output=True, text=True).stdout
        rows = [line.split() for line in output.splitlines()]
        means = {name: float(value) for name, query, value in rows if query == "all"}
        print_means(path, {name: means[theirs] for name, theirs in NAMES.items()})


main(*sys.argv[1:])
