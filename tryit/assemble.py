"""Assemble: the page that runs lexirecall in a browser, with all that it loads, in one folder of static files.

    python tryit/assemble.py site/try

Belongs here: which files the page needs, and where they come from. Pyodide and numpy are taken from node_modules
(`npm ci`), or from the folder of a whole Pyodide distribution, which has scipy as well: `--pyodide FOLDER`. Nothing of
them is in this repository.
"""

import argparse
import io
import json
import re
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
SOURCE = HERE.parent / "src"
NODE_MODULES = HERE.parent / "node_modules"
PAGE = ("index.html", "frame.html", "style.css")
SCRIPTS = ("start.js", "files.js", "python.js", "results.js", "tabs.js", "worker.js")
SHARED = ("elements.js", "save.js", "text.js")
"""Scripts of the report that the page uses too."""
PYTHON = ("trysession.py", "wide.py")
CORE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
WANTED = ("numpy", "scipy", "zstandard")
"""What is taken from a whole distribution, with what it depends on."""
_ASSETS = "../src/lexirecall/page/assets/"
_UNUSED = re.compile(r"/tests?/|/f2py/|/_pyinstaller/|/include/|/__pycache__/|\.(?:pyi|a|h|pxd|pyx|pyf)$")
_ORIGINS = {
    "Pyodide": ("MPL-2.0", "https://github.com/pyodide/pyodide"),
    "CPython": ("PSF-2.0", "https://github.com/python/cpython"),
    "numpy": ("BSD-3-Clause", "https://github.com/numpy/numpy"),
    "scipy": ("BSD-3-Clause", "https://github.com/scipy/scipy"),
    "zstandard": ("BSD-3-Clause", "https://github.com/indygreg/python-zstandard"),
}


class Runtime(NamedTuple):
    """What Python runs on: files to be copied or written, the packages in them, and their versions."""

    files: dict[str, Path | bytes]
    archives: tuple[str, ...]
    packages: tuple[str, ...]
    versions: dict[str, str]
    licence: str = ""
    """The text of numpy's licence, which must go with it."""


def assemble(folder: Path, *, pyodide: Path | None = None, wheel: Path | None = None) -> int:
    """Write the page to a folder, and return how many bytes a visitor loads for Python."""
    runtime = from_node_modules(NODE_MODULES) if pyodide is None else from_distribution(pyodide)
    package = f"lexirecall-{version()}.zip"
    files: dict[str, Path | bytes] = {
        **runtime.files,
        package: zipped(package_files()) if wheel is None else checked(wheel),
        "try.zip": zipped((name, (HERE / name).read_bytes()) for name in PYTHON),
        "LICENSES.txt": licences(runtime).encode(),
    }
    home = folder / "python"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    for name, content in files.items():
        (home / name).write_bytes(content if isinstance(content, bytes) else content.read_bytes())
    size = sum((home / name).stat().st_size for name in files if name != "LICENSES.txt")
    manifest = {
        "size": size,
        "scripts": [name for name in CORE if name.endswith("js")],
        "archives": [*runtime.archives, package, "try.zip"],
        "packages": runtime.packages,
    }
    (home / "loaded.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    write_page(folder, size, runtime.versions)
    return size


def write_page(folder: Path, size: int, versions: dict[str, str]) -> None:
    """Write what visitors see, with scripts of the report beside those of the page."""
    names = ", ".join(f"{name} {number} ({_ORIGINS[name][0]})" for name, number in versions.items())
    filled = {"SIZE": str(round(size / 1e6)), "VERSION": version(), "RUNTIME": names}
    for name in PAGE:
        text = (HERE / name).read_text(encoding="utf-8")
        for key, value in filled.items():
            text = text.replace(f"{{{{{key}}}}}", value)
        (folder / name).write_text(text, encoding="utf-8")
    for path in (*(HERE / name for name in SCRIPTS), *((HERE / _ASSETS / name).resolve() for name in SHARED)):
        script = path.read_text(encoding="utf-8").replace(_ASSETS, "./")
        (folder / path.name).write_text(script, encoding="utf-8")


def from_node_modules(modules: Path) -> Runtime:
    """Take the core of Pyodide, and numpy as it is built for it, from where npm has put them."""
    core, built = modules / "pyodide", modules / "@emscripten-forge" / "numpy" / "pkg"
    archives = sorted(built.glob("numpy-*.tar.gz"))
    if not core.is_dir() or not archives:
        raise SystemExit(f"{modules}: Pyodide and numpy are missing; npm ci installs them")
    versions = {
        "Pyodide": json.loads((core / "package.json").read_text(encoding="utf-8"))["version"],
        "CPython": _python_of(core),
        "numpy": archives[0].name.split("-")[1],
    }
    files: dict[str, Path | bytes] = {name: core / name for name in CORE}
    numpy = dict(numpy_files(archives[0]))
    licence = next((data.decode() for name, data in numpy.items() if name.endswith(".dist-info/LICENSE.txt")), "")
    return Runtime(files | {"numpy.zip": zipped(numpy.items())}, ("numpy.zip",), (), versions, licence)


def from_distribution(folder: Path) -> Runtime:
    """Take the core of Pyodide, numpy, scipy and what they depend on from a whole distribution."""
    known = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    names = list(_with_dependencies([name for name in WANTED if name in known], known))
    if missing := [name for name in ("numpy", "scipy") if name not in known]:
        raise SystemExit(f"{folder}: no whole distribution of Pyodide: it lacks {' and '.join(missing)}")
    files: dict[str, Path | bytes] = {name: folder / name for name in CORE}
    files |= {known[name]["file_name"]: folder / known[name]["file_name"] for name in names}
    lock = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))
    versions = {"Pyodide": lock["info"]["version"], "CPython": lock["info"]["python"]}
    versions |= {name: known[name]["version"] for name in names if name in _ORIGINS}
    return Runtime(files, (), tuple(name for name in WANTED if name in known), versions)


