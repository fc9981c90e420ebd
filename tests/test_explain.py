"""Explanations: what they say is what the positions say, for every pair of rankings."""

import json
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from command import Outcome
from lexirecall import explain, project
from lexirecall.errors import UsageError
from lexirecall.strip import Strip
from lexirecall.tables import FORMATS
from strategies import LEVELS, Collection, collections, costly, quick

Command = Callable[..., Outcome]

QRELS = {
    "found": {"a": 1, "b": 1, "c": 0},
    "last": {"a": 1, "b": 2},
    "earlier": {"a": 1, "b": 1, "c": 1},
    "same": {"a": 1, "b": 1},
    "nothing": {"z": 1},
    "empty": {"a": 0},
}
NEW: dict[str, Any] = {
    "found": ["x", "a", "b"], "last": ["b", "x", "a"], "earlier": ["x", "a", "b", "y", "c"], "same": ["a", "b"],
    "nothing": ["q"], "empty": ["a"],
}  # fmt: skip
OLD: dict[str, Any] = {
    "found": ["a"], "last": ["a", "x", "y", "b"], "earlier": ["a", "x", "y", "b", "c"], "same": ["b", "a"],
    "nothing": ["q"], "empty": ["a"],
}  # fmt: skip


def explained(**conventions: Any) -> Any:
    return explain(QRELS, {"new": NEW, "old": OLD}, **conventions)


def test_every_reason_is_told_apart_and_the_weightiest_comes_first() -> None:
    explanation = explained()
    assert [(query.id, query.reason) for query in explanation.queries] == [
        ("found", "found"), ("last", "last"), ("earlier", "earlier"), ("same", "tie"), ("nothing", "tie"),
    ]  # fmt: skip
    assert explanation.counts == {"found": (1, 0), "last": (1, 0), "earlier": (1, 0), "tie": (2, 2)}


@pytest.mark.parametrize(
    ("query_name", "sentence"),
    [
        ("found", "new is preferred: it finds 2 of the 2 relevant documents, old 1; old lacks b."),
        ("last", "new is preferred: both find 2 of the 2 relevant documents and the last of them is at 3 in new "
                 "(a) and at 4 in old (b)."),
        ("earlier", "new is preferred: both find 3 of the 3 relevant documents, the last 1 at the same positions; "
                    "the one before is at 3 in new (b) and at 4 in old (b)."),
        ("same", "A tie: both runs have 2 of the 2 relevant documents, at the same positions."),
        ("nothing", "A tie: both runs find none of the 1 relevant document."),
    ],
)  # fmt: skip
def test_a_sentence_says_what_decides(query_name: str, sentence: str) -> None:
    assert explained().query(query_name).sentence() == sentence


def test_the_second_run_may_be_the_preferred_one() -> None:
    query = explain(QRELS, {"old": OLD, "new": NEW}).query("found")
    assert (query.preferred, query.sign, query.only_a, query.only_b) == ("new", -1, {}, {"b": 3})
    assert query.sentence() == "new is preferred: it finds 2 of the 2 relevant documents, old 1; old lacks b."


@given(collection=collections(max_runs=2), level=st.sampled_from(LEVELS))
@costly(150)
def test_an_explanation_agrees_with_the_definition(collection: Collection, level: float) -> None:
    positions = project(collection.qrels, collection.runs)
    if len(positions.runs) < 2 or not positions.judgments.num_relevant(level).any():
        return
    for query in explain(positions, level=level).queries:
        judged = collection.qrels[query.id]
        vectors, found = [], []
        for side in (query.a, query.b):
            order = naive.ranked([*collection.runs[side.run].get(query.id, {}).items()], judged)
            vectors.append(naive.Case(naive.grades_shown(order, judged), judged, level).positions)
            found.append({document: p for p, document in enumerate(order, 1) if judged.get(document, 0) >= level})
            assert side.found == found[-1]
            assert {*side.found, *side.missing} == {document for document, grade in judged.items() if grade >= level}
        assert query.sign == naive.lexirecall(*vectors)
        assert query.only_a == {document: p for document, p in found[0].items() if document not in found[1]}
        assert query.only_b == {document: p for document, p in found[1].items() if document not in found[0]}
        if query.level is not None:
            assert vectors[0][query.level :] == vectors[1][query.level :]
            assert vectors[0][query.level - 1] != vectors[1][query.level - 1]
            assert [row["level"] for row in query.rows() if row["decides"]] == [query.level]


@given(collection=collections(max_runs=2), level=st.sampled_from(LEVELS))
@costly(150)
def test_what_a_run_is_said_to_lack_is_what_the_other_finds(collection: Collection, level: float) -> None:
    positions = project(collection.qrels, collection.runs)
    if len(positions.runs) < 2 or not positions.judgments.num_relevant(level).any():
        return
    for query in explain(positions, level=level).queries:
        if query.reason != "found":
            continue
        better, worse = (query.a, query.b) if query.sign > 0 else (query.b, query.a)
        said = re.search(r" lacks (.+?)(?: and [\d,]+ more)?\.$", query.sentence())
        assert said
        cited = said[1].split(", ")
        assert all(document in better.found and document not in worse.found for document in cited)
        places = [better.found[document] for document in cited]
        only = sorted(better.found[document] for document in {*better.found} - {*worse.found})
        assert places == only[::-1][:3]  # the deepest decides


