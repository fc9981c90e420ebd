"""Makes docs/learning.md of what trials of learning have shown.

Belongs here: tables, and sentences made from the numbers. Not here: the numbers (learning_outcomes).
"""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill
from typing import Any

ALPHA = 0.05
OURS = ("ordered", "scaled")
HEADLINES = ("LexiRecall", "AP")
LARGE = ("LastRel", "Depth")  # measures that count documents: lower is better
_WHOLE: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
Result = Mapping[str, Any]
Row = Mapping[str, Any]

OPENING = """\
# Does learning to find everything work?

[The ordered loss](training.md) has one number, δ, that moves a model from the mean over all relevant documents (1) to
the last one alone (0); "ordered 0.5" has δ = 0.5. [`lexirecall fuse`](fuse.md) learns the weights of runs with it. Here
it is tried beside the usual losses, on data of three kinds. A difference is positive if the first model is better, also
where lower values are; LexiRecall's is the mean preference, from -1 to 1. Intervals are at 95%. Each p is corrected for
all differences in its table (Holm), and a difference counts as found if it is below .05 (*). `python
benchmarks/learning.py` measures it, and `python benchmarks/learning.py page` writes this page, including the sentences
below, from `benchmarks/learning`.
"""


def write(results: Sequence[Result]) -> str:
    """Return the page."""
    numbered = [_filled(f"{i}. {text}", "   ") for i, text in enumerate(summaries(results), 1)]
    sections = ["\n\n".join(_section(result)) for result in results]
    return "\n\n".join([OPENING.strip(), "## What to conclude", "\n".join(numbered), *sections]) + "\n"


def summaries(results: Sequence[Result]) -> Iterator[str]:
    """Say for each model that the ordered loss was compared with how often it is better, by LexiRecall and by AP."""
    rows = [
        (f"{row['model']} ({result['data']})", row)
        for result in results
        for row in result["outcomes"]
        if row["model"].startswith(OURS)
    ]
    for other in dict.fromkeys(row["other"] for _, row in rows):
        own = [each for each in rows if each[1]["other"] == other]
        parts = [_counted_up(measure, [each for each in own if each[1]["measure"] == measure]) for measure in HEADLINES]
        yield f"The ordered loss beside {other}: {'; '.join(parts)}."


def _counted_up(measure: str, rows: Sequence[tuple[str, Row]]) -> str:
    better, worse = ([name for name, row in rows if _sign(row) == sign] for sign in (1, -1))
    named = f": {_listed(better)}" if better else ""
    return f"by {measure} it is better in {len(better)} of {len(rows)}{named}, and worse in {len(worse)}"


def conclusions_of(result: Result) -> Iterator[str]:
    """Say for each model what was found to be better or worse than with another one, and what was not found."""
    for model, other in dict.fromkeys((row["model"], row["other"]) for row in result["outcomes"]):
        if not model.startswith(OURS):
            continue
        rows = [row for row in result["outcomes"] if (row["model"], row["other"]) == (model, other)]
        better, worse, rest = ([row for row in rows if _sign(row) == sign] for sign in (1, -1, 0))
        parts = []
        if better:
            parts.append(f"better in {_listed(map(_named, better))}")
        if worse:
            parts.append(f"worse in {_listed(map(_named, worse))}")
        if rest:
            parts.append(f"no difference found in {_listed(row['measure'] for row in rest)}")
        yield f"{model} beside {other}: {'; '.join(parts)}."


def _section(result: Result) -> Iterator[str]:
    yield f"## {result['data']}"
    yield _filled(result["about"])
    measures = list(dict.fromkeys(row["measure"] for row in result["means"]))
    yield _table(["mean", *measures], _mean_rows(result, measures))
    compared = list(dict.fromkeys(row["measure"] for row in result["outcomes"]))
    yield _table(["better by", *compared], _difference_rows(result, compared))
    yield "\n".join(_filled(f"- {sentence}", "  ") for sentence in conclusions_of(result))
    if chosen := result.get("chosen"):
        yield _filled(
            "Chosen on validation data, by seed: "
            + "; ".join(f"{name}: {'; '.join(own)}" for name, own in chosen.items())
            + "."
        )


def _mean_rows(result: Result, measures: Sequence[str]) -> Iterator[list[str]]:
    means = {(row["model"], row["measure"]): row["mean"] for row in result["means"]}
    for model in dict.fromkeys(row["model"] for row in result["means"]):
        yield [model, *(_number(means[model, measure], measure) for measure in measures)]


def _difference_rows(result: Result, measures: Sequence[str]) -> Iterator[list[str]]:
    by_pair: dict[tuple[str, str], dict[str, Row]] = {}
    for row in result["outcomes"]:
        by_pair.setdefault((row["model"], row["other"]), {})[row["measure"]] = row
    for (model, other), own in by_pair.items():
        yield [f"{model} against {other}", *(_interval(own[measure]) for measure in measures)]


def _sign(row: Row) -> int:
    """Tell whether a difference was found, and in which direction."""
    if not row["p_corrected"] < ALPHA:
        return 0
    return 1 if row["difference"] > 0 else -1


def _interval(row: Row) -> str:
    ends = f"{_signed(row['low'], row)} to {_signed(row['high'], row)}"
    return f"{_signed(row['difference'], row)}{'*' if _sign(row) else ''} ({ends})"


def _named(row: Row) -> str:
    return f"{row['measure']} ({_signed(row['difference'], row)})"


def _signed(value: float, row: Row) -> str:
    return f"{'+' if value >= 0 else '-'}{_number(abs(value), row['measure'])}"


def _number(value: float | None, measure: str) -> str:
    if value is None:
        return "-"
    return f"{value:,.1f}" if measure.startswith(LARGE) else f"{value:.3f}".replace("0.", ".", 1)


def _table(header: Sequence[str], rows: Iterator[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _listed(parts: Any) -> str:
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last


def _filled(text: str, indent: str = "") -> str:
    return fill(text, 120, subsequent_indent=indent, **_WHOLE)
