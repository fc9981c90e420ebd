"""Certificates of recall: the bounds are those of every possible sample, and they hold as often as they say."""

import json
import math
import shlex
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from command import Command
from lexirecall import certify
from lexirecall.errors import DataError, FormatError, UsageError
from lexirecall.labels import sampleplans
from lexirecall.labels.certificates import Certificate, ReviewCounts, SampleCount, bound_missed, most_missed
from lexirecall.labels.sampleplans import CHANCE, plan
from lexirecall.labels.samples import draw_sample
from lexirecall.statistics import fewest_relevant, hypergeometric, most_relevant
from lexirecall.statistics.hypergeometric import chance_of_at_most, is_at_most, sample_needed
from strategies import quick

ALPHAS = [Fraction(1, 20), Fraction(1, 10), Fraction(1, 40), Fraction(1, 3)]
GOOD: dict[str, bytes] = {}
"""The commands here read no files."""
SMALL = [(M, s) for M in range(9) for s in range(M + 1)]


# Bounds


@cache
def chance(population: int, relevant: int, sample: int, found: int) -> Fraction:
    """Return P(X <= found) from whole numbers, for populations too large to look at every sample."""
    ways = sum(math.comb(relevant, i) * math.comb(population - relevant, sample - i) for i in range(found + 1))
    return Fraction(ways, math.comb(population, sample))


@st.composite
def samples(draw: st.DrawFn, largest: int) -> tuple[int, int, int, int]:
    """Draw a population, how many of it are relevant, a sample and how many finds are looked for."""
    population = draw(st.integers(0, largest))
    relevant, sample = draw(st.integers(0, population)), draw(st.integers(0, population))
    return population, relevant, sample, draw(st.integers(0, sample))


@pytest.mark.parametrize(("population", "size"), SMALL)
def test_the_chance_of_few_finds_is_that_among_all_samples(population: int, size: int) -> None:
    for relevant in range(population + 1):
        chances = naive.chance_of_finds(population, relevant, size)
        for found in range(size + 1):
            expected = sum(chances[: found + 1])
            assert chance_of_at_most(population, relevant, size, found) == pytest.approx(float(expected), rel=1e-13)
            assert chance(population, relevant, size, found) == expected


@quick(200)
@given(samples(3000))
def test_the_chance_of_few_finds_is_right_to_thirteen_digits(drawn: tuple[int, int, int, int]) -> None:
    expected = chance(*drawn)
    if expected == 0 or expected > Fraction(1, 10**280):
        # what is missing to 1 is computed if it is the smaller part, and is right to as many digits
        close = pytest.approx(float(expected), rel=1e-12, abs=0)
        assert chance_of_at_most(*drawn) == close


@pytest.mark.parametrize("found", [0, 3, 60])
def test_the_chance_of_few_finds_is_right_for_ten_million(found: int) -> None:
    for relevant, sample in product((100, 40_000), (1000, 3000)):
        drawn = 10**7, relevant, sample, min(found, relevant, sample)
        assert chance_of_at_most(*drawn) == pytest.approx(float(chance(*drawn)), rel=1e-12)


@pytest.mark.parametrize("alpha", ALPHAS, ids=str)
@pytest.mark.parametrize(("population", "size"), SMALL)
def test_bounds_are_the_ends_of_what_is_possible(population: int, size: int, alpha: Fraction) -> None:
    for found in range(size + 1):
        most = naive.possible_numbers(population, size, found, alpha, below=True)[-1]
        fewest = naive.possible_numbers(population, size, found, alpha, below=False)[0]
        assert most_relevant(population, size, found, alpha) == most
        assert fewest_relevant(population, size, found, alpha) == fewest


@quick(100)
@given(samples(400), st.sampled_from(ALPHAS))
def test_one_more_than_the_bound_is_not_possible(drawn: tuple[int, int, int, int], alpha: Fraction) -> None:
    population, _, size, found = drawn
    most = most_relevant(population, size, found, alpha)
    assert chance(population, most, size, found) > alpha
    if most < population - size + found:
        assert chance(population, most + 1, size, found) <= alpha


