"""Texts of queries and documents: files that are read line by line, whose ids they have, and how one is shortened."""

import gzip
import json
import tracemalloc
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from lexirecall import load_judgments
from lexirecall.errors import DataError, FormatError, UsageError
from lexirecall.progress import Progress
from lexirecall.text import visible
from lexirecall.texts import files_named, load_texts, shortened
from strategies import quick

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}


def lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"_id": "d1", "title": "Bears", "text": "They attack."}, "Bears: They attack."),
        ({"_id": "d1", "title": "Bears", "text": "Bears attack."}, "Bears attack."),
        ({"id": "d1", "contents": "They attack."}, "They attack."),
        ({"docno": "d1", "body": " They attack.\n"}, "They attack."),
        ({"doc_id": "d1", "title": "Bears", "text": ""}, "Bears"),
        ({"Doc-ID": "d1", "Text": ["They", "attack."]}, "They attack."),
        ({"doc_id": "d1", "user": "q1", "text": "They attack."}, "They attack."),
    ],
)
def test_a_line_of_json_is_found_by_the_usual_names(row: Mapping[str, Any], text: str, tmp_path: Path) -> None:
    assert load_texts(lines(tmp_path / "corpus.jsonl", [row])).of_document("d1") == text


@pytest.mark.parametrize("key", ["query_id", "qid", "question_id"])
@pytest.mark.parametrize("words", ["question", "query", "text", "title"])
def test_a_query_is_told_by_the_name_of_its_id(key: str, words: str, tmp_path: Path) -> None:
    texts = load_texts(lines(tmp_path / "corpus.jsonl", [{key: 7, words: "bears"}]))
    assert texts.of_query("7") == texts.of_query(7) == "bears"
    assert texts.of_document("7") is None


@pytest.mark.parametrize(
    "content", ["d1\tBears\tattack\r\n\r\n", "docno\ttext\nd1\tBears attack\n", "\ufeffd1\tBears attack"]
)
@pytest.mark.parametrize("packed", ["", "gz", "zst"])
def test_lines_of_an_id_and_a_text(content: str, packed: str, tmp_path: Path) -> None:
    packers: dict[str, Callable[[bytes], bytes]] = {"": bytes, "gz": gzip.compress, "zst": zstandard.compress}
    path = tmp_path / "docs.tsv"
    path.write_bytes(packers[packed](content.encode()))
    assert shortened(load_texts(path).of_document("d1") or "") == "Bears attack"


def test_columns_name_unusual_keys(tmp_path: Path) -> None:
    path = lines(tmp_path / "corpus.jsonl", [{"code": "d1", "title": "no", "words": "Bears"}])
    assert load_texts(path, columns={"document": "code", "text": "words"}).of_document("d1") == "Bears"
    assert load_texts(path, columns={"texts.document": "code", "texts.text": "words"}).of_document("d1") == "Bears"
    with pytest.raises(FormatError, match=r"corpus.jsonl:1: found no 'key' among 'code', 'title', 'words'"):
        load_texts(path, columns={"texts.document": "key"})
    usual = lines(tmp_path / "docs.jsonl", [{"docno": "d1", "text": "Bears"}])
    assert load_texts(usual, columns={"document": "movie"}).of_document("d1") == "Bears", "a name for other files"


def test_only_what_is_wanted_is_kept_and_the_rest_is_counted(tmp_path: Path) -> None:
    path = lines(tmp_path / "corpus.jsonl", [{"_id": f"d{n}", "text": f"text {n}"} for n in range(3)])
    texts = load_texts([path]).wanted([], ["d1", "d7", "d8"])
    assert texts.chosen["document"].found == {b"d1": "text 1"}
    assert [(note.text, note.count) for note in texts.notes] == [("2 of 3 documents have no text", 2)]


def test_the_first_of_several_texts_counts(tmp_path: Path) -> None:
    path = lines(tmp_path / "corpus.jsonl", [{"_id": "d1", "text": text} for text in ("one", "one", "two", "")])
    texts = load_texts(path).wanted(documents=["d1"])
    assert texts.of_document("d1") == "one"
    assert [note.text for note in texts.notes] == ["1 text left out: the document has another one before"]


