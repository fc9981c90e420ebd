"""The progress bar: when it is drawn, that it fits the terminal or the cell, and that nothing of it is left behind."""

import io
import re
from types import SimpleNamespace
from typing import Any

import pytest

from lexirecall import progress
from lexirecall.progress import Interruption, Progress

CLEARED = "\r\033[K\033[?25h"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def use_as_stderr(file: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=file, modules={}))  # of sys itself pytest sets it again


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Give a terminal of 60 columns as stderr, and a bar that appears at once."""
    stderr = Terminal()
    use_as_stderr(stderr, monkeypatch)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(progress, "PATIENCE", -1)
    return stderr


def drawn(terminal: Terminal) -> list[str]:
    """Return the lines that were drawn one over the other, without what moves or hides the cursor."""
    return [re.sub(r"\033\[\S*?[a-zA-Z]", "", line).rstrip() for line in terminal.getvalue().split("\r") if line]


def test_work_of_less_than_a_second_draws_nothing(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 1e9)
    with Progress("reading", 2) as shown:
        shown.advance(1)
    assert terminal.getvalue() == ""


def test_the_bar_is_drawn_over_itself_and_cleared_at_the_end(terminal: Terminal) -> None:
    with Progress("reading", 4) as shown:
        shown.advance(1)
        shown.advance(3)
    first, last, nothing = drawn(terminal)
    assert (first.split(), last.split()[0], last.split()[-1], nothing) == (
        ["reading", "[#####---------------]", "25%"], "reading", "100%", "",
    )  # fmt: skip
    assert terminal.getvalue().endswith(CLEARED)
    assert "\n" not in terminal.getvalue()


def test_work_before_the_bar_appeared_counts(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 1e9)
    with Progress("reading", 4) as shown:
        shown.advance(2)
        monkeypatch.setattr(progress, "PATIENCE", -1)
        shown.advance(1)
    assert [line[-3:] for line in drawn(terminal)] == ["75%", ""]


def test_an_error_finds_a_clear_line(terminal: Terminal) -> None:
    with pytest.raises(Interruption), Progress("reading", 2) as shown:  # noqa: PT012 - the bar must have been drawn
        shown.advance(1)
        shown.stop()
        shown.advance(1)
    assert terminal.getvalue().endswith(CLEARED)


def test_a_thread_that_works_on_afterwards_draws_nothing(terminal: Terminal) -> None:
    with Progress("reading", 2) as shown:
        shown.advance(1)
    shown.advance(1)
    assert terminal.getvalue().endswith(CLEARED)


def test_a_long_label_fits_the_line_and_cannot_draw_itself(terminal: Terminal) -> None:
    with Progress("a\033[2Jb\n" + "x" * 100, 2) as shown:
        shown.advance(1)
    line, _ = drawn(terminal)
    assert line.startswith(r"a\x1b[2Jb\nxx")
    assert len(line) + len("  1d 00:00:00") <= 60


@pytest.mark.parametrize("shown", [None, False])
def test_a_file_gets_no_bar(shown: bool | None, monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    use_as_stderr(file, monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", -1)
    with Progress("reading", 2, shown=shown) as hidden:
        hidden.advance(2)
    assert file.getvalue() == ""


def test_a_bar_that_was_asked_for_is_a_line_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    use_as_stderr(file, monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", -1)
    with Progress("reading", 2, shown=True) as shown:
        shown.advance(1)
        shown.advance(1)
    assert file.getvalue() == "reading\n"


class Cell:
    """What a kernel has: IPython with one output that is updated. Only what it is told is kept."""

    def __init__(self, kernel: object = "a kernel") -> None:
        self.told: list[tuple[str, dict[str, str]]] = []
        self.stderr = io.StringIO()
        self.modules = {
            "IPython": SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=kernel)),
            "IPython.display": SimpleNamespace(display=self.display),
        }

    def display(self, data: dict[str, str], *, raw: bool, display_id: bool) -> Any:
        assert raw
        assert display_id
        self.told.append(("display", data))
        return SimpleNamespace(update=self.update)

    def update(self, data: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.told.append(("update", data))


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Cell:
    """Run as in a kernel, where a bar appears at once and is updated every time."""
    made = Cell()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=made.stderr, modules=made.modules))
    monkeypatch.setattr(progress, "PATIENCE", -1)
    monkeypatch.setattr(progress, "_PAUSE", 0)
    return made


@pytest.mark.parametrize("shown", [None, True])
def test_a_cell_has_one_bar_that_is_updated_and_empty_in_the_end(cell: Cell, shown: bool | None) -> None:
    with Progress("<reading>", 4, shown=shown) as bar:
        bar.advance(1)
        bar.advance(3)
    assert [how for how, _ in cell.told] == ["display", "update", "update"]
    assert [data["text/plain"] for _, data in cell.told] == ["<reading> 25 %", "<reading> 100 %", ""]
    assert cell.told[0][1]["text/html"] == (
        '<label>&lt;reading&gt; <progress value="1" max="4"></progress> 25 %</label>'
    )
    assert cell.told[-1][1] == {"text/plain": ""}
    assert cell.stderr.getvalue() == ""


def test_a_cell_is_not_told_of_every_step(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PAUSE", 1e9)
    with Progress("reading", 1000) as bar:
        for _ in range(1000):
            bar.advance(1)
    assert [how for how, _ in cell.told] == ["display", "update"]


def test_quick_work_and_unwanted_bars_leave_a_cell_alone(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    with Progress("reading", 2, shown=False) as bar:
        bar.advance(1)
    monkeypatch.setattr(progress, "PATIENCE", 1e9)
    with Progress("reading", 2) as bar:
        bar.advance(1)
    assert cell.told == []


def test_a_terminal_of_ipython_has_the_bar_of_terminals(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = Cell(kernel=None)
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=terminal, modules=shell.modules))
    with Progress("reading", 2) as bar:
        bar.advance(1)
    assert shell.told == []
    assert "50%" in terminal.getvalue()
