"""Texts: the words of queries and documents, to be shown beside their ids.

Belongs here: which texts are kept, and how one is shortened. Not here: what a line of a file says (formats.textrows),
where texts are shown and how that place escapes them (verbs, page, gate).

Files are read line by line, and only the texts that are asked for are kept: a corpus of millions of documents takes no
more memory than the few that are shown.
"""

import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from itertools import accumulate
from typing import Any, NamedTuple

from lexirecall.errors import DataError, FormatError, UsageError, counted, hint_at, is_several, listed, shown
from lexirecall.formats.columns import Given
from lexirecall.formats.source import SUFFIXES, Source
from lexirecall.formats.textrows import TextRow, text_rows
from lexirecall.judgments import Judgments
from lexirecall.manifest import Note
from lexirecall.paths import is_file, is_folder, is_pipe
from lexirecall.progress import Progress
from lexirecall.text import to_bytes, visible

__all__ = ["Texts", "load_texts", "shortened"]

EXAMPLES = 3
_ROLES = {"queries": "query", "documents": "document", "both": None}
"""What users write before a file, and whose ids it then has."""
_NOUNS = {"query": "query", "document": "document"}
_PLURALS = {"query": "queries", "document": "documents"}
_DROPPED = {"\u00ad", "\u200c", "\u200d"}  # a soft hyphen and joiners only shape the letters around them
_ASK = "say which: --texts queries=FILE, documents=FILE or, for a file with both, both=FILE"

TextFile = str | os.PathLike[str] | Mapping[Any, str]


class _TextSource(NamedTuple):
    """A file, or a mapping from ids to texts, and whose ids these are."""

    texts: TextFile
    role: str | None
    is_mixed: bool = False

    @property
    def name(self) -> str:
        """What messages call it."""
        return "texts" if isinstance(self.texts, Mapping) else os.fspath(self.texts)

    @property
    def size(self) -> int:
        """Bytes to read, as far as known."""
        return 0 if isinstance(self.texts, Mapping) else Source(self.texts).size


@dataclass(slots=True)
class _WantedTexts:
    """The ids of one role: those whose texts are wanted, and the texts found so far."""

    ids: set[bytes]
    limit: int | None = None
    """How long a text may be that is kept."""
    found: dict[bytes, str] = field(default_factory=dict)
    num_repeated: int = 0

    def take(self, identifier: bytes, text: str) -> None:
        """Keep the first text of an id, and count those that differ."""
        text = text if self.limit is None else shortened(text, self.limit)
        if text and self.found.setdefault(identifier, text) != text:
            self.num_repeated += 1


