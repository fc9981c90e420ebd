"""Simulates whether intervals hold what they say, and how often tests find differences that are not there.

Usage: python benchmarks/validity.py PART [--repetitions N] [--workers N]
       python benchmarks/validity.py page

PART is one of coverage, errors, tails, groups, gate, ledger, margin, bounds, certify and looks.

Belongs here: drawing data of which the truth is known, and counting. Not here: tails and groups of queries
(validity_over), gates (validity_gate), missing labels (validity_labels), certificates of recall (validity_certify),
the page (validity_page).

What was counted is in the folder validity, and `page` makes docs/validity.md of it. Both parts continue where they
stopped: they work in batches, each with its own seed, and go round all settings before they come back to the first.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import multinomial
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
from validity_gate import (
    GATED,
    LEDGERED,
    MARGINED,
    Gated,
    Ledgered,
    Margined,
    count_gated,
    count_ledgered,
    count_margined,
)
from validity_labels_page import read
from validity_over import GROUPED, TAILS, Grouped, TailPair, cover_tail, vary
from validity_page import write

from lexirecall.judgments import BoolArray, FloatArray, IntArray, Judgments
from lexirecall.manifest import Conventions
from lexirecall.positions import Positions
from lexirecall.preferences import LEXI_RECALL
from lexirecall.progress import Progress
from lexirecall.segments import Segments
from lexirecall.statistics.corrections import correct
from lexirecall.statistics.differences import Differences
from lexirecall.statistics.hsd import randomized_tukey_hsd, tukey_hsd
from lexirecall.statistics.maxt import max_t
from lexirecall.statistics.paired import paired_t, randomization, sign_test, wilcoxon
from lexirecall.statistics.proportions import preference_interval
from lexirecall.tracks import SystemPositions, Tracks

RESULTS = Path(__file__).parent / "validity"
PAGE = Path(__file__).parent.parent / "docs" / "validity.md"
ALPHA = 0.05
BATCH = {
    "coverage": 1000, "errors": 50, "tails": 100, "groups": 50, "gate": 500, "ledger": 200, "margin": 500,
    "bounds": 1, "certify": 500, "looks": 500,
}  # fmt: skip
"""Data sets that are drawn at once, by part."""

Counts = dict[str, dict[str, float]]
"""Of each setting, by its key: what was counted."""


# Coverage


@dataclass(frozen=True)
class Pair:
    """Two runs, compared on n queries."""

    sizes: str
    """How large differences are: one of SIZES, or "signs"."""
    num_requests: int
    ties: float
    """The chance that a query is tied."""
    effect: float
    """What the first run wins minus what it loses, as a share of the untied queries; a shift of normal sizes."""


SIZES = {"normal": 0, "skewed": 2, "few decide": 20}
"""The size of an untied difference is U^k for a uniform U; k = 0 marks a normal difference, shifted by the effect."""
PAIRS = [
    Pair(*each) for each in product(("signs", *SIZES), (20, 50, 200), (0.0, 0.2, 0.5, 0.8), (0.0, 0.25, 0.5, 0.75, 1.0))
]


def coverage_of_signs(pair: Pair) -> float:
    """Return the chance that Tango's interval holds the true mean preference: all outcomes are few, so it is exact."""
    n, untied = pair.num_requests, 1 - pair.ties
    wins, losses = (each[np.add.outer(range(n + 1), range(n + 1)) <= n] for each in np.indices((n + 1, n + 1)))
    lows, highs = preference_interval(wins, losses, np.full(len(wins), n), alpha=ALPHA)
    won, lost = untied * (1 + pair.effect) / 2, untied * (1 - pair.effect) / 2
    chances = multinomial.pmf(np.stack([wins, losses, n - wins - losses], axis=1), n, [won, lost, pair.ties])
    true = untied * pair.effect
    # An end that is the true value up to rounding holds it.
    return float(chances[(lows <= true + 1e-12) & (highs >= true - 1e-12)].sum())


