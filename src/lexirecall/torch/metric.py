"""Metric: a torchmetrics Metric whose state is positions.

Belongs here: what torchmetrics asks of a metric. Not here: counting (formats), the table that is its state (rows).
"""

# if torchmetrics is not installed, its classes have the type Any:
# mypy: disallow-subclassing-any=False

import hashlib
import logging
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from lexirecall.errors import UsageError, counted, listed
from lexirecall.formats.memory import ID_SHAPE
from lexirecall.formats.scores import project_scores
from lexirecall.installing import how_to_install
from lexirecall.judgments import IntArray
from lexirecall.manifest import Conventions, Policies
from lexirecall.names import Evaluable, parse_names
from lexirecall.positions import Positions
from lexirecall.preferences import Preference
from lexirecall.text import id_of, to_bytes, to_text
from lexirecall.torch.checkpoints import MEASURES, Baseline, baseline_of, side_by_side
from lexirecall.torch.rows import WIDTH, GatheredRows, gathered, rows_of
from lexirecall.verbs.evaluate import evaluate
from lexirecall.verbs.scores import Scores

try:
    import torch
    from torchmetrics import Metric
except ImportError:
    raise UsageError(
        "PositionsMetric needs torch and torchmetrics", remedy=how_to_install("torch", "torchmetrics")
    ) from None
_log = logging.getLogger(__name__)


