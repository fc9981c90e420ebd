"""Sources: where bytes come from, and what they are packed in.

Belongs here: opening files and standard input, what a run is called. Not here: decompression (unpacking), reading a
pipe twice (pipes), what the lines mean (trec).

A file is recognized by its first bytes, never by its suffix.
"""

import contextlib
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

from lexirecall.errors import FormatError, UsageError
from lexirecall.formats.unpacking import Pieces, packing_of, unpacked
from lexirecall.paths import is_file, is_folder

if TYPE_CHECKING:
    from lexirecall.formats.pipes import Pipe

BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # says nothing in UTF-8
SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
_BLOCK = 1 << 18
_HEAD = 1 << 16
_BUFFER = 1 << 16  # less than a block, so that blocks are read without another copy
_MOST_BLANKS = 1 << 20  # before the text itself; a file of nothing but blanks is not held in memory
_MOST_HELD = 1 << 31  # bytes of a pipe, in memory or in one line
ZIP = b"PK\x03\x04"
PARQUET = b"PAR1\x15"  # the fifth byte begins the first page, or the footer; a query may be called PAR1
NOT_UNPACKED = ("is a zip archive", "unpack it first; gz, bz2, xz and zst are read as they are")
_RIS = ("is a RIS file of references", "give the project file of ASReview (.asreview), or its export as CSV")
_REFUSED = {
    ZIP: NOT_UNPACKED,
    b"TY  -": _RIS,
    BYTE_ORDER_MARK + b"TY": _RIS,
    b"\xff\xfe": ("is UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8 IN > OUT"),
    b"\xfe\xff": ("is UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8 IN > OUT"),
}
_REMEDIES: dict[type, str] = {FileNotFoundError: "check the path", IsADirectoryError: "name a file"}


FileType = Enum("FileType", ["FOLDER", "ARCHIVE", "PARQUET", "JSON", "LINES"])
"""What a file is, whatever it is for; its role and names of columns may say more (kinds)."""


