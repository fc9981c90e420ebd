"""pref_eval's output: preferences between each pair of runs, as the JSON lines of the paper's reference implementation.

Belongs here: its lines and its names of measures, so that what reads them (`pref_aggregate.py`, notebooks) reads ours,
and its way to one order of runs. Not here: the preferences themselves, the methods (statistics.aggregate). You do not
need the program.

Each query has a line for each pair of runs, `{"qid", "runi", "runj", "sample", "type": "preference", …}`. The value of
each measure is positive if `runi` is better. Each query also has a line for each run, `{"qid", "run", "sample", "type":
"metric", …}`, with the values of those measures that have one for a single run. The means of the preferences come last,
`{"qid": "all", "runi", "runj", "sample", …}`. There is one sample, number 0.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from lexirecall.errors import UsageError, choice
from lexirecall.fields import taken, takes
from lexirecall.formats import Qrels, Runs
from lexirecall.manifest import READING, Note, Policies
from lexirecall.measures import Measure
from lexirecall.measures.measure import TOLERANCE
from lexirecall.names import Evaluable, Names, parse_preference
from lexirecall.positions import Positions
from lexirecall.preferences import Pairs
from lexirecall.statistics.aggregate import from_pairs, order_runs
from lexirecall.verbs.compare import check_number
from lexirecall.verbs.evaluate import scores_of
from lexirecall.verbs.rank import Ranking, contrasted
from lexirecall.verbs.scores import Scores
from lexirecall.verbs.subject import asked_of, positions_of

__all__ = ["Preferences", "aggregate", "prefer"]

_NAMES = {
    "LexiRecall": "lexirecall",
    "LexiPrecision": "lexiprecision",
    "LexiPrecision(size='rr')": "rrlexiprecision",
    "RPP": "rpp",
    "RPP(weight='inverse')": "invrpp",
    "RPP(weight='dcg')": "dcgrpp",
    "Rprec": "rp",
}
_CUT = {"AP": "ap", "RR": "rr", "nDCG": "ndcg", "P": "p", "R": "r"}
"""The measures that take a cut-off and nothing else: our name, and pref_eval's."""
_PERSISTENCE = 0.5  # of its rbp; ours is 0.8
_ITS_WORD = re.compile(r"(?<![^\s,])(?:rp|rbp(?:@(?P<p>[\d.]+)(?:,(?P<cutoff>\d+))?)?)(?![^\s,])")


@takes(Policies, *READING)
def prefer(
    qrels: Qrels | Positions, runs: Runs | None = None, measures: Names | None = None, **options: Any
) -> "Preferences":
    """Compare each pair of runs on each query; the arguments are those of `lexirecall.evaluate`.

    Measures may have pref_eval's names. In small letters, `rbp` is its RBP, with p = 0.5, and the number in `rbp@0.9`
    is p; `RBP` is ours, with p = 0.8.

    >>> qrels = {"q1": {"a": 1, "b": 1}}
    >>> runs = {"old": {"q1": ["a", "x", "b"]}, "new": {"q1": ["x", "a", "b"]}}
    >>> print(prefer(qrels, runs, ["lexirecall", "rpp", "rr"]))
    {"qid": "q1", "runi": "old", "runj": "new", "sample": 0, "type": "preference", "lexirecall": 1, "rpp": 0.5, \
"rr": 0.5}
    {"qid": "q1", "run": "old", "sample": 0, "type": "metric", "rr": 1.0}
    {"qid": "q1", "run": "new", "sample": 0, "type": "metric", "rr": 0.5}
    {"qid": "all", "runi": "old", "runj": "new", "sample": 0, "lexirecall": 1.0, "rpp": 0.5, "rr": 0.5}
    """
    policies = taken(Policies, options)
    rows = asked_of(qrels, None if measures is None else in_our_words(measures), options)
    positions = positions_of(qrels, runs, rows, options)
    check_number(len(positions.runs))
    scores, _ = scores_of(positions, rows, policies, is_default=measures is None)
    pairs = tuple(contrasted(positions, row, policies).held() for row in scores.measures)
    return Preferences(scores, pairs)


