"""What makes the site: formulas become LaTeX, options are spelt out, dead links are found, versions are listed.

The site itself needs Sphinx, and is looked at by site_browser.py.
"""

import inspect
import json
import re
import runpy
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from formulas import parts
from lexirecall.errors import UsageError
from lexirecall.fields import option_of
from lexirecall.manifest import READING, Policies
from lexirecall.measures import MEASURES
from lexirecall.preferences import PREFERENCES
from pages import DOCS, GENERATED
from reference import entry

CHECK = runpy.run_path(str(DOCS / "check.py"))
VERSIONS = runpy.run_path(str(DOCS / "versions.py"))
ROWS = [*MEASURES.values(), *PREFERENCES.values()]


# Formulas


@pytest.mark.parametrize(
    ("plain", "latex"),
    [
        ("(1/m) sum_i i/p_i", r"\frac{1}{m} \sum_{i} \frac{i}{p_{i}}"),
        ("(n - p_c)/n - (1 - r)", r"\frac{n - p_{c}}{n} - (1 - r)"),
        ("#{i : p_i <= k} / m - k/n", r"\frac{\#\{i : p_{i} \le k\}}{m} - \frac{k}{n}"),
        ("(1 + beta) r / (k + beta m)", r"\frac{(1 + \beta) r}{k + \beta m}"),
        ("2^max_grade", r"2^{\mathrm{max\_grade}}"),
        ("(1-p) p^(i-1)", "(1 - p) p^{i - 1}"),
        ("log2(C(n, m) / (1 + x))", r"\log_2\left(\frac{\binom{n}{m}}{1 + x}\right)"),
        ("sum_i s_i/p_i prod_(j<i) (1 - s_j)", r"\sum_{i} \frac{s_{i}}{p_{i}} \prod_{j < i} (1 - s_{j})"),
        ("i = max{j : p_j != q_j}", r"i = \max\{j : p_{j} \ne q_{j}\}"),
        ("c = ceil(r m)", r"c = \lceil r m \rceil"),
        ("~ 1/i", r"\propto \frac{1}{i}"),
        ("min(k, retrieved)", r"\min(k, \text{retrieved})"),
        ("(a/b/c)", None),
    ],
)
def test_plain_notation_becomes_latex(plain: str, latex: str | None) -> None:
    assert ([*parts(plain)] == [("math", latex)]) == (latex is not None)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_every_formula_of_the_table_can_be_typeset(row: Any) -> None:
    found = [*parts(row.formula)]
    words = "".join(text for kind, text in found if kind == "text")
    assert any(kind == "math" for kind, _ in found)
    assert not re.search(r"[_^<>=#~/]", words), "what is left as text is part of the formula"
    for kind, text in found:
        assert kind != "math" or text.count("{") == text.count("}")


@pytest.mark.parametrize("setting", ["e='dcg'", "relative=True", "rel=r", "gains={2:3}", "@10%", "'rbp'"])
def test_a_setting_is_code(setting: str) -> None:
    assert ("code", setting) in [*parts(f"r / k with {setting}, p_1")]


def test_nothing_of_a_formula_is_lost() -> None:
    said = "1 if p_m <= k, else 0; a share (of those · judged) with @10% and e='dcg'"
    kept = "".join(text for _, text in parts(said))
    assert re.sub(r"[{}\\]|le(?= k)", "", kept) == said.replace("<=", "")


# Reference


def verbs() -> Iterator[tuple[str, Any]]:
    """Give the public functions that can be imported here, by name."""
    for module in GENERATED["PUBLIC"]:
        for name in GENERATED["public_names"](module):
            with suppress(ImportError, UsageError):  # what it needs may not be installed
                if inspect.isfunction(value := getattr(import_module(module), name)):
                    yield f"{module}.{name}", value


@pytest.mark.parametrize(("name", "function"), [pytest.param(*each, id=each[0]) for each in verbs()])
def test_a_function_is_shown_with_every_keyword(name: str, function: Any) -> None:
    shown = entry(name)
    signature = shown.partition("\n")[0]
    assert "**options" not in signature
    for keyword in inspect.signature(function).parameters.keys() - {"options"}:
        assert re.search(rf"[(, *]{keyword}\b", signature), keyword


