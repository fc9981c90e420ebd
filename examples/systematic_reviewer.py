"""For a systematic reviewer: how far must I read, when may I stop, and how sure is it that little was missed?

Run it cell by cell in an editor that knows `# %%`, or as a whole: `python examples/systematic_reviewer.py`.
"""

# %% Three reviews of several thousand abstracts: a relevant study has grade 1, or 2 if it is kept after the full text
from itertools import pairwise

import numpy as np

import lexirecall
from lexirecall.labels.samples import draw_sample
from lexirecall.labels.stops import evaluate_stops

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

# %% On past reviews: how deep to read, to the last relevant study or to 95% of them, and how much work that saves
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

# %% How did past reviews end that were stopped by a rule? Here: after 100 abstracts in a row without a relevant study
stops: dict[str, dict[str, int]] = {}
for name, run in runs.items():
    for review, ranking in run.items():
        places = [0, *(place for place, study in enumerate(ranking, 1) if study in qrels[review]), len(ranking)]
        gaps = (last for last, following in pairwise(places) if following - last > 100)
        stops.setdefault(name, {})[review] = min(next(gaps, len(ranking)) + 100, len(ranking))
print(evaluate_stops(qrels, runs, stops=stops), "\n")

# %% How many of all possible placements would have been worse? (exact, on a log scale: bits of luck)
bits = lexirecall.evaluate(qrels, runs, ["LexiRecallBits"], corpus_size=reviews)
print(bits, "\n")

# %% A new review: 6,000 abstracts in the order of a ranking, and nobody knows how many of them are relevant
size, truth = 6_000, {f"PMID{i}" for i in rng.choice(6_000, 240, replace=False).tolist()}
studies = [f"PMID{i}" for i in range(size)]
strengths = rng.normal(size=size) + 3.5 * np.array([study in truth for study in studies])
ranking = {"new": [studies[i] for i in np.argsort(-strengths).tolist()]}


def judge(documents):
    """Stand in for the people who read the abstracts."""
    return {"new": {document: int(document in truth) for document in documents}}


# %% I stop after 1,000, and draw 1,000 of the others at random: a file to fill in, its size fixed beforehand
read = 1_000
judged = judge(ranking["new"][:read])
drawn = draw_sample(judged, ranking, 1_000, read=read, seed=1)
print("\n".join(drawn.to_csv().splitlines()[:4]), "\n…\n")

# %% People judge it. How much was surely found? I may look a second time, so I plan for two looks from the start
asked = {"looks": 2, "wanted": 0.95}
first = lexirecall.certify(judged, ranking, read=read, sampled=judge(study for _, study in drawn.rows), **asked)
print(*first.sentences(), sep="\n")

# %% I read on as far as it says, and draw as many again
more = first.plans[0].read_needed
judged = judge(ranking["new"][: read + more])
drawn = draw_sample(judged, ranking, 1_000, read=read + more, seed=2)
second = lexirecall.certify(judged, ranking, read=read + more, sampled=judge(study for _, study in drawn.rows), **asked)
print(f"\nAfter reading {more:,} more:", *second.sentences(), sep="\n")

# %% Here the truth is known: both certificates hold
print()
for certificate in (*first, *second):
    recall, low = certificate.counts.found / len(truth), certificate.bounds.recall_low
    print(f"{certificate.counts.read:,} read: certified at least {low:.1%}, in truth {recall:.1%}")
