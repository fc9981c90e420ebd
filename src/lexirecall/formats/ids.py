"""Ids: a column of them as numbers, with the text of each number.

Belongs here: numbering the values of a series in the library that it comes from. Not here: which values are ids
(frames).

There is no Python object for each row: each library has its own way to number values quickly, and only the different
ones become text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexirecall.judgments import BoolArray, FloatArray, IntArray

_VIEWS = {"string_view": "large_string", "binary_view": "large_binary"}


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids of a column: for each row a number, and for each number its text."""

    codes: IntArray
    values: Any
    """The different texts, as a series of the library that they come from."""

    def texts(self) -> list[str]:
        """Return all the different ids."""
        return [str(text) for text in self.values.to_list()]

    def text(self, row: int) -> str:
        """Return the id in a row."""
        return str(self.values[int(self.codes[row])])

    def find(self, wanted: Sequence[str]) -> IntArray:
        """Return the number of each wanted id, -1 for those that are not there."""
        import narwhals as nw

        found = np.full(len(wanted), -1, np.int64)
        if len(wanted):
            texts = as_text(series_of(list(wanted), self.values))
            theirs = self.values.alias("text").to_frame().with_row_index("code")
            ours = texts.alias("text").to_frame().with_row_index("place")
            # an inner join gives pairs; their order does not matter
            pairs = theirs.join(ours, on="text", how="inner").select(nw.col("code", "place").cast(nw.Int64))
            found[pairs.get_column("place").to_numpy()] = pairs.get_column("code").to_numpy()
        return found

    def ranks(self, codes: IntArray) -> IntArray:
        """Return the rank of each number among these, from 0, in the order of the bytes of its text.

        >>> import narwhals, polars
        >>> ids = Ids(*number_values(narwhals.from_native(polars.Series(["b", "é", "B"]), series_only=True)))
        >>> ids.ranks(ids.codes).tolist()
        [1, 2, 0]
        """
        some = np.unique(codes)
        texts = self.values[some.tolist()].alias("text").to_frame().with_row_index("place")
        ascending = texts.sort("text").get_column("place").to_numpy()  # by code point, which is the order of bytes
        ranks = np.zeros(len(self.values), np.int64)
        ranks[some[ascending]] = np.arange(len(some))
        return ranks[codes]


def is_polars(series: Any) -> bool:
    """Tell whether a series is one of polars."""
    return bool(series.implementation.is_polars())


def series_of(values: Any, like: Any) -> Any:
    """Return a series of the same library."""
    import narwhals as nw

    dtype = nw.String if isinstance(values, list) else None
    return nw.new_series("text", values, dtype, backend=like.implementation)


def as_text(series: Any) -> Any:
    """Return texts in the type that their library can join."""
    import narwhals as nw

    if not series.implementation.is_pyarrow():
        return series.cast(nw.String)
    import pyarrow as pa

    return nw.from_native(series.to_native().cast(pa.large_string()), series_only=True)


def decoded(series: Any) -> Any:
    """Return a series of Arrow, also in pandas, in a type that its library can take from; others as they are.

    In a dictionary a null may be a value, and views of text cannot be taken from.
    """
    import narwhals as nw

    native = series.to_native()
    in_pandas = getattr(native.dtype, "pyarrow_dtype", None) if series.implementation.is_pandas() else None
    arrow_type = native.type if series.implementation.is_pyarrow() else in_pandas
    if arrow_type is None:
        return series
    import pyarrow as pa

    kind = arrow_type.value_type if pa.types.is_dictionary(arrow_type) else arrow_type
    if str(kind) in _VIEWS:  # by name: the first versions of pyarrow do not know them
        kind = getattr(pa, _VIEWS[str(kind)])()
    if kind == arrow_type:
        return series
    array = native if in_pandas is None else native.array.__arrow_array__()
    if pa.types.is_dictionary(arrow_type):
        array = pa.chunked_array([chunk.dictionary.cast(kind).take(chunk.indices) for chunk in array.chunks], kind)
    plain: Any = array.cast(kind) if in_pandas is None else type(native)(type(native.array)(array.cast(kind)))
    return nw.from_native(plain, series_only=True).alias(series.name)


