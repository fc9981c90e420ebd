"""Statistics: what the differences between runs are worth.

Belongs here: tests of pairs (`paired`), corrections for many of them (`corrections`), all runs at once (`hsd`), how
much a measure can tell apart (`power`), one order of runs (`aggregate`), and how much all that depends on which queries
there are (`bootstrap`). Numbers in, numbers out. Not here: names of runs, and tables.
"""

from lexirecall.statistics.aggregate import METHODS, Method, Order, majority, majority_cycles, order_systems
from lexirecall.statistics.bootstrap import (
    ResampledMeans,
    ResampledOrder,
    bootstrap_means,
    bootstrap_order,
    significant_ranks,
)
from lexirecall.statistics.corrections import CORRECTIONS, benjamini_hochberg, bonferroni, correct, holm
from lexirecall.statistics.differences import Differences, Summary
from lexirecall.statistics.hsd import HSD, randomized_tukey_hsd, tukey_hsd
from lexirecall.statistics.paired import (
    TESTS,
    PairedTests,
    default_test,
    effect_sizes,
    paired_t,
    randomization,
    sign_test,
    wilcoxon,
)
from lexirecall.statistics.power import discriminative_power, requests_needed

__all__ = [
    "CORRECTIONS", "HSD", "METHODS", "TESTS", "Differences", "Method", "Order", "PairedTests", "ResampledMeans",
    "ResampledOrder", "Summary", "benjamini_hochberg", "bonferroni", "bootstrap_means", "bootstrap_order", "correct",
    "default_test", "discriminative_power", "effect_sizes", "holm", "majority", "majority_cycles", "order_systems",
    "paired_t", "randomization", "randomized_tukey_hsd", "requests_needed", "sign_test", "significant_ranks",
    "tukey_hsd", "wilcoxon",
]  # fmt: skip
