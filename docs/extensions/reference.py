"""What the source says of a public name, as MyST, with every option spelt out.

Belongs here: signatures, docstrings, attributes and methods. Not here: which names are public (docs/generate.py).

Verbs take `**options`, which are the fields of records. Where a decorator `takes` names the records, the signature has
their fields instead, and a list says of each its type, its default and its help: the same fields make `--help`.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from typing import Any

from lexirecall.fields import option_of
from lexirecall.formats.scorecounts import ACCEPTED
from lexirecall.manifest import Conventions
from source import attributes, bases, decorators, definition, methods, origin

EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)
RESULTS = "lexirecall.results"
"""Verbs make what is in there: it has attributes, and nobody calls it."""


def entry(name: str) -> str:
    """Return a public name, such as `lexirecall.evaluate`, as MyST."""
    module, _, own = name.rpartition(".")
    found = definition(module, own)
    if found is None:
        raise ValueError(f"{name} is neither a class nor a function")
    home, node = found
    if isinstance(node, ast.ClassDef):
        return _directive("class", own + _constructor(module, home, node), _class_body(home, node), module)
    return _function("function", home, node, module)


# Functions


def _function(kind: str, home: str, node: ast.FunctionDef, module: str = "") -> str:
    options = list(_options(home, node))
    signature = f"{node.name}({_parameters(node, options)})" + (
        f" -> {ast.unparse(node.returns)}" if node.returns else ""
    )
    listed = "\n\n".join(_listed(record, names) for record, names in options)
    return _directive(kind, signature, f"{markdown(ast.get_docstring(node) or '')}\n\n{listed}", module)


def _options(home: str, node: ast.FunctionDef) -> Iterator[tuple[type, list[str]]]:
    """Give the records that the options of a function are made from, each with the names of those it takes."""
    own = {each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    taker = decorators(node).get("takes")
    known: set[str] = set()
    for record in _records(home, taker) if isinstance(taker, ast.Call) else ():
        names = [each.name for each in fields(record) if each.name not in own | known]
        known |= {*names}
        yield record, names
    if "conventions_of(" in ast.unparse(node) and node.args.kwarg:
        yield Conventions, [*ACCEPTED]


def _records(home: str, taker: ast.Call) -> Iterator[type]:
    for argument in taker.args:
        module, name = origin(home, ast.unparse(argument).removeprefix("*"))
        value = getattr(import_module(module), name)
        yield from value if isinstance(argument, ast.Starred) else [value]


def _parameters(node: ast.FunctionDef, options: list[tuple[type, list[str]]]) -> str:
    """Return the parameters of a function without `self`, and with the options in place of `**options`."""
    shown = ast.parse(ast.unparse(node)).body[0].args  # type: ignore[attr-defined]
    shown.args = [each for each in shown.args if each.arg not in ("self", "cls")]
    if not options:
        return ast.unparse(shown)
    shown.kwarg = None
    given = [each.arg for each in shown.kwonlyargs]
    more = [f"{name}: {_type(record, name)} = {_default(record, name)}" for record, names in options for name in names]
    return ", ".join(filter(None, [ast.unparse(shown), *([] if given else ["*"]), *more]))


def _field(record: type, name: str) -> Any:
    return next(each for each in fields(record) if each.name == name)


def _type(record: type, name: str) -> str:
    """Return the type of an option as its record writes it."""
    for cls in (each for each in record.__mro__ if each is not object):
        found = definition(cls.__module__, cls.__name__)
        for each, _ in attributes(found[1]) if found and isinstance(found[1], ast.ClassDef) else ():
            if ast.unparse(each.target) == name:
                return ast.unparse(each.annotation)
    raise ValueError(f"{record.__name__} has no field {name}")


def _default(record: type, name: str) -> str:
    return repr(_field(record, name).default)


def _listed(record: type, names: list[str]) -> str:
    """Return the options of a record as a list: what each takes, its default and its help."""
    title = (record.__doc__ or "").partition("\n")[0].partition(".")[0]
    return "\n\n".join([f"**{title}**", *(_option(record, name) for name in names)])


def _option(record: type, name: str) -> str:
    seen = option_of(_field(record, name))
    help_, choices = (seen.help, seen.choices) if seen else ("", ())
    values = " or ".join(f"`{value!r}`" for value in choices) or f"`{_type(record, name)}`"
    more = " ".join(filter(None, [help_, _said(record, name)]))
    return f"`{name}`: {values}, by default `{_default(record, name)}`\n:   {markdown(more)}"


def _said(record: type, name: str) -> str:
    """Return what a record says of an option beyond its help."""
    found = definition(record.__module__, record.__name__)
    texts = {ast.unparse(each.target): text for each, text in attributes(found[1])} if found else {}  # type: ignore[arg-type]
    return " ".join(texts.get(name, "").split())


# Classes


def _constructor(module: str, home: str, node: ast.ClassDef) -> str:
    if module == RESULTS:
        return ""
    made = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
    if made:
        return f"({_parameters(made[0], [])})"
    if "dataclass" not in decorators(node):
        return ""
    family = [*reversed([node, *(base for _, base in bases(home, node))])]
    return f"({', '.join(_in_order([_parameter(each) for cls in family for each, _ in attributes(cls)]))})"


def _parameter(attribute: ast.AnnAssign) -> tuple[str, bool, bool]:
    """Return a field as a parameter, whether it has a default, and whether it is a keyword only."""
    name, annotation, value = ast.unparse(attribute.target), ast.unparse(attribute.annotation), attribute.value
    if not (isinstance(value, ast.Call) and ast.unparse(value.func) == "field"):
        default = "" if value is None else f" = {ast.unparse(value)}"
        return f"{name}: {annotation}{default}", value is not None, False
    said = {each.arg: ast.unparse(each.value) for each in value.keywords}
    default = said.get("default", f"{said['default_factory']}()" if "default_factory" in said else "")
    return f"{name}: {annotation}{f' = {default}' if default else ''}", bool(default), said.get("kw_only") == "True"


def _in_order(parameters: list[tuple[str, bool, bool]]) -> list[str]:
    """Return parameters as a signature has them: the keywords last."""
    places = [text for text, _, is_keyword in parameters if not is_keyword]
    keywords = [text for text, _, is_keyword in parameters if is_keyword]
    return [*places, *(["*", *keywords] if keywords else [])]


def _class_body(home: str, node: ast.ClassDef) -> str:
    parts = [markdown(ast.get_docstring(node) or "")]
    for each, text in attributes(node):
        if text:
            signature = f"{ast.unparse(each.target)}\n:type: {ast.unparse(each.annotation)}"
            parts.append(_directive("attribute", signature, markdown(" ".join(text.split()))))
    parts += [_member(home, each) for each in methods(node)]
    return "\n\n".join(parts)


def _member(home: str, node: ast.FunctionDef) -> str:
    marks = decorators(node)
    if {"property", "cached_property"} & {*marks}:
        signature = f"{node.name}\n:type: {ast.unparse(node.returns)}" if node.returns else node.name
        return _directive("property", signature, markdown(ast.get_docstring(node) or ""))
    kind = next((mark for mark in ("classmethod", "staticmethod") if mark in marks), "method")
    return _function(kind, home, node)


# Markdown


def markdown(docstring: str) -> str:
    r"""Return a docstring as Markdown: doctests need no fences, Markdown does.

    >>> markdown("Add.\n\n>>> 1 + 1\n2")
    'Add.\n\n```pycon\n>>> 1 + 1\n2\n```'
    """
    return EXAMPLE.sub(r"```pycon\n\g<0>\n```", docstring.strip())


def _directive(kind: str, signature: str, body: str, module: str = "") -> str:
    """Return a directive of Sphinx's Python domain, fenced by more than what it holds."""
    fence = "`" * (1 + max(map(len, re.findall(r"`{3,}", body)), default=2))
    options = f":module: {module}\n" if module else ""
    return f"{fence}{{py:{kind}}} {signature}\n{options}\n{body}\n{fence}"
