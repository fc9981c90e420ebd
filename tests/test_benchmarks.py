"""The benchmarks: their aims, their tables and their threads, from made-up figures; nothing is measured here."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import against_r
import contestants
import pytest
import walks
from experiments import BASELINES, CONTROL, ONE_QUERY, ONE_RUN, SUITES, TWO_RUNS, WAYS, Outcome
from page import EXPLANATIONS, as_markdown, rows
from targets import MOST_OF_PRODUCTS, ON_A_GPU, on_a_gpu, verdicts
from timing import ALL_CORES, CORES, ONE_THREAD, Command, Timing, Usage, environment_of


def threads(one_wall: float, cores_of_hashing: float) -> Outcome:
    """A file of two CPU seconds, in a command that takes half a second besides."""
    usages = {
        ONE_RUN: Usage(2.5, one_wall, 50),
        TWO_RUNS: Usage(4.5, one_wall + 2 / CORES, 50),
        ONE_QUERY: Usage(0.5, 0.5, 50),
        CONTROL: Usage(2.0, 2 / cores_of_hashing, 20),
    }
    return Outcome("threads", [Timing(label, [usage]) for label, usage in usages.items()])


def met(outcomes: dict[str, Outcome], words: str) -> bool | None:
    (found,) = (is_met for aim, _, is_met in verdicts(outcomes) if words in aim)
    return found


@pytest.mark.skipif(CORES < 2, reason="one core")
def test_what_a_command_does_besides_reading_does_not_count_against_the_cores() -> None:
    assert met({"threads": threads(0.5 + 2 / CORES, CORES)}, "one large file") is True
    assert met({"threads": threads(0.5 + 2, CORES)}, "one large file") is False


@pytest.mark.skipif(CORES < 2, reason="one core")
def test_busy_cores_leave_the_aim_open() -> None:
    assert met({"threads": threads(2.5, CORES / 2)}, "one large file") is None


def ways(away: float) -> Outcome:
    found = {"CPU s": 0.1, "wall s": 0.1, "MB before": 30.0, "peak MB": 40.0, "values": 1200, "away": 0.0}
    return Outcome("ways", figures={way: dict(found) for way in WAYS} | {"text, gz": found | {"away": away}})


def test_one_value_that_differs_by_anything_fails_the_aim() -> None:
    assert met({"ways": ways(0.0)}, "whichever way") is True
    assert met({"ways": ways(1e-16)}, "whichever way") is False


def test_a_peer_that_differs_does_not_fail_our_aim() -> None:
    outcome = ways(0.0)
    outcome.figures["ranx, dicts"] = outcome.figures["dicts"] | {"away": 0.5}
    assert met({"ways": outcome}, "whichever way") is True


def test_every_way_has_a_row_with_its_memory_and_its_difference() -> None:
    header, *body = rows("ways", ways(1e-16))
    assert [row[0] for row in body] == list(WAYS)
    (packed,) = (row for row in body if row[0] == "text, gz")
    assert (packed[header.index("peak MB")], packed[-1]) == ("40", "1e-16")


def test_the_job_knows_every_way(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = Path(contestants.JOBS)
    script = f"import sys; sys.path.insert(0, {str(jobs)!r}); import ways; print(*ways.WAYS, *ways.PEERS, sep='|')"
    printed = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    monkeypatch.setattr(contestants, "installed", lambda _: "1.0")
    assert printed.strip().split("|") == [*WAYS, *contestants.ways_of_peers(with_trec_eval=True)]


def test_a_reading_without_a_compiler_leaves_its_cell_empty() -> None:
    seconds = dict.fromkeys(("judgments", "in blocks", "fresh memory", "native", "crc32", "blake2b"), 0.5)
    outcome = Outcome("reading", figures={"robust": seconds | {"megabytes": 1.0, "ratios": [1.0, 1.0]}})
    header, row = rows("reading", outcome)
    assert row[header.index("and memchr of line ends")] == ""
    assert len(as_markdown("reading", outcome).splitlines()) == 3


def test_the_aims_on_a_gpu_are_found_in_its_table() -> None:
    found = list(on_a_gpu(ON_A_GPU.read_text()))
    assert len(found) == len(MOST_OF_PRODUCTS)
    assert all(is_met for *_, is_met in found)
    ((*_, is_met),) = on_a_gpu("| `project_embeddings`, 8 relevant, near | 0.3 | 0.2 to 0.4 | 2.01 | 0.39 |")
    assert not is_met


def test_every_benchmark_that_is_explained_or_has_a_baseline_exists() -> None:
    assert BASELINES.keys() | EXPLANATIONS.keys() <= SUITES.keys()


@pytest.mark.parametrize(("environment", "number"), [({}, ALL_CORES), (ONE_THREAD, ONE_THREAD)], ids=["all", "one"])
def test_all_commands_have_the_same_threads_whatever_the_caller_has(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], number: dict[str, str]
) -> None:
    monkeypatch.setenv("POLARS_MAX_THREADS", "77")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "77")
    seen = environment_of(Command("any", ["any"], environment))
    assert {name: seen[name] for name in number} == number


def sources(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "trec_eval.c").write_text(text)
    return folder


def test_trec_eval_is_built_outside_its_folder(tmp_path: Path) -> None:
    text = '#include <stdio.h>\nint main(void) { puts("map all 0.5"); return 0; }\n'
    program = contestants.built(sources(tmp_path / "sources", text), tmp_path)
    assert subprocess.run([program], check=True, capture_output=True, text=True).stdout == "map all 0.5\n"
    assert [path.name for path in (tmp_path / "sources").iterdir()] == ["trec_eval.c"]


def test_a_folder_that_cannot_be_built_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="has no C sources"):
        contestants.built(tmp_path, tmp_path)
    with pytest.raises(SystemExit, match="cannot be built"):
        contestants.built(sources(tmp_path / "wrong", "no C"), tmp_path)


def test_only_text_goes_to_trec_eval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contestants, "installed", lambda _: None)
    for run_file, is_there in (("a.run", True), ("a.run.gz", False)):
        commands = contestants.all_commands("qrels", [run_file], tmp_path, trec_eval="trec_eval", with_cold=False)
        assert (contestants.TREC_EVAL in [command.label for command in commands]) == is_there


@pytest.mark.parametrize(
    ("name", "theirs", "is_near"),
    [("t.test: p", 0.1 + 1e-8, False), ("t.test: p", float("nan"), False), ("t.test: p", 0.1 + 1e-15, True),
     ("wilcox.test: normal p*", 0.1 + 1e-8, True), ("ptukey: p**", 0.101, False)],
)  # fmt: skip
def test_numbers_that_are_not_those_of_r_are_seen(name: str, theirs: float, is_near: bool) -> None:
    assert [found for _, found in against_r.largest([(name, 0.1, 0.1), (name, 0.1, theirs)])] == [is_near]


def test_a_walk_names_what_it_calls_once_in_the_order_of_first_calls() -> None:
    script = str(Path(walks.__file__))
    done = subprocess.run([sys.executable, script, "--list", "TREC line to cell"], check=True, capture_output=True)
    calls = done.stdout.decode().splitlines()
    assert calls.index("cli/evaluate.py:command") < calls.index("names.py:parse_names")
    assert len(calls) == len(set(calls)) > 100


def test_a_function_that_has_moved_is_still_counted_and_one_that_is_gone_is_said_to_be() -> None:
    calls = Counter({"names.py:parse_names": 2, "inputs/names.py:Names.parse_names": 1, "names.py:reparse_names": 9})
    assert (walks.calls_of("parse_names", calls), walks.calls_of("nowhere_defined", calls)) == (3, "not found")
