"""A real browser, and pages that are served to this machine alone.

Belongs here: what every test in a browser starts with. Not here: what the tests look at.
"""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from needs import why_not

PATIENCE = 600_000  # milliseconds; what is waited for takes a thousandth of that
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
AXE = Path(__file__).parents[1] / "node_modules" / "axe-core" / "axe.min.js"


@contextmanager
def opened() -> Iterator[Any]:
    """Start a browser: the one on the PATH, or the one that playwright has installed; without one, skip the test."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        found = next(filter(None, map(shutil.which, BROWSERS)), driver.chromium.executable_path)
        if not Path(found).exists():
            pytest.skip(why_not("browser"))
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"], timeout=PATIENCE)
        yield browser
        browser.close()


def patient(context: Any) -> Any:
    """Let a context, or a page, wait long enough for a busy machine."""
    context.set_default_timeout(PATIENCE)
    return context


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and says nothing."""

    def log_message(self, *_: object) -> None:
        """Say nothing of each query."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder, and give its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
