"""Payload: everything that a page shows, as plain lists and numbers that fit into JSON.

Belongs here: what it contains, under which key. Not here: how positions, pairs and curves are laid out (`rankings`,
`pairs`, `owners`, `recall`), what is left out (`limits`), and the file (`html`).

Runs are listed best first, queries in the order of the judgments; everything else refers to them by index.
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from lexirecall.errors import counted
from lexirecall.judgments import IntArray
from lexirecall.page.breakdown import breakdown_columns
from lexirecall.page.charts import page_charts
from lexirecall.page.findings import Findings, agreements
from lexirecall.page.groups import group_columns
from lexirecall.page.headline import headline
from lexirecall.page.limits import Cutter, Limits, Selection, select
from lexirecall.page.owners import provider_columns
from lexirecall.page.pairs import pair_columns
from lexirecall.page.rankings import found_documents, lengths_of_relevant, relevant_documents
from lexirecall.page.recall import RECALLS, median_depths, recall_columns
from lexirecall.page.rounding import rounded
from lexirecall.page.serving import serving_columns
from lexirecall.page.stages import stage_columns
from lexirecall.page.unlabelled import label_columns
from lexirecall.page.words import text_columns
from lexirecall.preferences import Preference
from lexirecall.statistics.queryaggregate import over_queries
from lexirecall.texts import Texts
from lexirecall.verbs.decidingqueries import TAIL
from lexirecall.version import VERSION

if TYPE_CHECKING:
    from lexirecall.gates.funnelresult import Funnel
    from lexirecall.labels.missingresult import Unjudged

FORM = 1
"""The version of the payload format."""
VALUE_DIGITS = 5
NOTE_LENGTH = 1000
_ALL_DIGITS = 17
_CURVES = ("mean", "ideal", "random")


def build_payload(
    findings: Findings,
    *,
    title: str = "",
    date: dt.date | None = None,
    limits: Limits | None = None,
    texts: Texts | None = None,
    funnel: "Funnel | None" = None,
    unjudged: "Unjudged | None" = None,
) -> dict[str, Any]:
    """Return what a page shows; the same findings and date give the same payload.

    >>> from lexirecall import project
    >>> from lexirecall.manifest import Policies
    >>> from lexirecall.verbs.testing import Testing
    >>> positions = project({"q": {"a": 1, "b": 1}}, {"x": {"q": ["z", "a"]}, "y": {"q": ["b", "z", "a"]}})
    >>> payload = build_payload(Findings.of(positions, "RR", Testing(), Policies()))
    >>> payload["runs"], payload["means"], payload["relevant"], payload["found"]
    (['y', 'x'], [[1, 1], [0.5, 0]], [['a', 'b']], [[[1, 1, 2, 0]], [[2, 0]]])
    """
    limits = limits or Limits()
    cut = Cutter(limits.length)
    chosen = _selection(findings, limits)
    queries = np.flatnonzero(findings.eligible)[chosen.queries]
    best = findings.places[: chosen.num_detailed]
    rest = [None] * (len(findings.places) - len(best))
    serving = serving_columns(findings, best, queries, cut)
    words, about = text_columns(findings, texts, queries, limits, serving.get("serving", {}).get("documents"))
    parts = {
        **_head(findings, cut, title, date),
        **_leaderboard(findings),
        "tail": _tail(findings),
        **breakdown_columns(findings, cut),
        "queries": cut.names(findings.positions.queries[q] for q in queries.tolist()),
        "measures": list(_measures(findings)),
        "values": [[*column, *rest] for column in _values(findings, best, queries)],
        "pairs": pair_columns(findings, chosen.num_paired),
        **group_columns(findings),
        "relevant": relevant_documents(findings.projection, queries, cut),
        "found": [*found_documents(findings, best, queries), *rest],
        **serving,
        **words,
        "retrieved": [*findings.positions.num_retrieved[best][:, queries].tolist(), *rest],
        # where a run is compared with no other, as places among the queries
        "absent": [*(np.flatnonzero(is_absent).tolist() for is_absent in ~findings.counted[best][:, queries]), *rest],
        **stage_columns(funnel, [findings.positions.queries[q] for q in queries.tolist()], limits, cut),
        **label_columns(unjudged, limits),
        **provider_columns(findings, limits, cut),
        **_curves(findings),
        "study": list(_study(findings)),
    }
    return {
        **parts,
        "left_out": [*chosen.sentences(), *_left_out(findings, cut), *about],
        "charts": page_charts(findings, parts),
    }


def _head(findings: Findings, cut: Cutter, title: str, date: dt.date | None) -> dict[str, Any]:
    """Return what the page is about, and its runs."""
    runs = cut.names(findings.positions.runs[s] for s in findings.places)
    return {
        "version": FORM,
        "title": cut(title),
        "lexirecall": VERSION,
        "date": (date or dt.date.today()).isoformat(),
        "manifest": _manifest(findings, runs, cut),
        "headline": headline(findings),
        "alpha": findings.testing.alpha,
        "runs": runs,
    }


def _selection(findings: Findings, limits: Limits) -> Selection:
    projection, eligible = findings.projection, findings.eligible
    num_found = projection.found.segments.sizes.reshape(findings.positions.shape)
    return select(
        num_found[findings.places][:, eligible],
        lengths_of_relevant(projection)[eligible],
        len(findings.scores.measures),
        limits,
    )


def _left_out(findings: Findings, cut: Cutter) -> Iterator[str]:
    """Say which queries are not on the page, and how many names were cut, which is known only at the end."""
    empty = ~findings.eligible
    if num_empty := int(empty.sum()):
        has_value = ~np.isnan(findings.scores.values).all(axis=(0, 2))
        some = " Some measures have a value for them, and count it in the mean." if (empty & has_value).any() else ""
        yield f"{counted(num_empty, 'query')} {findings.policies.ineligible}: not shown one by one.{some}"
    if cut.num_cut:
        yield f"{counted(cut.num_cut, 'name')} longer than {cut.length:,} characters: cut, with an ellipsis."


def _leaderboard(findings: Findings) -> dict[str, Any]:
    table, comparison, places = findings.leaderboard, findings.comparison, findings.places
    columns = range(1, len(findings.scores.measures) + 1)
    baseline = places.index(comparison.baselines[0]) if comparison is not None and comparison.baselines else None
    return {
        "baseline": baseline,
        "labels": [row[0].partition(" ")[0] for row in table.rows],
        "ranks": [1] if comparison is None else comparison.order.ranks[places].tolist(),
        "means": rounded(findings.scores.means[places], _ALL_DIGITS),
        "marks": [[table.marks.get((r, c), "") for c in columns] for r in range(len(places))],
        "better_than": _better_than(findings),
        "best": [[(r, c) in table.best for c in columns] for r in range(len(places))],
        **_intervals(findings),
    }


def _tail(findings: Findings) -> dict[str, Any]:
    """Return the mean of each run's own worst queries under each measure, and how many these are."""
    scores, places = findings.scores, findings.places
    directions = np.array([row.direction for row in scores.measures])
    is_deep = any(row.corpus == "if missing" for row in scores.measures)  # then some may count as infinitely deep
    values = (findings.valued.placed if is_deep else scores.values)[places]
    means = over_queries(values, TAIL, directions=directions)
    sizes = TAIL.num_taken(np.count_nonzero(~np.isnan(values), axis=1))
    return {"share": TAIL.share, "means": rounded(means, _ALL_DIGITS), "sizes": sizes.tolist()}


