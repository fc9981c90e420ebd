"""Limits: what is left out to keep a page small, and the sentences that say so.

Belongs here: the choice of queries, runs and pairs, and the cutting of names. Not here: what is written about them
(payload).

Means, marks, recall curves and all other totals are computed from everything; only the detail is thinned.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count

import numpy as np

from lexirecall.errors import counted
from lexirecall.judgments import IntArray
from lexirecall.text import to_valid_text

COLUMNS_OF_A_PAIR = 8


@dataclass(frozen=True, slots=True)
class Limits:
    """How much detail a page holds. A position takes about three bytes, and so does a value."""

    positions: int = 4_000_000
    values: int = 2_000_000
    pair_values: int = 2_000_000
    characters: int = 8_000_000
    """Of the ids of relevant documents."""
    text_characters: int = 4_000_000
    """Of the texts of queries and documents."""
    length: int = 200
    """Of a name, and of a text."""
    providers: int = 1_000
    """Rows of providers, over all runs; each run has five at least."""
    lost: int = 1_000
    """Documents that a funnel loses, and as many that come in from elsewhere."""
    fewest_runs: int = 5
    """Queries are thinned until this many runs can be shown for each."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What is shown in detail; runs are in the order of the page."""

    queries: IntArray
    """Indices of the queries shown, among the eligible ones."""
    num_queries: int
    """How many there are."""
    num_runs: int
    num_detailed: int
    """The number of runs, from the first, with values and positions shown for each query."""
    num_paired: int
    """The number of runs, from the first, that are compared pair by pair."""

    def sentences(self) -> Iterator[str]:
        """Say what is left out."""
        if len(self.queries) < self.num_queries:
            yield (
                f"Of the {counted(self.num_queries, 'query')}, {len(self.queries):,} at regular intervals are "
                "shown one by one. Means, tests and curves cover all of them."
            )
        if (left_out := self.num_runs - self.num_detailed) > 0:
            yield (
                f"Values and positions for each query are shown for the best {counted(self.num_detailed, 'run')}, not "
                f"for the other {left_out:,}."
            )
        if self.num_paired < self.num_runs:
            yield f"Pairs are shown for the best {self.num_paired:,} of {counted(self.num_runs, 'run')}."


def select(num_found: IntArray, num_characters: IntArray, num_measures: int, limits: Limits) -> Selection:
    """Choose what fits, from the relevant documents found, [S, Q], and the length of each query's relevant ids, [Q].

    First, queries are left out at regular intervals until the best few runs fit; then runs, from the worst on.

    >>> found = np.full((10, 6), 20)
    >>> chosen = select(found, np.full(6, 99), 2, Limits(positions=400, pair_values=200))
    >>> chosen.queries.tolist(), chosen.num_detailed, chosen.num_paired
    ([0, 2, 4], 6, 5)
    """
    num_runs, num_queries = num_found.shape
    few = min(num_runs, limits.fewest_runs)
    excess = (
        num_found[:few].sum() / limits.positions,
        few * num_queries * num_measures / limits.values,
        num_characters.sum() / limits.characters,
    )
    queries = np.arange(0, num_queries, max(1, int(np.ceil(max(excess)))))
    positions = num_found[:, queries].sum(axis=1).cumsum()
    values = np.arange(1, num_runs + 1) * len(queries) * num_measures
    num_detailed = int(((positions <= limits.positions) & (values <= limits.values)).sum())
    sizes = np.arange(2, num_runs + 1)
    pair_values = sizes * (sizes - 1) // 2 * num_measures * COLUMNS_OF_A_PAIR
    num_paired = 1 + int((pair_values <= limits.pair_values).sum())
    return Selection(queries, num_queries, num_runs, max(num_detailed, 1), num_paired)


@dataclass(slots=True)
class Cutter:
    r"""Turns ids into text that any browser accepts, not longer than the limit, and counts what it cuts.

    >>> cut = Cutter(3)
    >>> cut("abcdef"), cut("é"), Cutter(9)("caf\udce9"), cut.num_cut
    ('abc…', 'é', 'caf\\xe9', 1)
    """

    length: int
    num_cut: int = 0

    def __call__(self, text: str) -> str:
        """Return the text, cut and with an ellipsis if it is too long."""
        text = to_valid_text(text)
        if len(text) <= self.length:
            return text
        self.num_cut += 1
        return f"{text[: self.length]}…"

    def names(self, names: Iterable[str]) -> list[str]:
        """Cut names, and number those that become equal: a link to one must not lead to another.

        >>> Cutter(3).names(["abcdx", "abc", "abcdy"])
        ['abc…', 'abc', 'abc… (2)']
        """
        unique: dict[str, None] = {}
        for name in map(self, names):
            numbered = (f"{name} ({number})" for number in count(2))
            unique[next(candidate for candidate in chain([name], numbered) if candidate not in unique)] = None
        return list(unique)
