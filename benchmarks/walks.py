"""Counts how many functions, in how many files, a call passes on its way through the package.

Usage: python benchmarks/walks.py [--list WALK]

Each walk is made in an interpreter of its own, on two queries, so that nothing is remembered from another one. What
counts is every distinct Python function of the package that is called, in any thread. Lambdas, comprehensions, what
dataclasses generate, and what runs only because a module is imported do not count. `--list WALK` prints the functions
of one walk in the order of their first calls: a way through the house.
"""

import argparse
import contextlib
import inspect
import io
import multiprocessing
import os
import re
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import CodeType, FrameType

SOURCE = Path(__file__).resolve().parents[1] / "src" / "lexirecall"
JUDGED = {"q1": {"a": 1, "b": 1}, "q2": {"c": 2, "d": 1}}
RUNS = {"a": {"q1": list("axb"), "q2": list("cdx")}, "b": {"q1": list("xay"), "q2": list("dxc")}}
WALKS = {
    "TREC line to cell": "eval qrels.txt a.run -m AP",  # by the readable twin: to Python, the C is one step
    "dict to LexiRecall in compare": "",
    "Parquet by DuckDB": "",
    "two runs to a p": "compare qrels.txt a.run b.run -m AP",
    "lost document to Markdown": "gate qrels.txt b.run --baseline a.run -f markdown",
}
TWO_RUNS = "compare qrels.txt a.run b.run -m LexiRecall -m AP"
COUNTED = ("Source.head", "paths.is_folder", "kinds.kind_of", "parse_names", "lexirecall_ranks")  # ends of names


def write_data(folder: Path) -> None:
    """Write judgments and two runs as text, and the runs as a table if there is something to write that with."""
    (folder / "qrels.txt").write_text("".join(f"{q} 0 {d} {grade}\n" for q in JUDGED for d, grade in JUDGED[q].items()))
    rows = [(run, q, d, -i) for run, lists in RUNS.items() for q, found in lists.items() for i, d in enumerate(found)]
    for run in RUNS:
        lines = (f"{q} Q0 {d} 1 {score} {run}\n" for of, q, d, score in rows if of == run)
        (folder / f"{run}.run").write_text("".join(lines))
    with contextlib.suppress(ImportError):
        import polars as pl

        names = ["run", "query_id", "doc_id", "score"]
        pl.DataFrame(rows, names, orient="row").write_parquet(folder / "runs.parquet")


def traced(name: str, words: str, folder: Path) -> Counter[str] | str:
    """Return how often each function is called, in the order of the first calls; or what stopped the walk."""
    os.chdir(folder)
    os.environ["LEXIRECALL_READER"] = "python" if name == "TREC line to cell" else ""
    sys.path.insert(0, str(SOURCE.parent))
    calls: Counter[CodeType] = Counter()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        is_function = code.co_flags & inspect.CO_OPTIMIZED and code.co_name[0] != "<"  # not a class, not a lambda
        if event == "call" and is_function and code.co_filename.startswith(str(SOURCE)) and not is_importing(frame):
            calls[code] += 1

    import lexirecall.cli

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())), contextlib.redirect_stderr(io.StringIO()):
            if words:
                lexirecall.cli.group.main(words.split(), prog_name="lexirecall", standalone_mode=False)
            elif name == "Parquet by DuckDB":
                lexirecall.evaluate("qrels.txt", "runs.parquet", engine="duckdb")
            else:
                lexirecall.compare(JUDGED, RUNS, ["LexiRecall"])
    except lexirecall.LexirecallError as error:  # DuckDB or polars is not there: the other walks do without
        return str(error).splitlines()[0]
    finally:
        sys.setprofile(None)
    return Counter({f"{Path(c.co_filename).relative_to(SOURCE).as_posix()}:{c.co_qualname}": calls[c] for c in calls})


def is_importing(frame: FrameType | None) -> bool:
    """Tell whether this runs because a module of the package is imported."""
    while frame and not (frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(str(SOURCE))):
        frame = frame.f_back
    return frame is not None


def calls_of(end: str, calls: Counter[str]) -> int | str:
    """Return how often functions were called whose dotted names end so, or that none is defined."""
    if not any(f"def {end.rpartition('.')[2]}(" in path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")):
        return "not found"
    return sum(number for each, number in calls.items() if re.search(rf"\b{end}$", re.sub(r"\.py:|/", ".", each)))


def main() -> None:
    """Read the arguments, and print."""
    parser = argparse.ArgumentParser(description="Counts the functions that a call passes.")
    parser.add_argument("--list", choices=WALKS, metavar="WALK", help=f"one of: {'; '.join(WALKS)}")
    asked = parser.parse_args().list
    pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), max_tasks_per_child=1)
    with tempfile.TemporaryDirectory() as temporary, pool:
        write_data(folder := Path(temporary))
        for name, words in {asked: WALKS[asked]}.items() if asked else {**WALKS, TWO_RUNS: TWO_RUNS}.items():
            calls = pool.submit(traced, name, words, folder).result()
            if asked or isinstance(calls, str):
                print(f"{name}: {calls}" if isinstance(calls, str) else "\n".join(calls))
            elif name == TWO_RUNS:
                print(f"\n{name}", *(f"{end:<30} {calls_of(end, calls):>9}" for end in COUNTED), sep="\n")
            else:
                print(f"{name:<30} {len(calls):>4} functions {len({each.split(':')[0] for each in calls}):>3} files")


if __name__ == "__main__":
    main()