@takes(Policies, *READING)
def aggregate(
    qrels: Qrels | Positions,
    runs: Runs | None = None,
    preference: str | Evaluable = "RPP",
    *,
    method: str = "mc4",
    **options: Any,
) -> Ranking:
    """Put runs in one order as `pref_aggregate.py` does: order them on each query first, then aggregate these orders.

    On a query, runs are ordered by the sum of their preferences over the others. `method` is mc4 or borda, as there, or
    another that takes pairs. `lexirecall.rank` takes the preferences as they are. The two can differ for RPP, which may
    run in a circle, and where a great win outweighs several small losses. Runs that are equal on a query stay equal.

    >>> qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    >>> runs = {"x": ["a", "n", "b", "c"], "y": ["m", "a", "b", "n", "c"], "z": ["m", "n", "a", "o", "b"]}
    >>> print(aggregate(qrels, {name: {"q": ranking} for name, ranking in runs.items()}, method="borda"))
    run  rank  Borda points
    x       1           2.0
    y       2           1.0
    z       3           0.0
    """
    policies, row = taken(Policies, options), parse_preference(preference)
    choice("method", method, from_pairs())
    if row.measure is not None:
        problem = f"{row} has a value for each run, so that each query has an order of runs already"
        raise UsageError(problem, remedy="use lexirecall.rank, or a preference such as RPP")
    positions = positions_of(qrels, runs, [row], options)
    check_number(len(positions.runs))
    scores, _ = scores_of(positions, [row], policies)
    order = order_runs(ordered_on_each(contrasted(positions, row, policies).held()), method)
    return Ranking(positions.runs, str(row), order, scores.notes, positions.frame_library)


def ordered_on_each(pairs: Pairs) -> Pairs:
    """Order the runs of each query by the sum of their preferences; who is further up in it is preferred.

    >>> values = np.array([[0, 1.0, -0.5], [-1.0, 0, 0.25], [0.5, -0.25, 0]])[:, :, None]  # x > y > z > x
    >>> ordered_on_each(Pairs("RPP", (*"xyz",), ("q",), values, np.ones((3, 1), bool))).values[:, :, 0].tolist()
    [[0, 1, 1], [-1, 0, -1], [-1, 1, 0]]
    """
    sums = pairs.values.sum(axis=1, dtype=float)  # who does not take part has zeros
    rounding = TOLERANCE * np.abs(pairs.values).sum(axis=1, dtype=float).max(axis=0, initial=0.0)
    differences = sums[:, None] - sums
    signs = np.where(np.abs(differences) <= rounding, 0, np.sign(differences)).astype(np.int8)
    return replace(pairs, values=signs * (pairs.taking_part[:, None] & pairs.taking_part))


