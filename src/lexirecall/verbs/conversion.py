"""Conversion: results as the frames of the libraries that people use.

Belongs here: from columns to pandas, polars, Arrow, DuckDB and Spark, each imported when asked for. Not here: frames
that come in (formats).
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from lexirecall.errors import UsageError
from lexirecall.installing import how_to_install
from lexirecall.text import to_valid_text

ColumnValues = dict[str, Any]
"""Lists or arrays of one length, by name; None where a value is undefined."""
LIBRARIES = ("pandas", "polars", "pyarrow", "duckdb", "pyspark")
_EXTRAS = {"duckdb": "duckdb", "pyspark.sql": "spark"}


def library(name: str) -> Any:
    """Import an optional library, or say how to install it."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        extra = _EXTRAS.get(name, "frames")
        raise UsageError(f"{name} is not installed", remedy=how_to_install(extra)) from None


def columns_of(rows: Iterable[Mapping[str, Any]], names: Sequence[str]) -> ColumnValues:
    """Turn rows into columns; text becomes text that any library takes.

    >>> columns_of([{"run": "bm25", "value": 0.5}, {"run": "dense", "value": None}], ("run", "value"))
    {'run': ['bm25', 'dense'], 'value': [0.5, None]}
    """
    columns: ColumnValues = {name: [] for name in names}
    for row in rows:
        for name in names:
            value = row[name]
            columns[name].append(to_valid_text(value) if isinstance(value, str) else value)
    return columns


def to_pandas(columns: ColumnValues) -> Any:
    """Return a pandas data frame; undefined numbers are NaN."""
    frame = library("pandas").DataFrame(columns)
    return frame.astype({name: float for name, values in columns.items() if _is_real(values)})


def to_polars(columns: ColumnValues) -> Any:
    """Return a polars data frame; undefined is null."""
    polars = library("polars")
    reals = {name: polars.Float64 for name, values in columns.items() if _is_real(values)}
    return polars.DataFrame(columns, schema_overrides=reals, infer_schema_length=None)


def to_arrow(columns: ColumnValues) -> Any:
    """Return an Arrow table; undefined is null."""
    pyarrow = library("pyarrow")
    return pyarrow.table(
        {
            name: pyarrow.array(values, pyarrow.float64()) if _is_real(values) else pyarrow.array(values)
            for name, values in columns.items()
        }
    )


def to_library(name: str, columns: ColumnValues) -> Any:
    """Return the columns as a frame of one of LIBRARIES; for DuckDB that is a relation, for Spark in its session."""
    if name == "duckdb":
        duckdb, table = library("duckdb"), to_arrow(columns)
        return duckdb.from_arrow(table)
    if name == "pyspark":
        sessions, table = library("pyspark.sql").SparkSession, to_arrow(columns)
        return (sessions.getActiveSession() or sessions.builder.getOrCreate()).createDataFrame(table)
    functions = {"pandas": to_pandas, "polars": to_polars, "pyarrow": to_arrow}
    if name not in functions:
        raise UsageError(
            f"results cannot be converted to {name!r}" if name else "there was no frame among the input",
            remedy=f"choose one of {', '.join(LIBRARIES)}",
        )
    return functions[name](columns)


class Convertible:
    """A result of rows that converts itself to any of the libraries."""

    __slots__ = ()

    def _conversion(self) -> tuple[ColumnValues, str]:
        """Return the columns, and the library that the runs came in."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame."""
        return to_pandas(self._conversion()[0])

    def to_polars(self) -> Any:
        """Return the rows as a polars data frame."""
        return to_polars(self._conversion()[0])

    def to_arrow(self) -> Any:
        """Return the rows as an Arrow table."""
        return to_arrow(self._conversion()[0])

    def to_frame(self) -> Any:
        """Return the rows as a frame of the library that the runs came in."""
        columns, name = self._conversion()
        return to_library(name, columns)


def _is_real(values: Sequence[Any]) -> bool:
    """Tell whether a column holds numbers that may be undefined or fractions, or nothing at all."""
    defined = [value for value in values if value is not None]
    return all(isinstance(value, float) for value in defined) and len(values) > 0
