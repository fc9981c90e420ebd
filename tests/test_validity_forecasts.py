"""Labels that depend on each other: what their definition says, and what is counted of forecasts made with them."""

from typing import Any

import numpy as np
import pytest
import validity_forecasts
import validity_labels
from hypothesis import given
from hypothesis import strategies as st
from validity_forecasts import Decisions, page, read, with_page
from validity_rates import ASSUMED, Together, centres, contributors, likelihood, spread_of, variance_of

import naive
from lexirecall.formats.listing import load_lists
from lexirecall.labels.pools import pools_of
from lexirecall.labels.rates import stated_rate
from pages import DOCS
from strategies import quick

spreads = st.sampled_from([0.0, 0.5, 1.5, 2.1])
chances = st.sampled_from([0.001, 0.03, 0.2, 0.5, 0.8])


@quick(20)
@given(chances, spreads)
def test_the_chance_of_an_document_stays_what_it_was(chance: float, spread: float) -> None:
    (centre,) = centres(np.array([chance]), np.array([spread]))
    assert naive.shared_chance(centre, spread) == pytest.approx(chance, rel=2e-3)


@quick(20)
@given(st.lists(st.tuples(st.integers(0, 2), chances, st.integers(1, 3), st.booleans()), min_size=1, max_size=6))
def test_the_likelihood_is_that_of_one_effect_in_each_cell(documents: list[tuple[int, float, int, bool]]) -> None:
    queries, given_chances, counts, labels = map(np.array, zip(*documents, strict=True))
    deviations = 1.5 * np.sqrt(1 + 1 / counts)
    of = centres(given_chances, deviations)
    rows = list(zip(queries.tolist(), of.tolist(), deviations.tolist(), labels.tolist(), strict=True))
    cells = [[row[1:] for row in rows if row[0] == query] for query in sorted(set(queries.tolist()))]
    numbers = np.unique(queries, return_inverse=True)[1]
    made = likelihood(numbers, given_chances, labels, deviations)
    assert made == pytest.approx(naive.shared_likelihood(cells), abs=0.02)


def test_labels_that_are_drawn_have_their_chance_and_vary_together() -> None:
    ranking = [f"d{i:02}" for i in range(40)]
    qrels = {f"q{q}": {"d00": 1, "d01": 0, "d02": 1, "d03": 0} for q in range(4)}
    lists = load_lists(qrels, {name: dict.fromkeys(qrels, ranking) for name in ("one", "two")})
    rates, (pool, other, *_) = Together.of(lists), pools_of(lists)
    assert (rates.spread, rates.is_likeliest) == (ASSUMED, False)
    asked = np.flatnonzero(pool.is_unjudged)
    drawn = rates.draw(pool, 20_000, seed=1)
    assert not drawn[:, ~pool.is_unjudged].any()
    assert drawn[:, asked].mean(axis=0) == pytest.approx(rates.chances(pool)[asked], abs=0.02)
    apart = stated_rate(0.3).draw(pool, 20_000, seed=1)
    counts, alone = drawn.sum(axis=1), apart.sum(axis=1)
    assert counts.var() > 5 * alone.var()
    again, others = rates.draw(pool, 20_000, seed=1), rates.draw(other, 20_000, seed=1)
    assert (again == drawn).all()
    assert (others != drawn).any()


def drawn_cells(spread: float, num_queries: int = 60, size: int = 30) -> list[Any]:
    """Draw what each of six runs alone contributed, its documents sharing a number of the variance 2 σ²."""
    rng = np.random.default_rng(5)
    made = []
    for _ in range(6):
        queries = np.repeat(np.arange(num_queries), size)
        own = rng.choice([0.1, 0.3], len(queries))
        shared = np.sqrt(2) * spread * rng.normal(size=num_queries)[queries]
        logits = centres(own, np.full(len(own), np.sqrt(2) * spread)) + shared
        made.append((queries, own, np.ones(len(own), int), rng.random(len(own)) < 1 / (1 + np.exp(-logits))))
    return made


@pytest.mark.parametrize("spread", [0.0, 0.5, 1.5])
def test_the_spread_that_labels_were_drawn_with_is_found(spread: float) -> None:
    made = drawn_cells(spread)
    found, is_likeliest = spread_of(made)
    assert is_likeliest
    assert found == pytest.approx(spread, abs=0.25)
    assert spread_of(made[:4]) == (ASSUMED, False)
    assert spread_of(drawn_cells(spread, num_queries=4)) == (ASSUMED, False)


def test_what_a_run_alone_has_above_its_first_unjudged_document_is_its_own() -> None:
    qrels = {"q": {"a": 1, "b": 0, "c": 1, "d": 0, "e": -1}}
    lists = load_lists(qrels, {"one": {"q": [*"abxcd"]}, "two": {"q": [*"adeb"]}})
    assert contributors(lists).tolist() == [-1, 0, -1, 1]  # a, b, c, d: x and e are unjudged


def test_the_variance_is_that_of_resampled_queries() -> None:
    relevant, judged = np.array([1.0, 5, 2, 9, 0]), np.array([10.0, 20, 9, 30, 7])
    rng = np.random.default_rng(1)
    rows = rng.integers(5, size=(20_000, 5))
    logs = np.log((relevant[rows].sum(axis=1) + 0.5) / ((judged - relevant)[rows].sum(axis=1) + 0.5))
    assert variance_of(relevant, judged) == pytest.approx(logs.var(), rel=0.25)


def test_bins_count_what_was_reversed() -> None:
    made = Decisions(np.array([0.0, 0.02, 0.03, 0.04]), np.array([0.0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    never, rarely = made.bins(2)
    assert (never["up_to"], never["decisions"], never["reversed"]) == (0, 1, 0)
    assert (rarely["up_to"], rarely["decisions"], rarely["reversed"]) == (0.05, 3, 2)
    assert rarely["forecast"] == pytest.approx(0.03)
    assert (rarely["low"], rarely["high"]) == (0, 1)  # one query or the other
    assert made.log_loss == pytest.approx(-np.log([1 - 0.5 / 200, 0.98, 0.03, 0.04]).mean())


def test_a_trial_is_counted_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "SAMPLES": 10,
        "COUNTED": 20,
        "DEPTHS": (20,),
        "SHARES": (0.5,),
        "DRAWS": 1,
        "LEAST": 1,
    }.items():
        monkeypatch.setattr(validity_forecasts, name, value)
    simulated = validity_labels.simulated(num_queries=6, num_documents=300, num_runs=4)
    study = validity_labels.study_of("tiny", simulated, by_query=True)
    rows = [{"name": "tiny", "runs": 4, "queries": 6, **row} for row in validity_forecasts.calibrate(study)]
    assert [row["kind"] for row in rows].count("trial") == 1
    decisions = {row["measure"]: row["decisions"] for row in rows if row["kind"] == "loss"}
    for measure, total in decisions.items():
        own = [r for r in rows if r["kind"] == "bin" and r["measure"] == measure and r["drawn"] == "together"]
        assert sum(row["decisions"] for row in own) == total
    assert len(list(page(rows))) > 5


def test_the_page_shows_what_was_counted() -> None:
    text = (DOCS / "unjudged.md").read_text()
    assert with_page(text, read()) == text
