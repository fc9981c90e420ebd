"""A funnel says what each stage hands on and where each relevant document is lost, as sets of documents say it."""

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import naive
from lexirecall import compare, evaluate, funnel, project, report
from lexirecall.errors import DataError, FormatError, UsageError
from lexirecall.gates.funnelfates import LOSSES
from lexirecall.gates.funnelstages import asked_stages
from lexirecall.page import Limits
from strategies import Collection, collections, quick

Depths = Sequence[int | None]
Lists = dict[str, list[list[str]]]
"""Of each query that counts, the list of each stage."""


def lists_of(collection: Collection, *, answered_by_all: bool) -> Lists:
    """Order the documents of each stage, for the queries that count; one that is not answered has none."""
    lists: Lists = {}
    for query, grades in collection.qrels.items():
        is_answered = all(query in run for run in collection.runs.values())
        if any(grade >= 1 for grade in grades.values()) and (is_answered or not answered_by_all):
            lists[query] = [
                naive.ranked([*run.get(query, {}).items()], grades) for run in collection.runs.values()
            ]  # fmt: skip
    return lists


def relevant_of(collection: Collection, query: str) -> set[str]:
    return {document for document, grade in collection.qrels[query].items() if grade >= 1}


def named(runs: Mapping[str, Any], depths: Depths) -> dict[str, Any]:
    """Return the stages, their depths in their names."""
    return {
        name if depth is None else f"{name}@{depth}": run
        for (name, run), depth in zip(runs.items(), depths, strict=False)
    }


depths_of_stages = st.lists(st.none() | st.integers(1, 5), min_size=3, max_size=3)


@quick(120)
@given(collection=collections(max_runs=3), depths=depths_of_stages, queries=st.sampled_from(["all", "intersection"]))
def test_losses_are_what_sets_of_documents_say(collection: Collection, depths: Depths, queries: str) -> None:
    lists = lists_of(collection, answered_by_all=queries == "intersection")
    stages = named(collection.runs, depths)
    depths = depths[: len(stages)]
    if not lists:
        with pytest.raises(DataError):
            funnel(collection.qrels, stages, queries=queries)
        return
    made = funnel(collection.qrels, stages, queries=queries)
    names = [stage.name for stage in made.stages]
    fates = {
        (query, document): naive.fate(document, of_stages, depths)
        for query, of_stages in lists.items()
        for document in relevant_of(collection, query)
    }
    lost = {key: fate for key, fate in fates.items() if fate[0] != "kept"}
    assert {(loss.query, loss.document): (loss.kind, loss.stage) for loss in made.losses} == {
        key: (kind, None if stage is None else names[stage]) for key, (kind, stage) in lost.items()
    }
    assert len(made.losses) == len(lost)
    for loss in made.losses:
        places = [naive_place(loss.document, documents) for documents in lists[loss.query]]
        assert list(loss.positions) == places
        assert loss.position == next((place for place in reversed(places) if place is not None), None)
    elsewhere = {
        (query, document, names[stage])
        for query, of_stages in lists.items()
        for stage, those in enumerate(naive.from_elsewhere(relevant_of(collection, query), of_stages, depths))
        for document in those
    }
    assert {(each.query, each.document, each.stage) for each in made.arrivals} == elsewhere
    assert (made.num_queries, made.num_relevant) == (len(lists), len(fates))
    for place, stage in enumerate(made.stages):
        here = Counter(kind for kind, lost_at in lost.values() if (lost_at or 0) == place)
        assert stage.lost == {kind: here[kind] for kind in LOSSES}
        assert stage.entered == sum(name == stage.name for _, _, name in elsewhere)
    assert sum(sum(stage.lost.values()) for stage in made.stages) + made.stages[-1].found == made.num_relevant


def naive_place(document: str, documents: list[str]) -> int | None:
    return documents.index(document) + 1 if document in documents else None


