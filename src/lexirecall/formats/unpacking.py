"""Unpacking: what a compressed stream holds, to its end and within bounds.

Belongs here: going through all that was packed one behind the other, and refusing what follows it. Not here: opening
files (source).

Whatever is unpacked comes through here, so what unpacks to far more than any text does is refused here.
"""

import io
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, Any

from lexirecall.errors import FormatError

_HEAD = 10  # bytes that tell how something is compressed
_STEP = 1 << 16
_FEW, _MANY, _MUCH = 1 << 6, 1 << 11, 1 << 18  # bytes of a frame at a time, and what they unpack to
_PIECE = 1 << 18
ROOM = 1 << 22
"""Bytes that anything may unpack to."""
MOST_UNPACKED = 1000
"""Times its packed size that more may come to; text that says something comes to a tenth of that."""
_MOST_MEMORY = 1 << 31
_STARTS = {"gz": b"\x1f\x8b", "xz": b"\xfd7zXZ\x00", "zst": b"\x28\xb5\x2f\xfd"}
_PADDING = {"gz": 1, "xz": 4}
"""How many bytes of zero may follow each part: any number of times so many."""


def packing_of(head: bytes) -> str:
    r"""Tell by the first ten bytes how something is compressed: gz, bz2, xz, zst or nothing.

    >>> packing_of(b"\x1f\x8b\x08"), packing_of(b"301 Q0 FR9")
    ('gz', '')
    """
    if head.startswith(b"BZh"):
        return "bz2" if head[4:10] in (b"1AY&SY", b"\x17rE8P\x90") else ""  # the second is an empty file's
    if head[1:4] == b"\x2a\x4d\x18" and head[0] >> 4 == 5:  # a frame to be skipped
        return "zst"
    return next((packing for packing, start in _STARTS.items() if head.startswith(start)), "")


class Pieces(io.RawIOBase):
    """A stream of pieces, none of them empty."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._unpacked = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer: whoever reads in blocks should get whole ones, not what little each step unpacks."""
        filled = 0
        while filled < len(buffer):
            self._unpacked = self._unpacked or memoryview(next(self._pieces, b""))
            if not self._unpacked:
                break
            data, self._unpacked = self._unpacked[: len(buffer) - filled], self._unpacked[len(buffer) - filled :]
            buffer[filled : filled + len(data)] = data
            filled += len(data)
        return filled


def unpacked(packed: IO[bytes], packing: str, name: str, num_read: Callable[[], int]) -> Iterator[bytes]:
    """Give what a compressed file holds; `num_read` tells how many of its bytes were read."""
    size = 0
    for piece in _pieces(packed, packing, name):
        size += len(piece)
        if size > max(ROOM, MOST_UNPACKED * num_read()):
            problem = f"the compressed data unpacks to more than {MOST_UNPACKED:,} times its size"
            raise FormatError(name, None, problem, remedy="unpack it first, if you trust it")
        yield piece


def _pieces(packed: IO[bytes], packing: str, name: str) -> Iterator[bytes]:
    """Give what is unpacked, no piece empty; import only what that needs."""
    new = _decompressor(packing)
    data = packed.read(_STEP)
    while data:
        member = new()
        while not member.eof:
            # bz2 and xz may hold back output: they then want to be called again, without more input
            needs_input = not data and getattr(member, "needs_input", True)  # zlib's own has no such word
            data = packed.read(_STEP) if needs_input else data
            is_over = needs_input and not data
            piece = member.decompress(data, _PIECE)
            data = getattr(member, "unconsumed_tail", b"")
            if piece:
                yield piece
            elif is_over and not member.eof:
                raise EOFError
        data = _next_start(member.unused_data, packed, packing, name)


def _next_start(data: bytes, packed: IO[bytes], packing: str, name: str) -> bytes:
    """Return how the next part begins; nothing at the end of the file."""
    multiple, num_zeros, more = _PADDING.get(packing, 0), 0, b"?"
    while more:
        text = data.lstrip(b"\0") if multiple else data
        num_zeros += len(data) - len(text)
        more = packed.read(_STEP) if len(text) < _HEAD else b""
        data = text + more
    if (data and packing_of(data[:_HEAD]) != packing) or (num_zeros and num_zeros % multiple):
        problem = f"there are bytes after the end of the compressed data: {(data or bytes(num_zeros))[:20]!r}"
        raise FormatError(name, None, problem, remedy="copy it again, or cut them off")
    return data


def _decompressor(packing: str) -> Callable[[], Any]:
    """Return what makes an object that unpacks one part; that of gz is of the faster library if it is installed."""
    if packing == "bz2":
        from bz2 import BZ2Decompressor

        return BZ2Decompressor
    if packing == "xz":
        from lzma import FORMAT_XZ, LZMADecompressor

        return partial(LZMADecompressor, FORMAT_XZ, _MOST_MEMORY)
    if packing == "zst":
        from zstandard import ZstdDecompressor

        return partial(_ZstandardFrame, ZstdDecompressor(max_window_size=_MOST_MEMORY))
    try:
        from isal.igzip_lib import DECOMP_GZIP, IgzipDecompressor  # extra `fast`
    except ImportError:
        from zlib import decompressobj

        return partial(decompressobj, 31)  # with the head and the checksum of gzip
    return partial(IgzipDecompressor, flag=DECOMP_GZIP)


class _ZstandardFrame:
    """A frame of Zstandard, unpacked as the other libraries do it: not all at once.

    A block of four bytes unpacks to 128 KiB, so few are taken at a time until they are known to hold less.
    """

    eof, unused_data, unconsumed_tail = False, b"", memoryview(b"")

    def __init__(self, library: Any) -> None:
        self._frame, self._step = library.decompressobj(), _FEW

    def decompress(self, data: bytes, _most: int) -> bytes:
        piece: bytes = self._frame.decompress(data[: self._step])
        self.unconsumed_tail = memoryview(data)[self._step :]
        self.eof, self.unused_data = self._frame.eof, self._frame.unused_data + self.unconsumed_tail
        self._step = _FEW if len(piece) > _MUCH else _MANY
        return piece
