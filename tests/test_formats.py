"""Files that lexirecall reads again: each says its format, a newer one is refused, and old ones stay readable.

tests/formats holds a small file of every format that was ever written, NAME-FORMAT. It is added to and never changed:
each must be read by every later version. A 0 is a file from before its format had a number.
"""

import json
import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import lexirecall
from lexirecall.errors import FormatError
from lexirecall.gates import ledger
from lexirecall.labels.samples import draw_sample
from lexirecall.learn import weightsfile
from lexirecall.manifest import MANIFEST_FORMAT
from lexirecall.positions import file as positions_file

FILES = Path(__file__).parent / "formats"
QRELS = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"d": 1}}
RUNS = {
    "one": {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}, "q2": {"y": 2.0, "d": 1.0}},
    "two": {"q1": {"b": 2.0, "z": 1.0}},
}
MANY = {f"q{i}": {"a": 1, "b": 1} for i in range(4)}
FUSED = {"one": {query: ["a", "x", "b"] for query in MANY}, "two": {query: ["b", "x", "y"] for query in MANY}}


def test_there_is_a_file_of_every_format() -> None:
    newest = {
        "positions": positions_file.FORMAT,
        "weights": weightsfile.FORMAT_VERSION,
        "ledger": ledger.FORMAT_VERSION,
    }
    known = {re.sub(r"\..*", "", path.name) for path in FILES.iterdir()}
    assert {f"{name}-{number}" for name, last in newest.items() for number in range(1, last + 1)} <= known


@pytest.mark.parametrize("path", sorted(FILES.glob("positions-*")), ids=lambda path: path.stem)
def test_positions_files_are_read(path: Path) -> None:
    read = lexirecall.load_positions(path)
    made = lexirecall.project(QRELS, RUNS, needs_judged=True, corpus_size=50, ties="expected")
    assert read.runs == made.runs
    measures = ["AP", "R@2", "P@1"]
    assert read.corpus_size is not None
    assert (
        lexirecall.evaluate(read, measures=measures).to_dict() == lexirecall.evaluate(made, measures=measures).to_dict()
    )


def test_the_words_of_the_first_positions_files_are_understood(tmp_path: Path) -> None:
    lexirecall.project(QRELS, {"one": {"q1": ["A"]}}).save(tmp_path / "new.parquet")
    table = pq.read_table(tmp_path / "new.parquet")
    [(key, text)] = table.schema.metadata.items()
    facts = json.loads(text)
    facts["conventions"]["count"], facts["format"] = "items", 1
    facts["mismatches"] = [
        {**each, "system": each.pop("run"), "request": each.pop("query")} for each in facts["mismatches"]
    ]
    pq.write_table(table.replace_schema_metadata({key: json.dumps(facts)}), tmp_path / "old.parquet")
    old, new = (lexirecall.load_positions(tmp_path / f"{name}.parquet") for name in ("old", "new"))
    assert len(new.mismatches) == 1
    assert (old.mismatches, old.conventions) == (new.mismatches, new.conventions)


@pytest.mark.parametrize("path", sorted(FILES.glob("weights-*")), ids=lambda path: path.stem)
def test_weights_are_read(path: Path) -> None:
    read = weightsfile.load_weights(path)
    assert read is not None
    assert (read.discount, read.num_queries, read.queries, [*read.runs]) == (0.9, 4, (*MANY,), ["one", "two"])
    assert read.runs["one"]["log"] == 0.5103398328748158
    assert not lexirecall.fuse(MANY, FUSED, ["AP"], weights=path).is_learnt


@pytest.mark.parametrize("path", sorted(FILES.glob("ledger-*")), ids=lambda path: path.stem)
def test_ledgers_are_read_and_continued(path: Path, tmp_path: Path) -> None:
    own = shutil.copy(path, tmp_path / "ledger.jsonl")
    result = lexirecall.gate(MANY, FUSED["one"], FUSED["two"], ledger=own)
    assert result.build is not None
    spent = [
        row.get("spends", True) for row in map(json.loads, path.read_text().splitlines()) if row["kind"] == "build"
    ]
    assert (result.build.number, result.build.is_known) == (sum(spent) + 1, False)


