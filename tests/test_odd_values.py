"""Odd values in the place of every argument of the verbs: what comes out is an error of ours, or a result.

Where a method of the value itself raises, its own error comes out, and is not dressed as one of ours.
"""

import collections
import decimal
import fractions
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

import lexirecall
import lexirecall.errors
from lexirecall import LexirecallError
from lexirecall.adapters.lenskit_input import project_list

QRELS = {f"q{i}": {"a": 1, "b": 1, "c": 0} for i in range(4)}
RUN = {query: ["a", "x", "b"] for query in QRELS}
OTHER = {query: ["x", "b", "a"] for query in QRELS}


class Changing(dict[Any, Any]):
    """Its documents are others than its keys say, and there is one more each time."""

    def items(self) -> Any:
        self[f"new {len(self)}"] = 1
        return super().items()


class Growing(dict[Any, Any]):
    """Grows while its documents are read."""

    def items(self) -> Any:
        for pair in [*super().items()]:
            self[f"{pair[0]} again"] = pair[1]
            yield pair

    def __iter__(self) -> Any:
        for key in [*super().__iter__()]:
            self[f"{key} again"] = 1
            yield key


class Mutating(dict[Any, Any]):
    """Changes under the iterator of another."""

    def items(self) -> Any:
        for key, value in super().items():
            self[f"{key} again"] = value
            yield key, value


class Raising:
    """A list whose every way in raises."""

    def __len__(self) -> int:
        raise OSError("no length")

    def __iter__(self) -> Iterator[Any]:
        raise OSError("no elements")

    def __getitem__(self, _index: Any) -> Any:
        raise OSError("no element")


class RaisingMapping(Mapping[Any, Any]):
    """A mapping whose values cannot be had."""

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[Any]:
        return iter(["q0"])

    def __getitem__(self, key: Any) -> Any:
        raise RuntimeError(f"no {key}")


class Lying(list[Any]):
    """Says that it is longer than it is."""

    def __len__(self) -> int:
        return 1000


class Text(str):
    """Text of another class."""

    __slots__ = ()


class BadText(str):
    """Text that cannot be encoded or compared."""

    __slots__ = ()

    def encode(self, *_arguments: Any) -> bytes:
        raise RuntimeError("cannot encode")

    def __eq__(self, _other: object) -> bool:
        raise RuntimeError("cannot compare")

    def __hash__(self) -> int:
        return 1


class BadNumber(float):
    """A number that cannot be one."""

    def __float__(self) -> float:
        raise RuntimeError("no number")


