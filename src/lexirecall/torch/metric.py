"""Metric: a torchmetrics Metric whose state is positions.

Belongs here: what torchmetrics asks of a metric. Not here: counting (formats), the table that is its state (rows).
"""

# if torchmetrics is not installed, its classes have the type Any:
# mypy: disallow-subclassing-any=False

from collections.abc import Sequence
from typing import Any

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.formats.scores import project_scores
from lexirecall.judgments import IntArray
from lexirecall.names import parse_names
from lexirecall.positions import Positions
from lexirecall.preferences import Preference
from lexirecall.text import to_bytes
from lexirecall.torch.checkpoints import MEASURES
from lexirecall.torch.rows import WIDTH, Gathered, gathered, rows_of
from lexirecall.verbs.evaluate import evaluate

try:
    import torch
    from torchmetrics import Metric
except ImportError:
    raise UsageError(
        "PositionsMetric needs torch and torchmetrics", remedy="pip install 'lexirecall[torch]' torchmetrics"
    ) from None


class PositionsMetric(Metric):
    """Exact recall measures of score matrices, batch by batch; torchmetrics gathers them over processes.

    Each call of `update` takes the scores of some queries for all documents, [queries, documents], and the relevant
    documents in any form that `project_scores` takes: a mask or grades of the same shape, a sparse matrix, or a list of
    indices for each query. Scores are counted where they are; only the positions are kept, a few numbers for each
    relevant document. `compute` gives the mean of every measure, and `positions` gives all positions, for the verbs.

    `query_ids` are whole numbers. With them, the result does not depend on the order of the batches or on which process
    saw them, and a query that a distributed sampler repeats counts once. Without them, every row is a query of its own.

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

    def __init__(
        self,
        measures: Sequence[str] = MEASURES,
        *,
        item_ids: Sequence[Any] | None = None,
        ties: str = "trec",
        level: float = 1,
        name: str = "run",
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        parsed = parse_names(measures)
        if compared := [str(row) for row in parsed if isinstance(row, Preference)]:
            raise UsageError(
                f"{compared[0]} compares two runs, and the metric has one",
                remedy="keep positions() of each checkpoint, and compare them",
            )
        self.measures = tuple(map(str, parsed))
        self.item_ids = None if item_ids is None else [str(item) for item in item_ids]
        self.ties, self.level, self.name = ties, level, name
        self._index_of = None if item_ids is None else {to_bytes(item): i for i, item in enumerate(self.item_ids or ())}
        self.add_state("rows", default=[], dist_reduce_fx="cat")

    def update(self, scores: Any, relevant: Any, query_ids: Any | None = None, *, exclude: Any | None = None) -> None:
        """Find the positions of the relevant documents of some queries; `exclude` as in `project_scores`."""
        positions = project_scores(
            scores, relevant, exclude=exclude, item_ids=self.item_ids, name=self.name, ties=self.ties
        )
        numbers = None if query_ids is None else _numbers(query_ids, len(positions.requests))
        rows = rows_of(positions, numbers, int if self._index_of is None else self._index_of.__getitem__)
        self.rows.append(torch.from_numpy(rows).to(self.device))

    def compute(self) -> dict[str, Any]:
        """Return the mean of every measure over all queries so far, those of other processes among them."""
        means = evaluate(self.positions(), measures=list(self.measures), level=self.level).means[0].tolist()
        values = [torch.tensor(mean, dtype=torch.float64) for mean in means]
        return dict(zip(self.measures, values, strict=True))

    def positions(self) -> Positions:
        """Return the positions so far; after `sync`, those of all processes."""
        return self._gathered().positions

    @property
    def num_repeated(self) -> int:
        """How many queries came more than once and count once."""
        return self._gathered().num_repeated

    def _gathered(self) -> Gathered:
        parts = self.rows if isinstance(self.rows, list) else [self.rows]  # gathering leaves one tensor
        if not sum(map(len, parts)):
            raise UsageError("there are no positions yet", remedy="call update first")
        rows = np.concatenate([part.cpu().numpy() for part in parts])
        return gathered(rows, name=self.name, ties=self.ties, item_ids=self.item_ids)

    def sync(self, *arguments: Any, **settings: Any) -> None:
        """Gather the positions of all processes, also if this one has none yet."""
        if isinstance(self.rows, list) and not self.rows:  # torchmetrics would send numbers of another type
            self.rows.append(torch.empty((0, WIDTH), dtype=torch.int64, device=self.device))
        super().sync(*arguments, **settings)


def _numbers(query_ids: Any, num_queries: int) -> IntArray:
    """Return the numbers of queries, checked."""
    numbers = np.asarray(query_ids.cpu() if hasattr(query_ids, "cpu") else query_ids)
    if numbers.shape != (num_queries,) or not np.issubdtype(numbers.dtype, np.integer) or (numbers < 0).any():
        raise UsageError(
            f"query_ids have the shape {list(numbers.shape)} and the type {numbers.dtype}",
            remedy=f"give a whole number, 0 or more, for each of the {num_queries:,} queries",
        )
    return numbers.astype(np.int64)
