"""Decisions: whether a new run is worse than its baseline under a measure, or worse by more than a margin.

Belongs here: the decision under each measure, and what it could have noticed. Not here: requirements (requirements),
which documents are lost (changes), the arithmetic of alpha (statistics.gates).

Without a margin the gate fails if the new run is significantly worse under any measure, by a one-sided test. p is
corrected for the number of decisions by Holm's method. With a margin d it fails unless the lower end of the one-sided
interval of new - baseline is above -d under every measure; each interval has its share of alpha. Numbers other than
means, such as tails, have no p, but an interval from resamples: the upper end must not be below 0. Then each decision
has its share of alpha.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexirecall.errors import counted
from lexirecall.gates.comparing import Compared
from lexirecall.manifest import Note
from lexirecall.names import Evaluable
from lexirecall.statistics.attainable import least_attainable
from lexirecall.statistics.corrections import correct
from lexirecall.statistics.gates import level_with_skew, noticed_share
from lexirecall.statistics.power import detectable_effects
from lexirecall.tables import defined, number

POWER = 0.8
_TOO_OFTEN = 1.5  # times its share of alpha, from which on a test is said to err more often


@dataclass(frozen=True, slots=True)
class Decision:
    """What is decided under one measure or preference."""

    compared: Compared
    p_corrected: float
    """With regard to all decisions."""
    alpha: float
    """Of all decisions together."""
    level: float
    """What this one has of it, for its interval and for what it can notice."""
    margin: float | None
    are_identical: bool
    """Whether both runs have every judged document at the same place; such a run always passes."""

    @property
    def measure(self) -> Evaluable:
        """What is compared."""
        return self.compared.measure

    @property
    def fails(self) -> bool:
        """Whether the gate fails because of it."""
        if self.are_identical:
            return False
        if self.margin is not None:
            return not self.compared.low > -self.margin
        if self.compared.is_resampled:
            return self.compared.high < 0
        return self.compared.tested < 0 and self.p_corrected < self.alpha

    @property
    def fewest(self) -> int:
        """How many queries there must be for the gate to be able to fail; with a margin it always is."""
        if self.margin is not None:
            return 0
        test = "sign" if self.compared.counts else "t"
        return least_attainable(test, 0, alpha=2 * self.level).needed_requests or 0

    @property
    def can_fail(self) -> bool:
        """Whether any outcome on so many queries could have failed."""
        return self.compared.num_queries >= self.fewest

    @property
    def noticed(self) -> float:
        """The least loss that it notices with the chance 0.8; nan where it is not known.

        For the sign test the share of queries lost, if none is won; else a difference, as varied as these ones. With a
        margin it is the margin with which a run as good as the baseline passes with this chance.
        """
        compared = self.compared
        if compared.counts and self.margin is None:
            return noticed_share(compared.num_queries, self.level, POWER)
        effects = detectable_effects(np.array([compared.num_queries]), alpha=2 * self.level, power=POWER)
        size = float(effects[0] * compared.deviation)
        return min(size, 1.0) if compared.counts else size

    @property
    def level_reached(self) -> float:
        """About how often it errs where it should do so in `level` of all cases, given how skewed differences are."""
        own = self.compared
        skewness = own.skewness if self.margin is None else -own.skewness
        return level_with_skew(self.level, skewness, max(own.num_queries, 1))

    @property
    def name(self) -> str:
        """The measure, with what it is over."""
        over = "" if self.compared.over == "mean" else f"{self.compared.over} of "
        group = "" if self.compared.group is None else f" in {self.compared.group}"
        return f"{over}{self.measure}{group}"

    def row(self) -> dict[str, Any]:
        """Return it as a row for programs."""
        own = self.compared
        return {
            "kind": "measure", "measure": str(own.measure), "over": own.over, "group": own.group,
            "passed": not self.fails, "difference": defined(own.difference), "low": defined(own.low),
            "high": defined(own.high), "wins": own.wins, "ties": own.ties, "losses": own.losses,
            "queries": own.num_queries, "p": defined(own.p), "p_corrected": defined(self.p_corrected),
            "alpha": self.alpha, "level": self.level, "margin": self.margin, "test": own.method,
            "identical": self.are_identical, "can_fail": self.can_fail, "noticed": defined(self.noticed),
        }  # fmt: skip

    def sentence(self) -> str:
        """Say what was decided and why."""
        own, difference = self.compared, number(self.compared.difference)
        if self.are_identical:
            return f"{self.name}: every judged document is where it was"
        if self.margin is not None:
            how = "above" if own.low > -self.margin else "not above"
            return (
                f"{self.name}: the difference is {difference}, and at least {number(own.low)} (one-sided "
                f"{100 * (1 - self.level):.4g} % interval), which is {how} {number(-self.margin)}"
            )
        if own.is_resampled:
            how = "below 0: worse" if own.high < 0 else "not below 0: not shown to be worse"
            return f"{self.name}: the difference is {difference}, and at most {number(own.high)}, {how} ({own.method})"
        word = "worse" if self.fails else "no worse" if own.tested >= 0 else "not significantly worse"
        return f"{self.name}: {word}, {self._balance}; p = {self.p_corrected:.3g} ({own.method}, one-sided)"

    @property
    def _balance(self) -> str:
        own = self.compared
        if own.counts:
            return f"{own.wins} better, {own.ties} tied, {own.losses} worse"
        return f"difference {number(own.difference)}"


def decide(
    compared: Sequence[Compared], alpha: float, margin: float | None, *, are_identical: bool
) -> tuple[Decision, ...]:
    """Decide under every measure; the interval of each is that at its share of alpha."""
    if not compared:
        return ()
    pvalues = np.array([each.p for each in compared])
    num_tested = int(np.count_nonzero(~np.isnan(pvalues)))
    # Those with a p have their part of alpha together, and Holm's method hands it out among them.
    corrected = np.minimum(correct(pvalues, "holm") * len(compared) / max(num_tested, 1), 1.0)
    return tuple(
        Decision(each, p, alpha, alpha / len(compared), margin, are_identical)
        for each, p in zip(compared, corrected.tolist(), strict=True)
    )


def notes_on(decisions: Sequence[Decision]) -> Iterator[Note]:
    """Say under which measures the gate could not have failed, how large a loss it would notice, and when it errs."""
    for each in decisions:
        if not each.can_fail:
            yield _cannot_fail(each)
        elif math.isfinite(each.noticed) and each.noticed > 0:
            yield _noticed(each)
        if each.level_reached > _TOO_OFTEN * each.level and not each.are_identical:
            yield _skewed(each)


def _cannot_fail(decision: Decision) -> Note:
    own, needed = decision.compared, f"it takes {counted(decision.fewest, 'query')} at least"
    how = f"({own.method}, one-sided, at {decision.level:.2g}), and there are {own.num_queries:,}"
    return Note("cannot fail", f"{decision.name}: the gate could not have failed: {needed} {how}", own.num_queries)


def _noticed(decision: Decision) -> Note:
    own, size = decision.compared, f"{decision.noticed:.2g}"
    if decision.margin is not None:
        text = f"a run as good as the baseline passes with the chance {POWER:g} if the margin is {size}"
    elif own.counts:
        share = f"{100 * decision.noticed:.2g} % of the queries"
        text = f"a loss of {share}, if none gains, is noticed with the chance {POWER:g}"
    else:
        text = f"a loss of {size} on average is noticed with the chance {POWER:g}"
    return Note("noticed", f"{decision.name}: on {counted(own.num_queries, 'query')} {text}", own.num_queries)


def _skewed(decision: Decision) -> Note:
    few, errs = ("gains", "fails a run that is no worse")
    if decision.margin is not None:
        few, errs = ("losses", "passes a run that loses as much as the margin")
    chance = f"with the chance {decision.level_reached:.2g}, not {decision.level:.2g}"
    text = (
        f"{decision.name}: there are a few large {few}, so the t test {errs} {chance}; LexiRecall counts queries only"
    )
    return Note("skewed", text, decision.compared.num_queries)
