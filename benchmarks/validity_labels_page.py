"""Makes the part of docs/validity.md about missing labels of what was counted.

Belongs here: tables, and sentences made from them. Not here: counting (validity_labels).
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

ScoreCounts = list[dict[str, Any]]
"""The rows of one study."""
STUDIES = ("measured", "simulated")
STRATEGIES = {
    "ours": "`unjudged --judge`", "most runs first": "most runs first", "highest chance first": "highest chance first",
    "best depth first": "best position first", "random": "at random",
}  # fmt: skip
TEXT = """\
`python benchmarks/validity_labels.py` hides judgments and gives some of them back. Only queries of which everything was
judged, down to some depth of every run, have a known truth. Of {name} these are {queries} queries of {runs} runs, down
to {depth}. Errors are those between queries. How well chances that are estimated from such judgments forecast what
becomes of decisions is on [another page](unjudged.md#what-is-not-offered)."""
JUDGING = """\
All that is below 20 in every run, or that half of the runs do not have down to 20, is hidden, rankings end at {depth},
and some of the judgments are given back, chosen in different ways. Counted are the decisions by LexiRecall that are not
those with all judgments. In brackets is how much more that is than with the first choice, with its error between
queries."""


def read(folder: Path) -> list[ScoreCounts]:
    """Return what was counted in each study."""
    paths = (folder / f"labels-{study}.jsonl" for study in STUDIES)
    return [[json.loads(line) for line in path.read_text().splitlines()] for path in paths if path.exists()]


def of_kind(rows: ScoreCounts, kind: str) -> ScoreCounts:
    return [row for row in rows if row["kind"] == kind]


def judging_rows(rows: ScoreCounts) -> Iterator[list[str]]:
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


def conclusion(rows: ScoreCounts, name: str) -> Iterator[str]:
    """Say what the tables of one study come to."""
    others = [row for row in of_kind(rows, "judge") if row["strategy"] not in ("ours", "nothing")]
    better = sum(row["more"] > 2 * row["more_error"] for row in others)
    worse = sum(row["more"] < -2 * row["more_error"] for row in others)
    yield (
        f"On {name} the documents that `unjudged --judge` lists leave fewer wrong decisions than others chosen in "
        f"simpler ways, by more than two standard errors, in {better} of {len(others)} comparisons, and more in "
        f"{worse}."
    )


def study_of(rows: ScoreCounts) -> dict[str, Any]:
    (row,) = of_kind(rows, "study")
    return row


def label_conclusions(studies: Sequence[ScoreCounts]) -> Iterator[str]:
    """Give the conclusions from each study."""
    for rows in studies:
        name = study_of(rows)["name"]
        yield from conclusion(rows, "simulated rankings" if name == "simulated" else name)


def label_paragraphs(studies: Sequence[ScoreCounts]) -> Iterator[str | Iterable[list[str]]]:
    """Give titles, text and the rows of tables."""
    for number, rows in enumerate(studies):
        about = study_of(rows)
        yield f"## Missing labels: {about['name']}"
        yield TEXT.format(**about) if number == 0 else " ".join(SIMULATED.format(**about).split())
        if number == 0:
            yield JUDGING.format(**about)
        yield judging_rows(rows)


SIMULATED = """\
The same on simulated rankings, `python benchmarks/validity_labels.py simulated`: {queries} queries, {runs} runs, of
which everything is judged. A run adds noise of its own, and what it sees of the relevant documents, to noise that all
runs share."""
