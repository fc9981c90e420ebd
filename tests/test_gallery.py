"""The gallery: every chart, section and figure is in it, each picture is current, and its commands run."""

import re
import runpy
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from lexirecall import simulate_collection
from lexirecall.cli.demo import SEED
from lexirecall.meta import figures
from lexirecall.page import report
from lexirecall.page.charts import CHARTS
from lexirecall.paper import EXHIBITS
from pages import DOCS, commands, run_commands

PAGE = DOCS / "gallery.md"
TEXT = PAGE.read_text(encoding="utf-8")
PICTURES = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", TEXT)
MADE: dict[str, Any] = runpy.run_path(str(DOCS / "gallery.py"))
TEMPLATE = Path(figures.__file__).parents[1] / "page" / "assets" / "template.html"
STUDY = (*figures._BARS, *figures._DEGRADED)


class Sections(HTMLParser):
    """Collects the ids of the sections of the report."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "section":
            self.ids.append(str(dict(attrs)["id"]))


def pictures_in(folder: str) -> list[str]:
    return [Path(path).stem for _, path in PICTURES if path.startswith(f"gallery/{folder}/")]


def test_every_section_of_the_report_is_in_the_gallery() -> None:
    sections = Sections()
    sections.feed(TEMPLATE.read_text(encoding="utf-8"))
    assert len(sections.ids) > 9
    assert sorted(pictures_in("page")) == sorted(sections.ids)


def test_every_chart_is_in_the_gallery() -> None:
    assert sorted(pictures_in("charts")) == sorted(chart.name for chart in CHARTS if chart.of_findings)
    assert all(f"`{chart.name}`" in TEXT for chart in CHARTS)


def test_every_figure_of_a_study_is_in_the_gallery() -> None:
    assert sorted(pictures_in("study")) == sorted(STUDY)
    assert all(f"`{name}`" in TEXT for name in STUDY)


def test_every_table_and_figure_of_the_paper_is_in_the_gallery() -> None:
    assert all(f"`{name}`" in TEXT for name in EXHIBITS)


def test_every_picture_is_there_and_none_is_left_over() -> None:
    shown = {DOCS / path for _, path in PICTURES}
    assert {path for path in (DOCS / "gallery").rglob("*") if path.is_file()} == shown
    assert all(words for words, _ in PICTURES)
    assert sum(path.stat().st_size for path in shown) < 1_500_000


def test_the_charts_of_the_gallery_are_current() -> None:
    demo = simulate_collection(SEED)
    runs = {name: demo.runs[name] for name in sorted(demo.runs)}
    made = report(demo.qrels, runs, output=None, corpus_size=demo.corpus_size)
    for name, drawing in made.charts().items():
        kept = (DOCS / "gallery" / "charts" / f"{name}.svg").read_text(encoding="utf-8")
        assert kept.rstrip("\n") == drawing.to_svg().rstrip("\n"), f"{name}: python docs/gallery.py draws it"


def test_a_drawing_becomes_smaller_and_says_the_same() -> None:
    drawing = '<svg class="marks"><path aria-label="a" d="M1.2345,0.5"/><text>0.6789</text></svg>'
    assert MADE["smaller"](drawing) == '<svg><path d="M1.23,0.5"/><text>0.6789</text></svg>'
    assert MADE["smaller"]('<svg role="img" x="1.2345"/>') == '<svg role="img" x="1.2345"/>'


def test_pictures_are_made_by_the_commands_of_the_page() -> None:
    assert [step for kind, step in MADE["steps"]() if kind == "command"] == [
        command for command, _ in commands(PAGE) if command.startswith("lexirecall ")
    ]


def test_the_commands_of_the_gallery_run_and_write_its_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("polars", reason="some of the files are tables")
    pytest.importorskip("altair", reason="the figures of the paper need it")
    monkeypatch.chdir(tmp_path)
    # how figures become files is tested elsewhere, and takes long
    monkeypatch.setattr("lexirecall.plots.is_available", lambda: False)
    monkeypatch.setattr("lexirecall.paper.exhibit.to_files", lambda _, name: {f"{name}.svg": b"drawn"})
    run_commands(PAGE)
    for folder in ("charts", "figures"):
        assert sorted(pictures_in(folder)) == sorted(path.stem for path in Path(folder).glob("*.svg"))
