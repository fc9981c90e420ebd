"""Which reader turns text into positions: the compiled one if it was built, else the one in Python.

Belongs here: the choice, and nothing that is read.
"""

import os
from importlib.util import find_spec

from lexirecall.errors import UsageError, choice

VARIABLE = "LEXIRECALL_READER"
READERS = ("native", "python")


def reader_in_use() -> str:
    """Return `native` or `python`: what the environment variable asks for, or the best there is.

    >>> reader_in_use() in READERS
    True
    """
    asked = os.environ.get(VARIABLE, "")
    if not asked:
        return "native" if is_built() else "python"
    choice(VARIABLE, asked, READERS)
    if asked == "native" and not is_built():
        raise UsageError("the native reader was not built", remedy="install a C compiler and lexirecall again")
    return asked


def is_built() -> bool:
    """Tell whether the compiled reader is there."""
    return find_spec("lexirecall._native") is not None
