"""Units: what must be found, where that is not the documents themselves."""

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from command import Command
from lexirecall import compare, evaluate, explain, project, rank, report, study
from lexirecall.errors import DataError, FormatError, LexirecallError, UsageError
from lexirecall.fields import choices_of
from lexirecall.manifest import Conventions
from lexirecall.names import rows
from lexirecall.positions import Positions
from lexirecall.preferences import Preference
from strategies import LEVELS, Collection, collections, costly, quick, some

UNITS = ("U", "V", "W", "Ü-4")
DOCUMENTS = ("a", "b", "c", "d", "e", "é", "日本", "d10")
Map = dict[str, list[str]]
COUNTS, RULES = choices_of(Conventions, "count"), choices_of(Conventions, "unit_rule")


def as_text(content: dict[str, Any], folder: Path) -> tuple[Path, Path]:
    """Write judgments and a run as TREC text."""
    qrels, run = folder / "qrels.txt", folder / "system.run"
    judged, ranked = content["qrels"], content["run"]
    qrels.write_text("".join(f"{q} 0 {d} {g}\n" for q, grades in judged.items() for d, g in grades.items()))
    run.write_text("".join(f"{q} Q0 {d} 1 {s} t\n" for q, scores in ranked.items() for d, s in scores.items()))
    return qrels, run


def dicts(collection: Collection, folder: Path) -> tuple[Any, Any]:
    return collection.qrels, collection.runs["system1"]


def files(collection: Collection, folder: Path) -> tuple[Any, Any]:
    return as_text({"qrels": collection.qrels, "run": collection.runs["system1"]}, folder)


def frames(collection: Collection, folder: Path) -> tuple[Any, Any]:
    def rows_of(content: dict[str, dict[str, float]], value: str) -> pl.DataFrame:
        cells = [(q, d, x) for q, by_document in content.items() for d, x in by_document.items()]
        schema = {"query_id": pl.String, "doc_id": pl.String, value: pl.Float64}
        return pl.DataFrame(cells, schema, orient="row")

    return rows_of(collection.qrels, "relevance"), rows_of(collection.runs["system1"], "score")


FORMS = (dicts, files, frames)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Collection, dict[str, Map], dict[str, Any]]:
    """Judgments of documents or units, a run of documents, a map for each query or for all, and conventions."""
    judged_as = draw(st.sampled_from(["documents", "units"]))
    drawn = draw(collections(documents=DOCUMENTS, max_runs=1, grades=(0.0, 1.0, 2.0, 2.0, -1.0), with_size=False))
    a_map = st.dictionaries(
        st.sampled_from(DOCUMENTS), st.lists(st.sampled_from(UNITS), min_size=1, max_size=2, unique=True)
    )
    common = draw(a_map.filter(bool)) if draw(st.booleans()) else None
    maps = {q: common or draw(a_map.filter(bool)) for q in drawn.qrels}
    options: dict[str, Any] = {
        "judged": judged_as,
        "count": draw(st.sampled_from(COUNTS)),
        "unit_rule": draw(st.sampled_from(RULES)),
        "unmapped": draw(st.sampled_from(choices_of(Conventions, "unmapped"))),
        "ties": draw(st.sampled_from(["trec", "worst", "best"])),
        "depth": draw(st.none() | st.integers(1, 5)),
        "units": common if common is not None else maps,
    }
    qrels = drawn.qrels
    if judged_as == "units":
        known = {q: {unit for units in a.values() for unit in units} for q, a in maps.items()}
        grades = st.sampled_from([0.0, 1.0, 2.0])
        itself = options["unmapped"] == "itself"
        qrels = {
            q: {u: draw(grades) for u in UNITS if (u in known[q] or itself) and draw(st.booleans())} for q in qrels
        }
    return Collection(qrels, drawn.runs), maps, options


