"""For somebody whose model finds most relevant documents, but not all: train it for the last ones.

Run it cell by cell in an editor that knows `# %%`, or as a whole: `python examples/torch_ordered_loss.py`. It needs
PyTorch: `pip install 'lexirecall[torch]'`. Queries are simulated, and have two intents: most relevant documents are of
the common one and easy to find, a few are of the rare one. A linear model cannot serve both. Which of the two it serves
depends on the loss: the same model is trained with softmax, with ApproxNDCG and with `OrderedLoss`, as long and on the
same batches, and evaluated on queries that it has not seen.
"""

# %% Simulated queries: features of 200 documents each, 4 to 12 of the common intent and 1 to 3 of the rare one
from collections.abc import Callable

import torch

from lexirecall import compare, evaluate, project_scores
from lexirecall.torch import OrderedLoss

NUM_DOCUMENTS, WIDTH = 200, 8
common, rare = torch.zeros(2, WIDTH)
common[0] = 2.0  # common ones differ much from other documents, whose features have a standard deviation of 1
rare[:2] = torch.tensor([-0.75, 1.3])  # rare ones differ less, and in the first feature the other way


def simulate(seed: int, num_queries: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return features, [queries, documents, features], and which documents are relevant."""
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(num_queries, NUM_DOCUMENTS, WIDTH, generator=generator)
    num_common = torch.randint(4, 13, (num_queries, 1), generator=generator)
    num_rare = torch.randint(1, 4, (num_queries, 1), generator=generator)
    is_common = torch.arange(NUM_DOCUMENTS) < num_common
    is_relevant = torch.arange(NUM_DOCUMENTS) < num_common + num_rare
    features += is_common[..., None] * common + (is_relevant & ~is_common)[..., None] * rare
    return features, is_relevant


training, relevant_in_training = simulate(2, 300)
held_out, relevant = simulate(3, 600)


# %% Two losses that are in wide use
def softmax(scores: torch.Tensor, is_relevant: torch.Tensor) -> torch.Tensor:
    """Return the cross-entropy of the scores and the relevant documents (ListNet; Cao et al. 2007)."""
    shares = is_relevant / is_relevant.sum(dim=1, keepdim=True)
    return -(shares * torch.log_softmax(scores, dim=1)).sum(dim=1).mean()


def approx_ndcg(scores: torch.Tensor, is_relevant: torch.Tensor) -> torch.Tensor:
    """Return 1 - nDCG with soft positions (ApproxNDCG; Qin et al. 2010)."""
    above = torch.sigmoid((scores[:, None, :] - scores[:, :, None]) / 0.1).sum(dim=2) - 0.5  # not above itself
    gains = (is_relevant / torch.log2(2 + above)).sum(dim=1)
    best = (1 / torch.log2(2 + torch.arange(NUM_DOCUMENTS))).cumsum(0)[is_relevant.sum(dim=1) - 1]
    return 1 - (gains / best).mean()


# %% The same model, the same batches, another loss
Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
losses: dict[str, Loss] = {"softmax": softmax, "ApproxNDCG": approx_ndcg}
losses |= {f"ordered {discount:g}": OrderedLoss(discount) for discount in (1, 0.9, 0.5, 0.2)}


def scaled(discount: float) -> Loss:
    """Return the ordered loss of scores with a standard deviation of 1.

    If the last documents stay below the middle whatever the model does, it could also lower the loss by scoring all
    documents alike. Here it gains nothing by that.
    """
    loss = OrderedLoss(discount, temperature=0.2)
    return lambda scores, is_relevant: loss(scores / scores.std(), is_relevant)


losses |= {f"scaled {discount:g}": scaled(discount) for discount in (0.5, 0.2)}


def train(loss: Loss) -> torch.Tensor:
    """Return the weight of each feature."""
    generator = torch.Generator().manual_seed(21)
    weights = (0.01 * torch.randn(WIDTH, generator=generator)).requires_grad_()
    optimizer = torch.optim.Adam([weights], lr=0.05)
    for _ in range(300):
        batch = torch.randint(len(training), (32,), generator=generator)
        optimizer.zero_grad()
        loss(training[batch] @ weights, relevant_in_training[batch]).backward()
        optimizer.step()
    return weights.detach()


weights_of = {name: train(loss) for name, loss in losses.items()}
scores = {name: (held_out @ weights).numpy() for name, weights in weights_of.items()}

# %% Who finds everything sooner, and at what price?
MEASURES = ["AP", "nDCG", "LastRel", "Depth@0.9"]
positions = project_scores(scores, relevant.numpy())
means = evaluate(positions, measures=MEASURES).to_dict()
against = {row["b"]: row for row in compare(positions, measures=["LexiRecall"], baseline="softmax").rows()}
print(f"{'loss':<12} {'LexiRecall against softmax':<27}", *(f"{measure:>10}" for measure in MEASURES))
for name in losses:
    row = against.get(name)  # how much better softmax is; positive below if it is worse
    found = f"{-row['mean']:+.3f} ({-row['high']:+.3f} to {-row['low']:+.3f})" if row else ""
    print(f"{name:<12} {found:<27}", *(f"{means[name][measure]:10.4g}" for measure in MEASURES))

collapsed = [name for name, weights in weights_of.items() if weights.norm() < 0.1]
print(f"\nscores nearly alike for all documents: {', '.join(collapsed) or 'none'}")

# %% In one sentence, made from the numbers
best = min(against, key=lambda name: against[name]["mean"])
row = against[best]
print(
    f"{best} wins against softmax in {row['losses']} of {len(relevant)} queries and loses in {row['wins']}:",
    f"the last relevant document moves from rank {means['softmax']['LastRel']:.0f} to {means[best]['LastRel']:.0f},",
    f"and AP from {means['softmax']['AP']:.3f} to {means[best]['AP']:.3f}.",
)
