"""A start: the small files of one kind of reader, and the commands that lead from them to a conclusion.

Belongs here: the record, and ranking by simulated scores, which all starts share. Not here: the starts themselves, one
module each.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Start:
    """What one kind of reader starts with."""

    reader: str
    """The name on the command line, of the folder and of the page in docs/start."""
    person: str
    """Who that is, after the word "for"."""
    question: str
    """What the reader wants to know."""
    about: Mapping[str, str]
    """What each file holds, by its name."""
    make: Callable[[], Mapping[str, str]]
    """Simulates the files: their texts by name, the same ones in every call."""
    commands: tuple[str, ...]
    """What is run; {} stands for the folder."""
    conclusion: str
    """What they show."""
    following: tuple[str, ...]
    """What to type next; {} stands for the folder, too."""


def ranked(scores: Mapping[str, float], depth: int) -> list[str]:
    """Return the best documents by their scores, the best first.

    >>> ranked({"a": 0.1, "b": 0.7, "c": 0.3}, 2)
    ['b', 'c']
    """
    return sorted(scores, key=scores.__getitem__, reverse=True)[:depth]


def noisy(rng: np.random.Generator, lifts: Mapping[str, float]) -> dict[str, float]:
    """Return a score for each document: normal noise, and what lifts it above the others.

    >>> [round(score, 1) for score in noisy(np.random.default_rng(1), {"a": 0.0, "b": 9.0}).values()]
    [0.3, 9.8]
    """
    noise = rng.normal(size=len(lifts)).tolist()
    return {document: lift + drawn for (document, lift), drawn in zip(lifts.items(), noise, strict=True)}


def separated(rows: Iterable[Sequence[object]], separator: str, *header: str) -> str:
    r"""Return rows as lines of text, below a header if there is one.

    >>> separated([("u1", "film", 5)], ",", "user", "document", "rating")
    'user,document,rating\nu1,film,5\n'
    """
    lines = (separator.join(map(str, row)) for row in rows)
    return "".join(f"{line}\n" for line in ([separator.join(header)] if header else []) + [*lines])


def trec_qrels(relevant: Mapping[str, Mapping[str, int]]) -> str:
    r"""Return judgments as TREC text.

    >>> trec_qrels({"q": {"a": 1}})
    'q 0 a 1\n'
    """
    return separated(
        ((q, 0, document, grade) for q, grades in relevant.items() for document, grade in grades.items()), " "
    )


def trec_run(rankings: Mapping[str, Sequence[str]], tag: str) -> str:
    r"""Return ranked lists as TREC text; scores descend by one.

    >>> trec_run({"q": ["a", "b"]}, "new")
    'q Q0 a 1 2 new\nq Q0 b 2 1 new\n'
    """
    rows = (
        (q, "Q0", document, rank, len(ranking) + 1 - rank, tag)
        for q, ranking in rankings.items()
        for rank, document in enumerate(ranking, 1)
    )
    return separated(rows, " ")