def draw_differences(pair: Pair, num_sets: int, rng: np.random.Generator) -> FloatArray:
    """Draw data sets of n differences each, [R, n]."""
    shape = num_sets, pair.num_requests
    is_untied = rng.random(shape) >= pair.ties
    if pair.sizes == "normal":
        return np.asarray(is_untied * (rng.normal(size=shape) + pair.effect))
    signs = np.where(rng.random(shape) < (1 + pair.effect) / 2, 1.0, -1.0)
    return np.asarray(is_untied * signs * rng.random(shape) ** SIZES[pair.sizes])


def true_mean(pair: Pair) -> float:
    """Return the mean of what `draw_differences` draws; that of U^k is 1/(k + 1), and k = 0 gives the shift.

    >>> true_mean(Pair("skewed", 50, ties=0.5, effect=0.75))
    0.125
    """
    return (1 - pair.ties) * pair.effect / (SIZES[pair.sizes] + 1)


@lru_cache(maxsize=100)
def true_pseudomedian(sizes: str, effect: float) -> float:
    """Return the median of (D + D')/2 for independent untied differences D and D'.

    >>> true_pseudomedian("skewed", 0.0), round(true_pseudomedian("skewed", 1.0), 3)
    (0.0, 0.318)
    """
    if sizes == "normal" or effect == 0:
        return effect
    lost, power = (1 - effect) / 2, SIZES[sizes]
    chances = (np.arange(20_000) + 0.5) / 20_000
    is_lost = chances < lost
    shares = np.where(is_lost, 1 - chances / max(lost, 1e-9), (chances - lost) / (1 - lost))
    values = np.where(is_lost, -1, 1) * np.clip(shares, 0, 1) ** power

    def excess(middle: float) -> float:
        others = 2 * middle - values
        roots = np.minimum(np.abs(others), 1) ** (1 / power)
        return float(np.where(others < 0, lost * (1 - roots), lost + (1 - lost) * roots).mean() - 0.5)

    return float(brentq(excess, -1, 1, xtol=1e-14))


def cover(pair: Pair, seed: int, num_sets: int) -> dict[str, float]:
    """Count how many intervals hold the true value, and how many there are, by interval."""
    if pair.sizes == "signs":
        return {"sets": 0, "tango": coverage_of_signs(pair)}
    differences = as_pairs(draw_differences(pair, num_sets, generator(pair, seed)))
    t, signed = paired_t(differences, alpha=ALPHA), wilcoxon(differences, alpha=ALPHA)
    mean, middle = true_mean(pair), true_pseudomedian(pair.sizes, pair.effect)
    return {
        "sets": num_sets,
        "t": int(((t.lows <= mean) & (t.highs >= mean)).sum()),
        "t given": int((~np.isnan(t.lows)).sum()),
        "wilcoxon": int(((signed.lows <= middle) & (signed.highs >= middle)).sum()),
        "wilcoxon given": int((~np.isnan(signed.lows)).sum()),
    }


# Errors


@dataclass(frozen=True)
class Family:
    """All pairs of some runs, compared on n queries."""

    response: str
    """One of POWERS, or "preference"."""
    effects: str
    """One of EFFECTS."""
    num_systems: int
    num_requests: int
    num_resamples: int = 999
    """Of randomization, max-T and the randomized HSD."""


POWERS = {"measure": 3, "sparse": 30}
"""A measure is a standard normal variable's chance to the power k: skewed between 0 and 1, and sparse for a large k."""
EFFECTS = ("none", "better", "variants")
"""No run differs; the second half is better; or the last quarter is better, and the rest are variants of one run."""
SHARED = 0.9  # share of the queries on which a variant ranks as the run that it was made of
RANDOMIZED = 4999  # resamples for randomization: with 999 no p corrected for 20 runs could be below .05
FAMILIES = [
    Family(*kind, *size)
    for size in ((8, 50), (5, 20), (20, 50), (8, 200))
    for kind in product((*POWERS, "preference"), EFFECTS)
]
RELEVANT, DEPTH = 3, 100  # relevant documents of a query, and documents that a run returns


def groups(family: Family) -> IntArray:
    """Return the group of each run, [S]: runs of one group are equally good."""
    shares = {"none": 1.0, "better": 0.5, "variants": 0.75}
    return np.array(np.arange(family.num_systems) >= shares[family.effects] * family.num_systems, np.int64)