def test_a_chance_of_exactly_alpha_is_decided_in_whole_numbers() -> None:
    """One of 20 is drawn: if 19 are relevant, the chance that it is not is 1/20, which is not above alpha."""
    assert most_relevant(20, 1, 0, Fraction(1, 20)) == 18
    assert most_relevant(20, 1, 0, Fraction(1, 20) - Fraction(1, 10**30)) == 19
    assert certify(corpus_size=20, read=0, found=0, sample=1, relevant=0)[0].missed.most == 18


def test_what_cannot_be_decided_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hypergeometric, "_MOST_BITS", 0)
    assert not is_at_most(20, 19, 1, 0, Fraction(1, 20))
    assert is_at_most(20, 20, 1, 0, Fraction(1, 20))


@pytest.mark.parametrize("alpha", ALPHAS, ids=str)
@pytest.mark.parametrize("population", range(9))
def test_the_smallest_sample_for_a_bound_is_found(population: int, alpha: Fraction) -> None:
    for found, most in product(range(population + 1), range(population + 3)):
        sizes = [
            size
            for size in range(found, population + 1)
            if naive.possible_numbers(population, size, found, alpha, below=True)[-1] <= most
        ]
        assert sample_needed(population, found, most, alpha) == (sizes[0] if sizes else None)


@pytest.mark.parametrize("confidence", [0.8, 0.9])
@pytest.mark.parametrize(("population", "size"), [(M, s) for M, s in SMALL if M == 8])
def test_the_interval_has_half_of_alpha_on_each_side(population: int, size: int, confidence: float) -> None:
    alpha = (1 - Fraction(str(confidence))) / 2
    for found in range(size + 1):
        made = certify(corpus_size=9, read=1, found=1, sample=size, relevant=found, confidence=confidence)[0]
        assert made.missed.low == naive.possible_numbers(8, size, found, alpha, below=False)[0]
        assert made.missed.high == naive.possible_numbers(8, size, found, alpha, below=True)[-1]
        assert made.missed.most == naive.possible_numbers(8, size, found, 2 * alpha, below=True)[-1]


# Certificates


def all_outcomes(unread: int, missed: int, sizes: Any) -> Any:
    """Give the samples that may come about, each with its chance; the next size may depend on what was found."""

    def go(left: int, still: int, drawn: tuple[SampleCount, ...], likely: Fraction) -> Any:
        size = sizes(drawn)
        if size is None:
            yield drawn, likely
            return
        for finds, own in enumerate(naive.chance_of_finds(left, still, size)):
            if own:
                yield from go(left - size, still - finds, (*drawn, SampleCount(size, finds)), likely * own)

    return go(unread, missed, (), Fraction(1))


def held(unread: int, missed: int, found: int, sizes: Any, looks: int, confidence: float) -> dict[str, Fraction]:
    """Return how often each bound of recall holds, over all samples."""
    held = dict.fromkeys(("recall_low", "interval", "added_low", "added"), Fraction(0))
    for drawn, likely in all_outcomes(unread, missed, sizes):
        made = Certificate(ReviewCounts(found + unread, found, found, drawn), confidence, looks)
        for prefix, bounds, finds in (("", made.bounds, 0), ("added", made.bounds_added, made.counts.relevant)):
            true = Fraction(found + finds, found + missed)
            low, high, least = (
                Fraction(each or 0).limit_denominator(1000) for each in (bounds[1], bounds[2], bounds[0])
            )
            held[f"{prefix}_low" if prefix else "recall_low"] += likely * (least <= true)
            held[prefix or "interval"] += likely * (low <= true <= high)
    return held


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize(("unread", "size"), [(M, s) for M, s in SMALL if M in (5, 8)])
def test_a_certificate_holds_at_least_as_often_as_it_says(unread: int, size: int, confidence: float) -> None:
    for missed in range(unread + 1):
        once = held(unread, missed, 3, lambda drawn: None if drawn else size, 1, confidence)
        assert min(once.values()) >= Fraction(str(confidence))


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("missed", range(9))
def test_it_holds_too_if_a_second_size_depends_on_the_first_finds(missed: int, confidence: float) -> None:
    def sizes(drawn: tuple[SampleCount, ...]) -> int | None:
        """Draw three, and then nothing if nothing was found, or as many more as would suit best."""
        if not drawn:
            return 3
        return None if len(drawn) == 2 or drawn[0].relevant == 0 else min(5, 2 * drawn[0].relevant)

    assert min(held(8, missed, 3, sizes, 2, confidence).values()) >= Fraction(str(confidence))


