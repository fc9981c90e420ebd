"""Frames of Zstandard, as a stream of what they hold.

Belongs here: going through the blocks of a frame. Not here: recognizing such a file (source).
"""

import io
from typing import IO, Any


def is_frame_start(start: bytes) -> bool:
    r"""Tell by five bytes whether a frame starts here, also one that is to be skipped.

    >>> is_frame_start(b"\x28\xb5\x2f\xfd\x04"), is_frame_start(b"301 Q")
    (True, False)
    """
    is_skipped = start[1:4] == b"\x2a\x4d\x18" and start[0] >> 4 == 5
    return len(start) >= 5 and (start.startswith(b"\x28\xb5\x2f\xfd") or is_skipped)


class ZstFrames(io.RawIOBase):
    """Reads zst frames; unlike the library's own reader it notices a file that ends within one.

    Frames are taken a few blocks at a time, because a block unpacks to 128 KiB at most, and any number of bytes to
    more than fits into memory.
    """

    _MOST_BLOCKS = 16
    _ENOUGH = 1 << 16

    def __init__(self, packed: IO[bytes]) -> None:
        from zstandard import ZstdDecompressor

        self._packed, self._new_frame = packed, ZstdDecompressor(max_window_size=2**31).decompressobj
        self._frame: Any = None
        self._skipped, self._num_behind = 0, 0
        self._unpacked = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer: whoever reads in blocks should get whole ones, not what little each step unpacks."""
        filled = 0
        while filled < len(buffer) and (len(self._unpacked) or self._unpack()):
            data, self._unpacked = self._unpacked[: len(buffer) - filled], self._unpacked[len(buffer) - filled :]
            buffer[filled : filled + len(data)] = data
            filled += len(data)
        return filled

    def _unpack(self) -> bool:
        """Unpack some blocks, or return False at the end. What is wrong with them is for the library to say."""
        if self._frame is None or self._frame.eof:
            piece = self._start()
            if not piece:
                return False
            self._frame = self._new_frame()
        else:
            piece = self._blocks()
            if not piece:
                raise EOFError
        self._unpacked = memoryview(self._frame.decompress(piece))
        return True

    def _start(self) -> bytes:
        """Read the head of a frame, and note what it says about the rest."""
        start = self._packed.read(5)
        self._skipped = self._num_behind = 0
        if not is_frame_start(start):
            return start
        if start[0] >> 4 == 5:  # a frame to be skipped, after four bytes of its length
            start += self._packed.read(3)
            self._skipped = int.from_bytes(start[4:8], "little")
            return start
        descriptor = start[4]
        is_single = descriptor >> 5 & 1
        self._num_behind = 4 * (descriptor >> 2 & 1)  # the checksum
        content_size = (is_single, 2, 4, 8)[descriptor >> 6]
        return start + self._packed.read((not is_single) + (0, 1, 2, 4)[descriptor & 3] + content_size)

    def _blocks(self) -> bytes:
        """Read some blocks of a frame: each has three bytes in front that tell its kind, its length and the last."""
        if self._skipped:
            piece = self._packed.read(min(self._skipped, self._ENOUGH))
            self._skipped -= len(piece)
            return piece
        pieces: list[bytes] = []
        size = 0
        while len(pieces) < 2 * self._MOST_BLOCKS and size < self._ENOUGH:
            head = self._packed.read(3)
            word = int.from_bytes(head, "little")
            is_last, is_one_byte = word & 1, word >> 1 & 3 == 1  # a byte that is repeated
            content = self._packed.read((1 if is_one_byte else word >> 3) + is_last * self._num_behind)
            pieces += [head, content]
            size += len(content)
            if is_last or len(head) < 3:
                break
        return b"".join(pieces)
