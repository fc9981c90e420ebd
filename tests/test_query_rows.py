"""Rows of JSON, each about one query: every form means what {query: documents} means, and what is unclear is asked."""

import contextlib
import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from command import Command
from lexirecall import evaluate, load_judgments, project
from lexirecall.errors import DataError, FormatError, LexirecallError, UsageError
from lexirecall.formats.rowforms import DOCUMENT_IDS, FORMS, QUERY_IDS, found_at
from pages import DOCS
from strategies import quick
from test_bad_input import assert_refused
from test_frames import seen

GOOD: dict[str, bytes] = {}
Lists = dict[str, list[str]]
"""The documents of each query."""

HOSTILE = ("a", "b", "</script>", "a|b", "**x**", "\u202eabc", "\x1b[31m", "é", "two words", "7", "=1+1", "\u2028")


def objects(ids: list[str]) -> list[dict[str, str]]:
    return [{"id": each, "page_content": "text"} for each in ids]


WRITERS: dict[str, Callable[[str, list[str], list[str]], dict[str, Any]]] = {
    "ragas": lambda query, judged, ranked: {
        "user_input": query, "reference_context_ids": judged, "retrieved_context_ids": ranked, "response": "…",
    },
    "LlamaIndex": lambda query, judged, ranked: {
        "query": query, "expected_ids": judged, "retrieved_ids": ranked, "retrieved_texts": ["…"], "mode": "text",
    },
    "LangSmith": lambda query, judged, ranked: {
        "inputs": {"question": query}, "outputs": {"answer": "…", "documents": objects(ranked)},
        "reference_outputs": {"document_ids": judged, "answer": "…"},
    },
    "DeepEval": lambda query, judged, ranked: {
        "input": query, "context": objects(judged), "retrieval_context": objects(ranked), "actual_output": "…",
    },
    "LongMemEval": lambda query, judged, ranked: {
        "question_id": query, "question": "…", "answer_session_ids": judged, "haystack_session_ids": [*judged, "x"],
        "haystack_sessions": [[{"role": "user", "content": "…"}]],
        "retrieval_results": {"query": "…", "ranked_items": [{"corpus_id": each, "text": "…"} for each in ranked]},
    },
    "TREC RAG 2024": lambda query, _, ranked: {
        "run_id": "mine", "topic_id": query, "topic": "…", "references": ranked,
        "answer": [{"text": "…", "citations": [0]}],
    },
    "TREC RAG 2025": lambda query, _, ranked: {
        "metadata": {"team_id": "us", "run_id": "mine", "narrative_id": query, "narrative": "…"},
        "references": ranked, "answer": [{"text": "…", "citations": [0]}],
    },
}  # fmt: skip
"""How each form writes a query with the documents that it needs and those that were retrieved."""
BOTH = [name for name in WRITERS if not name.startswith("TREC")]


def rows(form: str, judged: Lists, ranked: Lists) -> list[dict[str, Any]]:
    return [WRITERS[form](query, judged[query], ranked[query]) for query in judged]


def lines(content: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in content)


SHAPES: dict[str, Callable[[list[dict[str, Any]]], str]] = {
    "lines": lines,
    "blank lines": lambda content: "\ufeff\n" + lines(content).replace("\n", "\r\n\r\n"),
    "list": json.dumps,
    "indented list": lambda content: json.dumps(content, indent=2),
    "under a key": lambda content: json.dumps({"version": 2, "tags": ["x"], "data": content}),
    "beside other rows": lambda content: json.dumps({"results": content, "log": [{"time": 3}]}),
}


def written(path: Path, content: str) -> str:
    path.write_text(content, encoding="utf-8", newline="")
    return str(path)


JUDGED: Lists = {"why?": ["a", "b"], "how?": ["c"], "when?": ["d", "e", "f"]}
RANKED: Lists = {"why?": ["x", "a", "b"], "how?": ["c", "y"], "when?": ["f", "z"]}


def grades(judged: Lists) -> dict[str, dict[str, int]]:
    return {query: dict.fromkeys(ids, 1) for query, ids in judged.items()}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", BOTH)
