"""Frames: tables in memory.

Belongs here: what is a frame, and what is known of one without reading it. Not here: its columns (roletable).
"""

from collections.abc import Mapping
from typing import Any, Protocol, TypeGuard


class Frame(Protocol):
    """A table in memory: a frame of pandas or polars (eager or lazy), a pyarrow table, a duckdb relation, ….

    Whatever `narwhals.from_native` takes. Its columns are found by their usual names, or given.
    """

    @property
    def columns(self) -> Any:
        """The names of the columns, or the columns themselves."""


def is_frame(value: object) -> TypeGuard[Frame]:
    """Tell whether something is a table in memory.

    >>> import polars
    >>> is_frame(polars.DataFrame({"qid": [1]})), is_frame({"qid": [1]}), is_frame("runs.parquet")
    (True, False, False)
    """
    if isinstance(value, (str, Mapping)) or not hasattr(type(value), "columns"):
        return False
    import narwhals as nw

    try:
        return isinstance(nw.from_native(value, pass_through=True), (nw.DataFrame, nw.LazyFrame))
    except nw.exceptions.DuplicateError:  # one in which two columns have the same name
        return True


def is_of_spark(value: object) -> bool:
    """Tell whether something is a frame of Spark, whose rows stay where they are; nothing is imported for it."""
    return type(value).__module__.startswith("pyspark.sql") and hasattr(type(value), "columns")


def library_of(frame: Frame) -> str:
    """Return the library that a frame comes from.

    >>> import polars
    >>> library_of(polars.LazyFrame({"qid": [1]}))
    'polars'
    """
    import narwhals as nw

    native: Any = frame
    return str(nw.from_native(native).implementation.name).lower()


def names_in(frame: Frame) -> tuple[str, ...]:
    """Return the names of the columns of a frame.

    >>> import polars
    >>> names_in(polars.LazyFrame({"qid": [1], "type": ["easy"]}))
    ('qid', 'type')
    """
    import narwhals as nw

    native: Any = frame
    return tuple(map(str, nw.from_native(native).collect_schema().names()))