@quick(80)
@given(collection=collections(max_runs=3), depths=depths_of_stages)
def test_ceilings_are_those_of_a_perfect_order_of_what_is_handed_on(collection: Collection, depths: Depths) -> None:
    lists = lists_of(collection, answered_by_all=False)
    if not lists:
        return
    made = funnel(collection.qrels, named(collection.runs, depths))
    perfect: dict[str, dict[str, list[str]]] = {stage.name: {} for stage in made.stages}
    for query, of_stages in lists.items():
        relevant = relevant_of(collection, query)
        for stage, documents, depth in zip(made.stages, of_stages, depths, strict=False):
            perfect[stage.name][query] = sorted(documents[:depth], key=lambda document: document not in relevant)
    qrels = {query: collection.qrels[query] for query in lists}
    scores = evaluate(qrels, perfect, ["SetR", "All@1000"])
    assert [[stage.recall, stage.all] for stage in made.stages] == scores.means.tolist()
    for place, stage in enumerate(made.stages):
        assert stage.distinct == sum(len(of[place]) for of in lists.values()) / len(lists)
        assert stage.handed_on == sum(len(of[place][: depths[place]]) for of in lists.values()) / len(lists)
        assert stage.read == stage.distinct
        if place:
            before = {name: perfect[name] for name in (stage.name, made.stages[place - 1].name)}
            [pair] = compare(qrels, before, ["LexiRecall"], correction="none").rows()
            sign = 1 if pair["a"] == stage.name else -1
            assert made.preference(place) == pytest.approx(sign * pair["mean"])


@quick(60)
@given(collection=collections(max_runs=3), depth=st.none() | st.integers(1, 6), cut=st.none() | st.integers(1, 4))
def test_several_searches_are_one_stage_in_the_order_of_the_calls(
    collection: Collection, depth: int | None, cut: int | None
) -> None:
    calls = list(collection.runs.values())
    lists = lists_of(collection, answered_by_all=False)
    if not lists:
        return
    name = "agent" if depth is None else f"agent@{depth}"
    made = funnel(collection.qrels, {name: calls}, depth=cut)
    union = {
        query: list(dict.fromkeys(document for documents in of_calls for document in documents[:cut]))
        for query, of_calls in lists.items()
    }
    qrels = {query: collection.qrels[query] for query in lists}
    expected = funnel(qrels, {name: union})
    assert [loss[:2] for loss in made.losses] == [loss[:2] for loss in expected.losses]
    assert made.stages[0]._replace(read=0) == expected.stages[0]._replace(read=0)
    num_read = sum(len(documents[:cut]) for of_calls in lists.values() for documents in of_calls)
    assert made.stages[0].read == num_read / len(lists)


QRELS = {"q1": {"a": 1, "b": 1, "c": 1, "e": 1}, "q2": {"d": 1}, "q3": {"f": 1, "g": 1}}
FIRST = {"q1": ["x", "a", "y", "b"], "q2": ["d"], "q3": ["f"]}
SECOND = {"q1": ["x", "y", "a", "e"], "q2": ["d"], "q3": ["f", "g"]}
STAGES = {"first@3": FIRST, "second@2": SECOND}


def test_the_worst_query_comes_first_and_within_it_what_is_lost_first() -> None:
    made = funnel(QRELS, STAGES)
    assert [(loss.query, loss.document, loss.kind, loss.stage) for loss in made.losses] == [
        ("q1", "c", "never", None),
        ("q1", "b", "cut", "first@3"),
        ("q1", "a", "pushed_down", "second@2"),
        ("q1", "e", "cut", "second@2"),
    ]
    assert [(each.query, each.document, each.stage) for each in made.arrivals] == [
        ("q1", "e", "second@2"),
        ("q3", "g", "second@2"),
    ]
    assert [note.kind for note in made.notes] == ["from elsewhere"]
    equal = funnel({"q1": {"a": 1}, "q2": {"a": 1, "b": 1}, "q3": {"a": 1}}, [{"q1": ["x"], "q2": ["x"], "q3": ["x"]}])
    assert [loss.query for loss in equal.losses] == ["q2", "q2", "q1", "q3"]
    half = funnel({"q1": {"a": 1, "b": 1, "c": 1, "d": 1}, "q2": {"a": 1}}, [{"q1": ["a", "b"], "q2": ["x"]}])
    assert [loss.query for loss in half.losses] == ["q2", "q1", "q1"]