@dataclass(frozen=True, eq=False)
class Preferences:
    """The preferences between each pair of runs on each query; they print as the lines of pref_eval."""

    scores: Scores
    pairs: tuple[Pairs, ...]
    """For each measure."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader of the numbers should know."""
        return self.scores.notes

    @cached_property
    def _names(self) -> list[str]:
        return [name_in_pref_eval(row) for row in self.scores.measures]

    def rows(self, *, per_query: bool = True, summary: bool = True) -> Iterator[dict[str, Any]]:
        """Give the lines as dicts, in pref_eval's order; an undefined value is None."""
        runs = range(len(self.scores.runs))
        if per_query:
            for q in range(len(self.scores.queries)):
                for i in runs:
                    yield from (row for j in runs[i + 1 :] if (row := self._preference(q, i, j)))
                    yield from self._metric(q, i)
        if summary:
            means = [pairs.means for pairs in self.pairs]
            for i in runs:
                yield from (self._summary(i, j, [mean[i, j] for mean in means]) for j in runs[i + 1 :])

    def _preference(self, q: int, i: int, j: int) -> dict[str, Any] | None:
        """Return how two runs compare on a query, or None if no measure compares them."""
        compared = [bool(pairs.taking_part[i, q] and pairs.taking_part[j, q]) for pairs in self.pairs]
        values = [_number(pairs.values[i, j, q]) if c else None for pairs, c in zip(self.pairs, compared, strict=True)]
        first, second = self.scores.runs[i], self.scores.runs[j]
        row = {"qid": self.scores.queries[q], "runi": first, "runj": second, "sample": 0, "type": "preference"}
        return {**row, **dict(zip(self._names, values, strict=True))} if any(compared) else None

    def _metric(self, q: int, s: int) -> Iterator[dict[str, Any]]:
        """Give the values of the measures of single rankings for a run on a query, if any of them is defined."""
        values = {
            name: _number(value)
            for name, row, value in zip(self._names, self.scores.measures, self.scores.values[s, q], strict=True)
            if isinstance(row, Measure)
        }
        if any(value is not None for value in values.values()):
            row = {"qid": self.scores.queries[q], "run": self.scores.runs[s], "sample": 0, "type": "metric"}
            yield {**row, **values}

    def _summary(self, i: int, j: int, means: list[float]) -> dict[str, Any]:
        row = {"qid": "all", "runi": self.scores.runs[i], "runj": self.scores.runs[j], "sample": 0}
        return {**row, **dict(zip(self._names, map(_number, means), strict=True))}

    def to_text(self, *, per_query: bool = True, summary: bool = True) -> str:
        """Return the lines; `per_query` adds those of pref_eval's -q, and `summary=False` is its -n: no means."""
        return "\n".join(json.dumps(row) for row in self.rows(per_query=per_query, summary=summary))

    def __str__(self) -> str:
        return self.to_text()


def in_our_words(names: Names) -> list[str | Evaluable]:
    """Return names of measures with those that mean something else in pref_eval, or nothing here, written as ours.

    >>> in_our_words(["lexirecall rp,rbp", "rbp@0.9,10", "rbp@0.9", "RBP@10"])
    ['lexirecall Rprec,RBP(p=0.5)', 'RBP(p=0.9)@10', 'RBP(p=0.9)', 'RBP@10']
    """
    all_names = [names] if isinstance(names, str | Evaluable) else list(names)
    return [_ITS_WORD.sub(_in_our_word, name) if isinstance(name, str) else name for name in all_names]


def _in_our_word(match: re.Match[str]) -> str:
    if match[0] == "rp":
        return "Rprec"
    at = f"@{match['cutoff']}" if match["cutoff"] else ""
    return f"RBP(p={match['p'] or _PERSISTENCE}){at}"


def name_in_pref_eval(row: Evaluable) -> str:
    """Return pref_eval's name of a measure or preference, or our name if it does not have it.

    >>> from lexirecall.names import parse_names
    >>> [name_in_pref_eval(row) for row in parse_names("dcgrpp AP@10 RBP(p=0.5) RBP RBP(p=0.9)@10 TSE")]
    ['dcgrpp', 'ap@10', 'rbp', 'rbp@0.8', 'rbp@0.9,10', 'TSE']
    """
    cutoff = row.settings.get("cutoff")
    others = row.settings.keys() - {"cutoff"}
    if row.name in _CUT and not others:
        return _CUT[row.name] if cutoff is None else f"{_CUT[row.name]}@{cutoff}"
    if row.name == "RBP" and others <= {"p"}:
        p = row.values["p"]
        settings = f"@{p:g}" if cutoff is None else f"@{p:g},{cutoff}"
        return "rbp" if p == _PERSISTENCE and cutoff is None else f"rbp{settings}"
    return _NAMES.get(str(row), str(row))


def _number(value: Any) -> float | None:
    """Return a number that JSON can hold, without negative zero; signs are whole numbers."""
    if isinstance(value, np.integer):
        return int(value)
    return float(value) + 0.0 if np.isfinite(value) else None
