"""Look for the option min_relevant, which test_options.py adds to a copy of the package, wherever an option must be.

The copy is what Python imports; the folder that it runs in is written to. The first argument is the folder of docs.
"""

import inspect
import runpy
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

import lexirecall
from lexirecall.cli import COMMANDS, group
from lexirecall.errors import FormatError
from lexirecall.labels.stops import evaluate_stops
from lexirecall.meta import read_collections

QRELS = {f"q{i}": dict.fromkeys("abc", 1) for i in range(6)} | {f"s{i}": {"a": 1, "b": 0, "c": 0} for i in range(4)}
"""Six queries with three relevant documents, and four with one."""
RUNS = {"x": {query: ["a", "z", "b"] for query in QRELS}, "y": {query: ["b", "a", "c"] for query in QRELS}}
LARGE = tuple(query for query in QRELS if query[0] == "q")
AP = [(1 + 2 / 3) / 3, 1.0]
"""The mean of each run over the large queries; over all, it is (6 × 5/9 + 4) / 10 and .8."""
TABLE = '[[collection]]\nname = "c"\nqrels = "qrels.txt"\nruns = ["*.run"]\nmin_relevant = '


def evaluated(**options: Any) -> None:
    scores = lexirecall.evaluate(
        QRELS, RUNS, ["AP", "LexiRecall"], by={q: q[0] for q in QRELS}, min_queries=1, **options
    )
    assert scores.averages.counts.tolist() == [[6, 6], [6, 6]]
    assert scores.means[:, 0].tolist() == pytest.approx(AP)
    assert np.isfinite(scores.values).all(axis=(0, 2)).tolist() == [q in LARGE for q in QRELS]
    assert scores.groups == ("q",)
    [text] = [note.text for note in scores.notes if note.kind == "no relevant document"]
    assert text.startswith("4 queries with fewer than 2 relevant documents (s0, s1, s2, s3): left out of every mean")
    owned = lexirecall.evaluate(QRELS, RUNS, ["AP"], providers={"a": "Ada"}, **options)
    assert [row["queries"] for row in owned.providers(min_queries=1).rows()] == [6, 6]


def compared(**options: Any) -> None:
    [ap, lexi] = lexirecall.compare(QRELS, RUNS, ["AP", "LexiRecall"], **options).rows()
    assert (ap["queries"], ap["wins"], ap["losses"], lexi["queries"], lexi["losses"]) == (6, 0, 6, 6, 6)
    assert ap["mean"] == pytest.approx(AP[0] - AP[1])


def ranked(**options: Any) -> None:
    assert [(row["run"], row["score"]) for row in lexirecall.rank(QRELS, RUNS, **options).rows()] == [
        ("y", 1),
        ("x", 0),
    ]


def explained(**options: Any) -> None:
    made = lexirecall.explain(QRELS, RUNS, measure="AP", **options)
    assert made.deciding is not None
    assert sorted(query.id for query in made.queries) == [*made.deciding.queries] == [*LARGE]


def through_stages(**options: Any) -> None:
    funnel = lexirecall.funnel(QRELS, [RUNS["y"], RUNS["x"]], **options)
    assert (funnel.num_queries, funnel.num_relevant, [stage.found for stage in funnel.stages]) == (6, 18, [18, 12])


def gated(**options: Any) -> None:
    result = lexirecall.gate(QRELS, RUNS["x"], RUNS["y"], require=["AP>=0.5"], **options)
    assert (result.num_queries, result.num_relevant, len(result.changes)) == (6, 18, 6)
    assert {decision.compared.num_queries for decision in result.decisions} == {6}
    assert result.checks[0].value == pytest.approx(AP[0])


def with_labels(**options: Any) -> None:
    rows = list(lexirecall.unjudged(QRELS, RUNS, ["R@3", "LexiRecall"], rate=0, samples=2, **options).rows())
    assert [(row["queries"], row["value"]) for row in rows if row["kind"] == "bound"] == [(6, 2 / 3), (6, 1)]
    assert [row["decided"] for row in rows if row["kind"] == "pair"] == [6, 6]


