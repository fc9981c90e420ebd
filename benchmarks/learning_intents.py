"""Trains a linear model with each loss on simulated queries of two intents, and evaluates what it finds.

Usage: python benchmarks/learning_intents.py [--seeds N] [--queries N] [--steps N] [--discount D…] [--temperature T…]

Belongs here: the simulation, the training and the table. Not here: the losses (learning_losses).

A query has 4 to 12 relevant documents of a common intent, whose features differ much from those of other documents, and
1 to 3 of a rare intent, whose features differ less, and partly in the opposite direction. A linear model cannot serve
both: whatever raises the common ones lowers the rare ones. It needs PyTorch.
"""

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean, stdev

import torch
from learning_losses import LOSSES, Loss, ordered

from lexirecall import Positions, compare, evaluate, project_scores

BASELINE = "softmax"
MEASURES = ("AP", "nDCG", "TSE", "LastRel", "Depth@0.9")
NUM_DOCUMENTS, WIDTH = 200, 8
COMMON = torch.tensor([2.0, 0.0, *[0.0] * (WIDTH - 2)])
RARE = 1.5 * torch.tensor([-0.5, math.sqrt(0.75), *[0.0] * (WIDTH - 2)])
"""How the features of relevant documents differ on average from those of others, whose standard deviation is 1."""


@dataclass(frozen=True)
class Row:
    """What a loss achieved on queries that were held out."""

    seed: int
    loss: str
    lexirecall: float
    """Mean preference over the baseline, from -1 to 1: the share of queries won minus that of queries lost."""
    z: float
    """The same in standard errors."""
    values: Mapping[str, float]
    """The mean of each measure."""


def simulate(seed: int, num_queries: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the features of all documents, [queries, documents, features], and which are relevant."""
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(num_queries, NUM_DOCUMENTS, WIDTH, generator=generator)
    num_common = torch.randint(4, 13, (num_queries, 1), generator=generator)
    num_rare = torch.randint(1, 4, (num_queries, 1), generator=generator)
    place = torch.arange(NUM_DOCUMENTS)
    is_common, is_relevant = place < num_common, place < num_common + num_rare
    is_rare = is_relevant & ~is_common
    return features + is_common[..., None] * COMMON + is_rare[..., None] * RARE, is_relevant


def train(
    loss: Loss, features: torch.Tensor, relevant: torch.Tensor, seed: int, steps: int = 300, batch: int = 32
) -> torch.Tensor:
    """Return the weights of the features after some steps of Adam; all losses see the same batches."""
    generator = torch.Generator().manual_seed(seed)
    weights = (0.01 * torch.randn(WIDTH, generator=generator)).requires_grad_()
    optimizer = torch.optim.Adam([weights], lr=0.05)
    for _ in range(steps):
        queries = torch.randint(len(features), (batch,), generator=generator)
        optimizer.zero_grad()
        loss(features[queries] @ weights, relevant[queries]).backward()
        optimizer.step()
    return weights.detach()


def held_out_positions(
    seed: int, losses: Mapping[str, Loss] = LOSSES, *, num_queries: int = 600, steps: int = 300
) -> Positions:
    """Train with each loss, and with the baseline, on half as many queries as are held out; return these."""
    features, relevant = simulate(2 * seed, num_queries // 2)
    held_out, sought = simulate(2 * seed + 1, num_queries)
    given = {BASELINE: losses.get(BASELINE, LOSSES[BASELINE]), **losses}
    scores = {name: (held_out @ train(loss, features, relevant, seed, steps)).numpy() for name, loss in given.items()}
    return project_scores(scores, sought.numpy())


def run(seed: int, losses: Mapping[str, Loss] = LOSSES, *, num_queries: int = 600, steps: int = 300) -> list[Row]:
    """Train with each loss, and compare with the baseline on held-out queries."""
    positions = held_out_positions(seed, losses, num_queries=num_queries, steps=steps)
    means = evaluate(positions, measures=list(MEASURES)).to_dict()
    compared = {row["b"]: row for row in compare(positions, measures=["LexiRecall"], baseline=BASELINE).rows()}
    return [_row(seed, name, means[name], compared.get(name), num_queries) for name in losses]


def _row(
    seed: int, loss: str, values: Mapping[str, float], compared: Mapping[str, float] | None, num_queries: int
) -> Row:
    if compared is None:  # the baseline itself
        return Row(seed, loss, 0.0, 0.0, values)
    mean = -compared["mean"]  # rows say how much better the baseline is
    variance = (compared["wins"] + compared["losses"]) / num_queries - mean**2
    return Row(seed, loss, mean, mean / math.sqrt(variance / num_queries) if variance > 0 else math.nan, values)


def table(rows: Sequence[Row]) -> str:
    """Return the means over seeds, with the standard deviation of what depends most on the seed."""
    lines = [" ".join([f"{'loss':<12}", "LexiRecall against softmax     z", *(f"{name:>9}" for name in MEASURES)])]
    for loss in dict.fromkeys(row.loss for row in rows):
        own = [row for row in rows if row.loss == loss]
        signs = [row.lexirecall for row in own]
        spread = f"± {stdev(signs):.3f}" if len(own) > 1 else ""
        values = [fmean(row.values[name] for row in own) for name in MEASURES]
        figures = [f"{value:9.4f}" if value < 1 else f"{value:9.1f}" for value in values]
        lines.append(
            f"{loss:<12} {fmean(signs):+17.3f} {spread:<8} {fmean(row.z for row in own):+5.1f} " + " ".join(figures)
        )
    return "\n".join(lines)


def main() -> None:
    """Read the arguments, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--queries", type=int, default=600)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--discount", type=float, nargs="*", default=[], help="compare only these, and softmax")
    parser.add_argument("--temperature", type=float, nargs="*", default=[1.0], help="with each discount")
    given = parser.parse_args()
    pairs = product(given.discount, given.temperature)
    chosen = {BASELINE: LOSSES[BASELINE], **{f"{d:g}, τ {t:g}": ordered(d, t) for d, t in pairs}}
    losses = chosen if given.discount else LOSSES
    seeds = range(1, given.seeds + 1)
    print(table([row for seed in seeds for row in run(seed, losses, num_queries=given.queries, steps=given.steps)]))


if __name__ == "__main__":
    main()
