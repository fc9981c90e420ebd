"""Exact places: a ranking as a whole number, exactly, and keys that sort as LexiRecall does.

Belongs here: the place of a ranking among all placements of its relevant documents (`colex`), the sums of binomial
coefficients behind it (`binomials`), and the number that the paper gives for it (`yager`). Not here: the measures made
from them (measures.exact).
"""

from lexirecall.exact.colex import (
    Place,
    bits,
    colex_rank,
    colex_unrank,
    lex_rank,
    lex_unrank,
    percentile,
    place,
    sort_key,
)
from lexirecall.exact.yager import yager_float_limit, yager_lexirecall, yager_lexirecall_exact, yager_weights

__all__ = [
    "Place", "bits", "colex_rank", "colex_unrank", "lex_rank", "lex_unrank", "percentile", "place", "sort_key",
    "yager_float_limit", "yager_lexirecall", "yager_lexirecall_exact", "yager_weights",
]  # fmt: skip
