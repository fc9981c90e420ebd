"""Output: results are written whole or not at all, and never over their own input.

Belongs here: stdout and files, the check that no output is an input or another output, and what a terminal is shown.
Not here: what is written.

Files and pipes get the bytes that there are. A terminal obeys some of them: it moves, hides and renames what it shows.
So control characters are written as escapes there, whatever writes them, but for those of our own tables.
"""

import contextlib
import errno
import io
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TextIO, TypeGuard

from lexirecall.errors import LexirecallError, UsageError
from lexirecall.paths import matching
from lexirecall.text import visible

FilePath = str | os.PathLike[str]
Identity = tuple[int, int, str]
"""Device and inode of a file; for a file that does not exist yet, those of its folder, and its name."""
_LAYOUT = re.compile(r"([\n\t]+)")
_DRAWN = re.compile("([\n\t\u2068\u2069]+|\x1b\\[[01]m)")
_QUOTED = re.compile('"(?:[^"]|"")*"')
_DESCRIPTOR = re.compile(r"/dev/(?:fd/(\d+)|std(?:in|out|err))|/proc/self/fd/(\d+)")


# Where output may go


def check_outputs(outputs: Iterable[tuple[str, FilePath | None]], inputs: Iterable[object]) -> None:
    """Raise before anything is read if an output is also an input, is in an input folder, or is another output.

    `outputs` are options with the files that they name, None or `-` for stdout. Only inputs that are paths count, also
    in lists and as values of mappings; a pattern counts as the files that match it. A file is the same under any name:
    relative, through links, as a hard link. What is not a plain file, such as /dev/null, may be written twice.

    >>> check_outputs([("-o", "out/result.txt"), ("--manifest", "./out/../out/result.txt")], ["qrels.txt", "bm25.run"])
    Traceback (most recent call last):
    lexirecall.errors.UsageError: --manifest './out/../out/result.txt' is the same file as -o 'out/result.txt'
      name another file
    """
    input_paths = list(_paths_of(inputs))
    files = {identity: path for path in input_paths if (identity := _identity(path)) is not None}
    folders = {os.path.realpath(path): path for path in input_paths if os.path.isdir(path)}  # noqa: PTH112 - never raises
    seen: dict[Identity, str] = {}
    for option, path in outputs:
        if (identity := _identity(path, is_output=True)) is None:
            continue
        name = f"{option} {os.fspath(path)!r}".lstrip() if _is_path(path) else "standard output"
        if identity in files:
            raise UsageError(f"{name} is also an input: {files[identity]!r}", remedy="name another file")
        if (folder := _folder_around(path, folders)) is not None:
            raise UsageError(f"{name} is in an input folder: {folder!r}", remedy="name a file outside it")
        # several results may go to standard output, one after the other, but not to one file
        if seen.get(identity, name) != name or (identity in seen and _is_path(path)):
            raise UsageError(f"{name} is the same file as {seen[identity]}", remedy="name another file")
        seen[identity] = name


def _is_path(path: FilePath | None) -> TypeGuard[FilePath]:
    """Tell whether output goes to a file rather than to stdout."""
    return path not in (None, "-", "/dev/stdout")


def _paths_of(values: Iterable[object]) -> Iterator[str]:
    """Give the paths among values, also in mappings of names to runs and in lists of runs."""
    for value in values:
        if isinstance(value, (str, os.PathLike)):
            yield from matching(value)
        elif isinstance(value, Mapping):
            yield from _paths_of(run for run in value.values() if isinstance(run, (str, os.PathLike)))
        elif isinstance(value, (list, tuple)):
            yield from _paths_of(run for run in value if isinstance(run, (str, os.PathLike, Mapping)))


def _identity(path: FilePath | None, *, is_output: bool = False) -> Identity | None:
    """Return what identifies a file; None if it is not a plain file, or is an input that does not exist."""
    try:
        if path == "-" or not _is_path(path):
            status = os.fstat((sys.stdout if is_output else sys.stdin).fileno())
        else:
            status = Path(path).stat()
    except FileNotFoundError:
        return _future_identity(path) if is_output and _is_path(path) else None
    except (OSError, ValueError, AttributeError):  # no permission to look, or not a file, as in tests
        return None
    return (status.st_dev, status.st_ino, "") if stat.S_ISREG(status.st_mode) else None


def _future_identity(path: FilePath) -> Identity | None:
    """Identify a file that does not exist yet by its folder and name, or by its path if there is no such folder."""
    target = Path(os.path.realpath(path))
    try:
        folder = target.parent.stat()
    except OSError:
        return (0, 0, str(target))
    return (folder.st_dev, folder.st_ino, target.name)


def _folder_around(path: FilePath | None, folders: Mapping[str, str]) -> str | None:
    """Return the input folder that an output would be in, as it was given."""
    if not _is_path(path):
        return None
    parents = Path(os.path.realpath(path)).parents
    return next((folders[str(parent)] for parent in parents if str(parent) in folders), None)


# Writing


def write(text: str, path: FilePath | None, form: str = "") -> None:
    """Write text to a file, or to stdout for None and `-`; of a format, if a terminal should know that."""
    write_all([(path, text)], form)


