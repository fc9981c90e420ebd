"""The mutants: which files are sampled, which tests run for them, and what becomes of a test that hangs."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import generate
import pytest
import reach

ROOT = Path(__file__).parent.parent
FUNCTION = "def doubled(x):\n    if x < 0:\n        raise ValueError\n    return 2 * x\n"
TESTS = "from lexirecall.attic.boxes import doubled\n\n\n"
NOTICING = "def test_doubled():\n    assert doubled(2) == 4\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a project with one room, the attic, which nobody has listed."""
    texts = {
        "src/lexirecall/__init__.py": '_HOME = {"doubled": "attic.boxes"}\n',
        "src/lexirecall/attic/__init__.py": "",
        "src/lexirecall/attic/boxes.py": FUNCTION,
        "src/lexirecall/attic/lids.py": "from lexirecall.attic import boxes\n",
        "src/lexirecall/cli/stow.py": "from lexirecall.attic.lids import boxes\n",
        "src/lexirecall/roof.py": "from lexirecall.attic.lids import boxes\n",
        "native/box.c": "int doubled(int x) { return 2 * x; }\n",
        "tests/test_roof.py": "from lexirecall import roof\n",
        "tests/test_stowing.py": 'def test_stow(command): command("stow")\n',
        "tests/test_weather.py": "import math\n",
        "tests/test_doubling.py": TESTS + NOTICING,
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_every_file_of_the_package_and_of_the_c_belongs_to_the_sample() -> None:
    files = {path for paths in generate.rooms(ROOT).values() for path in paths}
    assert {path for path in files if path.suffix == ".py"} == {
        path.relative_to(ROOT) for path in (ROOT / "src" / "lexirecall").rglob("*.py")
    }
    assert {path for path in files if path.suffix == ".c"} == {
        path.relative_to(ROOT) for path in (ROOT / "native").glob("*.c")
    }


def test_a_new_room_is_sampled_without_being_listed(tree: Path) -> None:
    assert [path.name for path in generate.rooms(tree)["attic"]] == ["__init__.py", "boxes.py", "lids.py"]


def test_every_room_with_a_place_for_a_fault_has_a_mutant() -> None:
    assert generate.shares({"large": 1000, "small": 1, "empty": 0}, 10) == {"large": 10, "small": 1}


def test_every_file_has_tests() -> None:
    assert all(reach.nearest_tests(ROOT, str(path)) for paths in generate.rooms(ROOT).values() for path in paths)


def test_tests_named_after_a_file_come_first_then_those_that_import_it() -> None:
    assert reach.nearest_tests(ROOT, "src/lexirecall/gates/ledger.py")[0] == "tests/test_gate_ledger.py"
    assert "tests/test_streams.py" in reach.nearest_tests(ROOT, "src/lexirecall/labels/stops.py")


def test_a_new_room_has_the_tests_that_import_it_directly_or_not(tree: Path) -> None:
    assert reach.nearest_tests(tree, "src/lexirecall/attic/boxes.py") == [
        "tests/test_doubling.py",
        "tests/test_roof.py",
        "tests/test_stowing.py",
    ]


def test_c_is_as_near_as_what_calls_it(tree: Path) -> None:
    (tree / "src/lexirecall/roof.py").write_text("from lexirecall._native import doubled\n")
    assert reach.nearest_tests(tree, "native/box.c") == ["tests/test_roof.py"]


def test_tests_that_reach_the_fault_run_first_and_fast_ones_before_slow_ones() -> None:
    measured = [
        reach.Reach("a.py::slow", 3, {"x.py": [1, 2]}),
        reach.Reach("a.py::fast", 1, {"x.py": [2]}),
        reach.Reach("b.py::other", 0.1, {"x.py": [9]}),
        reach.Reach("b.py::far", 0.1, {"y.py": [2]}),
        reach.Reach("b.py::faster", 0.5, {"x.py": [2]}),
    ]
    expected = ["b.py::faster", "a.py::fast", "a.py::slow", "b.py::other", "b.py::far"]
    assert reach.in_order(measured, "x.py", range(2, 3)) == expected
    assert reach.in_order(measured, "x.py", range(2, 3), 2) == expected[:2]
    assert reach.in_order(measured, "x.py", range(2, 3), 0.1) == expected[:1]


def test_a_fault_belongs_to_its_statement() -> None:
    source = "x = (\n    1 +\n    2\n)\nif x:\n    y = 1\nelse:\n    y = 2\n"
    assert [reach.statement(source, line) for line in (2, 5, 6, 8)] == [
        range(1, 5),
        range(5, 6),
        range(6, 7),
        range(8, 9),
    ]


def test_a_fault_that_changes_nothing_is_in_a_line_that_still_exists() -> None:
    for row in (ROOT / "mutants" / "equivalent.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        path, fault, reason = row.split("\t")
        lines = {line.strip() for line in (ROOT / path).read_text(encoding="utf-8").splitlines()}
        assert fault.split("  =>  ")[0] in lines, row
        assert reason


CONFTEST = """
from hypothesis import settings

pytest_plugins = ["time_limit"]
settings.register_profile("mutants")
"""


@pytest.mark.skipif(shutil.which("git") is None, reason="a copy of the tree is what git lists")
def test_a_mutant_is_noticed_or_not_and_one_that_hangs_is_stopped(tree: Path) -> None:
    (tree / "native/box.c").unlink()
    (tree / "tests/conftest.py").write_text(CONFTEST)
    (tree / "pyproject.toml").write_text("[tool.pytest.ini_options]\npythonpath = ['tests']\n")
    shutil.copy(ROOT / "tests/time_limit.py", tree / "tests")
    shutil.copytree(ROOT / "mutants", tree / "mutants")
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    faults = {
        "another number": ("2 * x", "3 * x"),
        "another case": ("x < 0", "x < 1"),
        "no end": ("return", "while 1: x ="),
    }
    lines = [
        json.dumps(
            {"path": "src/lexirecall/attic/boxes.py", "line": 2, "fault": name, "text": FUNCTION.replace(*fault)}
        )
        for name, fault in faults.items()
    ]
    (tree / "build").mkdir()
    (tree / "build/mutants.jsonl").write_text("\n".join(lines))
    words = [sys.executable, "mutants/run.py", "--limit=4", "--workers=2", "build/mutants.jsonl"]
    done = subprocess.run(words, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    results = [json.loads(line) for line in (tree / "build/results.jsonl").read_text().splitlines()]
    assert {each["fault"]: each["outcome"] for each in results} == {
        "another number": "killed",
        "another case": "survived",
        "no end": "killed",
    }
    assert done.stdout.endswith(
        "   3 mutants,   0 equivalent,   1 unnoticed  in total\nsrc/lexirecall/attic/boxes.py:2  another case\n"
    )
    with (tree / "mutants/equivalent.tsv").open("a") as file:
        file.write("src/lexirecall/attic/boxes.py\tanother case\tnobody minds\n")
    assert subprocess.run(words, cwd=tree, capture_output=True, check=False).returncode == 0