def test_a_file_of_rows_is_judgments_and_run(form: str, shape: str, tmp_path: Path) -> None:
    file = written(tmp_path / "rows", SHAPES[shape](rows(form, JUDGED, RANKED)))
    expected = seen(project(grades(JUDGED), {"rows": RANKED}))
    assert seen(project(file)) == seen(project(file, file)) == seen(project(file, [])) == expected
    assert seen(project(grades(JUDGED), {"rows": file})) == expected
    assert seen(project(load_judgments(file), {"rows": RANKED})) == expected


@pytest.mark.parametrize("form", WRITERS)
def test_rows_are_a_run_beside_other_judgments(form: str, tmp_path: Path) -> None:
    file = written(tmp_path / "rows", lines(rows(form, JUDGED, RANKED)))
    assert seen(project(grades(JUDGED), file)) == seen(project(grades(JUDGED), {"rows": RANKED}))


def test_what_an_answer_cites_is_a_run_if_the_user_says_so(tmp_path: Path) -> None:
    answer = [{"text": "…", "citations": ["x", "b"]}, {"text": "…"}, {"text": "…", "citations": ["a", "x"]}]
    row = {"topic_id": "q", "run_id": "mine", "references": ["a", "b"], "answer": answer}
    file, columns = written(tmp_path / "rag.jsonl", lines([row])), {"run.document": "answer[].citations[]"}
    assert project({"q": {"a": 1}}, file).found.positions.tolist() == [1]
    assert project({"q": {"a": 1}}, file, columns=columns, duplicates="first").found.positions.tolist() == [3]


ids = st.lists(st.sampled_from(HOSTILE), unique=True, max_size=6)


@quick(20)
@given(queries=st.dictionaries(st.sampled_from(HOSTILE), st.tuples(ids, ids), min_size=1, max_size=4), data=st.data())
def test_every_form_means_what_a_mapping_means(
    queries: Mapping[str, tuple[list[str], list[str]]], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    judged = {query: pair[0] for query, pair in queries.items()}
    ranked = {query: pair[1] for query, pair in queries.items()}
    if not any(judged.values()) or not any(ranked.values()):  # a list of nothing looks like no list of documents
        return
    form, shape = data.draw(st.sampled_from(BOTH)), data.draw(st.sampled_from([*SHAPES]))
    file = written(tmp_path_factory.mktemp("forms") / "rows", SHAPES[shape](rows(form, judged, ranked)))
    assert seen(project(file)) == seen(project(grades(judged), {"rows": ranked}))


def test_every_form_has_a_writer() -> None:
    assert {form.name for form in FORMS} == {*WRITERS, "LoCoMo"}


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_rows_may_be_packed(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl.gz").write_bytes(pack(lines(rows("ragas", JUDGED, RANKED)).encode()))
    assert project(tmp_path / "rows.jsonl.gz").runs == ("rows.jsonl",)


def test_rows_may_come_from_a_pipe(command: Command) -> None:
    stdin = lines(rows("ragas", JUDGED, RANKED)).encode()
    outcome = command("eval", "-", "-m", "RR", "-f", "tsv", stdin=stdin)
    assert outcome.out.splitlines()[1].startswith("-\tall\tRR\t0.8333")
    outcome = command("eval", "-", "-m", "RR", "-f", "tsv", "--stdin-name", "new", stdin=stdin)
    assert outcome.out.splitlines()[1].startswith("new\tall\tRR\t0.8333")
    outcome = command("eval", "-", "a.json", "-m", "RR", "-f", "tsv", stdin=stdin, **{"a.json": b'{"why?": ["a"]}'})
    assert outcome.out.splitlines()[1].startswith("a.json\tall\tRR\t0.3333")
    assert_refused(command("eval", "missing.jsonl"), "missing.jsonl: no such file")


def test_one_row_is_a_file(tmp_path: Path) -> None:
    file = written(tmp_path / "rows.jsonl", json.dumps(WRITERS["LlamaIndex"]("why?", ["a"], ["a"])))
    assert evaluate(file, measures=["R@1"]).to_dict() == {"rows.jsonl": {"R@1": 1.0}}


def test_a_conversation_holds_many_queries(tmp_path: Path) -> None:
    """LoCoMo: the questions are in a list within each conversation."""
    content: list[dict[str, Any]] = [
        {
            "sample_id": f"conv-{number}",
            "conversation": {"session_1": [{"dia_id": "D1:1", "text": "…"}]},
            "qa": [
                {"question": "why?", "evidence": ["D1:1"], "category": 1, "gpt-3.5_context": ["D1:2", "D1:1"]},
                {"question": "how?", "evidence": [], "category": 5, "gpt-3.5_context": ["D1:2"]},
            ],
        }
        for number in (1, 2)
    ]
    file = written(tmp_path / "locomo.json", json.dumps(content))
    positions = project(file)
    assert positions.queries == ("conv-1:1", "conv-1:2", "conv-2:1", "conv-2:2")
    assert positions.found.positions.tolist() == [2, 2]
    alone = written(tmp_path / "one.json", json.dumps(content[0]))
    assert project(alone).queries == ("conv-1:1", "conv-1:2")
    content[0]["qa"][0]["bm25_context"] = ["D1:1"]
    file = written(tmp_path / "two.json", json.dumps(content))
    with pytest.raises(FormatError, match=r"may be under 'gpt-3\.5_context' or 'bm25_context'"):
        project(file)
    with pytest.raises(FormatError, match=r"row 1: expected objects under 'qa', found '3'"):
        project(written(tmp_path / "odd.json", json.dumps([{"qa": [3]}])))
    assert project(file, columns={"run.document": "bm25_context"}).found.positions.tolist() == [1]


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ([{"citations": ["a"]}, {"citations": "b"}], "'b'"),
        ([{"citations": ["a"]}, {"citations": 7}], "'7'"),
        ([{"citations": ["a"]}, "b"], "'b'"),
        ("b", "'b'"),
    ],
)
def test_what_a_path_leads_to_is_a_list_or_an_error(tmp_path: Path, answer: Any, found: str) -> None:
    file = written(tmp_path / "rag.jsonl", lines([{"topic_id": 1, "answer": answer}]))
    with pytest.raises(FormatError, match=f"expected a list of documents under 'answer.*', found .*{found}"):
        evaluate({1: {"a": 1, "b": 1}}, file, "AP", columns={"run.document": "answer[].citations[]"})


