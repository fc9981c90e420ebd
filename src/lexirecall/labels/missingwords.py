"""Missing words: what a reader concludes from what depends on unjudged documents.

Belongs here: the sentences, each made from the numbers, with their uncertainty. Not here: the numbers (missingresult),
rows and tables (missingtables).
"""

from collections.abc import Callable, Iterator

import numpy as np

from lexirecall.errors import counted
from lexirecall.judgments import FloatArray
from lexirecall.labels.forecasts import standard_error
from lexirecall.labels.missingresult import PairLabels, Unjudged
from lexirecall.labels.rates import stated_rate
from lexirecall.tables import number, percent

MOST_LIKELY = 0.95
"""A conclusion that holds in this share of the labellings is called stable where there are many."""


def _on_everything(result: Unjudged) -> Iterator[str]:
    """Say how much is judged, what is safe, and what becomes of the rest."""
    retrieved, missing = (sum(getattr(labels, name) for labels in result.labels) for name in ("retrieved", "unjudged"))
    of_runs = "the run retrieves" if len(result.runs) == 1 else f"{len(result.runs):,} runs retrieve"
    if not missing:
        yield f"Every document that {of_runs} is judged: no label is missing."
        return
    yield f"{percent(missing / retrieved)} of the documents that {of_runs} are unjudged."
    if result.rate is not None:
        expected, low, high = stated_rate(result.rate).number(result.num_unjudged)
        yield (
            f"Experimental: each unjudged document is taken to be relevant with the stated chance of "
            f"{100 * result.rate:.2g} %, independently of the others. Of the {result.num_unjudged:,} unjudged ones, "
            f"{number(expected, 1)} are expected to be relevant, {low:,} to {high:,} with a chance of 95 %."
        )
    for pairs in result.pairs:
        yield from _on_pair(result, pairs) if len(pairs.compared.a) == 1 else _on_pairs(result, pairs)


def _on_pair(result: Unjudged, pairs: PairLabels) -> Iterator[str]:
    now, forecast = pairs.compared, pairs.forecast
    a, b = result.runs[now.a[0]], result.runs[now.b[0]]
    decided = int(pairs.decided[0])
    if not decided:
        compared = "tie on every query" if now.num_queries[0] else "have no query with a value for both"
        yield f"{pairs.measure}: {a} and {b} {compared}."
        return
    yield f"{pairs.measure}: {_safe(pairs, counted(decided, 'decided query'))}."
    if forecast is None:
        return
    expected = pairs.expected
    assert expected is not None  # noqa: S101 - there is a forecast
    says = [_reversed(float(expected[0]), 2)]
    better = np.sign(np.nan_to_num(now.tested[0]))
    if better:
        first, second = (a, b) if better > 0 else (b, a)
        same = float(forecast.same_order[0])
        says.append(f"{first} stays better than {second} in {_share(same, result.num_samples)}")
    share, turned = float(forecast.significant[0]), float(forecast.turned[0])
    if now.is_significant(result.alpha)[0]:
        says.append(f"the difference stays significant in {_share(share, result.num_samples)}")
        says += [f"turns round significantly in {_share(turned, result.num_samples)}"] if turned else []
    else:
        says.append(f"a difference becomes significant in {_share(share + turned, result.num_samples)}")
    yield f"{pairs.measure}: {says[0]}; in {result.num_samples:,} sampled labellings {', and '.join(says[1:])}."


