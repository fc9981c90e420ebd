"""The engine is an option: with each of them every command prints what it prints without, to the last digit."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import golden
import lexirecall
from lexirecall import compare, evaluate, explain, formats, project, rank, report, study
from lexirecall.cli import COMMANDS
from lexirecall.errors import FormatError, LexirecallWarning, UsageError
from lexirecall.judgments import Judgments
from lexirecall.manifest import Conventions
from lexirecall.meta import read_collections
from lexirecall.units.unitmap import UnitMap

pytest.importorskip("duckdb")
pl = pytest.importorskip("polars")

ONE, TWO = "{0}/stars.{1} {0}/films.{1}", "{0}/stars.{1} {0}/a.{1} {0}/b.{1}"
"""Judgments, and a table of three runs; or one for each of two."""
COLUMNS = "--columns document=film,grade=stars"
CALLS = {
    "evaluate": f"eval {ONE} {COLUMNS} --level 3 -q -f jsonl -m AP -m LexiRecall -m Bpref --manifest made.json",
    "evaluate, ties": f"eval {ONE} {COLUMNS} -q -f jsonl --ties expected -m AP -m R@2",
    "compare": f"compare {ONE} {COLUMNS} -f jsonl --no-relevant zero",
    "compare, intersection": f"compare {ONE} {COLUMNS} -f jsonl --queries intersection --depth 4 --level 3",
    "compare, pref_eval": f"compare {ONE} {COLUMNS} -f pref_eval -m LexiRecall -m AP",
    "rank": f"rank {ONE} {COLUMNS} -f jsonl --method mc4",
    "explain": f"explain {TWO} {COLUMNS} -f jsonl",
    "gate": f"gate {{0}}/stars.{{1}} {{0}}/a.{{1}} --baseline {{0}}/b.{{1}} {COLUMNS} --require AP>0 -f jsonl",
    "certify": f"certify {ONE} {COLUMNS} --stops 3 -f jsonl",
    "funnel": f"funnel {TWO} {COLUMNS} -f jsonl",
    "report": f"report {ONE} {COLUMNS} -m AP -m LexiRecall -m Bpref -o made.html",
    "project": f"project {ONE} {COLUMNS} -o made.parquet",
    "study": f"study {ONE} {COLUMNS} --samples 2 -m AP -m LexiRecall -o made",
    "study, a list": "study --collections {0}/{1}.toml --samples 2 -m AP -o made",
}
ENGINES = ("duckdb", "spark")
REFUSING = {
    "unjudged": (f"unjudged {TWO}", "to label unjudged documents"),
    "compare": (f"compare {TWO} --safe --show pairs", "to label unjudged documents"),
    "report": (f"report {TWO} --unjudged -o made.html", "to label unjudged documents"),
    "fuse": (f"fuse {TWO} -o fused.run", "to fuse runs"),
    "funnel": ("funnel {0}/stars.{1} {0}/a.{1}+{0}/b.{1} {0}/a.{1}", "to join the searches of a stage"),
    "certify": ("certify {0}/stars.{1} {0}/a.{1} --read 2 --draw 1", "to know what was read"),
}
"""Calls that need whole lists, which an engine does not give, and for what."""
QRELS, RUNS = {"q": {"a": 1}}, {"x": {"q": ["a"]}, "y": {"q": ["b"]}}
VERBS = {"evaluate": evaluate, "compare": compare, "rank": rank, "explain": explain, "study": study, "report": report}
every_verb = pytest.mark.parametrize("verb", VERBS.values(), ids=list(VERBS))


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables with equal scores, a query that a run does not answer, one that nobody judged, as CSV and Parquet."""
    folder = tmp_path_factory.mktemp("tables")
    with contextlib.chdir(folder):
        golden.write_collection()
        for name in ("stars", "films", "a", "b"):
            pl.read_csv(f"{name}.csv").write_parquet(f"{name}.parquet")
        for kind in ("csv", "parquet"):
            text = f'[[collection]]\nname = "c"\nqrels = "stars.{kind}"\nruns = ["films.{kind}"]\n'
            Path(f"{kind}.toml").write_text(text + 'columns = { document = "film", grade = "stars" }\n')
    return folder


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path) -> Iterator[None]:
    with contextlib.chdir(tmp_path):
        yield


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("name", CALLS)
def test_a_command_prints_the_same_with_duckdb(tables: Path, kind: str, name: str) -> None:
    call = CALLS[name].format(tables, kind)
    check_same(call, "duckdb")
    refused = golden.record(f"{call} --engine duckdb --engine-options memory_limit=9x", 10**9).parts
    assert "memory_limit is '9x': " in refused["stderr"]


@pytest.mark.parametrize("name", CALLS)
def test_a_command_prints_the_same_with_spark(spark: Any, tables: Path, name: str) -> None:
    check_same(CALLS[name].format(tables, "parquet"), "spark")
    assert not spark.sparkContext._jsc.getPersistentRDDs()


def check_same(call: str, engine: str) -> None:
    without, with_engine = (golden.record(each, 10**9).parts for each in (call, f"{call} --engine {engine}"))
    assert with_engine == without
    assert next(iter(without)).startswith("exit 0")


@pytest.mark.parametrize("engine", ENGINES)
def test_every_command_with_an_engine_is_called(engine: str) -> None:
    with_engine = [name for name in COMMANDS if {f"--engine {engine}", "--master"} <= {*golden.options_of(name)}]
    assert {*with_engine} == {*(call.split()[0] for call in CALLS.values()), *REFUSING}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", REFUSING)
