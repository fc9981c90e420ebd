"""Statistics: what the differences between runs are worth.

Belongs here: tests of pairs (`paired`), corrections for many of them (`corrections`), all pairs at once (`maxt`,
`hsd`), whether a difference varies by group (`interaction`), whether a test can find anything (`attainable`), how much
a measure can tell apart (`power`), one order of runs (`aggregate`, `leximin`), one number over many queries (`over`,
`overpairs`), how large a share of queries may be (`shares`), how many of a population may be relevant, given a sample
(`hypergeometric`), and how much all that depends on which queries there are (`bootstrap`, `exposures`). Numbers in,
numbers out. Not here: names of runs, and tables.
"""

from lexirecall.statistics.aggregate import METHODS, Method, Order, majority, majority_cycles, order_systems
from lexirecall.statistics.attainable import Attainable, least_attainable, resamples_needed
from lexirecall.statistics.bootstrap import (
    ResampledMeans,
    ResampledOrder,
    bootstrap_means,
    bootstrap_order,
    significant_ranks,
)
from lexirecall.statistics.corrections import CORRECTIONS, benjamini_hochberg, bonferroni, correct, holm
from lexirecall.statistics.differences import Differences, Summary
from lexirecall.statistics.exposures import ResampledExposures, bootstrap_exposures
from lexirecall.statistics.hsd import HSD, randomized_tukey_hsd, tukey_hsd
from lexirecall.statistics.hypergeometric import fewest_relevant, most_relevant
from lexirecall.statistics.interaction import Interaction, interactions
from lexirecall.statistics.leximin import order_by_leximin
from lexirecall.statistics.maxt import MaxT, max_t
from lexirecall.statistics.over import Over, bootstrap_over, over_queries
from lexirecall.statistics.overpairs import OverPairs, compare_over
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
from lexirecall.statistics.power import (
    detectable_effects,
    detectable_shares,
    discriminative_power,
    requests_for_effects,
    requests_for_preference,
    share_of_alpha,
)
from lexirecall.statistics.shares import share_interval

__all__ = [
    "CORRECTIONS", "HSD", "METHODS", "TESTS", "Attainable", "Differences", "Interaction", "MaxT", "Method", "Order",
    "Over", "OverPairs", "PairedTests", "ResampledExposures", "ResampledMeans", "ResampledOrder", "Summary",
    "benjamini_hochberg", "bonferroni", "bootstrap_exposures", "bootstrap_means", "bootstrap_order", "bootstrap_over",
    "compare_over", "correct", "default_test", "detectable_effects", "detectable_shares", "discriminative_power",
    "effect_sizes", "fewest_relevant", "holm", "interactions", "least_attainable", "majority", "majority_cycles",
    "max_t", "most_relevant", "order_by_leximin", "order_systems", "over_queries", "paired_t", "randomization",
    "randomized_tukey_hsd", "requests_for_effects", "requests_for_preference", "resamples_needed", "share_interval",
    "share_of_alpha", "sign_test", "significant_ranks", "tukey_hsd", "wilcoxon",
]  # fmt: skip
