"""The charts: every mark is where its number belongs, by the axis that is drawn, and every name is shown as text."""

import re
import sys
from collections.abc import Callable, Iterator
from itertools import combinations
from math import cos, exp, log, radians, sin
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
import pytest

from drawn import SVG, numbers, read_back, texts
from lexirecall import compare, evaluate, explain, project, report, simulate_collection
from lexirecall.installing import how_to_install
from lexirecall.page import Report
from lexirecall.page.charts import (
    CHARTS,
    agreement_and_ties,
    depths_needed,
    difference_intervals,
    leaderboard,
    page_charts,
    pair_matrix,
    query_differences,
    query_strips,
    recall_by_share,
    recall_curves,
    sorted_values,
)
from lexirecall.page.charts.chart import Chart
from lexirecall.page.charts.measures import depth_rows
from lexirecall.page.charts.queries import query_difference_rows, strip_rows
from lexirecall.page.charts.runs import difference_rows, matrix_rows
from lexirecall.page.recall import depths_to, mean_recall
from lexirecall.svg import COLORS, DASHES, text_width
from lexirecall.text import visible
from lexirecall.verbs.comparison import Comparison
from report_fixture import INHERITED, hostile_report, inherited_report

SIMULATED = simulate_collection(7, num_queries=12)
POSITIONS = project(SIMULATED.qrels, SIMULATED.runs)
COMPARISON = compare(POSITIONS, measures=["AP", "RR"])
BEST_FIRST = [COMPARISON.runs[s] for s in COMPARISON.order.best_first]
ONE_COUNTS = {"q": {"a": 1}, "r": {"a": 0}}
ONE_COUNTED: dict[str, dict[str, list[str]]] = {"x": {"q": ["a"]}, "y": {"r": ["a"]}}
"""Of these runs, one answers no query that has a relevant document."""
CLOSE = 0.02
"""Pixels: coordinates are written with two decimals."""


@pytest.fixture(scope="module")
def simulated() -> Report:
    return report(POSITIONS, output=None)


def groups(root: Element) -> dict[int, Element]:
    """Return the marks of each run."""
    return {int(each.attrib["data-run"]): each for each in root.iter(f"{SVG}g") if "data-run" in each.attrib}


def value_of(label: str) -> float | None:
    """Return the number at a tick, None if the text is not a number."""
    plain = label.replace("\N{MINUS SIGN}", "-").replace(",", "")
    is_share = plain.endswith(" %")
    return float(plain.removesuffix(" %")) / (100 if is_share else 1) if re.fullmatch(r"-?[\d.]+( %)?", plain) else None


def axis(root: Element, anchor: str = "middle", *, is_log: bool = False) -> Callable[[float], float]:
    """Return the way from numbers to pixels that the labels of an axis tell a reader, and check that all agree."""
    ticks = []
    for each in root.iter(f"{SVG}text"):
        value = value_of(each.text or "")
        if value is not None and each.attrib.get("text-anchor") == anchor and "transform" not in each.attrib:
            ticks.append((log(value) if is_log else value, numbers(each, "x" if anchor == "middle" else "y")[0]))
    (low, start), (high, end) = ticks[0], ticks[-1]

    def place(value: float) -> float:
        return start + ((log(value) if is_log else value) - low) / (high - low) * (end - start)

    assert len(ticks) > 2
    for value, at in ticks:
        assert place(exp(value) if is_log else value) == pytest.approx(at, abs=CLOSE)
    return place


def sides(root: Element) -> list[Element]:
    """Return the rectangles in the colours of the two sides, except those of the legend."""
    return [
        each for each in root.iter(f"{SVG}rect") if each.attrib["fill"] in COLORS[:2] and each.attrib["width"] != "14"
    ]


# Runs


def test_bars_of_the_leaderboard_are_as_long_as_the_means() -> None:
    root = read_back(leaderboard(COMPARISON))
    panels = [each for each in root if "transform" in each.attrib]
    assert len(panels) == 2
    for c, panel in enumerate(panels):
        place, means = axis(panel), dict(zip(COMPARISON.runs, COMPARISON.averages.means[:, c].tolist(), strict=True))
        marks = groups(panel)
        assert [*marks] == [0, 1, 2, 3]
        for i, name in enumerate(BEST_FIRST):
            (bar,) = marks[i].iter(f"{SVG}rect")
            left, width = numbers(bar, "x", "width")
            assert [left, left + width] == pytest.approx([place(0), place(means[name])], abs=CLOSE)
            assert texts(marks[i]) == [f"{means[name]:.4f}"]
    names = [text for text in texts(panels[0]) if text.endswith(".run")]
    assert names == BEST_FIRST


