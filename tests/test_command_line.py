"""The command line: each format says what the library says, and a command costs and does no more than it should."""

import csv
import inspect
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

import lexirecall
from command import Command
from lexirecall import evaluate
from lexirecall.cli import COMMANDS
from lexirecall.cli.help import DocumentedCommand
from lexirecall.measures import MEASURES
from lexirecall.preferences import PREFERENCES
from lexirecall.reader import reader_in_use
from lexirecall.results import Scores

GOOD = {
    "qrels.txt": b"q1 0 a 1\nq1 0 b 2\nq1 0 x 0\nq2 0 c 1\nq3 0 d 0\n",
    "early.run": b"q1 Q0 a 1 3 t\nq1 Q0 x 2 2 t\nq1 Q0 b 3 1 t\nq2 Q0 c 1 1 t\nq3 Q0 d 1 1 t\n",
    "late.run": b"q1 Q0 x 1 3 t\nq1 Q0 a 2 2 t\nq1 Q0 b 3 1 t\nq2 Q0 y 1 2 t\nq2 Q0 c 2 1 t\nq3 Q0 d 1 1 t\n",
    "short.run": b"q1 Q0 a 1 3 t\nq2 Q0 y 1 2 t\nq3 Q0 d 1 1 t\n",
}
FILES = tuple(GOOD)
MEASURE_NAMES = ("TSE", "AP", "nDCG@10", "LastRel", "NumRet")
Values = dict[tuple[str, str, str], float | None]


def options(*measures: str) -> list[str]:
    return [word for name in measures for word in ("-m", name)]


def expected(*, per_query: bool) -> Values:
    scores = evaluate(FILES[0], list(FILES[1:]), MEASURE_NAMES)
    return {(row["run"], row["query"], row["measure"]): row["value"] for row in scores.rows(per_query=per_query)}


# Formats


def from_cells(rows: list[list[str]]) -> Values:
    """Read a table of cells; a mean that lacks queries has their number behind it."""
    first = 2 if rows[0][1] == "query" else 1
    return {
        (row[0], row[1] if first == 2 else "all", name): None if cell == "-" else float(cell.partition(" ")[0])
        for row in rows[1:]
        for name, cell in zip(rows[0][first:], row[first:], strict=True)
    }


def from_markdown(text: str) -> Values:
    lines = [line.strip("| ").replace("**", "") for line in text.splitlines()]
    return from_cells([line.split(" | ") for line in (lines[0], *lines[2:])])


def from_latex(text: str) -> Values:
    lines = [line.removesuffix(r" \\") for line in text.splitlines() if line.endswith(r" \\")]
    return from_cells([re.sub(r"\\textbf\{(.*?)\}", r"\1", line).replace("\\", "").split(" & ") for line in lines])


def from_delimited(text: str, delimiter: str) -> Values:
    rows = csv.DictReader(io.StringIO(text), delimiter=delimiter)
    return {(row["run"], row["query"], row["measure"]): float(row["value"]) if row["value"] else None for row in rows}


def from_jsonl(text: str) -> Values:
    rows = [json.loads(line) for line in text.splitlines()]
    assert all(list(row) == ["run", "query", "measure", "value"] for row in rows)
    return {(row["run"], row["query"], row["measure"]): row["value"] for row in rows}


PARSERS: dict[str, Callable[[str], Values]] = {
    "table": lambda text: from_cells([re.split(r" {2,}", line) for line in text.splitlines()]),
    "tsv": lambda text: from_delimited(text, "\t"),
    "csv": lambda text: from_delimited(text, ","),
    "jsonl": from_jsonl,
    "markdown": from_markdown,
    "latex": from_latex,
}


@pytest.mark.parametrize("form", PARSERS)
@pytest.mark.parametrize("per_query", [False, True])
def test_every_format_says_what_the_library_says(command: Command, form: str, per_query: bool) -> None:
    outcome = command("eval", *FILES, *options(*MEASURE_NAMES), "-f", form, *(["-q"] if per_query else []))
    assert outcome.code == 0
    exact = form in ("tsv", "csv", "jsonl")
    tolerance = 0 if exact else 0.00005
    wanted = expected(per_query=per_query)
    assert None in wanted.values()
    assert PARSERS[form](outcome.out) == {
        key: None if value is None else pytest.approx(value, rel=0, abs=tolerance) for key, value in wanted.items()
    }


