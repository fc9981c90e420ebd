"""The ways in which a run may come to the peers, for `ways.py`: each gives the values of five measures of every query.

What is read before is in the form that a user of the peer would have it in; making the peer's own form of it counts.
"""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

Work = Callable[[], Any]
TREC_NAMES = ("map", "ndcg", "recip_rank", "recall_1000", "Rprec")
RANX_NAMES = ["map", "ndcg", "mrr", "recall@1000", "r-precision"]


def by_query(path: Path) -> dict[str, dict[str, Any]]:
    """Read judgments or a run from text to dicts."""
    rows: dict[str, dict[str, Any]] = {}
    with path.open() as file:
        for line in file:
            query, _, document, *rest = line.split()
            rows.setdefault(query, {})[document] = int(rest[0]) if len(rest) == 1 else float(rest[1])
    return rows


def as_dicts(folder: Path) -> tuple[Any, Any]:
    return by_query(folder / "qrels.txt"), by_query(folder / "system00.run")


def as_frames(folder: Path) -> tuple[Any, Any]:
    import pandas as pd

    ids = {"query_id": object, "doc_id": object}  # ranx and ir_measures want them so
    judged = pd.read_parquet(folder / "parquet.qrels.parquet").astype(ids | {"relevance": "int64"})
    return judged, pd.read_parquet(folder / "parquet/system00.parquet").astype(ids)


def in_order(values: Mapping[str, Mapping[str, float]], folder: Path) -> Any:
    """Arrange {query: {measure: value}} as rows of the judged queries, in the order of the judgments."""
    queries = dict.fromkeys(line.split()[0] for line in (folder / "qrels.txt").read_text().splitlines())
    return np.array([[values[query][name] for name in TREC_NAMES] for query in queries])


def with_trec_eval(folder: Path) -> Work:
    asked = [argument for name in TREC_NAMES for argument in ("-m", name.replace("recall_", "recall."))]
    files = [str(folder / name) for name in ("qrels.txt", "system00.run")]

    def work() -> Any:
        command = [os.environ["TREC_EVAL"], "-q", *asked, *files]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        values: dict[str, dict[str, float]] = {}
        for name, query, value in map(str.split, output.splitlines()):
            values.setdefault(query, {})[name] = float(value)
        return in_order(values, folder)

    return work


def with_pytrec_eval(folder: Path) -> Work:
    import pytrec_eval

    qrels, run = as_dicts(folder)
    return lambda: in_order(pytrec_eval.RelevanceEvaluator(qrels, set(TREC_NAMES)).evaluate(run), folder)


def with_ir_measures(form: Callable[[Path], tuple[Any, Any]]) -> Callable[[Path], Work]:
    def prepared(folder: Path) -> Work:
        import ir_measures
        from ir_measures import AP, RR, R, Rprec, nDCG

        qrels, run = form(folder)
        names = dict(zip((AP, nDCG, RR, R @ 1000, Rprec), TREC_NAMES, strict=True))

        def work() -> Any:
            values: dict[str, dict[str, float]] = {}
            for query, measure, value in ir_measures.iter_calc(list(names), qrels, run):
                values.setdefault(query, {})[names[measure]] = value
            return in_order(values, folder)

        return work

    return prepared


def with_ranx(form: Callable[[Path], tuple[Any, Any]]) -> Callable[[Path], Work]:
    def prepared(folder: Path) -> Work:
        from ranx import Qrels, Run, evaluate

        qrels, run = form(folder)
        columns = {"q_id_col": "query_id", "doc_id_col": "doc_id"}

        def work() -> Any:
            if isinstance(qrels, dict):
                judged, ranked = Qrels(qrels), Run(run)
            else:
                judged = Qrels.from_df(qrels, **columns, score_col="relevance")
                ranked = Run.from_df(run, **columns, score_col="score")
            evaluate(judged, ranked, RANX_NAMES)  # keeps the values of each query in the run
            values = {
                query: {theirs: ranked.scores[name][query] for name, theirs in zip(RANX_NAMES, TREC_NAMES, strict=True)}
                for query in judged.keys()  # noqa: SIM118 - it is no dict
            }
            return in_order(values, folder)

        return work

    return prepared


PEERS: dict[str, Callable[[Path], Work]] = {
    "trec_eval -O3, text": with_trec_eval,
    "pytrec_eval, dicts": with_pytrec_eval,
    "ir_measures, dicts": with_ir_measures(as_dicts),
    "ir_measures, pandas frames": with_ir_measures(as_frames),
    "ranx, dicts": with_ranx(as_dicts),
    "ranx, pandas frames": with_ranx(as_frames),
}
