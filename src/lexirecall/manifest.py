"""How a result is computed: the records of options, and the manifest that every result carries.

Belongs here: each option, with its default, its help, its checks and the rule it stands for; and what was left out or
imputed on the way, as JSON. Keywords of verbs, options of commands and pages of the documentation are made from the
fields.
"""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from lexirecall.errors import UsageError, warn
from lexirecall.fields import check_choices, option
from lexirecall.reader import reader_in_use
from lexirecall.version import VERSION

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MOST_ITEMS = 2**53  # positions are computed with as floats, and every one of them must be exact
MOST_RESAMPLES = 10**8  # more would take days, or more memory than there is


class Scored(Protocol):
    """What a measure or preference says of itself."""

    @property
    def direction(self) -> int:
        """1 where more is better, -1 where less is."""

    @property
    def sparse(self) -> bool:
        """Has a value on some requests only."""


def check_level(level: float) -> None:
    """Raise if no grade could be relevant, or all of them would be."""
    if not 0 < level < float("inf"):
        raise UsageError(f"level is {level}, but must be above 0", remedy="a grade of 0 means not relevant")


@dataclass(frozen=True, slots=True)
class Policies:
    """How queries count.

    >>> Policies(level=0)
    Traceback (most recent call last):
    lexirecall.errors.UsageError: level is 0, but must be above 0
      a grade of 0 means not relevant
    """

    level: float = field(default=1, metadata=option("Lowest grade that counts as relevant.", "number"))
    queries: str = field(
        default="all",
        metadata=option(
            "Judged requests that a run does not answer: worst case (all), or left out (intersection).",
            choices=("all", "intersection"),
        ),
    )
    no_relevant: str = field(
        default="skip",
        metadata=option(
            "Requests without a relevant document: left out of every mean, or 0 as in trec_eval.",
            choices=("skip", "zero"),
        ),
    )

    def __post_init__(self) -> None:
        check_choices(self)
        check_level(self.level)

    @property
    def keeps_unanswered(self) -> bool:
        """Whether a request that a run does not answer counts, as nothing retrieved."""
        return self.queries == "all"

    @property
    def skips_empty(self) -> bool:
        """Whether requests without a relevant item are left out of every mean."""
        return self.no_relevant == "skip"

    def among(self, answered: "npt.NDArray[np.bool_]") -> "npt.NDArray[np.bool_]":
        """Return which rankings count, given which were answered."""
        return answered | self.keeps_unanswered

    def counts_empty(self, row: Scored) -> bool:
        """Tell whether a request without a relevant item counts as 0, as a tie to a preference."""
        return not self.skips_empty and row.direction > 0 and not row.sparse


@dataclass(frozen=True, slots=True)
class Conventions:
    """How rankings become positions. The defaults are those of the specification.

    >>> Conventions(ties="alphabetical")
    Traceback (most recent call last):
    lexirecall.errors.UsageError: ties is 'alphabetical', but must be one of trec, input, worst, best, expected
    """

    ties: str = field(
        default="trec",
        metadata=option(
            "Order of equal scores: by document id, as in the file, relevant last or first, or the mean over all.",
            choices=("trec", "input", "worst", "best", "expected"),
        ),
    )
    """`trec`: id descending by bytes; `input`: as given; `worst`, `best`: relevant items last or first; `expected`: the
    mean over all orders."""
    score_dtype: str = field(
        default="float64",
        metadata=option("float32 ties scores as trec_eval 9 and pytrec_eval do.", choices=("float64", "float32")),
    )
    depth: int | None = field(
        default=None,
        metadata=option("Only the first K documents of each ranking count.", "whole", least=1, metavar="K"),
    )
    judged_only: bool = field(
        default=False, metadata=option("Take documents without a judgment out of the rankings.", "flag")
    )
    """After the depth cut."""
    duplicates: str = field(
        default="error",
        metadata=option(
            "A document twice in one ranking: stop, keep the first line, or keep the best score.",
            choices=("error", "first", "best"),
        ),
    )
    imputation: str = field(
        default="pessimistic",
        metadata=option(
            "Where relevant documents that were not retrieved stand: at the bottom, for measures that use the corpus "
            "size; (for study) right after the list; at the bottom for all measures without a cut-off, as in the "
            "paper.",
            choices=("pessimistic", "optimistic", "paper"),
        ),
    )
    strict: bool = field(default=False, metadata=option("Refuse lines of a run with fields after the run tag.", "flag"))
    """Otherwise such fields are ignored and counted, as trec_eval's format says."""

    def __post_init__(self) -> None:
        check_choices(self)
        if self.depth is not None and not (1 <= self.depth <= MOST_ITEMS and self.depth % 1 == 0):
            raise UsageError(f"depth is {self.depth}, but must be a whole number from 1 to {MOST_ITEMS}")
        if self.ties == "expected" and self.imputation == "optimistic":
            raise UsageError("ties='expected' has no closed form with optimistic imputation; choose one of the two")
        if self.ties == "expected" and self.judged_only and self.depth is not None:
            raise UsageError(
                "ties='expected' has no closed form with both a depth and judged items only; leave one out"
            )

    def warn_of_optimism(self) -> None:
        """Warn if missing items are placed where they flatter the run."""
        if self.imputation == "optimistic":
            warn("optimistic imputation rewards returning nothing; use it for study only")

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
class Sources:
    """What is read beside judgments and runs, how columns are found, and who reads tables.

    >>> Sources(engine="spark")
    Traceback (most recent call last):
    lexirecall.errors.UsageError: engine is 'spark', but must be one of duckdb
      for Spark use lexirecall eval or compare --engine spark, or Python: lexirecall.engines.spark
    """

    corpus_size: int | str | os.PathLike[str] | Mapping[Any, int] | None = field(
        default=None,
        metadata=option("Size of the corpus: a number, or a file of lines `request size`.", "size", metavar="N|FILE"),
    )
    providers: Any = field(
        default=None,
        metadata=option(
            "Whose the documents are, for the exposure of providers: a file of lines `document provider`.",
            "file",
            metavar="FILE",
        ),
    )
    """A file, {document: provider}, {document: [provider, …]} or a table."""
    columns: Mapping[str, str] | None = field(
        default=None,
        metadata=option(
            "Columns of Parquet and CSV with other names than the usual: request, item, score, rank, grade, system.",
            "pairs",
            metavar="ROLE=NAME,...",
            example="request=user,item=movie",
        ),
    )
    engine: str | None = field(
        default=None,
        metadata=option(
            "Read Parquet and CSV that are larger than memory.",
            choices=("duckdb",),
            elsewhere={
                "spark": "for Spark use lexirecall eval or compare --engine spark, or Python: lexirecall.engines.spark"
            },
        ),
    )
    engine_options: Mapping[str, Any] | None = field(
        default=None,
        metadata=option(
            "Settings of DuckDB: memory_limit (600MB if not given), threads, temp_directory.",
            "pairs",
            metavar="NAME=VALUE,...",
            example="memory_limit=2GB,threads=4",
        ),
    )
    """In Python also connection, which is then used as it is set."""
    stdin_name: str | None = field(
        default=None, metadata=option("Name of the run that is read from stdin. [default: -]", "text", metavar="NAME")
    )
    show_progress: bool | None = False
    """None: on a terminal, if it takes longer than a second."""

    def __post_init__(self) -> None:
        check_choices(self)
        if self.engine is None and self.engine_options is not None:
            raise UsageError(
                "engine_options are given, but no engine", remedy="add --engine duckdb, or engine='duckdb' in Python"
            )


READING = (Conventions, Sources)
"""The records whose fields say how judgments and runs are read."""


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
