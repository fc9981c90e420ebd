"""Positions from vectors, against sorting every score; and what happens to bad, and missing input."""

import io
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from lexirecall import Positions, evaluate, project_embeddings
from lexirecall.errors import DataError, FormatError, UsageError
from lexirecall.formats.embeddings import backends
from lexirecall.formats.embeddings.backends import KnownScores, NumpyBackend
from lexirecall.formats.embeddings.copies import digests_of
from lexirecall.formats.embeddings.files import load_ids, load_vectors
from lexirecall.formats.embeddings.ids import Indices, WantedIds
from lexirecall.formats.embeddings.shards import Shard
from lexirecall.installing import how_to_install
from lexirecall.reader import reader_in_use

Vectors = npt.NDArray[Any]
has_native = reader_in_use() == "native"
NOTHING = KnownScores(np.array([], np.int64), np.array([], np.int64), np.array([]))


def places(positions: Positions, query: int = 0) -> dict[str, int]:
    """Return the position of each judged document of a query."""
    found: dict[str, int] = {}
    for tracks in (positions.found, positions.others):
        assert tracks is not None
        at = slice(*tracks.segments.offsets[query : query + 2])
        ids = [positions.judgments.documents[document].decode() for document in tracks.documents[at]]
        found |= dict(zip(ids, tracks.positions[at].tolist(), strict=True))
    return found


def sorted_places(scores: Mapping[str, float], judged: Mapping[str, float], ties: str = "trec") -> dict[str, int]:
    order = naive.ranked(list(scores.items()), judged, ties)
    return {document: order.index(document) + 1 for document in judged if document in scores}


@st.composite
def collections(draw: st.DrawFn, vectors: st.SearchStrategy[tuple[int, ...]]) -> tuple[Vectors, Vectors, Any]:
    queries = draw(st.lists(vectors, min_size=1, max_size=3))
    corpus = draw(st.lists(vectors, min_size=1, max_size=25))
    ids = st.integers(0, len(corpus) - 1).map(str)
    judged = {str(q): draw(st.dictionaries(ids, st.integers(-1, 2), min_size=1)) for q in range(len(queries))}
    return np.array(queries, np.float32), np.array(corpus, np.float32), judged


WHOLE = st.tuples(*[st.integers(-2, 2)] * 3)
ALONG_AXES = st.tuples(st.integers(0, 2), st.sampled_from([-4, -1, 0, 2, 8])).map(
    lambda each: tuple(each[1] * (axis == each[0]) for axis in range(3))
)  # the lengths of such vectors have no rounding


def test_vectors_of_equal_bytes_are_copies_only_if_their_scales_are_equal() -> None:
    vectors, ids = np.ones((3, 4), np.int8), Indices(0, 3)
    scaled = digests_of(Shard(0, ids, vectors, np.array([1.0, 2.0, 1.0])), [0, 1, 2]).tolist()
    assert scaled[0] == scaled[2] != scaled[1]
    assert digests_of(Shard(0, ids, vectors, None), [1]).tolist() == scaled[:1]


def test_an_id_with_a_nul_byte_is_no_index() -> None:
    assert [Indices(8, 3).search(WantedIds([name])).places.tolist() for name in (b"9", b"9\0", b"\x009")] == [
        [1],
        [],
        [],
    ]


@pytest.mark.parametrize("ties", ["trec", "input", "worst", "best"])
@pytest.mark.parametrize(("similarity", "vectors"), [("dot", WHOLE), ("l2", WHOLE), ("cosine", ALONG_AXES)])
@settings(max_examples=40)
@given(data=st.data(), block=st.integers(1, 9))
def test_positions_are_those_of_sorting_every_score(
    data: st.DataObject, block: int, similarity: str, vectors: Any, ties: str
) -> None:
    queries, corpus, qrels = data.draw(collections(vectors))
    positions = project_embeddings(queries, corpus, qrels, similarity=similarity, block=block, ties=ties)
    for q, (query, judged) in enumerate(zip(queries.tolist(), qrels.values(), strict=True)):
        scores = {
            str(n): naive.similarity_of(query, document, similarity) for n, document in enumerate(corpus.tolist())
        }
        assert places(positions, q) == sorted_places(scores, judged, ties)
    assert positions.corpus_size is not None
    assert positions.corpus_size.tolist() == [len(corpus)] * len(queries)


