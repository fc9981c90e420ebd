"""Measures lexirecall beside its peers on simulated collections: CPU time, wall time, peak memory and ratios.

Usage: python benchmarks/run.py [NAME...] [--repeats N] [--quick] [--write] [--folder DIR] [--trec-eval DIR]
"""

import argparse
import json
import tempfile
from pathlib import Path

from contestants import built, missing
from experiments import SUITES, Outcome, Setting
from page import WORDS, as_text, machine, write
from targets import verdicts
from timing import adopt

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"


def main() -> None:
    options = arguments()
    adopt()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        share = 0.1 if options.quick else 1
        trec_eval = built(options.trec_eval, Path(temporary)) if options.trec_eval else None
        setting = Setting(folder, 2 if options.quick else options.repeats, share, trec_eval)
        if options.quick:
            print("--quick: a tenth of the runs and queries that the titles say")
        for package in missing():
            print(f"{package} is not installed and is left out")
        if trec_eval is None:
            print("trec_eval is left out: --trec-eval names a folder with its sources")
        outcomes = kept(folder / "results.json")
        for name in options.names or SUITES:
            outcomes[name] = SUITES[name](setting)
            print(f"\n{as_text(name, outcomes[name])}", flush=True)
            keep(folder / "results.json", outcomes)
    outcomes = {name: outcomes[name] for name in SUITES if name in outcomes}
    print()
    for aim, found, met in verdicts(outcomes):
        print(f"{aim}: {found} ({WORDS[met]})")
    if options.write:
        write(PAGE, outcomes, machine())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"one of {', '.join(SUITES)}; without names, all of them"
    )
    parser.add_argument("--repeats", type=int, default=5, help="how often to run each command (default 5)")
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the data, twice: to check that everything works"
    )
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    parser.add_argument("--folder", type=Path, help="keep data and results here, and show results of earlier calls")
    parser.add_argument("--trec-eval", type=Path, metavar="DIR", help="measure trec_eval too; its C sources are here")
    options = parser.parse_args()
    if unknown := set(options.names) - SUITES.keys():
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; choose from {', '.join(SUITES)}")
    if options.quick and options.write:
        parser.error("--quick is not a measurement: leave out --write")
    return options


def kept(path: Path) -> dict[str, Outcome]:
    """Return the results of an earlier call."""
    records = json.loads(path.read_text()) if path.exists() else {}
    return {name: Outcome.from_dict(record) for name, record in records.items()}


def keep(path: Path, outcomes: dict[str, Outcome]) -> None:
    path.write_text(json.dumps({name: outcome.to_dict() for name, outcome in outcomes.items()}))


if __name__ == "__main__":
    main()
