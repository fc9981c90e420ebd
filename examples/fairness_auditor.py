"""For an auditor of a marketplace: which provider is seen least, with which ranker, and who is worst off?

Run it cell by cell in an editor that knows `# %%`, or as a whole: `python examples/fairness_auditor.py`.
"""

# %% Shoppers, the products that suit them, and the shop that offers each product
import numpy as np

import lexirecall

rng = np.random.default_rng(11)
shops = rng.choice(["Big Shop", "Corner Store", "Co-op"], 300, p=[0.7, 0.1, 0.2]).tolist()
providers = {f"item{i}": shop for i, shop in enumerate(shops)}
suits = {f"shopper{q}": {f"item{i}": 1 for i in rng.choice(300, 12, replace=False).tolist()} for q in range(60)}


def rank(shopper: str, favour: float) -> list[str]:
    """Order all products by how well they suit, with a bonus for the big provider."""
    scores = {
        document: rng.normal() + 2 * (document in suits[shopper]) + favour * (owner == "Big Shop")
        for document, owner in providers.items()
    }
    return sorted(scores, key=scores.__getitem__, reverse=True)[:50]


runs = {
    "neutral": {shopper: rank(shopper, 0) for shopper in suits},
    "favours the big": {shopper: rank(shopper, 1.5) for shopper in suits},
}

# %% The worst-off provider, in each ranking and over all of them; the note names it
scores = lexirecall.evaluate(
    suits, runs, ["WorstProvider", "WorstProviderOverall", "LexiRecall", "AP"], providers=providers
)
print(scores, "\n")

# %% Every provider: its exposure over what equal exposure would give it, and whether that is more than chance
print(scores.providers(), "\n")

# %% Is the difference more than chance? Shopper by shopper, the exposure of the worst-off provider
print(lexirecall.compare(suits, runs, ["WorstProvider", "LexiRecall"], providers=providers), "\n")

# %% And the shoppers? The worst case over everything that one might want is TSE, whatever the measure
print(lexirecall.evaluate(suits, runs, ["TSE", "TSE(e='dcg')"], corpus_size=300))
