"""Session: what the page that runs in a browser asks of lexirecall, and what it gets back, as JSON.

Belongs here: one function for each question of the page. They read files of the current folder and call the verbs.
Nothing here knows the browser: the tests call the same functions on any machine.
"""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import lexirecall
from lexirecall.errors import LexirecallError, UsageError, counted
from lexirecall.formats import may_hold_both
from lexirecall.formats.source import PARQUET
from lexirecall.manifest import Note
from lexirecall.names import find_row
from lexirecall.positions import Positions
from lexirecall.tables import FORMATS, Table
from lexirecall.text import number_of, visible, whole_number_of
from lexirecall.verbs.subject import DEFAULT_MEASURES

Asked = Mapping[str, Any]
"""What the page asks: `qrels`, `runs`, `measures`, `level` and `corpus_size`, and more for some questions."""
_MOST_QUERIES = 200  # that a list of queries shows
_MOST_LEVELS = 50
_MORE_MEASURES = ("nDCG@10", "P@10", "R@10", "R@100", "RBP", "ERR", "LexiPrecision", "RPP", "LastRel", "Bpref")
_RUN_IT = "and run the command below on your own machine"
_ON_YOUR_MACHINE = f"pip install lexirecall, {_RUN_IT}"
_FOR_TABLES = f"pip install 'lexirecall[frames]', {_RUN_IT}"


def answer(question: str, asked: str) -> str:
    """Answer a question of the page; what goes wrong is an answer too, with the remedy.

    >>> json.loads(answer("evaluate", '{"qrels": "", "runs": []}'))["error"]["problem"]
    'there are no judgments'
    """
    given = json.loads(asked)
    swap = None
    try:
        return json.dumps(QUESTIONS[question](given))
    except LexirecallError as error:
        error.offer(())  # the page has no such options
        problem, swap = error.problem, _looks_swapped(given)
        is_install = "pip install" in error.remedy  # which is of no use here
        remedy = _FOR_TABLES if is_install and _RUN_IT not in error.remedy else error.remedy
    except ModuleNotFoundError as error:
        problem, remedy = _lacking(str(error.name), given), _ON_YOUR_MACHINE
    except Exception as error:  # a reader of the page has no use for a traceback
        problem, remedy = _unforeseen(error), _ON_YOUR_MACHINE
    trouble = {"problem": visible(problem), "remedy": visible(remedy), "swap": swap}
    return json.dumps({"error": trouble, "command": _command(question, given)})


def sample(_: Asked) -> dict[str, Any]:
    """Simulate a small collection, the one of `lexirecall demo`, and write it to files."""
    texts = lexirecall.simulate_collection(0).to_trec()
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")
    return {"qrels": "qrels.txt", "runs": [name for name in texts if name != "qrels.txt"]}


def roles(asked: Asked) -> dict[str, Any]:
    """Tell which of some files holds the judgments: the only one that can be read so, or the first that is called so.

    If nothing tells, it is the first of them; the page shows what was chosen, and lets the reader choose again.
    """
    names: list[str] = asked["files"]
    able = [name for name in names if _can_be_judgments(name)]
    called = [name for name in able if any(word in name.lower() for word in ("qrel", "judg", "truth", "gold"))]
    qrels = next(iter(called or able or names), "")
    return {"qrels": qrels, "runs": [name for name in names if name != qrels]}


def measures(_: Asked) -> dict[str, Any]:
    """List the measures that the page offers: those that are computed unless others are asked for, and some more."""
    offered = (*DEFAULT_MEASURES, *_MORE_MEASURES)
    titles = ((name, find_row(name.partition("@")[0]).title) for name in offered)
    return {
        "measures": [{"name": name, "title": title, "is_default": name in DEFAULT_MEASURES} for name, title in titles],
        "version": lexirecall.__version__,
    }


def evaluate(asked: Asked) -> dict[str, Any]:
    """Return the means of the runs."""
    scores = lexirecall.evaluate(_positions(asked), measures=_measures(asked), **_level(asked))
    tables = [_table("Means over the queries", scores.table())]
    return _answer("evaluate", asked, scores, tables) | {"runs": list(scores.runs), "queries": len(scores.queries)}


def compare(asked: Asked) -> dict[str, Any]:
    """Return the runs with letters, and every pair."""
    made = lexirecall.compare(_positions(asked), measures=_measures(asked), **_level(asked))
    tables = [_table("Runs", made.table()), _table("Pairs", made.pairs_table())]
    return _answer("compare", asked, made, tables)


def explain(asked: Asked) -> dict[str, Any]:
    """Return the queries on which one of two runs is better, and one of them level by level."""
    made = lexirecall.explain(_positions(asked), pair=(asked["a"], asked["b"]), **_level(asked))
    names = [query.id for query in made.queries]
    shown = asked.get("query") if asked.get("query") in names else next(iter(names), None)
    tables = [_table("Queries, the most clearly decided first", made.table(_MOST_QUERIES))]
    found = _answer("explain", dict(asked, query=None), made, tables) | {"queries": names, "query": None}
    if shown is None:
        return found
    one = made.query(shown)
    return found | {
        "query": shown,
        "sentence": visible(one.sentence()),
        "drawing": one.drawing(int(asked.get("width") or 72)),
        "levels": _table("Recall levels, the last first", one.table(_MOST_LEVELS)),
        "command_query": _command("explain", dict(asked, query=shown)),
    }


def report(asked: Asked) -> dict[str, Any]:
    """Return the page about all runs."""
    made = lexirecall.report(_positions(asked), measures=_measures(asked), output=None, **_level(asked))
    return {"html": made.html(), "notes": _notes(made.notes), "command": _command("report", asked)}


