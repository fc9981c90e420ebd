"""Reviews: records that were read one after the other and labelled, as judgments and as a ranking.

Belongs here: what a review means to an evaluation, and that reviews of one dataset agree. Not here: the files that hold
one (asreview), which file is what (sides).

The labels are the judgments, the order of reading is the ranking, and the dataset is the corpus. Prior knowledge, which
was labelled before the first ranking, was not found by anything: it is in none of the three. If several reviews of one
dataset had different prior knowledge, what was known to any of them is left out of all.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lexirecall.errors import DataError, FormatError, counted, shown
from lexirecall.judgments import Judgments
from lexirecall.text import to_bytes

Record = str
"""An id as text: a number in a database and the same text in an export are one record."""


@dataclass(frozen=True, slots=True)
class Review:
    """One review of one dataset."""

    name: str
    """What messages call it."""
    run_name: str
    query: str
    """The dataset."""
    read: Mapping[Record, float | None]
    """The records that were read, without prior knowledge, in this order; or each with a score that says when."""
    labels: Mapping[Record, int]
    """1 or 0 for each record whose label is known, also one that was not read."""
    priors: frozenset[Record]
    num_records: int
    num_pending: int = 0
    """Records that were shown and have no label."""
    remark: str = ""

    def ranking(self, left_out: Iterable[Record] = ()) -> Mapping[str, Sequence[Record] | Mapping[Record, float]]:
        """Return {query: records} in the order of reading, or {query: {record: score}} if there are times."""
        without = {*left_out}
        scores = {record: score for record, score in self.read.items() if score is not None and record not in without}
        return {self.query: scores or [record for record in self.read if record not in without]}


@dataclass(frozen=True, slots=True)
class Reviews:
    """Reviews whose labels agree."""

    reviews: tuple[Review, ...]

    def __post_init__(self) -> None:
        for review in self.reviews:
            if not review.read:
                what = f", besides {counted(len(review.priors), 'record')} of prior knowledge" if review.priors else ""
                remedy = "screen or simulate, then export it again"
                raise FormatError(review.name, None, f"no record has a label{what}", remedy=remedy)
        for query in dict.fromkeys(review.query for review in self.reviews):
            _check_agreement([review for review in self.reviews if review.query == query])

    def left_out(self, query: str) -> frozenset[Record]:
        """Return the records of a dataset that any of its reviews knew before."""
        return frozenset().union(*(review.priors for review in self.reviews if review.query == query))

    def judgments(self) -> Judgments:
        """Return the labels, with the number of records of each dataset as the corpus size."""
        grades: dict[bytes, dict[bytes, float]] = {}
        sizes: dict[bytes, int] = {}
        for review in self.reviews:
            query, without = to_bytes(review.query), self.left_out(review.query)
            labels = {to_bytes(record): label for record, label in review.labels.items() if record not in without}
            grades[query] = grades.get(query, {}) | labels
            sizes[query] = review.num_records - len(without)
        name = ", ".join(dict.fromkeys(review.name for review in self.reviews[:3]))
        judgments = Judgments.from_grades(grades, name=name)
        return replace(judgments, corpus_size=np.array([*sizes.values()], np.int64), remarks=tuple(self._remarks()))

    def _remarks(self) -> Iterator[str]:
        for query in dict.fromkeys(review.query for review in self.reviews):
            if without := self.left_out(query):
                reviews = [review for review in self.reviews if review.query == query]
                num_relevant = sum(any(review.labels.get(record) == 1 for review in reviews) for record in without)
                differ = any(review.priors != without for review in reviews)
                of_all = ", of all runs together, because they differ" if differ else ""
                yield (
                    f"{query}: prior knowledge is left out{of_all}: {counted(len(without), 'record')}, "
                    f"{num_relevant:,} of them relevant"
                )
        for review in self.reviews:
            if review.num_pending:
                yield f"{review.name}: {counted(review.num_pending, 'record')} shown without a label, left out"
            if review.remark:
                yield review.remark


def _check_agreement(reviews: Sequence[Review]) -> None:
    """Raise if two reviews of one dataset are of different sizes, or label a record differently."""
    first, labelled = reviews[0], dict[Record, Review]()  # by the first review of those that label a record
    for other in reviews:
        if first.num_records != other.num_records:
            raise _differing(first, other, f"it has {first.num_records:,} and {other.num_records:,} records")
        earlier = {record: labelled.setdefault(record, other) for record in other.labels}
        differing = [record for record, label in other.labels.items() if earlier[record].labels[record] != label]
        if differing:
            one = earlier[differing[0]]
            number = counted(sum(earlier[record] is one for record in differing), "record")
            raise _differing(one, other, f"they label {number} differently, such as {shown(differing[0])}")


def _differing(first: Review, other: Review, what: str) -> DataError:
    problem = f"{first.name} and {other.name} are both about {shown(first.query)}, but {what}"
    return DataError(problem, remedy="evaluate them one by one, or give judgments as a file of their own")
