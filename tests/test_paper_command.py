"""`lexirecall paper`: the list, one exhibit, a folder of all, and names that are none."""

import json
from pathlib import Path

import pytest

from command import Command
from lexirecall.errors import UsageError
from lexirecall.paper import EXHIBITS, reproduce
from lexirecall.paper.exhibit import Exhibit, PaperValue

GOOD: dict[str, bytes] = {}


def test_without_a_name_the_exhibits_are_listed(command: Command) -> None:
    header, *lines = command("paper").out.splitlines()
    assert header.split() == ["name", "caption"]
    assert [line.split(maxsplit=1) for line in lines] == [[name, entry.caption] for name, entry in EXHIBITS.items()]


def test_an_exhibit_is_printed_with_its_title_and_remarks(command: Command) -> None:
    outcome = command("paper", "ties-by-corpus")
    assert outcome.code == 0
    assert outcome.out.startswith("ties-by-corpus: Probability that two random rankings tie")
    assert "the paper's .825 is off in the third digit" in outcome.out


def test_rows_for_programs(command: Command) -> None:
    rows = [json.loads(line) for line in command("paper", "recsys", "-f", "jsonl").out.splitlines()]
    assert len(rows) == 18
    assert command("paper", "recsys", "-f", "latex").out.startswith(r"\begin{tabular}")


def test_a_folder_holds_words_numbers_and_drawings(command: Command, tmp_path: Path) -> None:
    outcome = command("paper", "recsys", "users", "-o", "figures")
    assert outcome.code == 0
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert {"recsys.txt", "recsys.tsv", "recsys.svg", "recsys.pdf", "recsys.png", "users.svg"} <= names


@pytest.mark.parametrize(("form", "ending"), [("latex", "tex"), ("markdown", "md"), ("csv", "csv")])
def test_a_folder_holds_the_table_in_the_format_asked_for(
    command: Command, tmp_path: Path, form: str, ending: str
) -> None:
    outcome = command("paper", "ties-by-corpus", "-f", form, "-o", "tables")
    assert outcome.code == 0
    assert (tmp_path / "tables" / f"ties-by-corpus.{ending}").read_text() == outcome.out
    assert {path.suffix for path in (tmp_path / "tables").iterdir()} == {".txt", ".tsv", f".{ending}"}


def test_depths_have_a_log_axis_and_numbers_of_documents_begin_at_one() -> None:
    pytest.importorskip("altair")
    axis = reproduce("ties-by-depth").charts["ties-by-depth"]().to_dict()["layer"][0]["encoding"]["x"]
    assert (axis["scale"]["type"], axis["axis"]["values"][0]) == ("log", 10)
    for name in ("orientation", "stochastic"):
        for chart in reproduce(name).charts.values():
            assert '"values": [1, ' in json.dumps(chart().to_dict())


def test_names_that_are_none_are_refused_all_at_once(command: Command) -> None:
    outcome = command("paper", "recsys", "nothing", "else")
    assert (outcome.code, outcome.out) == (2, "")
    assert "'nothing', 'else'" in outcome.err
    with pytest.raises(UsageError, match="did you mean 'recsys'"):
        reproduce("recsy")


def test_a_folder_that_cannot_be_made_is_an_error(command: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    outcome = command("paper", "recsys", "-o", "file/figures")
    assert (outcome.code, outcome.out) == (1, "")


@pytest.mark.parametrize("name", EXHIBITS)
def test_every_exhibit_has_something_to_show(name: str) -> None:
    exhibit = reproduce(name)
    assert exhibit.name == name
    assert exhibit.title
    assert exhibit.rows
    assert set(exhibit.columns) <= set(exhibit.rows[0])
    assert exhibit.render()


def test_the_same_seed_gives_the_same_numbers() -> None:
    assert reproduce("ties-by-depth", 5).rows == reproduce("ties-by-depth", 5).rows
    assert reproduce("ties-by-depth", 5).rows != reproduce("ties-by-depth", 6).rows


def test_a_value_is_held_against_the_paper() -> None:
    assert not PaperValue(0.3127, 0.313).differs
    assert PaperValue(0.8257, 0.825).differs
    assert not PaperValue(0.5, None).differs


def test_what_is_undefined_is_a_dash() -> None:
    exhibit = Exhibit("x", "a title", ("m", "value"), ({"m": 1, "value": None},))
    assert exhibit.render() == "x: a title\n\nm  value\n1      -"