def test_a_run_without_a_mean_has_a_name_and_no_bar() -> None:
    scores = evaluate(ONE_COUNTS, ONE_COUNTED, "RR", queries="intersection")
    root = read_back(leaderboard(scores))
    assert [*groups(root)] == [0]
    assert {"x", "y"} <= {*texts(root)}


@pytest.mark.parametrize("baselines", [[], ["shallow.run"], ["shallow.run", "deep.run"]])
def test_intervals_are_drawn_from_low_to_high(baselines: list[str]) -> None:
    comparison = compare(POSITIONS, measures=["AP", "RR"], baseline=baselines)
    reference = comparison.runs.index(baselines[0]) if baselines else comparison.order.best_first[0]
    rows = {row["run"]: row for row in difference_rows(comparison, comparison.measures[0], reference)}
    root = read_back(difference_intervals(comparison, "AP"))
    place, marks = axis(root), groups(root)
    drawn = {[comparison.runs[s] for s in comparison.order.best_first][i]: mark for i, mark in marks.items()}
    assert drawn.keys() == rows.keys()
    for name, mark in drawn.items():
        row, (circle,), (rule,) = rows[name], mark.iter(f"{SVG}circle"), mark.iter(f"{SVG}line")
        assert numbers(circle, "cx") == pytest.approx([place(row["difference"])], abs=CLOSE)
        assert numbers(rule, "x1", "x2") == pytest.approx([place(row["low"]), place(row["high"])], abs=CLOSE)
        assert circle.attrib["fill"] == (COLORS[0] if row["significant"] else "#FFFFFF")
    assert {row["significant"] for row in rows.values()} == {True, False}
    (zero,) = (each for each in root if "stroke-dasharray" in each.attrib)
    assert numbers(zero, "x1") == pytest.approx([place(0)], abs=CLOSE)


def many(count: int) -> Comparison:
    """Compare many runs, each a little worse than the one before; the last are far behind."""
    rng = np.random.default_rng(1)
    documents = [f"d{i}" for i in range(40)]
    qrels = {f"q{q}": dict.fromkeys(documents[:5], 1) for q in range(12)}
    runs = {
        f"run{s:03}": {q: sorted(documents, key=lambda d: int(d[1:]) + rng.normal(0, 1 + s / 4)) for q in qrels}
        for s in range(count)
    }
    return compare(qrels, runs, ["AP"])


@pytest.mark.parametrize(("count", "step", "is_labelled"), [(4, 48, True), (17, 12, False), (126, 5, False)])
def test_cells_of_the_matrix_are_the_differences(count: int, step: float, is_labelled: bool) -> None:
    comparison = COMPARISON if count == 4 else many(count)
    names = [comparison.runs[s] for s in comparison.order.best_first]
    rows = matrix_rows(comparison, comparison.measures[0])
    root = read_back(pair_matrix(comparison))
    cells = sides(root)
    assert len(cells) == len(rows) == count * (count - 1)
    most = max(abs(row["difference"]) for row in rows)
    (left,), (top,) = ({min(numbers(each, at)[0] for each in cells)} for at in ("x", "y"))
    for cell, row in zip(cells, rows, strict=True):
        assert cell.attrib["fill"] == COLORS[0 if row["difference"] > 0 else 1]
        assert numbers(cell, "fill-opacity") == pytest.approx([abs(row["difference"]) / most], abs=0.006)
        i, j = names.index(row["row"]), names.index(row["column"])
        height = 22 if is_labelled else step
        assert numbers(cell, "x", "y") == pytest.approx([left + step * j, top + height * i], abs=CLOSE)
    stars = sum(row["star"] == "*" for row in rows)
    assert 0 < stars < len(rows)
    written = texts(root)
    assert [row["label"] for row in rows if is_labelled] == [
        text for text in written if re.match(r"[+-]\d.*\d\*?$", text)
    ][: -2 or None]
    assert len([*root.iter(f"{SVG}circle")]) == (stars if step < 12 else 0)
    assert written.count("*") == (stars if step == 12 else 0)
    assert ("• significant" if step < 12 else "* significant") in written


