"""What is too heavy for `.ci/run`: targets of the Makefile, one after another, and an account of them.

`python ci/release_check.py [TARGET...]` goes on after a failure, and leaves with 1 unless all of them have passed. The
account, `build/release-check.tsv`, has the last run of each target: what came of it, when, how long it took, and the
commit. What has passed for this commit is not run again, unless it is named. Needs nothing that is to be installed.
"""

import csv
import datetime as dt
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

TARGETS: Mapping[str, tuple[str, ...]] = {
    "oracles": ("cc",),
    "against-r": ("Rscript",),
    "sanitize": ("gcc",),
    "fuzz": ("clang",),
    "torch-test": (),
    "wheels-check": ("cc",),
    "adapters-test": ("java",),
    "spark-test": ("java",),
    "test-oldest": ("java",),
    "test-long": ("java", "node"),
    "mutants": ("cc",),
}
"""The targets, the quick ones first, and the programs without which they would leave something out."""


@dataclass(frozen=True)
class Account:
    """What came of a target."""

    target: str
    result: str
    at: str
    seconds: str
    commit: str

    @property
    def passed(self) -> bool:
        """Whether it ran to its end without a complaint."""
        return self.result == "passed"


def commit_of(root: Path) -> str:
    """Return the commit of a working tree, with a mark if the tree differs from it."""
    said = [
        subprocess.run(["git", *words], cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()  # noqa: S607
        for words in (["rev-parse", "HEAD"], ["status", "--porcelain"])
    ]
    return said[0] + (" with changes" if said[1] else "")


def run_target(target: str, needs: Sequence[str], root: Path, commit: str) -> Account:
    """Run one target; what it prints goes to a file of its own."""
    at, began = f"{dt.datetime.now(dt.UTC):%Y-%m-%d %H:%M}", time.monotonic()
    if missing := [program for program in needs if shutil.which(program) is None]:
        return Account(target, f"not run: {' and '.join(missing)} not installed", at, "0", commit)
    log = root / "build" / "release-check" / f"{target}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    own = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LEXIRECALL_READER")}
    with log.open("wb") as stream:
        words = ["make", target, f"PYTHON={sys.executable}"]
        code = subprocess.run(words, cwd=root, env=own, stdout=stream, stderr=subprocess.STDOUT, check=False).returncode
    result = f"failed: exit code {code}, see {log.relative_to(root)}" if code else "passed"
    return Account(target, result, at, f"{time.monotonic() - began:.0f}", commit)


def read(path: Path) -> dict[str, Account]:
    """Return the account that earlier runs have left."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as stream:
        return {row["target"]: Account(**row) for row in csv.DictReader(stream, delimiter="\t")}


def write(path: Path, accounts: Mapping[str, Account]) -> None:
    """Write the account, in the order of the targets."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.DictWriter(stream, [each.name for each in fields(Account)], delimiter="\t", lineterminator="\n")
        rows.writeheader()
        rows.writerows(asdict(accounts[target]) for target in TARGETS if target in accounts)


def main(named: Sequence[str], root: Path) -> int:
    """Run the targets that are named, or all that have not passed, and print the account of them."""
    if unknown := [target for target in named if target not in TARGETS]:
        print(f"unknown: {', '.join(unknown)}; choose from {', '.join(TARGETS)}", file=sys.stderr)
        return 2
    path, commit = root / "build" / "release-check.tsv", commit_of(root)
    accounts = read(path)
    for target in [target for target in TARGETS if not named or target in named]:
        last = accounts.get(target)
        if not named and last is not None and last.passed and last.commit == commit and "changes" not in commit:
            continue
        print(f"{target} …", flush=True)
        accounts[target] = run_target(target, TARGETS[target], root, commit)
        write(path, accounts)
        print(f"{target}: {accounts[target].result}, after {accounts[target].seconds} s", flush=True)
    print(path.read_text(encoding="utf-8"), end="")
    return 0 if all(accounts[target].passed for target in named or TARGETS) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path(__file__).parent.parent))
