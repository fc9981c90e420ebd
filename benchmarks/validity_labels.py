"""Hides judgments, forecasts them, and compares; and gives some of them back, chosen in one way or another.

Usage: python benchmarks/validity_labels.py --name NAME --qrels QRELS --runs RUN...
       python benchmarks/validity_labels.py simulated

Belongs here: which judgments are hidden, other ways to estimate and to choose, and counting. Not here: the page
(validity_labels_page).

Only queries of which everything was judged, down to some depth of every run, have a known truth. What was counted is in
the folder validity, and `python benchmarks/validity.py page` makes a part of docs/validity.md of it.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from lexirecall.formats.listing import load_lists
from lexirecall.formats.wholelists import Lists, RunLists
from lexirecall.judgments import BoolArray, FloatArray, IntArray, Judgments
from lexirecall.labels.forecasts import Chances, RunPairs, sample
from lexirecall.labels.hindsight import Decided, decisions_since, reliability, signs_of
from lexirecall.labels.judging import to_judge
from lexirecall.labels.pools import Labelling, LabelPool, pools_of
from lexirecall.labels.rates import estimated_rates, fitted, joint_depths
from lexirecall.labels.since import Since, judged_since
from lexirecall.manifest import Conventions, Policies
from lexirecall.preferences import LEXI_RECALL

RESULTS = Path(__file__).parent / "validity"
LEAST_DEPTH = 50  # of the pool of a query that is studied
COMPLETE = 0.99  # share of the documents above the depth of the pool that was judged
SAMPLES = 100
BINS = (0, 10, 25, 50, 75, 100, 125, 10**6)
GIVEN = (100, 300, 1000, 3000)
SHALLOW = 20  # depth of the pool before more is judged
Hidden = list[set[bytes]]
"""Of each request, the items whose judgments are hidden."""


@dataclass(frozen=True)
class Study:
    """Queries of which everything was judged down to a depth."""

    name: str
    lists: Lists
    depth: int

    @cached_property
    def tops(self) -> list[list[Sequence[bytes]]]:
        """For each request, what each run has down to the depth."""
        return [[(ranking or ())[: self.depth] for ranking in of_runs] for _, of_runs in self.lists]

    @property
    def names(self) -> tuple[str, ...]:
        """The runs."""
        return tuple(run.name for run in self.lists.runs)

    def without(self, kept: Callable[[int, bytes], bool]) -> Lists:
        """Return the same runs with some of the judgments."""
        return with_judgments(self.lists, kept)


def with_judgments(lists: Lists, kept: Callable[[int, bytes], bool]) -> Lists:
    judgments = lists.judgments
    grades = {
        request: {item: float(judgments.grades[at]) for item, at in judgments.lookup(q).items() if kept(q, item)}
        for q, request in enumerate(judgments.request_ids)
    }
    return Lists(Judgments.from_grades(grades), lists.runs)


def study_of(name: str, lists: Lists) -> Study:
    """Keep the queries of which everything was judged to a depth of at least LEAST_DEPTH, and find that depth."""
    depths = np.array([_pool_depth(lists.judgments, q, of_runs) for q, (_, of_runs) in enumerate(lists)])
    chosen = {lists.judgments.request_ids[q] for q in np.flatnonzero(depths >= LEAST_DEPTH).tolist()}
    judgments = lists.judgments
    grades = {
        request: {item: float(judgments.grades[at]) for item, at in judgments.lookup(q).items()}
        for q, request in enumerate(judgments.request_ids)
        if request in chosen
    }
    runs = tuple(replace(run, lists={q: items for q, items in run.lists.items() if q in chosen}) for run in lists.runs)
    return Study(name, Lists(Judgments.from_grades(grades), runs), int(depths[depths >= LEAST_DEPTH].min()))


def _pool_depth(judgments: Judgments, request: int, of_runs: Sequence[Sequence[bytes] | None]) -> int:
    """Return the depth down to which nearly all that runs retrieve was judged."""
    lookup = judgments.lookup(request)
    best: dict[bytes, int] = {}
    for ranking in of_runs:
        for place, item in enumerate(ranking or (), 1):
            best[item] = min(place, best.get(item, place))
    places = np.array(list(best.values()))
    order = np.argsort(places, kind="stable")
    is_judged = np.array([item in lookup for item in best])[order]
    shares = is_judged.cumsum() / np.arange(1, len(order) + 1)
    deep = np.flatnonzero(shares >= COMPLETE)
    return int(places[order][deep[-1]]) - 1 if len(deep) else 0


def simulated(seed: int = 0, num_requests: int = 40, num_items: int = 1500, num_runs: int = 8) -> Lists:
    """Draw runs of which everything is judged: a run lifts relevant items above noise that it shares with others."""
    rng = np.random.default_rng(seed)
    lifts = rng.uniform(1.0, 2.2, num_runs)
    qrels: dict[str, dict[str, int]] = {}
    rankings: list[dict[str, list[str]]] = [{} for _ in range(num_runs)]
    for q in range(num_requests):
        num_relevant = int(np.clip(rng.lognormal(3.2, 0.8), 2, 200))
        is_relevant = np.arange(num_items) < num_relevant
        shared = rng.normal(size=num_items) + is_relevant * rng.normal(0.8, 0.5)
        names = [f"d{i:04}" for i in range(num_items)]
        qrels[f"q{q}"] = dict(zip(names, is_relevant.astype(int).tolist(), strict=True))
        for run, lift in zip(rankings, lifts, strict=True):
            scores = shared + rng.normal(size=num_items) + is_relevant * (lift + rng.normal(0, 0.5))
            run[f"q{q}"] = [names[i] for i in np.argsort(-scores)[:400].tolist()]
    return load_lists(qrels, {f"run{s}": run for s, run in enumerate(rankings)})


# What is hidden


def unique(study: Study, run: int) -> Hidden:
    """Hide what no other run has down to the depth of the pool."""
    made = []
    for tops in study.tops:
        others = set().union(*(top for s, top in enumerate(tops) if s != run))
        made.append(set(tops[run]) - others)
    return made


def shallow(study: Study, depth: int, runs: Sequence[int] | None = None) -> Hidden:
    """Hide what is not in the pool of some runs to a smaller depth."""
    chosen = range(len(study.lists.runs)) if runs is None else runs
    return [
        set().union(*tops) - set().union(*(tops[s][:depth] for s in chosen))
        for tops in study.tops
    ]  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A collection with hidden judgments, and what they say."""

    study: Study
    lists: Lists
    pools: list[LabelPool]
    since: list[Since]

    @classmethod
    def of(cls, study: Study, hidden: Hidden, *, only_pool: bool) -> "Case":
        """Hide judgments; with `only_pool` also what was judged further down."""
        in_pool = [set().union(*tops) for tops in study.tops]
        kept = lambda q, item: item not in hidden[q] and (not only_pool or item in in_pool[q])  # noqa: E731
        lists = study.without(kept)
        new = study.without(lambda q, item: item in hidden[q]).judgments
        pools, index = list(pools_of(lists)), new.index
        return cls(study, lists, pools, [judged_since(pool, lists.judgments, new, index) for pool in pools])