@pytest.mark.parametrize("path", sorted(FILES.glob("ledger-[!1]*")), ids=lambda path: path.stem)
def test_builds_in_ledgers_are_known_again(path: Path, tmp_path: Path) -> None:
    own = Path(shutil.copy(path, tmp_path / "ledger.jsonl"))
    for name in (None, "a commit"):
        result = lexirecall.gate(MANY, FUSED["one"], FUSED["two"], margin=0.1, ledger=own, build=name)
        assert result.build is not None
        assert (result.build.is_known, result.build.has_changed, result.build.is_kept) == (True, False, False)
    assert own.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("path", sorted(FILES.glob("sample-*")), ids=lambda path: path.stem)
def test_samples_are_read(path: Path) -> None:
    ranking = {"q": ["a", "b", "c", "d", "e", "f"]}
    certified = lexirecall.certify({"q": {"a": 1, "b": 0}}, ranking, read=2, sampled=path)
    assert (certified[0].counts.sampled, certified[0].counts.relevant) == (2, 1)
    drawn = draw_sample({"q": {"a": 1, "b": 0}}, ranking, 2, read=2, seed=1)
    assert drawn.to_csv().splitlines() == [re.sub(r"\d$", "", line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("path", sorted(FILES.glob("judge-*")), ids=lambda path: path.stem)
def test_lists_of_what_to_judge_are_read(path: Path, tmp_path: Path) -> None:
    filled = tmp_path / "judge.csv"
    header, *lines = path.read_text().splitlines()
    place = header.split(",").index("grade")
    rows = [line.split(",") for line in lines]
    rows = [[*row[:place], "1", *row[place + 1 :]] for row in rows]
    filled.write_text("\n".join([header, *(",".join(row) for row in rows)]) + "\n")
    assert len(lexirecall.load_judgments(filled).grades) == len(rows) == 2


def test_what_is_written_says_its_format(tmp_path: Path) -> None:
    lexirecall.fuse(MANY, FUSED, ["AP"], folds=2).weights.save(tmp_path / "weights.json")
    lexirecall.gate(MANY, FUSED["one"], FUSED["two"], ledger=tmp_path / "ledger.jsonl")
    version = lexirecall.__version__
    weights = json.loads((tmp_path / "weights.json").read_text())
    assert (weights["version"], weights["lexirecall"]) == (weightsfile.FORMAT_VERSION, version)
    row = json.loads((tmp_path / "ledger.jsonl").read_text().splitlines()[0])
    assert (row["version"], row["lexirecall"]) == (ledger.FORMAT_VERSION, version)
    assert json.loads(lexirecall.evaluate(MANY, FUSED, ["AP"]).manifest.to_json())["format"] == MANIFEST_FORMAT


NEWER = r"written by lexirecall 9\.0, in a newer format \(this is lexirecall .*\)\n  use lexirecall 9\.0 or later, or "


def test_weights_of_a_newer_format_are_refused(tmp_path: Path) -> None:
    content = json.loads((FILES / "weights-1.json").read_text()) | {"version": 2, "lexirecall": "9.0"}
    (tmp_path / "weights.json").write_text(json.dumps(content))
    with pytest.raises(FormatError, match=rf"weights.json: was {NEWER}learn them again"):
        lexirecall.fuse(MANY, FUSED, ["AP"], weights=tmp_path / "weights.json")


@pytest.mark.parametrize("version", ["1", None, 0, True])
def test_weights_of_no_format_are_refused(version: object) -> None:
    content = json.loads((FILES / "weights-1.json").read_text()) | {"version": version}
    with pytest.raises(FormatError, match="the version of the weights is"):
        weightsfile.FusionWeights.from_json(json.dumps(content))


@pytest.mark.parametrize(("written_by", "says"), [("9.0", NEWER), (None, "written by a later lexirecall, in a newer")])
def test_a_ledger_of_a_newer_format_is_refused(written_by: str | None, says: str, tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_text(json.dumps({"kind": "queries", "version": 3, "lexirecall": written_by}) + "\n")
    with pytest.raises(FormatError, match=f"ledger.jsonl:1: this row was {says}"):
        lexirecall.gate(MANY, FUSED["one"], FUSED["two"], ledger=path)
