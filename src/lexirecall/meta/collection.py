"""Collections: the data sets that a study looks at, and the file that lists several of them.

Belongs here: one named collection, read or not yet read, and `--collections FILE.toml`. Not here: what is asked of it.

The file has one table for each collection. Paths and patterns are relative to the file:

    [[collection]]
    name = "robust (2004)"
    task = "retrieval"
    qrels = "robust04/qrels.txt"
    runs = ["robust04/runs/*.gz"]
    teams = "robust04/teams.txt"
    corpus_size = 528155
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lexirecall.errors import FormatError, UsageError, hint_at
from lexirecall.fields import among, offered, taken
from lexirecall.formats import Qrels, Runs, check_engine, project
from lexirecall.formats.kinds import may_hold_table
from lexirecall.formats.source import Source
from lexirecall.judgments import IntArray
from lexirecall.manifest import READING, Conventions, Policies, Sources
from lexirecall.meta.teams import teams_of
from lexirecall.paths import exists, is_file, is_folder, regular
from lexirecall.positions import Positions
from lexirecall.trees import toml_tree

_LARGEST = 1 << 20  # bytes of a file that lists collections
_TYPES: dict[str, tuple[type, ...]] = {
    "choice": (str,),
    "flag": (bool,),
    "number": (int, float),
    "whole": (int,),
    "size": (int, str),
    "file": (str,),
    "text": (str,),
    "pairs": (dict,),
}
"""What TOML has for an option of each kind."""
_OPTIONS = {field.name: found for field, found in offered(Policies, *READING)}
"""What a collection may set besides its name, task, qrels, runs and teams: the options of the command line."""
_WORDS = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
    dict: "a table",
}


@dataclass(frozen=True, slots=True)
class Collection:
    """A named data set, and which of its rankings and queries are compared."""

    name: str
    positions: Positions
    policies: Policies = field(default_factory=Policies)
    task: str = ""
    """What it is about, such as retrieval or recommendation; collections of one task and depth share a panel."""
    teams: Any = None
    """A file of lines `run team`, or {run: team}, which it becomes; None if each run is of a team of its own."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "positions", self.positions.sought(self.policies.level))  # labels are those of units
        check_ties(self.positions.conventions.ties)
        if len(self.positions.runs) < 2:
            raise UsageError(f"{self.name}: there is only one run, so there is nothing to compare it with",
                             remedy="a study needs two or more runs")  # fmt: skip
        if self.teams is not None:
            object.__setattr__(self, "teams", teams_of(self.teams, self.positions.runs))

    @property
    def team_numbers(self) -> IntArray:
        """The team of each run, as a number from 0 on in the order of their names, [S]."""
        teams = [self.teams[run] if self.teams else run for run in self.positions.runs]
        return np.unique(teams, return_inverse=True)[1].astype(np.int64)


@dataclass(frozen=True)
class CollectionFiles:
    """A data set that is not yet read, with the options of the command line that apply to it."""

    name: str
    qrels: Qrels
    runs: Runs
    options: Mapping[str, Any] = field(default_factory=dict)
    task: str = ""
    teams: Any = None

    def __post_init__(self) -> None:
        Policies(**among(Policies, self.options))
        conventions = Conventions(**among(Conventions, self.options))
        check_ties(conventions.ties)
        check_engine(conventions, Sources(**among(Sources, self.options)))

    @property
    def files(self) -> list[object]:
        """What it is read from: judgments, runs, and the files that options name."""
        return [self.qrels, self.runs, self.options.get("corpus_size"), self.options.get("providers"), self.teams]

    def read(self, *, needs_judged: bool = False, show_progress: bool | None = False) -> Collection:
        """Read judgments and runs.

        >>> runs = {"x": {"q": ["a"]}, "y": {"q": ["b", "a"]}}
        >>> CollectionFiles("mine", {"q": {"a": 4}}, runs, {"level": 4, "depth": 1}).read().positions.shape
        (2, 1)
        """
        options = {**self.options, "show_progress": show_progress}
        policies = taken(Policies, options)
        positions = project(self.qrels, self.runs, needs_judged=needs_judged, **options)
        return Collection(self.name, positions, policies, self.task, self.teams)


def check_ties(rule: str) -> None:
    """Raise if the tie rule leaves LexiRecall, with which every measure is compared, without a value."""
    if rule == "expected":
        problem = "a study compares with LexiRecall, whose mean over all orders of tied documents has no closed form"
        raise UsageError(problem, remedy="choose another tie rule: trec, input, worst or best")


def from_files(
    files: Sequence[str], options: Mapping[str, Any] | None = None, *, name: str | None = None, task: str = "",
    teams: str | None = None,
) -> CollectionFiles:  # fmt: skip
    """Return the collection of a file of judgments and the runs after it.

    Without a name it is named after the judgments, or after their folder if the file is only called qrels.

    >>> from_files(["robust/qrels.txt.gz", "a.run", "b.run"]).name, from_files(["robust04.txt", "a", "b"]).name
    ('robust', 'robust04.txt')
    """
    qrels, *runs = files
    return CollectionFiles(
        name=name or collection_name(qrels), qrels=qrels, runs=runs, options=options or {}, task=task, teams=teams
    )


def collection_name(qrels: str) -> str:
    """Return the name of a collection from the path of its judgments.

    >>> collection_name("robust03/qrels.trec7.txt"), collection_name("qrels.txt"), collection_name("../qrels")
    ('robust03', 'qrels.txt', 'qrels')
    """
    name, folder = Source(qrels).run_name, Path(qrels).parent.name
    is_plain = name.lower().partition(".")[0] == "qrels"
    return folder if is_plain and folder not in ("", "..") else name


