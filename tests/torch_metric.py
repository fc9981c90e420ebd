"""PositionsMetric, with torch and torchmetrics: `make torch-test` runs it.

It is not in the ordinary suite, whose environment lacks them.
"""

import copy
import logging
import pickle
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from hypothesis import given, settings
from hypothesis import strategies as st
from torchmetrics import MetricCollection

from lexirecall import evaluate, project_scores
from lexirecall.errors import DataError, UsageError
from lexirecall.torch import PositionsMetric
from lexirecall.torch.checkpoints import win_rate
from pages import DOCS, run_page

MEASURES = ["TSE", "LastRel", "AP", "R@3"]
NUM_QUERIES, NUM_DOCUMENTS = 11, 40
generator = torch.Generator().manual_seed(5)
SCORES = torch.randint(0, 12, (NUM_QUERIES, NUM_DOCUMENTS), generator=generator).float()  # with ties
RELEVANT = torch.rand(NUM_QUERIES, NUM_DOCUMENTS, generator=generator) < 0.1
RELEVANT[:, 3] = True
SEEN = (torch.rand(NUM_QUERIES, NUM_DOCUMENTS, generator=generator) < 0.2) & ~RELEVANT
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
    names = [f"d{document}" for document in range(NUM_DOCUMENTS)]
    metric = PositionsMetric(MEASURES, document_ids=names)
    metric.update(SCORES, RELEVANT, exclude=SEEN)
    assert computed(metric) == expected(exclude=SEEN.numpy(), document_ids=names)
    assert metric.positions().num_retrieved[0].tolist() == (NUM_DOCUMENTS - SEEN.sum(dim=1)).tolist()
    assert {*metric.positions().judgments.documents} <= {name.encode() for name in names}


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


def test_documents_judged_not_relevant_count_where_a_measure_asks_for_them() -> None:
    rows, columns = np.nonzero(RELEVANT.numpy() | SEEN.numpy())
    grades = scipy.sparse.csr_matrix((RELEVANT.numpy()[rows, columns].astype(float), (rows, columns)), SCORES.shape)
    measures = ["Bpref", "Judged@5", "infAP"]
    metric = PositionsMetric(measures)
    for batch in IDS.split(4):
        metric.update(SCORES[batch], grades[batch.tolist()], batch)
    whole = evaluate(project_scores(SCORES.numpy(), grades), measures=measures)
    assert [*computed(metric).values()] == whole.means[0].tolist()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("form", ["mask", "grades", "lists", "tensors"])
def test_scores_and_relevant_documents_have_the_forms_that_models_give(dtype: torch.dtype, form: str) -> None:
    lists = [row.nonzero().flatten() for row in RELEVANT]
    forms = {"mask": RELEVANT, "grades": RELEVANT.int(), "lists": [row.tolist() for row in lists], "tensors": lists}
    metric = PositionsMetric(MEASURES)
    metric.update(SCORES.to(dtype), forms[form])  # whole numbers, so nothing is rounded
    assert computed(metric) == expected()


def test_a_batch_may_be_empty_and_a_query_without_relevant_documents_is_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    metric = PositionsMetric(MEASURES)
    metric.update(SCORES[:0], RELEVANT[:0], IDS[:0])
    assert all(value.isnan() for value in metric(SCORES[:1], ~RELEVANT[:1] & False, [99]).values())
    metric.update(SCORES, RELEVANT, IDS)
    metric.update(SCORES[:2], RELEVANT[:2], IDS[:2])
    with caplog.at_level(logging.INFO):
        assert computed(metric) == expected()
    assert metric.notes[0] == "2 queries given more than once: counted once"
    assert "1 query without a relevant document" in metric.notes[1]
    assert all(note in caplog.text for note in metric.notes)


def test_metrics_of_a_collection_share_rows_only_if_these_are_made_alike() -> None:
    unequal = torch.arange(float(NUM_DOCUMENTS)).repeat(NUM_QUERIES, 1)  # so that the first batch looks alike
    ways: dict[str, Any] = {"best": {"ties": "best"}, "worst": {"ties": "worst"}, "low": {"level": 2, "ties": "best"}}
    together = MetricCollection({name: PositionsMetric(["TSE"], **way) for name, way in ways.items()})
    alone = {name: PositionsMetric(["TSE"], **way) for name, way in ways.items()}
    for scores in (unequal, SCORES):
        for metric in (together, *alone.values()):
            metric.update(scores, 2 * RELEVANT.int())
    assert together.compute() == {f"{name}_TSE": computed(metric)["TSE"] for name, metric in alone.items()}
    assert sorted(map(sorted, together.compute_groups.values())) == [["best", "low"], ["worst"]]


