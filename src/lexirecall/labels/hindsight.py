"""Hindsight: what was forecast about unjudged items, beside what judgments that were made since say.

Belongs here: which items were judged since, and how forecasts agree with that. Not here: the forecasts (rates,
forecasts, flips).

Old grades stay as they are, so that only labels that were missing can change a decision; new ones that differ are
counted. A forecast is about the items that were judged since; the others stay without a label, before and after. A
decision is reversed if the other run is better now. Decisions of one request depend on the same labels, so the standard
error of a share is that between requests: sqrt(sum_q (x_q - p n_q)^2)/n for x_q of n_q decisions, p = x/n in all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lexirecall.errors import DataError, counted
from lexirecall.judgments import BoolArray, FloatArray, Judgments
from lexirecall.labels.flips import flips_of, has_flips
from lexirecall.labels.forecasts import Chances, RunPairs, Sampled, exact_reversals, sample
from lexirecall.labels.pools import Labelling, LabelPool
from lexirecall.labels.since import Since, judged_since
from lexirecall.manifest import Policies
from lexirecall.names import Evaluable, parse_preference
from lexirecall.preferences.pairs import SignArray
from lexirecall.verbs.rank import contrasted

_BORDERS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0)  # of chances that a decision is reversed
_ENDS = 0.025, 0.975  # of the interval of a forecast number


class ForecastNumber(NamedTuple):
    """How many of some documents are relevant, beside how many were expected."""

    judged: int
    """How many of the unjudged documents were judged since."""
    relevant: int
    expected: float
    low: int
    """Where the 95 % interval of the number begins, if the chances are right and labels do not depend on each other."""
    high: int

    @property
    def is_within(self) -> bool:
        """Whether the number is in the interval."""
        return self.low <= self.relevant <= self.high


class ReliabilityRow(NamedTuple):
    """Decisions whose forecast chances of reversal are alike, and how many of them were reversed."""

    above: float
    up_to: float
    decisions: int
    expected: float
    """The mean of the chances."""
    reversed: int
    error: float
    """Standard error of the share that was reversed."""

    @property
    def share(self) -> float:
        """The share that was reversed."""
        return self.reversed / self.decisions


@dataclass(frozen=True, eq=False)
class Hindsight:
    """What became of the forecasts for one measure."""

    measure: str
    num_unjudged: int
    """How many documents nobody had judged."""
    total: ForecastNumber
    queries: tuple[tuple[str, ForecastNumber], ...]
    """Of each query of which documents were judged since."""
    changed: tuple[tuple[str, str, float, float], ...]
    """Query, document, old and new grade where the two judgments differ."""
    num_elsewhere: int
    """How many relevant documents were added that no run retrieves."""
    reliability: tuple[ReliabilityRow, ...]
    brier: float
    """The mean square of chance less outcome."""
    num_safe: int | None
    """How many decisions no label can reverse; None if that is not known for the measure."""
    num_safe_reversed: int | None
    num_settled: int
    """How many ties were decided since."""

    @property
    def num_decisions(self) -> int:
        """How many decisions there were."""
        return sum(row.decisions for row in self.reliability)

    @property
    def num_reversed(self) -> int:
        """How many of them were reversed."""
        return sum(row.reversed for row in self.reliability)

    @property
    def expected_reversed(self) -> float:
        """How many of them were expected to be."""
        return sum(row.expected * row.decisions for row in self.reliability)

    @property
    def brier_of_share(self) -> float:
        """The Brier score of one chance for all, the share that was reversed."""
        share = self.num_reversed / self.num_decisions if self.num_decisions else np.nan
        return share * (1 - share)

    @property
    def num_queries_within(self) -> int:
        """Of how many queries the number of relevant documents is in its interval."""
        return sum(number.is_within for _, number in self.queries)

    def sentences(self) -> Iterator[str]:
        """Say what became of the forecasts."""
        total = self.total
        yield (
            f"Of {counted(self.num_unjudged, 'unjudged document')} {total.judged:,} were judged since, and "
            f"{total.relevant:,} of these are relevant; {total.expected:,.1f} were expected (95 % interval "
            f"{total.low:,} to {total.high:,}). The number is in its own interval on {self.num_queries_within:,} of "
            f"{counted(len(self.queries), 'query')}."
        )
        yield (
            f"Of {counted(self.num_decisions, 'decision')} by {self.measure} {self.num_reversed:,} were reversed, and "
            f"{self.expected_reversed:,.1f} were expected to be; {self.num_settled:,} ties were decided."
        )
        if self.num_safe_reversed is not None:
            yield (
                f"Of {counted(self.num_safe or 0, 'decision')} that no label can reverse {self.num_safe_reversed:,} "
                "were reversed."
            )
        if self.changed:
            query, document, old, new = self.changed[0]
            yield (
                f"{counted(len(self.changed), 'judged document')} got another grade, such as {document} of query "
                f"{query}: {old:g}, now {new:g}. The old grades were kept."
            )
        if self.num_elsewhere:
            verb = "was" if self.num_elsewhere == 1 else "were"
            yield f"{counted(self.num_elsewhere, 'relevant document')} {verb} added that no run retrieves."

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give a row of the kind `forecast` for the numbers, and one of the kind `reliability` for each bin."""
        total = self.total._asdict()
        yield {
            "kind": "forecast", "measure": self.measure, "unjudged": self.num_unjudged, **total,
            "queries": len(self.queries), "queries_within": self.num_queries_within,
            "decisions": self.num_decisions, "reversed": self.num_reversed,
            "expected_reversed": self.expected_reversed, "brier": self.brier, "safe": self.num_safe,
            "safe_reversed": self.num_safe_reversed, "changed": len(self.changed), "elsewhere": self.num_elsewhere,
        }  # fmt: skip
        for row in self.reliability:
            yield {"kind": "reliability", "measure": self.measure, **row._asdict(), "share": row.share}


