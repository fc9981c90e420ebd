"""The kernels that multiply and compare in one pass, run by Triton's interpreter: their logic, not their speed."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before it is imported: its own functions are kernels too
pytest.importorskip("triton")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

import naive  # noqa: E402
from lexirecall.errors import DataError, UsageError  # noqa: E402
from lexirecall.formats.embeddings import fusedkernels, gpu, project_embeddings  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
HALVES = (torch.float16, torch.bfloat16)[: 1 + (DEVICE == "cuda")]  # the interpreter cannot multiply bfloat16
SIMILARITIES = ("dot", "cosine", "l2")
on_a_gpu = pytest.mark.skipif(
    DEVICE == "cpu", reason="the interpreter multiplies by BLAS, whose last bits depend on the place in a tile"
)


@pytest.fixture(autouse=True, scope="module")
def _small_tiles() -> Iterator[None]:
    """Let a few vectors fill several tiles, the last ones in part."""
    if DEVICE == "cuda":
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"ROWS": 16, "COLUMNS": 32, "DEPTH": 16, "PAIRS": 48, "WRITTEN": 512, "FEW": 4}.items():
            patch.setattr(fusedkernels, name, value)
        yield


def vectors(seed: int, number: int, width: int = 24, dtype: object = torch.float16) -> Any:
    """Draw small whole numbers: products are exact, and many are equal."""
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.integers(-2, 3, (number, width))).to(dtype).to(DEVICE)


def asked(scores: Any, seed: int, number: int) -> Any:
    """Draw thresholds among the scores of each query, and end some rows early."""
    rng = np.random.default_rng(seed)
    documents = torch.from_numpy(rng.integers(0, scores.shape[1], (len(scores), number))).to(scores.device)
    thresholds = scores.gather(1, documents)
    lengths = torch.from_numpy(rng.integers(0, number + 1, len(scores))).to(scores.device)
    thresholds[torch.arange(number, device=scores.device) >= lengths[:, None]] = torch.inf
    return thresholds


def normal(seed: int, number: int, width: int = 40, dtype: object = HALVES[-1]) -> Any:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(number, width))).to(dtype).to(DEVICE)


def every_pair(num_queries: int, size: int) -> tuple[Any, Any]:
    rows = torch.arange(num_queries, device=DEVICE).repeat_interleave(size)
    return rows, torch.arange(size, device=DEVICE).repeat(num_queries)


def naive_counts(scores: Any, thresholds: Any) -> tuple[list[list[int]], list[list[int]]]:
    return naive.counts_above_and_tied(scores.tolist(), thresholds.tolist())


@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("number", [1, 3, 9])
@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 70))
def test_counts_are_those_of_all_scores(similarity: str, number: int, seed: int, num_queries: int, size: int) -> None:
    queries, block = vectors(seed, num_queries), fusedkernels.HalfBlock.of(vectors(seed + 1, size), similarity)
    scores = fusedkernels.scores(queries, block)
    thresholds = asked(scores, seed, number)
    above, tied = fusedkernels.count(queries, block, thresholds)
    assert (above.tolist(), tied.tolist()) == naive_counts(scores, thresholds)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 70))
def test_queries_with_many_thresholds_are_counted_by_search(seed: int, num_queries: int, size: int) -> None:
    queries, block = vectors(seed, num_queries), fusedkernels.HalfBlock.of(vectors(seed + 1, size))
    scores = fusedkernels.scores(queries, block)
    thresholds = asked(scores, seed, 7)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fusedkernels, "MOST", 3)
        above, tied = fusedkernels.count(queries, block, thresholds)
    assert (above.tolist(), tied.tolist()) == naive_counts(scores, thresholds)


def test_counts_of_blocks_add_up() -> None:
    queries, corpus = vectors(1, 20), vectors(2, 90)
    thresholds = asked(fusedkernels.scores(queries, fusedkernels.HalfBlock.of(corpus)), 3, 5)
    whole = fusedkernels.count(queries, fusedkernels.HalfBlock.of(corpus), thresholds)
    parts = [fusedkernels.count(queries, fusedkernels.HalfBlock.of(part), thresholds) for part in corpus.split(37)]
    for kind in range(2):
        assert torch.equal(whole[kind], sum(part[kind] for part in parts))


@pytest.mark.parametrize("dtype", HALVES)
def test_a_pair_is_a_cell_of_all_scores(dtype: object) -> None:
    queries, block = vectors(1, 21, dtype=dtype), fusedkernels.HalfBlock.of(vectors(2, 75, dtype=dtype), "l2")
    scores = fusedkernels.scores(queries, block)
    assert torch.equal(fusedkernels.pairs(queries, block, *every_pair(21, 75)).view(21, 75), scores)


@on_a_gpu
@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("dtype", HALVES)
def test_a_pair_has_the_score_that_is_compared_to_the_bit(similarity: str, dtype: object) -> None:
    queries, block = normal(1, 21, dtype=dtype), fusedkernels.HalfBlock.of(normal(2, 75, dtype=dtype), similarity)
    scores = fusedkernels.scores(queries, block)
    assert torch.equal(fusedkernels.pairs(queries, block, *every_pair(21, 75)).view(21, 75), scores)


@on_a_gpu
def test_a_copy_of_a_document_ties_with_it_wherever_it_is() -> None:
    corpus = normal(2, 75)
    corpus[[3, 40, 74]] = corpus[20].clone()
    queries, block = normal(1, 21), fusedkernels.HalfBlock.of(corpus)
    rows = torch.arange(21, device=DEVICE)
    own = fusedkernels.pairs(queries, block, rows, torch.full_like(rows, 20))
    assert fusedkernels.count(queries, block, own[:, None])[1].flatten().tolist() == [4] * 21


@on_a_gpu
def test_thresholds_from_a_second_kernel_would_move_positions() -> None:
    queries, corpus = normal(1, 40, 64), normal(2, 70, 64)
    block, (rows, documents) = fusedkernels.HalfBlock.of(corpus), every_pair(40, 70)
    own = fusedkernels.pairs(queries, block, rows, documents).view(40, 70)
    second = (queries.double() @ corpus.double().T).float()
    assert (fusedkernels.count(queries, block, own)[1] == 1).all()
    assert (fusedkernels.count(queries, block, second)[1] == 0).any()  # its own document is above or below it
    above = fusedkernels.count(queries, block, own)[0]
    assert torch.equal(above.sort(dim=1).values, torch.arange(70, device=DEVICE).expand(40, 70))
    assert not torch.equal(fusedkernels.count(queries, block, second)[0], above)


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_scores_are_those_of_the_similarity(similarity: str) -> None:
    queries, corpus = normal(1, 5), normal(2, 33)
    corpus[7] = 0
    wide, documents = queries.double(), corpus.double()
    dots, lengths = wide @ documents.T, documents.norm(dim=1)
    expected = {"dot": dots, "cosine": dots / lengths.clamp(min=1e-9), "l2": dots - lengths**2 / 2}[similarity]
    scores = fusedkernels.scores(queries, fusedkernels.HalfBlock.of(corpus, similarity)).double()
    torch.testing.assert_close(scores, expected, rtol=1e-5, atol=1e-5)


def test_nothing_to_count_is_counted_as_nothing() -> None:
    queries = vectors(1, 3)
    nothing = fusedkernels.HalfBlock.of(vectors(2, 0))
    assert fusedkernels.count(queries, nothing, torch.zeros(3, 2, device=DEVICE))[0].tolist() == [[0, 0]] * 3
    assert fusedkernels.count(queries, fusedkernels.HalfBlock.of(queries), torch.zeros(3, 0, device=DEVICE))[
        0
    ].shape == (3, 0)
    assert fusedkernels.pairs(queries, nothing, *every_pair(3, 0)).shape == (0,)


def test_scores_that_may_overflow() -> None:
    good, large, broken = vectors(1, 4), vectors(2, 4).to(torch.bfloat16), vectors(3, 4)
    large[2, 1], broken[1, 1] = 1e30, torch.nan
    assert fusedkernels.is_bounded(good, fusedkernels.HalfBlock.of(good))
    assert not fusedkernels.is_bounded(good, fusedkernels.HalfBlock.of(broken))
    assert not fusedkernels.is_bounded(broken, fusedkernels.HalfBlock.of(good))
    assert not fusedkernels.is_bounded(large, fusedkernels.HalfBlock.of(large))
    assert fusedkernels.is_bounded(good, fusedkernels.HalfBlock.of(vectors(1, 0)))


@pytest.fixture
def fusing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the kernels be used on any device."""
    monkeypatch.setattr(
        gpu, "can_fuse", lambda queries, dtype, _: queries.dtype in HALVES and dtype in (None, queries.dtype)
    )


