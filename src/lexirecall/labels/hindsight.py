"""Hindsight: what was forecast about unjudged documents, beside what judgments that were made since say.

Belongs here: how decisions and conclusions that were forecast came out. Not here: the forecasts (rates, forecasts),
pools before and after the new judgments (laterjudgments).

Old grades stay as they are, so that only labels that were missing can change a decision; new ones that differ are
counted. A forecast is about the documents that were judged since; the others stay without a label, before and after. A
decision is reversed if the other run is better now, and a conclusion is kept if the better run of a pair is still the
better one, or if a difference is as significant, or not, as it was, and in the same direction.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lexirecall.equality import FieldEquality
from lexirecall.errors import DataError
from lexirecall.judgments import FloatArray, Judgments
from lexirecall.labels.forecasts import PairForecast, RunPairs, exact_reversals, forecast_pairs, sample
from lexirecall.labels.laterjudgments import LaterJudgments, judged_since
from lexirecall.labels.pools import Labelling, LabelPool
from lexirecall.labels.rates import StatedRate, stated_rate
from lexirecall.labels.wholeruns import KnownDecisions
from lexirecall.manifest import Policies
from lexirecall.verbs.measurecomparison import MeasureComparison
from lexirecall.verbs.testing import Testing

Decided = tuple[MeasureComparison, KnownDecisions]
"""What is concluded under one measure, and what is decided query by query."""


@dataclass(frozen=True, eq=False)
class Hindsight(FieldEquality):
    """What became of the forecasts for one measure, of Q queries and P pairs of runs."""

    measure: str
    num_unjudged: int
    """How many documents nobody had judged."""
    num_judged: int
    """How many of them were judged since."""
    relevant: int
    """How many of these are relevant."""
    expected: tuple[float, int, int]
    """How many were expected to be, and the 95 % interval of that number."""
    changed: tuple[tuple[str, str, float, float], ...]
    """Query, document, old and new grade where the two judgments differ."""
    num_elsewhere: int
    """How many relevant documents were added that no run retrieves."""
    reversals: FloatArray
    """The chance that each decision is reversed, [P, Q]; nan where there is none."""
    is_reversed: FloatArray
    """1 where it was, 0 where it was not, [P, Q]."""
    num_safe: int | None
    """How many decisions no label can reverse; None if these are not known for the measure."""
    safe_reversed: int | None
    """How many of them were reversed: if these numbers are right, none."""
    kept: FloatArray
    """The share of labellings in which the order of each pair, and its significance, stay, [2, P]; nan without one."""
    is_kept: FloatArray
    """1 where it did, 0 where it did not, [2, P]."""

    @property
    def num_decisions(self) -> int:
        """How many decisions there were."""
        return int(np.isfinite(self.reversals).sum())


def in_hindsight(
    pools: Sequence[LabelPool],
    rates: StatedRate,
    decided: Sequence[Decided],
    labelling: Labelling,
    policies: Policies,
    testing: Testing,
    *,
    judgments: Judgments,
    new: Judgments,
    samples: int,
    seed: int,
    show_progress: bool | None = False,
) -> Iterator[Hindsight]:
    """Compare forecasts that were made from `judgments` with `new` ones; they may hold the old ones as well.

    `decided` is what holds without them, under each measure.
    """
    index = new.index
    since = [judged_since(pool, judgments, new, index) for pool in pools]
    num_unjudged = sum(int(pool.is_unjudged.sum()) for pool in pools)
    num_judged = sum(int(later.asked.is_unjudged.sum()) for later in since)
    if not num_judged:
        raise DataError(
            f"{new.name} judges none of the {num_unjudged:,} unjudged documents that the runs retrieve",
            remedy="give judgments of documents that have none yet",
        )
    rows, asked = [now.measure for now, _ in decided], [later.asked for later in since]
    drawn = sample(asked, rates, rows, labelling, policies, num_samples=samples, seed=seed, show_progress=show_progress)
    # The new labels are a labelling as those drawn are: at a rate of 0 nothing is added to them, so one sample is all.
    nothing_left = [later.labelled for later in since], stated_rate(0)
    came = sample(*nothing_left, rows, labelling, policies, num_samples=1, seed=seed, show_progress=show_progress)
    for c, (now, known) in enumerate(decided):
        level = now.measure.level(policies.level)
        pairs: RunPairs = (now.a, now.b)
        exact = exact_reversals(asked, rates, now.measure, policies, pairs, known.signs)
        forecast = forecast_pairs(drawn[c], now, known.signs, testing, exact)
        after = forecast_pairs(came[c], now, known.signs, testing)
        is_safe = None if known.numbers is None else np.isposinf(known.numbers)
        yield Hindsight(
            measure=str(now.measure),
            num_unjudged=num_unjudged,
            num_judged=num_judged,
            relevant=sum(int((later.labelled.grades[later.asked.is_unjudged] >= level).sum()) for later in since),
            expected=rates.number(num_judged),
            changed=tuple(change for later in since for change in later.changed),
            num_elsewhere=_elsewhere(since, level),
            reversals=forecast.reversals,
            is_reversed=after.reversals,
            num_safe=None if is_safe is None else int(np.count_nonzero(is_safe)),
            safe_reversed=None if is_safe is None else int(np.nansum(after.reversals[is_safe])),
            kept=_kept(forecast, now, testing),
            is_kept=_kept(after, now, testing),
        )


def _elsewhere(since: Sequence[LaterJudgments], level: float) -> int:
    return sum(int((later.elsewhere >= level).sum()) for later in since)


def _kept(forecast: PairForecast, now: MeasureComparison, testing: Testing) -> FloatArray:
    """Return the share of labellings in which the order, and the significance, of each pair stay, [2, P]."""
    is_significant = now.is_significant(testing.alpha)
    stays = np.where(is_significant, forecast.significant, 1 - forecast.significant - forecast.turned)
    return np.stack([forecast.same_order, stays])