def _intervals(findings: Findings) -> dict[str, Any]:
    """Return the intervals of the means, if the queries were resampled."""
    intervals, places = findings.scores.averages.intervals, findings.places
    if intervals is None:
        return {}
    low, high = (rounded(ends[places], _ALL_DIGITS) for ends in (intervals.lows, intervals.highs))
    return {"intervals": {"low": low, "high": high, "note": intervals.footnote}, **_certainty(findings)}


def _certainty(findings: Findings) -> dict[str, Any]:
    """Return how certain the place of each run is: by resamples and, without a baseline, by the tests."""
    comparison, places = findings.comparison, findings.places
    if comparison is None or comparison.resampled is None:
        return {}
    resampled, tested = comparison.resampled, comparison.tested_ranks
    ranges = {"ranks": (resampled.rank_lows, resampled.rank_highs), **({} if tested is None else {"tested": tested})}
    ends = {name: np.column_stack(pair)[places].tolist() for name, pair in ranges.items()}
    return {"certainty": {"first": rounded(resampled.first[places], VALUE_DIGITS), **ends}}


def _better_than(findings: Findings) -> list[list[int]] | None:
    """Return how many runs each run is significantly better than, under each measure."""
    comparison, places = findings.comparison, findings.places
    if comparison is None or comparison.baselines:
        return None
    counts = [compared.better(len(places), comparison.alpha).sum(axis=1) for compared in comparison.measures]
    return np.column_stack(counts)[places].tolist()  # type: ignore[no-any-return]


