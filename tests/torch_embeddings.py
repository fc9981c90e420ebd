"""Positions from tensors of torch: on the CPU, as numpy gives them; and over two processes that have a part each."""

import multiprocessing
import socket
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import test_embeddings as of_numpy
from lexirecall import project_embeddings
from lexirecall.errors import DataError, LexirecallError, UsageError

torch = pytest.importorskip("torch")

SMALL, QUERY, IDS, QRELS, EXPECTED = (
    of_numpy.SMALL, of_numpy.QUERY, of_numpy.IDS, of_numpy.QRELS, of_numpy.EXPECTED,
)  # fmt: skip


def drawn(seed: int, *shape: int) -> Any:
    return torch.from_numpy(np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32))


def all_places(positions: Any) -> list[dict[str, int]]:
    return [of_numpy.places(positions, q) for q in range(len(positions.requests))]


@pytest.mark.parametrize("every", [5, 30])
@pytest.mark.parametrize("ties", ["trec", "input", "worst", "best"])
@pytest.mark.parametrize("similarity", ["dot", "l2"])
def test_tensors_give_what_arrays_give(similarity: str, ties: str, every: int) -> None:
    queries, corpus = drawn(1, 20, 4), drawn(2, 150, 4)
    qrels = {str(q): {str(n): n % 3 for n in range(q, 150, every)} for q in range(20)}
    options: dict[str, Any] = {"similarity": similarity, "ties": ties, "block": 32}
    whole = all_places(project_embeddings(queries.numpy(), corpus.numpy(), qrels, **options))
    for one, other in ((queries, corpus), (queries, corpus.numpy()), (queries.numpy(), corpus)):
        assert all_places(project_embeddings(one, other, qrels, **options)) == whole


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_tensors_may_have_another_precision(dtype: str) -> None:
    queries, corpus = (torch.from_numpy(each).to(getattr(torch, dtype)) for each in (QUERY, SMALL))
    for one in (queries, QUERY):
        positions = project_embeddings(one, corpus, QRELS, query_ids=["q"], corpus_ids=IDS, block=2)
        assert of_numpy.places(positions) == EXPECTED


def test_scores_of_half_precision_are_not_rounded_to_it() -> None:
    corpus = torch.tensor([[256.0, 1.0], [256.0, 0.0]], dtype=torch.bfloat16)  # the sum 257 is not a bfloat16
    positions = project_embeddings(torch.ones(1, 2, dtype=torch.bfloat16), corpus, {"0": {"0": 1}}, ties="worst")
    assert of_numpy.places(positions) == {"0": 1}


def test_int8_tensors_are_multiplied_by_their_scales() -> None:
    scales = torch.tensor([0.5, 0.5, 0.25, 8, 0.5])
    corpus = torch.from_numpy(SMALL.astype(np.int8))
    wide = torch.from_numpy(SMALL) * scales[:, None]
    some: dict[str, Any] = {"query_ids": ["q"], "corpus_ids": IDS}
    one = project_embeddings(torch.from_numpy(QUERY), corpus, QRELS, corpus_scale=scales, block=2, **some)
    assert of_numpy.places(one) == of_numpy.places(project_embeddings(QUERY, wide, QRELS, **some))


def test_copies_tie_in_torch_too() -> None:
    torch.manual_seed(3)
    queries, corpus = torch.randn(40, 64), torch.randn(400, 64)
    corpus[[3, 77, 130]] = corpus[200].clone()
    positions = project_embeddings(queries, corpus, {str(q): {"200": 1, "77": 2} for q in range(40)}, block=64)
    assert all(found["200"] - found["77"] == 2 for found in all_places(positions))  # 77, 3, 200, 130


def test_what_is_not_a_number_is_reported() -> None:
    corpus = torch.from_numpy(SMALL.copy())
    corpus[2, 0] = torch.nan
    with pytest.raises(DataError, match="the score of query 'q' and document 'c' is not a number"):
        project_embeddings(torch.from_numpy(QUERY), corpus, QRELS, query_ids=["q"], corpus_ids=IDS)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="device is 'cuda', but torch cannot use it"):
        project_embeddings(QUERY, SMALL, QRELS, query_ids=["q"], corpus_ids=IDS, device="cuda")


# Two processes


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def work(rank: int, port: int, case: str, results: Any, folder: str) -> None:
    """Evaluate a part of the corpus in a process of its own."""
    torch.distributed.init_process_group(
        "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2, timeout=timedelta(seconds=60)
    )
    queries, corpus, qrels, ids = collection()
    here = slice(0, 90) if rank == 0 else slice(90, 150)
    if case == "failing" and rank == 1:
        corpus[100] = torch.nan
    if case == "twice":
        ids[100] = ids[0]
    try:
        options: dict[str, Any] = {"ties": "input" if case == "input" else "trec", "block": 32}
        options["checkpoint"] = Path(folder) / f"{rank}.npz" if case == "kept" else None
        positions = project_embeddings(queries, corpus[here], qrels, corpus_ids=ids[here], distributed=True, **options)
        results.put((rank, all_places(positions)))
    except LexirecallError as error:
        results.put((rank, str(error)))
    torch.distributed.destroy_process_group()


def collection() -> tuple[Any, Any, Any, list[str]]:
    queries, corpus = drawn(1, 20, 4), drawn(2, 150, 4)
    qrels = {str(q): {f"d{n}": n % 3 for n in range(q, 150, 9)} for q in range(20)}
    return queries, corpus, qrels, [f"d{n}" for n in range(150)]


def by_two(case: str, folder: Path) -> list[Any]:
    context = multiprocessing.get_context("spawn")
    results, port = context.Queue(), free_port()
    workers = [context.Process(target=work, args=(rank, port, case, results, str(folder))) for rank in (0, 1)]
    for worker in workers:
        worker.start()
    found = dict(results.get(timeout=120) for _ in workers)
    for worker in workers:
        worker.join(timeout=60)
    return [found[0], found[1]]


@pytest.mark.parametrize("case", ["trec", "input", "kept"])
def test_two_processes_with_a_part_each_give_the_whole(case: str, tmp_path: Path) -> None:
    queries, corpus, qrels, ids = collection()
    ties = "input" if case == "input" else "trec"
    whole = all_places(project_embeddings(queries, corpus, qrels, corpus_ids=ids, block=32, ties=ties))
    assert by_two(case, tmp_path) == [whole, whole]
    if case == "kept":
        assert by_two(case, tmp_path) == [whole, whole]  # from what was kept


def test_no_process_waits_for_one_that_failed(tmp_path: Path) -> None:
    waiting, failed = by_two("failing", tmp_path)
    assert "another process failed" in waiting
    assert "and document 'd100' is not a number" in failed


def test_a_judged_document_in_two_processes_is_refused(tmp_path: Path) -> None:
    for message in by_two("twice", tmp_path):
        assert "the corpus has ids that occur in two processes: 'd0'" in message


def test_processes_must_have_been_joined() -> None:
    with pytest.raises(UsageError, match="the processes have not been joined"):
        project_embeddings(QUERY, SMALL, QRELS, query_ids=["q"], corpus_ids=IDS, distributed=True)