@pytest.mark.parametrize(
    "words", [["eval", "-q"], ["compare"], ["rank"], ["explain"], ["explain", "--query", "=q"]], ids=" ".join
)
@pytest.mark.parametrize("form", ["tsv", "csv"])
def test_ids_that_a_spreadsheet_would_run_are_text_unless_they_are_wanted_raw(
    command: Command, words: list[str], form: str
) -> None:
    files = {"q": b"=q 0 -d 1\n=q 0 e 1\n", "@a.run": b"=q Q0 -d 1 1 t\n", "+b.run": b"=q Q0 x 1 2 t\n=q Q0 e 2 1 t\n"}
    arguments = [words[0], "q", "@a.run", "+b.run", *words[1:], "-f", form]
    guarded, raw = command(*arguments, **files), command(*arguments, "--raw", **files)
    count = guarded.out.count("'")
    assert count > 0
    assert guarded.out.replace("'", "") == raw.out
    told = (
        f"note: {count} cells that a spreadsheet would run are written with a leading apostrophe (--raw writes them as"
    )
    assert told in guarded.err
    assert "apostrophe" not in raw.err
    assert "apostrophe" not in command(*arguments[:-1], "jsonl", **files).err


def trec_lines(scores: Scores, query: str) -> list[str]:
    names = {
        "AP": "map",
        "nDCG@10": "ndcg_cut_10",
        "P@5": "P_5",
        "NumRet": "num_ret",
        "LastRel": "LastRel",
        "TSE": "TSE",
    }
    by_name = scores.to_dict(per_query=True)["early.run"][query] if query != "all" else scores.to_dict()["early.run"]
    lines = []
    for name, value in by_name.items():
        number = f"{value:.0f}" if name == "NumRet" else f"{value:6.4f}"
        lines.append("%-22s\t%s\t%s" % (names[name], query, number))  # noqa: UP031 - as trec_eval writes it
    return lines


def test_the_trec_format_has_the_lines_of_trec_eval(command: Command) -> None:
    measures = ["AP", "P@5", "nDCG@10", "NumRet", "TSE", "LastRel"]
    qrels = b"q1 0 a 1\nq1 0 b 2\nq1 0 x 0\nq2 0 c 1\n"
    outcome = command("eval", "q", "early.run", *options(*measures), "-f", "trec", "-q", q=qrels)
    scores = evaluate("q", "early.run", measures)
    head = ["runid                 \tall\tearly.run", "num_q                 \tall\t2"]
    lines = [*trec_lines(scores, "q1"), *trec_lines(scores, "q2"), *head, *trec_lines(scores, "all")]
    assert outcome.out.splitlines() == lines


def test_the_trec_format_has_the_number_of_queries_once(command: Command) -> None:
    outcome = command("eval", FILES[0], "early.run", *options("NumQ", "set_map", "SetRelP"), "-f", "trec", "-q")
    names = [line.split()[0] for line in outcome.out.splitlines()]
    assert names.count("num_q") == 1
    assert names[-1] == "SetP(relative=True)"


def test_the_best_value_is_bold_and_for_some_measures_that_is_the_lowest(command: Command) -> None:
    arguments = ["eval", FILES[0], "early.run", "late.run", *options("AP", "LastRel", "SL1", "NumRel"), "-f"]
    bold = [re.findall(r"\*\*(\S+)\*\*", line) for line in command(*arguments, "markdown").out.splitlines()]
    assert [len(cells) for cells in bold] == [0, 0, 3, 0]  # NumRel is equal, so nothing to choose
    bold = [re.findall(r"\\textbf\{(\S+)\}", line) for line in command(*arguments, "latex").out.splitlines()]
    assert [len(cells) for cells in bold if cells] == [3]
    assert "\x1b" not in command(*arguments, "table").out  # stdout is not a terminal here


