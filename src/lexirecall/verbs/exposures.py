"""Exposures: every provider in every run: exposure, merit, ratio and evidence; the table prints and converts itself.

Belongs here: the table, its order, and what is said about it. Not here: what exposure is (measures), whether a provider
is placed like others (statistics.placements), resampling (statistics.exposures), the means of measures (averages).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lexirecall.aggregation import MIN_QUERIES, Aggregation, Resampling
from lexirecall.errors import UsageError, counted, listed, shown
from lexirecall.judgments import BoolArray, IntArray
from lexirecall.manifest import Manifest, Note, Policies
from lexirecall.measures import Measure
from lexirecall.measures.ownership import owned_documents
from lexirecall.measures.providers import ProviderExposure, shares_of_providers
from lexirecall.positions import Positions
from lexirecall.tables import Table, defined, number, whole
from lexirecall.verbs.averages import Averages, with_interval
from lexirecall.verbs.conversion import ColumnValues, Convertible, columns_of
from lexirecall.verbs.owners import overall_rows
from lexirecall.verbs.printable import Printable
from lexirecall.verbs.resamples import check_bootstrap, conventions_of, percent, resamples

if TYPE_CHECKING:
    from lexirecall.statistics.exposures import ResampledExposures
    from lexirecall.statistics.placements import Placements

COLUMNS = ("run", "provider", "exposure", "merit", "ratio", "queries")
EVIDENCE = ("p", "p_corrected")
"""The columns that say whether a provider is placed like the others."""
ENDS = ("exposure_low", "exposure_high", "ratio_low", "ratio_high")
"""The columns of intervals."""
FEW = 50
"""With fewer queries than this a provider has no interval: it would hold the ratio 1 too seldom where 1 is true."""


@dataclass(frozen=True, eq=False)
class Exposures(Printable, Convertible):
    """Exposure, merit and ratio of every provider in every run, the least p first, or by ratio if there are none."""

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
    placements: "Placements | None" = None
    """Whether each provider is placed like the others, if positions were at hand."""
    alpha: float = 0.05
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
        notes = [*_on_measures(rows), *_not_shown(audit, min_queries), *_without_ratio(audit, min_queries)]
        manifest = _extended(replace(averages.manifest, notes=tuple(kept)), {"min_queries": min_queries}, notes)
        return cls(
            audit=audit, measure=rows[0], min_queries=min_queries, manifest=manifest, digits=averages.digits,
            frame_library=frame_library,
        )  # fmt: skip

    def with_evidence(
        self,
        positions: Positions,
        policies: Policies,
        resampling: Resampling,
        *,
        alpha: float = 0.05,
        show_progress: bool | None = False,
    ) -> "Exposures":
        """Return the exposures tested, by the positions that they were made of; with intervals if these are asked for.

        Only the providers shown are resampled.
        """
        from lexirecall.statistics.exposures import bootstrap_exposures  # not on top: few runs have a map of providers
        from lexirecall.statistics.placements import permute_owners

        if resampling.bootstrap is not None:
            check_bootstrap(resampling, alpha)
        order = np.array([positions.runs.index(run) for run in self.audit.runs])
        projection = positions.at_level(self.measure.level(policies.level))
        setting = self.measure.values["e"], self.measure.values["p"]
        counts, seed = policies.counted(positions, self.measure)[order], resampling.seed
        documents = owned_documents(projection, *setting).of_runs(order)
        tested = permute_owners(documents, counts, alpha=alpha, seed=seed, show_progress=show_progress)
        exposures = replace(self, placements=tested, alpha=alpha)
        permuted = {"owner_permutations": tested.num_resamples, "seed": seed}
        exposures = exposures._noting(permuted | dict(conventions_of(resampling)), notes_on_placements(exposures))
        if resampling.bootstrap is None:
            return exposures
        shares = shares_of_providers(projection, *setting).of_runs(order)
        resampled = bootstrap_exposures(
            shares,
            counts[:, shares.queries],
            exposures._is_shown & (self.audit.num_queries >= FEW),
            num_resamples=resampling.bootstrap,
            seed=seed,
            alpha=alpha,
            show_progress=show_progress,
        )
        notes = _without_interval(self.audit, resampled, exposures._is_shown)
        return replace(exposures, resampled=resampled)._noting({}, notes)

    def _noting(self, conventions: dict[str, Any], notes: Iterable[Note]) -> "Exposures":
        return replace(self, manifest=_extended(self.manifest, conventions, list(notes)))

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
        """Return the numbers of the providers that are shown of a run: the least p first, then the lowest ratio."""
        chosen = self.audit.lowest_first(s, self.min_queries)
        if (tested := self.placements) is not None:
            chosen = chosen[np.lexsort((tested.pvalues[s, chosen], tested.corrected[s, chosen]))]  # nan is last
        return chosen[: self.most]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give a row for each run and provider: run, provider, exposure, merit, ratio, queries, p and p_corrected.

        The least p comes first, then the lowest ratio, then the order of the names; undefined ones are None, and last.
        If the queries were resampled, also exposure_low and exposure_high, ratio_low and ratio_high.
        """
        for s in range(len(self.runs)):
            for c in self.shown(s).tolist():
                yield {**self.audit.row(s, c), **self._evidence(s, c), **self._ends(s, c)}

    def _evidence(self, s: int, c: int) -> dict[str, float | None]:
        if (tested := self.placements) is None:
            return {}
        pvalues = tested.pvalues[s, c], tested.corrected[s, c]
        return {name: defined(p) for name, p in zip(EVIDENCE, pvalues, strict=True)}

    def _ends(self, s: int, c: int) -> dict[str, float | None]:
        if (resampled := self.resampled) is None:
            return {}
        ends = resampled.lows, resampled.highs, resampled.ratio_lows, resampled.ratio_highs
        return {name: defined(end[s, c]) for name, end in zip(ENDS, ends, strict=True)}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the rows."""
        return (*self._header, *(() if self.resampled is None else ENDS))

    @property
    def _header(self) -> tuple[str, ...]:
        return (*COLUMNS, *(() if self.placements is None else EVIDENCE))

    def _conversion(self) -> tuple[ColumnValues, str]:
        return columns_of(self.rows(), self.columns), self.frame_library

    def to_dict(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Return {run: {provider: {"exposure": …, "merit": …, "ratio": …, "queries": …}}}, in the order of the rows."""
        result: dict[str, dict[str, dict[str, Any]]] = {run: {} for run in self.runs}
        for row in self.rows():
            result[row.pop("run")][row.pop("provider")] = row
        return result

    def table(self) -> Table:
        """Lay the providers out, one row for each in each run; a number is followed by its interval, if it has one."""
        return Table(self._header, tuple(map(self._cells, self.rows())), numbers_from=2, footnote=self.footnote)

    def _cells(self, row: dict[str, Any]) -> tuple[str, ...]:
        exposure, ratio = (self._number(row, *names) for names in (("exposure", *ENDS[:2]), ("ratio", *ENDS[2:])))
        pvalues = (self._number(row, name, "", "") for name in EVIDENCE if name in row)
        return row["run"], row["provider"], exposure, whole(row["merit"]), ratio, whole(row["queries"]), *pvalues

    def _number(self, row: dict[str, Any], *names: str) -> str:
        decimals = 4 if self.digits is None else self.digits
        values = (row.get(name) for name in names)
        value, low, high = (number(np.nan if cell is None else cell, decimals) for cell in values)
        return with_interval(value, low, high)

    @property
    def footnote(self) -> str:
        """What is written below the table."""
        says = [
            f"exposure: mean over the provider's queries, as in {self.measure}; merit: its relevant documents; ratio: "
            "its exposure over what it would be if the relevant documents of each query had equal exposure"
        ]
        if (tested := self.placements) is not None:
            says.append(
                "p: how often a placement is as unlike that of the other relevant documents of the same queries by "
                f"chance ({tested.num_resamples:,} permutations of the owners, seed {tested.seed}); "
                "p_corrected: for all providers of the run (Holm)"
            )
        if (resampled := self.resampled) is not None:
            says.append(on_resampled(resampled))
        return "; ".join(says)


