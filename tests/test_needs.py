"""What is not there is skipped with one line, and what does not start or dies fails one test, not all that need it."""

import os
import re
import tomllib
from pathlib import Path

import pytest

from needs import NEEDS, OF_SPARK, why_not
from test_time_limit import TESTS, run

ROOT = Path(__file__).parents[1]
THERE = "import needs\nneeds.NEEDS = {name: needs.Need((), '') for name in needs.NEEDS}\n"
MISSING = "import needs\nneeds.NEEDS = {name: needs.Need(('no_such_package',), 'install it') for name in needs.NEEDS}\n"
SPARK = """
from types import SimpleNamespace as Given
from lexirecall.engines import spark, spark_session

spark_session.check_java = lambda: None
process = Given(poll=lambda: None, kill=lambda: print("killed"))
context = Given(_gateway=Given(proc=process), _jsc=Given(sc=lambda: Given(isStopped=lambda: False)))
session = Given(sparkContext=context, stop=lambda: print("stopped"))
spark.session = lambda *_, **__: session
"""
BROWSER = """
import browsing
from contextlib import contextmanager
from types import SimpleNamespace as Given

closed = []
found = Given(is_connected=lambda: not closed)

@contextmanager
def opened():
    yield found
browsing.opened = opened
"""
FOUR = """
def test_one({0}): pass
def test_two({0}): pass
def test_other(): pass

class TestThree:
    @pytest.fixture(scope="class")
    def made(self, {0}): return 1
    def test_of_a_fixture(self, made): pass
"""
FAILS = {
    "spark": "def no(*_, **__): raise OSError('no memory\\nfor Java')\nspark.session = no\n",
    "browser": "def no(): raise OSError('no memory\\nfor it')\nbrowsing.opened = no\n",
}
HANGS = {
    "spark": "spark.session = lambda *_, **__: time.sleep(1000)\n",
    "browser": "@contextmanager\ndef hang():\n    time.sleep(1000)\n    yield\nbrowsing.opened = hang\n",
}
DIES = {
    "spark": "process.poll = lambda: 1",
    "browser": "closed.append(1)",
}
STARTS = {"spark": SPARK, "browser": BROWSER}
each = pytest.mark.parametrize("name", STARTS)


def lines(folder: Path, tests: str, *options: str) -> tuple[str, list[str]]:
    """Run tests, and return the last line and those that say why tests were skipped."""
    done = run(folder, tests, *options, plugins=("needs",))
    assert "INTERNALERROR" not in done.stdout + done.stderr
    last = done.stdout.strip().splitlines()[-1]
    return last, [line for line in done.stdout.splitlines() if " skipped: " in line]


def test_what_is_not_installed_has_one_line_for_each_kind(tmp_path: Path) -> None:
    for name in NEEDS:
        (tmp_path / f"test_{name}.py").write_text(f"import pytest\n{FOUR.format(name)}")
    marked = "@pytest.mark.ranx\ndef test_marked(): pass\n"
    (tmp_path / "conftest.py").write_text(MISSING)
    last, skipped = lines(tmp_path, marked)
    assert last.startswith("4 passed, 13 skipped")
    assert {*skipped} == {f"{3 + (name == 'ranx')} skipped: {name} is not installed: install it" for name in NEEDS}
    assert len(skipped) == len(NEEDS)


@each
def test_what_does_not_start_fails_one_test(tmp_path: Path, name: str) -> None:
    (tmp_path / "conftest.py").write_text(THERE)
    last, skipped = lines(tmp_path, STARTS[name] + FAILS[name] + FOUR.format(name))
    assert last.startswith("1 passed, 2 skipped, 1 error")
    assert skipped == [f"2 skipped: {name} did not start: OSError: no memory"]


@each
def test_what_hangs_at_its_start_fails_one_test(tmp_path: Path, name: str) -> None:
    (tmp_path / "conftest.py").write_text(THERE)
    last, skipped = lines(tmp_path, STARTS[name] + HANGS[name] + FOUR.format(name))
    assert last.startswith("1 passed, 2 skipped, 1 error")
    assert skipped[0].startswith(f"2 skipped: {name} did not start: TimeLimitReached: test_it.py::test_one has reached")