def in_hindsight(
    pools: Sequence[LabelPool],
    rates: Chances,
    row: Evaluable,
    labelling: Labelling,
    policies: Policies,
    *,
    judgments: Judgments,
    new: Judgments,
    pairs: RunPairs,
    samples: int,
    seed: int,
    show_progress: bool | None = False,
) -> Hindsight:
    """Compare forecasts that were made from `judgments` with `new` ones; they may hold the old ones as well.

    >>> from lexirecall import load_judgments
    >>> from lexirecall.formats.listing import load_lists
    >>> from lexirecall.labels.pools import pools_of
    >>> from lexirecall.labels.rates import stated_rate
    >>> from lexirecall.manifest import Conventions
    >>> runs = {"one": {"q": ["a", "x"]}, "two": {"q": ["y", "z"]}}
    >>> lists = load_lists({"q": {"a": 1}}, runs)
    >>> made = in_hindsight(
    ...     list(pools_of(lists)), stated_rate(0.5), parse_preference("LexiRecall"),
    ...     Labelling(("one", "two"), Conventions()), Policies(), judgments=lists.judgments,
    ...     new=load_judgments({"q": {"y": 1, "z": 2}}), pairs=(np.array([0]), np.array([1])), samples=100, seed=0,
    ... )
    >>> made.total.judged, made.total.relevant, made.total.expected, made.num_reversed, made.num_decisions
    (2, 2, 1.0, 1, 1)
    """  # fmt: skip
    index = new.index
    since = [judged_since(pool, judgments, new, index) for pool in pools]
    if not any(each.asked.is_unjudged.any() for each in since):
        raise DataError(
            f"{new.name} judges none of the {_num_unjudged(pools):,} unjudged documents that the runs retrieve",
            remedy="give judgments of documents that have none yet",
        )
    options: dict[str, Any] = {"samples": samples, "seed": seed, "shown": show_progress}
    decided = decisions_since(since, rates, row, labelling, policies, pairs, **options)
    level = row.level(policies.level)
    numbers = [_number(each, rates, level) for each in since]
    safe = np.isinf(flips_of(pools, row, policies, pairs, labelling).numbers) if has_flips(row) else None
    return Hindsight(
        measure=str(row),
        num_unjudged=_num_unjudged(pools),
        total=_total(numbers),
        queries=tuple(
            (judgments.requests[each.asked.request], number.forecast)
            for each, number in zip(since, numbers, strict=True)
            if number.forecast.judged
        ),
        changed=tuple(change for each in since for change in each.changed),
        num_elsewhere=sum(int((each.elsewhere >= level).sum()) for each in since),
        reliability=tuple(reliability(decided)),
        brier=brier_score(decided),
        num_safe=None if safe is None else int(safe.sum()),
        num_safe_reversed=None if safe is None else int((safe & decided.is_reversed).sum()),
        num_settled=decided.num_settled,
    )


def _num_unjudged(pools: Sequence[LabelPool]) -> int:
    return sum(int(pool.is_unjudged.sum()) for pool in pools)


# Numbers


class _OfChances(NamedTuple):
    forecast: ForecastNumber
    chances: FloatArray


def _number(since: Since, rates: Chances, level: float) -> _OfChances:
    is_asked = since.asked.is_unjudged
    chances = rates.chances(since.asked)[is_asked]
    return _OfChances(_forecast(chances, int((since.labelled.grades[is_asked] >= level).sum())), chances)


def _total(numbers: Sequence[_OfChances]) -> ForecastNumber:
    chances = np.concatenate([number.chances for number in numbers])
    return _forecast(chances, sum(number.forecast.relevant for number in numbers))


def _forecast(chances: FloatArray, relevant: int) -> ForecastNumber:
    low, high = number_interval(chances)
    return ForecastNumber(len(chances), relevant, float(chances.sum()), low, high)