def test_looking_twice_without_planning_for_it_would_not_hold() -> None:
    """The reason for shares: at full alpha each, some of the two claims is wrong too often."""
    wrong = Fraction(0)
    for drawn, likely in all_outcomes(8, 4, lambda drawn: None if len(drawn) == 2 else 3):
        first = bound_missed(ReviewCounts(11, 3, 3, drawn[:1]), Fraction(1, 10), 1).most
        later = ReviewCounts(11, 6, 3, (drawn[1],))
        wrong += likely * (first < 4 or drawn[0].relevant + bound_missed(later, Fraction(1, 10), 1).most < 4)
    assert wrong > Fraction(1, 10)


counts = st.integers(1, 60).flatmap(
    lambda unread: st.tuples(st.just(unread), st.integers(0, 30), st.integers(0, unread)).flatmap(
        lambda drawn: st.tuples(*map(st.just, drawn), st.integers(0, drawn[2]))
    )
)


@given(counts)
def test_bounds_are_in_order_and_finds_only_help(drawn: tuple[int, int, int, int]) -> None:
    unread, found, size, relevant = drawn
    made = certify(corpus_size=unread + found, read=found, found=found, sample=size, relevant=relevant)[0]
    missed = made.missed
    assert relevant <= missed.low <= missed.high <= unread - size + relevant
    assert missed.low <= missed.most <= missed.high
    for bounds in (made.bounds, made.bounds_added):
        if bounds.recall_low is not None:
            assert 0 <= bounds.low <= bounds.recall_low <= 1  # type: ignore[operator]
            assert bounds.low <= bounds.high <= 1  # type: ignore[operator]
    if found and made.bounds.recall_low is not None:
        assert made.bounds.recall_low <= (made.bounds_added.recall_low or 0)
        assert made.bounds.recall_low == found / (found + missed.most)
        assert made.bounds_added.recall_low == (found + relevant) / (found + missed.most)


def test_all_of_the_rest_sampled_leaves_no_doubt() -> None:
    made = certify(corpus_size=100, read=60, found=19, sample=40, relevant=1)[0]
    assert made.bounds == (0.95, 0.95, 0.95)
    assert made.bounds_added == (1.0, 1.0, 1.0)
    assert made.sentence() == (
        "95.0% of the relevant documents were found: 1 is among the 40 not read, all of which were sampled"
    )


def test_without_a_find_recall_is_0_unless_nothing_is_relevant() -> None:
    nothing = certify(corpus_size=50, read=10, found=0, sample=40, relevant=0)[0]
    assert nothing.bounds == (None, None, None)
    assert nothing.sentence() == "Nothing is relevant, so that there is no recall"
    some = certify(corpus_size=50, read=10, found=0, sample=20, relevant=0)[0]
    assert some.bounds == (0.0, 0.0, 0.0)
    assert some.estimate is None
    assert some.sentence().endswith("With 95% confidence at most 4 are among the 40 not read")
    as_many = certify(corpus_size=50, read=10, found=4, sample=20, relevant=0)[0]
    assert as_many.missed.most == 4
    assert as_many.sentence().startswith("With 95% confidence at least 50.0% of")
    sampled = certify(corpus_size=50, read=10, found=0, sample=20, relevant=2)[0]
    assert sampled.bounds == (0.0, 0.0, 0.0)
    assert 0 < (sampled.bounds_added.low or 0) < (sampled.bounds_added.high or 0) == 1.0


def test_without_a_sample_all_of_the_rest_may_be_relevant() -> None:
    made = certify(corpus_size=100, read=20, found=20)[0]
    assert (made.missed.most, made.bounds.recall_low, made.bounds.high, made.estimate) == (80, 0.2, 1.0, None)
    assert made.sentence().startswith("Without a sample it is only certain that at least 20.0%")


