"""Run the tests of another tool through ours: `python tests/peer_suites.py PEER FOLDER`, or `make suites`.

FOLDER is a checkout of PEER, which the user supplies; nothing of it is kept here. For each test it prints whether it
passed, was refused by our code or differs, with the reason that `suites/reasons.tsv` gives; then the counts. It exits
with 1 if the table is not true: a test fails that has no row in it, or does not fail as its row says.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from suites.quicktest import AS_VERSION, run_quicktest, version_of
from suites.standins import run_ir_measures, run_pytrec_eval, run_ranx
from suites.verdicts import REASONS, Outcome, faults, missing, read_reasons, report

PYTHON_SUITES: dict[str, Callable[[Path], list[Outcome]]] = {
    "pytrec_eval": run_pytrec_eval,
    "ir_measures": run_ir_measures,
    "ranx": run_ranx,
}


def run_suite(peer: str, folder: Path, version: str | None) -> tuple[str, list[Outcome]]:
    """Run the tests of a peer, and name the suite: trec_eval has one for each version."""
    if peer in PYTHON_SUITES:
        return peer, PYTHON_SUITES[peer](folder)
    version = version or version_of(folder)
    return f"trec_eval {version}", run_quicktest(folder, version)


def main() -> int:
    """Print what became of the tests of a suite."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=("trec_eval", *PYTHON_SUITES))
    parser.add_argument("folder", type=Path, help="a checkout of the peer")
    parser.add_argument("--version", choices=tuple(AS_VERSION), help="of trec_eval, if not as found in the folder")
    parser.add_argument("--reasons", type=Path, default=REASONS, help="another table of reasons")
    given = parser.parse_args()
    if not given.folder.is_dir():
        parser.error(f"{given.folder} is not a folder; name a checkout of {given.peer}")
    suite, outcomes = run_suite(given.peer, given.folder.resolve(), given.version)
    reasons = read_reasons(suite, given.reasons)
    for line in report(suite, outcomes, reasons):
        print(line)  # noqa: T201
    untrue = list(faults(outcomes, reasons))
    for line in (*missing(outcomes, reasons), *untrue):
        print(line, file=sys.stderr)  # noqa: T201
    return 1 if untrue else 0


if __name__ == "__main__":
    sys.exit(main())
