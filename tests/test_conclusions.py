"""Conclusions: which test decides about a pair, who gets a letter, and what is said where neither is plain."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import naive
from lexirecall import compare, evaluate
from lexirecall.errors import UsageError
from lexirecall.results import Comparison

Runs = dict[str, dict[str, list[str]]]


def at_ranks(**ranks: Sequence[int]) -> tuple[dict[str, Any], Runs]:
    """Return judgments of one document for each query, and runs that have it at these ranks; 0 where they miss it."""
    (first, *_) = ranks.values()
    qrels = {f"q{i}": {"a": 1} for i in range(len(first))}

    def ranking(rank: int) -> list[str]:
        return [*(f"x{k}" for k in range(1, rank)), "a"] if rank else ["x0"]

    return qrels, {name: {f"q{i}": ranking(r) for i, r in enumerate(each)} for name, each in ranks.items()}


def note_of(comparison: Comparison, kind: str) -> str:
    return "\n".join(note.text for note in comparison.notes if note.kind == kind)


def marks_of(comparison: Comparison) -> dict[str, str]:
    """Return the letters of each run under the first measure."""
    table = comparison.table()
    return {row[0].split()[-1]: table.marks.get((r, 1), "") for r, row in enumerate(table.rows)}


FEW = at_ranks(x=[1, *[1000] * 10, *[2] * 9], y=[1000, *[1001] * 10, *[2] * 9])
"""x wins eleven queries of twenty: one by far, ten by next to nothing."""
CONTRARY = at_ranks(x=[1000, *[1000] * 10, *[2] * 9], y=[1, *[1001] * 10, *[2] * 9])
"""x wins ten queries by next to nothing, and y one by far."""


@pytest.mark.parametrize("name", ["All@1", "Success@1", "Reached@1"])
def test_a_share_of_queries_is_tested_by_wins_and_losses(name: str) -> None:
    """4 lost of 20, none won: .125 by the sign test, .042 by t."""
    qrels, runs = at_ranks(x=[1] * 20, y=[2] * 4 + [1] * 16)
    [row] = compare(qrels, runs, [name]).rows()
    assert (row["test"], row["p"], row["mean"], row["effect"]) == ("sign test", 0.125, 0.2, 0.6)
    assert (row["low"], row["high"]) == pytest.approx(naive.tango(4, 0, 20, 1.959963984540054), abs=1e-9)
    assert row["effective"] is None


def test_the_share_of_queries_over_orders_of_tied_documents_is_a_value() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(20)}
    tied = {q: dict.fromkeys([*(f"x{k}" for k in range(i % 5)), "a"], 1.0) for i, q in enumerate(qrels)}
    [row] = compare(
        qrels, {"x": tied, "y": {q: {"b": 2.0, "a": 1.0} for q in qrels}}, ["All@1"], ties="expected"
    ).rows()
    assert row["test"] == "paired t"
    assert row["mean"] == pytest.approx(np.mean([1 / k for k in range(1, 6)]))


def test_differences_of_one_size_are_tested_by_wins_and_have_tangos_interval_times_their_size() -> None:
    qrels, runs = at_ranks(x=[1] * 9 + [2] * 2 + [4] * 9, y=[2] * 9 + [1] * 2 + [4] * 9)
    [row] = compare(qrels, runs, ["AP"]).rows()
    assert (row["test"], row["p"]) == ("sign test", float(naive.sign_test_pvalue(9, 2)))
    ends = [end / 2 for end in naive.tango(9, 2, 20, 1.959963984540054)]
    assert (row["low"], row["high"]) == pytest.approx(ends, abs=1e-9)


def test_two_differences_may_have_one_size_by_chance_and_have_no_interval() -> None:
    [row] = compare(*at_ranks(x=[1] * 2 + [4] * 18, y=[2] * 2 + [4] * 18), ["AP"]).rows()
    assert (row["test"], row["low"], row["high"]) == ("sign test", None, None)


STEADY = at_ranks(x=[*range(2, 22)], y=[*range(3, 23)])
"""x wins twenty queries, of which more than eight make the mean."""


@pytest.mark.parametrize("test", ["auto", "t", "randomization", "max-t", "hsd", "sign"])
def test_no_test_of_the_mean_of_tse_decides_however_many_queries_differ(test: str) -> None:
    of_ap, of_tse = (compare(*STEADY, [name], test=test) for name in ("AP", "TSE"))  # the same with one document
    (known,), (row,) = of_ap.rows(), of_tse.rows()
    assert (row["mean"], row["effective"]) == (known["mean"], known["effective"])
    assert (row["low"], row["high"]) == (None, None) if test != "t" else (known["low"], known["high"])
    has_letter = test in ("auto", "sign")
    assert set(marks_of(of_tse).values()) == ({"b", ""} if has_letter else {""})
    assert (row["test"] == "sign test") == has_letter
    said = "TSE: rare queries make the mean, and no test or interval of it holds"
    assert note_of(of_tse, "rare queries").startswith(said) == (test != "sign")


def test_where_few_queries_make_the_difference_wins_decide_and_the_letter_says_who_wins_more_often() -> None:
    comparison = compare(*FEW, ["AP"])
    [row] = comparison.rows()
    assert (row["test"], row["p"]) == ("sign test", 2 / 2**11)
    assert (row["low"], row["high"]) == (None, None)
    assert 3 <= row["effective"] < 3.1
    assert marks_of(comparison) == {"x": "b", "y": ""}
    assert "(sign test; holm, alpha 0.05)" in str(comparison)
    assert note_of(comparison, "few queries decide") == (
        "in 1 pair (AP 1) fewer than 8 queries make most of the difference: there the sign test decides, and a letter "
        "says who wins more often"
    )


def test_where_wins_contradict_the_mean_there_is_no_letter_and_a_sentence_names_both() -> None:
    comparison = compare(*CONTRARY, ["AP"])
    [row] = comparison.rows()
    assert row["p"] < 0.05
    assert row["mean"] < 0
    assert row["wins"] > row["losses"]
    assert set(marks_of(comparison).values()) == {""}
    assert not comparison.measures[0].is_significant(0.05).any()
    assert note_of(comparison, "contrary") == (
        "AP: x is better on 10 queries and y on 1, but x has no better mean: no letter"
    )
    asked = compare(*CONTRARY, ["AP"], test="sign")  # who asks for wins has them
    assert marks_of(asked)["x"] == "b"


@pytest.mark.parametrize("test", ["t", "randomization", "hsd", "randomized-hsd"])
def test_tests_of_means_give_no_letter_where_few_queries_make_the_difference(test: str) -> None:
    ranks = [1, *[500] * 30]
    comparison = compare(*at_ranks(x=ranks, y=[2, *[501] * 30]), ["AP"], test=test, num_resamples=99, alpha=0.9)
    [row] = comparison.rows()
    assert row["effective"] < 8
    assert row["p_corrected"] < 0.9
    assert set(marks_of(comparison).values()) == {""}
    assert f"{test} does not hold there, and no letter is given" in note_of(comparison, "few queries decide")


@pytest.mark.parametrize(("measure", "at"), [("LexiRecall", 3), ("All@2", 3), ("AP", 2)])
def test_flipping_signs_counts_wins_where_sizes_are_equal_and_keeps_its_letter(measure: str, at: int) -> None:
    comparison = compare(*at_ranks(x=[1] * 7, y=[at] * 7), [measure], test="randomization")
    [row] = comparison.rows()
    assert (row["effective"], row["p"]) == (7, 2 / 2**7)
    assert marks_of(comparison) == {"x": "b", "y": ""}
    assert not note_of(comparison, "few queries decide")


def test_wilcoxon_says_that_it_does_not_test_means_and_gives_no_letter_where_they_disagree() -> None:
    x, y = [*range(2, 22), 50, 50, 50], [*range(5, 25), 1, 1, 1]
    comparison = compare(*at_ranks(x=x, y=y), ["AP"], test="wilcoxon")
    [row] = comparison.rows()
    assert row["mean"] < 0 < row["estimate"]
    assert row["p"] < 0.05
    assert set(marks_of(comparison).values()) == {""}
    assert note_of(comparison, "wilcoxon") == (
        "wilcoxon tests whether differences lie evenly about 0 (see estimate), not means: AP; in 1 pair (AP 1) the two "
        "disagree: no letter"
    )
    assert not note_of(compare(*STEADY, ["LexiRecall"], test="wilcoxon"), "wilcoxon")


def test_the_test_of_each_pair_is_in_its_row_and_both_are_corrected_together() -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(1, 9, 30)
    few = x.copy()
    few[:5] += 3
    comparison = compare(*at_ranks(x=x.tolist(), few=few.tolist(), y=rng.integers(3, 12, 30).tolist()), ["AP"])
    rows = {(row["a"], row["b"]): row for row in comparison.rows()}
    tests = {pair: row["test"] for pair, row in rows.items()}
    assert tests == {("x", "few"): "sign test", ("x", "y"): "paired t", ("few", "y"): "paired t"}
    assert "(paired t, sign test; holm, alpha 0.05)" in str(comparison)
    pvalues = sorted(row["p"] for row in rows.values())
    largest = 0.0
    for k, p in enumerate(pvalues):
        largest = max(largest, (3 - k) * p)
        assert next(row for row in rows.values() if row["p"] == p)["p_corrected"] == pytest.approx(min(largest, 1))
    assert note_of(comparison, "too few untied") == (
        "in 1 pair (AP 1) too few queries differ to tell the runs apart, whoever wins them"
    )


def test_means_stay_what_they_are() -> None:
    [row] = compare(*FEW, ["AP"]).rows()
    scores = evaluate(*FEW, ["AP"])
    assert row["mean"] == pytest.approx(float(scores.means[0, 0] - scores.means[1, 0]))


# Max-t


def test_max_t_leaves_out_pairs_that_few_queries_decide_and_names_auto() -> None:
    comparison = compare(*FEW, ["AP"], test="max-t")
    [row] = comparison.rows()
    assert (row["p"], row["p_corrected"]) == (2 / 2**11, None)
    assert set(marks_of(comparison).values()) == {""}
    assert note_of(comparison, "outside max-t") == (
        "in 1 pair (AP 1) too few queries differ for max-t: no p and no letter (--test auto counts wins there)"
    )


# Families


def related(num_runs: int = 4, num_queries: int = 30, seed: int = 1) -> tuple[dict[str, Any], Runs]:
    """Return runs that differ more and less, the first better than the last."""
    rng = np.random.default_rng(seed)
    ranks = {f"r{k}": rng.integers(1, 6 + 2 * k, num_queries).tolist() for k in range(num_runs)}
    return at_ranks(**ranks)


def corrected_of(comparison: Comparison, measure: str) -> list[float]:
    return [row["p_corrected"] for row in comparison.rows() if row["measure"] == measure]


def test_measures_are_corrected_each_by_itself_or_together_and_the_footnote_says_so() -> None:
    given = (*related(), ["AP", "LexiRecall"])
    alone, together = compare(*given), compare(*given, family="measures")
    assert "alpha 0.05, each measure by itself)" in str(alone)
    assert "alpha 0.05, all measures together)" in str(together)
    pvalues = [row["p"] for row in alone.rows()]
    expected = [float(p) for p in holm_of(pvalues)]
    assert [row["p_corrected"] for row in together.rows()] == pytest.approx(expected)
    assert "by itself" not in str(compare(*related(), ["AP"]))


def holm_of(pvalues: Sequence[float]) -> list[float]:
    """Adjusted p: the largest of the p up to each, times how many are left."""
    order = sorted(range(len(pvalues)), key=pvalues.__getitem__)
    made, largest = [0.0] * len(pvalues), 0.0
    for place, k in enumerate(order):
        largest = max(largest, (len(pvalues) - place) * pvalues[k])
        made[k] = min(1.0, largest)
    return made


def test_randomization_takes_the_resamples_that_all_measures_together_need() -> None:
    names = ["AP", "nDCG", "RR", "R@3", "P@2"]
    alone, together = (
        compare(*related(11, 20), names, test="randomization", family=family) for family in ("each", "measures")
    )
    assert note_of(alone, "resamples").startswith("10,000 resamples, so that the least corrected p is 0.0055")
    assert note_of(together, "resamples").startswith("11,000 resamples, so that the least corrected p is 0.025")
    assert min(row["p_corrected"] for row in together.rows()) == pytest.approx(275 / 11_001)


def test_max_t_over_measures_has_one_maximum_for_values_and_shares_alpha_with_signs() -> None:
    given = (*related(), ["AP", "RR", "nDCG", "LexiRecall"])
    settings: dict[str, Any] = {"test": "max-t", "num_resamples": 400}
    alone, together = compare(*given, **settings), compare(*given, family="measures", **settings)
    values = compare(*related(), ["AP", "RR", "nDCG"], family="measures", **settings)
    for name in ("AP", "RR", "nDCG"):
        ours, family = corrected_of(together, name), corrected_of(values, name)
        assert ours == pytest.approx([min(1, p * 24 / 18) for p in family])
        assert all(p >= q for p, q in zip(family, corrected_of(alone, name), strict=True))
    narrower = compare(*related(), ["AP", "RR", "nDCG"], family="measures", alpha=0.05 * 18 / 24, **settings)
    for row, other in zip(together.rows(), narrower.rows(), strict=False):
        assert (row["low_all"], row["high_all"]) == (other["low_all"], other["high_all"])
    own = [row["p"] for row in together.rows() if row["measure"] == "LexiRecall"]
    assert corrected_of(together, "LexiRecall") == pytest.approx([min(1, 4 * p) for p in holm_of(own)])


def test_only_the_primary_measure_has_letters_and_it_is_corrected_over_pairs() -> None:
    given = (*related(), ["AP", "LexiRecall"])
    alone, chosen = compare(*given), compare(*given, primary="LexiRecall")
    assert corrected_of(chosen, "LexiRecall") == corrected_of(alone, "LexiRecall")
    assert set(corrected_of(chosen, "AP")) == {None}
    assert not chosen.measures[0].is_significant(0.05).any()
    assert chosen.measures[1].is_significant(0.05).any()
    assert "LexiRecall alone)" in str(chosen)
    assert [row["p"] for row in chosen.rows()] == [row["p"] for row in alone.rows()]
    assert not note_of(chosen, "pairs without p")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"family": "measures", "test": "hsd"}, "hsd compares the runs under one measure"),
        ({"family": "measures", "primary": "AP"}, "only that one is decided about"),
        ({"family": "pairs"}, "family"),
        ({"primary": "RR"}, "the primary measure is 'RR', but must be one of those"),
        ({"primary": "AP LexiRecall"}, "must be one of those"),
        ({"margin": 0}, "the margin is 0, but must be above 0"),
        ({"margin": -0.1}, "must be above 0"),
        ({"margin": float("nan")}, "must be above 0"),
        ({"margin": 1}, "no difference in AP is above 1"),
    ],
)
def test_families_and_margins_that_make_no_sense_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        compare(*related(), ["AP", "LexiRecall"], **options)


@pytest.mark.parametrize(
    ("name", "options"),
    [("margin", {"margin": 0.02}), ("primary", {"primary": "AP"}), ("family", {"family": "measures"})],
)
@pytest.mark.parametrize("shown", [{"over": "tail:0.2"}, {"by": {f"q{i}": "ab"[i % 2] for i in range(30)}}])
def test_what_is_about_means_is_refused_where_other_differences_are_shown(
    name: str, options: dict[str, Any], shown: dict[str, Any]
) -> None:
    with pytest.raises(UsageError, match=f"{name} is about means over all queries"):
        compare(*related(), ["AP", "RR"], **{**options, **shown})


# Intervals of all pairs


@pytest.mark.parametrize("test", ["auto", "t", "wilcoxon", "sign", "randomization", "hsd"])
def test_the_interval_of_all_pairs_is_that_of_the_pair_at_alpha_over_pairs(test: str) -> None:
    given = (*related(), ["AP", "LexiRecall"])
    comparison = compare(*given, test=test)
    stricter = compare(*given, test=test, alpha=0.05 / 6)
    for row, other in zip(comparison.rows(), stricter.rows(), strict=True):
        assert (row["low_all"], row["high_all"]) == (other["low"], other["high"])
        if row["low_all"] is not None:
            assert row["low_all"] <= row["low"] <= row["high"] <= row["high_all"]


def test_the_interval_of_all_pairs_under_max_t_is_that_of_the_largest_statistics() -> None:
    comparison = compare(*related(), ["AP"], test="max-t", num_resamples=500)
    rows = list(comparison.rows())
    assert len({round((row["high_all"] - row["low_all"]) * row["effect"] / row["mean"], 9) for row in rows}) == 1
    for row in rows:
        assert row["high_all"] - row["mean"] == pytest.approx(row["mean"] - row["low_all"])
        excludes = row["low_all"] > 0 or row["high_all"] < 0
        assert not excludes or row["p_corrected"] < 0.05


def test_the_table_of_pairs_has_no_corrected_p_beside_an_interval_of_the_pair_alone() -> None:
    table = compare(*related(), ["AP"]).pairs_table()
    at = table.header.index("p_corrected")
    assert table.header[at - 2 : at] == ("low_all", "high_all")


def test_a_step_down_p_below_alpha_whose_interval_holds_0_is_counted() -> None:
    comparison = compare(*related(8, 40, seed=3), ["AP"])
    beyond = [row for row in comparison.rows() if row["p_corrected"] < 0.05 and row["low_all"] <= 0 <= row["high_all"]]
    assert beyond
    assert note_of(comparison, "simultaneous intervals").startswith(f"in {len(beyond)} pair")


# Equivalence


def test_verdicts_say_how_far_runs_are_apart() -> None:
    rng = np.random.default_rng(5)
    near = rng.integers(20, 40, 60)
    ranks = {"x": near, "same": near + rng.integers(-1, 2, 60), "good": np.ones(60, int), "fair": near - 6}
    comparison = compare(*at_ranks(**{name: each.tolist() for name, each in ranks.items()}), ["AP"], margin=0.02)
    verdicts = {(row["a"], row["b"]): row["verdict"] for row in comparison.rows()}
    assert verdicts["x", "same"] == "equivalent"
    assert verdicts["x", "good"] == "better by at least 0.02"
    assert verdicts["x", "fair"] == "better, by less than 0.02"
    assert "verdict" in comparison.pairs_table().header
    [row] = compare(*FEW, ["AP"], margin=0.02).rows()
    assert (row["p_eq"], row["verdict"]) == (None, "better")  # the sign test finds who wins, and no mean holds
    assert "verdict" not in next(compare(*FEW, ["AP"]).rows())


def test_signs_are_equivalent_if_the_1_minus_2_alpha_interval_of_tango_is_within_the_margin() -> None:
    for wins, losses in ((10, 10), (14, 6), (3, 0), (0, 0), (30, 12)):
        ranks = [1] * wins + [2] * losses + [1] * (60 - wins - losses)
        others = [2] * wins + [1] * losses + [1] * (60 - wins - losses)
        for margin in (0.1, 0.2, 0.35):
            [row] = compare(*at_ranks(x=ranks, y=others), ["All@1"], margin=margin).rows()
            low, high = naive.tango(wins, losses, 60, 1.6448536269514722)
            assert (row["p_eq"] < 0.05) == (-margin < low and high < margin)


def test_values_are_equivalent_as_by_two_one_sided_t_tests() -> None:
    given = (*related(3), ["AP"])
    for row, other in zip(compare(*given, margin=0.1).rows(), compare(*given, alpha=0.1).rows(), strict=True):
        assert (row["p_eq"] < 0.05) == (other["low"] > -0.1 and other["high"] < 0.1)
    rows = list(compare(*given, margin=0.1).rows())
    assert [row["p_eq_corrected"] for row in rows] == pytest.approx(holm_of([row["p_eq"] for row in rows]))


# Influence


@pytest.mark.parametrize("measures", [["AP"], ["LexiRecall"], ["LastRel"], ["All@3"]])
def test_a_letter_survives_if_it_is_there_without_any_one_query(measures: list[str]) -> None:
    qrels, runs = related(5, 24, seed=3)
    comparison = compare(qrels, runs, measures)
    seen = set()
    for row in comparison.rows():
        if row["p_corrected"] >= 0.05:
            assert row["survives"] is row["influence"] is None
            continue
        limit = 0.05 * row["p"] / row["p_corrected"]
        pair = {name: runs[name] for name in (row["a"], row["b"])}
        test = "sign" if row["test"] == "sign test" else "t"
        without = {}
        for query in qrels:
            fewer = {q: qrels[q] for q in qrels if q != query}
            kept = {name: {q: run[q] for q in fewer} for name, run in pair.items()}
            [again] = compare(fewer, kept, measures, test=test).rows()
            without[query] = again["p"] if again["mean"] * row["mean"] > 0 else 2.0
        assert row["survives"] == (max(without.values()) < limit)
        seen.add(row["survives"])
        if not row["survives"]:
            assert without[row["influence"]] == pytest.approx(max(without.values()))
    assert True in seen


def test_a_letter_that_one_query_gives_is_named() -> None:
    comparison = compare(*at_ranks(x=[1] * 6 + [3] * 6, y=[2] * 6 + [3] * 6), ["LexiRecall"])
    [row] = comparison.rows()
    assert (row["p"], row["survives"], row["influence"]) == (2 / 2**6, False, "q0")
    assert note_of(comparison, "influence") == (
        "1 letter (LexiRecall 1) would go with one query fewer: without q0, or any of 5 more, x and y do not differ "
        "under LexiRecall"
    )
    assert next(compare(*FEW, ["AP"], test="wilcoxon").rows())["survives"] is None
