"""Values: what a column of a table may hold, which values are ids and numbers, and what messages say of all others.

Belongs here: rules and words that hold for frames, for files and for every engine. Not here: reading columns (frames,
engines).

An id is text or a whole number, which is its decimal text: the float 7.0 and the decimal 7.00 are 7. A float is taken
for a whole number only if it holds every whole number of that size, because 2^53 + 1 is stored as 2^53. Bytes are
text in UTF-8. Fractions, truth values, dates and lists are not ids.
"""

import re

from lexirecall.errors import FormatError, shown

BLANKS = " \t\r\n\v\f"
"""What is stripped from both ends of a cell of CSV."""

NUMBER = r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?|[+-]?([iI][nN][fF]([iI][nN][iI][tT][yY])?|[nN][aA][nN])"
"""What `text.number_of` takes for a number, as a pattern for engines, some of which read 1_0, 1d or 0x1p3 as well."""

LARGEST = {"float16": 2**11, "float32": 2**24, "float64": 2**53}
"""From here on a float stands for several whole numbers."""

WORDS = {
    "query": "query id",
    "document": "document id",
    "run": "run name",
    "score": "score",
    "rank": "rank",
    "grade": "grade",
    "provider": "provider",
    "group": "group",
    "unit": "unit",
    "rule": "rule",
}
"""What messages call the value of each role."""

IDS = ("query", "document", "run", "provider", "group", "unit", "rule")
ID_REMEDY = "ids are text or whole numbers; convert the column, or leave such rows out"
MISSING_REMEDY = "leave such rows out, or fill them in"
PROVIDER_REMEDY = "leave out documents without a provider"
NUMBER_REMEDY = "write a plain number, as in 12.5 or 1e-3; leave out rows without one"
# The first that matches counts: interval must come before int, datetime before date, float64 before float.
_KINDS = (
    ("durations", r"interval|duration"),
    ("timestamps", r"timestamp|datetime"),
    ("dates", r"date"),
    ("times of day", r"time"),
    ("truth values", r"bool"),
    ("lists", r"(large_|fixed_size_)?list|array"),
    ("structs", r"struct"),
    ("maps", r"map"),
    ("null", r'"?null|void'),
    ("decimal", r"decimal"),
    ("float16", r"float16|half"),
    ("float64", r"float64|double"),
    ("float32", r"float"),
    ("integer", r"u?(tiny|small|big|huge)?int|long|short|byte$"),
    ("bytes", r"(large_|fixed_size_)?binary|blob"),
    ("text", r"(large_)?string|utf8|varchar|char|enum|categorical|dictionary|uuid"),
)
_AS_IDS = {"text", "integer", "decimal", "bytes", "null", "objects", *LARGEST}
_AS_NUMBERS = {*_AS_IDS, "truth values"}


def kind_of(type_name: str) -> str:
    """Return what a column holds by the name of its type, in any of the libraries; plural nouns cannot serve as ids.

    >>> [kind_of(name) for name in ("UTINYINT", "Float32", "large_string", "BIGINT[]", "timestamp_ntz", "INTERVAL")]
    ['integer', 'float32', 'text', 'lists', 'timestamps', 'durations']
    """
    name = type_name.lower()
    if re.search(r"\[[0-9]*\]$", name) and not name.startswith("fixed_size_binary"):
        return "lists"  # of DuckDB
    return next((kind for kind, pattern in _KINDS if re.match(pattern, name)), f"values of the type {type_name}")


def check_kind(kind: str, role: str, column: str, source: str) -> None:
    """Raise if a column of this kind cannot serve in a role.

    >>> check_kind("dates", "document", "day", "bm25")
    Traceback (most recent call last):
    lexirecall.errors.FormatError: bm25: cannot use the column 'day' as document ids: it holds dates
      ids are text or whole numbers; convert the column, or leave such rows out
    """
    if kind in (_AS_IDS if role in IDS else _AS_NUMBERS):
        return
    problem = f"cannot use the column {column!r} as {WORDS[role]}s: it holds {kind}"
    raise FormatError(source, None, problem, remedy=ID_REMEDY if role in IDS else NUMBER_REMEDY)


def missing(role: str) -> str:
    """Say that a value is missing; some libraries write NaN for a missing number."""
    return f"the {WORDS[role]} is missing" if role in IDS else f"the {WORDS[role]} is missing or NaN"


def fault(role: str, kind: str, value: str) -> tuple[str, str]:
    """Return what is wrong with a value that is not an id, or not a number, in a column of this kind, and the remedy.

    >>> fault("document", "float64", "2.5")[0], fault("query", "float32", "1e9")[0]
    ('the document id is not a whole number: 2.5', 'the query id is too large for its float type: 1000000000.0')
    >>> fault("score", "text", "3,5")
    ("the score is not a number: '3,5'", 'write the decimal point as in 3.5')
    """
    word = WORDS[role]
    if role not in IDS and value.strip(BLANKS).lower().lstrip("+-") == "nan":
        return missing(role), MISSING_REMEDY
    if role not in IDS:
        is_decimal = "," in value and value.strip(BLANKS).replace(",", "", 1).lstrip("+-").isdigit()
        remedy = (
            f"write the decimal point as in {value.strip(BLANKS).replace(',', '.')}" if is_decimal else NUMBER_REMEDY
        )
        return f"the {word} is not a number: {shown(value)}", remedy
    if kind == "bytes":
        return f"the {word} is not UTF-8 text", ID_REMEDY
    number = float(value)
    if number % 1 == 0 and kind in LARGEST:
        remedy = "digits may be lost already: store ids as text or integers"
        return f"the {word} is too large for its float type: {number!r}", remedy
    return f"the {word} is not a whole number: {number!r}", ID_REMEDY
