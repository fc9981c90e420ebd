"""A limit for every test. At the limit the stacks of all threads are shown and the test fails; the rest goes on.

The limit is processor time, which a busy machine does not change. A test that only waits uses none: it ends after ten
times as many seconds of the clock, longer than any load has made the slowest test take. So no test needs a timeout of
its own for the programs that it starts.

An alarm ends whatever can be interrupted: loops, waits for threads, programs and Java. What it raises is not an
Exception, because hypothesis takes those for a failing example and runs it again, without a limit. What cannot be
interrupted, such as a loop in C, gets a grace period; then the whole run ends, also with all stacks.
"""

import faulthandler
import os
import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

_WAIT = 10.0  # seconds of the clock for each second of the limit
_GRACE = 600.0  # seconds for a test to clean up after its limit, and for threads to end after the last test
_REPEAT = 120.0  # seconds to the next alarm: cleaning up may wait for ever too
_HAS_ALARM = hasattr(signal, "setitimer")  # where it has not, the whole run ends at the limit
_terminal = pytest.StashKey[int]()


class TimeLimitReached(BaseException):
    """A test has reached its time limit."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the limit of a test that has no mark of its own."""
    parser.addini("time_limit", "seconds of processor time that each test may take", default="300")
    parser.addoption("--time-limit", type=float, help="seconds that each test may take, instead of all other limits")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark, and keep the way to the terminal, which is taken away while a test runs."""
    config.addinivalue_line("markers", "time_limit(seconds): the processor time that this test may take")
    config.stash[_terminal] = os.dup(2)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the process even if a test has left a thread that does not end."""
    faulthandler.dump_traceback_later(_GRACE, exit=True, file=config.stash[_terminal])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Limit the fixtures that a test needs."""
    with _limited(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Limit the test."""
    with _limited(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Limit what follows a test."""
    with _limited(item):
        return (yield)


def pytest_enter_pdb() -> None:
    """Leave whoever debugs a test all the time there is."""
    _disarm()


def _seconds(item: pytest.Item) -> float:
    given: float | None = item.config.getoption("--time-limit")
    if given is not None:
        return given
    mark = item.get_closest_marker("time_limit")
    return float(mark.args[0] if mark else item.config.getini("time_limit"))


@contextmanager
def _limited(item: pytest.Item) -> Iterator[None]:
    seconds, terminal = _seconds(item), item.config.stash[_terminal]

    def end(number: int, _frame: FrameType | None) -> None:
        faulthandler.dump_traceback(file=2, all_threads=True)
        spent = f"{seconds:g} s of processor time" if number == signal.SIGPROF else f"{seconds * _WAIT:g} s"
        raise TimeLimitReached(f"{item.nodeid} has reached its time limit of {spent}")

    faulthandler.dump_traceback_later(seconds * _WAIT + _GRACE * _HAS_ALARM, exit=True, file=terminal)
    if _HAS_ALARM:
        for sent, timer, limit in _clocks(seconds):
            signal.signal(sent, end)
            signal.setitimer(timer, limit, _REPEAT)
    try:
        yield
    finally:
        _disarm()


def _clocks(seconds: float) -> tuple[tuple[int, int, float], ...]:
    """Return the signals with their timers and limits: of processor time, and of the clock."""
    return (signal.SIGPROF, signal.ITIMER_PROF, seconds), (signal.SIGALRM, signal.ITIMER_REAL, seconds * _WAIT)


def _disarm() -> None:
    if _HAS_ALARM:
        for _, timer, _ in _clocks(0):
            signal.setitimer(timer, 0)
    faulthandler.cancel_dump_traceback_later()
