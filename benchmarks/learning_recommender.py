"""Trains a recommender with several losses on MovieLens-100k, as the package RecBole brings it along.

Belongs here: reading the ratings, one autoencoder, training it, and choosing its settings on validation data. Not here:
the losses (lexirecall.torch, learning_losses), what is concluded (learning).

A user's relevant documents are those rated 4 or 5. 70 % of them are trained on, 10 % choose the settings, and 20 % are
to be found among all documents that were not trained on, so that nothing is sampled and nothing is cut off.
"""

# if torch is not installed, its classes have the type Any:
# mypy: disallow-subclassing-any=False

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from lexirecall import Positions, evaluate, project_scores
from lexirecall.judgments import BoolArray, FloatArray

PACKAGE, INSIDE = "recbole", "recbole/dataset_example/ml-100k/ml-100k.inter"
FEWEST = 5  # relevant documents of a user who takes part
HIDDEN, BATCH, EPOCHS, EVERY = 100, 128, 200, 20
Loss = Callable[[Tensor, Tensor], Tensor]
"""From scores [B, n] and a mask of relevant documents to a number."""


@dataclass(frozen=True)
class Setting:
    """One way to train: a loss, and the learning rate of Adam."""

    loss: Loss
    rate: float
    name: str


def ratings_file() -> Path:
    """Return the file of ratings in the installed package, which need not be imported."""
    try:
        return Path(str(distribution(PACKAGE).locate_file(INSIDE)))
    except PackageNotFoundError:
        message = f"the ratings are in the package {PACKAGE}: pip install --no-deps {PACKAGE}, or give --ratings FILE"
        raise SystemExit(message) from None


def read_likes(path: Path) -> BoolArray:
    """Return which user likes which document, [users, documents]: those rated 4 or more, by users with enough."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    users, documents = (np.array([int(row[f"{name}:token"]) for row in rows]) for name in ("user_id", "item_id"))
    liked = np.array([float(row["rating:float"]) >= 4 for row in rows])
    _, user = np.unique(users, return_inverse=True)
    _, document = np.unique(documents, return_inverse=True)
    likes = np.zeros((user.max() + 1, document.max() + 1), bool)
    likes[user[liked], document[liked]] = True
    return np.asarray(likes[likes.sum(axis=1) >= FEWEST])


@dataclass(frozen=True)
class Split:
    """Three masks, [users, documents]."""

    train: BoolArray
    valid: BoolArray
    test: BoolArray

    @classmethod
    def of(cls, likes: BoolArray, seed: int) -> "Split":
        """Divide what each user likes at random: 70 %, 10 % and 20 %, at least one document for each of the latter."""
        rng = np.random.default_rng(seed)
        parts = np.zeros((3, *likes.shape), bool)
        for user, row in enumerate(likes):
            documents = rng.permutation(np.flatnonzero(row))
            num_test, num_valid = max(1, round(0.2 * len(documents))), max(1, round(0.1 * len(documents)))
            parts[2, user, documents[:num_test]] = True
            parts[1, user, documents[num_test : num_test + num_valid]] = True
            parts[0, user, documents[num_test + num_valid :]] = True
        return cls(*parts)


class Autoencoder(nn.Module):
    """One hidden layer: what a user likes, half of it left out at random, becomes a score of every document."""

    def __init__(self, num_documents: int) -> None:
        super().__init__()
        self.inward, self.outward = nn.Linear(num_documents, HIDDEN), nn.Linear(HIDDEN, num_documents)
        self.dropout = nn.Dropout(0.5)

    def forward(self, likes: Tensor) -> Tensor:
        """Return scores, [B, documents]."""
        scores: Tensor = self.outward(torch.tanh(self.inward(self.dropout(nn.functional.normalize(likes)))))
        return scores


def checkpoints(setting: Setting, split: Split, seed: int, device: str) -> Iterator[tuple[str, FloatArray]]:
    """Train, and give the scores of every document for every user from time to time."""
    torch.manual_seed(seed)
    train = torch.tensor(split.train, device=device)
    model = Autoencoder(train.shape[1]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=setting.rate, weight_decay=1e-5)
    order = torch.Generator().manual_seed(seed)
    for epoch in range(1, EPOCHS + 1):
        model.train()
        for batch in torch.randperm(len(train), generator=order).to(device).split(BATCH):
            optimizer.zero_grad()
            setting.loss(model(train[batch].float()), train[batch]).backward()
            optimizer.step()
        if epoch % EVERY == 0:
            model.eval()
            with torch.no_grad():
                yield f"{setting.name}, epoch {epoch}", model(train.float()).double().cpu().numpy()


def positions_of(scores: Mapping[str, FloatArray], relevant: BoolArray, seen: BoolArray) -> Positions:
    """Return the positions of relevant documents among those not seen; a model gains nothing by equal scores."""
    return project_scores(dict(scores), relevant, exclude=seen, ties="worst")


def best_of(made: Mapping[str, FloatArray], split: Split) -> str:
    """Return the checkpoint with the highest win rate under LexiRecall among all, on validation data."""
    if len(made) == 1:
        return next(iter(made))
    rates = evaluate(positions_of(made, split.valid, split.train), measures=["LexiRecall"]).means[:, 0]
    return [*made][int(np.argmax(rates))]


def chosen_scores(settings: Sequence[Setting], split: Split, seed: int, device: str = "cpu") -> tuple[str, FloatArray]:
    """Train under each setting; return the checkpoint that is best on validation data, and its scores."""
    made = dict(each for setting in settings for each in checkpoints(setting, split, seed, device))
    chosen = best_of(made, split)
    return chosen, made[chosen]


def sought_positions(scores: Mapping[str, FloatArray], split: Split) -> Positions:
    """Return the positions of the documents to be found under each loss, among all that were not trained on."""
    return positions_of(scores, split.test, split.train | split.valid)