def test_documents_that_neither_run_finds_are_not_what_one_of_them_lacks() -> None:
    qrels = {"q": dict.fromkeys("abcdefgh", 1)}
    query = explain(qrels, {"new": {"q": ["g", "h", "f"]}, "old": {"q": ["h"]}}).query("q")
    assert query.sentence() == "new is preferred: it finds 3 of the 8 relevant documents, old 1; old lacks f, g."


def test_a_query_that_is_not_there_is_an_error_that_helps() -> None:
    with pytest.raises(UsageError, match=r"no query 'fuond'.*\n.*did you mean 'found'"):
        explained().query("fuond")
    with pytest.raises(UsageError, match="no query 'empty' with relevant documents"):
        explained().query("empty")


def test_queries_without_relevant_documents_are_ties_if_they_count() -> None:
    query = explained(no_relevant="zero").query("empty")
    assert (query.reason, query.num_relevant) == ("tie", 0)
    assert "find none of the 0 relevant documents" in str(query)


def test_with_intersection_only_common_queries_are_explained() -> None:
    fewer = {query: ranking for query, ranking in OLD.items() if query != "found"}
    assert "found" in [r.id for r in explain(QRELS, [NEW, fewer]).queries]
    both = explain(QRELS, [NEW, fewer], queries="intersection")
    assert "found" not in [r.id for r in both.queries]
    assert both.notes[0].kind == "unanswered"


def test_the_level_decides_what_is_explained() -> None:
    assert explained(level=2).query("last").sentence().startswith("new is preferred: both find 1 of the 1")


def test_expected_ties_have_nothing_to_explain() -> None:
    with pytest.raises(UsageError, match="no single order"):
        explained(ties="expected")


# The page


GOOD = {
    "qrels": "".join(f"{q} 0 {d} {g}\n" for q, judged in QRELS.items() for d, g in judged.items()).encode(),
    **{
        name: "".join(f"{q} Q0 {d} 0 {-i} t\n" for q, ranking in run.items() for i, d in enumerate(ranking)).encode()
        for name, run in (("new", NEW), ("old", OLD))
    },
}


def test_the_page_of_all_queries(command: Command) -> None:
    outcome = command("explain", "qrels", "new", "old")
    assert outcome.code == 0
    assert outcome.err.startswith("note: 1 query without a relevant document (empty): left out")
    assert (
        outcome.out
        == """\
new is preferred on 3 of 5 queries, old on 0, and 2 tie. What decides:

decided by          for new  for old
how many are found        1        0
the last one found        1        0
an earlier one            1        0

query    preferred  decided by          relevant  new finds  old finds  at level  new  old
found    new        how many are found         2          2          1         2    3    -
last     new        the last one found         2          2          2         2    3    4
earlier  new        an earlier one             3          3          3         2    3    4
same     -          nothing: they tie          2          2          2         -    -    -
nothing  -          nothing: they tie          1          0          0         -    -    -

new finds 1 relevant document that old does not:

query  document  position
found  b                3

old finds no relevant document that new does not.

Neither finds 1 of the 10 relevant documents.

One query in full: --query found
"""
    )


def test_the_page_of_one_query(command: Command) -> None:
    assert (
        command("explain", "qrels", "new", "old", "--query", "found").out
        == """\
Query found

new is preferred: it finds 2 of the 2 relevant documents, old 1; old lacks b.

position  1                                                       3
new       ───────────────────────────────────•────────────────────•
                                                                3 ▲
old       •                                                          1 missing

level  new     old
    2    3  b    -  -  decides
    1    2  a    1  a

new finds, and old does not: b (3)
"""
    )


def test_long_lists_are_cut_and_say_so(command: Command) -> None:
    outcome = command("explain", "qrels", "new", "old", "--limit", "2")
    assert "(3 more queries: --limit 0 shows all)" in outcome.out
    assert "same" not in outcome.out
    one = command("explain", "qrels", "new", "old", "--limit", "1", "--query", "earlier").out
    assert "(2 more levels: --limit 0 shows all)" in one
    assert "decides" in one


