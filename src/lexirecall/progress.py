"""A progress bar for work that takes longer than a second, on a terminal.

Belongs here: showing progress.
"""

import sys
import threading
import time
from types import TracebackType
from typing import Any

PATIENCE = 1.0  # seconds before a bar appears


class Stopped(Exception):  # noqa: N818 - nothing went wrong here
    """Another part of the work has failed, or the user has interrupted it."""


class Progress:
    """Counts units of work from any thread; draws a bar on stderr once it has taken a second.

    >>> with Progress("reading", total=2, shown=False) as progress:
    ...     progress.advance(1)
    """

    def __init__(self, label: str, total: int, *, shown: bool | None = None) -> None:
        self._label, self._total, self._done = label, total, 0
        self._shown = sys.stderr.isatty() if shown is None else shown
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._stopped = False
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def stop(self) -> None:
        """Ask whoever still works to give up, the next time progress is reported."""
        self._stopped = True

    def advance(self, units: int) -> None:
        """Say that so many units more are done."""
        if self._stopped:
            raise Stopped
        if not self._shown:
            return
        with self._lock:
            self._done += units
            if self._bar is None and time.monotonic() - self._started > PATIENCE:
                self._draw()
            if self._bar is not None:
                self._bar.update(self._task, completed=min(self._done, self._total))

    def _draw(self) -> None:
        from rich.console import Console
        from rich.progress import Progress as Bar

        self._bar = Bar(console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(self._label, total=self._total)
        self._bar.start()