def write_all(texts: Iterable[tuple[FilePath | None, str]], form: str = "") -> None:
    """Write texts to files, or to stdout for None and `-`; if one file cannot be written, none is."""
    is_seen = sys.stdout.isatty()
    shown = ((path, for_terminal(text, form) if is_seen and not _is_path(path) else text) for path, text in texts)
    pairs = [(path, _encoded(text)) for path, text in shown]
    write_files({Path(path): data for path, data in pairs if _is_path(path)})
    for path, data in pairs:
        if not _is_path(path):
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()


def for_terminal(text: str, form: str = "") -> str:
    r"""Return text as a terminal may have it: only lines and tabs, and in a table what we draw it with.

    >>> for_terminal("a\x1b[31m\tb\n"), for_terminal("\x1b[1ma\x1b[0m", "table")
    ('a\\x1b[31m\tb\n', '\x1b[1ma\x1b[0m')
    >>> for_terminal('run,value\n"a\nb",1', "csv")  # a line end within a cell
    'run,value\n"a\\nb",1'
    """
    if form in ("csv", "tsv"):
        text = _QUOTED.sub(lambda cell: visible(cell[0]), text)
    parts = _DRAWN.split(text) if form == "table" else _LAYOUT.split(text)
    return "".join(part if k % 2 or part.isprintable() else visible(part) for k, part in enumerate(parts))


class _Terminal(io.TextIOWrapper):
    """A terminal that is shown no control characters; the bars of progress write to `unguarded`."""

    unguarded: TextIO

    def write(self, text: str) -> int:
        super().write(for_terminal(text))
        return len(text)


def guard_terminals() -> None:
    """Let nothing that is printed reach a terminal unseen: results, notes, errors and what libraries warn of."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream.isatty() and isinstance(stream, io.TextIOWrapper) and not isinstance(stream, _Terminal):
            guarded = _Terminal(stream.buffer, stream.encoding, "backslashreplace", line_buffering=True)
            guarded.unguarded = stream
            setattr(sys, name, guarded)


def _encoded(text: str) -> bytes:
    """Return the bytes of a text, with a final newline; ids that were not UTF-8 become their original bytes."""
    return (text if text.endswith("\n") or not text else text + "\n").encode(errors="surrogateescape")


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write beside the files, then rename: no half of a file is ever seen, and nothing is left behind if one fails.

    A device or a pipe is written to directly, and a link stays a link.
    """
    check_outputs((("", path) for path in contents), ())
    staged = {path: _beside(path) for path in contents if not _is_special(path)}
    try:
        for path, beside in staged.items():
            with _named(path):
                _stage(beside, path, contents[path])
        for path, data in contents.items():
            with _named(path):
                staged[path].replace(os.path.realpath(path)) if path in staged else _pour(path, data)
    finally:
        for beside in staged.values():
            with contextlib.suppress(OSError):  # the error that kept it from being written is reported already
                beside.unlink()


def write_folder(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files into a folder and its subfolders, all or none; replace files of the same names."""
    paths = {folder / name: data for name, data in contents.items()}
    for parent in dict.fromkeys(path.parent for path in paths):
        with _named(parent):
            parent.mkdir(parents=True, exist_ok=True)
    write_files(paths)


def _is_special(path: Path) -> bool:
    """Tell whether a path exists but is not a plain file, or is already open: nothing may be renamed over it."""
    is_open = _DESCRIPTOR.fullmatch(str(path)) is not None
    return is_open or (os.path.exists(path) and not os.path.isfile(path))  # noqa: PTH110, PTH113 - never raise


def _beside(path: Path) -> Path:
    """Return an unused name in the folder of a file; it is known in advance, and so always removed."""
    # in the same folder, because a rename is atomic within one file system only
    return Path(os.path.realpath(path)).with_name(f".lexirecall-{os.urandom(8).hex()}")


def _stage(beside: Path, path: Path, data: bytes) -> None:
    with beside.open("xb") as file:
        file.write(data)
    if path.exists():
        beside.chmod(stat.S_IMODE(path.stat().st_mode))


def _pour(path: Path, data: bytes) -> None:
    """Write to a device or a pipe; continue a file that is already open, do not start it again."""
    match = _DESCRIPTOR.fullmatch(str(path))
    named = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
    opened: str | int = str(path)
    if match:
        opened = named[str(path)] if str(path) in named else int(match[1] or match[2])
    with open(opened, "wb", closefd=not isinstance(opened, int)) as file:
        file.write(for_terminal(data.decode(errors="surrogateescape")).encode() if file.isatty() else data)


def stdout_problem(error: OSError) -> LexirecallError:
    """Return an error that says what failed while standard output was written."""
    return _problem("standard output", error, "redirect it to a file, or to a program that reads it")


def _problem(name: object, error: OSError, remedy: str) -> LexirecallError:
    reason = "it is closed" if error.errno == errno.EBADF else (error.strerror or str(error)).lower()
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        remedy = "free some space, or name a file on another disk"
    return LexirecallError(f"{name}: cannot be written: {reason}", remedy=remedy)


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _problem(path, error, "name a file in a folder that you can write to") from None
