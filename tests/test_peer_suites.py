"""The runner of other tools' suites, on tiny suites of our own making: what passes, is refused, differs, is unknown."""

import subprocess
import sys
from pathlib import Path

import pytest

from suites.verdicts import DIFFERING, KINDS, PASSED, REASONS, REFUSED, Outcome, faults, read_reasons, report

PROGRAM = Path(__file__).with_name("peer_suites.py")
SUITES = {"trec_eval 9", "trec_eval 10", "pytrec_eval", "ir_measures", "ranx"}
PASSING, REFUSING, OTHER = "-m map qrels run", "-R prefs qrels run", "-m P.1 qrels run"
MAKEFILE = f"""\
all:
\tcc trec_eval.c
quicktest: trec_eval
\t./trec_eval {PASSING} | diff - map
\t./trec_eval {REFUSING} | diff - map
\t./trec_eval {OTHER} | diff - map
\t/bin/echo done

longtest:
\t./trec_eval -m ndcg qrels run | diff - map
"""
UNIT_TESTS = """\
import unittest

import pytrec_eval


class Tests(unittest.TestCase):
    def value(self, name):
        return pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, {name}).evaluate({"q": {"a": 1.0}})["q"][name]

    def test_map(self):
        self.assertEqual(self.value("map"), 1)

    def test_unknown(self):
        self.assertEqual(self.value("mapp"), 1)

    def test_parts(self):
        for wrong in (2, 3):
            with self.subTest(wrong=wrong):
                self.assertEqual(self.value("map"), wrong)


if __name__ == "__main__":
    Tests.test_made = lambda self: self.assertEqual(self.value("P_1"), 1)
    unittest.main()
"""
RANX_TESTS = """\
import numpy as np
import pytest
import ranx.metrics as rm
from ranx import evaluate

QRELS, RUN = np.array([[[1, 1], [2, 1]]]), np.array([[[2, 1], [3, 1]]])


@pytest.fixture
def metric():
    return "precision"


def test_precision(metric):
    assert evaluate(QRELS, RUN, metric) == rm.precision(QRELS, RUN)[0] == 0.5


def test_twice():
    evaluate(QRELS, np.array([[[2, 1], [2, 1]]]), "precision")
"""
FAKE_RANX = {
    "ranx/__init__.py": "from ranx.meta import compare, evaluate\n",
    "ranx/meta.py": "def evaluate(*given): raise AssertionError('theirs')\ncompare = evaluate\n",
    "ranx/metrics/__init__.py": "from ranx.metrics.precision import precision\n",
    "ranx/metrics/precision.py": "def precision(*given): raise AssertionError('theirs')\n",
    "tests/unit/ranx/meta/evaluate_test.py": RANX_TESTS,
}

IR_MEASURES_TESTS = """\
import unittest

import ir_measures


class Small(unittest.TestCase):
    def test_names(self):
        for provider in (ir_measures.pytrec_eval, ir_measures.cwl_eval, ir_measures.providers.PytrecEvalProvider()):
            self.assertEqual(provider.NAME, "lexirecall")

    def test_pipeline(self):  # ours puts the document with the greater id first, where that of RR@k does not
        self.assertEqual((ir_measures.RR @ 10).calc_aggregate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}), 0.5)

    def test_own(self):
        own = ir_measures.define_byquery(lambda qrels, run: len(run))
        self.assertEqual(own.calc_aggregate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}), 2)
"""