QUESTIONS: dict[str, Callable[[Asked], dict[str, Any]]] = {
    "sample": sample,
    "roles": roles,
    "measures": measures,
    "evaluate": evaluate,
    "compare": compare,
    "explain": explain,
    "report": report,
}
_COMMANDS = {"evaluate": "eval", "compare": "compare", "explain": "explain", "report": "report"}


def _answer(question: str, asked: Asked, made: Any, tables: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what every result has: its tables, its rows for programs, its notes and its command."""
    return {
        "tables": tables,
        "rows": list(made.rows()),
        "files": {form: made.render(form) + "\n" for form in FORMATS if FORMATS[form].delimiter},
        "notes": _notes(made.notes),
        "command": _command(question, asked),
    }


def _table(title: str, table: Table) -> dict[str, Any]:
    """Return a table as lists; texts are made visible, as in HTML."""
    is_number = [c >= table.numbers_from and c not in table.texts for c in range(len(table.header))]
    return {
        "title": title,
        "header": [visible(cell) for cell in table.header],
        "rows": [[visible(cell) for cell in row] for row in table.rows],
        "best": [list(cell) for cell in sorted(table.best)],
        "marks": [[*cell, mark] for cell, mark in sorted(table.marks.items())],
        "numbers": is_number,
        "footnote": visible(table.footnote),
    }


def _notes(notes: Sequence[Note]) -> list[str]:
    return [visible(note.text) for note in notes]


def _positions(asked: Asked) -> Positions:
    """Read the files, unless that was the last thing read."""
    if not asked["qrels"]:
        raise UsageError("there are no judgments", remedy="drop a file of judgments, or choose which file holds them")
    runs = tuple(asked["runs"])
    if not runs and not may_hold_both(asked["qrels"]):
        raise UsageError("there are no runs", remedy="drop one or more runs: the rankings to be evaluated")
    for name in filter(_is_parquet, (asked["qrels"], *runs)):
        raise UsageError(f"{name} is a Parquet file, which this page does not read", remedy=_FOR_TABLES)
    written = tuple((name, Path(name).stat().st_mtime_ns) for name in (asked["qrels"], *runs) if Path(name).exists())
    return _read(asked["qrels"], runs, _corpus_size(asked), written)


@lru_cache(maxsize=1)
def _read(qrels: str, runs: tuple[str, ...], corpus_size: int | None, _written: object) -> Positions:
    return lexirecall.project(qrels, list(runs) or None, corpus_size=corpus_size, needs_judged=True)


def _measures(asked: Asked) -> list[str] | None:
    return list(asked.get("measures") or ()) or None


def _level(asked: Asked) -> dict[str, Any]:
    text = str(asked.get("level") or "").strip()
    try:
        return {"level": number_of(text)} if text else {}
    except ValueError:
        raise UsageError(f"the lowest relevant grade is {text!r}", remedy="write a number such as 1 or 2") from None


def _corpus_size(asked: Asked) -> int | None:
    text = str(asked.get("corpus_size") or "").strip()
    try:
        return whole_number_of(text) if text else None
    except ValueError:
        raise UsageError(f"the corpus size is {text!r}", remedy="write a whole number such as 10000") from None


def _is_parquet(name: str) -> bool:
    try:
        with Path(name).open("rb") as file:
            return file.read(len(PARQUET)) == PARQUET
    except OSError:
        return False  # whoever reads it will say what is wrong


def _can_be_judgments(name: str) -> bool:
    try:
        lexirecall.load_judgments(name)
    except (LexirecallError, ModuleNotFoundError):
        return False
    return True


def _looks_swapped(asked: Asked) -> str | None:
    """Return the run that holds the judgments, if the file that is given as such does not."""
    qrels, runs = asked.get("qrels"), asked.get("runs") or []
    if not qrels or _can_be_judgments(qrels):
        return None
    return next((run for run in runs if _can_be_judgments(run)), None)


def _unforeseen(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "this is more than the page has memory for"
    return f"{type(error).__name__}: {error}".split("\n", 1)[0][:300] + " (a bug in lexirecall)"


def _lacking(module: str, asked: Asked) -> str:
    """Say what cannot be done for want of a package that the page does not load."""
    if module == "zstandard":
        return "this page does not unpack zst; gz and plain text it reads"
    if module.startswith("scipy"):
        num_queries = len(_positions(asked).queries)
        return f"tests with {counted(num_queries, 'query')} need scipy, which this page does not load; evaluating and \
explaining do not"
    return f"this needs {module}, which this page does not load"


def _command(question: str, asked: Asked) -> str | None:
    """Write the command that does the same on one's own machine."""
    if question not in _COMMANDS:
        return None
    words = ["lexirecall", _COMMANDS[question], asked.get("qrels") or "QRELS", *(asked.get("runs") or ())]
    if question == "explain":
        words = [*words[:3], *_files_of_pair(asked), *_pair(asked)]
        words += [] if asked.get("query") is None else ["--query", asked["query"]]
    elif asked.get("measures"):
        words += ["-m", ",".join(asked["measures"])]
    for option in ("level", "corpus_size"):
        if text := str(asked.get(option) or "").strip():
            words += [f"--{option.replace('_', '-')}", text]
    return shlex.join(words)


def _files_of_pair(asked: Asked) -> list[str]:
    """Return the files of the two runs that are explained: files whose names they have, or otherwise all."""
    pair = [asked["a"], asked["b"]]
    return pair if set(pair) <= set(asked["runs"]) else list(asked["runs"])


def _pair(asked: Asked) -> list[str]:
    return [] if {asked["a"], asked["b"]} <= set(asked["runs"]) else ["--pair", asked["a"], asked["b"]]
