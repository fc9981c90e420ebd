"""The documentation says what is true: the Python of every page runs, and prints what the page shows."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lexirecall.measures import MEASURES
from lexirecall.starts import READERS, start_of
from pages import DOCS, GENERATED, blocks, commands, run_commands, run_page

PAGES = [page for page in sorted(DOCS.glob("*.md")) if any(blocks(page))]
ELSEWHERE = {
    "lenskit": "test_adapter_lenskit",
    "pyterrier": "test_adapter_pyterrier",
    "spark": "test_spark",
    "training": "torch_metric",
}
"""Pages that need more than files, and the tests that run them."""
NEEDS = {
    "engines": "duckdb",
    "ir_datasets": "ir_datasets",
    "ir_measures": "ir_measures",
    "past-the-cut-off": "pyarrow",
    "positions-files": "pyarrow",
    "rag-data": "duckdb",
    "tables": "polars",
}
"""The packages that pages are about; a page about one that is not installed is not run."""


def of_a_page(page: Path) -> Any:
    """Return the parameter of a page; that about ranx needs it."""
    return pytest.param(page, id=page.stem, marks=[pytest.mark.ranx] if page.stem == "ranx" else [])


QUERIES = [f"q{number}" for number in range(6)]
QRELS = "".join(f"{query} 0 a 1\n{query} 0 b 2\n" for query in QUERIES).encode()
RUN = "".join(f"{query} Q0 a 1 3 t\n{query} Q0 x 2 2 t\n{query} Q0 b 3 1 t\n" for query in QUERIES).encode()
OTHER = RUN.replace(b" a ", b" y ")
FILES = {
    "qrels.txt": QRELS,
    "bm25.run": RUN,
    "dense.run": OTHER,
    "dense.run.gz": gzip.compress(OTHER),
    "tests/qrels.txt": QRELS,
    "tests/required.txt": QRELS,
    "tests/accepted.run": RUN,
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Stand in a folder that holds the files that pages speak of, and forget the measures that they register."""
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    known = [*MEASURES]
    yield tmp_path
    for name in {*MEASURES} - {*known}:
        del MEASURES[name]


def taken_for_granted(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the names that a page uses and leaves to the reader."""
    if page == "gate":
        rankings = {query: ["a", "b"] for query in QUERIES}
        return {"QUESTIONS": QUERIES, "search_all": lambda _: rankings, "mean_recall": lambda _: 1.0}
    if page == "ir_datasets":
        import ir_datasets

        (folder / "docs.tsv").write_text("a\tone\n")
        files = {"docs_tsv": str(folder / "docs.tsv"), "qrels_trec": str(folder / "qrels.txt")}
        name = "msmarco-passage/trec-dl-2019/judged"  # which would be downloaded
        monkeypatch.setitem(ir_datasets.registry._registered, name, ir_datasets.create_dataset(**files))
    return {}


def test_there_are_pages_to_look_at() -> None:
    assert {*ELSEWHERE, *NEEDS} < {page.stem for page in PAGES}


@pytest.mark.filterwarnings("ignore:unsafe cast from uint64 to int64")  # of ranx, by numba
@pytest.mark.parametrize("page", [of_a_page(page) for page in PAGES if page.stem not in ELSEWHERE])
def test_the_python_of_a_page_runs(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page.stem in NEEDS:
        pytest.importorskip(NEEDS[page.stem], reason=f"the page is about {NEEDS[page.stem]}")
    run_page(page, taken_for_granted(page.stem, folder, monkeypatch))


@pytest.mark.parametrize(("page", "module"), ELSEWHERE.items())
def test_a_page_that_is_not_run_here_is_run_elsewhere(page: str, module: str) -> None:
    assert f'run_page(DOCS / "{page}.md"' in Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")


START = DOCS / "start"
STARTS = [START / f"{reader}.md" for reader in READERS]


def test_every_reader_has_a_page_to_start_from_and_it_is_listed() -> None:
    assert {*START.glob("*.md")} == {*STARTS, START / "index.md"}
    listed = re.findall(r"\]\((\w+)\.md\)", (START / "index.md").read_text(encoding="utf-8"))
    assert tuple(listed) == READERS


@pytest.mark.parametrize("page", STARTS, ids=lambda page: page.stem)
def test_a_start_prints_what_its_page_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("polars", reason="some of the files are tables")
    monkeypatch.chdir(tmp_path)
    run_commands(page)
    run_page(page, {})


@pytest.mark.parametrize("reader", READERS)
def test_a_start_has_what_its_page_promises(reader: str) -> None:
    page = START / f"{reader}.md"
    text, typed = page.read_text(encoding="utf-8"), [command for command, _ in commands(page)]
    assert re.search(r"In about (eight|nine) minutes", text)
    assert "```sh\npip install " in text
    assert typed[0] == f"lexirecall demo --for {reader}"
    assert 4 <= len([command for command in typed[1:] if command.startswith("lexirecall ")]) <= 8
    assert {each.replace("{}", reader) for each in start_of(reader).commands} <= {*typed}
    assert "\n## What you can conclude\n" in text
    assert "\n## Where to go next\n" in text


WRITTEN = GENERATED["pages"]()


@pytest.mark.parametrize("name", WRITTEN)
def test_a_page_that_is_generated_is_current(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == WRITTEN[name], "python docs/generate.py writes it"


def test_no_page_of_the_reference_is_left_over() -> None:
    assert {f"api/{page.name}" for page in DOCS.glob("api/*.md")} == {name for name in WRITTEN if "/" in name}


API = "\n".join(page.read_text(encoding="utf-8") for page in DOCS.glob("api/*.md"))
FOUND = re.findall(r"^```\{api\} (\S+)$|`(lexirecall[\w.]*\.\w+)`(?=[,.])", API, re.MULTILINE)
ENTRIES = [(entry or data).rpartition(".")[::2] for entry, data in FOUND]
"""The module and the name of everything on the pages of the API."""


def test_nothing_is_on_the_pages_that_is_not_public() -> None:
    assert len(ENTRIES) == len({*ENTRIES}) > 100
    public = {(module, name) for module in GENERATED["PUBLIC"] for name in GENERATED["public_names"](module)}
    assert {*ENTRIES} <= public


@pytest.mark.parametrize("module", GENERATED["PUBLIC"])
def test_every_public_name_is_on_the_pages_once(module: str) -> None:
    for name in GENERATED["public_names"](module):
        origin = GENERATED["origin"]  # read from the source, since a module may need a package that is not there
        same = [home for home, known in ENTRIES if known == name and origin(home, name) == origin(module, name)]
        assert len(same) == 1, name
