"""Paths: what is at a path, and which files a pattern stands for.

Belongs here: questions about paths that never raise, and patterns. Not here: opening files (formats), writing them
(output).
"""

import glob
import os
from collections.abc import Iterable

from lexirecall.errors import FormatError


def is_file(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path is that of a file; a path that is too long is not, and opening it says why."""
    return os.path.isfile(path)  # noqa: PTH113 - Path.is_file raises what it does not know


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path is that of a folder."""
    return os.path.isdir(path)  # noqa: PTH112


def exists(path: str | os.PathLike[str]) -> bool:
    """Tell whether there is anything at a path."""
    return os.path.exists(path)  # noqa: PTH110


def is_pipe(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path is that of what can be read once only, so that looking into it would lose it."""
    return os.fspath(path) == "-" or (exists(path) and not is_file(path) and not is_folder(path))


def matching(pattern: str | os.PathLike[str]) -> list[str]:
    """Return the files, or else the folders, that a pattern such as `runs/*.run` stands for; a path is itself."""
    path = os.fspath(pattern)
    if not glob.has_magic(path) or exists(path) or "://" in path:  # what is elsewhere, an engine looks up
        return [path]
    found = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 - Path.glob takes no pattern that begins with /
    if not found:
        raise FormatError(path, None, "no file matches this pattern", remedy="check the path")
    return regular(found) or found


def regular(paths: Iterable[str]) -> list[str]:
    """Return the files among these; raise if one is no folder either: nobody could tell what was left out."""
    files = [path for path in paths if not is_folder(path)]
    for path in files:
        if not is_file(path):  # a link that leads nowhere, or a pipe, which may never be written to
            remedy = "repair or remove it, or name the others one by one"
            raise FormatError(path, None, "is not a regular file, nor a link to one", remedy=remedy)
    return files
