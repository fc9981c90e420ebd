"""Casts: from a column of any kind to ids and numbers, in SQL that says what `formats.values` says.

Belongs here: expressions over one column, and errors about rows. Not here: queries (plan).

An expression is NULL if the value is not an id or not a number. Its fault then says why: NULL if nothing is there,
otherwise the kind of the column and the value. It is computed only if a row is to blame.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lexirecall.errors import FormatError, WayOn, counted, shown
from lexirecall.formats.values import BLANKS, LARGEST, MISSING_REMEDY, NUMBER, fault, missing


def literal(text: str) -> str:
    """Return text as SQL writes it.

    >>> literal("Reilly's")
    "'Reilly''s'"
    """
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True, slots=True)
class Dialect:
    """Where the two engines differ."""

    quotes: str
    """What encloses a name."""
    joined: str
    """An aggregate that joins the texts {text} in descending order of {order}."""
    hashed: str
    """A hash of 64 bits of the columns {columns}."""
    packed: str
    """The columns {columns} as one value."""
    decoded: str
    """The text that the bytes {value} are in UTF-8, or NULL."""
    matches: str
    """Whether the whole text {value} matches the pattern {pattern}."""
    whole: str
    """The digits of the decimal {value}, or NULL if it is a fraction."""
    trimmed: str
    """The text {value} without the characters {blanks} at its ends."""
    parsed: str
    """The number that the text {value} is, which is known to be one."""

    def name(self, column: str) -> str:
        """Return a name as SQL wants it.

        >>> DUCKDB.name('my "own" column')
        '"my ""own"" column"'
        """
        return f"{self.quotes}{column.replace(self.quotes, 2 * self.quotes)}{self.quotes}"


DUCKDB = Dialect(
    quotes='"',
    joined="string_agg({text}, '' ORDER BY {order} DESC)",
    hashed="hash({columns})",
    packed="row({columns})",
    decoded="TRY(decode({value}))",
    matches="regexp_full_match({value}, '{pattern}')",
    whole="CASE WHEN regexp_full_match(CAST({value} AS STRING), '[^.]*([.]0*)?') "
    "THEN regexp_replace(CAST({value} AS STRING), '[.]0*$', '') END",
    trimmed="trim({value}, {blanks})",
    parsed="TRY_CAST({value} AS DOUBLE)",
)
SPARK = Dialect(
    quotes="`",
    joined="string_agg({text}, '') WITHIN GROUP (ORDER BY {order} DESC)",
    hashed="xxhash64({columns})",
    packed="struct({columns})",
    decoded="try_validate_utf8(CAST({value} AS STRING))",
    matches="{value} RLIKE '^({pattern})$'",
    whole="CASE WHEN {value} = floor({value}) THEN CAST(floor({value}) AS STRING) END",
    trimmed="trim(BOTH {blanks} FROM {value})",
    # it knows nan, and not -nan
    parsed="CASE WHEN lower({value}) LIKE '%nan' THEN CAST('NaN' AS DOUBLE) ELSE TRY_CAST({value} AS DOUBLE) END",
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, as SQL names it, and what it holds."""

    sql: str
    kind: str
    is_cell: bool = False
    """Whether it is one of CSV, in which blanks do not count and an empty cell is missing."""

    def text(self, dialect: Dialect) -> str:
        """Return it as text, if it is text or bytes."""
        if self.kind == "bytes":
            return dialect.decoded.format(value=self.sql)
        text = f"CAST({self.sql} AS STRING)"
        return f"NULLIF({_trimmed(dialect, text)}, '')" if self.is_cell else text

    def id(self, dialect: Dialect) -> str:
        """Return it as ids.

        >>> Column("user", "integer").id(DUCKDB)
        'CAST(user AS STRING)'
        """
        if self.kind == "decimal":
            return dialect.whole.format(value=self.sql)
        if self.kind in LARGEST:
            is_whole = f"abs({self.sql}) < {LARGEST[self.kind]} AND {self.sql} % 1 = 0"
            return f"CASE WHEN {is_whole} THEN CAST(TRY_CAST({self.sql} AS BIGINT) AS STRING) END"
        return self.text(dialect)

    def number(self, dialect: Dialect) -> str:
        """Return it as numbers."""
        if self.kind not in ("text", "bytes"):
            return f"CAST({self.sql} AS DOUBLE)"
        text = self.text(dialect) if self.is_cell else _trimmed(dialect, self.text(dialect))
        is_number = dialect.matches.format(value=text, pattern=NUMBER)
        return f"CASE WHEN {is_number} THEN {dialect.parsed.format(value=text)} END"

    def fault(self, dialect: Dialect) -> str:
        """Return its kind and value, which say why it is not an id or not a number; NULL if nothing is there."""
        value = f"CAST({self.sql} AS STRING)"
        if self.kind in LARGEST:
            text = f"CAST(CAST({self.sql} AS DOUBLE) AS STRING)"
            value = f"CASE WHEN lower({text}) <> 'nan' THEN {text} END"
        elif self.kind in ("text", "bytes"):
            whole = "''" if self.kind == "bytes" else "NULL"
            value = f"CASE WHEN {self.sql} IS NOT NULL THEN coalesce({self.text(dialect)}, {whole}) END"
        return f"{literal(self.kind)} || ':' || {value}"


def _trimmed(dialect: Dialect, text: str) -> str:
    """Return text without blanks at its ends; few have any, and looking for blanks costs an eighth of removing them."""
    signs = " || ".join(f"chr({ord(sign)})" for sign in BLANKS)
    trimmed = dialect.trimmed.format(value=text, blanks=f"({signs})")
    return f"CASE WHEN substr({text}, 1, 1) <= ' ' OR substr({text}, -1, 1) <= ' ' THEN {trimmed} ELSE {text} END"


def row_error(
    role: str, count: int, num_rows: int, example: Sequence[str | None], said: tuple[str, str] | None = None
) -> FormatError:
    """Return an error about rows with a value that cannot be used in its role: how many, and one of them.

    The example has the source, system, request and item of a row, the role that orders it, and the fault of the value.
    If given, `said` replaces what the fault says.
    """
    source, *ids, order, why = example
    role = str(order) if role == "score" else role
    kind, sign, value = (why or "").partition(":")
    problem, remedy = said or (fault(role, kind, value) if sign else (missing(role), MISSING_REMEDY))
    known = [f"{word} {shown(text)}" for word, text in zip(("run", "query", "document"), ids, strict=True) if text]
    such = f", such as {', '.join(known)}" if known else ""
    return FormatError(str(source), None, f"in {count:,} of {counted(num_rows, 'row')}{such}: {problem}", remedy=remedy)


def duplicate_error(source: str, system: str, request: str, item: str, times: int) -> FormatError:
    """Return an error about an item that a system lists several times for a request."""
    number = counted(times, "time")
    problem = f"document {shown(item)} of query {shown(request)} is listed {number} by {shown(system)}"
    way_on = WayOn("duplicates", {"best": "the highest score"})
    return FormatError(source, None, problem, remedy="remove all but one", way_on=way_on)


def no_rows(source: str) -> FormatError:
    """Return the error about a table that holds nothing."""
    return FormatError(source, None, "the table has no rows", remedy="is it the right one?")
