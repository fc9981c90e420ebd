"""Many small random cases, in two dicts: judgments and a run, with a query for each case.

Belongs here: what is drawn, and which cases a peer can be asked about at all.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass

Numbers = dict[str, dict[str, float]]
"""{query: {document: grade or score}}."""

DOCUMENTS = tuple(f"d{number}" for number in range(14))
GRADES = (-2, -1, 0, 0, 0, 1, 1, 1, 2, 3, 4)


@dataclass(frozen=True, slots=True)
class Cases:
    """Judgments and a run; a few queries are in one of them only."""

    qrels: dict[str, dict[str, int]]
    run: Numbers

    def only(self, queries: set[str]) -> "Cases":
        """Return some of the cases, in the same order."""
        qrels = {query: grades for query, grades in self.qrels.items() if query in queries}
        return Cases(qrels, {query: scores for query, scores in self.run.items() if query in queries})


def draw_cases(number: int, seed: int, *, tied: bool) -> Cases:
    """Draw cases: empty lists, negative grades, missing queries and, if asked for, equal scores.

    >>> cases = draw_cases(1000, 1, tied=False)
    >>> len(cases.qrels.keys() | cases.run.keys()), any(len(set(s.values())) < len(s) for s in cases.run.values())
    (1000, False)
    """
    draw = random.Random(seed)  # noqa: S311 - no secret
    qrels: dict[str, dict[str, int]] = {}
    run: Numbers = {}
    for query in (str(place) for place in range(1, number + 1)):  # numbers, because gdeval takes no other ids
        judged, ranked = (draw.sample(DOCUMENTS, draw.randint(least, 12)) for least in (1, 0))
        scores = draw.choices((0.5, 1.0, 2.0, 3.0), k=len(ranked)) if tied else draw.sample(range(100), len(ranked))
        where = draw.random()
        if where > 0.02:
            qrels[query] = {document: draw.choice(GRADES) for document in judged}
        if where < 0.98:
            run[query] = {document: float(score) for document, score in zip(ranked, scores, strict=True)}
    return Cases(qrels, run)


def crashes_trec_eval(grades: Mapping[str, float], scores: Mapping[str, float], *, judged_only: bool = False) -> bool:
    """Tell whether trec_eval 9, as pytrec_eval calls it, reads beyond its buffers: nothing is left to judge or to rank.

    >>> crashes_trec_eval({"a": -1}, {"a": 1.0}), crashes_trec_eval({"a": 1}, {}), crashes_trec_eval({"a": 0}, {"a": 1})
    (True, True, False)
    """
    judged = {document for document, grade in grades.items() if grade >= 0}
    return not (judged and (judged & scores.keys() if judged_only else scores))
