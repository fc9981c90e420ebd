"""Missing tables: what depends on unjudged documents, as rows and tables.

Belongs here: rows of each kind, and tables of each view. Not here: the numbers (missingresult), sentences
(missingwords).
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lexirecall.errors import listed
from lexirecall.labels.forecasts import standard_error
from lexirecall.labels.missingresult import KINDS, PairLabels, Unjudged
from lexirecall.labels.rates import stated_rate
from lexirecall.tables import Table, defined, number, percent, whole
from lexirecall.texts import shortened, texts_beside
from lexirecall.verbs.averages import with_interval

DEPTHS = (10, 100, 1000)
"""Within which the share of judged documents is shown, as far as lists go."""
MOST_PAIRS = 20
"""Rows of pairs that the summary shows."""
_WIDTHS = {"query_text": 40, "document_text": 60}  # characters of texts in tables
_TEXTS = tuple(_WIDTHS)
COLUMNS = {
    "run": ("run", "retrieved", "unjudged", "judged", *(f"judged@{depth}" for depth in DEPTHS)),
    "bound": ("run", "measure", "value", "low", "high", "queries"),
    "pair": (
        "a", "b", "measure", "mean", "p_corrected", "decided", "tied", "safe", "median_flip", "median_unjudged",
        "reversals", "exact", "same_order", "stays", "turns", "arises", "samples",
    ),
    "labels": ("unjudged", "expected", "expected_low", "expected_high"),
    "order": ("measure", "best", "stays_best", "tau", "tau_low", "samples"),
    "query": ("query", "a", "b", "measure", "preferred", "flip", "reversible", "unjudged", "chance"),
    "judge": ("query_id", "doc_id", "grade", "weight", "position", "runs", "reason"),
    "hindsight": (
        "measure", "unjudged", "judged_since", "relevant", "expected", "expected_low", "expected_high", "decisions",
        "reversed", "reversals", "safe", "safe_reversed", "order_pairs", "order_kept", "order_kept_expected",
        "significance_pairs", "significance_kept", "significance_kept_expected",
    ),
}  # fmt: skip
"""The columns of each kind of row, after `kind`."""


def columns_of_kinds(kinds: tuple[str, ...], *, has_texts: bool) -> tuple[str, ...]:
    """Return the columns of rows of some kinds; the list to fill in begins with what judgments are made of.

    >>> columns_of_kinds(("judge",), has_texts=False)[:3], columns_of_kinds(("run", "bound"), has_texts=False)[:3]
    (('query_id', 'doc_id', 'grade'), ('kind', 'run', 'retrieved'))
    """
    if kinds == KINDS["judge"]:
        query, document, grade, *rest = COLUMNS["judge"]
        return (query, document, grade, *(_TEXTS if has_texts else ()), *rest)
    columns = dict.fromkeys(name for kind in kinds for name in COLUMNS[kind])
    return ("kind", *columns, *(_TEXTS if has_texts and "judge" in kinds else ()))


# Rows


def rows_of(result: Unjudged, kinds: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Give the rows of some kinds."""
    for kind in kinds:
        for row in _ROWS[kind](result):
            yield {"kind": kind, **row}


def _run_rows(result: Unjudged) -> Iterator[dict[str, Any]]:
    for labels in result.labels:
        shares = {f"judged@{depth}": labels.judged.get(depth) for depth in DEPTHS}
        yield {"run": labels.run, "retrieved": labels.retrieved, "unjudged": labels.unjudged,
               "judged": labels.judged[None], **shares}  # fmt: skip


def _bound_rows(result: Unjudged) -> Iterator[dict[str, Any]]:
    for bound in result.bounds:
        numbers = {name: defined(getattr(bound, name)) for name in ("value", "low", "high")}
        yield {"run": bound.run, "measure": bound.measure, **numbers, "queries": bound.queries}


def _labels_rows(result: Unjudged) -> Iterator[dict[str, Any]]:
    if result.rate is not None:
        yield {"unjudged": result.num_unjudged, **_expected(stated_rate(result.rate).number(result.num_unjudged))}


def _expected(expected: tuple[float, int, int]) -> dict[str, float]:
    return dict(zip(("expected", "expected_low", "expected_high"), expected, strict=True))


def _pair_rows(result: Unjudged) -> Iterator[dict[str, Any]]:
    for pairs in result.pairs:
        for p in range(len(pairs.compared.a)):
            yield {**_names(result, pairs, p), **_pair_numbers(result, pairs, p)}


def _names(result: Unjudged, pairs: PairLabels, p: int) -> dict[str, Any]:
    return {"a": result.runs[pairs.compared.a[p]], "b": result.runs[pairs.compared.b[p]], "measure": str(pairs.measure)}