def test_states_are_merged_saved_and_loaded() -> None:
    one, other = PositionsMetric(MEASURES), PositionsMetric(MEASURES)
    one.persistent(mode=True)
    one.update(SCORES[:4], RELEVANT[:4], IDS[:4])
    other.update(SCORES[4:], RELEVANT[4:], IDS[4:])
    one.merge_state(other)
    assert computed(one) == expected()
    other.persistent(mode=True)
    other.load_state_dict(one.state_dict())
    assert computed(other) == expected()
    another = PositionsMetric(MEASURES, ties="worst")
    another.persistent(mode=True)
    another.load_state_dict(one.state_dict())
    with pytest.raises(UsageError, match="another tie rule or other item_ids"):
        another.positions()


def test_a_preference_is_the_win_rate_against_the_baseline(tmp_path: Path) -> None:
    then = project_scores(-SCORES.numpy(), RELEVANT.numpy(), name="then")
    now = project_scores(SCORES.numpy(), RELEVANT.numpy(), name="now")
    then.save(tmp_path / "then.parquet")
    for baseline in (then, tmp_path / "then.parquet", str(tmp_path / "then.parquet")):
        metric = PositionsMetric(["LexiRecall", "TSE", "RPP"], baseline=baseline)
        for batch in IDS.flip(0).split(4):
            part = win_rate(
                project_scores(SCORES[batch].numpy(), RELEVANT[batch].numpy(), query_ids=batch.numpy()), then
            )
            assert metric(SCORES[batch], RELEVANT[batch], batch)["LexiRecall"] == part  # of these queries
        rates = {preference: win_rate(now, then, preference) for preference in ("LexiRecall", "RPP")}
        assert computed(metric) == rates | {"TSE": expected()["TSE"]}
    metric.baseline = metric.positions()  # the values of the last compute are not given again
    assert computed(metric)["LexiRecall"] == 0.5
    with pytest.raises(UsageError, match="LexiRecall, RPP compares two runs"):
        metric.baseline = None


def test_a_preference_needs_two_runs() -> None:
    with pytest.raises(UsageError, match="give the other one as baseline="):
        PositionsMetric(["TSE", "LexiRecall"])
    metric = PositionsMetric(["LexiRecall"], baseline=project_scores(SCORES[:3].numpy(), RELEVANT[:3].numpy()))
    metric.update(SCORES, RELEVANT)
    with pytest.raises(DataError, match="run has no positions of query '3', '4', '5' and 5 more"):
        metric.compute()


@pytest.mark.parametrize(
    "settings",
    [{"ties": "alphabetical"}, {"level": 0}, {"ties": "expected", "measures": ["Bpref"]}, {"document_ids": [1.5]}],
    ids=str,
)
def test_what_could_not_be_computed_is_refused_before_the_first_batch(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        PositionsMetric(**settings)


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


SHARES = {
    "as a distributed sampler gives them: the first query fills up": [[0, 2, 4, 6, 8, 10], [1, 3, 5, 7, 9, 0]],
    "a process without queries": [[*range(NUM_QUERIES)], []],
}


def worker(rank: int, port: int, folder: str) -> None:
    """Evaluate one process's share of the queries, and write what all of them have found."""
    dist.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    found = []
    for shares in SHARES.values():
        metric = PositionsMetric(MEASURES)
        for batch in torch.tensor(shares[rank], dtype=torch.int64).split(3):
            scores = SCORES[batch].clone()
            scores[batch == 0] *= 1 - 2 * rank  # the repeated query: as if the second process rounded differently
            metric.update(scores, RELEVANT[batch], IDS[batch])
        values = computed(metric)
        own = sum(map(len, metric.rows))  # after compute, each process has its own again
        with metric.sync_context():
            repeated, queries, notes = metric.num_repeated, metric.positions().queries, metric.notes
        found.append((values, own, repeated, queries, notes))
    torch.save(found, Path(folder) / f"{rank}.pt")
    dist.destroy_process_group()


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port: int = server.getsockname()[1]
        return port


def test_two_processes_find_what_one_finds(tmp_path: Path) -> None:
    mp.spawn(worker, (free_port(), str(tmp_path)), nprocs=2)
    for rank in (0, 1):
        for shares, found in zip(SHARES.values(), torch.load(tmp_path / f"{rank}.pt"), strict=True):
            values, own, repeated, queries, notes = found
            assert values == expected()
            assert own == int(RELEVANT[shares[rank]].sum())
            assert repeated == sum(map(len, shares)) - NUM_QUERIES
            assert queries == tuple(map(str, range(NUM_QUERIES)))
            said = "1 query given more than once: counted once; the first process counts where scores differ (1)"
            assert notes == ((said,) if repeated else ())


def test_the_python_of_the_page_runs() -> None:
    run_page(DOCS / "training.md", {})
