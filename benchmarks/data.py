"""Collections to measure with, made from a seed: judgments and runs as TREC text.

Belongs here: what the collections look like, and writing them fast. Imports numpy.

Text is laid out as a matrix of bytes, one line per row, each field as wide as its widest value; the unused bytes are
NUL and are dropped at the end. No Python object per line.
"""

import gzip
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Texts = npt.NDArray[np.bytes_]
Ints = npt.NDArray[np.int64]
_LINES_AT_ONCE = 200_000
_SCORE_STEPS = 10_000  # scores have four decimals, so a few in a thousand are tied
_HIGHEST_SCORE = 40


@dataclass(frozen=True)
class Shape:
    """How large a collection is, and what its ids look like."""

    num_runs: int
    num_queries: int
    depth: int
    num_judged: int
    """Judged documents of each query; 0 means the relevant ones only."""
    mean_relevant: float
    query_ids: Callable[[int], list[str]]
    document_ids: Callable[[int], list[str]]
    num_documents: int
    suffix: str = ".run"


@dataclass(frozen=True)
class Files:
    """The files of a collection."""

    qrels: Path
    runs: list[Path]


def news_ids(num_documents: int) -> list[str]:
    """Return ids like those of the TREC news collections, of different lengths.

    >>> news_ids(4)
    ['FT911-1', 'FBIS3-2', 'LA010389-0003', 'FR940104-0-00004']
    """
    forms = ("FT9{year}1-{n}", "FBIS3-{n}", "LA01{day:02d}89-{n:04d}", "FR9401{day:02d}-0-{n:05d}")
    return [forms[i % 4].format(year=1 + i // 4 % 4, day=1 + i % 31, n=i + 1) for i in range(num_documents)]


def numbers_from(first: int, step: int) -> Callable[[int], list[str]]:
    """Return a function that makes ids that are plain numbers."""
    return lambda size: [str(i) for i in islice(count(first, step), size)]


SHAPES = {
    "robust": Shape(20, 249, 1000, 1250, 70, numbers_from(301, 1), news_ids, 528_155),
    "wide": Shape(1, 100_000, 100, 0, 1.1, numbers_from(19335, 11), numbers_from(17, 8), 1_000_000),
    "recommender": Shape(21, 6_000, 100, 0, 6, numbers_from(1, 1), numbers_from(1, 1), 20_000),
    "deep": Shape(10, 30, 10_000, 1250, 70, numbers_from(301, 1), news_ids, 528_155, ".run.gz"),
    "frames": Shape(1, 7_000, 100, 0, 6, numbers_from(1, 1), news_ids, 528_155),
    "deepest": Shape(1, 30, 100_000, 1250, 70, numbers_from(301, 1), news_ids, 528_155),
    "tiny": Shape(1, 3, 20, 10, 4, numbers_from(1, 1), news_ids, 1_000),
    "100 MB": Shape(1, 29_000, 100, 0, 1.1, numbers_from(19335, 11), numbers_from(17, 8), 1_000_000),
    "50 MB of judgments": Shape(1, 1_750, 1000, 1250, 70, numbers_from(301, 1), news_ids, 528_155),
    "tables": Shape(4, 20_000, 1000, 0, 10, numbers_from(1, 1), numbers_from(17, 8), 1_000_000),
    "ways": Shape(1, 2_000, 1000, 0, 10, numbers_from(1, 1), numbers_from(17, 8), 1_000),
    "1 GB": Shape(1, 30_000, 1000, 0, 1.1, numbers_from(19335, 11), numbers_from(17, 8), 1_000_000),
    "500 MB": Shape(1, 145_000, 100, 0, 1.1, numbers_from(19335, 11), numbers_from(17, 8), 1_000_000),
}


def make(name: str, folder: Path, *, seed: int = 7, share: float = 1) -> Files:
    """Write a collection, or a share of its runs and queries, unless it already exists."""
    shape = SHAPES[name]
    num_runs = max(1, round(shape.num_runs * share))
    folder = folder / f"{name.replace(' ', '-')}-{seed}-{share:g}"
    files = Files(folder / "qrels.txt", [folder / f"system{r:02d}{shape.suffix}" for r in range(num_runs)])
    if (folder / "complete").exists():
        return files
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    maker = _Maker(shape, max(3, round(shape.num_queries * share)), rng)
    files.qrels.write_bytes(maker.qrels())
    for number, path in enumerate(files.runs):
        with gzip.open(path, "wb", 6) if path.suffix == ".gz" else path.open("wb") as file:
            for block in maker.run(number):
                file.write(block)
    (folder / "complete").touch()
    return files


class _Maker:
    """Holds the pool of each query: relevant documents first, then judged ones, then others."""

    def __init__(self, shape: Shape, num_queries: int, rng: np.random.Generator) -> None:
        self.shape, self.rng = shape, rng
        self.queries = np.array(shape.query_ids(num_queries), "S")
        self.documents = np.array(shape.document_ids(shape.num_documents), "S")
        spread = rng.lognormal(0, 0.7, num_queries)
        wanted = (shape.mean_relevant * spread / spread.mean()).round().astype(np.int64)
        most = shape.num_judged // 2 or 4 * round(shape.mean_relevant)
        self.num_relevant = wanted.clip(1, most)
        self.pool_size = min(shape.num_documents, shape.depth * (3 if shape.depth <= 1000 else 2))
        self.first, self.step = rng.integers(0, shape.num_documents, (2, num_queries))

    def pool(self, query: int | slice) -> Ints:
        """Give distinct documents: a walk over all with a stride that has no common factor with their number."""
        stride = np.asarray(2 * self.step[query] + 1)
        while (shared := np.gcd(stride, self.shape.num_documents) > 1).any():
            stride = stride + 2 * shared
        walk = np.arange(self.pool_size) * stride[..., None] + self.first[query, ..., None]
        return np.asarray(walk % self.shape.num_documents)

    def qrels(self) -> bytes:
        """Give the judgments as text."""
        sizes = np.maximum(self.num_relevant, min(self.shape.num_judged, self.pool_size))
        query = np.repeat(np.arange(len(sizes)), sizes)
        ordinal = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        document = np.concatenate([self.pool(q)[:size] for q, size in enumerate(sizes)])
        grade = np.where(ordinal < self.num_relevant[query], 1 + (ordinal % 5 == 1), 0)
        return lines(self.queries[query], b"0", self.documents[document], number_texts(3)[grade])

    def run(self, number: int) -> Iterator[bytes]:
        """Give the text of one run in blocks of whole queries."""
        lift = 1.5 + number % 7 / 4  # runs differ in how far they raise what is relevant
        at_once = max(1, _LINES_AT_ONCE // self.pool_size)
        for start in range(0, len(self.queries), at_once):
            yield self._queries(slice(start, start + at_once), lift, f"system{number:02d}".encode())

    def _queries(self, which: slice, lift: float, tag: bytes) -> bytes:
        pool, depth = self.pool(which), self.shape.depth
        relevant = np.arange(self.pool_size) < self.num_relevant[which, None]
        values = self.rng.normal(10, 2, pool.shape).astype(np.float32) + 2 * np.float32(lift) * relevant
        steps = (values * _SCORE_STEPS).astype(np.int64).clip(1, _HIGHEST_SCORE * _SCORE_STEPS - 1)
        order = np.argsort(-steps, axis=1, kind="stable")[:, :depth]
        columns = [np.take_along_axis(each, order, axis=1).ravel() for each in (pool, steps)]
        queries = np.repeat(self.queries[which], depth)
        ranks = np.tile(number_texts(depth + 1)[1:], len(pool))
        return lines(queries, b"Q0", self.documents[columns[0]], ranks, score_texts()[columns[1]], tag)


def lines(*columns: Texts | bytes) -> bytes:
    r"""Join columns of text into lines.

    >>> lines(np.array([b"1", b"22"]), b"Q0", np.array([b"xyz", b"z"]))
    b'1 Q0 xyz\n22 Q0 z\n'
    """
    num_lines = next(len(column) for column in columns if not isinstance(column, bytes))
    parts: list[Any] = []
    for column in columns:
        array = np.asarray(column)
        part = np.frombuffer(array.tobytes(), np.uint8).reshape(-1, array.itemsize)
        parts += [np.broadcast_to(part, (num_lines, array.itemsize)), np.full((num_lines, 1), ord(" "), np.uint8)]
    parts[-1] = np.full((num_lines, 1), ord("\n"), np.uint8)
    flat = np.concatenate(parts, axis=1).ravel()
    return bytes(flat[flat != 0].tobytes())


_tables: dict[str, Texts] = {}


def number_texts(size: int) -> Texts:
    """Give the numbers below a size as text."""
    return _kept(f"numbers {size}", lambda: map(str, range(size)))


def score_texts() -> Texts:
    """Give every score that occurs as text."""
    steps = range(_HIGHEST_SCORE * _SCORE_STEPS)
    return _kept("scores", lambda: (f"{step / _SCORE_STEPS:.4f}" for step in steps))


def _kept(name: str, texts: Callable[[], Any]) -> Texts:
    if name not in _tables:
        _tables[name] = np.array(list(texts()), "S")
    return _tables[name]


def main(name: str, folder: str, share: str) -> None:
    """Make a collection and print the paths of its files."""
    files = make(name, Path(folder), share=float(share))
    print(json.dumps({"qrels": str(files.qrels), "runs": [str(run) for run in files.runs]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