def _on_pairs(result: Unjudged, pairs: PairLabels) -> Iterator[str]:
    total = int(pairs.decided.sum())
    decisions = f"{total:,} decisions ({counted(len(pairs.compared.a), 'pair')} of runs, query by query)"
    if not total:
        yield f"{pairs.measure}: no run is better than another on any query."
        return
    yield f"{pairs.measure}: {_safe(pairs, decisions)}."
    forecast, order, expected = pairs.forecast, pairs.order, pairs.expected
    if forecast is None or order is None or expected is None:
        return
    says = [_reversed(float(expected.sum()), 1, f" ({percent(float(expected.sum()) / total)})")]
    says.append(f"{_stable(forecast.same_order)} pairs keep their order in 95 % or more of the labellings")
    is_significant = pairs.compared.is_significant(result.alpha)
    if is_significant.any():
        stays = forecast.significant[is_significant]
        says.append(f"{_stable(stays)} significant differences stay so in 95 % or more")
    arises = (forecast.significant + forecast.turned)[~is_significant]
    if len(arises):
        what = "others become so" if is_significant.any() else "differences become significant"
        says.append(f"{np.count_nonzero(arises > 1 - MOST_LIKELY):,} of {len(arises):,} {what} in more than 5 %")
    yield f"{pairs.measure}: {'; '.join(says)}."
    taus = order.taus[~np.isnan(order.taus)]
    if len(result.runs) > 2 and len(taus):
        best = f"{result.runs[order.best]} stays the best run in {_share(order.stays_best, result.num_samples)}"
        yield (
            f"{pairs.measure}: {best}; Kendall's tau with the order of the runs now is {number(float(taus.mean()))} on "
            f"average, {number(float(taus.min()))} at the lowest."
        )


def _safe(pairs: PairLabels, of_what: str) -> str:
    """Say how many decisions no label can reverse, and what it takes to reverse the others."""
    flip, unjudged = pairs.median_flip(slice(None))
    either = f"of {_median(unjudged)} unjudged documents that either run retrieves (medians)"
    if pairs.safe is None:
        return f"{of_what}; how few labels reverse one is not known exactly for this measure"
    safe = int(pairs.safe.sum())
    first = f"of {of_what} {f'{safe:,}' if safe else 'none'} {'are' if safe > 1 else 'is'} safe, whatever is judged"
    if np.isinf(flip):
        return first
    return f"{first}; to reverse one it takes {_median(flip)} {either}"


def _median(value: float) -> str:
    """Write a median of whole numbers.

    >>> _median(1165.0), _median(3.5)
    ('1,165', '3.5')
    """
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def _reversed(expected: float, decimals: int, share: str = "") -> str:
    """Say how many decisions are expected to be reversed."""
    if not expected:
        return "none of them is expected to be reversed"
    least = 10.0**-decimals
    shown = f"{expected:,.0f}" if expected >= 100 else number(expected, decimals)
    shown = shown if expected >= least / 2 else f"less than {least:g}"
    return f"{shown} of them{share} are expected to be reversed"


def _share(share: float, num_samples: int) -> str:
    error = f" (standard error {percent(standard_error(share, num_samples))})" if 0 < share < 1 else ""
    return f"{percent(share)}{error}"


def _stable(shares: FloatArray) -> str:
    known = shares[~np.isnan(shares)]
    return f"{np.count_nonzero(known >= MOST_LIKELY):,} of {len(known):,}"


def _on_hindsight(result: Unjudged) -> Iterator[str]:
    """Say what became of the forecasts."""
    for row in result.rows("hindsight"):
        if row["measure"] == result.hindsight[0].measure:  # the same for all measures, unless their levels differ
            yield (
                f"Experimental: {row['judged_since']:,} of {row['unjudged']:,} unjudged documents were judged since, "
                f"and {row['relevant']:,} of these are relevant; {number(row['expected'], 1)} were expected, "
                f"{row['expected_low']:,} to {row['expected_high']:,} with a chance of 95 %."
            )
        safe = "" if row["safe"] is None else f" (safe ones: {row['safe_reversed']:,} of {row['safe']:,})"
        kept = (
            f"{name} kept by {row[name + '_kept']:,} of {counted(row[name + '_pairs'], 'pair')}, "
            f"{number(row[name + '_kept_expected'], 1)} expected"
            for name in ("order", "significance")
        )
        yield (
            f"{row['measure']}: {row['reversed']:,} of {counted(row['decisions'], 'decision')} reversed{safe}, "
            f"{number(row['reversals'], 1)} expected; {'; '.join(kept)}."
        )


def _on_judging(result: Unjudged) -> Iterator[str]:
    if not result.to_judge:
        yield "Every document that a run retrieves is judged: there is nothing to judge."


SENTENCES: dict[str, Callable[[Unjudged], Iterator[str]]] = {
    "summary": _on_everything, "hindsight": _on_hindsight, "judge": _on_judging,
}  # fmt: skip
"""What is said of each view before its tables."""