@dataclass(frozen=True, eq=False)
class Texts:
    """The texts of queries and documents; of files, only those that are wanted are kept.

    >>> texts = load_texts({"queries": {"q1": "black bears"}, "documents": {"d1": "Bears attack", "d2": ""}})
    >>> texts.of_query("q1"), texts.of_document("d1"), texts.of_document("d2")
    ('black bears', 'Bears attack', None)
    """

    given: tuple[_TextSource, ...]
    columns: Given = None
    chosen: Mapping[str, _WantedTexts] = field(default_factory=dict)
    """By role, what was wanted, and its texts."""
    roles: frozenset[str] = frozenset()
    """The roles of the ids that the files were found to have."""
    show_progress: bool | None = False
    """None: on a terminal, if it takes longer than a second."""

    def wanted(
        self,
        queries: Iterable[object] = (),
        documents: Iterable[object] = (),
        *,
        judgments: Judgments | None = None,
        limit: int | None = None,
    ) -> "Texts":
        """Read the texts of these queries and documents, in one pass through each file.

        A file that has none of these ids is an error, unless it has others of the judgments. If a `limit` is given,
        only the shortened texts are kept.

        >>> texts = load_texts({"queries": {"q1": "black bears", "q2": "ferries"}}).wanted(["q1", "q3"])
        >>> texts.of_query("q1"), [note.text for note in texts.notes]
        ('black bears', ['1 of 2 queries has no text'])
        """
        chosen = {
            role: _WantedTexts({to_bytes(identifier) for identifier in ids}, limit)
            for role, ids in (("query", queries), ("document", documents))
        }
        roles: set[str] = set()
        if any(wanted.ids for wanted in chosen.values()):
            size = sum(source.size for source in self.given)
            with Progress("reading texts", size, shown=self.show_progress) as progress:
                for source in self.given:
                    with _opened(source, self.columns, progress.advance) as rows:
                        roles |= _read(source, rows, chosen, judgments)
        return replace(self, chosen=chosen, roles=frozenset(roles))

    @property
    def has_queries(self) -> bool:
        """Whether there are texts of queries, so that a table needs a column for them."""
        return "query" in self.roles

    @property
    def has_documents(self) -> bool:
        """Whether there are texts of documents."""
        return "document" in self.roles

    def of_query(self, query: object) -> str | None:
        """Return the text of a query, None if there is none; one that was not wanted is looked up in every file."""
        return self._of("query", query)

    def of_document(self, document: object) -> str | None:
        """Return the text of a document, None if there is none; one that was not wanted is looked up in every file."""
        return self._of("document", document)

    def _of(self, role: str, name: object) -> str | None:
        identifier = to_bytes(name)
        chosen = self.chosen.get(role)
        if chosen is None or identifier not in chosen.ids:
            chosen = _WantedTexts({identifier})
            for source in self.given:
                with _opened(source, self.columns) as rows:
                    _Pass().take(rows(), {role: chosen}, source.name)
        return chosen.found.get(identifier)

    @property
    def notes(self) -> tuple[Note, ...]:
        """How many of the wanted queries and documents have no text, or several."""
        notes = []
        for role, wanted in self.chosen.items():
            total = counted(len(wanted.ids), _NOUNS[role])
            if (missing := len(wanted.ids) - len(wanted.found)) and role in self.roles:
                have = "has" if missing == 1 else "have"
                notes.append(Note(f"{_NOUNS[role]} without a text", f"{missing:,} of {total} {have} no text", missing))
            if wanted.num_repeated:
                again = f"{counted(wanted.num_repeated, 'text')} left out: the {_NOUNS[role]} has another one before"
                notes.append(Note(f"{_NOUNS[role]} with several texts", again, wanted.num_repeated))
        return tuple(notes)


def load_texts(
    paths: "TextFile | Sequence[TextFile] | Mapping[str, Any] | Texts",
    *,
    columns: Mapping[str, str] | None = None,
    show_progress: bool | None = False,
) -> Texts:
    """Return the texts of files of JSON lines or of lines `id<TAB>text`; nothing but the first bytes is read yet.

    `queries=FILE` and `documents=FILE` say whose ids a file has; in Python {"queries": …, "documents": …} too, of
    files or of mappings from ids to texts. Otherwise the keys of a line tell (`query_id`, `doc_id`), or the name of
    the file (`queries.jsonl`, `corpus.jsonl`), or else which of the ids it has. A folder stands for the files of these
    two names in it. `columns` names keys that are unusual.

    >>> load_texts({"documents": {"FR94-1": "a notice"}}).of_document("FR94-1")
    'a notice'
    >>> load_texts("nothing.jsonl")
    Traceback (most recent call last):
    lexirecall.errors.FormatError: nothing.jsonl: no such file or directory
      check the path
    """
    if isinstance(paths, Texts):
        return paths
    sources = tuple(_given(paths))
    if not sources:
        raise UsageError("no file of texts is given", remedy="name one, or leave texts out")
    for source in sources:
        if not isinstance(source.texts, Mapping) and not is_pipe(source.texts):
            with Source(source.texts) as file:
                rows = text_rows(file, source.role, columns, told_by_name=not source.is_mixed)
                next(rows, None)  # says what is wrong before any work
    return Texts(sources, columns, show_progress=show_progress)


def texts_or_none(texts: Any, columns: Given = None, show_progress: bool | None = False) -> Texts | None:
    """Load texts where some are given."""
    if texts is None or (isinstance(texts, Sequence) and not texts):
        return None
    return load_texts(texts, columns=columns, show_progress=show_progress)


