"""Results, measures, preferences, positions and errors are values: they pickle, copy, compare and cross processes."""

import copy
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lexirecall
import test_fuse
from lexirecall import LexirecallError, Measure, errors, results
from lexirecall.errors import FallbackOption, UsageError
from lexirecall.labels.wholeruns import compare_with_safe
from lexirecall.measures import MEASURES
from lexirecall.names import parse_names, register
from lexirecall.preferences import PREFERENCES, Preference
from lexirecall.results import PolicyScores
from test_notebook import RESULTS

QRELS = {f"q{i}": {"a": 1, "b": 1 + i % 2, "c": 0} for i in range(8)}
RUNS = {
    "old": {query: ["a", "x", "b", f"new {query}"] for query in QRELS},
    "new": {query: ["x", "y", "b", "a"] if i % 3 else ["b"] for i, query in enumerate(QRELS)},
    "third": {query: ["a"] for query in QRELS},
}
GROUPS = {query: "low" if query < "q4" else "high" for query in QRELS}
SAMPLES = {f"{name}#{i}": run for name, run in RUNS.items() for i in (1, 2)}
OWNERS = {"a": "Knopf", "b": "Insel"}
NEWLY = {query: {**judged, f"new {query}": 1, "x": 0} for query, judged in QRELS.items()}
ADDED = [
    lexirecall.evaluate(QRELS, RUNS, bootstrap=50),
    lexirecall.evaluate(QRELS, RUNS, ["AP", "WorstProvider"], providers=OWNERS, over=["median"], by=GROUPS),
    lexirecall.compare(QRELS, RUNS, ["AP", "LexiRecall"], test="hsd"),
    lexirecall.compare(QRELS, RUNS, over=["min", "mean"], by=GROUPS, min_queries=1),
    lexirecall.unjudged(QRELS, RUNS, rate=0.2, samples=20, judge=5),
    lexirecall.unjudged(QRELS, RUNS, rate=0.2, samples=20, judged_with=NEWLY),
    lexirecall.gate(QRELS, RUNS["new"], RUNS["old"], require=["AP>=0.1", "no query loses a relevant document"]),
    lexirecall.funnel(QRELS, {"first": RUNS["old"], "second": RUNS["new"]}),
    lexirecall.funnel(QRELS, {"first": {query: ["x"] for query in QRELS}, "second": RUNS["new"]}),
    compare_with_safe(QRELS, RUNS),
    PolicyScores.of(lexirecall.project(QRELS, SAMPLES), ["AP", "LexiRecall"]),
    lexirecall.fuse(QRELS, RUNS, ["AP"], folds=2),
    lexirecall.fuse(test_fuse.QRELS, test_fuse.RUNS, ["AP"], folds=2, discount=0.9, regularization=0.1),
    lexirecall.rank(QRELS, RUNS, bootstrap=50),
    lexirecall.certify(corpus_size=9000, read=2000, found=190, sample=1000, relevant=1, wanted=0.99),
    (certified := lexirecall.certify(corpus_size=9000, read=2000, found=190, sample=1000, relevant=1)),
    (certified[0].missed, certified[0].bounds),
    lexirecall.project(QRELS, RUNS).at_level(1),
    lexirecall.project(QRELS, RUNS, units={"a": "U", "b": ["U", "V"]}),
    lexirecall.parse_preference("RPP").pairs(lexirecall.project(QRELS, RUNS).at_level(1)),
]  # fmt: skip


def held_by(value: Any, seen: set[int]) -> Iterator[Any]:
    """Give everything that a value holds, itself first."""
    if id(value) in seen:
        return
    seen.add(id(value))
    yield value
    inner: list[Any] = []
    if is_dataclass(value) and not isinstance(value, type):
        inner = [getattr(value, each.name) for each in fields(value)]
    elif isinstance(value, dict):
        inner = [*value.values()]
    elif isinstance(value, (tuple, list)):
        inner = [*value]
    for each in inner:
        yield from held_by(each, seen)


