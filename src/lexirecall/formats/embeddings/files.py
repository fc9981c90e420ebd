"""Files of vectors: arrays that numpy saved, and ids, one on each line.

Belongs here: opening them. Not here: what is computed from them.
"""

import os
from typing import Any

import numpy as np

from lexirecall.errors import FormatError
from lexirecall.formats.source import BYTE_ORDER_MARK, Source


def load_vectors(path: str | os.PathLike[str]) -> Any:
    """Open an array that numpy saved; it stays in the file, and only what is needed is read."""
    name = os.fspath(path)
    try:
        found = np.load(name, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FormatError(name, None, f"cannot be read: {reason}", remedy="check the path") from None
    except (ValueError, EOFError):
        found = None
    if not isinstance(found, np.ndarray):
        raise FormatError(name, None, "not an array of numpy", remedy="write it with numpy.save, as float32")
    return found


def load_ids(path: str | os.PathLike[str]) -> list[bytes]:
    """Read ids, one on each line."""
    with Source(path) as source:
        lines = source.read_whole().removeprefix(BYTE_ORDER_MARK).splitlines()
        ids = [line.strip() for line in lines]
        if b"" in ids:
            raise FormatError(source.name, ids.index(b"") + 1, "the line is empty", remedy="write one id on each line")
    return ids
