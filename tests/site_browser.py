"""The documentation in a real browser, after `make docs`: it fits a phone, axe finds no fault, and search finds pages.

`make docs-check` runs this; the suite does not, since it needs the site.
"""

import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright import sync_api as playwright

ROOT = Path(__file__).parents[1]
SITE = ROOT / "site"
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PAGES = [path.relative_to(SITE).as_posix() for path in sorted(SITE.rglob("*.html")) if "_static" not in path.parts]
LOOKED_AT = ("index", "theory", "measures", "api/lexirecall.evaluate")
TOO_WIDE = """() => {
    const room = document.documentElement.clientWidth;
    return document.documentElement.scrollWidth <= room ? [] : [...document.querySelectorAll("main *")]
        .filter((each) => each.getBoundingClientRect().right > room + 1)
        .slice(0, 3).map((each) => each.outerHTML.slice(0, 120));
}"""
Open = Callable[..., Any]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing of each request."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Serve the site on this machine, as the version switcher needs."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        found = next(filter(None, map(shutil.which, BROWSERS)), driver.chromium.executable_path)
        if not Path(found).exists():
            pytest.skip(f"there is no browser: none of {', '.join(BROWSERS)} is on the PATH")
        started = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def show(browser: Any, address: str) -> Iterator[Open]:
    """Open pages, all in one tab; a request to anywhere else fails the test."""
    contexts, asked = [], []

    def opened(name: str, page: Any = None, **context: Any) -> Any:
        if page is None:
            contexts.append(browser.new_context(**context))
            page = contexts[-1].new_page()
            page.on("request", lambda sent: asked.append(sent.url))
        page.goto(f"{address}/{name}")
        return page

    yield opened
    for each in contexts:
        each.close()
    assert [url for url in asked if not url.startswith((address, "data:"))] == []


def test_there_are_pages_to_look_at() -> None:
    assert {f"{name}.html" for name in LOOKED_AT} < {*PAGES}
    assert len(PAGES) > 90


def test_no_page_scrolls_sideways_on_a_phone(show: Open) -> None:
    page, found = None, {}
    for name in PAGES:
        page = show(name, page, viewport={"width": 390, "height": 800})
        found[name] = page.evaluate(TOO_WIDE)
    assert {name: wide for name, wide in found.items() if wide} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", LOOKED_AT)
def test_axe_finds_no_fault(show: Open, name: str, scheme: str) -> None:
    assert AXE.exists(), "axe-core is not installed: npm ci"
    page = show(f"{name}.html", color_scheme=scheme)
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run({ resultTypes: ['violations'] })")
    assert {each["id"]: [node["html"][:200] for node in each["nodes"][:3]] for each in found["violations"]} == {}


def test_search_finds_a_page_by_a_word_of_it(show: Open) -> None:
    page = show("search.html?q=leximin")
    page.wait_for_selector("#search-results li a")
    assert any("robustness.html" in each.get_attribute("href") for each in page.query_selector_all("#search-results a"))


def test_the_reader_chooses_a_version(show: Open) -> None:
    page = show("measures.html")
    page.wait_for_selector(".version-switcher__menu a", state="attached")
    assert "newest" in page.text_content(".version-switcher__button")


def test_formulas_are_mathml(show: Open) -> None:
    page = show("theory.html")
    assert page.locator("math[alttext]").count() > 20
    assert page.locator("math mfrac").first.bounding_box()["height"] > 10
    assert page.locator("merror").count() == 0


def test_code_has_a_button_that_copies_it(show: Open) -> None:
    assert show("index.html").locator("button.copybtn").count() >= 3
