"""What readers start with: `lexirecall demo --for READER`."""

import re
import shlex
from pathlib import Path

import pytest

from lexirecall.cli import COMMANDS
from lexirecall.starts import READERS, start_of
from pages import run_command

pytest.importorskip("polars", reason="some of the files are tables")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("reader", READERS)
def test_a_start_tells_of_each_of_its_files_and_is_the_same_each_time(reader: str) -> None:
    start = start_of(reader)
    files = start.make()
    assert files.keys() == start.about.keys()
    assert files == start.make()
    assert start.reader == reader


@pytest.mark.parametrize("reader", READERS)
def test_what_is_to_be_typed_next_runs(reader: str) -> None:
    code, printed = run_command(f'lexirecall demo --for {reader} -o "it\'s mine"')
    assert code == 0
    assert not re.search(r"Traceback|no such file", printed)
    following = [line.strip() for line in printed.partition("What to type next:\n")[2].splitlines()]
    assert len(following) >= 2
    for line in following:
        assert "'it'\"'\"'s mine'/" in line
        assert shlex.split(line)[1] in COMMANDS
        assert run_command(line)[0] in (0, 3), line


def test_a_start_leaves_other_files_alone(folder: Path) -> None:
    (folder / "auditor").mkdir()
    (folder / "auditor" / "old.run").write_text("mine\n")
    code, printed = run_command("lexirecall demo --for auditor")
    assert (code, printed) == (
        1,
        "auditor/old.run: already exists with different content\n  name another folder: -o DIR\n",
    )
    assert [path.name for path in (folder / "auditor").iterdir()] == ["old.run"]


def test_the_labelled_sample_of_the_reviewer_is_the_one_that_is_drawn(folder: Path) -> None:
    files = start_of("reviewer").make()
    for name in ("screened.csv", "ranking.csv"):
        (folder / name).write_text(files[name])
    run_command("lexirecall certify screened.csv ranking.csv --read 700 --draw 400 --seed 1 -o drawn.csv")
    unlabelled = re.sub(r",[01]$", ",", files["sample.csv"], flags=re.MULTILINE)
    assert (folder / "drawn.csv").read_text() == unlabelled
