"""Decisions: whether a new run is worse than its baseline under a measure, or worse by more than a margin.

Belongs here: the decision under each measure, and what it could have noticed. Not here: requirements (requirements),
which documents are lost (changes), the arithmetic of alpha (statistics.gates).

Without a margin the gate fails if the new run is significantly worse under any measure, by a one-sided test. p is
corrected by Holm's method, for the measures under which any query differs. With a margin d it fails unless the lower
end of the one-sided interval of new - baseline is above -d under every measure; each interval has its share of alpha.
Tails have no p here, but an interval: the upper end must not be below 0.
Then each decision has its share of alpha.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexirecall.errors import counted, listed
from lexirecall.gates.baselinepairs import BaselineDifference
from lexirecall.manifest import Note
from lexirecall.names import Evaluable
from lexirecall.statistics.attainable import least_attainable
from lexirecall.statistics.corrections import correct
from lexirecall.statistics.gates import noticed_share
from lexirecall.statistics.power import detectable_effects
from lexirecall.tables import defined, number

POWER = 0.8
_NAMED = 6  # measures in one note
_POWER_IN_WORDS = f"an {100 * POWER:.0f} % chance"


@dataclass(frozen=True, slots=True)
class Decision:
    """What is decided under one measure or preference."""

    compared: BaselineDifference
    p_corrected: float
    """With regard to all decisions."""
    alpha: float
    """Of all decisions together."""
    level: float
    """What this one has of it, for its interval and for what it can notice."""
    margin: float | None
    are_identical: bool
    """Whether both runs have every judged document at the same place, and nothing differs; such a run always passes."""

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
        if self.compared.is_of_tails:
            return self.compared.high < 0
        if self.compared.is_contradicted:
            return False
        return self.compared.tested < 0 and self.p_corrected < self.alpha

    @property
    def is_open(self) -> bool:
        """Whether nothing is decided, because wins and losses and the mean point in opposite directions."""
        return self.margin is None and self.compared.is_contradicted and not self.are_identical

    @property
    def verdict(self) -> str:
        """The verdict in a word or two."""
        return "not decided" if self.is_open else "FAILS" if self.fails else "passes"

    @property
    def fewest(self) -> int:
        """How many queries there must be for the gate to be able to fail; with a margin it always is."""
        if self.margin is not None:
            return 0
        test = "sign" if self.compared.counts else "t"
        # The p of these tests are two-sided: at twice the level, either side is a one-sided test at the level.
        return least_attainable(test, 0, alpha=2 * self.level).needed_queries or 0

    @property
    def can_fail(self) -> bool:
        """Whether any outcome on so many queries could have failed."""
        return self.compared.num_queries >= self.fewest

    @property
    def noticed(self) -> float:
        """The least loss that it notices with the chance 0.8; nan where it is not known.

        For the sign test the share of queries made worse while as many others as now move either way; else a
        difference, as varied as these ones. With a margin it is the margin with which a run as good as the baseline
        passes with this chance.
        """
        compared = self.compared
        if compared.counts and self.margin is None:
            return noticed_share(compared.num_queries, compared.num_untied, self.level, POWER)
        if math.isnan(compared.low):
            return math.nan
        effects = detectable_effects(np.array([compared.num_queries]), alpha=2 * self.level, power=POWER)
        size = float(effects[0] * compared.deviation)
        return min(size, 1.0) if compared.says_signs else size

    @property
    def name(self) -> str:
        """The measure, with what it is over."""
        over = "" if self.compared.over == "mean" else f"{self.compared.over} of "
        group = "" if self.compared.group is None else f" in {self.compared.group}"
        return f"{over}{self.measure}{group}"

    def row(self) -> dict[str, Any]:
        """Return it as a row for programs."""
        compared = self.compared
        return {
            "kind": "measure", "measure": str(compared.measure), "over": compared.over, "group": compared.group,
            "passed": not self.fails, "decided": not self.is_open, "difference": defined(compared.difference),
            "low": defined(compared.low), "high": defined(compared.high), "wins": compared.wins, "ties": compared.ties,
            "losses": compared.losses, "queries": compared.num_queries, "p": defined(compared.p),
            "p_corrected": defined(self.p_corrected),
            "alpha": self.alpha, "level": self.level, "margin": self.margin, "test": compared.method,
            "identical": self.are_identical, "can_fail": self.can_fail, "noticed": defined(self.noticed),
        }  # fmt: skip

    def sentence(self) -> str:
        """Say what was decided and why."""
        compared, difference = self.compared, number(self.compared.difference)
        if self.are_identical:
            return f"{self.name}: every judged document is where it was"
        if self.margin is not None and math.isnan(compared.low):
            why = f"a few queries make it, so it is not shown to be above {number(-self.margin)}"
            return f"{self.name}: the difference is {difference}, but {why}"
        if self.margin is not None:
            how = "above" if compared.low > -self.margin else "not above"
            return (
                f"{self.name}: the difference is {difference}, and at least {number(compared.low)} (one-sided "
                f"{100 * (1 - self.level):.4g} % interval), which is {how} {number(-self.margin)}"
            )
        if compared.is_of_tails:
            how = "below 0: worse" if compared.high < 0 else "not below 0: not shown to be worse"
            bound = f"at most {number(compared.high)}, {how} ({compared.method})"
            return f"{self.name}: the difference is {difference}, and {bound}"
        if self.is_open:
            text = f"{self._balance}, but a mean difference of {difference}: a few queries make the mean"
            return f"{self.name}: not decided, {text}"
        word = "worse" if self.fails else "no worse" if compared.tested >= 0 else "not significantly worse"
        return f"{self.name}: {word}, {self._balance}; p = {self.p_corrected:.3g} ({compared.method}, one-sided)"

    @property
    def _balance(self) -> str:
        compared = self.compared
        if compared.counts:
            return f"{compared.wins} better, {compared.ties} tied, {compared.losses} worse"
        return f"difference {number(compared.difference)}"


def decide(
    compared: Sequence[BaselineDifference], alpha: float, margin: float | None, *, are_identical: bool
) -> tuple[Decision, ...]:
    """Decide under every measure; the interval of each is that at its share of alpha.

    Runs that are identical have every judged document at the same place: lists may still be longer or shorter.
    """
    # What ties on every query is no further chance of a false alarm.
    family = [difference.differs for difference in compared]
    pvalues = np.array([difference.p if difference.differs else np.nan for difference in compared])
    num_tested = int(np.count_nonzero(~np.isnan(pvalues)))
    # Those with a p have their part of alpha together, and Holm's method hands it out among them.
    corrected = np.minimum(correct(pvalues, "holm") * sum(family) / max(num_tested, 1), 1.0)
    return tuple(
        Decision(
            compared=difference,
            p_corrected=p if difference.differs else difference.p,
            alpha=alpha,
            level=alpha / len(compared),
            margin=margin,
            are_identical=are_identical and not difference.differs,
        )
        for difference, p in zip(compared, corrected.tolist(), strict=True)
    )


def notes_on(decisions: Sequence[Decision]) -> Iterator[Note]:
    """Say under which measures the gate could not have failed, and how large a loss it would notice."""
    names: dict[tuple[bool, str, int], list[str]] = {}  # one note for all of which the same is to be said
    for decision in decisions:
        if decision.can_fail and not (math.isfinite(decision.noticed) and decision.noticed > 0):
            continue
        text = _noticed(decision) if decision.can_fail else _cannot_fail(decision)
        key = decision.can_fail, text, decision.compared.num_queries
        names.setdefault(key, []).append(decision.name)
    for (can_fail, text, num_queries), measures in names.items():
        yield Note("noticed" if can_fail else "cannot fail", f"{listed(measures, _NAMED)}: {text}", num_queries)


def _cannot_fail(decision: Decision) -> str:
    compared, needed = decision.compared, f"it takes {counted(decision.fewest, 'query')} at least"
    how = f"({compared.method}, one-sided, at {decision.level:.2g}), and there are {compared.num_queries:,}"
    return f"the gate could not have failed: {needed} {how}"


def _noticed(decision: Decision) -> str:
    compared, size = decision.compared, f"{decision.noticed:.2g}"
    if decision.margin is not None:
        text = f"a run as good as the baseline has about {_POWER_IN_WORDS} of passing if the margin is {size}"
    elif compared.counts:
        share, moving = (_percent(part) for part in (decision.noticed, compared.num_untied / compared.num_queries))
        others = (
            f"while {moving} get better or worse at random, as many as now" if compared.num_untied else "and fixes none"
        )
        text = f"this gate has {_POWER_IN_WORDS} of catching a change that breaks {share} of them {others}"
    else:
        text = f"this gate has about {_POWER_IN_WORDS} of catching a mean loss of {size}"
    return f"with {counted(compared.num_queries, 'query')} {text}"


def _percent(share: float) -> str:
    """Write a share with two digits.

    >>> _percent(0.14159), _percent(0.999)
    ('14 %', '100 %')
    """
    return f"{float(f'{100 * share:.2g}'):g} %"
