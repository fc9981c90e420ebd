"""Power: shares by hand, numbers of queries by published tables, by other software, by definition and by trial."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

import naive
from lexirecall.errors import UsageError
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.statistics.differences import Differences
from lexirecall.statistics.paired import paired_t, sign_test
from lexirecall.statistics.power import (
    LONGEST,
    detectable_effects,
    detectable_shares,
    discriminative_power,
    queries_for_effects,
    queries_for_preference,
    share_of_alpha,
)
from strategies import quick


def of_values(values: FloatArray, *, is_signs: bool = False) -> Differences:
    index = np.arange(len(values))
    return Differences(index, index + 1, values, np.ones(values.shape, bool), is_signs)


def for_effects(*effects: float, alpha: float = 0.05, power: float = 0.8) -> FloatArray:
    return queries_for_effects(np.array(effects), alpha=alpha, power=power)


def for_counts(wins: int, losses: int, ties: int = 0, *, alpha: float = 0.05, power: float = 0.8) -> FloatArray:
    """The number for the mean preference that these counts have."""
    untied, every = wins + losses, wins + losses + ties
    preference = (wins - losses) / max(every, 1)
    return queries_for_preference(preference, np.array([untied]), np.array([every]), alpha=alpha, power=power)


# Discriminative power


def test_discriminative_power_is_the_share_of_defined_p_below_alpha() -> None:
    assert discriminative_power([0.01, 0.05, 0.2, 0.04], 0.05) == 0.5  # .05 is not below .05
    assert discriminative_power(np.array([[0.01, math.nan], [math.nan, 0.9]]), 0.05) == 0.5
    assert math.isnan(discriminative_power([math.nan], 0.05))
    assert math.isnan(discriminative_power([], 0.05))


# The t test


@pytest.mark.parametrize(
    ("effect", "published"), [(0.2, 199), (0.5, 34), (0.8, 15), (-0.5, 34), (1.0, 10), (0.1, 787), (0.3, 90)]
)
def test_queries_needed_are_those_of_published_tables(effect: float, published: int) -> None:
    """One-sample t, two-sided, alpha .05, power .8 (Cohen's small, medium and large, as G*Power prints them)."""
    assert for_effects(effect).tolist() == [published]


@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.2])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.99])
def test_queries_needed_have_the_power_by_statsmodels(alpha: float, power: float) -> None:
    power_of = pytest.importorskip("statsmodels.stats.power").TTestPower().power
    effects = [0.06, 0.11, 0.3, 0.55, 0.9, 1.5]
    for effect, size in zip(effects, for_effects(*effects, alpha=alpha, power=power), strict=True):
        assert power_of(effect, size - 1, alpha) < power <= power_of(effect, size, alpha)


def power_of_t(effect: float, size: int, alpha: float) -> float:
    """The power by integration over the standard deviation, with scipy's own quadrature."""
    from scipy.integrate import quad

    df, critical = size - 1, stats.t.isf(alpha / 2, size - 1)

    def integrand(v: float) -> float:
        both = stats.norm.cdf(effect * math.sqrt(size) - critical * v) + stats.norm.cdf(
            -effect * math.sqrt(size) - critical * v
        )
        return float(both * stats.chi.pdf(v * math.sqrt(df), df) * math.sqrt(df))

    spread = 12 / math.sqrt(df)
    return float(quad(integrand, max(0, 1 - spread), 1 + spread, limit=500, points=[1.0])[0])


@pytest.mark.parametrize("alpha", [0.05, 1e-5, 0.5])
@pytest.mark.parametrize("effect", [3.0, 1.2, 0.7, 0.31, 0.15])
def test_one_query_less_would_not_do(alpha: float, effect: float) -> None:
    size = int(for_effects(effect, alpha=alpha, power=0.75)[0])
    assert power_of_t(effect, size, alpha) >= 0.75
    assert size == 2 or power_of_t(effect, size - 1, alpha) < 0.75


@pytest.mark.parametrize("alpha", [0.05, 0.5])
@pytest.mark.parametrize("size", [2, 3, 5, 12, 60])
def test_the_number_needed_changes_exactly_where_the_power_is_reached(alpha: float, size: int) -> None:
    effect = optimize.brentq(lambda each: power_of_t(each, size, alpha) - 0.75, 1e-3, 100, xtol=1e-13)
    needed = for_effects(effect * (1 + 1e-7), effect * (1 - 1e-7), alpha=alpha, power=0.75)
    assert needed.tolist() == [size, size + 1]


@pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.001, 0.95), (0.1, 0.3), (0.5, 0.6)])
@pytest.mark.parametrize("size", [LONGEST + 50, 3 * LONGEST])
def test_beyond_the_table_the_normal_distribution_is_off_by_one_at_most(alpha: float, power: float, size: int) -> None:
    low, high = 1e-3, 1.0
    for _ in range(40):  # an effect that needs about as many
        effect = math.sqrt(low * high)
        low, high = (effect, high) if for_effects(effect, alpha=alpha, power=power) > size else (low, effect)
    needed = int(for_effects(high, alpha=alpha, power=power)[0])
    assert needed == pytest.approx(size, abs=1)
    assert power_of_t(high, needed - 2, alpha) < power <= power_of_t(high, needed + 1, alpha)


def test_the_power_promised_is_the_share_of_alarms() -> None:
    """40,000 trials with 34 queries and an effect of one half a standard deviation: .8078 by theory."""
    values = np.random.default_rng(5).normal(0.5, 1, (40_000, 34))
    share = discriminative_power(paired_t(of_values(values)).pvalues, 0.05)
    assert share == pytest.approx(0.8078, abs=3.5 * math.sqrt(0.8 * 0.2 / 40_000))


# The sign test


def first_that_suffices(share: float, alpha: float, power: float) -> int:
    return next(size for size in range(1, 10_000) if naive.sign_test_power(size, share, alpha) >= power)


@quick(25)
@given(
    wins=st.integers(0, 30),
    losses=st.integers(0, 30),
    ties=st.integers(0, 20),
    setting=st.sampled_from([(0.05, 0.8), (0.01, 0.9), (0.1, 0.5), (0.3, 0.9)]),
)
def test_the_sign_test_needs_the_first_number_that_has_the_power(
    wins: int, losses: int, ties: int, setting: tuple[float, float]
) -> None:
    more, fewer = 30 + max(wins, losses), min(wins, losses)  # clear cases, so that the slow twin finds an end
    alpha, power = setting
    untied = first_that_suffices(more / (more + fewer), alpha, power)
    expected = math.ceil(untied * (more + fewer + ties) / (more + fewer))
    for counts in ((more, fewer, ties), (fewer, more, ties)):
        assert for_counts(*counts, alpha=alpha, power=power).tolist() == [expected]


def power_of_signs(sizes: IntArray, share: float, alpha: float) -> FloatArray:
    """The exact power for each number of untied queries."""
    losses = stats.binom.ppf(alpha / 2, sizes, 0.5)
    losses = losses - (2 * stats.binom.cdf(losses, sizes, 0.5) >= alpha)
    return np.asarray(stats.binom.cdf(losses, sizes, share) + stats.binom.cdf(losses, sizes, 1 - share))


@pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.05, 0.5), (0.01, 0.95), (0.001, 0.99)])
@pytest.mark.parametrize("lead", [2, 3, 5, 8, 12, 16, 24, 30])
def test_beyond_the_table_the_normal_distribution_is_off_by_two_percent_at_most(
    alpha: float, power: float, lead: int
) -> None:
    """A lead of 2 to 30 wins in 200 needs from some hundred to many ten thousand untied queries."""
    wins, losses = 100 + lead // 2, 100 - (lead - lead // 2)
    ours = for_counts(wins, losses, alpha=alpha, power=power)[0]
    sizes = np.arange(max(1, int(ours * 0.9)), int(ours * 1.1) + 20)
    exact = sizes[np.argmax(power_of_signs(sizes, wins / (wins + losses), alpha) >= power)]
    assert ours == pytest.approx(exact, rel=0.02 if exact > LONGEST else 0)


def test_the_sign_test_has_the_power_promised() -> None:
    """20,000 trials with seven wins of ten in truth."""
    needed = int(for_counts(7, 3)[0])
    assert needed == 49
    values = np.sign(0.7 - np.random.default_rng(6).random((20_000, needed)))
    share = discriminative_power(sign_test(of_values(values, is_signs=True)).pvalues, 0.05)
    assert share == pytest.approx(naive.sign_test_power(49, 0.7, 0.05), abs=3.5 * math.sqrt(0.8 * 0.2 / 20_000))
    assert share > 0.79


def test_ties_make_more_queries_necessary() -> None:
    assert for_counts(7, 3, 10).tolist() == [98]  # 49 untied ones, of twice as many
    assert for_counts(7, 3, 1).tolist() == [54]  # 53.9


# What can be detected


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 105, 0.3])
@pytest.mark.parametrize("size", [2, 3, 10, 50, 249])
def test_the_least_effect_has_the_power_by_integration(alpha: float, size: int) -> None:
    effect = float(detectable_effects(np.array([size]), alpha=alpha)[0])
    assert power_of_t(effect, size, alpha) == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize("size", [LONGEST + 1, 5000])