def read_collections(
    path: str | os.PathLike[str], options: Mapping[str, Any] | None = None, *, teams: str | None = None
) -> list[CollectionFiles]:
    """Read a file that lists collections; `options` and `teams` apply to each that does not set its own.

    The whole file is checked, and that the files it names exist, before any of them is read.

    >>> read_collections("no-such-file.toml")
    Traceback (most recent call last):
    lexirecall.errors.FormatError: no-such-file.toml: no such file or directory
      check the path
    """
    name = os.fspath(path)
    tables = _tables(name)
    found = [_collection(table, number, Path(name), options or {}, teams) for number, table in enumerate(tables, 1)]
    names = [collection.name for collection in found]
    if twice := sorted({repeated for repeated in names if names.count(repeated) > 1}):
        problem = f"several collections are called {', '.join(map(repr, twice))}"
        raise FormatError(name, None, problem, remedy="give each its own name")
    return found


def _tables(name: str) -> list[dict[str, Any]]:
    with Source(name) as source:
        content = toml_tree(source.read_whole(_LARGEST), name)
    if unknown := content.keys() - {"collection"}:
        problem = f"unknown key {sorted(unknown)[0]!r} outside of any collection"
        raise FormatError(name, None, problem, remedy="begin each collection with a line [[collection]]")
    tables = content.get("collection")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        problem = "the file has no list of collections"
        raise FormatError(name, None, problem, remedy="begin each collection with a line [[collection]]")
    return tables


def _collection(
    table: dict[str, Any], number: int, path: Path, options: Mapping[str, Any], teams: str | None
) -> CollectionFiles:
    reader = _TableReader(table, number, path)
    reader.check_keys()
    name, qrels = reader.text("name"), reader.file("qrels")
    runs = list(reader.runs())
    overrides = {key: reader.option(key) for key in _OPTIONS if key in table}
    task = reader.text("task") if "task" in table else ""
    teams = reader.file("teams") if "teams" in table else teams
    try:
        return CollectionFiles(
            name=name, qrels=qrels, runs=runs, options={**options, **overrides}, task=task, teams=teams
        )
    except UsageError as error:
        raise reader.error(error.problem, error.remedy) from None


@dataclass(frozen=True)
class _TableReader:
    """Takes values from one table, or says which collection and key are wrong."""

    table: dict[str, Any]
    number: int
    path: Path

    def error(self, problem: str, remedy: str) -> FormatError:
        name = self.table.get("name")
        which = f"collection {name!r}" if isinstance(name, str) else f"collection {self.number}"
        return FormatError(str(self.path), None, f"{which}: {problem}", remedy=remedy)

    def check_keys(self) -> None:
        allowed = ("name", "task", "qrels", "runs", "teams", *_OPTIONS)
        for key in self.table:
            if key not in allowed:
                raise self.error(f"unknown key {key!r}", hint_at(key, allowed))

    def text(self, key: str) -> str:
        if not isinstance(self.table.get(key), str) or not self.table[key].strip():
            problem = f"{key} is {self.table[key]!r}, but must be text" if key in self.table else f"{key} is missing"
            raise self.error(problem, f'write it as {key} = "..."')
        return str(self.table[key])

    def file(self, key: str) -> str:
        path = self.path.parent / self.text(key)
        if not exists(path):
            raise self.error(f"{key}: the file {str(path)!r} does not exist", f"paths are relative to {self.path.name}")
        return str(path)

    def runs(self) -> Iterator[str]:
        """Give the files that the paths and patterns under `runs` name, each once."""
        entry = self.table.get("runs")
        patterns = [entry] if isinstance(entry, str) else entry
        if not isinstance(patterns, list) or not patterns or not all(isinstance(pattern, str) for pattern in patterns):
            problem = "runs is missing" if entry is None else f"runs is {entry!r}, but must be paths or patterns"
            raise self.error(problem, 'write it as runs = ["runs/*.gz"]')
        files = dict.fromkeys(file for pattern in patterns for file in self._matching(pattern))
        columns = self.option("columns") if "columns" in self.table else None
        if len(files) < 2 and not any(may_hold_table(file, columns) for file in files):
            problem = "runs: there is only one run, so there is nothing to compare it with"
            raise self.error(problem, "give two or more runs")
        return iter(files)

    def _matching(self, pattern: str) -> list[str]:
        path = self.path.parent / pattern
        if is_file(path) or is_folder(path):
            return [str(path)]
        root = Path(path.anchor) if path.is_absolute() else Path()
        try:
            files = regular(sorted(map(str, root.glob(str(path.relative_to(root))))))
        except ValueError as error:
            raise self.error(f"runs: {pattern!r} is not a pattern: {error}", 'write it as "runs/*.gz"') from None
        if not files:
            raise self.error(f"runs: no file matches {str(path)!r}", f"paths are relative to {self.path.name}")
        return files

    def option(self, key: str) -> Any:
        value, option = self.table[key], _OPTIONS[key]
        kinds = _TYPES[option.kind]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            words = " or ".join(_WORDS[kind] for kind in kinds if kind is not int or float not in kinds)
            remedy = (
                f"write it as {key} = {_as_table(option.example)}"
                if option.example
                else "write it as on the command line"
            )
            raise self.error(f"{key} is {value!r}, but must be {words}", remedy)
        is_file = isinstance(value, str) and option.kind in ("size", "file")
        return self.file(key) if is_file else value


def _as_table(example: str) -> str:
    """Return pairs as TOML writes them.

    >>> _as_table("memory_limit=2GB,threads=4")
    '{ memory_limit = "2GB", threads = 4 }'
    """
    pairs = (pair.split("=") for pair in example.split(","))
    return f"{{ {', '.join(f'{name} = {value if value.isdigit() else json.dumps(value)}' for name, value in pairs)} }}"
