"""Sources: where bytes come from, and what they are packed in.

Belongs here: opening files and standard input, decompression, what a run is called. Not here: what the lines mean
(trec).

A file is recognized by its first bytes, never by its suffix.
"""

import contextlib
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from lexirecall.errors import FormatError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # says nothing in UTF-8
SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
_BLOCK = 1 << 18
_HEAD = 1 << 16
_BUFFER = 1 << 16  # less than a block, so that blocks are read without another copy
_MOST_BLANKS = 1 << 20  # before the text itself; a file of nothing but blanks is not held in memory
_ROOM = 1 << 26
_MOST_UNPACKED = 1000  # times its packed size; text that says something comes to a tenth of that
ZIP = b"PK\x03\x04"
NOT_UNPACKED = ("is a zip archive", "unpack it first; gz, bz2, xz and zst are read as they are")
_RIS = ("is a RIS file of references", "give the project file of ASReview (.asreview), or its export as CSV")
_REFUSED = {
    ZIP: NOT_UNPACKED,
    b"TY  -": _RIS,
    BYTE_ORDER_MARK + b"TY": _RIS,
    b"\xff\xfe": ("is UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8 IN > OUT"),
    b"\xfe\xff": ("is UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8 IN > OUT"),
}


class Source:
    """A file, or standard input for `-`; it can be opened more than once.

    Whoever looks at its head must close it: use it in a `with` statement.
    """

    def __init__(self, path: str | os.PathLike[str], advance: Callable[[int], None] | None = None) -> None:
        self.path = os.fspath(path)
        self.advance = advance
        self._packing = ""
        self._kept: BinaryIO | None = None
        self._head: bytes | None = None
        self._begun: tuple[contextlib.ExitStack, IO[bytes]] | None = None
        self._num_read = 0

    def __enter__(self) -> "Source":
        return self

    def __exit__(self, *_reason: object) -> None:
        if self._begun is not None:
            self._begun[0].close()
            self._begun = None
        if self._kept is not None:
            self._kept.close()

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
                self._head = head
                self._begun = stack.pop_all(), io.BufferedReader(_Continued(head, stream))
        return self._head

    @contextlib.contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Give the decompressed bytes; whatever fails while they are read becomes a FormatError."""
        with self._explained(), contextlib.ExitStack() as stack:
            if self._begun is None:
                yield self._begin(stack)
            elif self.head.startswith(ZIP):
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
            yield raw
            self._count(self.size)

    @property
    def is_plain_file(self) -> bool:
        """Whether it is a file that is not packed, so that it can be read from any place."""
        return self.packing == "" and self._kept is None and self.path != "-" and Path(self.path).is_file()

    @contextlib.contextmanager
    def open_from(self, start: int) -> Iterator[IO[bytes]]:
        """Give the bytes of a plain file from a place on, for one thread of several."""
        with self._explained(), Path(self.path).open("rb", buffering=0) as file:
            file.seek(start)
            yield io.BufferedReader(_CountedFile(cast("BinaryIO", file), self._count), 1 << 12)

    def _begin(self, stack: contextlib.ExitStack, *, refuses_archives: bool = True) -> IO[bytes]:
        self._num_read = 0
        packed = io.BufferedReader(_CountedStream(stack.enter_context(self._raw()), self._count), _BUFFER)
        self._packing = packing_of(packed.peek(10))
        unpacked = stack.enter_context(_unpacked(packed, self._packing))
        return stack.enter_context(_checked(unpacked, self.name, refuses_archives=refuses_archives))

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except EOFError:
            raise FormatError(self.name, None, "the compressed data is truncated", remedy="copy it again") from None
        except (OSError, zlib.error) as error:
            raise FormatError(self.name, None, _reason(error), remedy=_remedy(error)) from None
        except Exception as error:
            if type(error).__name__ not in {"LZMAError", "ZstdError", "IsalError"}:
                raise
            raise FormatError(
                self.name, None, f"the compressed data is corrupt ({error})", remedy="copy it again"
            ) from None

    def read_whole(self) -> bytes:
        """Return all the bytes at once; refuse what unpacks to far more than any text does."""
        blocks, size = [], 0
        with self.open() as stream:
            while block := stream.read(_BLOCK):
                blocks.append(block)
                size += len(block)
                if self.is_packed and size > max(_ROOM, _MOST_UNPACKED * self._num_read):
                    problem = f"the compressed data unpacks to more than {_MOST_UNPACKED:,} times its size"
                    raise FormatError(self.name, None, problem, remedy="unpack it first, if you trust it")
        return b"".join(blocks)

    def check_intact(self) -> None:
        """Raise if the file cannot be unpacked to its end: what looks like bad lines may be damage."""
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
        if self._kept is None and self.path != "-" and stat.S_ISREG(os.stat(self.path).st_mode):  # noqa: PTH116
            with Path(self.path).open("rb", buffering=0) as file:
                yield cast("BinaryIO", file)
            return
        if self._kept is None:
            self._kept = self._keep()
        self._kept.seek(0)
        yield self._kept

    def _keep(self) -> BinaryIO:
        """Copy a pipe to disk, because some files must be read twice."""
        import shutil  # not on top, nor tempfile: they import much, and most files are no pipes
        import tempfile

        with sys.stdin.buffer if self.path == "-" else Path(self.path).open("rb") as pipe:
            kept = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - lives as long as the source
            shutil.copyfileobj(pipe, kept)
        return kept


def _reason(error: Exception) -> str:
    if isinstance(error, zlib.error) or not getattr(error, "errno", None):
        return f"the compressed data is corrupt ({error})"
    return str(os.strerror(cast("OSError", error).errno or 0)).lower()


def _remedy(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "check the path"
    if isinstance(error, IsADirectoryError):
        return "name a file"
    return "" if getattr(error, "errno", None) else "copy it again"


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


class _CountedFile(_CountedStream):
    """The same for a file, with its places."""

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._raw.seek(offset, whence)


class _Continued(io.RawIOBase):
    """Gives again what was read of a stream already, and then the rest of it."""

    def __init__(self, head: bytes, stream: IO[bytes]) -> None:
        self._head, self._stream = memoryview(head), stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._head:
            return int(self._stream.readinto(buffer))  # type: ignore[attr-defined] # every binary stream has it
        part, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def _checked(unpacked: Any, name: str, *, refuses_archives: bool) -> IO[bytes]:
    """Refuse what is not text, by its first bytes."""
    stream = unpacked if isinstance(unpacked, io.BufferedReader) else io.BufferedReader(unpacked, _BLOCK)
    head = stream.peek(5)
    for magic, (problem, remedy) in _REFUSED.items():
        if head.startswith(magic) and (refuses_archives or magic != ZIP):
            raise FormatError(name, None, problem, remedy=remedy)
    return stream


def packing_of(head: bytes) -> str:
    r"""Tell by the first ten bytes how something is compressed: gz, bz2, xz, zst or nothing.

    >>> packing_of(b"\x1f\x8b\x08"), packing_of(b"301 Q0 FR9")
    ('gz', '')
    """
    if head.startswith(b"\x1f\x8b"):
        return "gz"
    if head.startswith(b"BZh") and head[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):  # the second is an empty file's
        return "bz2"
    if head.startswith(b"\xfd7zXZ\x00"):
        return "xz"
    is_zstandard = head.startswith(b"\x28\xb5\x2f\xfd") or (head[1:4] == b"\x2a\x4d\x18" and head[0] >> 4 == 5)
    return "zst" if is_zstandard else ""  # the second is a frame to be skipped


def _unpacked(packed: Any, packing: str) -> Any:
    """Unpack a stream, and import only then what that needs."""
    if packing == "gz":
        return _gzip_file()(fileobj=packed)
    if packing == "bz2":
        from bz2 import BZ2File

        return BZ2File(packed)
    if packing == "xz":
        from lzma import LZMAFile

        return LZMAFile(packed)
    if packing == "zst":
        from lexirecall.formats.zstframes import ZstFrames

        return ZstFrames(packed)
    return packed


def _gzip_file() -> Any:
    """Take the faster library where it is installed (extra `fast`)."""
    try:
        from isal.igzip import IGzipFile
    except ImportError:
        from gzip import GzipFile

        return GzipFile
    return IGzipFile
