"""For who trains rankers: can a ranker that draws lots serve its worst-off user better, and what does that cost?

Run it cell by cell in an editor that knows `# %%`, or as a whole: `python examples/stochastic_policy.py`.
"""

# %% Queries with six documents each. Three are relevant: two of a common kind, and one that few people want
from collections.abc import Callable
from typing import Any

import numpy as np

import lexirecall
from lexirecall.results import PolicyScores
from lexirecall.theory import PlackettLuce, expected_preference, expected_user_utilities, worst_off_user

NUM_DOCUMENTS, RELEVANT = 6, [0, 1, 2]
COMMON, RARE = np.array([1, 1, 0, 0, 0, 0]), np.array([0, 0, 1, 0, 0, 0])

rng = np.random.default_rng(5)


def draw_queries(num: int) -> np.ndarray:
    """Return features, [queries, documents, 3]: a clear sign of the common kind, a weak one of the rare kind, noise."""
    shape = (num, NUM_DOCUMENTS)
    signs = [COMMON | (rng.random(shape) < 0.05), RARE | (rng.random(shape) < 0.25), rng.normal(size=shape)]
    return np.stack(signs, axis=2)


train, test = draw_queries(60), draw_queries(200)

# %% Every ranking of six documents, and how the logarithm of its probability changes with the scores
ORDERS = PlackettLuce(np.zeros(NUM_DOCUMENTS)).orders()  # 720 of them
PLACES = np.argsort(ORDERS, axis=1)
EXPOSURES = 1 / (PLACES[:, RELEVANT] + 1)  # what a user who wants one document gets by AP


def slopes(scores: np.ndarray) -> np.ndarray:
    """Return d log P(ranking) / d scores, [rankings, documents]: chosen less expected, at each choice."""
    strengths = np.exp(scores - scores.max())[ORDERS]
    shares = 1 / np.cumsum(strengths[:, ::-1], axis=1)[:, ::-1]  # of one unit of strength among those that are left
    drawn = strengths * np.cumsum(shares, axis=1)
    return 1 - np.take_along_axis(drawn, PLACES, axis=1)


def ascend(weights: np.ndarray, slope: Callable[..., np.ndarray], rate: float) -> np.ndarray:
    """Climb the mean over the training queries, in ever smaller steps."""
    for step in range(200):
        mean = np.mean([slope(features, weights) for features in train], axis=0)
        weights = weights + rate / (1 + step / 20) * mean
    return weights


# %% The usual training: raise the softmax probability of the relevant documents
def softmax_slope(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the slope of the mean log-softmax of the relevant documents."""
    chances = np.exp(features @ weights - (features @ weights).max())
    return features[RELEVANT].mean(axis=0) - chances / chances.sum() @ features


usual = ascend(np.zeros(3), softmax_slope, rate=2)


# %% Training for the worst-off user: by AP it wants one document, the one that is least exposed in expectation
def worst_off_slope(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the slope of the least expected exposure, E[e d log P]: exact, because all rankings are enumerated."""
    chances = PlackettLuce(features @ weights).probabilities()
    worst = EXPOSURES[:, np.argmin(chances @ EXPOSURES)]
    return (chances * worst) @ slopes(features @ weights) @ features


trained = ascend(usual, worst_off_slope, rate=10)
print(f"weights of the common sign, the rare sign and noise: usual {usual.round(2)}, trained {trained.round(2)}\n")

# %% On 200 new queries, exactly: the usual scores sorted, the usual scores as lots, and the trained scores as lots
rankers: dict[str, Callable[[np.ndarray], Any]] = {
    "sorted": lambda features: [np.argsort(-features @ usual)],
    "usual lots": lambda features: PlackettLuce(features @ usual),
    "trained lots": lambda features: PlackettLuce(features @ trained),
}
print("ranker        worst-off user  expected AP  LexiRecall against sorted")
for name, ranker in rankers.items():
    worst = np.mean([worst_off_user(ranker(features), RELEVANT).value for features in test])
    value = np.mean([expected_user_utilities(ranker(features), RELEVANT).means[-1] for features in test])
    duels = [expected_preference(ranker(features), rankers["sorted"](features), RELEVANT).value for features in test]
    print(f"{name:12}  {worst:14.4f}  {value:11.4f}  {np.mean(duels):25.4f}")

# %% Lots serve the worst-off user better, and training for it better still. Everyone else pays: AP falls, and against
# the sorted list the last relevant document comes later more often than sooner.

# %% The same from draws, as a live ranker would log them: runs named POLICY#1, POLICY#2 … are samples of one policy
qrels = {f"q{q}": {str(i): 1 for i in RELEVANT} for q in range(len(test))}
runs = {"sorted#1": {f"q{q}": rankers["sorted"](features)[0].tolist() for q, features in enumerate(test)}}
for name in ("usual lots", "trained lots"):
    draws = [rankers[name](features).sample(40, seed=q) for q, features in enumerate(test)]
    runs |= {f"{name}#{k}": {f"q{q}": drawn[k].tolist() for q, drawn in enumerate(draws)} for k in range(40)}
print("\n", PolicyScores.of(lexirecall.project(qrels, runs), ["AP", "LexiRecall"]), sep="")
