"""Groups of queries: read from every form, and refused with the place and the remedy where they make no sense."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexirecall import evaluate, project
from lexirecall.errors import FormatError, LexirecallError, UsageError
from lexirecall.formats import load_groups
from lexirecall.results import Scores
from strategies import Collection, collections, quick

pl = pytest.importorskip("polars")

QUERIES = ("q1", "q2", "7")
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
    for form, content in forms(tmp_path).items():
        groups = load_groups(content, QUERIES)
        assert (groups.names, groups.of_query.tolist(), groups.num_strange) == (("hard", "easy"), [0, 0, 1], 1), form


def test_groups_may_be_a_column_of_the_judgments() -> None:
    qrels = pl.DataFrame({"user": [1, 1, 2, 3], "item": [*"abcd"], "age": ["old", "old", "young", "old"]})
    groups = load_groups("age", ("1", "2", "3"), qrels=qrels)
    assert (groups.names, groups.of_query.tolist()) == (("old", "young"), [0, 1, 0])
    renamed = qrels.rename({"user": "who"})
    assert load_groups("age", ("1", "2"), {"qrels.query": "who"}, qrels=renamed).names == ("old", "young")


def test_a_column_that_is_not_there_is_named_with_those_that_are() -> None:
    qrels = pl.DataFrame({"user": [1], "item": ["a"], "age": ["old"]})
    with pytest.raises(UsageError) as raised:
        load_groups("sex", ("1",), qrels=qrels)
    assert str(raised.value) == (
        "by is 'sex', but the judgments have no such column, and there is no such file\n"
        "  the columns are user, item, age"
    )


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
        load_groups(tmp_path / "groups", QUERIES)
    assert raised.value.problem.replace(f"{tmp_path}/", "") == problem
    assert raised.value.remedy


def test_the_same_group_may_be_said_twice() -> None:
    assert load_groups({7: "easy", "7": "easy"}, ["7"]).names == ("easy",)
    with pytest.raises(FormatError, match="query '7' is in group 'hard' here and in 'easy' before"):
        load_groups({7: "easy", "7": "hard"}, ["7"])


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(LexirecallError, match=r"types\.tsv"):
        load_groups(tmp_path / "types.tsv", QUERIES)


# Evaluation

QRELS = {f"q{i}": {"a": 1, "b": 1} for i in range(12)} | {"q12": {"a": 0}, "q13": {"a": 0}}
TYPES = {**{f"q{i}": ("easy", "hard", "odd")[i % 3] for i in range(10)}, "q12": "empty", "q99": "easy"}
RUNS: dict[str, Any] = {
    "good": {q: [*[f"x{i}" for i in range(int(q[1:]) % 3)], "a", "b"] for q in QRELS},
    "poor": {q: ["x", *[f"x{i}" for i in range(2 * (int(q[1:]) % 3))], "b"] for q in QRELS},
}


def grouped(**options: Any) -> Scores:
    return evaluate(QRELS, RUNS, options.pop("measures", ["AP", "LastRel", "LexiRecall"]), by=TYPES, **options)


def test_a_group_is_evaluated_as_if_its_queries_were_alone() -> None:
    scores = grouped(over=["mean", "tail:0.5"], min_queries=3, bootstrap=99)
    for group in scores.groups:
        own = {q: judged for q, judged in QRELS.items() if TYPES.get(q) == group}
        alone = evaluate(own, RUNS, ["AP", "LastRel", "LexiRecall"], over=["mean", "tail:0.5"], bootstrap=99)
        found = [row for row in scores.rows() if row["group"] == group]
        assert [{k: v for k, v in row.items() if k not in ("group", "queries")} for row in found] == list(alone.rows())


@given(collections(max_runs=2), st.randoms(use_true_random=False))
@quick(30)
def test_a_group_of_any_collection_is_evaluated_as_if_it_were_alone(collection: Collection, draw: Random) -> None:
    groups = {q: draw.choice(["x", "y"]) for q in collection.qrels}
    measures = ["AP", "LastRel", "Depth@0.5", *(["LexiRecall"] if len(collection.runs) > 1 else [])]
    options: dict[str, Any] = {"over": ["mean", "tail:0.3", "quantile:0.6"], **collection.given_size}

    def rows(group: str | None) -> list[dict[str, Any]] | None:
        own = {q: judged for q, judged in collection.qrels.items() if group in (None, groups[q])}
        try:
            return list(evaluate(own, collection.runs, measures, **options).rows())
        except LexirecallError:
            return None  # nothing to evaluate

    if rows(None) is None:
        return
    scores = evaluate(collection.qrels, collection.runs, measures, by=groups, min_queries=1, **options)
    for group in (None, *scores.groups):
        found = [row for row in scores.rows() if row.pop("group") == group and row.pop("queries") > 0]
        assert rows(group) in (found, None)


def test_all_queries_come_first_and_then_the_worst_group() -> None:
    scores = grouped(min_queries=1)
    assert scores.groups == ("odd", "hard", "easy")
    assert list(dict.fromkeys(row["group"] for row in scores.rows())) == [None, "odd", "hard", "easy"]
    deepest = grouped(measures=["Depth@0.5"], min_queries=1)  # where lower is better
    assert deepest.groups == ("odd", "hard", "easy")


def test_a_group_in_which_a_document_is_missing_is_the_worst() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    run = {"q1": ["x", "y", "a"], "q2": ["x"]}
    scores = evaluate(qrels, {"run": run}, ["LastRel"], over="median", by={"q1": "found", "q2": "lost"}, min_queries=1)
    assert scores.groups == ("lost", "found")
    assert scores.to_dict() == {
        "run": {
            group: {"median": {"LastRel": number}} for group, number in ((None, None), ("lost", None), ("found", 3.0))
        }
    }


def test_all_queries_are_those_of_an_evaluation_without_groups() -> None:
    whole = [row for row in grouped().rows() if row["group"] is None]
    plain = list(evaluate(QRELS, RUNS, ["AP", "LastRel", "LexiRecall"]).rows())
    assert [{k: v for k, v in row.items() if k not in ("group", "queries")} for row in whole] == plain
    assert {row["queries"] for row in whole} == {12}


def test_win_rates_alone_leave_the_groups_in_the_order_of_the_map() -> None:
    assert grouped(measures=["LexiRecall"], min_queries=1).groups == ("easy", "hard", "odd")


def test_small_groups_are_counted_not_shown() -> None:
    scores = grouped(min_queries=4)
    assert scores.groups == ("easy",)
    kinds = {note.kind: note.text for note in scores.notes}
    assert kinds["small groups"].startswith(
        "3 groups with fewer than 4 queries that count (hard 3, odd 3, empty 0): not"
    )
    assert kinds["without group"] == "2 queries without a group: left out of the groups"
    assert kinds["groups without judgments"] == "1 query of groups without judgments: ignored"
    record = scores.manifest
    assert record.qrels["groups"] == {"easy": 4, "hard": 3, "odd": 3, "empty": 0}
    assert record.qrels["without_group"] == 2
    assert (record.conventions["by"], record.conventions["min_queries"]) == ("groups", 4)


def test_rows_of_queries_say_in_which_group_they_are() -> None:
    rows = [row for row in grouped(over="mean").rows(per_query=True) if row["query"] != "all"]
    assert {row["query"]: row["group"] for row in rows} == {q: TYPES.get(q) for q in QRELS}
    assert all(row["over"] is None and row["queries"] is None for row in rows)
    table = grouped(over="mean").table(per_query=True)
    assert table.header[:5] == ("run", "query", "group", "queries", "over")
    assert {len(row) for row in table.rows} == {len(table.header)}


def test_frames_have_a_column_of_groups() -> None:
    scores = grouped(min_queries=1, bootstrap=99)
    assert scores.to_polars().columns == ["run", "group", "queries", "measure", "value", "low", "high"]
    per_query = scores.to_polars(per_query=True)
    assert per_query.columns == ["run", "query", "group", "measure", "value"]
    assert per_query.filter(pl.col("query") == "q4")["group"].unique().to_list() == ["hard"]
    assert set(scores.to_pandas()["group"].dropna()) == {"easy", "hard", "odd"}


def test_runs_in_another_order_keep_their_numbers() -> None:
    scores = grouped(min_queries=1, over=["mean", "min"], bootstrap=99)
    turned = scores.sorted_by("LastRel")
    assert turned.runs == ("good", "poor")
    backwards = evaluate(QRELS, dict(reversed(RUNS.items())), ["AP", "LastRel"], by=TYPES, min_queries=1, over="mean")
    key = ["run", "group", "over", "measure"]
    one, other = ({tuple(row[k] for k in key): row["value"] for row in each.rows()} for each in (scores, backwards))
    assert other.items() <= one.items()
    assert backwards.groups == scores.groups


def test_the_column_of_a_frame_of_judgments_may_be_named() -> None:
    rows = [(q, d, grade, TYPES.get(q, "none")) for q, judged in QRELS.items() for d, grade in judged.items()]
    qrels = pl.DataFrame(rows, ["query_id", "doc_id", "rel", "type"], orient="row")
    scores = evaluate(qrels, RUNS, ["AP"], by="type", min_queries=3)
    assert scores.groups == ("odd", "hard", "easy")
    assert scores.manifest.conventions["by"] == "qrels"


def test_positions_may_be_grouped_too() -> None:
    positions = project(QRELS, RUNS)
    assert list(evaluate(positions, measures=["AP"], by=TYPES).rows()) == list(grouped(measures=["AP"]).rows())


def test_trec_lines_have_no_place_for_groups() -> None:
    with pytest.raises(UsageError, match="--by cannot be printed as trec"):
        grouped().render("trec")


def test_the_footnote_says_how_groups_are_ordered() -> None:
    assert "groups: the worst first, by mean AP, averaged over the 2 runs" in str(grouped(min_queries=1))
    assert "in the order of the map" in str(grouped(min_queries=1, measures=["LexiRecall"]))