def number_interval(chances: FloatArray) -> tuple[int, int]:
    """Return where the middle 95 % of the number of relevant items begin and end, each with its own chance.

    The distribution is built up item by item, as far as 12 standard deviations beyond the mean.

    >>> number_interval(np.full(100, 0.5)), number_interval(np.array([1.0, 0.0])), number_interval(np.zeros(0))
    ((40, 60), (1, 1), (0, 0))
    """
    spread = np.sqrt((chances * (1 - chances)).sum())
    most = min(len(chances), int(chances.sum() + 12 * spread) + 12)
    masses = np.zeros(most + 1)
    masses[0] = 1.0
    for chance in chances.tolist():
        masses[1:] += chance * (masses[:-1] - masses[1:])
        masses[0] *= 1 - chance
    low, high = np.searchsorted(masses.cumsum(), _ENDS)
    return int(low), min(int(high), most)


# Decisions


class Decided(NamedTuple):
    """Who was better, how likely that was to be reversed, and whether it was, of P pairs on Q requests."""

    signs: SignArray
    """0 where there was no decision."""
    chances: FloatArray
    after: SignArray

    @property
    def is_reversed(self) -> BoolArray:
        """Where the other run is better now."""
        return np.asarray((self.after == -self.signs) & (self.signs != 0))

    @property
    def num_settled(self) -> int:
        """How many ties were decided since."""
        return int(((self.signs == 0) & (self.after != 0)).sum())


def decisions_since(
    since: Sequence[Since],
    rates: Chances,
    row: Evaluable,
    labelling: Labelling,
    policies: Policies,
    pairs: RunPairs,
    *,
    samples: int,
    seed: int,
    shown: bool | None = False,
) -> Decided:
    """Forecast the decisions under the labels that were given since, and make them with these labels."""
    asked = [each.asked for each in since]
    signs, after = (
        signs_of(pools, row, labelling, policies, pairs) for pools in (asked, [each.labelled for each in since])
    )
    chances = exact_reversals(asked, rates, row, policies, pairs, signs)
    if chances is None:
        with_samples: dict[str, Any] = {"num_samples": samples, "seed": seed, "show_progress": shown}
        (sampled,) = sample(asked, rates, [row], labelling, policies, **with_samples)
        chances = _shares_reversed(sampled, signs, pairs)
    return Decided(signs, chances, after)


def signs_of(
    pools: Sequence[LabelPool], row: Evaluable, labelling: Labelling, policies: Policies, pairs: RunPairs
) -> SignArray:
    """Return who is better if no more items are relevant, [P, Q]; 0 also where two runs are not compared."""
    positions = labelling.positions(pools, [np.zeros((1, len(pool.items)), bool) for pool in pools])
    return np.asarray(np.sign(contrasted(positions, parse_preference(row), policies).between(*pairs)), np.int8)


def _shares_reversed(sampled: Sampled, signs: SignArray, pairs: RunPairs) -> FloatArray:
    """Return the share of samples in which each decision is reversed, [P, Q]."""
    drawn = (np.sign(contrasts.between(*pairs)) for contrasts in sampled.contrasts)
    return np.stack([(each == -signs[:, q, None]).mean(axis=1) for q, each in enumerate(drawn)], axis=1)


def brier_score(decided: Decided) -> float:
    """Return the mean square of chance less outcome; nan if nothing was decided."""
    is_decided = decided.signs != 0
    return float(np.mean((decided.chances - decided.is_reversed)[is_decided] ** 2)) if is_decided.any() else np.nan


def reliability(decided: Decided) -> Iterator[ReliabilityRow]:
    """Give the decisions whose chances are alike, and what became of them.

    >>> chances, after = np.array([[0.0, 0.02, 0.04]]), np.array([[1, -1, 0]], np.int8)
    >>> for row in reliability(Decided(np.ones((1, 3), np.int8), chances, after)):
    ...     print(row.up_to, row.decisions, round(row.expected, 3), row.share, round(row.error, 3))
    0.0 1 0.0 0.0 0.0
    0.05 2 0.03 0.5 0.354
    """
    chances = np.nan_to_num(decided.chances).round(12)  # an exact one may miss 0 by rounding
    bins = np.where(decided.signs != 0, np.searchsorted(_BORDERS, chances), -1)
    for number, up_to in enumerate(_BORDERS):
        here = bins == number
        if not here.any():
            continue
        decisions, turned = here.sum(axis=0), (here & decided.is_reversed).sum(axis=0)
        share = turned.sum() / decisions.sum()
        error = np.sqrt(((turned - share * decisions) ** 2).sum()) / decisions.sum()
        above = _BORDERS[max(0, number - 1)]
        expected = float(decided.chances[here].mean())
        yield ReliabilityRow(above, up_to, int(decisions.sum()), expected, int(turned.sum()), float(error))
