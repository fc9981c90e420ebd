"""OrderedLoss and OrderedRankingLoss, with torch: `make torch-test` runs it.

It is not in the ordinary suite, whose environment lacks torch.
"""

# if torch is not installed, its classes have the type Any:
# mypy: disallow-subclassing-any=False

import copy
import math
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import learning_intents
import learning_losses
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

import naive
from lexirecall import evaluate, project_scores
from lexirecall.errors import DataError, LexirecallError, UsageError
from lexirecall.torch import OrderedLoss, OrderedRankingLoss
from lexirecall.torch.softpositions import log_soft_positions
from strategies import quick

DISCOUNTS = (0.0, 0.2, 0.5, 0.9, 1.0)
WIDE = torch.float64


def drawn(seed: int, *shape: int, dtype: torch.dtype = WIDE) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=WIDE).to(dtype)


def loss_of(scores: Any, relevant: Any, discount: float = 0.9, temperature: float = 1.0, **options: Any) -> float:
    given = {name: options.pop(name) for name in ("mask", "stands_for") if name in options}
    loss: float = OrderedLoss(discount, temperature, **options)(scores, relevant, **given).item()
    return loss


Batch = tuple[list[list[float]], list[set[int]], list[set[int]], list[list[float]]]


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    """Draw scores of some queries, their relevant documents, what is masked, and what documents stand for."""
    lengths = draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    values = st.sampled_from([-1e4, -30.0, -1.0, -0.25, 0.0, 0.0, 0.5, 2.0, 40.0, 1e4])
    scores = [draw(st.lists(values, min_size=n, max_size=n)) for n in lengths]
    relevant = [draw(st.sets(st.integers(0, n - 1))) for n in lengths]
    absent = [draw(st.sets(st.integers(0, n - 1))) - chosen for n, chosen in zip(lengths, relevant, strict=True)]
    numbers = st.sampled_from([0.0, 0.5, 1.0, 3.0, 1e9])
    return scores, relevant, absent, [draw(st.lists(numbers, min_size=n, max_size=n)) for n in lengths]


def twin(batch: Batch, discount: float, temperature: float, *, is_corrected: bool) -> list[float]:
    return [
        naive.ordered_loss_of_list(row, chosen, discount, temperature, gone, factors if is_corrected else None)
        for row, chosen, gone, factors in zip(*batch, strict=True)
    ]


def masks_of(batch: Batch) -> list[torch.Tensor]:
    return [torch.tensor([j not in gone for j in range(len(row))]) for row, _, gone, _ in zip(*batch, strict=True)]


settings_of_a_loss = (st.sampled_from(DISCOUNTS), st.sampled_from([0.05, 1.0, 7.0]), st.integers(1, 40))


@quick(100)
@given(batches(), *settings_of_a_loss, st.booleans(), st.sampled_from(["indices", "marks", "grades"]))
def test_rows_of_any_length_give_what_the_definition_gives(
    batch: Batch, discount: float, temperature: float, block: int, is_corrected: bool, form: str
) -> None:
    scores, relevant, _, factors = batch
    rows = [torch.tensor(row, dtype=WIDE) for row in scores]
    marks = [torch.tensor([j in chosen for j in range(len(row))]) for row, chosen in zip(scores, relevant, strict=True)]
    forms = {"indices": [sorted(chosen) for chosen in relevant], "marks": marks}
    forms["grades"] = [2.5 * row for row in marks]
    given = {"mask": masks_of(batch), "stands_for": [torch.tensor(row) for row in factors] if is_corrected else None}
    found = OrderedLoss(discount, temperature, reduction="none", block=block)(rows, forms[form], **given)
    expected = twin(batch, discount, temperature, is_corrected=is_corrected)
    assert found.tolist() == pytest.approx(expected, abs=1e-12)
    mean = math.fsum(expected) / max(sum(map(bool, relevant)), 1)  # a query without a relevant document has 0
    assert loss_of(rows, forms[form], discount, temperature, **given) == pytest.approx(mean, abs=1e-12)