class BadRepr:
    """What cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


def cyclic_dict() -> dict[str, Any]:
    own: dict[str, Any] = {}
    own["q0"] = own
    return own


def cyclic_list() -> list[Any]:
    own: list[Any] = ["a"]
    own.append(own)
    return own


def deep() -> list[Any]:
    own: list[Any] = []
    for _ in range(100_000):
        own = [own]
    return own


def failing() -> Iterator[Any]:
    yield "a"
    raise RuntimeError("no more")


VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "zero": lambda: 0,
    "a huge integer": lambda: 10**5000,
    "a negative integer": lambda: -1,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "complex": lambda: 1j,
    "a decimal": lambda: decimal.Decimal("sNaN"),
    "a fraction": lambda: fractions.Fraction(1, 3),
    "empty text": lambda: "",
    "text": lambda: "nothing",
    "text with a zero byte": lambda: "a\0b",
    "a lone surrogate": lambda: "\udc80",
    "long text": lambda: "x" * 100_000,
    "bytes": lambda: b"abc",
    "bytes that are no text": lambda: b"\xff\xfe",
    "a bytearray": lambda: bytearray(b"abc"),
    "a memoryview": lambda: memoryview(b"abc"),
    "text of another class": lambda: Text("a"),
    "text that raises": lambda: BadText("a"),
    "a number that raises": lambda: BadNumber(1),
    "what cannot be shown": BadRepr,
    "numpy text": lambda: np.str_("a"),
    "numpy bytes": lambda: np.bytes_(b"a"),
    "a numpy integer": lambda: np.int64(7),
    "a numpy nan": lambda: np.float64("nan"),
    "a numpy bool": lambda: np.bool_(True),
    "a date": lambda: np.datetime64("2026-01-01"),
    "a 0-d array": lambda: np.array(5),
    "a 0-d array of text": lambda: np.array("a"),
    "a 0-d array of a dict": lambda: np.array({"a": 1}),
    "a 2-d array": lambda: np.array([["a", "b"], ["c", "d"]]),
    "an array of objects": lambda: np.array(["a", None, 3], object),
    "an array of records": lambda: np.array([("a", 1)], [("x", "U1"), ("y", int)]),
    "an empty array": lambda: np.array([]),
    "a masked array": lambda: np.ma.array(["a", "b"], mask=[True, False]),
    "an empty list": list,
    "an empty dict": dict,
    "a list": lambda: ["a", "b"],
    "a list of lists": lambda: [["a"], ["b"]],
    "a list of pairs": lambda: [("a", 1.0), ("b", 0.5)],
    "a list of None": lambda: [None, None],
    "a list of one dict": lambda: [{"q0": ["a"]}],
    "a tuple": lambda: ("a", "b"),
    "a set": lambda: {"a", "b"},
    "a frozenset": lambda: frozenset("ab"),
    "a generator": lambda: (name for name in "ab"),
    "a generator that fails": failing,
    "a range": lambda: range(3),
    "an iterator": lambda: iter(["a", "b"]),
    "a map object": lambda: map(str, range(3)),
    "keys": {"a": 1, "b": 2}.keys,
    "documents": {"a": 1, "b": 2}.items,
    "a deque": lambda: collections.deque(["a", "b"]),
    "a user list": lambda: collections.UserList(["a"]),
    "a dict of None": lambda: {None: None},
    "a dict of a tuple": lambda: {("q0", "a"): 1},
    "a dict of bools": lambda: {True: {False: True}},
    "a dict of floats": lambda: {1.5: {2.5: 1}},
    "a dict of nan": lambda: {float("nan"): {float("nan"): 1}},
    "a dict of bytes": lambda: {b"q0": {b"a": 1}},
    "a dict of sets": lambda: {"q0": {"a", "b"}},
    "a dict of generators": lambda: {"q0": (name for name in "ab")},
    "a dict of 0-d arrays": lambda: {"q0": np.array(5)},
    "a dict of 2-d arrays": lambda: {"q0": np.array([["a", "b"]])},
    "a dict of huge grades": lambda: {"q0": {"a": 10**400, "b": -(10**400)}},
    "a dict of nan grades": lambda: {"q0": {"a": float("nan")}},
    "a dict of odd grades": lambda: {"q0": {"a": BadNumber(1), "b": 1j}},
    "a dict of what raises": lambda: {"q0": Raising()},
    "a dict of bad text": lambda: {"q0": {BadText("a"): 1}},
    "a dict of what cannot be shown": lambda: {"q0": BadRepr()},
    "a dict of lists that lie": lambda: {"q0": Lying(["a"])},
    "a mapping proxy": lambda: types.MappingProxyType({"q0": types.MappingProxyType({"a": 1})}),
    "an ordered dict": lambda: collections.OrderedDict(q0=collections.OrderedDict(a=1)),
    "a default dict": lambda: collections.defaultdict(dict, q0=collections.defaultdict(int, a=1)),
    "a chain map": lambda: collections.ChainMap({"q0": {"a": 1}}, {"q1": {"a": 1}}),
    "a counter": lambda: {"q0": collections.Counter("abba")},
    "a dict whose items change it": lambda: Changing(q0={"a": 1}),
    "a dict of dicts whose items change them": lambda: {"q0": Changing(a=1), "q1": Changing(a=1)},
    "a dict that grows": lambda: {"q0": Growing(a=1, b=2)},
    "a dict that grows itself": lambda: Growing(q0={"a": 1}),
    "a dict that changes while it is read": lambda: Mutating(q0={"a": 1}),
    "a dict of dicts that change while they are read": lambda: {"q0": Mutating(a=1)},
    "a mapping that raises": RaisingMapping,
    "what raises": Raising,
    "a cyclic dict": cyclic_dict,
    "a cyclic list": cyclic_list,
    "a deep list": deep,
    "a dict of a deep list": lambda: {"q0": deep()},
    "an object": object,
    "a class": lambda: dict,
    "a function": lambda: len,
    "a module": lambda: np,
    "a measure": lambda: lexirecall.parse_measure("AP"),
    "positions": lambda: lexirecall.project(QRELS, RUN),
    "judgments": lambda: lexirecall.load_judgments(QRELS),
}
RAISING = (
    "a huge integer", "a number that raises", "what cannot be shown", "text that raises", "a generator that fails",
    "a dict of odd grades", "a dict of what raises", "a dict of bad text", "a dict of what cannot be shown",
    "a dict whose items change it", "a dict that changes while it is read",
    "a dict of dicts that change while they are read", "a mapping that raises", "what raises", "a deep list",
    "a dict of a deep list",
)  # fmt: skip
"""Values with a method that raises, be it that which shows them, or that contradict themselves."""
CALLS: dict[str, Callable[[Any], Any]] = {
    "evaluate(qrels)": lambda odd: lexirecall.evaluate(odd, RUN),
    "evaluate(run)": lambda odd: lexirecall.evaluate(QRELS, odd),
    "evaluate(ranking)": lambda odd: lexirecall.evaluate(QRELS, {"q0": odd}),
    "evaluate(judged)": lambda odd: lexirecall.evaluate({"q0": odd}, RUN),
    "evaluate(runs)": lambda odd: lexirecall.evaluate(QRELS, [RUN, odd]),
    "evaluate(named run)": lambda odd: lexirecall.evaluate(QRELS, {"a": RUN, "b": odd}),
    "evaluate(item)": lambda odd: lexirecall.evaluate(QRELS, {"q0": ["a", odd]}),
    "evaluate(score)": lambda odd: lexirecall.evaluate(QRELS, {"q0": {"a": odd, "b": 1}}),
    "evaluate(grade)": lambda odd: lexirecall.evaluate({"q0": {"a": 1, "b": odd}}, RUN),
    "evaluate(measures)": lambda odd: lexirecall.evaluate(QRELS, RUN, odd),
    "evaluate(measure)": lambda odd: lexirecall.evaluate(QRELS, RUN, ["AP", odd]),
    "evaluate(level)": lambda odd: lexirecall.evaluate(QRELS, RUN, level=odd),
    "evaluate(ties)": lambda odd: lexirecall.evaluate(QRELS, RUN, ties=odd),
    "evaluate(depth)": lambda odd: lexirecall.evaluate(QRELS, RUN, depth=odd),
    "evaluate(corpus_size)": lambda odd: lexirecall.evaluate(QRELS, RUN, corpus_size=odd),
    "evaluate(providers)": lambda odd: lexirecall.evaluate(QRELS, RUN, providers=odd),
    "evaluate(units)": lambda odd: lexirecall.evaluate(QRELS, RUN, units=odd),
    "evaluate(columns)": lambda odd: lexirecall.evaluate(QRELS, RUN, columns=odd),
    "evaluate(bootstrap)": lambda odd: lexirecall.evaluate(QRELS, RUN, ["AP"], bootstrap=odd),
    "evaluate(seed)": lambda odd: lexirecall.evaluate(QRELS, RUN, ["AP"], bootstrap=5, seed=odd),
    "evaluate(over)": lambda odd: lexirecall.evaluate(QRELS, RUN, over=odd),
    "evaluate(by)": lambda odd: lexirecall.evaluate(QRELS, RUN, by=odd),
    "evaluate(strict)": lambda odd: lexirecall.evaluate(QRELS, RUN, strict=odd),
    "compare(baseline)": lambda odd: lexirecall.compare(QRELS, {"a": RUN, "b": OTHER}, baseline=odd),
    "compare(alpha)": lambda odd: lexirecall.compare(QRELS, {"a": RUN, "b": OTHER}, ["AP"], alpha=odd),
    "compare(test)": lambda odd: lexirecall.compare(QRELS, {"a": RUN, "b": OTHER}, ["AP"], test=odd),
    "rank(runs)": lambda odd: lexirecall.rank(QRELS, odd),
    "rank(preference)": lambda odd: lexirecall.rank(QRELS, {"a": RUN, "b": OTHER}, odd),
    "explain(pair)": lambda odd: lexirecall.explain(QRELS, {"a": RUN, "b": OTHER}, pair=odd),
    "explain(runs)": lambda odd: lexirecall.explain(QRELS, odd),
    "explain(texts)": lambda odd: lexirecall.explain(QRELS, {"a": RUN, "b": OTHER}, texts=odd),
    "gate(new)": lambda odd: lexirecall.gate(QRELS, odd, OTHER),
    "gate(baseline)": lambda odd: lexirecall.gate(QRELS, RUN, odd),
    "gate(require)": lambda odd: lexirecall.gate(QRELS, RUN, OTHER, require=odd),
    "gate(requirement)": lambda odd: lexirecall.gate(QRELS, RUN, OTHER, require=[odd]),
    "gate(margin)": lambda odd: lexirecall.gate(QRELS, RUN, OTHER, ["AP"], margin=odd),
    "gate(alpha)": lambda odd: lexirecall.gate(QRELS, RUN, OTHER, alpha=odd),
    "gate(corpus_ids)": lambda odd: lexirecall.gate(QRELS, RUN, OTHER, corpus_ids=odd),
    "funnel(stages)": lambda odd: lexirecall.funnel(QRELS, odd),
    "funnel(stage)": lambda odd: lexirecall.funnel(QRELS, {"one": RUN, "two": odd}),
    "fuse(runs)": lambda odd: lexirecall.fuse(QRELS, odd, ["AP"]),
    "fuse(weights)": lambda odd: lexirecall.fuse(QRELS, {"a": RUN, "b": OTHER}, ["AP"], weights=odd),
    "fuse(folds)": lambda odd: lexirecall.fuse(QRELS, {"a": RUN, "b": OTHER}, ["AP"], folds=odd),
    "unjudged(runs)": lambda odd: lexirecall.unjudged(QRELS, odd, rate=0.1),
    "unjudged(rate)": lambda odd: lexirecall.unjudged(QRELS, {"a": RUN, "b": OTHER}, rate=odd, samples=5),
    "unjudged(samples)": lambda odd: lexirecall.unjudged(QRELS, {"a": RUN, "b": OTHER}, rate=0.1, samples=odd),
    "certify(read)": lambda odd: lexirecall.certify(corpus_size=100, read=odd, found=1, sample=5, relevant=0),
    "certify(corpus_size)": lambda odd: lexirecall.certify(corpus_size=odd, read=10, found=1, sample=5, relevant=0),
    "certify(sample)": lambda odd: lexirecall.certify(corpus_size=100, read=10, found=1, sample=odd, relevant=0),
    "certify(confidence)": lambda odd: lexirecall.certify(
        corpus_size=100, read=10, found=1, sample=5, relevant=0, confidence=odd
    ),
    "certify(files)": lambda odd: lexirecall.certify(QRELS, RUN, read=odd),
    "report(title)": lambda odd: lexirecall.report(QRELS, {"a": RUN, "b": OTHER}, ["AP"], output=None, title=odd),
    "study(collections)": lambda odd: lexirecall.study(odd, measures=["AP"], num_samples=1),
    "study(collection)": lambda odd: lexirecall.study({"c": odd}, measures=["AP"], num_samples=1),
    "project_scores(scores)": lambda odd: lexirecall.project_scores(QRELS, odd),
    "project_scores(relevant)": lambda odd: lexirecall.project_scores(odd, np.ones((2, 3))),
    "load_judgments": lexirecall.load_judgments,
    "load_positions": lexirecall.load_positions,
    "parse_measure": lexirecall.parse_measure,
    "parse_preference": lexirecall.parse_preference,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
def test_only_errors_of_ours_come_out(call: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = {}
    for name, make in VALUES.items():
        try:
            CALLS[call](make())
        except LexirecallError as error:
            if not str(error):
                wrong[name] = "says nothing"
        except Exception as error:  # any other is the finding
            if name not in RAISING:
                wrong[name] = f"{type(error).__name__}: {str(error)[:100]}"
    assert wrong == {}


NO_RANKINGS = {
    "a 0-d array": np.array("abc"),
    "a 0-d array of a number": np.array(5),
    "a 2-d array": np.array([["a", "b"]]),
    "a set": {"a"},
    "keys": {"a": 1}.keys(),
    "bytes": b"ab",
    "a bytearray": bytearray(b"ab"),
    "a memoryview": memoryview(b"ab"),
    "text": "ab",
}


@pytest.mark.parametrize("name", NO_RANKINGS)
@pytest.mark.parametrize("reader", ["python", "native"])
def test_what_is_no_ranking_is_refused_by_name(name: str, reader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEXIRECALL_READER", reader)
    with pytest.raises(LexirecallError, match="query 'q1'"):
        lexirecall.evaluate(QRELS, {"q0": ["a"], "q1": NO_RANKINGS[name]}, ["AP"])


def test_a_dict_whose_documents_change_it_is_read_once() -> None:
    qrels, run = {"q": Growing(a=1, b=0)}, {"q": Growing(x=2.0, a=1.0)}
    assert lexirecall.evaluate(qrels, run, ["RR"]).to_dict() == {"run": {"RR": 0.5}}
    with pytest.raises(RuntimeError, match="dictionary changed size during iteration"):
        lexirecall.evaluate({"q": Mutating(a=1)}, {"q": ["a"]}, ["RR"])


class Documents:
    """What LensKit's item lists have; an ordered one."""

    ordered = True

    def __init__(self, ids: list[Any]) -> None:
        self.given = np.array(ids)

    def __len__(self) -> int:
        return len(self.given)

    def ids(self) -> Any:
        """Return the ids as an array."""
        return self.given

    def field(self, _name: str) -> None:
        """Say that there is no such field."""


