"""Certification: the verb that says how much of what is relevant was surely found.

Belongs here: the record of options, the verb, and the check of counts that are given as numbers. Not here: what counts
show (certificates), counting from files (samples).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from numbers import Integral
from typing import Any

from lexirecall.errors import UsageError, counted, is_several
from lexirecall.fields import option, taken, takes
from lexirecall.formats import Qrels
from lexirecall.formats.naming import Run
from lexirecall.labels.certificateresult import Certificates
from lexirecall.labels.certificates import Certificate, ReviewCounts, SampleCount
from lexirecall.labels.sampleplans import plan
from lexirecall.labels.samples import ReviewedSamples, count_reviews
from lexirecall.manifest import MOST_DOCUMENTS, READING, Note, Policies

_FORMS = "give corpus_size, read and found as numbers, or judgments, a run, read and sampled"


@dataclass(frozen=True, slots=True)
class CertificateOptions:
    """How sure a certificate must be, and what it is to show.

    >>> CertificateOptions(confidence=95)
    Traceback (most recent call last):
    lexirecall.errors.UsageError: confidence is 95, but must be above 0 and below 1
      95% is 0.95
    """

    confidence: float = field(
        default=0.95, metadata=option("Chance that the certificate of a query is right.", "number", metavar="C")
    )
    wanted: float | None = field(
        default=None,
        metadata=option(
            "Recall that is wanted: say how large a sample would show it, or how much more to read. With --stops, the "
            "recall to reach. [default with --stops: 0.95]",
            "number",
            metavar="W",
        ),
    )
    assume: int | None = field(
        default=None,
        metadata=option(
            "With --wanted: assume so many relevant documents among those not read. [default: as many as the sample "
            "suggests]",
            "whole",
            metavar="T",
        ),
    )
    looks: int | None = field(
        default=None,
        metadata=option(
            "How many samples are planned at most, counting those drawn; each is tested at its share. [default: those "
            "drawn]",
            "whole",
            least=1,
            metavar="L",
        ),
    )

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            problem = f"confidence is {self.confidence:g}, but must be above 0 and below 1"
            raise UsageError(problem, remedy="95% is 0.95")
        if self.wanted is not None and not 0 < self.wanted <= 1:
            raise UsageError(f"wanted is {self.wanted:g}, but must be above 0 and at most 1", remedy="95% is 0.95")
        if self.wanted is None and self.assume is not None:
            raise UsageError("assume is given, but not what recall is wanted", remedy="add --wanted 0.95")
        for name in ("assume", "looks"):
            if (value := getattr(self, name)) is not None:
                check_counts([(name, value, 1 if name == "looks" else 0)])


def check_counts(counts: Iterable[tuple[str, object, int]]) -> None:
    """Raise if any of these, named and with the least that each may be, is not a whole number; name all that are not.

    >>> check_counts([("read", 2.5, 0), ("found", -1, 0), ("corpus_size", 9, 1)])
    Traceback (most recent call last):
    lexirecall.errors.UsageError: read is 2.5 and found is -1, but counts must be whole numbers, 0 or more
    """
    wrong = [(name, value, least) for name, value, least in counts if not _is_count(value, least)]
    if wrong:
        values = " and ".join(f"{name} is {value!r}" for name, value, _ in wrong)
        problem = f"{values}, but counts must be whole numbers, {min(least for *_, least in wrong)} or more"
        raise UsageError(problem)


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= MOST_DOCUMENTS


@takes(CertificateOptions, Policies, *READING, warns=True)
def certify(
    qrels: Qrels | None = None,
    run: Run | None = None,
    *,
    read: Any = None,
    found: int | None = None,
    sample: int | Sequence[int] | None = None,
    relevant: int | Sequence[int] | None = None,
    sampled: Any = None,
    **options: Any,
) -> Certificates:
    r"""Say how much of what is relevant was surely found when a review stopped, from a random sample of the rest.

    `read` of `corpus_size` documents were read, and `found` of them are relevant. Of those not read, `sample` were
    drawn at random, their number fixed beforehand, and `relevant` of these are relevant. If samples were drawn one
    after the other, each from what was left, give lists; `looks` says how many were planned. `wanted` asks what more
    would show such a recall, if as many relevant documents as `assume` were not read.

    >>> made = certify(corpus_size=10_000, read=2_000, found=190, sample=1_500, relevant=0, wanted=0.95)
    >>> print(*made.sentences(), sep="\n")
    With 95% confidence at least 93.1% of the relevant documents were found: at most 14 are among the 8,000 not read
    To show 95%: a sample of 1,907 documents, drawn in place of this one, if nothing relevant is in it
    Or read 1,704 more documents, and then a sample of 1,500
    >>> round(made[0].bounds.recall_low, 4), made.plans[0].sample_needed
    (0.9314, 1907)

    Or give judgments and one run, whose first `read` documents were read for each query: a number, {query: number}, or
    a file of lines `query number`. `sampled` is one or more samples with their judgments, in any form of judgments; if
    they have no grades, those of `qrels` count. Each query is a review, and `corpus_size` is the length of its ranking
    unless it is given. The other arguments are those of `evaluate`.

    >>> qrels = {"q": {"a": 1, "b": 0}}
    >>> made = certify(qrels, {"q": ["a", "b", "c", "d", "e", "f"]}, read=2, sampled={"q": {"d": 0, "f": 0}})
    >>> made[0].counts.found, made[0].missed.most
    (1, 2)
    """
    certifying = taken(CertificateOptions, options)
    if qrels is None and run is None:
        numbers = {"read": read, "found": found, "sample": sample, "relevant": relevant}
        if extra := [name for name, value in options.items() if name != "corpus_size" and not _is_default(name, value)]:
            raise UsageError(f"{', '.join(extra)} is about files, but counts are given", remedy=_FORMS)
        reviewed = ReviewedSamples((_given_counts(options.get("corpus_size"), sampled, numbers),), ())
    else:
        policies = taken(Policies, options)
        _check_files(qrels, run, read, {"found": found, "sample": sample, "relevant": relevant})
        reviewed = count_reviews(qrels, run, read, sampled, policies, options)  # type: ignore[arg-type]
    return _certified(reviewed, certifying)


def _is_default(name: str, value: object) -> bool:
    defaults = {setting.name: setting.default for record in (Policies, *READING) for setting in fields(record)}
    return bool(value == defaults[name]) or name == "show_progress"


def _certified(reviewed: ReviewedSamples, certifying: CertificateOptions) -> Certificates:
    certificates = []
    for counts in reviewed.counts:
        drawn = len(counts.samples)
        looks = max(drawn, 1) if certifying.looks is None else certifying.looks
        if looks < drawn:
            problem = f"{counted(drawn, 'sample')} given, but only {looks} planned"
            raise UsageError(problem, remedy="a look that was not planned makes the confidence too high: plan for all")
        certificates.append(Certificate(counts, certifying.confidence, looks))
    wanted = certifying.wanted
    plans = [None if wanted is None else plan(one, wanted, certifying.assume) for one in certificates]
    return Certificates(tuple(certificates), tuple(plans), (*reviewed.notes, *_notes(certificates)))


def _notes(certificates: Sequence[Certificate]) -> Iterator[Note]:
    if certificates and (looks := certificates[0].looks) > 1:
        share = certificates[0].alpha / looks
        text = f"{looks} looks are planned: each is at {float(share):.4g}, so that all are right together"
        yield Note("looks", text, looks)
    if wrong := [one for one in certificates if not one.missed.is_consistent]:
        text = "samples that contradict each other"
        where = "" if wrong[0].counts.query is None else f" for {len(wrong):,} of {len(certificates):,} queries"
        yield Note("samples", f"{text}{where}: was each drawn at random from what was left?", len(wrong))


def _given_counts(corpus_size: Any, sampled: Any, numbers: dict[str, Any]) -> ReviewCounts:
    """Return the counts of one review that are given as numbers."""
    if sampled is not None:
        raise UsageError("a file of samples is given, but not what was read", remedy=_FORMS)
    needed = {"corpus_size": corpus_size, "read": numbers["read"], "found": numbers["found"]}
    if missing := [name for name, value in needed.items() if value is None]:
        raise UsageError(f"a certificate needs {', '.join(missing)}", remedy=_FORMS)
    sizes, finds = (_several(numbers[name]) for name in ("sample", "relevant"))
    named = [*((name, value, int(name == "corpus_size")) for name, value in needed.items())]
    check_counts([*named, *(("sample", size, 0) for size in sizes), *(("relevant", find, 0) for find in finds)])
    if len(sizes) != len(finds):
        problem = f"{counted(len(sizes), 'sample')} given, and the number of relevant documents of {len(finds):,}"
        raise UsageError(problem, remedy="give --relevant once for each --sample")
    samples = tuple(SampleCount(int(size), int(relevant)) for size, relevant in zip(sizes, finds, strict=True))
    return ReviewCounts(int(corpus_size), int(numbers["read"]), int(numbers["found"]), samples)


def _several(value: Any) -> list[Any]:
    if value is None:
        return []
    return [*value] if is_several(value) else [value]


def _check_files(qrels: object, run: object, read: object, counts: dict[str, object]) -> None:
    """Raise unless what is to be counted is given, and nothing that was counted already."""
    if known := [name for name, value in counts.items() if value is not None and value != ()]:
        problem = f"{' and '.join(known)} {'is' if len(known) == 1 else 'are'} given beside files"
        raise UsageError(f"{problem}, from which that is counted", remedy=_FORMS)
    needed = {"judgments": qrels, "a run": run, "read": read}
    if missing := [name for name, value in needed.items() if value is None]:
        raise UsageError(f"{' and '.join(missing)} must be given too", remedy=_FORMS)