@quick(100)
@given(batches(), *settings_of_a_loss, st.booleans(), st.sampled_from(["mask", "grades", "lists", "tensors", "numpy"]))
def test_a_table_gives_what_the_definition_gives(
    batch: Batch, discount: float, temperature: float, block: int, is_corrected: bool, form: str
) -> None:
    scores, relevant, _, factors = batch
    fill = torch.nn.utils.rnn.pad_sequence
    table, mask = fill([torch.tensor(row, dtype=WIDE) for row in scores], True), fill(masks_of(batch), True)
    table[~mask] = torch.nan  # what is masked is never looked at
    marks = torch.zeros_like(table, dtype=torch.bool)
    for row, chosen in zip(marks, relevant, strict=True):
        row[sorted(chosen)] = True
    lists = [sorted(chosen) for chosen in relevant]
    tensors = [torch.tensor(row, dtype=torch.int64) for row in lists]
    forms = {"mask": marks, "grades": 3 * marks.int(), "lists": lists, "tensors": tensors, "numpy": marks.numpy()}
    given = {"mask": mask, "stands_for": fill([torch.tensor(row) for row in factors], True) if is_corrected else None}
    found = OrderedLoss(discount, temperature, reduction="none", block=block)(table, forms[form], **given)
    expected = twin(batch, discount, temperature, is_corrected=is_corrected)
    assert found.tolist() == pytest.approx(expected, abs=1e-12)
    counting = [loss for loss, chosen in zip(expected, relevant, strict=True) if chosen]
    reduced = {
        way: loss_of(table, forms[form], discount, temperature, reduction=way, **given) for way in ("mean", "sum")
    }
    mean = math.fsum(counting) / max(len(counting), 1)
    assert reduced == {"mean": pytest.approx(mean, abs=1e-12), "sum": pytest.approx(sum(counting), abs=1e-12)}


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("block", [1, 5, 24, 2**20])
@pytest.mark.parametrize("is_corrected", [False, True])
def test_the_gradient_is_that_of_finite_differences(discount: float, block: int, is_corrected: bool) -> None:
    scores = drawn(3, 3, 8).requires_grad_()
    mask = torch.ones(3, 8, dtype=torch.bool)
    mask[0, 7] = False
    loss = OrderedLoss(discount, 0.7, block=block)
    stands_for = 5 * drawn(4, 3, 8).abs() if is_corrected else None
    relevant = [[0, 3, 5], [2], []]
    assert torch.autograd.gradcheck(lambda s: loss(s, relevant, mask=mask, stands_for=stands_for), scores)
    loss(scores, relevant, mask=mask, stands_for=stands_for).backward()
    assert scores.grad is not None
    assert scores.grad[0, 7] == 0  # masked
    assert not scores.grad[2].any()  # nothing relevant
    assert scores.grad.sum(dim=1).tolist() == pytest.approx([0, 0, 0], abs=1e-15)  # only differences count


def test_a_document_far_below_another_one_still_has_a_gradient() -> None:
    scores = torch.tensor([[-25.0, 0.0]], requires_grad=True)
    OrderedLoss()(scores, [[0]]).backward()
    assert scores.grad is not None
    assert scores.grad[0].tolist() == pytest.approx([-math.exp(-25) / 2, math.exp(-25) / 2], rel=1e-5)


@pytest.mark.parametrize(("dtype", "close"), [(torch.float32, 1e-5), (torch.bfloat16, 2e-2), (torch.float16, 2e-3)])
def test_any_precision_is_computed_in_float32_and_has_its_gradient_back(dtype: torch.dtype, close: float) -> None:
    exact, relevant = drawn(5, 6, 50).requires_grad_(), drawn(6, 6, 50) > 1
    narrow = exact.detach().to(dtype).requires_grad_()
    losses = [OrderedLoss(0.5)(scores, relevant) for scores in (exact, narrow)]
    for loss in losses:
        loss.backward()
    assert losses[1].dtype == torch.float32
    assert losses[1].item() == pytest.approx(losses[0].item(), rel=close)
    assert narrow.grad is not None
    assert exact.grad is not None
    assert narrow.grad.dtype == dtype
    assert torch.allclose(narrow.grad.double(), exact.grad, atol=close / 10)


