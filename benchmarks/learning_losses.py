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
    owners, margins, is_pair = _pairs(scores, relevant)
    losses = (torch.nn.functional.softplus(margins) * is_pair).sum(dim=1)
    return _mean(_added_up(losses, owners, scores) / (relevant.sum(dim=1) * (~relevant).sum(dim=1)), relevant)


def lambdarank(scores: torch.Tensor, relevant: torch.Tensor) -> torch.Tensor:
    """Return the same, each pair weighted by what exchanging the two would change in nDCG.

    Burges, "From RankNet to LambdaRank to LambdaMART: an overview" (2010): LambdaRank.
    """
    owners, margins, is_pair = _pairs(scores, relevant)
    ranks = scores.detach().argsort(dim=1, descending=True).argsort(dim=1) + 1
    discounts = 1 / torch.log2(1 + ranks)
    changes = (discounts[owners] - discounts[relevant][:, None]).abs() * is_pair
    losses = (torch.nn.functional.softplus(margins) * changes).sum(dim=1)
    return _mean(_added_up(losses, owners, scores) / _ideal(relevant, scores), relevant)


def approx_ndcg(scores: torch.Tensor, relevant: torch.Tensor, temperature: float = 0.1) -> torch.Tensor:
    """Return 1 - nDCG, with soft positions among all documents.

    Qin, Liu and Li, "A general approximation framework for direct optimization of information retrieval measures"
    (2010): ApproxNDCG, with alpha = 1 / temperature.
    """
    owners, margins, _ = _pairs(scores, relevant)
    above = torch.sigmoid(margins / temperature).sum(dim=1) - 0.5  # without itself
    return _mean(1 - _added_up(1 / torch.log2(2 + above), owners, scores) / _ideal(relevant, scores), relevant)


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


def _pairs(scores: torch.Tensor, relevant: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the query of each relevant document, [R], and two tables, [R, documents].

    By how much each document of the query is above the relevant one, and which of them are not relevant.
    """
    owners = relevant.nonzero()[:, 0]
    return owners, scores[owners] - scores[relevant][:, None], ~relevant[owners]


def _added_up(values: torch.Tensor, owners: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    """Add up what relevant documents contribute, [queries]."""
    return scores.new_zeros(len(scores)).index_add(0, owners, values)


def _ideal(relevant: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    """Return the DCG of a ranking with all relevant documents first."""
    discounts = 1 / torch.log2(2 + torch.arange(relevant.shape[1], device=scores.device))
    return torch.cat([discounts.new_zeros(1), discounts.cumsum(0)])[relevant.sum(dim=1)]
