"""Notices: the kinds of notes, and which of them Python code is warned of, because they change numbers.

Belongs here: the table of kinds. Not here: the sentences, which are beside what they are about.
"""

from collections.abc import Container, Iterable
from typing import Any

from lexirecall.errors import warn
from lexirecall.text import visible

CHANGING = {
    **dict.fromkeys((
        "changed grade", "fewer permutations", "half row", "layout", "no judged document", "no stop", "not common",
        "not compared", "not fused", "not reviewed", "undefined", "undefined users", "unknown stops",
        "users not enumerated", "without group", "without provider",
    ), ""),
    "corpus": "corpus_size", "no grades": "columns", "no relevant document": "no_relevant", "rows": "columns",
    "unanswered": "queries", "without unit": "unmapped",
}  # fmt: skip
"""Notes on something that was given and did not count, or was not given and made up: numbers would be others. Each with
the option that decides on it, if there is one: whoever gives it has asked for what the note says."""


def warn_of(notes: Iterable[Any], options: Container[str]) -> None:
    """Warn once of all notes that change numbers, but for what the options have asked for."""
    changing = (note for note in notes if note.kind in CHANGING and CHANGING[note.kind] not in options)
    if texts := [visible(note.text) for note in changing]:
        warn("\n  ".join(texts))
