"""What users rely on, in one text: public names and signatures, commands and their options, and fields of rows.

`python tests/api.py` writes tests/api.txt anew; `test_api.py` compares. Annotations are left out: they may become more
exact. What must be asked for when the text changes is on the page docs/stability.md.
"""

import ast
import inspect
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click

import lexirecall
from lexirecall import results
from lexirecall.cli import COMMANDS, group
from pages import GENERATED

FILE = Path(__file__).parent / "api.txt"
READ_ONLY = tuple(f"lexirecall.{room}" for room in ("adapters", "engines", "torch"))
"""The rooms that are read and not imported: their packages need not be installed."""
QRELS = {f"q{i}": {"a": 1, "b": 1, "c": 0} for i in range(8)}
RUNS = {
    "old": {query: ["a", "c", "b", "y"] for query in QRELS},
    "new": {query: ["x", "b"] for query in QRELS},
}


def described() -> str:
    """Return the whole text."""
    parts = {"Names": names(), "Commands": commands(), "Fields of rows": fields()}
    return "\n".join(f"# {title}\n\n" + "\n".join(lines) + "\n" for title, lines in parts.items())


# Names


def names() -> Iterator[str]:
    """Give a line for each public name, and below a class one for each public member."""
    homes: dict[int, str] = {}
    for module in GENERATED["PUBLIC"]:
        for name in sorted(GENERATED["public_names"](module)):
            full = f"{module}.{name}"
            if module.startswith(READ_ONLY):
                yield from _read(module, name)
                continue
            value = getattr(import_module(module), name)
            if (callable(value) or inspect.ismodule(value)) and homes.setdefault(id(value), full) != full:
                yield f"{full} is {homes[id(value)]}"
            else:
                yield from _described(full, value)


def _described(full: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value):
        yield f"class {full}{_signature(value) if _is_made_by_users(value) else ''}"
        yield from (f"    {line}" for line in _members(value))
    else:
        yield f"{full}{_signature(value)}" if inspect.isroutine(value) else f"{full}: {type(value).__name__}"


def _is_made_by_users(kind: type) -> bool:
    """Tell whether users make such things, rather than receive them."""
    return kind.__name__ not in results.__all__


def _members(kind: type) -> Iterator[str]:
    bases = [base for base in kind.__mro__ if base.__module__.startswith("lexirecall")]
    own = {name for base in bases for name in vars(base)} | {*getattr(kind, "__dataclass_fields__", ())}
    for name in sorted(name for name in own if not name.startswith("_")):
        value = inspect.getattr_static(kind, name, None)
        if isinstance(value, (classmethod, staticmethod)):
            yield f"{name}{_signature(getattr(kind, name))}"
        else:
            yield f"{name}{_signature(value)}" if inspect.isfunction(value) else name


def _signature(value: Any) -> str:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # an exception, which takes anything
        return "(...)"
    public = [each for name, each in signature.parameters.items() if not name.startswith("_")]
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in public]
    bare = signature.replace(parameters=plain, return_annotation=inspect.Signature.empty)
    return re.sub(r"<(?:function|class|object)[^>]*>", "...", str(bare))


def _read(module: str, name: str) -> Iterator[str]:
    """Describe a name from the source of its module."""
    for node in _tree(module).body:
        if isinstance(node, ast.ImportFrom) and any(name == (each.asname or each.name) for each in node.names):
            yield from (line.replace(str(node.module), module, 1) for line in _read(str(node.module), name))
            return
        if isinstance(node, ast.FunctionDef) and node.name == name:
            for argument in (
                *node.args.posonlyargs,
                *node.args.args,
                *node.args.kwonlyargs,
                node.args.vararg,
                node.args.kwarg,
            ):
                if argument is not None:
                    argument.annotation = None
            yield f"{module}.{name}({ast.unparse(node.args)})"
            return
    yield f"{module}.{name}"


def _tree(module: str) -> ast.Module:
    place = Path(lexirecall.__file__).parent.joinpath(*module.split(".")[1:])
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


# Commands


def commands() -> Iterator[str]:
    """Give a line for each command, with its arguments, and below it one for each option, with values and default."""
    for name in COMMANDS:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        arguments = [each for each in command.params if isinstance(each, click.Argument)]
        yield " ".join(["lexirecall", name, *(_argument(each) for each in arguments)])
        options = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
        yield from sorted(f"    {_option(each)}" for each in options)


def _argument(argument: click.Argument) -> str:
    name = (argument.name or "").upper() + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _option(option: click.Option) -> str:
    values = "|".join(map(str, option.type.choices)) if isinstance(option.type, click.Choice) else option.metavar or ""
    default = "" if option.default in (None, False, ()) or "Sentinel" in repr(option.default) else f"={option.default}"
    return " ".join(filter(None, (", ".join(option.opts), values, default, "..." if option.multiple else "")))


# Fields of rows


def fields() -> Iterator[str]:
    """Give the fields that rows of each verb have, by their kind: what jsonl, tsv and csv hold."""
    explained = lexirecall.explain(QRELS, RUNS)
    made: dict[str, Any] = {
        "evaluate": lexirecall.evaluate(QRELS, RUNS, ["AP"]),
        "evaluate, over and bootstrap": lexirecall.evaluate(QRELS, RUNS, ["AP"], over=["mean"], bootstrap=39),
        "compare": lexirecall.compare(QRELS, RUNS, ["AP"]),
        "compare, hsd": lexirecall.compare(QRELS, RUNS, ["AP"], test="hsd"),
        "rank": lexirecall.rank(QRELS, RUNS, bootstrap=39),
        "explain": explained,
        "explain, one query": explained.queries[0],
        "gate": lexirecall.gate(QRELS, RUNS["new"], RUNS["old"], require=["no query loses a relevant document"]),
        "funnel": lexirecall.funnel(QRELS, RUNS),
        "unjudged": lexirecall.unjudged(QRELS, RUNS, ["AP"], rate=0.1, samples=10),
        "certify": lexirecall.certify(corpus_size=100, read=20, found=9, sample=10, relevant=1),
        "fuse": lexirecall.fuse(QRELS, RUNS, ["AP"], folds=2),
    }
    for verb, result in made.items():
        yield from (f"{verb}: {line}" for line in _kinds(result.rows()))


def _kinds(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    kinds: dict[str, dict[str, None]] = {}
    for row in rows:
        kinds.setdefault(str(row.get("kind", "")), {}).update(dict.fromkeys(row))
    yield from (f"{kind and f'{kind}: '}{', '.join(names)}" for kind, names in kinds.items())


if __name__ == "__main__":
    FILE.write_text(described(), encoding="utf-8")
