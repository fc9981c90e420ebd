"""Reviews of ASReview: project files of each version and exports, what is left out, and what is refused."""

import io
import json
import sqlite3
import time
import warnings
import zipfile
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from asreview_files import ID, RESULTS, archive, database, members, project_file, read
from command import Command
from lexirecall import compare, evaluate, load_judgments, project
from lexirecall.errors import DataError, FormatError, UsageError
from lexirecall.formats import asreview
from lexirecall.formats.reviews import Review, Reviews

ROWS = [(9, 1, True), (8, 0, True), *read([1, 0, 1, 0, 0, 1])]
"""Records 9 and 8 were known; of 0 to 5, the first, third and sixth are relevant."""


GOOD = {"nb.asreview": project_file(ROWS, 10)}


def saved(folder: Path, name: str, content: bytes) -> str:
    (folder / name).write_bytes(content)
    return str(folder / name)


def values(path: str, *others: str, measures: str = "R@50% ATD NumRel NumRet", **options: Any) -> list[list[float]]:
    table = evaluate(path, [*others], measures, **options).to_numpy()[:, 0]
    return [[float(value) for value in row] for row in table]


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_project_is_judgments_a_run_and_a_corpus(tmp_path: Path, version: int) -> None:
    path = saved(tmp_path, "nb.asreview", project_file(ROWS, 10, version=version))
    positions = project(path)
    assert (positions.runs, positions.judgments.queries) == (("nb.asreview",), ("heart",))
    assert positions.corpus_size is not None
    assert positions.corpus_size.tolist() == [8]
    assert positions.found.positions.tolist() == [1, 3, 6]
    assert values(path) == [[2 / 3, 10 / 3, 3, 6]]


def test_the_numbers_are_those_of_asreview_insights(tmp_path: Path) -> None:
    """For these labels asreview-insights 1.6.1 prints these numbers, without prior knowledge."""
    path = saved(tmp_path, "nb.asreview", project_file(ROWS, 10))
    expected = {"RRF@0.5": 2 / 3, "AsreviewWSS@0.95": 1 / 4, "AsreviewERF@0.5": 1 / 3, "AsreviewTNR@0.95": 0.8}
    expected |= {"Loss": 0.266666666667, "ATD": 3.333333333333}
    assert values(path, measures=" ".join(expected)) == [pytest.approx([*expected.values()])]


def test_several_simulations_of_one_dataset_are_runs_for_one_query(tmp_path: Path) -> None:
    first = saved(tmp_path, "nb.asreview", project_file(ROWS, 10))
    rows = [(9, 1, True), (8, 0, True), *read([0, 0, 1], 3), *read([1, 0, 1])]
    second = saved(tmp_path, "svm.asreview", project_file(rows, 10, version=1))
    assert values(first, second) == [[2 / 3, 10 / 3, 3, 6], [2 / 3, (3 + 4 + 6) / 3, 3, 6]]
    assert [row["b"] for row in compare(first, second, "ATD").rows()] == ["svm.asreview"]


def test_prior_knowledge_of_any_run_is_left_out_of_all_and_counted(tmp_path: Path) -> None:
    """Record 0 was known to the second: the first run found it first, and that does not count."""
    first = saved(tmp_path, "nb.asreview", project_file(ROWS, 10))
    rows = [(0, 1, True), (8, 0, True), (9, 1, False), *read([0, 1, 0, 0, 1], 1)]
    second = saved(tmp_path, "svm.asreview", project_file(rows, 10))
    scores = evaluate(first, second, "ATD NumRel NumRet")
    assert scores.to_numpy()[:, 0].tolist() == [[(2 + 5) / 2, 2, 5], [(2 + 5) / 2, 2, 5]]
    notes = [str(note) for note in scores.notes]
    assert any("of all runs together, because they differ: 3 records, 2 of them relevant" in note for note in notes)
    assert project(first, second).corpus_size.tolist() == [7]  # type: ignore[union-attr] # reviews know it


