"""Soft positions: how many other documents are above a relevant one, as a number that has a gradient.

Belongs here: the formula of a soft position and of its gradient, and the blocks that keep its memory small. Not here:
what is given (scoretables), what is made of positions (orderedloss).

A hard position counts the documents with a higher score. A soft one adds sigmoid((s_j - s_i) / temperature) instead: 0
for a document far below, 1 for one far above, and 1/2 for one with the same score.
"""

# if torch is not installed, its classes and decorators have the type Any:
# mypy: disallow-subclassing-any=False, disallow-untyped-decorators=False

from collections.abc import Iterator
from typing import Any

from lexirecall.torch.tensors import Tensor, torch


def log_soft_positions(
    others: Tensor, relevant: Tensor, owners: Tensor, stands_for: Tensor | None, temperature: float, block: int
) -> Tensor:
    """Return log(1 + sum_j c_j sigmoid((s_j - s_i) / temperature)) of each relevant document i, [R].

    `others` are the scores of the documents that it competes with, [Q, n], -inf where there is none; `own` those of
    relevant documents, [R], and `owners` the queries of these, [R]; `stands_for` is c, [Q, n], or None: 1 each. At most
    `block` pairs of a relevant document and another one are in memory at a time, and are computed anew for the
    gradient.

    >>> others = torch.tensor([[0.0, -torch.inf, 3.0]])
    >>> positions = log_soft_positions(others, torch.tensor([0.0, 9.0]), torch.tensor([0, 0]), None, 0.01, 2**20).exp()
    >>> [round(position, 4) for position in positions.tolist()]  # 1, a tie and one above; nothing above
    [2.5, 1.0]
    """
    return _LogSoftPositions.apply(others, relevant, owners, stands_for, temperature, block)


class _LogSoftPositions(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        others: Tensor,
        relevant: Tensor,
        owners: Tensor,
        stands_for: Tensor | None,
        temperature: float,
        block: int,
    ) -> Tensor:
        above = torch.zeros_like(relevant)  # all terms are positive: a plain sum and log1p lose nothing
        for rows, columns in _blocks(len(relevant), others.shape[1], block):
            shares = _scaled(others, relevant, owners, temperature, rows, columns).sigmoid_()
            above[rows] += _times(shares, stands_for, owners, rows, columns).sum(dim=1)
        ctx.save_for_backward(others, relevant, owners, stands_for, above)
        ctx.temperature, ctx.block = temperature, block
        return above.log1p()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        others, relevant, owners, stands_for, above = ctx.saved_tensors
        slopes = gradient / (1 + above) / ctx.temperature
        of_others, of_relevant = torch.zeros_like(others), torch.zeros_like(relevant)
        for rows, columns in _blocks(len(relevant), others.shape[1], ctx.block):
            scaled = _scaled(others, relevant, owners, ctx.temperature, rows, columns)
            pull = scaled.sigmoid()
            pull *= scaled.neg_().sigmoid_()  # not 1 - sigmoid, which is 0 for what is far above
            pull = _times(pull, stands_for, owners, rows, columns)
            pull *= slopes[rows, None]
            of_relevant[rows] -= pull.sum(dim=1)
            of_others[:, columns].index_add_(0, owners[rows], pull)
        return of_others, of_relevant, None, None, None, None


def _blocks(num_rows: int, num_columns: int, block: int) -> Iterator[tuple[slice, slice]]:
    """Cut a table into parts of at most `block` cells: whole rows, if one of them fits.

    >>> [(rows.start, columns.start) for rows, columns in _blocks(3, 4, 8)]
    [(0, 0), (2, 0)]
    >>> [(rows.start, columns.start) for rows, columns in _blocks(2, 4, 3)]
    [(0, 0), (0, 3), (1, 0), (1, 3)]
    """
    height, width = max(1, block // num_columns), min(num_columns, block)
    for row in range(0, num_rows, height):
        for column in range(0, num_columns, width):
            yield slice(row, row + height), slice(column, column + width)


def _scaled(
    others: Tensor, relevant: Tensor, owners: Tensor, temperature: float, rows: slice, columns: slice
) -> Tensor:
    """Return (s_j - s_i) / temperature of a part, in memory of its own."""
    # Indexing by a tensor copies, so what follows in place leaves the scores alone.
    scaled = others[:, columns][owners[rows]]
    scaled -= relevant[rows, None]
    scaled /= temperature
    return scaled


def _times(values: Tensor, stands_for: Tensor | None, owners: Tensor, rows: slice, columns: slice) -> Tensor:
    """Multiply the values of a part by how many documents each stands for."""
    if stands_for is not None:
        values *= stands_for[:, columns][owners[rows]]
    return values
