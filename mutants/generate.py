"""Make mutants: copies of a source file with one small fault each, sampled from all places where a fault is possible.

    python mutants/generate.py --python 260 --c 80 --seed 1 build/mutants/mutants.jsonl

Belongs here: which files, which faults, and the sample. Not here: testing mutants (run.py). cosmic-ray makes the faults
in Python (it also reaches the formulas of rows, which are outside of functions), universalmutator those in C. Every
file of the package and of the C belongs to the sample. The share of a room follows from the number of its places, and a
place has at most one fault. Faults in C that do not compile, or compile to the same code, are left out.
"""

import argparse
import ast
import json
import random
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

PACKAGE = Path("src/lexirecall")
NATIVE = Path("native")
# Faults that nobody would make by accident, or that mean nothing here: the last two need names of variables.
LEFT_OUT = re.compile(r"_(Is|IsNot|[RL]Shift|BitXor)$|(?<!BitAnd)_BitOr$|(?<!BitOr)_BitAnd$|Decorator|Variable")

IDLE_C = re.compile(r"\s*(/\*|\*/|\* |[{}]?\s*$|#|.*_doc,|\s*\")")  # lines of C without code: comments, braces, texts


@dataclass(frozen=True)
class Mutant:
    """A file with one fault."""

    path: str
    line: int
    fault: str
    """The line before, and the line after."""
    text: str
    """The whole file with the fault."""


def rooms(root: Path = Path()) -> dict[str, list[Path]]:
    """Return the files of every room: of each folder of the package, each module beside them, and the C."""
    package = root / PACKAGE
    found = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        found[path.relative_to(package).parts[0].removesuffix(".py")].append(path.relative_to(root))
    found["native"] = [path.relative_to(root) for path in sorted((root / NATIVE).glob("*.c"))]
    return dict(found)


def of_python(paths: list[Path], count: int, rng: random.Random) -> Iterator[Mutant]:
    """Give mutants of the Python files of a room, each at another place."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    sources = {path: path.read_text(encoding="utf-8") for path in paths}
    places = {(path, place): each for path in paths for place, each in python_places(sources[path]).items()}
    for path, place in rng.sample(sorted(places), min(count, len(places))):
        name, occurrence = rng.choice(places[path, place])
        yield mutant(path, sources[path], mutate_code(sources[path], get_operator(name)(), occurrence))


def python_places(source: str) -> dict[tuple[int, int], list[tuple[str, int]]]:
    """Return where faults are possible: for each place the operators, and which of their occurrences this is."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    idle, lines = set(idle_lines(source)), source.splitlines()
    places = defaultdict(list)
    nodes = list(ast_nodes(get_ast(source)))
    for name in operator_names():
        if LEFT_OUT.search(name):
            continue
        operator = get_operator(name)()
        positions = (position for node in nodes for position in operator.mutation_positions(node))
        for occurrence, (start, _end) in enumerate(positions):
            if start[0] not in idle and not lines[start[0] - 1][: start[1]].endswith("strict="):
                places[start].append((name, occurrence))
    return places


def idle_lines(source: str) -> Iterator[int]:
    """Give the lines where a fault changes no number: annotations, decorators, assertions for the type checker."""
    for node in ast.walk(ast.parse(source)):
        parts = [node] if isinstance(node, ast.Assert) else getattr(node, "decorator_list", [])
        for part in [*parts, getattr(node, "annotation", None), getattr(node, "returns", None)]:
            if part is not None:
                yield from range(part.lineno, part.end_lineno + 1)


def of_c(paths: list[Path], count: int, rng: random.Random) -> Iterator[Mutant]:
    """Give mutants of C files, each at another line, that compile to different code."""
    sources = {path: path.read_text(encoding="utf-8") for path in paths}
    lines = [(path, line) for path in paths for line in range(1, 1 + len(sources[path].splitlines()))]
    places, originals = (
        cache(lambda path: c_places(path, sources[path])),
        cache(lambda path: compiled(path, sources[path])),
    )
    for path, line in rng.sample(lines, len(lines)):
        if count == 0:
            return
        if line not in places(path):
            continue
        text = rng.choice(places(path)[line])
        if compiled(path, text) not in (None, originals(path)):
            count -= 1
            yield mutant(path, sources[path], text)


def c_places(path: Path, source: str) -> dict[int, list[str]]:
    """Return the faulty texts of each line."""
    places = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        code = "import sys; from universalmutator.genmutants import main; sys.exit(main())"
        words = [sys.executable, "-c", code, str(path), "c", "--noCheck", "--mutantDir", folder]
        subprocess.run(words, check=True, capture_output=True)
        for each in sorted(Path(folder).iterdir()):
            text = each.read_text(encoding="utf-8")
            line = first_difference(source, text)
            if line and not IDLE_C.match(source.splitlines()[line - 1]):
                places[line].append(text)
    return places


def compiled(path: Path, text: str) -> bytes | None:
    """Return the compiled code of a C text, or None if it does not compile."""
    include = sysconfig.get_path("include")
    words = ["gcc", "-O1", "-w", "-fPIC", "-DPy_LIMITED_API=0x030B0000", f"-I{include}", f"-I{path.parent}", "-x", "c"]
    with tempfile.NamedTemporaryFile(suffix=".o") as file:
        done = subprocess.run(
            [*words, "-c", "-", "-o", file.name], input=text.encode(), capture_output=True, check=False
        )
        return Path(file.name).read_bytes() if done.returncode == 0 else None


def first_difference(source: str, text: str) -> int:
    """Return the number of the first line that differs, or 0."""
    before, after = source.splitlines(), text.splitlines()
    differing = (number for number, pair in enumerate(zip(before, after, strict=False), 1) if pair[0] != pair[1])
    return next(differing, 0)


def mutant(path: Path, source: str, text: str) -> Mutant:
    """Describe a faulty text."""
    line = first_difference(source, text)
    before, after = source.splitlines()[line - 1].strip(), text.splitlines()[line - 1].strip()
    return Mutant(str(path), line, f"{before}  =>  {after}", text)


def shares(sizes: dict[str, int], count: int) -> dict[str, int]:
    """Divide a sample among rooms by size; each gets at least one."""
    return {room: max(1, round(count * size / sum(sizes.values()))) for room, size in sizes.items() if size}


def main() -> None:
    """Write the sample, one mutant per line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--python", type=int, default=260, help="number of Python mutants (default 260)")
    parser.add_argument("--c", type=int, default=80, help="number of C mutants (default 80)")
    parser.add_argument("--seed", default="1")
    parser.add_argument("output", type=Path)
    parser.add_argument("files", nargs="*", help="only files with a path that begins with this")
    options = parser.parse_args()
    chosen = tuple(options.files) or ("",)
    files = {room: [path for path in paths if str(path).startswith(chosen)] for room, paths in rooms().items()}
    in_c = files.pop("native")
    sizes = {
        room: sum(len(python_places(path.read_text(encoding="utf-8"))) for path in paths)
        for room, paths in files.items()
    }
    sample: list[Mutant] = []
    for room, count in shares(sizes, options.python).items():
        sample += of_python(files[room], count, random.Random(f"{options.seed}:{room}"))
    sample += of_c(in_c, options.c, random.Random(options.seed))
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text("".join(json.dumps(asdict(each)) + "\n" for each in sample))
    print(
        f"{len(sample)} mutants of {len({each.path for each in sample})} files, {sum(sizes.values())} places in Python"
    )


if __name__ == "__main__":
    main()