def draw_noise(family: Family, num_sets: int, depth: int, rng: np.random.Generator) -> FloatArray:
    """Draw what a run makes of each query, without the effect of the query, [S, R, n, depth]."""
    shape = num_sets, family.num_requests
    noise = rng.normal(size=(family.num_systems, *shape, depth))
    if family.effects == "variants":
        members = np.flatnonzero(groups(family) == 0)
        is_shared = rng.random((len(members), *shape, 1)) < SHARED
        noise[members] = np.where(is_shared, rng.normal(size=(*shape, depth)), noise[members])
    return np.asarray(noise + 0.5 * groups(family)[:, None, None, None])


def draw_measure(family: Family, num_sets: int, rng: np.random.Generator) -> FloatArray:
    """Draw the values of a measure, [S, R, n]: half of what makes them vary is the query, as for all runs."""
    queries = rng.normal(size=(num_sets, family.num_requests))
    latent = (queries + draw_noise(family, num_sets, 1, rng)[..., 0]) / np.sqrt(2)
    return np.asarray(ndtr(latent) ** POWERS[family.response])


def draw_preferences(family: Family, num_sets: int, rng: np.random.Generator) -> FloatArray:
    """Draw rankings, and return LexiRecall between each pair of runs, [S, S, R, n]."""
    queries = rng.normal(size=(num_sets, family.num_requests, 1))
    depths = np.exp(3.5 + 1.5 * queries - draw_noise(family, num_sets, RELEVANT, rng))
    places = np.sort(depths, axis=-1).astype(np.int64) + np.arange(1, RELEVANT + 1)
    num_queries = num_sets * family.num_requests
    judgments = Judgments.from_grades(
        {str(q).encode(): {str(i).encode(): 1.0 for i in range(RELEVANT)} for q in range(num_queries)}
    )
    runs = [as_run(str(s), each.reshape(num_queries, RELEVANT)) for s, each in enumerate(places)]
    pairs = LEXI_RECALL.pairs(Positions.stack(judgments, runs, Conventions()).at_level(1))
    return pairs.values.reshape(*pairs.values.shape[:2], num_sets, family.num_requests).astype(float)


def as_run(name: str, places: IntArray) -> SystemPositions:
    """Return a run that has the relevant documents of each query at these places, [Q, m], as far as it goes."""
    is_found = places <= DEPTH
    all_of_them = Tracks(Segments(np.arange(len(places) + 1) * places.shape[1]), places.ravel(), np.arange(places.size))
    answered, retrieved = np.ones(len(places), bool), np.full(len(places), DEPTH)
    return SystemPositions(name, answered, retrieved, all_of_them.filter(is_found.ravel()), None)


def err(family: Family, seed: int, num_sets: int) -> dict[str, float]:
    """Count in how many data sets each test finds a difference between equally good runs."""
    rng = generator(family, seed)
    a, b = np.triu_indices(family.num_systems, 1)
    if family.response == "preference":
        preferences = draw_preferences(family, num_sets, rng)
        values, responses = preferences[a, b], preferences.sum(axis=1) / (family.num_systems - 1)
    else:
        responses = draw_measure(family, num_sets, rng)
        values = responses[a] - responses[b]
    values, responses = values.swapaxes(0, 1), responses.swapaxes(0, 1)  # [R, P, n] and [R, S, n]
    is_null = groups(family)[a] == groups(family)[b]
    effective = as_pairs(values[:, is_null].reshape(-1, family.num_requests)).effective
    found = {
        test: int((pvalues[:, is_null] < ALPHA).any(axis=1).sum())
        for test, pvalues in corrected_pvalues(family, values, responses, rng)
    }
    return {"sets": num_sets, "effective": float(np.nanmedian(effective)) * num_sets, **found}