def test_samples_that_contradict_each_other_are_not_believed() -> None:
    made = certify(corpus_size=10_000, read=2_000, found=190, sample=[200, 200], relevant=[0, 150])
    assert not made[0].missed.is_consistent
    assert made[0].missed.most > 5000
    assert any("contradict" in note.text for note in made.notes)
    assert not any("contradict" in note.text for note in certify(
        corpus_size=10_000, read=2_000, found=190, sample=[200, 200], relevant=[1, 2]).notes)  # fmt: skip


def test_a_lower_bound_is_never_rounded_up() -> None:
    made = certify(corpus_size=10_000, read=2_000, found=190, sample=1_500, relevant=0)[0]
    assert made.bounds.recall_low == pytest.approx(0.93137, abs=1e-5)
    assert "at least 93.1% of" in made.sentence()


# Planning


def chance_to_show(unread: int, missed: int, size: int, most: int, alpha: Fraction) -> Fraction:
    """Return how often a sample bounds what is missed by `most`, by looking at every sample."""
    chances = naive.chance_of_finds(unread, missed, size)
    return sum(
        (
            likely
            for finds, likely in enumerate(chances)
            if likely and naive.possible_numbers(unread, size, finds, alpha, below=True)[-1] <= most
        ),
        Fraction(0),
    )


@pytest.mark.parametrize("unread", [3, 6, 8])
@pytest.mark.parametrize("wanted", [0.5, 0.75, 0.9])
def test_the_planned_sample_is_the_smallest_that_is_likely_to_show_it(unread: int, wanted: float) -> None:
    for found, missed in product((2, 6, 20), range(unread + 1)):
        made = Certificate(ReviewCounts(found + unread, found, found), 0.8)
        planned = plan(made, wanted, missed)
        most = most_missed(found, wanted)
        assert planned.is_shown == (most >= unread)
        if not planned.is_shown:
            sizes = [
                size
                for size in range(unread + 1)
                if chance_to_show(unread, missed, size, most, Fraction(1, 5)) >= Fraction("0.8")
            ]
            assert planned.sample_needed == (sizes[0] if sizes else None)
            assert bool(planned.why) == (not sizes) == (missed > most)
            none = [
                s
                for s in range(unread + 1)
                if naive.possible_numbers(unread, s, 0, Fraction(1, 5), below=True)[-1] <= most
            ]
            assert planned.sample_if_none == none[0]


def test_a_further_sample_has_its_share_and_counts_what_was_found() -> None:
    counts = ReviewCounts(508, 500, 6, (SampleCount(2, 1),))
    planned = plan(Certificate(counts, 0.6, looks=2), 0.75, 1)
    assert planned.is_further
    sizes = [s for s in range(7) if naive.possible_numbers(6, s, 0, Fraction(1, 5), below=True)[-1] <= 1]
    assert planned.sample_needed == planned.sample_if_none == sizes[0]
    shown = certify(corpus_size=508, read=500, found=6, sample=[2, sizes[0]], relevant=[1, 0], confidence=0.6)[0]
    assert shown.shows(0.75)
    fewer = certify(corpus_size=508, read=500, found=6, sample=[2, sizes[0] - 1], relevant=[1, 0], confidence=0.6)[0]
    assert not fewer.shows(0.75)


@pytest.mark.parametrize(("sample", "relevant"), [(0, 0), (100, 0), (300, 2), (50, 5)])
def test_after_reading_so_many_more_a_sample_is_likely_to_show_it_and_one_fewer_is_not(
    sample: int, relevant: int
) -> None:
    made = certify(corpus_size=1200, read=200, found=60, sample=sample, relevant=relevant, wanted=0.9)
    planned = made.plans[0]
    assert planned is not None
    likely = []
    for more in (planned.read_needed - 1, planned.read_needed):
        left, alpha = 1000 - more, Fraction(1, 20)
        still = math.ceil(Fraction(planned.assumed * left, 1000))
        most = most_missed(60 + planned.assumed - still, 0.9)
        size = min(sample, left)
        allowed = [finds for finds in range(size + 1) if most_relevant(left, size, finds, alpha) <= most]
        likely.append(bool(allowed) and chance(left, still, size, allowed[-1]) >= Fraction(str(CHANCE)))
    assert likely == [False, True]