def expected(collection: Collection, maps: dict[str, Map], options: dict[str, Any], level: float) -> list[list[float]]:
    """Return p_1 … p_m for each query, by the slow twins."""
    result = []
    for q, judged in collection.qrels.items():
        units_of = maps[q]
        served = naive.serving(judged, units_of, judged_as=options["judged"], unmapped=options["unmapped"])
        best: dict[str, float] = {}
        for documents in served.values():
            for document, grade in documents.items():
                best[document] = max(grade, best.get(document, grade))
        gains = judged if options["judged"] == "documents" else best
        order = naive.ranked(list(collection.runs["system1"].get(q, {}).items()), gains, options["ties"])
        places = naive.places_of(order, units_of, options["count"])
        result.append(
            naive.unit_positions(
                order, served, places, lambda _: options["unit_rule"] == "all", level, options["depth"]
            )
        )
    return result


def vectors(positions: Positions, level: float) -> list[list[float]]:
    projection = positions.at_level(level)
    return [projection.vector(0, q).tolist() for q in range(len(positions.queries))]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@given(cases(), st.sampled_from(LEVELS))
@costly(120)
def test_positions_are_those_of_the_slow_twin(
    form: Callable[[Collection, Path], tuple[Any, Any]],
    tmp_path_factory: pytest.TempPathFactory,
    case: tuple[Collection, dict[str, Map], dict[str, Any]],
    level: float,
) -> None:
    collection, maps, options = case
    if form is not dicts:  # text and tables cannot say that a query has nothing judged
        collection = Collection({q: judged for q, judged in collection.qrels.items() if judged}, collection.runs)
        if not collection.qrels or not any(collection.runs["system1"].get(q) for q in collection.qrels):
            return
    qrels, run = form(collection, tmp_path_factory.mktemp("units"))
    positions = project(qrels, run, **options)
    assert vectors(positions, level) == expected(collection, maps, options, level)
    lengths = [
        naive.places_of(list(collection.runs["system1"].get(q, {})), maps[q], options["count"])
        for q in collection.qrels
    ]
    depth = options["depth"] or math.inf
    if options["count"] == "documents":
        assert positions.num_retrieved[0].tolist() == [min(len(places), depth) for places in lengths]
    assert (positions.num_retrieved >= 0).all()


def evaluable(positions: Positions) -> list[str]:
    names = [name for name, row in rows().items() if not row.needs_at and not row.needs_providers]
    names = [name for name in names if not getattr(rows()[name], "needs_units", False)]
    names += ["R@3", "P@3", "nDCG@2", "Success@1", "Judged@4", "IPrec@0.5", "Depth@0.5", "RR@2", "AP@3"]
    return names + (["WSS@0.5"] if positions.corpus_size is not None else [])


@given(collections(with_size=True), st.sampled_from(["pessimistic", "paper"]), st.sampled_from(COUNTS))
@quick(60)
def test_the_identity_map_changes_nothing_to_the_bit(collection: Collection, imputation: str, count: str) -> None:
    known = {d for by in (collection.qrels, *collection.runs.values()) for ds in by.values() for d in ds}
    options: dict[str, Any] = {"imputation": imputation, "corpus_size": collection.corpus_size, "needs_judged": True}
    if not known:
        return
    plain = project(collection.qrels, collection.runs, **options)
    mapped = project(collection.qrels, collection.runs, **options, units={d: d for d in known}, count=count)
    names = evaluable(plain)
    try:
        before = evaluate(plain, measures=names).values
    except DataError:  # nothing is relevant
        return
    after = evaluate(mapped, measures=names).values
    assert before.tobytes() == after.tobytes()


def test_a_map_that_only_renames_changes_nothing() -> None:
    qrels = {"q": {"a": 1, "b": 2, "c": 0}}
    runs = {"x": {"q": ["z", "b", "a"]}, "y": {"q": ["a"]}}
    plain = project(qrels, runs, corpus_size=10, needs_judged=True)
    renamed = project(qrels, runs, corpus_size=10, needs_judged=True, units={d: f"unit {d}" for d in "abcz"})
    assert (
        evaluate(plain, measures="AP nDCG RE bpref").values == evaluate(renamed, measures="AP nDCG RE bpref").values
    ).all()


