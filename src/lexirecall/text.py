"""Text: ids as bytes, and bytes as something that can be shown.

Belongs here: the way from an id to bytes and back, and to a reader's eyes. Imports nothing of the package.
"""

import unicodedata

_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # control, direction and line marks


def to_bytes(identifier: object) -> bytes:
    """Return an id as the bytes it is compared by; an integer as its decimal text.

    >>> to_bytes("FR94-1"), to_bytes(17)
    (b'FR94-1', b'17')
    """
    return identifier if isinstance(identifier, bytes) else str(identifier).encode(errors="surrogateescape")


def to_text(identifier: bytes) -> str:
    """Return the text of an id; bytes that are not UTF-8 survive the way there and back."""
    return identifier.decode(errors="surrogateescape")


def to_valid_text(text: str) -> str:
    r"""Return text that any library takes: bytes that were not UTF-8 become escapes.

    >>> to_valid_text(to_text(b"caf\xe9"))
    'caf\\xe9'
    """
    return text.encode(errors="surrogateescape").decode(errors="backslashreplace")


def visible(text: str) -> str:
    r"""Return text with control and direction marks escaped, so that an id cannot draw on the reader's terminal.

    >>> print(visible("a\x1b[31m"), visible("Größe"))
    a\x1b[31m Größe
    """
    return "".join(
        character.encode("unicode_escape").decode() if unicodedata.category(character) in _HIDDEN else character
        for character in to_valid_text(text)
    )
