"""The simulation behind docs/validity.md, at a tiny size: it draws what it says, and counts what it should.

The simulation itself is not a test: `python benchmarks/validity.py` runs it.
"""

from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
import validity
import validity_certify
import validity_gate
import validity_over
from validity import Family, Pair
from validity_certify import Bounded, Certified, Looked, Ranked
from validity_gate import Gated, Ledgered, Margined
from validity_labels_page import read
from validity_over import Grouped, TailPair
from validity_page import TESTS, Rate, conclusions, covered, erred, verdict, write

from lexirecall import compare, evaluate, gate
from lexirecall.judgments import FloatArray
from lexirecall.labels.certificates import Certificate, ReviewCounts, SampleCount
from lexirecall.statistics.over import Over, over_queries
from lexirecall.statistics.proportions import preference_interval


@pytest.mark.parametrize("pair", [Pair("signs", 5, 0.2, 0.5), Pair("signs", 6, 0.5, 0.0), Pair("signs", 4, 0.0, 1.0)])
def test_coverage_of_signs_is_that_of_all_outcomes(pair: Pair) -> None:
    untied = 1 - pair.ties
    chances = {1: untied * (1 + pair.effect) / 2, -1: untied * (1 - pair.effect) / 2, 0: pair.ties}
    total = 0.0
    for outcome in product(chances, repeat=pair.num_requests):
        counts = [np.array([each]) for each in (outcome.count(1), outcome.count(-1), len(outcome))]
        (low,), (high,) = preference_interval(*counts)
        is_held = low <= untied * pair.effect + 1e-12 and untied * pair.effect - 1e-12 <= high
        total += is_held * np.prod([chances[sign] for sign in outcome])
    assert validity.coverage_of_signs(pair) == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize("sizes", validity.SIZES)
@pytest.mark.parametrize("effect", [0.0, 0.5, 1.0])
def test_differences_have_the_mean_the_ties_and_the_pseudomedian_that_are_said(sizes: str, effect: float) -> None:
    pair = Pair(sizes, 50, 0.2, effect)
    drawn = validity.draw_differences(pair, 2000, np.random.default_rng(1)).ravel()
    assert drawn.mean() == pytest.approx(validity.true_mean(pair), abs=5 * drawn.std() / np.sqrt(drawn.size))
    assert (drawn == 0).mean() == pytest.approx(0.2, abs=5 * 0.4 / np.sqrt(drawn.size))
    untied = drawn[drawn != 0][: 2 * 35_000].reshape(2, -1)
    below = (untied.mean(axis=0) < validity.true_pseudomedian(sizes, effect)).mean()
    assert below == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(untied.shape[1]))


def test_an_interval_is_counted_if_there_is_one() -> None:
    found = validity.cover(Pair("skewed", 8, 0.5, 0.0), seed=0, num_sets=200)
    assert 0 < found["wilcoxon"] <= found["wilcoxon given"] < found["sets"] == 200
    assert 0.9 * 200 < found["t"] <= found["t given"] <= 200


@pytest.mark.parametrize("response", ["measure", "preference"])
@pytest.mark.parametrize("effects", validity.EFFECTS)
def test_runs_of_a_group_are_equally_good_and_others_are_not(response: str, effects: str) -> None:
    family = Family(response, effects, 4, 50)
    rng = np.random.default_rng(2)
    if response == "preference":
        means = validity.draw_preferences(family, 40, rng).mean(axis=(2, 3))
    else:
        values = validity.draw_measure(family, 40, rng).mean(axis=(1, 2))
        means = values[:, None] - values
    group = validity.groups(family)
    assert group.max() == (effects != "none")
    for a, b in combinations(range(4), 2):
        if group[a] == group[b]:
            assert abs(means[a, b]) < 5 / np.sqrt(50 * 40)  # no difference is larger than 1
        else:
            assert means[a, b] < -0.04


def test_a_run_that_goes_as_far_as_its_documents_misses_the_others() -> None:
    run = validity.as_run("x", np.array([[1, 100, 101], [101, 102, 103]]))
    assert run.found.positions.tolist() == [1, 100]
    assert run.found.segments.sizes.tolist() == [2, 0]


