"""lexirecall: evaluate rankings by whether everything relevant is found.

Belongs here: the verbs and what they take, and nothing else. Each is imported when it is first used, so importing the
package costs nothing. What verbs return is in `lexirecall.results`. The tables of measures are `lexirecall.measures`
and `lexirecall.preferences`; `lexirecall.names` reads their names. There are also `lexirecall.errors`, `exact`,
`theory`, `statistics`, `meta`, `page`, `simulate`, and the modules of `lexirecall.engines` and `lexirecall.adapters`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lexirecall.errors import LexirecallError, LexirecallWarning
    from lexirecall.formats import load_judgments, load_positions, project
    from lexirecall.formats.embeddings import project_embeddings
    from lexirecall.formats.scores import project_scores
    from lexirecall.gates.funnels import funnel
    from lexirecall.gates.gate import gate
    from lexirecall.judgments import Judgments
    from lexirecall.labels.certification import certify
    from lexirecall.labels.missing import unjudged
    from lexirecall.learn.fusion import fuse
    from lexirecall.measures import Measure
    from lexirecall.meta import study
    from lexirecall.names import parse_measure, parse_preference, register
    from lexirecall.page import report
    from lexirecall.positions import Positions
    from lexirecall.preferences import Preference
    from lexirecall.simulate import simulate_collection
    from lexirecall.verbs.compare import compare
    from lexirecall.verbs.evaluate import evaluate
    from lexirecall.verbs.explain import explain
    from lexirecall.verbs.rank import rank

_HOME = {
    "Judgments": "judgments",
    "LexirecallError": "errors",
    "LexirecallWarning": "errors",
    "Measure": "measures",
    "Positions": "positions",
    "Preference": "preferences",
    "certify": "labels.certification",
    "compare": "verbs.compare",
    "evaluate": "verbs.evaluate",
    "explain": "verbs.explain",
    "gate": "gates.gate",
    "funnel": "gates.funnels",
    "fuse": "learn.fusion",
    "load_judgments": "formats",
    "load_positions": "formats",
    "parse_measure": "names",
    "parse_preference": "names",
    "project": "formats",
    "project_embeddings": "formats.embeddings",
    "project_scores": "formats.scores",
    "rank": "verbs.rank",
    "register": "names",
    "report": "page",
    "simulate_collection": "simulate",
    "study": "meta",
    "unjudged": "labels.missing",
}

__all__ = [
    "Judgments", "LexirecallError", "LexirecallWarning", "Measure", "Positions", "Preference", "certify", "compare",
    "evaluate", "explain", "funnel", "fuse", "gate", "load_judgments", "load_positions", "parse_measure",
    "parse_preference", "project", "project_embeddings", "project_scores", "rank", "register", "report",
    "simulate_collection", "study", "unjudged",
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
