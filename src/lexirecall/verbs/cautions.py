"""Cautions: what a reader should know before drawing conclusions from a comparison.

Belongs here: the notes on tests, made from their results. Not here: the notes on what was read (notes).
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from lexirecall.errors import counted, listed
from lexirecall.judgments import BoolArray
from lexirecall.manifest import Note
from lexirecall.preferences import Preference
from lexirecall.statistics.attainable import MAX_T_OF_VALUES, resampling_note
from lexirecall.statistics.binomial import sign_pvalues
from lexirecall.statistics.differences import FEWEST_EFFECTIVE
from lexirecall.verbs.measurecomparison import MeasureComparison
from lexirecall.verbs.testing import Testing


def cautions(compared: Sequence[MeasureComparison], runs: Sequence[str], testing: Testing) -> Iterator[Note]:
    """Give the notes that limit what may be concluded."""
    yield from _without_p(compared)
    yield from _one_sided(compared, testing)
    yield from _left_out(compared)
    yield from _nothing_can_be_significant(compared)
    yield from _few_queries_decide(compared, testing)
    yield from _rare_queries_decide(compared, testing)
    yield from _contrary(compared, runs, testing.alpha)
    yield from _ranks_are_not_means(compared, testing)
    yield from _layout_errs(compared, testing)
    yield from _responses(compared)
    yield from _hangs_on_one(compared, runs)
    yield from _interval_against_p(compared, testing.alpha)
    yield from _stepped_beyond(compared, testing.alpha)
    yield from _resamples(compared, testing)


def _without_p(compared: Sequence[MeasureComparison]) -> Iterator[Note]:
    def is_outside(result: MeasureComparison) -> BoolArray:
        return np.asarray(np.isnan(result.corrected) & ~np.isnan(result.pvalues) & (result.num_one_sided == 0))

    apart = [result for result in compared if result.family.attainable.test == MAX_T_OF_VALUES and result.family.scope]
    total, which = _counts(_steady(apart), is_outside)
    if total:
        text = (
            f"in {counted(total, 'pair')} ({which}) too few queries differ for max-t: no p and no letter (--test auto "
            "counts wins there)"
        )
        yield Note("outside max-t", text, total)
    others = [result for result in compared if not any(result is one for one in apart) and result.family.scope]
    total, which = _counts(others, lambda result: np.isnan(result.corrected) & (result.num_one_sided == 0))
    if total:
        text = f"pairs without a p-value because they have too few common queries ({which}): left out of the correction"
        yield Note("pairs without p", text, total)


def _one_sided(compared: Sequence[MeasureComparison], testing: Testing) -> Iterator[Note]:
    total, which = _counts(compared, lambda result: result.num_one_sided > 0)
    if total:
        how = f"{testing.test} has no p there" if testing.is_simultaneous else "the sign test decides there"
        text = (
            f"{counted(total, 'pair')} with queries on which only one of the two runs has a value ({which}): it wins "
            f"these, and as they are in no mean {how}"
        )
        yield Note("one-sided", text, total)


def _left_out(compared: Sequence[MeasureComparison]) -> Iterator[Note]:
    left_out = {str(result.measure): result.num_left_out for result in compared if result.num_left_out}
    if left_out:
        which = listed((f"{name} {count:,}" for name, count in left_out.items()), 9)
        text = f"queries on which some run has no value ({which}) are left out of the layout"
        yield Note("layout", text, max(left_out.values()))


def _nothing_can_be_significant(compared: Sequence[MeasureComparison]) -> Iterator[Note]:
    for text, which in _by_text(compared, lambda result: result.family.attainable.note):
        yield Note("nothing can be significant", f"{text} ({listed(which, 9)})", len(which))


def _rare_queries_decide(compared: Sequence[MeasureComparison], testing: Testing) -> Iterator[Note]:
    rare = [str(result.measure) for result in compared if not result.is_steady]
    if rare and (testing.suits_pairs or testing.is_of_means):
        by_signs = "the sign test decides"
        how = by_signs if testing.test == "auto" else f"{testing.test} gives no letter (--test auto counts wins)"
        text = f"{listed(rare, 9)}: rare queries make the mean, and no test or interval of it holds; {how}"
        yield Note("rare queries", text, len(rare))


def _steady(compared: Sequence[MeasureComparison]) -> list[MeasureComparison]:
    return [result for result in compared if result.is_steady]


def _few_queries_decide(compared: Sequence[MeasureComparison], testing: Testing) -> Iterator[Note]:
    is_asked = testing.is_of_means
    if not (is_asked or testing.test == "auto"):
        return
    total, which = _counts(
        _steady(compared), lambda result: result.rests_on_few & (result.withheld if is_asked else np.isnan(result.lows))
    )
    if total:
        pairs, few = f"in {counted(total, 'pair')} ({which})", f"fewer than {FEWEST_EFFECTIVE} queries"
        how = f"{testing.test} does not hold there, and no letter is given (--test auto counts wins there)"
        by_wins = "there the sign test decides, and a letter says who wins more often"
        says = how if is_asked else by_wins
        yield Note("few queries decide", f"{pairs} {few} make most of the difference: {says}", total)
    if not is_asked:
        yield from _too_few_untied(compared, testing)


def _too_few_untied(compared: Sequence[MeasureComparison], testing: Testing) -> Iterator[Note]:
    """Count the pairs that a sign test cannot tell apart, whichever way all that differ point."""

    def is_powerless(result: MeasureComparison) -> BoolArray:
        factor = result.family.attainable.num_pairs
        least = factor * sign_pvalues(result.wins + result.losses, np.zeros_like(result.losses))
        return np.asarray(result.rests_on_few & result.own.by_signs & (least >= testing.alpha))

    total, which = _counts([result for result in compared if result.family.attainable.is_possible], is_powerless)
    if total:
        text = f"in {counted(total, 'pair')} ({which}) too few queries differ to tell the runs apart, whoever wins them"
        yield Note("too few untied", text, total)


def _contrary(compared: Sequence[MeasureComparison], runs: Sequence[str], alpha: float) -> Iterator[Note]:
    """Name a pair in which wins and means disagree, and say how many there are."""

    def is_contrary(result: MeasureComparison) -> BoolArray:
        differ = np.sign(result.means) != np.sign(result.wins - result.losses)
        return np.asarray(result.own.by_signs & result.withheld & differ & (result.corrected < alpha))

    total, _ = _counts(compared, is_contrary)
    if not total:
        return
    first = next(result for result in compared if is_contrary(result).any())
    k = int(np.flatnonzero(is_contrary(first))[0])
    wins, losses = int(first.wins[k]), int(first.losses[k])
    names = [runs[first.a[k]], runs[first.b[k]]][:: 1 if wins > losses else -1]
    more = f" (and {counted(total - 1, 'other pair')})" if total > 1 else ""
    text = (
        f"{first.measure}: {names[0]} is better on {max(wins, losses)} queries and {names[1]} on {min(wins, losses)}, "
        f"but {names[0]} has no better mean: no letter{more}"
    )
    yield Note("contrary", text, total)


def _ranks_are_not_means(compared: Sequence[MeasureComparison], testing: Testing) -> Iterator[Note]:
    of_sizes = [result for result in compared if not np.isnan(result.own.estimates).all()]
    if testing.test == "wilcoxon" and of_sizes:
        total, which = _counts(of_sizes, lambda result: result.withheld & (result.corrected < testing.alpha))
        names = listed((str(result.measure) for result in of_sizes), 9)
        against = f"; in {counted(total, 'pair')} ({which}) the two disagree: no letter" if total else ""
        text = f"wilcoxon tests whether differences lie evenly about 0 (see estimate), not means: {names}{against}"
        yield Note("wilcoxon", text, len(of_sizes))


def _layout_errs(compared: Sequence[MeasureComparison], testing: Testing) -> Iterator[Note]:
    if testing.has_layout:
        text = (
            f"{testing.test} is right only while no run differs from any other; where some do, it finds too many "
            "differences, and its responses and intervals depend on which other runs are there (--test max-t errs less)"
        )
        yield Note("hsd", text, len(compared))


def _hangs_on_one(compared: Sequence[MeasureComparison], runs: Sequence[str]) -> Iterator[Note]:
    """Say how many letters go if one query is left out, and name one of them."""

    def is_fragile(result: MeasureComparison) -> BoolArray:
        found = result.influence
        return np.zeros(len(result.a), bool) if found is None else found.is_asked & (found.num_turning > 0)

    total, which = _counts(compared, is_fragile)
    if not total:
        return
    first = next(result for result in compared if is_fragile(result).any())
    k = int(np.flatnonzero(is_fragile(first))[0])
    assert first.influence is not None  # noqa: S101 - it has letters that hang on a query
    number, query = int(first.influence.num_turning[k]), first.queries[first.influence.worst[k]]
    more = "" if number == 1 else f", or any of {number - 1:,} more,"
    text = (
        f"{counted(total, 'letter')} ({which}) would go with one query fewer: without {query}{more} "
        f"{runs[first.a[k]]} and {runs[first.b[k]]} do not differ under {first.measure}"
    )
    yield Note("influence", text, total)


def _stepped_beyond(compared: Sequence[MeasureComparison], alpha: float) -> Iterator[Note]:
    def is_beyond(result: MeasureComparison) -> BoolArray:
        return np.asarray(result.is_significant(alpha) & (result.family.lows <= 0) & (result.family.highs >= 0))

    total, which = _counts(compared, is_beyond)
    if total:
        text = (
            f"in {counted(total, 'pair')} ({which}) p_corrected is below {alpha:g} though low_all to high_all "
            "holds 0: decide by p_corrected, which goes step by step"
        )
        yield Note("simultaneous intervals", text, total)


def _responses(compared: Sequence[MeasureComparison]) -> Iterator[Note]:
    preferences = [result for result in compared if result.family.layout and isinstance(result.measure, Preference)]
    if not preferences:
        return
    total, which = _counts(preferences, lambda result: result.means * result.tested < 0)
    against = f"; it contradicts the head-to-head mean in {counted(total, 'pair')} ({which})" if total else ""
    text = (
        "HSD compares mean preferences against all other runs "
        f"({listed(str(result.measure) for result in preferences)}): this response, and so p, depends on which other "
        f"runs are there{against}"
    )
    yield Note("responses", text, len(preferences))


def _interval_against_p(compared: Sequence[MeasureComparison], alpha: float) -> Iterator[Note]:
    total, which = _counts(compared, lambda result: result.own.disagrees(alpha))
    if total:
        text = (
            f"{counted(total, 'pair')} whose interval excludes 0 though p is not below {alpha:g}, or the reverse "
            f"({which}): the two rest on different distributions, as Tango's score interval and the exact sign test do"
        )
        yield Note("interval and p", text, total)


def _resamples(compared: Sequence[MeasureComparison], testing: Testing) -> Iterator[Note]:
    def text_of(result: MeasureComparison) -> str:
        family, num_pairs = result.family, result.family.attainable.num_pairs
        if not family.num_resamples:
            return ""
        if not family.attainable.num_resamples:
            return f"all {family.num_resamples:,} sign patterns"
        taken = counted(family.num_resamples, "resample")
        if testing.num_resamples is None:
            taken = resampling_note(family.num_resamples, num_pairs, correction=result.correction, alpha=testing.alpha)
        return f"{taken}; seed {testing.seed}"

    for text, which in _by_text(compared, text_of):
        yield Note("resamples", f"{text} ({listed(which, 9)})", max(result.family.num_resamples for result in compared))


def _counts(compared: Sequence[MeasureComparison], which: Callable[[MeasureComparison], BoolArray]) -> tuple[int, str]:
    """Return how many pairs are meant, in all and in words by measure."""
    counts = {str(result.measure): int(np.count_nonzero(which(result))) for result in compared}
    return sum(counts.values()), listed((f"{name} {count:,}" for name, count in counts.items() if count), 9)


def _by_text(
    compared: Sequence[MeasureComparison], text_of: Callable[[MeasureComparison], str]
) -> Iterator[tuple[str, list[str]]]:
    """Give each text that is said of some measures, with their names."""
    for text in dict.fromkeys(filter(None, map(text_of, compared))):
        yield text, [str(result.measure) for result in compared if text_of(result) == text]
