"""Prints, as JSON, the CPU seconds that comparing all systems takes, from positions to corrected p-values."""

import json
import sys
import time

from pairs import simulate

MEASURES = ("LexiRecall", "TSE", "R@1000", "Rprec", "AP", "nDCG", "RR")


def main() -> None:
    start = time.process_time()
    from lexirecall.verbs.compare import Plan, compare_positions

    imports = time.process_time() - start
    positions = simulate(*map(int, sys.argv[1:]))
    seconds = {}
    for name, plan in {
        "t or sign, Holm": Plan("auto"),
        "HSD": Plan("hsd"),
        "Wilcoxon, Holm": Plan("wilcoxon"),
        "randomization, 10,000": Plan("randomization"),
        "randomized HSD, 10,000": Plan("randomized-hsd"),
    }.items():
        start = time.process_time()
        compare_positions(positions, MEASURES, plan)
        seconds[name] = time.process_time() - start
    seconds["t or sign, Holm"] += imports
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