def test_no_difference_has_no_sign() -> None:
    same = {"q": ["a"], "r": ["b", "a"]}
    comparison = compare({"q": {"a": 1}, "r": {"a": 1}}, {"x": same, "y": same}, ["RR"])
    root = read_back(pair_matrix(comparison))
    assert [text for text in texts(root) if "0.000" in text] == ["0.000", "0.000"]


def test_names_beside_a_large_matrix_are_thinned_and_do_not_overlap() -> None:
    root = read_back(pair_matrix(many(126)))
    beside = [each for each in root.iter(f"{SVG}text") if each.attrib.get("text-anchor") == "end"]
    heights = [numbers(each, "y")[0] for each in beside]
    assert 30 < len(beside) < 126
    assert min(np.diff(heights)) >= 10
    assert len([each for each in root.iter(f"{SVG}text") if "rotate(-90" in each.attrib.get("transform", "")]) == len(
        beside
    )


# Queries


@pytest.mark.parametrize("measure", ["AP", "LexiRecall"])
def test_differences_are_as_high_as_the_rows(measure: str) -> None:
    rows = query_difference_rows(POSITIONS, "deep.run", "precise.run", measure)
    root = read_back(query_differences(POSITIONS, "deep.run", "precise.run", measure))
    place, bars = axis(root, "end"), sides(root)
    assert len(bars) == len(rows) == 12
    assert [numbers(bar, "x")[0] for bar in bars] == sorted(numbers(bar, "x")[0] for bar in bars)
    for bar, row in zip(bars, rows, strict=True):
        top, height = numbers(bar, "y", "height")
        assert [top, top + height] == pytest.approx(sorted([place(0), place(row["difference"])]), abs=CLOSE)
        assert bar.attrib["fill"] == COLORS[0 if row["difference"] > 0 else 1]
    turned = [each.text for each in root.iter(f"{SVG}text") if "transform" in each.attrib]
    assert turned == [row["query"] for row in rows]
    assert texts(root)[0] == f"{measure}: deep.run less precise.run"


def test_of_many_queries_their_number_is_written() -> None:
    simulated = simulate_collection(3, num_queries=70)
    root = read_back(query_differences(project(simulated.qrels, simulated.runs), "deep.run", "random.run"))
    assert len(sides(root)) == 70
    assert "70 queries" in texts(root)


def test_two_runs_without_a_common_query_have_no_bars() -> None:
    positions = project({"q": {"a": 1}, "r": {"a": 1}}, {"x": {"q": ["a"]}, "y": {"r": ["a"]}})
    policies = report(positions, output=None, queries="intersection").findings.policies
    drawing = query_differences(positions, "x", "y", policies=policies)
    assert sides(read_back(drawing)) == []
    assert drawing.label == "AP: x less y, on 0 queries. Above 0 on 0, below on 0"


@pytest.mark.parametrize("measure", ["AP", "LastRel"])
def test_sorted_values_climb_from_the_worst_to_the_best(measure: str) -> None:
    scores = evaluate(SIMULATED.qrels, SIMULATED.runs, [measure], corpus_size=10_000)
    root = read_back(sorted_values(scores, "deep.run", "precise.run", measure))
    up, along = axis(root, "end"), axis(root, "middle")
    drawn = [each.attrib["points"].split() for each in root.iter(f"{SVG}polyline")]
    lines = [[[float(number) for number in place.split(",")] for place in own] for own in drawn if len(own) == 24]
    for line, name in zip(lines, ("deep.run", "precise.run"), strict=True):
        worst_first = sorted(scores.values[scores.runs.index(name), :, 0].tolist(), reverse=measure == "LastRel")
        for i, value in enumerate(worst_first):
            (left, top), (right, same) = line[2 * i : 2 * i + 2]
            assert [left, right] == pytest.approx([along(i / 12), along((i + 1) / 12)], abs=CLOSE)
            assert [top, same] == pytest.approx([up(value)] * 2, abs=CLOSE)
    assert "worst 10 %" in texts(root)


