"""Theory: what the paper proves about measures: who is worst off, what ties by chance, what a measure looks at.

Belongs here: the possible users and providers of a ranking (`population`), which measures have their worst case in
closed form (`topheavy`), precision and recall orientation (`orientation`), ties of random rankings (`chance`), and
random rankers (`stochastic`). Not here: what is computed from judgments and runs (the verbs).
"""

from lexirecall.theory.chance import (
    TieProbability,
    exact_tie_probability,
    hypergeometric,
    log2_tie_probability_lexirecall,
    tie_probability,
    tie_probability_at_level,
    tie_probability_lexirecall,
    tie_probability_recall,
    tie_probability_tse,
)
from lexirecall.theory.orientation import precision_orientation, recall_orientation
from lexirecall.theory.population import (
    Member,
    Population,
    leximin,
    provider_utilities,
    user_utilities,
    worst_case_provider,
    worst_case_user,
)
from lexirecall.theory.stochastic import (
    ExpectedExposure,
    WorstCase,
    expected_exposure,
    expected_exposure_of_positions,
    expected_utility,
    position_probabilities,
    worst_case_deterministic,
    worst_case_stochastic,
)
from lexirecall.theory.topheavy import Counterexample, is_top_heavy, top_heavy_counterexample

__all__ = [
    "Counterexample", "ExpectedExposure", "Member", "Population", "TieProbability", "WorstCase",
    "exact_tie_probability", "expected_exposure", "expected_exposure_of_positions", "expected_utility",
    "hypergeometric", "is_top_heavy", "leximin", "log2_tie_probability_lexirecall", "position_probabilities",
    "precision_orientation", "provider_utilities", "recall_orientation", "tie_probability",
    "tie_probability_at_level", "tie_probability_lexirecall", "tie_probability_recall", "tie_probability_tse",
    "top_heavy_counterexample", "user_utilities", "worst_case_deterministic", "worst_case_provider",
    "worst_case_stochastic", "worst_case_user",
]  # fmt: skip
