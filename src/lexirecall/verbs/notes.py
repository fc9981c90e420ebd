"""Notes: what was left out, ignored or imputed, said once for each kind.

Belongs here: the sentences that go to stderr and into the manifest. Imports what stands above the verbs.
"""

import warnings
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from lexirecall.errors import counted, listed, shown
from lexirecall.formats import Reading
from lexirecall.judgments import FloatArray
from lexirecall.manifest import Note
from lexirecall.measures.providers import WORST_PROVIDER_OVERALL, ProviderExposure, provider_exposure
from lexirecall.names import Evaluable
from lexirecall.positions import Positions
from lexirecall.tables import number


def warn_of_optimism(reading: Reading) -> None:
    """Warn if missing items are placed where they flatter the run."""
    if reading.get("imputation") == "optimistic":
        warnings.warn("optimistic imputation rewards returning nothing; use it for study only", stacklevel=3)


def notes_on(
    positions: Positions,
    measures: Sequence[Evaluable],
    values: FloatArray,
    *,
    level: float,
    queries: str,
    no_relevant: str,
) -> Iterator[Note]:
    """Give the notes that a reader of these values needs."""
    levels = sorted({measure.level(level) for measure in measures})
    yield from notes_on_requests(positions, levels, queries=queries, no_relevant=no_relevant)
    yield from _undefined(positions, measures, values, level, queries)
    yield from _without_provider(positions, measures, level)
    yield from _worst_off(positions, measures, level, queries)


def notes_on_requests(
    positions: Positions, levels: Sequence[float], *, queries: str, no_relevant: str
) -> Iterator[Note]:
    """Give the notes on requests and lines that were left out or imputed, whatever is computed from the rest."""
    yield from _unanswered(positions, levels[0], queries)
    yield from _without_judgments(positions)
    yield from _without_relevant(positions, levels, no_relevant)
    yield from _repeats(positions)


def _per_run(positions: Positions, counts: Iterable[int], most: int = 4) -> str:
    return listed((f"{name} {count:,}" for name, count in zip(positions.systems, counts, strict=True) if count), most)


def _unanswered(positions: Positions, lowest_level: float, queries: str) -> Iterator[Note]:
    """Count the requests that would have a value if the run had answered them."""
    counts = (~positions.answered & (positions.judgments.num_relevant(lowest_level) > 0)).sum(axis=1)
    if total := int(counts.sum()):
        policy = (
            "count as worst case, nothing retrieved (--queries intersection leaves them out)"
            if queries == "all"
            else "are left out of the means of that run"
        )
        where = f"(of {len(positions.requests):,}: {_per_run(positions, counts)})"
        yield Note("unanswered", f"judged requests that a run does not answer {where} {policy}", total)


def _without_judgments(positions: Positions) -> Iterator[Note]:
    if total := sum(positions.num_unjudged):
        text = f"requests of a run without judgments ({_per_run(positions, positions.num_unjudged)}) are ignored"
        yield Note("without judgments", text, total)


def _without_relevant(positions: Positions, levels: Sequence[float], no_relevant: str) -> Iterator[Note]:
    """Say which requests have nothing relevant; where the levels differ in that, for each of them."""
    masks = {level: positions.judgments.num_relevant(level) == 0 for level in levels}
    counts = {mask.tobytes(): (level, mask) for level, mask in reversed(masks.items())}
    parts = []
    for level, mask in counts.values():
        names = listed(request for request, empty in zip(positions.requests, mask, strict=True) if empty)
        which = "" if len(counts) == 1 else " of any grade" if level < 1e-300 else f" of grade {level:g} or more"
        parts += (
            [f"{counted(int(mask.sum()), 'request')} without a relevant item{which} ({names})"] if mask.any() else []
        )
    policy = (
        "left out of every mean (--no-relevant zero counts them as 0)"
        if no_relevant == "skip"
        else "counted as 0 where higher is better"
    )
    if parts:
        most = max(int(mask.sum()) for _, mask in counts.values())
        yield Note("no relevant item", f"{', '.join(parts)}: {policy}", most)