QRELS = {"q1": {"d3": 1, "d40": 2}, "q2": {"d7": 1}, "q3": {"d12": 0, "d9": 1}}
IDS = [f"d{document}" for document in range(60)]


@pytest.mark.usefixtures("fusing")
@pytest.mark.parametrize("ties", ["trec", "input", "worst", "best", "expected"])
@pytest.mark.parametrize("similarity", ["dot", "l2"])
def test_positions_are_those_of_torch(ties: str, similarity: str) -> None:
    """Products of small whole numbers are exact in every kernel, and full of ties."""
    given: dict[str, Any] = {
        "query_ids": ["q1", "q2", "q3"],
        "corpus_ids": IDS,
        "similarity": similarity,
        "ties": ties,
        "block": 25,
    }
    queries, corpus = vectors(1, 3, 8), vectors(2, 60, 8)
    ours = project_embeddings(queries, corpus, QRELS, **given)
    theirs = project_embeddings(queries.float(), corpus.float(), QRELS, **given)
    for name in ("positions", "documents", "block_starts", "block_sizes"):
        np.testing.assert_array_equal(getattr(ours.found, name), getattr(theirs.found, name))
    sizes = ours.found.block_sizes
    assert ties != "expected" or (sizes is not None and (sizes > 1).any())


@pytest.mark.usefixtures("fusing")
def test_a_corpus_of_another_type_is_multiplied_by_torch() -> None:
    queries, corpus = vectors(1, 3, 8), vectors(2, 60, 8)
    given: dict[str, Any] = {"query_ids": ["q1", "q2", "q3"], "corpus_ids": IDS}
    ours = project_embeddings(queries, corpus.float(), QRELS, **given)
    assert ours.found.positions.tolist() == project_embeddings(queries, corpus, QRELS, **given).found.positions.tolist()
    parts = [(IDS[:50], corpus[:50]), (IDS[50:], corpus[50:].float())]
    with pytest.raises(UsageError, match="blocks of the corpus have different types"):
        project_embeddings(queries, parts, QRELS, query_ids=["q1", "q2", "q3"])


