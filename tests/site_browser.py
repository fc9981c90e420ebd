"""The documentation in a real browser, after `make docs`: it fits a phone, axe finds no fault, and search finds pages.

`make docs-check` runs this; the suite does not, since it needs the site.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from browsing import AXE, patient, served

ROOT = Path(__file__).parents[1]
SITE = ROOT / "site"
PAGES = [path.relative_to(SITE).as_posix() for path in sorted(SITE.rglob("*.html")) if "_static" not in path.parts]
LOOKED_AT = ("index", "theory", "measures", "api/lexirecall.evaluate")
TOO_WIDE = """() => {
    const room = document.documentElement.clientWidth;
    return document.documentElement.scrollWidth <= room ? [] : [...document.querySelectorAll("main *")]
        .filter((each) => each.getBoundingClientRect().right > room + 1)
        .slice(0, 3).map((each) => each.outerHTML.slice(0, 120));
}"""
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Serve the site on this machine, as the version switcher needs."""
    with served(SITE) as root:
        yield root


@pytest.fixture
def show(browser: Any, address: str) -> Iterator[Open]:
    """Open pages, all in one tab; a query to anywhere else fails the test."""
    contexts, asked = [], []

    def opened(name: str, page: Any = None, **context: Any) -> Any:
        if page is None:
            contexts.append(patient(browser.new_context(**context)))
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