def test_preferences_alone_have_no_tail_to_draw() -> None:
    assert "tail" not in report(POSITIONS, measures="LexiRecall", output=None).charts()


def test_strips_show_every_position_and_point_at_what_decides() -> None:
    names = ("deep.run", "shallow.run")
    query = explain(POSITIONS, pair=names).queries[0].id
    lists, documents = strip_rows(POSITIONS, query, names)
    root = read_back(query_strips(POSITIONS, query, names))
    place, marks = axis(root, is_log=True), groups(root)
    for i, row in enumerate(lists):
        own = [document for document in documents if document["run"] == row["run"]]
        ticks = [*marks[i].iter(f"{SVG}rect")]
        assert [sum(numbers(tick, "x")) + 0.75 for tick in ticks] == pytest.approx(
            [place(document["position"]) for document in own], abs=CLOSE
        )
        assert [tick.attrib["fill"] for tick in ticks] == [COLORS[int(document["decides"])] for document in own]
        assert len([*marks[i].iter(f"{SVG}polygon")]) == sum(document["decides"] for document in own)
        (list_,) = marks[i].iter(f"{SVG}line")
        assert numbers(list_, "x1", "x2") == pytest.approx([place(1), place(row["retrieved"])], abs=CLOSE)
        assert texts(marks[i]) == [row["missing"]]
    assert any(document["decides"] for document in documents)


def test_a_run_that_returned_nothing_has_no_list() -> None:
    positions = project({"q": {"a": 1}}, {"x": {"q": ["a"]}, "y": {"q": []}})
    marks = groups(read_back(query_strips(positions, "q")))
    assert ([*marks[1].iter(f"{SVG}line")], texts(marks[1])) == ([], ["1 missing"])


# Recall and measures


def points_of(line: Element) -> list[tuple[float, float]]:
    pairs = (pair.split(",") for pair in line.attrib["points"].split())
    return [(float(x), float(y)) for x, y in pairs]


def test_curves_are_the_mean_recall_and_only_ten_are_in_colour() -> None:
    simulated = simulate_collection(3, num_queries=8)
    runs = {f"{name}{i}": run for i in range(3) for name, run in simulated.runs.items()}
    positions = project(simulated.qrels, runs)
    depths = depths_to(int(positions.num_retrieved.max()))
    means = mean_recall(positions.at_level(1), depths, np.ones(positions.shape, bool))
    root = read_back(recall_curves(positions))
    across, up = axis(root, is_log=True), axis(root, "end")
    lines = [each for each in root.iter(f"{SVG}polyline") if len(points_of(each)) == len(depths)]
    assert lines.pop(0).findtext(f"{SVG}title") == "ideal"
    owners = {id(line): i for i, group in _curves(root) for line in group.iter(f"{SVG}polyline")}
    assert sorted(owners[id(line)] for line in lines) == [*range(12)]
    for line in lines:
        expected = [(across(d), up(m)) for d, m in zip(depths, means[owners[id(line)]].tolist(), strict=True)]
        assert np.array(points_of(line)) == pytest.approx(np.array(expected), abs=CLOSE)
    looks = [(line.attrib["stroke"], line.attrib.get("stroke-dasharray")) for line in lines]
    assert looks[:2] == [("#666666", None)] * 2  # below the others
    assert [color for color, _ in looks[2:]] == [*COLORS]
    assert [dash for _, dash in looks[2:]] == [None, *(" ".join(map(str, dash)) for dash in DASHES[1:])]
    assert texts(root)[-12:] == [*[*runs][:10], "2 more", "ideal"]
    tips = [each.text for each in root.iter(f"{SVG}title")]
    assert f"deep.run0: {100 * means[positions.runs.index('deep.run0'), -1]:.1f} % within {depths[-1]:,}" in tips