def run(peer: str, folder: Path, rows: dict[str, tuple[str, str]]) -> tuple[int, str, str]:
    """Run a suite with a table of our own; return the exit code and what was printed."""
    suite = "trec_eval 9" if peer == "trec_eval" else peer
    table = folder / "reasons.tsv"
    lines = ["suite\ttest\toutcome\treason", *("\t".join((suite, test, *row)) for test, row in rows.items())]
    table.write_text("\n".join(lines) + "\n")
    words = [sys.executable, str(PROGRAM), peer, str(folder), "--reasons", str(table)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def quicktest(tmp_path: Path) -> Path:
    for name, text in {
        "Makefile": MAKEFILE,
        "qrels": "q 0 a 1\n",
        "run": "q Q0 x 1 2 tag\nq Q0 a 2 1 tag\n",
        "map": f"{'map':<22}\tall\t0.5000\n",
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


KNOWN = {REFUSING: (REFUSED, "no preferences"), OTHER: (DIFFERING, "another measure")}


def test_a_quicktest_whose_failures_the_table_names(quicktest: Path) -> None:
    code, printed, said = run("trec_eval", quicktest, KNOWN)
    assert printed.splitlines() == [
        f"passed     {PASSING}",
        f"refused    {REFUSING}",
        "           no preferences",
        f"differing  {OTHER}",
        "           another measure",
        "trec_eval 9: 3 tests, 1 passed, 1 refused, 1 differing",
    ]
    assert (code, said) == (0, "")


def test_a_failure_that_the_table_does_not_name(quicktest: Path) -> None:
    code, printed, said = run("trec_eval", quicktest, {REFUSING: KNOWN[REFUSING]})
    assert "1 of 1 lines differ; first ('P_1" in printed
    assert said == f"{OTHER}: differing, but reasons.tsv says passed\n"
    assert code == 1


def test_a_row_whose_test_passes_or_is_not_there(quicktest: Path) -> None:
    code, _, said = run("trec_eval", quicktest, {**KNOWN, PASSING: (REFUSED, "was so"), "-m gone": (REFUSED, "was so")})
    assert code == 1
    assert said.splitlines() == [
        "reasons.tsv also names tests that this folder does not have: -m gone",
        f"{PASSING}: passed, but reasons.tsv says refused",
    ]


def test_the_version_of_trec_eval_is_found(quicktest: Path) -> None:
    (quicktest / "m_rbp.c").touch()
    code, printed, _ = run("trec_eval", quicktest, {})
    assert printed.splitlines()[-1].startswith("trec_eval 10: 3 tests")
    assert code == 1


@pytest.mark.parametrize("with_data", [False, True])
def test_our_adapter_stands_in_for_pytrec_eval(tmp_path: Path, with_data: bool) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "small_tests.py").write_text(UNIT_TESTS)
    if with_data:  # then the file is run as a program, which makes one test more
        (tmp_path / "trec_eval" / "test").mkdir(parents=True)
    rows = {"Tests.test_unknown": (REFUSED, "no such measure"), "Tests.test_parts": (DIFFERING, "two parts")}
    code, printed, said = run("pytrec_eval", tmp_path, rows)
    assert (code, said) == (0, "")
    made = "passed     Tests.test_made\n" if with_data else ""
    counts = f"pytrec_eval: {3 + with_data} tests, {1 + with_data} passed, 1 refused, 1 differing\n"
    parts, unknown = (
        "differing  Tests.test_parts\n{0}two parts\n",
        "refused    Tests.test_unknown\n{0}no such measure\n",
    )
    assert printed == f"{made}passed     Tests.test_map\n{(parts + unknown).format(' ' * 11)}{counts}"


def test_our_adapter_stands_in_for_ranx(tmp_path: Path) -> None:
    for name, text in FAKE_RANX.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    tests = "tests/unit/ranx/meta/evaluate_test.py::test_"
    code, printed, said = run("ranx", tmp_path, {f"{tests}twice": (REFUSED, "a document twice")})
    assert (code, said) == (0, "")
    assert printed.splitlines()[0] == f"passed     {tests}precision"
    assert printed.splitlines()[-1] == "ranx: 2 tests, 1 passed, 1 refused"


def test_our_provider_stands_in_for_those_of_ir_measures(tmp_path: Path) -> None:
    pytest.importorskip("ir_measures")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "__init__.py").touch()
    (tmp_path / "tests" / "test_small.py").write_text(IR_MEASURES_TESTS)
    code, printed, said = run("ir_measures", tmp_path, {})
    assert (code, said) == (0, "")
    assert printed.splitlines()[-1] == "ir_measures: 3 tests, 3 passed"


def test_a_folder_without_tests_is_not_a_success(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    code, _, said = run("pytrec_eval", tmp_path, {})
    assert (code, said) == (1, "the folder has no test of this suite\n")


def test_a_folder_that_does_not_exist_is_an_error_of_usage(tmp_path: Path) -> None:
    words = [sys.executable, str(PROGRAM), "ranx", str(tmp_path / "none")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "is not a folder; name a checkout of ranx" in done.stderr


def test_a_test_that_fails_in_another_way_than_its_row_says() -> None:
    outcomes = [Outcome("t", DIFFERING, "1 is not 2")]
    assert list(faults(outcomes, {"t": (REFUSED, "why")})) == ["t: differing, but reasons.tsv says refused"]
    assert "1 is not 2" in next(report("suite", outcomes, {"t": (REFUSED, "why")}))


def test_the_table_names_suites_and_outcomes_that_there_are_and_gives_reasons() -> None:
    lines = [line.split("\t") for line in REASONS.read_text(encoding="utf-8").splitlines()]
    assert lines[0] == ["suite", "test", "outcome", "reason"]
    assert {suite for suite, *_ in lines[1:]} <= SUITES
    assert {outcome for _, _, outcome, _ in lines[1:]} <= {*KINDS} - {PASSED}
    assert all(reason for *_, reason in lines)
    assert sum(len(read_reasons(suite)) for suite in SUITES) == len(lines) - 1, "a test is named twice"
