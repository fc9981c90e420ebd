"""Writes a run in every form that `ways.py` reads. Usage: FOLDER, which holds qrels.txt and system00.run."""

import gzip
import shutil
import sys
from pathlib import Path

import duckdb
import numpy as np
import zstandard
from as_parquet import main as write_parquet

from lexirecall import project


def main(folder: Path) -> None:
    qrels, run = folder / "qrels.txt", folder / "system00.run"
    with run.open("rb") as text, gzip.open(folder / "packed.run.gz", "wb", 6) as packed:
        shutil.copyfileobj(text, packed, 1 << 20)
    with run.open("rb") as text, (folder / "packed.run.zst").open("wb") as file:
        zstandard.ZstdCompressor().copy_stream(text, file)
    write_parquet(str(qrels), str(folder / "parquet"), str(run))
    write_matrix(folder, str(qrels), str(folder / "parquet" / "system00.parquet"))
    project(qrels, run).save(folder / "positions.parquet")


def write_matrix(folder: Path, qrels: str, run: str) -> None:
    """Write scores [queries, documents] and grades alike, in the order of queries in the judgments."""
    rows = duckdb.read_parquet(run).fetchnumpy()
    judged = np.loadtxt(qrels, dtype=str)
    requests, items = list(dict.fromkeys(judged[:, 0])), np.unique(rows["doc_id"].astype(str))
    number = {request: q for q, request in enumerate(requests)}
    place = {item: i for i, item in enumerate(items)}
    scores, grades = np.full((len(requests), len(items)), np.nan), np.zeros((len(requests), len(items)), np.int8)
    for request, item, score in zip(rows["query_id"], rows["doc_id"], rows["score"], strict=True):
        scores[number[request], place[item]] = score
    for request, _, item, grade in judged:
        grades[number[request], place[item]] = int(grade)
    np.savez(folder / "matrix.npz", scores=scores, grades=grades, requests=requests, items=items)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