def test_the_ideal_curve_and_that_of_a_random_order_are_drawn_where_they_are_known() -> None:
    """One query has 1 relevant document of 10, the other 4 of 40."""
    qrels = {"q": {"a": 1}, "r": dict.fromkeys("abcd", 1)}
    runs = {"x": {"q": [*"xa"], "r": [*"abcd"]}}
    positions = project(qrels, runs, corpus_size={"q": 10, "r": 40})
    root, depths = read_back(recall_curves(positions)), (1, 2, 5)
    across, up = axis(root, is_log=True), axis(root, "end")
    ideal, random = _references(root)
    expected = zip(depths, ((1 + 1 / 4) / 2, (1 + 2 / 4) / 2, 1), strict=True)
    assert np.array(ideal) == pytest.approx(np.array([(across(k), up(y)) for k, y in expected]), abs=CLOSE)
    assert np.array(random) == pytest.approx(
        np.array([(across(k), up((k / 10 + k / 40) / 2)) for k in depths]), abs=CLOSE
    )
    assert len(_references(read_back(recall_curves(project(qrels, runs))))) == 1


def test_by_share_of_the_corpus_each_query_has_its_own_depth() -> None:
    """5 % are none of 10 documents and 2 of 40: the ideal ranking has 0 of 1 and 2 of 4 there."""
    qrels = {"q": {"a": 1}, "r": dict.fromkeys("abcd", 1)}
    runs = {"x": {"q": [*"xa"], "r": [*"axbcd"]}}
    drawing = recall_by_share(project(qrels, runs, corpus_size={"q": 10, "r": 40}))
    assert drawing is not None
    root = read_back(drawing)
    across, up = axis(root), axis(root, "end")
    (line,) = (line for _, group in _curves(root) for line in group.iter(f"{SVG}polyline"))
    curve, (ideal, random) = dict(points_of(line)), map(dict, _references(root))

    def heights(share: float) -> list[float]:
        x = min(curve, key=lambda each: abs(each - across(share)))
        return [curve[x], ideal[x], random[x]]

    assert heights(0.05) == pytest.approx([up((0 + 1 / 4) / 2), up((0 + 2 / 4) / 2), up((0 + 2 / 40) / 2)], abs=CLOSE)
    assert heights(0.2) == pytest.approx([up(1), up(1), up((2 / 10 + 8 / 40) / 2)], abs=CLOSE)
    assert heights(1) == pytest.approx([up(1)] * 3, abs=CLOSE)
    assert recall_by_share(project(qrels, runs)) is None


def _references(root: Element) -> list[list[tuple[float, float]]]:
    """Return the lines that belong to no run: the ideal one and, where it is known, that of a random order."""
    called = ("ideal", "random order")
    return [points_of(line) for line in root.findall(f"{SVG}polyline") if line.findtext(f"{SVG}title") in called]


def _curves(root: Element) -> Iterator[tuple[int, Element]]:
    """Give the marks of each run outside the legend, which has its own marks in a shifted group."""
    yield from ((int(each.attrib["data-run"]), each) for each in root if "data-run" in each.attrib)


def test_depths_are_where_the_rows_say() -> None:
    rows = depth_rows(POSITIONS, BEST_FIRST)
    root = read_back(depths_needed(POSITIONS, BEST_FIRST))
    place = axis(root, is_log=True)
    assert rows
    for i, group in _curves(root):
        own = [row for row in rows if row["run"] == BEST_FIRST[i]]
        middles = [_middle(mark) for mark in group]
        assert [x for x, _ in middles] == pytest.approx([place(row["depth"]) for row in own], abs=0.1)
        assert len({y for _, y in middles}) == len(own)  # one does not hide another
    assert [text for text in texts(root) if "%" in text] == ["75 %", "95 %", "100 %"]


def _middle(mark: Element) -> tuple[float, float]:
    if mark.tag == f"{SVG}circle":
        x, y = numbers(mark, "cx", "cy")
        return x, y
    xs, ys = zip(*points_of(mark), strict=True)
    return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2


def test_shares_are_those_of_the_study(simulated: Report) -> None:
    root = read_back(agreement_and_ties(POSITIONS, simulated.findings.scores.measures))
    panels = [each for each in root if "transform" in each.attrib]
    for panel, column in zip(panels, ("agreement", "tied"), strict=True):
        shares = [row[column] for row in simulated.payload["study"] if row[column] is not None]
        place = axis(panel)
        bars = [*panel.iter(f"{SVG}rect")]
        ends = [sum(numbers(bar, "x", "width")) for bar in bars]
        assert ends == pytest.approx([place(share) for share in shares], abs=CLOSE)
        assert texts(panel)[-len(shares) :] == [f"{100 * share:.1f} %" for share in shares]
        chance = [numbers(each, "x1")[0] for each in panel.iter(f"{SVG}line") if "stroke-dasharray" in each.attrib]
        assert chance == ([pytest.approx(place(0.5), abs=CLOSE)] if column == "agreement" else [])


