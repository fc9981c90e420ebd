"""Several threads at once on the same inputs: every result is the one that a single thread gets.

On an ordinary Python the compiled reader lets other threads run while it reads files and counts; on a free-threaded one
nothing keeps them apart but what lexirecall does itself.
"""

import sys
import sysconfig
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier, Event, Thread
from typing import Any, TypeVar

import numpy as np
import pytest

from lexirecall import compare, evaluate, project, project_scores
from lexirecall.reader import is_built
from lexirecall.sums import ExactSums

T = TypeVar("T")
NUM_THREADS, NUM_TIMES = 6, 8
QRELS = {f"q{q}": {f"d{i}": i % 3 for i in range(0, 60, 7)} for q in range(12)}
SCORED = {f"q{q}": {f"d{i * (q + 1) % 97}": 1 / (i + 2) for i in range(90)} for q in range(12)}
LISTED = {f"q{q}": [f"d{i * (q + 3) % 97}" for i in range(90)] for q in range(12)}
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def positions_of(run: Any) -> object:
    return project(QRELS, run).found.positions.tolist()


def at_once(task: Callable[[], T]) -> list[T]:
    """Return what the task gives in every thread, each time."""
    start = Barrier(NUM_THREADS)

    def several() -> list[T]:
        start.wait()
        return [task() for _ in range(NUM_TIMES)]

    with ThreadPoolExecutor(NUM_THREADS) as threads:
        given = [threads.submit(several) for _ in range(NUM_THREADS)]
        return [each for future in given for each in future.result()]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "qrels", tmp_path / "a.run", tmp_path / "b.run"]
    paths[0].write_text("".join(f"{q} 0 {d} {grade}\n" for q, ds in QRELS.items() for d, grade in ds.items()))
    paths[1].write_text("".join(f"{q} Q0 {d} 1 {s!r} t\n" for q, ds in SCORED.items() for d, s in ds.items()))
    paths[2].write_text("".join(f"{q} Q0 {d} 1 {-i} t\n" for q, ds in LISTED.items() for i, d in enumerate(ds)))
    return paths


@pytest.mark.parametrize(
    "run", [SCORED, LISTED, {q: tuple(ds) for q, ds in LISTED.items()}], ids=["dict", "list", "tuple"]
)
def test_threads_project_the_same_objects(run: object) -> None:
    serial = positions_of(run)
    assert all(each == serial for each in at_once(partial(positions_of, run)))


def test_threads_evaluate_the_same_files(files: list[Path]) -> None:
    measures = ["TSE", "LexiRecall", "AP", "nDCG@10"]
    serial = evaluate(files[0], files[1:], measures).to_dict()
    assert all(each == serial for each in at_once(lambda: evaluate(files[0], files[1:], measures).to_dict()))


def test_threads_compare_the_same_positions(files: list[Path]) -> None:
    positions = project(files[0], files[1:])
    serial = compare(positions).render()
    assert all(each == serial for each in at_once(lambda: compare(positions).render()))


def test_threads_count_the_same_scores() -> None:
    scores = np.sin(np.arange(40 * 500, dtype=np.float32)).reshape(40, 500)
    relevant = [list(range(row, 500, 97)) for row in range(40)]
    serial = project_scores(scores, relevant).found.positions
    assert all(
        np.array_equal(each, serial) for each in at_once(lambda: project_scores(scores, relevant).found.positions)
    )


def test_threads_add_up_the_same_numbers() -> None:
    numbers = np.cos(np.arange(200_000.0)).reshape(20, -1)
    serial = ExactSums.of(numbers).rounded().tolist()
    assert all(each == serial for each in at_once(lambda: ExactSums.of(numbers).rounded().tolist()))


def test_a_thread_exchanges_the_objects_that_others_read() -> None:
    """What it puts is equal to what was there, but what was there is gone: nobody may still look at it."""
    qrels = {q: dict(ds) for q, ds in QRELS.items()}
    run = {q: dict(ds) for q, ds in SCORED.items()}
    listed = {q: list(ds) for q, ds in LISTED.items()}
    serial = [project(qrels, each).found.positions.tolist() for each in (run, listed)]
    over = Event()

    def exchange() -> None:
        while not over.is_set():
            for q, scored in run.items():
                for d, score in scored.items():
                    scored[d] = float(repr(score))
                for i, d in enumerate(listed[q]):
                    listed[q][i] = d[:1] + d[1:]
                qrels[q] = dict(qrels[q])
                run[q] = dict(scored)

    other = Thread(target=exchange)
    other.start()
    try:
        given = at_once(lambda: [project(qrels, each).found.positions.tolist() for each in (run, listed)])
    finally:
        over.set()
        other.join()
    assert all(each == serial for each in given)


@pytest.mark.skipif(not is_built(), reason="the compiled reader was not built")
def test_a_thread_makes_dicts_larger_and_smaller_while_others_read_them() -> None:
    """What is read may be of either moment, but whatever is read must still be there."""
    from lexirecall import _native
    from lexirecall.formats.dicts import _PLAIN

    judged = {q: dict.fromkeys(ds, 1.0) for q, ds in SCORED.items()}
    over = Event()

    def change() -> None:
        while not over.is_set():
            for ds in judged.values():
                more = [f"é{i}" for i in range(300)]
                ds.update({d: float(i) for i, d in enumerate(more)})
                for d in more:
                    del ds[d]

    other = Thread(target=change)
    other.start()
    try:
        read = at_once(lambda: [_native.judgments_of_dict(judged, _PLAIN, 1)[0] for _ in range(100)])
    finally:
        over.set()
        other.join()
    assert {ids for each in read for ids in each} == {"".join(judged).encode()}


@pytest.mark.skipif(not (FREE_THREADED and is_built()), reason="needs a free-threaded Python and the compiled reader")
def test_the_compiled_reader_leaves_a_free_threaded_python_free() -> None:
    import lexirecall._native  # noqa: F401 - importing it must not bring the lock back

    assert not sys._is_gil_enabled()  # type: ignore[attr-defined, unused-ignore]
