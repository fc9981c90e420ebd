"""The commands that pages show: each is one that there is, with options that it takes, and most are run."""

import gzip
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from lexirecall.cli import COMMANDS, group
from pages import DOCS, commands, run_command

QUERIES = [f"q{number}" for number in range(8)]
QRELS = "".join(f"{query} 0 a 1\n{query} 0 b 2\n{query} 0 c 0\n" for query in QUERIES)
RUNS = ("bm25", "dense", "fused", "splade", "new", "old", "accepted", "active", "ranking", "reranked", "final")
FOLDERS = ("runs/bm25", "runs/dense", "new-runs/bm25", "new-runs/dense", "step-9000/dev", "lots#1", "lots#2", "fixed#1")
FILES = {
    "qrels.txt": QRELS,
    "new-qrels.txt": QRELS,
    "more-qrels.txt": QRELS,
    "qrels.diversity.txt": "".join(f"{query} 1 a 1\n{query} 2 b 1\n" for query in QUERIES),
    "types.tsv": "".join(f"{query}\t{'odd' if int(query[1:]) % 2 else 'even'}\n" for query in QUERIES),
    "publishers.tsv": "a\tReclam\nb\tInsel\n",
    "chunks.tsv": "a\tu1\nb\tu2\n",
    "stops.txt": "".join(f"{query} 3\n" for query in QUERIES),
    "queries.jsonl": "".join(json.dumps({"_id": query, "text": "a query"}) + "\n" for query in QUERIES),
    "corpus.jsonl": "".join(json.dumps({"_id": name, "text": "a document"}) + "\n" for name in "abcxyz"),
    "ranking.run": "".join(f"{query} Q0 {doc} 1 {9 - i} t\n" for query in QUERIES for i, doc in enumerate("abcxyz")),
}
ELSEWHERE = {
    "certify": ("lexirecall certify qrels.txt ranking.run", "test_certify"),  # reads 2,000 documents of each ranking
    "engines": ("", "test_duckdb"),
    "gallery": ("", "test_gallery"),
    "fuse": ("", "test_fuse"),  # which takes seconds
    "ir_datasets": ("", "test_ir_datasets"),
    "paper": ("lexirecall paper ", "test_paper_command"),
    "past-the-cut-off": ("lexirecall compare qrels.txt both.parquet", "test_positions_files"),
    "positions-files": ("lexirecall compare qrels.txt step-", "test_positions_files"),
    "rag-data": ("", "test_query_rows"),
    "reviews": ("", "test_reviews"),
    "spark": ("", "test_spark"),
    "study": ("", "test_meta"),  # which takes seconds
    "tables": ("", "test_table_files"),
    "unjudged": (
        "lexirecall unjudged qrels.txt runs/*.run --rate 0.02 --judged-with",
        "test_hindsight",
    ),  # with grades filled in
}
"""Where commands are not run: how they begin, and the tests that run such commands with what they need."""


def lines(page: Path) -> Iterator[str]:
    """Give the commands of a page that are ours, comments and redirections left out."""
    typed = (re.split(r"\s+# | > ", command)[0].strip() for command, _ in commands(page))
    return (command for command in typed if command.startswith("lexirecall "))


CALLS = [(page, line) for page in sorted(DOCS.rglob("*.md")) for line in lines(page)]
PAGES = sorted({page for page, _ in CALLS})
OURS = [page for page in PAGES if page.parent == DOCS]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in a folder that holds the files of which pages speak."""
    for number, name in enumerate((*RUNS, *FOLDERS)):
        order = "axcb" if number % 2 else "xcab"
        ranked = "".join(f"{query} Q0 {doc} 1 {9 - i} t\n" for query in QUERIES for i, doc in enumerate(order))
        (tmp_path / f"{name}.run").parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.run").write_text(ranked)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    for name in ("dense.run", "corpus.jsonl"):
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    monkeypatch.chdir(tmp_path)


def test_there_are_commands_to_look_at() -> None:
    assert len(CALLS) > 60
    assert {line.split()[1] for _, line in CALLS} >= {"eval", "compare", "rank", "explain", "report", "gate", "certify"}


@pytest.mark.parametrize(("page", "line"), [pytest.param(*call, id=f"{call[0].stem}: {call[1]}") for call in CALLS])
def test_a_command_of_a_page_is_one_that_there_is(page: Path, line: str) -> None:
    name, *arguments = shlex.split(line)[1:]
    if name.startswith("-"):
        return
    assert name in COMMANDS, f"{page.name} shows {line}"
    command = group.get_command(click.Context(group), name)
    assert command is not None
    command.make_context(name, arguments, parent=click.Context(group))  # raises if it does not take them


@pytest.mark.parametrize(
    "page", [page for page in OURS if ELSEWHERE.get(page.stem, "x")[0]], ids=lambda page: page.stem
)
@pytest.mark.usefixtures("folder")
def test_the_commands_of_a_page_run(page: Path) -> None:
    left_out = ELSEWHERE.get(page.stem, ("nothing", ""))[0]
    for line in (line for line in lines(page) if not line.startswith(left_out)):
        code, said = run_command(line)
        assert code in ((0, 3) if " gate " in line else (0,)), f"{line}\n{said}"  # 3: the gate fails


@pytest.mark.parametrize("module", sorted({module for _, module in ELSEWHERE.values()}))
def test_what_is_not_run_here_has_tests_of_its_own(module: str) -> None:
    assert Path(__file__).with_name(f"{module}.py").exists()
