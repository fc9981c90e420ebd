"""Positions from tensors of torch: on the CPU, as numpy gives them; and over two processes that have a part each."""

import multiprocessing
import socket
from datetime import timedelta
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
    return [of_numpy.places(positions, q) for q in range(len(positions.queries))]


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
    with pytest.raises(DataError, match="the score of query 'q' and document 'c' is not a finite number"):
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


CASES = ("trec", "input", "failing", "twice", "nameless", "two kinds")


def work(rank: int, port: int, results: Any) -> None:
    """Evaluate a part of the corpus in a process of its own, in every case."""
    torch.distributed.init_process_group(
        "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2, timeout=timedelta(seconds=60)
    )
    for case in CASES:
        try:
            results.put((rank, case, all_places(part_of(rank, case))))
        except LexirecallError as error:
            results.put((rank, case, str(error)))
    torch.distributed.destroy_process_group()


def part_of(rank: int, case: str) -> Any:
    queries, corpus, qrels, ids = collection()
    here = slice(0, 90) if rank == 0 else slice(90, 150)
    if case == "failing" and rank == 1:
        corpus[100] = torch.nan
    if case == "twice":
        ids[100] = ids[0]
    if case == "two kinds" and rank == 1:
        queries = queries.double()
    options = options_of(case)
    options["corpus_ids"] = None if case == "nameless" else ids[here]
    return project_embeddings(queries, corpus[here], qrels, distributed=True, **options)


def options_of(case: str) -> dict[str, Any]:
    ties = "input" if case == "input" else "trec"
    return {"ties": ties, "exclude": EXCLUDED if case == "trec" else None, "block": 32}


EXCLUDED = {"3": ["d4", "d141"], "5": ["d90"]}


def collection() -> tuple[Any, Any, Any, list[str]]:
    queries, corpus = drawn(1, 20, 4), drawn(2, 150, 4)
    qrels = {str(q): {f"d{n}": n % 3 for n in range(q, 150, 9)} for q in range(20)}
    return queries, corpus, qrels, [f"d{n}" for n in range(150)]


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list[Any]]:
    """Return what each of two processes found, by case; they are started once, which takes longer than the work."""
    context = multiprocessing.get_context("spawn")
    results, port = context.Queue(), free_port()
    workers = [context.Process(target=work, args=(rank, port, results)) for rank in (0, 1)]
    for worker in workers:
        worker.start()
    found = {(case, rank): outcome for rank, case, outcome in (results.get(timeout=120) for _ in range(2 * len(CASES)))}
    for worker in workers:
        worker.join(timeout=60)
    return {case: [found[case, 0], found[case, 1]] for case in CASES}


@pytest.mark.parametrize("case", ["trec", "input"])
def test_two_processes_with_a_part_each_give_the_whole(case: str, outcomes: dict[str, list[Any]]) -> None:
    queries, corpus, qrels, ids = collection()
    whole = all_places(project_embeddings(queries, corpus, qrels, corpus_ids=ids, **options_of(case)))
    assert outcomes[case] == [whole, whole]


def test_no_process_waits_for_one_that_failed(outcomes: dict[str, list[Any]]) -> None:
    waiting, failed = outcomes["failing"]
    assert "another process failed" in waiting
    assert "and document 'd100' is not a finite number" in failed


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        ("twice", "the corpus has ids that occur in two processes: 'd0'"),
        ("nameless", "the documents of this process have no ids"),
        ("two kinds", "the scores of the processes cannot be compared to the bit"),
    ],
)
def test_parts_that_do_not_make_a_whole_are_refused(case: str, problem: str, outcomes: dict[str, list[Any]]) -> None:
    assert all(problem in message for message in outcomes[case])


def test_processes_must_have_been_joined() -> None:
    with pytest.raises(UsageError, match="the processes have not been joined"):
        project_embeddings(QUERY, SMALL, QRELS, query_ids=["q"], corpus_ids=IDS, distributed=True)