def test_conversations_without_ids_are_told_apart_by_their_questions_and_never_by_their_place(tmp_path: Path) -> None:
    """Two files of the same conversations may have them in another order."""
    content = [{"qa": [{"question": name, "evidence": [name], "x_context": [name]}]} for name in ("why?", "how?")]
    qrels = written(tmp_path / "qrels.json", json.dumps(content))
    for row in content:
        del row["qa"][0]["evidence"]
    run = written(tmp_path / "run.json", json.dumps(content[::-1]))
    assert evaluate(qrels, run, measures=["AP"]).to_dict() == {"run.json": {"AP": 1.0}}
    again = written(tmp_path / "again.json", json.dumps([content[0], content[0]]))
    with pytest.raises(FormatError, match="the rows have no id of their query, and 2 rows have the text"):
        evaluate(qrels, again, measures=["AP"])


def test_ids_take_precedence_over_words_and_numbers_are_the_last_resort(tmp_path: Path) -> None:
    row = WRITERS["LlamaIndex"]("why?", ["a"], ["a"])
    file = written(tmp_path / "ids.jsonl", lines([{**row, "query_id": 7}, {**row, "query_id": 8}]))
    assert evaluate(file, measures=["R@1"]).to_dict(per_query=True).keys() == {"ids.jsonl"}
    assert project(file).queries == ("7", "8")
    assert load_judgments(file).query_type == "int64"
    assert not evaluate(file, measures=["R@1"]).notes
    file = written(tmp_path / "words.jsonl", lines([row, row]))
    assert project(file).queries == ("1", "2")
    (note,) = evaluate(file, measures=["R@1"]).notes
    assert "2 rows have the text 'why?': each query is called by the number of its row" in note.text
    file = written(tmp_path / "turns.jsonl", lines([{**WRITERS["ragas"]("", ["a"], ["a"]), "user_input": [{"a": 1}]}]))
    (note,) = evaluate(file, measures=["R@1"]).notes
    assert "its text is missing" in note.text


def test_a_run_is_not_called_by_numbers_of_rows(tmp_path: Path) -> None:
    row = {"query": "why?", "retrieved_ids": ["a"]}
    file = written(tmp_path / "rows.jsonl", lines([row, row]))
    with pytest.raises(
        FormatError, match=r"2 rows have the text 'why\?'\n  name a key of ids, as in .* --columns query=KEY"
    ):
        project({"1": {"a": 1}}, file)