def test_only_differences_between_equally_good_runs_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    def pvalues(family: Family, values: FloatArray, *_: object) -> Iterator[tuple[str, FloatArray]]:
        group = validity.groups(family)
        is_null = np.array([group[a] == group[b] for a, b in combinations(range(family.num_systems), 2)])
        yield "right", np.tile(np.where(is_null, 1.0, 0.0), (len(values), 1))
        yield "wrong", np.tile(np.where(is_null, 0.0, 1.0), (len(values), 1))

    monkeypatch.setattr(validity, "corrected_pvalues", pvalues)
    found = validity.err(Family("measure", "better", 4, 10), seed=0, num_sets=3)
    assert (found["right"], found["wrong"]) == (0, 3)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        validity, "BATCH", {"coverage": 5, "errors": 2, "tails": 3, "groups": 4, "gate": 6, "ledger": 2, "margin": 5,
                            "bounds": 1, "certify": 4, "looks": 4}
    )  # fmt: skip
    monkeypatch.setattr(validity_over, "RESAMPLES", 39)
    pairs = [Pair(sizes, n, 0.2, 0.5) for sizes in ("signs", *validity.SIZES) for n in (8, 50)]
    families = [Family(*kind, 4, 8, 19) for kind in product((*validity.POWERS, "preference"), validity.EFFECTS)]
    tails = [TailPair(response, "tail:0.1", 20, 0.5) for response in validity_over.POWERS]
    groups = [Grouped((3, 4), 3.0, shape) for shape in ("normal", "skewed")]
    gates = {
        "gate": [Gated(response, 8, 0.2) for response in (*validity_gate.MARGINS, "three")],
        "ledger": [Ledgered("LexiRecall", builds, 8) for builds in validity_gate.SEQUENCES],
        "margin": [Margined(response, 8, 0.2) for response in validity_gate.MARGINS],
    }
    certificates = {
        "bounds": [Bounded(12, 4, 0.8)],
        "certify": [Certified("simulated", 0.3, size, 0.9) for size in (20, 100)],
        "looks": [Looked("simulated", 0.3, size, 0.9) for size in (20, 100)],
    }
    settings = {"coverage": pairs, "errors": families, "tails": tails, "groups": groups, **gates, **certificates}
    monkeypatch.setattr(validity, "SETTINGS", settings)


PARTS = ("coverage", "errors", "tails", "groups", "gate", "ledger", "margin", "bounds", "certify", "looks")


@pytest.mark.parametrize("part", PARTS)
def test_a_simulation_continues_where_it_stopped(tiny: None, tmp_path: Path, part: str) -> None:
    for folder, steps in (("at once", (4,)), ("in steps", (2, 4, 4))):
        for repetitions in steps:
            validity.simulate(part, repetitions * validity.BATCH[part], 1, tmp_path / folder)
    counts = [validity.kept(tmp_path / folder / f"{part}.json") for folder in ("at once", "in steps")]
    assert counts[0] == counts[1]
    wanted = {validity.key(each): 4 * validity.BATCH[part] for each in validity.SETTINGS[part]}
    assert {name: found["sets"] or wanted[name] for name, found in counts[0].items()} == wanted


def test_the_page_has_five_conclusions_and_only_what_was_simulated(tiny: None, tmp_path: Path) -> None:
    results = {}
    for part in PARTS:
        validity.simulate(part, validity.BATCH[part], 1, tmp_path)
        results[part] = validity.kept(tmp_path / f"{part}.json")
    assert len(list(conclusions(list(covered(results["coverage"])), list(erred(results["errors"]))))) == 5
    write(tmp_path / "all.md", results)
    assert all(name in (tmp_path / "all.md").read_text() for name in TESTS.values())
    assert "## Certificates of recall" in (tmp_path / "all.md").read_text()
    assert "### A second look" in (tmp_path / "all.md").read_text()
    write(tmp_path / "part.md", {**results, "errors": {}, "ledger": {}, "looks": {}})
    assert "second look" not in (tmp_path / "part.md").read_text()
    assert "Family-wise" not in (tmp_path / "part.md").read_text()
    assert "over 20 builds" in (tmp_path / "all.md").read_text()
    assert "20 builds" not in (tmp_path / "part.md").read_text()
    assert "vary by group" in (tmp_path / "part.md").read_text()


