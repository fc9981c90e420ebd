"""For a recommender engineer with LensKit: which of three should you release, if no user may be left behind?

Run it cell by cell in an editor that knows `# %%`, or as a whole: `python examples/recommender.py`. It needs LensKit.
Ratings are simulated, and nothing is downloaded.
"""

# %% What is needed
import sys

import numpy as np

try:
    import pandas as pd
    from lenskit.basic import BiasScorer, PopScorer
    from lenskit.batch import recommend
    from lenskit.data import ItemListCollection, UserIDKey, from_interactions_df
    from lenskit.knn import ItemKNNScorer
    from lenskit.metrics import NDCG, Recall, RunAnalysis
    from lenskit.pipeline import topn_pipeline
    from lenskit.splitting import SampleN, sample_users
except ModuleNotFoundError as error:
    print(f"This example needs LensKit ({error.name} is not installed): pip install lenskit", file=sys.stderr)
    sys.exit(2)

from lexirecall import compare, rank
from lexirecall.adapters.lenskit import TSE, LexirecallMetric, LexiRecallPercentile, RecallAtK, project

# %% Ratings: 300 users, 200 documents. Most users share the taste of a majority; every sixth user has another taste.
NUM_USERS, NUM_DOCUMENTS, DEPTH = 300, 200, 100
rng = np.random.default_rng(3)
is_minority = np.arange(NUM_USERS) % 6 == 0
quality = rng.normal(size=(2, NUM_DOCUMENTS))  # how much each of the two groups likes each document
popularity = np.exp(1.2 * quality[0])  # what is shown to everybody follows the majority
rows = []
for user in range(NUM_USERS):
    likes = quality[int(is_minority[user])]
    chance = popularity * np.exp(1.5 * likes)
    seen = rng.choice(NUM_DOCUMENTS, 30, replace=False, p=chance / chance.sum())
    stars = np.clip(np.round(3.2 + likes[seen] + rng.normal(scale=0.5, size=30)), 1, 5)
    rows += [(user, f"item{document}", star) for document, star in zip(seen, stars, strict=True)]
ratings = pd.DataFrame(rows, columns=["user_id", "item_id", "rating"])

# %% Train on most of the ratings, and keep five of each user for the test.
split = sample_users(from_interactions_df(ratings), NUM_USERS, SampleN(5, rng=1), rng=2)
scorers = {"popular": PopScorer(), "bias": BiasScorer(), "item-knn": ItemKNNScorer(k=20)}
outputs = {}
for name, scorer in scorers.items():
    pipeline = topn_pipeline(scorer, n=DEPTH)
    pipeline.train(split.train)
    outputs[name] = recommend(pipeline, split.test, n_jobs=1)

# %% The analysis that you have, with our metrics beside LensKit's. Documents with four or more stars are relevant.
LEVEL = 4


def analysis() -> RunAnalysis:
    """Return a new analysis for each run: an analysis keeps what it has measured."""
    return RunAnalysis(
        NDCG(10),
        Recall(10),
        RecallAtK(10, level=LEVEL),
        TSE(level=LEVEL, corpus_size=NUM_DOCUMENTS),
        LexiRecallPercentile(NUM_DOCUMENTS, level=LEVEL),
        LexirecallMetric("LastRel", level=LEVEL, corpus_size=NUM_DOCUMENTS),
    )


means = {name: analysis().measure(lists, split.test).list_summary()["mean"] for name, lists in outputs.items()}
print("Means over the users who have a list")
print(pd.DataFrame(means).round(3).to_string())

# %% Each pair of recommenders, user by user: which one finds everything that a user likes sooner?
comparison = compare(
    project(outputs, split.test, level=LEVEL), measures=["LexiRecall", "TSE", "nDCG@10", "R@10"], level=LEVEL
)
print("\nEach pair of recommenders")
print(comparison)

# %% One order for all users, and one for those with the other taste. Lists of users outside the test are ignored.
minority = ItemListCollection.from_dict(
    {key: documents for key, documents in split.test if is_minority[key.user_id]}, UserIDKey
)
orders = {
    "all users": rank(project(outputs, split.test, level=LEVEL), level=LEVEL),
    "minority": rank(project(outputs, minority, level=LEVEL), level=LEVEL),
}
for group, order in orders.items():
    print(f"\nOne order by LexiRecall: {group}")
    print(order)

# %% What the numbers show
winners = {group: next(iter(order.rows())) for group, order in orders.items()}
clear: dict[str, int] = {}
for row in comparison.rows():
    clear[row["measure"]] = clear.get(row["measure"], 0) + (row["p_corrected"] < 0.05)
last = {name: mean["LastRel(rel=4)"] for name, mean in means.items()}
deepest = max(last, key=lambda name: last[name])
print("\nWhat the numbers show")
for group, row in winners.items():
    print(f"- {group}: {row['run']} wins {row['score']:.0%} of its comparisons by LexiRecall (a tie is half a win).")
print(f"- Pairs (of 3) that differ at 5% after correction: {', '.join(f'{name} {n}' for name, n in clear.items())}.")
print(
    f"- With {deepest}, a user goes through {last[deepest]:.0f} of {NUM_DOCUMENTS} items on average to find everything "
    "they like. An item that is not in the list counts as at the very end."
)
print(
    "- LensKit's Recall@10 counts every rated item as relevant and divides by min(10, their number); R@10 counts items "
    "with four or more stars and divides by their number."
)
if len({row["run"] for row in winners.values()}) > 1:
    print("- What is best for most users is not best for the minority: a mean over all users does not show it.")
else:
    print("- The same recommender is best for most users and for the minority.")
