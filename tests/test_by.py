"""Groups of queries: read from every form, and refused with the place and the remedy where they make no sense."""

import json
from pathlib import Path
from typing import Any

import pytest

from lexirecall.errors import FormatError, LexirecallError
from lexirecall.formats import load_groups

pl = pytest.importorskip("polars")

REQUESTS = ("q1", "q2", "7")
GROUPS = {"q2": "hard", "7": "easy", "q1": "hard", "q9": "odd"}


def forms(folder: Path) -> dict[str, Any]:
    """Return the same groups in every form."""
    frame = pl.DataFrame({"query": list(GROUPS), "group": list(GROUPS.values())})
    frame.write_parquet(folder / "groups.parquet")
    frame.write_csv(folder / "groups.csv")
    frame.rename({"query": "qid"}).write_csv(folder / "groups.tsv", separator="\t")
    (folder / "groups.json").write_text(json.dumps(GROUPS))
    (folder / "groups.txt").write_text("# query group\n" + "".join(f"{q}\t{group}\n" for q, group in GROUPS.items()))
    files = {path.suffix: path for path in folder.iterdir()}
    return {**files, "mapping": {int(q) if q == "7" else q: group for q, group in GROUPS.items()}, "frame": frame}


def test_groups_mean_the_same_in_every_form(tmp_path: Path) -> None:
    for form, given in forms(tmp_path).items():
        groups = load_groups(given, REQUESTS)
        assert (groups.names, groups.of_request.tolist(), groups.num_strange) == (("hard", "easy"), [0, 0, 1], 1), form


def test_groups_may_be_a_column_of_the_judgments() -> None:
    qrels = pl.DataFrame({"user": [1, 1, 2, 3], "item": [*"abcd"], "age": ["old", "old", "young", "old"]})
    groups = load_groups("age", ("1", "2", "3"), qrels=qrels)
    assert (groups.names, groups.of_request.tolist()) == (("old", "young"), [0, 1, 0])
    renamed = qrels.rename({"user": "who"})
    assert load_groups("age", ("1", "2"), {"qrels.query": "who"}, qrels=renamed).names == ("old", "young")


def test_a_query_in_two_groups_of_the_judgments_is_refused() -> None:
    qrels = pl.DataFrame({"user": [1, 2, 1], "item": [*"abc"], "age": ["old", "old", "young"]})
    with pytest.raises(FormatError) as raised:
        load_groups("age", ("1", "2"), qrels=qrels)
    assert raised.value.problem == "qrels: row 2: query '1' is in group 'young' here and in 'old' in row 0"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("q1 easy\nq1 hard\n", "groups:2: query 'q1' is in group 'hard' here and in 'easy' on line 1"),
        ("q1 easy\nq2\n", "groups:2: a line has 2 fields (query group), found 1: 'q2'"),
        ("q1 very easy\n", "groups:1: a line has 2 fields (query group), found more: 'q1 very easy'"),
        ("", "groups: the file is empty"),
        ("# nothing\n", "groups: the file has only empty lines and comments"),
        ("1 easy\n2 hard\n3 odd\n4 odd\n", "groups: no judged query has a group: the map has queries such as '1', '2', "
         "'3', the judgments have 'q1', 'q2', '7'"),
        ('{"q1": ["a"]}', """groups: cannot use "['a']" as the group of query 'q1'"""),
        ('{"q1": ""}', """groups: cannot use "''" as the group of query 'q1'"""),
        ("{}", "groups: the map is empty"),
        ("query,group\nq1,easy\nq1,hard\n", "groups:3: query 'q1' is in group 'hard' here and in 'easy' on line 2"),
        ("query,group\nq1,\n", "groups:2: the group is missing"),
    ],
)  # fmt: skip
def test_nonsense_is_refused_with_its_place(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "groups").write_text(content)
    with pytest.raises(LexirecallError) as raised:
        load_groups(tmp_path / "groups", REQUESTS)
    assert raised.value.problem.replace(f"{tmp_path}/", "") == problem
    assert raised.value.remedy


def test_the_same_group_may_be_said_twice() -> None:
    assert load_groups({7: "easy", "7": "easy"}, ["7"]).names == ("easy",)
    with pytest.raises(FormatError, match="query '7' is in group 'hard' here and in 'easy' before"):
        load_groups({7: "easy", "7": "hard"}, ["7"])


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(LexirecallError, match=r"types\.tsv"):
        load_groups(tmp_path / "types.tsv", REQUESTS)