def designs(study: Study, rng: np.random.Generator) -> Iterator[tuple[str, list[Case], list[RunPairs]]]:
    """Give each way to hide judgments, its cases, and the pairs of runs that are looked at in each."""
    num_runs = len(study.lists.runs)
    every = np.triu_indices(num_runs, 1)
    against = [(np.full(num_runs - 1, s), np.delete(np.arange(num_runs), s)) for s in range(num_runs)]
    yield "unique", [Case.of(study, unique(study, s), only_pool=False) for s in range(num_runs)], against
    for depth in (20, 50):
        if depth < study.depth:
            yield f"to {depth}", [Case.of(study, shallow(study, depth), only_pool=True)], [every]
            halves = [rng.permutation(num_runs)[: num_runs // 2].tolist() for _ in range(3)]
            cases = [Case.of(study, shallow(study, depth, half), only_pool=True) for half in halves]
            yield f"half to {depth}", cases, [every] * 3


# Other estimates


@dataclass(frozen=True)
class Regressed:
    """Chances from a logistic regression on the logarithm of some depth, without anything else."""

    depth: Callable[[IntArray], FloatArray]
    intercept: float
    slope: float

    def chances(self, pool: LabelPool) -> FloatArray:
        """Return the chance of each item of a pool, [I]; 0 if it is judged."""
        x = np.log(self.depth(pool.places))
        return np.where(pool.is_unjudged, 1 / (1 + np.exp(-(self.intercept + self.slope * x))), 0.0)


@dataclass(frozen=True)
class OfPositions:
    """The share of relevant items among those that any run has around the same position, and were judged."""

    shares: FloatArray
    """By half decade."""

    def chances(self, pool: LabelPool) -> FloatArray:
        """Return the chance of each item of a pool, [I]; 0 if it is judged."""
        return np.where(pool.is_unjudged, self.shares[half_decades(best_depths(pool.places))], 0.0)


def best_depths(places: IntArray) -> FloatArray:
    return np.asarray(np.where(places > 0, places, np.inf).min(axis=0))


def half_decades(depths: FloatArray) -> IntArray:
    return np.asarray(np.minimum(np.floor(2 * np.log10(depths)), 9), np.int64)


def judged_items(lists: Lists) -> Iterator[tuple[IntArray, BoolArray]]:
    """Give, by request, where the runs have each judged item that any retrieves, [S, I], and which are relevant."""
    judgments = lists.judgments
    for q, (_, of_runs) in enumerate(lists):
        numbers = {item: at for at, item in enumerate(judgments.lookup(q))}
        places = np.zeros((len(of_runs), len(numbers)), np.int64)
        for row, ranking in zip(places, of_runs, strict=True):
            for place, item in enumerate(ranking or (), 1):
                if item in numbers:
                    row[numbers[item]] = place
        grades = judgments.grades[judgments.offsets[q] : judgments.offsets[q + 1]]
        is_retrieved = (places > 0).any(axis=0)
        yield places[:, is_retrieved], grades[is_retrieved] >= 1


def other_rates(case: Case) -> dict[str, Chances]:
    """Estimate in other ways."""
    made = list(judged_items(case.lists))
    is_relevant = np.concatenate([each for _, each in made])
    best, joint = (np.concatenate([depth(places) for places, _ in made]) for depth in (best_depths, joint_depths))
    within = np.concatenate([((places > 0) & (places <= case.study.depth)).sum(axis=0) for places, _ in made])
    counts = np.zeros((2, 10))
    for places, relevant in made:
        rows, items = np.nonzero(places)
        at = half_decades(places[rows, items].astype(float))
        counts += [np.bincount(at, minlength=10), np.bincount(at, relevant[items], 10)]
    alone = within == 1

    def regressed(depth: Callable[[IntArray], FloatArray], depths: FloatArray, chosen: BoolArray) -> Regressed:
        x, y = np.log(depths[chosen]), is_relevant[chosen]
        every = np.ones(len(x))
        return Regressed(depth, *fitted(np.stack([every, x]), y, every, np.array([0.0, 1.0])))

    every = np.ones(len(best), bool)
    rates: dict[str, Chances] = {
        "joint depth alone": regressed(joint_depths, joint, every),
        "best depth alone": regressed(best_depths, best, every),
        "positions in any run": OfPositions(counts[1] / np.maximum(counts[0], 1)),
    }
    if alone.sum() >= 20:
        rates["documents of one run alone"] = regressed(best_depths, best, alone)
    return rates


# Counting


def numbers_of(rates: Chances, since: Sequence[Since]) -> FloatArray:
    """Count hidden items, relevant and expected ones, and add up log losses, by request and depth, [4, Q, B]."""
    made = np.zeros((4, len(since), len(BINS) - 1))
    for q, each in enumerate(since):
        is_asked = each.asked.is_unjudged
        chances = np.clip(rates.chances(each.asked)[is_asked], 1e-9, 1 - 1e-9)
        outcome = each.labelled.grades[is_asked] >= 1
        bins = np.searchsorted(BINS, best_depths(each.asked.places[:, is_asked])) - 1
        losses = -np.log(np.where(outcome, chances, 1 - chances))
        for row, values in zip(made, (np.ones(len(chances)), outcome, chances, losses), strict=True):
            row[q] = np.bincount(bins, values, len(BINS) - 1)
    return made


def error_of_ratio(expected: FloatArray, relevant: FloatArray) -> float:
    """Return the standard error of expected over relevant, between requests."""
    ratio = expected.sum() / relevant.sum()
    return float(np.sqrt(((expected - ratio * relevant) ** 2).sum()) / relevant.sum())


def summary(numbers: FloatArray) -> dict[str, Any]:
    hidden, relevant, expected, losses = numbers.sum(axis=(1, 2)).tolist()
    error = error_of_ratio(numbers[2].sum(axis=1), numbers[1].sum(axis=1)) if relevant else None
    return {"hidden": hidden, "relevant": relevant, "expected": expected, "error": error, "loss": losses}


def calibrate(study: Study, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Count how many hidden judgments are relevant and how many were expected, and what became of decisions."""
    labelling, policies = Labelling(study.names, Conventions()), Policies()
    for design, cases, pairs in designs(study, np.random.default_rng(seed)):
        estimates: dict[str, list[FloatArray]] = {}
        decided = []
        for case, own in zip(cases, pairs, strict=True):
            rates = estimated_rates(case.lists, policies)
            for name, each in {"ours": rates, **other_rates(case)}.items():
                estimates.setdefault(name, []).append(numbers_of(each, case.since))
            decided.append(
                decisions_since(case.since, rates, LEXI_RECALL, labelling, policies, own, samples=SAMPLES, seed=seed)
            )
        for name, parts in estimates.items():
            if len(parts) == len(cases):
                yield {"kind": "number", "design": design, "estimate": name, **summary(np.sum(parts, axis=0))}
        if design == "unique":
            for run, part in zip(study.names, estimates["ours"], strict=True):
                yield {"kind": "run", "design": design, "run": run, **summary(part)}
        total = np.sum(estimates["ours"], axis=0).sum(axis=1)
        for (low, high), (hidden, relevant, expected, _) in zip(pairwise(BINS), total.T, strict=True):
            if hidden:
                counts = {"hidden": hidden, "relevant": relevant, "expected": expected}
                yield {"kind": "depth", "design": design, "above": low, "up_to": high, **counts}
        together = Decided(*(np.concatenate(each) for each in zip(*decided, strict=True)))
        for row in reliability(together):
            yield {"kind": "reliability", "design": design, **row._asdict()}


# What to judge next


def chosen_by(strategy: str, case: Case, num: int, seed: int) -> list[tuple[int, int]]:
    """Choose items to judge: the request and the item of each."""
    rows = [(q, i) for q, pool in enumerate(case.pools) for i in np.flatnonzero(pool.is_unjudged).tolist()]
    if strategy == "ours":
        return ours(case, num, seed)
    if strategy == "random":
        order = np.random.default_rng(seed).permutation(len(rows))
    else:
        order = np.lexsort((np.random.default_rng(seed).random(len(rows)), KEYS[strategy](case)))
    return [rows[at] for at in order[:num].tolist()]


def ours(case: Case, num: int, seed: int) -> list[tuple[int, int]]:
    labelling, policies = Labelling(case.study.names, Conventions()), Policies()
    rates, judgments = estimated_rates(case.lists, policies), case.lists.judgments
    (sampled,) = sample(case.pools, rates, [LEXI_RECALL], labelling, policies, num_samples=SAMPLES, seed=seed)
    pairs = np.triu_indices(len(case.study.names), 1)
    made = to_judge(case.pools, rates, sampled, labelling, policies, num, pairs=pairs, judgments=judgments)
    numbers = {request: q for q, request in enumerate(judgments.requests)}
    items = [{item.decode(): i for i, item in enumerate(pool.items)} for pool in case.pools]
    return [(numbers[each.query], items[numbers[each.query]][each.document]) for each in made]


def _chances(case: Case) -> FloatArray:
    rates = estimated_rates(case.lists, Policies())
    return np.concatenate([rates.chances(pool)[pool.is_unjudged] for pool in case.pools])


def _places(case: Case) -> IntArray:
    return np.concatenate([pool.places[:, pool.is_unjudged] for pool in case.pools], axis=1)


KEYS: Mapping[str, Callable[[Case], FloatArray]] = {
    "best depth first": lambda case: best_depths(_places(case)),
    "most runs first": lambda case: -(_places(case) > 0).sum(axis=0).astype(float),
    "highest chance first": lambda case: -_chances(case),
}
STRATEGIES = ("ours", *KEYS, "random")


def judge(study: Study, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Count decisions that are still wrong after some of the hidden judgments were given back."""
    cut = tuple(
        RunLists(run.name, {q: items[: study.depth] for q, items in run.lists.items()}) for run in study.lists.runs
    )
    study = replace(study, lists=Lists(study.lists.judgments, cut))
    half = np.random.default_rng(seed).permutation(len(study.names))[: len(study.names) // 2].tolist()
    for design, runs in ((f"to {SHALLOW}", None), (f"half to {SHALLOW}", half)):
        case = Case.of(study, shallow(study, SHALLOW, runs), only_pool=True)
        num_hidden = sum(int(each.asked.is_unjudged.sum()) for each in case.since)
        about = {"kind": "judge", "design": design, "hidden": num_hidden}
        before, _ = wrong(case, [])
        yield {**about, "strategy": "nothing", "given": 0, **_share(before)}
        first: dict[int, FloatArray] = {}
        for strategy in STRATEGIES:
            chosen = chosen_by(strategy, case, max(GIVEN), seed)
            for given in (each for each in GIVEN if each < num_hidden):
                shares, found = wrong(case, chosen[:given])
                more = shares - first.setdefault(given, shares)
                compared = {"more": float(more.mean()), "more_error": _share(more)["error"]}
                yield {**about, "strategy": strategy, "given": given, **_share(shares), **compared, "found": found}


def wrong(case: Case, given: Sequence[tuple[int, int]]) -> tuple[FloatArray, int]:
    """Return the share of decisions by request that are not those with all labels, and how many are relevant."""
    labelling, pairs = Labelling(case.study.names, Conventions()), np.triu_indices(len(case.study.names), 1)
    grades = [np.where(pool.is_unjudged, 0.0, pool.grades) for pool in case.pools]
    for q, i in given:
        grades[q][i] = case.since[q].labelled.grades[i]
    known = [replace(pool, grades=own) for pool, own in zip(case.pools, grades, strict=True)]
    decided, truth = (
        signs_of(pools, LEXI_RECALL, labelling, Policies(), pairs)
        for pools in (known, [each.labelled for each in case.since])
    )
    return (decided != truth).mean(axis=0), sum(int(grades[q][i] >= 1) for q, i in given)


def _share(by_request: FloatArray) -> dict[str, float]:
    error = by_request.std(ddof=1) / np.sqrt(len(by_request))
    return {"wrong": float(by_request.mean()), "error": float(error)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("part", nargs="?", choices=("simulated",))
    parser.add_argument("--name", help="what the page calls the collection")
    parser.add_argument("--qrels")
    parser.add_argument("--runs", nargs="+")
    options = parser.parse_args()
    if options.part is None and not (options.name and options.qrels and options.runs):
        parser.error("give --name, --qrels and --runs, or simulated")
    name = options.name or "simulated"
    study = study_of(name, simulated() if options.part else load_lists(options.qrels, options.runs))
    about = {"kind": "study", "name": name, "runs": len(study.names), "queries": len(study.tops), "depth": study.depth}
    path = RESULTS / f"labels-{'simulated' if options.part else 'measured'}.jsonl"
    with path.open("w") as file:
        for row in (about, *calibrate(study), *judge(study)):
            print(json.dumps(row), file=file)
            print(json.dumps(row))


if __name__ == "__main__":
    main()
