"""Counts whether intervals hold what they say, and how often tests and gates find what is not there.

Usage: python benchmarks/validity.py PART [--repetitions N] [--workers N]              on simulated data
       python benchmarks/validity.py PART FOLDER… [--repetitions N] [--workers N]      on real runs
       python benchmarks/validity.py real FOLDER… [--workers N]                        all parts on real runs
       python benchmarks/validity.py page

PART is one of coverage, errors, tails, groups, gate, ledger, margin, bounds, certify and looks; on real runs one of
intervals-real, differences-real, families-real, gates-real, losses-real, groups-real, providers-real, certify and
looks. A FOLDER has qrels.txt and a folder runs.

Belongs here: parts, batches, and how counts are kept. Not here: drawing and counting (validity_intervals,
validity_families, validity_over, validity_groups, validity_gate, validity_certify), missing labels (validity_labels),
the pages (validity_page, validity_tables).

What was counted is in the folder validity, and `page` makes docs/validity.md and docs/validity-tables.md of it. Every
part continues where it stopped: it works in batches, each with its own seed, and goes round all settings before it
comes back to the first.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from validity_certify import (
    BOUNDED,
    CERTIFIED,
    LOOKED,
    Bounded,
    Certified,
    Looked,
    count_certified,
    count_looked,
    cover_bounds,
)
from validity_families import FAMILIES, Family, RealFamily, count_real, err, real_families
from validity_gate import (
    GATED,
    LEDGERED,
    MARGINED,
    Breaking,
    Gated,
    Ledgered,
    Margined,
    RealAlarm,
    breakings,
    count_breaking,
    count_gated,
    count_ledgered,
    count_margined,
    count_real_alarms,
    real_alarms,
)
from validity_groups import Provided, RealGrouped, provided, real_groups, single_them_out, vary_really
from validity_intervals import (
    PAIRS,
    Differing,
    Estimated,
    Pair,
    count_differing,
    count_estimated,
    cover,
    differences,
    estimated,
)
from validity_labels_page import read
from validity_over import GROUPED, TAILS, Grouped, TailPair, cover_tail, vary
from validity_page import write
from validity_real import COLLECTIONS, load
from validity_tables import write_tables

from lexirecall.progress import Progress

RESULTS = Path(__file__).parent / "validity"
DOCS = Path(__file__).parent.parent / "docs"
BATCH = {
    "coverage": 1000, "errors": 50, "tails": 100, "groups": 50, "gate": 500, "ledger": 200, "margin": 500,
    "bounds": 1, "certify": 500, "looks": 500, "intervals-real": 250, "differences-real": 500, "families-real": 25,
    "gates-real": 250, "losses-real": 250, "groups-real": 50, "providers-real": 25,
}  # fmt: skip
"""Data sets that are drawn at once, by part."""

Counts = dict[str, dict[str, float]]
"""Of each setting, by its key: what was counted."""

Setting = Any
"""One of the records that say what is drawn."""


def key(setting: Setting) -> str:
    return " | ".join(str(each) for each in asdict(setting).values())


def generator(setting: Setting, seed: int) -> np.random.Generator:
    """Return the random numbers of one batch, which do not depend on the other settings."""
    return np.random.default_rng([seed, *key(setting).encode()])


SETTINGS: dict[str, Sequence[Setting]] = {
    "coverage": PAIRS, "errors": FAMILIES, "tails": TAILS, "groups": GROUPED, "gate": GATED, "ledger": LEDGERED,
    "margin": MARGINED, "bounds": BOUNDED, "certify": CERTIFIED, "looks": LOOKED,
}  # fmt: skip
"""Of each part on simulated data."""
REAL: dict[str, tuple[Callable[[], Iterator[Setting]], int]] = {
    "intervals-real": (estimated, 2000), "differences-real": (differences, 4000), "families-real": (real_families, 300),
    "gates-real": (real_alarms, 1000), "losses-real": (breakings, 500), "groups-real": (real_groups, 600),
    "providers-real": (provided, 100),
}  # fmt: skip
"""Of each part on real runs: the settings, and how many data sets are drawn of each unless it is said."""
Job = tuple[str, Setting, int]
"""The part, the setting and the seed of one batch."""


COUNTERS: dict[type, Callable[[Any, np.random.Generator, int], dict[str, float]]] = {
    Pair: cover, Family: err, TailPair: cover_tail, Grouped: vary, Gated: count_gated, Ledgered: count_ledgered,
    Margined: count_margined, Certified: count_certified, Looked: count_looked, Estimated: count_estimated,
    Differing: count_differing, RealFamily: count_real, RealAlarm: count_real_alarms, Breaking: count_breaking,
    RealGrouped: vary_really, Provided: single_them_out,
}  # fmt: skip


def work(job: Job) -> dict[str, float]:
    part, setting, seed = job
    if isinstance(setting, Bounded):
        return cover_bounds(setting)
    return COUNTERS[type(setting)](setting, generator(setting, seed), BATCH[part])


def jobs(part: str, repetitions: int, known: Counts) -> Iterator[Job]:
    """Give the batches that are missing, of each setting one before any has two; what is exact needs only one."""
    for batch in range(-(-repetitions // BATCH[part])):
        for setting in SETTINGS[part]:
            done = known.get(key(setting), {"sets": -1})["sets"]
            is_exact = isinstance(setting, Bounded) or getattr(setting, "sizes", "") == "signs"
            if (done < 0 and batch == 0) if is_exact else done < (batch + 1) * BATCH[part]:
                yield part, setting, batch


def worked_off(todo: list[Job], workers: int) -> Iterator[dict[str, float]]:
    if workers == 1:
        yield from map(work, todo)
        return
    folders = [known.qrels.parent for known in COLLECTIONS.values()]
    with ProcessPoolExecutor(workers, initializer=load, initargs=(folders,)) as pool:
        yield from pool.map(work, todo)


def simulate(part: str, repetitions: int, workers: int, folder: Path = RESULTS) -> None:
    """Work off the batches that are missing, and keep the counts now and then."""
    path = folder / f"{part}.json"
    counts = kept(path)
    todo = list(jobs(part, repetitions, counts))
    with Progress(part, len(todo)) as progress:
        for number, (job, found) in enumerate(zip(todo, worked_off(todo, workers), strict=True), 1):
            add(counts, key(job[1]), found)
            progress.advance(1)
            if number % 20 == 0 or number == len(todo):
                keep(path, counts)


def add(counts: Counts, name: str, found: dict[str, float]) -> None:
    known = counts.setdefault(name, dict.fromkeys(found, 0))
    counts[name] = {each: known[each] + found[each] for each in found}


def kept(path: Path) -> Counts:
    return json.loads(path.read_text()) if path.exists() else {}


def keep(path: Path, counts: Counts) -> None:
    """Write one line for each setting."""
    lines = (f"{json.dumps(name)}: {json.dumps(found)}" for name, found in counts.items())
    path.parent.mkdir(exist_ok=True)
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def pages(folder: Path = RESULTS, docs: Path = DOCS) -> None:
    """Write both pages."""
    results = {part: kept(folder / f"{part}.json") for part in (*SETTINGS, *REAL)}
    write(docs / "validity.md", results)
    write_tables(docs / "validity-tables.md", results, read(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("part", choices=(*SETTINGS, *REAL, "real", "page"))
    parser.add_argument("folders", nargs="*", type=Path, help="with qrels.txt and runs/")
    parser.add_argument("--repetitions", type=int, help="data sets of each setting (simulated: 1000)")
    parser.add_argument("--workers", type=int, default=1, help="processes (default 1)")
    given = parser.parse_args()
    if (given.part in REAL or given.part == "real") and not given.folders:
        parser.error(f"{given.part} is counted on real runs: name folders with qrels.txt and runs/")
    load(given.folders)
    if given.part == "page":
        pages()
        return
    for part in REAL if given.part == "real" else (given.part,):
        if part in REAL:
            SETTINGS[part] = [*REAL[part][0]()]
        elif COLLECTIONS:  # whole rankings of real runs in the place of simulated ones
            SETTINGS[part] = [replace(each, rankings=name) for name in COLLECTIONS for each in SETTINGS[part]]
        simulate(part, given.repetitions or REAL.get(part, (None, 1000))[1], given.workers)


if __name__ == "__main__":
    main()