@pytest.mark.usefixtures("fusing")
def test_a_score_that_is_not_a_number_is_named() -> None:
    queries, corpus = vectors(1, 3, 8), vectors(2, 60, 8)
    corpus[33, 2] = torch.nan
    with pytest.raises(DataError, match="score of query 'q1' and document 'd33' is not a finite number"):
        project_embeddings(queries, corpus, QRELS, query_ids=["q1", "q2", "q3"], corpus_ids=IDS)


@pytest.mark.usefixtures("fusing")
@pytest.mark.filterwarnings("ignore:invalid value")  # of the interpreter: rows of a tile beyond the queries are 0
@pytest.mark.parametrize("judged", ["d20", "d21"])
def test_scores_are_finite(judged: str) -> None:
    queries, corpus = vectors(1, 3, 8), vectors(2, 60, 8)
    queries[:, 0], corpus[20, 0] = 1, torch.inf
    with pytest.raises(DataError, match="document 'd20' is not a finite number"):
        project_embeddings(queries, corpus, {"q1": {judged: 1}}, query_ids=["q1", "q2", "q3"], corpus_ids=IDS)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_lengths_that_float32_does_not_hold_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their cosines would be 0."""
    monkeypatch.setattr(gpu, "can_fuse", lambda *_: True)
    queries, corpus = vectors(1, 3, 8).to(torch.bfloat16), vectors(2, 60, 8).to(torch.bfloat16)
    for factor in (1e25, 1e-25):
        odd = corpus.clone()
        odd[7] *= factor
        assert not fusedkernels.is_bounded(queries, fusedkernels.HalfBlock.of(odd, "cosine"))
        with pytest.raises(DataError, match="document 'd7' is not a finite number"):
            project_embeddings(queries, odd, QRELS, query_ids=["q1", "q2", "q3"], corpus_ids=IDS, similarity="cosine")
    odd[7] = 0
    assert fusedkernels.HalfBlock.of(odd, "cosine").adjustments[7] == 0


def test_kernels_are_used_where_they_can_run() -> None:
    cpu = torch.device("cpu")
    assert not gpu.can_fuse(vectors(1, 3), None, cpu)
    assert not gpu.can_fuse(vectors(1, 3).float(), None, torch.device("cuda"))
    assert not gpu.can_fuse(vectors(1, 3, 25), None, torch.device("cuda"))  # rows would not start at 16 bytes