def instances() -> dict[str, Any]:
    """Return an instance of each class of results, from what verbs return."""
    seen: set[int] = set()
    found: dict[str, Any] = {}
    for result in [*RESULTS.values(), *ADDED]:
        for each in held_by(result, seen):
            name = type(each).__name__
            if getattr(results, name, None) is type(each) or isinstance(each, (Measure, Preference)):
                found.setdefault(name, each)
    return found


OF_EACH_CLASS = instances()
EVERYTHING = {**OF_EACH_CLASS, **RESULTS, **{f"more {i}": made for i, made in enumerate(ADDED)}}
every_value = pytest.mark.parametrize("name", EVERYTHING)


def test_every_class_of_results_is_tried() -> None:
    """Who adds one adds a call to ADDED that returns it, or something that holds it."""
    assert {*results.__all__} - {*OF_EACH_CLASS} == set()


@every_value
def test_a_result_is_the_same_when_it_was_pickled_and_copied(name: str) -> None:
    value = EVERYTHING[name]
    copies = [pickle.loads(pickle.dumps(value, protocol)) for protocol in range(2, 6)]  # noqa: S301
    for each in (*copies, copy.copy(value), copy.deepcopy(value)):
        assert type(each) is type(value)
        same = each == value
        assert same is True
        assert (each != value) is False
        assert str(each) == str(value)


@every_value
def test_a_result_has_a_hash_or_says_that_it_has_none(name: str) -> None:
    value = EVERYTHING[name]
    try:
        own = hash(value)
    except TypeError:
        with pytest.raises(TypeError, match="unhashable type"):
            hash(value)
    else:
        assert own == hash(copy.deepcopy(value))


@every_value
def test_a_result_is_nothing_else(name: str) -> None:
    value = EVERYTHING[name]
    for other in (None, 1, "x", np.array([1.0, 2.0]), object(), EVERYTHING["Note"]):
        is_same = value is other
        if isinstance(other, np.ndarray):
            continue  # numpy asks first, element by element
        assert (value == other) is is_same


def test_results_of_other_data_differ_and_of_the_same_data_do_not() -> None:
    calls: list[Callable[[Any], Any]] = [
        lambda runs: lexirecall.evaluate(QRELS, runs),
        lambda runs: lexirecall.compare(QRELS, runs),
        lambda runs: lexirecall.rank(QRELS, runs),
        lambda runs: lexirecall.gate(QRELS, runs["new"], runs["third"]),
        lambda runs: lexirecall.project(QRELS, runs),
    ]
    for call in calls:
        assert call(RUNS) == call(copy.deepcopy(RUNS))
        assert call(RUNS) != call({**RUNS, "new": {query: ["b", "a"] for query in QRELS}})
    one = lexirecall.evaluate(QRELS, RUNS)
    assert one != replace(one, values=one.values + 1)
    assert one != replace(one, values=one.values[:1])
    assert one == replace(one, values=np.array(one.values))


# Measures


ROWS = {**MEASURES, **PREFERENCES}
SPELLED = (
    "nDCG(gains={1:0,2:3})@10 R@10% R@20 RBP(p=0.5) AP(rel=2)@100 TSE(e='dcg') RPP(weight='dcg') LexiPrecision(size=rr)"
)


@pytest.mark.parametrize("row", [*ROWS.values(), *parse_names(SPELLED), lexirecall.parse_preference("AP@10")], ids=str)
def test_a_measure_is_pickled_by_its_name(row: Any) -> None:
    for protocol in range(2, 6):
        read = pickle.loads(pickle.dumps(row, protocol))  # noqa: S301
        assert (read, str(read), hash(read), read.settings) == (row, str(row), hash(row), row.settings)
    assert copy.deepcopy(row) == row
    if row.name in ROWS and not row.settings and row == ROWS[row.name]:
        assert read is row


def squared(positions: Any) -> float:
    return float((1 / np.asarray(positions) ** 2).sum())


def test_a_measure_of_a_module_function_is_pickled_as_it_is() -> None:
    own = Measure("Squared", "of squares", of_positions=squared)
    read = pickle.loads(pickle.dumps(own))  # noqa: S301
    assert (read, read.of([2])) == (own, 0.25)
    renamed = replace(MEASURES["AP"], title="another title")
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(renamed)


