"""Prints, as JSON, the CPU seconds that comparing all runs takes, from positions to corrected p-values."""

import json
import sys
import time
from dataclasses import asdict

from pairs import simulate

from lexirecall import compare

MEASURES = ("LexiRecall", "TSE", "R@1000", "Rprec", "AP", "nDCG", "RR")


def main() -> None:
    start = time.process_time()
    from lexirecall.verbs.testing import Testing

    imports = time.process_time() - start
    positions = simulate(*map(int, sys.argv[1:]))
    seconds = {}
    for name, plan in {
        "t or sign, Holm": Testing("auto"),
        "HSD": Testing("hsd"),
        "Wilcoxon, Holm": Testing("wilcoxon"),
        "randomization, 10,000": Testing("randomization", num_resamples=10_000),
        "max-T, 10,000": Testing("max-t"),
        "randomized HSD, 10,000": Testing("randomized-hsd"),
    }.items():
        start = time.process_time()
        compare(positions, measures=MEASURES, **asdict(plan))
        seconds[name] = time.process_time() - start
    seconds["t or sign, Holm"] += imports
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
