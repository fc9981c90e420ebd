"""How a result is computed: the records of options, and the manifest that every result carries.

Belongs here: each option, with its default, its help, its checks and the rule it stands for; and what was left out or
imputed, as JSON. Keywords of verbs, options of commands and pages of the documentation are made from the fields.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Protocol

from lexirecall.errors import UsageError, warn
from lexirecall.fields import check_choices, option
from lexirecall.reader import reader_in_use
from lexirecall.version import VERSION

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MOST_DOCUMENTS = 2**53  # positions are computed as floats, and each must be exact
MOST_RESAMPLES = 10**8  # more would take days, or too much memory


OF_UNITS = ("unit_rule", "count", "judged", "unmapped")
"""The conventions that say something only if there are units."""


class RowFacts(Protocol):
    """What a measure or preference says about itself."""

    @property
    def direction(self) -> int:
        """1 where more is better, -1 where less is."""

    @property
    def sparse(self) -> bool:
        """Whether it has a value on some queries only."""

    def level(self, default: float) -> float:
        """Return the lowest grade that it takes as relevant."""


class JudgedQueries(Protocol):
    """What judgments and positions say about queries."""

    def num_relevant(self, level: float) -> "npt.NDArray[np.int64]":
        """Count what must be found for each query at a level, [Q]."""


class AnsweredQueries(JudgedQueries, Protocol):
    """What positions say about rankings."""

    @property
    def answered(self) -> "npt.NDArray[np.bool_]":
        """Which runs answer which queries, [S, Q]."""


def check_level(level: float) -> None:
    """Raise if no grade could be relevant, or every grade would be."""
    if not 0 < level < float("inf"):
        raise UsageError(f"level is {level}, but must be above 0", remedy="a grade of 0 means not relevant")


@dataclass(frozen=True, slots=True)
class Policies:
    """How queries count. Whatever leaves queries or rankings out asks `eligible` or `counted`, and nothing else.

    >>> Policies(level=0)
    Traceback (most recent call last):
    lexirecall.errors.UsageError: level is 0, but must be above 0
      a grade of 0 means not relevant
    """

    level: float = field(default=1, metadata=option("Lowest grade that counts as relevant.", "number"))
    queries: str = field(
        default="all",
        metadata=option(
            "How to count judged queries that a run does not answer: as the worst case (all), or not at all "
            "(intersection).",
            choices=("all", "intersection"),
        ),
    )
    no_relevant: str = field(
        default="skip",
        metadata=option(
            "How to count queries without a relevant document: in no mean (skip), or as 0, as in trec_eval (zero).",
            choices=("skip", "zero"),
        ),
    )

    def __post_init__(self) -> None:
        check_choices(self)
        check_level(self.level)

    @property
    def keeps_unanswered(self) -> bool:
        """Whether a query that a run does not answer counts, as nothing retrieved."""
        return self.queries == "all"

    @property
    def skips_empty(self) -> bool:
        """Whether queries without a relevant document are left out of every mean."""
        return self.no_relevant == "skip"

    @property
    def ineligible(self) -> str:
        """What notes say of a query that does not count."""
        return "without a relevant document"

    def counts_empty(self, row: RowFacts) -> bool:
        """Tell whether a query without a relevant document counts as 0, or as a tie under a preference."""
        scored = getattr(row, "measure", None) or row  # a preference that is made from a measure counts as that does
        return not self.skips_empty and scored.direction > 0 and not scored.sparse

    def eligible(self, judged: JudgedQueries, row: RowFacts | None = None) -> "npt.NDArray[np.bool_]":
        """Tell which queries count, whoever answers them, [Q]; if a row is given, at its level and in its mean.

        Without a row, those count about whose relevant documents there is something to say.
        """
        num_relevant = judged.num_relevant(self.level if row is None else row.level(self.level))
        is_eligible = num_relevant > 0
        if row is not None and self.counts_empty(row):
            is_eligible |= num_relevant == 0
        return is_eligible

    def counted(self, positions: AnsweredQueries, row: RowFacts | None = None) -> "npt.NDArray[np.bool_]":
        """Tell which rankings count, [S, Q]: those of eligible queries, or of these only the answered ones.

        >>> from lexirecall import project
        >>> positions = project({"q": {"a": 1}, "r": {"a": 0}}, {"x": {"q": ["a"]}, "y": {"r": ["a"]}})
        >>> Policies(queries="intersection").counted(positions).tolist()
        [[True, False], [False, False]]
        """
        return self.eligible(positions, row) & (positions.answered | self.keeps_unanswered)


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
            "Order of equal scores: by document id (trec), as in the file (input), relevant documents last (worst) or "
            "first (best), or the mean over all orders (expected).",
            choices=("trec", "input", "worst", "best", "expected"),
        ),
    )
    """`trec`: by id, descending by bytes; `input`: as given; `worst`, `best`: relevant documents last or first;
    `expected`: the mean over all orders."""
    score_dtype: str = field(
        default="float64",
        metadata=option(
            "Precision of scores. With float32, scores tie as in trec_eval 9 and pytrec_eval.",
            choices=("float64", "float32"),
        ),
    )
    depth: int | None = field(
        default=None,
        metadata=option("Count only the first K documents of each ranking.", "whole", least=1, metavar="K"),
    )
    judged_only: bool = field(
        default=False, metadata=option("Remove documents without a judgment from the rankings.", "flag")
    )
    """After the depth cut."""
    duplicates: str = field(
        default="error",
        metadata=option(
            "If a ranking has a document twice: stop (error), keep its first line (first) or its best score (best).",
            choices=("error", "first", "best"),
        ),
    )
    imputation: str = field(
        default="pessimistic",
        metadata=option(
            "Where to place relevant documents that were not retrieved. pessimistic: at the bottom, for measures that "
            "use the corpus size. optimistic: right after the list, only to study the effect. paper: at the bottom, "
            "for all measures without a cut-off, as in the paper.",
            choices=("pessimistic", "optimistic", "paper"),
        ),
    )
    strict: bool = field(
        default=False, metadata=option("Refuse lines of a run that have fields after the run tag.", "flag")
    )
    """Otherwise such fields are ignored and counted, as trec_eval's format says."""
    unit_rule: str = field(
        default="any",
        metadata=option(
            "With units: found with the first document that serves it (any), or with the last, if all are needed "
            "(all). The map may say which for each unit.",
            choices=("any", "all"),
        ),
    )
    count: str = field(
        default="documents",
        metadata=option(
            "With units: count positions, depth and cut-offs in documents, or in units, so that a document "
            "that brings no new unit takes no place (units).",
            choices=("documents", "units"),
        ),
    )
    judged: str | None = field(
        default=None,
        metadata=option(
            "With units: whether the judgments name documents or units. [default: told by the ids]",
            choices=("documents", "units"),
        ),
    )
    unmapped: str = field(
        default="none",
        metadata=option(
            "With units: a document outside the map serves none (none), or is a unit of its own (itself).",
            choices=("none", "itself"),
        ),
    )

    def __post_init__(self) -> None:
        check_choices(self)
        if self.depth is not None and not (1 <= self.depth <= MOST_DOCUMENTS and self.depth % 1 == 0):
            raise UsageError(f"depth is {self.depth}, but must be a whole number from 1 to {MOST_DOCUMENTS}")
        if self.ties == "expected" and self.imputation == "optimistic":
            raise UsageError("ties='expected' has no closed form with optimistic imputation; choose one of them")
        if self.ties == "expected" and self.judged_only and self.depth is not None:
            raise UsageError(
                "ties='expected' has no closed form with both a depth and judged documents only; leave one of them out"
            )

    def check_units(self, units: object, providers: object = None) -> None:
        """Raise if something is said of units and there are none, or if it does not go together with units.

        >>> Conventions(count="units").check_units(None)
        Traceback (most recent call last):
        lexirecall.errors.UsageError: count is 'units', but there are no units
          give --units FILE, or units= in Python
        """
        if units is None:
            for setting in fields(self):
                if setting.name in OF_UNITS and (value := getattr(self, setting.name)) != setting.default:
                    problem = f"{setting.name} is {value!r}, but there are no units"
                    raise UsageError(problem, remedy="give --units FILE, or units= in Python")
            return
        excluded = {
            "ties='expected'": (self.ties == "expected", "has no closed form with units"),
            "imputation='optimistic'": (self.imputation == "optimistic", "does not say where missing units would be"),
            "judged_only": (self.judged_only and self.count == "units", "does not go together with count='units'"),
            "a map of providers": (providers is not None, "is about documents, and does not go together with units"),
        }
        for what, (is_given, why) in excluded.items():
            if is_given:
                raise UsageError(f"{what} {why}", remedy="leave one of them out")

    def warn_of_optimism(self) -> None:
        """Warn if missing documents are placed where they flatter the run."""
        if self.imputation == "optimistic":
            warn("optimistic imputation rewards returning nothing; use it only to study the effect")

    def require_corpus_size(self, corpus_size: object) -> None:
        """Raise if the imputation needs a corpus size and none is given.

        >>> Conventions(imputation="paper").require_corpus_size(None)
        Traceback (most recent call last):
        lexirecall.errors.UsageError: imputation='paper' needs the corpus size, to place documents not retrieved
          give --corpus-size N or FILE, or corpus_size= in Python
        """
        if self.imputation == "paper" and corpus_size is None:
            raise UsageError(
                "imputation='paper' needs the corpus size, to place documents not retrieved",
                remedy="give --corpus-size N or FILE, or corpus_size= in Python",
            )


