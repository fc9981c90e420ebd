"""What a verb warns of when Python calls it: what changes numbers, once a call, unless it was asked for."""

import ast
import inspect
import warnings
from pathlib import Path
from typing import Any

import pytest

import lexirecall
from command import Command
from lexirecall import LexirecallWarning, results
from lexirecall.notices import CHANGING

GOOD = {"qrels": b"q 0 d1 1\nr 0 d2 1\n", "run": b"q Q0 d1 1 1 t\n"}
SOURCE = Path(lexirecall.__file__).parent
INFORMING = {
    "all providers", "cannot fail", "changed build", "contrary", "cycle", "degradation",
    "differences without an interval", "document with several texts", "document without a text", "duplicates",
    "equal worst", "extra fields", "few left", "few queries decide", "few queries in the tail",
    "equal queries of a provider", "failed before", "few queries of a provider", "found by no run", "from elsewhere",
    "groups not tested", "groups without judgments",
    "hsd", "in no run", "infinitely deep", "influence", "interaction not tested", "interval and p", "kept verdict",
    "learnt on", "least p", "left out", "left out of the page", "level", "looks", "may become relevant", "no best run",
    "no interaction can be significant", "no interval", "no interval of the score", "no ratio", "no scores",
    "nothing can be significant", "nothing spent", "nothing to learn from", "noticed",
    "one exposure shown", "one sample", "one-sided", "outside max-t", "pairs without groups", "pairs without p",
    "placed apart", "preferences over queries", "providers not shown", "providers without p", "query called all",
    "rare queries",
    "query with several texts", "query without a text", "relevant elsewhere", "repeated judgments", "resamples",
    "responses", "sample", "samples", "short", "simultaneous intervals", "small groups", "too few untied",
    "undefined differences", "undefined over queries", "unjudged documents", "unknown labels", "without a sample",
    "wilcoxon", "without judgments", "worst-off provider",
}  # fmt: skip
"""Notes on what counts as it was given, or on what an option asked for."""
QRELS = {"q": {"d1": 1, "d2": 1}, "r": {"d3": 1}, "z": {"d4": 0}}
RUN = {"q": ["d1", "x"]}
OTHER = {"q": ["d2", "x"], "r": ["d3"], "z": ["d4"]}
RUNS = {"a": RUN, "b": OTHER}
MORE = {**QRELS, **{f"q{i}": {"d1": 1} for i in range(5)}}
MANY = {name: {**run, **{f"q{i}": ["d1", "x"] for i in range(5)}} for name, run in RUNS.items()}
ACCEPTED: dict[str, Any] = {"queries": "all", "no_relevant": "skip"}
VERBS = {
    "evaluate": lambda **options: lexirecall.evaluate(QRELS, RUN, ["AP"], **options),
    "compare": lambda **options: lexirecall.compare(QRELS, RUNS, ["AP"], **options),
    "rank": lambda **options: lexirecall.rank(QRELS, RUNS, **options),
    "explain": lambda **options: lexirecall.explain(QRELS, RUNS, **options),
    "gate": lambda **options: lexirecall.gate(QRELS, RUN, OTHER, **options),
    "fuse": lambda **options: lexirecall.fuse(MORE, MANY, ["AP"], folds=2, **options),
    "report": lambda **options: lexirecall.report(QRELS, RUNS, output=None, **options),
    "study": lambda **options: lexirecall.study({"c": lexirecall.project(QRELS, RUNS)}, num_samples=1, **options),
    "unjudged": lambda **options: lexirecall.unjudged(QRELS, RUNS, rate=0.1, samples=2, **options),
}


def caught(call: Any, **options: Any) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call(**options)
    return found


def kinds_noted() -> set[str]:
    """Return every kind that is written where a note is made."""
    return {
        str(value.value)
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Note" and node.args
        for value in ast.walk(node.args[0])
        if isinstance(value, ast.Constant)
    }


def test_every_kind_of_note_says_whether_it_changes_numbers() -> None:
    """Who adds a kind adds it to one of the two tables."""
    assert CHANGING.keys() & INFORMING == set()
    written = {f"{noun} {what}" for noun in ("query", "document") for what in ("without a text", "with several texts")}
    noted = {kind for kind in kinds_noted() if not kind.endswith(" a text") and not kind.endswith(" texts")}
    assert CHANGING.keys() | INFORMING == noted | written


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_warns_once_and_names_the_line_that_called_it(name: str) -> None:
    (warning,) = caught(VERBS[name])
    assert warning.category is LexirecallWarning
    assert warning.filename == __file__
    assert "without a relevant document" in str(warning.message)
    assert warning.lineno == inspect.getsourcelines(VERBS[name])[1]


@pytest.mark.parametrize("name", [name for name in VERBS if name not in ("fuse", "study")])
def test_what_was_asked_for_is_no_warning(name: str) -> None:
    assert caught(VERBS[name], **ACCEPTED) == []
    (warning,) = caught(VERBS[name], queries="intersection")
    assert "does not answer" not in str(warning.message)


def test_every_verb_whose_result_has_notes_warns() -> None:
    verbs = {name: getattr(lexirecall, name) for name in lexirecall.__all__ if name.islower()}
    returned = {name: inspect.get_annotations(verb).get("return") for name, verb in verbs.items()}
    found = {name: getattr(results, str(kind).split(".")[-1].strip("'>"), None) for name, kind in returned.items()}
    noting = {name for name, kind in found.items() if "notes" in [*dir(kind), *getattr(kind, "__annotations__", ())]}
    assert {*VERBS, "funnel", "certify"} == noting
    assert {name for name in noting if "function" not in inspect.getclosurevars(verbs[name]).nonlocals} == set()


def test_ids_that_match_nothing_are_a_warning_whatever_is_asked_for() -> None:
    def evaluate(**options: Any) -> None:
        lexirecall.evaluate({"q": {"d1": 1}}, {"q": ["D1"]}, ["AP"], **options)

    (warning,) = caught(evaluate, **ACCEPTED)
    assert "are the ids written the same way?" in str(warning.message)


def test_nothing_is_said_where_everything_counts() -> None:
    def evaluate() -> None:
        lexirecall.evaluate({"q": {"d1": 1, "d0": 0}}, {"a": {"q": ["d1", "x"], "unjudged": ["y"]}}, ["AP", "nDCG@10"])

    assert caught(evaluate) == []


def test_control_characters_stay_visible() -> None:
    def evaluate() -> None:
        lexirecall.evaluate({"q": {"d1": 1}}, {"\x1b[31m": {"q": ["x"]}}, ["AP"])

    (warning,) = caught(evaluate)
    assert "\x1b" not in str(warning.message)


def test_the_command_line_prints_notes_and_no_warnings(command: Command) -> None:
    for verb in ("eval", "report"):
        outcome = command(verb, "qrels", "run", *(["-o", "page.html"] if verb == "report" else []))
        assert (outcome.code, outcome.err.count("does not answer")) == (0, 1)
        assert "Warning" not in outcome.err
        assert "warning:" not in outcome.err


def test_positions_that_were_read_before_warn_where_they_are_evaluated() -> None:
    positions = lexirecall.project(QRELS, RUN)
    (warning,) = caught(lambda: lexirecall.evaluate(positions, measures="AP"))
    assert "does not answer" in str(warning.message)


def test_a_gate_is_true_if_it_passes() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(6)}
    old, new = ({query: list(ranking) for query in qrels} for ranking in ("ab", "ax"))
    assert lexirecall.gate(qrels, old, new)
    assert not lexirecall.gate(qrels, new, old)