@pytest.mark.parametrize("form", ["table", "tsv", "csv", "jsonl", "markdown", "latex", "trec"])
def test_a_small_value_is_never_a_false_zero(command: Command, form: str) -> None:
    out = command(
        "eval", "qrels.txt", "short.run", "-m", "TSE", "-f", form, "--corpus-size", "900000", "--level", "2"
    ).out
    assert re.search(r"\b1\.1\d*e-06\b", out), out


@pytest.mark.parametrize(
    ("form", "sign"), [("table", "-"), ("jsonl", "null"), ("tsv", ""), ("csv", ""), ("trec", "nan")]
)
def test_an_undefined_value_has_a_sign_of_its_own(command: Command, form: str, sign: str) -> None:
    out = command("eval", *FILES, "-m", "AP", "-q", "-f", form).out
    (line, *_) = [line for line in out.splitlines() if re.search(r"\bq3\b", line)]
    assert re.split(r"[\s,]+|: ", line.rstrip("}"))[-1] == sign


def test_without_measures_the_usual_ones_are_shown(command: Command) -> None:
    header = command("eval", *FILES).out.splitlines()[0].removeprefix("run").replace("LexiRecall (win rate)", "")
    assert header.split() == ["TSE", "R@1000", "Rprec", "AP", "nDCG", "RR"]


def test_a_result_in_a_file_is_the_same_as_on_stdout(command: Command, tmp_path: Path) -> None:
    for form in (*PARSERS, "trec"):
        printed = command("eval", *FILES, "-f", form)
        written = command("eval", *FILES, "-f", form, "-o", "result")
        assert (written.code, written.out, written.err) == (0, "", printed.err)
        assert (tmp_path / "result").read_text() == printed.out


def test_the_manifest_is_the_one_of_the_library(command: Command, tmp_path: Path) -> None:
    outcome = command("eval", *FILES, "--depth", "2", "--manifest", "m.json")
    assert outcome.out
    manifest = evaluate(FILES[0], list(FILES[1:]), depth=2).manifest
    assert json.loads((tmp_path / "m.json").read_text()) == json.loads(manifest.to_json())


def test_an_id_that_is_not_utf_8_comes_out_as_it_went_in(command: Command, tmp_path: Path) -> None:
    files = {"q": b"\xff\xe9 0 a 0\nq1 0 a 1\n", "r": b"\xff\xe9 Q0 a 1 1 t\nq1 Q0 a 1 1 t\n"}
    for form in ("tsv", "csv", "trec"):
        assert b"\xff\xe9".decode(errors="surrogateescape") in command("eval", "q", "r", "-q", "-f", form, **files).out
    for form in ("table", "markdown", "latex", "jsonl"):  # for people, and JSON, which must be UTF-8
        assert command("eval", "q", "r", "-q", "-f", form, "--manifest", "m.json", **files).out.encode("utf-8")
    assert json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))


def test_neither_a_note_nor_an_error_can_draw_on_the_terminal(command: Command) -> None:
    files = {"\x1b[31mr": GOOD["early.run"], "q": GOOD["qrels.txt"] + b"\x1b[31mq 0 a 0\n", "\x1b[31mbad": b"x\n"}
    for run in ("\x1b[31mr", "\x1b[31mbad"):
        outcome = command("eval", "q", run, **files)
        assert outcome.err
        assert "\x1b" not in outcome.err + outcome.out


def test_a_warning_goes_to_stderr(command: Command) -> None:
    outcome = command("eval", *FILES, "--imputation", "optimistic")
    assert outcome.code == 0
    assert re.search(r"^warning: optimistic imputation", outcome.err, re.MULTILINE)
    assert "warning" not in command("eval", *FILES).err


