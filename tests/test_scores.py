"""Positions from matrices of scores: those of a run with every document, whatever is tied, excluded or odd."""

import sys
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse
from hypothesis import example, given
from hypothesis import strategies as st

import lexirecall
import naive
from lexirecall import evaluate, project, project_scores
from lexirecall.errors import DataError, FormatError, UsageError
from lexirecall.fields import choices_of
from lexirecall.formats import arrays, rowcounts
from lexirecall.formats.marks import Marks
from lexirecall.formats.scorecounts import id_ranks
from lexirecall.installing import how_to_install
from lexirecall.manifest import Conventions
from lexirecall.reader import VARIABLE, is_built
from strategies import DOCUMENTS, GRADES, costly

TIES = choices_of(Conventions, "ties")
TYPES = ("float16", "float32", "float64", "int8", "int32", "int64", "bool")
# zeros that are equal, subnormals, infinities, and integers that only float64 or int64 tell apart
VALUES = (0.0, -0.0, 1.0, 1.0, -1.0, 6e-8, 1e-45, 5e-324, 0.1, 0.3, np.inf, -np.inf, 16777216.0, 16777217.0, 2.0**53)
INTEGERS = (0, 1, 1, -1, 2**24, 2**24 + 1, 2**53, 2**53 + 1, 2**63 - 1)


CHOSEN = rowcounts._kernel
KERNELS = {"sorted": rowcounts.SortedRows, "array": rowcounts.ArrayRows}
KERNELS |= {"native": rowcounts.NativeRows, "narrow": rowcounts.NativeRows} if is_built() else {}


