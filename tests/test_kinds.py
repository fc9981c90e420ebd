"""What an input is: one table says it for every role, so that a new format is one row."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lexirecall import Positions, project
from lexirecall.formats import kinds
from lexirecall.formats.kinds import KINDS, MAPPING, TEXT, Input, Kind, kind_of, read_mapping
from lexirecall.formats.source import Source

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}
RUN = {"q1": {"b": 2, "a": 1}, "q2": {"a": 1}}
SIZES = {"q1": 10, "q2": 20}
OWNERS = {"a": "Knopf"}


def opened(given: Input) -> Any:
    """Read a format that nobody knows: a first line that says what it is, and then words of Python."""
    with given.value.open() as stream:
        return eval(stream.read().partition(b"\n")[2])  # noqa: S307 - the test has written it


WORDS = Kind(
    lambda given: isinstance(given.value, Source) and given.value.head.startswith(b"%words\n"),
    MAPPING.roles,
    lambda given: read_mapping(opened(given), given),
)


def seen(positions: Positions) -> tuple[Any, ...]:
    assert positions.providers is not None
    assert positions.corpus_size is not None
    return positions.found.positions.tolist(), positions.providers.names, positions.corpus_size.tolist()


def test_a_new_format_is_one_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "KINDS", (WORDS, *KINDS))
    contents = {"qrels": QRELS, "run": RUN, "providers": OWNERS, "sizes": SIZES}
    for name, content in contents.items():
        (tmp_path / name).write_text(f"%words\n{content!r}")
    files = [tmp_path / name for name in contents]
    read = project(files[0], files[1], providers=files[2], corpus_size=files[3])
    assert (
        seen(read) == seen(project(QRELS, RUN, providers=OWNERS, corpus_size=SIZES)) == ([2, 1], ("Knopf",), [10, 20])
    )


@pytest.mark.parametrize("role", ["qrels", "run", "providers", "groups", "corpus_size"])
def test_what_is_nothing_else_is_text_in_every_role(tmp_path: Path, role: str) -> None:
    (tmp_path / "file").write_bytes(b"anything\0at all")
    with Source(tmp_path / "file") as source:
        assert kind_of(Input(source, role)) is TEXT
    assert kind_of(Input(str(tmp_path / "file"), role)) is None  # a path says nothing before it is opened


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b'\n {"q": 1}', kinds.JSON), (b"qid,docno,score\n", kinds.CSV), (b"PAR1\x15", kinds.PARQUET_FILE)],
)
def test_corpus_sizes_are_text_whatever_a_file_looks_like(tmp_path: Path, content: bytes, expected: Kind) -> None:
    (tmp_path / "file").write_bytes(content)
    with Source(tmp_path / "file") as source:
        assert kind_of(Input(source, "run")) is expected
        assert kind_of(Input(source, "corpus_size")) is TEXT


def test_a_file_is_looked_at_once_to_tell_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever names runs, tells the sides apart and reads has the same source, which keeps what it is."""
    looked: Counter[str] = Counter()

    def is_folder(path: str) -> bool:
        looked[path] += 1
        return Path(path).is_dir()

    monkeypatch.setattr("lexirecall.formats.source.is_folder", is_folder)
    files = {
        "qrels": "q1 0 a 1\n",
        "text.run": "q1 Q0 a 1 1 t\n",
        "json.run": '{"q1": {"a": 1}}',
        "rows.run": '{"query": "q1", "retrieved_ids": ["a"]}\n',
        "x/run.csv": "run,qid,docno,score\nx,q1,a,1\n",
        "y/run.csv": "run,qid,docno,score\ny,q1,a,1\n",  # whether that is a table decides if the two share a name
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    qrels, *runs = [str(tmp_path / name) for name in files]
    assert project(qrels, runs).runs == ("text.run", "json.run", "rows.run", "x", "y")
    assert looked == dict.fromkeys([qrels, *runs], 1)
