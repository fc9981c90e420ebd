"""Real runs: what is known of all their queries, of which samples are drawn.

Belongs here: reading folders, values on each query, differences between runs. Not here: what is counted of samples
(validity_intervals, validity_families, validity_gate, validity_groups).

A folder has qrels.txt and a folder runs. The number of all its queries is the truth; samples are drawn from these
queries with replacement.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from lexirecall import evaluate, project
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.manifest import Policies
from lexirecall.measures.measure import TOLERANCE
from lexirecall.names import parse_preference
from lexirecall.positions import Positions
from lexirecall.statistics.differences import Differences
from lexirecall.verbs.rank import contrasted

SIZES = (10, 20, 50, 100)
"""Queries of a sample; 100 where the collection has as many."""
LEXI_RECALL = "LexiRecall"
SIGNS = (LEXI_RECALL, "Success@10")
"""Whose differences are signs."""
KNOWN_DOCUMENT = "R@10 of one"
"""R@10 of one relevant document of each query: differences of sizes that are all equal."""


@dataclass(frozen=True)
class Collection:
    """Judgments and runs."""

    qrels: Path
    positions: Positions


COLLECTIONS: dict[str, Collection] = {}
"""What was read, by the name of the folder."""


def load(folders: Iterable[Path]) -> None:
    """Read folders; the documents of each have one provider, so that they can be handed out."""
    for folder in folders:
        qrels = folder / "qrels.txt"
        documents = {document for _, document, _ in _judged(qrels)}
        runs = [str(path) for path in sorted((folder / "runs").iterdir())]
        positions = project(qrels, runs, providers=dict.fromkeys(documents, "one"))
        COLLECTIONS[folder.name] = Collection(qrels, positions)
    values_of.cache_clear()


def _judged(qrels: Path) -> list[tuple[str, str, int]]:
    rows = (line.split() for line in qrels.read_text(encoding="utf-8").splitlines() if line.strip())
    return [(query, document, int(grade)) for query, _, document, grade in rows]


@lru_cache(maxsize=64)
def values_of(collection: str, measure: str) -> FloatArray:
    """Return the values of each run on the queries on which all have one, [S, Q].

    Of LexiRecall it is how many runs it beats less how many beat it: no two of them beat each other in a circle.
    """
    known = COLLECTIONS[collection]
    if measure == LEXI_RECALL:
        pairs = contrasted(known.positions, parse_preference(measure), Policies())
        return np.array([pairs.against(s).sum(axis=0, dtype=float) for s in range(len(known.positions.runs))])
    positions = _of_one(known) if measure == KNOWN_DOCUMENT else known.positions
    values = evaluate(positions, measures=[measure.partition(" ")[0]]).values[:, :, 0]
    return np.asarray(values[:, ~np.isnan(values).any(axis=0)])


def _of_one(known: Collection) -> Positions:
    """Return the positions of one relevant document of each query, the first by its id."""
    first: dict[str, str] = {}
    for query, document, grade in _judged(known.qrels):
        if grade > 0:
            first[query] = min(document, first.get(query, document))
    runs = [str(path) for path in sorted((known.qrels.parent / "runs").iterdir())]
    return project({query: {document: 1} for query, document in first.items()}, runs)


def sizes_of(collection: str) -> Sequence[int]:
    """Return how large samples are drawn."""
    return [size for size in SIZES if size <= max(50, len(COLLECTIONS[collection].positions.queries))]


def differing(first: FloatArray, second: FloatArray, measure: str) -> FloatArray:
    """Return the differences of values in the same places, signs of LexiRecall; 0 within rounding."""
    values = np.asarray(first - second)
    values[np.abs(values) <= TOLERANCE] = 0
    return np.sign(values) if measure == LEXI_RECALL else values


def drawn_pairs(num_runs: int, num_sets: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Draw pairs of two runs each."""
    first = rng.integers(num_runs, size=num_sets)
    return first, (first + rng.integers(1, num_runs, size=num_sets)) % num_runs


def as_pairs(values: FloatArray, *, is_signs: bool = False) -> Differences:
    """Return each row as one pair of runs that are compared on all queries."""
    first = np.zeros(len(values), np.int64)
    counted: BoolArray = np.ones(values.shape, bool)
    return Differences(first, first + 1, values, counted, is_signs=is_signs)