def test_ids_of_documents_in_lists_are_those_of_every_input() -> None:
    """Whole numbers become floats where one is missing, and are the same ids in the test data."""
    for output in ([7, 8], [7.0, 8.0], ["7", "8"]):
        assert project_list(Documents(output), Documents([8.0]), 1, None).found.positions.tolist() == [2]
    with pytest.raises(lexirecall.errors.FormatError, match="'None' is not a document id"):
        project_list(Documents([7, None]), Documents([8.0]), 1, None)


def test_an_error_of_the_call_or_of_the_program_stays_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate: Any = lexirecall.evaluate
    for arguments, options in (((), {}), ((QRELS, RUN), {"metrics": ["AP"]})):
        with pytest.raises(TypeError, match=r"^evaluate\(\)"):
            evaluate(*arguments, **options)

    for kind in (MemoryError, ZeroDivisionError, IndexError):

        def fail(*_arguments: Any, kind: type[Exception] = kind, **_options: Any) -> None:
            raise kind

        monkeypatch.setattr("lexirecall.verbs.evaluate.positions_of", fail)
        with pytest.raises(kind):
            lexirecall.evaluate(QRELS, RUN)


WRONG_TYPES: dict[str, tuple[Any, str]] = {
    "level": ("x", "level is 'x', but must be a number"),
    "depth": ("3", "depth is '3', but must be a whole number"),
    "depth, a truth value": (True, "depth is True, but must be a whole number"),
    "level, a truth value": (np.True_, r"level is (np\.)?True_?, but must be a number"),
    "strict": ("yes", "strict is 'yes', but must be True or False"),
    "judged_only, a number": (20, "judged_only is 20, but must be True or False"),
    "ties": (["trec"], r"ties is \['trec'\], but must be one of trec, input, worst, best, expected"),
    "columns, one without a name": ({"query": ""}, "columns: no column is named for query"),
    "columns": (["a"], r"columns is \['a'\], but must be a mapping from names"),
    "over": (3, "over is 3, but must be text, or several texts"),
    "bootstrap": ("5", "bootstrap is '5', but must be a whole number"),
}