@pytest.mark.parametrize("version", [2, 3])
def test_a_relevant_record_that_was_never_read_is_missing(tmp_path: Path, version: int) -> None:
    """The dataset of a simulation has labels, also of what came after the stop; insights forgets them."""
    path = saved(tmp_path, "nb.asreview", project_file(ROWS, 10, version=version, included={7: 1, 6: 0, 0: 1}))
    assert values(path, measures="R@100% NumRel") == [[3 / 4, 4]]


def test_a_label_that_a_reviewer_gave_counts_more_than_that_of_the_dataset(tmp_path: Path) -> None:
    path = saved(tmp_path, "nb.asreview", project_file(ROWS, 10, included={1: 1}))
    assert values(path, measures="NumRel") == [[3]]


def test_records_shown_without_a_label_are_left_out_and_counted(tmp_path: Path) -> None:
    path = saved(tmp_path, "nb.asreview", project_file([*ROWS, (6, None, False)], 10))
    scores = evaluate(path, measures="NumRet")
    assert scores.to_numpy()[:, 0].tolist() == [[6]]
    assert any("1 record shown without a label, left out" in str(note) for note in scores.notes)


def test_a_project_may_stand_for_judgments_or_for_a_run_alone(tmp_path: Path) -> None:
    path = saved(tmp_path, "nb.asreview", project_file(ROWS, 10))
    judged = {"heart": {"0": 1, "5": 1}}
    assert evaluate(judged, path, "ATD").to_numpy()[:, 0].tolist() == [[(1 + 6) / 2]]
    assert evaluate(path, {"mine": {"heart": ["5", "2", "0"]}}, "ATD", corpus_size=8).to_numpy()[:, 0].tolist() == [[2]]
    assert load_judgments(path).num_relevant(1).tolist() == [3]


def test_another_corpus_size_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, "nb.asreview", project_file(ROWS, 10))
    with pytest.raises(DataError, match=r"the corpus size of query 'heart' is 10, but 8 in .*nb\.asreview"):
        evaluate(path, measures="ATD", corpus_size=10)


@pytest.mark.parametrize(
    ("rows", "num_records", "said"),
    [(read([1, 1, 1]), 10, "they label 1 record differently, such as '1'"), (ROWS, 11, "it has 10 and 11 records")],
)
def test_reviews_of_one_dataset_must_agree(tmp_path: Path, rows: Any, num_records: int, said: str) -> None:
    first = saved(tmp_path, "nb.asreview", project_file(ROWS, 10))
    second = saved(tmp_path, "svm.asreview", project_file(rows, num_records))
    with pytest.raises(DataError, match=said):
        evaluate(first, second)


def test_reviews_agree_with_each_other_and_not_only_with_the_first(tmp_path: Path) -> None:
    """The first did not come as far as the record that the others label differently."""
    paths = [
        saved(tmp_path, f"{name}.asreview", project_file(read(labels), 10))
        for name, labels in (("nb", [1]), ("svm", [1, 0, 1]), ("rf", [1, 0, 0]))
    ]
    said = r"svm\.asreview and .*rf\.asreview are both .* differently, such as '2'"
    for first, *others in permutations(paths):
        with pytest.raises(DataError, match="they label 1 record differently, such as '2'"):
            evaluate(first, others)
    with pytest.raises(DataError, match=said):
        evaluate(paths[0], paths[1:])


def test_a_project_and_an_export_of_one_dataset_must_agree(tmp_path: Path) -> None:
    """A record has a number in the one and text in the other."""
    project = saved(tmp_path, "nb.asreview", project_file(read([1, 0, 1]), 3))
    header = "record_id,asreview_label,asreview_time\n"
    agrees = saved(tmp_path, "heart.csv", f"{header}2,1,1\n1,0,2\n0,1,3\n".encode())
    assert values(project, agrees, measures="AP NumRel") == [[(1 + 2 / 3) / 2, 2]] * 2
    known = saved(tmp_path, "known.asreview", project_file([(2, 1, True), *read([1, 0])], 3))
    assert values(known, agrees, measures="AP NumRel") == [[1, 1], [1 / 2, 1]]
    differs = saved(tmp_path, "heart.csv", f"{header}2,1,1\n1,1,2\n0,1,3\n".encode())
    for pair in ((project, differs), (differs, project)):
        with pytest.raises(DataError, match="they label 1 record differently, such as '1'"):
            evaluate(*pair)


