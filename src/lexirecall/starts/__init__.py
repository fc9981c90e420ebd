"""Starts: small simulated data for each kind of reader, and what to do with them.

Belongs here: the list of readers; each has a module. `lexirecall demo --for READER` writes and runs a start, and
docs/start tells it step by step.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lexirecall.starts.start import Start

READERS = ("researcher", "recommender", "rag", "reviewer", "auditor")
"""Their names on the command line, which are those of the modules."""


def start_of(reader: str) -> "Start":
    """Return the start of a reader; nothing is simulated before its files are asked for.

    >>> start_of("auditor").commands[0]
    'lexirecall eval {}/qrels.txt {}/old.run {}/new.run -m R@20 --by {}/languages.tsv'
    """
    start: Start = import_module(f"lexirecall.starts.{reader}").START
    return start
