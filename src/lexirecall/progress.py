"""A progress bar for work that takes longer than a second, on a terminal or in a notebook.

Belongs here: showing progress. Where both are missing, in a file or a log, there is no bar unless it is asked for.
"""

import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from lexirecall.text import visible

PATIENCE = 1.0  # seconds before a bar appears
_PAUSE = 0.1  # seconds between two updates of a cell, each of which is a message to the browser
_BAR = 20  # columns of the bar itself
_REST = 25  # columns of the brackets, the percentage and the time left
_CLEAR = "\r\033[K\033[?25h"  # an empty line, and the cursor, which click hides, shown again


class Interruption(Exception):  # noqa: N818 - nothing went wrong here
    """Another part of the work has failed, or the user has interrupted it."""


class _ProgressBar(Protocol):
    """What is drawn, from the first update that is due on."""

    def update(self, units: int, *, is_due: bool) -> None: ...

    def clear(self) -> None: ...


class Progress:
    """Counts units of work from any thread; draws a bar once it has taken a second: on stderr, or below a cell.

    >>> with Progress("reading", total=2, shown=False) as progress:
    ...     progress.advance(1)
    """

    def __init__(self, label: str, total: int, *, shown: bool | None = None) -> None:
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._stopped = False
        self._bar = _bar(label, total, shown)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._bar is not None:
                self._bar.clear()
            self._bar = None

    def stop(self) -> None:
        """Ask everyone who is still working to stop the next time they report progress."""
        self._stopped = True

    def advance(self, units: int) -> None:
        """Report that this many more units are done."""
        if self._stopped:
            raise Interruption
        with self._lock:
            if self._bar is not None:
                self._bar.update(units, is_due=time.monotonic() - self._started > PATIENCE)


def _bar(label: str, total: int, shown: bool | None) -> _ProgressBar | None:
    """Return the bar for where this runs; None if there is nobody to look at it, or it is not wanted."""
    if shown is False:
        return None
    if (display := _display_of_cell()) is not None:
        return _CellBar(label, total, display)
    return _TerminalBar(label, total) if shown or sys.stderr.isatty() else None


def _display_of_cell() -> Callable[..., Any] | None:
    """Return what shows something below a cell, if this runs in a kernel, which has imported IPython."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if getattr(shell, "kernel", None) is None:
        return None
    display: Callable[..., Any] = sys.modules["IPython.display"].display
    return display


class _TerminalBar:
    """A line of stderr that is drawn over itself, and cleared in the end."""

    def __init__(self, label: str, total: int) -> None:
        import shutil  # not on top: it imports much, and most output goes to no terminal

        import click

        room = max(shutil.get_terminal_size().columns - _BAR - _REST, 0)  # a line that wraps could not be cleared
        name = visible(label)[:room]
        # what moves the cursor would be shown as escapes by the guard of output
        self._terminal = getattr(sys.stderr, "unguarded", sys.stderr)
        self._bar = click.progressbar(length=total, label=name, file=self._terminal, width=_BAR, hidden=True)

    def update(self, units: int, *, is_due: bool) -> None:
        self._bar.hidden = self._bar.hidden and not is_due
        self._bar.update(units)

    def clear(self) -> None:
        if not self._bar.hidden and self._terminal.isatty():
            self._terminal.write(_CLEAR)  # click would leave the bar and begin a line
            self._terminal.flush()


class _CellBar:
    """One output of a cell, which is updated, and empty in the end."""

    def __init__(self, label: str, total: int, display: Callable[..., Any]) -> None:
        self._label, self._total, self._display = visible(label), total, display
        self._done, self._handle, self._drawn = 0, None, -_PAUSE

    def update(self, units: int, *, is_due: bool) -> None:
        self._done += units
        now = time.monotonic()
        if not is_due or now - self._drawn < _PAUSE:
            return
        self._drawn = now
        if self._handle is None:
            self._handle = self._display(self._drawing(), raw=True, display_id=True)
        else:
            self._handle.update(self._drawing(), raw=True)

    def _drawing(self) -> dict[str, str]:
        from html import escape  # not on top: only notebooks ask for it

        share = f"{min(100 * self._done // max(self._total, 1), 100)} %"
        bar = f'<progress value="{self._done}" max="{self._total}"></progress>'
        return {
            "text/plain": f"{self._label} {share}",
            "text/html": f"<label>{escape(self._label)} {bar} {share}</label>",
        }

    def clear(self) -> None:
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)