def test_a_review_of_another_dataset_is_another_query(tmp_path: Path) -> None:
    first = saved(tmp_path, "nb.asreview", project_file(ROWS, 10))
    second = saved(tmp_path, "lung.asreview", project_file(ROWS, 20, dataset="lung.ris"))
    assert project(first, second).judgments.queries == ("heart", "lung")


def test_records_said_to_be_duplicates_count_and_a_note_says_how_many(tmp_path: Path) -> None:
    path = saved(tmp_path, "nb.asreview", project_file(ROWS, 10, version=3, duplicates={1: 0, 5: 0}))
    scores = evaluate(path, measures="NumRel NumRet")
    assert scores.to_numpy()[:, 0].tolist() == [[3, 6]]
    assert any("nb.asreview: 2 records said to duplicate another, counted" in str(note) for note in scores.notes)


def test_a_ranking_leaves_out_what_was_known_before() -> None:
    timed = Review("a", "a", "set", {"1": -5.0, "2": -6.0, "3": None}, {"1": 1}, frozenset(), 9)
    assert timed.ranking("2") == {"set": {"1": -5.0}}
    assert replace(timed, read=dict.fromkeys("312")).ranking("1") == {"set": ["3", "2"]}


def test_judgments_are_called_like_the_first_three_reviews() -> None:
    reviews = [Review(name, name, "set", {"1": None}, {"1": 1}, frozenset(), 9) for name in "abcd"]
    assert Reviews(tuple(reviews)).judgments().name == "a, b, c"


@pytest.mark.parametrize("name", ["", None, 7])
def test_a_project_without_a_name_is_called_like_its_file(name: object) -> None:
    assert asreview._query({"name": name}, "runs/nb.asreview") == "nb"


def test_a_database_unpacks_to_64_mib_or_to_100_times_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = {"blanks.db": b" " * 10**6, "plain.db": bytes(range(256)) * 40}
    with zipfile.ZipFile(io.BytesIO(archive(content))) as packed:
        assert asreview._unpacked(packed, "blanks.db", str(tmp_path), "nb").stat().st_size == 10**6
        monkeypatch.setattr(asreview, "_ROOM", 1000)
        assert asreview._unpacked(packed, "plain.db", str(tmp_path), "nb").stat().st_size == 10240
        with pytest.raises(FormatError, match="more than 100 times its size"):
            asreview._unpacked(packed, "blanks.db", str(tmp_path), "nb")


def doubled() -> bytes:
    """Return an archive that holds the project twice, as no reader unpacks it alike."""
    stream = io.BytesIO(project_file(ROWS, 10))
    with zipfile.ZipFile(stream, "a") as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made.writestr("project.json", b"{}")
    return stream.getvalue()


def about(**content: Any) -> bytes:
    """Return a project whose project.json says something else."""
    files = members(ROWS, 10)
    return archive(files | {"project.json": json.dumps(json.loads(files["project.json"]) | content).encode()})


