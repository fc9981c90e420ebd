"""Columns: which column of a table holds the queries, the documents, the scores.

Belongs here: the names that columns usually have, and the choice among those of a table. Not here: tables themselves
(frames, engines).

A column is found by its name, without regard to case and to the signs between words: `query-id` is `Query_ID`. Names
that are given take precedence over the usual ones, and must be there. A role is one of USUAL;
`qrels.document=movie` is for the judgments only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lexirecall.errors import FormatError, UsageError, hint_at, listed
from lexirecall.formats.values import WORDS

_THINGS = ("movie", "product", "track", "song", "book", "video", "article", "news")
"""What is recommended."""
_THING_IDS = tuple(f"{thing}{sign}id" for thing in _THINGS for sign in ("_", ""))


def _named(*words: str) -> tuple[str, ...]:
    return tuple(f"{word}{tail}" for word in words for tail in ("", "_id", "_name", "id", "name"))


_RUNS = _named("run", "system")
_RANKERS = _named("model", "method", "algorithm", "algo", "recommender", "retriever")
_EQUAL = (_THING_IDS, _RUNS, _RANKERS)
"""Names of equal standing: of two of them in one table, either might be meant."""

USUAL = {
    "query": (
        "query_id",
        "qid",
        "topic_id",
        "topic",
        "query_no",
        "user_id",
        "userid",
        "user",
        "request",
        "request_id",
        "customer_id",
        "customerid",
        "session_id",
        "sessionid",
    ),
    "document": (
        "doc_id",
        "docno",
        "docid",
        "corpus_id",
        "document_id",
        "item_id",
        "itemid",
        "item",
        *_THING_IDS,
    ),
    "score": ("score", "prediction", "similarity"),
    "rank": ("rank",),
    "grade": ("relevance", "rel", "label", "rating", "grade", "score"),  # the last is what BEIR calls grades
    "run": (*_RUNS, *_RANKERS),
    "provider": ("provider", "provider_id"),
    "group": ("group", "group_id"),
    "unit": (
        *(f"{thing}{sign}" for thing in ("unit", "subtopic", "nugget", "fact", "family") for sign in ("", "_id")),
        "iteration",  # what ir_datasets calls the second column of qrels
    ),
    "rule": ("rule", "unit_rule"),
    "text": (
        "text",
        "contents",
        "content",
        "body",
        "passage",
        "segment",
        "abstract",
        "page_content",
        "question",
        "query",
        "user_input",
        "description",
    ),
}
"""The usual names of a column of each role; the first one present counts."""

ROLES_OF = {
    "run": ("query", "document", "score", "rank", "run"),
    "qrels": ("query", "document", "grade"),
    "providers": ("document", "provider"),
    "groups": ("query", "group"),
    "units": ("query", "document", "unit", "rule"),
    "subtopics": ("query", "document", "unit", "grade"),
    "texts": ("query", "document", "text"),
}
_NEEDED = {
    "run": ("query", "document"),
    "qrels": ("query", "document"),
    "providers": ("document", "provider"),
    "groups": ("query", "group"),
    "units": ("document", "unit"),
    "subtopics": ("query", "document", "unit"),
}
_ALSO = {"groups": {"query": ("query",)}}  # elsewhere that column holds the words of a query
_OPTIONAL = {"units": ("query",)}
"""Roles that a table may lack although a column is named, because that name is for the other tables."""

Given = Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of one table, by role; None for a role without a column."""

    query: str = ""
    document: str = ""
    score: str | None = None
    rank: str | None = None
    grade: str | None = None
    run: str | None = None
    provider: str | None = None
    group: str | None = None
    unit: str | None = None
    rule: str | None = None
    is_score_graded: bool = False
    """Whether grades were found under the name of scores; then only whole numbers are taken for grades."""

    def roles(self, kind: str) -> dict[str, str | None]:
        """Return the column of each role that input of a kind needs; a run has scores, or else ranks.

        >>> Columns(query="qid", document="docno", rank="rank").roles("run")
        {'run': None, 'query': 'qid', 'document': 'docno', 'rank': 'rank'}
        """
        if kind not in ("run", "qrels"):
            return {role: getattr(self, role) or None for role in ROLES_OF[kind]}
        ids: dict[str, str | None] = {"query": self.query, "document": self.document}
        if kind == "qrels":
            return {**ids, "grade": self.grade}
        return {"run": self.run, **ids, "score" if self.score else "rank": self.order}

    @property
    def order(self) -> str:
        """The column by which a run is ordered: scores, or ranks where there are no scores."""
        return self.score or self.rank or ""


