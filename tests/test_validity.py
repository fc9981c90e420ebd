"""The counting behind docs/validity.md, at a tiny size: it draws what it says, and counts what it should.

The counting itself is not a test: `python benchmarks/validity.py` runs it.
"""

from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
import validity
import validity_certify
import validity_families
import validity_gate
import validity_groups
import validity_intervals
import validity_over
import validity_real
from validity_certify import Bounded, Certified, Looked, Ranked
from validity_families import Family, RealFamily
from validity_gate import Breaking, Gated, Ledgered, Margined, RealAlarm
from validity_intervals import Differing, Estimated, Pair
from validity_over import Grouped, TailPair
from validity_page import write
from validity_tables import TESTS, Rate, Shown, conclusions, covered, erred, shown_in, together, verdict, write_tables

from lexirecall import compare, evaluate, gate, project
from lexirecall.judgments import FloatArray
from lexirecall.labels.certificates import Certificate, ReviewCounts, SampleCount
from lexirecall.measures.ownership import OwnedDocuments
from lexirecall.statistics.proportions import preference_interval
from lexirecall.statistics.queryaggregate import QueryAggregate, over_queries


@pytest.mark.parametrize("pair", [Pair("signs", 5, 0.2, 0.5), Pair("signs", 6, 0.5, 0.0), Pair("signs", 4, 0.0, 1.0)])
def test_coverage_of_signs_is_that_of_all_outcomes(pair: Pair) -> None:
    untied = 1 - pair.ties
    chances = {1: untied * (1 + pair.effect) / 2, -1: untied * (1 - pair.effect) / 2, 0: pair.ties}
    total = 0.0
    for outcome in product(chances, repeat=pair.num_queries):
        counts = [np.array([each]) for each in (outcome.count(1), outcome.count(-1), len(outcome))]
        (low,), (high,) = preference_interval(*counts)
        is_held = low <= untied * pair.effect + 1e-12 and untied * pair.effect - 1e-12 <= high
        total += is_held * np.prod([chances[sign] for sign in outcome])
    assert validity_intervals.coverage_of_signs(pair) == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize("sizes", validity_intervals.SIZES)
@pytest.mark.parametrize("effect", [0.0, 0.5, 1.0])
def test_differences_have_the_mean_the_ties_and_the_pseudomedian_that_are_said(sizes: str, effect: float) -> None:
    pair = Pair(sizes, 50, 0.2, effect)
    drawn = validity_intervals.draw_differences(pair, 2000, np.random.default_rng(1)).ravel()
    assert drawn.mean() == pytest.approx(validity_intervals.true_mean(pair), abs=5 * drawn.std() / np.sqrt(drawn.size))
    assert (drawn == 0).mean() == pytest.approx(0.2, abs=5 * 0.4 / np.sqrt(drawn.size))
    untied = drawn[drawn != 0][: 2 * 35_000].reshape(2, -1)
    below = (untied.mean(axis=0) < validity_intervals.true_pseudomedian(sizes, effect)).mean()
    assert below == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(untied.shape[1]))


def test_an_interval_is_counted_if_there_is_one() -> None:
    found = validity_intervals.cover(Pair("skewed", 8, 0.5, 0.0), np.random.default_rng(0), num_sets=200)
    assert 0 < found["wilcoxon"] <= found["wilcoxon given"] < found["sets"] == 200
    assert 0.9 * 200 < found["t"] <= found["t given"] <= 200


@pytest.mark.parametrize("response", ["measure", "preference"])
@pytest.mark.parametrize("effects", validity_families.EFFECTS)
def test_runs_of_a_group_are_equally_good_and_others_are_not(response: str, effects: str) -> None:
    family = Family(response, effects, 4, 50)
    rng = np.random.default_rng(2)
    if response == "preference":
        means = validity_families.draw_preferences(family, 40, rng).mean(axis=(2, 3))
    else:
        values = validity_families.draw_measure(family, 40, rng).mean(axis=(1, 2))
        means = values[:, None] - values
    group = validity_families.groups(family)
    assert group.max() == (effects != "none")
    for a, b in combinations(range(4), 2):
        if group[a] == group[b]:
            assert abs(means[a, b]) < 5 / np.sqrt(50 * 40)  # no difference is larger than 1
        else:
            assert means[a, b] < -0.04


