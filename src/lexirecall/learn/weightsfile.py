"""Weights in a file: what was learnt on one collection, for use on another.

Belongs here: the file, and matching it with runs by name. Not here: how weights are learnt (featureweights).
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lexirecall.errors import DataError, FormatError, listed, newer_format, shown
from lexirecall.formats.source import Source
from lexirecall.judgments import FloatArray
from lexirecall.learn.features import FEATURES
from lexirecall.output import FilePath, write
from lexirecall.trees import json_tree
from lexirecall.version import VERSION

if TYPE_CHECKING:
    import os

FORMAT = "lexirecall fusion weights"
FORMAT_VERSION = 1
"""Grows when files can no longer be read by an older version."""
RRF = ("reciprocal",)
"""The features whose equal weights are reciprocal rank fusion."""
_NAMED = 20  # names of runs that a message lists
_LARGEST = 1 << 26
_REMEDY = "lexirecall fuse --save-weights writes such a file"


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """The weight of each feature of each run, and how they came about.

    >>> weights = FusionWeights({"bm25": {"log": 2.0}, "dense": {"log": 0.5}}, ("log",), 0.9, 0.01, 50)
    >>> FusionWeights.from_json(weights.to_json()) == weights, weights.of_runs(["dense", "bm25"]).tolist()
    (True, [0.5, 2.0])
    """

    runs: Mapping[str, Mapping[str, float]]
    features: tuple[str, ...]
    discount: float
    regularization: float
    """Of equal weights, which are RRF: of the weights that were learnt, and show no gain over it."""
    num_queries: int
    """How many queries they were fitted on."""
    queries: tuple[str, ...] = ()
    """Their ids, so that queries that are not new can be told."""

    @property
    def is_rrf(self) -> bool:
        """Whether these are equal weights of reciprocal ranks alone, which are reciprocal rank fusion.

        >>> one, two = {"reciprocal": 1.0, "log": 0.0}, {"reciprocal": 1.0, "log": 0.5}
        >>> [FusionWeights({"a": one, "b": b}, tuple(one), 0.9, 0.01, 9).is_rrf for b in (one, two)]
        [True, False]
        """
        kept = [{name: weight for name, weight in weights.items() if weight} for weights in self.runs.values()]
        return tuple(kept[0]) == RRF and kept[0][RRF[0]] > 0 and all(weights == kept[0] for weights in kept)

    def to_json(self) -> str:
        """Return the file."""
        content = {
            "format": FORMAT, "version": FORMAT_VERSION, "lexirecall": VERSION,
            "features": list(self.features), "discount": self.discount,
            "regularization": self.regularization, "queries": self.num_queries, "query_ids": list(self.queries),
            "runs": {name: dict(weights) for name, weights in self.runs.items()},
        }  # fmt: skip
        return json.dumps(content, indent=2) + "\n"

    def save(self, path: FilePath) -> None:
        """Write the file, which `fuse(weights=)` and `lexirecall fuse --weights` read."""
        write(self.to_json(), path)

    @classmethod
    def from_json(cls, text: str | bytes, name: str = "weights") -> "FusionWeights":
        """Read the file, or say what is wrong with it."""
        content = json_tree(text, name, remedy=_REMEDY)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise FormatError(name, None, f"these are not weights of a fusion: {shown(text[:40])}", remedy=_REMEDY)
        if type(version := content.get("version")) is not int or version < 1:
            raise FormatError(name, None, f"the version of the weights is {shown(str(version))}", remedy=_REMEDY)
        if version > FORMAT_VERSION:
            raise newer_format(name, content.get("lexirecall"), "learn them again")
        keys = ("features", "runs", "query_ids", "discount", "regularization", "queries")
        values: list[Any] = [content.get(key) for key in keys]
        features, runs, query_ids, *numbers = values
        wrong = _problem_with(features, runs)
        if wrong is None and not all(_is_number(value) for value in numbers):
            wrong = "discount, regularization and queries must be numbers"
        if wrong is None and not (isinstance(query_ids, list) and all(isinstance(query, str) for query in query_ids)):
            wrong = "query_ids must be a list of texts"
        if wrong is not None:
            raise FormatError(name, None, wrong, remedy=_REMEDY)
        discount, regularization, number = (float(value) for value in numbers)
        return cls(
            runs=runs, features=tuple(features), discount=discount, regularization=regularization,
            num_queries=int(number), queries=tuple(query_ids),
        )  # fmt: skip

    def of_runs(self, names: Sequence[str]) -> FloatArray:
        """Return the weights of runs in the order given, run by run; raise if the names are not the same."""
        missing = [name for name in self.runs if name not in names]
        extra = [name for name in names if name not in self.runs]
        if missing or extra:
            says = [f"no run is called {listed(map(repr, missing), _NAMED)}"] if missing else []
            says += [f"there are no weights for {listed(map(repr, extra), _NAMED)}"] if extra else []
            raise DataError(
                f"the weights are for other runs: {'; '.join(says)}",
                remedy="give the same runs under the same names, or learn weights for these runs",
            )
        return np.array([self.runs[name][feature] for name in names for feature in self.features], float)


def _problem_with(features: Any, runs: Any) -> str | None:
    """Say what is wrong with the names and numbers of a file."""
    if not isinstance(features, list) or not features or not {*map(str, features)} <= {*FEATURES}:
        return f"the features must be some of {', '.join(FEATURES)}, found {shown(str(features))}"
    if len({*features}) < len(features):
        return f"a feature is listed twice: {', '.join(features)}"
    if not isinstance(runs, dict) or not runs:
        return "there are no runs"
    wrong = [
        name
        for name, weights in runs.items()
        if not isinstance(weights, dict) or {*weights} != {*features} or not all(map(_is_number, weights.values()))
    ]
    return f"not every feature has a number for {listed(map(repr, wrong), _NAMED)}" if wrong else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def load_weights(weights: "str | os.PathLike[str] | FusionWeights | None") -> FusionWeights | None:
    """Take weights as they are, or read them from a file."""
    if weights is None or isinstance(weights, FusionWeights):
        return weights
    with Source(weights) as source:
        return FusionWeights.from_json(source.read_whole(_LARGEST), source.name)