def number_integers(values: Any, like: Any) -> Ids:
    """Return integers as ids, without a sort if the least and the greatest are not far apart."""
    least, greatest = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    if greatest - least > 4 * len(values) + 1024:
        distinct, codes = np.unique(values, return_inverse=True)
    else:
        wide = np.uint64 if values.dtype.kind == "u" else np.int64  # 100 - -100 does not fit into eight bits
        offsets = (values.astype(wide, copy=False) - wide(least)).astype(np.int64)
        is_there = np.zeros(greatest - least + 1, bool)
        is_there[offsets] = True
        distinct = np.flatnonzero(is_there).astype(wide) + wide(least)
        codes = (np.cumsum(is_there) - 1)[offsets]
    return Ids(codes.astype(np.int64, copy=False), as_text(series_of(distinct, like)))


def number_values(series: Any) -> tuple[IntArray, Any]:
    """Return a number for each value of a series, and the different values, in the fastest way of its library."""
    import narwhals as nw

    native = series.to_native()
    if is_polars(series):
        return _distinct_of_polars(native)
    if series.implementation.is_pyarrow():
        return _distinct_of_pyarrow(native)
    codes, values = native.factorize()
    values = values.astype(values.categories.dtype) if hasattr(values, "categories") else values
    return np.asarray(codes, np.int64), nw.from_native(type(native)(values), series_only=True)


def _distinct_of_pyarrow(native: Any) -> tuple[IntArray, Any]:
    import narwhals as nw
    import pyarrow as pa

    plain = native.cast(native.type.value_type) if pa.types.is_dictionary(native.type) else native
    encoded = plain.dictionary_encode().unify_dictionaries()
    codes = [chunk.indices.to_numpy(zero_copy_only=False) for chunk in encoded.chunks]
    values = pa.chunked_array([encoded.chunk(0).dictionary] if codes else [[]], plain.type)
    return np.concatenate([np.zeros(0, np.int64), *codes]), nw.from_native(values, series_only=True)


def _distinct_of_polars(native: Any) -> tuple[IntArray, Any]:
    import narwhals as nw
    import polars as pl

    categories = native.cast(pl.Categorical)  # faster than a join with the different values
    values = categories.unique()
    theirs = values.to_physical().to_numpy().astype(np.int64)
    numbers = np.zeros(int(theirs.max(initial=-1)) + 1, np.int64)  # categories may be shared with other columns
    numbers[theirs] = np.arange(len(theirs))
    return numbers[categories.to_physical().to_numpy()], nw.from_native(values.cast(pl.String), series_only=True)


def by_appearance(ids: Ids) -> tuple[IntArray, list[str]]:
    """Return the number of each row, counted in the order in which ids appear, and the ids in that order."""
    first = np.full(len(ids.values), len(ids.codes))
    first[ids.codes[::-1]] = np.arange(len(ids.codes) - 1, -1, -1)  # written in reverse, so the first row of each stays
    order = np.argsort(first)[: int((first < len(ids.codes)).sum())]
    numbers = np.zeros(len(first), np.int64)
    numbers[order] = np.arange(len(order))
    texts = ids.texts()
    return numbers[ids.codes], [texts[code] for code in order.tolist()]


def first_rows(keys: IntArray, order: FloatArray | None = None) -> IntArray:
    """Return for each row the first with the same key, or that with the least `order`."""
    rows = np.argsort(keys, kind="stable") if order is None else np.lexsort((order, keys))
    starts = np.flatnonzero(changes(keys[rows]))
    first = np.empty(len(keys), np.int64)
    first[rows] = np.repeat(rows[starts], np.diff(np.append(starts, len(rows))))
    return first


def changes(values: "IntArray | FloatArray") -> BoolArray:
    """Tell where a value differs from the one before it; the first one always does."""
    changes = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=changes[1:])
    return changes
