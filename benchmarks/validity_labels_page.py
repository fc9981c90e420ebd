"""Makes the part of docs/validity.md about missing labels of what was counted.

Belongs here: tables, and sentences made from them. Not here: counting (validity_labels).
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

Counted = list[dict[str, Any]]
"""The rows of one study."""
STUDIES = ("measured", "simulated")
ESTIMATES = {
    "ours": "what `unjudged` takes",
    "joint depth alone": "joint depth alone: no level of runs, no factor of queries, no weights",
    "best depth alone": "the best position in any run",
    "documents of one run alone": "the best position, from documents that one run alone has",
    "positions in any run": "the share at the same position of any run",
}
STRATEGIES = {
    "ours": "`unjudged --judge`", "most runs first": "most runs first", "highest chance first": "highest chance first",
    "best depth first": "best position first", "random": "at random",
}  # fmt: skip
TEXT = """\
`python benchmarks/validity_labels.py` hides judgments, forecasts them from the others, and compares the forecast with
what they say. Only queries of which everything was judged, down to some depth of every run, have a known truth. Of
{name} these are {queries} queries of {runs} runs, down to {depth}. Judgments are hidden in five ways: what one run
alone has above that depth, for each run in turn (unique); what is below 20, or 50, in all runs; and what half of the
runs do not have down to 20, or 50, three times. Errors are those between queries."""
REVERSALS = """\
A decision is a pair of runs on a query, by LexiRecall. The forecast is the share of 100 sampled labellings in which the
other run is better. Unique documents are forecast for the pairs of their run, the others for all pairs."""
JUDGING = """\
All that is below 20 in every run, or that half of the runs do not have down to 20, is hidden, rankings end at {depth},
and some of the judgments are given back, chosen in different ways. Counted are the decisions by LexiRecall that are not
those with all judgments. In brackets is how much more that is than with the first choice, with its error between
queries."""


def read(folder: Path) -> list[Counted]:
    """Return what was counted in each study."""
    paths = (folder / f"labels-{study}.jsonl" for study in STUDIES)
    return [[json.loads(line) for line in path.read_text().splitlines()] for path in paths if path.exists()]


def of_kind(rows: Counted, kind: str) -> Counted:
    return [row for row in rows if row["kind"] == kind]


def ratio(row: dict[str, Any]) -> float:
    """Return how many relevant documents were expected for each that there is."""
    return float(row["expected"] / row["relevant"])


def designs_of(rows: Counted) -> list[str]:
    return list(dict.fromkeys(row["design"] for row in of_kind(rows, "number")))


def number_rows(rows: Counted) -> Iterator[list[str]]:
    """Give, for each estimate, the ratio of expected to actual numbers by design, and its log loss beside ours."""
    numbers = {(row["estimate"], row["design"]): row for row in of_kind(rows, "number")}
    designs = designs_of(rows)
    yield ["expected/relevant, estimated from", *designs, "log loss beside the first"]
    for estimate, title in ESTIMATES.items():
        own = {design: numbers[estimate, design] for design in designs if (estimate, design) in numbers}
        if not own:
            continue
        cells = [f"{ratio(own[d]):.2f} ± {own[d]['error']:.2f}" if d in own else "" for d in designs]
        losses = [row["loss"] / numbers["ours", design]["loss"] for design, row in own.items()]
        yield [title, *cells, f"{min(losses):.2f} to {max(losses):.2f}"]
    yield ["hidden", *(f"{numbers['ours', design]['hidden']:,.0f}" for design in designs), ""]
    yield ["relevant", *(f"{numbers['ours', design]['relevant']:,.0f}" for design in designs), ""]


def depth_rows(rows: Counted) -> Iterator[list[str]]:
    """Give expected and actual numbers by design and best position."""
    depths = of_kind(rows, "depth")
    spans = sorted({(row["above"], row["up_to"]) for row in depths})
    yield ["expected (relevant), at best position", *(_span(*span) for span in spans)]
    for design in designs_of(rows):
        own = {(row["above"], row["up_to"]): row for row in depths if row["design"] == design}
        cells = (f"{own[span]['expected']:.1f} ({own[span]['relevant']:.0f})" if span in own else "" for span in spans)
        yield [design, *cells]


def _span(above: int, up_to: int) -> str:
    return f"{above + 1} to {up_to}" if up_to < 10**6 else f"below {above}"


def run_rows(rows: Counted) -> Iterator[list[str]]:
    """Give expected and actual numbers of what one run alone has."""
    yield ["unique documents of", "hidden", "relevant", "expected"]
    for row in of_kind(rows, "run"):
        yield [row["run"], f"{row['hidden']:,.0f}", f"{row['relevant']:.0f}", f"{row['expected']:.1f}"]


def reversal_rows(rows: Counted) -> Iterator[list[str]]:
    """Give the share of decisions that was reversed, by forecast and design."""
    yield ["hidden", "forecast", "decisions", "mean forecast", "reversed"]
    for row in of_kind(rows, "reliability"):
        forecast = "0" if row["up_to"] == 0 else f"{row['above']:g} to {row['up_to']:g}"
        share = f"{row['reversed'] / row['decisions']:.3f} ± {row['error']:.3f}"
        yield [row["design"], forecast, f"{row['decisions']:,}", f"{row['expected']:.3f}", share]


def judging_rows(rows: Counted) -> Iterator[list[str]]:
    """Give the share of wrong decisions by choice and number of judgments."""
    judged = of_kind(rows, "judge")
    given = sorted({row["given"] for row in judged} - {0})
    yield ["hidden", "judged next", *(f"{each:,}" for each in given)]
    for design in dict.fromkeys(row["design"] for row in judged):
        own = [row for row in judged if row["design"] == design]
        for strategy, title in STRATEGIES.items():
            cells = {row["given"]: _wrong(row) for row in own if row["strategy"] == strategy}
            yield [design, title, *(cells.get(each, "") for each in given)]
        before = next(row for row in own if row["strategy"] == "nothing")
        yield [design, "nothing", f"{before['wrong']:.3f} ± {before['error']:.3f}", *[""] * (len(given) - 1)]


def _wrong(row: dict[str, Any]) -> str:
    if row["strategy"] == "ours":
        return f"{row['wrong']:.3f} ± {row['error']:.3f}"
    return f"{row['wrong']:.3f} ({row['more']:+.3f} ± {row['more_error']:.3f})"


def conclusion(rows: Counted, name: str) -> Iterator[str]:
    """Say what the tables of one study come to."""
    ours = [row for row in of_kind(rows, "number") if row["estimate"] == "ours"]
    low, high = min(map(ratio, ours)), max(map(ratio, ours))
    decided = of_kind(rows, "reliability")
    expected = sum(row["expected"] * row["decisions"] for row in decided)
    turned, never = sum(row["reversed"] for row in decided), [row for row in decided if row["up_to"] == 0]
    share = sum(row["reversed"] for row in never) / sum(row["decisions"] for row in never)
    so = ", so they are upper guesses" if expected > turned else ""
    yield (
        f"On {name} the estimated chance that an unjudged document is relevant forecasts {low:.2f} to {high:.2f} "
        f"relevant documents for each that there is. The forecast chances that decisions are reversed add up to "
        f"{expected / turned:.1f} times the number that is reversed{so}; "
        f"of the decisions that no sample reversed {100 * share:.2g} % were."
    )
    others = [row for row in of_kind(rows, "judge") if row["strategy"] not in ("ours", "nothing")]
    better = sum(row["more"] > 2 * row["more_error"] for row in others)
    worse = sum(row["more"] < -2 * row["more_error"] for row in others)
    yield (
        f"On {name} the documents that `unjudged --judge` lists leave fewer wrong decisions than others chosen in "
        f"simpler ways, by more than two standard errors, in {better} of {len(others)} comparisons, and more in "
        f"{worse}."
    )


def study_of(rows: Counted) -> dict[str, Any]:
    (row,) = of_kind(rows, "study")
    return row


def label_conclusions(studies: Sequence[Counted]) -> Iterator[str]:
    """Give the conclusions from each study."""
    for rows in studies:
        name = study_of(rows)["name"]
        yield from conclusion(rows, "simulated rankings" if name == "simulated" else name)


def label_paragraphs(studies: Sequence[Counted]) -> Iterator[str | Iterable[list[str]]]:
    """Give titles, text and the rows of tables."""
    for number, rows in enumerate(studies):
        about = study_of(rows)
        yield f"## Missing labels: {about['name']}"
        yield TEXT.format(**about) if number == 0 else " ".join(SIMULATED.format(**about).split())
        yield number_rows(rows)
        if number == 0:
            yield depth_rows(rows)
            yield run_rows(rows)
            yield REVERSALS
        yield reversal_rows(rows)
        if number == 0:
            yield JUDGING.format(**about)
        yield judging_rows(rows)


SIMULATED = """\
The same on simulated rankings, `python benchmarks/validity_labels.py simulated`: {queries} queries, {runs} runs, of
which everything is judged. A run adds noise of its own, and what it sees of the relevant documents, to noise that all
runs share."""
