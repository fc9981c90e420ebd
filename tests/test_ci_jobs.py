"""The GitHub Action and the GitLab job: their shell steps, run as they stand, with inputs that try to be code."""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from lexirecall.cli.gate import command

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
JOB = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text())[".lexirecall-gate"]
EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
HOSTILE = [
    "a b", 'a"b', "a'b", "$(touch x)", "`touch x`", "a;touch x", "a&touch x", "a|touch x", "$HOME", "*", "-a", "é",
    "\\", "'; touch x #", '"; touch x #', "${{ inputs.new }}",
]  # fmt: skip

PYTHON = """\
#!/bin/bash
# stands in for Python: makes an environment without installing, and writes down what it is asked to install
if [ "$2" = venv ]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; exit; fi
if [ "$2" = pip ]; then printf '%s\\n' "${@:3}" > "$INSTALLED"; exit; fi
printf '%s\\n' "$@" > "$ARGUMENTS"
"""


def evaluated(text: str, values: dict[str, str]) -> str:
    """Replace the expressions of GitHub."""
    return EXPRESSION.sub(lambda each: values[each[1]], text)


@dataclass
class Workspace:
    """A folder with judgments and runs, and what CI gives to a job."""

    folder: Path
    outputs: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        judged = [f"q{number} 0 d{number} 1\n" for number in range(8)]
        (self.folder / "qrels").write_text("".join(judged))
        self.write("old", "d")
        self.write("worse", "x")
        self.stand_in(f'exec {shlex.quote(sys.executable)} "$@"')
        self.path("temp").mkdir()

    def stand_in(self, last: str) -> None:
        """Make a Python that does this if it is not asked to install anything."""
        self.path("python").write_text(f"{PYTHON}{last}\n")
        self.path("python").chmod(0o755)

    def write(self, name: str, letter: str) -> None:
        lines = [f"q{number} Q0 {letter}{number} 1 1 run\n" for number in range(8)]
        (self.folder / name).write_text("".join(lines))

    def path(self, name: str) -> Path:
        return self.folder.parent / f"{self.folder.name}-{name}"

    def bash(self, script: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        """Run a script as GitHub and GitLab do; nothing in the folder may come from an input that is code."""
        own = {
            "RUNNER_TEMP": "temp", "GITHUB_OUTPUT": "output", "GITHUB_STEP_SUMMARY": "summary", "TMPDIR": "temp",
            "INSTALLED": "installed", "ARGUMENTS": "arguments",
        }  # fmt: skip
        settings = {name: str(self.path(file)) for name, file in own.items()}
        inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        done = subprocess.run(
            command, cwd=self.folder, env={**inherited, **settings, "GITHUB_ACTION_PATH": str(ROOT), **environment},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert not (self.folder / "x").exists(), "an input was run"
        return done

    def written(self, name: str) -> str:
        return self.path(name).read_text() if self.path(name).exists() else ""

    def github(self, **inputs: str) -> "subprocess.CompletedProcess[str]":
        """Run the action with these inputs."""
        given = {name: each.get("default", "") for name, each in ACTION["inputs"].items()}
        given |= {"python": str(self.path("python")), **{name.replace("_", "-"): text for name, text in inputs.items()}}
        values = {f"inputs.{name}": text for name, text in given.items()}
        done = None
        for step in ACTION["runs"]["steps"]:
            self.path("output").unlink(missing_ok=True)
            environment = {name: evaluated(text, values) for name, text in step["env"].items()}
            done = self.bash(step["run"], **environment)
            self.outputs = dict(line.split("=", 1) for line in self.written("output").splitlines())
            values |= {f"steps.{step['id']}.outputs.{name}": text for name, text in self.outputs.items()}
            if done.returncode:
                break
        assert done is not None
        return done

    def gitlab(self, **variables: str) -> "subprocess.CompletedProcess[str]":
        """Run the job with these variables."""
        given = {f"GATE_{name.upper()}": text for name, text in variables.items()}
        own = {"GATE_PYTHON": str(self.path("python"))}
        return self.bash("\n".join(JOB["script"]), **{**JOB["variables"], **own, **given})

    @property
    def arguments(self) -> list[str]:
        """What lexirecall was called with."""
        return self.written("arguments").splitlines()[2:]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    folder = tmp_path / "work space"
    folder.mkdir()
    return Workspace(folder)


FILES = {"qrels": "qrels", "baseline": "old"}


def test_a_gate_that_passes(workspace: Workspace) -> None:
    done = workspace.github(**FILES, new="old")
    assert done.returncode == 0, done.stderr
    assert workspace.outputs["passed"] == "true"
    assert workspace.outputs["exit-code"] == "0"
    summary = workspace.written("summary")
    assert summary.startswith("**The gate passes**")
    assert Path(workspace.outputs["report"]).read_text() == summary
    assert workspace.gitlab(**FILES, new="old").returncode == 0


def test_a_gate_that_fails_keeps_its_exit_code_and_its_report(workspace: Workspace) -> None:
    done = workspace.github(**FILES, new="worse", junit="gate.xml")
    assert done.returncode == 3
    assert workspace.outputs["passed"] == "false"
    assert workspace.outputs["exit-code"] == "3"
    assert "**Lost**: 8 relevant documents" in workspace.written("summary")
    assert "**The gate fails**" in done.stdout
    assert ET.parse(workspace.folder / "gate.xml").getroot().attrib["failures"] == "10"  # noqa: S314 - our own
    done = workspace.gitlab(**FILES, new="worse")
    assert done.returncode == 3
    assert "**The gate fails**" in done.stdout
    assert (workspace.folder / "lexirecall-gate.md").read_text() in done.stdout
    report = JOB["artifacts"]["reports"]["junit"]
    assert ET.parse(workspace.folder / report).getroot().attrib["failures"] == "10"  # noqa: S314 - our own
    assert JOB["artifacts"]["when"] == "always"


@pytest.mark.parametrize(("inputs", "code"), [({"new": "none.run"}, 1), ({"new": "old", "alpha": "2"}, 2)])
def test_bad_data_and_bad_usage_keep_their_exit_codes(workspace: Workspace, inputs: dict[str, str], code: int) -> None:
    done = workspace.github(**FILES, **inputs)
    assert done.returncode == code
    assert done.stderr
    assert (workspace.outputs["passed"], workspace.outputs["exit-code"]) == ("false", str(code))
    assert workspace.written("summary") == (
        f"**The gate could not be run**: exit code {code}. The log of this step says why.\n"
    )
    assert workspace.gitlab(**FILES, **inputs).returncode == code


@pytest.mark.parametrize("args", ["--output=mine", "--format=jsonl", "-f\ntable\n-o\nmine", "--also=jsonl=mine"])
def test_a_gate_that_was_run_is_reported_wherever_its_output_goes(workspace: Workspace, args: str) -> None:
    for new, code, passed in (("old", 0, "true"), ("worse", 3, "false")):
        done = workspace.github(**FILES, new=new, args=args)
        assert done.returncode == code, done.stderr
        assert (workspace.outputs["passed"], workspace.outputs["exit-code"]) == (passed, str(code))
        report = Path(workspace.outputs["report"]).read_text()
        assert report.startswith("**The gate passes**" if code == 0 else "**The gate fails**")
        assert workspace.gitlab(**FILES, new=new, args=args).returncode == code
        assert (workspace.folder / "lexirecall-gate.md").read_text() == report


@pytest.mark.parametrize("args", ["--help", "-h"])
def test_a_gate_that_was_not_run_does_not_pass(workspace: Workspace, args: str) -> None:
    assert workspace.github(**FILES, new="worse", args=args).returncode == 2
    assert (workspace.outputs["passed"], workspace.outputs["exit-code"]) == ("false", "2")
    assert "could not be run" in workspace.written("summary")
    (workspace.folder / "lexirecall-gate.md").write_text("of an earlier build")
    assert workspace.gitlab(**FILES, new="worse", args=args).returncode == 2


def test_several_values_are_separated_by_lines(workspace: Workspace) -> None:
    inputs: dict[str, str] = {
        **FILES, "new": "old", "measures": "AP\nLexiRecall\n", "require": "\nAll@1 >= 0.5\n  \nR@1>=0.1",
        "margin": "0.5", "alpha": "0.1", "ledger": "builds.jsonl", "corpus_ids": "ids",
        "texts": "queries=t1\ndocuments=t2", "args": "--depth=5\n--level=1",
    }  # fmt: skip
    (workspace.folder / "ids").write_text("d1\n")
    for name in ("t1", "t2"):
        (workspace.folder / name).write_text(f"{'q' if name == 't1' else 'd'}1\ttext\n")
    expected = [
        "gate", "--format=markdown", "--baseline=old", "--measure=AP", "--measure=LexiRecall", "--require=All@1 >= 0.5",
        "--require=R@1>=0.1", "--margin=0.5", "--alpha=0.1", "--ledger=builds.jsonl", "--corpus-ids=ids",
        "--texts=queries=t1", "--texts=documents=t2", "--depth=5", "--level=1", "--", "qrels", "old",
    ]  # fmt: skip
    done = workspace.github(**inputs)
    assert done.returncode == 0, done.stderr
    assert [each for each in workspace.arguments if not each.startswith("--also=")] == expected
    done = workspace.gitlab(**inputs)
    assert [each for each in workspace.arguments if not each.startswith("--also=")] == expected, done.stderr
    assert "--also=junit=lexirecall-gate.xml" in workspace.arguments


def test_a_hostile_name_of_a_file_is_a_name(workspace: Workspace) -> None:
    name = "".join(HOSTILE)
    files = {"qrels": f"-{name}", "baseline": f"--{name}", "new": f"---{name}"}
    for own, text in zip(("qrels", "old", "worse"), files.values(), strict=True):
        (workspace.folder / text).write_text((workspace.folder / own).read_text())
    for run in (workspace.github, workspace.gitlab):
        done = run(**files)
        assert done.returncode == 3, done.stderr


@pytest.mark.parametrize("name", [name for name in ACTION["inputs"] if name not in ("python", "package")])
def test_no_input_is_run(workspace: Workspace, name: str) -> None:
    """Every input is an argument, whatever it says."""
    workspace.stand_in("exit 3")
    for text in HOSTILE:
        inputs = {"qrels": "q", "new": "n", name.replace("-", "_"): text}
        for run in (workspace.github, workspace.gitlab):
            if name == "junit" and run == workspace.gitlab:
                continue
            assert run(**inputs).returncode == 3
            assert [each for each in workspace.arguments if each.endswith(text)], "one argument holds all of it"


def test_rows_that_hold_both_sides_are_one_file(workspace: Workspace) -> None:
    workspace.stand_in("exit 3")
    for run in (workspace.github, workspace.gitlab):
        run(qrels="rows.jsonl", baseline="old.jsonl")
        assert workspace.arguments[-2:] == ["--", "rows.jsonl"]


def test_what_is_installed_can_be_chosen(workspace: Workspace) -> None:
    workspace.github(**FILES, new="old")
    assert workspace.written("installed").splitlines()[-2:] == ["--", str(ROOT)]
    workspace.github(**FILES, new="old", package="lexirecall==0.1.0; $(touch x)")
    assert workspace.written("installed").splitlines()[-2:] == ["--", "lexirecall==0.1.0; $(touch x)"]
    workspace.gitlab(**FILES, new="old", package="dist/a b.whl")
    assert workspace.written("installed").splitlines()[-2:] == ["--", "dist/a b.whl"]


def test_an_installation_that_fails_fails_the_job(workspace: Workspace) -> None:
    workspace.path("python").write_text("#!/bin/bash\nexit 7\n")
    assert workspace.github(**FILES, new="old").returncode != 0
    assert workspace.gitlab(**FILES, new="old").returncode != 0


def test_ids_in_the_log_are_not_commands_of_the_workflow(workspace: Workspace) -> None:
    """GitHub looks for ::command:: and ##[command] in the log, unless a secret word stops it."""
    (workspace.folder / "qrels").write_text("".join(f"q{n} 0 ##[add-mask]d{n} 1\n" for n in range(8)))
    (workspace.folder / "old").write_text("".join(f"q{n} Q0 ##[add-mask]d{n} 1 1 run\n" for n in range(8)))
    done = workspace.github(**FILES, new="worse")
    lines = done.stdout.splitlines()
    token = re.fullmatch("::stop-commands::([0-9a-f]{32})", lines[0])
    assert token is not None
    assert lines[-1] == f"::{token[1]}::"
    assert "##[add-mask]" in "\n".join(lines[1:-1])
    again = workspace.github(**FILES, new="worse")
    assert again.stdout.splitlines()[0] != lines[0]


def test_no_expression_is_put_into_a_script() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"


def test_every_input_is_used_and_documented() -> None:
    used: set[str] = set()
    for step in ACTION["runs"]["steps"]:
        used |= {each[1] for text in step["env"].values() for each in EXPRESSION.finditer(text)}
        variables = set(re.findall(r"GATE_\w+", step["run"]))
        assert variables == set(step["env"])
    assert {f"inputs.{name}" for name in ACTION["inputs"]} == {name for name in used if name.startswith("inputs.")}
    assert all(each["description"] for each in [*ACTION["inputs"].values(), *ACTION["outputs"].values()])


def test_both_jobs_give_the_same_options_and_the_command_has_them() -> None:
    scripts = ACTION["runs"]["steps"][-1]["run"], "\n".join(JOB["script"])
    options = [re.findall(r"add (--[\w-]+)=", script) for script in scripts]
    assert options[0] == options[1]
    known = {name for each in command.params for name in each.opts}
    assert set(options[0]) <= known
    variables = [set(re.findall(r"\$GATE_(\w+)", script)) for script in scripts]
    assert variables[0] - {"JUNIT"} == variables[1] - {"PACKAGE", "PYTHON"}


def test_the_job_names_every_variable() -> None:
    used: set[Any] = set(re.findall(r"\$(GATE_\w+)", "\n".join(JOB["script"])))
    assert used - {"GATE_LEXIRECALL"} == set(JOB["variables"])