@dataclass(frozen=True, slots=True)
class Sources:
    """What is read in addition to judgments and runs, how columns are found, and which engine reads tables.

    >>> Sources(engine="postgres")
    Traceback (most recent call last):
    lexirecall.errors.UsageError: engine is 'postgres', but must be one of duckdb, spark
    """

    corpus_size: int | str | os.PathLike[str] | Mapping[Any, int] | None = field(
        default=None,
        metadata=option("Size of the corpus: a number, or a file with lines `query size`.", "size", metavar="N|FILE"),
    )
    providers: Any = field(
        default=None,
        metadata=option(
            "Who provides each document, for the exposure of providers: a file with lines `document provider`.",
            "file",
            metavar="FILE",
        ),
    )
    """A file, {document: provider}, {document: [provider, …]} or a table."""
    units: Any = field(
        default=None,
        metadata=option(
            "What must be found: a file with lines `document unit`, or `query document unit`, and perhaps any or all; "
            "@subtopics takes the second column of QRELS.",
            "file",
            metavar="FILE",
        ),
    )
    """A file, {document: unit}, {document: [unit, …]}, {query: {document: unit}}, a table, or "@subtopics"."""
    columns: Mapping[str, str] | None = field(
        default=None,
        metadata=option(
            "Names of columns in Parquet and CSV, and of keys in rows of JSON, if they are unusual. The roles are "
            "query, document, score, rank, grade, run, provider, group, unit, rule and text; qrels.document is for "
            "QRELS only.",
            "pairs",
            metavar="ROLE=NAME,...",
            example="query=user,document=movie",
        ),
    )
    engine: str | None = field(
        default=None,
        metadata=option(
            "Sort Parquet and CSV larger than memory, with DuckDB on this machine or with Spark, also on a cluster.",
            choices=("duckdb", "spark"),
        ),
    )
    engine_options: Mapping[str, Any] | None = field(
        default=None,
        metadata=option(
            "Settings of DuckDB: memory_limit (default: 600MB), threads, temp_directory; or of Spark, such as "
            "spark.executor.memory.",
            "pairs",
            metavar="NAME=VALUE,...",
            example="memory_limit=2GB,threads=4",
        ),
    )
    """In Python also DuckDB's `connection`, used with its own settings; and `master`, the URL of Spark."""
    stdin_name: str | None = field(
        default=None, metadata=option("Name of the run that is read from stdin. [default: -]", "text", metavar="NAME")
    )
    show_progress: bool | None = False
    """None: on a terminal, if it takes longer than a second."""

    def __post_init__(self) -> None:
        check_choices(self)
        if self.engine is None and self.engine_options is not None:
            raise UsageError(
                "engine_options are given, but no engine is", remedy="add --engine NAME, or engine= in Python"
            )


READING = (Conventions, Sources)
"""The records that say how judgments and runs are read."""


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that readers of a result should know; each kind is noted once."""

    kind: str
    text: str
    count: int = 0


def versions_in_use() -> dict[str, str]:
    """Return the versions that a result depends on."""
    import numpy as np  # not on top: the names of conventions are needed without it

    return {"lexirecall": VERSION, "numpy": np.__version__, "python": ".".join(map(str, sys.version_info[:3]))}


MANIFEST_FORMAT = 1
"""Grows when a program that reads manifests must change."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything needed to compute the same numbers again.

    >>> print(Manifest(conventions={"ties": "trec"}).to_json()[:59])
    {
      "format": 1,
      "conventions": {
        "ties": "trec"
      },
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
        import json  # not on top: a manifest is seldom written

        return json.dumps({"format": MANIFEST_FORMAT, **asdict(self)}, indent=2) + "\n"
