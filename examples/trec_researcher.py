"""For a researcher with TREC runs: which of my runs finds everything, is the difference real, and why?

Run it cell by cell in an editor that knows `# %%`, or as a whole: `python examples/trec_researcher.py`.
To use your own files, name them: `python examples/trec_researcher.py qrels.txt runs/*.run`.
"""

# %% Judgments and runs: TREC files, or a simulated collection if no files are given
import sys

import lexirecall

if len(sys.argv) > 2:
    qrels, runs = sys.argv[1], sys.argv[2:]
else:
    collection = lexirecall.simulate_collection(seed=2025)
    qrels, runs = collection.qrels, collection.runs

# %% Read once; then the usual table, with LexiRecall and TSE beside what everybody reports; notes say what was left out
positions = lexirecall.project(qrels, runs)
scores = lexirecall.evaluate(positions)
print(scores, "\n")

# %% Which differences are real? The sign test for preferences, the paired t test for measures, Holm over all pairs
comparison = lexirecall.compare(positions, measures=["LexiRecall", "AP", "nDCG@10"])
print(comparison, "\n")
print(comparison.render("latex"), "\n")  # for the paper

# %% Is the winner by AP also the one that finds everything?
means = scores.to_dict()
by_ap = max(means, key=lambda run: means[run]["AP"])
by_lexirecall = max(means, key=lambda run: means[run]["LexiRecall"])
print(f"best by AP: {by_ap}; best by LexiRecall: {by_lexirecall}")

# %% Why? The query on which the two differ most, level by level
other = by_ap if by_ap != by_lexirecall else next(run for run in positions.runs if run != by_lexirecall)
explanation = lexirecall.explain(positions, pair=(by_lexirecall, other))
print(explanation.queries[0].to_text(limit=5), "\n")

# %% What the conventions were, for the appendix
print(scores.manifest.to_json()[:300], "…")
