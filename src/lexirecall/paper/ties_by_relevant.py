"""How likely two random rankings tie, by the number of relevant documents.

Belongs here: the table.
"""

from lexirecall.paper.exhibit import Exhibit
from lexirecall.paper.papervalues import COLUMNS, beside, rows_of
from lexirecall.paper.ties_by_corpus import HOW, held_ties

CORPUS_SIZE = 10**6
PAPER = {
    1: (0.000, 0.998, 1.000, 0.000, 0.000),
    5: (0.000, 0.990, 1.000, 0.000, 0.000),
    10: (0.000, 0.981, 1.000, 0.000, 0.000),
    25: (0.000, 0.952, 0.999, 0.000, 0.000),
    50: (0.000, 0.907, 0.995, 0.000, 0.000),
}


def exhibit(seed: int) -> Exhibit:
    """Compute the probabilities for every number of relevant documents of the paper."""
    cells = {m: held_ties(m, CORPUS_SIZE, printed, seed) for m, printed in PAPER.items()}
    return Exhibit(
        "ties-by-relevant",
        f"Probability that two random rankings tie, by the number m of relevant documents, for n = {CORPUS_SIZE:,}",
        ("m", *COLUMNS),
        rows_of("m", cells),
        beside("m", cells),
        remarks=(
            HOW,
            "R@1000 for m = 10 is .9803; the paper's .981 is off in the third digit (by corpus size it has .980).",
        ),
    )
