"""Html: one file that holds everything and asks nothing of the network.

Belongs here: putting template, style, modules and data together, and making sure that data cannot be mistaken for
any of them. Not here: what the page does (assets).
"""

import base64
import html
import json
import re
import zlib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from lexirecall.tables import Table
from lexirecall.text import visible

MODULES = (
    "text", "save", "elements", "payload", "data", "state", "links", "charts", "bars", "headline", "groups",
    "breakdown", "serving", "words", "evaluated", "leaderboard", "pairs", "pair", "deciding", "tail", "query",
    "strips", "worst", "unjudged", "funnel", "providers", "recall", "measures", "start",
)  # fmt: skip
"""The modules of the page's script, in the order in which they are joined; the last one starts it."""
_IMPORT = re.compile(r'^import \{[\w\s,]*\} from "\./\w+\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function |const |let )", re.MULTILINE)
_COMMENT = re.compile(r"^ */\*\*(?:(?!\*/).)*\*/ *\n", re.MULTILINE | re.DOTALL)
_PLACEHOLDER = re.compile(r"\{\{(TITLE|STYLE|SCRIPT|DATA|NOSCRIPT)\}\}")


def asset(name: str) -> str:
    """Return one of the files for pages that come with the package."""
    return files("lexirecall.page").joinpath("assets", name).read_text(encoding="utf-8")


def fill(payload: Mapping[str, Any], leaderboard: Table) -> str:
    """Return the page: the template, filled in one pass, so inserted text is never searched for placeholders."""
    parts = {
        "TITLE": html.escape(visible(payload["title"])),
        "STYLE": _within(asset("style.css"), "style"),
        "SCRIPT": _within(script(), "script"),
        "DATA": pack(payload),
        "NOSCRIPT": leaderboard.to_html(),
    }
    return _PLACEHOLDER.sub(lambda match: parts[match[1]], asset("template.html"))


def script() -> str:
    """Return the modules as one script: what one module imports from another is in the same function.

    Comments on lines of their own are for developers, and are left out.
    """
    modules = (_COMMENT.sub("", asset(f"{name}.js")) for name in MODULES)
    code = "\n".join(_EXPORT.sub("", _IMPORT.sub("", module)) for module in modules)
    return f'(() => {{\n"use strict";\n{code}}})();'


def pack(payload: Mapping[str, Any]) -> str:
    """Return data as base64 of raw deflate of JSON; base64 has no `<`, so nothing in it can end an element.

    >>> pack({"id": "</script>"})
    'q1bKTFGyUrLRL04uyiwosVOqBQA='
    >>> unpack(pack({"id": "</script>"}))
    {'id': '</script>'}
    """
    text = json.dumps(payload, allow_nan=False, separators=(",", ":"))
    compressor = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)  # 9 takes five times as long for 4 % less
    return base64.b64encode(compressor.compress(text.encode()) + compressor.flush()).decode()


def unpack(data: str) -> Any:
    """Return what was packed, as the page does."""
    return json.loads(zlib.decompress(base64.b64decode(data), -zlib.MAX_WBITS))


def _within(code: str, element: str) -> str:
    r"""Return code that can neither end the element that holds it nor hide its end; in strings, `<\/` means `</`.

    >>> _within("say('</SCRIPT>')", "script")
    "say('<\\/SCRIPT>')"
    """
    return re.sub(f"<(?=/{element}|!--)", r"<\\", code, flags=re.IGNORECASE)
