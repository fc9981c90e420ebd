"""Certificates: how much of what is relevant a review has surely found, given a random sample of what it did not read.

Belongs here: the counts of one review, and what they show. Not here: what more would be needed (sampleplans), counting
from files (samples), bounds of one sample (`statistics.hypergeometric`), tables (certificateresult).

A review of n documents has read k of them and found R relevant ones. T of the M = n - k others are relevant, so that
its recall is R/(R + T), or (R + x)/(R + T) once the x finds of the sample are added. A further sample is drawn from
what the earlier ones have left. Each of L planned looks has alpha/L, and every bound holds at once: T is within all.

If nothing was found, recall is 0, unless nothing is relevant at all; then it is not defined.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from lexirecall.errors import UsageError
from lexirecall.notebook import CellPart, NotebookDisplay
from lexirecall.statistics.hypergeometric import exact_share, fewest_relevant, most_relevant


class SampleCount(NamedTuple):
    """A simple random sample of what was not read, or of what earlier samples have left of it."""

    size: int
    relevant: int


@dataclass(frozen=True, slots=True)
class ReviewCounts:
    """What a review has read, and what was sampled of the rest.

    >>> ReviewCounts(corpus_size=100, read=20, found=30, samples=(SampleCount(90, 7),))
    Traceback (most recent call last):
    lexirecall.errors.UsageError: 30 found, but only 20 read; a sample of 90, but only 80 were not read
      count each document once: read before the stop, or sampled from the rest
    """

    corpus_size: int
    read: int
    found: int
    samples: tuple[SampleCount, ...] = ()
    query: str | None = None

    def __post_init__(self) -> None:
        if problems := list(self._problems()):
            remedy = "count each document once: read before the stop, or sampled from the rest"
            raise UsageError(of_query(self.query) + "; ".join(problems), remedy=remedy)

    def _problems(self) -> Iterator[str]:
        if self.read > self.corpus_size:
            yield f"{self.read:,} read, but the corpus has {self.corpus_size:,}"
        if self.found > self.read:
            yield f"{self.found:,} found, but only {self.read:,} read"
        left = self.corpus_size - self.read
        for number, (size, relevant) in enumerate(self.samples):
            if size > left >= 0:
                rest = "were left by the samples before" if number else "were not read"
                yield f"a sample of {size:,}, but only {left:,} {rest}"
            if relevant > size:
                yield f"{relevant:,} relevant in a sample of {size:,}"
            left -= size

    @property
    def unread(self) -> int:
        """M, how many documents were not read."""
        return self.corpus_size - self.read

    @property
    def sampled(self) -> int:
        """How many of these were sampled."""
        return sum(sample.size for sample in self.samples)

    @property
    def relevant(self) -> int:
        """How many of the sampled ones are relevant."""
        return sum(sample.relevant for sample in self.samples)


class MissedBounds(NamedTuple):
    """Bounds of T, the number of relevant documents that were not read."""

    most: int
    """One-sided."""
    low: int
    high: int
    """Of the interval with equal tails."""
    is_consistent: bool = True
    """Whether the samples agree: if not, no T is within the bounds of each."""


def bound_missed(counts: ReviewCounts, alpha: Fraction, looks: int) -> MissedBounds:
    """Bound T by every sample at its share of alpha.

    >>> counts = ReviewCounts(5000, 1000, 190, (SampleCount(400, 1), SampleCount(300, 0)))
    >>> bound_missed(counts, Fraction(1, 20), looks=2)
    MissedBounds(most=43, low=1, high=51, is_consistent=True)
    """
    share = alpha / looks
    known, left = 0, counts.unread
    mosts, lows, highs = [], [], []
    for size, relevant in counts.samples:
        mosts.append(known + most_relevant(left, size, relevant, share))
        highs.append(known + most_relevant(left, size, relevant, share / 2))
        lows.append(known + fewest_relevant(left, size, relevant, share / 2))
        known, left = known + relevant, left - size
    at_least, at_most = known, known + left  # certain, whatever the bounds are
    if not mosts:
        return MissedBounds(at_most, at_least, at_most)
    most, low, high = min(mosts), max(lows), min(highs)
    if is_consistent := max(low, at_least) <= min(most, high):
        return MissedBounds(most, max(low, at_least), high)
    # No T is within all bounds, and one of them must be wrong: what is within any of them holds the truth as often.
    return MissedBounds(max(*mosts, at_least), max(min(lows), at_least), max(*highs, at_least), is_consistent)


def recall_of(found: float, missed: float) -> float | None:
    """Return found/(found + missed), None if there is nothing to find.

    >>> recall_of(19, 1), recall_of(0, 3), recall_of(0, 0)
    (0.95, 0.0, None)
    """
    return found / (found + missed) if found + missed else None


class RecallBounds(NamedTuple):
    """Bounds of recall; None if there is nothing to find."""

    recall_low: float | None
    """One-sided."""
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Certificate(NotebookDisplay):
    """What a sample shows of the recall of one review.

    >>> certificate = Certificate(ReviewCounts(10_000, 2_000, 190, (SampleCount(1_000, 1),)))
    >>> round(certificate.bounds.recall_low, 4), certificate.missed.most
    (0.8444, 35)
    >>> print(certificate.sentence())
    With 95% confidence at least 84.4% of the relevant documents were found: at most 35 are among the 8,000 not read
    """

    counts: ReviewCounts
    confidence: float = 0.95
    looks: int = 1
    """How many samples were planned, each with its share of alpha."""

    @property
    def alpha(self) -> Fraction:
        """The chance that the certificate is wrong."""
        return 1 - exact_share(self.confidence)

    @cached_property
    def missed(self) -> MissedBounds:
        """Bounds of the number of relevant documents that were not read."""
        return bound_missed(self.counts, self.alpha, self.looks)

    @property
    def bounds(self) -> RecallBounds:
        """Bounds of the recall of what was read."""
        return self._bounds(0)

    @property
    def bounds_added(self) -> RecallBounds:
        """The same if the finds of the samples are added to what was found."""
        return self._bounds(self.counts.relevant)

    def _bounds(self, added: int) -> RecallBounds:
        found = self.counts.found + added
        most, low, high = (max(bound - added, 0) for bound in self.missed[:3])
        if found == 0:  # there is a recall only if something is missed
            low = max(low, min(1, high))
        return RecallBounds(recall_of(found, most), recall_of(found, high), recall_of(found, low))

    @property
    def missed_estimate(self) -> float | None:
        """The number of relevant documents not read if the rest were as the samples are; None without a sample."""
        counts = self.counts
        return counts.relevant / counts.sampled * counts.unread if counts.sampled else None

    @property
    def estimate(self) -> float | None:
        """Recall if so many are missed."""
        missed = self.missed_estimate
        return None if missed is None else recall_of(self.counts.found, missed)

    def shows(self, wanted: float) -> bool:
        """Tell whether the one-sided bound of recall reaches what is wanted."""
        return self.missed.most <= most_missed(self.counts.found, wanted)

    def _parts(self) -> Iterable[CellPart]:
        from lexirecall.labels.certificateresult import Certificates  # not on top: it lays out what is here

        return Certificates((self,), (None,))._parts()

    def sentence(self) -> str:
        """Say what is certain."""
        counts, most = self.counts, self.missed.most
        sure = f"With {percent(self.confidence)} confidence"
        rest = f"among the {counts.unread:,} not read"
        are = "is" if most == 1 else "are"
        if counts.found + most == 0:
            return "Nothing is relevant, so that there is no recall"
        if counts.found == 0:
            return f"Nothing was found, so recall is 0 if anything is relevant. {sure} at most {most:,} {are} {rest}"
        if most == 0:
            return f"All relevant documents were found: none is {rest}"
        found = f"{rounded_down(self.bounds.recall_low or 0)} of the relevant documents were found"
        if counts.sampled == counts.unread:
            return f"{found}: {most:,} {are} {rest}, all of which were sampled"
        if not counts.sampled:
            sure = "Without a sample it is only certain that"
            return f"{sure} at least {found}: all {counts.unread:,} not read may be relevant"
        return f"{sure} at least {found}: at most {most:,} {are} {rest}"


def most_missed(found: int, wanted: float) -> int:
    """Return the most relevant documents that may be missed if recall is to be as wanted: found (1 - w)/w.

    >>> most_missed(190, 0.95), most_missed(189, 0.95)
    (10, 9)
    """
    share = exact_share(wanted)
    # Exact: a float just below a whole number would allow one document less.
    return int(found * (1 - share) / share)


def of_query(query: str | None) -> str:
    """Begin a message about one query."""
    return "" if query is None else f"query {query!r}: "


def percent(share: float) -> str:
    """Write a share as a percentage, with the digits that it has.

    >>> percent(0.95), percent(0.995), percent(0.8)
    ('95%', '99.5%', '80%')
    """
    return f"{float(100 * exact_share(share)):.6g}%"


def rounded_down(share: float) -> str:
    """Write a lower bound with one decimal, never above what it is.

    >>> rounded_down(0.94999), rounded_down(0.95), rounded_down(1.0)
    ('94.9%', '95.0%', '100.0%')
    """
    tenths = int(1000 * exact_share(share))
    return f"{tenths // 10}.{tenths % 10}%"