def _with_dependencies(names: Iterable[str], known: dict[str, dict[str, list[str]]]) -> Iterator[str]:
    waiting, seen = list(names), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += known[name]["depends"]
            yield name


def _python_of(core: Path) -> str:
    lock = json.loads((core / "pyodide-lock.json").read_text(encoding="utf-8"))
    return str(lock["info"]["python"])


def numpy_files(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Give what numpy needs to run, without its tests, headers and stubs."""
    with tarfile.open(archive) as packed:
        for member in packed:
            _, found, name = member.name.partition("/site-packages/")
            if found and member.isfile() and not _UNUSED.search(f"/{name}") and (file := packed.extractfile(member)):
                yield name, file.read()


def package_files() -> Iterator[tuple[str, bytes]]:
    """Give lexirecall as a pure wheel has it: without the compiled reader."""
    for path in sorted((SOURCE / "lexirecall").rglob("*")):
        if path.suffix == ".py" or path.parent.name == "assets":
            yield path.relative_to(SOURCE).as_posix(), path.read_bytes()


def checked(wheel: Path) -> bytes:
    """Return a wheel that runs everywhere."""
    if not wheel.name.endswith("-none-any.whl"):
        raise SystemExit(f"{wheel}: not a pure wheel; LEXIRECALL_PURE=1 pip wheel --no-deps . builds one")
    return wheel.read_bytes()


def version() -> str:
    """Return the version of the sources."""
    found = re.search(r'VERSION = "([^"]+)"', (SOURCE / "lexirecall" / "version.py").read_text(encoding="utf-8"))
    if found is None:
        raise AssertionError("version.py names no version")
    return found[1]


def zipped(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Pack files; the same files always give the same bytes, so that browsers need not load them again."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files:
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def licences(runtime: Runtime) -> str:
    """Name what the page runs on, under which licence, and where its source is."""
    lines = [f"{name} {number}: {' · '.join(_ORIGINS[name])}" for name, number in runtime.versions.items()]
    ours = f"lexirecall {version()}: MIT · the code of this page and its Python package"
    return "\n".join(
        [ours, *lines, *(["", "The licence of numpy:", "", runtime.licence] if runtime.licence else []), ""]
    )


def main() -> None:
    """Assemble the page."""
    parser = argparse.ArgumentParser(description="Put the page that runs lexirecall in a browser into a folder.")
    parser.add_argument("folder", type=Path, help="where to put it, such as site/try")
    parser.add_argument("--pyodide", type=Path, metavar="FOLDER", help="a whole Pyodide distribution, for scipy too")
    parser.add_argument("--wheel", type=Path, help="a pure wheel of lexirecall, instead of this tree")
    given = parser.parse_args()
    size = assemble(given.folder, pyodide=given.pyodide, wheel=given.wheel)
    sys.stdout.write(f"{given.folder}: the page loads {size / 1e6:.1f} MB\n")


if __name__ == "__main__":
    main()