def _measures(findings: Findings) -> Iterator[dict[str, Any]]:
    compared = findings.comparison.measures if findings.comparison is not None else ()
    tests = [(", ".join(of_measure.methods), of_measure.correction) for of_measure in compared]
    tests = tests or [("", "")] * len(findings.scores.measures)
    records = zip(findings.scores.manifest.measures, findings.scores.measures, tests, strict=True)
    for record, row, (test, correction) in records:
        yield {
            **record,
            "decimals": row.decimals,
            "is_preference": isinstance(row, Preference),
            "test": test,
            "correction": correction,
        }


def _values(findings: Findings, runs: list[int], queries: IntArray) -> list[Any]:
    values = findings.scores.values[runs][:, queries]
    return rounded(values.transpose(2, 0, 1), VALUE_DIGITS)


def _study(findings: Findings) -> Iterator[dict[str, Any]]:
    if findings.comparison is not None:
        yield from agreements(findings.positions, findings.scores.measures, findings.policies)


def _curves(findings: Findings) -> dict[str, Any]:
    projection, places = findings.projection, findings.places
    counted_rankings = findings.counted
    needed = []
    for recall in RECALLS:
        medians, shares = median_depths(projection, recall, counted_rankings)
        columns = {"median": rounded(medians[places], _ALL_DIGITS), "reached": rounded(shares[places], VALUE_DIGITS)}
        needed.append({"recall": recall, **columns})
    return {"recall": _rounded(recall_columns(projection, places, counted_rankings)), "depth_needed": needed}


def _rounded(curves: dict[str, Any]) -> dict[str, Any]:
    """Round the curves, also those within; depths and shares are as they are."""
    nested = {name: _rounded(curve) if isinstance(curve, dict) else curve for name, curve in curves.items()}
    named = {name: rounded(np.array(curves[name]), VALUE_DIGITS) for name in _CURVES if curves.get(name) is not None}
    return {**nested, **named}


def _manifest(findings: Findings, runs: list[str], cut: Cutter) -> dict[str, Any]:
    manifest = findings.manifest
    testing = {} if findings.comparison is None else asdict(findings.testing)
    described = [{**manifest.runs[s], "name": name} for s, name in zip(findings.places, runs, strict=True)]
    short = Cutter(NOTE_LENGTH)
    return {
        "conventions": {**manifest.conventions, **_sizes(manifest.conventions), **testing},
        "qrels": {"name": cut(findings.name), **manifest.qrels},
        "runs": described,
        "notes": [{"kind": note.kind, "text": short(note.text), "count": note.count} for note in findings.notes],
        "versions": dict(manifest.versions),
        "reader": manifest.reader,
    }


def _sizes(conventions: Mapping[str, Any]) -> dict[str, str]:
    """Summarize corpus sizes that differ from query to query: there may be many."""
    sizes = conventions["corpus_size"]
    if not isinstance(sizes, Mapping):
        return {}
    return {"corpus_size": f"{min(sizes.values()):,} to {max(sizes.values()):,} documents, depending on the query"}