def test_a_document_that_is_lifted_but_stays_below_the_depth_is_cut_and_not_pushed_down() -> None:
    made = funnel({"q": {"a": 1}}, {"first": {"q": ["x", "y", "z", "a"]}, "second@2": {"q": ["x", "y", "a"]}})
    assert [(loss.kind, loss.stage, loss.positions) for loss in made.losses] == [("cut", "second@2", (4, 3))]


def test_a_query_without_a_relevant_document_counts_if_asked_to() -> None:
    qrels = {**QRELS, "q4": {"z": 0}}
    made, zero = funnel(qrels, STAGES), funnel(qrels, STAGES, no_relevant="zero")
    assert (made.num_queries, zero.num_queries) == (3, 4)
    assert zero.stages[0].recall * 4 == pytest.approx(made.stages[0].recall * 3)
    assert zero.stages[0].all * 4 == pytest.approx(made.stages[0].all * 3)


def test_positions_are_taken_in_the_place_of_judgments() -> None:
    positions = project(QRELS, {"first": FIRST, "second": SECOND})
    made, expected = funnel(positions, ["first@3", "second@2"]), funnel(QRELS, STAGES)
    assert (made.stages, made.losses, made.arrivals) == (expected.stages, expected.losses, expected.arrivals)
    assert [stage.name for stage in funnel(positions).stages] == ["first", "second"]
    with pytest.raises(UsageError, match="the positions have no run 'third', 'fourth'\n  the runs are first, second"):
        funnel(positions, ["third@3", "fourth"])
    with pytest.raises(UsageError, match="stages hold more than names"):
        funnel(positions, [FIRST])
    with pytest.raises(UsageError, match="ties is 'best'"):
        funnel(positions, ties="best")


def test_units_pass_through_a_funnel() -> None:
    units = {"a": "U", "b": "U", "c": "V", "d": "W", "e": "X", "f": "Y", "g": "Z"}
    made = funnel(QRELS, {"first@1": FIRST, "second@2": SECOND}, units=units, judged="documents")
    assert (made.noun, made.num_relevant) == ("unit", 6)
    assert ("q1", "U", "cut", "second@2") in [loss[:4] for loss in made.losses]
    joined = funnel(QRELS, {"both": [FIRST, SECOND]}, units=units, judged="documents", count="units")
    assert [loss.document for loss in joined.losses] == ["V"]


def test_files_of_runs_and_of_positions_are_stages(tmp_path: Path) -> None:
    project(QRELS, {"kept": FIRST}).save(tmp_path / "kept.parquet")
    (tmp_path / "second.json").write_text(json.dumps(SECOND))
    first, second = str(tmp_path / "kept.parquet"), str(tmp_path / "second.json")
    made = funnel(QRELS, [f"{first}@3", f"{second}@2"])
    assert [stage.name for stage in made.stages] == ["kept.parquet@3", "second.json@2"]
    assert [loss[:3] for loss in made.losses] == [loss[:3] for loss in funnel(QRELS, STAGES).losses]
    with pytest.raises(FormatError, match=r"kept.parquet: a positions file holds where the judged documents are"):
        funnel(QRELS, [f"{first}+{second}"])


# How stages are written


def test_signs_in_the_name_of_a_file_belong_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a+b.run", "c.run", "d@3", "a", "b.run"):
        Path(name).write_text("")
    texts = ["a+b.run", "a+b.run+c.run@7", "d@3", "d@3@2", "c.run+a", "x+y", "@3"]
    assert [stage[1:] for stage in asked_stages(texts)] == [
        (("a+b.run",), None),
        (("a+b.run", "c.run"), 7),
        (("d@3",), None),
        (("d@3",), 2),
        (("c.run", "a"), None),
        (("x", "y"), None),
        (("@3",), None),
    ]


