"""Dicts and lists, two ways to positions: whatever is in them, the compiled one and the readable one say the same."""

import collections
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lexirecall import Judgments, evaluate, project
from lexirecall.fields import choices_of
from lexirecall.formats import dicts
from lexirecall.formats.forms import read_form
from lexirecall.formats.mappingrun import MappingRun
from lexirecall.manifest import Conventions
from lexirecall.reader import VARIABLE, is_built
from strategies import quick
from test_two_readers import outcome

pytestmark = pytest.mark.skipif(not is_built(), reason="the compiled reader was not built: there was no C compiler")


class Text(str):
    """Text with a text of its own."""

    __slots__ = ()

    def __str__(self) -> str:
        return "another"


class Number(float):
    """A number with a value of its own."""

    __slots__ = ()

    def __float__(self) -> float:
        return 7.0


GRADES: dict[Any, Any] = {"a": 1, "b": 2, "c": 0, "d": -1, "ä": 1, "e" * 70: 1, 17: 3, -3: 0.5, "": 1}
QRELS: dict[Any, Any] = {"q1": GRADES, "q2": {"a": 1, "x": 0.5}, 3: {"a": 0}, "q4": {}}
JUDGMENTS = Judgments.from_grades(
    {str(q).encode(): {str(i).encode(): float(grade) for i, grade in judged.items()} for q, judged in QRELS.items()}
)
ODD_IDS = (1.0, 1.5, 1e16, True, None, Decimal(18), "\udcff", "\ud800", Text("a"), ("a", 1.0), 2**70, np.float32(3))
NUMPY_IDS = (
    np.str_("a"),
    np.str_("b\0"),
    np.str_(""),
    np.int64(17),
    np.int8(-3),
    np.uint64(2**64 - 1),
    np.bytes_(b"a"),
)
PLAIN_IDS = st.sampled_from(
    [*GRADES, "x", "y", "zz", "€", "e" * 71, "a\0b", "7", 7, 2**63 - 1, -(2**63), b"a", b"x", b"\xff"]
)
IDS = st.integers(0, 30).flatmap(lambda n: st.sampled_from(ODD_IDS if n == 0 else NUMPY_IDS) if n < 4 else PLAIN_IDS)
QUERIES = st.sampled_from([*QRELS, "q1", "q2", "3", b"q1", "q", 4, np.int64(3), np.str_("q2"), None, 3.0, Text("q")])
ODD_NUMBERS = (float("nan"), np.float64("nan"), "1", None, Decimal("0.5"), Fraction(1, 3), 10**400, -(10**400), 1j)
ODD_NUMBERS += (Number(2), np.bool_(True), np.longdouble(0.5), np.array(0.5), np.array([0.5, 1]), b"1", [1])  # type: ignore[assignment]
PLAIN_NUMBERS = (
    st.sampled_from([0, -0.0, 1, 1.0, True, False, 2**53 + 1, 16777216, 16777217, 0.50000000001, 0.50000000002, -3])
    | st.floats(allow_nan=False)
    | st.integers(-(2**70), 2**70)
    | st.sampled_from([np.float64(1), np.float32(0.1), np.float16(0.1), np.int64(1), np.uint8(1), np.uint64(2**64 - 1)])
)
NUMBERS = st.integers(0, 40).flatmap(lambda n: st.sampled_from(ODD_NUMBERS) if n == 0 else PLAIN_NUMBERS)
MAPPINGS = (dict, dict, dict, collections.defaultdict, collections.OrderedDict, collections.UserDict)
LISTS = (list, list, tuple, np.array, collections.deque, set, dict.fromkeys)


def mapping(kind: Any, content: dict[Any, Any]) -> Any:
    return collections.defaultdict(dict, content) if kind is collections.defaultdict else kind(content)


@st.composite
def scored(draw: st.DrawFn) -> Any:
    rows = dict(draw(st.lists(st.tuples(IDS, NUMBERS), max_size=14)))
    order = draw(st.sampled_from(["any", "any", "tied", "descending", "nearly"]))
    if order == "tied":
        rows = {document: draw(st.sampled_from([1, 1.0, 2, 0.5])) for document in rows}
    if order in ("descending", "nearly"):  # from 2^24 on, float32 does not tell one from the next
        rows = {document: 2**24 + (20 if order == "nearly" else 60) - 3 * i for i, document in enumerate(rows)}
    return mapping(draw(st.sampled_from(MAPPINGS)), rows)


@st.composite
def listed(draw: st.DrawFn) -> Any:
    documents = draw(st.lists(IDS, max_size=14))
    kind = draw(st.sampled_from(LISTS))
    unique = list(dict.fromkeys(documents)) if draw(st.integers(0, 3)) else documents
    if kind is np.array and any(not isinstance(document, str) for document in unique):
        return np.array(unique, object) if all(not isinstance(document, tuple) for document in unique) else unique
    return kind(unique)


