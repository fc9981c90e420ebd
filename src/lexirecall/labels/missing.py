"""Missing: how much a result depends on documents that nobody has judged.

Belongs here: the verb. Not here: its result (missingresult), bounds (bounds), flip numbers (flips), samples
(forecasts), chances (rates), what to judge next (judgingorder), what became of forecasts (hindsight).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexirecall.errors import UsageError, counted, listed, plain
from lexirecall.fields import taken, takes
from lexirecall.formats import Qrels, Runs, load_judgments
from lexirecall.judgments import FloatArray, Judgments
from lexirecall.labels.bounds import bounds_of, check_bounded
from lexirecall.labels.forecasts import (
    LabellingSamples,
    RunPairs,
    exact_reversals,
    forecast_order,
    forecast_pairs,
    sample,
)
from lexirecall.labels.hindsight import Decided, Hindsight, in_hindsight
from lexirecall.labels.judgingorder import Candidate, to_judge
from lexirecall.labels.missingresult import PairLabels, RunBound, RunLabels, Unjudged
from lexirecall.labels.missingtables import DEPTHS
from lexirecall.labels.rates import Rates, StatedRate, estimated_rates, stated_rate
from lexirecall.labels.unjudgedoptions import DEFAULT_SAMPLES, UnjudgedOptions
from lexirecall.labels.wholeruns import WholeRuns, decisions_of, read_whole
from lexirecall.manifest import READING, Note, Policies
from lexirecall.measures import Measure
from lexirecall.names import Evaluable, Names, parse_names
from lexirecall.positions import Positions
from lexirecall.progress import Progress
from lexirecall.statistics.portions import pairs_of
from lexirecall.sums import ExactSums
from lexirecall.texts import Texts, texts_or_none
from lexirecall.verbs.averages import means_of
from lexirecall.verbs.census import NAMED
from lexirecall.verbs.compare import compare_scores, indices_of, pairs_under
from lexirecall.verbs.comparison import Comparison
from lexirecall.verbs.evaluate import scores_of
from lexirecall.verbs.scores import Scores
from lexirecall.verbs.testing import Testing

TESTING = Testing()
"""The tests are those of `compare`, if nothing else is asked of it."""
DEFAULT_MEASURES = ("LexiRecall", "R@100", "AP")
"""One that is decided by everything relevant, one that looks at the top, and one that weighs both."""


@takes(UnjudgedOptions, Policies, *READING, warns=True)
def unjudged(
    qrels: Qrels | Positions,
    runs: Runs | None = None,
    measures: Names | None = None,
    *,
    baseline: str | Sequence[str] | None = None,
    texts: Any = None,
    **options: Any,
) -> Unjudged:
    """Say how much a result depends on documents that nobody has judged.

    For each run: how much of it is judged, and the least and the most that labels can make of each measure. For each
    pair of runs: on how many queries one is better, how many of these decisions no label can reverse, and how few
    labels reverse the others. All of that is exact. Experimental: if each unjudged document is
    relevant with a stated chance of `rate`, it says how many are expected to be, how likely decisions are reversed, and
    whether the order of two runs and the significance of their difference survive. For that `samples` labellings are
    drawn, from `seed`. `judge` is how many documents to judge next are listed; without `rate`, the judged ones say
    which are likelier to be relevant. `judged_with` are judgments that were
    made since, to compare that with.
    `baseline` names the run, or the runs, that all others are compared with. The other arguments are those of
    `evaluate`.

    >>> qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(6)}
    >>> runs = {"one": dict.fromkeys(qrels, ["a", "b", "x"]), "two": dict.fromkeys(qrels, ["y", "z", "a"])}
    >>> made = unjudged(qrels, runs, "LexiRecall", rate=0.1)
    >>> [row] = [row for row in made.rows() if row["kind"] == "pair"]
    >>> row["decided"], row["safe"], row["median_flip"], row["median_unjudged"]
    (6, 0, 2.0, 3.0)
    """
    asking, policies = taken(UnjudgedOptions, options), taken(Policies, options)
    rows = parse_names(DEFAULT_MEASURES if measures is None else measures)
    check_bounded([row for row in rows if isinstance(row, Measure)])
    show_progress = options.get("show_progress", False)
    if texts and asking.judge is None:
        problem = "texts are given, but nothing is listed that has a text"
        raise UsageError(problem, remedy="list documents to judge with --judge N, or leave --texts out")
    given_texts = texts_or_none(texts, options.get("columns"), show_progress=show_progress)
    new = None if asking.judged_with is None else load_judgments(asking.judged_with, options.get("columns"))
    read = read_whole(qrels, runs, options)
    references = indices_of(baseline, read.positions.runs)
    inquiry = _Inquiry(
        read=read, asking=asking, policies=policies, rows=tuple(rows), references=references, new=new,
        show_progress=show_progress,
    )  # fmt: skip
    return inquiry.answer(given_texts)


@dataclass(frozen=True, slots=True)
class _Inquiry:
    """What is asked, and of which runs."""

    read: WholeRuns
    asking: UnjudgedOptions
    policies: Policies
    rows: tuple[Evaluable, ...]
    references: tuple[int, ...]
    new: Judgments | None
    """Those that were made since."""
    show_progress: bool | None

    def answer(self, texts: Texts | None) -> Unjudged:
        """Compute everything that is asked for."""
        asking, positions = self.asking, self.read.positions
        scores, _ = scores_of(positions, self.rows, self.policies)
        comparison = self._compared(scores)
        known = () if comparison is None else tuple(self.decided(comparison))
        rates = None if asking.rate is None else stated_rate(asking.rate)
        sampled = [] if rates is None else self.sampled(rates, scores.measures)
        to_judge = self.to_judge(scores.measures)
        hindsight = () if rates is None or self.new is None else tuple(self.in_hindsight(rates, known, self.new))
        if texts is not None:
            listed_ids = [row.query for row in to_judge or ()], [row.document for row in to_judge or ()]
            texts = texts.wanted(*listed_ids, judgments=self.read.lists.judgments)
        return Unjudged(
            runs=positions.runs,
            queries=positions.queries,
            labels=tuple(_labels(self.read)),
            bounds=tuple(self.bounds(scores)),
            pairs=tuple(self.pairs(comparison, known, rates, sampled)) if comparison is not None else (),
            to_judge=to_judge,
            hindsight=hindsight,
            num_unjudged=sum(int(pool.is_unjudged.sum()) for pool in self.read.pools),
            rate=asking.rate,
            num_samples=0 if rates is None else self.num_samples,
            alpha=TESTING.alpha,
            notes=(
                *scores.notes,
                *_on_empty(self.read, self.policies),
                *_on_new(hindsight),
                *(() if texts is None else texts.notes),
            ),
            texts=texts,
            frame_library=positions.frame_library,
        )

    def _compared(self, scores: Scores) -> Comparison | None:
        """Return what is concluded now; None if there is one run only."""
        if len(scores.runs) > 1:
            pairs = pairs_under(scores.measures, self.read.positions, self.policies, self.references)
            return compare_scores(scores, pairs, TESTING, references=self.references)
        if options := [name for name in ("judge", "rate") if getattr(self.asking, name) is not None]:
            problem = f"{options[0]} is given, but there is only one run, and no decision that a label could change"
            raise UsageError(problem, remedy="give two or more runs")
        return None

    @property
    def run_pairs(self) -> RunPairs:
        """Both runs of each pair."""
        return pairs_of(len(self.read.positions.runs), self.references)

    @property
    def num_samples(self) -> int:
        """How many labellings are compared."""
        return DEFAULT_SAMPLES if self.asking.samples is None else self.asking.samples

    def decided(self, comparison: Comparison) -> Iterator[Decided]:
        """Give what is concluded, and decided query by query, under each measure."""
        rows = [compared.measure for compared in comparison.measures]
        known = decisions_of(self.read, rows, self.policies, self.run_pairs, show_progress=self.show_progress)
        return zip(comparison.measures, known, strict=True)

    def bounds(self, scores: Scores) -> Iterator[RunBound]:
        """Give the bounds of the mean of each measure: those of queries are reached together."""
        read, rows = self.read, [row for row in scores.measures if isinstance(row, Measure)]
        if not rows:
            return
        num_bounds = len(read.pools) * len(rows) * len(scores.runs)
        with Progress("finding bounds", num_bounds, shown=self.show_progress) as progress:
            bounds = bounds_of(read.pools, rows, read.labelling, policies=self.policies, progress=progress)
        ends = [_means(end, rows) for end in bounds]
        averages = scores.averages
        for s, name in enumerate(averages.runs):
            for c, row in enumerate(rows):
                at = averages.measures.index(row)
                value, queries = float(averages.means[s, at]), int(averages.counts[s, at])
                yield RunBound(
                    run=name,
                    measure=str(row),
                    value=value,
                    low=float(ends[0][s, c]),
                    high=float(ends[1][s, c]),
                    queries=queries,
                )

    def sampled(self, rates: Rates, rows: Sequence[Evaluable]) -> list[LabellingSamples]:
        """Draw labels, and compare the runs under each measure."""
        return sample(
            self.read.pools, rates, rows, self.read.labelling, self.policies,
            num_samples=self.num_samples, seed=self.asking.seed, show_progress=self.show_progress,
        )  # fmt: skip

    def pairs(
        self,
        comparison: Comparison,
        known: Sequence[Decided],
        rates: StatedRate | None,
        sampled: Sequence[LabellingSamples],
    ) -> Iterator[PairLabels]:
        """Give what becomes of the pairs of runs under each measure."""
        pools, pairs = self.read.pools, self.run_pairs
        for c, (now, decisions) in enumerate(known):
            forecast, order = None, None
            if rates is not None:
                exact = exact_reversals(pools, rates, now.measure, self.policies, pairs, decisions.signs)
                forecast = forecast_pairs(sampled[c], now, decisions.signs, TESTING, exact)
                means = now.measure.direction * comparison.averages.means[:, c]
                order = None if np.isnan(means).all() else forecast_order(sampled[c], means)
            yield PairLabels(now, decisions, forecast, order)

    def to_judge(self, rows: Sequence[Evaluable]) -> tuple[Candidate, ...] | None:
        """Return what to judge next, by the decisions of the first measure; None if that is not asked."""
        if self.asking.judge is None:
            return None
        read, rate = self.read, self.asking.rate
        rates = estimated_rates(read.lists, self.policies.level) if rate is None else stated_rate(rate)
        sampled = self.sampled(rates, rows[:1])
        return tuple(
            to_judge(
                read.pools, rates, sampled[0], read.labelling, self.policies, self.asking.judge,
                pairs=self.run_pairs, judgments=read.lists.judgments, show_progress=self.show_progress,
            )
        )  # fmt: skip

    def in_hindsight(self, rates: StatedRate, known: Sequence[Decided], new: Judgments) -> Iterator[Hindsight]:
        """Give what became of the forecasts for each measure under judgments that were made since."""
        read = self.read
        return in_hindsight(
            read.pools, rates, known, read.labelling, self.policies, TESTING, judgments=read.lists.judgments, new=new,
            samples=self.num_samples, seed=self.asking.seed, show_progress=self.show_progress,
        )  # fmt: skip


def _means(values: FloatArray, rows: Sequence[Measure]) -> FloatArray:
    """Return the means over queries, [S, Q, C] to [S, C]; infinite if a value is, and nan if there is none."""
    is_defined, is_infinite = ~np.isnan(values), np.isinf(values)
    sums = ExactSums.of(np.where(is_defined & ~is_infinite, values, 0.0).transpose(1, 0, 2))
    means = means_of(sums.rounded(), is_defined.sum(axis=1), rows)
    return np.asarray(means + np.where(is_infinite, values, 0.0).sum(axis=1))


def _labels(read: WholeRuns) -> Iterator[RunLabels]:
    """Give how much of each run is judged, as far as its lists go."""
    retrieved = np.stack([pool.lengths for pool in read.pools], axis=1)
    for s, name in enumerate(read.positions.runs):
        places = np.concatenate([pool.places[s, pool.is_unjudged] for pool in read.pools])
        places = places[places > 0]
        total, deepest = int(retrieved[s].sum()), int(retrieved[s].max())
        depths = [*(depth for depth in DEPTHS if depth < deepest), None]
        shares = {}
        for depth in depths:
            num_here = total if depth is None else int(np.minimum(retrieved[s], depth).sum())
            num_missing = len(places) if depth is None else int(np.count_nonzero(places <= depth))
            shares[depth] = 1 - num_missing / num_here if num_here else 1.0
        yield RunLabels(name, total, len(places), shares)


def _on_new(hindsight: Sequence[Hindsight]) -> Iterator[Note]:
    """Say what the new judgments say of other documents than unjudged ones that runs retrieve."""
    for outcome in hindsight[:1]:  # it is the same for all measures
        if total := len(outcome.changed):
            query, document, old, new = outcome.changed[0]
            example = f"{document} of query {query} from {plain(old)} to {plain(new)}"
            text = f"{counted(total, 'grade')} changed in the new judgments ({example}): the old ones are kept"
            yield Note("changed grade", text, total)
        if outcome.num_elsewhere:
            found = counted(outcome.num_elsewhere, "relevant document")
            text = f"{found} of the new judgments that no run retrieves: counted as missed by all"
            yield Note("relevant elsewhere", text, outcome.num_elsewhere)


def _on_empty(read: WholeRuns, policies: Policies) -> Iterator[Note]:
    """Say how queries count that have nothing relevant now, and might have."""
    is_eligible = policies.eligible(read.positions)
    empty = [pool for pool in read.pools if not is_eligible[pool.query] and pool.is_unjudged.any()]
    if empty and policies.skips_empty:
        names = listed((read.positions.queries[pool.query] for pool in empty), NAMED)
        text = (
            f"{counted(len(empty), 'query')} {policies.ineligible}, but with unjudged ones ({names}): left out "
            "of bounds and decisions; a label that is relevant makes one count"
        )
        yield Note("may become relevant", text, len(empty))
