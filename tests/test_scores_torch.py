"""Scores of torch: those in the memory of the host are counted like numpy's, others where they are."""

from typing import Any

import numpy as np
import pytest

from lexirecall import project_scores
from lexirecall.errors import DataError, UsageError
from lexirecall.formats import arrays, rowcounts
from test_scores import contents

torch = pytest.importorskip("torch")
pytest.importorskip("array_api_compat")

RNG = np.random.default_rng(6)
SCORES = RNG.integers(0, 40, (12, 60)) / 8  # exact in bfloat16, and with ties
RELEVANT = RNG.random((12, 60)) < 0.1
EXCLUDE = ~RELEVANT & (RNG.random((12, 60)) < 0.2)
TIES = ("trec", "input", "worst", "best", "expected")


@pytest.fixture
def everything_is_on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no tensor become an array of numpy, as if all were on a GPU."""

    def refused(*_: Any) -> Any:
        raise BufferError("on a device")

    monkeypatch.setattr(np, "from_dlpack", refused)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64])
@pytest.mark.usefixtures("everything_is_on_a_device")
def test_tensors_are_counted_on_their_device(dtype: Any, ties: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rowcounts, "ROOM", 60 * 16 * 5)
    scores = torch.tensor(SCORES).to(dtype)
    expected = project_scores(scores.to(torch.float64).numpy(), RELEVANT, exclude=EXCLUDE, ties=ties)
    found = project_scores(scores, torch.tensor(RELEVANT), exclude=torch.tensor(EXCLUDE), ties=ties)
    assert list(contents(found)) == list(contents(expected))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_tensors_of_the_host_are_counted_like_arrays(dtype: Any) -> None:
    scores = torch.tensor(SCORES).to(dtype).requires_grad_()
    expected = project_scores(SCORES, RELEVANT)
    assert list(contents(project_scores(scores, torch.tensor(RELEVANT)))) == list(contents(expected))
    lists = [torch.tensor(np.flatnonzero(row)) for row in RELEVANT]
    assert list(contents(project_scores(scores, lists))) == list(contents(expected))
    assert (arrays.array_of(scores, "scores")[1] is np) == (dtype != torch.bfloat16)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.usefixtures("everything_is_on_a_device")
def test_nan_on_a_device_is_refused_with_its_place(dtype: Any) -> None:
    scores = torch.tensor(SCORES).to(dtype)
    scores[3, 5] = float("nan")
    with pytest.raises(DataError, match="query '3', document '5': the score is NaN"):
        project_scores(scores, [0] * 12)
    exclude: list[list[int]] = [[5] if q == 3 else [] for q in range(12)]
    assert project_scores(scores, [0] * 12, exclude=exclude).corpus_size is not None


@pytest.mark.usefixtures("everything_is_on_a_device")
def test_grades_on_a_device_are_taken() -> None:
    grades = torch.tensor([[0.0, 2.0, 1.0]])
    positions = project_scores(torch.tensor([[0.3, 0.2, 0.1]]), grades.to(torch.bfloat16))
    assert positions.judgments.grades.tolist() == [2.0, 1.0]
    assert positions.found.positions.tolist() == [2, 3]


@pytest.mark.usefixtures("everything_is_on_a_device")
def test_only_counts_and_marks_leave_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[int] = []

    def counting(array: Any) -> Any:
        copied.append(array.numel())
        return array.detach().cpu().numpy()

    monkeypatch.setattr(rowcounts, "on_host", counting)
    project_scores(torch.tensor(SCORES), RELEVANT, exclude=EXCLUDE, ties="trec")
    num_marked = int(RELEVANT.sum())
    assert copied
    assert max(copied) <= num_marked
    assert sum(copied) <= 3 * num_marked + len(SCORES)  # above, tied and before; for each row the NaN


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2, torch.uint8, torch.bool])
def test_types_of_a_byte_are_compared(dtype: Any) -> None:
    scores = torch.tensor([[1.0, 0.0, 1.0]]).to(dtype)
    assert project_scores(scores, [[0, 1]]).found.positions.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("scores", "text"),
    [
        (torch.eye(2).to_sparse(), "the tensor is sparse_coo, but must be dense"),
        (torch.eye(2, device="meta"), "the tensor is on the device 'meta'"),
    ],
)
def test_tensors_without_a_value_in_each_cell_are_refused(scores: Any, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        project_scores(scores, [0, 1])
    with pytest.raises(UsageError, match=text):
        project_scores(torch.eye(2), scores)


def test_query_ids_of_torch_are_numbers() -> None:
    positions = project_scores(torch.eye(2), [0, 1], query_ids=torch.tensor([7, 8]), document_ids=torch.tensor([3, 4]))
    assert (positions.queries, positions.judgments.query_type) == (("7", "8"), "int64")
