"""What axe finds in the pages that Sphinx and its theme make, mended in the pages that were written.

Each mend is about one element, and `make docs-check` fails if one of them is lost with a new version of the theme.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

MENDS = (
    # a button whose name is not what it shows
    (re.compile(r'\n +aria-label="Version switcher list"'), ""),
    # a toggle without a name
    (re.compile(r"<summary>(?=<span class=\"toctree-toggle\")"), '<summary aria-label="Pages below">'),
    # a list of definitions that defines nothing: the lines of a signature
    (re.compile(r"<dl>\n((?:<dd>(?:(?!</?d[dl]>).)*</dd>\n)+)</dl>", re.DOTALL), None),
)


def mended(page: str) -> str:
    r"""Return a page without these faults.

    >>> mended('<dl>\n<dd><em class="sig-param">a</em>,</dd>\n</dl>')
    '<span class="sig-lines">\n<span class="sig-line"><em class="sig-param">a</em>,</span>\n</span>'
    """
    for pattern, replacement in MENDS:
        page = pattern.sub(_lines if replacement is None else replacement, page)
    return page


def _lines(match: re.Match[str]) -> str:
    lines = match[1].replace("<dd>", '<span class="sig-line">').replace("</dd>", "</span>")
    return f'<span class="sig-lines">\n{lines}</span>'


def _mend_all(app: "Sphinx", failure: Exception | None) -> None:
    if failure is None and app.builder.format == "html":
        for path in Path(app.outdir).rglob("*.html"):
            if "_static" not in path.parts:
                path.write_text(mended(path.read_text(encoding="utf-8")), encoding="utf-8")


def setup(app: "Sphinx") -> dict[str, Any]:
    """Mend the pages when all are written."""
    app.connect("build-finished", _mend_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