def test_rows_for_programs(command: Command) -> None:
    rows = [json.loads(line) for line in command("explain", "qrels", "new", "old", "-f", "jsonl").out.splitlines()]
    assert rows[0] == {
        "query": "found", "preferred": "new", "decided_by": "found", "level": 2, "num_relevant": 2, "found_a": 2,
        "found_b": 1, "position_a": 3, "position_b": None, "only_a": ["b"], "only_b": [],
    }  # fmt: skip
    assert len(rows) == 5
    tsv = command("explain", "qrels", "new", "old", "-f", "tsv").out.splitlines()
    assert tsv[1] == "found\tnew\tfound\t2\t2\t2\t1\t3\t\tb\t"
    levels = command("explain", "qrels", "new", "old", "--query", "last", "-f", "csv").out.splitlines()
    assert levels[1:] == ["last,2,3,a,4,b,True", "last,1,1,b,1,a,False"]
    for form in ("markdown", "latex"):
        assert "how many are found" in command("explain", "qrels", "new", "old", "-f", form).out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("qrels", "new", "old", "--query", "nope"), 2, "no query 'nope'"),
        (("qrels", "new"), 2, "there is only one run: new"),
        (("qrels", "new", "new"), 2, "same name"),
        (("qrels", "new", "old", "--imputation", "optimistic"), 2, "optimistic"),
        (("qrels", "-", "-"), 2, "only one file can be read from stdin"),
        (("qrels", "new", "gone"), 1, "gone"),
    ],
)
def test_bad_usage_is_an_error_without_a_result(
    command: Command, arguments: tuple[str, ...], code: int, message: str
) -> None:
    outcome = command("explain", *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert message in outcome.err


def test_an_id_cannot_draw_on_the_terminal() -> None:
    evil = "\x1b[31md"
    explanation = explain({"q": {evil: 1}}, {"\x1b[2Ja": {"q": [evil]}, "b": {"q": ["x"]}})
    assert "\x1b" not in str(explanation) + str(explanation.query("q"))


# The drawing


@given(deepest=st.integers(1, 10**7), width=st.integers(20, 200), data=st.data())
@quick(100)
def test_a_drawing_shows_every_document_once_and_in_order(deepest: int, width: int, data: st.DataObject) -> None:
    drawn = sorted(data.draw(st.sets(st.integers(1, deepest), max_size=9)))
    strip = Strip(deepest, width)
    line = strip.draw(np.array([*drawn, math.inf]), deepest)
    assert len(line) <= width
    assert sum({"•": 1}.get(mark) or int(mark) for mark in line if mark not in "─ ") == len(drawn)
    columns = strip.columns(np.array(drawn, float))
    assert (np.diff(columns) >= 0).all()
    for position in drawn:
        assert strip.pointer(position).index("▲") == strip.columns(np.array([float(position)]))[0]


def test_the_line_ends_where_the_list_does() -> None:
    strip = Strip(1000, 31)
    assert strip.draw(np.array([1.0, 10.0]), num_retrieved=100) == "•─────────•──────────"
    assert strip.draw(np.array([math.inf]), num_retrieved=0) == ""
    assert strip.draw(np.arange(90.0, 102.0), num_retrieved=1000)[20] == "#"
    assert strip.pointer(math.inf) == ""


WORDS = {
    "queries": {"found": "bears\nin woods", "last": "<b>&"},
    "documents": {"a": "an a \x1b[2J", "b": "| `b` *b* \u202e", "c": "=c"},
}


def test_texts_are_shown_beside_the_ids_and_are_whole_in_rows() -> None:
    explanation = explained(texts=WORDS)
    first = next(explanation.rows())
    assert (first["text"], first["only_a"], first["texts_a"]) == ("bears\nin woods", ["b"], ["| `b` *b* \u202e"])
    page = explanation.to_text()
    assert "  bears in woods\n" in page
    assert r"| `b` *b* \u202e" in page
    assert "3 of 5 queries have no text" in [note.text for note in explanation.notes]
    assert next(line for line in page.splitlines() if line.startswith("nothing ")).endswith(" -")


def test_texts_of_one_query_are_those_of_all_its_relevant_documents() -> None:
    query = explained(texts=WORDS).query("found")
    assert str(query).startswith("Query found: bears in woods\n")
    assert r"a         an a \x1b[2J" in str(query)
    assert [row["text_a"] for row in query.rows()] == ["| `b` *b* \u202e", "an a \x1b[2J"]
    assert [row["text_b"] for row in query.rows()] == [None, "an a \x1b[2J"]
    assert "text" not in explained().query("found").columns


def test_texts_of_units_are_those_of_the_documents_that_serve_them() -> None:
    units = {"a": "U", "b": "U", "c": "V"}
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    runs = {"new": {"q": ["b", "c"]}, "old": {"q": ["a"]}}
    explanation = explain(qrels, runs, units=units, texts={"documents": {"b": "of b", "c": "of c"}})
    assert next(explanation.rows())["texts_a"] == ["of c"]
    assert [row["text_a"] for row in explanation.query("q").rows()] == ["of c", "of b"]


def test_texts_of_the_queries_that_decide_a_measure() -> None:
    explanation = explained(measure="AP", texts=WORDS)
    assert {row["query"]: row["text"] for row in explanation.deciding.rows()}["last"] == "<b>&"
    assert "bears in woods" in str(explanation.deciding)


@pytest.mark.parametrize("form", [*FORMATS])
def test_no_format_repeats_a_text_that_could_do_harm(form: str) -> None:
    for made in (explained(texts=WORDS), explained(texts=WORDS, measure="AP"), explained(texts=WORDS).query("found")):
        result = made.render(form, raw=False)
        assert not set("\x1b\u202e") & set(result)
        assert "<b>" not in result or form in ("table", "tsv", "csv", "jsonl")
