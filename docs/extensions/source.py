"""The public names, read from the source without importing it: some modules need what is not installed here.

Belongs here: where a name is defined, and what its definition says. Not here: how a page shows it (reference.py).
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "lexirecall"
Definition = ast.FunctionDef | ast.ClassDef


@cache
def tree(module: str) -> ast.Module:
    """Return what a module is written as."""
    place = SOURCE.joinpath(*module.split(".")[1:])
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


def assigned(module: str) -> Iterator[tuple[str, ast.expr]]:
    """Give the names that a module assigns, with their values."""
    for node in tree(module).body:
        if isinstance(node, ast.Assign):
            yield from ((ast.unparse(target), node.value) for target in node.targets)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield ast.unparse(node.target), node.value


def public_names(module: str) -> list[str]:
    """Return the `__all__` of a module."""
    return next(ast.literal_eval(value) for name, value in assigned(module) if name == "__all__")


def origin(module: str, name: str) -> tuple[str, str]:
    """Return where a name is defined: the module, and what it is called there."""
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if name == (alias.asname or alias.name) and (node.module or "").startswith("lexirecall"):
                    return origin(node.module or "", alias.name)
    return module, name


def definition(module: str, name: str) -> tuple[str, Definition] | None:
    """Return the class or function that a name of a module is, and the module that defines it; None if it is data."""
    home, own = origin(module, name)
    found = [node for node in tree(home).body if isinstance(node, Definition) and node.name == own]
    return (home, found[-1]) if found else None


def first_line(module: str) -> str:
    """Return the first line of a module's docstring."""
    return (ast.get_docstring(tree(module)) or "").partition("\n")[0]


def attributes(node: ast.ClassDef) -> Iterator[tuple[ast.AnnAssign, str]]:
    """Give the public annotated attributes of a class, each with the docstring below it, if any."""
    for each, following in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(each, ast.AnnAssign) and not ast.unparse(each.target).startswith("_"):
            yield each, _docstring(following)


def _docstring(node: ast.stmt | None) -> str:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return node.value.value if is_text else ""  # type: ignore[union-attr]


def methods(node: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """Give the public methods and properties of a class that say what they do."""
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and ast.get_docstring(each) and _is_public(each.name):
            yield each


def _is_public(name: str) -> bool:
    return name == "__call__" or not name.startswith("_")


def decorators(node: Definition) -> dict[str, ast.expr]:
    """Return the decorators of a definition, by the name of each without its arguments."""
    return {ast.unparse(each.func if isinstance(each, ast.Call) else each): each for each in node.decorator_list}


def bases(module: str, node: ast.ClassDef) -> Iterator[tuple[str, ast.ClassDef]]:
    """Give the classes of ours that a class extends, the nearest first."""
    for each in node.bases:
        found = definition(module, ast.unparse(each))
        if found and isinstance(found[1], ast.ClassDef):
            yield found[0], found[1]
            yield from bases(found[0], found[1])
