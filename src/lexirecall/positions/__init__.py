"""Positions: where the relevant documents of every query are in every run's ranking.

Belongs here: the one data type that lies between files and measures, its imputation and its cuts, and the file that
keeps it. Not here: reading runs (formats), formulas (measures).

A ranking is the sorted positions of its relevant documents, counted from 1. A relevant document that was not retrieved
is at the very bottom: with m relevant documents in a corpus of n, the i-th one, if missing, is at n - m + i; if n is
unknown it is at infinity. Nothing downstream ever sees a list of documents again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from lexirecall.equality import FieldEquality
from lexirecall.errors import UsageError, counted, listed
from lexirecall.judgments import SMALLEST_GRADE, BoolArray, FloatArray, IntArray, Judgments
from lexirecall.manifest import Conventions, Policies, check_level
from lexirecall.notebook import CellPart, NotebookDisplay, facts
from lexirecall.output import FilePath, write_files
from lexirecall.providers import Providers
from lexirecall.segments import Segments, sums_of
from lexirecall.tracks import Mismatch, RunPositions, Tracks, reachable

if TYPE_CHECKING:
    import numpy.typing as npt

    from lexirecall.shortage import Shortage
    from lexirecall.units import UnitCount, Units

Scalar = TypeVar("Scalar", np.int64, np.float64)
_AT_ONCE = 2**18
"""How many documents found a portion may have, about: some hundred bytes are held of each of them."""


@dataclass(frozen=True, slots=True, repr=False)
class Positions(NotebookDisplay):
    """S runs × Q queries; the ranking of run s for query q is segment s·Q + q."""

    runs: tuple[str, ...]
    judgments: Judgments
    conventions: Conventions
    answered: BoolArray
    num_retrieved: IntArray
    found: Tracks
    others: Tracks | None
    corpus_size: IntArray | None
    """n of each query, [Q]."""
    num_unjudged: tuple[int, ...] = ()
    num_duplicates: tuple[int, ...] = ()
    num_extra: tuple[int, ...] = ()
    providers: Providers | None = None
    """Who the judged documents belong to, if there is a map."""
    mismatches: tuple[Mismatch, ...] = ()
    """Of the runs that retrieve no judged document."""
    frame_library: str = ""
    """The library of the frames that came in, if any: pandas, polars, pyarrow, duckdb, …"""
    units: "Units | None" = None
    """What must be found, if that is not the judged documents themselves."""
    served: "UnitServing | None" = None
    """If the documents here are units: what they were made from."""
    _sought: "dict[float, Positions]" = field(default_factory=dict, init=False, compare=False)
    _orders: dict[tuple[str, float], IntArray] = field(default_factory=dict, init=False, compare=False)

    @classmethod
    def stack(
        cls,
        judgments: Judgments,
        runs: Sequence[RunPositions],
        conventions: Conventions,
        corpus_size: IntArray | None = None,
        providers: Providers | None = None,
        units: "Units | None" = None,
    ) -> "Positions":
        """Put the runs of one collection together."""
        if remarks := dict.fromkeys(run.remark for run in runs if run.remark):
            judgments = replace(judgments, remarks=(*judgments.remarks, *remarks))
        with_others = [run.others for run in runs if run.others is not None]
        positions = cls(
            runs=tuple(run.name for run in runs),
            judgments=judgments,
            conventions=conventions,
            answered=np.array([run.answered for run in runs]),
            num_retrieved=np.array([run.num_retrieved for run in runs]),
            found=Tracks.concatenate([run.found for run in runs]),
            others=Tracks.concatenate(with_others) if len(with_others) == len(runs) else None,
            corpus_size=corpus_size,
            num_unjudged=tuple(run.num_unjudged for run in runs),
            num_duplicates=tuple(run.num_duplicates for run in runs),
            num_extra=tuple(run.num_extra for run in runs),
            providers=providers,
            mismatches=tuple(run.mismatch for run in runs if run.mismatch is not None),
            units=units,
        )
        if corpus_size is not None:
            positions.check_corpus_size(corpus_size)
        return positions

    @property
    def queries(self) -> tuple[str, ...]:
        """The judged queries, in the order of the judgments."""
        return self.judgments.queries

    @property
    def shape(self) -> tuple[int, int]:
        """How many runs and queries."""
        return self.num_retrieved.shape[0], self.num_retrieved.shape[1]

    @property
    def num_found(self) -> IntArray:
        """How many documents of positive grade were really retrieved, [S, Q]; imputed positions lie below the list."""
        if self.conventions.imputation != "optimistic" and self.found.block_starts is None:
            return self.found.segments.sizes.reshape(self.shape)
        # a group of equal scores that the depth cuts is kept whole: some of its positions may be below the list
        retrieved = self.found.positions <= np.repeat(self.num_retrieved.ravel(), self.found.segments.sizes)
        return self.found.segments.filter(retrieved).sizes.reshape(self.shape)

    def __repr__(self) -> str:
        size = f"{counted(self.shape[0], 'run')} × {counted(self.shape[1], 'query')}"
        return f"<Positions: {size}, {counted(len(self.found.documents), 'document')} of a positive grade found>"

    def _parts(self) -> Iterable[CellPart]:
        size = f"{counted(self.shape[0], 'run')} × {counted(self.shape[1], 'query')}"
        found = f"{counted(len(self.found.documents), 'document')} of a positive grade"
        rules = listed((f"{name} {rule}" for name, rule in asdict(self.conventions).items() if rule), 99)
        names = {"runs": listed(self.runs, 9), "judgments": self.judgments.name, "found": found}
        return [facts("Positions", size, names | {"conventions": rules})]

    def counted(self, policies: Policies) -> BoolArray:
        """Return which rankings count, [S, Q]: of queries with a relevant document; only answered ones, if asked."""
        return policies.counted(self)

    @property
    def targets(self) -> Judgments:
        """What must be found, with its grades: the judged documents, or units."""
        return self.judgments if self.units is None else self.units.judgments

    def num_relevant(self, level: float) -> IntArray:
        """Count what must be found for each query at a level, [Q]."""
        return self.targets.num_relevant(level)

    def sought(self, level: float) -> "Positions":
        """Return the positions of what must be found at a level: these, or those of units if there is a map of units.

        >>> from lexirecall import project
        >>> positions = project({"q": {"a": 1, "b": 1}}, {"q": ["b", "x", "a"]}, units={"a": "U", "b": "U"})
        >>> positions.found.positions.tolist(), positions.sought(1).found.positions.tolist()
        ([1, 3], [1])
        """
        if self.units is None:
            return self
        if level not in self._sought:
            found, documents = self.units.located(self.found, level, positive=True)
            others = None
            if self.others is not None:
                others, _ = self.units.located(self.found.merged(self.others), level, positive=False)
            self._sought[level] = replace(
                self,
                judgments=self.units.judgments,
                found=found,
                others=others,
                units=None,
                served=UnitServing(self, documents),
            )
        return self._sought[level]

    @property
    def _own_units(self) -> "Units | None":
        return self.units if self.served is None else self.served.origin.units

    @property
    def unit_count(self) -> "UnitCount | None":
        """How many units there are and what serves them; None if documents must be found."""
        return None if self._own_units is None else self._own_units.count

    @property
    def shares_bottom(self) -> bool:
        """Whether all that is missing is at n, because one document may serve several units."""
        return self._own_units is not None and not self._own_units.is_one_to_one

    @property
    def num_needed(self) -> IntArray:
        """How many documents a corpus must have for what was retrieved and what is relevant but missing, [S, Q]."""
        sought = self.sought(SMALLEST_GRADE)
        missing = sought.judgments.num_positive - sought.num_found
        return sought.num_retrieved + (np.minimum(missing, 1) if self.shares_bottom else missing)

    def check_corpus_size(self, corpus_size: IntArray) -> None:
        """Raise if a corpus is too small for what was retrieved and what is relevant but missing."""
        if (shortage := self.shortage(corpus_size)) is not None:
            raise shortage.error()

    def shortage(self, corpus_size: IntArray) -> "Shortage | None":
        """Return the first query for which a corpus is too small, with the names of all such; None if none is."""
        from lexirecall.shortage import Shortage  # not on top: a corpus seldom has a size

        return Shortage.of(self.queries, self.runs, corpus_size, self.num_retrieved, self.num_needed)

    def portions(self) -> Iterator[tuple[slice, "Positions"]]:
        """Give the queries in portions, so that what is made of them takes little memory; all at once if they are few.

        So they are too if a unit or a provider may be that of several queries.
        """
        num_queries = self.shape[1]
        width = max(1, num_queries * _AT_ONCE // max(1, len(self.found.documents)))
        is_whole = self.units is not None or self.served is not None or self.providers is not None
        if is_whole or width >= num_queries:
            yield slice(0, num_queries), self
            return
        for start in range(0, num_queries, width):
            stop = min(start + width, num_queries)
            yield slice(start, stop), self._between(start, stop)

    def _between(self, start: int, stop: int) -> "Positions":
        judgments, here = self.judgments.between(start, stop), slice(start, stop)
        first, firsts = int(self.judgments.offsets[start]), np.arange(self.shape[0]) * self.shape[1]

        def part(tracks: Tracks) -> Tracks:
            return Tracks.concatenate([tracks.between(s + start, s + stop, first) for s in firsts.tolist()])

        return replace(
            self,
            judgments=judgments,
            answered=self.answered[:, here],
            num_retrieved=self.num_retrieved[:, here],
            found=part(self.found),
            others=None if self.others is None else part(self.others),
            corpus_size=None if self.corpus_size is None else self.corpus_size[here],
        )

    def save(self, path: FilePath) -> None:
        """Write a positions file, which `load_positions` reads and which stands wherever a run may stand.

        >>> import lexirecall, tempfile
        >>> positions = lexirecall.project({"q": {"a": 1, "b": 1}}, {"q": ["b", "x", "a"]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     positions.save(f"{folder}/model.parquet")
        ...     lexirecall.load_positions(f"{folder}/model.parquet").found.positions.tolist()
        [1, 3]
        """
        from lexirecall.positions.file import to_parquet

        write_files({Path(path): to_parquet(self)})

    def at_level(self, level: float) -> "Projection":
        """Return the relevance projection: what remains when grades of at least `level` count as relevant."""
        check_level(level)
        if self.served is not None:
            return self.served.origin.at_level(level)
        sought = self.sought(level)
        mask = _reach(sought, level)
        found = sought.found if mask.all() else sought.found.filter(mask)
        by = None if sought.served is None else sought.served.documents[mask]
        return Projection(sought, level, sought.judgments.num_relevant(level), found, by)

    def cut(self, depth: int) -> "Positions":
        """Return the positions as if every ranking had ended at this depth."""
        if self.conventions.judged_only or self.conventions.imputation == "optimistic":
            raise UsageError("these positions depend on documents below the cut", remedy="pass the depth to project()")
        if depth < 1:
            raise UsageError(f"depth is {depth}, but must be 1 or more")
        return replace(
            self,
            conventions=replace(self.conventions, depth=min(depth, self.conventions.depth or depth)),
            num_retrieved=np.minimum(self.num_retrieved, depth),
            found=self.found.filter(reachable(self.found, depth)),
            others=None if self.others is None else self.others.filter(reachable(self.others, depth)),
        )

    @property
    def follow_labels(self) -> bool:
        """Whether the place of a document depends on the labels of others: with other labels it would be elsewhere."""
        rules = self.conventions
        return rules.judged_only or rules.imputation == "optimistic" or rules.ties in ("worst", "best")

    def with_labels(self, kept: BoolArray) -> "Positions":
        """Return the positions as if only the labels under the mask had ever been given: the others are unjudged.

        `kept` has an entry for each judged document, in the order of the grades; without a label, the grade becomes -1.
        So the number of relevant documents, nDCG's best order and all that follows from grades fit what is left. The
        judged documents keep their places, and no run can be read against such judgments.

        >>> from lexirecall import project
        >>> positions = project({"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["a", "x", "b"]})
        >>> positions.with_labels(np.array([False, True, True])).at_level(1).vector(0, 0).tolist()
        [3.0, inf]
        """
        grades = self.judgments.grades
        if kept.shape != grades.shape or kept.dtype != bool:
            raise UsageError(
                f"the labels to keep have the shape {list(kept.shape)} and the type {kept.dtype}",
                remedy=f"give a boolean for each of the {len(grades):,} judged documents",
            )
        if self.follow_labels:
            raise UsageError(
                "labels cannot be removed, because these positions depend on them",
                remedy="project without judged_only, with pessimistic imputation, and ties trec, input or expected",
            )
        if self.units is not None:
            raise UsageError("labels of documents cannot be removed from units", remedy="use sought(level) first")
        left = np.where(kept, grades, -1.0)
        num_positive = np.diff(np.searchsorted(np.flatnonzero(left > 0), self.judgments.offsets))
        return replace(
            self,
            judgments=replace(self.judgments, grades=left, num_positive=num_positive),
            found=self.found.filter(kept[self.found.documents]),
            others=None if self.others is None else self.others.filter(kept[self.others.documents]),
            served=None,
        )


def _reach(positions: Positions, level: float) -> BoolArray:
    """Tell which documents found have a grade of a level or above it."""
    documents, mask = positions.found.documents, np.empty(len(positions.found.documents), bool)
    for start in range(0, len(documents), _AT_ONCE):
        here = slice(start, start + _AT_ONCE)
        mask[here] = positions.judgments.grades[documents[here]] >= level
    return mask


@dataclass(frozen=True, slots=True)
class UnitServing:
    """How units came to their positions."""

    origin: Positions
    """The positions of documents, with the map."""
    documents: IntArray
    """Of each unit found, the document that puts it where it is: index into the judgments of the origin."""


@dataclass(frozen=True)
class Projection(FieldEquality):
    """The paper's relevance projection of every ranking, for one relevance level: what measures are computed from."""

    source: Positions
    level: float
    num_relevant: IntArray
    """m of each query, [Q]."""
    found: Tracks
    served_by: IntArray | None = None
    """If these are units: of each one found, which document of `source.served.origin` puts it there."""

    @classmethod
    def of_vectors(
        cls,
        vectors: Sequence[Sequence[int] | IntArray],
        num_relevant: int | None = None,
        *,
        level: float = 1,
        corpus_size: int | None = None,
    ) -> "Projection":
        """Return one query's rankings by several runs, from the positions that each gives the relevant documents.

        Relevant documents that a run did not retrieve are left out of its vector; `num_relevant` is the length of the
        longest vector if not given.

        >>> Projection.of_vectors([[1, 3], [2]]).vector(1, 0).tolist()
        [2.0, inf]
        """
        found = [_checked_vector(vector) for vector in vectors]
        m = max(map(len, found)) if num_relevant is None else num_relevant
        for vector in found:
            if len(vector) > m:
                raise UsageError(f"{m} relevant documents cannot be at the positions {vector.tolist()}")
        judgments = Judgments.from_grades({b"": {str(i).encode(): max(level, 1.0) for i in range(m)}})
        empty = Tracks(Segments(np.array([0, 0])), np.array([], np.int64), np.array([], np.int64))
        runs = []
        for number, vector in enumerate(found):
            tracks = Tracks(Segments(np.array([0, len(vector)])), vector, np.arange(len(vector)))
            retrieved = vector[-1:] if len(vector) else np.array([0])
            runs.append(RunPositions(str(number), np.array([True]), retrieved, tracks, empty))
        sizes = None if corpus_size is None else np.array([corpus_size])
        return Positions.stack(judgments, runs, Conventions(), sizes).at_level(level)

    @property
    def sees_bottom(self) -> bool:
        """Whether every measure without a cut-off sees the missing documents at the bottom of the corpus."""
        return self.source.conventions.imputation == "paper"

    def portions(self) -> "Iterator[tuple[slice, Projection]]":
        """Give the queries in portions, as those of the positions."""
        for queries, part in self.source.portions():
            yield queries, self if part is self.source else part.at_level(self.level)

    @cached_property
    def recall_levels(self) -> IntArray:
        """For each retrieved relevant document, which one it is from the top: i of p_i."""
        return self.found.segments.ordinals

    @cached_property
    def num_relevant_of_document(self) -> IntArray:
        """For each retrieved relevant document, how many relevant ones its query has: m."""
        return self.per_document_of_query(self.num_relevant)

    @cached_property
    def positions(self) -> FloatArray:
        """For each retrieved relevant document, its position, as a float: p_i."""
        return self.found.positions.astype(float)

    @cached_property
    def _owners(self) -> IntArray:
        """For each retrieved relevant document, the ranking it belongs to."""
        return self.found.segments.owners

    def per_document(self, per_ranking: "npt.NDArray[Scalar]") -> "npt.NDArray[Scalar]":
        """Repeat a value of each ranking for each of its retrieved relevant documents."""
        return np.repeat(per_ranking, self.found.segments.sizes)

    def per_document_of_query(self, per_query: "npt.NDArray[Scalar]") -> "npt.NDArray[Scalar]":
        """Repeat a value of each query for each relevant document retrieved for it, in every run."""
        return self.per_document(np.tile(per_query, self.source.shape[0]))

    def sum(self, values: FloatArray | BoolArray) -> FloatArray:
        """Add up, for each ranking, the values of its retrieved relevant documents, [S, Q]."""
        return sums_of(values, self._owners, len(self.found.segments.sizes)).reshape(self.source.shape)

    def vector(self, run: int, query: int, *, imputed: bool = False) -> FloatArray:
        """Return p_1 … p_m of one ranking; missing ones are at infinity, or at the bottom if `imputed` and n is known.

        >>> from lexirecall import project
        >>> judged = {"q": dict.fromkeys(["a", "b", "c", "d", "e", "f"], 1)}
        >>> ranked = {"q": ["x", "a", "b", "u", "v", "w", "y", "c", "z", "t"]}
        >>> projection = project(judged, ranked, corpus_size=1000).at_level(1)
        >>> projection.vector(0, 0).tolist()
        [2.0, 3.0, 8.0, inf, inf, inf]
        >>> projection.vector(0, 0, imputed=True).tolist()
        [2.0, 3.0, 8.0, 998.0, 999.0, 1000.0]
        """
        m = int(self.num_relevant[query])
        segment = run * len(self.num_relevant) + query
        start, stop = self.found.segments.offsets[segment : segment + 2]
        vector = np.full(m, np.inf)
        if imputed and self.source.corpus_size is not None:
            n = self.source.corpus_size[query]
            # Pessimistic imputation (Diaz, Ekstrand and Mitra): the i-th is at n - m + i. What was retrieved is then
            # written over the first of them.
            vector = np.full(m, float(n)) if self.source.shares_bottom else np.arange(1.0, m + 1) + (n - m)
        vector[: stop - start] = self.found.positions[start:stop]
        return vector


def kept_order(ranks_of: Callable[[Projection], IntArray]) -> Callable[[Projection], IntArray]:
    """Let an order of the runs on each query, [S, Q], be computed once: its values, its pairs and charts ask for it.

    It is kept with the positions, by its name and the level, because a projection is made anew by all who need one.

    >>> order = kept_order(lambda projection: projection.found.segments.sizes.reshape(projection.source.shape))
    >>> positions = Projection.of_vectors([[1], [2]]).source
    >>> order(positions.at_level(1)) is order(positions.at_level(1))
    True
    """

    @wraps(ranks_of)
    def kept(projection: Projection) -> IntArray:
        orders, key = projection.source._orders, (ranks_of.__qualname__, projection.level)
        if key not in orders:
            orders[key] = ranks_of(projection)
            orders[key].flags.writeable = False  # all who ask get this one
        return orders[key]

    return kept


def _checked_vector(vector: Sequence[int] | IntArray) -> IntArray:
    positions = np.unique([p for p in vector if float(p).is_integer() and p > 0]).astype(np.int64)
    if len(positions) < len(vector):
        raise UsageError(
            f"relevant documents cannot be at the positions {list(vector)}",
            remedy="positions are different whole numbers, counted from 1",
        )
    return positions
