"""Results: what the verbs return, and what these hold.

Belongs here: the names, to find all results in one place. Not here: the classes, which are beside the verbs that make
them.
"""

from lexirecall.gates.changes import Change, DocumentMove
from lexirecall.gates.checks import RequirementCheck
from lexirecall.gates.decisions import Decision
from lexirecall.gates.funnelresult import Arrival, Funnel, Loss, Stage
from lexirecall.gates.result import GateResult
from lexirecall.labels.certificateresult import Certificates
from lexirecall.labels.certificates import Certificate, MissedBounds, RecallBounds, ReviewCounts, SampleCount
from lexirecall.labels.forecasts import OrderForecast, PairForecast
from lexirecall.labels.hindsight import Hindsight
from lexirecall.labels.judgingorder import Candidate
from lexirecall.labels.missingresult import PairLabels, RunBound, RunLabels, Unjudged
from lexirecall.labels.sampleplans import SamplePlan
from lexirecall.labels.wholeruns import KnownDecisions
from lexirecall.learn.candidates import Candidates
from lexirecall.learn.fusionresult import FoldModel, FusedRun
from lexirecall.learn.modelchoice import Tuning
from lexirecall.learn.weightsfile import FusionWeights
from lexirecall.manifest import Manifest, Note
from lexirecall.measures.providers import ProviderExposure
from lexirecall.meta import Study
from lexirecall.page import Report
from lexirecall.positions import Projection
from lexirecall.preferences import Pairs
from lexirecall.statistics import Order
from lexirecall.verbs.averages import Averages
from lexirecall.verbs.comparison import Comparison, SafeDecisions
from lexirecall.verbs.discoveries import Discoveries
from lexirecall.verbs.explain import Explanation
from lexirecall.verbs.explanation import QueryExplanation, Side
from lexirecall.verbs.exposures import Exposures
from lexirecall.verbs.intervals import Intervals
from lexirecall.verbs.measurecomparison import FamilyTest, MeasureComparison
from lexirecall.verbs.policysamples import PolicyPair, WorstOff
from lexirecall.verbs.policyscores import PolicyScores
from lexirecall.verbs.rank import Ranking
from lexirecall.verbs.scores import Scores

__all__ = [
    "Arrival",
    "Averages",
    "Candidate",
    "Candidates",
    "Certificate",
    "Certificates",
    "Change",
    "Comparison",
    "Decision",
    "Discoveries",
    "DocumentMove",
    "Explanation",
    "Exposures",
    "FamilyTest",
    "FoldModel",
    "Funnel",
    "FusedRun",
    "FusionWeights",
    "GateResult",
    "Hindsight",
    "Intervals",
    "KnownDecisions",
    "Loss",
    "Manifest",
    "MeasureComparison",
    "MissedBounds",
    "Note",
    "Order",
    "OrderForecast",
    "PairForecast",
    "PairLabels",
    "Pairs",
    "PolicyPair",
    "PolicyScores",
    "Projection",
    "ProviderExposure",
    "QueryExplanation",
    "Ranking",
    "RecallBounds",
    "Report",
    "RequirementCheck",
    "ReviewCounts",
    "RunBound",
    "RunLabels",
    "SafeDecisions",
    "SampleCount",
    "SamplePlan",
    "Scores",
    "Side",
    "Stage",
    "Study",
    "Tuning",
    "Unjudged",
    "WorstOff",
]  # fmt: skip
