"""Reads files plainly and with lexirecall, in one process; prints CPU seconds of each as JSON. Usage: QRELS RUN..."""

import gzip
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from lexirecall.formats import load_judgments, project


def main(qrels: str, *runs: str) -> None:
    judgments = load_judgments(qrels)
    project(judgments, [runs[0]])  # what is imported and computed once is not counted
    seconds = {
        "judgments": cpu_seconds(lambda: load_judgments(qrels)),
        "in blocks": cpu_seconds(lambda: read_in_blocks(runs)),
        "at once": cpu_seconds(lambda: read_at_once(runs)),
        "native": cpu_seconds(lambda: [project(judgments, [run]) for run in runs]),
    }
    print(json.dumps(seconds))


def cpu_seconds(job: Callable[[], object]) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


def opened(path: str) -> IO[bytes]:
    return gzip.open(path, "rb") if path.endswith(".gz") else Path(path).open("rb", buffering=0)  # type: ignore[return-value]


def read_in_blocks(paths: Sequence[str]) -> None:
    for path in paths:
        with opened(path) as file:
            while file.read(1 << 20):
                pass


def read_at_once(paths: Sequence[str]) -> None:
    for path in paths:
        with opened(path) as file:
            file.read()


main(*sys.argv[1:])
