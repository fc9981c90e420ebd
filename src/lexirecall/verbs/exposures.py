"""Exposures: every provider in every run, with exposure, merit and their ratio; the table prints and converts itself.

Belongs here: the table, its intervals, and what is said about both. Not here: what exposure is (measures), resampling
(statistics.exposures), the means of measures (averages).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lexirecall.aggregation import MIN_QUERIES, Aggregation, Resampling
from lexirecall.errors import UsageError, counted, listed
from lexirecall.judgments import BoolArray, IntArray
from lexirecall.manifest import Manifest, Note, Policies
from lexirecall.measures import Measure
from lexirecall.measures.providers import ProviderExposure, shares_of_providers
from lexirecall.positions import Positions
from lexirecall.tables import Table, defined, number, whole
from lexirecall.verbs.averages import Averages, with_interval
from lexirecall.verbs.bootstrapped import ENDS, FEW, check_bootstrap, conventions_of, percent, resamples
from lexirecall.verbs.conversion import ColumnValues, Convertible, columns_of
from lexirecall.verbs.owners import overall_rows
from lexirecall.verbs.printing import Printable

if TYPE_CHECKING:
    from lexirecall.statistics.exposures import ResampledExposures

COLUMNS = ("run", "provider", "exposure", "merit", "ratio", "queries")
RATIO_ENDS = ("ratio_low", "ratio_high")
"""The columns of the interval of a ratio."""


@dataclass(frozen=True, eq=False)
class Exposures(Printable, Convertible):
    """Exposure, merit and ratio of every provider in every run, the lowest ratio first."""

    audit: ProviderExposure
    measure: Measure
    """Says what exposure is: its e, p and level."""
    min_queries: int
    """Providers with fewer queries are not shown."""
    manifest: Manifest
    digits: int | None = None
    """Decimals in tables; 4 if None."""
    frame_library: str = ""
    resampled: "ResampledExposures | None" = None
    """The intervals, if the queries were resampled."""
    most: int | None = None
    """How many providers of a run are shown, if not all."""

    @classmethod
    def of(cls, averages: Averages, *, min_queries: int = MIN_QUERIES, frame_library: str = "") -> "Exposures":
        """Return the exposures that were added up together with means; raise if there are none."""
        if averages.exposures is None:
            raise _no_exposures(averages.manifest.conventions)
        Aggregation(min_queries=min_queries)  # raises if it is not a number of queries
        audit, rows = averages.exposures, overall_rows(averages.measures)
        kept = [note for note in averages.notes if note.kind != "worst-off provider"]  # the table shows it
        own = [*_on_measures(rows), *_not_shown(audit, min_queries), *_without_ratio(audit, min_queries)]
        manifest = _extended(replace(averages.manifest, notes=tuple(kept)), {"min_queries": min_queries}, own)
        return cls(audit, rows[0], min_queries, manifest, averages.digits, frame_library)

    def with_intervals(
        self,
        positions: Positions,
        policies: Policies,
        resampling: Resampling,
        *,
        alpha: float = 0.05,
        show_progress: bool | None = False,
    ) -> "Exposures":
        """Return the exposures with intervals, from the positions that they were made of, if resamples are asked for.

        Only the providers shown are resampled.
        """
        if resampling.bootstrap is None:
            return self
        from lexirecall.statistics.exposures import bootstrap_exposures  # not on top: it is seldom asked for

        check_bootstrap(resampling, alpha)
        order = np.array([positions.systems.index(run) for run in self.audit.runs])
        values = self.measure.values
        shares = shares_of_providers(
            positions.at_level(self.measure.level(policies.level)), values["e"], values["p"]
        ).of_systems(order)
        made = bootstrap_exposures(
            shares,
            policies.among(positions.answered)[order][:, shares.requests],
            self._is_shown,
            num_resamples=resampling.bootstrap,
            seed=resampling.seed,
            alpha=alpha,
            show_progress=show_progress,
        )
        notes = _few_queries(self.audit, self._is_shown)
        manifest = _extended(self.manifest, dict(conventions_of(resampling)), notes)
        return replace(self, manifest=manifest, resampled=made)

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs, in the order of the rows."""
        return self.audit.runs

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader of the numbers should know."""
        return self.manifest.notes

    @property
    def _is_shown(self) -> BoolArray:
        is_shown = np.zeros(self.audit.ratios.shape, bool)
        for s in range(len(self.runs)):
            is_shown[s, self.shown(s)] = True
        return is_shown

    def shown(self, s: int) -> IntArray:
        """Return the numbers of the providers that are shown of a run, the lowest ratio first."""
        return self.audit.lowest_first(s, self.min_queries)[: self.most]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give a row for each run and provider, the lowest ratio first: run, provider, exposure, merit, ratio, queries.

        Equal ratios are in the order of the names; undefined ones are None, and last. If the queries were resampled,
        also boot_low and boot_high of the exposure, and ratio_low and ratio_high.
        """
        for s in range(len(self.runs)):
            for c in self.shown(s).tolist():
                yield {**self.audit.row(s, c), **self._ends(s, c)}

    def _ends(self, s: int, c: int) -> dict[str, float | None]:
        if (made := self.resampled) is None:
            return {}
        ends = made.lows, made.highs, made.ratio_lows, made.ratio_highs
        return {name: defined(end[s, c]) for name, end in zip((*ENDS, *RATIO_ENDS), ends, strict=True)}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the rows."""
        return COLUMNS if self.resampled is None else (*COLUMNS, *ENDS, *RATIO_ENDS)

    def _conversion(self) -> tuple[ColumnValues, str]:
        return columns_of(self.rows(), self.columns), self.frame_library

    def to_dict(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Return {run: {provider: {"exposure": …, "merit": …, "ratio": …, "queries": …}}}, the lowest ratio first."""
        result: dict[str, dict[str, dict[str, Any]]] = {run: {} for run in self.runs}
        for row in self.rows():
            result[row.pop("run")][row.pop("provider")] = row
        return result

    def table(self) -> Table:
        """Lay the providers out, one row for each in each run; a number is followed by its interval, if it has one."""
        return Table(COLUMNS, tuple(map(self._cells, self.rows())), numbers_from=2, footnote=self.footnote)

    def _cells(self, row: dict[str, Any]) -> tuple[str, ...]:
        exposure, ratio = (self._number(row, *names) for names in (("exposure", *ENDS), ("ratio", *RATIO_ENDS)))
        return row["run"], row["provider"], exposure, whole(row["merit"]), ratio, whole(row["queries"])

    def _number(self, row: dict[str, Any], *names: str) -> str:
        decimals = 4 if self.digits is None else self.digits
        values = (row.get(name) for name in names)
        value, low, high = (number(np.nan if each is None else each, decimals) for each in values)
        return with_interval(value, low, high)

    @property
    def footnote(self) -> str:
        """What is written below the table."""
        said = (
            f"exposure: mean over the provider's queries, as in {self.measure}; merit: its relevant documents; ratio: "
            "its exposure over what it would be if the relevant documents of each query had equal exposure (below 1: "
            "less than its share)"
        )
        if (made := self.resampled) is None:
            return said
        covered = f"{percent(made.alpha)} bootstrap interval {resamples(made.num_resamples, made.seed)}"
        return f"{said}; [low, high]: {covered}"