def _repeats(positions: Positions) -> Iterator[Note]:
    if total := sum(positions.num_duplicates):
        kept = "the first line" if positions.conventions.duplicates == "first" else "the best score"
        where = _per_run(positions, positions.num_duplicates)
        text = f"lines that repeat a document of the same request ({where}): kept {kept}"
        yield Note("duplicates", text, total)
    if total := positions.judgments.num_repeated:
        yield Note(
            "repeated judgments", f"{counted(total, 'judgment')} given more than once, with the same grade", total
        )


def _undefined(
    positions: Positions, measures: Sequence[Evaluable], values: FloatArray, level: float, queries: str
) -> Iterator[Note]:
    """Say which values are undefined although the request has relevant items and is answered or imputed."""
    parts, total, reason = [], 0, ""
    for c, measure in enumerate(measures):
        if measure.sparse:
            continue
        due = np.broadcast_to(measure.due(positions, level), positions.shape)
        if queries == "intersection":
            due = due & positions.answered
        if count := int((np.isnan(values[:, :, c]) & due).sum()):
            parts.append(f"{measure} ({count:,} of {due.sum():,})")
            total += count
            if measure.corpus != "ignored":
                reason = "; where a relevant document stands that was not retrieved is unknown without --corpus-size"
    if parts:
        yield Note("undefined", f"undefined values, left out of the means: {listed(parts, most=9)}{reason}", total)


def _without_provider(positions: Positions, measures: Sequence[Evaluable], level: float) -> Iterator[Note]:
    """Say how many relevant items nobody is credited with, at the lowest level that a measure of providers asks for."""
    providers, judgments = positions.providers, positions.judgments
    level = min((measure.level(level) for measure in measures if measure.needs_providers), default=level)
    if providers is None or not (total := len(without := providers.without(judgments, level))):
        return
    names = listed(dict.fromkeys(shown(judgments.items[item]) for item in without.tolist()), most=3)
    text = (
        f"{counted(total, 'relevant document')} of {judgments.num_relevant(level).sum():,} without a provider ({names})"
    )
    num_empty = int(((judgments.num_relevant(level) > 0) & ~providers.reach(judgments, level)).sum())
    left_out = f"; {counted(num_empty, 'request')} without any other, left out of WorstProvider" if num_empty else ""
    yield Note("without provider", f"{text}: credited to nobody{left_out}", total)


def _worst_off(positions: Positions, measures: Sequence[Evaluable], level: float, queries: str) -> Iterator[Note]:
    """Name the worst-off provider over all requests of each run, by the exposure that the measures ask for."""
    if positions.providers is None or positions.conventions.ties == "expected":
        return
    asked = [row for row in measures if row.formulas == WORST_PROVIDER_OVERALL.formulas] or [WORST_PROVIDER_OVERALL]
    parts = []
    for row in asked:
        audit = provider_exposure(
            positions, row.values["e"], p=row.values["p"], level=row.level(level), queries=queries
        )
        runs = listed((_worst_of_run(audit, s) for s in range(len(audit.systems))), most=4)
        parts.append(f"by {row} {runs}" if len(asked) > 1 else runs)
    yield Note(
        "worst-off provider", f"worst-off provider over all requests: {'; '.join(parts)}", len(positions.systems)
    )


def _worst_of_run(audit: ProviderExposure, s: int) -> str:
    names = audit.worst(s)
    if not names:
        return f"{audit.systems[s]} none"
    is_worst = audit.is_worst(s)
    num_requests = audit.num_requests[s, is_worst]
    at_most = "up to " if num_requests.min() < num_requests.max() else ""
    over = f"{at_most}{counted(int(num_requests.max()), 'request')}"
    mean = number(float(audit.exposures[s, is_worst].min()))
    return f"{audit.systems[s]} {listed(map(shown, names), most=3)} (mean exposure {mean} over {over})"
