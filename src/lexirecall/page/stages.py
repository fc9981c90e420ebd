"""Stages: what a funnel says of the stages of a search, as a page carries it.

Belongs here: its layout, and how many documents fit. Not here: the funnel itself (gates), the tables that show it
(assets).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lexirecall.errors import UsageError
from lexirecall.page.limits import Cutter, Limits
from lexirecall.texts import shortened

if TYPE_CHECKING:
    from lexirecall.gates.funnelresult import Arrival, Funnel, Loss, Stage


def check_funnel(funnel: object) -> None:
    """Raise if something else is given in the place of a funnel."""
    if funnel is None:
        return
    from lexirecall.gates.funnelresult import Funnel  # not on top: few pages show a funnel

    if not isinstance(funnel, Funnel):
        problem = f"funnel is of type {type(funnel).__name__}, but must be what lexirecall.funnel returns"
        raise UsageError(problem, remedy="write funnel=lexirecall.funnel(qrels, stages)")


def stage_columns(funnel: "Funnel | None", queries: Sequence[str], limits: Limits, cut: Cutter) -> dict[str, Any]:
    """Return the stages and the first of the lost documents; nothing without a funnel.

    `queries` are those that the page shows one by one, to which it can link.

    >>> from lexirecall import funnel, report
    >>> qrels, first, last = {"q": {"a": 1, "b": 1}}, {"q": ["a", "b"]}, {"q": ["b"]}
    >>> page = report(qrels, {"last": last}, "RR", output=None, funnel=funnel(qrels, {"first": first, "last": last}))
    >>> page.payload["funnel"]["losses"]
    [{'query': 'q', 'place': 0, 'document': 'a', 'stage': 1, 'positions': [1, None], 'how': 3}]
    """
    if funnel is None:
        return {}
    from lexirecall.gates.funnelfates import LOSSES

    kinds = list(LOSSES)
    index = {query: place for place, query in enumerate(queries)}
    places = {stage.name: place for place, stage in enumerate(funnel.stages)}

    def documents(rows: "Sequence[Loss] | Sequence[Arrival]") -> list[dict[str, Any]]:
        return [_document(funnel, row, index, places, limits, cut) for row in rows[: limits.lost]]

    losses = documents(funnel.losses)
    for loss, row in zip(losses, funnel.losses, strict=False):
        loss["how"] = kinds.index(row.kind)
    return {
        "funnel": {
            "noun": funnel.noun,
            "queries": funnel.num_queries,
            "relevant": funnel.num_relevant,
            "kinds": list(LOSSES.values()),
            "stages": [_stage(funnel, place, stage, cut) for place, stage in enumerate(funnel.stages)],
            "losses": losses,
            "entries": documents(funnel.arrivals),
            "totals": [len(funnel.losses), len(funnel.arrivals)],
        }
    }


def _stage(funnel: "Funnel", place: int, stage: "Stage", cut: Cutter) -> dict[str, Any]:
    return {
        "name": cut(stage.name),
        "recall": stage.recall,
        "all": stage.all,
        "preference": funnel.preference(place),
        "better": stage.better,
        "worse": stage.worse,
        "lost": list(stage.lost.values()),
        "found": stage.found,
        "entered": stage.entered,
        "documents": [stage.read, stage.distinct, stage.handed_on],
    }


def _document(
    funnel: "Funnel",
    row: "Loss | Arrival",
    index: Mapping[str, int],
    places: Mapping[str, int],
    limits: Limits,
    cut: Cutter,
) -> dict[str, Any]:
    text = None if funnel.texts is None else funnel.texts.of_document(row.document)
    return {
        "query": cut(row.query),
        "place": index.get(row.query, -1),
        "document": cut(row.document),
        "stage": -1 if row.stage is None else places[row.stage],
        "positions": list(row.positions),
        **({} if text is None else {"text": shortened(text, limits.length)}),
    }
