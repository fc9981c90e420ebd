"""The house's own rules, read from its source: who may import whom, how long things are, and what is documented."""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import lexirecall
from pages import GENERATED

SOURCE = Path(lexirecall.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
ORDER = (
    "_native", "version", "errors", "text", "trees", "paths", "installing", "output", "notices", "fields", "tables",
    "equality", "notebook", "reader", "progress", "manifest", "aggregation", "judgments", "providers", "groups",
    "segments", "tracks", "units", "sums", "shortage", "positions", "exposure", "exact", "formats", "texts",
    "measures", "preferences", "names", "theory", "statistics", "simulate", "strip", "svg", "plots", "verbs", "gates",
    "labels", "learn", "torch", "meta", "page", "results", "paper", "engines", "adapters", "starts", "cli",
)  # fmt: skip
SIDE_BY_SIDE = {"formats": "engines", "notebook": "page"}
"""What a room may import although it stands below: an engine is one more form of a run, the page draws for a cell."""
ROOMS_SHOWN_BY = {
    "gates": ("cli.gate", "cli.funnel", "adapters.gate", "results"),
    "labels": ("cli.unjudged", "cli.certify", "results"),
    "learn": ("cli.fuse", "results"),
}
"""The modules that need a room that only some need."""
WITHOUT_A_ROOM = """
import sys
from importlib import import_module
from lexirecall.errors import UsageError
sys.modules[sys.argv[1]] = None
for name in sys.argv[2:]:
    try:
        import_module(name)
    except UsageError:  # an adapter of what is not installed
        pass
"""
Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    """Return the dotted name of a module within the package."""
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix("__init__").rstrip(".")


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


every_module = pytest.mark.parametrize("path", MODULES, ids=name_of)


def imported(path: Path) -> Iterator[str]:
    """Give the rooms of the package that a module imports from, in functions too, where types are checked not."""
    for node in ast.walk(tree_of(path)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the package"
            names = [node.module or ""]
            if node.module == "lexirecall":
                names = [f"lexirecall.{alias.name}" for alias in node.names]
        yield from (name.split(".")[1] for name in names if name.startswith("lexirecall."))


def imported_by_text(path: Path) -> Iterator[str]:
    """Give what a module imports by a text, or the beginning of that; a text may also have a name."""
    names = {f"lexirecall.{name_of(each)}" for each in MODULES}
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield next((str(each.value) for each in ast.walk(node.args[0]) if isinstance(each, ast.Constant)), "")
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value in names:
            yield str(node.value.value)


def functions(path: Path) -> Iterator[Function]:
    return (node for node in ast.walk(tree_of(path)) if isinstance(node, Function))


def body_lines(function: Function) -> int:
    """Count the lines of a function's body, its docstring left out."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_every_room_has_its_place_in_the_order() -> None:
    rooms = {name_of(path).split(".")[0] for path in MODULES} - {"", "__main__"}
    assert rooms == set(ORDER) - {"_native"}  # which is C


@every_module
def test_a_module_imports_only_what_stands_above_it(path: Path) -> None:
    room = name_of(path).split(".")[0]
    if room in ("", "__main__"):  # the public names, and the way in
        return
    above = {*ORDER[: ORDER.index(room)], room, SIDE_BY_SIDE.get(room)}
    assert set(imported(path)) <= above


@every_module
def test_only_the_index_of_a_folder_imports_its_modules_by_a_text(path: Path) -> None:
    """Neither mypy nor the test above sees such an import; an index leads to its own folder only."""
    texts = [text for text in imported_by_text(path) if text.startswith("lexirecall")]
    own = ".".join(filter(None, ("lexirecall", name_of(path)))) + "."
    assert not texts or path.name == "__init__.py"
    assert all(text.startswith(own) for text in texts)


@every_module
def test_a_part_of_numpy_is_imported_where_it_is_used(path: Path) -> None:
    """numpy 1 has no `typing` until somebody imports it; then it works for everybody, and nobody notices."""
    assert not [
        node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Attribute) and ast.unparse(node) == "np.typing"
    ]


@pytest.mark.parametrize("room", ROOMS_SHOWN_BY)
def test_a_room_that_only_some_need_could_be_taken_away(room: str) -> None:
    kept = [name for path in MODULES if (name := name_of(path)) and name.split(".")[0] not in (room, "__main__")]
    others = [f"lexirecall.{name}" for name in kept if name not in ROOMS_SHOWN_BY[room]]
    words = [sys.executable, "-c", WITHOUT_A_ROOM, f"lexirecall.{room}", *others]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@every_module
def test_a_module_says_what_belongs_in_it(path: Path) -> None:
    docstring = ast.get_docstring(tree_of(path)) or ""
    is_command = path.parent.name == "cli" and path.stem not in ("__init__", "options")
    is_front_door = name_of(path) == ""
    assert docstring
    assert "Belongs here: " in docstring or is_front_door or (is_command and "`lexirecall " in docstring)


@every_module
def test_a_module_does_not_list_its_imports(path: Path) -> None:
    docstring = ast.get_docstring(tree_of(path)) or ""
    assert not re.search(r"(^|[.:;]\s+|\n)Imports\s", docstring), "the lines below it say that, and stay true"


@every_module
def test_no_module_is_too_long(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 600


@every_module
def test_no_function_is_too_long(path: Path) -> None:
    assert {function.name: body_lines(function) for function in functions(path) if body_lines(function) > 40} == {}


def is_constructor(call: ast.Call) -> bool:
    """Tell whether a call makes a record: classes are written with a capital, and `cls` is one."""
    name = ast.unparse(call.func).rpartition(".")[2]
    return name == "cls" or bool(re.match(r"_?[A-Z]", name))


@every_module
def test_a_record_of_many_fields_is_made_with_their_names(path: Path) -> None:
    """A reader cannot count to the thirteenth argument, and a type checker sees no difference between two arrays."""
    calls = (node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call) and is_constructor(node))
    assert [f"line {call.lineno}: {ast.unparse(call.func)}" for call in calls if len(call.args) > 5] == []


def test_most_functions_are_short() -> None:
    lengths = sorted(body_lines(function) for path in MODULES for function in functions(path))
    assert lengths[len(lengths) // 2] <= 8
    assert lengths[int(len(lengths) * 0.9)] <= 20


def types_of(path: Path) -> Iterator[str]:
    """Give the classes of a module, and the types that it names."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            names = map(ast.unparse, node.targets)
            yield from (name for name in names if re.fullmatch(r"_?[A-Z]\w*[a-z]\w*", name))  # as classes are written


def test_one_name_of_a_class_is_one_thing() -> None:
    homes: dict[str, list[str]] = {}
    for path in MODULES:
        for name in types_of(path):
            homes.setdefault(name.lstrip("_"), []).append(name_of(path))
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}


def test_every_public_name_has_a_home() -> None:
    assert sorted(lexirecall.__all__) == sorted(lexirecall._HOME) == sorted(set(lexirecall.__all__))
    assert set(dir(lexirecall)) == {*lexirecall.__all__, "__version__"}
    for name, home in lexirecall._HOME.items():
        assert getattr(lexirecall, name) is getattr(import_module(f"lexirecall.{home}"), name)


PUBLIC = {
    f"{module}.{name}": getattr(import_module(module), name)
    for module in GENERATED["PUBLIC"]
    if not module.startswith(tuple(f"lexirecall.{room}" for room in ("adapters", "engines", "torch")))  # need packages
    for name in GENERATED["public_names"](module)
}
PUBLIC_FUNCTIONS = [name for name, value in PUBLIC.items() if inspect.isfunction(value)]
PUBLIC_CLASSES = [name for name, value in PUBLIC.items() if inspect.isclass(value)]


def test_every_adapter_and_engine_with_public_names_is_listed() -> None:
    modules = {f"lexirecall.{name_of(path)}" for path in MODULES if "\n__all__ = [" in path.read_text(encoding="utf-8")}
    assert {name for name in modules if ".adapters." in name or ".engines." in name} <= {*GENERATED["PUBLIC"]}


@pytest.mark.parametrize("module", GENERATED["PUBLIC"])
def test_a_function_and_a_module_never_share_a_name(module: str) -> None:
    folder = SOURCE.joinpath(*module.split(".")[1:])
    modules = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    assert modules & {*GENERATED["public_names"](module)} == set()


@pytest.mark.parametrize("name", [*PUBLIC_FUNCTIONS, *PUBLIC_CLASSES])
def test_every_public_name_is_documented(name: str) -> None:
    value, own_name = PUBLIC[name], name.rpartition(".")[2]
    docstring = (vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__) or ""
    assert docstring
    assert not docstring.startswith(f"{own_name}("), "a dataclass without a docstring is given its signature"


@pytest.mark.parametrize("name", PUBLIC_FUNCTIONS)
def test_every_public_function_has_an_example_and_full_annotations(name: str) -> None:
    signature = inspect.signature(PUBLIC[name])
    assert ">>> " in (PUBLIC[name].__doc__ or "")
    assert signature.return_annotation is not signature.empty
    assert all(parameter.annotation is not parameter.empty for parameter in signature.parameters.values())


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'lexirecall' has no attribute 'recall'"):
        lexirecall.recall  # noqa: B018


def test_the_package_knows_its_version() -> None:
    assert lexirecall.__version__.count(".") >= 1