def test_chunks_of_a_document_count_once() -> None:
    """Recall of chunks can reach 2 of 1: here a document is found, or not."""
    qrels, run = {"q": {"d1": 1, "d2": 1}}, {"q": ["d1#0", "d1#1", "d1#2", "d2#0"]}
    chunks = {chunk: chunk.split("#")[0] for chunk in [*run["q"], "d2#1", "d1#3"]}
    documents = evaluate(qrels, run, ["R@3", "R@4", "LastRel"], units=chunks).to_dict()["run"]
    units = evaluate(qrels, run, ["R@1", "R@2", "LastRel"], units=chunks, count="units").to_dict()["run"]
    assert documents == {"R@3": 0.5, "R@4": 1.0, "LastRel": 4.0}
    assert units == {"R@1": 0.5, "R@2": 1.0, "LastRel": 2.0}


def test_equal_documents_under_other_names_are_one_unit() -> None:
    qrels, run = {"q": {"a": 1, "copy-of-a": 1, "b": 1}}, {"q": ["copy-of-a", "a", "b"]}
    units = {"a": "a", "copy-of-a": "a", "b": "b"}
    with pytest.raises(LexirecallError, match="judged"):
        evaluate(qrels, run, ["R@1"], units={"a": "a", "copy-of-a": "a", "b": "b", "c": "copy-of-a"})
    assert evaluate(qrels, run, ["R@1", "R@3"], units=units, judged="documents").to_dict()["run"] == {
        "R@1": 0.5,
        "R@3": 1.0,
    }


def test_a_list_that_repeats_an_id_is_refused_or_counted_once() -> None:
    qrels, run, units = {"q": {"d": 1, "e": 1}}, {"q": ["c1", "c1", "c2"]}, {"c1": "d", "c2": "e", "c3": "e"}
    with pytest.raises(FormatError, match="listed twice"):
        evaluate(qrels, run, ["R@2"], units=units)
    for count in COUNTS:
        scores = evaluate(qrels, run, ["R@2", "LastRel"], units=units, duplicates="first", count=count)
        assert scores.to_dict()["run"] == {"R@2": 1.0, "LastRel": 2.0}


def test_a_query_without_anything_to_find_is_left_out_and_counted() -> None:
    scores = evaluate({"q": {"d": 1}, "r": {}, "s": {"d": 0}}, {"q": ["c"], "r": ["c"]}, ["R@1"], units={"c": "d"})
    assert scores.to_dict()["run"] == {"R@1": 1.0}
    assert any("2 queries without a relevant document" in note.text for note in scores.notes)


def test_no_measure_of_counts_leaves_its_limits_whatever_the_list_repeats() -> None:
    draw = random.Random(5)  # noqa: S311 - nothing is secret
    qrels, runs, units = {}, {}, {}
    for q in range(some(20_000)):
        documents = [f"c{draw.randrange(8)}" for _ in range(draw.randrange(1, 12))]
        runs[str(q)] = documents
        units[str(q)] = {f"c{i}": [f"u{draw.randrange(4)}" for _ in range(draw.randrange(1, 3))] for i in range(8)}
        named = sorted({u for names in units[str(q)].values() for u in names})
        qrels[str(q)] = {u: draw.choice((0, 1, 1, 2)) for u in named}
    for count in COUNTS:
        for rule in RULES:
            values = evaluate(
                qrels, runs, ["R@1", "R@3", "R@100", "Success@2", "RR", "TSE", "SetR", "Rprec"], units=units,
                duplicates="first", count=count, unit_rule=rule, judged="units",
            ).values  # fmt: skip
            known = values[~np.isnan(values)]
            assert len(known)
            assert known.min() >= 0
            assert known.max() <= 1


