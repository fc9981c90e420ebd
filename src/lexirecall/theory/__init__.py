"""Theory: what the paper proves about measures: who is worst off, what ties by chance, what a measure looks at.

Belongs here: the possible users and providers of a ranking (`population`), which measures have their worst case in
closed form (`topheavy`), precision and recall orientation (`orientation`), ties of random rankings (`chance`), and
random rankers: optimal ones (`stochastic`) and any others (`policies`, `expectations`, `duels`). Not here: what is
computed from judgments and runs (the verbs).
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
from lexirecall.theory.duels import ExpectedPreference, expected_preference
from lexirecall.theory.expectations import UserExpectations, WorstUser, expected_user_utilities, worst_off_user
from lexirecall.theory.orientation import precision_orientation, recall_orientation
from lexirecall.theory.policies import PlackettLuce
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
    "Counterexample", "ExpectedExposure", "ExpectedPreference", "Member", "PlackettLuce", "Population",
    "TieProbability", "UserExpectations", "WorstCase", "WorstUser", "exact_tie_probability", "expected_exposure",
    "expected_exposure_of_positions", "expected_preference", "expected_user_utilities", "expected_utility",
    "hypergeometric", "is_top_heavy", "leximin", "log2_tie_probability_lexirecall", "position_probabilities",
    "precision_orientation", "provider_utilities", "recall_orientation", "tie_probability",
    "tie_probability_at_level", "tie_probability_lexirecall", "tie_probability_recall", "tie_probability_tse",
    "top_heavy_counterexample", "user_utilities", "worst_case_deterministic", "worst_case_provider",
    "worst_case_stochastic", "worst_case_user", "worst_off_user",
]  # fmt: skip
