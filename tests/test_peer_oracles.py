"""The comparison with other packages: it finds what differs, and knows what differs for a reason."""

from typing import Any

import pytest

from suites import oracles
from suites.cases import Cases, draw_cases
from suites.oracles import KnownScores, tally

CASES = Cases({"1": {"a": 1}, "2": {"a": 2}}, {"1": {"a": 1.0}, "2": {"a": 1.0}})


def test_cases_hold_what_rankings_differ_in_and_follow_the_seed() -> None:
    cases = draw_cases(300, 1, tied=True)
    assert cases == draw_cases(300, 1, tied=True) != draw_cases(300, 2, tied=True)
    assert cases.qrels.keys() - cases.run.keys()
    assert cases.run.keys() - cases.qrels.keys()
    assert {} in cases.run.values()
    assert min(grade for grades in cases.qrels.values() for grade in grades.values()) < 0
    assert any(len({*scores.values()}) < len(scores) for scores in cases.run.values())


def test_ratios_of_counts_must_be_equal_to_the_last_bit() -> None:
    near = {"1": 0.5, "2": 0.5 + 1e-14}
    exact = tally("ranx", "precision@3", CASES, near, {"1": 0.5, "2": 0.5})
    close = tally("ranx", "map", CASES, near, {"1": 0.5, "2": 0.5})
    assert (exact.num_equal, close.num_equal) == (1, 2)
    assert exact.unexplained == ("2: 0.50000000000001 here, 0.5 there; {'a': 2}, {'a': 1.0}",)


def test_a_difference_with_a_reason_is_counted_and_one_without_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    high = KnownScores(
        "ranx", ("map",), "high grades", lambda grades, _scores, _ours, _theirs: max(grades.values()) > 1
    )
    monkeypatch.setattr(oracles, "KNOWN", (high,))
    made = tally("ranx", "map", CASES, {"1": 0.1, "2": 0.1}, {"1": 0.2, "2": 0.2})
    assert (made.num_cases, made.num_equal, made.reasons, len(made.unexplained)) == (2, 0, {"high grades": 1}, 1)
    assert len(tally("ranx", "mrr", CASES, {}, {"1": 0.2}).unexplained) == 1, "we have no value"


@pytest.mark.parametrize("peer", ["pytrec_eval"])
def test_a_package_and_we_agree_on_a_few_cases(peer: str) -> None:
    pytest.importorskip(peer)
    made: list[Any] = list(oracles.ORACLES[peer](60, 3))
    assert len(made) > 100
    assert not [each for each in made if each.unexplained or each.num_equal != each.num_cases or not each.num_cases]