# The page


def test_the_page_gets_its_charts_in_its_own_colours(simulated: Report) -> None:
    charts = page_charts(simulated.findings, simulated.payload)
    assert [*charts] == ["recall", "agreement", "ties"]
    for content in (chart["svg"] for chart in charts.values()):
        assert content.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
        assert 'role="img" aria-label="' in content
        assert "#" not in content
        assert "<script" not in content
        assert "href" not in content
    root = read_back(charts["recall"]["svg"])
    names = [f"{a} {b}" for a, b in zip(simulated.payload["labels"], simulated.payload["runs"], strict=True)]
    assert texts(root)[-5:] == [*names, "ideal"]
    assert {i for i, _ in _curves(root)} == {0, 1, 2, 3}
    up = axis(root, "end")
    for i, group in _curves(root):
        (line,) = group.iter(f"{SVG}polyline")
        heights = [y for _, y in points_of(line)]
        assert heights == pytest.approx([up(mean) for mean in simulated.payload["recall"]["mean"][i]], abs=CLOSE)


def test_a_chart_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Chart("twice", lambda findings: leaderboard(findings.scores), section="recall", title="The means again")
    monkeypatch.setattr("lexirecall.page.charts.CHARTS", (*CHARTS, row))
    made = report(POSITIONS, output=None)
    assert made.charts()["twice"].to_svg() == leaderboard(made.findings.scores).to_svg()
    assert made.payload["charts"]["twice"] == {
        "svg": leaderboard(made.findings.scores).to_svg("page"),
        "section": "recall",
        "title": "The means again",
    }


def test_a_page_about_one_run_or_one_measure_has_no_chart_of_what_there_is_not() -> None:
    alone = report(SIMULATED.qrels, SIMULATED.runs["deep.run"], output=None)
    assert [*page_charts(alone.findings, alone.payload)] == ["recall"]
    only = report(POSITIONS, measures="LexiRecall", output=None)
    assert [*page_charts(only.findings, only.payload)] == ["recall", "ties"]


def test_a_run_that_is_compared_nowhere_has_no_curve() -> None:
    made = report(ONE_COUNTS, ONE_COUNTED, ["RR"], output=None, queries="intersection")
    root = read_back(page_charts(made.findings, made.payload)["recall"]["svg"])
    assert [made.payload["runs"][i] for i, _ in _curves(root)] == ["x"]


# Names


def drawn_of(made: Report) -> dict[str, Element]:
    return {name: read_back(drawing) for name, drawing in made.charts().items()}


@pytest.mark.parametrize("made", [inherited_report, hostile_report], ids=["inherited", "hostile"])
def test_hostile_names_are_drawn_as_text(made: Callable[[], Report]) -> None:
    page = made()
    names = [visible(page.findings.positions.runs[s]) for s in page.findings.places]
    for chart, root in drawn_of(page).items():
        tags = {each.tag.removeprefix(SVG) for each in root.iter()}
        assert tags <= {"svg", "title", "g", "rect", "line", "text", "circle", "polygon", "polyline"}, chart
    for chart in ("leaderboard", "pairs", "recall", "depth"):
        root = drawn_of(page)[chart]
        said = [text.removesuffix("…") for text in texts(root) if text]
        missing = [name for name in names if not any(name == text or name.startswith(text) for text in said)]
        assert missing == (names[10:] if chart == "recall" else []), chart
    for shown in page_charts(page.findings, page.payload).values():
        read_back(shown["svg"])


def test_names_that_objects_of_javascript_inherit_are_written_as_they_are() -> None:
    for chart in ("leaderboard", "pairs", "query", "recall", "depth"):
        assert {*INHERITED} <= {*texts(drawn_of(inherited_report())[chart])}