def test_a_plan_says_why_no_sample_can_show_what_is_wanted() -> None:
    many = certify(corpus_size=10_000, read=2_000, found=190, sample=1000, relevant=11, wanted=0.95)
    assert many.plans[0] is not None
    assert many.plans[0].sample_needed is many.plans[0].sample_if_none is None
    assert "the sample alone holds 11 relevant documents" in many.sentences()[1]
    some = certify(corpus_size=10_000, read=2_000, found=190, sample=1500, relevant=3, wanted=0.95)
    assert "if 16 were missed" in some.sentences()[1]
    assert some.plans[0] is not None
    assert some.plans[0].sample_if_none == 1907


def test_a_planned_sample_in_which_nothing_is_found_shows_it() -> None:
    for size, shown in ((1906, False), (1907, True)):
        made = certify(corpus_size=10_000, read=2_000, found=190, sample=size, relevant=0, wanted=0.95)
        assert made.plans[0] is not None
        assert made.plans[0].is_shown == shown
        needed = made.plans[0].sample_needed, made.plans[0].sample_if_none
        assert needed == ((0, 0) if shown else (1907, 1907))
        assert (made.plans[0].read_needed == 0) == shown
        assert any(sentence == "That shows the 95% wanted" for sentence in made.sentences()) == shown


def test_with_many_to_find_halving_leads_to_a_sample_that_is_likely_to_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Certificate(ReviewCounts(20_000, 2_000, 1_900), 0.95)
    assert most_missed(1_900, 0.95) == 100
    tried = [plan(made, 0.95, missed).sample_needed for missed in (0, 1, 20, 50, 80, 95, 100)]
    monkeypatch.setattr(sampleplans, "_MANY", -1)
    halved = [plan(made, 0.95, missed).sample_needed for missed in (0, 1, 20, 50, 80, 95, 100)]
    assert halved == tried
    assert sorted(tried) == tried  # type: ignore[type-var]


@pytest.mark.parametrize(("assumed", "is_possible"), [(1, False), (2, True), (32, True), (33, False)])
def test_as_many_can_be_assumed_as_the_sample_leaves(assumed: int, is_possible: bool) -> None:
    given: dict[str, Any] = {"corpus_size": 50, "read": 10, "found": 9, "sample": 10, "relevant": 2, "wanted": 0.5}
    if is_possible:
        assert certify(**given, assume=assumed).plans[0].assumed == assumed  # type: ignore[union-attr]
    else:
        with pytest.raises(UsageError, match="but the samples leave 2 to 32"):
            certify(**given, assume=assumed)