def test_nothing_about_a_side_is_not_an_empty_side(tmp_path: Path) -> None:
    content: list[dict[str, Any]] = [
        {"query": "one", "expected_ids": ["a", "a"], "retrieved_ids": ["a"]},
        {"query": "two", "expected_ids": ["a"], "retrieved_ids": None},
        {"query": "three", "expected_ids": None, "retrieved_ids": ["a"]},
        {"query": "four", "expected_ids": [], "retrieved_ids": []},
    ]
    file = written(tmp_path / "rows.jsonl", lines(content))
    positions = project(file)
    assert positions.queries == ("one", "two", "four")
    assert positions.answered.tolist() == [[True, False, True]]
    kinds = {note.kind: note.text for note in evaluate(file, measures=["R@1"]).notes}
    assert kinds.keys() == {"unanswered", "without judgments", "no relevant document", "repeated judgments", "rows"}
    assert kinds["rows"].endswith("1 row without 'expected_ids': the query is not judged")


def test_grades_and_scores_may_be_given(tmp_path: Path) -> None:
    expected = seen(project({"q": {"a": 2, "b": 0}}, {"rows": {"q": {"x": 0.1, "a": 0.9}}}))
    file = written(
        tmp_path / "rows",
        lines([{"qid": "q", "expected_ids": {"a": 2, "b": 0}, "retrieved_ids": {"x": 0.1, "a": 0.9}}]),
    )
    assert seen(project(file)) == expected
    row = {"qid": "q", "gold": [{"d": "a", "g": 2}, {"d": "b", "g": 0}], "hits": ["x", "a"], "scores": [0.1, 0.9]}
    file = written(tmp_path / "rows", lines([row]))
    columns = {"qrels.document": "gold[].d", "qrels.grade": "gold[].g", "run.document": "hits", "run.score": "scores"}
    assert seen(project(file, columns=columns)) == expected


