"""How likely two random rankings tie, by the size of the corpus.

Belongs here: the table, and one line of it, which the table by relevant documents shares.
"""

from lexirecall.paper.exhibit import Exhibit, PaperValue
from lexirecall.paper.papervalues import COLUMNS, beside, rows_of
from lexirecall.theory import tie_probability

NUM_RELEVANT = 10
MEASURES = ("TSE", "R@1000", "Rprec", "AP", "LexiRecall")
PAPER = {
    10**3: (0.005, 1.000, 0.825, 0.000, 0.000),
    10**4: (0.001, 0.313, 0.980, 0.000, 0.000),
    10**5: (0.000, 0.826, 0.998, 0.000, 0.000),
    10**6: (0.000, 0.980, 1.000, 0.000, 0.000),
}
HOW = (
    "Exact, except for AP: its ties have no closed form, so each value comes from 10,000 pairs. If none of them tie, "
    "the probability is below .0004, at 95% confidence."
)


def exhibit(seed: int) -> Exhibit:
    """Compute the probabilities for every corpus size of the paper."""
    cells = {n: held_ties(NUM_RELEVANT, n, printed, seed) for n, printed in PAPER.items()}
    return Exhibit(
        "ties-by-corpus",
        f"Probability that two random rankings tie, by corpus size n, for m = {NUM_RELEVANT} relevant documents",
        ("n", *COLUMNS),
        rows_of("n", cells),
        beside("n", cells),
        remarks=(
            HOW,
            "Rprec at n = 1,000 is .8257; the paper's .825 is off in the third digit.",
        ),
    )


def held_ties(num_relevant: int, corpus_size: int, printed: tuple[float, ...], seed: int) -> dict[str, PaperValue]:
    """Return the tie probability of each measure beside what the paper prints.

    >>> str(held_ties(10, 1000, PAPER[1000], seed=1)["Rprec"])
    '0.8257 (paper 0.825)'
    """
    return {
        name: PaperValue(tie_probability(name, num_relevant, corpus_size, rng=seed).value, theirs)
        for name, theirs in zip(MEASURES, printed, strict=True)
    }