# What is refused


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"found": 5, "sample": 3, "relevant": 4}, "5 found, but only 4 read; 4 relevant in a sample of 3"),
        ({"sample": 9, "relevant": 9}, "a sample of 9, but only 6 were not read"),
        ({"sample": [4, 4], "relevant": [0, 0]}, "a sample of 4, but only 2 were left by the samples before"),
        ({"read": 11, "corpus_size": 10}, "11 read, but the corpus has 10"),
        ({"read": -4, "found": 2.5}, "read is -4 and found is 2.5, but counts must be whole numbers, 0 or more"),
        ({"sample": 3}, "1 sample given, and the number of relevant documents of 0"),
        ({"confidence": 0}, "confidence is 0, but must be above 0 and below 1"),
        ({"confidence": 1}, "confidence is 1, but must be above 0 and below 1"),
        ({"confidence": math.nan}, "confidence is nan, but must be above 0 and below 1"),
        ({"wanted": 1.5}, "wanted is 1.5, but must be above 0 and at most 1"),
        ({"looks": 0}, "looks is 0, but counts must be whole numbers, 1 or more"),
        ({"sample": [1, 1], "relevant": [0, 0], "looks": 1}, "2 samples given, but only 1 planned"),
        ({"assume": 1}, "assume is given, but not what recall is wanted"),
        ({"wanted": 0.9, "assume": 7},
         "7 relevant documents are assumed among those not read, but the samples leave 0 to 6"),
        ({"corpus_size": None, "read": None}, "a certificate needs corpus_size, read"),
        ({"ties": "best"}, "ties is about files, but counts are given"),
        ({"sampled": {"q": {"a": 1}}}, "a file of samples is given, but not what was read"),
    ],
)  # fmt: skip
def test_counts_that_cannot_be_are_refused_all_at_once(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as error:
        certify(**{"corpus_size": 10, "read": 4, "found": 2, **given})
    assert error.value.problem == said


# From files


QRELS = {q: {f"{q}{i}": int(i in (0, 2, 3)) for i in range(5)} for q in ("x", "y")}
RUN = {q: [f"{q}{i}" for i in range(30)] for q in ("x", "y")}


def test_what_was_read_found_and_sampled_is_counted() -> None:
    sampled = {"x": {"x7": 0, "x20": 1, "x29": 0}, "y": {"y6": 0}}
    made = certify(QRELS, RUN, read=5, sampled=sampled)
    assert [each.counts for each in made] == [
        ReviewCounts(30, 5, 3, (SampleCount(3, 1),), "x"),
        ReviewCounts(30, 5, 3, (SampleCount(1, 0),), "y"),
    ]
    by_query = certify(QRELS, RUN, read={"x": 2, "y": 4}, sampled=[sampled, {"x": {"x8": 1}}], corpus_size=99)
    assert [each.counts for each in by_query] == [
        ReviewCounts(99, 2, 1, (SampleCount(3, 1), SampleCount(1, 1)), "x"),
        ReviewCounts(99, 4, 3, (SampleCount(1, 0), SampleCount(0, 0)), "y"),
    ]
    assert [each.looks for each in by_query] == [2, 2]


def test_a_sample_without_grades_is_judged_by_the_judgments(tmp_path: Path) -> None:
    (tmp_path / "ids.csv").write_text("query_id,doc_id\nx,x3\nx,x4\ny,y2\n")
    made = certify(QRELS, RUN, read=2, sampled=str(tmp_path / "ids.csv"))
    assert [each.counts.samples for each in made] == [(SampleCount(2, 1),), (SampleCount(1, 1),)]
    (tmp_path / "ids.csv").write_text("query_id,doc_id\nx,x3\nx,x9\n")
    with pytest.raises(DataError, match=r"sampled documents without a grade: 1 of query x in .*ids.csv \(x9\)"):
        certify(QRELS, RUN, read=2, sampled=str(tmp_path / "ids.csv"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"read": 7}, "4 documents among those read without a judgment (x5 of query x, x6 of query x, y5 of query y"),
        ({"sampled": {"x": {"x1": 1, "x9": 0}}}, "sampled documents that were read: 1 of query x in sampled (x1)"),
        ({"sampled": {"x": {"z": 1}}}, "sampled documents that are not in the ranking: 1 of query x in sampled (z)"),
        ({"sampled": {"z": {"z": 1}}}, "has 1 query of which nothing was read (z)"),
        ({"sampled": [{"x": {"x9": 1}}, {"x": {"x9": 1}}]}, "that an earlier sample holds: 1 of query x"),
        ({"sampled": {"x": {"x9": -1}}}, "sampled documents without a grade: 1 of query x"),
        ({"sampled": {"x": {f"z{i}": 0 for i in range(3)}}, "corpus_size": 32},
         "sampled documents that are more than the corpus has: 1 of query x"),
        ({"corpus_size": 29}, "the corpus of query 'x' has 29 documents, but its ranking 30"),
        ({"read": {"z": 3}}, "read: no judged query has a depth"),
    ],
)  # fmt: skip
def test_files_that_do_not_fit_together_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError) as error:
        certify(QRELS, RUN, **{"read": 4, **options})
    assert said in error.value.problem.replace("in qrels", "in sampled")


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(DataError) as error:
        certify(QRELS, RUN, read=6, sampled={"x": {"x1": 1}, "y": {"z": 1}})
    assert error.value.problem.count(";") == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"depth": 3}, "depth is given, but how much was read says nothing without the whole ranking"),
        ({"judged_only": True, "depth": 2}, "depth and judged_only are given"),
        ({"imputation": "optimistic"}, "optimistic imputation is given"),
        ({"units": {"x1": "u"}}, "units are given, but a certificate counts documents"),
        ({"found": 3}, "found is given beside files"),
        ({"read": None}, "read must be given too"),
    ],
)
def test_options_that_make_no_sense_for_files_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        certify(QRELS, RUN, **{"read": 4, **options})