def on_resampled(resampled: "ResampledExposures") -> str:
    """Say what the brackets of a table mean."""
    how = f"by the studentized bootstrap {resamples(resampled.num_resamples, resampled.seed)}"
    return f"[low, high]: {percent(resampled.alpha)} interval, {how}"


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


def _without_interval(audit: ProviderExposure, resampled: "ResampledExposures", is_shown: BoolArray) -> Iterator[Note]:
    is_few = audit.num_queries < FEW
    if total := int((is_shown & is_few).any(axis=0).sum()):
        text = f"no interval of {counted(total, 'provider')} with fewer than {FEW} queries: it would be too narrow"
        yield Note("few queries of a provider", text, total)
    if total := int((is_shown & ~is_few & np.isnan(resampled.ratio_lows)).any(axis=0).sum()):
        text = f"no interval of the ratio of {counted(total, 'provider')} whose queries all have the same ratio"
        yield Note("equal queries of a provider", text, total)


def notes_on_placements(exposures: Exposures) -> Iterator[Note]:
    """Say who is not placed like the others, which is all that the evidence says, and what it cannot say."""
    from lexirecall.statistics.placements import FEWEST, MOST_ADDITIONS

    if (tested := exposures.placements) is None:
        return
    like = "the other relevant documents of the same queries"
    is_apart = tested.corrected < exposures.alpha
    if is_apart.any():
        named = [
            f"{run} {shown(exposures.audit.providers[c])} ({'higher' if tested.statistics[s, c] > 0 else 'lower'})"
            for s, run in enumerate(exposures.runs)
            for c in exposures.audit.lowest_first(s)[is_apart[s, exposures.audit.lowest_first(s)]].tolist()
        ]
        yield Note("placed apart", f"not placed like {like}: {listed(named, 6)}", len(named))
    elif not np.isnan(tested.pvalues).all():
        least = f"{np.nanmin(tested.corrected):.2g}"
        yield Note("placed apart", f"no provider is shown to be placed unlike {like} (corrected p at least {least})")
    if total := int((exposures._is_shown & np.isnan(tested.pvalues)).any(axis=0).sum()):
        have = "has" if total == 1 else "have"
        text = (
            f"{counted(total, 'provider')} {have} no p: on fewer than {FEWEST} queries there are relevant documents of "
            "theirs and of others"
        )
        yield Note("providers without p", text, total)
    if tested.is_bounded:
        text = (
            f"owners are permuted {tested.num_resamples:,} times, fewer than Holm's correction needs: more would take "
            f"over {MOST_ADDITIONS:,} additions (evaluate fewer runs)"
        )
        yield Note("fewer permutations", text, tested.num_resamples)
