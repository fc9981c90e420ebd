"""The plan: from rows of runs to the positions of judged items, in SQL that DuckDB and Spark both understand.

Belongs here: queries as text. Not here: running them (duckdb, spark).

It is written over two views, RUNS (system, request, item, score) and JUDGMENTS (request, item, grade, place), in which
ids are text and `place` tells the judged items of a request apart. The position of an item is the number of rows at or
above it: a window over its system and request counts them, in the order of the tie rule. Requests that nobody judged
never reach that window. A judged request without any item to look for has a row without an item. If ids of systems and
requests are numbers in both views, the same queries answer in numbers, and sort faster.

If places are counted in units, a third view, UNITS (item, unit, and request if the map has one for each request), says
what items are of; a row takes a place if it is the first of a unit, or of none. The rows with their places are kept in
a fourth, PLACED, because both lengths and positions come from them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lexirecall.errors import UsageError
from lexirecall.formats.casts import Column, Dialect, literal
from lexirecall.formats.columns import Columns
from lexirecall.manifest import Conventions

RUNS, JUDGMENTS, UNITS, PLACED = (f"lexirecall_{name}" for name in ("runs", "judgments", "units", "placed"))
_ORDERS = {
    "trec": "score DESC, item DESC",
    "expected": "score DESC, item DESC",  # any order will do, because the blocks of equal scores come with it
    "worst": "score DESC, gain ASC, item DESC",
    "best": "score DESC, gain DESC, item DESC",
}
# from here on rounding gives infinity; a bare 3.4e38 is a decimal in some sessions of Spark
_BEYOND_FLOAT32 = "CAST('3.4028235677973366e38' AS DOUBLE)"
PROBLEMS = {
    "no_system": ("system", "system IS NULL"),
    "no_request": ("request", "request IS NULL"),
    "no_item": ("item", "item IS NULL"),
    "no_score": ("score", "score IS NULL OR isnan(score)"),
}
"""What a row of a run can lack: the role, and the condition."""

CONSTANT = "constant"
"""The kind of a column that is added to a table, with the same text in all rows."""
IDS_AND_SCORE = "system, request, item, score"


@dataclass(frozen=True, slots=True)
class Plan:
    """The queries for one set of conventions."""

    conventions: Conventions
    dialect: Dialect
    keeps_others: bool = False
    """Whether the judged items that are not relevant are wanted too."""
    unit_keys: tuple[str, ...] = ()
    """If places are counted in units, what a row of UNITS is found by: item, or request and item."""

    def __post_init__(self) -> None:
        for option, value in (("ties", "input"), ("duplicates", "first")):
            if getattr(self.conventions, option) == value:
                raise UsageError(
                    f"{option}={value!r} goes by the order of rows, but a table has no order",
                    remedy="choose another rule, or leave out the engine",
                )

    def rows(
        self, source: str, columns: Columns, kinds: Mapping[str, str], system: str | None = None, *,
        label: str = "'run'", are_cells: bool = False,
    ) -> str:  # fmt: skip
        """Select the rows of one table of runs, and what is wrong with each; `system` names them all.

        `kinds` are those of its columns, `label` is SQL for what messages call it, `are_cells` says that it is CSV.
        """

        def column(name: str | None) -> Column:
            return Column(self.dialect.name(name or ""), kinds[name or ""], are_cells)

        roles = {"request": column(columns.request), "item": column(columns.item)}
        if system is None:
            roles["system"] = column(columns.system)
        selected = {role: each.id(self.dialect) for role, each in roles.items()}
        selected["score"] = self._score(column(columns.order), is_rank=not columns.score)
        faults = {f"{role}_fault": each.fault(self.dialect) for role, each in roles.items()}
        faults["score_fault"] = column(columns.order).fault(self.dialect)
        if system is not None:
            selected["system"], faults["system_fault"] = literal(system), "CAST(NULL AS STRING)"
        order = literal("score" if columns.score else "rank")
        everything = {**selected, **faults, "source": label, "order_role": order}
        wanted = f" WHERE coalesce({', '.join(self._cells(roles, column(columns.order)))}) IS NOT NULL"
        return (
            f"SELECT {', '.join(f'{sql} AS {name}' for name, sql in everything.items())} FROM {source}"
            f"{wanted if are_cells else ''}"
        )

    def _cells(self, roles: Mapping[str, Column], order: Column) -> list[str]:
        """Return the texts of all cells; a row in which all are missing is an empty line."""
        return [each.text(self.dialect) for each in (*roles.values(), order) if each.kind != CONSTANT]

    def _score(self, column: Column, *, is_rank: bool) -> str:
        score = column.number(self.dialect)
        score = f"-({score})" if is_rank else f"({score})"  # the first rank is the highest score
        if self.conventions.score_dtype == "float32":
            score = (
                f"CASE WHEN abs({score}) >= {_BEYOND_FLOAT32} THEN sign({score}) * CAST('Infinity' AS DOUBLE) "
                f"ELSE CAST(CAST({score} AS FLOAT) AS DOUBLE) END"
            )
        return f"{score} + CAST(0 AS DOUBLE)"  # so that -0.0 becomes 0.0, and they are a tie

    def problems(self) -> str:
        """Count the rows, and those that lack something: one row, with the columns num_rows and those of PROBLEMS."""
        counts = (f"count(*) FILTER (WHERE {condition}) AS {name}" for name, (_, condition) in PROBLEMS.items())
        return f"SELECT count(*) AS num_rows, {', '.join(counts)} FROM {RUNS}"

    def example(self, problem: str) -> str:
        """Select one of the rows that lack something, the same whenever it is asked for; see `casts.row_error`.

        The condition is not in a WHERE: DuckDB would conclude from the statistics of Parquet that no row is NaN.
        """
        role, condition = PROBLEMS[problem]
        packed = self.dialect.packed.format(columns=f"source, system, request, item, order_role, {role}_fault")
        return f"SELECT min({packed}) FILTER (WHERE {condition}) AS example FROM {RUNS}"

    def duplicates(self) -> str:
        """Select a few of the items that a system returned twice for a judged request."""
        return (
            f"SELECT system, request, item, count(*) AS times FROM {RUNS} WHERE {_JUDGED} "
            "GROUP BY system, request, item HAVING count(*) > 1 LIMIT 3"
        )

    def repeated(self) -> str:
        """Select a row if an item may be there twice for a judged request: two rows have the same hash.

        It costs half as much as `duplicates`, which is needed only if this finds some: no pair of equals escapes it.
        """
        key = self.dialect.hashed.format(columns="system, request, item")
        return (
            f"SELECT key FROM (SELECT {key} AS key FROM {RUNS} WHERE {_JUDGED}) AS keys "
            "GROUP BY key HAVING count(*) > 1 LIMIT 1"
        )

    def lengths(self) -> str:
        """Select system, judged request, num_retrieved and num_repeated: how many items, and how many rows too many."""
        repeated = "CAST(sum(times) - count(*) AS BIGINT) AS num_repeated"
        if self.unit_keys:
            return (
                f"SELECT system, request, max(position) AS num_retrieved, {repeated} "
                f"FROM {PLACED} GROUP BY system, request"
            )
        return (
            f"SELECT system, request, count(*) AS num_retrieved, {repeated} "
            f"FROM ({self._unique()}) AS rows WHERE {_JUDGED} GROUP BY system, request"
        )

    def unjudged(self) -> str:
        """Count the requests of each system for which there are no judgments."""
        return f"SELECT system, count(DISTINCT request) AS num_unjudged FROM {RUNS} WHERE NOT {_JUDGED} GROUP BY system"

    def matched(self, judgments: str = JUDGMENTS) -> str:
        """Select the systems that retrieve any judged item, at any depth."""
        return (
            f"SELECT DISTINCT r.system FROM {RUNS} AS r "
            f"JOIN {judgments} AS j ON r.request = j.request AND r.item = j.item"
        )

    @property
    def columns_of_positions(self) -> tuple[str, ...]:
        """The columns that say where an item is."""
        if self.unit_keys:
            return ("position", "line")
        return ("position", "block_start", "block_size") if self.conventions.ties == "expected" else ("position",)

    def positions(self) -> str:
        """Select where each judged item is: system, request, place, grade, and the columns of positions.

        A block of ties begins below `block_start` items and has `block_size` of them. If places are counted in units,
        several items may be at one; `line` is their order.
        """
        if self.unit_keys:
            return f"SELECT system, request, place, grade, position, line FROM {PLACED} WHERE {self._wanted}"
        # windows with the same order and partition share a sort; the count takes rows of equal scores together
        ties = (
            f", rank() OVER ({_BY_SCORE}) - 1 AS block_start"
            f", count(*) OVER ({_BY_SCORE}) - rank() OVER ({_BY_SCORE}) + 1 AS block_size"
            if self.conventions.ties == "expected"
            else ""
        )
        order = _ORDERS[self.conventions.ties]
        return (
            "SELECT * FROM (SELECT system, request, place, grade, "
            f"row_number() OVER (PARTITION BY system, request ORDER BY {order}) AS position{ties} "
            f"FROM ({self._labelled()}) AS labelled) AS placed WHERE {self._wanted}"
        )

    def placed(self) -> str:
        """Select the rows of judged requests with their places in units: what PLACED holds."""
        return (
            "SELECT system, request, place, grade, times, line, "
            "CAST(sum(opens) OVER (PARTITION BY system, request ORDER BY line) AS BIGINT) AS position "
            f"FROM ({self._opened()}) AS opened"
        )

    def _opened(self) -> str:
        """Select the rows of judged requests, numbered by `line`; `opens` is 1 if a row takes a place, otherwise 0.

        A row with several units is there once for each of them until it is put together again.
        """
        found = " AND ".join(f"u.{key} = r.{key}" for key in self.unit_keys)
        is_first = "row_number() OVER (PARTITION BY r.system, r.request, u.unit ORDER BY r.line) = 1"
        return (
            "SELECT system, request, line, place, grade, times, max(is_first) AS opens FROM ("
            "SELECT r.system, r.request, r.line, r.place, r.grade, r.times, "
            f"CASE WHEN u.unit IS NULL OR {is_first} THEN 1 ELSE 0 END AS is_first FROM ("
            "SELECT system, request, item, place, grade, times, "
            f"row_number() OVER (PARTITION BY system, request ORDER BY {_ORDERS[self.conventions.ties]}) AS line "
            f"FROM ({self._labelled()}) AS labelled) AS r LEFT JOIN {UNITS} AS u ON {found}) AS expanded "
            "GROUP BY system, request, line, place, grade, times"
        )

    @property
    def _wanted(self) -> str:
        wants_all = self.keeps_others or self.conventions.judged_only
        wanted = "grade IS NOT NULL" if wants_all else "grade > 0"
        if self.conventions.depth is None:
            return wanted
        within = "block_start < " if self.conventions.ties == "expected" else "position <= "
        return f"{wanted} AND {within}{self.conventions.depth}"

    def _labelled(self) -> str:
        """Select the rows of judged requests, with the grade of those that are judged."""
        return (
            "SELECT r.system, r.request, r.item, r.score, r.times, j.place, j.grade, "
            "greatest(coalesce(j.grade, 0), 0) AS gain "
            f"FROM (SELECT system, request, item, score, times FROM ({self._unique()}) AS rows WHERE {_JUDGED}) AS r "
            f"LEFT JOIN {JUDGMENTS} AS j ON r.request = j.request AND r.item = j.item"
        )

    def _unique(self) -> str:
        """Select the rows with how often each item occurs: once, unless the best score is to be kept."""
        if self.conventions.duplicates == "best":
            return (
                "SELECT system, request, item, max(score) AS score, count(*) AS times "
                f"FROM {RUNS} GROUP BY system, request, item"
            )
        return f"SELECT system, request, item, score, 1 AS times FROM {RUNS}"

    def sort_keys(self, level: float = 1) -> str:
        """Select system, request, sort_key: bytes; the smaller key is the better ranking by LexiRecall.

        They are those of `lexirecall.exact.sort_key`: positions from last to first, four bytes each, ff ff ff ff for
        items that were not retrieved. Every system has one for each request with a relevant item, answered or not.
        """
        for option, value in (("ties", "expected"), ("imputation", "optimistic")):
            if getattr(self.conventions, option) == value:
                raise UsageError(f"{option}={value!r} does not give a single position, which a sort key needs")
        level = float(level)
        text = self.dialect.joined.format(text="lpad(lower(hex(position)), 8, '0')", order="position")
        return (
            f"WITH relevant AS (SELECT request, count(*) AS m FROM {JUDGMENTS} WHERE grade >= {level!r} "
            "GROUP BY request), "
            f"systems AS (SELECT DISTINCT system FROM {RUNS}), "
            f"found AS (SELECT system, request, count(*) AS r, {text} AS digits FROM ({self._counted()}) AS placed "
            f"WHERE grade >= {level!r} GROUP BY system, request) "
            "SELECT s.system, q.request, "
            "unhex(concat(repeat('ffffffff', CAST(q.m - coalesce(f.r, 0) AS INT)), coalesce(f.digits, ''))) "
            "AS sort_key "
            "FROM systems AS s CROSS JOIN relevant AS q "
            "LEFT JOIN found AS f ON f.system = s.system AND f.request = q.request"
        )

    def _counted(self) -> str:
        """Select the positions; counted anew among the judged items, if only these are to count."""
        if not self.conventions.judged_only:
            return self.positions()
        return (
            "SELECT system, request, grade, row_number() OVER (PARTITION BY system, request ORDER BY position) "
            f"AS position FROM ({self.positions()}) AS judged WHERE grade >= 0"
        )


_BY_SCORE = "PARTITION BY system, request ORDER BY score DESC"
_JUDGED = f"request IN (SELECT request FROM {JUDGMENTS})"
