"""The study of missing labels behind docs/validity.md, tiny: it hides what it says, and counts what it should."""

import numpy as np
import pytest
import validity_labels
from validity_labels import Case, Study, shallow, study_of
from validity_labels_page import label_conclusions, label_paragraphs

from lexirecall.formats.listing import load_lists

RANKINGS = {"one": [f"d{i}" for i in range(80)], "two": [f"d{i}" for i in range(60, -1, -1)]}


@pytest.fixture(scope="module")
def tiny() -> Study:
    return study_of("simulated", validity_labels.simulated(num_queries=6, num_documents=300, num_runs=4))


def test_only_queries_that_were_judged_deep_enough_are_studied() -> None:
    deep = {f"d{i}": int(i < 3) for i in range(70)}
    few = {f"d{i}": 1 for i in range(5)}
    lists = load_lists(
        {"deep": deep, "few": few}, {name: dict.fromkeys(("deep", "few"), RANKINGS[name]) for name in RANKINGS}
    )
    study = study_of("two", lists)
    assert study.lists.judgments.queries == ("deep",)
    assert study.depth == 69  # d70, at 71, has no judgment; the depth before it is complete for sure


def test_what_is_hidden_is_what_is_deep(tiny: Study) -> None:
    for q, tops in enumerate(tiny.tops):
        within = {document for top in tops for document in top[:20]}
        assert shallow(tiny, 20)[q] == {document for top in tops for document in top} - within
        assert shallow(tiny, 20)[q] < shallow(tiny, 20, [0, 1])[q]


def test_depths_may_be_those_of_each_query() -> None:
    simulated = validity_labels.simulated(num_queries=3, num_documents=300, num_runs=2)
    one, each = (study_of("simulated", simulated, by_query=by_query) for by_query in (False, True))
    assert one.depths == (each.depth,) * 3


def test_hidden_judgments_are_unjudged_and_then_as_before(tiny: Study) -> None:
    hidden = shallow(tiny, 50)
    case, grades = Case.of(tiny, hidden), tiny.lists.judgments
    for q, since in enumerate(case.since):
        asked = np.flatnonzero(since.asked.is_unjudged)
        assert {since.asked.documents[i] for i in asked} == hidden[q]
        lookup = grades.lookup(q)
        assert [grades.grades[lookup[since.asked.documents[i]]] for i in asked] == since.labelled.grades[asked].tolist()


def test_with_all_judgments_given_back_no_decision_is_wrong(tiny: Study) -> None:
    case = Case.of(tiny, shallow(tiny, 20))
    everything = validity_labels.chosen_by("random", case, 10**6, 0)
    shares, found = validity_labels.wrong(case, everything)
    assert (shares == 0).all()
    assert found == sum((each.labelled.grades[each.asked.is_unjudged] >= 1).sum() for each in case.since)
    assert validity_labels.wrong(case, [])[0].mean() > 0


def test_choices_are_in_the_order_that_they_are_named_by(tiny: Study) -> None:
    case = Case.of(tiny, shallow(tiny, 20))
    deep = [case.pools[q].places[:, i] for q, i in validity_labels.chosen_by("best depth first", case, 50, 0)]
    best = [places[places > 0].min() for places in deep]
    assert best == sorted(best)
    many = [case.pools[q].places[:, i] for q, i in validity_labels.chosen_by("most runs first", case, 50, 0)]
    counts = [np.count_nonzero(places) for places in many]
    assert counts == sorted(counts, reverse=True)
    assert len(set(validity_labels.chosen_by("ours", case, 50, 0))) == 50


def test_the_page_is_made_from_what_was_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validity_labels, "SAMPLES", 10)
    monkeypatch.setattr(validity_labels, "GIVEN", (10, 20))
    about = {"kind": "study", "name": "tiny", "runs": 4, "queries": 6, "depth": 300}
    study = study_of("simulated", validity_labels.simulated(num_queries=8, num_documents=900, num_runs=4))
    rows = [about, *validity_labels.judge(study)]
    assert len(list(label_conclusions([rows]))) == 1
    parts = [each if isinstance(each, str) else list(each) for each in label_paragraphs([rows])]
    tables = [each for each in parts if isinstance(each, list)]
    assert [len(set(map(len, each))) for each in tables] == [1]
    assert parts[0] == "## Missing labels: tiny"
