"""The ledger: a file that knows the builds on the same queries, so that looking every day raises no false alarms.

Belongs here: the rows of the file, which build this is, and at which level it is tested. Not here: what a build looks
like from outside (identity), how levels add up (statistics.gates).

Rows are appended by one write under a lock, whole or not at all. Where the disk is full what was written is taken back,
and what a process left that was killed meanwhile is dropped by the next one, with a note. A file system without locks
has one write only. A build enters itself before anything is decided, and its number is what the file says then: two
builds at once have two numbers, and one that breaks off has spent its own. Builds have the same data if they share a
query.

A build that is known, by its name or by everything that it is decided from, is not another look: it has the level that
it had, and keeps its verdict. One that cannot fail, whatever it is, spends nothing. Rows of format 1 do not say what
they were decided from: each counts as a build that has spent, and matches none.
"""

import contextlib
import errno
import hashlib
import json
import os
import secrets
import stat
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from lexirecall.errors import FormatError, LexirecallError, UsageError, counted, newer_format
from lexirecall.manifest import Note
from lexirecall.output import FilePath
from lexirecall.statistics.gates import level_of_build
from lexirecall.trees import MoreText, json_tree
from lexirecall.version import VERSION

FORMAT_VERSION = 2
"""Grows when rows can no longer be read by an older version."""
_WRITTEN_BY = {"version": FORMAT_VERSION, "lexirecall": VERSION}
_PATIENCE, _PAUSE = 30.0, 0.02  # seconds, for a lock that somebody else holds, and between two looks at it
_LONGEST_ROW = 2**28  # bytes: the ids of ten million queries
_KINDS: dict[str, dict[str, tuple[type, ...]]] = {
    "queries": {"digest": (str,), "ids": (list,)},
    "build": {"id": (str,), "queries": (str,), "alpha": (float,), "date": (str,)},
    "verdict": {"id": (str,), "passed": (bool,)},
}
_BEGINNINGS = tuple(f'{{"kind": "{kind}", "'.encode() for kind in _KINDS)
_OF_IDENTITY: dict[str, tuple[type, ...]] = {
    "name": (str, type(None)), "settings": (str,), "digest": (str,), "builds": (int, type(None)), "spends": (bool,),
}  # fmt: skip
"""What rows of builds have since format 2."""


class BuildIdentity(NamedTuple):
    """What a build is known by."""

    queries: tuple[str, ...]
    settings: str
    """A digest of what is asked."""
    digest: str
    """A digest of that and of everything it is decided from."""
    name: str | None = None
    """Instead of the digest."""


class Build(NamedTuple):
    """One look at some queries."""

    id: str
    number: int
    """Which of the builds it is that spend something and share a query with this one, from 1; or would be."""
    level: float
    """What it can spend of alpha."""
    spends: bool = True
    """Whether it does: it could fail."""
    name: str | None = None
    is_known: bool = False
    """Whether the ledger knew it before."""
    has_changed: bool = False
    """Whether a build of this name was decided from something else."""
    date: str = ""
    passed: bool | None = None
    """Its verdict; None as long as there is none."""
    is_kept: bool = False
    """Whether the verdict is that of earlier, and not what would be decided now."""

    def sentence(self) -> str:
        """Say what became of it earlier."""
        how = "passed" if self.passed else "failed"
        why = "its rankings are others now" if self.has_changed else "it would be decided otherwise now"
        what = "this build" if self.name is None else f"build {self.name}"
        return f"{what} {how} when it was first tested, on {self.date[:10]}, and keeps its verdict, though {why}"


