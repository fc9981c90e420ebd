"""Measures of units: against their slow twins, against pyndeval, and where positions of units coincide."""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from lexirecall import Measure, Positions, compare, evaluate, parse_measure, parse_preference, project, rank, report
from lexirecall.errors import UsageError
from lexirecall.measures import MEASURES
from lexirecall.measures.diversity import GREEDY_LIMIT
from lexirecall.names import parse_names
from strategies import quick, some
from table import check_twins, needs_size, variants

DOCUMENTS = ("a", "B", "b", "é", "d10", "d9", "Z")
UNITS = ("1", "2", "3", "u")
ROWS = [row for row in MEASURES.values() if row.needs_units]
TRIED = [
    *(f"StRecall@{k}" for k in (1, 2, 5)), "StRecall(rel=2)@3", *(f"ERR_IA@{k}" for k in (1, 2, 5, 30)),
    "ERR_IA(rel=2)@3", *(f"alpha_nDCG@{k}" for k in (1, 2, 3, 20)), "alpha_nDCG(alpha=0.3)@4", "alpha_nDCG(alpha=0)@3",
    "alpha_nDCG(alpha=1)@5", "alpha_nDCG(rel=2)@3",
]  # fmt: skip
TRIED_ROWS = [parse_measure(name) for name in TRIED]


@dataclass(frozen=True)
class Topic:
    """Judgments of pairs of unit and document, and a ranking."""

    graded: dict[tuple[str, str], int]
    """{(unit, document): grade}"""
    ranking: list[str]

    def covers(self, level: float = 1) -> dict[str, set[str]]:
        """What each document serves; none serves nothing."""
        pairs = [pair for pair, grade in self.graded.items() if grade >= level]
        return {document: {unit for unit, served in pairs if served == document} for _, document in pairs}

    def lines(self) -> list[str]:
        return [f"q {unit} {document} {grade}\n" for (unit, document), grade in self.graded.items()]

    def twin(self, measure: Measure) -> float:
        covers = self.covers(measure.level(1))
        covered = [covers.get(document, set()) for document in self.ranking]
        settings = {name: setting for name, setting in measure.settings.items() if name != "rel"}
        return naive.DIVERSITY_MEASURES[measure.name](covered, covers, **settings)


topics = st.builds(
    Topic,
    st.dictionaries(
        st.tuples(st.sampled_from(UNITS), st.sampled_from(DOCUMENTS)), st.integers(0, 2), min_size=1, max_size=14
    ).filter(lambda graded: max(graded.values()) > 0),
    st.lists(st.sampled_from([*DOCUMENTS, "x", "y"]), unique=True, max_size=9),
)


def positions_of(topic: Topic, folder: Any) -> Positions:
    (folder / "qrels").write_text("".join(topic.lines()), encoding="utf-8")
    return project(folder / "qrels", {"q": topic.ranking}, units="@subtopics")


def value(measure: Measure, positions: Positions) -> float:
    return float(measure.scores(positions.at_level(measure.level(1)))[0, 0])


def test_every_measure_of_units_has_a_twin_and_every_twin_a_row() -> None:
    check_twins((row.name for row in ROWS), naive.DIVERSITY_MEASURES, "DIVERSITY_MEASURES")
    assert {parse_measure(name).name for name in TRIED} == {row.name for row in ROWS}


@quick(80)
@given(topic=topics)
def test_every_measure_of_units_equals_its_twin(topic: Topic, tmp_path_factory: pytest.TempPathFactory) -> None:
    positions = positions_of(topic, tmp_path_factory.mktemp("topic"))
    for measure in TRIED_ROWS:
        assert math.isclose(value(measure, positions), topic.twin(measure), abs_tol=1e-12), measure