@given(data=st.data(), block=st.integers(1, 9))
def test_tied_documents_are_blocks_if_every_order_counts(data: st.DataObject, block: int) -> None:
    queries, corpus, qrels = data.draw(collections(WHOLE))
    positions = project_embeddings(queries, corpus, qrels, block=block, ties="expected")
    scores = queries @ corpus.T
    starts, sizes = positions.found.block_starts, positions.found.block_sizes
    assert starts is not None
    assert sizes is not None
    owners = positions.found.segments.owners.tolist()
    for q, document, start, size in zip(owners, positions.found.documents, starts, sizes, strict=True):
        own = scores[q, int(positions.judgments.documents[document])]
        assert (start, size) == ((scores[q] > own).sum(), (scores[q] == own).sum())


@pytest.mark.parametrize("ties", ["trec", "input", "worst", "best"])
@settings(max_examples=60)
@given(data=st.data(), block=st.integers(1, 9))
def test_what_is_excluded_is_not_in_the_corpus(data: st.DataObject, block: int, ties: str) -> None:
    queries, corpus, qrels = data.draw(collections(WHOLE))
    others = {q: [n for n in range(len(corpus)) if judged.get(str(n), 0) <= 0] for q, judged in qrels.items()}
    excluded = {q: data.draw(st.lists(st.sampled_from(some))) if some else [] for q, some in others.items()}
    positions = project_embeddings(queries, corpus, qrels, exclude=excluded, block=block, ties=ties)
    assert positions.corpus_size is not None
    for q, (query, judged) in enumerate(zip(queries.tolist(), qrels.values(), strict=True)):
        inside = [n for n in range(len(corpus)) if n not in excluded[str(q)]]
        scores = {str(n): naive.similarity_of(query, corpus[n].tolist(), "dot") for n in inside}
        assert places(positions, q) == sorted_places(scores, judged, ties)
        assert positions.corpus_size[q] == len(inside)


def test_what_is_excluded_must_make_sense() -> None:
    assert small(exclude={"q": ["e", "d"], "x": ["a"]}) == {"b": 1, "a": 3}
    with pytest.warns(UserWarning, match="1 excluded document not in the corpus: 'y'; there is nothing to exclude"):
        assert small(exclude={"q": ["y", "c"]}) == {"b": 2, "d": 3, "a": 4}
    with pytest.raises(DataError, match="query 'q': both relevant and excluded: 'a', 'b'"):
        small(exclude={"q": ["a", "b", "d"]})
    for exclude, message in (
        (["a"], "exclude is of type list"),
        ({"q": "e"}, "exclude: 'q' has a str instead of a list"),
        ({"q": [None]}, "exclude: 'q': not an id: None"),
        ({"Q": ["e"]}, r"exclude: no query has a vector \('Q'\)"),
    ):
        with pytest.raises(UsageError, match=message):
            small(exclude=exclude)


