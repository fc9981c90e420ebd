"""PositionsMetric, with torch and torchmetrics: `make torch-test` runs it.

It is not in the ordinary suite, whose environment lacks them.
"""

import copy
import pickle
import socket
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from hypothesis import given, settings
from hypothesis import strategies as st

from lexirecall import evaluate, project_scores
from lexirecall.errors import DataError, UsageError
from lexirecall.torch import PositionsMetric
from pages import DOCS, run_page

MEASURES = ["TSE", "LastRel", "AP", "R@3"]
NUM_QUERIES, NUM_ITEMS = 11, 40
generator = torch.Generator().manual_seed(5)
SCORES = torch.randint(0, 12, (NUM_QUERIES, NUM_ITEMS), generator=generator).float()  # with ties
RELEVANT = torch.rand(NUM_QUERIES, NUM_ITEMS, generator=generator) < 0.1
RELEVANT[:, 3] = True
SEEN = (torch.rand(NUM_QUERIES, NUM_ITEMS, generator=generator) < 0.2) & ~RELEVANT
IDS = torch.arange(NUM_QUERIES)


def expected(**options: Any) -> dict[str, float]:
    """Return the means over all queries at once."""
    positions = project_scores(SCORES.numpy(), RELEVANT.numpy(), **options)
    return dict(zip(MEASURES, evaluate(positions, measures=MEASURES).means[0].tolist(), strict=True))


def computed(metric: PositionsMetric) -> dict[str, float]:
    return {measure: value.item() for measure, value in metric.compute().items()}


@settings(max_examples=20)
@given(st.permutations(range(NUM_QUERIES)), st.integers(1, NUM_QUERIES), st.sampled_from(["trec", "worst", "expected"]))
def test_batches_in_any_order_give_what_all_queries_at_once_give(order: list[int], size: int, ties: str) -> None:
    metric = PositionsMetric(MEASURES, ties=ties)
    for batch in torch.tensor(order).split(size):
        metric.update(SCORES[batch], RELEVANT[batch], IDS[batch])
    assert computed(metric) == expected(ties=ties)  # to the bit: queries are sorted by their numbers


def test_documents_are_excluded_and_named() -> None:
    names = [f"d{item}" for item in range(NUM_ITEMS)]
    metric = PositionsMetric(MEASURES, item_ids=names)
    metric.update(SCORES, RELEVANT, exclude=SEEN)
    assert computed(metric) == expected(exclude=SEEN.numpy(), item_ids=names)
    assert metric.positions().num_retrieved[0].tolist() == (NUM_ITEMS - SEEN.sum(dim=1)).tolist()
    assert {*metric.positions().judgments.items} <= {name.encode() for name in names}


def test_scores_of_a_model_need_no_detaching() -> None:
    metric = PositionsMetric(["TSE"])
    metric.update(SCORES.clone().requires_grad_(), RELEVANT)
    assert computed(metric)["TSE"] == expected()["TSE"]


def test_a_call_gives_the_values_of_its_batch_and_keeps_all() -> None:
    metric = PositionsMetric(MEASURES)
    for batch in IDS.split(4):
        one = PositionsMetric(MEASURES)
        one.update(SCORES[batch], RELEVANT[batch])
        values = metric(SCORES[batch], RELEVANT[batch])
        assert {measure: value.item() for measure, value in values.items()} == computed(one)
    assert computed(metric) == expected()


def test_the_state_is_small_and_survives_copies() -> None:
    metric = PositionsMetric(MEASURES)
    metric.update(SCORES, RELEVANT)
    assert sum(rows.numel() for rows in metric.rows) == 8 * int(RELEVANT.sum())
    for copied in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric)), metric.double().cpu()):  # noqa: S301
        assert computed(copied) == expected()


def test_reset_forgets() -> None:
    metric = PositionsMetric(MEASURES)
    metric.update(SCORES[:1], ~RELEVANT[:1])
    metric.reset()
    with pytest.raises(UsageError, match="there are no positions yet"):
        metric.positions()
    metric.update(SCORES, RELEVANT)
    assert computed(metric) == expected()


def test_a_preference_needs_two_runs() -> None:
    with pytest.raises(UsageError, match="LexiRecall compares two runs"):
        PositionsMetric(["TSE", "LexiRecall"])


@pytest.mark.parametrize("ids", [[1.5] * NUM_QUERIES, [1, 2], [-1, *range(NUM_QUERIES - 1)], ["q"] * NUM_QUERIES])
def test_numbers_of_queries_are_whole(ids: list[Any]) -> None:
    with pytest.raises(UsageError, match="query_ids have the shape"):
        PositionsMetric(MEASURES).update(SCORES, RELEVANT, ids)


def test_the_next_epoch_without_a_reset_is_noticed() -> None:
    metric = PositionsMetric(MEASURES)
    metric.update(SCORES, RELEVANT, IDS)
    metric.update(-SCORES, RELEVANT, IDS)
    with pytest.raises(DataError, match="reset the metric"):
        metric.compute()


def worker(rank: int, port: int, shares: list[list[int]], folder: str) -> None:
    """Evaluate one process's share of the queries, and write what all of them have found."""
    dist.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=len(shares))
    metric = PositionsMetric(MEASURES)
    for batch in torch.tensor(shares[rank], dtype=torch.int64).split(3):
        if len(batch):
            metric.update(SCORES[batch], RELEVANT[batch], IDS[batch])
    values = computed(metric)
    own = sum(map(len, metric.rows))  # after compute, each process has its own again
    with metric.sync_context():
        repeated = metric.num_repeated
    torch.save((values, repeated, own), Path(folder) / f"{rank}.pt")
    dist.destroy_process_group()


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port: int = server.getsockname()[1]
        return port


@pytest.mark.filterwarnings("ignore:The ``compute`` method of metric:UserWarning")  # of the process without a query
@pytest.mark.parametrize(
    "shares",
    [
        [[0, 2, 4, 6, 8, 10], [1, 3, 5, 7, 9, 0]],  # as a distributed sampler gives them: the first one fills up
        [[*range(NUM_QUERIES)], []],
    ],
    ids=["a query repeated", "a process without queries"],
)
def test_two_processes_find_what_one_finds(shares: list[list[int]], tmp_path: Path) -> None:
    mp.spawn(worker, (free_port(), shares, str(tmp_path)), nprocs=2)
    whole = expected()
    for rank, share in enumerate(shares):
        values, repeated, own = torch.load(tmp_path / f"{rank}.pt", weights_only=False)
        assert values == whole
        assert repeated == sum(map(len, shares)) - NUM_QUERIES
        assert own == int(RELEVANT[share].sum())


def test_the_python_of_the_page_runs() -> None:
    run_page(DOCS / "training.md", {})
