"""Bundle: the JavaScript that draws charts in a page (vega, vega-lite and vega-embed), from vl-convert.

Belongs here: where it comes from, and the copy in the user's cache folder that saves making it anew, which takes
seconds.
"""

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from lexirecall.errors import LexirecallError, UsageError
from lexirecall.output import write_folder

_SIGN = "vegaEmbed"  # without which it is not the bundle


def javascript_bundle() -> str:
    """Return the bundle, from the cache if it is there; where the cache cannot be written, nothing is lost but time."""
    convert = vl_convert()
    name = f"vega-{convert.__version__}.js"
    folder = cache_folder()
    if folder is not None and (cached := _read(folder / name)):
        return cached
    bundle = str(convert.javascript_bundle())
    if folder is not None:
        _keep(folder, name, bundle)
    return bundle


def vl_convert() -> Any:
    """Return the library, or say how to install it."""
    try:
        return import_module("vl_convert")
    except ModuleNotFoundError:
        raise UsageError("a report needs altair and vl-convert", remedy="pip install 'lexirecall[report]'") from None


def cache_folder() -> Path | None:
    """Return our folder among the user's caches; None where there is no home."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    if Path(given).is_absolute():
        return Path(given) / "lexirecall"
    try:
        return Path.home() / ".cache" / "lexirecall"
    except RuntimeError:
        return None


def _read(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    return text if _SIGN in text else ""


def _keep(folder: Path, name: str, bundle: str) -> None:
    """Write the copy beside and rename it, so that no other process ever reads half of it."""
    try:
        write_folder(folder, {name: bundle.encode()})
    except LexirecallError:
        return