@pytest.mark.parametrize("over", ["tail:0.1", "median"])
@pytest.mark.parametrize("effect", [0.0, 2.0])
def test_the_true_number_is_that_of_many_queries(over: str, effect: float) -> None:
    pair = TailPair("measure", over, 20_000, effect)
    (values,) = validity_over.draw_values(pair, 1, np.random.default_rng(3))
    number = over_queries(values[0].reshape(1, -1, 1), Over.parse(over)).item()
    assert number == pytest.approx(validity_over.true_number("measure", over, effect), rel=0.1)


def test_differences_of_groups_have_the_mean_0_and_the_spread_that_is_said() -> None:
    for shape in ("normal", "skewed"):
        drawn = validity_over.draw_grouped(Grouped((30, 30), 3.0, shape), 1000, np.random.default_rng(4))
        first, second = drawn[:, :30], drawn[:, 30:]
        assert (first.mean(), second.mean()) == pytest.approx((0, 0), abs=0.1)
        assert first.std() / second.std() == pytest.approx(3, abs=0.1)


def test_simulated_differences_are_decided_on_as_rankings_are() -> None:
    """The gate decides the same on rankings as the simulation does on their differences."""
    rng = np.random.default_rng(5)
    qrels = {f"q{q}": {f"d{d}": 1 for d in range(3)} for q in range(12)}
    for margin, _ in product((None, 0.1), range(5)):
        new, old = ({q: rng.permutation([*docs, "x", "y"])[:3].tolist() for q, docs in qrels.items()} for _ in range(2))
        made = gate(qrels, new, old, ["LexiRecall"], margin=margin).decisions[0]
        pairs = compare(qrels, {"new": new, "old": old}, ["LexiRecall"]).measures[0]
        signs = np.repeat([1.0, 0.0, -1.0], [int(each[0]) for each in (pairs.wins, pairs.ties, pairs.losses)])
        (simulated,) = validity_gate.decided(signs[None], 0.05, margin, is_signs=True)
        assert simulated == made
        made = gate(qrels, new, old, ["AP"], margin=margin).decisions[0]
        scores = evaluate(qrels, {"new": new, "old": old}, ["AP"]).values[..., 0]
        (simulated,) = validity_gate.decided(scores[:1] - scores[1:], 0.05, margin, is_signs=False)
        assert simulated.fails == made.fails
        assert simulated.compared.p == pytest.approx(made.compared.p)
        assert simulated.compared.low == pytest.approx(made.compared.low)
        assert simulated.noticed == pytest.approx(made.noticed)


@pytest.mark.parametrize("response", validity_gate.MARGINS)
def test_equally_good_runs_have_the_mean_0_and_the_ties_and_spread_that_are_said(response: str) -> None:
    drawn = validity_gate.draw_tied(response, (100_000,), 0.5, np.random.default_rng(6))
    deviation = validity_gate.deviation_of(response) * np.sqrt(0.5)
    assert drawn.mean() == pytest.approx(0, abs=5 * deviation / np.sqrt(drawn.size))
    assert drawn.std() == pytest.approx(deviation, rel=0.05)
    assert (drawn == 0).mean() == pytest.approx(0.5, abs=0.01)


def test_signs_that_are_worse_by_the_margin_have_that_mean_and_those_ties() -> None:
    drawn = validity_gate.draw_worse_signs((1000, 100), 0.5, 0.1, np.random.default_rng(7))
    assert drawn.mean() == pytest.approx(-0.1, abs=0.015)
    assert (drawn == 0).mean() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("builds", validity_gate.SEQUENCES)
def test_builds_are_as_good_as_the_baseline_and_as_alike_as_is_said(builds: str) -> None:
    drawn = validity_gate.draw_builds(Ledgered("measure", builds, 50), 200, np.random.default_rng(8))
    assert np.nanmean(drawn) == pytest.approx(0, abs=0.02)
    both = ~np.isnan(drawn[:, 0] + drawn[:, 1])
    kept = (drawn[:, 0] == drawn[:, 1])[both].mean()
    assert kept == pytest.approx(0.0 if builds == "apart" else 0.9, abs=0.02)
    assert np.isnan(drawn).mean() == pytest.approx(0.2 if builds == "sampled" else 0.0, abs=0.01)
    assert validity_gate.numbers_of_builds(drawn[0]) == list(range(1, validity_gate.BUILDS + 1))