VALUED = {"qrels.document": "gold", "qrels.grade": "grades", "run.document": "hits", "run.score": "scores"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"grades": [1]},
            r"rows:1: expected a grade under 'grades' for each document, found '\[1\]'\n  both are lists",
        ),
        ({"grades": None}, "expected a grade under 'grades' for each document"),
        ({"gold": ["a", "a"]}, r"rows:1: document 'a' has two grades\n  remove one"),
        ({"hits": ["a", "a"], "scores": [1, 1]}, "document 'a' has two scores"),
        ({"scores": [1, "x"]}, "the score is not a number"),
    ],
)
def test_values_are_for_each_document(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    row = {"qid": "q", "gold": ["a", "b"], "grades": [1, 2], "hits": ["a", "b"], "scores": [1, 2]}
    file = written(tmp_path / "rows", lines([{**row, **change}, {**row, "qid": "r"}]))
    with pytest.raises(FormatError, match=said):
        project(file, columns=VALUED)


def test_equal_texts_are_the_same_document_if_the_user_says_so(tmp_path: Path, command: Command) -> None:
    row = {"user_input": "why?", "reference_contexts": ["Because."], "retrieved_contexts": ["Maybe.", "Because."]}
    file = written(tmp_path / "rows.jsonl", lines([row]))
    assert_refused(
        command("eval", file),
        "'reference_contexts' are texts, not ids",
        "=reference_contexts,run.document=retrieved_contexts, or",
    )
    columns = "qrels.document=reference_contexts,run.document=retrieved_contexts"
    outcome = command("eval", file, "-m", "RR", "--columns", columns, "-f", "tsv")
    assert (outcome.code, outcome.out) == (0, "run\tquery\tmeasure\tvalue\nrows.jsonl\tall\tRR\t0.5\n")


UNCLEAR: dict[str, tuple[list[Any], str]] = {
    "two lists": (
        [{"query": "q", "expected_ids": ["a"], "retrieved_ids": ["a"], "retrieved_context_ids": ["b"]}],
        r"retrieved documents may be under '\w+' or '\w+'\n  say which, .* --columns run.document=retrieved",
    ),
    "two ids": (
        [{"input": "q", "context": [{"id": 1, "doc_id": 2}], "retrieval_context": [{"id": 1}]}],
        r"relevant documents may be under 'context\[\].id' or 'context\[\].doc_id'",
    ),
    "no ids in common": (
        [{"input": "q", "context": [{"id": 1}, {"text": 2}], "retrieval_context": [{"id": 1}]}],
        r"have no key of ids in common, such as .*\n  name it, .* --columns qrels.document=context\[\].KEY",
    ),
    "no list": ([{"query": "q", "gold": ["a"]}], r"found no relevant documents in rows with the keys query, gold\n"),
    "no run": ([{"query": "q", "expected_ids": ["a"]}], r"found no retrieved documents in rows with the keys"),
    "a word": (
        [{"query": "q", "expected_ids": ["a"], "retrieved_ids": "a"}],
        r"rows.jsonl:1: expected a list of documents under 'retrieved_ids', found .*a.*\n  write a list",
    ),
    "a null": (
        [{"query": "q", "expected_ids": ["a"], "retrieved_ids": ["a", None]}],
        r"rows.jsonl:1: 'None' under 'retrieved_ids' is not a document id",
    ),
    "a list in a list": (
        [{"query": "q", "expected_ids": [["a"]], "retrieved_ids": ["a"]}],
        r"rows.jsonl:1: .* under 'expected_ids' is not a document id",
    ),
    "an id twice": (
        [{"qid": 1, "expected_ids": ["a"], "retrieved_ids": ["a"]}] * 2,
        r"rows.jsonl:2: query '1' has been on line 1 already",
    ),
    "an id missing": (
        [{"qid": 1, "expected_ids": ["a"], "retrieved_ids": ["a"]}, {"expected_ids": ["a"], "retrieved_ids": ["a"]}],
        r"rows.jsonl:2: no id of the query under 'qid', where other rows have one",
    ),
    "an odd id": (
        [{"qid": [1], "expected_ids": ["a"], "retrieved_ids": ["a"]}],
        r"rows.jsonl:1: '\[1\]' under 'qid' is not a query id",
    ),
    "a document twice": (
        [{"qid": 1, "expected_ids": ["a"], "retrieved_ids": ["a", "a"]}],
        r"document 'a' of query '1' is listed twice\n  remove one of them, or go on with --duplicates first",
    ),
}


@pytest.mark.parametrize("case", UNCLEAR)
def test_what_is_unclear_is_asked_for(case: str, tmp_path: Path, command: Command) -> None:
    content, said = UNCLEAR[case]
    more = [] if len(content) > 1 else [{key: "other" for key in content[0] if key in ("qid", "query", "input")}]
    assert_refused(command("eval", written(tmp_path / "rows.jsonl", lines([*content, *more]))), said)


def test_a_row_of_a_list_is_named_by_its_number(tmp_path: Path) -> None:
    content = [*rows("ragas", JUDGED, RANKED), {"user_input": "q", "reference_context_ids": [1.5]}]
    with pytest.raises(FormatError, match=r"rows: row 4: '1.5' under 'reference_context_ids' is not a document id"):
        project(written(tmp_path / "rows", json.dumps(content)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"query": "q"}\n{"query": \n', r"rows.jsonl:2: not valid JSON: .*query"),
        ('{"query": "q"}\n[1]\n', r"rows.jsonl:2: expected a JSON object, found '\[1\]'"),
        ('{"query": "q"}\n{"a": 1, "a": 2}\n', r"rows.jsonl:2: the key 'a' occurs twice"),
        ('{"query": "q"}\n{"a": ' + "[" * 100_000, "rows.jsonl:2: not valid JSON"),
        ("[]", "expected a JSON object, found a list"),
        ("[1, 2]", "expected a JSON object, found a list"),
        ('[{"query": "q"}, 3]', "expected a JSON object, found a list"),
        ('{"query": "\\ud800", "expected_ids": ["a"], "retrieved_ids": ["a"]}', "not valid Unicode"),
        ('{"query": "q", "expected_ids": ["\\ud800"], "retrieved_ids": ["a"]}', "not valid Unicode"),
    ],
)
def test_broken_rows_are_refused(text: str, said: str, tmp_path: Path, command: Command) -> None:
    assert_refused(command("eval", written(tmp_path / "rows.jsonl", text)), said)


def test_two_files_of_rows_are_two_runs_and_agree(tmp_path: Path, command: Command) -> None:
    old = written(tmp_path / "old.jsonl", lines(rows("ragas", JUDGED, RANKED)))
    better = {query: [*ids, "noise"] for query, ids in JUDGED.items()}
    turned = dict(reversed(JUDGED.items()))
    new = written(tmp_path / "new.jsonl", lines(rows("ragas", turned, better)))
    expected = seen(project(grades(JUDGED), {"old.jsonl": RANKED, "new.jsonl": better}))
    assert seen(project(old, new)) == seen(project(old, [new])) == seen(project(old, [old, new])) == expected
    assert command("compare", old, new, "-m", "LexiRecall").code == 0
    assert command("explain", old, new).code == command("rank", old, new).code == 0
    run = written(tmp_path / "c.run", "why? Q0 a 1 1 t\n")
    assert project(old, run).runs == ("c.run",), "beside a run of another kind, rows are judgments"
    assert project(old, {"new": new}).runs == ("new",), "whoever names the runs has named them all"
    for runs in (run, {"new": new}):
        assert "old.jsonl holds a run too, which is left out" in evaluate(old, runs, ["AP"]).notes[-1].text
    assert not evaluate(old, {"old": old}, ["AP"]).notes


def test_rows_that_disagree_are_refused(tmp_path: Path, command: Command) -> None:
    old = written(tmp_path / "old.jsonl", lines(rows("ragas", JUDGED, RANKED)))
    other = written(tmp_path / "new.jsonl", lines(rows("ragas", {**JUDGED, "how?": ["c", "y"]}, RANKED)))
    said = "old.jsonl and .*new.jsonl differ in 1 query, such as document 'y' of query 'how\\?'"
    assert_refused(command("compare", old, other), said, "give the judgments as a file of their own")
    fewer = {query: JUDGED[query] for query in ("why?", "how?")}
    new = written(tmp_path / "new.jsonl", lines(rows("ragas", fewer, RANKED)))
    assert project(old, new).answered.tolist() == [[True, True, True], [True, True, False]]
    odd = [written(tmp_path / name, lines(rows("ragas", {"\ud800": ["a"]}, {"\ud800": ["a"]}))) for name in "ab"]
    assert_refused(command("compare", *odd), "not valid Unicode")
    row = WRITERS["ragas"]("why?", ["a"], ["a"])
    files = [
        written(tmp_path / name, lines([row, row, {**row, "user_input": text}]))
        for name, text in (("old.jsonl", "how?"), ("new.jsonl", "when?"))
    ]
    with pytest.raises(DataError, match=r"differ in 1 query, such as the text of row '3'"):
        project(*files)


def test_one_key_is_not_for_both_sides(tmp_path: Path) -> None:
    file = written(tmp_path / "rows.jsonl", lines(rows("ragas", JUDGED, RANKED)))
    with pytest.raises(UsageError, match=r"document is given for rows that hold judgments and a run"):
        project(file, columns={"document": "reference_context_ids"})
    with pytest.raises(
        FormatError, match=r"no row has the key 'gold'\n  the keys are user_input, reference_context_ids"
    ):
        project(file, columns={"qrels.document": "gold"})
    with pytest.raises(FormatError, match=r"no row has the key 'qid'"):
        project(file, columns={"query": "qid"})


def test_rows_under_two_keys_are_asked_for(tmp_path: Path) -> None:
    content = rows("ragas", JUDGED, RANKED)
    with pytest.raises(
        FormatError, match=r"the rows may be under 'old' or 'new'\n  write one of these lists to a file"
    ):
        project(written(tmp_path / "rows.json", json.dumps({"old": content, "new": content})))


@pytest.mark.parametrize("name", ["old.jsonl", "-"])
def test_rows_may_be_named_as_a_run_too(name: str, command: Command) -> None:
    content = lines(rows("ragas", JUDGED, RANKED)).encode()
    outcome = command("compare", name, "new.jsonl", stdin=content, **{"old.jsonl": content, "new.jsonl": content})
    assert (outcome.code, outcome.out.count(" new.jsonl "), outcome.out.count(f" {name} ")) == (0, 1, 1)
    outcome = command("project", name, "-o", "made.parquet", stdin=content)
    assert outcome.code == 0
    outcome = command("compare", "old.jsonl", "--columns", "run.document=none")
    assert_refused(outcome, "no row has the key 'none'")


def test_judgments_without_runs_are_refused(tmp_path: Path, command: Command) -> None:
    for name, content in {
        "qrels.txt": "q 0 a 1\n",
        "qrels.json": '{"q": {"a": 1}}',
        "lists.json": '{"q": ["a"]}',
    }.items():
        assert_refused(command("eval", written(tmp_path / name, content)), "no runs are given\n  give", code=2)


def test_an_engine_refuses_rows(tmp_path: Path, command: Command) -> None:
    pytest.importorskip("duckdb")
    file = written(tmp_path / "rows.jsonl", lines(rows("ragas", JUDGED, RANKED)))
    assert_refused(command("eval", file, "--engine", "duckdb"), "is JSON, which is read into memory", code=2)


MTEB: dict[str, Any] = {
    "mteb_model_meta": {"model_name": "m", "revision": "1"},
    "default": {"test": {"q": {"a": 0.5, "b": 0.9}}},
}


def test_predictions_of_mteb_are_a_run(tmp_path: Path) -> None:
    qrels = {"q": {"a": 1}}
    file = written(tmp_path / "predictions.json", json.dumps(MTEB))
    assert project(qrels, file).found.positions.tolist() == [2]
    both = {**MTEB, "default": {**MTEB["default"], "dev": {"q": {"a": 0.5}}}}
    file = written(tmp_path / "predictions.json", json.dumps(both))
    with pytest.raises(FormatError, match=r"predictions of 'default.test' and 'default.dev'\n  say which"):
        project(qrels, file)
    assert project(qrels, file, columns={"run.document": "default.dev"}).found.positions.tolist() == [1]
    with pytest.raises(LexirecallError):
        project(file, qrels)


@pytest.mark.parametrize(
    ("path", "expected"),
    [("a", [("a", 1)]), ("b.c", [("b.c", 2)]), ("d[].e", [("d[].e", [3, None])]), ("d[]", [("d[]", [{"e": 3}, {}])]),
     ("b.*", [("b.c", 2)]), ("f.g", [("f.g", 4)]), ("none", []), ("a.b", []), ("b.none", []),
     ("h.i[].j", [("h.i[].j", [5])]), ("k[].l[]", [("k[].l[]", [6, 7, 8])])],
)  # fmt: skip
def test_a_path_leads_to_a_key(path: str, expected: list[Any]) -> None:
    content = {
        "a": 1,
        "b": {"c": 2},
        "d": [{"e": 3}, {}],
        "f.g": 4,
        "h": {"i": [{"j": 5}]},
        "k": [{"l": [6, 7]}, {}, {"l": [8]}],
    }
    assert list(found_at(content, path)) == expected


def test_a_folder_of_beir_holds_judgments(tmp_path: Path, command: Command) -> None:
    pytest.importorskip("polars")
    (tmp_path / "scifact" / "qrels").mkdir(parents=True)
    for name in ("corpus.jsonl", "queries.jsonl"):
        (tmp_path / "scifact" / name).write_text('{"_id": "a", "text": "…"}\n')
    folder = str(tmp_path / "scifact")
    assert_refused(command("eval", folder, "x.run"), "has no judgments: qrels/ has no .tsv file")
    header = "query-id\tcorpus-id\tscore\n"
    (tmp_path / "scifact" / "qrels" / "test.tsv").write_text(f"{header}q\ta\t2\nq\tb\t0\n")
    expected = seen(project({"q": {"a": 2, "b": 0}}, {"run": {"q": ["b", "a"]}}))
    assert seen(project(folder, {"run": {"q": ["b", "a"]}})) == expected
    (tmp_path / "scifact" / "qrels" / "train.tsv").write_text(f"{header}r\ta\t1\n")
    assert_refused(command("eval", folder, "x.run"), r"has judgments of 'test' and 'train'\n  name one of the files")
    assert load_judgments(tmp_path / "scifact" / "qrels" / "train.tsv").queries == ("r",)


def test_the_page_names_every_form_and_its_keys() -> None:
    page = (DOCS / "rag-data.md").read_text(encoding="utf-8")
    table = [line for line in page.splitlines() if line.startswith("| ")]
    for form in FORMS:
        if form.has_texts and form.name == "ragas":  # has a section of its own
            assert f"`{form.judged}`" in page
            continue
        (line,) = [line for line in table if line.startswith(f"| {form.name} |")]
        keys = [key.replace(".*", "").replace("*", "") for key in (form.judged, form.ranked, form.query) if key]
        assert [key for key in keys if f"`{key}`" not in line] == []
    assert all(f"`{key}`" in page for key in (*QUERY_IDS, *DOCUMENT_IDS))


def test_rows_about_one_document_are_a_table(tmp_path: Path, command: Command) -> None:
    pytest.importorskip("polars")
    judged = [{"query-id": 7, "corpus-id": "a", "score": 2}, {"query-id": 7, "corpus-id": "b", "score": 0}]
    hits = [
        {"qid": 7, "docno": each, "rank": place, "run": run} for run in "xy" for place, each in enumerate(f"{run}ba")
    ]
    runs = {"x": {"7": ["x", "b", "a"]}, "y": {"7": ["y", "b", "a"]}}
    expected = seen(project({"7": {"a": 2, "b": 0}}, runs))
    for shape in ("lines", "list", "under a key"):
        qrels = written(tmp_path / "qrels", SHAPES[shape](judged))
        assert seen(project(qrels, written(tmp_path / "run", SHAPES[shape](hits)))) == expected
    film = written(tmp_path / "films.jsonl", lines([{"who": 7, "film": each, "stars": 1} for each in ("a", 5)]))
    columns = {"query": "who", "document": "film", "grade": "stars"}
    assert list(load_judgments(film, columns).documents) == [b"a", b"5"]
    lacking = written(tmp_path / "qrels.jsonl", lines([*judged, {"query-id": 7, "score": 1}]))
    assert_refused(command("eval", lacking, "run"), "qrels.jsonl:3: the document id is missing")
    odd = written(tmp_path / "odd.jsonl", lines([*judged, {"query-id": ["\ud800"], "corpus-id": "a", "score": 1}]))
    assert_refused(command("eval", odd, "run"), r"odd.jsonl:3: .*ud800.* under 'query-id' is not valid Unicode")
    lacking = written(tmp_path / "run.jsonl", lines([{"qid": 7, "docno": "a"}]))
    assert_refused(command("eval", "qrels", lacking), "found no column of scores or ranks among qid, docno")


@pytest.mark.parametrize("ids", [[1, True], [True, 2], [1.0, True], [None, 1, True]])
def test_a_truth_value_among_numbers_is_no_id(tmp_path: Path, ids: list[Any]) -> None:
    pytest.importorskip("polars")
    file = written(tmp_path / "qrels.jsonl", lines([{"qid": "q", "docno": each, "grade": 1} for each in ids]))
    with pytest.raises(FormatError, match=r"as document ids: it holds truth values|:1: the document id is missing"):
        load_judgments(file)


def test_numbers_are_of_any_size_and_truth_values_are_1_and_0(tmp_path: Path) -> None:
    pytest.importorskip("polars")
    rows = [{"qid": "q", "docno": str(each), "grade": each} for each in (2**70, 2, True, False)]
    assert load_judgments(written(tmp_path / "qrels.jsonl", lines(rows))).grades.tolist() == [2.0**70, 2, 1, 0]
    big = written(tmp_path / "big.jsonl", lines(rows[:2]))
    assert load_judgments(big).grades.tolist() == [2.0**70, 2]


KEYS = st.sampled_from(
    ["user_input", "retrieved_context_ids", "reference_context_ids", "reference_contexts", "query", "expected_ids",
     "retrieved_ids", "inputs", "outputs", "reference_outputs", "documents", "context", "input", "retrieval_context",
     "question_id", "answer_session_ids", "retrieval_results", "ranked_items", "corpus_id", "qa", "evidence",
     "x_context", "topic_id", "run_id", "references", "metadata", "narrative_id", "id", "doc_id",
     "score", "rank", "default", "a.b"]
)  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from([*HOSTILE, "", "\ud800"])
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3))
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=5)
ROLES = st.sampled_from(["query", "document", "qrels.document", "run.document", "run.score"])


@quick(150)
@given(
    content=st.lists(OBJECTS, min_size=1, max_size=3),
    shape=st.sampled_from(["lines", "list", "under a key"]),
    columns=st.none() | st.dictionaries(ROLES, KEYS),
)
def test_whatever_rows_hold_is_read_or_refused(
    content: list[dict[str, Any]], shape: str, columns: dict[str, str] | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = str(tmp_path_factory.mktemp("any") / "rows")
    Path(file).write_text(SHAPES[shape](content), encoding="utf-8")
    for sides in ((file,), (file, file), ({"a": {"a": 1}}, file), (file, {"a": ["a"]})):
        with contextlib.suppress(LexirecallError):
            project(*sides, columns=columns)
