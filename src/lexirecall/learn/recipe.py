"""Recipe: the options of how runs are fused.

Belongs here: the record, with its help and its checks, and what does not go together with fusing. Not here: what is
done with them (fusion).
"""

import math
from dataclasses import dataclass, field
from typing import Any

from lexirecall.errors import UsageError, check_count
from lexirecall.fields import option
from lexirecall.formats.listing import check_listable
from lexirecall.learn.features import FEATURES, parse_features
from lexirecall.learn.modelchoice import DISCOUNTS, REGULARIZATIONS
from lexirecall.manifest import Conventions, Sources
from lexirecall.text import visible


def _written(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:g}" for value in values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How runs are fused.

    >>> Recipe(folds=1)
    Traceback (most recent call last):
    lexirecall.errors.UsageError: folds is 1, but must be a whole number of at least 2
      queries are ranked by weights that were learnt on others
    """

    folds: int = field(
        default=5,
        metadata=option(
            "Into how many parts to cut the queries; each is ranked by weights learnt on the others.",
            "whole",
            least=2,
            metavar="K",
        ),
    )
    seed: int = field(
        default=0, metadata=option("Seed of the folds and of the sample to learn from.", "whole", metavar="N")
    )
    weights: Any = field(
        default=None,
        metadata=option(
            "Apply weights that were learnt on another collection; nothing is learnt here.", "file", metavar="FILE"
        ),
    )
    """A file that `lexirecall fuse --save-weights` wrote, or what `FusedRun.weights` is."""
    allow_negative: bool = field(
        default=False, metadata=option("Allow weights below 0, which count against what a run retrieves.", "flag")
    )
    features: Any = field(
        default=None,
        metadata=option(
            f"What a run says about a document: some of {','.join(FEATURES)}. [default: all]",
            "text",
            metavar="NAME,...",
        ),
    )
    """Names in a list, or separated by commas; None for all."""
    discount: float | None = field(
        default=None,
        metadata=option(
            "How much less each relevant document counts than the one found after it, from 0 (only the last counts) "
            f"to 1 (all alike). [default: the best of {_written(DISCOUNTS)}]",
            "number",
            metavar="D",
        ),
    )
    regularization: float | None = field(
        default=None,
        metadata=option(
            f"Penalty for large weights, 0 or above. [default: the best of {_written(REGULARIZATIONS)}]",
            "number",
            metavar="L",
        ),
    )

    def __post_init__(self) -> None:
        check_count("folds", self.folds, 2, remedy="queries are ranked by weights that were learnt on others")
        check_count("seed", self.seed, 0)
        if self.discount is not None and not 0 <= self.discount <= 1:
            raise UsageError(f"discount is {self.discount!r}, but must be from 0 to 1")
        if self.regularization is not None and not 0 <= self.regularization < math.inf:
            raise UsageError(f"regularization is {self.regularization!r}, but must be 0 or above, and finite")
        parse_features(self.features)  # says what is wrong before anything is read
        if self.weights is not None:
            self._check_alone()

    def _check_alone(self) -> None:
        """Raise if something is said about learning, and nothing is learnt."""
        settings = {"features": self.features, "discount": self.discount, "regularization": self.regularization}
        names = [name for name, value in settings.items() if value is not None]
        names += ["allow_negative"] if self.allow_negative else []
        if names:
            problem = f"{' and '.join(names)} would say how to learn, but weights are given, and nothing is learnt"
            raise UsageError(problem, remedy="leave one of them out")


def check_fusible(conventions: Conventions, sources: Sources) -> None:
    """Raise if rankings are read in a way that shows the labels to the fusion, or does not give whole lists.

    >>> check_fusible(Conventions(judged_only=True), Sources(units={"a": "u"}))
    Traceback (most recent call last):
    lexirecall.errors.UsageError: runs cannot be fused with judged_only, which leaves documents out by their labels; \
units, because documents are ranked
      leave these out
    """
    refused = {
        "judged_only, which leaves documents out by their labels": conventions.judged_only,
        "units, because documents are ranked": sources.units is not None,
        "providers, because no measure of them is computed": sources.providers is not None,
        f"ties={conventions.ties!r}, which orders documents by their labels": conventions.ties in ("worst", "best"),
        "imputation='optimistic', which invents positions": conventions.imputation == "optimistic",
    }
    if wrong := [what for what, is_given in refused.items() if is_given]:
        problem = f"runs cannot be fused with {'; '.join(wrong)}"
        raise UsageError(problem, remedy="leave these out" if len(wrong) > 1 else "leave it out")
    check_listable(conventions, sources, "to fuse runs")


COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


def check_run_file(path: str) -> None:
    """Raise if a run cannot be written to a file of this name, before anything is learnt.

    >>> check_run_file("fused.run.gz")
    Traceback (most recent call last):
    lexirecall.errors.UsageError: -o 'fused.run.gz': the run is written as plain text, not compressed
      name a file without .gz, and compress it afterwards
    """
    if path in ("-", "/dev/stdout"):
        problem = f"-o {path!r}: the report goes to standard output, and the run needs a file of its own"
        raise UsageError(problem, remedy="name a file, as in -o fused.run")
    for suffix in COMPRESSED:
        if path.lower().endswith(suffix):
            problem = f"-o {visible(path)!r}: the run is written as plain text, not compressed"
            raise UsageError(problem, remedy=f"name a file without {suffix}, and compress it afterwards")
