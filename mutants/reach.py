"""Which tests can notice a fault: read from the imports of the tests and the package, then measured.

Belongs here: the test files nearest to a source file, what each test reaches and how long it takes, and the order in
which the tests of a mutant run. Not here: making mutants (generate.py), running tests (run.py).
"""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

MOST_FILES = 5  # of tests, for one file; those that are farther away notice little
MOST_SECONDS = 30.0  # of tests, for one mutant
_SHORTEST = 4  # letters of a word that others may begin with
Lines = dict[str, list[int]]  # of each file


@dataclass(frozen=True)
class Reach:
    """What a test reaches, and the CPU seconds it takes."""

    test: str
    seconds: float
    lines: Lines

    @classmethod
    def read(cls, path: Path) -> list["Reach"]:
        """Read what was measured of a file of tests."""
        return [cls(**each) for each in json.loads(path.read_text(encoding="utf-8"))]


@cache
def nearest_tests(root: Path, path: str) -> list[str]:
    """Return the test files nearest to a source file, nearest first.

    Nearest are those with its name or that of its room, then those that import it, then those that import a module that
    imports it, and so on; of equally near ones those that import least. C is as near as what calls it, and what nobody
    imports, as near as its room.
    """
    source = Path(path)
    if source.suffix == ".c":
        front = {_dotted(Path(name)) for name, words in _named(root / "src").items() if "lexirecall._native" in words}
    else:
        front = {_dotted(source)}
    distances = _distances(root, front)
    keys = {}
    for test, imported in _imports_of_tests(root).items():
        nearest = min((distances[module] for module in imported if module in distances), default=None)
        likeness = _likeness(source, Path(test))
        if likeness or nearest is not None:
            keys[test] = (-likeness, len(distances) if nearest is None else nearest, len(imported), test)
    if not keys and source.name != "__init__.py":
        return nearest_tests(root, str(source.with_name("__init__.py")))
    return sorted(keys, key=keys.__getitem__)[:MOST_FILES]


def in_order(measured: list[Reach], path: str, lines: range, most_seconds: float = MOST_SECONDS) -> list[str]:
    """Return the tests of a mutant: those that reach the fault, then those that reach the file, then the others.

    What takes little time comes first, file by file, since tests of a file share what they set up. All together take so
    many seconds at most, but the first always runs. Whatever is set up once, such as a table, is reached by one test
    only, so the others may notice too.
    """

    def standing(each: Reach) -> int:
        reached = each.lines.get(path, [])
        return 0 if any(line in lines for line in reached) else 1 if reached else 2

    costs: dict[tuple[int, str], float] = {}
    for each in measured:
        part = (standing(each), each.test.split("::")[0])
        costs[part] = costs.get(part, 0.0) + each.seconds

    def key(each: Reach) -> tuple[int, float, str, float]:
        part = (standing(each), each.test.split("::")[0])
        return part[0], costs[part], part[1], each.seconds

    chosen: list[str] = []
    spent = 0.0
    for each in sorted(measured, key=key):
        spent += each.seconds
        if chosen and spent > most_seconds:
            break
        chosen.append(each.test)
    return chosen


def statement(source: str, line: int) -> range:
    """Return the lines of the statement of a line: of one that holds others, those before them."""
    found = range(line, line + 1)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or line):
            body = getattr(node, "body", None)
            end = body[0].lineno - 1 if body else node.end_lineno or line
            if line <= max(end, node.lineno):
                found = range(node.lineno, max(end, node.lineno) + 1)
    return found


def module_of(path: str) -> str | None:
    """Return the name of a file's module; None of one in C."""
    return _dotted(Path(path)) if path.endswith(".py") else None


def _dotted(path: Path) -> str:
    return ".".join(path.with_suffix("").parts[path.parts[0] == "src" :]).removesuffix(".__init__")


def _likeness(source: Path, test: Path) -> int:
    """Tell how much a test is named after a file: 2 for the module, and 1 for its room.

    Words are alike if one begins with the other: test_funnel is named after gates/funnelstages.py.
    """
    own, room = source.parent.name if source.stem == "__init__" else source.stem, source.parts[2:-1]
    words = _words(test.stem.removeprefix("test_"))
    return 2 * _are_alike(words, _words(own)) + any(_are_alike(words, _words(name)) for name in room[:1])


def _words(name: str) -> set[str]:
    return {word.removesuffix("s") for word in name.split("_")}


def _are_alike(words: set[str], others: set[str]) -> bool:
    return any(
        one == other or (min(len(one), len(other)) >= _SHORTEST and (one.startswith(other) or other.startswith(one)))
        for one in words
        for other in others
    )


@cache
def _named(folder: Path) -> dict[str, set[str]]:
    """Return what each Python file of a folder names: its imports, and texts, which may name a module or a command."""
    return {
        str(path.relative_to(folder.parent if folder.name == "tests" else folder)): set(_names(path))
        for path in sorted(folder.rglob("*.py"))
    }


def _names(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    yield from re.findall(r"\blexirecall\.[\w.]+", text)
    for word in re.findall(r"[\"']([\w.]+)[\"']", text):
        yield from (word, f"lexirecall.{word}")
    for module, names in re.findall(r"\bfrom (lexirecall[\w.]*) import (\([^)]*\)|.*)", text):
        yield from (f"{module}.{name}" for name in re.findall(r"\w+", names))


@cache
def _homes(root: Path) -> dict[str, str]:
    """Return the module of each module's name, of each name in the package's table of public names, and of commands."""
    modules = [_dotted(Path(name)) for name in _named(root / "src")]
    homes = {module.removeprefix("lexirecall.cli."): module for module in modules}  # a test runs a command by its name
    homes |= dict(zip(modules, modules, strict=True))
    for node in ast.parse((root / "src" / "lexirecall" / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOME":
            homes |= {f"lexirecall.{name}": f"lexirecall.{home}" for name, home in ast.literal_eval(node.value).items()}
    return homes


@cache
def _imports_of_tests(root: Path) -> dict[str, set[str]]:
    homes = _homes(root)
    return {
        name: {homes[word] for word in words & homes.keys()}
        for name, words in _named(root / "tests").items()
        if Path(name).name.startswith("test_")
    }


def _distances(root: Path, front: set[str]) -> dict[str, int]:
    """Return how many imports away each module is that needs one of these."""
    needed = {_dotted(Path(name)): words for name, words in _named(root / "src").items()}
    distances = dict.fromkeys(front, 0)
    while front:
        farther = 1 + max(distances.values())
        front = {module for module, words in needed.items() if module not in distances and words & front}
        distances |= dict.fromkeys(front, farther)
    return distances
