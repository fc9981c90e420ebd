"""Writes a run in every form that `ways.py` reads. Usage: FOLDER, which holds qrels.txt and run00.run."""

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
    queries, documents = list(dict.fromkeys(judged[:, 0])), np.unique(rows["doc_id"].astype(str))
    number = {query: q for q, query in enumerate(queries)}
    place = {document: i for i, document in enumerate(documents)}
    scores, grades = np.full((len(queries), len(documents)), np.nan), np.zeros((len(queries), len(documents)), np.int8)
    for query, document, score in zip(rows["query_id"], rows["doc_id"], rows["score"], strict=True):
        scores[number[query], place[document]] = score
    for query, _, document, grade in judged:
        grades[number[query], place[document]] = int(grade)
    np.savez(folder / "matrix.npz", scores=scores, grades=grades, queries=queries, documents=documents)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