def test_which_documents_serve_depends_on_the_level() -> None:
    qrels, run, units = {"q": {"a": 1, "b": 2}}, {"q": ["a", "x", "b"]}, {"a": "U", "b": "U"}
    values = evaluate(qrels, run, ["LastRel", "LastRel(rel=2)"], units=units).to_dict()["run"]
    assert values == {"LastRel": 1.0, "LastRel(rel=2)": 3.0}
    both = evaluate(qrels, run, ["LastRel", "LastRel(rel=2)"], units=units, unit_rule="all").to_dict()["run"]
    assert both == {"LastRel": 3.0, "LastRel(rel=2)": 3.0}


def test_missing_units_are_all_at_the_bottom() -> None:
    positions = project(
        {"q": {"U": 1, "V": 1, "W": 1}}, {"q": ["a", "x"]}, corpus_size=3, units={"a": "U", "b": ["V", "W"]}
    )
    assert positions.at_level(1).vector(0, 0, imputed=True).tolist() == [1, 3, 3]
    assert evaluate(positions, measures=["LastRel", "Depth@0.5"]).to_dict()["run"] == {"LastRel": 3.0, "Depth@0.5": 3.0}
    with pytest.raises(DataError, match="too small"):
        project({"q": {"U": 1, "V": 1}}, {"q": ["a", "x"]}, corpus_size=2, units={"a": "U", "b": "V", "c": "V"})
    whole = project({"q": {"U": 1, "V": 1}}, {"q": ["a", "x"]}, corpus_size=2, units={"a": ["U", "V"]})
    assert whole.at_level(1).vector(0, 0, imputed=True).tolist() == [1, 1]


# Maps in every form

CHUNKS = {"c1": ["d1"], "c2": ["d1", "d2"], "c3": ["d2"]}
QRELS = {"q": {"d1": 1, "d2": 1}, "r": {"d2": 1}}
RUN = {"q": ["x", "c2", "c1", "c3"], "r": ["c1", "c3"]}


def maps(folder: Path) -> dict[str, Any]:
    pairs = [(document, unit) for document, units in CHUNKS.items() for unit in units]
    texts = {
        "two columns": "".join(f"{document}\t{unit}\n" for document, unit in pairs),
        "a comment and a blank line": "# chunks\n\n" + "".join(f"{document}   {unit}\n" for document, unit in pairs),
        "rules": "".join(f"{document} {unit} any\n" for document, unit in pairs),
        "queries": "".join(f"{q} {document} {unit}\n" for q in QRELS for document, unit in pairs),
        "queries and rules": "".join(f"{q} {document} {unit} any\n" for q in QRELS for document, unit in pairs),
        "csv": "document_id,unit\n" + "".join(f"{document},{unit}\n" for document, unit in pairs),
        "json": json.dumps(CHUNKS),
        "json by query": json.dumps(dict.fromkeys(QRELS, CHUNKS)),
    }
    given: dict[str, Any] = {}
    for number, (name, text) in enumerate(texts.items()):
        given[name] = folder / f"map{number}"
        given[name].write_text(text)
    columns = {"doc_id": [document for document, _ in pairs], "unit_id": [unit for _, unit in pairs]}
    return given | {
        "dict": CHUNKS,
        "dict by query": dict.fromkeys(QRELS, CHUNKS),
        "polars": pl.DataFrame(columns),
        "polars with rules": pl.DataFrame({**columns, "rule": ["any"] * len(pairs)}),
        "pandas": pl.DataFrame(columns).to_pandas(),
    }


def test_a_map_means_the_same_in_every_form(tmp_path: Path) -> None:
    plain = vectors(project(QRELS, RUN, units=CHUNKS), 1)
    assert plain == [[2, 2], [2]]
    for name, given_map in maps(tmp_path).items():
        assert vectors(project(QRELS, RUN, units=given_map), 1) == plain, name
        assert vectors(project(QRELS, RUN, units=given_map, count="units"), 1) == [[2, 2], [2]], name