def test_autocast_changes_only_what_the_model_computes() -> None:
    queries, documents = drawn(1, 4, 16, dtype=torch.float32), drawn(2, 30, 16, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        scores = queries @ documents.T
        loss = OrderedLoss()(scores, [[query] for query in range(4)])
    assert (scores.dtype, loss.dtype) == (torch.bfloat16, torch.float32)
    assert loss.item() == loss_of(scores, torch.eye(4, 30))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_nothing_overflows(dtype: torch.dtype) -> None:
    scores = torch.tensor([[1e4, -1e4, -1e4, 1e4, 0.0, -torch.inf]], dtype=dtype, requires_grad=True)
    loss = OrderedLoss(0.5, 1e-3)(scores, [[0, 1]], stands_for=1e9)
    loss.backward()
    # the last has one tie and two others above; the first one has one tie
    expected = (2 * math.log(1 + 2.5e9) + math.log(1 + 0.5e9)) / 3
    assert loss.item() == pytest.approx(expected, rel=1e-6)
    assert scores.grad is not None
    assert torch.isfinite(scores.grad).all()


def test_queries_without_relevant_documents_do_not_count() -> None:
    scores = drawn(7, 3, 5).requires_grad_()
    only = OrderedLoss()(scores[1], [2])
    assert OrderedLoss()(scores, [[], [2], []]).item() == pytest.approx(only.item())
    nothing = OrderedLoss()(scores, torch.zeros(3, 5))
    nothing.backward()
    assert nothing.item() == 0
    assert scores.grad is not None
    assert not scores.grad.any()
    assert OrderedLoss(reduction="none")(scores, [[], [2], []]).tolist() == [0, pytest.approx(only.item()), 0]
    assert loss_of(scores, torch.ones(3, 5)) == 0  # and where all are relevant, there is nothing above


@quick(100)
@given(st.lists(st.floats(-5, 5), min_size=2, max_size=20, unique=True), st.data(), st.sampled_from(DISCOUNTS))
def test_in_the_limit_it_is_the_log_of_hard_positions(
    values: list[float], data: st.DataObject, discount: float
) -> None:
    """The i-th relevant document at position p_i has p_i - (i - 1) - 1 others above it."""
    relevant = sorted(data.draw(st.sets(st.integers(0, len(values) - 1), min_size=1)))
    ranks = np.argsort(np.argsort(values)).astype(float)  # differences of at least 1
    positions = project_scores(ranks[None], [relevant]).found.positions
    hard = np.log(positions - np.arange(len(positions)))[::-1]
    weights = discount ** np.arange(len(hard))
    found = loss_of(torch.from_numpy(ranks), relevant, discount, temperature=1e-3)
    assert found == pytest.approx(float(weights @ hard / weights.sum()), abs=1e-12)


@quick(50)
@given(st.permutations(range(12)), st.permutations(range(4)), st.sampled_from(DISCOUNTS))
def test_the_order_of_documents_and_of_queries_does_not_matter(
    documents: list[int], queries: list[int], discount: float
) -> None:
    scores, relevant = drawn(8, 4, 12), drawn(9, 4, 12) > 0.5
    found = loss_of(scores[queries][:, documents], relevant[queries][:, documents], discount)
    assert found == pytest.approx(loss_of(scores, relevant, discount), rel=1e-12)


@quick(100)
@given(st.integers(0, 1000), st.integers(0, 3), st.floats(0, 50), st.sampled_from(DISCOUNTS))
def test_moving_a_relevant_document_up_never_raises_the_loss(seed: int, which: int, by: float, discount: float) -> None:
    scores = drawn(seed, 12)
    raised = scores.clone()
    raised[which] += by
    relevant = [0, 1, 2, 3]
    assert loss_of(raised, relevant, discount) <= loss_of(scores, relevant, discount) + 1e-12


def test_the_lower_the_discount_the_more_the_last_document_counts() -> None:
    scores = torch.tensor([4.0, 1.0, 0.0, 3.0, 2.0, 0.5], dtype=WIDE)
    losses = [loss_of(scores, [0, 2], discount) for discount in DISCOUNTS]
    assert losses == sorted(losses, reverse=True)
    last, first = (math.log(naive.soft_position(own, (1, 3, 2, 0.5), [1] * 4, 1)) for own in (0, 4))
    assert [losses[0], losses[-1]] == pytest.approx([last, (last + first) / 2])


@pytest.mark.parametrize("discount", DISCOUNTS)
def test_equal_scores_put_every_relevant_document_in_the_middle(discount: float) -> None:
    """So a model that cannot do better for the last ones is tempted to score all documents alike."""
    assert loss_of(torch.zeros(12, dtype=WIDE), [0, 1, 2], discount) == pytest.approx(math.log(1 + 9 / 2))


class Largest(TorchDispatchMode):
    """Remember the most elements of a tensor that was made; views of those that were there are left out."""

    def __init__(self) -> None:
        super().__init__()
        self.elements = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = function(*args, **(kwargs or {}))
        were = {each.untyped_storage().data_ptr() for each in args if isinstance(each, torch.Tensor)}
        for each in made if isinstance(made, (tuple, list)) else (made,):
            if isinstance(each, torch.Tensor) and each.untyped_storage().data_ptr() not in were:
                self.elements = max(self.elements, each.numel())
        return made


@contextmanager
def largest() -> Iterator[Largest]:
    with torch.autograd.set_multithreading_enabled(False), Largest() as seen:
        yield seen


@pytest.mark.parametrize("block", [1000, 4000, 2**20])
def test_memory_follows_the_block_in_both_directions(block: int) -> None:
    others = drawn(1, 2, 1500, dtype=torch.float32).requires_grad_()
    own, owners = drawn(2, 200, dtype=torch.float32).requires_grad_(), torch.arange(2).repeat_interleave(100)
    with largest() as forward:
        logs = log_soft_positions(others, own, owners, None, 1.0, block)
    with largest() as backward:
        logs.sum().backward()
    pairs = 200 * 1500
    assert forward.elements == max(min(block - block % 1500 or block, pairs), len(own))
    assert backward.elements == max(min(block - block % 1500 or block, pairs), others.numel())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_memory_of_a_gpu_follows_the_block() -> None:
    peaks = []
    for block in (2**20, 2**22):
        scores = torch.randn(64, 200_000, device="cuda", requires_grad=True)
        relevant = [range(50)] * 64
        OrderedLoss(block=block)(scores, relevant).backward()
        scores.grad = None
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        OrderedLoss(block=block)(scores, relevant).backward()
        peaks.append(torch.cuda.max_memory_allocated() - before)
        del scores
    table = 4 * 64 * 200_000
    assert peaks[1] - peaks[0] < 6 * 4 * 2**22  # a few tensors of a block
    assert peaks[1] < 6 * table + 6 * 4 * 2**22  # where all pairs would be 50 tables


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_gpu_gives_what_the_cpu_gives_and_need_not_be_waited_for() -> None:
    scores = drawn(1, 8, 300)
    relevant = [[query, query + 9, 250] for query in range(8)]
    there = scores.cuda().requires_grad_()
    columns = [torch.tensor(row, device="cuda") for row in relevant]
    torch.cuda.set_sync_debug_mode("error")
    try:
        loss = OrderedLoss(check=False)(there, columns)
        loss.backward()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    here = scores.clone().requires_grad_()
    expected = OrderedLoss()(here, relevant)
    expected.backward()
    assert loss.item() == pytest.approx(expected.item(), rel=1e-12)
    assert there.grad is not None
    assert here.grad is not None
    assert torch.allclose(there.grad.cpu(), here.grad, atol=1e-14)
    assert OrderedLoss()(there, torch.tensor([[0, 1, 250]] * 8).numpy().tolist()).isfinite()


def sampled_sums(way: str, samples: int) -> tuple[torch.Tensor, float, torch.Tensor]:
    """Return the soft positions in many samples, the one among all documents, and the losses in the samples."""
    generator, size, total = torch.Generator().manual_seed(11), 40, 500
    scores, own = drawn(12, total), torch.tensor([0.5], dtype=WIDE)
    chances = torch.softmax(0.5 * drawn(13, total), dim=0)
    if way == "uniform":
        chosen = torch.stack([torch.randperm(total, generator=generator)[:size] for _ in range(samples)])
        stands_for = torch.full((samples, size), total / size, dtype=WIDE)
    else:
        chosen = torch.multinomial(chances.expand(samples, -1), size, replacement=True, generator=generator)
        stands_for = 1 / (size * chances[chosen])
    table = torch.cat([own.expand(samples, 1), scores[chosen]], dim=1)
    counts = torch.cat([torch.full((samples, 1), 7.0, dtype=WIDE), stands_for], dim=1)  # the 7 is never used
    losses = OrderedLoss(reduction="none")(table, torch.zeros(samples, dtype=torch.int64), stands_for=counts)
    whole = loss_of(torch.cat([own, scores]), [0])
    return losses.exp(), math.exp(whole), losses


@pytest.mark.parametrize("way", ["uniform", "with replacement"])
def test_sampled_documents_give_the_right_position_on_average(way: str) -> None:
    positions, whole, losses = sampled_sums(way, 4000)
    error = positions.std().item() / math.sqrt(len(positions))
    assert abs(positions.mean().item() - whole) < 4 * error
    assert losses.mean().item() < math.log(whole)  # the log is concave, so that the loss is too low on average


def test_a_correction_may_be_given_for_all_for_each_document_or_for_each_pair() -> None:
    scores, relevant = drawn(1, 3, 6), [[0], [1], [2, 3]]
    expected = loss_of(scores, relevant, stands_for=torch.full((3, 6), 4.0))
    assert loss_of(scores, relevant, stands_for=4) == loss_of(scores, relevant, stands_for=4.0) == expected
    assert loss_of(scores, relevant, stands_for=torch.full((6,), 4)) == expected
    assert loss_of(scores, relevant, stands_for=np.full((3, 6), 4.0)) == expected
    assert loss_of([*scores], relevant, stands_for=4) == pytest.approx(expected)
    assert loss_of(scores[2], [2, 3], stands_for=torch.full((6,), 4)) == pytest.approx(
        loss_of(scores[2:], [[2, 3]], stands_for=4)
    )


def test_one_positive_each_may_be_given_by_its_index() -> None:
    scores = drawn(1, 4, 9)
    expected = loss_of(scores, torch.eye(4, 9))
    for relevant in (torch.arange(4), range(4), [[0], [1], [2], [3]], [{0}, {1}, {2}, {3}], np.arange(4)):
        assert loss_of(scores, relevant) == expected


def test_scores_may_lie_in_memory_in_any_way() -> None:
    scores, relevant = drawn(1, 4, 9), [[0, 2], [1], [], [8]]
    for same in (scores.T.contiguous().T, torch.cat([scores, scores], dim=1)[:, :9]):
        assert loss_of(same, relevant) == pytest.approx(loss_of(scores, relevant), rel=1e-12)
    one = drawn(2, 9)
    assert loss_of(one.expand(3, 9), [[1], [1], [1]]) == pytest.approx(loss_of(one, [1]), rel=1e-12)


SCORES = drawn(1, 2, 3)
NAN, INF, LOW = (torch.tensor([[0.0, 1.0, 2.0], [0.0, value, 2.0]]) for value in (math.nan, math.inf, -math.inf))
HIDDEN = torch.tensor([[True, True, True], [True, False, True]])
BAD: dict[str, tuple[Any, ...]] = {
    "query 1, document 1: the score is NaN or inf": (NAN, [[0], [0]]),
    "query 1, document 1: the score is NaN": (INF, [[0], [0]]),
    "query 1, document 1: the score of a relevant document is -inf": (LOW, [[0], [1]]),
    "query 1, document 1: a relevant document is masked": (SCORES, [[0], [1]], HIDDEN),
    "query 0, document 2: stands_for is negative": (SCORES, [[0], [1]], None, torch.tensor([1.0, 1.0, -1.0])),
    "a relevant document is listed twice": (SCORES, [[0, 0], [1]]),
    r"relevant has \[3\] for query 1, which has 3 documents": (SCORES, [[0], [3]]),
    r"relevant has \[-1\] for query 0": (SCORES, [[-1], [1]]),
    r"relevant has \[\[0\]\] for query 0": (SCORES, [[[0]], [1]]),
    "relevant has 'a' for a query": (SCORES, ["a", "b"]),
    r"relevant has the shape \[2, 2\], but the scores have the shape \[2, 3\]": (SCORES, torch.ones(2, 2)),
    "relevant has 1 row, but the scores have 2 queries": (SCORES, [[0]]),
    "relevant has the type int, but": (SCORES, 3),
    r"mask has the shape \[2\], but the scores have the shape \[2, 3\]": (SCORES, [[0], [1]], torch.ones(2)),
    "stands_for has the type str": (SCORES, [[0], [1]], None, "many"),
    r"the scores have the shape \[0, 3\]": (SCORES[:0], []),
    r"the scores have the shape \[2, 0\]": (SCORES[:, :0], [[], []]),
    r"the scores have the shape \[1, 2, 3\]": (SCORES[None], [[0], [1]]),
    "and the type torch.int64": (SCORES.long(), [[0], [1]]),
    "the batch is empty": ([], []),
    "scores has the type ndarray and the shape": (SCORES.numpy(), [[0], [1]]),
    "the scores of query 1 have the type list": ([SCORES[0], [1.0]], [[0], [1]]),
    r"the scores of query 1 have the shape \[0\]": ([SCORES[0], SCORES[0, :0]], [[0], []]),
    "query 1, document 2: a relevant document is masked, or is not among": ([SCORES[0], SCORES[1, :2]], [[0], [2]]),
    r"mask of query 1 has the shape \[2\]": ([*SCORES], [[0], [1]], [torch.ones(3), torch.ones(2)]),
    "mask has the type Tensor": ([*SCORES], [[0], [1]], HIDDEN),
    "mask has 1 row, but the scores have 2 queries": ([*SCORES], [[0], [1]], [torch.ones(3)]),
}


@pytest.mark.parametrize("message", BAD)
def test_a_bad_batch_is_refused_with_its_place(message: str) -> None:
    scores, relevant, mask, stands_for = (*BAD[message], None, None)[:4]
    with pytest.raises((DataError, UsageError), match=message) as caught:
        OrderedLoss()(scores, relevant, mask=mask, stands_for=stands_for)
    assert caught.value.remedy


def test_without_the_check_a_nan_is_a_nan() -> None:
    assert math.isnan(loss_of(NAN, [[0], [0]], check=False))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"discount": -0.1}, ["discount is -0.1"]),
        ({"discount": math.nan, "temperature": 0, "block": 0}, ["discount is nan", "temperature is 0", "block is 0"]),
        ({"temperature": math.inf}, ["temperature is inf"]),
        ({"reduction": "median"}, ["reduction is 'median', but must be one of mean, sum, none"]),
    ],
)
def test_bad_settings_are_refused_all_at_once(settings: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        OrderedLoss(**settings)
    assert all(word in str(caught.value) for word in words)


def test_it_is_a_module_like_others() -> None:
    loss = OrderedLoss(0.5, 0.1, reduction="sum", block=7)
    scores = drawn(1, 3, 6)
    for copied in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss)), loss.double().cpu()):  # noqa: S301
        assert copied(scores, torch.eye(3, 6)).item() == loss(scores, torch.eye(3, 6)).item()
    assert loss.state_dict() == {}
    assert str(loss) == "OrderedLoss(discount=0.5, temperature=0.1, reduction='sum')"


