"""Look at the pages that were built: every link within the site leads somewhere, and no page loads from elsewhere.

`python docs/check.py SITE` prints what is wrong and fails. Sphinx warns of what it cannot resolve; this looks at what
came out, templates, raw HTML and style sheets included.
"""

import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = dict.fromkeys(("script", "img", "iframe", "source", "video", "audio", "embed"), "src")
"""Elements that load what their attribute names."""
LINKS_THAT_LOAD = {"stylesheet", "preload", "icon", "modulepreload", "prefetch", "preconnect", "dns-prefetch"}
IN_STYLES = re.compile(r"""(?:@import\s+|url\(\s*)["']?(?=https?:|//)([^"')\s]+)""")


class Page(HTMLParser):
    """What a page links to, loads and has anchors for."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note the attributes that say where something is."""
        given = {name: value or "" for name, value in attributes}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and LINKS_THAT_LOAD & {*given.get("rel", "").split()}:
            self.loads.append(given["href"])
        elif LOADS.get(tag) in given:
            self.loads.append(given[LOADS[tag]])


def pages(site: Path) -> list[Path]:
    """Return the pages below a folder; what the theme brings with it are templates."""
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


def problems(site: Path) -> Iterator[str]:
    """Give what is wrong with the pages below a folder."""
    opened = cache(lambda path: Page(path.read_text(encoding="utf-8")))
    for path in pages(site):
        name = path.relative_to(site)
        for load in opened(path).loads:
            if urlsplit(load).scheme not in ("", "data") or load.startswith("//"):
                yield f"{name} loads {load}"
            elif not urlsplit(load).scheme and not _target(path, load).exists():
                yield f"{name} loads {load}, which is not there"
        for link in dict.fromkeys(opened(path).links):
            yield from (f"{name} links to {link}{why}" for why in _dead(path, link, opened))
    for path in sorted(site.rglob("*.css")):
        for found in IN_STYLES.findall(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)} loads {found}"


def _dead(path: Path, link: str, opened: Callable[[Path], Page]) -> Iterator[str]:
    """Give why a link leads nowhere; nothing if it leads somewhere, or out of the site."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return
    target = _target(path, link)
    if not target.exists():
        yield ", which is not there"
    elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in opened(target).anchors:
        yield ", where the anchor is missing"


def _target(path: Path, link: str) -> Path:
    named = unquote(urlsplit(link).path)
    target = (path.parent / named).resolve() if named else path
    return target / "index.html" if target.is_dir() else target


def main() -> None:
    """Check the site that is named."""
    site = Path(sys.argv[1]).resolve()
    found = [*problems(site)]
    sys.exit("\n".join(found) if found else 0 if pages(site) else f"there are no pages in {site}")


if __name__ == "__main__":
    main()