def _extended(manifest: Manifest, conventions: dict[str, Any], notes: list[Note]) -> Manifest:
    return replace(manifest, conventions={**manifest.conventions, **conventions}, notes=(*manifest.notes, *notes))


def _no_exposures(conventions: Any) -> UsageError:
    """Say why there are no exposures of providers."""
    if conventions["ties"] == "expected":
        return UsageError(
            "the exposure of providers needs one order of tied documents",
            remedy="choose another tie rule: trec, input, worst or best",
        )
    return UsageError(
        "there is no map of documents to providers", remedy="give --providers FILE, or providers= in Python"
    )


def _on_measures(rows: tuple[Measure, ...]) -> Iterator[Note]:
    """Say which exposure is shown if several are asked for."""
    if len(rows) > 1:
        text = f"exposure of providers is that of {rows[0]}, the first of {listed(map(str, rows), 9)}"
        yield Note("one exposure shown", text, len(rows))


def _not_shown(audit: ProviderExposure, min_queries: int) -> Iterator[Note]:
    """Count the providers with too few queries, for each run if runs differ."""
    counts = (audit.num_queries < min_queries).sum(axis=1).tolist()
    if not any(counts):
        return
    per_run = listed((f"{run} {count:,}" for run, count in zip(audit.runs, counts, strict=True) if count), 4)
    number_of = f"{counts[0]:,}" if len(set(counts)) == 1 else f"up to {max(counts):,} ({per_run})"
    text = (
        f"{number_of} of {counted(len(audit.providers), 'provider')} with fewer than {min_queries:,} queries: counted, "
        "not shown (--min-queries 1 shows them)"
    )
    yield Note("providers not shown", text, max(counts))


def _without_ratio(audit: ProviderExposure, min_queries: int) -> Iterator[Note]:
    is_without = (audit.num_queries >= min_queries) & np.isnan(audit.ratios)
    if total := int(is_without.any(axis=0).sum()):
        text = f"{counted(total, 'provider')} without a ratio, because a run shows no provider on their queries"
        yield Note("no ratio", text, total)


def _few_queries(audit: ProviderExposure, is_shown: BoolArray) -> list[Note]:
    total = int((is_shown & (audit.num_queries < FEW)).any(axis=0).sum())
    have, their = ("has", "its") if total == 1 else ("have", "their")
    text = f"{counted(total, 'provider')} {have} fewer than {FEW} queries: {their} bootstrap intervals are too narrow"
    return [Note("few queries of a provider", text, total)] if total else []