def _pair_numbers(result: Unjudged, pairs: PairLabels, p: int) -> dict[str, Any]:
    flip, unjudged = pairs.median_flip(p)
    now, forecast, expected, safe = pairs.compared, pairs.forecast, pairs.expected, pairs.safe
    numbers = {
        "mean": defined(float(now.means[p])),
        "p_corrected": defined(float(now.corrected[p])),
        "decided": int(pairs.decided[p]),
        "tied": int(now.ties[p]),
        "safe": None if safe is None else int(safe[p]),
        "median_flip": defined(flip),
        "median_unjudged": defined(unjudged),
        "reversals": None if expected is None else float(expected[p]),
    }
    if forecast is None:
        return {**numbers, **dict.fromkeys(("exact", "same_order", "stays", "turns", "arises")), "samples": 0}
    is_significant = bool(now.is_significant(result.alpha)[p])
    share, turned = float(forecast.significant[p]), float(forecast.turned[p])
    return {
        **numbers,
        "exact": forecast.is_exact,
        "same_order": defined(float(forecast.same_order[p])),
        "stays": share if is_significant else None,
        "turns": turned if is_significant else None,
        "arises": None if is_significant else share + turned,
        "samples": result.num_samples,
    }


def _order_rows(result: Unjudged) -> Iterator[dict[str, Any]]:
    for pairs in result.pairs:
        if (order := pairs.order) is not None:
            taus = order.taus[~np.isnan(order.taus)]
            yield {
                "measure": str(pairs.measure),
                "best": result.runs[order.best],
                "stays_best": order.stays_best,
                "tau": float(taus.mean()) if len(taus) else None,
                "tau_low": float(taus.min()) if len(taus) else None,
                "samples": result.num_samples,
            }


def _query_rows(result: Unjudged) -> Iterator[dict[str, Any]]:
    """Give each decision; queries on which neither run is better are left out."""
    for pairs in result.pairs:
        for p, q in np.argwhere(pairs.signs != 0).tolist():
            names = _names(result, pairs, p)
            flip = None if pairs.known.numbers is None else float(pairs.known.numbers[p, q])
            yield {
                "query": result.queries[q],
                **names,
                "preferred": names["a" if pairs.signs[p, q] > 0 else "b"],
                "flip": None if flip is None or np.isinf(flip) else int(flip),
                "reversible": None if flip is None else bool(np.isfinite(flip)),
                "unjudged": int(pairs.known.unjudged[p, q]),
                "chance": None if pairs.forecast is None else float(pairs.forecast.reversals[p, q]),
            }


def _judge_rows(result: Unjudged) -> Iterator[dict[str, Any]]:
    for candidate in result.to_judge or ():
        yield {
            # as columns of judgments are usually called: the list is read as judgments again
            "query_id": candidate.query,
            "doc_id": candidate.document,
            "grade": None,
            **texts_beside(result.texts, candidate.query, candidate.document),
            "weight": candidate.weight,
            "position": min(position for _, position in candidate.runs),
            "runs": " ".join(f"{name}@{position}" for name, position in candidate.runs),
            "reason": candidate.reason,
        }


def _hindsight_rows(result: Unjudged) -> Iterator[dict[str, Any]]:
    for outcome in result.hindsight:
        row = {
            "measure": outcome.measure,
            "unjudged": outcome.num_unjudged,
            "judged_since": outcome.num_judged,
            "relevant": outcome.relevant,
            **_expected(outcome.expected),
            "decisions": outcome.num_decisions,
            "reversed": int(np.nansum(outcome.is_reversed)),
            "reversals": float(np.nansum(outcome.reversals)),
            "safe": outcome.num_safe,
            "safe_reversed": outcome.safe_reversed,
        }
        for name, is_kept, kept in zip(("order", "significance"), outcome.is_kept, outcome.kept, strict=True):
            row |= {f"{name}_pairs": int(np.isfinite(kept).sum()), f"{name}_kept": int(np.nansum(is_kept))}
            row[f"{name}_kept_expected"] = float(np.nansum(kept))
        yield row


_ROWS: dict[str, Callable[[Unjudged], Iterator[dict[str, Any]]]] = {
    "run": _run_rows, "bound": _bound_rows, "labels": _labels_rows, "pair": _pair_rows, "order": _order_rows,
    "query": _query_rows, "judge": _judge_rows, "hindsight": _hindsight_rows,
}  # fmt: skip


# Tables


def tables_of(result: Unjudged, view: str) -> dict[str, Table]:
    """Lay out the tables of one view, by title; empty ones are left out."""
    return {name: table for name, table in _TABLES[view](result) if table.rows}


def _of_runs(result: Unjudged) -> Iterator[tuple[str, Table]]:
    depths = [depth for depth in DEPTHS if any(depth in labels.judged for labels in result.labels)]
    measures = list(dict.fromkeys(bound.measure for bound in result.bounds))
    cells = {(bound.run, bound.measure): _bound(bound.value, bound.low, bound.high) for bound in result.bounds}
    rows = tuple(
        (
            labels.run,
            whole(labels.retrieved),
            whole(labels.unjudged),
            *(percent(labels.judged.get(depth)) for depth in (*depths, None)),
            *(cells[labels.run, measure] for measure in measures),
        )
        for labels in result.labels
    )
    header = ("run", "retrieved", "unjudged", *(f"judged@{depth}" for depth in depths), "judged", *measures)
    footnote = (
        "in brackets: the least and the most that labels of the run's own unjudged documents can make of the mean"
    )
    yield "Runs", Table(header, rows, footnote=footnote if measures else "")


