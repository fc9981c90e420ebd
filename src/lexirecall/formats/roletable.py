"""Role tables: columns of a table in memory, as arrays.

Belongs here: ids and numbers of the columns of a frame. Not here: what the rows mean (rows), which column is which
(columns), files (tablefiles).

Ids become numbers in the library that the frame comes from, and text only once for each different id: there is no
Python object for each row. Integers are their decimal text, and so are floats that are whole (7.0 is 7).
"""

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import compress
from numbers import Integral, Real
from typing import Any

import numpy as np

from lexirecall.errors import FallbackOption, FormatError, UsageError, shown
from lexirecall.formats.columns import USUAL, Columns, Given, find_columns, spelling
from lexirecall.formats.frames import Frame
from lexirecall.formats.ids import Ids, as_text, decoded, is_polars, number_integers, number_values, series_of
from lexirecall.formats.values import (
    BLANKS,
    ID_REMEDY,
    LARGEST,
    MISSING_REMEDY,
    NUMBER,
    WORDS,
    check_kind,
    fault,
    kind_of,
    missing,
)
from lexirecall.judgments import FloatArray, IntArray
from lexirecall.text import number_of

LOOKED_AT, _FEW = 100_000, 51
_NO_RUNS = {name for role, names in USUAL.items() if role != "run" for name in names}
_ONE_AT_A_TIME = threading.Lock()  # relations of one database cannot be asked at once