@pytest.mark.parametrize("discount", DISCOUNTS)
def test_a_model_learns_to_find_everything(discount: float) -> None:
    documents, queries = drawn(1, 200, 16), drawn(2, 20, 16)
    relevant = (queries @ drawn(3, 16, 16) @ documents.T).topk(5).indices
    model = torch.zeros(16, 16, dtype=WIDE, requires_grad=True)
    optimizer = torch.optim.Adam([model], lr=0.05)
    for _ in range(600):
        optimizer.zero_grad()
        OrderedLoss(discount)(queries @ model @ documents.T, [*relevant]).backward()
        optimizer.step()
    positions = project_scores((queries @ model @ documents.T).detach().numpy(), [*relevant.numpy()])
    assert evaluate(positions, measures=["All@5"]).means[0, 0] == 1


class Words(torch.nn.Module):
    """A model of texts: the mean of a vector for each token."""

    def __init__(self) -> None:
        super().__init__()
        self.vectors = torch.nn.Embedding.from_pretrained(drawn(5, 50, 8, dtype=torch.float32), freeze=False)

    def forward(self, features: dict[str, Any]) -> dict[str, Any]:
        mask = features["attention_mask"][..., None]
        features["sentence_embedding"] = (self.vectors(features["input_ids"]) * mask).sum(dim=1) / mask.sum(dim=1)
        return features