def test_a_map_may_say_which_units_need_all(tmp_path: Path) -> None:
    path = tmp_path / "parts.tsv"
    path.write_text("c1 d1 all\nc2 d1 all\nc2 d2 any\nc3 d2 any\n")
    assert vectors(project(QRELS, RUN, units=path), 1) == [[2, 3], [2]]
    path.write_text("q c1 d1 all\nq c2 d1 all\nq c2 d2 any\nq c3 d2 any\nr c3 d2 all\n")
    assert vectors(project(QRELS, RUN, units=path), 1) == [[2, 3], [2]]
    frame = pl.DataFrame(
        {"doc_id": ["c1", "c2", "c2", "c3"], "unit": ["d1", "d1", "d2", "d2"], "rule": ["all", "all", "any", "any"]}
    )
    assert vectors(project(QRELS, RUN, units=frame), 1) == [[2, 3], [2]]


SUBTOPICS = "q 1 a 1\nq 1 b 0\nq 2 b 2\nq 2 c 1\nq 3 c 0\n"


def test_subtopics_are_the_second_column_of_judgments(tmp_path: Path) -> None:
    path = tmp_path / "diversity.txt"
    path.write_text(SUBTOPICS)
    fields = [line.split() for line in SUBTOPICS.splitlines()]
    frame = pl.DataFrame(fields, ["query_id", "subtopic_id", "doc_id", "relevance"], orient="row").cast(
        {"relevance": int}
    )
    nested = {"q": {"1": {"a": 1, "b": 0}, "2": {"b": 2, "c": 1}, "3": {"c": 0}}}
    for judged in (path, frame, nested):
        positions = project(judged, {"q": ["b", "c", "a"]}, units="@subtopics")
        assert vectors(positions, 1) == [[1, 3]]
        assert vectors(positions, 2) == [[1]]
        assert positions.unit_count is not None
        assert positions.unit_count.num_units == 2
    path.write_text(SUBTOPICS + "q 1 a 2\n")
    with pytest.raises(FormatError, match=r":6: document 'a' of query 'q', subtopic '1', has grade 2"):
        project(path, {"q": ["b"]}, units="@subtopics")


def test_what_is_odd_about_judged_subtopics_is_told(tmp_path: Path) -> None:
    path, run = tmp_path / "diversity.txt", {"q": ["b", "c", "a"], "r": ["a"]}
    path.write_text(SUBTOPICS + "q 1 a 1\n")
    assert [
        n.count for n in evaluate(path, run, ["R@1"], units="@subtopics").notes if n.kind == "repeated judgments"
    ] == [1]
    nested: dict[str, Any] = {"q": {"1": {"a": 1}}, "r": {}, "s": {"1": {}}}
    notes = evaluate(nested, run, ["R@1"], units="@subtopics").notes
    assert any("2 queries without a relevant document (r, s)" in note.text for note in notes)
    rows = {"query_id": ["q"], "subtopic_id": ["1"], "doc_id": ["a"]}
    notes = evaluate(pl.DataFrame(rows), run, ["R@1"], units="@subtopics").notes
    assert "no grades" in {note.kind for note in notes}
    with pytest.raises(FormatError, match="look like the scores of a run"):
        project(pl.DataFrame(rows | {"score": [0.5]}), run, units="@subtopics")


# Whether documents or units are judged


def test_it_is_told_by_the_ids_whether_documents_or_units_are_judged() -> None:
    run = {"q": ["c1", "c2", "c3"]}
    units = evaluate({"q": {"d1": 1, "d2": 1}}, run, ["R@1"], units=CHUNKS)
    documents = evaluate({"q": {"c1": 1, "c3": 1}}, run, ["R@1"], units=CHUNKS)
    assert units.manifest.qrels["judged_ids"] == "units"
    assert documents.manifest.qrels["judged_ids"] == "documents"
    assert units.to_dict() == documents.to_dict()