@pytest.fixture(params=KERNELS, autouse=True)
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Count with the kernel in C, with wide vectors and narrow ones, by sorting, and as on a device."""
    monkeypatch.setattr(rowcounts, "VECTOR", 16 if request.param == "narrow" else rowcounts.VECTOR)
    monkeypatch.setattr(rowcounts, "_kernel", lambda *_: KERNELS[request.param])


@dataclass(frozen=True)
class RowFacts:
    """A matrix of scores with some grades, [Q, n], None where there is no judgment, and what is excluded."""

    scores: npt.NDArray[Any]
    grades: list[list[float | None]]
    excluded: list[list[int]]
    ids: list[str]

    @property
    def relevant(self) -> scipy.sparse.csr_array:
        """Return the grades as a sparse matrix, so that 0 is a judgment."""
        cells = [(q, i, g) for q, row in enumerate(self.grades) for i, g in enumerate(row) if g is not None]
        rows, columns, values = zip(*cells, strict=True) if cells else ((), (), ())
        return scipy.sparse.coo_array((values, (rows, columns)), shape=self.scores.shape, dtype=float).tocsr()

    @property
    def qrels(self) -> dict[str, dict[str, float]]:
        return {
            str(q): {self.ids[i]: grade for i, grade in enumerate(row) if grade is not None}
            for q, row in enumerate(self.grades)
        }

    @property
    def lines(self) -> dict[str, list[tuple[str, float]]]:
        """Return what a run with every document would say."""
        return {
            str(q): [(self.ids[i], float(s)) for i, s in enumerate(row.tolist()) if i not in self.excluded[q]]
            for q, row in enumerate(self.scores)
        }

    def project(self, **options: Any) -> lexirecall.Positions:
        return project_scores(self.scores, self.relevant, exclude=self.excluded, document_ids=self.ids, **options)


@st.composite
def scored(draw: st.DrawFn) -> RowFacts:
    num_queries, n = draw(st.integers(1, 3)), draw(st.integers(1, len(DOCUMENTS)))
    dtype = np.dtype(draw(st.sampled_from(TYPES)))
    most = 2 ** (8 * dtype.itemsize - 1) - 1
    values: list[Any] = [v for v in INTEGERS if -most <= v <= most] if dtype.kind == "i" else list(VALUES)
    cells = st.lists(st.sampled_from(draw(st.lists(st.sampled_from(values), min_size=1))), min_size=n, max_size=n)
    with np.errstate(over="ignore"):
        scores = np.array([draw(cells) for _ in range(num_queries)]).astype(dtype)
    marks = st.sampled_from(("judged", "excluded", "neither", "neither", "both"))
    grades: list[list[float | None]] = []
    excluded: list[list[int]] = []
    for _ in range(num_queries):
        row = draw(st.lists(marks, min_size=n, max_size=n).filter(lambda row: not set(row) <= {"excluded", "both"}))
        offered = {"judged": GRADES, "both": [grade for grade in GRADES if grade <= 0]}
        grades.append([draw(st.sampled_from(offered[mark])) if mark in offered else None for mark in row])
        excluded.append([i for i, mark in enumerate(row) if mark in ("excluded", "both")])
    return RowFacts(scores, grades, excluded, draw(st.permutations(DOCUMENTS))[:n])


def contents(positions: lexirecall.Positions) -> Iterator[Any]:
    """Give all that measures are computed from, documents by their ids."""
    yield positions.runs, positions.queries, positions.conventions
    yield positions.answered.tolist(), positions.num_retrieved.tolist()
    yield None if positions.corpus_size is None else positions.corpus_size.tolist()
    judged = positions.judgments
    yield judged.num_positive.tolist()
    for tracks in (positions.found, positions.others):
        assert tracks is not None
        yield tracks.segments.offsets.tolist(), tracks.positions.tolist()
        yield [(judged.documents[i], judged.grades[i]) for i in tracks.documents.tolist()]
        for blocks in (tracks.block_starts, tracks.block_sizes):
            yield None if blocks is None else blocks.tolist()


@pytest.mark.parametrize("ties", [ties for ties in TIES if ties != "expected"])
@costly(100)
@given(data=scored())
def test_a_position_is_one_plus_the_number_of_documents_before(ties: str, data: RowFacts) -> None:
    positions = data.project(ties=ties)
    for q, (query, judged) in enumerate(data.qrels.items()):
        order = naive.ranked(data.lines[query], judged, ties)
        expected = [place for place, document in enumerate(order, 1) if judged.get(document, 0) > 0]
        start, stop = positions.found.segments.offsets[q : q + 2]
        assert positions.found.positions[start:stop].tolist() == expected


@pytest.mark.parametrize("ties", TIES)
@costly(60)
@given(
    data=scored(),
    depth=st.sampled_from([None, 1, 3]),
    judged_only=st.booleans(),
    imputation=st.sampled_from(choices_of(Conventions, "imputation")),
)
@example(RowFacts(np.zeros((1, 3)), [[1, 0, None]], [[2]], ["a", "b", "c"]), None, False, "pessimistic")
@pytest.mark.filterwarnings("ignore:optimistic imputation")
def test_positions_are_those_of_a_run_with_every_document(
    ties: str, data: RowFacts, depth: int | None, judged_only: bool, imputation: str
) -> None:
    options: dict[str, Any] = {"ties": ties, "depth": depth, "judged_only": judged_only, "imputation": imputation}
    if ties == "expected" and ((judged_only and depth) or imputation == "optimistic"):  # which has no closed form
        assert "expected" in refusal(UsageError, data.scores, data.relevant, **options)
        return
    run = {query: dict(lines) for query, lines in data.lines.items()}
    sizes = {query: len(lines) for query, lines in run.items()}
    read = project(data.qrels, {"run": run}, corpus_size=sizes, needs_judged=True, **options)
    assert list(contents(data.project(**options))) == list(contents(read))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_positions_are_those_of_a_file_with_every_score(dtype: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    scores = rng.standard_normal((7, 300)).round(2).astype(dtype)
    scores[0, :5] = 0.0, -0.0, np.inf, -np.inf, 5e-324
    grades = rng.integers(-1, 4, scores.shape) * (rng.random(scores.shape) < 0.1)
    path = tmp_path / "all.run"
    rows = [f"{q} Q0 {i} 0 {float(s)!r} t\n" for q, row in enumerate(scores) for i, s in enumerate(row.tolist())]
    path.write_text("".join(rows))
    qrels = {str(q): {str(i): int(row[i]) for i in np.flatnonzero(row)} for q, row in enumerate(grades)}
    read = project(qrels, {"run": path}, corpus_size=300, needs_judged=True)
    assert list(contents(project_scores(scores, grades))) == list(contents(read))


def test_the_values_of_measures_are_those_of_a_run() -> None:
    scores = np.random.default_rng(2).random((5, 40)).round(1)
    relevant = [[q, q + 7, 3 * q + 12] for q in range(5)]
    qrels = {str(q): {str(i): 1 for i in documents} for q, documents in enumerate(relevant)}
    run = {str(q): {str(i): s for i, s in enumerate(row)} for q, row in enumerate(scores.tolist())}
    measures = ["LexiRecall", "TSE", "AP", "nDCG", "R@10", "LastRel", "bpref", "NumRet"]
    both = {"a": run, "b": {query: {i: -s for i, s in row.items()} for query, row in run.items()}}
    for ties in ("trec", "expected"):
        some = measures[:7] if ties == "trec" else ["AP", "R@10", "RR"]
        ours = evaluate(project_scores({"a": scores, "b": -scores}, relevant, ties=ties), measures=some)
        theirs = evaluate(qrels, both, some, ties=ties, corpus_size=40)
        assert str(ours) == str(theirs)


def test_blocks_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    scores, relevant = rng.integers(0, 9, (20, 50)).astype(np.float32), rng.random((20, 50)) < 0.2
    exclude = ~relevant & (rng.random((20, 50)) < 0.3)
    whole = list(contents(project_scores(scores, relevant, exclude=exclude)))
    for room in (1, 50 * 16 * 3):
        monkeypatch.setattr(rowcounts, "ROOM", room)
        assert list(contents(project_scores(scores, relevant, exclude=exclude))) == whole


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 15, 17, 2047, 2048, 2049, 4099])
def test_no_score_is_left_out_at_the_end_of_vectors_and_pieces(n: int, dtype: Any) -> None:
    rng = np.random.default_rng(n)
    scores = rng.integers(0, 5, (3, n)).astype(dtype)
    relevant = [sorted({0, n // 2, n - 1}), [n - 1], np.unique(rng.integers(0, n, 9)).tolist()]
    exclude: list[list[int]] = [[], [each for each in (n - 2, n // 3) if 0 <= each < n - 1], []]
    found = project_scores(scores, relevant, exclude=exclude, ties="input").found
    expected = []
    for row, documents, out in zip(scores.tolist(), relevant, exclude, strict=True):
        order = sorted((i for i in range(n) if i not in out), key=lambda i: (-row[i], i))
        expected += [place for place, document in enumerate(order, 1) if document in documents]
    assert found.positions.tolist() == expected


def test_temporaries_are_bounded() -> None:
    scores = np.random.default_rng(4).random((400, 100_000), np.float32).astype(np.float16)  # 80 MB, and twice that
    relevant = [[q, 99_999 - q] for q in range(400)]
    tracemalloc.start()
    try:
        project_scores(scores, relevant)
        assert tracemalloc.get_traced_memory()[1] < 64e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "as_given",
    [
        np.asarray,
        np.asfortranarray,
        lambda scores: np.repeat(scores, 2, axis=1)[:, ::2],
        lambda scores: scores.astype(">f8"),
        lambda scores: scores.astype(np.longdouble),
        lambda scores: scores.tolist(),
        np.ma.masked_array,  # with nothing masked
        lambda scores: np.frombuffer(b"-" + scores.tobytes(), offset=1).reshape(scores.shape),  # not aligned
    ],
)
def test_any_array_of_numbers_is_taken_as_it_is(as_given: Any) -> None:
    scores = np.random.default_rng(5).random((4, 9))
    given = as_given(scores)
    before = np.array(given)
    assert list(contents(project_scores(given, [1, 2, 3, 4]))) == list(contents(project_scores(scores, [1, 2, 3, 4])))
    assert (np.array(given) == before).all()


def test_scores_in_a_file_are_read_where_they_are(tmp_path: Path) -> None:
    scores = np.random.default_rng(5).random((4, 9))
    np.save(tmp_path / "scores.npy", scores)
    mapped = np.load(tmp_path / "scores.npy", mmap_mode="r")
    assert list(contents(project_scores(mapped, [1, 2, 3, 4]))) == list(contents(project_scores(scores, [1, 2, 3, 4])))


MASK = np.array([[True, False, True, False], [False, False, False, False], [False, True, False, False]])


@pytest.mark.parametrize(
    "relevant",
    [
        MASK,
        MASK.astype(int),
        MASK.astype(float),
        scipy.sparse.csr_array(MASK),
        scipy.sparse.coo_matrix(MASK),
        [[0, 2], [], [1]],
        [[2, 0], (), {1}],
        [np.array([0, 2]), np.array([]), 1],
        np.array([[0, 2], [], [1]], dtype=object),
        MASK.astype(np.int8).view(np.recarray),
        np.asfortranarray(MASK),
        scipy.sparse.lil_array(MASK),
    ],
)
def test_relevant_documents_are_given_in_many_forms(relevant: Any) -> None:
    scores = np.array([[0.4, 0.3, 0.2, 0.1]] * 3)
    positions = project_scores(scores, relevant, exclude=[[1], [1], [0]])
    assert positions.found.positions.tolist() == [1, 2, 1]
    assert positions.found.segments.sizes.tolist() == [2, 0, 1]
    assert positions.corpus_size is not None
    assert positions.corpus_size.tolist() == [3, 3, 3]


@pytest.mark.parametrize("exclude", [~MASK, scipy.sparse.csr_array(~MASK), [[1, 3, 3], [0, 1, 2], [0, 2, 3, 0]]])
def test_what_is_excluded_is_not_in_the_corpus(exclude: Any) -> None:
    scores = np.array([[0.1, np.nan, 0.2, np.nan], [0.1, 0.1, 0.1, 0.1], [np.nan, 0.0, 0.5, 0.5]])
    if not isinstance(exclude, list):
        scores[1] = np.nan  # nothing is left of this query
    positions = project_scores(scores, MASK, exclude=exclude)
    assert positions.found.positions.tolist() == [1, 2, 1]
    assert positions.num_retrieved.tolist() == [[2, 1 if isinstance(exclude, list) else 0, 1]]


def test_a_sparse_matrix_that_names_a_cell_twice_is_left_as_it_is() -> None:
    twice = scipy.sparse.csr_array((np.array([1.0, 1.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    assert project_scores([[3, 2, 1]], twice).judgments.grades.tolist() == [2.0]
    assert twice.nnz == 2
    for kind, grade in ((np.int8, 254.0), (bool, 1.0)):  # more than the type holds; marked twice is marked
        cells = scipy.sparse.coo_array((np.array([127, 127]).astype(kind), ([0, 0], [1, 1])), shape=(1, 3))
        assert project_scores([[3, 2, 1]], cells).judgments.grades.tolist() == [grade]


def test_what_is_judged_not_relevant_may_be_excluded() -> None:
    judged = scipy.sparse.coo_array(([0.0, 1.0], ([0, 0], [0, 2])), shape=(1, 3))
    positions = project_scores([[3, 2, 1]], judged, exclude=[[0]])
    assert positions.others is not None
    assert (positions.found.positions.tolist(), positions.others.positions.tolist()) == ([2], [])
    assert positions.judgments.grades.tolist() == [1.0, 0.0]


def test_ids_come_back_as_they_came_in() -> None:
    positions = project_scores([[1, 2], [2, 1]], [0, 1], query_ids=[7, 9], document_ids=np.array([100, 20]))
    assert positions.queries == ("7", "9")
    assert positions.judgments.query_type == "int64"
    assert list(positions.judgments.documents) == [b"100", b"20"]
    assert project_scores([[1, 2], [2, 1]], [0, 1]).judgments.query_type == "text"


def test_ties_go_by_the_text_of_ids() -> None:
    assert project_scores(np.zeros((1, 11)), [[2, 10]]).found.positions.tolist() == [8, 9]
    ids = ["b", "é", "B"]
    assert project_scores(np.zeros((1, 3)), [[0, 1, 2]], document_ids=ids).found.positions.tolist() == [1, 2, 3]
    assert list(project_scores(np.zeros((1, 3)), [0], document_ids=ids).found.positions) == [2]


@given(st.integers(0, 3000))
def test_ranks_of_indices_are_those_of_their_texts(size: int) -> None:
    texts = [str(i).encode() for i in range(size)]
    assert id_ranks(None, size).tolist() == id_ranks(texts, size).tolist()


def refusal(error: type[Exception], *arguments: Any, **options: Any) -> str:
    with pytest.raises(error) as caught:
        project_scores(*arguments, **options)
    return str(caught.value)


SCORES = np.array([[0.4, 0.3, 0.2], [0.1, 0.2, 0.3]])


def test_nan_is_refused_with_its_query_and_document() -> None:
    for dtype in (np.float16, np.float32, np.float64):
        scores = SCORES.astype(dtype)
        scores[1, 2] = np.nan
        message = refusal(DataError, scores, [0, 0], query_ids=["x", "y"], document_ids=["a", "b", "c"])
        assert message.startswith("query 'y', document 'c': the score is NaN")
        assert "document 'c'" in refusal(DataError, scores, [0, 2], document_ids=["a", "b", "c"])  # the relevant one
        assert "document '2'" in refusal(DataError, scores, [0, 0], exclude=[[], [1]])


@pytest.mark.parametrize(
    ("error", "relevant", "options", "text"),
    [
        (UsageError, np.ones((2, 2)), {}, "relevant has the shape [2, 2], but the scores have [2, 3]"),
        (UsageError, scipy.sparse.identity(2), {}, "relevant has the shape [2, 2]"),
        (UsageError, [[0]], {}, "relevant has a length of 1, but the scores are of 2 queries"),
        (UsageError, [[[0], [1, 2]], [0]], {}, "query '0' has '[[0], [1, 2]]' in place of a list"),
        (UsageError, np.full((2, 3), "a"), {}, "relevant is of type <U1, but must be numbers"),
        (UsageError, np.full((2, 3), "a", object), {}, "relevant holds something that is not a number"),
        (UsageError, np.ones((2, 3), complex), {}, "relevant is of type complex128, but must be numbers"),
        (UsageError, scipy.sparse.csr_array(np.ones((2, 3), complex)), {}, "relevant is of type complex128"),
        (DataError, [np.array([2**63 + 1], np.uint64), [0]], {}, "at index 9223372036854775807, which is not"),
        (DataError, [[1, 0, 1], [0]], {}, "a mask must be an array, not a list"),
        (UsageError, np.ma.masked_equal([[1, 0, 1], [0, 0, 1]], 0), {}, "relevant: some values of the array are mask"),
        (UsageError, [[True, False, True], [0]], {}, "query '0' has a mask in place of a list of indices"),
        (UsageError, [["a"], [0]], {}, "query '0' has \"['a']\" in place of a list"),
        (UsageError, [[0.5], [0]], {}, "query '0' has '[0.5]' in place of a list"),
        (UsageError, {"0": [1]}, {}, "relevant is of type dict"),
        (UsageError, 3, {}, "relevant is of type int"),
        (DataError, [[0], [3]], {}, "query '1' names the document at index 3, which is not in the corpus"),
        (DataError, [[-1], [0]], {}, "index -1"),
        (DataError, [[0, 0], [0]], {}, "query '0', document '0' is named twice"),
        (DataError, np.array([[np.nan, 0, 0], [1, 0, 0]]), {}, "document '0': the grade is not finite"),
        (DataError, [0, 1], {"exclude": [[], [1]]}, "query '1', document '1' is both relevant and excluded"),
        (DataError, [0, 1], {"exclude": [[], [7]]}, "exclude: query '1' names the document at index 7"),
        (UsageError, [0, 1], {"query_ids": ["x"]}, "query_ids has 1 id, but the scores have 2 queries"),
        (UsageError, [0, 1], {"document_ids": ["x"]}, "document_ids has 1 id, but the scores have 3 documents"),
        (UsageError, [0, 1], {"document_ids": {"x", "y", "z"}}, "document_ids is of type set"),
        (UsageError, [0, 1], {"query_ids": "xy"}, "query_ids is of type str"),
        (UsageError, [0, 1], {"query_ids": 2}, "query_ids is of type int"),
        (FormatError, [0, 1], {"document_ids": ["x", "7", 7]}, "document_ids: the id '7' occurs twice"),
        (FormatError, [0, 1], {"query_ids": ["x", None]}, "query_ids: 'None' is not a query id"),
        (FormatError, [0, 1], {"document_ids": ["x", "y", 0.5]}, "document_ids: '0.5' is not a document id"),
        (UsageError, [0, 1], {"corpus_size": 9}, "corpus_size is given, but every document has a score"),
        (UsageError, [0, 1], {"units": {}}, "units is given, but units are not counted from scores"),
        (UsageError, [0, 1], {"engine": "duckdb"}, "engine is given, but nothing is read from files"),
        (UsageError, [0, 1], {"ties": "random"}, "ties is 'random', but must be one of"),
        (TypeError, [0, 1], {"dept": 3}, "project_scores() has no keyword 'dept': did you mean 'depth'?"),
    ],
)
def test_bad_input_is_refused(error: type[Exception], relevant: Any, options: dict[str, Any], text: str) -> None:
    assert text in refusal(error, SCORES, relevant, **options)


@pytest.mark.parametrize(
    ("scores", "text"),
    [
        (np.zeros(3), "have the shape [3], but must be [queries, documents]"),
        (np.zeros((0, 3)), "have the shape [0, 3]"),
        (scipy.sparse.identity(2), "are a sparse matrix, but every document needs a score"),
        (np.array([["a", "b"]]), "are of type <U1, but must be numbers"),
        (np.zeros((1, 2), complex), "are of type complex128"),
        ({}, "no scores are given"),
        ({"a": np.zeros((1, 2)), "b": np.zeros((1, 3))}, "scores of b have the shape [1, 3], those of a [1, 2]"),
        ({1: np.zeros((1, 2)), "1": np.ones((1, 2))}, "two runs have the same name: '1'"),
        ([[1, 2], [3]], "the scores of run: this is not an array: its rows are of different lengths"),
        (np.ma.masked_equal([[1.0, 2.0]], 2.0), "the scores of run: some values of the array are masked"),
    ],
)
def test_what_is_no_matrix_of_scores_is_refused(scores: Any, text: str) -> None:
    assert text in refusal(UsageError, scores, [0])


def test_frames_are_refused_because_their_labels_may_say_something_else() -> None:
    polars = pytest.importorskip("polars")
    assert "a frame is given, but its labels would not be used" in refusal(UsageError, polars.DataFrame(SCORES), [0, 1])
    assert "relevant: a frame is given" in refusal(UsageError, SCORES, polars.DataFrame(SCORES > 0.25))


class OnDevice:
    """An array that numpy cannot see."""

    shape = (1, 2)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


def test_an_array_on_a_device_asks_for_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    assert how_to_install("arrays") in refusal(UsageError, OnDevice(), [0])
    assert arrays.array_of(SCORES, "scores")[0] is SCORES


@pytest.mark.skipif(not is_built(), reason="the compiled reader was not built")
def test_many_judged_documents_are_counted_by_a_sort(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (Marks(np.array([0, size]), np.arange(size), np.ones(size)) for size in (256, 257))
    assert CHOSEN(np, few) is rowcounts.NativeRows
    assert CHOSEN(np, many) is rowcounts.SortedRows
    monkeypatch.setenv(VARIABLE, "python")
    assert CHOSEN(np, few) is rowcounts.SortedRows


@pytest.mark.skipif(not is_built(), reason="the compiled reader was not built")
def test_the_kernel_refuses_marks_outside_of_the_matrix() -> None:
    from lexirecall import _native

    def count(documents: list[int], offsets: tuple[int, ...] = (0, 1), size: int = 1, num_documents: int = 3) -> None:
        nothing, above = np.zeros(2, np.int64), np.zeros(size, np.int64)
        marks = np.array(offsets), np.array(documents), nothing, nothing[:0]
        _native.count_scores(
            SCORES[:1].copy(), num_documents, True, 32, *marks, above, above.copy(), np.zeros(1, np.int64)
        )

    count([2])
    for wrong in (
        {"documents": [3]},
        {"documents": [-1]},
        {"documents": [0, 1]},
        {"documents": [0], "num_documents": 4},
    ):
        with pytest.raises(ValueError, match="do not fit"):
            count(**wrong)
    with pytest.raises(ValueError, match="a place for each document"):
        count([0], size=2)
    with pytest.raises(ValueError, match="do not fit"):
        count([0], offsets=(1, 0))


@pytest.mark.skipif(not is_built(), reason="the compiled reader was not built")
@pytest.mark.parametrize(
    ("scores", "num_documents"),
    [
        (b"", 2**61),  # 8 times as many bytes are 0 bytes, if they are counted in 64 bits
        (SCORES[:1].tobytes()[:-1], 3),
        (memoryview(b"-" + SCORES[:1].tobytes())[1:], 3),  # not aligned
        (SCORES[:1].astype(np.float32), 3),
        (SCORES[:1].copy(), -3),
        (SCORES.T, 2),
        ([0.4, 0.3, 0.2], 3),
    ],
)
def test_the_kernel_refuses_scores_of_another_size_or_kind(scores: Any, num_documents: int) -> None:
    from lexirecall import _native

    nothing, place = np.zeros(2, np.int64), np.zeros(1, np.int64)
    marks = np.array([0, 1]), np.array([2]), nothing, nothing[:0]
    with pytest.raises((ValueError, TypeError, BufferError)):
        _native.count_scores(scores, num_documents, True, 32, *marks, place, place.copy(), place.copy())
    with pytest.raises((ValueError, TypeError, BufferError)):
        _native.count_before(scores, num_documents, True, 32, *marks, place, np.zeros(3, np.int32), place.copy())
    with pytest.raises((TypeError, BufferError)):  # what is written to must be writable
        _native.count_scores(SCORES[:1].copy(), 3, True, 32, *marks, bytes(8), place, place.copy())
