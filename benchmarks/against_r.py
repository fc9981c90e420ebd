"""Every p and interval that R has too, on random data: `python benchmarks/against_r.py` prints how far apart they are.

It leaves with 1 if one is too far from R's, or known to one side only, and if there is no R.

Belongs here: the data, and the comparison. Not here: what R computes (against_r.R). It needs `Rscript`; without it, a
message says so.
"""

import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from lexirecall.judgments import FloatArray
from lexirecall.statistics import Differences, correct, paired_t, sign_test, tukey_hsd, wilcoxon
from lexirecall.statistics.paired import PairedTests
from lexirecall.statistics.proportions import preference_interval

NUMBERS = (2, 3, 5, 6, 10, 13, 14, 25, 49, 50, 51, 80, 249)
REPEATS = 40
IdMatches = dict[tuple[str, int], list[float]]
TITLES = {
    "t": ("t.test: p", "t.test: interval", "t.test: interval"),
    "wilcoxon": (
        "wilcox.test: exact p", "wilcox.test: exact interval", "wilcox.test: exact interval", "wilcox.test: estimate",
    ),
    "wilcoxon-tied": ("wilcox.test: normal p, ties",),
    "wilcoxon-normal": (
        "wilcox.test: normal p", "wilcox.test: normal interval*", "wilcox.test: normal interval*",
        "wilcox.test: normal estimate*",
    ),
    "sign": ("binom.test: p",),
}  # fmt: skip
NUM_NAMES = 16
"""How many kinds of numbers are compared: if R leaves one out, that is no agreement."""
LIMITS = (1e-9, 1e-2, 1e-4)
"""How far apart numbers may be, by the stars of their name."""


def rows_of_differences(rng: np.random.Generator) -> Iterator[FloatArray]:
    """Give differences of several numbers and shapes: normal, with long tails, rounded, mostly zero."""
    for n in NUMBERS:
        for _ in range(REPEATS):
            yield rng.normal(rng.normal(), 1, n)
            yield rng.standard_t(2, n) + rng.normal() / 2
            yield np.round(rng.normal(0.3, 1, n), 1)
            yield rng.normal(0.5, 1, n) * (rng.random(n) < 0.4)


def layouts(rng: np.random.Generator) -> Iterator[FloatArray]:
    """Give responses of runs to queries, [S, Q]."""
    for num_runs, num_queries in ((2, 5), (3, 10), (5, 25), (12, 50), (30, 50)):
        for _ in range(4):
            yield rng.normal(size=(num_runs, 1)) / 2 + rng.normal(size=(num_runs, num_queries))


def asked_of_r(folder: Path, data: dict[str, list[FloatArray]]) -> IdMatches:
    """Return what R says about the data."""
    for name, rows in data.items():
        lines = [" ".join(f"{number:.17g}" for number in row) for row in rows]
        folder.joinpath(f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    script = Path(__file__).with_suffix(".R")
    done = subprocess.run(["Rscript", str(script), str(folder)], capture_output=True, text=True, check=True)
    found = [line.split() for line in done.stdout.splitlines()]
    return {(kind, int(row) - 1): [*map(float, numbers)] for kind, row, *numbers in found}


def columns(test: PairedTests) -> list[float]:
    return [each[0] for each in (test.pvalues, test.lows, test.highs, test.estimates)]


def one_pair(row: FloatArray) -> Differences:
    return Differences(np.array([0]), np.array([1]), row[None], np.ones((1, len(row)), bool))


def compared(data: dict[str, list[FloatArray]], theirs: IdMatches) -> Iterator[tuple[str, float, float]]:
    """Give the name of each number, ours and theirs."""
    for (kind, row), numbers in theirs.items():
        if kind == "t" or kind.startswith("wilcoxon"):
            test = (paired_t if kind == "t" else wilcoxon)(one_pair(data["differences"][row]))
            yield from zip(TITLES[kind], columns(test), numbers, strict=False)
        elif kind == "sign":
            wins, losses = data["counts"][row].astype(int)
            test = sign_test(one_pair(np.repeat([1.0, -1.0], [wins, losses])))
            yield TITLES[kind][0], test.pvalues[0], numbers[0]
        elif kind == "mcnemar":
            wins, losses = data["counts"][row].astype(int)
            low, high = preference_interval(*(np.array([each]) for each in (wins, losses, wins + losses + 18)))
            yield "mcnemar.test: rejects", float(low[0] > 0 or high[0] < 0), float(numbers[0] < 0.05)
        elif kind == "hsd":
            yield from hsd_numbers(data["layouts"][row], numbers)
        elif kind in ("holm", "bonferroni", "BH"):
            ours = correct(theirs["p", 0], kind.lower())
            yield from ((f"p.adjust: {kind}", mine, other) for mine, other in zip(ours, numbers, strict=True))


def hsd_numbers(row: FloatArray, numbers: list[float]) -> Iterator[tuple[str, float, float]]:
    test = tukey_hsd(row[2:].reshape(row[:2].astype(int)))
    titles = ("ptukey: p**", "TukeyHSD: interval**", "TukeyHSD: interval**")
    for title, ours, theirs in zip(
        titles, (test.pvalues, test.lows, test.highs), np.array(numbers).reshape(3, -1), strict=True
    ):
        yield from ((title, mine, other) for mine, other in zip(ours, theirs, strict=True))


def largest(numbers: Iterable[tuple[str, float, float]]) -> Iterator[tuple[str, bool]]:
    """Give a line for each name: how many numbers, how many are known on both sides, how far apart they are.

    Beside it is whether they are near enough: relatively, but where R is not exact, as the stars of the name say.
    """
    found = defaultdict(list)
    for name, ours, theirs in numbers:
        found[name].append((ours, theirs))
    for name, pairs in found.items():
        ours, theirs = np.array(pairs).T
        is_known = ~np.isnan(ours) & ~np.isnan(theirs)
        apart = np.abs(ours - theirs)[is_known]
        relative = apart / np.maximum(np.maximum(np.abs(ours), np.abs(theirs))[is_known], 1e-300)
        relative[apart == 0] = 0
        furthest = apart if name.endswith("*") else relative
        is_near = bool(is_known.all() and furthest.max() <= LIMITS[name.count("*")])
        yield f"{name:32}{len(pairs):8,}{is_known.sum():8,}{apart.max():12.1e}{relative.max():12.1e}", is_near


def main() -> int:
    if shutil.which("Rscript") is None:
        print("Rscript is not installed, and nothing was compared; on Debian, install r-base-core")
        return 1
    rng = np.random.default_rng(0)
    data = {
        "differences": [*rows_of_differences(rng)],
        "counts": [np.array([w, total - w], float) for total in (1, 2, 7, 11, 30, 99) for w in range(total + 1)],
        "layouts": [np.array([*each.shape, *each.ravel()]) for each in layouts(rng)],
    }
    with tempfile.TemporaryDirectory() as folder:
        theirs = asked_of_r(Path(folder), data)
    print(f"{'':32}{'numbers':>8}{'known':>8}{'absolute':>12}{'relative':>12}")
    lines = [*largest(compared(data, theirs))]
    for line, is_near in lines:
        print(line, "" if is_near else "   TOO FAR")
    print("* R looks for these, to 1e-4 or to the next step   ** R knows p to 1e-6 and the critical value to 1e-4")
    return 0 if len(lines) == NUM_NAMES and all(is_near for _, is_near in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
