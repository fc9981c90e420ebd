"""Pipes: what can be read once only, read as often as it takes, and not for ever.

Belongs here: standard input, named pipes and devices. Not here: files (source).

What was read is kept on disk, as some forms must be read twice. Nobody knows how much will come, so it is looked at on
its way: a device, blanks without an end, a line without an end, or more than the disk has room for is refused.
"""

import errno
import io
import os
import shutil
import stat
import tempfile
from typing import Any, BinaryIO, cast

from lexirecall.errors import FormatError

_BLOCK = 1 << 18
_MOST = 1 << 36  # bytes, or half of what is free on the disk
_LONGEST = 1 << 31  # of a line: all JSON may be on one
_MOST_BLANKS = 1 << 24  # in a row
_BLANKS = b" \t\r\n\v\f\0"


class Pipe(io.RawIOBase):
    """A pipe with a place from which it is read; what is new is taken only when it is asked for."""

    def __init__(self, pipe: BinaryIO, name: str) -> None:
        self._pipe, self._name = pipe, name
        self._kept = cast("BinaryIO", tempfile.TemporaryFile(buffering=0))  # noqa: SIM115 - lives as long as the pipe
        self._most = min(_MOST, shutil.disk_usage(tempfile.gettempdir()).free // 2)
        self._at = self._size = self._num_blanks = self._line = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def close(self) -> None:
        """Close the pipe, and forget what came."""
        self._pipe.close()
        self._kept.close()
        super().close()

    def seek(self, offset: int, _whence: int = os.SEEK_SET) -> int:
        """Go to a place that was read before."""
        self._at = offset
        return offset

    def whole(self) -> BinaryIO:
        """Return all that comes as a file that can be read from any place."""
        while self.read(_BLOCK):
            pass
        self._kept.seek(0)
        return self._kept

    def readinto(self, buffer: Any) -> int:
        """Read what is kept, and after that what comes."""
        if self._at < self._size:
            self._kept.seek(self._at)
            count = self._kept.readinto(memoryview(buffer)[: self._size - self._at])  # type: ignore[attr-defined]
        else:
            count = self._pipe.readinto(buffer)  # type: ignore[attr-defined] # every binary file has it
            self._keep(bytes(memoryview(buffer)[:count]))
        self._at += count
        return int(count)

    def _keep(self, block: bytes) -> None:
        self._num_blanks = 0 if block.strip(_BLANKS) else self._num_blanks + len(block)
        newline = block.rfind(b"\n")
        self._line = self._line + len(block) if newline < 0 else len(block) - newline
        is_first, self._size = self._size == 0, self._size + len(block)
        bounds = {
            "is a device, not a file or a pipe": block and is_first and _is_device(self._pipe),
            f"gives more than {_MOST_BLANKS >> 20:,} MiB of blanks in a row": self._num_blanks > _MOST_BLANKS,
            f"gives more than {_LONGEST >> 20:,} MiB without a line end": self._line > _LONGEST,
            f"gives more than {self._most >> 20:,} MiB, and must be kept on disk to be read twice":
                self._size > self._most,
        }  # fmt: skip
        if problem := next((problem for problem, is_passed in bounds.items() if is_passed), ""):
            raise FormatError(self._name, None, problem, remedy="does it ever end? Write it to a file, and name that")
        self._kept.seek(0, os.SEEK_END)
        if self._kept.write(block) < len(block):  # of what has no room it only tells how much was written
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _is_device(pipe: BinaryIO) -> bool:
    """Tell a device such as /dev/zero from a pipe, and from a terminal, on which somebody types."""
    try:
        number = pipe.fileno()
        return stat.S_ISCHR(os.fstat(number).st_mode) and not os.isatty(number)
    except (OSError, ValueError):  # not of the operating system
        return False