WITHOUT_STATE = {"project.json": json.dumps({"name": "x"}).encode()}
BROKEN = {
    "cut off": (project_file(ROWS, 10)[:300], "the zip archive is broken"),
    "not an archive": (b"something else", "the zip archive is broken"),
    "another archive": (
        archive({"a.txt": b"a"}),
        "is a zip archive\n  unpack it first; gz, bz2, xz and zst are read as they are, and projects",
    ),
    "no review": (archive(WITHOUT_STATE), "the project holds no review"),
    "not JSON": (archive({"project.json": b"["}), "project.json:1: not valid JSON: Expecting value"),
    "no database": (
        archive(members(ROWS, 10) | {f"reviews/{ID}/results.db": b"not a database"}),
        "its database results.db cannot be read",
    ),
    "no records": (
        archive({name: each for name, each in members(ROWS, 10).items() if name != "data_store.db"}),
        "the project has no data_store.db",
    ),
    "another table": (
        archive(members(ROWS, 10) | {f"reviews/{ID}/results.db": database({"results": ("record_id INT", [])})}),
        "expected a table results with the columns record_id, label, querier",
    ),
    **{
        f"a record twice in version {version}, then {label}": (
            project_file([*ROWS, (5, label, False)], 10, version=version),
            f"record 5 is labelled twice: 1 and {'no label' if label is None else label}",
        )
        for version in (1, 2, 3)
        for label in (0, 1, None)
    },
    **{
        f"a record that is not in the dataset, in version {version}": (
            project_file([*ROWS, (10, 1, False)], 10, version=version),
            "record 10 was labelled, but is not among the 10 records of the dataset",
        )
        for version in (1, 2, 3)
    },
    "a project of the future": (about(project_file_version=4), "the project is of version 4, and versions 1 to 3"),
    "a file twice": (doubled(), "the archive holds 'project.json' twice"),
    "no records in version 3": (
        archive(members(ROWS, 10, version=3) | {"results.db": database({"results": (RESULTS[3], [])}, 3)}),
        "expected a table record with the columns record_id, included, duplicate_of",
    ),
    **{
        f"a {what} of version {version}": (
            archive({**files, f"{name}-{what}": b"?"}),
            f"{name}-{what} holds what was not yet written to {name}",
        )
        for what in ("wal", "journal")
        for version, files in ((version, members(ROWS, 10, version=version)) for version in (1, 2, 3))
        for name in files
        if name.endswith((".db", ".sql"))
    },
    "no labels": (project_file(ROWS[:2], 10), "no record has a label, besides 2 records of prior knowledge"),
    "odd label": (project_file(read([0, 7]), 10), "record '1' has the label '7'"),
    "bomb": (
        archive(members(ROWS, 10) | {f"reviews/{ID}/results.db": bytes(1 << 27)}),
        "results.db unpacks to more than 100 times its size",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_broken_is_refused_in_one_sentence(tmp_path: Path, what: str) -> None:
    content, said = BROKEN[what]
    path = saved(tmp_path, "broken.asreview", content)
    for inputs in ((path,), ({"heart": {"0": 1}}, path)):
        with pytest.raises(FormatError) as caught:
            evaluate(*inputs)
        assert said in str(caught.value)
        assert path in str(caught.value)


def test_an_archive_may_hold_very_many_files(tmp_path: Path) -> None:
    content = archive(members(ROWS, 10) | {f"{number}.txt": b"" for number in range(40_000)})
    path, start = saved(tmp_path, "mine.asreview", content), time.process_time()
    evaluate(path)
    assert time.process_time() - start < 5  # it took the square of their number, which was 15


def test_a_view_in_the_place_of_a_table_is_not_read(tmp_path: Path) -> None:
    """A view could compute anything."""
    (tmp_path / "made.db").write_bytes(database({"x": ("a", [(1,)])}))
    connection = sqlite3.connect(tmp_path / "made.db")
    connection.execute("CREATE VIEW results AS SELECT a AS record_id, a AS label, a AS querier FROM x")
    connection.commit()
    connection.close()
    state = (tmp_path / "made.db").read_bytes()
    path = saved(tmp_path, "nb.asreview", archive(members(ROWS, 10) | {f"reviews/{ID}/results.db": state}))
    with pytest.raises(FormatError, match="expected a table results"):
        evaluate(path)


@pytest.mark.parametrize("odd", [["x"], {"x": 1}, None, 7, "y"])
def test_odd_ids_of_reviews_are_passed_over(tmp_path: Path, odd: Any) -> None:
    path = saved(tmp_path, "nb.asreview", about(reviews=[{"id": odd}]))
    assert values(path, measures="NumRel") == [[3]]


def test_references_in_ris_are_refused_with_a_remedy(tmp_path: Path) -> None:
    path = saved(tmp_path, "refs.ris", b"TY  - JOUR\nTI  - Heart\nER  - \n")
    with pytest.raises(FormatError, match=r"is a RIS file of references\n  give the project file of ASReview"):
        evaluate(path, {"heart": ["0"]})


EXPORT = """record_id,title,asreview_label,asreview_time,asreview_note
3,"Heart, and ""all"" more",1,2026-05-01 14:03:59,
7,Lung,1,2026-05-01 14:01:00,
1,Skin,,,
2,"Bone
again",0,2026-05-01 14:02:00,
"""


def test_an_export_is_read_in_the_order_of_its_times(tmp_path: Path) -> None:
    path = saved(tmp_path, "mine.csv", EXPORT.encode())
    positions = project(path)
    assert positions.judgments.queries == ("mine",)
    assert positions.found.positions.tolist() == [1, 3]
    assert positions.corpus_size is not None
    assert positions.corpus_size.tolist() == [4]
    notes = [str(note) for note in evaluate(path).notes]
    assert any("3 of 4 records with a label; prior knowledge is not marked" in note for note in notes)


def test_equal_times_of_an_export_are_ties(tmp_path: Path) -> None:
    path = saved(tmp_path, "mine.csv", EXPORT.replace("14:02:00", "14:03:59").encode())
    assert [values(path, measures="LastRel", ties=rule) for rule in ("best", "expected", "worst")] == [
        [[2]],
        [[2.5]],
        [[3]],
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("title,included,asreview_ranking\nHeart,1,1\n", "the export has no column asreview_label or asreview_time"),
        (EXPORT.replace(",0,2026", ",maybe,2026"), ":5: record '2' has the label 'maybe'"),
        (EXPORT.replace("\n7,", "\n3,"), ":3: record '3' is listed twice, first on line 2"),
        (EXPORT.replace("\n1,", "\n3,"), ":4: record '3' is listed twice, first on line 2"),
        (EXPORT.replace("\n1,", "\n,"), ":4: the record_id is missing\n  fill it in, or remove the column"),
        (EXPORT.replace(",1,2026-05-01 14:01:00", ",,2026-05-01 14:01:00"), ":3: record '7' has the label ''"),
        *(
            (
                EXPORT.replace("2026-05-01 14:02:00", time),
                f":5: the time of the label is '{time}'\n  write all times alike",
            )
            for time in ("soon", "", "inf", "nan", "1e999", "1_0", "2026-13-01", "0x10", "2026-05-01 14:02:00 CET")
        ),
        *(
            (
                EXPORT.replace("2026-05-01 14:02:00", time),
                f":5: the time of the label is {form}, '{time}', but a time on line 2",
            )
            for time, form in {
                "20260501": "a number",
                "1777643039.5": "a number",
                "2026-05-01": "a day",
                "2026-05-01 14:02": "a minute",
                "2026-05-01 14:02:00Z": "a time with a zone",
            }.items()
        ),
        (EXPORT.replace("asreview_note", "asreview_label"), ":1: 2 columns are called 'asreview_label'"),
        (EXPORT.replace("title", "record_id"), ":1: 2 columns are called 'record_id'"),
        (EXPORT.replace("14:01:00,", "14:01:00,,7"), ":3: the row has 6 cells, but the header has 5"),
        (EXPORT.replace("Skin", "Sk\rin"), ":4: a line end of another kind is within the row"),
        (EXPORT[:-24], ":5: the row has 2 cells, but the header has 5"),
        (EXPORT[: EXPORT.index("again")], ":5: a quotation mark is never closed"),
    ],
)
def test_an_export_that_says_too_little_is_refused(tmp_path: Path, content: str, said: str) -> None:
    path = saved(tmp_path, "mine.csv", content.encode())
    with pytest.raises(FormatError) as caught:
        evaluate(path)
    assert said in str(caught.value)


def test_an_export_that_is_not_unicode_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, "mine.csv", EXPORT.replace("Lung", "Lüng").encode("latin-1"))
    with pytest.raises(FormatError, match=r"mine\.csv:3: not UTF-8 text"):
        evaluate(path)


