"""Samples: what was read of each ranking, what was sampled of the rest, and drawing such a sample.

Belongs here: counting from judgments, a run and files of samples, and the file of a sample to fill in. Not here: what
the counts show (certificates).

All that was read must be judged, or nobody knows how much was found. A sampled document was not read, and is in no
other sample. A simple random sample makes every set of that size as likely, so a query is sampled by its own random
numbers: they follow from the seed and its id, whatever other queries there are.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np

from lexirecall.errors import DataError, FormatError, UsageError, counted, listed, shown
from lexirecall.fields import taken, takes
from lexirecall.formats import Qrels, corpus_sizes, load_judgments
from lexirecall.formats.listing import load_lists
from lexirecall.formats.naming import Run
from lexirecall.formats.wholelists import Lists, RunLists
from lexirecall.judgments import Judgments
from lexirecall.labels.certificates import ReviewCounts, SampleCount
from lexirecall.labels.depths import check_whole, load_depths
from lexirecall.manifest import READING, Note, Policies
from lexirecall.preferences import LEXI_RECALL
from lexirecall.tables import to_delimited
from lexirecall.text import to_text
from lexirecall.verbs.notes import extra_fields, without_grades

__all__ = ["DrawnSample", "draw_sample"]

COLUMNS = ("query_id", "doc_id", "grade")
"""Of the file to fill in, which is then read as judgments."""
_REMEDY = "a sample is drawn from the ranking, below what was read, and all of it is judged"


@dataclass(frozen=True, slots=True)
class ReviewedSamples:
    """The counts of each review, and what is to be said about them."""

    counts: tuple[ReviewCounts, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class _StoppedRanking:
    """One query: a ranking of which the first documents were read."""

    query: int
    ranking: Sequence[bytes]
    depth: int
    corpus_size: int

    @property
    def read(self) -> Sequence[bytes]:
        return self.ranking[: self.depth]


@dataclass(frozen=True, slots=True)
class _StoppedRankings:
    """What was read of one run."""

    judgments: Judgments
    rankings: tuple[_StoppedRanking, ...]
    has_sizes: bool
    """Whether corpus sizes are given; otherwise the ranking is the corpus."""
    notes: tuple[Note, ...]

    def name(self, review: _StoppedRanking) -> str:
        return self.judgments.queries[review.query]

    def counted(self, policies: Policies) -> "_StoppedRankings":
        """Return those of queries that count; a review that has found nothing is one too."""
        is_eligible = replace(policies, no_relevant="zero").eligible(self.judgments, LEXI_RECALL)
        kept = tuple(review for review in self.rankings if is_eligible[review.query])
        left_out = len(self.rankings) - len(kept)
        note = Note("no relevant document", f"{counted(left_out, 'query')} {policies.ineligible}: left out", left_out)
        return replace(self, rankings=kept, notes=(*self.notes, note) if left_out else self.notes)


def count_reviews(
    qrels: Qrels, run: Run, read: Any, sampled: Any, policies: Policies, options: Mapping[str, Any]
) -> ReviewedSamples:
    """Count what each query has read, found and sampled; name everything that does not fit together."""
    reviews, level = _read_reviews(qrels, run, read, options), policies.level
    samples = _load_samples(sampled, options)
    problems = [*_unjudged(reviews), *_misplaced(reviews, samples)]
    reviews, all_counts = reviews.counted(policies), []
    for review in reviews.rankings:
        sample_counts, wrong = _samples_of(reviews, review, samples, level)
        problems += wrong
        if not problems:
            found = sum(_grades(reviews.judgments, review.query, review.read, level))
            counts = ReviewCounts(review.corpus_size, review.depth, found, tuple(sample_counts), reviews.name(review))
            all_counts.append(counts)
    if problems:
        remedy = "if QRELS lists only what is relevant, give --corpus-size, --read, --found, --sample and --relevant"
        raise DataError("; ".join(problems), remedy=remedy if "without a judgment" in problems[0] else _REMEDY)
    notes = *reviews.notes, *_on_corpus(reviews, level), *_unsampled(all_counts), *_only_ranked(reviews, samples)
    return ReviewedSamples(tuple(all_counts), notes)


def _load_samples(sampled: Any, options: Mapping[str, Any]) -> list[Judgments]:
    """Take one form of judgments, or several; all of a sample must be judged."""
    several = [] if sampled is None else [*sampled] if isinstance(sampled, (list, tuple)) else [sampled]
    try:
        return [load_judgments(sample, options.get("columns")) for sample in several]
    except FormatError as error:
        if "grade is missing" not in error.problem:
            raise
        remedy = "judge every document of the sample: one that is left out may be the one that counts"
        raise FormatError(error.source, error.line, "a sampled document has no grade", remedy=remedy) from None


def _read_reviews(qrels: Qrels, run: Run, read: Any, options: Mapping[str, Any]) -> _StoppedRankings:
    """Read one run with how much of it was read."""
    check_whole(options)
    if options.get("units") is not None:
        raise UsageError("units are given, but a certificate counts documents", remedy="leave them out")
    lists = load_lists(qrels, run, purpose="to know what was read", **options)
    if len(lists.runs) > 1:
        problem = f"{len(lists.runs)} runs are given, but a certificate is about one"
        raise UsageError(problem, remedy="give one run, or --stops to compare where reviews stopped")
    sizes = corpus_sizes(options.get("corpus_size"))
    query_sizes = sizes(lists.judgments.queries).tolist() if callable(sizes) else [sizes] * len(lists.judgments.queries)
    (only_run,) = lists.runs
    depths = load_depths(read)
    rankings, short = [], 0
    for q, (query, (ranking,)) in enumerate(lists):
        depth = depths.of(only_run.name, query)
        if ranking is None or depth is None:
            continue
        short += depth > len(ranking)
        n = query_sizes[q] or len(ranking)
        if n < len(ranking):
            problem = f"the corpus of query {shown(query)} has {n:,} documents, but its ranking {len(ranking):,}"
            raise DataError(problem, remedy="give the size of the whole corpus")
        rankings.append(_StoppedRanking(q, ranking, min(depth, len(ranking)), n))
    if not rankings:
        raise DataError(f"{depths.name}: no judged query has a depth", remedy="are the ids written the same way?")
    return _StoppedRankings(
        lists.judgments, tuple(rankings), sizes is not None, tuple(_notes(lists, only_run, len(rankings), short))
    )


def _notes(lists: Lists, run: RunLists, num_reviews: int, short: int) -> Iterator[Note]:
    if left_out := len(lists.judgments.queries) - num_reviews:
        text = f"{counted(left_out, 'judged query')} left out: not in the run, or without a depth"
        yield Note("not reviewed", text, left_out)
    if run.unjudged:
        text = f"{counted(len(run.unjudged), 'query')} of the run left out: without judgments"
        yield Note("without judgments", text, len(run.unjudged))
    if run.num_duplicates:
        text = f"{counted(run.num_duplicates, 'line')} left out: they repeat a document of the same query"
        yield Note("duplicates", text, run.num_duplicates)
    if run.num_extra:
        yield extra_fields(run.num_extra, "", "; --strict refuses them")
    if not lists.judgments.has_grades:
        yield without_grades(lists.judgments.name, len(lists.judgments.grades))
    if short:
        text = f"{counted(short, 'ranking')} shorter than what was to be read: read to the end"
        yield Note("short", text, short)


def _unjudged(reviews: _StoppedRankings) -> Iterator[str]:
    """Say how many read documents nobody judged."""
    names, total = [], 0
    for review in reviews.rankings:
        lookup, grades = reviews.judgments.lookup(review.query), reviews.judgments.grades
        missing = [document for document in review.read if document not in lookup or grades[lookup[document]] < 0]
        total += len(missing)
        names += [f"{to_text(document)} of query {reviews.name(review)}" for document in missing[:3]]
    if total:
        yield f"{counted(total, 'document')} among those read without a judgment ({listed(names, 3, total)})"


def _misplaced(reviews: _StoppedRankings, samples: Sequence[Judgments]) -> Iterator[str]:
    """Say which sampled queries were not read at all."""
    known = {reviews.judgments.query_ids[review.query] for review in reviews.rankings}
    for sample in samples:
        strange = [name for name, query in zip(sample.queries, sample.query_ids, strict=True) if query not in known]
        if strange:
            yield f"{sample.name} has {counted(len(strange), 'query')} of which nothing was read ({listed(strange, 3)})"


def _samples_of(
    reviews: _StoppedRankings, review: _StoppedRanking, samples: Sequence[Judgments], level: float
) -> tuple[list[SampleCount], list[str]]:
    """Count the samples of one query, and say what is wrong with them."""
    query = reviews.judgments.query_ids[review.query]
    read, ranked = frozenset(review.read), frozenset(review.ranking)
    seen: set[bytes] = set()
    counts, wrong = [], []
    for sample in samples:
        q = sample.index.get(query)
        documents = [] if q is None else [*sample.lookup(q)]
        labels = (sample, q) if sample.has_grades else (reviews.judgments, review.query)
        lookup, grades = labels[0].lookup(labels[1]) if documents and labels[1] is not None else {}, labels[0].grades
        outside = [document for document in documents if document not in ranked]
        kinds = {
            "that were read": [document for document in documents if document in read],
            "that an earlier sample holds": [document for document in documents if document in seen],
            "that are not in the ranking": [] if reviews.has_sizes else outside,
            "that are more than the corpus has": outside[max(review.corpus_size - len(ranked), 0) :]
            if reviews.has_sizes
            else [],
            "without a grade": [
                document for document in documents if document not in lookup or grades[lookup[document]] < 0
            ],
        }
        for what, those in kinds.items():
            if those:
                whose = f"{len(those):,} of query {reviews.name(review)} in {sample.name}"
                wrong.append(f"sampled documents {what}: {whose} ({listed(map(to_text, those), 3)})")
        seen.update(documents)
        counts.append(
            SampleCount(len(documents), sum(_grades(labels[0], labels[1], documents, level)) if not wrong else 0)
        )
    return counts, wrong


def _documents_in(samples: Sequence[Judgments], query: bytes) -> set[bytes]:
    """Return what the samples hold of one query."""
    places = [(sample, sample.index.get(query)) for sample in samples]
    return {document for sample, q in places if q is not None for document in sample.lookup(q)}


def _grades(judgments: Judgments, query: int | None, documents: Iterable[bytes], level: float) -> Iterator[bool]:
    """Tell of each document whether it is relevant."""
    lookup = {} if query is None else judgments.lookup(query)
    return (bool(judgments.grades[lookup[document]] >= level) for document in documents)


def _unsampled(counts: Sequence[ReviewCounts]) -> Iterator[Note]:
    if without := sum(1 for review in counts if review.samples and review.unread and not review.sampled):
        text = f"{counted(without, 'query')} without a sampled document: only what was read is certain there"
        yield Note("without a sample", text, without)


def _on_corpus(reviews: _StoppedRankings, level: float) -> Iterator[Note]:
    """Say what recall is about if the rankings are taken to be the corpus, and what speaks against that."""
    if reviews.has_sizes:
        return
    text = "recall is about the documents that the rankings hold (--corpus-size N if there are others)"
    judgments, elsewhere = reviews.judgments, 0
    for review in reviews.rankings:
        lookup = judgments.lookup(review.query)
        others = lookup.keys() - {*review.ranking}
        elsewhere += sum(1 for document in others if judgments.grades[lookup[document]] >= level)
    if elsewhere:
        text += f"; QRELS name {counted(elsewhere, 'relevant document')} that they do not hold"
    yield Note("corpus", text, elsewhere)


def _only_ranked(reviews: _StoppedRankings, samples: Sequence[Judgments]) -> Iterator[Note]:
    """Warn of samples that were not drawn from the whole corpus, as it seems."""
    suspicious = 0
    for review in reviews.rankings:
        query, ranked = reviews.judgments.query_ids[review.query], {*review.ranking}
        drawn = _documents_in(samples, query)
        suspicious += bool(drawn) and review.corpus_size > len(ranked) and drawn <= ranked
    if suspicious:
        text = (
            f"{counted(suspicious, 'query')} whose corpus is larger than the ranking, but whose sample is of ranked "
            "documents only: a sample that was not drawn from all that was not read certifies nothing"
        )
        yield Note("sample", text, suspicious)


# Drawing


@dataclass(frozen=True, slots=True)
class DrawnSample:
    """A simple random sample of what was not read, to be judged."""

    rows: tuple[tuple[str, str], ...]
    """Query and document; those of a query in random order, so that their ranks do not show."""
    notes: tuple[Note, ...]

    def to_csv(self, *, raw: bool = False) -> str:
        """Return a file to fill in: the column of grades is empty."""
        rows = ({"query_id": query, "doc_id": document, "grade": None} for query, document in self.rows)
        return to_delimited(rows, COLUMNS, ",", raw=raw)


@takes(Policies, *READING, warns=True)
def draw_sample(
    qrels: Qrels, run: Run, size: int, *, read: Any, sampled: Any = None, seed: int = 0, **options: Any
) -> DrawnSample:
    """Draw a simple random sample of what was not read of each ranking, as a file to fill in.

    `read` is as in `lexirecall.certify`. What earlier samples hold is not drawn again. If fewer documents are left,
    all of them are drawn.

    >>> ranking = {"q": ["a", "b", "c", "d", "e", "f"]}
    >>> print(draw_sample({"q": {"a": 1, "b": 0}}, ranking, 2, read=2, seed=1).to_csv())
    query_id,doc_id,grade
    q,f,
    q,c,
    """
    policies = taken(Policies, options)
    if not hasattr(size, "__index__") or size < 1:
        raise UsageError(f"a sample of {size!r} documents", remedy="draw 1 or more")
    reviews = _read_reviews(qrels, run, read, options)
    earlier = _load_samples(sampled, options)
    if problems := list(_misplaced(reviews, earlier)):
        raise DataError("; ".join(problems), remedy="are the ids written the same way?")
    reviews, rows, few = reviews.counted(policies), [], 0
    for review in reviews.rankings:
        query = reviews.judgments.query_ids[review.query]
        gone = _documents_in(earlier, query)
        rest = [document for document in review.ranking[review.depth :] if document not in gone]
        if review.corpus_size > len(review.ranking):
            problem = f"the ranking of query {shown(query)} has {len(review.ranking):,} documents"
            problem += f" of {review.corpus_size:,}, so that those not in it could not be drawn"
            raise DataError(problem, remedy="rank the whole corpus, or leave out the corpus size if the ranking is it")
        few += len(rest) < size
        # crc32 is the same in every process, unlike hash(). A further sample with the same seed is another draw.
        drawn = np.random.default_rng([seed, len(earlier), crc32(query)]).permutation(len(rest))[:size]
        rows += [(reviews.name(review), to_text(rest[at])) for at in drawn.tolist()]
    return DrawnSample(tuple(rows), (*reviews.notes, *_few(few, size)))


def _few(few: int, size: int) -> Iterator[Note]:
    if few:
        text = f"{counted(few, 'query')} with fewer than {size:,} documents left: all of them are drawn"
        yield Note("few left", text, few)