def test_a_gate_that_always_fails_and_one_that_never_does_are_counted() -> None:
    worse, better = -np.ones((3, 10)), np.ones((3, 10))
    for is_signs in (True, False):
        assert validity_gate.num_failed(worse, 0.05, None, is_signs=is_signs) == 3
        assert validity_gate.num_failed(better, 0.05, None, is_signs=is_signs) == 0
        assert validity_gate.num_failed(worse, 0.05, 0.5, is_signs=is_signs) == 3
        assert validity_gate.num_failed(better, 0.05, 0.5, is_signs=is_signs) == 0


def test_coverage_of_bounds_is_that_of_all_samples() -> None:
    found = validity_certify.cover_bounds(Bounded(7, 3, 0.8))
    held = []
    for missed in range(8):
        samples = [sum(item < missed for item in sample) for sample in combinations(range(7), 3)]
        mosts = [Certificate(ReviewCounts(7, 0, 0, (SampleCount(3, x),)), 0.8).missed.most for x in samples]
        held.append(np.mean(np.array(mosts) >= missed))
    assert (found["low"], found["mean low"]) == pytest.approx((min(held), np.mean(held)))
    assert found["interval"] >= 0.8


def test_rankings_are_read_and_sampled_as_is_said() -> None:
    ranked = Ranked(20, np.array([1, 2, 9, 15, 20]))
    drawing = validity_certify.drawn(ranked, 0.4, np.random.default_rng(9), 100)
    assert (drawing.depth, drawing.found, len(drawing.is_relevant), drawing.is_relevant.sum()) == (8, 2, 12, 3)
    counts = drawing.counts(4, 5)
    assert (counts.read, counts.found, [each.size for each in counts.samples]) == (8, 2, [4, 5])
    assert [each.relevant for each in counts.samples] == [drawing.is_relevant[:4].sum(), drawing.is_relevant[4:9].sum()]
    assert [each.size for each in drawing.counts(10, 5).samples] == [10, 2]
    shares = [
        validity_certify.drawn(ranked, 0.4, np.random.default_rng(seed), 4).is_relevant.mean() for seed in range(500)
    ]
    assert np.mean(shares) == pytest.approx(3 / 12, abs=0.03)


def test_only_rankings_of_the_whole_corpus_are_taken(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q 0 a 1\nq 0 b 1\nq 0 x 0\nr 0 a 1\n")
    rankings = {"whole": {"q": "axb", "r": "a"}, "misses": {"q": "axy"}, "short": {"q": "ab"}, "long": {"q": "abxyz"}}
    for name, run in rankings.items():
        lines = (f"{q} Q0 {d} {i} {-i} t\n" for q, items in run.items() for i, d in enumerate(items))
        (tmp_path / name).write_text("".join(lines))
    loaded = validity_certify.load(str(tmp_path / "qrels.txt"), [str(tmp_path / name) for name in rankings])
    assert [(each.corpus_size, each.places.tolist()) for each in loaded] == [(3, [1, 3]), (1, [1])]


def test_a_certificate_that_is_wrong_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    right = validity_certify.count_certified(Certified("simulated", 0.3, 50, 0.9), np.random.default_rng(10), 20)
    assert right["low"] >= 16
    monkeypatch.setattr("lexirecall.labels.certificates.most_relevant", lambda *given: given[2])
    wrong = validity_certify.count_certified(Certified("simulated", 0.3, 50, 0.9), np.random.default_rng(10), 20)
    assert wrong["low"] < right["low"]
    looked = validity_certify.count_looked(Looked("simulated", 0.3, 50, 0.9), np.random.default_rng(10), 20)
    assert looked["with"] <= wrong["low"]
    assert looked["without"] < 16


def test_a_row_says_where_its_aim_is_missed() -> None:
    rates = {"x": Rate(0.95, 1000, 0.93, 0.97), "y": Rate(0.925, 1000, 0.93, 0.97), "z": Rate(0.8, 0, 0.9, 1.0)}
    assert verdict(rates) == "no: z; within error: y"
    assert [str(rate) for rate in rates.values()] == [".950 ± .007", ".925 ± .008", ".800"]


def test_the_page_is_made_from_the_counts(tmp_path: Path) -> None:
    results = {part: validity.kept(validity.RESULTS / f"{part}.json") for part in validity.SETTINGS}
    write(tmp_path / "page.md", results, read(validity.RESULTS))
    assert (tmp_path / "page.md").read_text() == validity.PAGE.read_text(), "run: python benchmarks/validity.py page"
