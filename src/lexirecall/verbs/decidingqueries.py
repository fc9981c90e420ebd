"""Deciding: the queries on which the difference of two runs under one measure rests, in its mean and in its tail.

Belongs here: both lists, in words and rows. Not here: how they are found (statistics.effectivequeries), what decides
one query (explanation).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lexirecall.errors import counted
from lexirecall.judgments import BoolArray, FloatArray, IntArray
from lexirecall.manifest import Policies
from lexirecall.names import Evaluable
from lexirecall.notebook import CellPart, DisplayedResult
from lexirecall.positions import Positions
from lexirecall.preferences import Preference
from lexirecall.statistics.effectivequeries import deciding_queries, worst_queries
from lexirecall.statistics.queryaggregate import QueryAggregate
from lexirecall.tables import Table, defined, number, render
from lexirecall.text import visible
from lexirecall.texts import Texts, shortened
from lexirecall.verbs.evaluate import QueryValues
from lexirecall.verbs.explanation import joined
from lexirecall.verbs.rank import contrasted

TAIL = QueryAggregate.parse("tail:0.1")
"""Which of the queries make up a tail."""
_COLUMNS = ("query", "value_a", "value_b", "difference", "decides", "tail_a", "tail_b")


@dataclass(frozen=True)
class DecidingQueries(DisplayedResult):
    """The difference of two runs under one measure, query by query.

    >>> from lexirecall import explain
    >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    >>> old = {"q1": ["a"], "q2": ["x", "a"], "q3": ["x", "a"]}
    >>> new = {"q1": ["x", "a"], "q2": ["a"], "q3": ["a"]}
    >>> deciding = explain(qrels, {"new": new, "old": old}, measure="RR").deciding
    >>> print(deciding.sentence())
    RR: 0.8333 for new and 0.6667 for old, as means over 3 queries. 1 query decides: without it the mean difference \
