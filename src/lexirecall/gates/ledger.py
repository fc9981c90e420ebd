"""The ledger: a file that counts the builds on the same queries, so that looking every day does not raise false alarms.

Belongs here: the rows of the file, and which build this is. Not here: what a build may spend (statistics.gates).

Every row is appended by one write. A build enters itself before anything is decided, and its number is what the file
says then: two builds at once have two numbers, and one that breaks off has spent its own. Builds have the same data if
they share a query.
"""

import hashlib
import json
import os
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from lexirecall.errors import FormatError, LexirecallError, newer_format
from lexirecall.output import FilePath
from lexirecall.version import VERSION

FORMAT_VERSION = 1
"""Grows when rows can no longer be read by an older version."""
_WRITTEN_BY = {"version": FORMAT_VERSION, "lexirecall": VERSION}
_TRIES, _PAUSE = 10, 0.02  # seconds, for a row that somebody else is writing
_KINDS: dict[str, dict[str, type]] = {
    "queries": {"digest": str, "ids": list},
    "build": {"id": str, "queries": str, "alpha": float, "date": str},
    "verdict": {"id": str, "passed": bool},
}


class Build(NamedTuple):
    """One look at some queries."""

    id: str
    number: int
    """Among the builds that share a query with this one, from 1."""


class Ledger:
    """The builds in a file, which need not be there yet."""

    def __init__(self, path: FilePath) -> None:
        self.path = Path(path)

    def begin(self, queries: Sequence[str], alpha: float) -> Build:
        """Enter a build on these queries; return which one it is."""
        digest = _digest(queries)
        known = {row["digest"] for _, row in self._rows() if row["kind"] == "queries"}
        if digest not in known:
            self._append({"kind": "queries", **_WRITTEN_BY, "digest": digest, "ids": sorted(set(queries))})
        own = secrets.token_hex(8)
        today = datetime.now(UTC).isoformat(timespec="seconds")
        self._append({"kind": "build", "id": own, "queries": digest, "alpha": alpha, "date": today})
        return Build(own, self._number(own, frozenset(queries)))

    def end(self, build: Build, *, passed: bool) -> None:
        """Enter what was decided."""
        self._append({"kind": "verdict", "id": build.id, "passed": passed})

    def _number(self, own: str, queries: frozenset[str]) -> int:
        shares: dict[str, bool] = {}
        number = 0
        for _, row in self._rows():
            if row["kind"] == "queries":
                shares[row["digest"]] = not queries.isdisjoint(row["ids"])
            elif row["kind"] == "build":
                number += shares[row["queries"]]
                if row["id"] == own:
                    return number
        raise LexirecallError(f"{self.path}: the row of this build is gone; does something else write the ledger?")

    def _rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Give the rows that the file has, with their line numbers; each says what it should."""
        text = self._read()
        digests: set[str] = set()
        for number, line in enumerate(text.splitlines(keepends=True), 1):
            row = self._row(number, line)
            if row["kind"] == "build" and row["queries"] not in digests:
                raise self._damaged(number, "its queries are on no line before it")
            if row["kind"] == "queries":
                digests.add(row["digest"])
            yield number, row

    def _read(self) -> bytes:
        """Read the file; a last row that breaks off may be one that is just being written."""
        text = b""
        for _ in range(_TRIES):
            try:
                text = self.path.read_bytes()
            except FileNotFoundError:
                return b""
            except OSError as error:
                raise FormatError(str(self.path), None, f"the ledger cannot be read ({error.strerror})") from None
            if not text or text.endswith(b"\n"):
                break
            time.sleep(_PAUSE)
        return text

    def _row(self, number: int, line: bytes) -> dict[str, Any]:
        if not line.endswith(b"\n"):
            raise self._damaged(number, "it breaks off")
        try:
            row: Any = json.loads(line)
        except ValueError:
            raise self._damaged(number, "it is not JSON") from None
        row = row if isinstance(row, dict) else {}
        if isinstance(version := row.get("version", 1), int) and version > FORMAT_VERSION:
            otherwise = "begin a new ledger and judge new queries"
            raise newer_format(str(self.path), row.get("lexirecall"), otherwise, what="this row ", line=number)
        fields = _KINDS.get(str(row.get("kind")))
        if fields is None:
            raise self._damaged(number, f"its kind is none of {', '.join(_KINDS)}")
        if wrong := [name for name, kind in fields.items() if not isinstance(row.get(name), kind)]:
            raise self._damaged(number, f"it has no proper {' and no proper '.join(wrong)}")
        if row["kind"] == "queries" and row["digest"] != _digest(map(str, row["ids"])):
            raise self._damaged(number, "its digest is not that of its ids")
        made: dict[str, Any] = row
        return made

    def _damaged(self, number: int, problem: str) -> FormatError:
        remedy = "restore the file, or begin a new one and judge new queries"
        return FormatError(str(self.path), number, f"this row of the ledger is damaged: {problem}", remedy=remedy)

    def _append(self, row: Mapping[str, Any]) -> None:
        data = (json.dumps(row, ensure_ascii=True) + "\n").encode()
        try:
            file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            try:
                written = os.write(file, data)
            finally:
                os.close(file)
        except OSError as error:
            raise LexirecallError(f"{self.path}: the ledger cannot be written ({error.strerror})") from None
        if written < len(data):
            raise LexirecallError(f"{self.path}: the ledger could be written only in part; is the disk full?")


def _digest(queries: Iterable[str]) -> str:
    """Return what says whether two builds have the same queries, in whatever order."""
    return hashlib.sha256(json.dumps(sorted(set(queries))).encode()).hexdigest()
