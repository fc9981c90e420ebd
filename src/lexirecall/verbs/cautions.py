"""Cautions: what a reader should know before drawing conclusions from a comparison.

Belongs here: the notes on tests, made from their results. Not here: the notes on what was read (notes).
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from lexirecall.errors import counted, listed
from lexirecall.judgments import BoolArray
from lexirecall.manifest import Note
from lexirecall.preferences import Preference
from lexirecall.statistics.attainable import resampling_note
from lexirecall.verbs.compared import MeasureComparison
from lexirecall.verbs.testing import Testing

FEWEST_EFFECTIVE = 8
"""Below so many effective queries the p of a t test or of HSD is not to be trusted."""
_NEARLY_NORMAL = ("t", "hsd", "randomized-hsd")  # tests that rely on many queries, none of which decides


def cautions(compared: Sequence[MeasureComparison], runs: Sequence[str], testing: Testing) -> Iterator[Note]:
    """Give the notes that limit what may be concluded."""
    yield from _without_p(compared)
    yield from _left_out(compared)
    yield from _nothing_can_be_significant(compared)
    yield from _few_queries_decide(compared, runs)
    yield from _responses(compared)
    yield from _interval_against_p(compared, testing.alpha)
    yield from _resamples(compared, testing)


def _without_p(compared: Sequence[MeasureComparison]) -> Iterator[Note]:
    total, which = _counts(compared, lambda each: np.isnan(each.corrected))
    if total:
        text = f"pairs without a p-value because they have too few common queries ({which}): left out of the correction"
        yield Note("pairs without p", text, total)


def _left_out(compared: Sequence[MeasureComparison]) -> Iterator[Note]:
    left_out = {str(each.measure): each.num_left_out for each in compared if each.num_left_out}
    if left_out:
        which = listed((f"{name} {count:,}" for name, count in left_out.items()), 9)
        text = f"queries on which some run has no value ({which}) are left out of the layout"
        yield Note("layout", text, max(left_out.values()))


def _nothing_can_be_significant(compared: Sequence[MeasureComparison]) -> Iterator[Note]:
    for text, which in _by_text(compared, lambda each: each.family.attainable.note):
        yield Note("nothing can be significant", f"{text} ({listed(which, 9)})", len(which))


def _few_queries_decide(compared: Sequence[MeasureComparison], runs: Sequence[str]) -> Iterator[Note]:
    rests_on_few = [each for each in compared if each.family.attainable.test in _NEARLY_NORMAL]
    total, which = _counts(rests_on_few, lambda each: each.effective < FEWEST_EFFECTIVE)
    if not total:
        return
    worst = min((each for each in rests_on_few if (each.effective < FEWEST_EFFECTIVE).any()), key=_fewest)
    k = int(np.nanargmin(worst.effective))
    pair = f"{runs[worst.a[k]]} and {runs[worst.b[k]]} under {worst.measure}"
    text = (
        f"few queries decide: {counted(total, 'pair')} with fewer than {FEWEST_EFFECTIVE} effective queries ({which}), "
        f"fewest {worst.effective[k]:.1f} of {worst.num_queries[k]:,} for {pair}; the p of a t test or of HSD is not "
        "reliable there (--test sign, randomization and max-t do not assume normal differences)"
    )
    yield Note("few queries decide", text, total)


def _fewest(compared: MeasureComparison) -> float:
    return float(np.nanmin(compared.effective))


def _responses(compared: Sequence[MeasureComparison]) -> Iterator[Note]:
    preferences = [each for each in compared if each.family.layout and isinstance(each.measure, Preference)]
    if not preferences:
        return
    total, which = _counts(preferences, lambda each: each.means * each.tested < 0)
    against = f"; it contradicts the head-to-head mean in {counted(total, 'pair')} ({which})" if total else ""
    text = (
        f"HSD compares mean preferences against all other runs ({listed(str(each.measure) for each in preferences)}): "
        f"this response, and so p, depends on which other runs are there{against}"
    )
    yield Note("responses", text, len(preferences))


def _interval_against_p(compared: Sequence[MeasureComparison], alpha: float) -> Iterator[Note]:
    total, which = _counts(compared, lambda each: each.own.disagrees(alpha))
    if total:
        text = (
            f"{counted(total, 'pair')} whose interval excludes 0 though p is not below {alpha:g}, or the reverse "
            f"({which}): the two rest on different distributions, as Tango's score interval and the exact sign test do"
        )
        yield Note("interval and p", text, total)


def _resamples(compared: Sequence[MeasureComparison], testing: Testing) -> Iterator[Note]:
    def said(each: MeasureComparison) -> str:
        family, num_pairs = each.family, int(np.count_nonzero(~np.isnan(each.corrected)))
        if not family.num_resamples:
            return ""
        if not family.attainable.num_resamples:
            return f"all {family.num_resamples:,} sign patterns"
        taken = counted(family.num_resamples, "resample")
        if testing.num_resamples is None:
            taken = resampling_note(family.num_resamples, num_pairs, correction=each.correction, alpha=testing.alpha)
        return f"{taken}; seed {testing.seed}"

    for text, which in _by_text(compared, said):
        yield Note("resamples", f"{text} ({listed(which, 9)})", max(each.family.num_resamples for each in compared))


def _counts(compared: Sequence[MeasureComparison], which: Callable[[MeasureComparison], BoolArray]) -> tuple[int, str]:
    """Return how many pairs are meant, in all and in words by measure."""
    counts = {str(each.measure): int(np.count_nonzero(which(each))) for each in compared}
    return sum(counts.values()), listed((f"{name} {count:,}" for name, count in counts.items() if count), 9)


def _by_text(
    compared: Sequence[MeasureComparison], said: Callable[[MeasureComparison], str]
) -> Iterator[tuple[str, list[str]]]:
    """Give each text that is said of some measures, with their names."""
    for text in dict.fromkeys(filter(None, map(said, compared))):
        yield text, [str(each.measure) for each in compared if said(each) == text]