@pytest.mark.parametrize("name", WRONG_TYPES)
def test_an_option_of_the_wrong_type_is_named(name: str) -> None:
    value, text = WRONG_TYPES[name]
    with pytest.raises(lexirecall.errors.UsageError, match=f"^{text}"):
        lexirecall.evaluate(QRELS, RUN, None, **{name.partition(",")[0]: value})
    assert lexirecall.evaluate(QRELS, RUN, ["AP"], depth=np.int64(3), level=np.float32(1), strict=np.bool_(False))


@pytest.mark.parametrize("limit", ["nan", "NaN", "inf", "-inf", "1e999", "much"])
def test_a_requirement_has_a_finite_limit(limit: str) -> None:
    with pytest.raises(LexirecallError, match="is not a finite number"):
        lexirecall.gate(QRELS, RUN, OTHER, require=f"AP>={limit}")


def test_a_gate_without_a_measure_is_refused() -> None:
    nothing: tuple[Any, ...] = ([], (), np.array([]))
    for none in nothing:
        with pytest.raises(LexirecallError, match="no measure is named"):
            lexirecall.gate(QRELS, RUN, OTHER, none)


def test_the_queries_of_one_run_are_no_stages() -> None:
    with pytest.raises(lexirecall.errors.UsageError, match="the stages hold no runs"):
        lexirecall.funnel(QRELS, {"q0": {"a": 1}, "q1": {"a": 1}})
