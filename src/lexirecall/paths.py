"""Paths: what is at a path, and which files a pattern stands for.

Belongs here: questions about paths that never raise, and patterns. Not here: opening files (formats), writing them
(output).
"""

import glob
import os

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


def matching(pattern: str | os.PathLike[str]) -> list[str]:
    """Return the files, or else the folders, that a pattern such as `runs/*.run` stands for; a path is itself."""
    path = os.fspath(pattern)
    if not glob.has_magic(path) or exists(path):
        return [path]
    found = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 - Path.glob takes no pattern that begins with /
    if not found:
        raise FormatError(path, None, "no file matches this pattern", remedy="check the path")
    return [each for each in found if is_file(each)] or found