def test_a_lambda_that_is_not_registered_cannot_be_pickled() -> None:
    own = Measure("Half", "halves", lambda p: 0.5 ** (p / 10), lambda _, m: 1 / m)
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(own)
    assert copy.deepcopy(own) == own


def test_a_registered_lambda_is_pickled_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MEASURES, "Half", own := Measure("Half", "halves", lambda p: 0.5**p, lambda _, m: 1 / m))
    assert register(own) is own
    text = pickle.dumps(own(rel=2))
    assert pickle.loads(text) == own(rel=2)  # noqa: S301
    monkeypatch.delitem(MEASURES, "Half")
    with pytest.raises(UsageError, match="'Half' was pickled by its name, and has not been registered"):
        pickle.loads(text)  # noqa: S301


def test_cloudpickle_takes_functions_along(monkeypatch: pytest.MonkeyPatch) -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    monkeypatch.setitem(MEASURES, "Half", own := Measure("Half", "halves", lambda p: 0.5**p, lambda _, m: 1 / m))
    text = cloudpickle.dumps(own)
    monkeypatch.delitem(MEASURES, "Half")
    assert pickle.loads(text).of([1]) == 0.5  # noqa: S301


# Errors


def error_classes() -> list[type[LexirecallError]]:
    for path in Path(lexirecall.__file__).parent.rglob("*.py"):
        if "(LexirecallError" in (text := path.read_text(encoding="utf-8")) or "Error):" in text:
            parts = path.relative_to(Path(lexirecall.__file__).parent).with_suffix("").parts
            if parts[0] not in ("adapters", "engines", "torch"):
                import_module(".".join(("lexirecall", *parts)).removesuffix(".__init__"))
    found, new = {LexirecallError}, [LexirecallError]
    while new:
        new = [each for kind in new for each in kind.__subclasses__()]
        found |= {*new}
    return sorted((kind for kind in found if kind.__module__.startswith("lexirecall")), key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", error_classes())
def test_errors_are_pickled_with_all_they_say(kind: Any) -> None:
    way = FallbackOption("duplicates", {"first": "the first line"})
    given: list[Any] = ["run", 3] if "source" in inspect.signature(kind).parameters else []
    make: Any = kind
    error = make(*given, "it is wrong", remedy="mend it", way_on=way)
    error.offer(["duplicates"])
    for protocol in range(2, 6):
        read = pickle.loads(pickle.dumps(error, protocol))  # noqa: S301
        assert (type(read), str(read), read.args, vars(read)) == (kind, str(error), error.args, vars(error))
    assert str(copy.copy(error)) == str(error)
    assert str(errors.LexirecallError("x")) == "x"


# Processes


IN_A_POOL = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from lexirecall import compare, errors, evaluate, parse_measure, project

qrels, runs = {"q": {"a": 1, "b": 1}}, {"x": {"q": ["a", "b"]}, "y": {"q": ["b"]}}
with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
    for verb in (evaluate, compare):
        assert pool.submit(verb, qrels, runs, [parse_measure("AP@10"), "LexiRecall"]).result() == verb(
            qrels, runs, ["AP@10", "LexiRecall"]
        )
    assert pool.submit(evaluate, project(qrels, runs), measures="AP").result() == evaluate(qrels, runs, "AP")
    assert pool.submit(type(evaluate(qrels, runs)).to_dict, evaluate(qrels, runs, "AP")).result()["x"] == {"AP": 1}
    for call in ((parse_measure, "nDGC@10"), (evaluate, {"q": {"a": "x"}}, runs)):
        try:
            pool.submit(*call).result()
        except errors.LexirecallError as error:
            print(error)
"""


def test_results_and_errors_cross_processes() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", IN_A_POOL], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert "did you mean 'nDCG@10'" in done.stdout
    assert "the grade is not a number" in done.stdout


def test_a_pickle_is_read_where_nothing_has_been_imported(tmp_path: Path) -> None:
    made = lexirecall.evaluate(QRELS, RUNS)
    (tmp_path / "scores.pickle").write_bytes(pickle.dumps(made))
    program = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')))"
    words = [sys.executable, "-c", program, str(tmp_path / "scores.pickle")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.rstrip("\n") == str(made)
