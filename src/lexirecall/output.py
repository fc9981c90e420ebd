"""Output: results written whole or not at all.

Belongs here: stdout and files. Imports errors only.
"""

import os
import sys
import tempfile
from pathlib import Path

from lexirecall.errors import LexirecallError


def write(text: str, path: str | None) -> None:
    """Write text to a file, or to stdout; ids that were not UTF-8 come out as the bytes they were."""
    data = (text if text.endswith("\n") or not text else text + "\n").encode(errors="surrogateescape")
    if path is None or path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        write_file(Path(path), data)


def write_file(path: Path, data: bytes) -> None:
    """Write beside the file, then rename, so that no half of it is ever seen."""
    try:
        if path.exists() and not path.is_file():  # a device or a pipe cannot be renamed over
            path.write_bytes(data)
            return
        descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            mask = os.umask(0)
            os.umask(mask)
            Path(beside).chmod(path.stat().st_mode if path.exists() else 0o666 & ~mask)
            Path(beside).replace(path)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise LexirecallError(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}") from None
