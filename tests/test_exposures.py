"""The table of all providers: exposure, merit, their ratio, and what becomes of them in resamples of the queries."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from command import Command
from lexirecall import evaluate, project, report
from lexirecall.errors import UsageError
from lexirecall.judgments import BoolArray, FloatArray
from lexirecall.measures import provider_exposure
from lexirecall.measures.providers import Shares, shares_of_providers
from lexirecall.page import Limits
from lexirecall.results import Exposures
from lexirecall.statistics import bootstrap, bootstrap_exposures, exposures
from strategies import quick
from test_bootstrap import draws

NUMBER = 120
OWNERS = {f"d{i}": name for i, name in enumerate(["Ada", "Ada", "Ben", "Cy", ["Ada", "Cy"]])}
QRELS = {f"q{q}": {f"d{(q + k) % 5}": 1 for k in range(1 + q % 4)} for q in range(NUMBER)}
RUNS: dict[str, Any] = {
    "good": {q: sorted(judged, reverse=True) for q, judged in QRELS.items()},
    "poor": {q: ["x", *sorted(judged)[: i % 3], "y"] for i, (q, judged) in enumerate(QRELS.items())},
}
NAMES = ("lows", "highs", "ratio_lows", "ratio_highs")


def table_of(**options: Any) -> Exposures:
    return evaluate(QRELS, RUNS, providers=OWNERS, **options).providers()


# What a ratio is


def test_all_documents_of_one_provider_give_it_exactly_its_share() -> None:
    audit = provider_exposure(project(QRELS, RUNS, providers=dict.fromkeys(OWNERS, "only")))
    assert audit.ratios.tolist() == [[1.0], [1.0]]


def test_what_all_get_together_is_what_they_are_due() -> None:
    shares = shares_of_providers(project(QRELS, RUNS, providers=OWNERS).at_level(1), "ap", 0.8)
    np.testing.assert_allclose(shares.due.sum(axis=1), shares.exposures.sum(axis=1), rtol=1e-14)


def test_many_relevant_documents_of_a_query_do_not_mark_a_provider_down() -> None:
    """Alone among 1 and among 9 relevant documents, both get all that the queries give: the ratio does not tell."""
    judged = {"narrow": {"a": 1}, "broad": {f"b{i}": 1 for i in range(9)}}
    owners = {"a": "Ada", **{f"b{i}": "Ben" for i in range(9)}}
    run = {"narrow": ["a"], "broad": [f"b{i}" for i in range(9)]}
    audit = provider_exposure(project(judged, run, providers=owners))
    assert audit.ratios.tolist() == [[1.0, 1.0]]
    assert audit.exposures[0, 1] / 9 < audit.exposures[0, 0] / 2


def test_where_nobody_is_shown_there_is_no_ratio() -> None:
    judged = {f"q{i}": {"a": 1, "b": 1} for i in range(6)} | {"r": {"b": 1}}
    run = {"r": ["b"]}
    made = evaluate(judged, run, ["AP"], providers={"a": "Ada", "b": "Ben"}).providers()
    assert [(row["provider"], row["exposure"], row["ratio"]) for row in made.rows()] == [
        ("Ben", pytest.approx(1 / 7), 1.0),
        ("Ada", 0.0, None),
    ]
    assert "1 provider without a ratio, because a run shows no provider on their queries" in str(made)


def test_equal_ratios_are_in_the_order_of_names_undefined_ones_last() -> None:
    judged = {f"q{i}": dict.fromkeys("abc", 1) for i in range(5)}
    run = {query: ["x", "c"] for query in judged}
    made = evaluate(judged, run, ["AP"], providers={"a": "Zoe", "b": "Ada", "c": "Cy"})
    assert [row["provider"] for row in made.providers().rows()] == ["Ada", "Zoe", "Cy"]


def test_merit_counts_what_counts() -> None:
    """A run that does not answer q1 has neither its exposure nor its merit, if only answered queries count."""
    judged = {"q1": {"a": 1, "b": 1}, "q2": {"b": 1}}
    positions = project(judged, {"q2": ["b"]}, providers={"a": "Ada", "b": "Ben"})
    both, answered = (provider_exposure(positions, queries=each) for each in ("all", "intersection"))
    assert both.num_documents.tolist() == [[1, 2]]
    assert answered.num_documents.tolist() == [[0, 1]]
    assert answered.ratios[0, 1] == 1.0
    assert np.isnan(answered.ratios[0, 0])


# The bootstrap against its twin


@st.composite
def shared(draw: st.DrawFn) -> tuple[Shares, BoolArray]:
    """Exposures of three providers on some queries in two runs, and which of them count."""
    queries, providers = np.array([(q, p) for q in range(11) for p in (0, 2, 5) if p == 0 or draw(st.integers(0, 9))]).T
    size = len(queries)
    numbers = st.lists(st.sampled_from((0.0, 0.1, 1 / 3, 0.7, 1.5)), min_size=2 * size, max_size=2 * size)
    merits = draw(st.lists(st.integers(1, 3), min_size=size, max_size=size))
    answered = np.array([draw(st.integers(0, 9)) > 0 for _ in range(22)]).reshape(2, 11)
    return Shares(queries, providers, np.array(merits), np.array(draw(numbers)).reshape(2, size)), answered[:, queries]


def columns_of(shares: Shares, counts: BoolArray, s: int, provider: int) -> tuple[list[Fraction], list[Fraction]]:
    """Return the exposure on each query of a provider, and what has its ratio as mean and as first derivative."""
    exposed: dict[int, dict[int, Fraction]] = {}
    merits: dict[int, dict[int, int]] = {}
    for c, (q, p) in enumerate(zip(shares.queries.tolist(), shares.providers.tolist(), strict=True)):
        if counts[s, c]:
            exposed.setdefault(q, {})[p] = Fraction(float(shares.exposures[s, c]))
            merits.setdefault(q, {})[p] = int(shares.num_documents[c])
    own = [q for q in exposed if provider in exposed[q]]
    ratio = naive.provider_ratio([exposed[q] for q in own], [merits[q] for q in own], provider)  # type: ignore
    due = [sum(exposed[q].values()) * Fraction(merits[q][provider], sum(merits[q].values())) for q in own]
    means = [exposed[q][provider] for q in own]
    if ratio is None:
        return means, []
    mean = sum(due, Fraction(0)) / len(due)
    return means, [ratio + (each - ratio * part) / mean for each, part in zip(means, due, strict=True)]


@given(shared(), st.integers(0, 9))
@quick(60)
def test_exposures_and_ratios_have_the_interval_of_means(made: tuple[Shares, BoolArray], seed: int) -> None:
    shares, counts = made
    names = np.unique(shares.providers)
    chosen = np.ones((2, len(names)), bool)
    found = bootstrap_exposures(shares, counts, chosen, num_resamples=59, seed=seed, alpha=0.1)
    for s, c in np.ndindex(2, len(names)):
        columns = columns_of(shares, counts, s, int(names[c]))
        for (low, high), column in zip((NAMES[:2], NAMES[2:]), columns, strict=True):
            own = getattr(found, low)[s, c], getattr(found, high)[s, c]
            if len(column) < 8 or len(set(column)) == 1:
                assert np.isnan(own).all()
                continue
            n = len(column)
            ends = naive.studentized_interval([*map(float, column)], n, draws(n, 59, seed), Fraction(1, 10))
            assert own == pytest.approx([max(end, 0.0) for end in ends], rel=1e-6, abs=1e-9)


def resampled(shares: Shares, counts: BoolArray) -> list[FloatArray]:
    chosen = np.ones((len(counts), len(np.unique(shares.providers))), bool)
    made = bootstrap_exposures(shares, counts, chosen, num_resamples=200)
    return [getattr(made, name) for name in NAMES]


def test_neither_parts_nor_blocks_nor_the_order_of_runs_show(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = shares_of_providers(project(QRELS, RUNS, providers=OWNERS).at_level(1), "dcg", 0.8)
    counts = np.ones(shares.exposures.shape, bool)
    counts[1, ::3] = False
    whole = resampled(shares, counts)
    turned = resampled(shares.of_runs(np.array([1, 0])), counts[::-1])
    assert [each[::-1].tolist() for each in turned] == [each.tolist() for each in whole]
    monkeypatch.setattr(bootstrap, "_BLOCK", NUMBER * 7)
    monkeypatch.setattr(exposures, "_BLOCK", 2 * NUMBER)
    assert [each.tolist() for each in resampled(shares, counts)] == [each.tolist() for each in whole]


def test_providers_that_are_not_chosen_are_not_resampled() -> None:
    shares = shares_of_providers(project(QRELS, RUNS, providers=OWNERS).at_level(1), "ap", 0.8)
    chosen = np.array([[True, False, True], [False, False, False]])
    made = bootstrap_exposures(shares, np.ones(shares.exposures.shape, bool), chosen, num_resamples=99)
    for name in NAMES:
        assert (~np.isnan(getattr(made, name)) == chosen).all()


# The result


def test_rows_have_the_intervals_of_exposure_and_ratio() -> None:
    scores = evaluate(QRELS, RUNS, providers=OWNERS)
    plain, made = scores.providers(seed=3), scores.providers(bootstrap=200, seed=3)
    assert plain.columns == ("run", "provider", "exposure", "merit", "ratio", "queries", "p", "p_corrected")
    assert made.columns == (*plain.columns, "exposure_low", "exposure_high", "ratio_low", "ratio_high")
    for row, before in zip(made.rows(), plain.rows(), strict=True):
        assert row.items() >= before.items()
        assert tuple(row) == made.columns
        assert row["exposure_low"] <= row["exposure"] <= row["exposure_high"]
        assert row["ratio_low"] <= row["ratio"] <= row["ratio_high"]
    assert (
        made.manifest.conventions.items()
        >= {"bootstrap": 200, "owner_permutations": 9999, "seed": 3, "min_queries": 5}.items()
    )
    again = scores.providers(bootstrap=200, seed=3)
    assert list(again.rows()) == list(made.rows()) != list(scores.providers(bootstrap=200, seed=4).rows())


def test_runs_keep_their_own_intervals_in_another_order() -> None:
    scores = evaluate(QRELS, RUNS, ["AP"], providers=OWNERS)
    given, turned = (
        each.providers(bootstrap=99).to_dict() for each in (scores, scores.sorted_by("name").sorted_by("AP"))
    )
    assert given == turned
    reverse = evaluate(QRELS, dict(reversed(RUNS.items())), ["AP"], providers=OWNERS)
    assert reverse.sorted_by("name").providers(bootstrap=99).to_dict() == given
    assert reverse.sorted_by("name").providers().runs == ("good", "poor")


def test_the_least_p_comes_first_and_then_the_lowest_ratio() -> None:
    made = table_of()
    for run in made.runs:
        own = [row for row in made.rows() if row["run"] == run]
        assert own == sorted(own, key=lambda row: (row["p_corrected"], row["p"], row["ratio"]))
    assert len({row["p_corrected"] for row in made.rows()}) > 1


def test_fewer_than_fifty_queries_have_no_interval() -> None:
    owners = {**OWNERS, "r": "Rae", "s": "Sol"}
    judged = QRELS | {f"r{i}": {"r": 1, "s": 1} if i < 49 else {"s": 1} for i in range(50)}
    runs = {"run": {q: sorted(own) for q, own in judged.items()}}
    made = evaluate(judged, runs, ["AP"], providers=owners).providers(bootstrap=99)
    ends = {row["provider"]: (row["exposure_low"], row["ratio_low"]) for row in made.rows()}
    assert ends["Rae"] == (None, None)
    assert None not in ends["Sol"]
    (note,) = [note for note in made.notes if note.kind == "few queries of a provider"]
    assert note.text == "no interval of 1 provider with fewer than 50 queries: it would be too narrow"


def test_a_provider_that_is_alone_on_its_queries_has_no_interval_of_its_ratio() -> None:
    judged = {f"q{i}": {"a" if i < 60 else "b": 1} for i in range(120)}
    run = {q: ["x"] * (i % 3 > 0) + [*own] for i, (q, own) in enumerate(judged.items())}
    made = evaluate(judged, run, ["AP"], providers={"a": "Ada", "b": "Ben"}).providers(bootstrap=99)
    assert [(row["ratio"], row["ratio_low"], row["exposure_low"] is None) for row in made.rows()] == [
        (1, None, False)
    ] * 2
    (note,) = [note for note in made.notes if note.kind == "equal queries of a provider"]
    assert note.text == "no interval of the ratio of 2 providers whose queries all have the same ratio"


def test_notes_say_who_is_not_placed_like_the_others_and_no_more() -> None:
    owners = {"a": "Ada", "b": "Ben", "c": "Cy", "r": "Rae", "s": "Sol"}
    judged = {f"q{i}": {"a": 1, "b": 1, "c": 1} for i in range(12)} | {f"r{i}": {"r": 1} for i in range(6)}
    runs = {
        "fixed": {q: ["c", "x", "a", "b"] for q in judged},
        "fair": {q: [*"abcabc"[i % 3 : i % 3 + 3], "r"] for i, q in enumerate(judged)},
    }
    notes = {
        name: {
            note.kind: note.text for note in evaluate(judged, {name: run}, ["AP"], providers=owners).providers().notes
        }
        for name, run in runs.items()
    }
    like = "the other relevant documents of the same queries"
    said = "fixed 'Ben' (lower), fixed 'Ada' (lower), fixed 'Cy' (higher)"
    assert notes["fixed"]["placed apart"] == f"not placed like {like}: {said}"
    assert notes["fair"]["placed apart"] == f"no provider is shown to be placed unlike {like} (corrected p at least 1)"
    assert notes["fair"]["providers without p"] == (
        "1 provider has no p: on fewer than 5 queries there are relevant documents of theirs and of others"
    )


def test_providers_with_few_queries_are_counted_not_shown() -> None:
    judged = QRELS | {"rare": {"r": 1, "d0": 1}}
    scores = evaluate(judged, RUNS | {"good": {**RUNS["good"], "rare": ["r"]}}, ["AP"], providers=OWNERS | {"r": "Rae"})
    few, all_of_them = scores.providers(), scores.providers(min_queries=1)
    assert {row["provider"] for row in few.rows()} == {"Ada", "Ben", "Cy"}
    assert {row["provider"] for row in all_of_them.rows()} == {"Ada", "Ben", "Cy", "Rae"}
    said = "1 of 4 providers with fewer than 5 queries: counted, not shown (--min-queries 1 shows them)"
    assert said in [note.text for note in few.notes]
    assert not [note for note in all_of_them.notes if note.kind == "providers not shown"]
    shown = {(row["run"], row["provider"]): row for row in all_of_them.rows()}
    assert all(shown[row["run"], row["provider"]] == row for row in few.rows())


def test_runs_may_differ_in_which_providers_are_shown() -> None:
    runs = {**RUNS, "half": {q: RUNS["good"][q] for q in list(QRELS)[:6]}}
    made = evaluate(QRELS, runs, ["AP"], providers=OWNERS, queries="intersection").providers()
    (note,) = [note for note in made.notes if note.kind == "providers not shown"]
    assert note.text.startswith("up to 2 (half 2) of 3 providers with fewer than 5 queries")


def test_the_exposure_is_that_of_the_measure_asked_for() -> None:
    scores = evaluate(QRELS, RUNS, ["WorstProviderOverall(e='dcg')", "WorstProviderOverall"], providers=OWNERS)
    made, audit = scores.providers(), provider_exposure(project(QRELS, RUNS, providers=OWNERS), "dcg")
    untested = [{key: value for key, value in row.items() if key not in ("p", "p_corrected")} for row in made.rows()]
    by_name = [sorted(rows, key=lambda row: (row["run"], row["provider"])) for rows in (untested, audit.rows())]
    assert by_name[0] == by_name[1]
    assert "as in WorstProviderOverall(e='dcg'); merit" in made.footnote
    assert [note.count for note in made.notes if note.kind == "one exposure shown"] == [2]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_the_table_becomes_a_frame(library: str) -> None:
    pytest.importorskip(library)
    made = table_of()
    frame = {"pandas": made.to_pandas, "polars": made.to_polars, "pyarrow": made.to_arrow}[library]()
    assert list(frame.columns if library == "pandas" else frame.column_names if library == "pyarrow" else frame.columns)
    assert frame.shape == (6, 8)


def test_there_is_no_table_without_a_map_or_an_order() -> None:
    with pytest.raises(UsageError, match="there is no map of documents to providers\n  give --providers FILE"):
        evaluate(QRELS, RUNS).providers()
    with pytest.raises(UsageError, match="needs one order of tied documents\n  choose another tie rule"):
        table_of(ties="expected")
    with pytest.raises(UsageError, match="min_queries is 0"):
        evaluate(QRELS, RUNS, providers=OWNERS).providers(min_queries=0)
    with pytest.raises(UsageError, match="20 resamples are too few"):
        evaluate(QRELS, RUNS, providers=OWNERS).providers(bootstrap=20)


def test_the_table_prints_and_shows_itself() -> None:
    made = evaluate(QRELS, RUNS, providers=OWNERS).sorted_by("name").with_digits(2).providers(bootstrap=99)
    head, first, *_ = str(made).splitlines()
    assert head.split() == ["run", "provider", "exposure", "merit", "ratio", "queries", "p", "p_corrected"]
    assert first.split()[:2] == ["good", next(made.rows())["provider"]]
    assert "] " in first
    assert "(99 resamples of the queries, seed 0)" in made.footnote
    assert '<th scope="col" style="text-align: left">provider</th>' in made._repr_html_()


# The command


def lines_of(run: dict[str, list[str]]) -> bytes:
    return "".join(f"{q} Q0 {d} 0 {-i} t\n" for q, ranking in run.items() for i, d in enumerate(ranking)).encode()


GOOD = {
    "qrels": "".join(f"{q} 0 {d} 1\n" for q, judged in QRELS.items() for d in judged).encode(),
    **{name: lines_of(run) for name, run in RUNS.items()},
    "map": "".join(
        f"{d} {o}\n" for d, own in OWNERS.items() for o in ([own] if isinstance(own, str) else own)
    ).encode(),
}
SHOW = ("eval", "qrels", "good", "poor", "--providers", "map", "--show", "providers")


def test_the_command_shows_what_the_library_shows(command: Command, tmp_path: Path) -> None:
    outcome = command(*SHOW, "-f", "jsonl", "--bootstrap", "99", "--seed", "2", "--manifest", "m.json")
    made = evaluate(QRELS, RUNS, providers=OWNERS).providers(bootstrap=99, seed=2)
    assert [json.loads(line) for line in outcome.out.splitlines()] == list(made.rows())
    conventions = json.loads((tmp_path / "m.json").read_text())["conventions"]
    assert conventions.items() >= {"bootstrap": 99, "seed": 2, "min_queries": 5}.items()


def test_without_the_option_a_note_says_how_to_see_every_provider(command: Command) -> None:
    hint = "note: --show providers shows every provider, and whether it is placed like the others"
    assert hint in command(*SHOW[:-2]).err
    assert hint not in command(*SHOW).err
    assert hint not in command(*SHOW[:-4]).err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*SHOW, "-q"), "-q does not work with --show providers"),
        ((*SHOW, "-f", "trec"), "-f trec does not work with --show providers"),
        ((*SHOW[:4], *SHOW[6:]), "--show providers needs a map of documents to providers\n  add --providers FILE"),
        ((*SHOW, "--bootstrap", "20"), "20 resamples are too few"),
    ],
)
def test_what_has_no_meaning_is_refused(command: Command, arguments: tuple[str, ...], said: str) -> None:
    outcome = command(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(said)


# The page


def test_the_page_shows_those_with_the_least_p_and_counts_the_rest() -> None:
    owners = {f"d{i}": [f"P{i}", "all"] for i in range(5)} | {"r": "Rae"}
    judged = QRELS | {"rare": {"r": 1}}
    limited = report(judged, RUNS, ["AP"], providers=owners, output=None, bootstrap=99, limits=Limits(providers=1))
    made = limited.payload["providers"]
    everything = evaluate(judged, RUNS, ["AP"], providers=owners).providers(bootstrap=99).to_dict()
    assert made["total"] == 7
    for run, own in zip(limited.payload["runs"], made["runs"], strict=True):
        first = list(everything[run])[:5]
        assert [made["names"][c] for c in own["provider"]] == first
        assert (own["few"], own["more"]) == (1, 1)
        for column in (
            "ratio",
            "exposure",
            "merit",
            "queries",
            "p_corrected",
            "low",
            "high",
            "ratio_low",
            "ratio_high",
        ):
            name = {"low": "exposure_low", "high": "exposure_high"}.get(column, column)
            assert own[column] == [everything[run][provider][name] for provider in first]
    assert made["note"] == (
        "[low, high]: 95 % interval, by the studentized bootstrap (99 resamples of the queries, seed 0)"
    )


def test_a_page_without_a_map_says_nothing_of_providers() -> None:
    assert "providers" not in report(QRELS, RUNS, ["AP"], output=None).payload
    made = report(QRELS, RUNS, ["AP"], providers=OWNERS, output=None).payload["providers"]
    assert made["note"] == ""
    assert "low" not in made["runs"][0]