@dataclass(frozen=True, slots=True)
class RoleTable:
    """A frame in memory with the columns that are needed of it, and what messages call it."""

    frame: Any
    columns: Columns
    name: str
    place_of: Callable[[int], tuple[str, int | str]] | None = None
    """The file, and the line where a row is, or words for it; rows of frames are counted from 0."""
    others: tuple[Any, ...] = ()
    """Columns of text of a run that are not used, and do not have a name of another role."""

    def error(self, row: int, problem: str, *, remedy: str = "", way_on: FallbackOption | None = None) -> FormatError:
        """Return an error about one row."""
        source, at = self._whereabouts(row)
        line, words = (at, "") if isinstance(at, int) else (None, at)
        return FormatError(source, line, f"{words}: {problem}" if words else problem, remedy=remedy, way_on=way_on)

    def place(self, row: int) -> str:
        """Say where a row is, if that is known."""
        source, at = self._whereabouts(row)
        words = f"on line {at:,}" if isinstance(at, int) else at and f"in {at}"
        return words if source == self.name or not words else f"{words} of {source}"

    def _whereabouts(self, row: int) -> tuple[str, int | str]:
        return (self.name, f"row {row:,}") if self.place_of is None else self.place_of(row)

    def splits(self) -> str:
        """Say which column is not used, if most rankings have several of its few values: they may be runs.

        Of a large table only some rows are looked at, evenly spread, because that must cost little.
        """
        step = 1 + len(self.frame) // LOOKED_AT
        rows = np.arange(0, len(self.frame), step)
        for series in (decoded(column).gather_every(step) for column in self.others):
            if series.null_count() or series.n_unique() not in range(2, _FEW):
                continue
            codes, values = number_values(series)
            if all(re.fullmatch(NUMBER, str(value).strip(BLANKS)) for value in values.to_list()):
                continue
            queries = self.ids("query", rows)
            runs = self.ids("run", rows).codes if self.columns.run else 0
            rankings = queries.codes + runs * len(queries.values)
            if 2 * len(np.unique(rankings * _FEW + codes)) >= 3 * len(np.unique(rankings)):
                how = f"columns={{'run': {series.name!r}}} or --columns run={series.name}"
                return f"the column {shown(series.name)} is not used; if its {len(values)} values are runs: {how}"
        return ""

    def ids(self, role: str, rows: IntArray | None = None) -> Ids:
        """Return the ids in the column of a role, of all rows or of some."""
        series = self.present(role)
        if rows is None:
            return self._encoded(series, role)
        if _kind(series) in ("integer", "text"):
            return self._encoded(series[rows], role)
        ids = self._encoded(series, role)  # look at every row, because some may not hold an id
        return Ids(ids.codes[rows], ids.values)

    def numbers(self, role: str) -> FloatArray:
        """Return the numbers in the column of a role; NaN is an error."""
        numbers = self._numbers(_plain(self.present(role)), role)
        if np.isnan(numbers).any():
            raise self._missing(int(np.argmax(np.isnan(numbers))), role)
        return numbers

    def present(self, role: str) -> Any:
        """Return the column of a role; raise if a value is missing, or if the column cannot serve in the role."""
        import narwhals as nw

        series = decoded(self.frame.get_column(getattr(self.columns, role)))
        check_kind(_kind(series), role, series.name, self.name)
        if series.null_count():
            if series.dtype == nw.Object and len(there := series.drop_nulls()):
                check_kind(_kind_of_object(there[0]), role, series.name, self.name)
            raise self._missing(int(np.argmax(series.is_null().to_numpy())), role)
        return series

    def _missing(self, row: int, role: str) -> FormatError:
        return self.error(row, missing(role), remedy=MISSING_REMEDY)

    def _fault(self, row: int, role: str, kind: str, value: Any) -> FormatError:
        problem, remedy = fault(role, kind, str(value))
        return self.error(row, problem, remedy=remedy)

    def _numbers(self, series: Any, role: str) -> FloatArray:
        import narwhals as nw

        check_kind(kind := _kind(series), role, series.name, self.name)
        if kind == "text":
            return self._parsed(series, role)
        if kind in ("objects", "bytes"):
            return np.array([self._number(value, row, role) for row, value in enumerate(series.to_list())], np.float64)
        if kind == "integer" and series.dtype not in (nw.Int128, nw.UInt128):  # which numpy does not have
            return np.asarray(series.to_numpy(), np.float64)  # pyarrow casts only what a float holds exactly
        return np.asarray(series.cast(nw.Float64).to_numpy(), np.float64)

    def _parsed(self, series: Any, role: str) -> FloatArray:
        """Read numbers that are written as text; what polars cannot read, Python may."""
        if not is_polars(series):
            return np.array([self._number(value, row, role) for row, value in enumerate(series.to_list())], np.float64)
        import polars as pl

        texts = series.to_native()
        parsed = texts.str.strip_chars(BLANKS).cast(pl.Float64, strict=False)
        numbers = np.array(parsed.to_numpy(), np.float64)
        for row in np.flatnonzero(parsed.is_null().to_numpy()).tolist():
            numbers[row] = self._number(texts[row], row, role)
        return numbers

    def _number(self, value: Any, row: int, role: str) -> float:
        if isinstance(value, bytes):
            value = value.decode(errors="replace")
        if isinstance(value, np.ndarray):  # a list, of which numpy 1 makes a number if it has one element
            value = value.tolist()
        try:
            return number_of(value) if isinstance(value, str) else float(value)
        except OverflowError:  # as in text, where 1e400 is infinite
            return float("inf") if value > 0 else float("-inf")
        except (TypeError, ValueError):
            if not isinstance(value, str):
                check_kind(_kind_of_object(value), role, getattr(self.columns, role), self.name)
            raise self._fault(row, role, "text", value) from None

    def _encoded(self, series: Any, role: str) -> Ids:
        import narwhals as nw

        check_kind(kind := _kind(series), role, series.name, self.name)
        if kind == "integer" and series.dtype not in (nw.Int128, nw.UInt128):
            return number_integers(series.to_numpy(), series)
        if kind in LARGEST:
            return number_integers(self._whole(series.to_numpy(), role, kind), series)
        if kind != "text":
            texts = [self._text(value, row, role) for row, value in enumerate(series.to_list())]
            return self._encoded(series_of(texts, series), role)
        codes, values = number_values(series)
        if values.dtype == nw.String:
            try:
                return Ids(codes, as_text(values))
            except UnicodeEncodeError:  # of texts that pandas holds as Python has them
                for row, value in enumerate(series.to_list()):
                    self._text(value, row, role)
                raise
        return self._encoded(values[codes.tolist()].alias(series.name), role)  # categories that are numbers

    def _whole(self, values: Any, role: str, kind: str) -> IntArray:
        if np.isnan(values).any():
            raise self._missing(int(np.argmax(np.isnan(values))), role)
        wrong = np.flatnonzero((values != np.floor(values)) | ~(np.abs(values) < LARGEST[kind]))
        if len(wrong):
            raise self._fault(int(wrong[0]), role, kind, float(values[wrong[0]]))
        whole: IntArray = values.astype(np.int64)
        return whole

    def _text(self, value: Any, row: int, role: str) -> str:
        """Return the text of an id that is any Python object."""
        if isinstance(value, bytes):
            try:
                return value.decode()
            except UnicodeDecodeError:
                raise self._fault(row, role, "bytes", "") from None
        if isinstance(value, str):
            try:
                return value.encode().decode()
            except UnicodeEncodeError:
                problem = f"the {WORDS[role]} is not valid Unicode: {value!a}"
                raise self.error(row, problem, remedy=ID_REMEDY) from None
        check_kind(kind := _kind_of_object(value), role, getattr(self.columns, role), self.name)
        if not _is_whole(value) or (kind in LARGEST and abs(value) >= LARGEST[kind]):
            raise self._fault(row, role, kind, value)
        return str(int(value))