def texts_beside(texts: Texts | None, query: str, document: str | None = None) -> dict[str, str | None]:
    """Return the columns that rows have for the texts of a query and a document; none without texts.

    >>> texts_beside(load_texts({"queries": {"q": "why?"}}), "q", "d")
    {'query_text': 'why?', 'document_text': None}
    """
    if texts is None:
        return {}
    columns = {"query_text": texts.of_query(query)}
    return columns if document is None else {**columns, "document_text": texts.of_document(document)}


def files_named(paths: Any) -> list[str]:
    """Return the files among what is given as texts, without what is said of them.

    >>> files_named(["queries=topics.tsv", "corpus.jsonl"])
    ['topics.tsv', 'corpus.jsonl']
    """
    if paths is None or isinstance(paths, Texts):
        return []
    return [os.fspath(source.texts) for source in _given(paths) if not isinstance(source.texts, Mapping)]


def shortened(text: str, limit: int = 200) -> str:
    r"""Return a text as one line of at most `limit` characters, cut after a word, with what is hidden made visible.

    >>> shortened("Bears  attack\nin\x1b[31m Alaska", 20), shortened("x" * 9, 4)
    ('Bears attack…', 'xxx…')
    """
    looked_at = 16 * limit  # enough, unless it is nearly all blanks
    line = " ".join("".join(character for character in text[:looked_at] if character not in _DROPPED).split())
    whole = visible(line[: limit + 1])
    if len(line) <= limit and len(whole) <= limit and not text[looked_at:].strip():
        return whole
    return visible(line[: _end(line, limit - 1)]) + "…"


def _end(line: str, room: int) -> int:
    """Return where to cut a line: after a word or, if a word is long, between characters."""
    sizes = accumulate(len(visible(character)) for character in line[: room + 1])
    end = sum(size <= room for size in sizes)
    blank = line.rfind(" ", 0, end + 1)
    if end == len(line) or blank > end // 2:
        return end if end == len(line) else blank
    while end > 0 and unicodedata.combining(line[end]):
        end -= 1
    return end


def _given(paths: Any) -> Iterator[_TextSource]:
    if isinstance(paths, Mapping):
        if unknown := [name for name in paths if name not in _ROLES]:
            problem = f"texts: unknown kind {', '.join(map(repr, unknown))}"
            raise UsageError(problem, remedy=hint_at(str(unknown[0]), _ROLES))
        for kind, those in paths.items():
            for texts in those if isinstance(those, (list, tuple)) else [those]:
                yield _TextSource(texts, _ROLES[kind], is_mixed=kind == "both")
        return
    for path in paths if is_several(paths) else [paths]:
        if not isinstance(path, (str, os.PathLike)):
            problem = f"a file of texts is of type {type(path).__name__}, but must be a path"
            raise UsageError(problem, remedy='mappings are given as {"queries": {...}, "documents": {...}}')
        kind, sign, file = os.fspath(path).partition("=")
        is_told = bool(sign) and kind in _ROLES
        if is_told and not file:
            raise UsageError(f"--texts {path}: no file is named", remedy=f"write {kind}=FILE")
        role = _ROLES[kind] if is_told else None
        for texts in _files_at(file if is_told else os.fspath(path), role):
            yield _TextSource(texts, role, is_mixed=is_told and kind == "both" and not is_folder(file))


def _files_at(path: str, role: str | None) -> list[str]:
    """Return the texts of a folder as BEIR lays it out, or else the path itself."""
    if not is_folder(path):
        return [path]
    stems = [stem for stem, stem_role in (("queries", "query"), ("corpus", "document")) if role in (stem_role, None)]
    names = (f"{stem}.jsonl{suffix}" for stem in stems for suffix in ("", *SUFFIXES))
    return [file for name in names if is_file(file := os.path.join(path, name))] or [path]  # noqa: PTH118 - as given