def test_a_run_that_goes_as_far_as_its_documents_misses_the_others() -> None:
    run = validity_families.as_run("x", np.array([[1, 100, 101], [101, 102, 103]]))
    assert run.found.positions.tolist() == [1, 100]
    assert run.found.segments.sizes.tolist() == [2, 0]


def test_only_differences_between_equally_good_runs_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    family = Family("measure", "better", 4, 10)

    def pvalues(values: FloatArray, *_: object, **__: object) -> Iterator[tuple[str, FloatArray]]:
        group = validity_families.groups(family)
        is_null = np.array([group[a] == group[b] for a, b in combinations(range(family.num_runs), 2)])
        yield "right", np.tile(np.where(is_null, 1.0, 0.0), (len(values), 1))
        yield "wrong", np.tile(np.where(is_null, 0.0, 1.0), (len(values), 1))

    monkeypatch.setattr(validity_families, "corrected_pvalues", pvalues)
    found = validity_families.err(family, np.random.default_rng(0), num_sets=3)
    assert (found["right"], found["wrong"]) == (0, 3)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        validity, "BATCH", {"coverage": 5, "errors": 2, "tails": 3, "groups": 4, "gate": 6, "ledger": 2, "margin": 5,
                            "bounds": 1, "certify": 4, "looks": 4}
    )  # fmt: skip
    monkeypatch.setattr(validity_over, "RESAMPLES", 39)
    pairs = [Pair(sizes, n, 0.2, 0.5) for sizes in ("signs", *validity_intervals.SIZES) for n in (8, 50)]
    families = [
        Family(*kind, 4, 8, 19)
        for kind in product((*validity_families.POWERS, "preference"), validity_families.EFFECTS)
    ]
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
    write_tables(tmp_path / "all.md", results)
    assert all(name in (tmp_path / "all.md").read_text() for name in TESTS.values())
    assert "## Certificates of recall" in (tmp_path / "all.md").read_text()
    assert "### A second look" in (tmp_path / "all.md").read_text()
    write_tables(tmp_path / "part.md", {**results, "errors": {}, "ledger": {}, "looks": {}})
    assert "second look" not in (tmp_path / "part.md").read_text()
    assert "Family-wise" not in (tmp_path / "part.md").read_text()
    assert "over 20 builds" in (tmp_path / "all.md").read_text()
    assert "20 builds" not in (tmp_path / "part.md").read_text()
    assert "vary by group" in (tmp_path / "part.md").read_text()


@pytest.mark.parametrize("over", ["tail:0.1", "tail:0.5"])
@pytest.mark.parametrize("effect", [0.0, 2.0])
def test_the_true_number_is_that_of_many_queries(over: str, effect: float) -> None:
    pair = TailPair("measure", over, 20_000, effect)
    (values,) = validity_over.draw_values(pair, 1, np.random.default_rng(3))
    number = over_queries(values[0].reshape(1, -1, 1), QueryAggregate.parse(over)).item()
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
        assert simulated.compared.low == pytest.approx(made.compared.low, nan_ok=True)
        assert simulated.noticed == pytest.approx(made.noticed, nan_ok=True)


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
        samples = [sum(document < missed for document in sample) for sample in combinations(range(7), 3)]
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
        lines = (f"{q} Q0 {d} {i} {-i} t\n" for q, documents in run.items() for i, d in enumerate(documents))
        (tmp_path / name).write_text("".join(lines))
    runs = [str(tmp_path / name) for name in rankings]
    loaded = validity_certify.whole_rankings(project(str(tmp_path / "qrels.txt"), runs))
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


def test_differences_of_real_values_have_the_mean_0_and_pairs_that_hardly_differ_are_left_out() -> None:
    values = np.random.default_rng(11).random((3, 40))
    values[2] = np.where(np.arange(40) < 7, values[0] + 1, values[0])
    differences = validity_groups.centred_differences(values)
    assert len(differences) == 2
    assert np.abs(differences.mean(axis=1)).max() < 1e-12