def find_columns(names: Sequence[str], kind: str, columns: Given = None, *, source: str) -> Columns:
    """Find the columns that an input of a kind needs among the names that a table has.

    >>> find_columns(["qid", "docid", "docno", "score", "rank"], "run", source="bm25").document
    'docno'
    >>> find_columns(["user", "movie", "stars"], "qrels", {"document": "movie", "grade": "stars"}, source="x").grade
    'stars'
    """
    check_given(columns)
    found: dict[str, str | None] = {}
    for role in ROLES_OF[kind]:
        wanted = _given(columns, kind, role)
        if wanted not in names and role in _OPTIONAL.get(kind, ()) and f"{kind}.{role}" not in (columns or {}):
            wanted = None
        if wanted is not None and wanted not in names:
            raise FormatError(source, None, f"the table has no column {wanted!r}", remedy=_there_are(names, wanted))
        found[role] = wanted or _usual(names, role, source, _ALSO.get(kind, {}).get(role, ()))
    if missing := [role for role in _NEEDED[kind] if found[role] is None]:
        raise _not_found(names, missing, source)
    if kind == "run" and found["score"] is None and found["rank"] is None:
        raise _not_found(names, ["score", "rank"], source)
    _check_single(names, found, source)
    is_graded_by_name = spelling(found.get("grade") or "") == "score"
    return Columns(
        query=found.pop("query", None) or "",
        document=found.pop("document", None) or "",
        is_score_graded=is_graded_by_name and _given(columns, kind, "grade") is None,
        **found,
    )


def _given(columns: Given, kind: str, role: str) -> str | None:
    return (columns or {}).get(f"{kind}.{role}") or (columns or {}).get(role)


def check_one_run(column: str, number: int, source: str) -> None:
    """Raise if a column of runs has several, but one name is given for the table."""
    if number > 1:
        problem = f"the column {column!r} has {number:,} runs, but only one name is given"
        raise FormatError(source, None, problem, remedy="pass the table by itself, without a name")


def has_usual_columns(names: Sequence[str]) -> bool:
    """Tell whether these look like the header of a table: an owner (query, provider or unit) and documents, or groups.

    >>> has_usual_columns(["query-id", "corpus-id", "score"]), has_usual_columns(["301", "Q0", "FR94-1", "1"])
    (True, False)
    """
    has_owner = any(_usual(names, role) is not None for role in ("query", "provider", "unit"))
    has_groups = _usual(names, "group") is not None and _usual(names, "query", also=("query",)) is not None
    return has_groups or (has_owner and _usual(names, "document") is not None)


NO_GRADES = "the column 'score' holds fractions, which look like the scores of a run, not like grades"
NO_GRADES_REMEDY = "is this a run? The order is: QRELS RUN. If they are grades, say so: --columns grade=score"


def check_given(columns: Given) -> None:
    """Raise if a column is given for an unknown role, or a role without a column."""
    allowed = {*USUAL, *(f"{kind}.{role}" for kind, roles in ROLES_OF.items() for role in roles)}
    if unknown := [role for role in columns or {} if role not in allowed]:
        raise UsageError(
            f"columns: unknown role {', '.join(map(repr, unknown))}",
            remedy=f"the roles are {', '.join(USUAL)}; `qrels.document` applies to the judgments only",
        )
    if unnamed := [role for role, name in (columns or {}).items() if name == ""]:
        raise UsageError(f"columns: no column is named for {unnamed[0]}", remedy=f"name it, or leave out {unnamed[0]}")


def _usual(names: Sequence[str], role: str, source: str = "", also: Sequence[str] = ()) -> str | None:
    """Return the column that has a usual name of a role; with a source, raise if several could be meant."""
    by_spelling: dict[str, list[str]] = {}
    for name in names:
        by_spelling.setdefault(spelling(name), []).append(name)
    present = [name for name in (*USUAL[role], *also) if name in by_spelling]
    if not present:
        return None
    equal = next((names for names in _EQUAL if present[0] in names), present[:1])
    chosen = [column for name in present if name in equal for column in by_spelling[name]]
    if source and len({*chosen}) > 1:
        what = " or ".join(map(repr, dict.fromkeys(chosen)))
        remedy = f"say which, as in columns={{{role!r}: {chosen[0]!r}}} or --columns {role}={chosen[0]}"
        raise FormatError(source, None, f"the {WORDS[role]}s may be in the column {what}", remedy=remedy)
    return chosen[0]


def _check_single(names: Sequence[str], found: Mapping[str, str | None], source: str) -> None:
    """Raise if a column that is used shares its name with another one."""
    for role, name in found.items():
        if name is not None and names.count(name) > 1 and not (role == "rank" and found.get("score")):
            problem = f"{names.count(name)} columns are called {name!r}"
            raise FormatError(source, None, problem, remedy="give each its own name, or leave one out")


def spelling(name: str) -> str:
    """Return what names have in common that differ only in case and in the signs between words.

    >>> spelling("Query-ID")
    'query_id'
    """
    return name.strip().lower().replace("-", "_").replace(" ", "_").replace(".", "_")


def _not_found(names: Sequence[str], roles: Sequence[str], source: str) -> FormatError:
    what = (" or " if roles[-1] == "rank" else " and ").join(f"{WORDS[role]}s" for role in roles)
    usual = listed((name for role in roles for name in USUAL[role]), most=9)
    first = roles[0]
    return FormatError(
        source,
        None,
        f"found no column of {what} among {listed(names, most=12)}",
        remedy=f"name it, as in columns={{{first!r}: ...}} or --columns {first}=..., or call it one of {usual}",
    )


def _there_are(names: Sequence[str], wanted: str) -> str:
    return hint_at(wanted, names, f"the columns are {listed(names, most=12)}")
