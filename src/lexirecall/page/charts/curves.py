"""Charts of recall: how much of what is relevant is found down to each depth, or share of the corpus.

Belongs here: recall curves of runs, beside the ideal one and that of a random order. Not here: their numbers
(page.recall).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from lexirecall.manifest import Policies
from lexirecall.page.charts.chart import Chart
from lexirecall.page.charts.queries import run_index
from lexirecall.page.findings import Findings
from lexirecall.page.recall import recall_columns
from lexirecall.positions import Positions
from lexirecall.svg import COLORS, DASHES, SHAPES, Drawing, Element, line, of_run, point, text
from lexirecall.svg.axes import BELOW, Area, axis_below, axis_beside, brief, legend, room_beside, room_for
from lexirecall.svg.scales import Linear, Logarithmic

Curves = Sequence[tuple[str, Sequence[float | None] | None]]
"""By run, its name and its mean at each depth, if it has any."""
References = Sequence[tuple[str, Sequence[float]]]
"""What curves are compared with, in the order of REFERENCE_DASHES."""
REFERENCE_DASHES: tuple[Sequence[float], ...] = ([6, 3], [1.5, 3])
_RECALL = Linear(0, 1, 270, 10, is_share=True)


def recall_curves(
    positions: Positions, runs: Sequence[str] | None = None, *, policies: Policies | None = None
) -> Drawing:
    """Draw the mean recall of runs by depth of the list: the first ten in colour, the others in grey.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 1}}, {"x": {"q": ["a", "b"]}, "y": {"q": ["b", "z", "a"]}})
    >>> recall_curves(positions).label
    'Mean recall by depth. At depth 5: x 100.0 %, y 100.0 %, ideal 100.0 %'
    """
    names, curves = _curves(positions, runs, policies)
    return draw_recall(curves["depths"], _named(names, curves["mean"]), references=_references(curves))


def recall_by_share(
    positions: Positions, runs: Sequence[str] | None = None, *, policies: Policies | None = None
) -> Drawing | None:
    """Draw the mean recall of runs by the share of the corpus that is read; None if the corpus size is unknown.

    >>> from lexirecall import project
    >>> positions = project({"q": {"a": 1, "b": 1}}, {"x": {"q": ["a", "b"]}}, corpus_size=50)
    >>> recall_by_share(positions).label
    'Mean recall by share of the corpus read. At 10 %: x 100.0 %, ideal 100.0 %, random order 10.0 %'
    """
    names, curves = _curves(positions, runs, policies)
    shared = curves.get("by_share")
    if shared is None:
        return None
    return draw_recall_by_share(shared["shares"], _named(names, shared["mean"]), references=_references(shared))


def _curves(
    positions: Positions, runs: Sequence[str] | None, policies: Policies | None
) -> tuple[Sequence[str], dict[str, Any]]:
    policies = policies or Policies()
    chosen = positions.runs if runs is None else runs
    places = [run_index(positions, name) for name in chosen]
    return chosen, recall_columns(positions.at_level(policies.level), places, policies.counted(positions))


def _named(names: Iterable[str], means: Iterable[Any]) -> list[tuple[str, Any]]:
    """Give each curve its name; a run without means has none."""
    named = zip(names, means, strict=True)
    return [
        (name, None if curve is None else [mean if _is_known(mean) else None for mean in curve])
        for name, curve in named
    ]


def _references(curves: Mapping[str, Any]) -> list[tuple[str, Sequence[float]]]:
    """Return what runs are compared with: the ideal ranking and, where it is known, a random order."""
    called = {"ideal": "ideal", "random": "random order"}
    return [(name, curves[key]) for key, name in called.items() if curves.get(key)]


def _is_known(value: float | None) -> bool:
    return value is not None and bool(np.isfinite(value))


def draw_recall(depths: Sequence[int], curves: Curves, *, references: References = ()) -> Drawing:
    """Draw the mean recall of each run at these depths; draw nothing for a run without means.

    >>> draw_recall([1, 2], [("x", [0.5, 1.0])]).label
    'Mean recall by depth. At depth 2: x 100.0 %'
    """
    label = f"Mean recall by depth. At depth {depths[-1]:,}"
    x = Logarithmic(depths[-1], *_across())
    within = [f"within {depth:,}" for depth in depths]
    return _drawn(x, "depth of the list", depths, within, curves, references, (label, len(depths) - 1))


def draw_recall_by_share(shares: Sequence[float], curves: Curves, *, references: References = ()) -> Drawing:
    """Draw the mean recall of each run at these shares of the corpus, all of them above 0.

    >>> draw_recall_by_share([0.1, 1], [("x", [0.5, 1.0])], references=[("ideal", [1.0, 1.0])]).label
    'Mean recall by share of the corpus read. At 10 %: x 50.0 %, ideal 100.0 %'
    """
    at = min(range(len(shares)), key=lambda k: abs(shares[k] - 0.1))
    label = f"Mean recall by share of the corpus read. At {100 * shares[at]:g} %"
    x = Linear(0, 1, *_across(), is_share=True)
    within = [f"within {100 * share:g} % of the corpus" for share in shares]
    return _drawn(x, "share of the corpus read", shares, within, curves, references, (label, at))


def _frame() -> Area:
    return Area(room_beside(_RECALL, "mean recall"), 10, 460, 260)


def _across() -> tuple[float, float]:
    return _frame().left, _frame().right


def _drawn(
    x: Linear | Logarithmic,
    title: str,
    depths: Sequence[float],
    within: Sequence[str],
    curves: Curves,
    references: References,
    said_at: tuple[str, int],
) -> Drawing:
    """Draw curves over a scale; the label says how high they are at one of the depths."""
    y, frame = _RECALL, _frame()
    known = [(i, name, [mean for mean in means or [] if mean is not None]) for i, (name, means) in enumerate(curves)]
    known = [(i, name, means) for i, name, means in known if means]
    places = {i: [(x(depth), y(mean)) for depth, mean in zip(depths, means, strict=True)] for i, _, means in known}
    grey = [
        of_run(i, line(places[i], "muted", title=brief(name), stroke_opacity=0.35))
        for i, name, _ in known[len(COLORS) :]
    ]
    coloured = [
        of_run(
            i,
            line(places[i], f"series-{k}", dash=DASHES[k], stroke_width=1.8),
            *_points(k, name, places[i], within, means),
        )
        for k, (i, name, means) in enumerate(known[: len(COLORS)])
    ]
    beside = [
        line([(x(depth), y(mean)) for depth, mean in zip(depths, means, strict=True)], "muted", dash=dash, title=name)
        for (name, means), dash in zip(references, REFERENCE_DASHES, strict=False)
    ]
    key, width = _key([(i, name) for i, name, _ in known], [name for name, _ in references], frame.right + 24)
    axes = *axis_below(frame, x, title), *axis_beside(frame, y, "mean recall")
    label, at = said_at
    heights = [*((name, means) for _, name, means in known[: len(COLORS)]), *references]
    values = ", ".join(f"{brief(name)} {percent_text(means[at])}" for name, means in heights)
    height = max(frame.bottom + BELOW, 20 + 16 * len(key))
    return Drawing(frame.right + 24 + width, height, (*axes, *beside, *grey, *coloured, *key), f"{label}: {values}")


def _points(
    k: int, name: str, places: Sequence[tuple[float, float]], within: Sequence[str], means: Sequence[float]
) -> Iterable[Element]:
    for (x, y), where, mean in zip(places, within, means, strict=True):
        yield point(x, y, SHAPES[k], f"series-{k}", radius=3, title=f"{brief(name)}: {percent_text(mean)} {where}")


def _key(runs: Sequence[tuple[int, str]], references: Sequence[str], x: float) -> tuple[tuple[Element, ...], float]:
    """Return the legend of runs, the first ten by name, and of references, and its width."""
    entries = []
    for k, (i, name) in enumerate(runs[: len(COLORS)]):
        sample = line([(0, 0), (24, 0)], f"series-{k}", dash=DASHES[k], stroke_width=1.8)
        shape = point(12, 0, SHAPES[k], f"series-{k}", radius=3)
        entries.append([of_run(i, sample, shape, text(30, 0, name, limit=180))])
    names = [name for _, name in runs[: len(COLORS)]]
    if others := len(runs) - len(entries):
        names.append(f"{others:,} more")
        entries.append([line([(0, 0), (24, 0)], "muted", stroke_opacity=0.35), text(30, 0, names[-1])])
    for name, dash in zip(references, REFERENCE_DASHES, strict=False):
        names.append(name)
        entries.append([line([(0, 0), (24, 0)], "muted", dash=dash), text(30, 0, name)])
    return legend(x, 18, entries), 34 + room_for(names)


def _recall_of_page(payload: Mapping[str, Any]) -> Drawing:
    names = (f"{letters} {name}" for letters, name in zip(payload["labels"], payload["runs"], strict=True))
    recall = payload["recall"]
    return draw_recall(recall["depths"], _named(names, recall["mean"]), references=_references(recall))


def _shares_of_page(payload: Mapping[str, Any]) -> Drawing | None:
    names = (f"{letters} {name}" for letters, name in zip(payload["labels"], payload["runs"], strict=True))
    if (shared := payload["recall"].get("by_share")) is None:
        return None
    return draw_recall_by_share(shared["shares"], _named(names, shared["mean"]), references=_references(shared))


def _recall(findings: Findings) -> Drawing:
    return recall_curves(findings.positions, findings.best_first, policies=findings.policies)


def _shares(findings: Findings) -> Drawing | None:
    return recall_by_share(findings.positions, findings.best_first, policies=findings.policies)


def percent_text(share: float) -> str:
    """Return a share in percent.

    >>> percent_text(0.5)
    '50.0 %'
    """
    return f"{100 * share:.1f} %"


CHARTS = (
    Chart("recall", _recall, of_payload=_recall_of_page),
    Chart("recall-by-share", _shares, of_payload=_shares_of_page),
)
"""The charts of recall."""
