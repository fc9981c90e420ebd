"""Draw the picture of the landing page: two rankings of one query, and what two kinds of measures say of them.

`python docs/picture.py` writes picture-light.svg and picture-dark.svg. The numbers are computed, not written here.
"""

import math
import re
from pathlib import Path

from lexirecall import evaluate, parse_preference
from lexirecall.svg import Drawing, Element, point, rule, text

DOCS = Path(__file__).parent
RANKINGS = {"precise": [1, 2, 3, 5, 700], "thorough": [2, 4, 7, 12, 19]}
"""Where the five relevant documents are."""
MEASURES = ("nDCG", "AP", "TSE")
INKS = {
    "light": {"ink": "#1f2328", "muted": "#57606a", "line": "#c5ccd3", "side-a": "#0b5c8c", "side-b": "#a34700"},
    "dark": {"ink": "#e6e9ec", "muted": "#a9b3bd", "line": "#4b5560", "side-a": "#7cc4f0", "side-b": "#f2a65a"},
}
WIDTH, LEFT, RIGHT, DEPTH = 520, 14, 494, 1000
HEIGHTS = {"precise": 30, "thorough": 122}
SIZE = 15


def values() -> dict[str, dict[str, float]]:
    """Return the value of each ranking under each measure."""
    ids = [f"d{number}" for number in range(5)]
    runs = {}
    for name, positions in RANKINGS.items():
        at = dict(zip(positions, ids, strict=True))
        runs[name] = {"q": [at.get(position, f"x{position}") for position in range(1, DEPTH + 1)]}
    return evaluate({"q": dict.fromkeys(ids, 1)}, runs, MEASURES).to_dict()


def drawing() -> Drawing:
    """Return the picture."""
    scores = values()
    names = list(RANKINGS)
    elements: list[Element] = []
    for name, ink in zip(names, ("side-a", "side-b"), strict=True):
        elements += _ranking(name, ink, scores)
    elements += [element for tick in (1, 10, 100, 1000) for element in _tick(tick)]
    sign = parse_preference("LexiRecall").of(*RANKINGS.values())
    preferred = names[0] if sign > 0 else names[1]
    loved = max(names, key=lambda name: scores[name]["nDCG"])
    verdict = f"nDCG and AP prefer {loved}. LexiRecall prefers {preferred}:"
    reason = f"whoever needs everything reads {RANKINGS[preferred][-1]} documents, not {RANKINGS[loved][-1]}."
    elements += [text(LEFT, 252, verdict, size=SIZE, bold=True), text(LEFT, 274, reason, size=SIZE)]
    return Drawing(WIDTH, 288, tuple(elements), f"Five relevant documents in two rankings. {verdict} {reason}")


def _x(position: int) -> float:
    return LEFT + 6 + (RIGHT - LEFT - 12) * math.log10(position) / math.log10(DEPTH)


def _ranking(name: str, ink: str, scores: dict[str, dict[str, float]]) -> list[Element]:
    top, positions = HEIGHTS[name], RANKINGS[name]
    said = " · ".join(f"{measure} {_shown(scores[name][measure])}" for measure in MEASURES)
    last = positions[-1]
    return [
        text(LEFT, top - 12, name, size=SIZE, ink=ink, bold=True),
        text(RIGHT, top - 12, said, size=SIZE, anchor="end"),
        rule(LEFT, top + 20, RIGHT, top + 20, "line"),
        *(point(_x(position), top + 20, "circle", ink, radius=5) for position in positions[:-1]),
        point(_x(last), top + 20, "diamond", ink, radius=7),
        text(min(_x(last), RIGHT - 60), top + 44, f"the last one: {last}", size=SIZE, anchor="middle", ink=ink),
    ]


def _shown(value: float) -> str:
    return f"{value:.2f}" if value >= 0.01 else f"{value:.4f}"


def _tick(position: int) -> list[Element]:
    anchor = {1: "start", 1000: "end"}.get(position, "middle")
    word = "position 1" if position == 1 else f"{position:,}"
    return [
        rule(_x(position), 190, _x(position), 198, "muted"),
        text(_x(position) + {1: -6, 1000: 6}.get(position, 0), 212, word, size=SIZE, anchor=anchor, ink="muted"),
    ]


def main() -> None:
    """Write the picture, once for each ground."""
    svg = drawing().to_svg("page")
    for ground, inks in INKS.items():
        colored = re.sub(r"var\(--([\w-]+)\)", lambda match, inks=inks: inks[match[1]], svg)
        (DOCS / f"picture-{ground}.svg").write_text(colored + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
