"""Score tables: the documents of each query in a batch, as training loops give them.

Belongs here: the forms of scores, relevant documents, masks and corrections, and what is wrong with them. Not here: the
loss (orderedloss).
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any

from lexirecall.errors import DataError, UsageError, counted
from lexirecall.torch.tensors import Tensor, torch, widened

SCORES_SHAPE = "give a tensor [queries, documents], a tensor for each query, or a tensor [documents] for a single one"
RELEVANT_SHAPE = (
    "give a mask or grades in the shape of the scores, or for each query a list or a tensor of the indices of its "
    "relevant documents; in a list, whole numbers are indices, and grades are floats"
)


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Queries whose documents are in one table, [Q, n]; a row that is shorter than others is filled up."""

    numbers: Sequence[int]
    """Which queries of the batch they are."""
    others: Tensor
    """Scores of documents that are not relevant, [Q, n]; -inf where there is none."""
    relevant: Tensor
    """Scores of relevant documents, [R]."""
    owners: Tensor
    """The row of each relevant document, [R]."""
    stands_for: Tensor | None
    """How many documents each of the others stands for, [Q, n]; None: each for itself."""


def score_tables(
    scores: Any, relevant: Any, mask: Any = None, stands_for: Any = None, *, check: bool = True
) -> Iterator[ScoreTable]:
    """Take a batch in any of its forms; `check` looks at every value, and waits for the device once.

    Rows of different lengths make several tables, each with rows of about the same length, so that filling them up
    never doubles the memory.

    >>> (only,) = score_tables(torch.tensor([[0.5, 0.25, 0.75]]), [[2, 0]])
    >>> only.relevant.tolist(), only.others.tolist()
    ([0.75, 0.5], [[-inf, 0.25, -inf]])
    """
    if isinstance(scores, torch.Tensor) and scores.ndim == 1:
        scores, relevant, mask = scores[None], _one_row(relevant, scores), _one_row(mask, scores)
        stands_for = stands_for[None] if getattr(stands_for, "ndim", 0) == 1 else stands_for
    if isinstance(scores, torch.Tensor):
        yield _table(scores, relevant, mask, stands_for, range(len(scores)), check=check)
    else:
        yield from _tables(scores, relevant, mask, stands_for, check=check)


def _one_row(argument: Any, scores: Tensor) -> Any:
    """Return what is given for a single query as for a batch of one."""
    if argument is None:
        return None
    return argument[None] if getattr(argument, "shape", None) == scores.shape else [argument]


def _tables(scores: Any, relevant: Any, mask: Any, stands_for: Any, *, check: bool) -> Iterator[ScoreTable]:
    """Make tables of rows whose lengths differ by less than a factor of 2."""
    rows = _rows("scores", scores, None, SCORES_SHAPE)
    for number, row in enumerate(rows):
        if not isinstance(row, torch.Tensor) or row.ndim != 1 or not len(row):
            what = f"the shape {list(row.shape)}" if isinstance(row, torch.Tensor) else f"the type {type(row).__name__}"
            raise UsageError(f"the scores of query {number} have {what}", remedy=SCORES_SHAPE)
    lengths = [len(row) for row in rows]
    marked = _rows("relevant", relevant, lengths, RELEVANT_SHAPE)
    masks = [torch.ones_like(row, dtype=torch.bool) for row in rows] if mask is None else _rows("mask", mask, lengths)
    is_number = stands_for is None or isinstance(stands_for, (int, float)) or getattr(stands_for, "ndim", 1) == 0
    factors = None if is_number else _rows("stands_for", stands_for, lengths)
    for size in sorted({length.bit_length() for length in lengths}):
        numbers = [number for number, length in enumerate(lengths) if length.bit_length() == size]
        yield _table(
            _filled("scores", [widened(rows[n]) for n in numbers], numbers, rows),
            _filled_marks([marked[n] for n in numbers], numbers, rows),
            _filled("mask", [masks[n] for n in numbers], numbers, rows),
            stands_for if factors is None else _filled("stands_for", [factors[n] for n in numbers], numbers, rows),
            numbers,
            check=check,
        )