def test_stages_are_named_by_their_files_and_depths() -> None:
    asked = asked_stages(["runs/bm25.run.gz@1000", "-@9", "a.run@x"], stdin_name="piped")
    assert [stage.name for stage in asked] == ["bm25.run@1000", "piped@9", "a.run@x"]
    assert [stage.name for stage in asked_stages([FIRST, (FIRST, SECOND)])] == ["stage1", "stage2"]
    assert [stage[::2] for stage in asked_stages({"one": "a.run@5", "two@4": FIRST})] == [("one@5", 5), ("two@4", 4)]
    assert [stage[::2] for stage in asked_stages({"one@5": "a.run@5"})] == [("one@5", 5)]


@pytest.mark.parametrize(
    ("stages", "problem"),
    [
        ([], "no stages are given"),
        (None, "no stages are given"),
        (7, "stages is of type int"),
        ("a.run@0", "stage 'a.run@0': the depth is 0"),
        ("a.run+", "stage 'a.run+' has no run before or behind a +"),
        (["a.run", "b/a.run"], "two runs have the same name: 'a.run' (a.run and b/a.run)"),
        ({"one@3": "a.run@4"}, "stage 'one@3' hands on 3 documents by its name and 4 by its run"),
        ({"one": []}, "a stage has no runs"),
    ],
)
def test_stages_that_make_no_sense_are_refused(stages: Any, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        funnel(QRELS, stages)
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"ties": "expected"}, "ties='expected' has no single order to show"),
        ({"imputation": "optimistic"}, "optimistic imputation shows documents"),
        ({"engine": "duckdb"}, "engine is 'duckdb', which finds positions, but whole lists are needed"),
        ({"stdin_name": "piped"}, "stdin is called 'piped', but no run is read from it"),
    ],
)
def test_what_a_funnel_cannot_do_is_refused_before_anything_is_read(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        funnel("no such file", ["a.run+b.run"], **options)


def test_a_call_without_any_judged_query_is_an_error_that_names_it() -> None:
    with pytest.raises(DataError, match=r"no query in common with the judgments: stage2 \(call 2\)"):
        funnel(QRELS, [[FIRST, {"q9": ["a"]}]])


def test_no_query_with_a_relevant_document_is_an_error() -> None:
    with pytest.raises(DataError, match="no query has a relevant document"):
        funnel({"q": {"a": 0}}, [{"q": ["a"]}])
    with pytest.raises(DataError, match="no query with a relevant document is answered by every stage"):
        funnel(QRELS, [{"q1": ["a"]}, {"q2": ["d"]}], queries="intersection")


# What is printed


def test_every_row_says_its_kind_and_every_lost_document_has_one() -> None:
    made = funnel(QRELS, STAGES)
    rows = [json.loads(line) for line in made.render("jsonl").splitlines()]
    assert Counter(row["kind"] for row in rows) == {"stage": 2, "loss": len(made.losses), "entry": len(made.arrivals)}
    assert rows[0] == {
        "kind": "stage", "stage": "first@3", "depth": 3, "queries": 3, "relevant": 7, "found": 3,
        "R": pytest.approx((1 / 4 + 1 + 1 / 2) / 3), "All": pytest.approx(1 / 3), "LexiRecall": None, "better": None,
        "worse": None, "never": 1, "cut": 1, "pushed_down": 0, "dropped": 0, "entered": 0, "read": 2.0, "distinct": 2.0,
        "handed_on": pytest.approx(5 / 3),
    }  # fmt: skip
    assert rows[2] == {
        "kind": "loss", "query": "q1", "document": "c", "loss": "never", "stage": None, "position": None,
        "positions": [None, None],
    }  # fmt: skip


HOSTILE = "<b>|`x`\x1b[31m\u202e=1+1&\n[a](b)"


def read_back(text: str, form: str) -> list[dict[str, Any]]:
    if form == "jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter="\t" if form == "tsv" else ","))


@pytest.mark.parametrize("form", ["table", "tsv", "csv", "jsonl", "markdown", "latex", "html"])
def test_hostile_ids_and_texts_are_only_text(form: str) -> None:
    qrels, run = {HOSTILE: {HOSTILE: 1, "b": 1}}, {HOSTILE: ["b"]}
    texts = {"queries": {HOSTILE: HOSTILE}, "documents": {HOSTILE: HOSTILE}}
    made = funnel(qrels, {f"{HOSTILE}@1": run, "x": {HOSTILE: ["b", HOSTILE]}, "y": run}, texts=texts)
    assert [loss.document for loss in made.losses] == [HOSTILE]
    text = made.render(form, raw=True)
    if form in ("tsv", "csv", "jsonl"):
        rows = read_back(text, form)
        assert {row["document"] for row in rows if row["kind"] != "stage"} == {HOSTILE}
        assert {row["document_text"] for row in rows if row["kind"] != "stage"} == {HOSTILE}
        return
    assert "\x1b" not in text
    assert "\u202e" not in text
    if form == "html":
        assert "<b>" not in text
    if form == "markdown":
        page = MarkdownIt("commonmark").enable("table").render(text)
        assert "<a " not in page
        assert "<b>" not in page
        assert {line.replace(r"\|", "").count("|") for line in text.splitlines() if line} <= {10, 8, 9}


def test_texts_are_shown_beside_ids_and_missing_ones_are_noted() -> None:
    texts = {"queries": {"q1": "what is it"}, "documents": {"a": "alpha " * 50, "b": "beta"}}
    made = funnel(QRELS, {"first@3": FIRST}, texts=texts)
    assert made.losses[0].query == "q1"
    shown = made.to_text()
    assert "what is it" in shown
    assert "beta" in shown
    rows = [json.loads(line) for line in made.render("jsonl").splitlines()]
    assert {row["document"]: row["document_text"] for row in rows if row["kind"] == "loss"}["b"] == "beta"
    assert "document without a text" in [note.kind for note in made.notes]
    table = made.lost()
    assert table.header[table.numbers_from] == "in first@3"
    assert [table.header[at] for at in sorted(table.texts)] == ["text of query", "text of document"]


def test_tables_are_cut_and_say_so() -> None:
    made = funnel(QRELS, STAGES)
    shown = made.to_text(limit=1)
    assert "(3 more documents: --limit 0 shows all)" in shown
    assert "more" not in made.to_text(limit=0)
    assert str(made).endswith(made.notes[-1].text)
    assert repr(made) == "<Funnel: 2 stages, 4 of 7 relevant documents lost>"


# On the page


def test_the_page_has_the_stages_and_the_first_lost_documents() -> None:
    made = funnel(QRELS, STAGES, texts={"documents": {"a": "alpha"}})
    page = report(QRELS, {"first": FIRST}, "AP", output=None, funnel=made, limits=Limits(lost=3))
    shown = page.payload["funnel"]
    assert [stage["name"] for stage in shown["stages"]] == [stage.name for stage in made.stages]
    assert [stage["lost"] for stage in shown["stages"]] == [list(stage.lost.values()) for stage in made.stages]
    assert [(each["query"], each["document"]) for each in shown["losses"]] == [loss[:2] for loss in made.losses[:3]]
    assert [each.get("text") for each in shown["losses"]] == [None, None, "alpha"]
    assert shown["totals"] == [len(made.losses), len(made.arrivals)]
    assert [page.payload["queries"][each["place"]] for each in shown["losses"]] == ["q1"] * 3
    assert "from elsewhere" in [note.kind for note in page.notes]
    assert "funnel" not in report(QRELS, {"first": FIRST}, "AP", output=None).payload


def test_the_page_takes_nothing_else_for_a_funnel() -> None:
    wrong: Any = [FIRST]
    with pytest.raises(UsageError, match=r"funnel is of type list, but must be what lexirecall.funnel returns"):
        report(QRELS, {"first": FIRST}, "AP", output=None, funnel=wrong)


def test_the_depth_of_a_stage_is_at_its_end(tmp_path: Path) -> None:
    for name in ("a.run", "b.run"):
        (tmp_path / name).write_text("q Q0 d 1 1 t\n")
    with pytest.raises(UsageError, match=r"'.*a.run@5' has a depth of its own"):
        asked_stages([f"{tmp_path / 'a.run'}@5+{tmp_path / 'b.run'}"])
    (tmp_path / "a.run@5").write_text("q Q0 d 1 1 t\n")
    assert len(asked_stages([f"{tmp_path / 'a.run'}@5+{tmp_path / 'b.run'}"])[0].runs) == 2