def texts(*rows: list[int], width: int = 4) -> dict[str, torch.Tensor]:
    """Return what a tokenizer gives; columns are filled up to different widths."""
    ids = torch.tensor([row + [49] * (width - len(row)) for row in rows])
    return {"input_ids": ids, "attention_mask": torch.tensor([[1] * len(r) + [0] * (width - len(r)) for r in rows])}


def cosines(model: Words, queries: list[list[int]], documents: list[list[int]]) -> torch.Tensor:
    one, other = (
        torch.nn.functional.normalize(torch.stack([model.vectors.weight[row].mean(dim=0) for row in rows]))
        for rows in (queries, documents)
    )
    return one @ other.T


def test_texts_that_are_equal_are_one_text() -> None:
    model = Words()
    anchors, positives, negatives = [[1], [2], [1]], [[10, 11], [12], [13]], [[14], [10, 11], [15]]
    loss = OrderedRankingLoss(model, 0.5, 0.1)([texts(*anchors), texts(*positives), texts(*negatives, width=6)], None)
    scores = cosines(model, [[1], [2]], [[10, 11], [12], [13], [14], [15]])
    assert loss.item() == pytest.approx(loss_of(scores, [[0, 2], [1]], 0.5, 0.1), rel=1e-5)
    loss.backward()
    assert model.vectors.weight.grad is not None
    assert not model.vectors.weight.grad[49].any()


