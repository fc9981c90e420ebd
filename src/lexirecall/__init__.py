"""lexirecall: evaluate rankings by whether everything relevant is found.

The public names, and nothing else; each is imported when it is first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lexirecall.errors import DataError, FormatError, LexirecallError, UnknownMeasure, UsageError
    from lexirecall.formats import project
    from lexirecall.judgments import Judgments
    from lexirecall.measures import MEASURES, Measure
    from lexirecall.names import parse_measure, parse_measures, parse_preference, register
    from lexirecall.positions import Positions, Projection
    from lexirecall.preferences import PREFERENCES, Pairs, Preference
    from lexirecall.simulate import simulate_collection
    from lexirecall.verbs.evaluate import evaluate, score
    from lexirecall.verbs.scores import Scores

_HOME = {
    "MEASURES": "measures",
    "PREFERENCES": "preferences",
    "DataError": "errors",
    "FormatError": "errors",
    "Judgments": "judgments",
    "LexirecallError": "errors",
    "Measure": "measures",
    "Pairs": "preferences",
    "Positions": "positions",
    "Preference": "preferences",
    "Projection": "positions",
    "Scores": "verbs.scores",
    "UnknownMeasure": "errors",
    "UsageError": "errors",
    "evaluate": "verbs.evaluate",
    "parse_measure": "names",
    "parse_measures": "names",
    "parse_preference": "names",
    "project": "formats",
    "register": "names",
    "score": "verbs.evaluate",
    "simulate_collection": "simulate",
}

__all__ = [
    "MEASURES", "PREFERENCES", "DataError", "FormatError", "Judgments", "LexirecallError", "Measure", "Pairs",
    "Positions", "Preference", "Projection", "Scores", "UnknownMeasure", "UsageError", "evaluate", "parse_measure",
    "parse_measures", "parse_preference", "project", "register", "score", "simulate_collection",
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