@pytest.mark.parametrize(
    "content",
    [
        EXPORT.replace("\n", "\r\n"),
        EXPORT.replace(',"Heart, and ""all"" more",', ",Heart,").replace('"Bone\nagain"', "Bone").replace("\n", "\r"),
        EXPORT.replace("\n1,", "\n\n , ,\t,,\n1,"),
        EXPORT.replace(",1,2026", ",1.0,2026").replace(",0,2026", ", 0 ,2026").replace("\n1,Skin,,", "\n1,Skin,-1,"),
        EXPORT.replace("2026-05-01 14:03:59", "3")
        .replace("2026-05-01 14:01:00", "1.5")
        .replace("2026-05-01 14:02:00", "2e0"),
        EXPORT.replace(" 14:03:59", "").replace("-01 14:02:00", "-02").replace("-01 14:01:00", "-03"),
        EXPORT.replace(":00,", ":00.250+02:00,").replace(":59,", ":59Z,"),
    ],
    ids=["CRLF", "CR", "empty rows", "numbers of pandas", "seconds", "days", "zones"],
)
def test_an_export_may_be_written_in_other_ways(tmp_path: Path, content: str) -> None:
    assert project(saved(tmp_path, "mine.csv", content.encode())).found.positions.tolist() == [1, 3]


