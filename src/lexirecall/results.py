"""Results: what the verbs return, and what these hold.

Belongs here: the names, to find all results in one place. Not here: the classes, which are beside the verbs that make
them.
"""

from lexirecall.gates.funnelresult import Arrival, Funnel, Loss, Stage
from lexirecall.manifest import Manifest, Note
from lexirecall.measures.providers import ProviderExposure
from lexirecall.meta import Study
from lexirecall.page import Report
from lexirecall.positions import Projection
from lexirecall.preferences import Pairs
from lexirecall.statistics import Order
from lexirecall.verbs.averages import Averages
from lexirecall.verbs.bootstrapped import Bootstrapped
from lexirecall.verbs.compared import FamilyTest, MeasureComparison
from lexirecall.verbs.comparison import Comparison
from lexirecall.verbs.explain import Explanation
from lexirecall.verbs.explanation import QueryExplanation, Side
from lexirecall.verbs.exposures import Exposures
from lexirecall.verbs.rank import Ranking
from lexirecall.verbs.scores import Scores

__all__ = [
    "Arrival", "Averages", "Bootstrapped", "Comparison", "Explanation", "Exposures", "FamilyTest", "Funnel", "Loss",
    "Manifest", "MeasureComparison", "Note", "Order", "Pairs", "Projection", "ProviderExposure", "QueryExplanation",
    "Ranking", "Report", "Scores", "Side", "Stage", "Study",
]  # fmt: skip
