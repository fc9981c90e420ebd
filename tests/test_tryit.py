"""The page that runs in a browser, as far as it is Python: its answers, and the folder that is put together."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import assemble
import lexirecall
import trysession
import wide
from lexirecall.formats.source import PARQUET
from lexirecall.page.html import unpack
from lexirecall.simulate import simulate_collection

RUNS = ["precise.run", "deep.run", "shallow.run", "random.run"]
ALL = {"qrels": "qrels.txt", "runs": RUNS}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with the sample data."""
    monkeypatch.chdir(tmp_path)
    ask("sample")
    return tmp_path


def ask(question: str, **asked: Any) -> Any:
    return json.loads(trysession.answer(question, json.dumps(asked)))


def test_the_answers_are_those_of_the_verbs() -> None:
    options: dict[str, Any] = {"measures": ["AP", "TSE,nDCG@10"], "level": 2, "corpus_size": 10_000}
    given = {**ALL, **options, "level": "2", "corpus_size": "10000"}
    scores = lexirecall.evaluate("qrels.txt", RUNS, **options)
    found = ask("evaluate", **given)
    assert found["rows"] == list(scores.rows())
    assert found["tables"][0]["rows"] == [list(row) for row in scores.table().rows]
    assert found["command"] == (
        "lexirecall eval qrels.txt precise.run deep.run shallow.run random.run -m AP,TSE,nDCG@10 --level 2 "
        "--corpus-size 10000"
    )
    comparison = lexirecall.compare("qrels.txt", RUNS, **options)
    found = ask("compare", **given)
    assert found["rows"] == list(comparison.rows())
    assert found["files"]["csv"] == comparison.render("csv") + "\n"
    assert {tuple(mark) for mark in found["tables"][0]["marks"]} == {
        (*cell, mark) for cell, mark in comparison.table().marks.items()
    }
    del options["measures"]
    explanation = lexirecall.explain("qrels.txt", RUNS[:2], **options)
    found = ask("explain", **given, a=RUNS[0], b=RUNS[1], query="5", width=60)
    assert found["rows"] == list(explanation.rows())
    assert found["drawing"] == explanation.query("5").drawing(60)
    assert found["command_query"].endswith("precise.run deep.run --query 5 --level 2 --corpus-size 10000")


def test_the_report_is_the_one_of_the_command() -> None:
    found = ask("report", **ALL)["html"]
    expected = lexirecall.report("qrels.txt", RUNS, output=None).html()
    assert payload(found) == payload(expected)


def payload(html: str) -> Any:
    return unpack(html.partition('id="payload">')[2].partition("</script>")[0])


def test_judgments_are_recognized() -> None:
    assert ask("roles", files=["deep.run", "qrels.txt", "random.run"]) == {
        "qrels": "qrels.txt",
        "runs": ["deep.run", "random.run"],
    }
    for name in ("a.json", "my-judgments.json"):  # both may be judgments: what it is called decides
        Path(name).write_text('{"1": {"a": 1}}', encoding="utf-8")
    assert ask("roles", files=["a.json", "my-judgments.json"])["qrels"] == "my-judgments.json"
    assert ask("roles", files=["deep.run"]) == {"qrels": "deep.run", "runs": []}


def test_swapped_files_are_told_apart() -> None:
    found = ask("evaluate", qrels="deep.run", runs=["qrels.txt"])["error"]
    assert "a qrels line has 4 fields" in found["problem"]
    assert "is this a run?" in found["remedy"]
    assert found["swap"] == "qrels.txt"
    assert ask("evaluate", qrels="deep.run", runs=["random.run"])["error"]["swap"] is None


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"qrels": "", "runs": RUNS}, "there are no judgments"),
        ({"qrels": "qrels.txt", "runs": []}, "there are no runs"),
        ({**ALL, "level": "two"}, "the lowest relevant grade is 'two'"),
        ({**ALL, "corpus_size": "1.5"}, "the corpus size is '1.5'"),
        ({**ALL, "measures": ["Nope"]}, "unknown measure 'Nope'"),
        ({**ALL, "runs": ["gone.run"]}, "gone.run"),
        ({**ALL, "runs": ["table.parquet"]}, "table.parquet is a Parquet file"),
    ],
)
def test_what_is_wrong_is_said_with_a_remedy(given: dict[str, Any], problem: str) -> None:
    Path("table.parquet").write_bytes(PARQUET + b" and so on")
    found = ask("evaluate", **given)
    assert found["error"]["problem"].startswith(problem)
    assert found["error"]["remedy"] or "choose from" in found["error"]["problem"]
    assert found["command"].startswith("lexirecall eval ")