def test_runs_that_look_alike_are_not_taken_for_one() -> None:
    runs = {"a\x1b": {"q": ["x"], "r": ["x"]}, "a\\x1b": {"q": ["y", "x"], "r": ["y", "y2", "x"]}}
    made = report({"q": {"x": 1}, "r": {"x": 1}}, runs, ["RR"], output=None)
    drawn = drawn_of(made)
    assert [*groups(drawn["leaderboard"])] == [0, 1]
    assert len({tuple(numbers(cell, "x", "y")) for cell in sides(drawn["pairs"])}) == 2
    assert len(groups(drawn["query"])) == 2


# Room


def shapes_of(root: Element, x: float = 0, y: float = 0) -> Iterator[tuple[Element, float, float]]:
    """Give every element, and by how much its groups move it."""
    for each in root:
        move = re.fullmatch(r"translate\((\S+) (\S+)\)", each.attrib.get("transform", ""))
        at = (x + float(move[1]), y + float(move[2])) if move else (x, y)
        yield each, *at
        yield from shapes_of(each, *at)


def box(text: Element, x: float, y: float) -> tuple[float, float, float, float]:
    """Return the ends of a text: left, right, top and bottom."""
    size = float(text.attrib.get("font-size", 11))
    width, height = text_width(text.text or "", size), 0.72 * size
    start = {"end": -width, "middle": -width / 2}.get(text.attrib.get("text-anchor", ""), 0)
    turn = re.match(r"rotate\((\S+) ", text.attrib.get("transform", ""))
    angle = radians(float(turn[1])) if turn else 0.0
    corners = [
        (along * cos(angle) - across * sin(angle), along * sin(angle) + across * cos(angle))
        for along in (start, start + width)
        for across in (-height / 2, height / 2)
    ]
    at_x, at_y = numbers(text, "x", "y")
    xs, ys = zip(*corners, strict=True)
    return x + at_x + min(xs), x + at_x + max(xs), y + at_y + min(ys), y + at_y + max(ys)


@pytest.mark.parametrize("which", ["simulated", "inherited", "hostile", "single"])
def test_nothing_is_outside_of_its_drawing_and_no_texts_overlap(which: str, simulated: Report) -> None:
    reports: dict[str, Callable[[], Report]] = {
        "simulated": lambda: simulated,
        "inherited": inherited_report,
        "hostile": hostile_report,
        "single": lambda: report(SIMULATED.qrels, SIMULATED.runs["deep.run"], output=None),
    }
    made = reports[which]()
    for name, root in drawn_of(made).items():
        width, height = numbers(root, "width", "height")
        boxes = [
            (each.text, each, *box(each, x, y))
            for each, x, y in shapes_of(root)
            if each.tag == f"{SVG}text" and each.text
        ]
        for text, _, left, right, top, bottom in boxes:
            assert (left >= -0.5, right <= width + 0.5, top >= -0.5, bottom <= height + 0.5) == (True,) * 4, (
                name,
                text,
            )
        level = [(text, ends) for text, each, *ends in boxes if "transform" not in each.attrib]
        for (a, one), (b, other) in combinations(level, 2):
            is_beside = one[1] <= other[0] or other[1] <= one[0]
            assert is_beside or one[3] <= other[2] or other[3] <= one[2], (name, a, b)


# Files


def test_charts_become_files_of_every_format(simulated: Report, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    simulated.write_plots(tmp_path)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(written) == 9 * 3
    starts = {"svg": b"<svg", "pdf": b"%PDF", "png": b"\x89PNG"}
    assert all(content.startswith(starts[name.split(".")[1]]) for name, content in written.items())


def test_without_vl_convert_charts_are_written_as_svg_and_a_warning_says_so(
    simulated: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.warns(UserWarning, match=re.escape(f"only as SVG; for PDF and PNG: {how_to_install('plots')}")):
        report(POSITIONS, output=None, plots=tmp_path / "figures")
    names = {f"{name}.svg" for name in simulated.charts()}
    assert {path.name for path in (tmp_path / "figures").iterdir()} == names


def test_drawings_need_no_altair() -> None:
    """The room of the page imports no library for charts."""
    source = Path(sys.modules["lexirecall.page"].__file__ or "").parent
    imports: list[Any] = [
        path for path in source.rglob("*.py") if re.search(r"import altair|altair\(\)", path.read_text())
    ]
    assert imports == []
