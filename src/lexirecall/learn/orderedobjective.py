"""The ordered loss: how far down the relevant documents of a ranking are, the last ones weighing most.

Belongs here: the loss of one query, with its gradient. Not here: what the scores are made of, and minimising it
(featureweights).
"""

from dataclasses import dataclass

import numpy as np

from lexirecall.errors import UsageError
from lexirecall.judgments import FloatArray


@dataclass(frozen=True, slots=True)
class OrderedObjective:
    """The logarithms of the soft positions of relevant documents, from the last up, with weights 1, δ, δ² and so on.

    The soft position of a relevant document is 1 plus, for each document that is not relevant, how much that one is
    above it: sigmoid((s_j - s_i)/τ). Weights are normalised. A discount δ of 0 counts the last relevant document alone,
    and 1 all alike. Documents that stand for several have a count above 1.

    >>> loss = OrderedObjective(discount=0)
    >>> value, above, below = loss.value_and_gradient(np.array([2.0, 0.0]), np.array([0.0]), np.array([3.0]))
    >>> bool(np.isclose(value, np.log(1 + 3 * 0.5))), above.round(9).tolist(), below.round(9).tolist()
    (True, [-0.0, -0.3], [0.3])
    """

    discount: float = 0.9
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.discount <= 1:
            raise UsageError(f"discount is {self.discount}, but must be from 0 to 1")
        if not 0 < self.temperature < float("inf"):
            raise UsageError(f"temperature is {self.temperature}, but must be above 0 and finite")

    def value_and_gradient(
        self, relevant: FloatArray, others: FloatArray, counts: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the loss of one query, and its derivatives by the scores of relevant documents and of the others."""
        with np.errstate(over="ignore"):  # an infinite exponential is a sigmoid of 0
            above = np.subtract.outer(relevant, others)
            # sigmoid(x) is 1/(1 + exp(-x)); in place, as the table has a cell for each relevant document and other one.
            above *= 1 / self.temperature
            np.exp(above, out=above)
            above += 1
            np.reciprocal(above, out=above)
        positions = 1 + above @ counts
        # Weights depend on the order alone, so they have no derivative.
        steps = self.weights(positions) / positions / self.temperature
        above -= above * above  # the derivative of the sigmoid
        by_relevant = -steps * (above @ counts)
        by_others = (steps.astype(above.dtype) @ above) * counts
        return float(self.weights(positions) @ np.log(positions)), by_relevant, by_others

    def weights(self, positions: FloatArray) -> FloatArray:
        """Return the weight of each relevant document: the last one has most.

        >>> OrderedObjective(discount=0.5).weights(np.array([1.0, 9.0])).round(4).tolist()
        [0.3333, 0.6667]
        """
        powers = np.power(self.discount, np.arange(len(positions)))
        weights = np.empty(len(positions))
        weights[np.argsort(-positions, kind="stable")] = powers / powers.sum()
        return weights
