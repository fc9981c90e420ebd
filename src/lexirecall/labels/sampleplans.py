"""Sample plans: what would show that recall is as wanted.

Belongs here: the size of a sample, and how much more to read. Not here: what a sample shows (certificates).

At most B = R(1 - w)/w relevant documents may be missed beside R found if recall is to be w. A sample shows that if its
bound of T is at most B. So c relevant documents may be in it if P(X <= c; B + 1) <= alpha, and the smallest sample in
which c may be found is the most likely one to have no more.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from lexirecall.errors import UsageError, counted
from lexirecall.labels.certificates import Certificate, ReviewCounts, most_missed, of_query, percent
from lexirecall.statistics.hypergeometric import chance_of_at_most, is_at_most, sample_needed

CHANCE = 0.8
"""How likely a planned sample is to show what is wanted, if as many are missed as assumed."""
_MANY = 1000  # finds up to which every number is tried


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """What would show that recall is as wanted.

    With the chance 0.8, if as many relevant documents are missed as assumed.
    """

    wanted: float
    assumed: int
    """T: how many relevant documents are among those not read."""
    is_shown: bool
    """Whether nothing more is needed."""
    is_further: bool
    """Whether the sample is one more, for which a look was planned, or in the place of those that were drawn."""
    sample_needed: int | None
    """The size of the sample; None if no sample shows it."""
    sample_if_none: int | None
    """The size if nothing relevant is found in it."""
    read_needed: int
    """How many more documents must be read, from the top, before a sample as large as those drawn shows it.

    It is assumed that relevant documents are spread evenly over those not read; the better the ranking, the fewer are
    needed. All that is missed is found if everything is read.
    """
    sample_then: int
    """The size of that sample."""
    why: str = ""
    """Why no sample shows it."""

    def sentences(self) -> Iterator[str]:
        """Say what is needed."""
        share = percent(self.wanted)
        if self.is_shown:
            yield f"That shows the {share} wanted"
            return
        sample = "a further sample" if self.is_further else "a sample"
        instead = ", drawn in place of this one," if self.sample_then and not self.is_further else ""
        if self.sample_needed is None:
            can = "is likely to" if self.sample_if_none else "can"
            yield f"No sample {can} show {share}: {self.why}"
        elif self.sample_needed == self.sample_if_none:
            size = counted(self.sample_needed, "document")
            yield f"To show {share}: {sample} of {size}{instead} if nothing relevant is in it"
        else:
            likely = f"of {counted(self.sample_needed, 'document')}{instead} does so with the chance {CHANCE:g}"
            none = "no size does so" if self.sample_if_none is None else f"{self.sample_if_none:,} are enough"
            yield f"To show {share}: {sample} {likely} if {self.assumed:,} were missed; {none} if it finds nothing"
        then = f", and then a sample of {self.sample_then:,}" if self.sample_then else ", without any sample"
        evenly = " (if what was missed is spread evenly; fewer if the ranking goes on to help)" if self.assumed else ""
        yield f"Or read {counted(self.read_needed, 'more document')}{then}{evenly}"


def plan(certificate: Certificate, wanted: float, assumed: int | None = None) -> SamplePlan:
    """Say how large a sample must be, or how much more must be read, to show that recall is as wanted.

    >>> from lexirecall.labels.certificates import SampleCount
    >>> reviewed = Certificate(ReviewCounts(10_000, 2_000, 190, (SampleCount(300, 0),)))
    >>> made = plan(reviewed, wanted=0.95)
    >>> made.sample_needed, made.sample_if_none, made.read_needed
    (1907, 1907, 6737)
    """
    counts = certificate.counts
    known, estimate = counts.relevant, certificate.missed_estimate
    missing = max(known, round(estimate or 0)) if assumed is None else assumed
    if not known <= missing <= counts.unread - counts.sampled + known:
        most = counts.unread - counts.sampled + known
        problem = f"{of_query(counts.query)}{missing:,} relevant documents are assumed among those not read"
        raise UsageError(f"{problem}, but the samples leave {known:,} to {most:,}", remedy="assume so many")
    is_further = certificate.looks > len(counts.samples) > 0
    alpha = certificate.alpha / (certificate.looks if is_further or not counts.samples else 1)
    size, none, why = _sample_to_show(counts, wanted, missing, alpha, is_further=is_further)
    is_shown = certificate.shows(wanted)
    return SamplePlan(
        wanted=wanted,
        assumed=missing,
        is_shown=is_shown,
        is_further=is_further,
        sample_needed=0 if is_shown else size,
        sample_if_none=0 if is_shown else none,
        read_needed=0 if is_shown else _reading_to_show(counts, wanted, missing, alpha),
        sample_then=counts.sampled,
        why="" if is_shown else why,
    )


def _sample_to_show(
    counts: ReviewCounts, wanted: float, missing: int, alpha: Fraction, *, is_further: bool
) -> tuple[int | None, int | None, str]:
    """Return the size that is likely to do, the size if nothing is found, and why there is none."""
    known = counts.relevant if is_further else 0
    population = counts.unread - (counts.sampled if is_further else 0)
    most = most_missed(counts.found, wanted)
    allowed = f"recall of {percent(wanted)} allows {most:,} to be missed beside {counts.found:,} found"
    if counts.relevant > most:
        drawn = "the sample alone holds" if len(counts.samples) == 1 else "the samples alone hold"
        return None, None, f"{drawn} {counted(counts.relevant, 'relevant document')}, and {allowed}"
    none = sample_needed(population, 0, most - known, alpha)
    if missing > most:
        shown = "" if none is None else f"; {none:,} documents without a relevant one would show it all the same"
        return None, none, f"if {missing:,} were missed, as is assumed, recall is lower: {allowed}{shown}"
    return _likely_size(population, missing - known, most - known, alpha), none, ""


def _likely_size(population: int, missing: int, most: int, alpha: Fraction) -> int | None:
    """Return the smallest sample that is likely to bound what is missed by `most`, which is not below it.

    The more may be found, the larger is the sample, and the more likely it is to have no more, but for rounding. So
    with few to find, every number is tried; with many, halving leads to one that will do while one fewer will not.
    """
    for enough in range(missing + 1 if missing <= _MANY else 0):
        if _is_likely(population, missing, enough, most, alpha):
            return sample_needed(population, enough, most, alpha)
    # more than are missed cannot be found
    enough = bisect_left(range(missing), True, key=lambda finds: _is_likely(population, missing, finds, most, alpha))
    return sample_needed(population, enough, most, alpha)


def _is_likely(population: int, missing: int, finds: int, most: int, alpha: Fraction) -> bool:
    """Tell whether the smallest sample in which so many may be found is likely to have no more."""
    size = sample_needed(population, finds, most, alpha)
    return size is not None and chance_of_at_most(population, missing, size, finds) >= CHANCE


def _reading_to_show(counts: ReviewCounts, wanted: float, missing: int, alpha: Fraction) -> int:
    """Return how many more documents must be read, by halving: so many do, and one fewer does not."""
    sizes = range(1, counts.unread)
    return 1 + bisect_left(sizes, True, key=lambda more: _is_likely_after(more, counts, wanted, missing, alpha))


def _is_likely_after(more: int, counts: ReviewCounts, wanted: float, missing: int, alpha: Fraction) -> bool:
    """Tell whether a sample is likely to show recall as wanted after so many more documents were read."""
    left = counts.unread - more
    size = min(counts.sampled, left)
    still = -(-missing * left // counts.unread)  # rounded up
    most = most_missed(counts.found + missing - still, wanted)
    if most >= left:
        return True
    finds = range(size + 1)
    allowed = bisect_left(finds, True, key=lambda x: not is_at_most(left, most + 1, size, x, alpha)) - 1
    return allowed >= 0 and chance_of_at_most(left, still, size, allowed) >= CHANCE