class Ledger:
    """The builds in a file, which need not be there yet."""

    def __init__(self, path: FilePath) -> None:
        self.path = Path(path)
        self.notes: list[Note] = []
        """What was repaired, and which failed build is tested again under another name."""
        self._is_locked = False

    def begin(self, identity: BuildIdentity, alpha: float, builds: int | None = None, *, least_p: float = 0.0) -> Build:
        """Enter a build, unless it is known, and return which one it is; it spends its share if `least_p` is below it.

        Raise if these queries have a ledger of another alpha or number of builds, or if no build is left.
        """
        digest, build_id = _digest(identity.queries), secrets.token_hex(8)
        named = {"kind": "queries", **_WRITTEN_BY, "digest": digest, "ids": sorted(set(identity.queries))}
        with self._opened() as file:
            known, found, spent, twins = self._looked_up(identity, alpha, builds)
            if found is not None:
                return self._recalled(found, identity)
            spends = least_p < level_of_build(alpha, spent + 1 if builds is None else 1, builds)
            if spends and builds is not None and spent >= builds:
                problem = f"{self.path}: all {counted(builds, 'build')} of this ledger have been tested"
                raise UsageError(problem, remedy="begin a new ledger, with new queries if you can")
            row = {
                "kind": "build", **_WRITTEN_BY, "id": build_id, "queries": digest, "alpha": alpha, "builds": builds,
                "spends": spends, "name": identity.name, "settings": identity.settings, "digest": identity.digest,
                "date": datetime.now(UTC).isoformat(timespec="seconds"),
            }  # fmt: skip
            self._append(file, _lines_of([row] if digest in known else [named, row]))
            self.notes += [note for twin in twins for note in self._notes_on_twin(twin)][:1]
            return self._of_row(row)

    def _notes_on_twin(self, row: Mapping[str, Any]) -> Iterator[Note]:
        if self._verdict(row["id"]) is False:
            which = "a build without a name" if row["name"] is None else f"build {row['name']}"
            text = (
                f"{which} had the same rankings and failed on {row['date'][:10]}; under another name this is another "
                "look, at a level of its own"
            )
            yield Note("failed before", text, 1)

    def end(self, build: Build, *, passed: bool) -> Build:
        """Enter what was decided; if the build has a verdict, it keeps that."""
        with self._opened() as file:
            earlier = self._verdict(build.id)
            if earlier is None:
                self._append(file, _lines_of([{"kind": "verdict", "id": build.id, "passed": passed}]))
        return build._replace(passed=passed if earlier is None else earlier)

    def _looked_up(
        self, identity: BuildIdentity, alpha: float, builds: int | None
    ) -> tuple[set[str], dict[str, Any] | None, int, list[dict[str, Any]]]:
        """Return which queries are known, this build, how many related ones have spent, and the same by other names."""
        shares: dict[str, bool] = {}
        twins = []
        queries, found, spent = frozenset(identity.queries), None, 0
        for _, row in self._rows():
            if row["kind"] == "queries":
                shares[row["digest"]] = not queries.isdisjoint(row["ids"])
            elif row["kind"] == "build" and shares[row["queries"]]:
                self._check_budget(row, alpha, builds)
                spent += row.get("spends", True)
                # A name may be on a row whose data could not fail; the row that spent has the level that counts.
                if _is_same(row, identity) and (found is None or row["spends"] > found["spends"]):
                    found = row
                elif row.get("digest") == identity.digest:  # which is one of the settings too
                    twins.append(row)
        return set(shares), found, spent, twins

    def _check_budget(self, row: Mapping[str, Any], alpha: float, builds: int | None) -> None:
        if row["alpha"] != alpha:
            problem = f"{self.path}: this ledger is for alpha {row['alpha']:.10g}, not for {alpha:.10g}"
            raise UsageError(problem, remedy=f"give --alpha {row['alpha']:.10g}, or begin a new ledger")
        if row.get("builds") != builds:
            planned = row.get("builds"), builds
            theirs, ours = (
                "any number of builds" if number is None else counted(number, "build") for number in planned
            )
            remedy = f"give --builds {row['builds']}" if row.get("builds") else "leave --builds out"
            problem = f"{self.path}: this ledger is for {theirs}, not for {ours}"
            raise UsageError(problem, remedy=f"{remedy}, or begin a new ledger")

    def _recalled(self, row: Mapping[str, Any], identity: BuildIdentity) -> Build:
        has_changed = row["digest"] != identity.digest
        return self._of_row(row)._replace(is_known=True, has_changed=has_changed, passed=self._verdict(row["id"]))

    def _of_row(self, row: Mapping[str, Any]) -> Build:
        number, alpha, builds = self._number(row), row["alpha"], row["builds"]
        level = level_of_build(alpha, number if builds is None else 1, builds)
        return Build(row["id"], number, level, row["spends"], row["name"], date=row["date"])

    def _number(self, build: Mapping[str, Any]) -> int:
        """Count the builds up to this one that spend something and share a query with it; it counts in any case."""
        sets = (row for _, row in self._rows() if row["kind"] == "queries")
        queries = next(frozenset(row["ids"]) for row in sets if row["digest"] == build["queries"])
        shares: dict[str, bool] = {}
        number = 0
        for _, row in self._rows():
            if row["kind"] == "queries":
                shares[row["digest"]] = not queries.isdisjoint(row["ids"])
            elif row["kind"] == "build":
                if row["id"] == build["id"]:
                    return number + 1
                number += shares[row["queries"]] and row.get("spends", True)
        raise LexirecallError(f"{self.path}: the row of this build is gone; does something else write the ledger?")

    def _verdict(self, build: str) -> bool | None:
        """Return the first verdict of a build."""
        verdicts = (row["passed"] for _, row in self._rows() if row["kind"] == "verdict" and row["id"] == build)
        return next(verdicts, None)

    def _rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Give the rows that the file has, with their line numbers; each says what it should."""
        digests: set[str] = set()
        for number, line in self._lines():
            row = self._row(number, line)
            if row["kind"] == "build" and row["queries"] not in digests:
                raise self._damaged(number, "its queries are on no line before it")
            if row["kind"] == "queries":
                digests.add(row["digest"])
            yield number, row

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        with self.path.open("rb") as file:
            yield from enumerate(iter(lambda: file.readline(_LONGEST_ROW), b""), 1)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        """Open the file, locked where there are locks, and without the half row that somebody left."""
        try:
            # Append mode: where there are no locks, the one write of a build still lands behind the rows of others.
            with self.path.open("a+b", buffering=0) as opened:  # closing it gives the lock back
                file = opened.fileno()
                if not stat.S_ISREG(os.fstat(file).st_mode):
                    problem = f"{self.path}: the ledger is not a plain file"
                    raise LexirecallError(problem, remedy="name a file of its own")
                self._is_locked = self._lock(file)
                self._mend(file)
                yield file
        except OSError as error:
            problem = f"{self.path}: the ledger cannot be written ({error.strerror})"
            raise LexirecallError(problem, remedy="name a file that you can write to, on a disk with room") from None

    def _lock(self, file: int) -> bool:
        """Lock the file for this process; return whether the file system has locks."""
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            try:
                _try_lock(file)
            except (BlockingIOError, PermissionError):  # somebody else has it
                time.sleep(_PAUSE)
            except OSError:
                return False
            else:
                return True
        problem = f"{self.path}: another process has kept the ledger locked for {_PATIENCE:.0f} seconds"
        raise LexirecallError(problem, remedy="wait for it or end it, then run this again")

    def _mend(self, file: int) -> None:
        """Drop a last row that broke off, under the lock only: without one somebody may just be writing it."""
        last = deque(self._lines(), maxlen=1)
        if not last or last[0][1].endswith(b"\n"):
            return
        number, line = last[0]
        is_ours = any(line[: len(begins)] == begins[: len(line)] for begins in _BEGINNINGS)
        if len(line) == _LONGEST_ROW or not is_ours or not self._is_locked:
            raise self._damaged(number, "it breaks off")
        try:
            json_tree(line, self.path.name)
        except MoreText:
            raise self._damaged(number, "other rows follow on the same line") from None
        except FormatError:
            os.ftruncate(file, os.fstat(file).st_size - len(line))
            text = f"row {number:,} of the ledger broke off, as if its build was killed or the disk was full: dropped"
            self.notes.append(Note("half row", text, 1))
        else:
            self._append(file, b"\n")  # it lacks nothing but its line end

    def _row(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            tree: Any = json_tree(line, self.path.name)
        except FormatError:
            raise self._damaged(number, "it is not JSON") from None
        row: dict[str, Any] = tree if isinstance(tree, dict) else {}
        if isinstance(version := row.get("version", 1), int) and version > FORMAT_VERSION:
            otherwise = "begin a new ledger and judge new queries"
            raise newer_format(str(self.path), row.get("lexirecall"), otherwise, what="this row ", line=number)
        fields = _KINDS.get(str(row.get("kind")))
        if fields is None:
            raise self._damaged(number, f"its kind is none of {', '.join(_KINDS)}")
        if row["kind"] == "build" and (version != 1 or "settings" in row):
            fields = fields | _OF_IDENTITY
        if wrong := [name for name, kinds in fields.items() if not _is_of(row.get(name), kinds)]:
            raise self._damaged(number, f"it has no proper {' and no proper '.join(wrong)}")
        if row["kind"] == "queries":
            are_texts = all(isinstance(query, str) for query in row["ids"])
            if not are_texts or row["digest"] != _digest(row["ids"]):
                raise self._damaged(number, "its digest is not that of its ids")
        return row

    def _damaged(self, number: int, problem: str) -> FormatError:
        remedy = "restore the file, or begin a new one and judge new queries"
        return FormatError(str(self.path), number, f"this row of the ledger is damaged: {problem}", remedy=remedy)

    def _append(self, file: int, data: bytes) -> None:
        """Write all of it, or take back what was written."""
        size = os.fstat(file).st_size
        try:
            if os.write(file, data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # noqa: TRY301 - as the run says it otherwise
            os.fsync(file)  # some file systems say only now that they are full
        except OSError:
            if self._is_locked:
                with contextlib.suppress(OSError):  # then the next build drops it
                    os.ftruncate(file, size)
            raise


def _is_same(row: Mapping[str, Any], identity: BuildIdentity) -> bool:
    """Tell whether a row is of this build: the same is asked, under the same name or, without any, of the same data.

    A name under which nothing could fail yet says nothing of other data.
    """
    if row.get("settings") != identity.settings or row["name"] != identity.name:
        return False
    return row["digest"] == identity.digest or (identity.name is not None and row["spends"])


def _is_of(value: object, kinds: tuple[type, ...]) -> bool:
    """Tell whether a value of JSON has one of these types: a whole number is above 0, and any other a chance."""
    if isinstance(value, bool):
        return bool in kinds
    if isinstance(value, float):
        return float in kinds and 0 < value < 1
    return isinstance(value, kinds) and (not isinstance(value, int) or value > 0)


def _lines_of(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def _try_lock(file: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        os.lseek(file, 2**40, os.SEEK_SET)  # far behind all rows, which others may read
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _digest(queries: Iterable[str]) -> str:
    """Return what says whether two builds have the same queries, in whatever order."""
    return hashlib.sha256(json.dumps(sorted(set(queries))).encode()).hexdigest()
