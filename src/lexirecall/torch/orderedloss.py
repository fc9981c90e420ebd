"""Ordered: a loss for models that must find everything.

Belongs here: the weights of relevant documents in the order of their positions, and the loss as a module of PyTorch.
Not here: soft positions (softpositions), the forms of a batch (scoretables), batches of texts (texttraining).
"""

# if torch is not installed, its classes have the type Any:
# mypy: disallow-subclassing-any=False

import math
from typing import Any

from lexirecall.errors import UsageError, choice
from lexirecall.torch.scoretables import ScoreTable, score_tables
from lexirecall.torch.softpositions import log_soft_positions
from lexirecall.torch.tensors import Tensor, torch

REDUCTIONS = ("mean", "sum", "none")


class OrderedLoss(torch.nn.Module):
    """A weighted mean of the log soft positions of a query's relevant documents, the last one first.

    The soft position of a relevant document i is 1 + sum_j c_j sigmoid((s_j - s_i) / temperature), over the documents j
    that are not relevant. The logs of these positions are sorted from the last document, the hardest to find, to the
    first, and have the weights 1, discount, discount², …, divided by their sum. So `discount` moves a model from
    precision to recall: at 1 every relevant document counts the same; the lower it is, the more the last ones count. At
    0 only the last one counts: such a bare maximum is unstable, since each step serves a single document of a query.
    The gradient is that of the order as it is. `temperature` is the difference of scores at which one document is
    clearly above another one: lower it for scores of a small range, such as cosines.

    If all n other documents have the same score as a relevant one, its soft position is 1 + n/2. A model that cannot
    bring the last documents above the middle may therefore lower the loss by scoring all documents alike, the sooner
    the lower the discount is. Scores with a fixed spread do not allow that: `loss(scores / scores.std(), relevant)`.

    `scores` is a tensor [queries, documents], a sequence with a tensor for each query, or a tensor [documents] for a
    single query. `relevant` is a mask or grades in the same shape, where more than 0 is relevant, or for each query the
    indices of its relevant documents. `mask` is True where there is a document; padding and documents that a user has
    seen are False. `stands_for` is c: for how many documents one that is not relevant stands, if these were sampled, as
    a number, [documents] or [queries, documents]. It is N/k if k of N documents were drawn, all with the same chance,
    and 1/(k q_j) if k were drawn with replacement, with chances q_j. Relevant documents are never multiplied by it.

    `reduction` is mean, sum or none, over queries. A query without a relevant document has a loss of 0, and does not
    count in the mean. The loss is computed in float32, or in float64 if the scores have it. At most `block` pairs of a
    relevant document and another one are in memory at a time, also for the gradient. `check` looks for NaN, inf and
    masked relevant documents. For that it waits for the device once in each call; if `relevant` is a mask, finding its
    True cells waits too. Without it and with indices, nothing waits, and the loss of a NaN is NaN.

    >>> scores = torch.tensor([[0.9, 0.8, 0.1, 0.3]], requires_grad=True)  # one query, four documents
    >>> loss = OrderedLoss(discount=0.5, temperature=0.1)(scores, [[0, 2]])
    >>> loss.backward()
    >>> round(loss.item(), 4), [round(slope, 2) for slope in scores.grad[0].tolist()]
    (0.7852, [-0.52, 0.52, -0.25, 0.25])

    Reference: DiazEM25, section on optimization.
    """

    def __init__(
        self,
        discount: float = 0.9,
        temperature: float = 1.0,
        *,
        reduction: str = "mean",
        block: int = 2**24,
        check: bool = True,
    ) -> None:
        super().__init__()
        _check_settings(discount, temperature, block)
        choice("reduction", reduction, REDUCTIONS)
        self.discount, self.temperature, self.reduction = float(discount), float(temperature), reduction
        self.block, self.check = block, check

    def forward(self, scores: Any, relevant: Any, *, mask: Any = None, stands_for: Any = None) -> Tensor:
        """Return the loss of a batch: a number, or one for each query if `reduction` is none."""
        tables = [*score_tables(scores, relevant, mask, stands_for, check=self.check)]
        losses = torch.cat([self._losses(table) for table in tables])
        if self.reduction == "sum":
            return losses.sum()
        if self.reduction == "mean":
            return losses.sum() / sum(_num_queries(table) for table in tables).clamp(min=1)
        numbers = torch.tensor([number for table in tables for number in table.numbers], device=losses.device)
        return torch.zeros_like(losses).index_copy(0, numbers, losses)

    def _losses(self, table: ScoreTable) -> Tensor:
        """Return the loss of each query of a table, [Q]."""
        logs = log_soft_positions(
            table.others, table.relevant, table.owners, table.stands_for, self.temperature, self.block
        )
        return ordered_means(logs, table.owners, len(table.others), self.discount)

    def extra_repr(self) -> str:
        """Return the settings, for print."""
        return f"discount={self.discount:g}, temperature={self.temperature:g}, reduction={self.reduction!r}"


def ordered_means(values: Tensor, owners: Tensor, num_queries: int, discount: float) -> Tensor:
    """Return the mean of each query's values, weighted by discount^(k - 1) for the k-th largest, [Q]; 0 for none.

    >>> ordered_means(torch.tensor([1.0, 4.0, 3.0]), torch.tensor([0, 0, 2]), 3, 0.5).tolist()
    [3.0, 0.0, 3.0]
    """
    # PyTorch has no lexsort: the second sort is stable, so it keeps the order by value within each query.
    order = values.detach().argsort(descending=True, stable=True)
    order = order[owners[order].argsort(stable=True)]
    rows = owners[order]
    sizes = torch.zeros(num_queries, dtype=torch.int64, device=rows.device).index_add(0, rows, torch.ones_like(rows))
    ranks = torch.arange(len(rows), device=rows.device) - (sizes.cumsum(0) - sizes)[rows]
    # 0^0 is 1: with a discount of 0 the largest value has all the weight.
    weights = torch.pow(discount, ranks.to(values.dtype))
    nothing = torch.zeros(num_queries, dtype=values.dtype, device=values.device)
    totals = nothing.index_add(0, rows, weights)
    return nothing.index_add(0, rows, weights / totals[rows] * values[order])


def _num_queries(table: ScoreTable) -> Tensor:
    """Count the queries with a relevant document, on the device."""
    has_relevant = torch.zeros(len(table.others), dtype=table.relevant.dtype, device=table.relevant.device)
    return has_relevant.index_fill(0, table.owners, 1).sum()


def _check_settings(discount: float, temperature: float, block: int) -> None:
    """Raise if a setting is outside its range; all of them at once."""
    wrong = []
    if not 0 <= discount <= 1:
        wrong.append(f"discount is {discount!r}, but must be from 0 (the last document alone) to 1 (all alike)")
    if not 0 < temperature < math.inf:
        wrong.append(f"temperature is {temperature!r}, but must be above 0")
    if isinstance(block, bool) or not isinstance(block, int) or block < 1:
        wrong.append(f"block is {block!r}, but must be a whole number, 1 or more")
    if wrong:
        raise UsageError("; ".join(wrong))
