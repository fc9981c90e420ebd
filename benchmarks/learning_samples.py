"""Measures how much too low the ordered loss is if only some documents are sampled, each standing for many.

Usage: python benchmarks/learning_samples.py [--repetitions N]

The corpus has 100,000 documents with normal scores, and one relevant document besides. Documents are drawn with the
same chance each, and stand for N/k. The sum that is a soft position is then right on average, but its log is not: it is
concave. The table has the mean difference of the losses, with its standard error. It needs PyTorch.
"""

import argparse
import math

import torch

from lexirecall.torch import OrderedLoss

NUM_DOCUMENTS = 100_000
SIZES = (10, 100, 1000, 10_000)
AT_A_TIME = 50


def differences(scores: torch.Tensor, own: float, temperature: float, size: int, repetitions: int) -> torch.Tensor:
    """Return the loss in each sample minus the loss in the whole corpus."""
    generator = torch.Generator().manual_seed(size)
    loss = OrderedLoss(temperature=temperature, reduction="none")
    whole = loss(torch.cat([torch.tensor([own]), scores]), [0])
    parts = []
    for _ in range(repetitions // AT_A_TIME):
        chosen = torch.randint(len(scores), (AT_A_TIME, size), generator=generator)
        table = torch.cat([torch.full((AT_A_TIME, 1), own), scores[chosen]], dim=1)
        parts.append(loss(table, [0] * AT_A_TIME, stands_for=len(scores) / size) - whole)
    return torch.cat(parts)


def main() -> None:
    """Read the arguments, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=1000)
    given = parser.parse_args()
    scores = torch.randn(NUM_DOCUMENTS, generator=torch.Generator().manual_seed(1))
    print("temperature  score  soft position ", *(f"{size:>8} drawn   " for size in SIZES))
    for temperature, own in ((1.0, 0.0), (1.0, 3.0), (1.0, 6.0), (0.1, 2.0), (0.1, 3.0), (0.1, 4.0)):
        position = OrderedLoss(temperature=temperature)(torch.cat([torch.tensor([own]), scores]), [0]).exp().item()
        found = [differences(scores, own, temperature, size, given.repetitions) for size in SIZES]
        cells = [f"{each.mean():+8.4f} ± {each.std() / math.sqrt(len(each)):.4f}" for each in found]
        print(f"{temperature:11} {own:6} {position:14.1f} ", *cells)


if __name__ == "__main__":
    main()
