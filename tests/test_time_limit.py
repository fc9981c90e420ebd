"""A test that does not end fails at its limit and shows where it was; the others still run, and load fails none."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ENDLESS = {
    "loop": "while True: pass",
    "sleep": "time.sleep(1000)",
    "program": "subprocess.run([sys.executable, '-c', 'import time; time.sleep(1000)'])",
    "thread": "thread = threading.Thread(target=time.sleep, args=(1000,), daemon=True); thread.start(); thread.join()",
}
EXAMPLES = """
from hypothesis import given, settings, strategies as st

@settings(deadline=None)
@given(st.integers())
def test_example(i):
    time.sleep(1000)

@pytest.mark.time_limit(0.25)
def test_marked():
    time.sleep(1000)

@pytest.fixture
def slow_to_come():
    time.sleep(1000)

@pytest.fixture
def slow_to_go():
    yield
    time.sleep(1000)

def test_before(slow_to_come): pass
def test_after(slow_to_go): pass
def test_next(): pass
"""


def run(folder: Path, tests: str, *options: str, plugins: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run tests, given as their source, with a limit of a second, of the processor and of the clock."""
    header = "import subprocess, sys, threading, time\nfrom collections import deque\nfrom itertools import repeat\n"
    (folder / "test_it.py").write_text(f"{header}import pytest, time_limit\ntime_limit._WAIT = 1\n{tests}")
    (folder / "pytest.ini").write_text("[pytest]\ntime_limit = 1\n")
    loaded = [word for plugin in ("time_limit", *plugins) for word in ("-p", plugin)]
    words = [sys.executable, "-m", "pytest", "-q", *loaded, "-p", "no:cacheprovider", *options]
    variables = {**os.environ, "PYTHONPATH": str(TESTS), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(words, cwd=folder, env=variables, capture_output=True, text=True, check=False)


def test_every_way_of_not_ending_fails_with_the_stacks_and_the_next_test_runs(tmp_path: Path) -> None:
    done = run(tmp_path, "".join(f"def test_{name}():\n    {body}\n" for name, body in ENDLESS.items()) + EXAMPLES)
    assert done.returncode == 1
    assert f"{len(ENDLESS) + 2} failed, 2 passed, 2 errors" in done.stdout
    for name in (*ENDLESS, "example", "before", "after"):
        assert f"test_it.py::test_{name} has reached its time limit of 1 s" in done.stdout
    assert "test_it.py::test_marked has reached its time limit of 0.25 s" in done.stdout
    for place in (*(f"test_{name}" for name in ENDLESS), "test_example", "slow_to_come", "slow_to_go"):
        assert f"in {place}\n" in done.stdout  # in the stacks
    assert "Thread 0x" in done.stdout  # of every thread


def test_the_limit_is_of_the_processor_and_waiting_for_it_is_not_counted(tmp_path: Path) -> None:
    tests = "time_limit._WAIT = 1000\ndef test_waits(): time.sleep(0.5)\ndef test_loops():\n    while True: pass"
    done = run(tmp_path, tests, "--time-limit=0.25")
    assert "1 failed, 1 passed" in done.stdout
    assert "test_it.py::test_loops has reached its time limit of 0.25 s of processor time" in done.stdout


def test_a_loop_that_nothing_can_interrupt_ends_the_run_with_the_stacks(tmp_path: Path) -> None:
    stuck = "def test_it(): deque(repeat(0), maxlen=0)"  # it does not look whether a signal has come
    done = run(tmp_path, f"time_limit._GRACE = 0.5\n{stuck}")
    assert done.returncode == 1
    assert "in test_it\n" in done.stderr


def test_a_thread_that_is_left_behind_does_not_keep_the_run_from_ending(tmp_path: Path) -> None:
    leaves = "def test_it(): threading.Thread(target=time.sleep, args=(1000,)).start()"
    done = run(tmp_path, f"time_limit._GRACE = 0.5\n{leaves}", "--time-limit=100")
    assert "1 passed" in done.stdout
    assert done.returncode == 1
    assert "_shutdown" in done.stderr


def test_every_test_here_has_a_limit(request: pytest.FixtureRequest) -> None:
    assert float(request.config.getini("time_limit")) == 300


def test_no_test_has_a_limit_of_its_own_for_what_it_starts() -> None:
    """A busy machine would reach it."""
    limited = re.compile(r"timeout=\d|default_timeout\(\d")
    assert [path.name for path in TESTS.glob("test_*.py") if limited.search(path.read_text(encoding="utf-8"))] == []