def _bound(value: float, low: float, high: float) -> str:
    return with_interval(*map(number, (value, low, high)))


def _of_pairs(result: Unjudged) -> Iterator[tuple[str, Table]]:
    header: tuple[str, ...] = ("a", "b", "measure", "decided", "tied", "safe", "flip", "of unjudged", "significant")
    header += ("reversals", "same order", "stays so") if result.num_samples else ()
    rows = [_pair_cells(result, pairs, p) for pairs in result.pairs for p in range(len(pairs.compared.a))]
    yield "Pairs of runs", Table(header, tuple(rows), numbers_from=3, footnote=_on_pairs(result) if rows else "")


def _pair_cells(result: Unjudged, pairs: PairLabels, p: int) -> tuple[str, ...]:
    row, (flip, _) = _pair_numbers(result, pairs, p), pairs.median_flip(p)
    is_significant = bool(pairs.compared.is_significant(result.alpha)[p])
    forecast: tuple[str, ...] = ()
    if result.num_samples:
        stays = row["stays"] if is_significant else 1 - row["arises"]
        forecast = number(row["reversals"], 2), percent(row["same_order"]), percent(stays)
    return (
        *_names(result, pairs, p).values(),
        whole(row["decided"]),
        whole(row["tied"]),
        whole(row["safe"]),
        "none" if np.isinf(flip) else number(flip, 1),
        "-" if row["median_unjudged"] is None else f"{row['median_unjudged']:,.1f}",
        "yes" if is_significant else "no",
        *forecast,
    )


def _on_pairs(result: Unjudged) -> str:
    says = [
        "decided: queries on which one run is better; tied: neither; safe: decided, and no label can reverse it",
        "flip: how many labels reverse one, of so many unjudged documents (medians; none: more than half are safe)",
    ]
    if result.num_samples:
        exact = listed([str(pairs.measure) for pairs in result.pairs if pairs.forecast and pairs.forecast.is_exact], 9)
        how = f" (exact for {exact})" if exact else ""
        says.append(
            f"reversals: the expected number{how}; same order, stays so: the share of {result.num_samples:,} sampled "
            f"labellings, standard error {percent(standard_error(0.5, result.num_samples))} at most"
        )
    return "; ".join(says)


def _of_orders(result: Unjudged) -> Iterator[tuple[str, Table]]:
    rows = tuple(
        (
            row["measure"],
            row["best"],
            percent(row["stays_best"]),
            *("-" if row[name] is None else number(row[name]) for name in ("tau", "tau_low")),
        )
        for row in _order_rows(result)
    )
    header = ("measure", "best run", "stays best", "tau", "lowest")
    footnote = (
        "tau: Kendall's, between the order of the runs now and under sampled labels, on average and at the lowest"
    )
    yield "Order of all runs", Table(header, rows, numbers_from=2, footnote=footnote if rows else "")


def _of_summary(result: Unjudged) -> Iterator[tuple[str, Table]]:
    yield from _of_runs(result)
    if sum(len(pairs.compared.a) for pairs in result.pairs) <= MOST_PAIRS:
        yield from _of_pairs(result)
    if len(result.runs) > 2:
        yield from _of_orders(result)


def _of_both(result: Unjudged) -> Iterator[tuple[str, Table]]:
    yield from _of_pairs(result)
    yield from _of_orders(result)


def _of_queries(result: Unjudged) -> Iterator[tuple[str, Table]]:
    header: tuple[str, ...] = ("query", "a", "b", "measure", "preferred", "flip", "of unjudged")
    header += ("chance of reversal",) if result.num_samples else ()
    rows = tuple(
        (
            *(row[name] for name in ("query", "a", "b", "measure", "preferred")),
            "never" if row["reversible"] is False else whole(row["flip"]),
            whole(row["unjudged"]),
            *((number(row["chance"]),) if result.num_samples else ()),
        )
        for row in _query_rows(result)
    )
    footnote = "flip: how many labels it takes to reverse the preference; never: no labels do"
    yield "Decisions", Table(header, rows, numbers_from=5, footnote=footnote)


def _of_judge(result: Unjudged) -> Iterator[tuple[str, Table]]:
    texts = [name for name in _WIDTHS if result.texts is not None]
    header = ("query", "document", *(name.replace("_", " ") for name in texts), "weight", "reason")
    rows = tuple(
        (
            row["query_id"],
            row["doc_id"],
            *(shortened(row[name] or "-", _WIDTHS[name]) for name in texts),
            number(row["weight"]),
            row["reason"],
        )
        for row in _judge_rows(result)
    )
    first = 2 + len(texts)
    yield "To judge next", Table(header, rows, numbers_from=first, texts=frozenset({first + 1}))


_TABLES: dict[str, Callable[[Unjudged], Iterator[tuple[str, Table]]]] = {
    "summary": _of_summary, "runs": _of_runs, "pairs": _of_both, "queries": _of_queries, "judge": _of_judge,
    "hindsight": lambda _: iter(()),
}  # fmt: skip