@st.composite
def runs(draw: st.DrawFn) -> Any:
    """Make a run, of which nearly everything is plain; now and then a ranking is something else."""
    odd = st.sampled_from(["a", 7, None, {"q": {"a": 1}}, [["a"]], b"ab"])
    rankings = st.integers(0, 25).flatmap(lambda n: odd if n == 0 else listed() if n < 8 else scored())
    return mapping(draw(st.sampled_from(MAPPINGS)), dict(draw(st.lists(st.tuples(QUERIES, rankings), max_size=5))))


RULES: st.SearchStrategy[dict[str, Any]] = st.builds(
    dict,
    ties=st.sampled_from(choices_of(Conventions, "ties")),
    score_dtype=st.sampled_from(choices_of(Conventions, "score_dtype")),
    duplicates=st.sampled_from(choices_of(Conventions, "duplicates")),
)
CUTS = st.sampled_from([{}, {}, {"depth": 1}, {"depth": 4}, {"judged_only": True}])
CONVENTIONS = st.builds(lambda rules, cut: Conventions(**rules, **cut), RULES, CUTS)


@contextmanager
def reader(name: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, name)
        yield


def by(name: str, run: Any, conventions: Conventions, *, needs_judged: bool) -> Any:
    form = MappingRun(run, "r", "run 'r'")
    with reader(name):
        return outcome(lambda: read_form(form, JUDGMENTS, conventions, needs_judged=needs_judged)[0])


@quick(500)
@given(runs(), CONVENTIONS, st.booleans())
@example({"q1": {"a": 1.0, "b": 1.0}, b"q1": {"a": 1.0}}, Conventions(), False)
@example({"q1": {7: 1.0, "7": 1.0}}, Conventions(), False)
@example({"q1": {7: 1.0, "7": 2.0, "a": 1.5}}, Conventions(duplicates="best"), False)
@example({"unjudged": {"a": float("nan")}, "q1": ["a"]}, Conventions(), False)
@example({"unjudged": ["a", "a"], "q1": ["a"]}, Conventions(), False)
@example({"unjudged": ["a"], b"unjudged": ["a"], "q1": ["a"]}, Conventions(), False)
@example({"q1": {"a": 16777217.0, "z": 16777216.0}}, Conventions(score_dtype="float32"), False)
@example({"q1": {"x": 0, "a": 16777217.0, "z": 16777216.0}}, Conventions(score_dtype="float32"), False)
@example({"q1": {np.str_("b\0"): 1.0, "x": 2.0}}, Conventions(), False)
@example({"q1": {"a": 1e300, "b": 1e301, "x": -1e300}}, Conventions(score_dtype="float32"), True)
@example({"q1": ["x"]}, Conventions(), False)  # finds nothing, and is looked at again
@example({}, Conventions(), False)
def test_both_ways_find_the_same_in_a_run(run: Any, conventions: Conventions, needs_judged: bool) -> None:
    readable, compiled = (by(name, run, conventions, needs_judged=needs_judged) for name in ("python", "native"))
    assert compiled == readable


@st.composite
def qrels(draw: st.DrawFn) -> Any:
    grades = st.integers(0, 40).flatmap(
        lambda n: st.sampled_from([*ODD_NUMBERS, float("inf")]) if n == 0 else st.integers(-2, 3) | PLAIN_NUMBERS
    )
    content = {}
    for query in draw(st.lists(QUERIES, max_size=5)):
        rows = dict(draw(st.lists(st.tuples(IDS, grades), max_size=14)))
        content[query] = mapping(draw(st.sampled_from(MAPPINGS)), rows) if draw(st.integers(0, 20)) else ["a"]
    return mapping(draw(st.sampled_from(MAPPINGS)), content)


@quick(400)
@given(qrels())
@example({7: {"a": 1}, "7": {"a": 1}})
@example({7: {"a": 1}, 8: {"a": 10**400}})
@example({"q": {"a": 1, b"a": 1}})
def test_both_ways_find_the_same_in_judgments(grades: Any) -> None:
    found = []
    for name in ("python", "native"):
        with reader(name):
            found.append(outcome(lambda: dicts.load_mapping(grades, "qrels")))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "run",
    [
        {"q1": {"a": 1.0, "b": 2, "c": True, 17: np.float32(0.5), b"x": np.float64(3), np.int64(4): np.int32(1)}},
        {"q1": ["a", 17, b"x"], "q2": ("x", np.str_("a")), 3: np.array(["a", "b"]), b"q4": np.array([4, 5])},
        collections.defaultdict(None, {"q1": collections.defaultdict(float, {"ä": 1.0, "€": 2.0})}),
    ],
)
def test_plain_types_need_no_help(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dicts, "rankings_from_mapping", None)  # would raise if it were called
    monkeypatch.setenv(VARIABLE, "native")
    assert project(JUDGMENTS, {"r": run}).answered.any()


