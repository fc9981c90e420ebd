"""eval --show policies: runs as samples of policies, against one query at a time, and what is said about them."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command import Command
from lexirecall import Measure, evaluate, project
from lexirecall.errors import UsageError
from lexirecall.positions import Positions
from lexirecall.results import PolicyScores
from lexirecall.text import to_text
from lexirecall.theory import expected_preference, worst_off_user
from strategies import costly

DOCUMENTS = "abcdef"
MEASURES = ["AP", "TSE", "Rprec", "nDCG", "R@2", "LastRel", "SetP"]

lists = st.permutations(DOCUMENTS).flatmap(lambda documents: st.integers(0, 6).map(lambda k: documents[:k]))
runs = st.dictionaries(st.sampled_from(["q", "r"]), lists, min_size=1)
collections: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries({
    "qrels": st.fixed_dictionaries({
        query: st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([0, 1, 1]), min_size=1) for query in "qr"
    }),
    "policies": st.dictionaries(st.sampled_from(["x", "y#z"]), st.lists(runs, min_size=1, max_size=5), min_size=1),
})  # fmt: skip


has_relevant: st.SearchStrategy[dict[str, Any]] = collections.filter(
    lambda drawn: any(1 in own.values() for own in drawn["qrels"].values())
)


def named(policies: dict[str, list[Any]]) -> dict[str, Any]:
    return {f"{policy}#{k}.run": run for policy, own in policies.items() for k, run in enumerate(own, 1)}


def relevant_of(positions: Positions, query: str) -> list[str]:
    """The relevant documents in the order of the judgments, in which ties of users are broken."""
    judgments = positions.judgments
    q = judgments.queries.index(query)
    own = range(*judgments.offsets[q : q + 2].tolist())
    return [to_text(judgments.documents[i]) for i in own if judgments.grades[i] >= 1]


@given(drawn=has_relevant, n=st.none() | st.integers(12, 20), queries=st.sampled_from(["all", "intersection"]))
@costly(100)
def test_a_policy_is_its_samples_one_query_at_a_time(drawn: dict[str, Any], n: int | None, queries: str) -> None:
    policies = drawn["policies"]
    positions = project(drawn["qrels"], named(policies), corpus_size=n)
    made = PolicyScores.of(positions, MEASURES, queries=queries)
    scores = evaluate(positions, measures=MEASURES, queries=queries)
    for p, (policy, own) in enumerate(policies.items()):
        assert (made.policies[p], made.samples[p]) == (policy, len(own))
        rows = [s for s, run in enumerate(scores.runs) if run.rpartition("#")[0] == policy]
        of_runs = scores.means[rows]
        for c, measure in enumerate(made.measures):
            known = of_runs[:, c][~np.isnan(of_runs[:, c])]
            assert made.means[p, c] == pytest.approx(known.mean() if len(known) else math.nan, nan_ok=True)
            if str(measure) == "SetP":
                assert (p, c) not in made.worst
                continue
            for q, query in enumerate(positions.queries):
                samples = [run.get(query, []) for run in own if queries == "all" or query in run]
                check_worst(made.worst[p, c].values[q], samples, relevant_of(positions, query), measure, n)


def check_worst(value: float, samples: list[Any], relevant: list[str], measure: Measure, n: int | None) -> None:
    if not samples or not relevant:
        assert math.isnan(value)
        return
    expected = worst_off_user(samples, relevant, measure, corpus_size=n).value
    assert value == pytest.approx(expected if math.isfinite(expected) else math.nan, nan_ok=True)


@given(drawn=has_relevant)
@costly(100)
def test_two_policies_are_compared_by_all_pairs_of_samples(drawn: dict[str, Any]) -> None:
    policies = drawn["policies"]
    positions = project(drawn["qrels"], named(policies))
    made = PolicyScores.of(positions, ["AP", "LexiRecall", "RPP"])
    assert len(made.pairs) == (2 if len(policies) == 2 else 0)
    for pair in made.pairs:
        relevant = {query: relevant_of(positions, query) for query in positions.queries}
        duels = []
        for query, documents in relevant.items():
            a, b = ([run.get(query, []) for run in policies[each]] for each in (pair.a, pair.b))
            duels += [expected_preference(a, b, documents, pair.preference)] if documents else []
        assert pair.queries == len(duels)
        if duels:
            assert pair.mean == pytest.approx(np.mean([duel.value for duel in duels]), abs=1e-12)
            assert pair.wins == pytest.approx(np.mean([duel.wins for duel in duels]), abs=1e-12)
            assert pair.losses == pytest.approx(np.mean([duel.losses for duel in duels]), abs=1e-12)
        if len(duels) == 1:
            assert pair.error == pytest.approx(duels[0].error, nan_ok=True)


EVEN = {
    "even#1": {"q": ["a", "b"]},
    "even#2": {"q": ["b", "a"]},
    "even#3": {"q": ["a", "b"]},
    "even#4": {"q": ["b", "a"]},
}
FIXED = {"fixed#1": {"q": ["a", "b"]}, "fixed#2": {"q": ["a", "b"]}}
QRELS = {"q": {"a": 1, "b": 1}}


def test_a_policy_that_takes_turns_serves_its_worst_off_user_better() -> None:
    """Chosen on the first and third, where b is second: b is first in the others."""
    made = PolicyScores.of(project(QRELS, EVEN | FIXED), ["AP"])
    assert made.means[:, 0].tolist() == [1, 1]
    assert [made.worst[p, 0].mean for p in (0, 1)] == [1, 0.5]
    assert made.pairs[0].mean == 0


def test_errors_are_those_of_the_means_of_samples() -> None:
    runs = {f"a#{k}": {"q": [*"xyz"[:k], "a", "b"]} for k in range(4)}
    made = PolicyScores.of(project(QRELS, runs), ["AP", "TSE"])
    values = evaluate(project(QRELS, runs), measures=["AP", "TSE"]).means
    assert made.errors[0].tolist() == pytest.approx((values.std(axis=0, ddof=1) / 2).tolist())
    assert made.worst[0, 1].error == pytest.approx(made.errors[0, 1])  # TSE: the user who wants everything
    assert made.worst[0, 1].mean == pytest.approx(made.means[0, 1])


def test_the_error_of_the_worst_off_is_that_of_what_it_was_tried_on() -> None:
    """Of six samples, three are tried for q, where two may be worst off, and all for r, where one is."""
    qrels, others = {**QRELS, "r": {"c": 1}}, ["x", "y", "z"]
    runs = {f"a#{k}": {"q": [*others[: k % 3], "a", "b"], "r": [*others[: k % 2], "c"]} for k in range(6)}
    worst = PolicyScores.of(project(qrels, runs), ["AP"]).worst[0, 0]
    q, r = np.array([1 / (k % 3 + 2) for k in (1, 3, 5)]), np.array([1 / (k % 2 + 1) for k in range(6)])
    assert worst.values.tolist() == pytest.approx([q.mean(), r.mean()])
    of_q, of_r = (q - q.mean()) / 3 * math.sqrt(3 / 2), (r - r.mean()) / 6 * math.sqrt(6 / 5)
    parts = [of_r[0], of_r[1] + of_q[0], of_r[2], of_r[3] + of_q[1], of_r[4], of_r[5] + of_q[2]]
    assert worst.error == pytest.approx(math.sqrt(sum((part / 2) ** 2 for part in parts)))


def test_a_query_without_a_relevant_document_counts_as_asked() -> None:
    qrels = {**QRELS, "none": {"a": 0}}
    for no_relevant, factor in (("skip", 1), ("zero", 0.5)):
        made = PolicyScores.of(project(qrels, FIXED), ["AP"], no_relevant=no_relevant)
        assert made.means[0, 0] == factor
        assert made.worst[0, 0].mean == factor / 2


def test_grades_are_not_users_but_a_level_is() -> None:
    positions = project({"q": {"a": 2, "b": 1}}, EVEN)
    made = PolicyScores.of(positions, ["nDCG", "nDCG(rel=1)", "AP(rel=2)"])
    assert [(0, c) in made.worst for c in range(3)] == [False, True, True]
    assert "not known for nDCG: not a sum over recall levels, or made of grades" in str(made)
    assert made.worst[0, 2].mean == pytest.approx(0.75)


def test_units_are_what_users_want() -> None:
    """U is found where the first of a and b is, V where c is, or at the bottom, which all that is missing shares."""
    qrels, units = {"q": {"a": 1, "b": 1, "c": 1}}, {"a": ["U", "W"], "b": "U", "c": "V"}
    runs = {f"p#{k}": {"q": ranked} for k, ranked in enumerate((["x", "b", "a"], ["c", "a"], ["b", "c"], ["c"]), 1)}
    positions = project(qrels, runs, units=units, corpus_size=50)
    made = PolicyScores.of(positions, ["RR", "TSE"])
    assert made.worst[0, 0].mean == pytest.approx((1 / 2 + 0) / 2)  # W is 3rd and missing in the 1st and 3rd sample
    assert made.worst[0, 1].mean == pytest.approx((1 / 50 + 1 / 2 + 1 / 50 + 1 / 50) / 4)
    assert made.worst[0, 1].mean == pytest.approx(made.means[0, 1])
    default = PolicyScores.of(positions)  # AP is not defined where a document serves two units
    assert [*map(str, default.measures)] == ["TSE", "R@1000", "Rprec", "RR"]
    assert any("AP" in note.text and "serves two units" in note.text for note in default.notes)


def test_the_paper_lets_every_measure_see_the_bottom() -> None:
    positions = project(QRELS, {"p#1": {"q": ["a"]}, "p#2": {"q": ["a"]}}, corpus_size=50, imputation="paper")
    made = PolicyScores.of(positions, ["AP", "AP@5"])
    assert [made.worst[0, c].mean for c in (0, 1)] == [1 / 50, 0]


def test_too_many_users_are_counted_and_not_guessed() -> None:
    many = {"q": {f"d{i}": 1 for i in range(13)}, "r": {"d1": 1}}
    order = [f"d{i}" for i in range(13)]
    made = PolicyScores.of(project(many, {f"p#{k}": {"q": order, "r": order} for k in (1, 2)}), ["Rprec", "AP"])
    assert made.worst[0, 0].num_large == 1
    assert math.isnan(made.worst[0, 0].values[0])
    assert made.worst[0, 1].values.tolist() == [pytest.approx(1 / 13), pytest.approx(1 / 2)]
    assert any("more than 12 relevant documents" in note.text and "Rprec (1)" in note.text for note in made.notes)


def test_rows_and_frames_have_the_same_columns() -> None:
    made = PolicyScores.of(project(QRELS, EVEN | FIXED), ["AP"])
    columns = ["policy", "measure", "samples", "mean", "error", "worst_off", "worst_off_error", "queries"]
    for row in made.rows():
        assert [*row] == [*columns, "other", "wins", "losses"]
    assert made.to_polars().columns == [*columns, "other", "wins", "losses"]
    assert [row["query"] for row in made.rows(per_query=True)] == ["q", "all", "q", "all", "all"]
    assert repr(made) == "<PolicyScores: 2 × 1 measure>"
    assert made.with_digits(1).table().rows[0][3] == "1.0"


@pytest.mark.parametrize(
    ("runs", "measures", "options", "problem"),
    [
        (
            dict.fromkeys(("a", "#1", "b#1"), QRELS),
            None,
            {},
            "not named as samples of a policy: 'a', '#1'\n.*policy#1.run",
        ),
        (FIXED, ["LexiRecall"], {}, r"LexiRecall compares policies, and there is one only \(fixed\)"),
        (FIXED, ["AP"], {"ties": "expected"}, "needs one order of tied documents"),
    ],
)
def test_what_cannot_be_shown_is_refused(runs: Any, measures: Any, options: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        PolicyScores.of(project(QRELS, runs, **options), measures)


def in_lines(ranked: list[str]) -> bytes:
    return "".join(f"q Q0 {document} {i} {-i} x\n" for i, document in enumerate(ranked, 1)).encode()


GOOD = {
    "qrels.txt": b"q 0 a 1\nq 0 b 1\n",
    **{f"{name}.run": in_lines(run["q"]) for name, run in (EVEN | FIXED).items()},
}


def test_the_command_is_the_class(command: Command) -> None:
    files = [name for name in GOOD if name.endswith(".run")]
    outcome = command("eval", "qrels.txt", *files, "--show", "policies", "-m", "AP", "-f", "jsonl")
    assert outcome.code == 0, outcome.err
    printed = [json.loads(line) for line in outcome.out.splitlines()]
    assert printed == [*PolicyScores.of(project(QRELS, EVEN | FIXED), ["AP"]).rows()]
