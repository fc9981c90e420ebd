"""A progress bar for work that takes longer than a second, on a terminal.

Belongs here: showing progress.
"""

import sys
import threading
import time
from typing import Any

from lexirecall.text import visible

PATIENCE = 1.0  # seconds before a bar appears
_BAR = 20  # columns of the bar itself
_REST = 25  # columns of the brackets, the percentage and the time left
_CLEAR = "\r\033[K\033[?25h"  # an empty line, and the cursor, which click hides, shown again


class Stopped(Exception):  # noqa: N818 - nothing went wrong here
    """Another part of the work has failed, or the user has interrupted it."""


class Progress:
    """Counts units of work from any thread; draws a bar on stderr once it has taken a second.

    >>> with Progress("reading", total=2, shown=False) as progress:
    ...     progress.advance(1)
    """

    def __init__(self, label: str, total: int, *, shown: bool | None = None) -> None:
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._stopped = False
        self._bar = _hidden_bar(label, total) if (sys.stderr.isatty() if shown is None else shown) else None

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._bar is not None and not self._bar.hidden and sys.stderr.isatty():
                sys.stderr.write(_CLEAR)  # click would leave the bar and begin a line
                sys.stderr.flush()
            self._bar = None

    def stop(self) -> None:
        """Ask everyone who is still working to stop the next time they report progress."""
        self._stopped = True

    def advance(self, units: int) -> None:
        """Report that this many more units are done."""
        if self._stopped:
            raise Stopped
        with self._lock:
            if self._bar is not None:
                self._bar.hidden = self._bar.hidden and time.monotonic() - self._started <= PATIENCE
                self._bar.update(units)


def _hidden_bar(label: str, total: int) -> Any:
    import shutil  # not on top: it imports much, and most output goes to no terminal

    import click

    room = max(shutil.get_terminal_size().columns - _BAR - _REST, 0)  # a line that wraps could not be cleared
    return click.progressbar(length=total, label=visible(label)[:room], file=sys.stderr, width=_BAR, hidden=True)