def test_plain_judgments_need_no_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dicts, "judgments_from_mapping", None)
    monkeypatch.setenv(VARIABLE, "native")
    assert dicts.load_mapping({7: {"a": 1, b"b": np.int64(0), 3: True}, 8: {}}, "qrels").query_type == "int64"


def test_what_can_be_read_once_is_read_once() -> None:
    run = {"q1": ["x", "a"], "q2": (document for document in ["x", "a"])}
    assert project(JUDGMENTS, {"r": run}).num_retrieved[0].tolist() == [2, 2, 0, 0]


@pytest.mark.parametrize("order", ["any", "tied", "descending", "mostly descending"])
def test_many_queries_and_long_lists_come_out_alike(order: str) -> None:
    rng = np.random.default_rng(3)
    judged = {
        q: {str(document): int(document % 3) for document in rng.choice(5000, 40, replace=False)} for q in range(60)
    }
    run = {}
    for q in (*range(59, 9, -1), 1000):
        numbers = rng.integers(0, 300, 2000).astype(float) if order == "tied" else rng.random(2000)
        if "descending" in order:
            numbers = -np.sort(-numbers)
        if order == "mostly descending" and q % 7 == 0:
            numbers[1500] = numbers[1200]
        run[q] = dict(zip(map(str, rng.permutation(5000)[:2000].tolist()), numbers.tolist(), strict=True))
    found = []
    for name in ("python", "native"):
        with reader(name):
            scores = evaluate(judged, {"r": run}, ["AP", "nDCG", "bpref", "TSE"])
            found.append((scores.to_dict(per_query=True), scores.notes))
    assert repr(found[0]) == repr(found[1])


# Callers that are wrong


def arguments(**changed: Any) -> list[Any]:
    judgments = JUDGMENTS
    given = {
        "run": {"q1": ["a"]},
        "types": dicts._PLAIN,
        "query_ids": judgments.query_ids.buffer,
        "query_borders": judgments.query_ids.offsets,
        "offsets": judgments.offsets,
        "num_tracked": judgments.num_positive,
        "document_ids": judgments.documents.buffer,
        "document_borders": judgments.documents.offsets,
        "grades": judgments.grades,
        "units": None,
        "key": 1,
        "ties": 0,
        "float32": False,
    }
    return list((given | changed).values())


def test_arrays_that_do_not_fit_are_refused() -> None:
    from lexirecall import _native

    assert _native.run_of_dict(*arguments()) is not None
    offsets = JUDGMENTS.offsets
    wrong: list[dict[str, Any]] = [
        {"query_borders": JUDGMENTS.query_ids.offsets[:-1]},
        {"query_ids": b""},
        {"document_ids": b"a"},
        {"document_borders": JUDGMENTS.documents.offsets[::-1].copy()},
        {"offsets": offsets + 1},
        {"offsets": offsets - 1},
        {"num_tracked": JUDGMENTS.num_positive + 1000},
        {"num_tracked": JUDGMENTS.num_positive * 0 - 1},
        {"grades": JUDGMENTS.grades[:-1]},
        {"grades": bytes(11)},
        {"query_borders": memoryview(bytes(8 * len(offsets) + 1))[1:]},
        {"query_borders": np.zeros(len(offsets), np.int64)},  # all queries are the same
        {"ties": 4},
        {"ties": -1},
    ]
    for change in wrong:
        with pytest.raises(ValueError, match=r"judg|arrays?|whole words|tracked|ties"):
            _native.run_of_dict(*arguments(**change))
    for change in ({"types": ()}, {"types": (1, 2, 3, 4, 5)}, {"grades": None}, {"key": "x"}):
        with pytest.raises(TypeError):
            _native.run_of_dict(*arguments(**change))
    with pytest.raises(TypeError):
        _native.judgments_of_dict({}, (), 1)


def test_no_object_is_kept() -> None:
    run = {"q1": {"a": 1.0, "x": 2.0}, "q2": np.array(["x", "a"]), "q3": [object()]}
    project(JUDGMENTS, {"r": {"q1": ["a"]}})
    gc.collect()
    before = [len(gc.get_referrers(each)) for each in run.values()]
    for _ in range(3):
        by("native", run, Conventions(), needs_judged=True)
    gc.collect()
    assert [len(gc.get_referrers(each)) for each in run.values()] == before