def test_a_certificate_is_about_one_run() -> None:
    with pytest.raises(UsageError, match="2 runs are given, but a certificate is about one"):
        certify(QRELS, {"a": RUN, "b": RUN}, read=3)
    with pytest.raises(UsageError, match="a run must be given too"):
        certify(QRELS, read=3)


def test_queries_that_are_left_out_and_short_rankings_are_counted() -> None:
    made = certify(QRELS | {"z": {"z0": 1}}, {**RUN, "x": RUN["x"][:3], "w": ["a"]}, read=4)
    assert [each.counts.query for each in made] == ["x", "y"]
    assert made[0].counts.read == made[0].counts.corpus_size == 3
    assert {note.kind: note.count for note in made.notes} == {
        "not reviewed": 1,
        "without judgments": 1,
        "short": 1,
        "corpus": 1,
    }
    unsampled = certify(QRELS, RUN, read=4, sampled={"x": {"x9": 0}})
    assert [(note.kind, note.text) for note in unsampled.notes][1:] == [
        ("without a sample", "1 query without a sampled document: only what was read is certain there")
    ]
    assert unsampled.notes[0].kind == "corpus"


def test_lines_that_are_left_out_and_judgments_without_grades_are_noted(tmp_path: Path) -> None:
    (tmp_path / "qrels.csv").write_text("query_id,doc_id\nx,x0\nx,x1\n")
    (tmp_path / "a.run").write_text("x Q0 x0 0 3 t more\nx Q0 x1 1 2 t\nx Q0 x1 2 1 t\nx Q0 x2 3 0 t\n")
    made = certify(tmp_path / "qrels.csv", tmp_path / "a.run", read=2, duplicates="first")
    assert (made[0].counts.found, made[0].counts.corpus_size) == (2, 3)
    assert [(note.kind, note.count) for note in made.notes][:2] == [("duplicates", 1), ("extra fields", 1)]
    assert "grade" in made.notes[2].text


def test_judgments_of_relevant_documents_only_are_not_enough() -> None:
    with pytest.raises(DataError) as error:
        certify({"x": {"x0": 1, "x2": 1}}, RUN, read=4)
    assert error.value.problem.startswith("2 documents among those read without a judgment (x1 of query x")
    assert error.value.remedy.startswith("if QRELS lists only what is relevant, give --corpus-size")


# Drawing


def test_a_drawn_file_is_filled_in_and_read_back(tmp_path: Path) -> None:
    drawn = draw_sample(QRELS, RUN, 6, read=4, seed=3)
    assert len(set(drawn.rows)) == 12
    read = {document for query in RUN for document in RUN[query][:4]}
    assert not read & {document for _, document in drawn.rows}
    path = tmp_path / "sample.csv"
    path.write_text(drawn.to_csv())
    with pytest.raises(FormatError, match=r"sample\.csv:2: a sampled document has no grade"):
        certify(QRELS, RUN, read=4, sampled=path)
    path.write_text(drawn.to_csv().replace(",\n", ",0\n") + "1")
    made = certify(QRELS, RUN, read=4, sampled=path)
    assert [each.counts.samples for each in made] == [(SampleCount(6, 0),), (SampleCount(6, 1),)]
    assert len(draw_sample(QRELS, RUN, 1, read=4).rows) == len(QRELS)
    further = draw_sample(QRELS, RUN, 100, read=4, sampled=path)
    assert not {*further.rows} & {*drawn.rows}
    assert len(further.rows) == 2 * (26 - 6)
    assert [note.kind for note in further.notes] == ["few left"]


def test_a_sample_depends_on_the_seed_and_not_on_other_queries() -> None:
    both = draw_sample(QRELS, RUN, 5, read=4, seed=1).rows
    alone = draw_sample({"y": QRELS["y"]}, {"y": RUN["y"]}, 5, read=4, seed=1).rows
    assert both[5:] == alone
    assert both != draw_sample(QRELS, RUN, 5, read=4, seed=2).rows
    assert draw_sample(QRELS, RUN, 5, read=4).rows == draw_sample(QRELS, RUN, 5, read=4, seed=0).rows
    orders = {document.replace("x", "y") for query, document in both if query == "x"}
    assert orders != {document for _, document in alone}


