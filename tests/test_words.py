"""The words that users read: plain English, and one word for one thing.

Everything says *query*, *run* and *document*: prose, identifiers, Python, C and the page. The paper's words for them
are request, system and item.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "lexirecall"
GENERATED = {"api.md", "command-line.md", "measures.md", "options.md", *(page.name for page in ROOT.glob("docs/api/*"))}
"""Pages that a script writes, with a line for each entry."""
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
]

PAPERS = re.compile(r"\b(request|item|system)s?\b", re.IGNORECASE)
CROOKED = re.compile(
    r"(?<!\bthere )\b(is|are) no (?!longer\b|more\b|less\b|better\b|worse\b|higher\b|lower\b)"
    r"|\bstands (?!for\b|alone\b)|\bof which there\b|\bevery two\b|\brequests more\b",
    re.IGNORECASE,
)
PHRASES = {
    **dict.fromkeys(("operating system", "file system", "recommender systems", "known-item"), "a term of its own"),
}
"""Where a word of the paper is right, and why."""
FILES = {
    "adapters/lenskit.py": ("item", "LensKit's own word"),
    "adapters/lenskit_input.py": ("item", "LensKit's own word"),
    "measures/references.py": ("system", "titles of papers"),
}
"""Which word of the paper a whole file may use, and why."""
THEIRS = {
    "SystemExit", "CompletionItem", "ItemList", "ItemListCollection", "getFileSystem", "requestIdleCallback",
    "PyList_GetItem", "PyList_GetItemRef", "PyList_SetItem", "PyTuple_GetItem", "item_ids",
}  # fmt: skip
"""Names that others have given."""
CODE = re.compile(r"`[^`]*`|'[^' ]*'|\"[^\" ]*\"|\w+[_.=]\w+|\w+=|(?<!\w)--?\w+")
"""Quoted words, words joined by a dot, an underscore or =, and options are names, not prose."""
COLUMNS = re.compile(r"[\w{}]+(, *[\w{}]+)*")
"""Words with nothing but commas between them are a list of columns."""
SQL = re.compile(r"\b(SELECT|FROM|WHERE|JOIN|BY|CAST|COPY|NULL|AS|USING|VARCHAR|INTEGER|DOUBLE|ASC|DESC)\b")


def texts(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Give the line and the text of each string that is not a docstring; an f-string has {} for its values."""
    name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
    if name in ("execute", "sql") or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.JoinedStr):
        yield node.lineno, "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        children = [part for part in children if not isinstance(part, ast.Constant)]
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    for child in children:
        is_noun = name == "counted" and isinstance(child, ast.Constant)  # counted(2, "query") is "2 queries"
        yield from ((line, f"2 {text}" if is_noun else text) for line, text in texts(child))


def is_prose(text: str) -> bool:
    return " " in text.strip() and not SQL.search(text) and not COLUMNS.fullmatch(text)


def complaints(source: str, allowed: str = "") -> list[str]:
    """Return the line, the words and the text of all prose in Python source that says what it should not."""
    found = []
    for line, text in texts(ast.parse(source)):
        words = CODE.sub("", text)
        for phrase in PHRASES:
            words = words.replace(phrase, "")
        inside = [match[0] for match in PAPERS.finditer(words) if match[1].lower() != allowed]
        if is_prose(text) and (hits := inside + [match[0] for match in CROOKED.finditer(words)]):
            found.append(f"{line}: {', '.join(map(repr, hits))} in {text!r}")
    return found


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_messages_are_plain_english_about_queries_runs_and_documents(path: Path) -> None:
    allowed, _ = FILES.get(path.relative_to(PACKAGE).as_posix(), ("", ""))
    found = complaints(path.read_text(encoding="utf-8"), allowed)
    assert not found, "\n".join(f"{path}:{complaint}" for complaint in found)


def identifiers(path: Path) -> set[str]:
    """Return the names in a file, but for the methods that dicts and arrays have."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        source = " ".join(token.string for token in tokens if token.type in (tokenize.NAME, tokenize.OP))
        source = re.sub(r"(?<=\. )items? (?=\( \))|urllib \. request", "", source)
    return {*re.findall(r"[A-Za-z_]\w*", source.replace("system-ui", ""))}


def test_identifiers_are_about_queries_runs_and_documents() -> None:
    ours = [path for path in PACKAGE.rglob("*.py") if "lenskit" not in path.name]  # LensKit's lists hold items
    wrong = {
        (path.name, name)
        for path in [*ours, *ROOT.glob("native/*.[ch]"), *PACKAGE.glob("page/assets/*.js")]
        for name in identifiers(path) - THEIRS
        if PAPERS.search(re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", name).strip("_ "))
    }
    assert not wrong


def test_names_in_functions_say_what_they_hold() -> None:
    nameless = {"own", "made", "said", "given", "each"}
    found: set[tuple[str, str]] = set()
    for path in PACKAGE.rglob("*.py"):
        functions = (
            node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)
        )
        for node in (node for function in functions for node in ast.walk(function)):
            if isinstance(node, ast.arg):
                found.add((path.name, node.arg))
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add((path.name, node.id))
    assert {each for each in found if each[1] in nameless} == {("ranx.py", "given")}  # a parameter that users may name


@pytest.mark.parametrize(
    ("source", "hits"),
    [
        ('raise DataError(f"request {name!r} lacks judgments")', ["'request'"]),
        ('counted(number, "item")', ["'item'"]),
        ('note = "3 requests more, of which there are ids"', ["'requests', 'requests more', 'of which there'"]),
        ('warn(f"{path} is no folder, and " f"{document} stands at 5")', ["'is no ', 'stands '"]),
        ('"""Every two systems."""', []),
        ('cursor.execute("how many items"); text = "SELECT item FROM systems"; columns = "system, request, item"', []),
        ("text = \"a file system; the column `item`, 'request', per_request=; there is no run; it is no more\"", []),
    ],
)
def test_what_is_crooked_is_found_and_what_is_not_prose_is_left_alone(source: str, hits: list[str]) -> None:
    assert [re.sub(r"^1: (.*) in .*$", r"\1", complaint) for complaint in complaints(source)] == hits


def long_lines(text: str) -> Iterator[int]:
    """Give the lines of prose that are too long: outside of code, tables, and lines that are one link."""
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        is_code ^= line.lstrip().startswith("```")
        is_exempt = is_code or line.startswith(("|", "    ")) or re.fullmatch(r"[-\s]*!?\[.*\]\(\S*\)\S*", line)
        if len(line) > 120 and not is_exempt:
            yield number


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in GENERATED], ids=lambda page: page.name)
def test_prose_in_pages_is_at_most_120_characters_wide(page: Path) -> None:
    assert not [f"{page}:{number}" for number in long_lines(page.read_text(encoding="utf-8"))]


def test_a_long_line_is_found_but_not_in_tables_code_and_links() -> None:
    long = "word " * 30
    assert list(long_lines(f"{long}\n| {long} |\n```text\n{long}\n```\n- [{long}](page.md)\n{long}\n")) == [1, 7]
