"""Compare our values with those of other packages on random cases: `python tests/peer_oracles.py`, or `make oracles`.

For every measure that both have it prints how many cases there are, how many are equal, and how many differ, by the
reasons that `suites/oracles.py` knows. It exits with 1 if any difference has no reason.
"""

import argparse
import sys

from suites.oracles import ORACLES, Tally


def lines_of(made: Tally) -> list[str]:
    """Write a measure in one line, and a line for each reason and for the first differences without one."""
    different = made.num_cases - made.num_equal
    lines = [f"{made.peer:<24} {made.measure:<34} {made.num_cases:>7,} cases, {made.num_equal:>7,} equal"]
    lines[0] += f", {different:,} different" if different else ""
    lines += [f"    {count:,}: {reason}" for reason, count in made.reasons.items()]
    return lines + [f"    WITHOUT A REASON, {text}" for text in made.unexplained[:3]]


def main() -> int:
    """Print how our values and those of each package agree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peers", nargs="*", choices=(*ORACLES, []), help="only these packages; all if none is named")
    parser.add_argument("--cases", type=int, default=10_000, metavar="NUM", help="queries for each measure")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    counts = {"measures": 0, "cases": 0, "unexplained": 0}
    for peer in given.peers or ORACLES:
        for made in ORACLES[peer](given.cases, given.seed):
            print(*lines_of(made), sep="\n")  # noqa: T201
            counts["measures"] += 1
            counts["cases"] += made.num_cases
            counts["unexplained"] += len(made.unexplained)
    print(", ".join(f"{number:,} {what}" for what, number in counts.items()))  # noqa: T201
    return 1 if counts["unexplained"] else 0


if __name__ == "__main__":
    sys.exit(main())
