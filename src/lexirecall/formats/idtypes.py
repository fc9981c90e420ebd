"""Id types: what ids were before they became text, so that results can give them back as they came in.

Belongs here: the type of a column of ids, or of the keys of a mapping, and the way back from text to it. Not here: the
way to text (ids, memory).

A type is `text`, or what numpy calls a type of numbers, such as int32. Numbers beyond 64 bits, and ids of mixed types,
are text.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

TEXT = "text"
_WIDEST = ("int64", "uint64")


def type_of_keys(keys: Iterable[Any]) -> str:
    """Return the type of ids that are Python objects.

    >>> type_of_keys([7, 8]), type_of_keys([7.0]), type_of_keys([7, "8"]), type_of_keys([2**63])
    ('int64', 'float64', 'text', 'uint64')
    """
    keys = list(keys)
    if keys and all(isinstance(key, float) for key in keys):
        return "float64"
    least, greatest, empty = 0, 0, True
    for key in keys:
        if type(key) is not int and not isinstance(key, np.integer):  # a subclass may have a text of its own
            return TEXT
        least, greatest, empty = min(least, int(key)), max(greatest, int(key)), False
    fitting = (name for name in _WIDEST if np.iinfo(name).min <= least and greatest <= np.iinfo(name).max)
    return TEXT if empty else next(fitting, TEXT)


def type_of_column(series: Any) -> str:
    """Return the type of the ids in a column; for categories, the type of their values.

    >>> import narwhals, polars
    >>> type_of_column(narwhals.from_native(polars.Series([7], dtype=polars.Int16), series_only=True))
    'int16'
    """
    import narwhals as nw

    dtype = series.dtype
    if dtype in (nw.Categorical, nw.Enum):
        from lexirecall.formats.ids import number_values

        return type_of_column(number_values(series)[1])
    if dtype == nw.Object or dtype in (nw.Int128, nw.UInt128):
        return type_of_keys(series.to_list())
    return str(dtype).lower() if dtype.is_integer() or dtype.is_float() else TEXT


def type_in_parquet(path: str, name: str) -> str | None:
    """Return the type of the ids in a column of a Parquet file; None if only the values could tell."""
    from pyarrow import parquet, types

    found = parquet.read_schema(path).field(name).type
    if types.is_integer(found):
        return str(found)
    return TEXT if types.is_string(found) or types.is_large_string(found) else None


def as_given(texts: Sequence[str], kind: str) -> list[Any]:
    """Return ids as they came in, as Python has them.

    >>> as_given(["7", "8"], "int16"), as_given(["7"], "float64"), as_given(["7", "q"], "text")
    ([7, 8], [7.0], ['7', 'q'])
    """
    return list(texts) if kind == TEXT else column_as_given(texts, kind).tolist()


def column_as_given(texts: Sequence[str], kind: str) -> Any:
    """Return ids as they came in, for a column of a frame: numbers are an array of their type."""
    return list(texts) if kind == TEXT else np.array([int(text) for text in texts], kind)
