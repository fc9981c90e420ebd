"""The site: Sphinx reads the Markdown pages of this folder. `make docs` builds it, and any warning is an error.

Nothing is fetched, neither when it is built nor when it is read: formulas become MathML, fonts are those of the reader,
and the search is Sphinx's own.
"""

import sys
import tomllib
from pathlib import Path

DOCS = Path(__file__).parent
sys.path += [str(DOCS / "extensions"), str(DOCS.parent / "src")]

from lexirecall.version import VERSION  # noqa: E402 - it is found only now

_URLS = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})

project = "lexirecall"
author = "the authors of lexirecall"
copyright = author  # noqa: A001 - as Sphinx calls it
version = release = VERSION

extensions = ["myst_parser", "sphinx_copybutton", "mathml", "markup", "accessible"]
exclude_patterns = ["extensions", "static"]
suppress_warnings = ["myst.header"]  # a page of the reference begins with a name, and what it has is a level below
myst_enable_extensions = ["attrs_block", "attrs_inline", "deflist", "dollarmath"]
myst_dmath_double_inline = False
myst_heading_anchors = 4
python_maximum_signature_line_length = 76
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
add_module_names = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

html_theme = "pydata_sphinx_theme"
html_title = "lexirecall"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "gallery": [], "changes": []}
html_theme_options = {
    "logo": {"text": "lexirecall"},
    "header_links_before_dropdown": 8,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "show_toc_level": 2,
    "navbar_persistent": ["search-button"],
    "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
    "switcher": {"json_url": "switcher.json", "version_match": VERSION},
    "check_switcher": False,  # versions.py writes it next to the pages
    "footer_end": [],
    "icon_links": [
        {"name": name, "url": _URLS[key], "icon": icon}
        for name, key, icon in [("Source", "Repository", "fa-brands fa-github")]
        if key in _URLS
    ],
}
