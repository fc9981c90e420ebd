"""Results: what the verbs return, and what these hold.

Belongs here: the names, to find all results in one place. Not here: the classes, which are beside the verbs that make
them.
"""

from lexirecall.gates.changes import Change, Moved
from lexirecall.gates.checks import Checked
from lexirecall.gates.decisions import Decision
from lexirecall.gates.funnelresult import Arrival, Funnel, Loss, Stage
from lexirecall.gates.result import GateResult
from lexirecall.labels.certificates import Certificate, Missed, RecallBounds, ReviewCounts, SampleCount
from lexirecall.labels.certified import Certificates
from lexirecall.labels.forecasts import OrderForecast, PairForecast
from lexirecall.labels.hindsight import Hindsight
from lexirecall.labels.judging import Candidate
from lexirecall.labels.missingresult import PairLabels, RunBound, RunLabels, Unjudged
from lexirecall.labels.sampleplans import SamplePlan
from lexirecall.labels.wholeruns import KnownDecisions
from lexirecall.learn.candidates import Candidates
from lexirecall.learn.choosing import Tuning
from lexirecall.learn.fusedresult import FoldModel, Fused
from lexirecall.learn.weightsfile import FusionWeights
from lexirecall.manifest import Manifest, Note
from lexirecall.measures.providers import ProviderExposure
from lexirecall.meta import Study
from lexirecall.page import Report
from lexirecall.positions import Projection
from lexirecall.preferences import Pairs
from lexirecall.statistics import Order
from lexirecall.verbs.averages import Averages
from lexirecall.verbs.compared import FamilyTest, MeasureComparison
from lexirecall.verbs.comparison import Comparison, SafeDecisions
from lexirecall.verbs.discoveries import Discoveries
from lexirecall.verbs.explain import Explanation
from lexirecall.verbs.explanation import QueryExplanation, Side
from lexirecall.verbs.exposures import Exposures
from lexirecall.verbs.intervals import Intervals
from lexirecall.verbs.policyscores import PolicyScores
from lexirecall.verbs.rank import Ranking
from lexirecall.verbs.sampled import PolicyPair, WorstOff
from lexirecall.verbs.scores import Scores

__all__ = [
    "Arrival", "Averages", "Candidate", "Candidates", "Certificate", "Certificates", "Change",
    "Checked", "Comparison", "Decision", "Discoveries", "Explanation", "Exposures", "FamilyTest", "FoldModel",
    "Funnel", "Fused", "FusionWeights", "GateResult", "Hindsight", "Intervals", "KnownDecisions",
    "Loss", "Manifest", "MeasureComparison", "Missed", "Moved", "Note", "Order", "OrderForecast", "PairForecast",
    "PairLabels", "Pairs", "PolicyPair", "PolicyScores", "Projection", "ProviderExposure", "QueryExplanation",
    "Ranking", "RecallBounds", "Report", "ReviewCounts", "RunBound", "RunLabels", "SafeDecisions",
    "SampleCount", "SamplePlan", "Scores", "Side", "Stage", "Study", "Tuning", "Unjudged", "WorstOff",
]  # fmt: skip