@pytest.mark.parametrize("name", ["lexirecall.evaluate", "lexirecall.compare", "lexirecall.results.PolicyScores"])
def test_every_option_has_its_default_and_its_help(name: str) -> None:
    shown = entry(name)
    records = (Policies,) if "results" in name else (Policies, *READING)
    for field in (field for record in records for field in fields(record)):
        told = option_of(field)
        line = re.search(rf"^`{field.name}`: .*, by default `{re.escape(repr(field.default))}`\n:   (.*)$", shown, re.M)
        assert line is not None, field.name
        assert told is None or told.help in line[1]


def test_what_takes_only_some_conventions_shows_these() -> None:
    signature = entry("lexirecall.project_scores").partition("\n")[0]
    assert "ties: str = 'trec', depth: int | None = None" in signature
    assert "duplicates" not in signature


def test_a_class_is_shown_with_its_attributes_and_methods() -> None:
    shown = entry("lexirecall.Measure")
    assert "{py:class} Measure(name: str, title: str, exposure: " in shown
    assert re.search(r"\{py:method\} of\(", shown)
    assert "self" not in "".join(re.findall(r"\{py:method\}.*", shown))


# Links and versions


def page(path: Path, body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"<html><body>{body}</body></html>", encoding="utf-8")


def test_a_dead_link_and_a_load_from_elsewhere_are_found(tmp_path: Path) -> None:
    page(
        tmp_path / "index.html",
        '<a href="a/b.html#here">x</a> <a href="https://example.org/">y</a> <a href="#top">z</a>',
    )
    page(tmp_path / "a" / "b.html", '<p id="here"></p><a href="../index.html#there">x</a><a href="c.html">y</a>')
    page(
        tmp_path / "c.html", '<link rel="stylesheet" href="https://cdn.example/x.css"><script src="//cdn.example/x.js">'
    )
    (tmp_path / "own.css").write_text('@import "https://cdn.example/y.css"; a { background: url(own.png) }')
    assert list(CHECK["problems"](tmp_path)) == [
        "a/b.html links to ../index.html#there, where the anchor is missing",
        "a/b.html links to c.html, which is not there",
        "c.html loads https://cdn.example/x.css",
        "c.html loads //cdn.example/x.js",
        "index.html links to #top, where the anchor is missing",
        "own.css loads https://cdn.example/y.css",
    ]


def test_a_site_without_pages_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["check.py", str(tmp_path)])
    with pytest.raises(SystemExit, match="there are no pages"):
        CHECK["main"]()


def test_every_version_that_is_there_is_listed_in_every_version(tmp_path: Path) -> None:
    for folder, version in {".": "0.10.0", "0.9.0": "0.9.0", "0.2.1": "0.2.1"}.items():
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "objects.inv").write_bytes(b"# Project: x\n# Version: " + version.encode() + b"\n\x00")
    (tmp_path / "_static").mkdir()
    VERSIONS["write"](tmp_path, "https://docs.example/")
    listed = json.loads((tmp_path / "switcher.json").read_text())
    assert [each["version"] for each in listed] == ["0.10.0", "0.9.0", "0.2.1"]
    assert [each["url"] for each in listed][::2] == ["https://docs.example/", "https://docs.example/0.2.1/"]
    assert (tmp_path / "0.2.1" / "switcher.json").read_text() == (tmp_path / "switcher.json").read_text()


# The picture


@pytest.mark.parametrize("ground", ["light", "dark"])
def test_the_picture_is_what_is_computed(ground: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = runpy.run_path(str(DOCS / "picture.py"))
    monkeypatch.setitem(drawn["main"].__globals__, "DOCS", tmp_path)
    drawn["main"]()
    name = f"picture-{ground}.svg"
    assert (tmp_path / name).read_text() == (DOCS / name).read_text(), "python docs/picture.py draws it"