def test_a_long_file_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    line = json.dumps({"_id": "d", "text": "word " * 200}) + "\n"
    path.write_text(line * 20_000 + line.replace('"d"', '"d1"'), encoding="utf-8")
    tracemalloc.start()
    try:
        texts = load_texts(path).wanted(documents=["d1"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert texts.of_document("d1") is not None
    assert peak < 4e6 < path.stat().st_size


@pytest.mark.parametrize("name", ["texts.tsv", "queries_of_documents.tsv"])
def test_ids_that_may_be_of_either_are_asked_for(name: str, tmp_path: Path) -> None:
    """Query ids are among the document ids: a text of a document must never be shown as a query."""
    path = tmp_path / name
    path.write_text("1\tone\n2\ttwo\n700\tmany\n", encoding="utf-8")
    judgments = load_judgments({"1": {"700": 1}})
    for queries, documents in ((["1"], []), ([], ["700"]), (["1"], ["700"])):
        with pytest.raises(FormatError, match="nothing tells which is which") as raised:
            load_texts(path).wanted(queries, documents, judgments=judgments)
        assert "--texts queries=FILE, documents=FILE or" in str(raised.value)
    assert load_texts(f"queries={path}").wanted(["1"], ["700"], judgments=judgments).of_document("700") is None
    assert load_texts([f"documents={path}"]).wanted(["1"], ["700"], judgments=judgments).of_query("1") is None
    mixed = load_texts(f"both={path}").wanted(["1"], ["700"], judgments=judgments)
    assert (mixed.of_query("1"), mixed.of_document("700")) == ("one", "many")


def test_ids_of_one_side_tell_whose_they_are(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.write_text("d1\tone\nd3\tthree\n", encoding="utf-8")
    texts = load_texts(path).wanted(["q1"], ["d1"], judgments=load_judgments(QRELS))
    assert (texts.of_query("q1"), texts.of_document("d1")) == (None, "one")


def test_a_folder_stands_for_the_texts_in_it(tmp_path: Path) -> None:
    lines(tmp_path / "queries.jsonl", [{"_id": "1", "text": "bears"}])
    (tmp_path / "corpus.jsonl.gz").write_bytes(gzip.compress(b'{"_id": "1", "text": "Bears attack."}'))
    texts = load_texts(tmp_path).wanted(["1"], ["1"], judgments=load_judgments({"1": {"1": 1}}))
    assert (texts.of_query("1"), texts.of_document("1")) == ("bears", "Bears attack.")
    assert load_texts(f"documents={tmp_path}").of_query("1") is None
    (empty := tmp_path / "empty").mkdir()
    with pytest.raises(FormatError, match="is a directory"):
        load_texts(empty)


def test_reading_shows_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = lines(tmp_path / "corpus.jsonl", [{"_id": f"d{n}", "text": "words"} for n in range(99)])
    told: list[int] = []
    monkeypatch.setattr(Progress, "advance", lambda _, units: told.append(units))
    load_texts(path, show_progress=True).wanted(documents=["d1"])
    assert sum(told) == path.stat().st_size


def test_a_file_without_a_known_id_is_an_error_with_examples(tmp_path: Path) -> None:
    path = tmp_path / "corpus.tsv"
    path.write_text("doc-1\tone\ndoc-2\ttwo\n", encoding="utf-8")
    with pytest.raises(DataError) as raised:
        load_texts(path).wanted(["q1"], ["d1"], judgments=load_judgments(QRELS))
    assert "has ids such as 'doc-1', 'doc-2', the judgments have documents such as 'd1', 'd2', 'd3'" in str(
        raised.value
    )
    assert "queries such as" not in str(raised.value), "the name of the file says documents"


def test_a_file_with_other_judged_ids_is_right(tmp_path: Path) -> None:
    path = tmp_path / "corpus.tsv"
    path.write_text("d3\tthree\n", encoding="utf-8")
    texts = load_texts(path).wanted(["q1"], ["d1"], judgments=load_judgments(QRELS))
    assert texts.of_document("d1") is None
    assert load_texts(path).wanted([], [], judgments=load_judgments(QRELS)).notes == ()


def test_a_file_whose_first_id_is_unknown_is_right_too(tmp_path: Path) -> None:
    path = tmp_path / "corpus.tsv"
    path.write_text("x\tunknown\nd3\tthree\n", encoding="utf-8")
    texts = load_texts(f"documents={path}").wanted([], ["d1"], judgments=load_judgments(QRELS))
    assert texts.of_document("d1") is None


def test_a_mapping_has_no_lines_that_an_error_could_name() -> None:
    with pytest.raises(FormatError) as caught:
        load_texts({"documents": {"d1": 5}}).wanted([], ["d1"])
    assert str(caught.value).startswith("texts: not a text: '5'")


def test_without_texts_no_file_is_named() -> None:
    assert files_named(None) == []


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("\n \n", "x.txt: the file has no texts"),
        ("d1 Bears\n", "x.txt:1: found no tab in 'd1 Bears'"),
        ('{"_id": "d1", "text": "a"}\n{"_id": "d1", \n', "x.txt:2: not valid JSON"),
        ('{"_id": "d1", "text": "a"}\n[1]\n', r"x.txt:2: expected a JSON object, found '\[1\]'"),
        ('[{"_id": "d1"}]', "x.txt: texts are read line by line, but this is a JSON list"),
        ("PAR1\x15\x04\x15", "x.txt: texts are read line by line, but this is a Parquet file"),
        ('{"name": "d1", "text": "a"}', "x.txt:1: found no id among 'name', 'text'"),
        ('{"_id": "d1", "url": "a"}', "x.txt:1: found no text among '_id', 'url'"),
        ('{"_id": 1.5, "text": "a"}', "x.txt:1: not an id: '1.5'"),
        ('{"_id": "\\ud800", "text": "a"}', "x.txt:1: not an id"),
        ('{"_id": "d1", "text": {"a": 1}}', "x.txt:1: not a text: \"{'a': 1}\""),
        ('{"query_id": 1, "doc_id": 2, "text": "a"}', "x.txt:1: the row has ids of a query and a document"),
        ("docno\turl\ttext\nd1\tBears\n", "x.txt:2: the header has more columns than this line"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(content: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(FormatError, match=problem) as raised:
        load_texts(path).wanted(documents=["d1"])
    assert raised.value.remedy


def test_a_missing_file_is_noticed_before_any_work() -> None:
    with pytest.raises(FormatError, match=r"nowhere.jsonl: no such file"):
        load_texts("documents=nowhere.jsonl")
    with pytest.raises(UsageError, match="no file is named"):
        load_texts("documents=")
    with pytest.raises(UsageError, match="unknown kind 'documenst'"):
        load_texts({"documenst": {}})
    with pytest.raises(UsageError, match="of type dict, but must be a path"):
        load_texts([{}])
    with pytest.raises(UsageError, match="no file of texts"):
        load_texts([])


def test_bytes_that_are_not_text_become_escapes(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_bytes(b'{"_id": "d1", "text": "caf\xe9 \\ud800"}\n{"_id": "d\xe9", "text": "x"}\n')
    texts = load_texts(path).wanted(documents=["d1", "d\udce9"])
    assert (texts.of_document("d1") or "").encode()
    assert texts.of_document("d\udce9") == "x"


@quick(300)
@given(
    st.text(alphabet=st.one_of(st.characters(), st.sampled_from(" \n\t\x1b\u202e\u200d\u00ad\u0301é日"))),
    st.integers(1, 40),
)
def test_a_shortened_text_is_one_line_of_visible_characters(text: str, limit: int) -> None:
    short = shortened(text, limit)
    assert len(short) <= limit
    assert short == visible(short)
    assert len(short.splitlines()) <= 1
    whole = visible(" ".join(text.translate({0xAD: None, 0x200C: None, 0x200D: None}).split()))
    assert short == whole if len(whole) <= limit else short.endswith("…") and whole.startswith(short[:-1])


def test_a_text_is_cut_after_a_word() -> None:
    assert shortened("one two three", 9) == "one two…"
    assert shortened("one two three", 8) == "one two…"
    assert shortened("one two", 7) == "one two"
    assert shortened("日本" * 9, 7) == "日本日本日本…"
    assert shortened("a\u0301" * 9, 4) == "a\u0301…", "an accent stays with its letter"
    assert unicodedata.combining("\u0301")
    assert shortened("x" + " " * 10_000 + "y", 9) == "x…"