def test_a_command_that_needs_whole_lists_refuses_an_engine_with_the_reason(
    tables: Path, name: str, engine: str
) -> None:
    call, purpose = REFUSING[name]
    parts = golden.record(f"{call} {COLUMNS} --engine {engine}".format(tables, "csv"), 10**9).parts
    assert next(iter(parts)).startswith("exit 2")
    said = f"engine is '{engine}', which finds positions, but whole lists are needed {purpose}\n"
    assert said in parts["stderr"]


@pytest.mark.parametrize("show_progress", [False, None])
def test_what_may_take_much_memory_is_said_before_an_engine_starts(
    tables: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], show_progress: bool | None
) -> None:
    monkeypatch.setattr(formats, "_MUCH", 100)
    said = "positions take up to 0.0 GB of memory for each run, of 56 judged documents if all are found"
    given = (tables / "stars.csv", tables / "films.csv")
    options: dict[str, Any] = {
        "columns": {"document": "film", "grade": "stars"}, "show_progress": show_progress,
    }  # fmt: skip
    if show_progress is None:
        project(*given, engine="duckdb", **options)
        assert capsys.readouterr().err.startswith(f"note: {said}")
    else:
        with pytest.warns(LexirecallWarning, match=said):
            project(*given, engine="duckdb", **options)
        project(*given, **options)  # nothing is said of what is read anyway


def test_the_size_of_a_map_that_is_sent_to_workers_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    judgments, units = Judgments.from_grades({b"q": {b"a": 1}}), UnitMap.of_columns([b"a" * 100], [b"u"])
    assert formats.memory_of_positions(judgments, Conventions(), 1, units) == ""
    monkeypatch.setattr(formats, "_MUCH", 1000)
    assert formats.memory_of_positions(judgments, Conventions(), 1, units) == (
        "the map of units, 0 MB, is sent to every worker of Spark"
    )
    assert formats.memory_of_positions(judgments, Conventions(), 1) == ""


def test_a_url_is_for_spark(tables: Path) -> None:
    parts = golden.record(f"{CALLS['rank']} --engine duckdb --master local".format(tables, "csv"), 10**9).parts
    assert "--master local is for Spark\n  add --engine spark" in parts["stderr"]


def test_a_collection_of_a_study_may_have_an_engine(tables: Path) -> None:
    text = (tables / "csv.toml").read_text()
    settings = 'engine_options = { memory_limit = "64MB", threads = 1 }\n'
    (tables / "engine.toml").write_text(f'{text}engine = "duckdb"\n{settings}')
    [collection] = read_collections(tables / "engine.toml")
    assert collection.options["engine"] == "duckdb"
    assert collection.options["engine_options"] == {"memory_limit": "64MB", "threads": 1}
    assert collection.read().positions.runs == ("a", "b", "c")
    (tables / "wrong.toml").write_text(text + 'engine = "postgres"\n')
    with pytest.raises(FormatError, match="collection 'c': engine is 'postgres', but must be one of duckdb, spark"):
        read_collections(tables / "wrong.toml")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("engine_options = 3", 'engine_options is 3, but must be a table\n.*memory_limit = "2GB", threads = 4 }'),
        ("columns = 'film'", 'columns is \'film\', but must be a table\n.*{ query = "user", document = "movie" }'),
        ("engine_options = { memory = '1GB' }", "engine_options has no 'memory'\n.*did you mean 'memory_limit'"),
        ("engine_options = { threads = 'many' }", "threads is 'many', but must be a whole number"),
    ],
    ids=str,
)
def test_the_engine_of_a_collection_is_checked_before_anything_is_read(tables: Path, lines: str, said: str) -> None:
    text = '[[collection]]\nname = "c"\nqrels = "stars.csv"\nruns = ["a.csv", "b.csv"]\nengine = "duckdb"\n'
    (tables / "wrong.toml").write_text(text + lines)
    with pytest.raises(FormatError, match=f"collection 'c': {said}"):
        read_collections(tables / "wrong.toml")


def test_the_runs_of_a_table_are_in_the_order_in_which_they_appear(tables: Path) -> None:
    options: dict[str, Any] = {"columns": {"document": "film", "grade": "stars"}, "measures": ["AP", "LexiRecall"]}
    frame = pl.read_parquet(tables / "films.parquet").reverse()
    here, there = (evaluate(tables / "stars.csv", frame, engine=engine, **options) for engine in (None, "duckdb"))
    assert here.runs == there.runs == ("c", "b", "a")
    assert here.to_dict(per_query=True) == there.to_dict(per_query=True)


@pytest.mark.parametrize("engine", ENGINES)
@every_verb
def test_what_is_in_memory_needs_no_engine(verb: Any, engine: str) -> None:
    with pytest.raises(UsageError, match=r"run 'x' is a mapping, which is already in memory\n.*leave out the engine"):
        verb(QRELS, RUNS, engine=engine)


@every_verb
def test_positions_have_been_read(verb: Any) -> None:
    with pytest.raises(UsageError, match="engine is given beside positions, which have been read"):
        verb(project(QRELS, RUNS), engine="duckdb")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"engine": "polars"}, "engine is 'polars', but must be one of duckdb"),
        ({"engine": ["duckdb"]}, "engine is .'duckdb'., but must be one of duckdb"),
        (
            {"engine_options": {"threads": 1}},
            "engine_options are given, but no engine is\n.*--engine NAME, or engine=",
        ),
        ({"engine": "duckdb", "engine_options": {"memory": "1GB"}}, "no 'memory'\n.*did you mean 'memory_limit'"),
        (
            {"engine": "duckdb", "engine_options": {"master": "x"}},
            "no 'master'\n.*choose from connection, memory_limit",
        ),
        ({"engine": "duckdb", "imputation": "paper"}, "imputation='paper' needs the corpus size"),
    ],
    ids=str,
)
def test_what_an_engine_does_not_do_is_refused_before_anything_is_read(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        lexirecall.project("no-such-qrels", "no-such-run", **options)
