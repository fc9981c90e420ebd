"""Statistics: what the differences between runs are worth.

Belongs here: tests of pairs (`paired`), corrections for many of them (`corrections`), all pairs at once (`maxt`,
`hsd`), whether a difference varies by group (`interaction`), whether a provider is placed like others (`placements`),
whether a test can find anything (`attainable`), how much a measure can tell apart (`power`), one order of runs
(`aggregate`, `leximin`), one number over many queries (`over`, `overpairs`), how large a share of queries may be
(`shares`), how many of a population may be relevant, given a sample (`hypergeometric`), the interval of a mean of
skewed values (`hall`), and how much all that depends on which queries there are (`bootstrap`, `exposures`). Numbers in,
numbers out. Not here: names of runs, and tables.
"""

from lexirecall.statistics.aggregate import METHODS, Method, Order, majority, majority_cycles, order_runs
from lexirecall.statistics.attainable import Attainable, least_attainable, resamples_needed
from lexirecall.statistics.bootstrap import ResampledOrder, bootstrap_order, significant_ranks
from lexirecall.statistics.corrections import CORRECTIONS, benjamini_hochberg, bonferroni, correct, holm
from lexirecall.statistics.differences import Differences
from lexirecall.statistics.exposures import ResampledExposures, bootstrap_exposures
from lexirecall.statistics.hall import mean_intervals
from lexirecall.statistics.hsd import HSD, randomized_tukey_hsd, tukey_hsd
from lexirecall.statistics.hypergeometric import fewest_relevant, most_relevant
from lexirecall.statistics.interaction import Interaction, interactions
from lexirecall.statistics.leximin import order_by_leximin
from lexirecall.statistics.maxt import MaxT, max_t
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
from lexirecall.statistics.placements import Placements, permute_owners
from lexirecall.statistics.power import (
    detectable_effects,
    detectable_shares,
    discriminative_power,
    queries_for_effects,
    queries_for_preference,
    share_of_alpha,
)
from lexirecall.statistics.queryaggregate import QueryAggregate, over_queries, quantile_intervals
from lexirecall.statistics.shares import share_interval
from lexirecall.statistics.studentized import studentized_intervals

__all__ = [
    "CORRECTIONS",
    "HSD",
    "METHODS",
    "TESTS",
    "Attainable",
    "Differences",
    "Interaction",
    "MaxT",
    "Method",
    "Order",
    "OverPairs",
    "PairedTests",
    "Placements",
    "QueryAggregate",
    "ResampledExposures",
    "ResampledOrder",
    "benjamini_hochberg",
    "bonferroni",
    "bootstrap_exposures",
    "bootstrap_order",
    "compare_over",
    "correct",
    "default_test",
    "detectable_effects",
    "detectable_shares",
    "discriminative_power",
    "effect_sizes",
    "fewest_relevant",
    "holm",
    "interactions",
    "least_attainable",
    "majority",
    "majority_cycles",
    "max_t",
    "mean_intervals",
    "most_relevant",
    "order_by_leximin",
    "order_runs",
    "over_queries",
    "paired_t",
    "permute_owners",
    "quantile_intervals",
    "queries_for_effects",
    "queries_for_preference",
    "randomization",
    "randomized_tukey_hsd",
    "resamples_needed",
    "share_interval",
    "share_of_alpha",
    "sign_test",
    "significant_ranks",
    "studentized_intervals",
    "tukey_hsd",
    "wilcoxon",
]  # fmt: skip
