"""Hides judgments, and gives some of them back, chosen in one way or another.

Usage: python benchmarks/validity_labels.py --name NAME --qrels QRELS --runs RUN...
       python benchmarks/validity_labels.py simulated

Belongs here: which judgments are hidden, ways to choose, and counting. Not here: the page (validity_labels_page),
forecasts (validity_forecasts).

Only queries of which everything was judged, down to some depth of every run, have a known truth. What was counted is in
the folder validity, and `python benchmarks/validity.py page` makes a part of docs/validity.md of it.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from lexirecall.formats.listing import load_lists
from lexirecall.formats.wholelists import Lists, RunLists
from lexirecall.judgments import FloatArray, IntArray, Judgments
from lexirecall.labels.forecasts import sample
from lexirecall.labels.judgingorder import to_judge
from lexirecall.labels.laterjudgments import LaterJudgments, judged_since
from lexirecall.labels.pools import Labelling, LabelPool, pools_of
from lexirecall.labels.rates import estimated_rates
from lexirecall.manifest import Conventions, Policies
from lexirecall.preferences import LEXI_RECALL
from lexirecall.preferences.pairs import SignArray
from lexirecall.verbs.rank import contrasted

RESULTS = Path(__file__).parent / "validity"
LEAST_DEPTH = 50  # of the pool of a query that is studied
COMPLETE = 0.99  # share of the documents above the depth of the pool that was judged
SAMPLES = 100
GIVEN = (100, 300, 1000, 3000)
SHALLOW = 20  # depth of the pool before more is judged
Hidden = list[set[bytes]]
"""Of each query, the documents whose judgments are hidden."""


@dataclass(frozen=True)
class Study:
    """Queries of which everything was judged down to a depth."""

    name: str
    lists: Lists
    depths: tuple[int, ...]

    @property
    def depth(self) -> int:
        """That down to which everything was judged for every query."""
        return min(self.depths)

    @cached_property
    def tops(self) -> list[list[Sequence[bytes]]]:
        """For each query, what each run has down to its depth."""
        rows = zip(self.depths, self.lists, strict=True)
        return [[(ranking or ())[:depth] for ranking in of_runs] for depth, (_, of_runs) in rows]

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
        query: {
            document: float(judgments.grades[at]) for document, at in judgments.lookup(q).items() if kept(q, document)
        }
        for q, query in enumerate(judgments.query_ids)
    }
    return Lists(Judgments.from_grades(grades), lists.runs)


def study_of(name: str, lists: Lists, *, by_query: bool = False) -> Study:
    """Keep the queries of which everything was judged to LEAST_DEPTH or deeper; one depth for all, or each its own."""
    depths = np.array([_pool_depth(lists.judgments, q, of_runs) for q, (_, of_runs) in enumerate(lists)])
    chosen = {lists.judgments.query_ids[q] for q in np.flatnonzero(depths >= LEAST_DEPTH).tolist()}
    judgments = lists.judgments
    grades = {
        query: {document: float(judgments.grades[at]) for document, at in judgments.lookup(q).items()}
        for q, query in enumerate(judgments.query_ids)
        if query in chosen
    }
    runs = tuple(
        replace(run, lists={q: documents for q, documents in run.lists.items() if q in chosen}) for run in lists.runs
    )
    deep = depths[depths >= LEAST_DEPTH].tolist()
    return Study(name, Lists(Judgments.from_grades(grades), runs), tuple(deep if by_query else [min(deep)] * len(deep)))


def _pool_depth(judgments: Judgments, query: int, of_runs: Sequence[Sequence[bytes] | None]) -> int:
    """Return the depth down to which nearly all that runs retrieve was judged."""
    lookup = judgments.lookup(query)
    best: dict[bytes, int] = {}
    for ranking in of_runs:
        for place, document in enumerate(ranking or (), 1):
            best[document] = min(place, best.get(document, place))
    places = np.array(list(best.values()))
    order = np.argsort(places, kind="stable")
    is_judged = np.array([document in lookup for document in best])[order]
    shares = is_judged.cumsum() / np.arange(1, len(order) + 1)
    deep = np.flatnonzero(shares >= COMPLETE)
    return int(places[order][deep[-1]]) - 1 if len(deep) else 0


def simulated(seed: int = 0, num_queries: int = 40, num_documents: int = 1500, num_runs: int = 8) -> Lists:
    """Draw runs of which everything is judged: a run lifts relevant documents above noise shared with others."""
    rng = np.random.default_rng(seed)
    lifts = rng.uniform(1.0, 2.2, num_runs)
    qrels: dict[str, dict[str, int]] = {}
    rankings: list[dict[str, list[str]]] = [{} for _ in range(num_runs)]
    for q in range(num_queries):
        num_relevant = int(np.clip(rng.lognormal(3.2, 0.8), 2, 200))
        is_relevant = np.arange(num_documents) < num_relevant
        shared = rng.normal(size=num_documents) + is_relevant * rng.normal(0.8, 0.5)
        names = [f"d{i:04}" for i in range(num_documents)]
        qrels[f"q{q}"] = dict(zip(names, is_relevant.astype(int).tolist(), strict=True))
        for run, lift in zip(rankings, lifts, strict=True):
            scores = shared + rng.normal(size=num_documents) + is_relevant * (lift + rng.normal(0, 0.5))
            run[f"q{q}"] = [names[i] for i in np.argsort(-scores)[:400].tolist()]
    return load_lists(qrels, {f"run{s}": run for s, run in enumerate(rankings)})


# What is hidden


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
    since: list[LaterJudgments]

    @classmethod
    def of(cls, study: Study, hidden: Hidden) -> "Case":
        """Hide judgments, and what was judged further down."""
        in_pool = [set().union(*tops) for tops in study.tops]
        kept = lambda q, document: document not in hidden[q] and document in in_pool[q]  # noqa: E731
        lists = study.without(kept)
        new = study.without(lambda q, document: document in hidden[q]).judgments
        pools, index = list(pools_of(lists)), new.index
        return cls(study, lists, pools, [judged_since(pool, lists.judgments, new, index) for pool in pools])


# What to judge next


def best_depths(places: IntArray) -> FloatArray:
    return np.asarray(np.where(places > 0, places, np.inf).min(axis=0))


def chosen_by(strategy: str, case: Case, num: int, seed: int) -> list[tuple[int, int]]:
    """Choose documents to judge: the query and the document of each."""
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
    rates, judgments = estimated_rates(case.lists, policies.level), case.lists.judgments
    (sampled,) = sample(case.pools, rates, [LEXI_RECALL], labelling, policies, num_samples=SAMPLES, seed=seed)
    pairs = np.triu_indices(len(case.study.names), 1)
    made = to_judge(case.pools, rates, sampled, labelling, policies, num, pairs=pairs, judgments=judgments)
    numbers = {query: q for q, query in enumerate(judgments.queries)}
    documents = [{document.decode(): i for i, document in enumerate(pool.documents)} for pool in case.pools]
    return [(numbers[each.query], documents[numbers[each.query]][each.document]) for each in made]


def _chances(case: Case) -> FloatArray:
    rates = estimated_rates(case.lists, Policies().level)
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
        RunLists(run.name, {q: documents[: study.depth] for q, documents in run.lists.items()})
        for run in study.lists.runs
    )
    study = replace(study, lists=Lists(study.lists.judgments, cut))
    half = np.random.default_rng(seed).permutation(len(study.names))[: len(study.names) // 2].tolist()
    for design, runs in ((f"to {SHALLOW}", None), (f"half to {SHALLOW}", half)):
        case = Case.of(study, shallow(study, SHALLOW, runs))
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
    """Return the share of decisions by query that are not those with all labels, and how many are relevant."""
    labelling, pairs = Labelling(case.study.names, Conventions()), np.triu_indices(len(case.study.names), 1)
    grades = [np.where(pool.is_unjudged, 0.0, pool.grades) for pool in case.pools]
    for q, i in given:
        grades[q][i] = case.since[q].labelled.grades[i]
    known = [replace(pool, grades=own) for pool, own in zip(case.pools, grades, strict=True)]
    decided, truth = (signs_of(pools, labelling, pairs) for pools in (known, [each.labelled for each in case.since]))
    return (decided != truth).mean(axis=0), sum(int(grades[q][i] >= 1) for q, i in given)


def signs_of(pools: Sequence[LabelPool], labelling: Labelling, pairs: tuple[IntArray, IntArray]) -> SignArray:
    """Return who is better by LexiRecall if no more documents are relevant, [P, Q]."""
    positions = labelling.positions(pools, [np.zeros((1, len(pool.documents)), bool) for pool in pools])
    return np.asarray(np.sign(contrasted(positions, LEXI_RECALL, Policies()).between(*pairs)), np.int8)


def _share(by_query: FloatArray) -> dict[str, float]:
    error = by_query.std(ddof=1) / np.sqrt(len(by_query))
    return {"wrong": float(by_query.mean()), "error": float(error)}


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
        for row in (about, *judge(study)):
            print(json.dumps(row), file=file)
            print(json.dumps(row))


if __name__ == "__main__":
    main()
