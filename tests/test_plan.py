"""The plan says the same in every dialect, and refuses what a table cannot have."""

import pytest

from lexirecall.errors import UsageError
from lexirecall.formats.casts import DUCKDB, SPARK, Column, Dialect, literal
from lexirecall.formats.columns import Columns
from lexirecall.formats.plan import JUDGMENTS, PLACED, PROBLEMS, RUNS, UNITS, Plan
from lexirecall.manifest import Conventions
from table import WITHOUT_INPUT_ORDER

COLUMNS = Columns(request="user", item='the "item"', score="the `score`", system="run")
KINDS = {"user": "text", 'the "item"': "integer", "the `score`": "float64", "run": "text"}
every_dialect = pytest.mark.parametrize("dialect", [DUCKDB, SPARK], ids=["duckdb", "spark"])


@pytest.mark.parametrize("rule", [{"ties": "input"}, {"duplicates": "first"}], ids=str)
def test_rules_that_go_by_the_order_of_rows_are_refused(rule: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="goes by the order of rows, but a table has no order"):
        Plan(Conventions(**rule), DUCKDB)  # type: ignore[arg-type]


@pytest.mark.parametrize("rule", [{"ties": "expected"}, {"imputation": "optimistic"}], ids=str)
def test_there_is_no_sort_key_where_there_is_no_single_position(rule: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="does not give a single position, which a sort key needs"):
        Plan(Conventions(**rule), DUCKDB).sort_keys()  # type: ignore[arg-type]


def test_names_are_quoted_in_the_way_of_each_dialect() -> None:
    rows = Plan(Conventions(), DUCKDB).rows("runs", COLUMNS, KINDS)
    assert 'CAST("the ""item""" AS STRING) AS item' in rows
    assert '"the `score`"' in rows
    rows = Plan(Conventions(), SPARK).rows("runs", COLUMNS, KINDS)
    assert 'CAST(`the "item"` AS STRING) AS item' in rows
    assert "`the ``score```" in rows


@every_dialect
def test_a_system_that_is_named_by_its_file_is_a_text(dialect: Dialect) -> None:
    rows = Plan(Conventions(), dialect).rows("runs", COLUMNS, KINDS, "O'Neil's run")
    assert "'O''Neil''s run' AS system, " in rows
    assert "AS STRING) AS system," not in rows


def test_only_columns_of_floats_are_looked_at_for_fractions() -> None:
    rows = Plan(Conventions(), DUCKDB).rows("runs", COLUMNS, {**KINDS, "user": "float32"})
    assert f"{Column(DUCKDB.name('user'), 'float32').id(DUCKDB)} AS request" in rows
    assert f"CAST({DUCKDB.name(COLUMNS.item)} AS STRING) AS item" in rows
    assert " % 1 = 0" in Column("user", "float32").id(SPARK)
    assert " % 1 = 0" not in Column("user", "integer").id(SPARK)


def test_a_rank_is_a_score_upside_down() -> None:
    rows = Plan(Conventions(), DUCKDB).rows(
        "runs", Columns(request="q", item="d", rank="rank"), {"q": "text", "d": "text", "rank": "integer"}, "x"
    )
    assert '-(CAST("rank" AS DOUBLE))' in rows


@every_dialect
def test_both_dialects_ask_the_same_but_for_joined_texts_and_hashes(dialect: Dialect) -> None:
    """What differs is declared in the dialect, so that one engine tests the queries of the other."""
    plan, other = Plan(Conventions(), dialect), Plan(Conventions(), DUCKDB)
    for query in ("problems", "duplicates", "lengths", "unjudged", "positions"):
        assert getattr(plan, query)() == getattr(other, query)()
    joined = dialect.joined.format(text="lpad(lower(hex(position)), 8, '0')", order="position")
    theirs = DUCKDB.joined.format(text="lpad(lower(hex(position)), 8, '0')", order="position")
    assert plan.sort_keys(2).replace(joined, theirs) == other.sort_keys(2)


@every_dialect
@pytest.mark.parametrize("ties", WITHOUT_INPUT_ORDER)
def test_queries_read_nothing_but_the_two_views(dialect: Dialect, ties: str) -> None:
    plan = Plan(Conventions(ties=ties), dialect)
    queries = [plan.problems(), plan.duplicates(), plan.repeated(), plan.lengths(), plan.unjudged(), plan.positions()]
    queries += [plan.example(problem) for problem in PROBLEMS]
    for query in queries:
        sources = [after.split()[0].strip("()") for after in query.split("FROM ")[1:] if not after.startswith("(")]
        assert set(sources) <= {RUNS, JUDGMENTS}


@every_dialect
def test_places_in_units_are_counted_once_for_lengths_and_positions(dialect: Dialect) -> None:
    plan = Plan(Conventions(), dialect, unit_keys=("request", "item"))
    assert f"LEFT JOIN {UNITS} AS u ON u.request = r.request AND u.item = r.item" in plan.placed()
    assert plan.placed() == Plan(Conventions(), DUCKDB, unit_keys=plan.unit_keys).placed()
    for query in (plan.lengths(), plan.positions()):
        assert f" FROM {PLACED} " in query
        assert RUNS not in query


@pytest.mark.parametrize(
    ("depth", "ties", "condition"),
    [(None, "trec", "grade > 0"), (5, "trec", "position <= 5"), (5, "expected", "block_start < 5")],
)
def test_what_stands_below_the_depth_does_not_leave_the_engine(depth: int | None, ties: str, condition: str) -> None:
    assert Plan(Conventions(ties=ties, depth=depth), DUCKDB).positions().endswith(condition)


def test_a_text_ends_where_it_should() -> None:
    assert literal("'") == "''''"
