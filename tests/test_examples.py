"""Each example runs as it is, and says what it is meant to say."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lexirecall.starts import start_of
from pages import run_command

EXAMPLES = Path(__file__).parent.parent / "examples"
SAYS = {
    "trec_researcher": "best by AP: precise.run; best by LexiRecall: deep.run",
    "systematic_reviewer": "read: certified at least 9",
    "rag_gate": "question 3",
    "rag_units": "multi-hop",
    "candidate_generator": "pushed down",
    "fairness_auditor": "'Corner Store'",
    "recommender": "LexiRecall",
    "stochastic_policy": "trained lots          0.4",
    "torch_loop": "epoch 6  TSE 0.",
    "torch_ordered_loss": " wins against softmax in ",
    "lightning_loop": "epoch 4  TSE 0.",
}
NEEDS = {
    "recommender": "lenskit",
    "torch_loop": "torch",
    "torch_ordered_loss": "torch",
    "lightning_loop": "lightning",
}


def test_every_example_is_run() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == SAYS.keys()


@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs_and_says(name: str, tmp_path: Path) -> None:
    package = NEEDS.get(name)
    if package and importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py")], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert SAYS[name] in ran.stdout
    assert not list(tmp_path.iterdir())


def test_the_researcher_may_give_files(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q 0 a 1\nq 0 b 1\n")
    (tmp_path / "x.run").write_text("q Q0 a 1 3 x\nq Q0 c 2 2 x\nq Q0 d 3 1 x\nq Q0 b 4 0 x\n")
    (tmp_path / "y.run").write_text("q Q0 c 1 3 y\nq Q0 a 2 2 y\nq Q0 b 3 1 y\n")
    command = [sys.executable, str(EXAMPLES / "trec_researcher.py"), "qrels.txt", "x.run", "y.run"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "best by AP: x.run; best by LexiRecall: y.run" in ran.stdout


# A sentence of examples/README.md with the exit code in parentheses, and the command below it
COMMANDS = re.findall(
    r"\((?:exit code\s)?(\d)\)(?:(?!```).)*```sh\nlexirecall (.*?)\n```",
    (EXAMPLES / "README.md").read_text(encoding="utf-8"),
    re.DOTALL,
)


def test_five_people_have_a_command() -> None:
    assert len(COMMANDS) == 5


@pytest.mark.parametrize(("code", "command"), COMMANDS)
def test_a_command_of_the_examples_leaves_as_they_say(
    code: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = re.findall(r" (\w+)/", command)[0]
    for name, text in start_of(reader).make().items():
        path = tmp_path / reader / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    left, printed = run_command(f"lexirecall {command}")
    assert left == int(code), printed
    assert printed
