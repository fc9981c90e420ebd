"""Fates: where each relevant document is lost on its way through the stages of a funnel.

Belongs here: the definitions, over the places that the documents have in the list of each stage. Not here: reading
stages (funnelstages), what is printed (funnelresult).

A stage hands on the first documents of its list, down to its depth. A document that the last stage does not hand on is
lost once, where it was seen last:

    never         no list has it
    cut           it is in the list of a stage, below the depth, and the stage before did not have it above that depth
    pushed_down   it is below the depth too, but the stage before handed it on and had it above that depth
    dropped       a stage handed it on, and the list of the next one does not have it

A document that is in the list of a stage although the stage before did not hand it on came in from elsewhere.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lexirecall.judgments import BoolArray, IntArray

KEPT, NEVER, CUT, PUSHED_DOWN, DROPPED = range(5)
FATES = ("kept", "never", "cut", "pushed_down", "dropped")
"""What programs read."""
LOSSES = {
    "never": "never retrieved",
    "cut": "cut at the depth",
    "pushed_down": "pushed down",
    "dropped": "dropped",
}
"""What people read."""


@dataclass(frozen=True)
class Paths:
    """The ways of J relevant documents through S stages.

    >>> paths = Paths(np.array([[1, 2, 9, 3, 0], [7, 0, 0, 1, 0]]), np.array([5, 2]))
    >>> [FATES[fate] for fate in paths.fates], paths.stages.tolist()
    (['pushed_down', 'dropped', 'cut', 'kept', 'never'], [1, 1, 0, 1, 0])
    """

    places: IntArray
    """Where each document is in the list of each stage, [S, J]; 0 if it is not there."""
    depths: IntArray
    """How many documents of its list each stage hands on, [S]."""

    @cached_property
    def listed(self) -> BoolArray:
        """Whether the list of a stage has a document, [S, J]."""
        return self.places > 0

    @cached_property
    def kept(self) -> BoolArray:
        """Whether a stage hands a document on, [S, J]."""
        return self.listed & (self.places <= self.depths[:, None])

    @cached_property
    def entered(self) -> BoolArray:
        """Whether a document is in the list of a stage without having been handed on to it, [S, J]."""
        entered = self.listed.copy()
        entered[0] = False
        entered[1:] &= ~self.kept[:-1]
        return entered

    @cached_property
    def last(self) -> IntArray:
        """The last stage whose list has a document, [J]; the first stage if none has."""
        last = len(self.places) - 1 - np.argmax(self.listed[::-1], axis=0)
        return np.where(self.listed.any(axis=0), last, 0)

    @cached_property
    def fates(self) -> IntArray:
        """What became of each document, as places in FATES, [J]."""
        documents = np.arange(self.places.shape[1])
        last, before = self.last, np.maximum(self.last - 1, 0)
        was_above = (last > 0) & self.kept[before, documents] & (self.places[before, documents] <= self.depths[last])
        conditions = [~self.listed.any(axis=0), self.kept[-1], self.kept[last, documents], was_above]
        return np.asarray(np.select(conditions, [NEVER, KEPT, DROPPED, PUSHED_DOWN], CUT), np.int64)

    @cached_property
    def stages(self) -> IntArray:
        """The stage that loses each document, [J]: the first for one never retrieved, the last for one kept."""
        return np.asarray(self.last + (self.fates == DROPPED), np.int64)