@each
@pytest.mark.parametrize("end", ["raise OSError", "time.sleep(1000)"], ids=["dies", "hangs"])
def test_what_dies_midway_fails_one_test(tmp_path: Path, name: str, end: str) -> None:
    (tmp_path / "conftest.py").write_text(THERE)
    dies = "pass" if "sleep" in end else DIES[name]
    tests = f"{STARTS[name]}def test_first({name}): pass\ndef test_last({name}):\n    {dies}\n    {end}\n"
    last, skipped = lines(tmp_path, tests + FOUR.format(name), "-s")
    assert last.startswith("1 failed, 2 passed, 3 skipped")
    how = "did not answer" if "sleep" in end else "died"
    assert skipped == [f"3 skipped: {name} {how} in test_it.py::test_last"]


@each
def test_a_failure_of_a_test_itself_skips_no_other(tmp_path: Path, name: str) -> None:
    (tmp_path / "conftest.py").write_text(THERE)
    last, skipped = lines(tmp_path, STARTS[name] + f"def test_fails({name}): assert 0\n" + FOUR.format(name))
    assert last.startswith("1 failed, 4 passed")
    assert skipped == []


def test_spark_is_stopped_while_it_answers_and_else_killed(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(THERE)
    for does, ended in (("pass", "stopped"), (f"{DIES['spark']}; assert 0", "killed")):
        tests = f"{SPARK}def test_first(spark): {does}\ndef test_last(spark): pass\n"
        done = run(tmp_path, tests, "-s", plugins=("needs",))
        assert [word for word in ("stopped", "killed") if word in done.stdout] == [ended]


@pytest.mark.spark
def test_spark_itself_dies_midway(tmp_path: Path) -> None:
    kill = "proc = spark.sparkContext._gateway.proc; proc.kill(); proc.wait(); spark.range(2).count()"
    tests = f"def test_first(spark): assert spark.range(2).count() == 2\ndef test_killed(spark): {kill}\n"
    last, skipped = lines(tmp_path, tests + FOUR.format("spark"), "--time-limit=1000")
    assert last.startswith("1 failed, 2 passed, 3 skipped")
    assert skipped == ["3 skipped: spark died in test_it.py::test_killed"]


@pytest.mark.browser
def test_a_browser_itself_does_not_start_or_is_closed_midway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = (
        "def test_first(browser): browser.new_page()\ndef test_closed(browser): browser.close(); browser.new_page()\n"
    )
    last, skipped = lines(tmp_path, closed + FOUR.format("browser"), "--time-limit=1000")
    assert last.startswith("1 failed, 2 passed, 3 skipped")
    assert skipped == ["3 skipped: browser died in test_it.py::test_closed"]
    (tmp_path / "chromium").write_text("#!/bin/sh\necho no display >&2\nexit 1\n")
    (tmp_path / "chromium").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    last, skipped = lines(tmp_path, FOUR.format("browser"), "--time-limit=1000")
    assert last.startswith("1 passed, 2 skipped, 1 error")
    assert skipped[0].startswith("2 skipped: browser did not start: ")


def test_spark_starts_in_one_process() -> None:
    takes_it = re.compile(r"^def .*\(spark: Any", re.MULTILINE)
    found = {path.name for path in TESTS.glob("test_*.py") if takes_it.search(path.read_text(encoding="utf-8"))}
    assert found == {*OF_SPARK}


def test_the_commands_that_run_what_is_skipped_name_every_kind() -> None:
    chosen = f"-m '{' or '.join(NEEDS)}'"
    for path in (".ci/run", ".github/workflows/ci.yml"):
        if (ROOT / path).exists():  # a source archive has neither
            assert chosen in (ROOT / path).read_text(encoding="utf-8")


def test_the_remedy_installs_what_is_needed() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = " ".join([*extras["test-all"], *extras["spark"]])
    for name, need in NEEDS.items():
        assert "pip install '.[test-all]'" in why_not(name)
        assert [package for package in need.packages if package not in named] == []
    assert not [package for need in NEEDS.values() for package in need.packages if package in " ".join(extras["test"])]
