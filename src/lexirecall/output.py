"""Output: results written whole or not at all.

Belongs here: stdout and files. Imports errors only.
"""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from lexirecall.errors import LexirecallError


def write(text: str, path: str | None) -> None:
    """Write text to a file, or to stdout."""
    write_all({path: text})


def write_all(texts: Mapping[str | None, str]) -> None:
    """Write texts to files, or to stdout for None; if one file cannot be written, none is."""
    files = {Path(path): _encoded(text) for path, text in texts.items() if path is not None and path != "-"}
    write_files(files)
    for path, text in texts.items():
        if path in (None, "-"):
            sys.stdout.flush()
            sys.stdout.buffer.write(_encoded(text))
            sys.stdout.buffer.flush()


def _encoded(text: str) -> bytes:
    """Return the bytes of a text, ended by a newline; ids that were not UTF-8 come out as the bytes they were."""
    return (text if text.endswith("\n") or not text else text + "\n").encode(errors="surrogateescape")


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write beside the files, then rename, so that no half of any is ever seen.

    A device or a pipe is written to, and a link stays a link.
    """
    staged: dict[Path, Path] = {}
    try:
        for path, data in contents.items():
            with _named(path):
                if not _is_special(path):
                    staged[path] = _stage(path.resolve(), data)
        for path, data in contents.items():
            with _named(path):
                staged[path].replace(path.resolve()) if path in staged else path.write_bytes(data)
    finally:
        for beside in staged.values():
            beside.unlink(missing_ok=True)


def write_folder(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files into a folder, and into folders within it, all or none; those of the same names are replaced."""
    paths = {folder / name: data for name, data in contents.items()}
    for parent in dict.fromkeys(path.parent for path in paths):
        with _named(parent):
            parent.mkdir(parents=True, exist_ok=True)
    write_files(paths)


def _is_special(path: Path) -> bool:
    """Tell whether a path is there and is no plain file, so that nothing may be renamed over it."""
    return path.exists() and not path.is_file()


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        problem = f"{path}: cannot be written: {(error.strerror or str(error)).lower()}"
        raise LexirecallError(problem, remedy="name a file in a folder that can be written") from None


def _stage(path: Path, data: bytes) -> Path:
    descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    mask = os.umask(0)
    os.umask(mask)
    Path(beside).chmod(path.stat().st_mode if path.exists() else 0o666 & ~mask)
    return Path(beside)
