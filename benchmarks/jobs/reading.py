"""Reads files plainly and with lexirecall, in one process; prints CPU seconds of each as JSON. Usage: QRELS RUN...

Plain reading is into the same memory again and again, and into fresh memory; then with a look at what was read: for
line ends (memchr, if NEWLINES names the library that `newlines.c` makes), and at every byte (CRC-32 and BLAKE2b).
"""

import ctypes
import gzip
import hashlib
import json
import mmap
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

from lexirecall.formats import load_judgments, project

BLOCK = 1 << 20
Look = Callable[[bytes], object]


def main(qrels: str, *runs: str) -> None:
    judgments = load_judgments(qrels)
    project(judgments, [runs[0]])  # what is imported and computed once is not counted
    read_in_blocks(runs, lambda _: None)
    seconds = {
        "judgments": cpu_seconds(lambda: load_judgments(qrels)),
        "in blocks": cpu_seconds(lambda: read_in_blocks(runs, lambda _: None)),
        "fresh memory": cpu_seconds(lambda: read_into_fresh_memory(runs)),
        "native": cpu_seconds(lambda: [project(judgments, [run]) for run in runs]),
    }
    for name, look in looks():
        seconds[name] = cpu_seconds(lambda look=look: read_in_blocks(runs, look))  # type: ignore[misc]
    print(json.dumps(seconds))


def cpu_seconds(job: Callable[[], object]) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


def looks() -> Iterator[tuple[str, Look]]:
    """Give what may be done with each block."""
    if path := os.environ.get("NEWLINES"):
        newlines = ctypes.CDLL(path).newlines
        newlines.argtypes, newlines.restype = (ctypes.c_char_p, ctypes.c_size_t), ctypes.c_size_t
        yield "newlines", lambda block: newlines(block, len(block))
    yield "crc32", zlib.crc32
    digest = hashlib.blake2b()
    yield "blake2b", digest.update


def opened(path: str) -> IO[bytes]:
    return gzip.open(path, "rb") if path.endswith(".gz") else Path(path).open("rb", buffering=0)  # type: ignore[return-value]


def read_in_blocks(paths: Sequence[str], look: Look) -> None:
    for path in paths:
        with opened(path) as file:
            while block := file.read(BLOCK):
                look(block)


def read_into_fresh_memory(paths: Sequence[str]) -> None:
    """Map new pages for every block: the run must clear each of them first."""
    for path in paths:
        with opened(path) as file:
            while True:
                with mmap.mmap(-1, BLOCK) as memory:
                    if not file.readinto(memory):  # type: ignore[attr-defined]
                        break


main(*sys.argv[1:])