def corrected_pvalues(
    family: Family, values: FloatArray, responses: FloatArray, rng: np.random.Generator
) -> Iterator[tuple[str, FloatArray]]:
    """Give the p of all pairs with regard to all of them, [R, P], by test."""
    is_signs = family.response == "preference"
    num_sets, num_pairs, _ = values.shape
    together = as_pairs(values.reshape(-1, family.num_requests), is_signs=is_signs)
    yield "t", holm(paired_t(together).pvalues, num_pairs)
    yield "sign", holm(sign_test(together).pvalues, num_pairs)
    # Only p is wanted, which is the same for signs, and signs have no pseudomedian, which takes most of the time.
    yield "wilcoxon", holm(wilcoxon(replace(together, is_signs=True)).pvalues, num_pairs)
    # Each data set has its own flips: the error of all would hang on a few extreme ones.
    seeds = rng.integers(2**31, size=(num_sets,)).tolist()
    apart = [as_pairs(each, is_signs=is_signs) for each in values]
    num_flips = RANDOMIZED if num_pairs > 100 else family.num_resamples
    flipped = [randomization(d, num_resamples=num_flips, seed=s).pvalues for d, s in zip(apart, seeds, strict=True)]
    yield "randomization", holm(np.concatenate(flipped), num_pairs)
    settings: dict[str, Any] = {"num_resamples": family.num_resamples, "show_progress": False}
    largest = [max_t(d, seed=s, **settings).pvalues for d, s in zip(apart, seeds, strict=True)]
    yield "max-t", np.stack(largest)
    yield "hsd", np.stack([tukey_hsd(each).pvalues for each in responses])
    names = [f"{s:03}" for s in range(family.num_systems)]
    permuted = randomized_tukey_hsd(list(responses), names=names, seed=seeds[0], **settings)
    yield "randomized-hsd", np.stack([each.pvalues for each in permuted])


def holm(pvalues: FloatArray, num_pairs: int) -> FloatArray:
    """Correct the p of each data set by itself, [R, P]."""
    return np.stack([correct(each, "holm") for each in pvalues.reshape(-1, num_pairs)])


# Counting

Setting = Pair | Family | TailPair | Grouped | Gated | Ledgered | Margined | Bounded | Certified | Looked


def as_pairs(values: FloatArray, *, is_signs: bool = False) -> Differences:
    """Return each row as one pair of runs that are compared on all queries."""
    first = np.zeros(len(values), np.int64)
    counted: BoolArray = np.ones(values.shape, bool)
    return Differences(first, first + 1, values, counted, is_signs=is_signs)


def key(setting: Setting) -> str:
    return " | ".join(str(each) for each in asdict(setting).values())


def generator(setting: Setting, seed: int) -> np.random.Generator:
    """Return the random numbers of one batch, which do not depend on the other settings."""
    return np.random.default_rng([seed, *key(setting).encode()])


SETTINGS: dict[str, Sequence[Setting]] = {
    "coverage": PAIRS, "errors": FAMILIES, "tails": TAILS, "groups": GROUPED, "gate": GATED, "ledger": LEDGERED,
    "margin": MARGINED, "bounds": BOUNDED, "certify": CERTIFIED, "looks": LOOKED,
}  # fmt: skip
"""Of each part."""
Job = tuple[str, Setting, int]
"""The part, the setting and the seed of one batch."""


COUNTERS: dict[type, Callable[[Any, np.random.Generator, int], dict[str, float]]] = {
    TailPair: cover_tail, Grouped: vary, Gated: count_gated, Ledgered: count_ledgered, Margined: count_margined,
    Certified: count_certified, Looked: count_looked,
}  # fmt: skip


def work(job: Job) -> dict[str, float]:
    part, setting, seed = job
    if isinstance(setting, Pair):
        return cover(setting, seed, BATCH[part])
    if isinstance(setting, Bounded):
        return cover_bounds(setting)
    if isinstance(setting, Family):
        return err(setting, seed, BATCH[part])
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
    with ProcessPoolExecutor(workers) as pool:
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("part", choices=(*SETTINGS, "page"))
    parser.add_argument("--repetitions", type=int, default=1000, help="data sets of each setting (default 1000)")
    parser.add_argument("--workers", type=int, default=1, help="processes (default 1)")
    options = parser.parse_args()
    if options.part == "page":
        write(PAGE, {part: kept(RESULTS / f"{part}.json") for part in SETTINGS}, read(RESULTS))
    else:
        simulate(options.part, options.repetitions, options.workers)


if __name__ == "__main__":
    main()
