"""lexirecall: evaluate rankings by whether everything relevant is found.

The public names, and nothing else; each is imported when it is first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lexirecall.errors import DataError, FormatError, LexirecallError, UnknownMeasure, UsageError
    from lexirecall.exact import colex_rank, colex_unrank, sort_key
    from lexirecall.formats import project
    from lexirecall.judgments import Judgments
    from lexirecall.measures import MEASURES, Measure
    from lexirecall.measures.providers import ProviderExposure, provider_exposure
    from lexirecall.meta import Study, study
    from lexirecall.names import parse_measure, parse_measures, parse_preference, register
    from lexirecall.page import Report, report
    from lexirecall.positions import Positions, Projection
    from lexirecall.preferences import PREFERENCES, Pairs, Preference, preference_of
    from lexirecall.simulate import simulate_collection
    from lexirecall.theory import (
        expected_exposure,
        is_top_heavy,
        leximin,
        precision_orientation,
        provider_utilities,
        recall_orientation,
        tie_probability,
        user_utilities,
        worst_case_deterministic,
        worst_case_provider,
        worst_case_stochastic,
        worst_case_user,
    )
    from lexirecall.verbs.compare import compare
    from lexirecall.verbs.comparison import Comparison
    from lexirecall.verbs.evaluate import evaluate
    from lexirecall.verbs.explain import Explanation, explain
    from lexirecall.verbs.rank import Ranking, rank
    from lexirecall.verbs.scores import Scores

_HOME = {
    "MEASURES": "measures",
    "PREFERENCES": "preferences",
    "Comparison": "verbs.comparison",
    "DataError": "errors",
    "Explanation": "verbs.explain",
    "FormatError": "errors",
    "Judgments": "judgments",
    "LexirecallError": "errors",
    "Measure": "measures",
    "Pairs": "preferences",
    "Positions": "positions",
    "Preference": "preferences",
    "Projection": "positions",
    "ProviderExposure": "measures.providers",
    "Ranking": "verbs.rank",
    "Report": "page",
    "Scores": "verbs.scores",
    "Study": "meta",
    "UnknownMeasure": "errors",
    "UsageError": "errors",
    "colex_rank": "exact",
    "colex_unrank": "exact",
    "compare": "verbs.compare",
    "evaluate": "verbs.evaluate",
    "expected_exposure": "theory",
    "explain": "verbs.explain",
    "is_top_heavy": "theory",
    "leximin": "theory",
    "parse_measure": "names",
    "parse_measures": "names",
    "parse_preference": "names",
    "precision_orientation": "theory",
    "preference_of": "preferences",
    "project": "formats",
    "provider_exposure": "measures.providers",
    "provider_utilities": "theory",
    "rank": "verbs.rank",
    "recall_orientation": "theory",
    "register": "names",
    "report": "page",
    "simulate_collection": "simulate",
    "sort_key": "exact",
    "study": "meta",
    "tie_probability": "theory",
    "user_utilities": "theory",
    "worst_case_deterministic": "theory",
    "worst_case_provider": "theory",
    "worst_case_stochastic": "theory",
    "worst_case_user": "theory",
}

__all__ = [
    "MEASURES", "PREFERENCES", "Comparison", "DataError", "Explanation", "FormatError", "Judgments",
    "LexirecallError", "Measure", "Pairs", "Positions", "Preference", "Projection", "ProviderExposure", "Ranking",
    "Report", "Scores", "Study", "UnknownMeasure", "UsageError", "colex_rank", "colex_unrank", "compare",
    "evaluate", "expected_exposure", "explain", "is_top_heavy", "leximin", "parse_measure", "parse_measures",
    "parse_preference", "precision_orientation", "preference_of", "project", "provider_exposure",
    "provider_utilities", "rank", "recall_orientation", "register", "report",
    "simulate_collection", "sort_key", "study", "tie_probability", "user_utilities", "worst_case_deterministic",
    "worst_case_provider", "worst_case_stochastic", "worst_case_user",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from lexirecall.version import VERSION

        return VERSION
    if name not in _HOME:
        raise AttributeError(f"module 'lexirecall' has no attribute {name!r}")
    value = getattr(import_module(f"lexirecall.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