def test_the_command_takes_a_project_alone(command: Command) -> None:
    done = command("eval", "nb.asreview", "-m", "R@50%", "-m", "WSS@95%")
    assert done.code == 0
    assert "0.6667" in done.out
    assert "heart: prior knowledge is left out: 2 records, 1 of them relevant" in done.err


def test_duckdb_does_not_read_projects(tmp_path: Path) -> None:
    path = saved(tmp_path, "nb.asreview", project_file(ROWS, 10))
    with pytest.raises(UsageError, match="leave out the engine"):
        evaluate(path, engine="duckdb")


def test_times_of_an_export_do_not_depend_on_where_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = {"a": "02:30", "b": "03:10", "c": "03:40"}  # in Berlin, that night had no 02:30
    rows = "".join(f"{record},1,2026-03-29 {at}:00\n" for record, at in times.items())
    path = saved(tmp_path, "mine.csv", f"record_id,asreview_label,asreview_time\n{rows}".encode())
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        made = project(path)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert [made.judgments.documents[document] for document in made.found.documents] == [b"a", b"b", b"c"]


def test_without_a_column_of_ids_rows_are_counted(tmp_path: Path) -> None:
    rows = "1,2026-05-01 14:00:00\n1,2026-05-01 14:01:00\n"
    path = saved(tmp_path, "mine.csv", f"asreview_label,asreview_time\n{rows}".encode())
    assert sorted(project(path).judgments.documents) == [b"1", b"2"]


def test_the_column_without_a_name_numbers_the_records(tmp_path: Path) -> None:
    """Since version 2 exports begin with it: relevant records come first, so places in the file number nothing."""
    rows = "7,Lung,1,2026-05-01 14:01:00\n0,Skin,,\n2,Bone,0,2026-05-01 14:02:00\n"
    path = saved(tmp_path, "mine.csv", f",title,asreview_label,asreview_time\n{rows}".encode())
    assert sorted(project(path).judgments.documents) == [b"2", b"7"]
    again = saved(tmp_path, "again.csv", f",title,asreview_label,asreview_time\n{rows}{rows[:30]}".encode())
    with pytest.raises(FormatError, match=r"again\.csv:5: record '7' is listed twice, first on line 2"):
        project(again)


def test_further_reviews_of_a_project_are_counted(tmp_path: Path) -> None:
    files = members(read([1, 0]), 9)
    state = next(name for name in files if name.startswith("reviews/"))
    files[state.replace(state.split("/")[1], "zzz")] = files[state]
    path = saved(tmp_path, "two.asreview", archive(files))
    assert any("1 further review of the project left out" in str(note) for note in evaluate(path).notes)