def without(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a package impossible to import, as where it is not installed."""
    import builtins

    imported = builtins.__import__

    def refuse(name: str, *rest: Any, **named: Any) -> Any:
        if name.partition(".")[0] == module:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)
        return imported(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)


def many_queries(num_queries: int) -> dict[str, Any]:
    for name, text in simulate_collection(3, num_queries=num_queries, corpus_size=300).to_trec().items():
        Path(name).write_text(text, encoding="utf-8")
    return {"qrels": "qrels.txt", "runs": RUNS[:2]}


def test_no_test_of_the_page_needs_scipy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without("scipy", monkeypatch)
    monkeypatch.setattr("lexirecall.statistics.tails._has_scipy", lambda: False)
    assert all("error" not in ask(question, **ALL) for question in ("evaluate", "compare", "report"))
    given = many_queries(250)
    found = {question: ask(question, **given) for question in ("evaluate", "compare", "report")}
    assert [question for question, answer in found.items() if "error" in answer] == []
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    for row, own in zip(found["compare"]["rows"], ask("compare", **given)["rows"], strict=True):
        for key in ("p", "p_corrected", "low", "high"):
            assert row[key] == own[key] or row[key] == pytest.approx(own[key], rel=1e-10)


def test_very_many_queries_are_for_other_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    without("scipy", monkeypatch)
    monkeypatch.setattr("lexirecall.statistics.tails._has_scipy", lambda: False)
    monkeypatch.setattr("lexirecall.statistics.tails.MOST_WITHOUT_SCIPY", 100)
    given = many_queries(120)
    assert "error" not in ask("evaluate", **given)
    assert "error" not in ask("explain", **given, a=RUNS[0], b=RUNS[1])
    for question in ("compare", "report"):
        found = ask(question, **given)
        assert found["error"]["problem"].startswith("tests with 120 queries need scipy")
        assert "on your own machine" in found["error"]["remedy"]
        assert found["command"] == f"lexirecall {question} qrels.txt precise.run deep.run"


def test_zst_is_for_other_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    without("zstandard", monkeypatch)
    Path("deep.run.zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(100))
    assert "does not unpack zst" in ask("evaluate", qrels="qrels.txt", runs=["deep.run.zst"])["error"]["problem"]


def test_rows_of_json_need_no_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    without("narwhals", monkeypatch)
    row = {"reference_context_ids": ["a", "b"], "retrieved_context_ids": ["b", "c", "a"]}
    Path("rows.jsonl").write_text(json.dumps(row), encoding="utf-8")
    found = ask("evaluate", qrels="rows.jsonl", runs=[], measures=["TSE"])
    assert found["tables"][0]["rows"] == [["rows.jsonl", "0.3333"]]


def test_tables_are_for_other_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    without("polars", monkeypatch)
    Path("deep.csv").write_text("query_id,doc_id,score\n1,D1,3\n", encoding="utf-8")
    remedy = ask("evaluate", qrels="qrels.txt", runs=["deep.csv"])["error"]["remedy"]
    assert remedy == "pip install 'lexirecall[frames]', and run the command below on your own machine"


def test_a_bug_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise KeyError("surprise")

    monkeypatch.setattr(lexirecall, "evaluate", fail)
    assert ask("evaluate", **ALL)["error"]["problem"] == "KeyError: 'surprise' (a bug in lexirecall)"


def test_runs_are_read_without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = list(lexirecall.evaluate("qrels.txt", RUNS).rows())

    def refuse(*_: Any, **__: Any) -> Any:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("sys.platform", "emscripten")
    monkeypatch.setattr("threading.Thread.start", refuse)
    assert list(lexirecall.evaluate("qrels.txt", RUNS).rows()) == expected


def test_indices_of_32_bits_take_numbers_of_64() -> None:
    import numpy as np

    def narrow_bincount(x: Any, weights: Any, minlength: int) -> Any:
        assert x.dtype == np.intp
        return np.bincount(x, weights, minlength).astype(float if weights is not None else np.int32)

    def narrow_repeat(a: Any, repeats: Any, axis: Any) -> Any:
        assert repeats.dtype == np.intp
        return np.repeat(a, repeats, axis)

    counts = wide._counting(narrow_bincount)(np.array([0, 2, 2], np.int64), minlength=4)
    assert (counts.dtype, counts.tolist()) == (np.int64, [1, 0, 2, 0])
    assert wide._counting(narrow_bincount)([0, 2], [0.5, 1.0]).tolist() == [0.5, 0.0, 1.0]
    assert wide._repeating(narrow_repeat)([7, 8], np.array([1, 2], np.int64)).tolist() == [7, 8, 8]
    assert wide._numbering(np.arange)(3).dtype == np.int64
    assert wide._numbering(np.arange)(3, dtype=np.int8).dtype == np.int8


def distribution(folder: Path, *packages: str) -> Path:
    """Write what a whole distribution of Pyodide has, in small."""
    folder.mkdir()
    depends = {"scipy": ["numpy", "openblas"]}
    known = {
        name: {"file_name": f"{name}.whl", "version": "1.0", "depends": depends.get(name, [])} for name in packages
    }
    for name in (*assemble.CORE, *(f"{name}.whl" for name in packages)):
        (folder / name).write_bytes(name.encode())
    lock = {"info": {"version": "0.99", "python": "3.12.7"}, "packages": known}
    (folder / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    return folder


def test_a_whole_distribution_brings_scipy(folder: Path) -> None:
    given = distribution(folder / "pyodide", "numpy", "scipy", "openblas", "pandas")
    size = assemble.assemble(folder / "try", pyodide=given)
    home = folder / "try" / "python"
    manifest = json.loads((home / "loaded.json").read_text(encoding="utf-8"))
    assert manifest["packages"] == ["numpy", "scipy"]
    assert manifest["size"] == size
    assert {"numpy.whl", "scipy.whl", "openblas.whl"} <= {path.name for path in home.iterdir()}
    assert not (home / "pandas.whl").exists()
    assert "scipy 1.0: BSD-3-Clause" in (home / "LICENSES.txt").read_text(encoding="utf-8")
    with zipfile.ZipFile(home / f"lexirecall-{lexirecall.__version__}.zip") as archive:
        names = archive.namelist()
    assert "lexirecall/page/assets/template.html" in names
    assert not [name for name in names if name.endswith((".so", ".pyc"))]
    page = (folder / "try" / "index.html").read_text(encoding="utf-8")
    assert "{{" not in page
    assert "Pyodide 0.99 (MPL-2.0)" in page


def test_what_the_page_cannot_be_made_of(folder: Path) -> None:
    with pytest.raises(SystemExit, match="lacks scipy"):
        assemble.assemble(folder / "try", pyodide=distribution(folder / "pyodide", "numpy"))
    with pytest.raises(SystemExit, match="npm ci"):
        assemble.from_node_modules(folder)
    with pytest.raises(SystemExit, match="not a pure wheel"):
        assemble.checked(folder / "lexirecall-0.1.0-cp311-abi3-linux_x86_64.whl")


def test_every_script_of_the_page_is_assembled() -> None:
    here = Path(assemble.__file__).parent
    assert {path.name for path in here.glob("*.js")} == {*assemble.SCRIPTS}
    assert {path.name for path in here.glob("*.py")} == {*assemble.PYTHON, "assemble.py"}
