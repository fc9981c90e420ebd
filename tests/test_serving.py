"""Units on the page and in explanations: which document serves each, and what else would have."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexirecall import explain, report
from strategies import quick

DOCUMENTS = [f"c{i}" for i in range(8)]
MAPS = st.dictionaries(
    st.sampled_from(DOCUMENTS),
    st.lists(st.sampled_from(["U", "V", "W"]), min_size=1, max_size=2, unique=True),
    min_size=1,
)
RANKINGS = st.permutations([*DOCUMENTS, "x", "y"]).flatmap(
    lambda documents: st.integers(1, 10).map(lambda n: documents[:n])
)
QRELS = {"q": dict(zip(DOCUMENTS, (1, 2, 0, 1, 1, 2, 1, 0), strict=True))}


def relevant_documents(units: dict[str, list[str]], unit: str, level: float) -> set[str]:
    return {document for document in DOCUMENTS if unit in units.get(document, []) and QRELS["q"][document] >= level}


@given(
    units=MAPS,
    rankings=st.tuples(RANKINGS, RANKINGS),
    level=st.sampled_from([1, 2]),
    rule=st.sampled_from(["any", "all"]),
)
@quick(150)
def test_a_unit_is_served_by_the_document_at_its_position(
    units: dict[str, list[str]], rankings: tuple[list[str], list[str]], level: int, rule: str
) -> None:
    if not any(relevant_documents(units, unit, level) for unit in "UVW"):
        return
    runs = {name: {"q": ranking} for name, ranking in zip("ab", rankings, strict=True)}
    explained = explain(QRELS, runs, units=units, level=level, unit_rule=rule, judged="documents").query("q")
    assert explained.noun == "unit"
    for side, ranking in zip((explained.a, explained.b), rankings, strict=True):
        assert len(side.servings) == explained.num_relevant
        for unit, serving, position in zip(side.documents, side.servings, side.positions.tolist(), strict=True):
            needed = relevant_documents(units, unit, level)
            assert {*serving.others, *({serving.by} if serving.by else ())} == needed
            places = [ranking.index(document) + 1 for document in needed if document in ranking]
            if rule == "any":
                assert position == min(places, default=float("inf"))
            else:
                assert position == (max(places) if len(places) == len(needed) else float("inf"))
            assert (serving.by is None) == (position == float("inf"))
            assert serving.by is None or ranking[int(position) - 1] == serving.by


@given(units=MAPS, rankings=st.tuples(RANKINGS, RANKINGS))
@quick(60)
def test_the_page_has_the_servings_of_explain(
    units: dict[str, list[str]], rankings: tuple[list[str], list[str]]
) -> None:
    if not any(relevant_documents(units, unit, 1) for unit in "UVW"):
        return
    runs = {name: {"q": ranking} for name, ranking in zip("ab", rankings, strict=True)}
    options: dict[str, Any] = {"units": units, "judged": "documents"}
    page = report(QRELS, runs, ["LexiRecall"], output=None, **options).payload
    serving, relevant = page["serving"], page["relevant"][0]
    assert len(serving["units"][0]) == len(relevant)
    for unit, (count, needs_all, *first) in zip(relevant, serving["units"][0], strict=True):
        needed = relevant_documents(units, unit, 1)
        assert (count, needs_all) == (len(needed), 0)
        assert {serving["documents"][0][i] for i in first} <= needed
        assert len(first) == min(4, len(needed))
    explained = explain(QRELS, runs, **options).query("q")
    for s, run in enumerate(page["runs"]):
        side = explained.a if explained.a.run == run else explained.b
        by = [serving["documents"][0][i] for i in serving["by"][s][0]]
        assert by == [each.by for each in side.servings if each.by is not None]


def test_an_explanation_names_the_documents_that_serve() -> None:
    units = {"c1": "D1", "c2": "D1", "c3": "D2", "c4": "D3"}
    qrels = {"q": dict.fromkeys(units, 1)}
    explained = explain(qrels, {"a": {"q": ["c2", "c1", "x", "c3"]}, "b": {"q": ["x", "c1", "c3"]}}, units=units)
    query = explained.query("q")
    assert query.sentence() == (
        "b is preferred: both find 2 of the 3 relevant units and the last of them is at 3 in b (D2, served by c3) and "
        "at 4 in a (D2, served by c3)."
    )
    text = str(query)
    assert "neither finds: D3 (served by c4)" in text
    assert "served in a: D1 by c2 (or c1)" in text
    (row,) = [row for row in query.rows() if row["level"] == 1]
    assert (row["served_by_a"], row["alternatives_a"], row["served_by_b"]) == ("c2", ["c1"], "c1")
    assert query.render("tsv").splitlines()[0].split("\t") == [*query.columns]
    assert "Neither finds 1 of the 3 relevant units." in str(explained)


def test_without_units_nothing_is_said_of_them() -> None:
    explained = explain(QRELS, {"a": {"q": ["c1"]}, "b": {"q": ["c0"]}}).query("q")
    assert explained.noun == "document"
    assert "served" not in str(explained)
    assert not any(column.startswith("served") for column in explained.columns)
    assert "serving" not in report(QRELS, {"q": ["c1"]}, "RR", output=None).payload


@pytest.mark.parametrize(("depth", "words"), [(1, "as its first document"), (2, "within its first 2 documents")])
def test_the_headline_counts_units_within_documents(depth: int, words: str) -> None:
    made = report(
        {"q": {"a": 1, "b": 1}}, {"q": ["a", "b"]}, "RR", output=None, units={"a": "U", "b": "V"}, depth=depth
    )
    said = " ".join(part.get("text", "") for parts in made.payload["headline"] for part in parts)
    assert words in said
    assert "relevant unit" in said