@dataclass(slots=True)
class _Pass:
    """A pass through one file: which ids it has, told by role, and the first few as examples."""

    met: set[str] = field(default_factory=set)
    """The roles of ids that it has."""
    is_guessed: bool = False
    """Whether the role of some id was told only by the id itself."""
    possible: set[str] = field(default_factory=set)
    """The roles that its ids may have."""
    examples: list[bytes] = field(default_factory=list)

    def take(self, rows: Iterable[TextRow], chosen: Mapping[str, _WantedTexts], name: str) -> None:
        """Keep the texts of the ids that are wanted."""
        for row in rows:
            for role in self._roles(row, chosen):
                chosen[role].take(row.id, row.text(name))

    def look(self, rows: Iterable[TextRow], known: Mapping[str, _WantedTexts], enough: int) -> None:
        """Only tell whose ids there are, until so many roles are met."""
        for row in rows:
            self._roles(row, known)
            if len(self.met) >= enough:
                return

    def _roles(self, row: TextRow, chosen: Mapping[str, _WantedTexts]) -> list[str]:
        """Return the roles in which the id of a row is among these."""
        roles = tuple(chosen) if row.role is None else (row.role,)
        if len(self.examples) < EXAMPLES and row.id not in self.examples:
            self.examples.append(row.id)
            self.possible.update(roles)
        found = [role for role in roles if role in chosen and row.id in chosen[role].ids]
        if found:
            self.met.update(found)
            self.is_guessed |= row.role is None
        return found


@contextmanager
def _opened(
    source: _TextSource, columns: Given, advance: Callable[[int], None] | None = None
) -> Iterator[Callable[[], Iterator[TextRow]]]:
    """Give what goes through the rows, as often as it is called."""
    if isinstance(source.texts, Mapping):
        texts = source.texts
        yield lambda: (TextRow(0, source.role, to_bytes(name), text) for name, text in texts.items())
        return
    with Source(source.texts, advance) as file:
        yield lambda: text_rows(file, source.role, columns, told_by_name=not source.is_mixed)


def _read(
    source: _TextSource,
    rows: Callable[[], Iterator[TextRow]],
    chosen: Mapping[str, _WantedTexts],
    judgments: Judgments | None,
) -> set[str]:
    """Take the wanted texts of one file, and return whose they are.

    Raise if the file has no id that is known, or does not tell whose ids it has.
    """
    scan = _Pass()
    scan.take(rows(), chosen, source.name)
    is_unsure = scan.is_guessed and not source.is_mixed
    known = chosen
    if judgments is not None and (not scan.met or (is_unsure and len(scan.met) < len(chosen))):
        known = _judged(judgments)
        scan.look(rows(), known, enough=2 if is_unsure else 1)
    if is_unsure and len(scan.met) > 1:
        problem = "some ids are those of queries and some those of documents, and nothing tells which is which"
        raise FormatError(source.name, None, problem, remedy=_ASK)
    if not scan.examples and not isinstance(source.texts, Mapping):
        raise FormatError(source.name, None, "the file has no texts", remedy="was it written completely?")
    asked = {role: wanted.ids for role, wanted in known.items() if role in scan.possible and wanted.ids}
    if not scan.met and asked:
        raise _nothing_in_common(source.name, scan.examples, asked)
    return scan.met


def _judged(judgments: Judgments) -> dict[str, _WantedTexts]:
    queries = {to_bytes(query) for query in judgments.queries}
    return {
        "query": _WantedTexts(queries),
        "document": _WantedTexts({*judgments.documents.slice(0, len(judgments.documents))}),
    }


def _nothing_in_common(name: str, theirs: Sequence[bytes], ours: Mapping[str, set[bytes]]) -> DataError:
    in_file = listed(map(shown, theirs), EXAMPLES)
    sides = (
        f"{_PLURALS[role]} such as {listed(map(shown, nsmallest(EXAMPLES, ids)), EXAMPLES)}"
        for role, ids in ours.items()
    )
    return DataError(
        f"{name}: no text has an id that is asked for: the file has ids such as {in_file}, the judgments have "
        f"{' and '.join(sides)}",
        remedy="are the ids written the same way, and is it the right file?",
    )