@pytest.mark.parametrize(
    ("judged", "units", "message"),
    [
        ({"d": 1}, {"d": "d", "d-2": "d"}, "are both documents and units of the map, as 'd' is"),
        (
            {"c1": 1, "d2": 1},
            CHUNKS,
            "of the 2 relevant ids in qrels, 1 is a document of the map, 1 is a unit of it, 0 are neither",
        ),
        ({"d1": 1, "zz": 1}, CHUNKS, "0 are documents of the map, 1 is a unit of it, 1 is neither, such as 'zz'"),
        ({"y": 1, "z": 1}, CHUNKS, "none of the relevant ids is in the map"),
        ({"a": 1}, {"a": "b", "b": "c", "c": "a"}, "go round in a circle: 'a' is in 'b' is in 'c' is in 'a'"),
        ({"a": 1}, {}, "the map is empty"),
        ({"a": 1}, {"a": ""}, "is not the name of a unit"),
        ({"a": 1}, {"a": {"b": "c"}, "d": "e"}, "some values are mappings and some are not"),
    ],
)
def test_what_cannot_be_told_is_asked_for(judged: dict[str, int], units: Any, message: str) -> None:
    with pytest.raises(LexirecallError, match=message):
        evaluate({"q": judged}, {"q": ["c1", "d"]}, ["R@1"], units=units)


def test_a_judged_unit_that_no_document_serves_is_an_error() -> None:
    with pytest.raises(DataError, match=r"1 relevant unit without a document.*'d9' of query 'q'"):
        evaluate({"q": {"d1": 1, "d9": 1}}, {"q": ["c1"]}, ["R@1"], units=CHUNKS, judged="units")


def test_relevant_documents_outside_the_map_are_counted() -> None:
    qrels, run = {"q": {"c1": 1, "lost": 1, "lost too": 1}}, {"q": ["lost", "c1"]}
    scores = evaluate(qrels, run, ["R@1", "R@2"], units=CHUNKS)
    assert scores.to_dict()["run"] == {"R@1": 0.0, "R@2": 1.0}
    assert [note.count for note in scores.notes if note.kind == "without unit"] == [2]
    itself = evaluate(qrels, run, ["R@1", "R@2"], units=CHUNKS, unmapped="itself")
    assert itself.to_dict()["run"] == {"R@1": 1 / 3, "R@2": 2 / 3}


def test_three_of_the_relevant_documents_outside_the_map_are_named() -> None:
    [note] = evaluate({"q": {"c1": 1} | dict.fromkeys("vwxyz", 1)}, {"q": ["c1"]}, ["R@1"], units=CHUNKS).notes
    assert "('v', 'w', 'x' and 2 more)" in note.text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": "units"}, "count is 'units', but there are no units"),
        ({"judged": "documents"}, "judged is 'documents', but there are no units"),
        ({"units": CHUNKS, "ties": "expected"}, "no closed form with units"),
        ({"units": CHUNKS, "imputation": "optimistic"}, "missing units"),
        ({"units": CHUNKS, "judged_only": True, "count": "units"}, "does not go together"),
        ({"units": CHUNKS, "providers": {"c1": "x"}}, "does not go together with units"),
        ({"units": CHUNKS, "unit_rule": "some"}, "must be one of any, all"),
        ({"units": "@subtopics", "judged": "units"}, "subtopics are judged with documents"),
    ],
)
def test_options_that_make_no_sense_together_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        evaluate({"q": {"d1": 1}}, {"q": ["c1"]}, ["R@1"], **options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("c1\n", "map.tsv:1: a unit line has 2 fields"),
        ("c1 d1\nq c2 d2\n", "map.tsv:2: a unit line has 2 fields"),
        ("q c1 d1 some\n", "map.tsv:1: the rule of a unit is 'some', but must be any or all"),
        ("c1 d1 any\nc2 d1 all\n", "unit 'd1' is marked both any and all"),
    ],
)
def test_a_bad_map_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "map.tsv"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        evaluate({"q": {"d1": 1}}, {"q": ["c1"]}, ["R@1"], units=path)


# Every verb, and the command line


