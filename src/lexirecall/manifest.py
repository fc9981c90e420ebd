"""Under which conventions a result was computed, and what was left out or imputed on the way.

Belongs here: the record that is attached to every result, and its JSON. Imports errors, reader and version.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from lexirecall.errors import UsageError, choice
from lexirecall.reader import reader_in_use
from lexirecall.version import VERSION

MOST_ITEMS = 2**53  # positions are computed with as floats, and every one of them must be exact
TIE_RULES = ("trec", "input", "worst", "best", "expected")
IMPUTATIONS = ("pessimistic", "optimistic", "paper")
DUPLICATE_RULES = ("error", "first", "best")
SCORE_DTYPES = ("float64", "float32")
REQUEST_POLICIES = ("all", "intersection")
NO_RELEVANT_POLICIES = ("skip", "zero")


@dataclass(frozen=True, slots=True)
class Conventions:
    """How rankings become positions. The defaults are those of the specification.

    >>> Conventions(ties="alphabetical")
    Traceback (most recent call last):
    lexirecall.errors.UsageError: ties is 'alphabetical', but must be one of trec, input, worst, best, expected
    """

    ties: str = "trec"
    """Order of items with equal scores: `trec` (id descending by bytes), `input` (as given), `worst` and `best`
    (relevant items last or first), `expected` (the mean over all orders)."""
    score_dtype: str = "float64"
    """`float32` rounds scores first, as trec_eval 9 and pytrec_eval do."""
    depth: int | None = None
    """Only the first so many items of each ranking count."""
    judged_only: bool = False
    """Items without a judgment are taken out of the ranking, after the depth cut."""
    duplicates: str = "error"
    """An item twice in one ranking: refuse it, keep the `first` line, or keep the `best` score."""
    imputation: str = "pessimistic"
    """Where relevant items that were not retrieved are: at the very bottom, or right after the last retrieved one.
    `paper` is the bottom too, where AP, nDCG, RR and all others without a cut-off then see them."""
    strict: bool = False
    """Fields after the tag of a run are refused; otherwise they are ignored and counted, as trec_eval's format says."""

    def __post_init__(self) -> None:
        choice("ties", self.ties, TIE_RULES)
        choice("score_dtype", self.score_dtype, SCORE_DTYPES)
        choice("duplicates", self.duplicates, DUPLICATE_RULES)
        choice("imputation", self.imputation, IMPUTATIONS)
        if self.depth is not None and not (1 <= self.depth <= MOST_ITEMS and self.depth % 1 == 0):
            raise UsageError(f"depth is {self.depth}, but must be a whole number from 1 to {MOST_ITEMS}")
        if self.ties == "expected" and self.imputation == "optimistic":
            raise UsageError("ties='expected' has no closed form with optimistic imputation; choose one of the two")
        if self.ties == "expected" and self.judged_only and self.depth is not None:
            raise UsageError(
                "ties='expected' has no closed form with both a depth and judged items only; leave one out"
            )

    def require_corpus_size(self, corpus_size: object) -> None:
        """Raise if the imputation needs a corpus size and there is none.

        >>> Conventions(imputation="paper").require_corpus_size(None)
        Traceback (most recent call last):
        lexirecall.errors.UsageError: imputation='paper' needs the corpus size, to place what is missing
          give --corpus-size N or FILE, or corpus_size= in Python
        """
        if self.imputation == "paper" and corpus_size is None:
            raise UsageError(
                "imputation='paper' needs the corpus size, to place what is missing",
                remedy="give --corpus-size N or FILE, or corpus_size= in Python",
            )


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that the reader of a result should know; each kind is said once."""

    kind: str
    text: str
    count: int = 0


def versions_in_use() -> dict[str, str]:
    """Return the versions that a result depends on."""
    import numpy as np  # not on top: the names of conventions are wanted without it

    return {"lexirecall": VERSION, "numpy": np.__version__, "python": ".".join(map(str, sys.version_info[:3]))}


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything that a reader needs to compute the same numbers again.

    >>> print(Manifest(conventions={"ties": "trec"}).to_json()[:62])
    {
      "conventions": {
        "ties": "trec"
      },
      "measures": [],
    """

    conventions: Mapping[str, Any]
    measures: tuple[Mapping[str, Any], ...] = ()
    qrels: Mapping[str, Any] = field(default_factory=dict)
    runs: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[Note, ...] = ()
    versions: Mapping[str, str] = field(default_factory=versions_in_use)
    reader: str = field(default_factory=reader_in_use)

    def to_json(self) -> str:
        """Return the manifest as indented JSON text."""
        return json.dumps(asdict(self), indent=2) + "\n"