def test_every_document_is_as_likely_to_be_drawn() -> None:
    run = {"x": RUN["x"][:9]}
    seeds = 3000
    counts: dict[str, int] = {}
    for seed in range(seeds):
        for _, document in draw_sample({"x": QRELS["x"]}, run, 2, read=4, seed=seed).rows:
            counts[document] = counts.get(document, 0) + 1
    assert sorted(counts) == run["x"][4:]
    deviation = math.sqrt(seeds * 0.4 * 0.6)
    assert max(abs(count - 0.4 * seeds) for count in counts.values()) < 4 * deviation


def test_documents_outside_the_ranking_cannot_be_drawn() -> None:
    with pytest.raises(DataError, match="has 30 documents of 90"):
        draw_sample(QRELS, RUN, 5, read=4, corpus_size=90)
    with pytest.raises(UsageError, match="a sample of 0 documents"):
        draw_sample(QRELS, RUN, 0, read=4)


# What is printed


def test_the_command_gives_one_row_with_the_fields_that_are_promised(command: Command) -> None:
    given = "--corpus-size 10000 --read 2000 --found 190 --sample 1500 --relevant 0 --wanted 0.95 -f jsonl"
    (row,) = map(json.loads, command("certify", *shlex.split(given)).out.splitlines())
    made = certify(corpus_size=10_000, read=2_000, found=190, sample=1500, relevant=0, wanted=0.95)
    assert row == next(made.rows())
    assert {"kind", "recall_low", "low", "high", "sample_needed"} <= {*row}
    assert row["recall_low"] == pytest.approx(190 / 204)
    assert (row["missed_most"], row["sample_needed"]) == (14, 1907)


def test_samples_may_be_given_one_after_the_other(command: Command) -> None:
    given = "--corpus-size 5000 --read 1000 --found 190 --sample 400 --relevant 1 --sample 300 --relevant 0 -f jsonl"
    (row,) = map(json.loads, command("certify", *shlex.split(given)).out.splitlines())
    assert (row["missed_most"], row["looks"], row["sample"], row["relevant"]) == (43, 2, 700, 1)


def test_counts_may_come_from_numpy() -> None:
    given: dict[str, Any] = {"corpus_size": np.int64(100), "read": np.int32(20), "found": np.int64(9)}
    given |= {"sample": np.array([30]), "relevant": np.array([1]), "confidence": np.float64(0.9)}
    made = certify(**given)
    assert made[0].missed == certify(corpus_size=100, read=20, found=9, sample=30, relevant=1, confidence=0.9)[0].missed
    assert json.loads(made.render("jsonl"))["corpus_size"] == 100


def test_the_text_begins_with_a_sentence_and_ends_with_the_notes() -> None:
    made = certify(corpus_size=5000, read=1000, found=190, sample=[400, 300], relevant=[1, 0])
    first, *_, last = str(made).splitlines()
    found = "With 95% confidence at least 81.5% of the relevant documents were found"
    assert first == f"{found}: at most 43 are among the 4,000 not read."
    assert last.startswith("note: 2 looks are planned: each is at 0.025")
    assert repr(certify(QRELS, RUN, read=4)) == "<Certificates: 2 queries>"
    alone = certify({"x": QRELS["x"]}, RUN, read=4)
    assert repr(alone) == f"<Certificates: {alone[0]}>"


def test_what_speaks_against_the_ranking_as_the_corpus_is_said() -> None:
    qrels = {"q": {"a": 1, "b": 0, "elsewhere": 1, "judged elsewhere": 0}}
    ranking, sample = {"q": ["a", "b", "c", "d"]}, {"q": {"c": 0}}
    (note,) = certify(qrels, ranking, read=2, sampled=sample).notes
    assert note.text.endswith("; QRELS name 1 relevant document that they do not hold")
    (note,) = certify(qrels, ranking, read=2, sampled=sample, corpus_size=9).notes
    assert note.text.startswith("1 query whose corpus is larger than the ranking, but whose sample is of ranked")
    assert certify(qrels, ranking, read=2, sampled={"q": {"c": 0, "not ranked": 0}}, corpus_size=9).notes == ()
