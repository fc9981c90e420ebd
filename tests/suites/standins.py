"""Suites in Python, with our adapter in place of what they test.

Belongs here: what stands in for what in each package, and where its tests of evaluation are. Not here: how tests are
run and recorded (recorded).
"""

import runpy
import sys
import unittest
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

from suites.recorded import run_pytest, run_unittest
from suites.verdicts import Outcome

RANX_METRICS = {
    "hits": "hits", "hit_rate": "hit_rate", "precision": "precision", "recall": "recall", "f1": "f1",
    "r_precision": "r-precision", "reciprocal_rank": "mrr", "average_precision": "map", "bpref": "bpref",
    "dcg": "dcg", "dcg_burges": "dcg_burges", "ndcg": "ndcg", "ndcg_burges": "ndcg_burges",
}  # fmt: skip
"""ranx's functions of metrics, and the names of the metrics in `evaluate`."""
RANX_TESTS = ("meta/evaluate_test.py", "data_structures/report_test.py", "metrics", "metrics_test.py")
"""Its other tests are about reading, fusing and normalizing, which no adapter replaces."""


def run_pytrec_eval(folder: Path) -> list[Outcome]:
    """Run its tests with the adapter under its name; two more are made of trec_eval's data, if that is in its place."""
    sys.modules["pytrec_eval"] = import_module("lexirecall.adapters.pytrec_eval")
    name = "__main__" if (folder / "trec_eval" / "test").is_dir() else "pytrec_eval_tests"
    cases = unittest.TestSuite()
    for path in sorted((folder / "tests").glob("*tests.py")):
        with mock.patch("unittest.main"):  # a file that is run as a program would run the tests itself
            found = runpy.run_path(str(path), run_name=name)
        for case in found.values():
            if isinstance(case, type) and issubclass(case, unittest.TestCase):
                cases.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    return run_unittest(cases, without=name)


def run_ir_measures(folder: Path) -> list[Outcome]:
    """Run its tests with our provider under the names of all that compute measures.

    What is left to ir_measures: measures that the tests define themselves (runtime), reading and parsing. The registry
    keeps its providers, because a test compares all that are in it; only those that are not installed are taken out.
    """
    sys.path.insert(0, str(folder))
    theirs, ours = import_module("ir_measures"), import_module("lexirecall.adapters.ir_measures")
    for name, provider in list(theirs.providers.registry.items()):
        if not provider.is_available():
            del theirs.providers.registry[name]
        if name not in ("runtime", ours.NAME):
            setattr(theirs, name, ours.provider)
    theirs.providers.PytrecEvalProvider = ours.LexirecallProvider
    theirs.DefaultPipeline.providers[:] = [theirs.runtime, ours.provider]
    import_module("pandas").set_option("future.infer_string", False)  # its provider of ranx predates pandas 3
    cases = unittest.defaultTestLoader.discover(str(folder / "tests"), top_level_dir=str(folder))
    return run_unittest(cases, without="tests")


def run_ranx(folder: Path) -> list[Outcome]:
    """Run its tests of evaluate, compare and metrics with the functions of the adapter; the objects are ranx's."""
    sys.path.insert(0, str(folder))
    ranx, ours = import_module("ranx"), import_module("lexirecall.adapters.ranx")
    replace_in("ranx", "evaluate", ours.evaluate)
    replace_in("ranx", "compare", ours.compare)
    import_module("ranx.metrics")
    for function, metric in RANX_METRICS.items():
        replace_in("ranx.metrics", function, _by_evaluate(ours.evaluate, metric))
    replace_in("ranx.metrics", "rank_biased_precision", _rbp(ours.evaluate))
    tests = folder / "tests" / "unit" / ranx.__name__
    return run_pytest(folder, [tests / name for name in RANX_TESTS if (tests / name).exists()])


def replace_in(package: str, name: str, ours: Callable[..., Any]) -> None:
    """Put a function of ours wherever the loaded modules of a package have theirs."""
    for path, module in list(sys.modules.items()):
        if path == package or path.startswith(f"{package}."):
            theirs = getattr(module, name, None)
            if callable(theirs):
                setattr(module, name, ours)


def _by_evaluate(evaluate: Callable[..., Any], metric: str) -> Callable[..., Any]:
    """Return a metric as a function of arrays, as `ranx.metrics` has it."""

    def values(qrels: Any, run: Any, k: int = 0, rel_lvl: int = 1) -> Any:
        name = metric + (f"@{k}" if k else "") + (f"-l{rel_lvl}" if rel_lvl != 1 else "")
        return evaluate(qrels, run, name, return_mean=False)

    return values


def _rbp(evaluate: Callable[..., Any]) -> Callable[..., Any]:
    return lambda qrels, run, p: evaluate(qrels, run, f"rbp.{100 * p:.0f}", return_mean=False)