def product_by_blocks(queries: Vectors, corpus: Vectors, block: int) -> Vectors:
    """Multiply blocks of one shape."""
    filled = np.zeros((-(-len(corpus) // block) * block, corpus.shape[1]), np.float32)
    filled[: len(corpus)] = corpus
    parts = [queries @ filled[start : start + block].T for start in range(0, len(filled), block)]
    return np.concatenate(parts, axis=1)[:, : len(corpus)]


def near_ties(seed: int, num_documents: int = 500) -> tuple[Vectors, Vectors]:
    """Draw a corpus in which many scores differ in the last bits only."""
    rng = np.random.default_rng(seed)
    queries = rng.standard_normal((8, 96), np.float32)
    corpus = np.repeat(rng.standard_normal((1, 96), np.float32), num_documents, axis=0)
    corpus *= 1 + rng.integers(-2, 3, corpus.shape).astype(np.float32) * np.float32(2**-23)
    return queries, corpus


def test_scores_of_relevant_documents_come_from_the_same_product_and_those_of_another_would_move_them() -> None:
    queries, corpus = near_ties(seed=1)
    qrels = {str(q): {str(n): 1 for n in range(q, 500, 40)} for q in range(8)}
    positions = project_embeddings(queries, corpus, qrels, block=64)
    scores = product_by_blocks(queries, corpus, 64)
    moved = 0
    for q, judged in enumerate(qrels.values()):
        row = {str(n): float(score) for n, score in enumerate(scores[q])}
        assert places(positions, q) == sorted_places(row, judged)
        for document in judged:
            second = np.float32(queries[q].astype(float) @ corpus[int(document)].astype(float))
            moved += int((scores[q] > second).sum() != (scores[q] > scores[q, int(document)]).sum())
    assert moved > 10


def test_a_vector_at_the_same_place_of_another_block_has_the_same_score() -> None:
    rng = np.random.default_rng(2)
    queries, corpus = rng.standard_normal((50, 200), np.float32), rng.standard_normal((300, 200), np.float32)
    backend = NumpyBackend(queries, None, "dot", block=128)
    scores = product_by_blocks(queries, corpus, 128)
    for document in range(0, 300, 7):
        alone = Shard(0, Indices(document, 1), corpus[document : document + 1], None)
        own = backend.own(alone, np.array([document]), np.arange(50), np.zeros(50, np.int64))
        assert own.tolist() == scores[:, document].tolist()


@pytest.mark.parametrize("similarity", ["dot", "cosine", "l2"])
def test_copies_of_a_vector_tie_wherever_they_are(similarity: str) -> None:
    rng = np.random.default_rng(3)
    queries, corpus = rng.standard_normal((40, 64), np.float32), rng.standard_normal((400, 64), np.float32)
    corpus[[3, 77, 130, 131, 301, 399]] = corpus[200]
    qrels = {str(q): {"200": 1, "77": 2} for q in range(40)}
    best = project_embeddings(queries, corpus, qrels, similarity=similarity, block=64, ties="best")
    by_id = project_embeddings(queries, corpus, qrels, similarity=similarity, block=64)
    for q in range(40):
        first, found = places(best, q)["77"], places(by_id, q)
        # as text, descending: 77, 399, 301, 3, 200, 131, 130
        assert (found["77"] - first, found["200"] - first) == (0, 4)


def test_many_relevant_documents_are_counted_as_few_are() -> None:
    rng = np.random.default_rng(4)
    queries, corpus = rng.standard_normal((3, 16), np.float32), rng.standard_normal((200, 16), np.float32)
    many = {str(q): {str(n): 1 for n in range(0, 200, 3)} for q in range(3)}
    together = project_embeddings(queries, corpus, many, block=50)
    for document in many["0"]:
        alone = project_embeddings(queries, corpus, {str(q): {document: 1} for q in range(3)}, block=50)
        assert [places(alone, q)[document] for q in range(3)] == [places(together, q)[document] for q in range(3)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data(), size=st.integers(1, 6))
def test_the_kernel_in_c_counts_as_numpy_does(data: st.DataObject, size: int, dtype: Any) -> None:
    numbers = st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 1e-300, 2.0])
    queries, block = np.ones((4, 1), dtype), 6
    rows = np.array(sorted(data.draw(st.lists(st.integers(0, 3), max_size=9))), np.int64)
    thresholds = np.array([data.draw(numbers) for _ in rows]).astype(dtype).astype(float)
    corpus = np.array(data.draw(st.lists(numbers, min_size=size, max_size=size)), dtype)[:, None]
    counts = []
    for reader in ("native", "python"):
        backend = NumpyBackend(queries, None, "dot", block)
        with patch.object(backends, "reader_in_use", lambda reader=reader: reader if has_native else "python"):
            found = backend.count(backend.load(corpus, None), size, NOTHING, rows, thresholds)
        counts.append([each.tolist() for each in found])
    scores = corpus[:, 0]
    assert counts[0] == [[int((scores > t).sum()) for t in thresholds], [int((scores == t).sum()) for t in thresholds]]
    assert counts[1] == counts[0]


SMALL = np.array([[1, 0], [3, 1], [2, 2], [0, 4], [3, 1]], np.float32)
IDS = ["a", "b", "c", "d", "e"]
QUERY = np.array([[1, 0.5]], np.float32)
QRELS = {"q": {"a": 1, "b": 1, "d": 0}}
EXPECTED = {"a": 5, "b": 2, "d": 4}  # scores 1, 3.5, 3, 2, 3.5


def small(corpus: Any = SMALL, corpus_ids: Any = IDS, **more: Any) -> dict[str, int]:
    return places(project_embeddings(QUERY, corpus, QRELS, query_ids=["q"], corpus_ids=corpus_ids, **more))


def test_a_corpus_may_come_in_blocks(tmp_path: Path) -> None:
    pairs = [(IDS[:2], SMALL[:2]), ([], SMALL[:0]), (np.array(IDS[2:]), SMALL[2:])]
    np.save(tmp_path / "corpus.npy", SMALL)
    mapped = np.load(tmp_path / "corpus.npy", mmap_mode="r")
    assert small() == small(block=2) == small(mapped) == EXPECTED
    assert small(pairs, None) == small(lambda: iter(pairs), None, block=1) == EXPECTED


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_vectors_may_have_another_precision(dtype: str) -> None:
    assert small(SMALL.astype(dtype)) == EXPECTED


@pytest.mark.parametrize("scale", [0.5, [0.5, 0.5, 0.25, 8, 0.5]])
def test_int8_is_multiplied_by_its_scale(scale: Any) -> None:
    wide = SMALL * np.reshape(np.broadcast_to(scale, 5), (5, 1)).astype(np.float32)
    found = small(SMALL.astype(np.int8), corpus_scale=scale, block=2)
    assert found == small(wide)
    queries = np.array([[2, 1]], np.int8)
    same = project_embeddings(queries, wide, QRELS, query_ids=["q"], corpus_ids=IDS, query_scale=[0.5])
    assert places(same) == found


def test_float64_scores_stay_float64() -> None:
    corpus = np.array([[1.0], [1.0 + 2**-40]])
    qrels = {"0": {"0": 1}}
    assert places(project_embeddings(np.array([[1.0]]), corpus, qrels)) == {"0": 2}
    assert places(project_embeddings(np.array([[1.0]], np.float32), corpus, qrels)) == {"0": 2}  # the larger id first
    assert places(project_embeddings(np.array([[1.0]], np.float32), corpus, {"0": {"1": 1}}, ties="input")) == {"1": 2}


def test_queries_without_vector_or_judgment_are_counted_as_in_a_run() -> None:
    qrels = {7: {"b": 1}, 8: {"a": 1, "x": 1}}
    positions = project_embeddings(np.tile(QUERY, (2, 1)), SMALL, qrels, query_ids=[9, 7], corpus_ids=IDS)
    assert positions.answered.tolist() == [[True, False]]
    assert positions.num_unjudged == (1,)
    assert positions.corpus_size is not None
    assert positions.corpus_size.tolist() == [5, 5]
    assert evaluate(positions, measures=["RR"]).manifest.notes
    assert positions.judgments.query_type == "int64"


def test_a_relevant_document_that_is_not_in_the_corpus_is_refused_or_last() -> None:
    arguments: dict[str, Any] = {"query_ids": ["q"], "corpus_ids": IDS}
    qrels = {"q": {"b": 1, "x": 1, "y": 0, "z": 2}}
    with pytest.raises(DataError, match="2 relevant documents not in the corpus: 'x', 'z'"):
        project_embeddings(QUERY, SMALL, qrels, **arguments)
    with pytest.warns(UserWarning, match="2 relevant documents not in the corpus: 'x', 'z'; placed at its end"):
        positions = project_embeddings(QUERY, SMALL, qrels, missing="last", **arguments)
    assert positions.at_level(1).vector(0, 0, imputed=True).tolist() == [2, 6, 7]


def test_conventions_are_those_of_runs() -> None:
    assert small(depth=3) == {"b": 2}
    assert small(judged_only=True) == {"b": 1, "d": 2, "a": 3}
    with pytest.raises(UsageError, match="units"):
        small(units={"a": "u"})


BAD: dict[str, tuple[Mapping[str, Any], str]] = {
    "similarity": ({"similarity": "euclid"}, "similarity is 'euclid', but must be one of dot, cosine, l2"),
    "missing": ({"missing": "first"}, "missing is 'first', but must be one of error, last"),
    "block": ({"block": 0}, "block is 0, but must be a whole number from 1"),
    "iterator": ({"corpus": iter([]), "corpus_ids": None}, "the corpus is an iterator"),
    "empty": ({"corpus": [], "corpus_ids": None}, "the corpus is empty"),
    "triples": ({"corpus": [(1, 2, 3)], "corpus_ids": None}, "block 0 of the corpus is not a pair"),
    "both ids": ({"corpus": [(IDS, SMALL)]}, "corpus_ids are given, but blocks have their own"),
    "number": ({"corpus": 7, "corpus_ids": None}, "the corpus is of type int"),
    "short ids": ({"corpus_ids": IDS[:4]}, "the corpus: 5 vectors, but corpus_ids has 4"),
    "ids of a block": ({"corpus": [(IDS[:4], SMALL)], "corpus_ids": None}, "5 vectors, but ids has 4"),
    "not ids": ({"corpus_ids": [None, *IDS[1:]]}, "not an id: None"),
    "width": ({"corpus": SMALL[:, :1]}, "vectors have 1 dimensions, but those of queries have 2"),
    "one dimension": ({"corpus": SMALL[0]}, r"expected an array of two dimensions, found the shape \(2,\)"),
    "twice": ({"corpus_ids": ["a", "b", "c", "d", "a"]}, "the corpus has ids that occur twice: 'a'"),
    "int8": ({"corpus": SMALL.astype(np.int8)}, "vectors are int8, but there is no scale"),
    "scale": ({"corpus_scale": 1.0}, "a scale is given, but vectors are float32"),
    "scales": ({"corpus": SMALL.astype(np.int8), "corpus_scale": [1.0] * 6}, "corpus_scale has 6 numbers"),
    "integers": ({"corpus": SMALL.astype(int)}, "vectors are 'int64', but must be float32"),
    "some ids": (
        {"corpus": [(IDS[:2], SMALL[:2]), (None, SMALL[2:])], "corpus_ids": None},
        "some blocks of the corpus have ids, and some have none",
    ),
    "distributed": ({"distributed": True}, "distributed is True, but"),
    "device": ({"device": "cuda:99"}, "device is 'cuda:99', but torch"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused(case: str) -> None:
    more, message = BAD[case]
    with pytest.raises((UsageError, DataError), match=message):
        small(**more)


def test_bad_queries_are_refused() -> None:
    for query_ids, message in (
        (["q", "q"], "queries has ids that occur twice: 'q'"),
        (["x", "y"], "no query in common"),
    ):
        with pytest.raises(DataError, match=message):
            project_embeddings(np.tile(QUERY, (2, 1)), SMALL, QRELS, query_ids=query_ids, corpus_ids=IDS)
    with pytest.raises(UsageError, match="queries: 1 vector, but ids has 2"):
        project_embeddings(QUERY, SMALL, QRELS, query_ids=["q", "r"])
    with pytest.raises(UsageError, match="queries: 1 vector, but scales of the shape"):
        project_embeddings(QUERY.astype(np.int8), SMALL, QRELS, query_ids=["q"], query_scale=[])
    with pytest.raises(TypeError, match="did you mean 'depth'"):
        project_embeddings(QUERY, SMALL, QRELS, dept=3)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("block", [2, 100])
def test_what_is_not_a_number_is_reported_with_query_and_document(value: float, block: int) -> None:
    corpus = SMALL.copy()
    corpus[2] = value, -value
    with pytest.raises(DataError, match="the score of query 'q' and document 'c' is not a finite number"):
        small(corpus, block=block)


LARGE = np.array([[1, 0], [2, 1], [3, 0], [4, 0]], np.float32)


@pytest.mark.parametrize("similarity", ["dot", "l2"])
@pytest.mark.parametrize("judged", ["0", "3"])
@pytest.mark.parametrize("num_queries", [1, 3])
def test_scores_that_overflow_are_refused(
    similarity: str, judged: str, num_queries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Infinite scores would all tie."""
    monkeypatch.setattr(backends, "TILE", 2)
    queries, qrels = np.tile(LARGE[:1], (num_queries, 1)), {str(q): {judged: 1} for q in range(num_queries)}
    for factor in (np.float32(1e25), np.float32(-1e25)):
        with pytest.raises(DataError, match="is not a finite number"):
            project_embeddings(queries * factor, LARGE * np.float32(1e25), qrels, similarity=similarity)
    corpus = LARGE.copy()
    corpus[3, 0] = np.inf
    with pytest.raises(DataError, match="document '3' is not a finite number"):
        project_embeddings(queries, corpus, qrels, similarity=similarity)


@pytest.mark.parametrize("factor", [1e-30, 1e-19, 1, 1e18, 1e25])
def test_the_length_of_a_vector_does_not_change_its_cosine(factor: float) -> None:
    directions = np.array([[1, 0], [1, 1], [-1, 0], [0, 0], [2, 1]], np.float32)
    wide = (directions * np.float32(factor)).astype(np.float32)
    before = wide.copy()
    for queries, corpus in ((directions, wide), (wide, directions), (wide, wide)):
        positions = project_embeddings(queries, corpus, {"0": dict.fromkeys("01234", 1)}, similarity="cosine")
        assert places(positions, 0) == {"0": 1, "4": 2, "1": 3, "3": 4, "2": 5}
    assert (wide == before).all()


NOT_VECTORS: dict[str, tuple[Any, str]] = {
    "masked": (np.ma.masked_array(SMALL, SMALL > 2), "some values of the array are masked"),
    "without dimensions": (SMALL[:, :0], "vectors have no dimensions"),
    "other byte order": (SMALL.astype(">f4"), "vectors are '>f4', but must be float32"),
    "wider than double": (SMALL.astype(np.longdouble), "vectors are 'float128', but must be|vectors are 'float"),
    "objects": (SMALL.astype(object), "vectors are 'object', but must be"),
    "a list": (SMALL.tolist(), "expected an array of two dimensions, found a"),
    "a number": (np.float32(3), "found the shape"),
    "three dimensions": (SMALL[None], "found the shape"),
}


@pytest.mark.parametrize("case", NOT_VECTORS)
def test_what_does_not_hold_vectors_is_refused(case: str) -> None:
    given, problem = NOT_VECTORS[case]
    for queries, corpus in ((QUERY, given), (given, SMALL), (QUERY, [(None, given)])):
        with pytest.raises(UsageError, match=problem):
            project_embeddings(queries, corpus, {"0": {"1": 1}})


def test_frames_and_sparse_matrices_are_refused() -> None:
    pd, sparse = pytest.importorskip("pandas"), pytest.importorskip("scipy.sparse")
    for odd, problem in (
        (pd.DataFrame(SMALL), "a frame is given, but its labels"), (sparse.csr_matrix(SMALL), "the array is sparse")
    ):  # fmt: skip
        for queries, corpus in ((QUERY, odd), (odd, SMALL)):
            with pytest.raises(UsageError, match=problem):
                project_embeddings(queries, corpus, {"0": {"1": 1}})


@pytest.mark.parametrize(
    "ids", ["abcde", b"abcde", set(IDS), dict.fromkeys(IDS), 5, np.array("abcde"), np.array([IDS]), ["a", None, *"cde"],
            ["\ud800", *"bcde"], [True, *"bcde"]]
)  # fmt: skip
def test_ids_without_an_order_are_refused(ids: Any) -> None:
    with pytest.raises(UsageError, match=r"is of type|not an id|not valid Unicode"):
        small(corpus_ids=ids)
    with pytest.raises(UsageError, match=r"is of type|not an id|not valid Unicode"):
        small([(ids, SMALL)], None)


def test_ids_may_be_any_list_in_order() -> None:
    pd = pytest.importorskip("pandas")
    shuffled = pd.Series(IDS, index=[3, 1, 4, 0, 2])  # its labels are not places
    for ids in (tuple(IDS), np.array(IDS), shuffled, (each for each in IDS), dict.fromkeys(IDS).keys().__iter__()):
        assert small(SMALL, ids, ties="worst") == EXPECTED
    tied = np.ones_like(SMALL)
    assert small(tied, shuffled) == small(tied, IDS)


@pytest.mark.parametrize("exclude", [{"q": 1}, {"q": None}, {("q",): ["e"]}, {"q": [None]}])
def test_what_is_excluded_must_be_lists_of_ids(exclude: Any) -> None:
    with pytest.raises(UsageError, match="exclude"):
        small(exclude=exclude)


def test_a_query_may_be_excluded_for_under_two_spellings_of_its_id() -> None:
    positions = project_embeddings(QUERY, SMALL, {"7": {"0": 1}}, query_ids=[7], exclude={7: ["1"], "7": ["2"]})
    assert positions.found.positions.tolist() == [3]


@pytest.mark.parametrize("block", [True, 2.5, "2", 2**31, float("nan")])
def test_a_block_is_a_whole_number(block: Any) -> None:
    with pytest.raises(UsageError, match=r"block is .*, but must be a whole number"):
        small(block=block)


@pytest.mark.parametrize("scale", ["x", 1j, [[1], [1, 2]], object()])
def test_a_scale_is_a_number(scale: Any) -> None:
    whole = SMALL.astype(np.int8)
    with pytest.raises(UsageError, match="a scale is not a number"):
        project_embeddings(QUERY.astype(np.int8), whole, {"0": {"1": 1}}, query_scale=1, corpus_scale=scale)


def test_ids_that_are_not_given_are_indices_as_text() -> None:
    rng = np.random.default_rng(5)
    queries, corpus = rng.integers(-2, 3, (4, 3)).astype(np.float32), rng.integers(-2, 3, (300, 3)).astype(np.float32)
    qrels = {str(q): {str(n): 1 for n in (q, 9, 99, 100, 250)} for q in range(4)}
    for block in (7, 300):  # with few and with many ties in a block
        found = project_embeddings(queries, corpus, qrels, block=block)
        named = project_embeddings(queries, corpus, qrels, corpus_ids=list(range(300)), block=block)
        assert [places(found, q) for q in range(4)] == [places(named, q) for q in range(4)]
    with pytest.raises(DataError, match="3 relevant documents not in the corpus: '300', '007', '-1'"):
        project_embeddings(queries, corpus, {"0": {"300": 1, "007": 1, "-1": 1, "7": 1}})


def test_a_device_needs_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UsageError, match=re.escape(f"torch is not installed\n  {how_to_install('torch')}")):
        small(device="cuda")


def test_files_of_vectors_and_ids_are_checked(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"none\.npy: cannot be read: no such file or directory"):
        load_vectors(tmp_path / "none.npy")
    (tmp_path / "ids.txt").write_bytes(b"\xef\xbb\xbfa\r\n b\n")
    assert load_ids(tmp_path / "ids.txt") == [b"a", b"b"]
    (tmp_path / "ids.txt").write_bytes(b"a\n\nb\n")
    with pytest.raises(FormatError, match=r"ids\.txt:2: the line is empty"):
        load_ids(tmp_path / "ids.txt")


def saved(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def with_header(text: str, data: bytes = SMALL.tobytes()) -> bytes:
    header = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


def of_shape(shape: str) -> bytes:
    return with_header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}")


WRONG_FILES = {
    **{f"shape {shape}": of_shape(shape) for shape in (
        "(-200, 8)", "(True, 8)", "(5.0, 2)", "'52'", f"({2**40}, {2**40})", f"({2**62}, 4)", f"({10**400}, 2)",
        "(5, 0)", "(0, 2)", "(10,)", "()", "(1, 5, 2)", "(5, 3)", "(5, 1)",
    )},
    "nested": with_header("(" * 9000), "minus": with_header("-" * 9000), "lists": with_header("[" * 99 + "]" * 99),
    "not a header": with_header("{'descr': '<f4'}"), "long": with_header(" " * 20000),
    "empty": b"", "text": b"1 2 3\n", "magic": b"\x93NUMPY", "version": b"\x93NUMPY\x09" + saved(SMALL)[7:],
    "cut off": saved(SMALL)[:-1], "more": saved(SMALL) + b"x", "twice": saved(SMALL) * 2,
    **{f"type {kind}": saved(SMALL.astype(kind)) for kind in (">f4", "g", "c8", "i4", "i1", "?", "U4", "M8[s]")},
    "record": saved(np.zeros((5, 2), [("a", "f4")])), "bytes": with_header(
        "{'descr': '|V2', 'fortran_order': False, 'shape': (5, 2)}", SMALL.astype("f2").tobytes()),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG_FILES)
def test_a_file_that_does_not_hold_vectors_is_refused_by_name(case: str, tmp_path: Path) -> None:
    (tmp_path / "v.npy").write_bytes(WRONG_FILES[case])
    with pytest.raises(FormatError, match=r"v\.npy: "):
        load_vectors(tmp_path / "v.npy")


def test_objects_and_archives_are_not_files_of_vectors(tmp_path: Path) -> None:
    np.save(tmp_path / "objects.npy", np.array([[1, "a"]], object))
    np.savez(tmp_path / "many.npz", a=SMALL)
    for name in ("objects.npy", "many.npz"):
        with pytest.raises(FormatError, match=f"{name}: not an array of numpy"):
            load_vectors(tmp_path / name)


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
def test_vectors_are_read_by_rows_or_columns(kind: str, tmp_path: Path) -> None:
    for number, array in enumerate((SMALL.astype(kind), np.asfortranarray(SMALL.astype(kind)))):
        np.save(tmp_path / f"{number}.npy", array)
        assert small(load_vectors(tmp_path / f"{number}.npy")) == EXPECTED
    with (tmp_path / "3.npy").open("wb") as file:
        np.lib.format.write_array(file, SMALL.astype(kind), version=(3, 0))
    assert small(load_vectors(tmp_path / "3.npy")) == EXPECTED


# Readings that differ


def parts() -> Iterator[tuple[list[str], Vectors]]:
    for number in range(5):
        yield [IDS[number]], SMALL[number : number + 1]


def test_a_corpus_that_changes_between_its_readings_is_refused() -> None:
    sizes = iter([5, 4])
    with pytest.raises(DataError, match="the corpus had 5 documents at first, and then 4"):
        small(lambda: iter(list(parts())[: next(sizes)]), None)


def test_vectors_that_change_between_two_readings_are_refused() -> None:
    readings = iter([SMALL, SMALL * 2])
    with pytest.raises(DataError, match="the vectors of the corpus changed between its two readings"):
        small(lambda: iter([(IDS, next(readings))]), None)


@pytest.mark.parametrize("given", [None, 3])
def test_a_function_that_gives_no_corpus_is_named(given: Any) -> None:
    with pytest.raises(UsageError, match="the function that gives the corpus returned a"):
        small(lambda: given, None)