@quick(60)
@given(topic=topics)
def test_every_measure_of_units_equals_pyndeval(topic: Topic, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Except ERR-IA@1, which ndeval does not divide by the number of units: it can be above 1 there."""
    pyndeval = pytest.importorskip("pyndeval")
    positions = positions_of(topic, tmp_path_factory.mktemp("topic"))
    theirs = {"StRecall": "strec", "alpha_nDCG": "alpha-nDCG", "ERR_IA": "ERR-IA"}
    run = [("q", document, -float(place)) for place, document in enumerate(topic.ranking)]
    for measure in TRIED_ROWS:
        if measure.settings["cutoff"] > 20 or str(measure) == "ERR_IA@1" or not topic.ranking:
            continue  # pyndeval goes down to 20, and knows no empty list
        name = f"{theirs[measure.name]}@{measure.settings['cutoff']}"
        judged = [
            ("q", unit, document, int(grade >= measure.level(1))) for (unit, document), grade in topic.graded.items()
        ]
        found = pyndeval.ndeval(judged, run, [name], alpha=measure.values.get("alpha", 0.5))["q"][name]
        assert value(measure, positions) == pytest.approx(found, abs=1e-12), measure


@quick(60)
@given(topic=topics, place=st.integers(1, 8))
def test_moving_a_document_that_serves_a_unit_above_one_that_serves_none_never_hurts(
    topic: Topic, place: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    covers = topic.covers()
    idle = next((i for i, document in enumerate(topic.ranking) if not covers.get(document)), None)
    if idle is None or place >= len(topic.ranking) or place <= idle or not covers.get(topic.ranking[place]):
        return
    better = [*topic.ranking]
    better[idle], better[place] = better[place], better[idle]
    folder = tmp_path_factory.mktemp("topic")
    before, after = (positions_of(Topic(topic.graded, ranking), folder) for ranking in (topic.ranking, better))
    for measure in TRIED_ROWS:
        if measure.level(1) == 1:
            assert value(measure, after) >= value(measure, before) - 1e-12, measure


def test_the_example_of_pyndeval() -> None:
    """A covers one of three subtopics, D and B another one: 1, then 1, then 1/2 at the fourth place."""
    units = {"A": "a", "B": "b", "D": "b", "C": "c"}
    run = {"q": ["A", "D", "E", "B"]}
    found = evaluate({"q": dict.fromkeys(units, 1)}, run, ["alpha_nDCG@5", "ERR_IA@5", "StRecall@5"], units=units)
    gained, ideal = (
        sum(gain / math.log2(place + 1) for place, gain in places)
        for places in (((1, 1), (2, 1), (4, 1 / 2)), ((1, 1), (2, 1), (3, 1), (4, 1 / 2)))
    )
    of_each = sum(0.5**i / (i + 1) for i in range(5))
    expected = [gained / ideal, (1 + 1 / 2 + 1 / 2 / 4) / 3 / of_each, 2 / 3]
    assert found.means[0].tolist() == pytest.approx(expected, rel=1e-14)


def test_alpha_ndcg_can_be_above_1_because_the_best_order_is_found_greedily() -> None:
    """The document that covers most comes first in the greedy order, and then no other adds as much."""
    units = {"a": ["1", "2", "3"], "b": ["4", "5", "6"], "c": ["1", "2", "4", "5"]}
    found = evaluate({"q": dict.fromkeys("abc", 1)}, {"q": ["a", "b"]}, "alpha_nDCG(alpha=1)@2", units=units)
    assert 1 < found.means[0, 0] == pytest.approx((3 + 3 / math.log2(3)) / (4 + 1 / math.log2(3)))
    assert found.means[0, 0] < GREEDY_LIMIT


def test_the_names_of_ndeval_are_read() -> None:
    names = ["alpha-nDCG@10", "ERR-IA@10", "strec@10", "alpha_ndcg@10"]
    assert [str(row) for row in parse_names(names)] == ["alpha_nDCG@10", "ERR_IA@10", "StRecall@10"]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_measure_of_units_without_units_is_refused_with_the_remedy(row: Measure) -> None:
    with pytest.raises(UsageError, match=f"{row.name}@3 needs a map of documents to units") as caught:
        evaluate({"q": {"a": 1}}, {"q": ["a"]}, [row @ 3])
    assert "--units @subtopics" in str(caught.value)


@pytest.mark.parametrize("name", ["alpha_nDCG@3", "ERR_IA@3"])
def test_what_counts_documents_that_serve_a_unit_again_needs_them_in_the_list(name: str) -> None:
    given: dict[str, Any] = {"units": {"a": "1", "b": "1"}}
    judged, run = {"q": {"a": 1, "b": 1}}, {"q": ["a", "b"]}
    for option, said in (({"count": "units"}, "take no place"), ({"unit_rule": "all"}, "needs several together")):
        with pytest.raises(UsageError, match=said):
            evaluate(judged, run, name, **given, **option)
        assert evaluate(judged, run, "StRecall@3", **given, **option).means.tolist() == [[1]]


# Positions that coincide


COMPUTED = "R@3 All@3 Reached@3 Success@3 Depth@0.5 LastRel TSE RR SL1 StRecall@3 LexiRecall LexiPrecision RPP"
REFUSED = "AP P@3 nDCG RBP Bpref SL3 RE LexiRecallPercentile LexiRecallBits SetP SetF IPrec@0.5 ERR infAP Judged@3"
TWO_IN_ONE: dict[str, Any] = {"units": {"a": ["1", "2"], "b": "3"}, "corpus_size": 9}
JUDGED = {"q": {"a": 1, "b": 1}}
RUNS = {"early": {"q": ["a", "x", "b"]}, "late": {"q": ["x", "y", "a"]}}


def test_measures_of_each_unit_are_computed_where_two_are_at_one_position() -> None:
    found = evaluate(JUDGED, RUNS, COMPUTED, **TWO_IN_ONE).to_dict()
    assert found["early"] | {"LexiPrecision": 1, "RPP": 1} == {
        "R@3": 1, "All@3": 1, "Reached@3": 1, "Success@3": 1, "Depth@0.5": 1, "LastRel": 3, "TSE": 1 / 3, "RR": 1,
        "SL1": 0, "StRecall@3": 1, "LexiRecall": 1, "LexiPrecision": 1, "RPP": 1,
    }  # fmt: skip
    assert found["late"]["R@3"] == 2 / 3
    assert found["late"]["LastRel"] == 9


def test_measures_that_need_different_positions_are_refused_all_at_once() -> None:
    with pytest.raises(UsageError, match="two units of a query can be at one position") as caught:
        evaluate(JUDGED, RUNS, [*REFUSED.split(), "R@3"], **TWO_IN_ONE)
    assert all(name in str(caught.value).partition(" cannot")[0].split(", ") for name in REFUSED.split())
    assert "R@3" not in str(caught.value)
    assert "map each document to one unit" in str(caught.value)


@pytest.mark.parametrize("name", REFUSED.split())
def test_a_refused_measure_is_computed_where_each_document_serves_one_unit(name: str) -> None:
    positions = project(JUDGED, RUNS, units={"a": "1", "b": "3"}, corpus_size=9, needs_judged=True)
    assert np.isfinite(evaluate(positions, measures=name).means).all()
    two = project(JUDGED, RUNS, **TWO_IN_ONE, needs_judged=True)
    for call in (compare, rank, evaluate):
        with pytest.raises(UsageError, match=f"^{name.partition('@')[0]}.* cannot be computed"):
            call(two, None, name)
    with pytest.raises(UsageError, match="cannot be computed"):
        parse_preference(name).pairs(two.at_level(1))


def test_of_the_default_measures_those_that_need_different_positions_are_left_out_with_a_note() -> None:
    scores = evaluate(JUDGED, RUNS, **TWO_IN_ONE)
    assert [str(row) for row in scores.measures] == ["LexiRecall", "TSE", "R@1000", "Rprec", "RR"]
    note = "AP, nDCG is not defined where a document serves two units: left out"
    assert note in [each.text for each in scores.notes]
    assert compare(JUDGED, RUNS, **TWO_IN_ONE).averages.measures == scores.measures
    page = report(JUDGED, RUNS, output=None, **TWO_IN_ONE)
    assert page.findings.scores.measures == scores.measures
    assert note in [each.text for each in page.notes]


def test_positions_coincide_only_where_both_units_are_relevant() -> None:
    units = {"q": {"a": ["1", "2"], "b": "2"}}
    graded = {"q": {"a": 1, "b": 2}}  # from grade 2 on, a serves nothing
    assert evaluate(graded, RUNS["early"], "AP(rel=2)", units=units).means.tolist() == [[1 / 3]]
    with pytest.raises(UsageError, match="two units of a query can be at one position"):
        evaluate(graded, RUNS["early"], "AP", units=units)


def test_a_measure_of_ones_own_is_refused_unless_it_says_that_positions_may_coincide() -> None:
    def half(p: Any) -> Any:
        return 0.5**p

    def mean(i: Any, m: Any) -> Any:
        return 1 / m

    with pytest.raises(UsageError, match="Half cannot be computed"):
        evaluate(JUDGED, RUNS, [Measure("Half", "halves", half, mean)], **TWO_IN_ONE)
    own = Measure("Half", "halves", half, mean, coincides=True)
    assert evaluate(JUDGED, RUNS["early"], [own], **TWO_IN_ONE).means[0, 0] == pytest.approx(
        (1 / 2 + 1 / 2 + 1 / 8) / 3
    )


def test_where_units_are_counted_a_unit_that_is_served_late_shares_the_position_of_another() -> None:
    """a takes the place of unit 1, which b serves: that is when c has brought unit 2 to the second place."""
    given: dict[str, Any] = {"units": {"a": "1", "b": "1", "c": "2"}, "count": "units", "judged": "documents"}
    judged, run = {"q": {"a": 0, "b": 1, "c": 1}}, {"q": ["a", "c", "b"]}
    assert evaluate(judged, run, "AP", **given).means.tolist() == [[(1 / 2 + 2 / 2) / 2]]
    with pytest.raises(UsageError, match="LexiRecallPercentile cannot be computed"):
        evaluate(judged, run, "LexiRecallPercentile", corpus_size=9, **given)


# Lists with repeats, and any map


def random_queries(seed: int, number: int, most_units: int) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return judgments, lists that repeat documents, and a map for each query."""
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    qrels, run, units = {}, {}, {}
    for query in map(str, range(number)):
        documents = [f"d{i}" for i in range(rng.randint(1, 6))]
        qrels[query] = {document: rng.choice((0, 1, 1, 2)) for document in documents}
        units[query] = {document: rng.sample(UNITS, rng.randint(1, most_units)) for document in documents}
        run[query] = rng.choices([*documents, "x", "y"], k=rng.randint(0, 9))
    return qrels, run, units


def short_list() -> Iterator[Measure]:
    """Give every row that goes together with units, with one value of `@`."""
    for row in MEASURES.values():
        if not row.needs_providers:
            yield variants(row)[-1] if row.at else row


def is_defined(measure: Measure, positions: Positions) -> bool:
    """Tell whether a measure is not refused: for want of n, for units in one place, or for documents without one."""
    counts_documents = measure.needs_units and measure.function is not None
    rules = positions.conventions
    if counts_documents and (rules.count == "units" or rules.unit_rule == "all"):
        return False
    has_size = positions.corpus_size is not None or not needs_size(measure)
    return has_size and measure.allows(positions.at_level(measure.level(1)))


def outside(positions: Positions) -> Iterator[str]:
    """Name every measure that has a value outside its limits."""
    for measure in short_list():
        if is_defined(measure, positions):
            values, (low, high) = measure.scores(positions.at_level(measure.level(1))), measure.limits
            is_right = np.isnan(values) | ((values >= low - 1e-12) & (values <= high + 1e-12))
            if not is_right.all():
                yield f"{measure}: {values[~is_right][:3]}"


@pytest.mark.parametrize("most_units", [1, 3])
@pytest.mark.parametrize("count", ["documents", "units"])
def test_no_value_of_many_lists_with_repeats_leaves_the_limits_of_its_measure(most_units: int, count: str) -> None:
    """A hundred thousand lists over all calls, if all are: chunks that repeat have lifted recall above 1 elsewhere."""
    for seed, duplicates in enumerate(("first", "best")):
        qrels, run, units = random_queries(seed, some(12_500), most_units)
        options: dict[str, Any] = {"units": units, "count": count, "duplicates": duplicates, "judged": "documents"}
        positions = project(qrels, run, corpus_size=30, needs_judged=True, **options)
        assert positions.units is not None
        assert positions.units.can_coincide(1) == (most_units > 1)
        assert not list(outside(positions))


@quick(60)
@given(
    st.integers(0, 10**9), st.sampled_from(["any", "all"]), st.sampled_from(["documents", "units"]),
    st.sampled_from(["first", "best"]), st.integers(1, 4), st.sampled_from([None, 50]),
)  # fmt: skip
def test_no_value_leaves_its_limits_whatever_the_rule_of_units(
    seed: int, rule: str, count: str, duplicates: str, most_units: int, corpus_size: int | None
) -> None:
    qrels, run, units = random_queries(seed, 8, most_units)
    options: dict[str, Any] = {"unit_rule": rule, "count": count, "duplicates": duplicates, "judged": "documents"}
    positions = project(qrels, run, units=units, corpus_size=corpus_size, needs_judged=True, **options)
    assert not list(outside(positions))
