"""Checkpoints: what was counted so far, in a file, so that a job that was stopped can go on.

Belongs here: writing and reading that file, and telling whether it is of the same job. Not here: counting.

The file holds what the first pass found, the counts over the shards that are done, and a digest of each of these: of
its ids, its shape, and its first and last vector.
"""

import io
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from lexirecall.errors import DataError, newer_format
from lexirecall.formats.embeddings.copies import digests_of
from lexirecall.formats.embeddings.counting import CountState, Located
from lexirecall.formats.embeddings.shards import Shard
from lexirecall.output import write_files
from lexirecall.version import VERSION

FORMAT_VERSION = 1
"""Grows when files can no longer be read by an older version. Files without a number are of version 1 too."""
_FRESH = "name another file, or delete this one to start again"


@dataclass(slots=True)
class Checkpoint:
    """The file of one job; without a path nothing is kept.

    >>> Checkpoint(None, b"job").load() is None
    True
    """

    path: Path | None
    job: bytes
    """A digest of everything but the corpus."""
    done: list[bytes] = field(default_factory=list)
    """Digests of the shards that are counted."""

    def load(self) -> tuple[Located, CountState, int] | None:
        """Return what the first pass found, the counts so far, and the size of the corpus; None at the start."""
        if self.path is None or not self.path.exists():
            return None
        try:
            with np.load(io.BytesIO(self.path.read_bytes()), allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            if int(arrays.get("version", np.array(1))) > FORMAT_VERSION:
                raise newer_format(str(self.path), str(arrays["lexirecall"]), _FRESH)
            if bytes(arrays["job"]) != self.job:
                raise DataError(f"{self.path}: this checkpoint is of another job", remedy=_FRESH)
            self.done = [bytes(digest) for digest in arrays["done"]]
            located = Located(*(arrays[name] for name in ("indices", "thresholds", "samples", "digests")))
            counts = CountState(int(arrays["num_items"]), *(arrays[name] for name in ("above", "tied", "before")))
            return located, counts, int(arrays["size"])
        except (OSError, ValueError, KeyError, EOFError, BadZipFile):
            raise DataError(f"{self.path}: this is not a checkpoint", remedy=_FRESH) from None

    def is_done(self, number: int, shard: Shard) -> bool:
        """Tell whether a shard was counted; raise if another one was in its place."""
        if number >= len(self.done):
            return False
        if self.done[number] != digest_of(shard):
            problem = f"{self.path}: block {number} of the corpus is not the one that was counted"
            raise DataError(problem, remedy=_FRESH)
        return True

    def save(self, located: Located, counts: CountState, size: int, shard: Shard | None = None) -> None:
        """Keep the counts, after this shard; the file is written beside and renamed."""
        if self.path is None:
            return
        if shard is not None:
            self.done.append(digest_of(shard))
        content = io.BytesIO()
        np.savez(
            content, version=FORMAT_VERSION, lexirecall=VERSION,
            job=_plain(self.job), done=_plain(b"".join(self.done)).reshape(-1, 16), size=size,
            indices=located.indices, thresholds=located.thresholds, samples=located.samples, digests=located.digests,
            num_items=counts.num_items, above=counts.above, tied=counts.tied, before=counts.before,
        )  # fmt: skip
        write_files({self.path: content.getvalue()})


def digest_of(shard: Shard) -> bytes:
    """Return 16 bytes that tell shards apart."""
    ends = digests_of(shard, [0, len(shard.ids) - 1])
    return digest(*shard.ids.parts(), tuple(shard.vectors.shape), shard.vectors.dtype, ends.tobytes())


def digest(*parts: Any) -> bytes:
    """Return 16 bytes of what parts say.

    >>> digest("a", 1) == digest("a", 1), digest("a", 1) == digest("a", 2)
    (True, False)
    """
    known = blake2b(digest_size=16)
    for part in parts:
        text = part if isinstance(part, bytes) else str(part).encode(errors="surrogateescape")
        known.update(len(text).to_bytes(8, "little") + text)
    return known.digest()


def _plain(data: bytes) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.frombuffer(data, np.uint8)