@pytest.mark.parametrize("labels", [torch.tensor([[1, 1], [0, 1]]), [[2.5, 1], [0, 3]]])
def test_labels_mark_several_relevant_documents_of_a_row(labels: Any) -> None:
    model = Words()
    columns = [texts([1], [2]), texts([10], [11]), texts([12], [13])]
    found = OrderedRankingLoss(model, 0.5, 0.1)(columns, labels)
    scores = cosines(model, [[1], [2]], [[10], [11], [12], [13]])
    assert found.item() == pytest.approx(loss_of(scores, [[0, 2], [3]], 0.5, 0.1), rel=1e-5)


def test_a_label_of_a_pair_says_whether_it_is_relevant() -> None:
    model = Words()
    columns = [texts([1], [1], [2]), texts([10], [11], [12])]
    scores = cosines(model, [[1], [2]], [[10], [11], [12]])
    for labels, relevant in ((torch.tensor([1, 0, 1]), [[0], [2]]), (torch.tensor([]), [[0, 1], [2]])):
        found = OrderedRankingLoss(model, 0.5, 0.1)(columns, labels)
        assert found.item() == pytest.approx(loss_of(scores, relevant, 0.5, 0.1), rel=1e-5)


@pytest.mark.parametrize("similarity", ["dot", "l2", lambda one, other: one @ other.T])
def test_the_similarity_may_be_another_one(similarity: Any) -> None:
    model = Words()
    one, other = model.vectors.weight[[1, 2]], model.vectors.weight[[10, 11]]
    scores = -torch.cdist(one, other) if similarity == "l2" else one @ other.T
    found = OrderedRankingLoss(model, similarity=similarity)([texts([1], [2]), texts([10], [11])])
    assert found.item() == pytest.approx(loss_of(scores, [0, 1], 0.9, 0.05), rel=1e-5)


