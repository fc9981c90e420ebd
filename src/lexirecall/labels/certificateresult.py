"""Results of certify: the certificates of one or more reviews, as people and programs read them.

Belongs here: rows, tables and sentences. Not here: what they say (certificates, sampleplans).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lexirecall.errors import choice, counted
from lexirecall.labels.certificates import Certificate, RecallBounds, percent, rounded_down
from lexirecall.labels.sampleplans import SamplePlan
from lexirecall.manifest import Note
from lexirecall.notebook import CellPart, DisplayedResult
from lexirecall.tables import FORMATS, Table, number, render, whole
from lexirecall.text import visible

COLUMNS = (
    "kind", "query", "corpus_size", "read", "found", "samples", "sample", "relevant", "looks", "confidence",
    "recall_low", "low", "high", "estimate", "added_recall_low", "added_low", "added_high", "missed_most", "missed_low",
    "missed_high", "missed_estimate", "wanted", "shown", "assumed", "sample_needed", "sample_if_none", "read_needed",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Certificates(DisplayedResult):
    """What samples show of the recall of each review."""

    each: tuple[Certificate, ...]
    plans: tuple[SamplePlan | None, ...]
    """What would show that recall is as wanted; None if nothing is wanted."""
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        return len(self.each)

    def __iter__(self) -> Iterator[Certificate]:
        return iter(self.each)

    def __getitem__(self, index: int) -> Certificate:
        return self.each[index]

    def __repr__(self) -> str:
        return f"<Certificates: {counted(len(self), 'query')}>" if len(self) > 1 else f"<Certificates: {self[0]}>"

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give a row for each review."""
        for certificate, plan in zip(self.each, self.plans, strict=True):
            counts, missed = certificate.counts, certificate.missed
            bounds, added = certificate.bounds, certificate.bounds_added
            yield {
                "kind": "certificate",
                "query": counts.query,
                "corpus_size": counts.corpus_size,
                "read": counts.read,
                "found": counts.found,
                "samples": len(counts.samples),
                "sample": counts.sampled,
                "relevant": counts.relevant,
                "looks": certificate.looks,
                "confidence": certificate.confidence,
                **bounds._asdict(),
                "estimate": certificate.estimate,
                **{f"added_{name}": value for name, value in added._asdict().items()},
                "missed_most": missed.most,
                "missed_low": missed.low,
                "missed_high": missed.high,
                "missed_estimate": certificate.missed_estimate,
                "wanted": None if plan is None else plan.wanted,
                "shown": None if plan is None else plan.is_shown,
                "assumed": None if plan is None else plan.assumed,
                "sample_needed": None if plan is None else plan.sample_needed,
                "sample_if_none": None if plan is None else plan.sample_if_none,
                "read_needed": None if plan is None else plan.read_needed,
            }

    def sentences(self) -> list[str]:
        """Say what is certain, and what more would be needed."""
        if len(self) == 1:
            (plan,) = self.plans
            return [self[0].sentence(), *(plan.sentences() if plan else ())]
        sure = f"With {percent(self[0].confidence)} confidence in each"
        lows = [(certificate.bounds.recall_low, str(certificate.counts.query)) for certificate in self]
        known = sorted((low, query) for low, query in lows if low is not None)
        if not known:
            return [f"None of {counted(len(self), 'query')} has anything to find"]
        (least, worst), (most, best) = known[0], known[-1]
        ends = f"at least {rounded_down(least)} (query {worst}) to {rounded_down(most)} (query {best})"
        wanted = [plan for plan in self.plans if plan is not None]
        sentences = [f"{sure} of {counted(len(self), 'query')}, recall is {ends}"]
        if wanted:
            shown = sum(plan.is_shown for plan in wanted)
            sentences.append(f"{percent(wanted[0].wanted)} is shown for {shown:,} of them")
        return sentences

    def table(self) -> Table:
        """Lay out the numbers: of one review by what they are about, of several review by review."""
        return self._of_one(self[0]) if len(self) == 1 and self[0].counts.query is None else self._of_each()

    def _of_one(self, certificate: Certificate) -> Table:
        missed, confidence = certificate.missed, percent(certificate.confidence)
        rows = (
            ("recall", _share(certificate.estimate), *_cells(certificate.bounds)),
            ("recall, finds of samples added", "-", *_cells(certificate.bounds_added)),
            ("relevant, not read", _share(certificate.missed_estimate, 1), *map(whole, missed[:3])),
        )
        header = ("", "estimate", "one-sided", "low", "high")
        footnote = f"one-sided: with {confidence} confidence recall is at least this, and no more were missed"
        return Table(header, rows, footnote=f"{footnote}; low and high: {confidence} interval")

    def _of_each(self) -> Table:
        header = ("query", "documents", "read", "found", "sample", "relevant", "recall", "at least", "low", "high",
                  "with finds, at least", *(("sample needed", "read needed") if self.plans[0] else ()))  # fmt: skip
        rows = []
        for certificate, plan in zip(self.each, self.plans, strict=True):
            counts = certificate.counts
            sizes = (counts.corpus_size, counts.read, counts.found, counts.sampled, counts.relevant)
            needed = () if plan is None else (whole(plan.sample_needed), whole(plan.read_needed))
            added = _share(certificate.bounds_added.recall_low)
            cells = (*map(whole, sizes), _share(certificate.estimate), *_cells(certificate.bounds), added, *needed)
            rows.append((str(counts.query), *cells))
        confidence = percent(self[0].confidence)
        footnote = (
            f"at least: one-sided, with {confidence} confidence in each query; low and high: {confidence} interval"
        )
        return Table(header, tuple(rows), footnote=footnote)

    def to_text(self, *, bold: bool = False) -> str:
        """Lay everything out for a terminal."""
        first, *others = (visible(f"{sentence}.") for sentence in self.sentences())
        head = "\n".join([f"\x1b[1m{first}\x1b[0m" if bold else first, *others])
        return f"{head}\n\n{self.table().to_text(bold=bold)}"

    def render(self, form: str = "table", *, bold: bool = False, raw: bool = False) -> str:
        """Return it in one of the formats of the command line."""
        choice("format", form, FORMATS)
        if form == "table":
            return self.to_text(bold=bold)
        return render(form, self.table(), self.rows(), COLUMNS, bold=bold, raw=raw)

    def __str__(self) -> str:
        return "\n".join([self.to_text(), *(f"note: {visible(note.text)}" for note in self.notes)])

    def _parts(self) -> Iterator[CellPart]:
        yield from (f"{sentence}." for sentence in self.sentences())
        yield self.table()


def _cells(bounds: RecallBounds) -> list[str]:
    return [_share(bound) for bound in bounds]


def _share(value: float | None, decimals: int = 4) -> str:
    return number(math.nan if value is None else value, decimals)
