"""Small collections to test with: few queries and documents, and everything that goes wrong with them in practice."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from lexirecall.fields import choices_of
from lexirecall.manifest import Conventions

Qrels = dict[str, dict[str, float]]
Run = dict[str, dict[str, float]]

DOCUMENTS = ("a", "B", "b", "A1", "a1", "Z", "é", "ß", "Ω-7", "日本", "d10", "d9")
QUERIES = ("q1", "Q1", "7", "frage-ü")
UNJUDGED_QUERIES = ("q2", "none")

# Pairs that are equal in float32, numbers that are equal though written otherwise, and infinity
SCORES = (0.0, -0.0, 1.0, 1.0, 2.0, -3.5, 0.50000000001, 0.50000000002, 16777216.0, 16777217.0, 1e39, float("inf"))
GRADES = (-2.0, -1.0, 0.0, 0.0, 0.25, 0.5, 1.0, 1.0, 1.5, 2.0, 3.0, 4.0)

LEVELS = (1, 2, 0.5)

ALL = 100  # examples of a property with all of them, unless it says otherwise
EVERYDAY = 40  # of them in the suite of every day


def quick(examples: int) -> settings:
    """Return settings for a property that is cheap to try: so many of its examples as the profile has of ALL.

    Examples are drawn anew in every run, so that many runs try what one run does not.
    """
    return settings(max_examples=max(min(examples, 5), examples * settings().max_examples // ALL))


def costly(examples: int) -> settings:
    """Return settings for a property that takes seconds: every day it has fewer still, and all in other profiles."""
    return quick(examples * 25 // EVERYDAY if settings().max_examples == EVERYDAY else examples)


def some(cases: int) -> int:
    """Return how many of its cases a loop tries: an eighth every day, and all in other profiles."""
    return cases // 8 if settings().max_examples == EVERYDAY else cases


@dataclass(frozen=True)
class Collection:
    """Judgments, some runs' runs, and a corpus size that is large enough for them, if one is known."""

    qrels: Qrels
    runs: dict[str, Run]
    corpus_size: int | None = None

    @property
    def given_size(self) -> dict[str, Any]:
        return {} if self.corpus_size is None else {"corpus_size": self.corpus_size}


def valued(documents: tuple[str, ...], values: tuple[float, ...]) -> st.SearchStrategy[dict[str, float]]:
    """Grades or scores of some documents, in any order; none or few now and then, of half of them more often."""
    fewest = st.sampled_from([0, len(documents) // 2, len(documents) // 2])
    return fewest.flatmap(
        lambda size: st.dictionaries(
            st.sampled_from(documents), st.sampled_from(values), min_size=size, max_size=len(documents)
        )
    )


def qrels(documents: tuple[str, ...], values: tuple[float, ...]) -> st.SearchStrategy[Qrels]:
    """Judgments of some queries; many have no relevant document, some no judged one."""
    return st.dictionaries(st.sampled_from(QUERIES), valued(documents, values), min_size=1, max_size=len(QUERIES))


@st.composite
def runs(draw: st.DrawFn, judged: Qrels, ranking: st.SearchStrategy[dict[str, float]]) -> Run:
    """A run that answers at least one judged query; it leaves some out and answers others that nobody judged."""
    answered = draw(st.permutations([*QUERIES, *UNJUDGED_QUERIES]))
    number = draw(st.integers(2, len(answered)))
    run = {query: draw(ranking) for query in answered[:number]}
    if not run.keys() & judged.keys():
        run[next(iter(judged))] = draw(ranking)
    return run


@st.composite
def collections(
    draw: st.DrawFn,
    *,
    grades: tuple[float, ...] = GRADES,
    scores: tuple[float, ...] = SCORES,
    documents: tuple[str, ...] = DOCUMENTS,
    max_runs: int = 2,
    with_size: bool | None = None,
) -> Collection:
    """A whole collection; `with_size` says whether the corpus size is known, None leaves it open."""
    judged = draw(qrels(documents, grades))
    num_runs = draw(st.integers(1, max_runs))
    ranking = valued(documents, scores)
    drawn = {f"system{number}": draw(runs(judged, ranking)) for number in range(1, num_runs + 1)}
    is_known = draw(st.booleans()) if with_size is None else with_size
    extra = draw(st.integers(0, 5))
    return Collection(judged, drawn, _smallest_corpus(judged, drawn) + extra if is_known else None)


def _smallest_corpus(judged: Qrels, runs: Mapping[str, Run]) -> int:
    """The most documents that one query knows of: retrieved, or relevant and missing."""
    return max(
        [
            1,
            *(len({*run.get(query, {}), *documents}) for run in runs.values() for query, documents in judged.items()),
        ]
    )


@dataclass(frozen=True)
class Ordering:
    """How rankings become positions, by the names of `project`'s arguments."""

    score_dtype: str = "float64"
    depth: int | None = None
    judged_only: bool = False


def orderings(*, both: bool = True) -> st.SearchStrategy[Ordering]:
    """Every combination of score type, depth and judged-only; `both` allows the last two together."""
    drawn = st.builds(
        Ordering,
        st.sampled_from(choices_of(Conventions, "score_dtype")),
        st.none() | st.integers(1, 6),
        st.booleans(),
    )
    return drawn if both else drawn.filter(lambda ordering: ordering.depth is None or not ordering.judged_only)