def test_the_papers_imputation_is_an_option_that_needs_the_corpus_size(command: Command, tmp_path: Path) -> None:
    refused = command("eval", *FILES, "--imputation", "paper")
    assert (refused.code, refused.out) == (2, "")
    assert "imputation='paper' needs the corpus size" in refused.err
    assert "--corpus-size N" in refused.err
    outcome = command(
        "eval",
        *FILES,
        "--imputation",
        "paper",
        "--corpus-size",
        "1000",
        "-m",
        "AP",
        "-f",
        "tsv",
        "--manifest",
        "m.json",
    )
    assert json.loads((tmp_path / "m.json").read_text())["conventions"]["imputation"] == "paper"
    plain = command("eval", *FILES, "--corpus-size", "1000", "-m", "AP", "-f", "tsv")
    assert outcome.code == 0
    assert outcome.out != plain.out


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_result_may_go_to_a_pipe_which_stays_one(command: Command, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # so that nobody waits if the pipe is replaced
    try:
        assert command("eval", *FILES, "-o", "pipe").code == 0
        assert pipe.is_fifo()
        assert os.read(reader, 3) == b"run"
    finally:
        os.close(reader)


def test_an_interruption_is_no_error(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lexirecall.verbs.subject.project", interrupted)
    outcome = command("eval", *FILES)
    assert (outcome.code, outcome.out, outcome.err.strip()) == (130, "", "interrupted")


# Help


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_the_help_of_each_command_shows_an_example(command: Command, name: str, option: str) -> None:
    outcome = command(name, option)
    assert (outcome.code, outcome.err) == (0, "")
    assert re.search(rf"Examples?:\n +lexirecall {name}", outcome.out)
    assert all(len(line) <= 100 for line in outcome.out.splitlines())


VERBS = [
    name
    for name, value in ((name, getattr(lexirecall, name)) for name in lexirecall.__all__)
    if inspect.isfunction(value) and {"qrels", "level"} <= {*inspect.signature(value).parameters}
]
"""The functions that take judgments and runs, and say how queries count."""


def test_verbs_are_found() -> None:
    assert {"evaluate", "compare", "rank"} < {*VERBS}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_a_command_of_its_name(command: Command, verb: str) -> None:
    outcome = command(verb, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert f"lexirecall.{verb}`" in (sys.modules[f"lexirecall.cli.{verb}"].__doc__ or "")


def test_eval_has_the_name_of_its_verb_too_and_is_listed_once(command: Command) -> None:
    assert command("evaluate", *FILES) == command("eval", *FILES)
    listed = re.findall(r"^  (\w+) ", command("--help").out.partition("Commands:")[2], re.MULTILINE)
    assert listed == [*COMMANDS]
    assert command("evaluates").code == 2


def test_the_version_names_the_reader(command: Command) -> None:
    assert re.match(r"lexirecall \d+\.\d+\S* \(reader: (python|native)", command("--version").out)


def test_the_list_of_measures_has_every_row(command: Command) -> None:
    names = [re.match(r"\w+", line) for line in command("measures").out.splitlines()[1:]]
    assert [name.group() for name in names if name] == [*MEASURES, *PREFERENCES]
    rows = [json.loads(line) for line in command("measures", "-f", "jsonl").out.splitlines()]
    assert len(rows) == len(MEASURES) + len(PREFERENCES)
    assert all(row["title"] and row["reference"] for row in rows)


SPELLINGS = [
    (spelling, row.name) for row in MEASURES.values() for spelling in (row.name, *filter(None, row.trec), *row.aliases)
]


@pytest.mark.parametrize(("spelling", "name"), [*SPELLINGS, ("ndcg_cut_10", "nDCG"), ("rbp.95", "RBP"), ("ap", "AP")])
def test_each_measure_is_explained_by_any_of_its_names(command: Command, spelling: str, name: str) -> None:
    outcome = command("measures", spelling)
    assert (outcome.code, outcome.err) == (0, "")
    assert re.match(rf"{name}\b", outcome.out)
    for text in (MEASURES[name].title, MEASURES[name].formula, "higher" if MEASURES[name].direction > 0 else "lower"):
        assert text in outcome.out
    assert re.search(r"reference +.+(19|20)\d\d", outcome.out)


def test_an_explained_measure_says_when_to_use_it_and_what_it_misses(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentences begin where the other lines do; what a row leaves out has no line."""
    told = replace(MEASURES["TSE"], history="From afar.", use="Use it twice.", misses="It is blind.", defaults="")
    monkeypatch.setitem(MEASURES, "TSE", told)
    out = command("measures", "TSE").out.splitlines()
    [column] = {line.index(text) for line in out for text in (told.formula, told.history, told.use) if text in line}
    at_reference = next(number for number, line in enumerate(out) if line.startswith("  reference"))
    lines = [(line[:column].strip(), line[column:]) for line in out[at_reference + 1 :]]
    assert lines[:3] == [("history", told.history), ("use", told.use), ("misses", told.misses)]
    assert lines[3] == ("", "")


@pytest.mark.parametrize("form", ["jsonl", "csv", "tsv"])
def test_the_record_of_one_measure_explains_it_and_the_list_stays_short(command: Command, form: str) -> None:
    def records(*names: str) -> list[dict[str, str]]:
        out = command("measures", *names, "-f", form).out
        if form == "jsonl":
            return [json.loads(line) for line in out.splitlines()]
        return list(csv.DictReader(io.StringIO(out), delimiter="," if form == "csv" else "\t"))

    [of_one], of_all = records("TSE"), {record["title"]: record for record in records()}
    assert of_one == of_all[MEASURES["TSE"].title] | MEASURES["TSE"].about
    assert not {*MEASURES["TSE"].about} & {*of_all[MEASURES["TSE"].title]}


# The demo


def test_the_demo_writes_the_same_collection_each_time(command: Command, tmp_path: Path) -> None:
    first, second = command("demo", "-o", "demo-1"), command("demo", "-o", "demo-2")
    assert (first.code, first.out.replace("demo-1", "demo-2")) == (0, second.out)
    contents = [
        {path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()} for folder in ("demo-1", "demo-2")
    ]
    assert contents[0] == contents[1]
    assert len(contents[0]) >= 5
    assert command("demo", "-o", "demo-1").out == first.out


def test_the_demo_leaves_other_files_alone(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "qrels.txt").write_text("mine\n")
    outcome = command("demo", "-o", "mine")
    assert (outcome.code, outcome.out) == (1, "")
    assert re.match(r"mine/qrels\.txt: .*\n  .*-o", outcome.err)
    assert [path.read_text() for path in (tmp_path / "mine").iterdir()] == ["mine\n"]
    assert command("demo", "-o", "qrels.txt").code == 1


def test_the_demo_shows_a_run_that_leads_early_and_another_that_leads_in_the_worst_case(command: Command) -> None:
    command("demo")
    folder = Path("lexirecall-demo")
    means = evaluate(folder / "qrels.txt", sorted(folder.glob("*.run")), ["AP", "TSE"]).to_dict()
    assert max(means, key=lambda run: means[run]["AP"]) != max(means, key=lambda run: means[run]["TSE"])


@pytest.mark.parametrize("folder", ["lexirecall-demo", "it's my demo"])
def test_the_commands_that_the_demo_prints_really_run(command: Command, tmp_path: Path, folder: str) -> None:
    out = command("demo", "-o", folder).out
    shown = re.findall(r"^(?:\$| ) *(lexirecall .*)$", out, re.MULTILINE)
    commands = [line for line in shown if "QRELS" not in line]
    assert len(commands) >= 3
    program = f'lexirecall() {{ {shlex.quote(sys.executable)} -m lexirecall "$@"; }}\n'
    done = subprocess.run(["sh", "-ec", program + "\n".join(commands)], cwd=tmp_path, capture_output=True, check=True)
    first_table = re.search(r"^run .*\n(\S+\.run .*\n)+", out, re.MULTILINE)
    assert first_table
    assert done.stdout.decode().startswith(first_table.group())


# What a command costs


def loaded(*arguments: str, folder: Path, modules: str) -> list[str]:
    """Return which of these modules a command imports."""
    for name, content in GOOD.items():
        (folder / name).write_bytes(content)
    code = "import sys, atexit\n"
    code += f"atexit.register(lambda: print(*{set(modules.split())!r} & sys.modules.keys(), file=sys.stderr))\n"
    run = "import lexirecall" if not arguments else "from lexirecall.cli import main; main()"
    words = [sys.executable, "-c", code + run, *arguments]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    return done.stderr.splitlines()[-1].split()


def test_a_command_imports_only_what_it_needs(tmp_path: Path) -> None:
    heavy = "numpy scipy pandas polars pyarrow narwhals zstandard"
    assert loaded(folder=tmp_path, modules=heavy + " click") == []
    assert loaded("--version", folder=tmp_path, modules=heavy) == []
    assert loaded("eval", "--help", folder=tmp_path, modules=heavy) == []
    assert loaded("eval", *FILES, folder=tmp_path, modules=heavy) == ["numpy"]


OTHER_INPUTS = """
    formats.arrow formats.counting formats.dicts formats.grouping formats.ids formats.labels formats.listing
    formats.lists formats.mappingrun formats.memory formats.parquetbatches formats.positionsrun formats.ranking
    formats.roletable formats.rows formats.tablefiles formats.tableruns formats.unitrows formats.wholelists
    groups positions.file shortage units
"""
OTHER_QUESTIONS = """
    measures.tieexpectation preferences.by_level preferences.contrasts preferences.pairs statistics verbs.breakdown
    verbs.compare verbs.exposures verbs.owners
"""
OF_PYTHON = "concurrent.futures decimal difflib fractions html json numpy.typing shutil tempfile traceback"
IN_PYTHON = {f"lexirecall.formats.{name}" for name in ("counting", "ids", "lists", "ranking", "wholelists")} | {
    "lexirecall.units"
}


def test_a_small_evaluation_imports_nothing_for_other_inputs_or_questions(tmp_path: Path) -> None:
    rare = {f"lexirecall.{name}" for name in (OTHER_INPUTS + OTHER_QUESTIONS).split()}
    assert [name for name in rare if find_spec(name) is None] == []
    in_python = set() if reader_in_use() == "native" else IN_PYTHON
    assert {*loaded("eval", *FILES[:2], folder=tmp_path, modules=" ".join(rare))} == in_python
    needed = subprocess.run(
        [sys.executable, "-c", "import sys, click, numpy; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert {*loaded("eval", *FILES[:2], folder=tmp_path, modules=OF_PYTHON)} <= {*needed}


@pytest.mark.parametrize("arguments", [["eval", *FILES], ["measures"], ["eval", "--help"], ["demo"]], ids=" ".join)
def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path, arguments: list[str]) -> None:
    for name, content in GOOD.items():
        (tmp_path / name).write_bytes(content)
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-m", "lexirecall", *arguments]
    done = subprocess.run(words, cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert all(line.startswith("note: ") for line in done.stderr.splitlines()), done.stderr
    assert done.returncode in (0, -signal.SIGPIPE)  # 1 would say that the data are bad


@pytest.mark.parametrize(("typed", "meant"), [("evl", "eval"), ("compere", "compare"), ("evaluat", "evaluate")])
def test_an_unknown_command_suggests_the_nearest(command: Command, typed: str, meant: str) -> None:
    outcome = command(typed, "qrels.txt", "run.txt")
    assert outcome.code == 2
    assert f"No such command '{typed}'. Did you mean '{meant}'?" in outcome.err
    assert "Did you mean" not in command("nothing-like-it").err


@pytest.mark.parametrize("name", ["eval", "compare", "rank", "explain", "funnel", "report", "study"])
def test_help_groups_every_option_and_begins_with_what_to_compute(command: Command, name: str) -> None:
    shown = command(name, "--help").out
    headings = re.findall(r"^([A-Z][a-z ]+):$", shown, re.MULTILINE)
    assert headings[0] == "What to compute"
    assert headings[-3:] == ["Reading rules", "Large tables", "Help"]
    listed = re.findall(r"^  (?:-\w, )?(--[\w-]+)", shown, re.MULTILINE)
    params = import_module(f"lexirecall.cli.{COMMANDS[name]}").command.params
    options = [option for param in params if isinstance(param, click.Option) for option in param.opts]
    assert sorted(listed) == sorted({option for option in options if option.startswith("--")} | {"--help"})


def test_summaries_are_whole(command: Command) -> None:
    shown = command("--help").out
    assert "..." not in shown.partition("Commands:")[2]
    for name in COMMANDS:
        assert re.search(rf"^  {name} ", shown, re.MULTILINE)


def test_help_has_both_names_whoever_asks_first() -> None:
    """click keeps the option that it made for the first context, which need not be that of the command line."""
    asked = DocumentedCommand("asked")
    asked.get_help(click.Context(asked))
    assert "-h, --help" in asked.get_help(click.Context(asked, help_option_names=["--help"]))
