"""Families: what is concluded from all pairs that are tested together, and what may be asked of them.

Belongs here: p corrected over pairs, or over pairs and measures, and intervals that hold for all of them at once. Not
here: tests of each pair by itself (testing), the verb (compare).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lexirecall.errors import UsageError, listed
from lexirecall.judgments import FloatArray
from lexirecall.measures import Measure
from lexirecall.measures.measure import ask
from lexirecall.names import Evaluable, parse_names
from lexirecall.statistics.attainable import least_attainable
from lexirecall.statistics.corrections import correct
from lexirecall.statistics.hsd import HSD
from lexirecall.statistics.maxt import MAX_T, MaxT, max_t, max_t_of_values, stand_outside
from lexirecall.statistics.paired import PairedTests
from lexirecall.statistics.portions import PairDifferences
from lexirecall.verbs.measurecomparison import FamilyTest
from lexirecall.verbs.testing import Testing, pair_intervals


def check_family(testing: Testing, rows: Sequence[Evaluable]) -> None:
    """Raise before anything is compared if the primary measure is not there, or a margin is beyond a measure's range.

    >>> from lexirecall.measures import AP
    >>> check_family(Testing(margin=1.5), [AP])
    Traceback (most recent call last):
    lexirecall.errors.UsageError: the margin is 1.5, but no difference in AP is above 1
      give a smaller margin, or name the measures that it is meant for with -m
    """
    if testing.primary is not None:
        primary_of(testing, rows)
    for row in rows:
        check_margin(testing.margin, row)


def check_margin(margin: float | None, row: Evaluable, *, is_share: bool = False) -> None:
    """Raise if no difference can be above the margin, which may be a share of the queries for a measure too."""
    low, high = row.limits if isinstance(row, Measure) and not is_share else (0, 1)
    if margin is not None and margin >= (span := high - low):
        raise UsageError(
            f"the margin is {margin:g}, but no difference in {row} is above {span:g}",
            remedy="give a smaller margin, or name the measures that it is meant for with -m",
        )


def primary_of(testing: Testing, rows: Sequence[Evaluable]) -> list[int]:
    """Return which measures are decided about: all, or the primary one."""
    if testing.primary is None:
        return list(range(len(rows)))
    wanted = [str(row) for row in parse_names(testing.primary)]
    found = [m for m, row in enumerate(rows) if str(row) in wanted]
    if len(wanted) != 1 or not found:
        raise UsageError(
            f"the primary measure is {testing.primary!r}, but must be one of those that are compared",
            remedy=f"choose from {listed(map(str, rows), 9)}",
        )
    return found


def decide(
    testing: Testing,
    rows: Sequence[Evaluable],
    differences: Sequence[PairDifferences],
    pair_tests: Sequence[PairedTests],
    layouts: Sequence[HSD] | None,
    *,
    show_progress: bool | None = False,
) -> list[FamilyTest]:
    """Decide about the pairs of each measure with regard to all that are tested together."""
    chosen = primary_of(testing, rows)
    tests: list[HSD | MaxT | PairedTests] = list(layouts or pair_tests)
    if testing.test == MAX_T:
        tests = _max_t(testing, differences, pair_tests, show_progress=show_progress)
    corrected, sizes = corrected_together(testing, [test.pvalues for test in tests], differences, chosen)
    families = []
    for m, (pairs, test, pair_test) in enumerate(zip(differences, tests, pair_tests, strict=True)):
        is_at_once = testing.is_simultaneous and test is not pair_test
        correction = "none" if m not in chosen or is_at_once else testing.correction
        least = least_attainable(
            testing.deciding(pairs),
            int(pairs.num_queries.max(initial=0)) if layouts is None else layouts[m].num_queries,
            sizes[m], correction=correction, alpha=testing.alpha, num_resamples=test.num_resamples,
        )  # fmt: skip
        lows, highs = _simultaneous(testing, pairs, test, max(sizes[m], 1))
        is_decided = ~np.isnan(corrected[m])
        lows, highs = (np.where(is_decided, end, np.nan) for end in (lows, highs))
        layout = None if layouts is None else layouts[m]
        families.append(
            FamilyTest(
                corrected=corrected[m], method=test.method, correction=correction, attainable=least,
                num_resamples=test.num_resamples, layout=layout, lows=lows, highs=highs,
                scope=_scope(testing, rows[m]) if m in chosen else "",
            )
        )  # fmt: skip
    return families


def _scope(testing: Testing, row: Evaluable) -> str:
    if testing.primary is not None:
        return f"{row} alone"
    return "all measures together" if testing.family == "measures" else "each measure by itself"


def corrected_together(
    testing: Testing, pvalues: Sequence[FloatArray], differences: Sequence[PairDifferences], chosen: Sequence[int]
) -> tuple[list[FloatArray], list[int]]:
    """Return the p of the pairs of each measure with regard to all that are tested together, and how many these are.

    A test of all pairs at once is not corrected again. Where it tests the values and other measures are signs, the
    family is shared: each part has the share of alpha that it has of the pairs.
    """
    known = [
        np.where(testing.is_simultaneous & (pairs.num_one_sided > 0) | (m not in chosen), np.nan, p)
        for m, (p, pairs) in enumerate(zip(pvalues, differences, strict=True))
    ]
    corrected = [np.full(len(p), np.nan) for p in known]
    sizes = [int(np.count_nonzero(~np.isnan(p))) for p in known]
    is_joint = testing.family == "measures"
    total = sum(sizes)
    at_once = [m for m in chosen if testing.is_simultaneous and not (is_joint and differences[m].is_signs)]
    for m in at_once:
        corrected[m] = known[m]
    others = [m for m in chosen if m not in at_once]
    for part in [others] if is_joint else [[m] for m in others]:
        joined = correct(np.concatenate([known[m] for m in part]), testing.correction) if part else np.empty(0)
        for m, p in zip(part, np.split(joined, np.cumsum([len(known[m]) for m in part])[:-1]), strict=False):
            corrected[m] = p
    if is_joint and at_once and others:
        for part in (at_once, others):
            # p < share * alpha is p / share < alpha; the maximum below keeps an empty part from dividing by 0.
            share = sum(sizes[m] for m in part) / max(total, 1)
            for m in part:
                corrected[m] = np.minimum(corrected[m] / max(share, 1 / max(total, 1)), 1.0)
    return corrected, [total if is_joint else size for size in sizes]


def _max_t(
    testing: Testing,
    differences: Sequence[PairDifferences],
    pair_tests: Sequence[PairedTests],
    *,
    show_progress: bool | None,
) -> list[HSD | MaxT | PairedTests]:
    """Test the pairs of each measure at once; those of all values in common if measures are one family.

    Their intervals have the share of alpha that `corrected_together` leaves to their p.
    """
    available = {**testing.settings, "show_progress": show_progress}
    if testing.family != "measures":
        return [ask(max_t, pairs, available) for pairs in differences]
    values = [pairs for pairs in differences if not pairs.is_signs]
    inside = sum(int(np.count_nonzero(~stand_outside(pairs))) for pairs in values)
    signs = [test.pvalues for pairs, test in zip(differences, pair_tests, strict=True) if pairs.is_signs]
    beside = sum(int(np.count_nonzero(~np.isnan(pvalues))) for pvalues in signs)
    available["alpha"] = testing.alpha * max(inside, 1) / max(inside + beside, 1)
    together = iter(ask(max_t_of_values, values, available) if values else ())
    return [test if pairs.is_signs else next(together) for pairs, test in zip(differences, pair_tests, strict=True)]


def _simultaneous(
    testing: Testing, differences: PairDifferences, test: HSD | MaxT | PairedTests, num_pairs: int
) -> tuple[FloatArray, FloatArray]:
    """Return where the intervals of the pairs begin and end that hold all at once with the chance 1 - alpha, [P]."""
    if isinstance(test, MaxT) and not differences.is_signs:
        reach = np.where(np.isfinite(test.reach), test.reach, np.nan)
        return differences.means - reach, differences.means + reach
    _, lows, highs = pair_intervals(replace(testing, alpha=testing.alpha / num_pairs), differences)
    return lows, highs