def test_documents_are_handed_out_to_providers_whatever_their_places() -> None:
    rng = np.random.default_rng(12)
    queries = np.repeat(np.arange(80), 20)
    documents = OwnedDocuments(queries, queries, rng.random((2, 1600)), np.arange(1601), np.zeros(1600, int))
    drawn = validity_groups.drawn_documents(documents, 60, rng)
    assert np.bincount(drawn.queries).tolist() == [20] * 60
    assert np.abs(np.bincount(drawn.owners) / 1200 - validity_groups.OWNED).max() < 0.05
    shares = validity_groups.shares_of(drawn)
    assert shares.exposures.sum() == pytest.approx(drawn.exposures.sum())
    assert shares.num_documents.sum() == 1200
    found = validity_groups.single_out(drawn, rng)
    assert found["intervals 5"] == 6
    assert found["intervals 50"] < 6
    assert found["wrong 50"] <= found["wrong 5"] <= 3


def test_a_row_says_where_its_aim_is_missed() -> None:
    rates = {"x": Rate(0.95, 1000, 0.93, 0.97), "y": Rate(0.925, 1000, 0.93, 0.97), "z": Rate(0.8, 0, 0.9, 1.0)}
    assert verdict(rates) == "no: z; within error: y"
    assert [str(rate) for rate in rates.values()] == [".950 ± .007", ".925 ± .008", ".800"]


def test_the_pages_are_made_from_the_counts(tmp_path: Path) -> None:
    validity.pages(docs=tmp_path)
    for name in ("validity.md", "validity-tables.md"):
        assert (tmp_path / name).read_text() == (validity.DOCS / name).read_text(), (
            "run: python benchmarks/validity.py page"
        )


# Real runs