class PositionsMetric(Metric):
    """Exact recall measures of score matrices, batch by batch; torchmetrics gathers them over processes.

    Each call of `update` takes the scores of some queries for all documents, [queries, documents], and the relevant
    documents in any form that `project_scores` takes: a mask or grades of the same shape, a sparse matrix, or a list of
    indices for each query. Scores are counted where they are; only the positions are kept, a few numbers for each
    judged document. `compute` gives the mean of every measure, and `positions` gives all positions, for the verbs.
    `notes` says what is left out of the means; `compute` logs it.

    `query_ids` are whole numbers. With them, the result does not depend on the order of the batches or on which process
    saw them, and a query that a distributed sampler repeats counts once. Without them, every row is a query of its own.

    A preference, such as LexiRecall, is the share of queries that the scores win against `baseline`, ties as half. That
    is positions of one run with the same `query_ids` as its queries, such as `positions` of an earlier epoch, or a
    positions file. It can be exchanged at any time: `metric.baseline = metric.positions()`.

    >>> scores = torch.tensor([[0.1, 0.9, 0.4, 0.3], [0.8, 0.2, 0.7, 0.6]])
    >>> metric = PositionsMetric(["TSE", "LastRel"])
    >>> metric.update(scores, [[1, 0], [1]], query_ids=[7, 8])
    >>> {measure: value.item() for measure, value in metric.compute().items()}
    {'TSE': 0.25, 'LastRel': 4.0}
    >>> metric.positions().found.positions.tolist()
    [1, 4, 4]
    """

    is_differentiable = False
    higher_is_better = None
    full_state_update = False
    rows: list[Any]
    made_with: Any

    def __init__(
        self,
        measures: Sequence[str] = MEASURES,
        *,
        baseline: Baseline | None = None,
        document_ids: Sequence[Any] | None = None,
        ties: str = "trec",
        level: float = 1,
        name: str = "run",
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self.ties, self.level, self.name = Conventions(ties=ties).ties, Policies(level=level).level, name
        rows = _checked(measures, ties, has_baseline=baseline is not None)
        self.measures = tuple(map(str, rows))
        self._compares = any(isinstance(row, Preference) for row in rows)
        self.baseline = baseline
        self.document_ids = None if document_ids is None else [_text_of(document) for document in document_ids]
        self._index_of = (
            None
            if document_ids is None
            else {to_bytes(document): i for i, document in enumerate(self.document_ids or ())}
        )
        self.add_state("rows", default=[], dist_reduce_fx="cat")
        # A MetricCollection lets metrics share their rows if the states are equal after one batch, so what rows depend
        # on is a state too. In bytes, because states count as equal if they are nearly equal.
        self.add_state("made_with", default=_digest(ties, self.document_ids), dist_reduce_fx="max")

    @property
    def baseline(self) -> Positions | None:
        """The positions that preferences compare with."""
        return self._baseline

    @baseline.setter
    def baseline(self, baseline: Baseline | None) -> None:
        if baseline is None and self._compares:
            raise _no_baseline([str(row) for row in parse_names(self.measures) if isinstance(row, Preference)])
        self._baseline = None if baseline is None else baseline_of(baseline)
        self._computed = None  # what torchmetrics keeps of the last compute

    def update(self, scores: Any, relevant: Any, query_ids: Any | None = None, *, exclude: Any | None = None) -> None:
        """Find the positions of the relevant documents of some queries; `exclude` as in `project_scores`."""
        if len(scores) == 0:  # a batch in which nothing is left
            return
        positions = project_scores(
            scores, relevant, exclude=exclude, document_ids=self.document_ids, name=self.name, ties=self.ties
        )
        numbers = None if query_ids is None else _numbers(query_ids, len(positions.queries))
        index_of = int if self._index_of is None else self._index_of.__getitem__
        rows = rows_of(positions, numbers, index_of, _process())
        self.rows.append(torch.from_numpy(rows).to(self.device))

    def compute(self) -> dict[str, Any]:
        """Return the mean of every measure over all queries so far, those of other processes among them.

        If no query has a relevant document, as may be so in one batch, there is nothing to measure: means are NaN.
        """
        found = self._gathered()
        scores = self._scores(found.positions)
        for note in _notes(found, scores):
            _log.info("%s", note)
        means = [math.nan] * len(self.measures) if scores is None else scores.means[0].tolist()
        dtype = torch.float32 if self.device.type == "mps" else torch.float64  # the former has no float64
        values = [torch.tensor(mean, dtype=dtype, device=self.device) for mean in means]
        return dict(zip(self.measures, values, strict=True))

    def positions(self) -> Positions:
        """Return the positions so far; after `sync`, those of all processes."""
        return self._gathered().positions

    @property
    def num_repeated(self) -> int:
        """How many queries came more than once and count once."""
        return self._gathered().num_repeated

    @property
    def notes(self) -> tuple[str, ...]:
        """What is left out of the means so far, and other things that a reader of them should know."""
        found = self._gathered()
        return _notes(found, self._scores(found.positions))

    def _gathered(self) -> GatheredRows:
        parts = self.rows if isinstance(self.rows, list) else [self.rows]  # gathering leaves one tensor
        if not sum(map(len, parts)):
            raise UsageError("there are no positions yet", remedy="call update first")
        if self.made_with.tolist() != self._defaults["made_with"].tolist():
            problem = "these positions come from a metric with another tie rule or other item_ids"
            raise UsageError(problem, remedy="make both metrics in the same way")
        rows = np.concatenate([part.cpu().numpy() for part in parts])
        return gathered(rows, name=self.name, ties=self.ties, document_ids=self.document_ids)

    def _scores(self, positions: Positions) -> Scores | None:
        """Return the scores, with those of the baseline below if they are compared; None if nothing is relevant."""
        if not positions.num_relevant(self.level).any():
            return None
        then = self.baseline if self._compares else None
        compared = positions if then is None else side_by_side(positions, then)
        return evaluate(compared, measures=list(self.measures), level=self.level)

    def sync(self, *arguments: Any, **settings: Any) -> None:
        """Gather the positions of all processes, also if this one has none yet."""
        if isinstance(self.rows, list) and not self.rows:  # torchmetrics would send numbers of another type
            self.rows.append(torch.empty((0, WIDTH), dtype=torch.int64, device=self.device))
        super().sync(*arguments, **settings)


def _process() -> int:
    """Return the number of this process."""
    is_one_of_several = torch.distributed.is_available() and torch.distributed.is_initialized()
    return int(torch.distributed.get_rank()) if is_one_of_several else 0


def _notes(found: GatheredRows, scores: Scores | None) -> tuple[str, ...]:
    differing = (
        f"; the first process counts where scores differ ({found.num_differing:,})" if found.num_differing else ""
    )
    repeated = f"{counted(found.num_repeated, 'query')} given more than once: counted once{differing}"
    nothing = ("no query has a relevant document: there is nothing to measure",)
    others = nothing if scores is None else tuple(note.text for note in scores.notes)
    return (repeated, *others) if found.num_repeated else others


def _checked(measures: Sequence[str], ties: str, *, has_baseline: bool) -> list[Evaluable]:
    """Return the measures; raise if one of them could not be computed after all batches."""
    rows = parse_names(measures)
    if not has_baseline and (compared := [str(row) for row in rows if isinstance(row, Preference)]):
        raise _no_baseline(compared)
    if ties == "expected":
        for row in rows:
            row.require_closed_form()
    return rows


def _no_baseline(compared: Sequence[str]) -> UsageError:
    return UsageError(
        f"{listed(compared)} compares two runs, and the metric has one",
        remedy="give the other one as baseline=: positions of one run, or a positions file",
    )


def _text_of(document: Any) -> str:
    try:
        return to_text(id_of(document))
    except (TypeError, ValueError):
        raise UsageError(f"item_ids: {document!r} is not a document id", remedy=ID_SHAPE) from None


def _digest(ties: str, document_ids: Sequence[str] | None) -> Any:
    digest = hashlib.blake2b(repr((ties, document_ids)).encode(), digest_size=16).digest()
    return torch.tensor(list(digest), dtype=torch.uint8)


def _numbers(query_ids: Any, num_queries: int) -> IntArray:
    """Return the numbers of queries, checked."""
    numbers = np.asarray(query_ids.cpu() if hasattr(query_ids, "cpu") else query_ids)
    if numbers.shape != (num_queries,) or not np.issubdtype(numbers.dtype, np.integer) or (numbers < 0).any():
        raise UsageError(
            f"query_ids have the shape {list(numbers.shape)} and the type {numbers.dtype}",
            remedy=f"give a whole number, 0 or more, for each of the {num_queries:,} queries",
        )
    return numbers.astype(np.int64)
