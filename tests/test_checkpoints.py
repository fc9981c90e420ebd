"""What the training loop keeps: tables of positions, and checkpoints side by side. Nothing here needs PyTorch."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexirecall import Positions, evaluate, project
from lexirecall.errors import DataError, UsageError
from lexirecall.judgments import IntArray
from lexirecall.torch.checkpoints import side_by_side, win_rate
from lexirecall.torch.rows import DOCUMENT, FIRST, POSITION, QUERY, GatheredRows, gathered, rows_of

NUM_DOCUMENTS = 7
MEASURES = ["TSE", "LastRel", "AP", "nDCG", "R@2"]
OF_JUDGED = ["Bpref", "Judged@2", "infAP"]  # what is judged not relevant counts too; no closed form if tied
Collection = tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]


@st.composite
def collections(draw: st.DrawFn) -> Collection:
    """Draw grades, some not positive, and scores of some documents, all of them scored; scores tie often."""
    documents = [str(document) for document in range(NUM_DOCUMENTS)]
    queries = [str(query) for query in draw(st.sets(st.integers(0, 30), min_size=1, max_size=5))]
    grades = st.dictionaries(st.sampled_from(documents), st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0]), max_size=5)
    scores = st.lists(st.integers(0, 3), min_size=NUM_DOCUMENTS, max_size=NUM_DOCUMENTS)
    judged = {query: {"0": 0.0} | draw(grades) for query in queries}
    judged[queries[0]]["1"] = 1.0  # if nothing were relevant to any query, there would be nothing to evaluate
    return judged, {query: dict(zip(documents, map(float, draw(scores)), strict=True)) for query in queries}


def tables(collection: Collection, ties: str) -> list[IntArray]:
    """Return the table of each query alone."""
    qrels, run = collection
    parts = []
    for query, judged in qrels.items():
        positions = project(
            {query: judged}, {query: run[query]}, ties=ties, corpus_size=NUM_DOCUMENTS, needs_judged=True
        )
        parts.append(rows_of(positions, np.array([int(query)]), int))
    return parts


def put_together(parts: list[IntArray], ties: str = "trec") -> GatheredRows:
    return gathered(np.concatenate(parts), name="run", ties=ties, document_ids=None)


def values(positions: Positions, ties: str = "trec") -> dict[str, Any]:
    measures = MEASURES + (OF_JUDGED if ties != "expected" else [])
    scores = evaluate(positions, measures=measures, no_relevant="zero", ties=ties)
    return {query: scores.values[0, q].tolist() for q, query in enumerate(scores.queries)}


@given(collections(), st.sampled_from(["trec", "input", "worst", "best", "expected"]), st.randoms())
def test_tables_of_single_queries_put_together_in_any_order_are_the_positions_of_all(
    collection: Collection, ties: str, shuffle: Any
) -> None:
    qrels, run = collection
    parts = tables(collection, ties)
    shuffle.shuffle(parts)
    found = put_together(parts, ties)
    expected = values(project(qrels, run, ties=ties, corpus_size=NUM_DOCUMENTS, needs_judged=True), ties)
    np.testing.assert_equal(values(found.positions, ties), expected)
    assert list(found.positions.queries) == sorted(qrels, key=int)
    assert found.num_repeated == 0


@given(collections())
def test_a_query_that_comes_again_counts_once(collection: Collection) -> None:
    parts = tables(collection, "trec")
    found = put_together([*parts, parts[0], parts[0]])
    assert found.num_repeated == 2
    np.testing.assert_equal(values(found.positions), values(put_together(parts).positions))


def test_a_query_that_comes_again_with_other_positions_is_an_error() -> None:
    (part,) = tables(({"4": {"1": 1.0}}, {"4": {"1": 2.0, "2": 1.0}}), "trec")
    other = part.copy()
    other[0, POSITION] = 5
    with pytest.raises(DataError, match="query 4 was given twice"):
        put_together([part, other])
    other[0, FIRST] = 2  # another process may round differently, but has the same relevant documents
    found = put_together([part, other, part])
    assert found.positions.found.positions.tolist() == part[:, POSITION].tolist()
    assert (found.num_repeated, found.num_differing) == (2, 1)
    other[0, DOCUMENT] = 6
    with pytest.raises(DataError, match="query 4 was given twice"):
        put_together([part, other])


def test_queries_without_a_number_are_numbered_as_they_come() -> None:
    qrels, run = {"q": {"1": 1}}, {"q": {"1": 2.0, "2": 3.0}}
    rows = rows_of(project(qrels, run, corpus_size=3), None, int)
    found = put_together([rows, rows])
    assert found.positions.queries == ("0", "1")
    assert found.positions.found.positions.tolist() == [2, 2]


def test_ids_of_documents_come_back() -> None:
    positions = project({"q": {"b": 1}}, {"q": ["a", "b"]}, corpus_size=2)
    rows = rows_of(positions, np.array([3]), [b"a", b"b"].index)
    found = gathered(rows, name="run", ties="trec", document_ids=["a", "b"]).positions
    assert list(found.judgments.documents) == [b"b"]
    assert found.judgments.query_type == "int64"


def test_the_judgments_do_not_depend_on_the_ranking() -> None:
    one, other = (
        put_together([rows_of(project({"3": {"4": 1, "2": 1}}, {"3": ranking}, corpus_size=5), np.array([3]), int)])
        for ranking in (["4", "2"], ["2", "1", "4"])
    )
    assert [*one.positions.judgments.documents] == [*other.positions.judgments.documents] == [b"2", b"4"]


def test_numbers_are_given_to_all_queries_or_to_none() -> None:
    (part,) = tables(({"4": {"1": 1.0}}, {"4": {"1": 2.0, "2": 1.0}}), "trec")
    unnumbered = part.copy()
    unnumbered[:, QUERY] = -1
    with pytest.raises(UsageError, match="some batches have query_ids, and others do not"):
        put_together([part, unnumbered])


QRELS = {"q": {"a": 1, "b": 1}, "r": {"c": 1}}
THEN = project(QRELS, {"then": {"q": ["a", "x", "b"], "r": ["x", "c"]}}, corpus_size=9)
NOW = project(QRELS, {"now": {"q": ["x", "b", "y", "a"], "r": ["c"]}}, corpus_size=9)


def test_checkpoints_side_by_side_are_what_one_projection_of_both_is() -> None:
    runs = {"then": {"q": ["a", "x", "b"], "r": ["x", "c"]}, "now": {"q": ["x", "b", "y", "a"], "r": ["c"]}}
    measures = ["LexiRecall", "TSE", "AP", "LastRel"]
    expected = evaluate(project(QRELS, runs, corpus_size=9), measures=measures)
    np.testing.assert_equal(evaluate(side_by_side(THEN, NOW), measures=measures).values, expected.values)


def test_the_win_rate_counts_a_tie_as_half() -> None:
    assert win_rate(NOW, THEN) == 0.5  # one query each
    assert win_rate(NOW, NOW) == 0.5
    assert win_rate(NOW, THEN, "LexiPrecision") == 0.5
    assert win_rate(THEN, project(QRELS, {"q": ["x"], "r": ["x", "c"]}, corpus_size=9)) == 0.75


def test_checkpoints_are_compared_on_the_queries_of_the_first() -> None:
    judged = {"p": {"z": 1, "y": 1}, "r": {"c": 1}, "q": {"b": 1, "a": 1, "x": 0}}
    ranked = {"p": ["z"], "q": ["a", "x", "b"], "r": ["x", "c"]}
    more = project(judged, {"then": ranked}, corpus_size={"p": 3, "q": 9, "r": 9}, needs_judged=True)
    now = project(QRELS | {"q": {"a": 1, "b": 1, "x": 0}}, {"q": ["x", "b", "y", "a"], "r": ["c"]}, corpus_size=9)
    assert side_by_side(now, more).runs == ("run", "then")
    assert win_rate(now, more) == win_rate(NOW, THEN)
    np.testing.assert_equal(side_by_side(now, more).found.positions, side_by_side(NOW, THEN).found.positions)
    with pytest.raises(DataError, match="run has no positions of query 'p'"):
        side_by_side(more, now)


def test_checkpoints_that_cannot_be_compared_are_refused() -> None:
    for judged, what in (({"a": 1}, "is judged only in qrels"), ({"a": 1, "b": 2}, "has grade 2 in the file")):
        with pytest.raises(DataError, match=f"made with other judgments: query 'q': document 'b' {what}"):
            side_by_side(NOW, project(QRELS | {"q": judged}, {"q": ["a"], "r": ["c"]}, corpus_size=9))
    with pytest.raises(UsageError, match="made with ties='best', not 'trec'"):
        side_by_side(NOW, project(QRELS, {"q": ["a"]}, ties="best", corpus_size=9))
    for size, documents in ((8, "8"), (None, "an unknown number of")):
        with pytest.raises(
            DataError, match=f"then ranked a corpus of {documents} documents for query 'q', but the corpus has 9 now"
        ):
            side_by_side(NOW, project(QRELS, {"then": {"q": ["a"]}}, corpus_size=size))


def test_neither_the_package_nor_its_door_to_torch_imports_torch() -> None:
    code = "import sys, lexirecall, lexirecall.torch; sys.exit('torch' in sys.modules or 'torchmetrics' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