def test_every_verb_takes_units(tmp_path: Path) -> None:
    runs = {"one": RUN, "two": {"q": ["c3", "x", "c1"], "r": ["c3"]}}
    assert evaluate(QRELS, runs, ["R@1"], units=CHUNKS).to_dict()["two"] == {"R@1": 0.75}
    assert rank(QRELS, runs, units=CHUNKS).to_dict()["two"]["rank"] == 1
    assert compare(QRELS, runs, ["R@1"], units=CHUNKS).runs == ("one", "two")
    assert "d2" in str(explain(QRELS, runs, units=CHUNKS).query("q"))
    (studied,) = study(QRELS, runs, ["R@1"], units=CHUNKS, num_samples=2).manifest.conventions["collections"].values()
    assert (studied["unit_map"], studied["judged_ids"], studied["units"]) == ("units", "units", 3)
    report(QRELS, runs, ["R@1"], units=CHUNKS, output=tmp_path / "page.html")
    positions = project(QRELS, runs, units=CHUNKS)
    assert evaluate(positions, measures=["R@1"]).to_dict() == evaluate(QRELS, runs, ["R@1"], units=CHUNKS).to_dict()


def test_preferences_see_units() -> None:
    runs = {"one": {"q": ["c1", "c2"]}, "two": {"q": ["c2", "c1"]}}
    graded = {"q": {"c1": 1, "c2": 2, "c3": 1}}
    positions = project(graded, runs, units={"c1": "U", "c2": "U", "c3": "V"})
    for name, row in rows().items():
        if isinstance(row, Preference):
            assert evaluate(positions, measures=[name]).values.shape == (2, 1, 1)
    assert (
        rank(positions, preference="RPP(graded=True)").to_dict()["two"]["rank"] == 1
    )  # V is missing; at grade 2, U is first


GOOD = {
    "qrels.txt": b"q 0 d1 1\nq 0 d2 1\n",
    "a.run": b"q Q0 c1 1 3 t\nq Q0 c0 2 2 t\nq Q0 c2 3 1 t\n",
    "chunks.tsv": b"c0 d1\nc1 d1\nc2 d2\n",
}


def test_the_command_reads_a_map_and_records_it(command: Command, tmp_path: Path) -> None:
    evaluated = ("eval", "qrels.txt", "a.run", "-m", "R@2", "-f", "tsv")
    done = command(*evaluated, "--units", "chunks.tsv", "--manifest", "made.json")
    assert done.out.splitlines()[1].split("\t") == ["a.run", "all", "R@2", "0.5"]
    done = command(*evaluated, "--units", "chunks.tsv", "--count", "units")
    assert done.out.splitlines()[1].split("\t")[-1] == "1.0"
    record = json.loads((tmp_path / "made.json").read_text())
    assert record["qrels"]["unit_map"] == "chunks.tsv"
    assert record["conventions"]["count"] == "documents"
    assert command(*evaluated, "--units", "qrels.txt").code == 1
    assert command(*evaluated, "--count", "units").code == 2


def test_columns_that_are_named_for_runs_need_not_be_in_the_map(tmp_path: Path) -> None:
    qrels, run = frames(Collection({"q": {"d1": 1}}, {"system1": {"q": {"c1": 1.0}}}), tmp_path)
    renamed = [frame.rename({"query_id": "question"}) for frame in (qrels, run)]
    chunks = pl.DataFrame({"doc_id": ["c1"], "unit": ["d1"]})
    for columns in ({"query": "question"}, {"qrels.query": "question", "run.query": "question"}):
        assert vectors(project(*renamed, units=chunks, columns=columns), 1) == [[1]]
    with pytest.raises(FormatError, match="no column 'question'"):
        project(*renamed, units=chunks, columns={"query": "question", "units.query": "question"})


def test_a_map_is_not_written_over(command: Command) -> None:
    done = command("eval", "qrels.txt", "a.run", "--units", "chunks.tsv", "-o", "chunks.tsv")
    assert done.code == 2