def test_beyond_the_table_the_least_effect_goes_on(size: int) -> None:
    effect = float(detectable_effects(np.array([size]))[0])
    assert power_of_t(effect, size, 0.05) == pytest.approx(0.8, abs=1e-4)
    share = float(detectable_shares(np.array([size]))[0])
    assert power_of_signs(np.array([size]), share, 0.05)[0] == pytest.approx(0.8, abs=0.02)


@quick(40)
@given(
    untied=st.lists(st.integers(0, 80), min_size=1, max_size=4),
    setting=st.sampled_from([(0.05, 0.8), (0.001, 0.8), (0.1, 0.5), (0.3, 0.9)]),
)
def test_the_least_share_of_wins_is_that_of_the_definition(untied: list[int], setting: tuple[float, float]) -> None:
    shares = detectable_shares(np.array(untied), alpha=setting[0], power=setting[1])
    assert shares.tolist() == pytest.approx([naive.detectable_share(n, *setting) for n in untied], rel=1e-9)


def test_no_share_of_wins_is_enough_where_p_cannot_be_small() -> None:
    """The sign test needs 6 untied queries at .05, and 7, 11 and 19 for the pairs of 3, 8 and 126 runs by Holm."""
    for num_runs, least in ((2, 6), (3, 7), (8, 11), (126, 19)):
        alpha = share_of_alpha(0.05, "holm", num_runs * (num_runs - 1) // 2)
        assert np.isinf(detectable_shares(np.array([least - 1, least]), alpha=alpha)).tolist() == [True, False]


@given(size=st.integers(2, LONGEST), alpha=st.sampled_from([0.05, 0.001]))
def test_what_can_be_detected_needs_no_more_queries_than_there_are(size: int, alpha: float) -> None:
    effect = detectable_effects(np.array([size]), alpha=alpha) * (1 + 1e-9)
    assert queries_for_effects(effect, alpha=alpha).tolist() == [size]
    share = detectable_shares(np.array([size]), alpha=alpha)
    if np.isfinite(share[0]):
        preference = min(1.0, float(2 * share[0] - 1) * (1 + 1e-9))
        assert queries_for_preference(preference, np.array([size]), np.array([size]), alpha=alpha)[0] <= size


def test_each_pair_has_its_share_of_alpha() -> None:
    shares = {name: share_of_alpha(0.05, name, 10) for name in ("holm", "bonferroni", "bh", "none")}
    assert shares == {"holm": 0.005, "bonferroni": 0.005, "bh": 0.05, "none": 0.05}
    assert share_of_alpha(0.05, "holm", 0) == 0.05


# Edges


def test_degenerate_effects_are_defined() -> None:
    assert for_effects(0.0, 1e-13, math.inf, -math.inf).tolist() == [math.inf, math.inf, 2, 2]
    assert np.isnan(for_effects(math.nan)).all()
    assert np.isnan(detectable_effects(np.array([0, 1]))).all()


def test_degenerate_signs_are_defined() -> None:
    assert for_counts(0, 0, 5).tolist() == [math.inf]
    assert for_counts(4, 4, 5).tolist() == [math.inf]
    assert for_counts(1, 0).tolist() == [6]  # six wins of six are the fewest with p < .05
    assert np.isnan(for_counts(0, 0)).all()
    some = np.array([0, 1, 2, 5])
    assert queries_for_preference(0.4, some, np.full(4, 5)).tolist() == [math.inf, math.inf, 15, 49]  # all or none


def test_the_least_number_is_two() -> None:
    assert for_effects(1e6).tolist() == [2]
    assert for_effects(0.1, alpha=0.5, power=0.1).tolist() == [2]


def test_more_power_and_less_alpha_need_more_queries() -> None:
    effects = np.geomspace(1e-4, 30, 60)
    usual = queries_for_effects(effects)
    assert (np.diff(usual) <= 0).all()
    assert (queries_for_effects(effects, power=0.9) >= usual).all()
    assert (queries_for_effects(effects, alpha=0.01) >= usual).all()


@pytest.mark.parametrize("wrong", [0, 1, 80, math.nan])
def test_alpha_and_power_are_above_0_and_below_1(wrong: float) -> None:
    with pytest.raises(UsageError, match=r"power is .* above 0 and below 1"):
        for_effects(0.5, power=wrong)
    with pytest.raises(UsageError, match=r"alpha is .* above 0 and below 1"):
        for_effects(0.5, alpha=wrong)
    with pytest.raises(UsageError, match=r"alpha is .* above 0 and below 1"):
        discriminative_power([0.1], wrong)
