"""How to install what is missing: advice that fits the way in which lexirecall itself was installed.

Belongs here: what the extras need, and how an installation is told from another. Not here: who needs what.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexirecall.paths import exists

if TYPE_CHECKING:
    from importlib.metadata import Distribution

EXTRAS = {
    "plots": ("altair>=5.5", "vl-convert-python>=1.7"),
    "fast": ("isal>=1.7",),
    "frames": ("polars>=1.20", "pyarrow>=15"),
    "irds": ("ir-datasets>=0.5.6",),
    "duckdb": ("duckdb>=1.5", "polars>=1.20", "pyarrow>=15"),
    "arrays": ("array-api-compat>=1.11",),
    "spark": ("pyspark>=4.0", "pandas>=2.1", "pyarrow>=15"),
    "torch": ("torch>=2.4",),
}
"""What each extra of pyproject.toml needs, for a lexirecall that is on the path but not installed."""
_PACKAGE = Path(__file__).parent


def how_to_install(extra: str, *more: str) -> str:
    """Return the command that installs what an extra needs, and other packages.

    >>> how_to_install("arrays", "triton").endswith(" triton")
    True
    """
    from shlex import quote

    found = _installed()
    words = [] if found is None else _target(found, extra)
    return " ".join([_tool(found), *map(quote, words or EXTRAS[extra]), *more])


def _installed() -> "Distribution | None":
    """Return the installation that this code belongs to; there may be another one, or none."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        found = distribution("lexirecall")
    except PackageNotFoundError:
        return None
    origin = _origin(found)
    if origin.get("dir_info", {}).get("editable"):
        return found if _PACKAGE.is_relative_to(_path_of(str(origin["url"])).resolve()) else None
    return found if Path(str(found.locate_file("lexirecall"))).resolve() == _PACKAGE.resolve() else None


def _origin(found: "Distribution") -> dict[str, Any]:
    """Return where an installation came from (PEP 610); nothing if it came from an index."""
    import json

    try:
        known = json.loads(found.read_text("direct_url.json") or "{}")
    except ValueError:
        return {}
    return known if isinstance(known, dict) and isinstance(known.get("url"), str) else {}


def _path_of(url: str) -> Path:
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    return Path(url2pathname(urlsplit(url).path))


def _target(found: "Distribution", extra: str) -> list[str]:
    """Return what is to be installed with the extra; nothing if it is not there any more."""
    origin = _origin(found)
    url = origin.get("url", "")
    if not url:
        return [f"lexirecall[{extra}]"]
    if not url.startswith("file:"):
        vcs = origin.get("vcs_info")
        return [f"lexirecall[{extra}] @ " + (f"{vcs['vcs']}+{url}@{vcs['commit_id']}" if vcs else url)]
    path = _path_of(url)
    editable = ["--editable"] if origin.get("dir_info", {}).get("editable") else []
    return [*editable, f"{path}[{extra}]"] if exists(path) else []


def _tool(found: "Distribution | None") -> str:
    """Return what installs into this environment, which may have no pip."""
    if found is None:
        return "pip install"
    if exists(Path(sys.prefix, "uv-receipt.toml")):
        return "uv tool install"
    return "uv pip install" if (found.read_text("INSTALLER") or "").strip() == "uv" else "pip install"