def _is_whole(value: Any) -> bool:
    """Tell whether a number is whole, however many digits it has."""
    if isinstance(value, Decimal):
        return value.is_finite() and value == value.to_integral_value()
    return bool(value % 1 == 0)


def _kind(series: Any) -> str:
    """Return what a column holds; `objects` are any of Python's."""
    import narwhals as nw

    if series.dtype == nw.Object:
        return "objects"
    native = series.to_native()
    unknown = getattr(native, "type", getattr(native, "dtype", ""))
    return kind_of(str(unknown if series.dtype == nw.Unknown else series.dtype))


def _kind_of_object(value: object) -> str:
    """Return the kind of a column that holds such an object."""
    kinds: tuple[tuple[Any, str], ...] = (
        ((bool, np.bool_), "truth values"),
        (Integral, "integer"),
        (Decimal, "decimal"),
        (np.float32, "float32"),
        (Real, "float64"),
        (datetime, "timestamps"),
        (date, "dates"),
        (time, "times of day"),
        (timedelta, "durations"),
        (str, "text"),
        (bytes, "bytes"),
        ((list, tuple, np.ndarray), "lists"),
        (dict, "structs"),
    )
    found = (kind for types, kind in kinds if isinstance(value, types))
    return next(found, f"values of the type {type(value).__name__}")


def _plain(series: Any) -> Any:
    """Return the values of a column of categories, and any other column as it is."""
    import narwhals as nw

    if series.dtype not in (nw.Categorical, nw.Enum):
        return series
    codes, values = number_values(series)
    return values[codes.tolist()].alias(series.name)


def open_frame(frame: Frame, kind: str, named_columns: Given = None, *, name: str) -> RoleTable:
    """Take from a frame the columns that a `run`, `qrels`, `providers` or `groups` need; a lazy one is collected."""
    import narwhals as nw

    try:
        with _ONE_AT_A_TIME:
            native: Any = nw.from_native(frame)
            names = [str(column) for column in native.collect_schema().names()]
            columns = find_columns(names, kind, named_columns, source=name)
            used = used_columns(columns, kind)
            chosen = native.select(*used)
            is_lazy = isinstance(chosen, nw.LazyFrame)
            is_unused = (column not in used and spelling(column) not in _NO_RUNS for column in names)
            unused = [] if is_lazy or kind != "run" else compress(names, is_unused)
            others = tuple(native.get_column(column) for column in unused if _kind(native[column]) == "text")
            table = RoleTable(chosen.collect() if is_lazy else chosen, columns, name, others=others)
    except nw.exceptions.DuplicateError as error:
        find_columns([str(column) for column in getattr(frame, "columns", ())], kind, named_columns, source=name)
        problem = f"two columns have the same name: {' '.join(str(error).split())}"
        raise FormatError(name, None, problem, remedy="give each its own name") from None
    except ModuleNotFoundError as error:
        problem = f"{name}: reading this frame needs {error.name}, which is not installed"
        raise UsageError(problem, remedy=f"pip install {error.name}") from None
    if not len(table.frame):
        raise FormatError(name, None, "the table has no rows", remedy="is it the right one?")
    return table


def used_columns(columns: Columns, kind: str) -> list[str]:
    """Return the columns that are needed of a table, each once."""
    return [*dict.fromkeys(column for column in columns.roles(kind).values() if column)]
