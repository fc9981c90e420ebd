"""Losses of learning to rank that the ordered loss is measured against: functions of scores and relevant documents.

Belongs here: the formulas, as their papers have them for grades of 0 and 1. Not here: data and training.

Each takes scores [queries, documents] and a mask of the same shape, and gives the mean over queries that have a
relevant document and another one.
"""

from collections.abc import Callable

import torch

from lexirecall.torch import OrderedLoss

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def softmax(scores: torch.Tensor, relevant: torch.Tensor) -> torch.Tensor:
    """Return the cross-entropy of scores and relevant documents, all with the same share.

    Cao, Qin, Liu, Tsai and Li, "Learning to rank: from pairwise approach to listwise approach" (2007): ListNet, in its
    top-one form.
    """
    logs = torch.log_softmax(scores, dim=1)
    return _mean(-_per_query(logs, relevant) / relevant.sum(dim=1), relevant)


def ranknet(scores: torch.Tensor, relevant: torch.Tensor) -> torch.Tensor:
    """Return the logistic loss of every pair of a relevant document and another one.

    Burges et al., "Learning to rank using gradient descent" (2005): RankNet.
    """
    losses, is_pair = _pairs(scores, relevant)
    return _mean((losses * is_pair).sum(dim=(1, 2)) / is_pair.sum(dim=(1, 2)), relevant)


def lambdarank(scores: torch.Tensor, relevant: torch.Tensor) -> torch.Tensor:
    """Return the same, each pair weighted by what exchanging the two would change in nDCG.

    Burges, "From RankNet to LambdaRank to LambdaMART: an overview" (2010): LambdaRank.
    """
    losses, is_pair = _pairs(scores, relevant)
    ranks = scores.detach().argsort(dim=1, descending=True).argsort(dim=1) + 1
    discounts = 1 / torch.log2(1 + ranks)
    changes = (discounts[:, :, None] - discounts[:, None, :]).abs() / _ideal(relevant, scores)[:, None, None]
    return _mean((losses * is_pair * changes).sum(dim=(1, 2)), relevant)


def approx_ndcg(scores: torch.Tensor, relevant: torch.Tensor, temperature: float = 0.1) -> torch.Tensor:
    """Return 1 - nDCG, with soft positions among all documents.

    Qin, Liu and Li, "A general approximation framework for direct optimization of information retrieval measures"
    (2010): ApproxNDCG, with alpha = 1 / temperature.
    """
    above = torch.sigmoid((scores[:, None, :] - scores[:, :, None]) / temperature).sum(dim=2) - 0.5  # without itself
    gains = _per_query(1 / torch.log2(2 + above), relevant) / _ideal(relevant, scores)
    return _mean(1 - gains, relevant)


def ordered(discount: float, temperature: float = 1.0) -> Loss:
    """Return the ordered loss with this discount."""
    return OrderedLoss(discount, temperature)


def scaled(discount: float, temperature: float = 0.2) -> Loss:
    """Return the same of scores whose standard deviation is 1, so that a model gains nothing by making all alike."""
    loss = OrderedLoss(discount, temperature)
    return lambda scores, relevant: loss(scores / scores.std(), relevant)


LOSSES: dict[str, Loss] = {
    "softmax": softmax,
    "RankNet": ranknet,
    "LambdaRank": lambdarank,
    "ApproxNDCG": approx_ndcg,
    **{f"ordered {discount:g}": ordered(discount) for discount in (1, 0.9, 0.5, 0.2)},
    **{f"scaled {discount:g}": scaled(discount) for discount in (0.9, 0.5, 0.2, 0)},
}
"""By their names in tables."""


def _per_query(values: torch.Tensor, relevant: torch.Tensor) -> torch.Tensor:
    return torch.where(relevant, values, 0).sum(dim=1)


def _mean(losses: torch.Tensor, relevant: torch.Tensor) -> torch.Tensor:
    return losses[relevant.any(dim=1) & ~relevant.all(dim=1)].mean()


def _pairs(scores: torch.Tensor, relevant: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the loss of each pair, and which pairs are of a relevant document and another one."""
    losses = torch.nn.functional.softplus(scores[:, None, :] - scores[:, :, None])
    return losses, relevant[:, :, None] & ~relevant[:, None, :]


def _ideal(relevant: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    """Return the DCG of a ranking with all relevant documents first."""
    discounts = 1 / torch.log2(2 + torch.arange(relevant.shape[1], device=scores.device))
    return torch.cat([discounts.new_zeros(1), discounts.cumsum(0)])[relevant.sum(dim=1)]
