"""Statistics: what the differences between runs are worth.

Belongs here: tests of pairs (`paired`), corrections for many of them (`corrections`), all pairs at once (`maxt`,
`hsd`), whether a test can find anything (`attainable`), how much a measure can tell apart (`power`), and one order of
runs (`aggregate`). Numbers in, numbers out. Not here: names of runs, and tables.
"""

from lexirecall.statistics.aggregate import METHODS, Method, Order, majority, majority_cycles, order_systems
from lexirecall.statistics.attainable import Attainable, least_attainable, resamples_needed
from lexirecall.statistics.corrections import CORRECTIONS, benjamini_hochberg, bonferroni, correct, holm
from lexirecall.statistics.differences import Differences, Summary
from lexirecall.statistics.hsd import HSD, randomized_tukey_hsd, tukey_hsd
from lexirecall.statistics.maxt import MaxT, max_t
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
    "CORRECTIONS", "HSD", "METHODS", "TESTS", "Attainable", "Differences", "MaxT", "Method", "Order", "PairedTests",
    "Summary", "benjamini_hochberg", "bonferroni", "correct", "default_test", "discriminative_power", "effect_sizes",
    "holm", "least_attainable", "majority", "majority_cycles", "max_t", "order_systems", "paired_t", "randomization",
    "randomized_tukey_hsd", "requests_needed", "resamples_needed", "sign_test", "tukey_hsd", "wilcoxon",
]  # fmt: skip
