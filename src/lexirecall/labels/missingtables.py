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


def rows_of(made: Unjudged, kinds: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Give the rows of some kinds."""
    for kind in kinds:
        for row in _ROWS[kind](made):
            yield {"kind": kind, **row}


def _run_rows(made: Unjudged) -> Iterator[dict[str, Any]]:
    for each in made.labels:
        shares = {f"judged@{depth}": each.judged.get(depth) for depth in DEPTHS}
        yield {"run": each.run, "retrieved": each.retrieved, "unjudged": each.unjudged, "judged": each.judged[None],
               **shares}  # fmt: skip


def _bound_rows(made: Unjudged) -> Iterator[dict[str, Any]]:
    for each in made.bounds:
        numbers = {name: defined(getattr(each, name)) for name in ("value", "low", "high")}
        yield {"run": each.run, "measure": each.measure, **numbers, "queries": each.queries}


def _labels_rows(made: Unjudged) -> Iterator[dict[str, Any]]:
    if made.rate is not None:
        yield {"unjudged": made.num_unjudged, **_expected(stated_rate(made.rate).number(made.num_unjudged))}


def _expected(expected: tuple[float, int, int]) -> dict[str, float]:
    return dict(zip(("expected", "expected_low", "expected_high"), expected, strict=True))


def _pair_rows(made: Unjudged) -> Iterator[dict[str, Any]]:
    for own in made.pairs:
        for p in range(len(own.compared.a)):
            yield {**_names(made, own, p), **_pair_numbers(made, own, p)}


def _names(made: Unjudged, own: PairLabels, p: int) -> dict[str, Any]:
    return {"a": made.runs[own.compared.a[p]], "b": made.runs[own.compared.b[p]], "measure": str(own.measure)}


def _pair_numbers(made: Unjudged, own: PairLabels, p: int) -> dict[str, Any]:
    flip, unjudged = own.median_flip(p)
    now, forecast, expected, safe = own.compared, own.forecast, own.expected, own.safe
    numbers = {
        "mean": defined(float(now.means[p])),
        "p_corrected": defined(float(now.corrected[p])),
        "decided": int(own.decided[p]),
        "tied": int(now.ties[p]),
        "safe": None if safe is None else int(safe[p]),
        "median_flip": defined(flip),
        "median_unjudged": defined(unjudged),
        "reversals": None if expected is None else float(expected[p]),
    }
    if forecast is None:
        return {**numbers, **dict.fromkeys(("exact", "same_order", "stays", "turns", "arises")), "samples": 0}
    is_significant = bool(now.is_significant(made.alpha)[p])
    share, turned = float(forecast.significant[p]), float(forecast.turned[p])
    return {
        **numbers,
        "exact": forecast.is_exact,
        "same_order": defined(float(forecast.same_order[p])),
        "stays": share if is_significant else None,
        "turns": turned if is_significant else None,
        "arises": None if is_significant else share + turned,
        "samples": made.num_samples,
    }


def _order_rows(made: Unjudged) -> Iterator[dict[str, Any]]:
    for own in made.pairs:
        if (order := own.order) is not None:
            taus = order.taus[~np.isnan(order.taus)]
            yield {
                "measure": str(own.measure),
                "best": made.runs[order.best],
                "stays_best": order.stays_best,
                "tau": float(taus.mean()) if len(taus) else None,
                "tau_low": float(taus.min()) if len(taus) else None,
                "samples": made.num_samples,
            }


def _query_rows(made: Unjudged) -> Iterator[dict[str, Any]]:
    """Give each decision; queries on which neither run is better are left out."""
    for own in made.pairs:
        for p, q in np.argwhere(own.signs != 0).tolist():
            names = _names(made, own, p)
            flip = None if own.known.numbers is None else float(own.known.numbers[p, q])
            yield {
                "query": made.queries[q],
                **names,
                "preferred": names["a" if own.signs[p, q] > 0 else "b"],
                "flip": None if flip is None or np.isinf(flip) else int(flip),
                "reversible": None if flip is None else bool(np.isfinite(flip)),
                "unjudged": int(own.known.unjudged[p, q]),
                "chance": None if own.forecast is None else float(own.forecast.reversals[p, q]),
            }


def _judge_rows(made: Unjudged) -> Iterator[dict[str, Any]]:
    for each in made.to_judge or ():
        yield {
            "query_id": each.query,  # as columns of judgments are usually called: the list is read as judgments again
            "doc_id": each.document,
            "grade": None,
            **texts_beside(made.texts, each.query, each.document),
            "weight": each.weight,
            "position": min(position for _, position in each.runs),
            "runs": " ".join(f"{name}@{position}" for name, position in each.runs),
            "reason": each.reason,
        }


def _hindsight_rows(made: Unjudged) -> Iterator[dict[str, Any]]:
    for each in made.hindsight:
        row = {
            "measure": each.measure,
            "unjudged": each.num_unjudged,
            "judged_since": each.num_judged,
            "relevant": each.relevant,
            **_expected(each.expected),
            "decisions": each.num_decisions,
            "reversed": int(np.nansum(each.is_reversed)),
            "reversals": float(np.nansum(each.reversals)),
            "safe": each.num_safe,
            "safe_reversed": each.safe_reversed,
        }
        for name, is_kept, kept in zip(("order", "significance"), each.is_kept, each.kept, strict=True):
            row |= {f"{name}_pairs": int(np.isfinite(kept).sum()), f"{name}_kept": int(np.nansum(is_kept))}
            row[f"{name}_kept_expected"] = float(np.nansum(kept))
        yield row


_ROWS: dict[str, Callable[[Unjudged], Iterator[dict[str, Any]]]] = {
    "run": _run_rows, "bound": _bound_rows, "labels": _labels_rows, "pair": _pair_rows, "order": _order_rows,
    "query": _query_rows, "judge": _judge_rows, "hindsight": _hindsight_rows,
}  # fmt: skip


# Tables


def tables_of(made: Unjudged, view: str) -> dict[str, Table]:
    """Lay out the tables of one view, by title; empty ones are left out."""
    return {name: table for name, table in _TABLES[view](made) if table.rows}


def _of_runs(made: Unjudged) -> Iterator[tuple[str, Table]]:
    depths = [depth for depth in DEPTHS if any(depth in each.judged for each in made.labels)]
    measures = list(dict.fromkeys(each.measure for each in made.bounds))
    cells = {(each.run, each.measure): _bound(each.value, each.low, each.high) for each in made.bounds}
    rows = tuple(
        (
            each.run,
            whole(each.retrieved),
            whole(each.unjudged),
            *(percent(each.judged.get(depth)) for depth in (*depths, None)),
            *(cells[each.run, measure] for measure in measures),
        )
        for each in made.labels
    )
    header = ("run", "retrieved", "unjudged", *(f"judged@{depth}" for depth in depths), "judged", *measures)
    footnote = (
        "in brackets: the least and the most that labels of the run's own unjudged documents can make of the mean"
    )
    yield "Runs", Table(header, rows, footnote=footnote if measures else "")


def _bound(value: float, low: float, high: float) -> str:
    return with_interval(*(number(each) for each in (value, low, high)))


def _of_pairs(made: Unjudged) -> Iterator[tuple[str, Table]]:
    header: tuple[str, ...] = ("a", "b", "measure", "decided", "tied", "safe", "flip", "of unjudged", "significant")
    header += ("reversals", "same order", "stays so") if made.num_samples else ()
    rows = [_pair_cells(made, own, p) for own in made.pairs for p in range(len(own.compared.a))]
    yield "Pairs of runs", Table(header, tuple(rows), numbers_from=3, footnote=_on_pairs(made) if rows else "")


def _pair_cells(made: Unjudged, own: PairLabels, p: int) -> tuple[str, ...]:
    row, (flip, _) = _pair_numbers(made, own, p), own.median_flip(p)
    is_significant = bool(own.compared.is_significant(made.alpha)[p])
    forecast: tuple[str, ...] = ()
    if made.num_samples:
        stays = row["stays"] if is_significant else 1 - row["arises"]
        forecast = number(row["reversals"], 2), percent(row["same_order"]), percent(stays)
    return (
        *_names(made, own, p).values(),
        whole(row["decided"]),
        whole(row["tied"]),
        whole(row["safe"]),
        "none" if np.isinf(flip) else number(flip, 1),
        "-" if row["median_unjudged"] is None else f"{row['median_unjudged']:,.1f}",
        "yes" if is_significant else "no",
        *forecast,
    )


def _on_pairs(made: Unjudged) -> str:
    says = [
        "decided: queries on which one run is better; tied: neither; safe: decided, and no label can reverse it",
        "flip: how many labels reverse one, of so many unjudged documents (medians; none: more than half are safe)",
    ]
    if made.num_samples:
        exact = listed([str(own.measure) for own in made.pairs if own.forecast and own.forecast.is_exact], 9)
        how = f" (exact for {exact})" if exact else ""
        says.append(
            f"reversals: the expected number{how}; same order, stays so: the share of {made.num_samples:,} sampled "
            f"labellings, standard error {percent(standard_error(0.5, made.num_samples))} at most"
        )
    return "; ".join(says)


def _of_orders(made: Unjudged) -> Iterator[tuple[str, Table]]:
    rows = tuple(
        (
            row["measure"],
            row["best"],
            percent(row["stays_best"]),
            *("-" if row[name] is None else number(row[name]) for name in ("tau", "tau_low")),
        )
        for row in _order_rows(made)
    )
    header = ("measure", "best run", "stays best", "tau", "lowest")
    footnote = (
        "tau: Kendall's, between the order of the runs now and under sampled labels, on average and at the lowest"
    )
    yield "Order of all runs", Table(header, rows, numbers_from=2, footnote=footnote if rows else "")


def _of_summary(made: Unjudged) -> Iterator[tuple[str, Table]]:
    yield from _of_runs(made)
    if sum(len(own.compared.a) for own in made.pairs) <= MOST_PAIRS:
        yield from _of_pairs(made)
    if len(made.runs) > 2:
        yield from _of_orders(made)


def _of_both(made: Unjudged) -> Iterator[tuple[str, Table]]:
    yield from _of_pairs(made)
    yield from _of_orders(made)


def _of_queries(made: Unjudged) -> Iterator[tuple[str, Table]]:
    header: tuple[str, ...] = ("query", "a", "b", "measure", "preferred", "flip", "of unjudged")
    header += ("chance of reversal",) if made.num_samples else ()
    rows = tuple(
        (
            *(row[name] for name in ("query", "a", "b", "measure", "preferred")),
            "never" if row["reversible"] is False else whole(row["flip"]),
            whole(row["unjudged"]),
            *((number(row["chance"]),) if made.num_samples else ()),
        )
        for row in _query_rows(made)
    )
    footnote = "flip: how many labels it takes to reverse the preference; never: no labels do"
    yield "Decisions", Table(header, rows, numbers_from=5, footnote=footnote)


def _of_judge(made: Unjudged) -> Iterator[tuple[str, Table]]:
    texts = [name for name in _WIDTHS if made.texts is not None]
    header = ("query", "document", *(name.replace("_", " ") for name in texts), "weight", "reason")
    rows = tuple(
        (
            row["query_id"],
            row["doc_id"],
            *(shortened(row[name] or "-", _WIDTHS[name]) for name in texts),
            number(row["weight"]),
            row["reason"],
        )
        for row in _judge_rows(made)
    )
    first = 2 + len(texts)
    yield "To judge next", Table(header, rows, numbers_from=first, texts=frozenset({first + 1}))


_TABLES: dict[str, Callable[[Unjudged], Iterator[tuple[str, Table]]]] = {
    "summary": _of_summary, "runs": _of_runs, "pairs": _of_both, "queries": _of_queries, "judge": _of_judge,
    "hindsight": lambda _: iter(()),
}  # fmt: skip