def _rows(name: str, argument: Any, lengths: list[int] | None, remedy: str = "") -> list[Any]:
    """Return what is given for each query; raise unless there is something for each."""
    remedy = remedy or f"the scores are a tensor for each query, so give {name} alike"
    if not isinstance(argument, Sequence) or isinstance(argument, (str, bytes)):
        shape = f" and the shape {list(argument.shape)}" if hasattr(argument, "shape") else ""
        raise UsageError(f"{name} has the type {type(argument).__name__}{shape}", remedy=remedy)
    if lengths is None and not argument:
        raise UsageError("the batch is empty", remedy="give the scores of at least one query")
    if lengths is not None and len(argument) != len(lengths):
        problem = f"{name} has {counted(len(argument), 'row')}, but the scores have {counted(len(lengths), 'query')}"
        raise UsageError(problem, remedy=remedy)
    return list(argument)


def _filled(name: str, parts: list[Any], numbers: list[int], rows: list[Tensor]) -> Tensor:
    """Return rows of one table; raise if one of them has another length than its scores."""
    tensors = [torch.as_tensor(part, device=rows[number].device) for part, number in zip(parts, numbers, strict=True)]
    for tensor, number in zip(tensors, numbers, strict=True):
        if tensor.shape != rows[number].shape:
            problem = f"{name} of query {number} has the shape {list(tensor.shape)}"
            raise UsageError(problem, remedy=f"its scores have the shape {list(rows[number].shape)}: give one each")
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True)


def _filled_marks(parts: list[Any], numbers: list[int], rows: list[Tensor]) -> Any:
    return _filled("relevant", parts, numbers, rows) if all(map(_is_marks, parts)) else parts


def _table(
    scores: Tensor, relevant: Any, mask: Any, stands_for: Any, numbers: Sequence[int], *, check: bool
) -> ScoreTable:
    if scores.ndim != 2 or 0 in scores.shape or not scores.is_floating_point():
        problem = f"the scores have the shape {list(scores.shape)} and the type {scores.dtype}"
        raise UsageError(problem, remedy=f"{SCORES_SHAPE}, of floating-point numbers, with at least one of each")
    values = widened(scores)
    owners, columns, is_relevant = _relevant(relevant, values, numbers)
    is_there = None if mask is None else _like(mask, values, "mask").to(torch.bool)
    factors = None if stands_for is None else _like(stands_for, values, "stands_for").to(values.dtype)
    if check:
        _check_values(values, columns, is_relevant, is_there, factors, numbers)
    is_other = ~is_relevant if is_there is None else is_there & ~is_relevant
    others = torch.where(is_other, values, -torch.inf)
    return ScoreTable(numbers, others, values[owners, columns], owners, factors)


def _like(values: Any, scores: Tensor, name: str) -> Tensor:
    """Return what is given in the shape of the scores: a number for all, one for each document, or for each pair."""
    try:
        tensor = torch.as_tensor(values, device=scores.device)
        return torch.broadcast_to(tensor, scores.shape)
    except (TypeError, ValueError, RuntimeError):
        shape = f"shape {list(values.shape)}" if hasattr(values, "shape") else f"type {type(values).__name__}"
        problem = f"{name} has the {shape}, but the scores have the shape {list(scores.shape)}"
        raise UsageError(problem, remedy="give one for each document, or for each query and document") from None


def _is_marks(row: Any) -> bool:
    """Tell whether a row says of each document whether it is relevant; otherwise it lists indices."""
    tensor = _tensor_of(row)
    return bool(tensor.numel()) and (tensor.dtype == torch.bool or tensor.is_floating_point())


def _tensor_of(row: Any) -> Tensor:
    try:
        return torch.as_tensor(sorted(row) if isinstance(row, Set) else row)
    except (TypeError, ValueError, RuntimeError):
        raise UsageError(f"relevant has {row!r} for a query", remedy=RELEVANT_SHAPE) from None