@pytest.fixture
def real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make and load a folder of nine runs over 24 queries with two relevant documents of ten."""
    rng, folder = np.random.default_rng(13), tmp_path / "small"
    (folder / "runs").mkdir(parents=True)
    queries, documents = [f"q{q}" for q in range(24)], [f"d{d}" for d in range(10)]
    (folder / "qrels.txt").write_text(
        "".join(f"{q} 0 {d} {int(d in ('d0', 'd1'))}\n" for q in queries for d in documents)
    )
    for run in range(9):
        lines = (f"{q} Q0 {d} {i} {-i} t\n" for q in queries for i, d in enumerate(rng.permutation(documents)[:8]))
        (folder / "runs" / f"run{run}").write_text("".join(lines))
    monkeypatch.setattr(validity_real, "COLLECTIONS", {})
    for module in (validity_certify, validity_families, validity_gate, validity_groups, validity_intervals, validity):
        monkeypatch.setattr(module, "COLLECTIONS", validity_real.COLLECTIONS, raising=False)
    validity_real.load([folder])
    return folder


def test_lexirecall_of_two_runs_is_the_sign_of_what_is_kept_of_each(real: Path) -> None:
    values = validity_real.values_of("small", "LexiRecall")
    runs = [str(real / "runs" / f"run{run}") for run in (0, 1)]
    made = compare(real / "qrels.txt", runs, ["LexiRecall"]).measures[0]
    signs = validity_real.differing(values[0], values[1], "LexiRecall")
    assert ((signs > 0).sum(), (signs < 0).sum()) == (made.wins[0], made.losses[0])


def test_one_relevant_document_of_each_query_has_differences_of_one_size(real: Path) -> None:
    assert {*validity_real.values_of("small", validity_real.KNOWN_DOCUMENT).ravel()} == {0.0, 1.0}


def test_win_rates_of_a_group_are_those_of_rank(real: Path) -> None:
    asked = Estimated("small", "win rate against four runs", "t", "LexiRecall", 24)
    values = validity_real.values_of("small", "LexiRecall")
    *_, rate = validity_intervals._of_win_rate(asked, values, np.arange(24), np.random.default_rng(14))
    group = np.random.default_rng(14).permutation(9)[:5]
    runs = [str(real / "runs" / f"run{run}") for run in group]
    assert evaluate(real / "qrels.txt", runs, ["LexiRecall"]).means[0, 0] == pytest.approx(rate)


def test_permuted_runs_keep_their_values_on_each_query_and_centred_ones_have_one_mean() -> None:
    values, rng = np.random.default_rng(15).random((6, 30)), np.random.default_rng(16)
    made, _ = validity_families.permuted(values, 6, np.arange(30), rng)
    assert np.sort(made, axis=0).tolist() == np.sort(values, axis=0).tolist()
    assert (made[:3] != values[:3]).any()
    drawn, means = validity_families.centred(values, 6, np.arange(30), rng)
    assert drawn.mean(axis=1) == pytest.approx(means)


def test_tilted_chances_make_the_mean_0() -> None:
    differences = np.array([0.0, 0.0, 0.3, 0.2, 0.9, -0.1])
    chances = validity_gate.tilted(differences)
    assert (chances @ differences, chances.sum()) == pytest.approx((0, 1))
    assert chances[0] == chances[1]


@pytest.mark.parametrize(
    "setting",
    [Estimated("small", "median", "order statistics", "AP", 10), Estimated("small", "mean", "Hall", "AP", 10),
     Estimated("small", "win rate against one run", "Tango", "LexiRecall", 10), Differing("small", "mean", "AP", 10),
     Differing("small", "tail:0.5", "RR", 10), RealFamily("small", "permuted", "LexiRecall", 8, 10),
     RealFamily("small", "centred", "AP", 8, 10), RealAlarm("small", "swapped", "default", 10),
     RealAlarm("small", "tilted", "AP", 10), Breaking("small", "order", 0.5, 10),
     validity_groups.RealGrouped("small", "RR", (6, 8), 3), validity_groups.Provided("small", 20)],
    ids=lambda setting: " ".join(map(str, vars(setting).values())),
)  # fmt: skip
def test_nothing_is_counted_more_often_than_it_is_drawn(real: Path, setting: validity.Setting) -> None:
    counter = validity.COUNTERS[type(setting)]
    found = counter(setting, np.random.default_rng(17), 4)
    assert found == counter(setting, np.random.default_rng(17), 4)
    assert found.pop("sets") == 4
    assert all(0 <= each <= 4 for name, each in found.items() if not name.startswith(("intervals", "wrong")))


def test_every_part_has_settings_for_a_folder_and_a_batch(real: Path) -> None:
    for part, (settings, repetitions) in validity.REAL.items():
        made = [*settings()]
        assert len({validity.key(each) for each in made}) == len(made) > 0
        assert {type(each) for each in made} <= validity.COUNTERS.keys()
        assert repetitions % validity.BATCH[part] == 0


def test_coverage_is_that_of_the_intervals_shown() -> None:
    counts = {f"c | mean | Hall | {measure} | 10": {"sets": 100.0, "shown": shown, "held": 45.0}
              for measure, shown in (("AP", 50.0), ("RR", 100.0))}  # fmt: skip
    shown = [*shown_in({"intervals-real": counts})]
    assert [str(each) for each in shown] == [".900 ± .042 (50 %)", ".450 ± .050"]
    both = together(shown)
    assert isinstance(both, Shown)
    assert (both.rate.share, both.share) == (0.6, 0.75)


def test_the_page_says_in_bold_what_does_not_hold(tmp_path: Path) -> None:
    def page(held: float) -> str:
        counts = {"c | mean | Hall | AP | 10": {"sets": 1e3, "shown": 1e3, "held": held},
                  "c | mean | Hall | RR | 20": {"sets": 1e3, "shown": 1e3, "held": 960.0}}  # fmt: skip
        write(tmp_path / "page.md", {"intervals-real": counts})
        return (tmp_path / "page.md").read_text()

    assert "**Mean, by Hall: too few hold, .850 ± .011 with 10 queries.**" in page(850)
    assert "too few hold" not in page(950)
