"""Simulated collections with a known structure, from a seed.

Belongs here: making judgments and runs for the demo, tests and benchmarks.

Every query has easy relevant documents, which look like the query, and hard ones, which do not. A run is described by
how far it lifts each kind above the noise, and by how many documents it returns.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["CHARACTERS", "Character", "SimulatedCollection", "simulate_collection"]


@dataclass(frozen=True, slots=True)
class Character:
    """What a simulated run is like: how well it sees easy and hard relevant documents, and how many it returns."""

    name: str
    easy: float
    hard: float
    depth: int


CHARACTERS = (
    Character("precise.run", easy=4.2, hard=0.5, depth=1000),  # excellent at the top, blind to what looks different
    Character("deep.run", easy=3.3, hard=3.3, depth=1000),  # less brilliant, but overlooks little
    Character("shallow.run", easy=3.8, hard=1.5, depth=50),  # good, and stops early
    Character("random.run", easy=0.0, hard=0.0, depth=1000),
)
"""The runs that are simulated by default."""


@dataclass(frozen=True, slots=True)
class SimulatedCollection:
    """Judgments and runs, in the form that `evaluate` takes."""

    qrels: dict[str, dict[str, int]]
    runs: dict[str, dict[str, dict[str, float]]]
    corpus_size: int

    def to_trec(self) -> dict[str, str]:
        """Return the collection as TREC text, by file name: `qrels.txt`, and each run under its own name.

        >>> simulate_collection(1, num_queries=1).to_trec()["deep.run"].splitlines()[0]
        '1 Q0 D00348 1 5.433367 deep'
        """
        qrels = (
            f"{q} 0 {document} {grade}\n" for q, judged in self.qrels.items() for document, grade in judged.items()
        )
        texts = {"qrels.txt": "".join(qrels)}
        for name, run in self.runs.items():
            lines = (
                f"{q} Q0 {document} {rank} {score} {name.removesuffix('.run')}\n"
                for q, scores in run.items()
                for rank, (document, score) in enumerate(scores.items(), 1)
            )
            texts[name] = "".join(lines)
        return texts


def simulate_collection(
    seed: int = 0,
    *,
    num_queries: int = 30,
    corpus_size: int = 10_000,
    characters: Sequence[Character] = CHARACTERS,
) -> SimulatedCollection:
    """Simulate a collection. The same seed gives the same collection.

    >>> collection = simulate_collection(1, num_queries=2)
    >>> sorted(collection.runs), len(collection.qrels), len(collection.runs["shallow.run"]["1"])
    (['deep.run', 'precise.run', 'random.run', 'shallow.run'], 2, 50)
    """
    rng = np.random.default_rng(seed)
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, dict[str, float]]] = {character.name: {} for character in characters}
    for query in map(str, range(1, num_queries + 1)):
        relevant = rng.choice(corpus_size, size=int(np.clip(rng.lognormal(2.7, 0.7), 3, 80)), replace=False)
        is_hard = rng.random(len(relevant)) < 0.2
        is_hard[0] = True  # no query can be answered by easy documents alone
        judged = rng.choice(corpus_size, size=100, replace=False)
        grades = dict.fromkeys(map(_name, judged.tolist()), 0)
        grades |= {_name(document): 1 + int(rng.random() < 0.2) for document in relevant.tolist()}
        qrels[query] = grades
        shared = rng.normal(size=corpus_size)  # what misleads one run misleads the others too
        for character in characters:
            scores = 0.5 * shared + rng.normal(size=corpus_size)
            scores[relevant] += np.where(is_hard, character.hard, character.easy)
            top = np.argsort(-scores)[: character.depth]
            runs[character.name][query] = dict(
                zip(map(_name, top.tolist()), scores[top].round(6).tolist(), strict=True)
            )
    return SimulatedCollection(qrels, runs, corpus_size)


def _name(document: int) -> str:
    return f"D{document:05d}"