def _relevant(relevant: Any, scores: Tensor, numbers: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
    """Return the rows and the columns of the relevant documents, [R] each, and the same as a mask, [Q, n]."""
    if hasattr(relevant, "__array__"):
        relevant = _tensor_of(relevant)
    is_tensor = isinstance(relevant, torch.Tensor)
    if is_tensor and relevant.shape == scores.shape:
        return _of_marks(relevant.to(scores.device))
    if (is_tensor and relevant.shape != (len(scores),)) or not isinstance(relevant, (Sequence, torch.Tensor)):
        shape = f"shape {list(relevant.shape)}" if is_tensor else f"type {type(relevant).__name__}"
        problem = f"relevant has the {shape}, but the scores have the shape {list(scores.shape)}"
        raise UsageError(problem, remedy=RELEVANT_SHAPE)
    if len(relevant) != len(scores):
        problem = f"relevant has {counted(len(relevant), 'row')}, but the scores have {counted(len(scores), 'query')}"
        raise UsageError(problem, remedy=RELEVANT_SHAPE)
    rows = [_tensor_of(row) for row in relevant]
    if all(map(_is_marks, rows)):
        return _of_marks(torch.stack([_like(row, scores[0], "relevant") for row in rows]).to(scores.device))
    return _of_indices(rows, scores, numbers)


def _of_marks(marks: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    is_relevant = marks > 0
    owners, columns = is_relevant.nonzero(as_tuple=True)
    return owners, columns, is_relevant


def _of_indices(rows: list[Tensor], scores: Tensor, numbers: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
    for row, number in zip(rows, numbers, strict=True):
        # Looking at indices on an accelerator would make the host wait for it.
        if row.ndim > 1 or _is_marks(row) or (row.device.type == "cpu" and _is_outside(row, scores.shape[1])):
            raise UsageError(
                f"relevant has {row.tolist()} for query {number}, which has {counted(scores.shape[1], 'document')}",
                remedy=RELEVANT_SHAPE,
            )
    lengths = torch.tensor([row.numel() for row in rows])
    owners = _sent(torch.repeat_interleave(torch.arange(len(rows)), lengths), scores)
    if all(row.device.type == "cpu" for row in rows):
        columns = _sent(torch.cat([row.reshape(-1).to(torch.int64) for row in rows]), scores)
    else:
        columns = torch.cat([_sent(row.reshape(-1).to(torch.int64), scores) for row in rows])
    is_relevant = torch.zeros(scores.shape, dtype=torch.bool, device=scores.device)
    is_relevant.view(-1).index_fill_(0, owners * scores.shape[1] + columns, value=True)
    return owners, columns, is_relevant


def _sent(tensor: Tensor, scores: Tensor) -> Tensor:
    """Return a tensor where the scores are; the host does not wait until it has arrived."""
    return tensor.to(scores.device, non_blocking=True)


def _is_outside(indices: Tensor, num_documents: int) -> bool:
    return bool(indices.numel()) and not 0 <= int(indices.min()) <= int(indices.max()) < num_documents


def _check_values(
    scores: Tensor,
    columns: Tensor,
    is_relevant: Tensor,
    is_there: Tensor | None,
    factors: Tensor | None,
    numbers: Sequence[int],
) -> None:
    """Raise if a value cannot be used: all in one question to the device, and more only if the answer is bad."""
    faults = [*_faults(scores, is_relevant, is_there, factors)]
    is_repeated = is_relevant.sum() != len(columns)
    if not (torch.stack([where.any() for _, _, where in faults]).any() | is_repeated):
        return
    for problem, remedy, where in faults:
        if where.any():
            row, column = where.nonzero()[0].tolist()
            raise DataError(f"query {numbers[row]}, document {column}: {problem}", remedy=remedy)
    raise DataError("a relevant document is listed twice for the same query", remedy="list each once")


def _faults(
    scores: Tensor, is_relevant: Tensor, is_there: Tensor | None, factors: Tensor | None
) -> Iterator[tuple[str, str, Tensor]]:
    """Give what may be wrong, what to do then, and where it is so, [Q, n]."""
    is_wrong = ~(scores < torch.inf)  # of NaN too
    remedy = "lower the learning rate if the training has diverged; mask a document that has no score"
    yield "the score is NaN or inf", remedy, is_wrong if is_there is None else is_wrong & is_there
    problem = "the score of a relevant document is -inf, from where no gradient can raise it"
    yield problem, "mask only documents that are not relevant", is_relevant & (scores == -torch.inf)
    if is_there is not None:
        remedy = "let the mask be True for every relevant document, or take it from the relevant ones"
        yield "a relevant document is masked, or is not among the query's documents", remedy, is_relevant & ~is_there
    if factors is not None:
        remedy = "give how many documents this one stands for: N/k if k of N were drawn"
        yield "stands_for is negative or not finite", remedy, ~((factors >= 0) & (factors < torch.inf))