class Source:
    """A file, or standard input for `-`; it can be opened more than once, and is a path wherever one is asked for.

    Whoever looks at it must close it: use it in a `with` statement. What it is stays known, and it can be read again.
    """

    def __init__(self, path: str | os.PathLike[str], advance: Callable[[int], None] | None = None) -> None:
        if not isinstance(path, (str, os.PathLike)) or "\0" in os.fspath(path):
            raise UsageError(f"{path!r:.100} is not the path of a file")
        self.path = os.fspath(path)
        self.advance = advance
        self._packing = ""
        self._pipe: Pipe | None = None
        self._head: bytes | None = None
        self._begun: tuple[contextlib.ExitStack, IO[bytes]] | None = None
        self._num_read = 0

    def __enter__(self) -> "Source":
        return self

    def __exit__(self, *_reason: object) -> None:
        if self._begun is not None:
            self._begun[0].close()
            self._begun = None
        self._head = None  # of many runs it would be much
        if self._pipe is not None:
            self._pipe.close()

    def __fspath__(self) -> str:
        return self.path

    @property
    def name(self) -> str:
        """What messages call it."""
        return "standard input" if self.path == "-" else self.path

    @property
    def run_name(self) -> str:
        """What a run read from it is called: the file name, without compression suffix and a leading `input.`.

        >>> Source("runs/input.bm25.run.gz").run_name, Source("-").run_name
        ('bm25.run', '-')
        """
        name = Path(self.path).name
        for suffix in SUFFIXES:
            name = name.removesuffix(suffix)
        return name.removeprefix("input.") or name or self.path

    @property
    def size(self) -> int:
        """Bytes on disk, 0 if that is not known."""
        try:
            return Path(self.path).stat().st_size if self.path != "-" else 0
        except (OSError, ValueError):  # whoever opens it will say what is wrong
            return 0

    @cached_property
    def type(self) -> FileType:
        """What it is by its first bytes, looked at once, by whoever asks first."""
        if is_folder(self.path):
            return FileType.FOLDER
        head = self.head
        if head.startswith(ZIP) or self.name.endswith(".asreview"):  # a project that is broken is known by its name
            return FileType.ARCHIVE
        if head.startswith(PARQUET):
            return FileType.PARQUET
        # blanks may come before JSON, up to a limit
        is_json = head.removeprefix(BYTE_ORDER_MARK).lstrip().startswith((b"{", b"["))
        return FileType.JSON if is_json else FileType.LINES

    @property
    def is_regular(self) -> bool:
        """Whether it can be looked into and be read again by somebody else: a file, not a pipe or a folder."""
        return self.path != "-" and is_file(self.path)

    @property
    def is_packed(self) -> bool:
        """Whether it is compressed, known once it has been opened."""
        return bool(self._packing)

    @property
    def packing(self) -> str:
        """How it is compressed: gz, bz2, xz, zst or nothing."""
        return self._packing if self.head else ""

    @property
    def head(self) -> bytes:
        """The first bytes, unpacked, by which to tell what it is; if they are blank, some more.

        Whoever opens it next goes on with the same file, from its beginning.
        """
        if self._head is None:
            with self._explained(), contextlib.ExitStack() as stack:
                stream = self._begin(stack, refuses_archives=False)
                head = stream.read(_HEAD)
                if not head.removeprefix(BYTE_ORDER_MARK).strip():
                    head += stream.read(_MOST_BLANKS)
                pieces = chain([head], iter(partial(stream.read, _BLOCK), b""))
                self._head, self._begun = head, (stack.pop_all(), io.BufferedReader(Pieces(pieces)))
        return self._head

    @contextlib.contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Give the decompressed bytes; whatever fails while they are read becomes a FormatError."""
        with self._explained(), contextlib.ExitStack() as stack:
            if self._begun is None:
                yield self._begin(stack)
            elif self._head is not None and self._head.startswith(ZIP):
                raise FormatError(self.name, None, NOT_UNPACKED[0], remedy=NOT_UNPACKED[1])
            else:
                begun, stream = self._begun
                self._begun = None
                stack.enter_context(begun)
                yield stream

    @contextlib.contextmanager
    def open_packed(self) -> Iterator[BinaryIO]:
        """Give the bytes as they are, in a file that can be read from any place: an archive has its list at its end."""
        with self._explained(), self._raw() as raw:
            yield raw if self._pipe is None else self._pipe.whole()
            self._count(self.size)

    @property
    def is_plain_file(self) -> bool:
        """Whether it is a file that is not packed, so that it can be read from any place."""
        return self.packing == "" and self._pipe is None and self.is_regular

    @contextlib.contextmanager
    def open_from(self, start: int) -> Iterator[IO[bytes]]:
        """Give the bytes of a plain file from a place on, for one thread of several."""
        with self._explained(), Path(self.path).open("rb", buffering=0) as file:
            file.seek(start)
            yield io.BufferedReader(_CountedStream(cast("BinaryIO", file), self._count), 1 << 12)

    def _begin(self, stack: contextlib.ExitStack, *, refuses_archives: bool = True) -> IO[bytes]:
        self._num_read = 0
        packed = io.BufferedReader(_CountedStream(stack.enter_context(self._raw()), self._count), _BUFFER)
        self._packing = packing_of(packed.peek(10))
        stream: io.BufferedReader[Any] = packed
        if self._packing:
            pieces = unpacked(packed, self._packing, self.name, lambda: self._num_read)
            stream = io.BufferedReader(Pieces(pieces), _BLOCK)
        for magic, (problem, remedy) in _REFUSED.items():
            if stream.peek(5).startswith(magic) and (refuses_archives or magic != ZIP):
                raise FormatError(self.name, None, problem, remedy=remedy)
        return stack.enter_context(stream)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except EOFError:
            raise FormatError(self.name, None, "the compressed data is truncated", remedy="copy it again") from None
        except Exception as error:
            is_damage = isinstance(error, zlib.error) or type(error).__name__ in {"LZMAError", "ZstdError", "IsalError"}
            if not (is_damage or isinstance(error, OSError)):
                raise
            problem, remedy = f"the compressed data is corrupt ({error})", "copy it again"
            if number := getattr(error, "errno", None):
                problem, remedy = os.strerror(number).lower(), _REMEDIES.get(type(error), "")
            raise FormatError(self.name, None, problem, remedy=remedy) from None

    def read_whole(self, most: int | None = None) -> bytes:
        """Return all the bytes at once; refuse more than so many, unless it is a file and none are given."""
        blocks, size = [], 0
        with self.open() as stream:
            while block := stream.read(_BLOCK):
                blocks.append(block)
                size += len(block)
                if size > (most or _MOST_HELD) and (most or self._pipe is not None):
                    problem = f"there are more than {(most or _MOST_HELD) >> 20:,} MiB, which must be held in memory"
                    remedy = "is it the right file?" if most else "write it to a file, and name that"
                    raise FormatError(self.name, None, problem, remedy=remedy)
        return b"".join(blocks)

    def check_intact(self) -> None:
        """Raise if the file cannot be unpacked to its end: what looks like bad lines may be damage."""
        if self.is_packed:
            with self.open() as stream:
                while stream.read(_BLOCK):
                    pass

    def _count(self, number: int) -> None:
        """Count bytes that were read, packed as they are."""
        self._num_read += number
        if self.advance is not None:
            self.advance(number)

    @contextlib.contextmanager
    def _raw(self) -> Iterator[BinaryIO]:
        if self._pipe is None and self.path != "-" and stat.S_ISREG(os.stat(self.path).st_mode):  # noqa: PTH116
            with Path(self.path).open("rb", buffering=0) as file:
                yield cast("BinaryIO", file)
            return
        if self._pipe is None:
            from lexirecall.formats.pipes import Pipe  # not on top: it imports much, and most files are no pipes

            pipe = sys.stdin.buffer if self.path == "-" else Path(self.path).open("rb")  # noqa: SIM115 - the Pipe closes it
            self._pipe = Pipe(pipe, self.name)
        self._pipe.seek(0)
        yield cast("BinaryIO", self._pipe)


def source_of(path: str | os.PathLike[str]) -> Source:
    """Return the source that a path is, with what is known of it; or a new one.

    >>> source = Source("bm25.run")
    >>> source_of(source) is source, source_of("bm25.run") is source
    (True, False)
    """
    return path if isinstance(path, Source) else Source(path)


class _CountedStream(io.RawIOBase):
    """Tells how many bytes have been read."""

    def __init__(self, raw: BinaryIO, advance: Callable[[int], None]) -> None:
        self._raw, self._advance = raw, advance

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._raw.readinto(buffer)  # type: ignore[attr-defined] # every binary file has it
        self._advance(count)
        return int(count)

    def seekable(self) -> bool:
        return self._raw.seekable()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._raw.seek(offset, whence)