would be 0 or reversed.
    >>> [deciding.queries[q] for q in deciding.decisive]
    ['q2']
    """

    measure: Evaluable
    runs: tuple[str, str]
    queries: tuple[str, ...]
    """The queries on which the two are compared, in the order of the judgments."""
    differences: FloatArray
    """By how much the first run is better on each, infinitely if only one has a value; or 1, 0 or -1, without sizes."""
    values: FloatArray
    """The values of both runs, [2, Q], infinite if undefined; nan for a preference: a single ranking has no value."""
    num_undefined: int = 0
    """Queries that are in no mean, because a run that should have a value has none."""
    texts: Texts | None = None
    """The texts of the queries, if there are any."""

    @classmethod
    def of(cls, positions: Positions, row: Evaluable, a: int, b: int, policies: Policies) -> "DecidingQueries":
        """Compare two runs on every query that counts."""
        pairs = contrasted(positions, row, policies)
        differences = pairs.between(np.array([a]), np.array([b]))[0].astype(float)
        both = np.flatnonzero(pairs.taking_part[a] & pairs.taking_part[b])
        values, num_undefined = np.full((2, len(both)), np.nan), 0
        if not isinstance(row, Preference):
            valued = QueryValues.of(positions, [row], policies)
            values = valued.placed[[a, b]][:, both, 0]
            is_due = valued.is_due[:, :, 0] & policies.counted(positions, row)
            num_undefined = int((is_due[a] & is_due[b]).sum() - np.isfinite(values).all(axis=0).sum())
        names = tuple(positions.queries[q] for q in both.tolist())
        runs = positions.runs[a], positions.runs[b]
        return cls(
            measure=row, runs=runs, queries=names, differences=differences[both], values=values,
            num_undefined=num_undefined,
        )  # fmt: skip

    @cached_property
    def decisive(self) -> list[int]:
        """The fewest queries without which the mean difference is 0 or reversed, the largest difference first."""
        return deciding_queries(np.where(self.in_means, self.differences, 0)).tolist()  # type: ignore[no-any-return]

    @cached_property
    def in_means(self) -> BoolArray:
        """Which queries are in the means: those on which both runs have a value."""
        return np.asarray(np.isfinite(self.values).all(axis=0)) | (not self.has_values)

    @property
    def has_values(self) -> bool:
        """Whether a single ranking has a value."""
        return not isinstance(self.measure, Preference)

    @cached_property
    def tails(self) -> tuple[IntArray, ...]:
        """Each run's own worst tenth of the queries, the worst first; none for a preference."""
        worst = tuple(worst_queries(self.measure.direction * values, TAIL) for values in self.values)
        return worst if self.has_values else tuple(tail[:0] for tail in worst)

    @property
    def by_size(self) -> list[int]:
        """The queries, the largest difference first, whichever run is ahead; equal ones as the judgments have them."""
        return np.argsort(-np.abs(self.differences), kind="stable").tolist()  # type: ignore[no-any-return]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give one row for each query, the largest difference first: both values, and which lists it is in."""
        decisive = set(self.decisive)
        tails = [set(tail.tolist()) for tail in self.tails]
        for q in self.by_size:
            yield {
                "query": self.queries[q],
                "value_a": defined(float(self.values[0, q])),
                "value_b": defined(float(self.values[1, q])),
                "difference": defined(float(self.differences[q])),
                "decides": q in decisive,
                "tail_a": q in tails[0],
                "tail_b": q in tails[1],
                **({} if self.texts is None else {"text": self.texts.of_query(self.queries[q])}),
            }

    def sentence(self) -> str:
        """Say how large the difference is and how many queries decide it."""
        number_of = counted(int(self.in_means.sum()), "query")
        if not self.in_means.any():
            return f"{self.measure}: no query has a value for both runs."
        if not self.has_values:
            mean = self._mean(self.differences)
            means = f"{self.measure}: the mean preference for {self.runs[0]} is {mean} over {number_of}."
        else:
            own_means = map(self._mean, self.values[:, self.in_means])
            a, b = (f"{mean} for {run}" for mean, run in zip(own_means, self.runs, strict=True))
            means = f"{self.measure}: {a} and {b}, as means over {number_of}."
        left_out = "without a value: in no mean, and worse than all others"
        without = f" {counted(self.num_undefined, 'query')} {left_out}." if self.num_undefined else ""
        return f"{means}{without} {self._who_decides()}"

    def _who_decides(self) -> str:
        if not self.decisive:
            return "The mean difference is 0, so no query decides."
        decide, them = ("decides", "it") if len(self.decisive) == 1 else ("decide", "them")
        number_of = counted(len(self.decisive), "query")
        return f"{number_of} {decide}: without {them} the mean difference would be 0 or reversed."

    def _mean(self, values: FloatArray) -> str:
        return number(math.fsum(values.tolist()) / len(values), self.measure.decimals)

    def table(self, which: list[int]) -> Table:
        """Lay out some of the queries: both values, and by how much the first run is better."""
        header = ("query", *(self.runs if self.has_values else ()), "difference")
        rows = tuple((*self._cells(q), *self._text(q)) for q in which)
        return Table((*header, *self._heading), rows, numbers_from=1, texts=frozenset({len(header)}))

    @property
    def _heading(self) -> tuple[str, ...]:
        return ("text",) if self.texts is not None and self.texts.has_queries else ()

    def _text(self, q: int) -> tuple[str, ...]:
        """Return the cell of a query's text, nothing if there are no texts."""
        if self.texts is None or not self.texts.has_queries:
            return ()
        return (shortened(self.texts.of_query(self.queries[q]) or "-"),)

    def _cells(self, q: int) -> tuple[str, ...]:
        values = self.values[:, q].tolist() if self.has_values else ()
        return self.queries[q], *(number(value, self.measure.decimals) for value in values), self._signed(q)

    def _signed(self, q: int) -> str:
        difference = float(self.differences[q])
        return ("+" if difference > 0 else "") + number(difference, self.measure.decimals)

    def tail_sentences(self) -> Iterator[str]:
        """Compare the means of both tails, say what they share, and where equal values leave a choice."""
        size = len(self.tails[0])
        means = [self._mean(values[tail]) for values, tail in zip(self.values, self.tails, strict=True)]
        shared = len(np.intersect1d(self.tails[0], self.tails[1]))
        which = f"its own worst {100 * TAIL.share:.0f} % of the queries ({size:,} of {len(self.queries):,})"
        yield (
            f"Over {which}, {self.runs[0]} has a mean of {means[0]} and {self.runs[1]} of {means[1]}. The two tails "
            f"have {counted(shared, 'query')} in common."
        )
        for run, values, tail in zip(self.runs, self.values, self.tails, strict=True):
            if more := int((values == values[tail[-1]]).sum() - (values[tail] == values[tail[-1]]).sum()):
                value = number(float(values[tail[-1]]), self.measure.decimals)
                has = "has" if more == 1 else "have"
                yield (
                    f"{counted(more, 'more query')} {has} the value {value} in {run}, as the last of its tail has: the "
                    "first ones in the order of the judgments are listed."
                )

    def tail_table(self, limit: int) -> Table:
        """Lay out the queries in either tail, the worst value first, and whose tail it is."""
        rows = [(*self._cells(q), whose, *self._text(q)) for q, whose in self._in_tails()]
        shown = tuple(rows[:limit] if limit else rows)
        header = ("query", *self.runs, "difference", "among the worst of", *self._heading)
        return Table(header, shown, numbers_from=1, texts=frozenset({4, 5}))

    def _in_tails(self) -> list[tuple[int, str]]:
        """Return the queries in a tail, each with the run whose tail it is."""
        a, b = (set(tail.tolist()) for tail in self.tails)
        worst = (self.measure.direction * self.values).min(axis=0)
        whose = {q: "both" if q in a & b else self.runs[0] if q in a else self.runs[1] for q in a | b}
        return [(q, whose[q]) for q in sorted(whose, key=lambda q: (worst[q], q))]

    def to_text(self, *, limit: int = 20, bold: bool = False) -> str:
        """Lay out both lists for a terminal."""
        parts = [visible(self.sentence())]
        if self.decisive:
            shown = self.table(self.decisive[:limit] if limit else self.decisive).to_text(bold=bold)
            parts.append(shown + _more(len(self.decisive), limit))
        if in_tails := self._in_tails():
            parts += map(visible, self.tail_sentences())
            parts.append(self.tail_table(limit).to_text(bold=bold) + _more(len(in_tails), limit))
        return "\n\n".join(parts)

    def render(self, form: str = "table", *, limit: int = 20, bold: bool = False, raw: bool = False) -> str:
        """Return the lists in one of the formats of the command line; all but the table hold every query."""
        if form == "table":
            return self.to_text(limit=limit, bold=bold)
        rows = self.rows() if form == "jsonl" else map(joined, self.rows())
        return render(form, self.table(self.by_size), rows, (*_COLUMNS, *self._heading), raw=raw)

    def __str__(self) -> str:
        return self.to_text()

    def _parts(self) -> Iterator[CellPart]:
        yield self.sentence()
        if self.decisive:
            yield self.table(self.decisive)
        if self._in_tails():
            yield from self.tail_sentences()
            yield self.tail_table(0)


def _more(total: int, limit: int) -> str:
    more = total - limit if limit else 0
    return f"\n({counted(more, 'more query')}: --limit 0 shows all)" if more > 0 else ""
