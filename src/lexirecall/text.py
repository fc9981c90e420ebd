"""Text: ids as bytes, numbers as files write them, and bytes as something that can be shown.

Belongs here: the way from an id to bytes and back, what a number is, and what a reader sees.
"""

import unicodedata
from numbers import Integral, Real

_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # control, direction and line marks


def to_bytes(identifier: object) -> bytes:
    """Return an id as the bytes it is compared by; an integer as its decimal text.

    >>> to_bytes("FR94-1"), to_bytes(17)
    (b'FR94-1', b'17')
    """
    return identifier if isinstance(identifier, bytes) else str(identifier).encode(errors="surrogateescape")


def id_of(value: object) -> bytes:
    """Return the bytes of something that may be an id: text, or a whole number, also one as a float (7.0 is 7).

    Raise TypeError for anything else: None, true and 1.5 can be written as text too, but do not name a document.

    >>> id_of("FR94-1"), id_of(17), id_of(7.0)
    (b'FR94-1', b'17', b'7')
    >>> id_of(1e16)
    Traceback (most recent call last):
    TypeError: not an id: 1e+16
    """
    if isinstance(value, (str, bytes)):
        return to_bytes(value)
    if isinstance(value, bool) or not _is_whole(value):
        raise TypeError(f"not an id: {value!r}")
    return to_bytes(int(value))  # type: ignore[call-overload] # every number has __int__ or __trunc__


def _is_whole(value: object) -> bool:
    """Tell whether something is a whole number; from 2^53 on a float stands for several, and digits may be lost."""
    if isinstance(value, Integral):
        return True
    if isinstance(value, Real):
        return abs(float(value)) < 2**53 and float(value).is_integer()
    from decimal import Decimal  # not on top: such ids are rare

    return isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value()


def number_of(text: bytes | str) -> float:
    """Return the number that a file, an option or a name writes; raise ValueError if it is not a number.

    A number is a decimal in ASCII digits, as in 12, -0.5 and 1e-3, or inf or nan. What only Python takes for a number
    does not count: 1_0 may be a slip or an id, and is never 10.

    >>> number_of(b"1e-3"), number_of("-inf")
    (0.001, -inf)
    >>> number_of("1_0")
    Traceback (most recent call last):
    ValueError: not a number: '1_0'
    """
    if isinstance(text, str):
        text = text.encode(errors="replace")  # float() takes bytes only if they are ASCII
    if b"_" in text:
        raise ValueError(f"not a number: {text.decode(errors='replace')!r}")
    return float(text)


def whole_number_of(text: str) -> int:
    """Return the whole number that an option or a name writes; raise ValueError if it is not one.

    >>> whole_number_of("+12")
    12
    >>> whole_number_of("1_000")
    Traceback (most recent call last):
    ValueError: not a whole number: '1_000'
    """
    if not (text.isascii() and text.strip().lstrip("+-").isdigit()):
        raise ValueError(f"not a whole number: {text!r}")
    return int(text)


def to_text(identifier: bytes) -> str:
    """Return the text of an id; bytes that are not UTF-8 survive the round trip."""
    return identifier.decode(errors="surrogateescape")


def to_valid_text(text: str) -> str:
    r"""Return text that any library takes: bytes that were not UTF-8, and halves of pairs, become escapes.

    >>> to_valid_text(to_text(b"caf\xe9")), to_valid_text("a\ud800")
    ('caf\\xe9', 'a\\xed\\xa0\\x80')
    """
    try:
        return text.encode(errors="surrogateescape").decode(errors="backslashreplace")
    except UnicodeEncodeError:
        return text.encode(errors="surrogatepass").decode(errors="backslashreplace")


def visible(text: str) -> str:
    r"""Return text with control and direction marks escaped, so that an id cannot draw on the reader's terminal.

    >>> print(visible("a\x1b[31m"), visible("Größe"))
    a\x1b[31m Größe
    """
    return "".join(
        character.encode("unicode_escape").decode() if unicodedata.category(character) in _HIDDEN else character
        for character in to_valid_text(text)
    )


def isolated(text: str) -> str:
    r"""Return text within marks that keep its direction to itself, if any of it is written from right to left.

    >>> isolated("abc"), isolated("\u05d0") == "\u2068\u05d0\u2069"
    ('abc', True)
    """
    is_reversed = not text.isascii() and any(
        unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text
    )
    return f"\u2068{text}\u2069" if is_reversed else text
