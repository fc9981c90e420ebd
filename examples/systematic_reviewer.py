"""For a systematic reviewer: how far must I read until nothing is missing, and which ranking saves me most work?

Run it cell by cell in an editor that knows `# %%`, or as a whole: `python examples/systematic_reviewer.py`.
"""

# %% Three reviews of several thousand abstracts: a relevant study has grade 1, or 2 if it is kept after the full text
import numpy as np

import lexirecall

rng = np.random.default_rng(7)
reviews = {"statins": 3_000, "asthma": 5_000, "sepsis": 8_000}  # abstracts to screen
qrels, active, plain = {}, {}, {}
for review, size in reviews.items():
    relevant = rng.choice(size, size // 60, replace=False)
    kept = relevant[: len(relevant) // 3]
    qrels[review] = {f"PMID{i}": 2 if i in kept else 1 for i in relevant.tolist()}
    lift = np.isin(np.arange(size), relevant)
    for run, strength in ((active, 2.5), (plain, 1.5)):
        scores = rng.normal(size=size) + strength * lift
        run[review] = [f"PMID{i}" for i in np.argsort(-scores).tolist()]  # a ranked list needs no scores
runs = {"active learning": active, "plain query": plain}

# %% How deep to read: to the last relevant study, or to 95% of them, and how much work that saves over reading all
measures = ["LastRel", "Depth@0.95", "WSS@0.95", "LastRel(rel=2)"]
scores = lexirecall.evaluate(qrels, runs, measures, corpus_size=reviews)
print(scores, "\n")
print("(rel=2): until the last study that survives the full text\n")

# %% Review by review, because a mean hides the one that goes wrong
print(scores.render(per_query=True), "\n")

# %% If I stop after 1,000 abstracts, what do I miss? (titles can also come from a file: texts="titles.tsv")
titles = {
    study: f"Trial {study.removeprefix('PMID')} of {review} in adults" for review in qrels for study in qrels[review]
}
stopped = lexirecall.explain(qrels, runs, depth=1000, texts={"documents": titles})
for query in stopped.queries:
    print(f"{query.id}: {query.sentence()}")
print()
print(stopped.query("statins").to_text(limit=3), "\n")

# %% How many of all possible placements would have been worse? (exact, on a log scale: bits of luck)
bits = lexirecall.evaluate(qrels, runs, ["LexiRecallBits"], corpus_size=reviews)
print(bits)
