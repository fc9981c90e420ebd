"""Frames: columns of a table in memory, as arrays.

Belongs here: what is a frame, ids and numbers of its columns. Not here: what the rows mean (rows), which column is
which (columns), files (tablefiles). Imports numpy, errors, judgments, this package's columns, and narwhals late, since
whoever has text files should not wait for it.

Ids become numbers in the library that the frame comes from, and text only once for each different id: there is no
Python object for each row. Integers are their decimal text, and so are floats that are whole (7.0 is 7).
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol, TypeGuard

import numpy as np

from lexirecall.errors import FormatError, UsageError, shown
from lexirecall.formats.columns import Columns, Given, find_columns
from lexirecall.formats.ids import Ids, as_text, is_polars, number_integers, number_values, series_of
from lexirecall.judgments import FloatArray, IntArray

_ONE_AT_A_TIME = threading.Lock()  # relations of one database cannot be asked at once
_ID_REMEDY = "ids are text or whole numbers; convert the column first"


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


def library_of(frame: Frame) -> str:
    """Return the library that a frame comes from.

    >>> import polars
    >>> library_of(polars.LazyFrame({"qid": [1]}))
    'polars'
    """
    import narwhals as nw

    native: Any = frame
    return str(nw.from_native(native).implementation.name).lower()


@dataclass(frozen=True, slots=True)
class Table:
    """A frame in memory with the columns that are needed of it, and what messages call it."""

    frame: Any
    columns: Columns
    name: str
    line_of: Callable[[int], int] | None = None
    """The line of a file on which a row stands; rows of frames are counted from 0."""

    def error(self, row: int, problem: str, *, remedy: str = "") -> FormatError:
        """Return an error about one row."""
        if self.line_of is not None:
            return FormatError(self.name, self.line_of(row), problem, remedy=remedy)
        return FormatError(self.name, None, f"row {row:,}: {problem}", remedy=remedy)

    def place(self, row: int) -> str:
        """Say where a row is."""
        return f"in row {row:,}" if self.line_of is None else f"on line {self.line_of(row):,}"

    def ids(self, role: str, rows: IntArray | None = None) -> Ids:
        """Return the ids in the column of a role, of all rows or of some."""
        import narwhals as nw

        series = self.present(role)
        if rows is None:
            return self._encoded(series, role)
        if series.dtype.is_integer() or series.dtype in (nw.String, nw.Categorical, nw.Enum):
            return self._encoded(series[rows], role)
        ids = self._encoded(series, role)  # every row is looked at, since some may hold no id
        return Ids(ids.codes[rows], ids.values)

    def numbers(self, role: str) -> FloatArray:
        """Return the numbers in the column of a role."""
        import narwhals as nw

        series = self.present(role)
        if series.dtype.is_numeric() or series.dtype == nw.Boolean:
            return np.asarray(series.cast(nw.Float64).to_numpy(), np.float64)
        if series.dtype == nw.String:
            return self._parsed(series, role)
        if series.dtype == nw.Object:
            return np.array([self._number(value, row, role) for row, value in enumerate(series.to_list())])
        problem = f"the column {series.name!r} has the type {series.dtype}, but a {role} is a number"
        raise FormatError(self.name, None, problem, remedy="convert it first")

    def present(self, role: str) -> Any:
        """Return the column of a role, in which nothing may be missing."""
        series = self.frame.get_column(getattr(self.columns, role))
        if series.null_count():
            row = int(np.argmax(series.is_null().to_numpy()))
            raise self.error(row, f"the {role} is missing", remedy=f"leave the row out, or fill column {series.name!r}")
        return series

    def _parsed(self, series: Any, role: str) -> FloatArray:
        """Read numbers that are written as text; what polars cannot read, Python may."""
        if not is_polars(series):
            return np.array([self._number(text, row, role) for row, text in enumerate(series.to_list())])
        import polars as pl

        texts = series.to_native()
        parsed = texts.str.strip_chars().cast(pl.Float64, strict=False)
        numbers = np.array(parsed.to_numpy(), np.float64)
        for row in np.flatnonzero(parsed.is_null().to_numpy()).tolist():
            numbers[row] = self._number(texts[row], row, role)
        return numbers

    def _number(self, value: Any, row: int, role: str) -> float:
        try:
            return float(value)
        except OverflowError:  # as in text, where 1e400 is infinite
            return float("inf") if value > 0 else float("-inf")
        except (TypeError, ValueError):
            text = str(value)
            is_decimal = text.replace(",", "", 1).lstrip("+-").isdigit()
            remedy = f"write the decimal point as in {text.replace(',', '.')}" if is_decimal else "write a plain number"
            raise self.error(row, f"the {role} is not a number: {shown(text)}", remedy=remedy) from None

    def _encoded(self, series: Any, role: str) -> Ids:
        import narwhals as nw

        dtype = series.dtype
        if dtype.is_integer():
            return number_integers(series.to_numpy(), series)
        if dtype.is_float():
            return number_integers(self._whole(series.to_numpy(), role), series)
        if dtype in (nw.Object, nw.Decimal):
            texts = [self._text(value, row, role) for row, value in enumerate(series.to_list())]
            return self._encoded(series_of(texts, series), role)
        if dtype == nw.Binary:
            return self._encoded(self._decoded(series), role)
        if dtype in (nw.String, nw.Categorical, nw.Enum):
            codes, values = number_values(series)
            if values.dtype == nw.String:
                return Ids(codes, as_text(values))
            ids = self._encoded(values, role)  # categories that are numbers
            return Ids(ids.codes[codes], ids.values)
        problem = f"the column {series.name!r} has the type {dtype}, of which there are no ids"
        raise FormatError(self.name, None, problem, remedy=_ID_REMEDY)

    def _decoded(self, series: Any) -> Any:
        import narwhals as nw

        try:
            return series.cast(nw.String)
        except Exception as error:  # each library has its own
            problem = f"the column {series.name!r} holds bytes that are not UTF-8 text: {error}"
            raise FormatError(self.name, None, problem, remedy=_ID_REMEDY) from None

    def _whole(self, values: Any, role: str) -> IntArray:
        wrong = np.flatnonzero((values != np.floor(values)) | ~(np.abs(values) < 2.0**63))
        if len(wrong):
            problem = f"the {role} is no whole number: {float(values[wrong[0]])!r}"
            raise self.error(int(wrong[0]), problem, remedy=_ID_REMEDY)
        whole: IntArray = values.astype(np.int64)
        return whole

    def _text(self, value: Any, row: int, role: str) -> str:
        """Return the text of an id that is any Python object."""
        from decimal import Decimal

        if isinstance(value, bytes):
            value = value.decode(errors="surrogateescape")
        is_number = isinstance(value, (Integral, Real, Decimal)) and not isinstance(value, (bool, np.bool_))
        if not isinstance(value, str) and not (is_number and value % 1 == 0):  # nor is NaN or infinity
            raise self.error(row, f"the {role} is no id: {shown(repr(value))}", remedy=_ID_REMEDY)
        try:
            return (value if isinstance(value, str) else str(int(value))).encode().decode()
        except UnicodeEncodeError:
            raise self.error(row, f"the {role} is not valid Unicode: {value!a}", remedy=_ID_REMEDY) from None


def open_frame(frame: Frame, kind: str, given: Given = None, *, name: str) -> Table:
    """Take from a frame the columns that a `run`, `qrels` or `providers` need; a lazy one is collected."""
    import narwhals as nw

    try:
        with _ONE_AT_A_TIME:
            native: Any = nw.from_native(frame)
            names = [str(each) for each in native.collect_schema().names()]
            columns = find_columns(names, kind, given, source=name)
            chosen = native.select(*used_columns(columns, kind))
            table = Table(chosen.collect() if isinstance(chosen, nw.LazyFrame) else chosen, columns, name)
    except nw.exceptions.DuplicateError as error:
        problem = f"columns have the same name: {' '.join(str(error).split())}"
        raise FormatError(name, None, problem, remedy="give each a name of its own") from None
    except ModuleNotFoundError as error:
        problem = f"{name}: {error.name} is not installed, which this frame needs to be read"
        raise UsageError(problem, remedy=f"pip install {error.name}") from None
    if not len(table.frame):
        raise FormatError(name, None, "the table has no rows", remedy="is it the right one?")
    return table


def used_columns(columns: Columns, kind: str) -> list[str]:
    """Return the columns that are needed of a table, each once."""
    used = _used(columns, kind)
    return [*dict.fromkeys(each for each in used if each)]


def _used(columns: Columns, kind: str) -> tuple[str | None, ...]:
    if kind == "qrels":
        return columns.request, columns.item, columns.grade
    if kind == "providers":
        return columns.item, columns.provider
    return columns.system, columns.request, columns.item, columns.order
