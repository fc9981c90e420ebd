"""Files of vectors: arrays that numpy saved, and ids, one on each line.

Belongs here: opening them. Not here: what is computed from them.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

from lexirecall.errors import FormatError, counted, shown
from lexirecall.formats.source import BYTE_ORDER_MARK, Source
from lexirecall.paths import exists, is_file, is_folder

_REMEDY = "write it with numpy.save, as float32"


def load_vectors(path: str | os.PathLike[str]) -> Any:
    """Open vectors that numpy saved; they stay in the file, and only what is needed is read."""
    name = os.fspath(path)
    if exists(name) and not (is_file(name) or is_folder(name)):  # a pipe has no places to go back to
        raise FormatError(name, None, "is not a regular file", remedy=_REMEDY)
    try:
        with np.errstate(over="ignore"):  # of the product of a shape, which is then refused
            found = np.lib.format.open_memmap(name, mode="r")
        size = Path(name).stat().st_size
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FormatError(name, None, f"cannot be read: {reason}", remedy="check the path") from None
    except Exception:  # numpy evaluates the header: what that raises depends on what is written there
        raise FormatError(name, None, "not an array of numpy, or cut off", remedy=_REMEDY) from None
    if rest := size - found.offset - found.nbytes:
        raise FormatError(name, None, f"{counted(rest, 'byte')} too many after the array", remedy=_REMEDY)
    if found.ndim != 2 or 0 in found.shape:
        problem = f"has an array of the shape {found.shape}, but must have one of vectors, a row for each"
        raise FormatError(name, None, problem, remedy=_REMEDY)
    if str(found.dtype) not in ("float16", "float32", "float64"):  # a foreign byte order is named before the type
        problem = f"vectors are {shown(str(found.dtype))}, but must be float32, float16 or float64"
        raise FormatError(name, None, problem, remedy=_REMEDY)
    return found


def load_ids(path: str | os.PathLike[str]) -> list[bytes]:
    """Read ids, one on each line."""
    with Source(path) as source:
        lines = source.read_whole().removeprefix(BYTE_ORDER_MARK).splitlines()
        ids = [line.strip() for line in lines]
        if b"" in ids:
            raise FormatError(source.name, ids.index(b"") + 1, "the line is empty", remedy="write one id on each line")
    return ids