def test_inputs_with_more_than_tokens_are_all_different() -> None:
    model = Words()
    images = {"pixel_values": torch.ones(2, 3)}
    found = OrderedRankingLoss(model)([texts([1], [2]), texts([10], [10]) | images])
    assert found.item() == pytest.approx(loss_of(cosines(model, [[1], [2]], [[10], [10]]), [0, 1], 0.9, 0.05), rel=1e-5)


def test_texts_one_after_another_are_compared_too() -> None:
    bag = torch.nn.EmbeddingBag.from_pretrained(drawn(5, 50, 8, dtype=torch.float32), mode="mean")

    def model(features: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return {"sentence_embedding": bag(features["input_ids"], features["offsets"])}

    anchors = {"input_ids": torch.tensor([1, 2]), "offsets": torch.tensor([0, 1])}
    documents = {"input_ids": torch.tensor([10, 11, 10, 11]), "offsets": torch.tensor([0, 2])}
    assert OrderedRankingLoss(model)([anchors, documents]).item() == 0  # one document, which is relevant to both


def test_bad_batches_of_texts_are_refused() -> None:
    with pytest.raises(UsageError, match="1 column of texts"):
        OrderedRankingLoss(Words())([texts([1])])
    with pytest.raises(UsageError, match=r"labels have the shape \[2\], but the texts \[2, 2\] documents"):
        OrderedRankingLoss(Words())([texts([1], [2]), texts([3], [4]), texts([5], [6])], torch.tensor([1, 0]))
    with pytest.raises(LexirecallError, match="similarity is 'manhattan', but must be one of cosine, dot, l2"):
        OrderedRankingLoss(Words(), similarity="manhattan")


def test_settings_are_on_the_model_card_and_copies_learn_too() -> None:
    loss = OrderedRankingLoss(Words(), 0.5, similarity="dot")
    assert loss.get_config_dict() == {"discount": 0.5, "temperature": 0.05, "similarity": "dot"}
    copied = pickle.loads(pickle.dumps(loss))  # noqa: S301
    assert len([*copied.parameters()]) == 1


def hard_ndcg(scores: torch.Tensor, relevant: torch.Tensor) -> float:
    gains = relevant[scores.argsort(descending=True)] / torch.log2(2.0 + torch.arange(len(scores)))
    best = (1 / torch.log2(2.0 + torch.arange(int(relevant.sum())))).sum()
    return float(gains.sum() / best)


def test_losses_that_it_is_measured_against_are_what_their_papers_say() -> None:
    scores, relevant = torch.tensor([[2.0, 0.5, 1.0, -1.0]]), torch.tensor([[True, False, False, True]])
    logs = scores[0].log_softmax(dim=0)
    assert learning_losses.softmax(scores, relevant).item() == pytest.approx(-(logs[0] + logs[3]).item() / 2)
    pairs = {(i, j): math.log1p(math.exp(scores[0, j] - scores[0, i])) for i in (0, 3) for j in (1, 2)}
    assert learning_losses.ranknet(scores, relevant).item() == pytest.approx(sum(pairs.values()) / 4)
    changed = 0.0
    for (i, j), loss in pairs.items():
        exchanged = scores[0].clone()
        exchanged[[i, j]] = scores[0, [j, i]]
        changed += loss * abs(hard_ndcg(exchanged, relevant[0]) - hard_ndcg(scores[0], relevant[0]))
    assert learning_losses.lambdarank(scores, relevant).item() == pytest.approx(changed, rel=1e-5)
    sharp = learning_losses.approx_ndcg(scores, relevant, temperature=1e-3).item()
    assert sharp == pytest.approx(1 - hard_ndcg(scores[0], relevant[0]), rel=1e-5)


def test_the_trial_of_losses_compares_them_with_softmax() -> None:
    losses = {name: learning_losses.LOSSES[name] for name in ("softmax", "ordered 0.5", "scaled 0.2")}
    rows = learning_intents.run(1, losses, num_queries=60, steps=60)
    assert [(row.loss, row.seed) for row in rows] == [(name, 1) for name in losses]
    assert rows[0].lexirecall == 0
    assert all(-1 <= row.lexirecall <= 1 and 0 < row.values["AP"] < 1 for row in rows)
    assert learning_intents.table(rows).count("\n") == 3