def certified(**options: Any) -> None:
    reviews = lexirecall.certify(
        QRELS | {"none": dict.fromkeys("abc", 0)}, RUNS["y"] | {"none": [*"abcd"]}, read=3, **options
    )
    assert [review.counts.query for review in reviews] == [*LARGE, "none"]  # which has found nothing so far
    assert [note.count for note in reviews.notes if note.kind == "no relevant document"] == [4]
    stops = evaluate_stops(QRELS, RUNS["y"], stops=2, **options)
    assert [len(run.stops) for run in stops.runs] == [6]


def fused(**options: Any) -> None:
    made = lexirecall.fuse(QRELS, RUNS, "AP", folds=2, discount=0, regularization=1, **options)
    assert set(made.weights.queries) == {*LARGE}
    assert set(made.scores.averages.counts.ravel().tolist()) == {6}


def reported(**options: Any) -> None:
    payload = lexirecall.report(QRELS, RUNS, ["AP"], output=None, **options).payload
    assert payload["queries"] == [*LARGE]
    assert [means[0] for means in payload["means"]] == pytest.approx(AP[::-1])
    assert payload["recall"]["mean"][0][-1] == 1
    assert "finds all 18 relevant documents." in "".join(
        part.get("text", "") for line in payload["headline"] for part in line
    )
    assert payload["left_out"] == ["4 queries with fewer than 2 relevant documents: not shown one by one."]


def studied(**options: Any) -> None:
    tables = lexirecall.study(QRELS, RUNS, ["AP"], num_samples=1, **options).tables
    assert (tables["data"][0]["queries"], tables["data"][0]["relevant"]) == (6, 3)
    assert {row["separated"] for row in tables["agreement"]} == {6}


VERBS: dict[str, Callable[..., None]] = {
    "evaluate": evaluated, "compare": compared, "rank": ranked, "explain": explained, "funnel": through_stages,
    "gate": gated, "unjudged": with_labels, "certify": certified, "fuse": fused, "report": reported, "study": studied,
}  # fmt: skip
"""What looks, in each verb, at numbers that four of the ten queries must not be in."""


def look_at_verbs() -> None:
    for verb, look_at_numbers in VERBS.items():
        parameter = inspect.signature(getattr(lexirecall, verb)).parameters["min_relevant"]
        assert (parameter.default, parameter.annotation) == (1, int), verb
        look_at_numbers(min_relevant=2)
        with pytest.raises(AssertionError):  # with the default, all ten count
            look_at_numbers()


def look_at_commands() -> None:
    for name, verb in COMMANDS.items():
        command = group.get_command(click.Context(group), name)
        assert command is not None
        text = command.get_help(click.Context(command))
        assert ("--min-relevant" in text) == ("Fewest relevant documents of" in text) == (verb in VERBS), name


def look_at_manifests() -> None:
    for number in (1, 3):
        scores = lexirecall.evaluate(QRELS, RUNS, ["AP"], min_relevant=number)
        assert scores.manifest.conventions["min_relevant"] == number
        studied = lexirecall.study(QRELS, RUNS, ["AP"], num_samples=1, min_relevant=number)
        [record] = studied.manifest.conventions["collections"].values()
        assert record["min_relevant"] == number
    assert lexirecall.evaluate(QRELS, RUNS, ["AP"]).manifest.conventions["min_relevant"] == 1


def look_at_file_of_collections() -> None:
    files = {"qrels.txt": "q 0 a 1", "x.run": "q Q0 a 1 1 x", "y.run": "q Q0 b 1 1 y"}
    files |= {"good.toml": TABLE + "2", "bad.toml": TABLE + '"many"'}
    for name, text in files.items():
        Path(name).write_text(text)
    [collection] = read_collections("good.toml", {})
    assert asdict(collection.read().policies)["min_relevant"] == 2
    with pytest.raises(FormatError, match="min_relevant is 'many', but must be a whole number"):
        read_collections("bad.toml", {})


def look_at_pages(docs: str) -> None:
    generate = runpy.run_path(f"{docs}/generate.py")
    line = "- `--min-relevant NUMBER`: Fewest relevant documents of a query that counts. (default: 1)\n"
    assert generate["command_line_page"]().count(line) == len(VERBS)
    row = (
        "- **`min_relevant`**, `--min-relevant`: `NUMBER`; default `1`. Fewest relevant documents of a query that "
        "counts.\n"
    )
    assert generate["options_page"]().count(row) == 1


if __name__ == "__main__":
    look_at_verbs()
    look_at_commands()
    look_at_manifests()
    look_at_file_of_collections()
    look_at_pages(sys.argv[1])
