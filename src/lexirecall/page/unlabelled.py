"""Unlabelled: what depends on documents that nobody has judged, as a page carries it.

Belongs here: its layout, and how many pairs fit. Not here: the numbers (labels), the tables that show them (assets).
"""

from typing import TYPE_CHECKING, Any

from lexirecall.errors import UsageError
from lexirecall.page.limits import Cutter, Limits

if TYPE_CHECKING:
    from lexirecall.labels.missingresult import Unjudged

_ENDS = ("value", "low", "high")
_OF_RUN = ("retrieved", "unjudged", "judged")
_OF_PAIR = ("decided", "tied", "safe", "median_flip", "median_unjudged", "reversals", "same_order")
_OF_ORDER = ("stays_best", "tau", "tau_low")


def check_unjudged(unjudged: object) -> None:
    """Raise if something else is given in the place of what depends on unjudged documents."""
    if unjudged is None:
        return
    from lexirecall.labels.missingresult import Unjudged  # not on top: few pages show it

    if not isinstance(unjudged, Unjudged):
        problem = f"unjudged is of type {type(unjudged).__name__}, but must be what lexirecall.unjudged returns"
        raise UsageError(problem, remedy="write unjudged=lexirecall.unjudged(qrels, runs)")


def label_columns(unjudged: "Unjudged | None", limits: Limits) -> dict[str, Any]:
    """Return the runs with their bounds, the first pairs under each measure, and the order; nothing without them.

    >>> from lexirecall import report, unjudged
    >>> qrels, runs = {"q": {"a": 1, "b": 1}}, {"one": {"q": ["a", "b"]}, "two": {"q": ["y", "a"]}}
    >>> page = report(qrels, runs, "RR", output=None, unjudged=unjudged(qrels, runs, "R@2", rate=0.1))
    >>> page.payload["unjudged"]["runs"][1]["bounds"]
    [[0.5, 0.5, 0.6667]]
    """
    if unjudged is None:
        return {}
    cut = Cutter(limits.length)
    rows: dict[str, list[dict[str, Any]]] = {"run": [], "bound": [], "labels": [], "pair": [], "order": []}
    for row in unjudged.rows("summary"):
        rows[row["kind"]].append(row)
    bounds = {(row["run"], row["measure"]): [_rounded(row[end]) for end in _ENDS] for row in rows["bound"]}
    measures = list(dict.fromkeys(measure for _, measure in bounds))
    return {
        "unjudged": {
            "sentences": unjudged.sentences(),
            "samples": unjudged.num_samples,
            "measures": measures,
            "runs": [
                {"name": cut(row["run"]), **_chosen(row, _OF_RUN), "bounds": [bounds[row["run"], m] for m in measures]}
                for row in rows["run"]
            ],
            "pairs": [_pair(row, cut) for row in rows["pair"][: limits.lost]],
            "orders": [
                {"measure": row["measure"], "best": cut(row["best"]), **_chosen(row, _OF_ORDER)}
                for row in rows["order"]
            ],
            "total": len(rows["pair"]),
        }
    }


def _pair(row: dict[str, Any], cut: Cutter) -> dict[str, Any]:
    return {
        "a": cut(row["a"]),
        "b": cut(row["b"]),
        "measure": row["measure"],
        **_chosen(row, _OF_PAIR),
        "significant": row["arises"] is None and row["stays"] is not None,
        "survives": _rounded(_survival(row)),
    }


def _chosen(row: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: _rounded(row[name]) for name in names}


def _survival(row: dict[str, Any]) -> float | None:
    """Return the share of sampled labellings under which a pair is significant, or not, as it is now."""
    arises: float | None = row["arises"]
    return row["stays"] if arises is None else 1 - arises


def _rounded(value: float | None) -> float | None:
    return value if value is None or isinstance(value, int) else round(value, 4)
