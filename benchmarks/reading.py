"""From text files to six measures: CPU time of lexirecall beside pytrec_eval, interleaved, on a simulated collection.

Usage: python benchmarks/reading.py [RUNS] [REPEATS]. Figures are ratios within one process; look at the spread too.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytrec_eval

from lexirecall import evaluate, simulate_collection
from lexirecall.simulate import Character

MEASURES = ["AP", "nDCG", "RR", "R@1000", "Rprec", "TSE"]
PEER_MEASURES = {"map", "ndcg", "recip_rank", "recall_1000", "Rprec"}


def main(num_runs: int, repeats: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        qrels, runs = write_collection(Path(folder), num_runs)
        megabytes = sum(path.stat().st_size for path in runs) / 1e6
        print(f"{num_runs} runs × 249 requests × 1000 documents, {megabytes:.0f} MB of text, CPU seconds")
        times: dict[str, list[float]] = {"lexirecall": [], "pytrec_eval": []}
        for _ in range(repeats):
            times["lexirecall"].append(cpu_seconds(lambda: evaluate(qrels, runs, MEASURES)))
            times["pytrec_eval"].append(cpu_seconds(lambda: evaluate_with_pytrec_eval(qrels, runs)))
        ours = statistics.median(times["lexirecall"])
        for name, seconds in times.items():
            median, spread = statistics.median(seconds), f"{min(seconds):.2f} to {max(seconds):.2f}"
            print(f"{name:<12} {median:6.2f} ({spread}), {median / ours:.2f} × ours")


def cpu_seconds(job: Callable[[], object]) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


def evaluate_with_pytrec_eval(qrels: Path, runs: list[Path]) -> None:
    with qrels.open() as file:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), PEER_MEASURES)
    for path in runs:
        with path.open() as file:
            evaluator.evaluate(pytrec_eval.parse_run(file))


def write_collection(folder: Path, num_runs: int) -> tuple[Path, list[Path]]:
    characters = [Character(f"{i}.run", easy=3 + i / 10, hard=i / 5, depth=1000) for i in range(num_runs)]
    collection = simulate_collection(7, num_requests=249, characters=characters)
    for name, text in collection.to_trec().items():
        (folder / name).write_text(text)
    return folder / "qrels.txt", [folder / name for name in collection.runs]


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:3]) if len(sys.argv) > 2 else (4, 3))
