"""Providers: the map of documents to them, their exposure, and who is worst off."""

import doctest
import gzip
import io
import json
import math
import re
import sys
import tracemalloc
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from command import Command
from lexirecall import Positions, evaluate, project
from lexirecall.errors import DataError, FormatError, UsageError
from lexirecall.exposure import EXPOSURES
from lexirecall.measures import MEASURES, TSE, WORST_PROVIDER, provider_exposure
from lexirecall.measures.providers import ProviderExposure, shares_of_providers
from lexirecall.providers import Providers
from lexirecall.theory import provider_utilities
from strategies import DOCUMENTS, LEVELS, Collection, Ordering, collections, costly, orderings, quick
from table import check_twins

QRELS: dict[str, dict[str, float]] = {"q1": {"a": 1, "b": 2, "x": 0, "c": 1}, "q2": {"c": 1, "d": 1}, "q3": {"a": 1}}
RUN = {"q1": ["b", "x", "c"], "q2": ["y", "d", "c"], "q3": ["a"]}
MAP = {"a": "Ada", "b": ["Ada", "Ben"], "c": "Cy Twombly", "d": "Cy Twombly", "x": "Dee", "never judged": "Eve"}
MAP_TEXT = b"a Ada\nb\tAda\nb  Ben\nc Cy Twombly \nd\tCy Twombly\r\nx Dee\nz Eve\n"
ROWS = [row for row in MEASURES.values() if row.needs_providers]
GOOD = {
    "qrels.txt": b"q1 0 a 1\nq1 0 b 2\nq1 0 x 0\nq1 0 c 1\nq2 0 c 1\nq2 0 d 1\nq3 0 a 1\n",
    "good.run": b"q1 Q0 b 1 3 t\nq1 Q0 x 2 2 t\nq1 Q0 c 3 1 t\nq2 Q0 y 1 3 t\nq2 Q0 d 2 2 t\nq2 Q0 c 3 1 t\n"
    b"q3 Q0 a 1 1 t\n",
    "other.run": b"q1 Q0 a 1 3 t\nq2 Q0 c 1 3 t\nq3 Q0 y 1 1 t\n",
    "map.tsv": MAP_TEXT,
}


def owners_of(positions: Positions) -> dict[str, list[tuple[str, ...]]]:
    """Return, for each relevant document by name, its providers in each of its queries."""
    providers, judgments = positions.providers, positions.judgments
    assert providers is not None
    owned: dict[str, list[tuple[str, ...]]] = {}
    for number, (document, grade) in enumerate(zip(judgments.documents, judgments.grades, strict=True)):
        start, stop = providers.offsets[number : number + 2]
        names = tuple(providers.names[index] for index in providers.indices[start:stop])
        if grade > 0:
            owned.setdefault(document.decode(), []).append(names)
        else:
            assert not names
    return owned


OWNED = {
    "a": [("Ada",), ("Ada",)],
    "b": [("Ada", "Ben")],
    "c": [("Cy Twombly",), ("Cy Twombly",)],
    "d": [("Cy Twombly",)],
}


# Reading


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(MAP_TEXT, id="plain"),
        pytest.param(gzip.compress(MAP_TEXT), id="gz"),
        pytest.param(
            b"\xef\xbb\xbf# item provider\n\n" + MAP_TEXT.replace(b"\n", b"\n \n"), id="blank lines and comments"
        ),
        pytest.param(MAP_TEXT + MAP_TEXT.removesuffix(b"\n"), id="every pair twice"),
        pytest.param(json.dumps(MAP).encode(), id="JSON"),
    ],
)
def test_a_file_maps_each_document_to_its_providers(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "map").write_bytes(text)
    assert owners_of(project(QRELS, RUN, providers=tmp_path / "map")) == OWNED


@pytest.mark.parametrize("several", [list, tuple, set, np.array, iter])
def test_a_mapping_maps_each_document_to_its_providers(several: Callable[[Any], Any]) -> None:
    by_list = {document: several([owner] if isinstance(owner, str) else owner) for document, owner in MAP.items()}
    assert owners_of(project(QRELS, RUN, providers=MAP)) == OWNED
    assert owners_of(project(QRELS, RUN, providers=by_list)) == OWNED


def test_a_map_may_come_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(MAP_TEXT)))
    assert owners_of(project(QRELS, RUN, providers="-")) == OWNED


def test_integer_ids_of_documents_and_providers_are_their_text() -> None:
    positions = project({1: {7: 1, "8": 1}}, {1: [7]}, providers={"7": 12, 8: "12"})
    assert owners_of(positions) == {"7": [("12",)], "8": [("12",)]}


def test_names_that_are_not_utf_8_are_compared_by_their_bytes(tmp_path: Path) -> None:
    (tmp_path / "map").write_bytes(b"a \xfe\nc \xff\n")
    positions = project(QRELS, RUN, providers=tmp_path / "map")
    assert positions.providers is not None
    assert [name.encode(errors="surrogateescape") for name in positions.providers.names] == [b"\xfe", b"\xff"]


def test_an_document_without_a_provider_has_none() -> None:
    assert owners_of(project(QRELS, RUN, providers={"a": [], "b": "Ben"}))["a"] == [(), ()]


def test_a_depth_cut_keeps_the_providers() -> None:
    positions = project(QRELS, RUN, providers=MAP)
    assert positions.cut(1).providers is positions.providers
    assert (
        provider_exposure(positions.cut(2)).to_dict()
        == provider_exposure(project(QRELS, RUN, providers=MAP, depth=2)).to_dict()
    )


# Maps that mean nothing


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a Ada\n\nb\n", r"^map:3: a provider line has 2 fields \(document provider\), found 1: 'b'\n  \S"),
        (b"a Ada\nb \t\r\n", r"^map:2: .*found 1: 'b'"),
        (b"a,Ada\n", r"^map:1: .*'a,Ada'\n.*not by commas"),
        (b"a Ada\nb Be\0n\n", r"^map:2: a NUL byte: 'b Be\\x00n'"),
        (b"", r"^map: the file is empty"),
        (b"# item provider\n", r"^map: the file has only empty lines"),
        (gzip.compress(MAP_TEXT * 99)[:-20], r"^map: the compressed data is truncated"),
        (b'{"a": {"name": "Ada"}}', r"^map: document 'a': .*Ada.* is not the name of a provider\n  a map of"),
        (b'{"a": null}', r"^map: document 'a': 'None' is not the name"),
        (b'{"a": "Ada", "a": "Ben"}', r"^map: the key 'a' occurs twice"),
        (b"{}", r"^map: the map is empty"),
        (b"A Ada\nB Ada\n", r"^map: .* for any relevant document: .*'A', 'B'.*'a', 'b', 'c'\n.*the same way"),
    ],
)  # fmt: skip
def test_a_map_that_means_nothing_is_refused(command: Command, content: bytes, said: str) -> None:
    outcome = command("eval", "qrels.txt", "good.run", "--providers", "map", map=content)
    assert (outcome.code, outcome.out) == (1, "")
    assert re.search(said, outcome.err), outcome.err


@pytest.mark.parametrize("owner", [None, math.nan, 1.5, True, "", " ", b"", ["Ada", None], {"Ada": 1}])
def test_a_mapping_that_names_no_provider_is_refused(owner: Any) -> None:
    with pytest.raises(FormatError, match=r"providers: document 'a': .* is not the name of a provider"):
        project(QRELS, RUN, providers={"b": "Ben", "a": owner})


def test_a_map_of_the_wrong_kind_is_refused() -> None:
    wrong: Any = [("a", "Ada")]
    with pytest.raises(UsageError, match="providers is of type list, but must be a path, a mapping or a data frame"):
        project(QRELS, RUN, providers=wrong)
    with pytest.raises(FormatError, match="providers: the map is empty"):
        project(QRELS, RUN, providers={})


def test_where_nothing_is_relevant_it_is_not_the_map_that_is_to_blame() -> None:
    with pytest.raises(DataError, match="no query has a relevant document"):
        evaluate({"q": {"a": 0}}, {"q": ["a"]}, providers={"z": "Eve"})


def test_measures_of_providers_need_a_map(command: Command) -> None:
    for name in ("WorstProvider", "WorstProviderOverall(e='dcg')"):
        outcome = command("eval", "qrels.txt", "good.run", "-m", name)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith(f"{name} needs a map of documents to providers\n  give --providers FILE")
    with pytest.raises(UsageError, match="no map of documents to providers"):
        provider_exposure(project(QRELS, RUN))
    with pytest.raises(UsageError, match="needs a map of documents to providers"):
        WORST_PROVIDER.of([1, 2])


def test_the_mean_over_tied_orders_is_refused() -> None:
    positions = project(QRELS, RUN, providers=MAP, ties="expected")
    with pytest.raises(UsageError, match="no closed form"):
        provider_exposure(positions)
    with pytest.raises(UsageError, match="no closed form"):
        evaluate(positions, measures="WorstProvider")
    scores = evaluate(positions)
    assert not {"WorstProvider", "WorstProviderOverall"} & {str(row) for row in scores.measures}
    assert not [note for note in scores.notes if note.kind == "worst-off provider"]


@pytest.mark.parametrize("settings", [{"exposure": "rr"}, {"p": 1}, {"level": 0}, {"queries": "some"}])
def test_settings_of_the_audit_that_are_not_offered_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        provider_exposure(project(QRELS, RUN, providers=MAP), **settings)
    with pytest.raises(UsageError, match="corpus size"):
        provider_exposure(project(QRELS, RUN, providers=MAP), "linear")


# Against the slow twin

OWNERS = st.dictionaries(
    st.sampled_from(DOCUMENTS), st.lists(st.sampled_from(["P", "p", "Q 1", "é", "Z"]), max_size=3), min_size=1
)
Map = dict[str, list[str]]


def relevant_in(collection: Collection) -> set[str]:
    return {document for judged in collection.qrels.values() for document, grade in judged.items() if grade > 0}


def projected(collection: Collection, owners: Map, **conventions: Any) -> Positions | None:
    """Project with a map, None if it has nothing to say, which must be an error if there are relevant documents."""
    empty = not any(owners.values())
    if empty or (relevant_in(collection) and not any(owners.get(document) for document in relevant_in(collection))):
        with pytest.raises((DataError, FormatError), match=r"a provider for any relevant document|the map is empty"):
            project(collection.qrels, collection.runs, providers=owners, **collection.given_size)
        return None
    return project(collection.qrels, collection.runs, providers=owners, **collection.given_size, **conventions)


def shares_of(
    collection: Collection, owners: Map, run: str, level: float, ordering: Ordering, e: str
) -> list[dict[str, float]]:
    """Return the twin's exposures of each provider for each query of one run."""
    shares = []
    for query, judged in collection.qrels.items():
        lines = list(collection.runs[run].get(query, {}).items())
        order = naive.ranked(lines, judged, "trec", ordering.score_dtype)
        shown = naive.documents_shown(order, judged, ordering.depth, judged_only=ordering.judged_only)
        n = collection.corpus_size
        exposed = naive.provider_shares(shown, judged, owners, level, lambda i: naive.EXPOSURES[e](i, p=0.5, n=n), n)  # noqa: B023
        shares.append(exposed)
    return shares


def close(ours: float, theirs: float) -> bool:
    """Tell whether two values are equal but for rounding, or both undefined."""
    return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-15) or (math.isnan(ours) and math.isnan(theirs))


@costly(200)
@given(collections(max_runs=3), OWNERS, orderings(), st.sampled_from(LEVELS), st.sampled_from(list(EXPOSURES)))
def test_measures_of_providers_equal_their_twins(
    collection: Collection, owners: Map, ordering: Ordering, level: float, e: str
) -> None:
    positions = projected(
        collection, owners, score_dtype=ordering.score_dtype, depth=ordering.depth, judged_only=ordering.judged_only
    )
    if positions is None or (e == "linear" and collection.corpus_size is None):
        return
    projection = positions.at_level(level)
    audit = provider_exposure(positions, e, p=0.5, level=level)
    for s, run in enumerate(positions.runs):
        shares = shares_of(collection, owners, run, level, ordering, e)
        means = naive.provider_means(shares)
        assert audit.to_dict()[run] == pytest.approx(means, rel=1e-9, abs=1e-15)
        check_ratios(
            audit, s, shares, [naive.provider_merits(each, owners, level) for each in collection.qrels.values()]
        )
        assert set(audit.worst(s)) == {o for o, mean in means.items() if close(mean, min(means.values()))}
        for row in ROWS:
            values = row(e=e, p=0.5).scores(projection)[s]
            assert (values[projection.num_relevant == 0] == 0).all()
            assert any(
                all(map(close, values[projection.num_relevant > 0], right))
                for right in relevant_only(naive.PROVIDER_MEASURES[row.name](shares), projection.num_relevant)
            ), row


def check_ratios(audit: ProviderExposure, s: int, shares: list[dict[str, float]], merits: list[dict[str, int]]) -> None:
    """Compare ratios, merits and their order with those of the twin."""
    rows = [row for row in audit.rows() if row["run"] == audit.runs[s]]
    assert [row["provider"] for row in rows if row["ratio"] is None] == sorted(
        (row["provider"] for row in rows if row["ratio"] is None), key=lambda name: name.encode()
    )
    assert [row["ratio"] is None for row in rows] == sorted(row["ratio"] is None for row in rows)
    defined = [row["ratio"] for row in rows if row["ratio"] is not None]
    assert all(one <= other + 1e-11 for one, other in pairwise(defined))
    for row in rows:
        ratio = naive.provider_ratio(shares, merits, row["provider"])
        assert row["ratio"] == (None if ratio is None else pytest.approx(ratio, rel=1e-9, abs=1e-15))
        own = [merit[row["provider"]] for merit in merits if row["provider"] in merit]
        assert (row["merit"], row["queries"]) == (sum(own), len(own))


def relevant_only(lists: list[list[float]], m: Any) -> list[list[float]]:
    """Leave out the queries without relevant documents."""
    return [[value for value, count in zip(values, m, strict=True) if count] for values in lists]


def test_every_measure_of_providers_has_a_twin_and_every_twin_a_row() -> None:
    check_twins((row.name for row in ROWS), naive.PROVIDER_MEASURES, "PROVIDER_MEASURES")


@quick(60)
@given(collections(max_runs=1), OWNERS)
def test_with_optimistic_imputation_missing_documents_stand_right_below_the_list(
    collection: Collection, owners: Map
) -> None:
    positions = projected(collection, owners, imputation="optimistic")
    if positions is None:
        return
    worst = WORST_PROVIDER.scores(positions.at_level(1))
    for q, (query, judged) in enumerate(collection.qrels.items()):
        order = naive.ranked(list(collection.runs["system1"].get(query, {}).items()), judged)
        missing = [document for document, grade in judged.items() if grade > 0 and document not in order]
        listed = order + sorted(missing, key=lambda document: -judged[document])
        share = naive.provider_shares(listed, judged, owners, 1, lambda i: 1 / i)
        if share:
            assert close(worst[0, q], min(share.values()))


# What follows from the definition


@pytest.mark.parametrize(
    ("e", "expected"), [("ap", 1 / 2 + 1 / 3 + 1 / 8 + 1 / 18 + 1 / 19 + 1 / 20), ("linear", 6 - (2 + 3 + 8 + 57) / 20)]
)
def test_one_provider_of_all_documents_has_the_exposure_of_all_imputed_positions(e: str, expected: float) -> None:
    """Positions 2, 3 and 8 of six documents in a corpus of 20: the missing three are at 18, 19 and 20."""
    judged = dict.fromkeys("abcdef", 1)
    positions = project({"q": judged}, {"q": [*"xabuvwyc"]}, providers=dict.fromkeys(judged, "only"), corpus_size=20)
    assert WORST_PROVIDER(e=e).scores(positions.at_level(1)) == pytest.approx(expected, rel=1e-14)
    assert provider_utilities(e, [2, 3, 8], 6, corpus_size=20).best.utility == pytest.approx(expected, rel=1e-14)


@costly(100)
@given(collections(with_size=True), st.sampled_from(LEVELS), st.sampled_from(list(EXPOSURES)))
def test_where_each_document_has_one_provider_their_exposures_add_up_to_that_of_all_imputed_positions(
    collection: Collection, level: float, e: str
) -> None:
    owners = {document: [str(number % 3)] for number, document in enumerate(DOCUMENTS)}
    if (positions := projected(collection, owners)) is None:
        return
    projection, n = positions.at_level(level), collection.corpus_size
    shares = shares_of_providers(projection, e, 0.5)
    for s, q in np.ndindex(*positions.shape):
        placed = projection.vector(s, q, imputed=True)
        total = math.fsum(shares.exposures[s, shares.queries == q])
        assert total == pytest.approx(
            sum(naive.EXPOSURES[e](place, p=0.5, n=n) for place in placed.tolist()), rel=1e-12
        )


@costly(100)
@given(collections(max_runs=2), OWNERS, st.sampled_from(LEVELS), st.sampled_from(["ap", "dcg", "rbp"]))
def test_no_provider_of_a_map_is_worse_off_than_the_worst_off_of_all_possible_ones(
    collection: Collection, owners: Map, level: float, e: str
) -> None:
    """min over all non-empty sets of relevant documents is e(p_m), which TSE is."""
    if (positions := projected(collection, owners)) is None:
        return
    projection = positions.at_level(level)
    least, worst = TSE(e=e).scores(projection), WORST_PROVIDER(e=e).scores(projection)
    assert np.all((least <= worst * (1 + 1e-12)) | np.isnan(worst))


@costly(100)
@given(collections(max_runs=2), st.sampled_from(LEVELS), st.sampled_from(["ap", "dcg", "rbp"]))
def test_where_every_document_has_its_own_provider_the_worst_off_has_the_exposure_of_the_last_document(
    collection: Collection, level: float, e: str
) -> None:
    """Where several are missing, none of them is known to be the last: each has the mean of their places."""
    positions = projected(collection, {document: [document] for document in DOCUMENTS})
    assert positions is not None
    projection = positions.at_level(level)
    worst, last = (row(e=e).scores(projection).tolist() for row in (WORST_PROVIDER, TSE))
    for s, q in np.ndindex(*positions.shape):
        placed = projection.vector(s, q, imputed=True)
        missing = placed[np.isinf(projection.vector(s, q))].tolist()
        if len(missing) > 1 and collection.corpus_size:
            expected = sum(TSE(e=e).of([int(place)]) for place in missing) / len(missing)
            assert close(worst[s][q], expected)
            assert worst[s][q] > last[s][q]
        else:
            assert close(worst[s][q], last[s][q])


@pytest.mark.parametrize("n", [None, 10])
def test_missing_documents_have_the_mean_exposure_of_the_last_places(n: int | None) -> None:
    """Two are missing: with n = 10 they share 1/9 and 1/10, and their common provider has both."""
    positions = project(
        {"q": {"a": 1, "b": 1, "c": 1}},
        {"q": ["x", "a"]},
        corpus_size=n,
        providers={"a": "A", "b": "B", "c": ["B", "C"]},
    )
    both = 1 / 9 + 1 / 10 if n else 0.0
    assert provider_exposure(positions).to_dict() == {"run": {"C": both / 2, "B": both, "A": 0.5}}


# Worked by hand


def test_the_audit_has_one_row_for_each_run_and_provider() -> None:
    """Ada has a (missing, then first) and b (first); Ben has b; Cy has c (1/3) and then d and c (1/2 + 1/3).

    In q1 the exposure of 7/3 is due to Ada by two parts of four, and to Ben and Cy by one; q2 is all Cy's, q3 Ada's.
    """
    close_to = partial(pytest.approx, rel=1e-14)
    audit = provider_exposure(project(QRELS, {"only": RUN}, providers=MAP))
    assert list(audit.rows()) == [
        {"run": "only", "provider": "Cy Twombly", "exposure": close_to(7 / 12), "merit": 3,
         "ratio": close_to(7 / 6 / (5 / 6 + 7 / 3 / 4)), "queries": 2},
        {"run": "only", "provider": "Ada", "exposure": 1.0, "merit": 3, "ratio": close_to(12 / 13), "queries": 2},
        {"run": "only", "provider": "Ben", "exposure": 1.0, "merit": 1, "ratio": close_to(12 / 7), "queries": 1},
    ]  # fmt: skip
    assert audit.worst("only") == audit.worst(0) == ("Cy Twombly",)
    with pytest.raises(UsageError, match="run is 'other', but must be one of only"):
        audit.worst("other")


def test_a_provider_without_an_document_at_the_level_is_left_out_of_the_audit() -> None:
    audit = provider_exposure(project(QRELS, RUN, providers=MAP), level=2)
    assert audit.to_dict() == {"run": {"Ada": 1.0, "Ben": 1.0}}
    assert audit.worst() == ("Ada", "Ben")


def test_ties_for_the_worst_place_are_all_named_those_with_the_most_queries_first() -> None:
    judged = {"q1": {"a": 1, "b": 1}, "q2": {"b": 1, "c": 1}}
    positions = project(judged, {"q1": ["x"], "q2": ["c"]}, providers={"a": "Ada", "b": "Ben", "c": "Cy"})
    assert provider_exposure(positions).worst() == ("Ben", "Ada")
    assert evaluate(positions, measures="WorstProviderOverall").to_dict(per_query=True) == {
        "run": {"q1": {"WorstProviderOverall": 0.0}, "q2": {"WorstProviderOverall": 0.0}}
    }


def test_equal_exposures_that_differ_in_the_last_digit_are_tied() -> None:
    """1/3 + 1/4 = 1/2 + 1/12, but not in floats."""
    owners = {"2": "Ada", "12": "Ada", "3": "Ben", "4": "Ben"}
    assert 1 / 3 + 1 / 4 != 1 / 2 + 1 / 12
    positions = project({"q": dict.fromkeys(owners, 1)}, {"q": list(range(1, 13))}, providers=owners)
    assert provider_exposure(positions).worst() == ("Ada", "Ben")


def test_the_mean_over_queries_is_the_mean_exposure_of_the_worst_off_provider() -> None:
    runs = {"one": RUN, "two": {"q1": ["a"], "q2": ["c"], "q3": ["y"]}}
    positions = project({**QRELS, "empty": {"x": 0.0}}, runs, providers=MAP)
    several: list[dict[str, Any]] = [{}, {"no_relevant": "zero"}, {"queries": "intersection"}]
    for policies in several:
        scores = evaluate(positions, measures=["WorstProviderOverall", "WorstProvider"], **policies)
        audit = provider_exposure(positions, queries=policies.get("queries", "all"))
        lowest = np.nanmin(audit.exposures, axis=1)
        np.testing.assert_allclose(scores.means[:, 0], lowest)
        defined = (~np.isnan(scores.values[:, :, 0])).sum(axis=1)
        assert defined.tolist() == [audit.num_queries[s][audit.is_worst(s)].max() for s in range(2)]


def test_what_a_run_does_not_answer_makes_nobody_worse_off_in_the_intersection() -> None:
    """Ben is worst off where q2 counts, Ada where it does not."""
    judged = {"q1": {"a": 1, "b": 1}, "q2": {"b": 1}}
    runs = {"partial": {"q1": ["b", "a"]}, "full": {"q1": ["b", "a"], "q2": ["b"]}}
    positions = project(judged, runs, providers={"a": "Ada", "b": "Ben"})
    for queries, value, worst in (("all", 0.5, ("Ben", "Ada")), ("intersection", 0.5, ("Ada",))):
        assert evaluate(positions, measures="WorstProviderOverall", queries=queries).means[0] == value
        assert provider_exposure(positions, queries=queries).worst("partial") == worst
    assert provider_exposure(positions, queries="intersection").num_queries.tolist() == [[1, 1], [1, 2]]


def test_a_run_that_answers_none_of_a_providers_queries_leaves_it_undefined() -> None:
    positions = project({"q1": {"a": 1}, "q2": {"b": 1}}, {"q2": ["b"]}, providers={"a": "Ada", "b": "Ben"})
    audit = provider_exposure(positions, queries="intersection")
    assert audit.to_dict() == {"run": {"Ben": 1.0, "Ada": None}}
    positions = project({"q1": {"a": 1}, "q2": {"b": 1}}, {"q2": ["b"]}, providers={"a": "Ada"})
    assert provider_exposure(positions, queries="intersection").worst() == ()
    scores = evaluate(positions, measures="WorstProviderOverall", queries="intersection")
    assert scores.to_dict() == {"run": {"WorstProviderOverall": None}}
    assert "worst-off provider over all queries: run none" in str(scores)


# The result, its notes and its manifest


def test_queries_without_a_value_by_nature_are_not_missing() -> None:
    """q3 has no relevant document of Cy's, and with this map no provider at all."""
    runs = {"one": RUN, "two": {"q1": ["c"], "q2": ["c"], "q3": ["a"]}}
    scores = evaluate(
        QRELS, runs, ["WorstProvider", "WorstProviderOverall"], providers={"b": "Ben", "c": "Cy", "d": "Cy"}
    )
    rows = [re.split(" {2,}", line) for line in scores.table().to_text().splitlines()]
    assert all("(" not in cell for row in rows for cell in row)
    assert "**" in scores.render("markdown")
    assert not [note for note in scores.notes if note.kind == "undefined"]
    assert scores.to_dict(per_query=True)["one"]["q3"] == {"WorstProvider": None, "WorstProviderOverall": None}


def test_a_mean_that_lacks_queries_is_still_told_from_a_full_one() -> None:
    runs = {"one": RUN, "two": {"q1": ["c"]}}
    cells = evaluate(QRELS, runs, "WorstProvider", providers=MAP, queries="intersection").table().rows
    assert [cell.endswith(" (1)") for _, cell in cells] == [False, True]


def test_a_query_without_relevant_documents_counts_as_zero_on_query() -> None:
    judged = {"q1": {"a": 1}, "q2": {"x": 0}}
    scores = evaluate(
        judged, {"q1": ["a"]}, ["WorstProvider", "WorstProviderOverall"], providers=MAP, no_relevant="zero"
    )
    assert scores.to_dict() == {"run": {"WorstProvider": 0.5, "WorstProviderOverall": 1.0}}
    assert "(" not in scores.table().to_text()


def test_with_a_map_the_default_measures_are_followed_by_those_of_providers(command: Command) -> None:
    runs = ("good.run", "other.run")
    header, *_ = command("eval", "qrels.txt", *runs, "--providers", "map.tsv").out.splitlines()
    assert header.split()[-3:] == ["RR", "WorstProvider", "WorstProviderOverall"]
    assert "WorstProvider" not in command("eval", "qrels.txt", *runs, "--providers", "map.tsv", "-m", "AP").out
    assert "WorstProvider" not in command("eval", "qrels.txt", *runs).out


def test_the_command_says_what_the_library_says(command: Command, tmp_path: Path) -> None:
    arguments = ["eval", "qrels.txt", "good.run", "other.run", "--providers", "map.tsv", "-q", "-f", "jsonl"]
    outcome = command(*arguments, "--manifest", "m.json")
    scores = evaluate("qrels.txt", ["good.run", "other.run"], providers="map.tsv")
    assert [json.loads(line) for line in outcome.out.splitlines()] == list(scores.rows(per_query=True))
    assert json.loads((tmp_path / "m.json").read_text()) == json.loads(scores.manifest.to_json())
    in_memory = {"good.run": RUN, "other.run": {"q1": ["a"], "q2": ["c"], "q3": ["y"]}}
    assert scores.to_dict() == evaluate(QRELS, in_memory, providers=MAP).to_dict()


def test_notes_name_the_worst_off_and_what_has_no_provider(command: Command, tmp_path: Path) -> None:
    files = {"map": b"b Ben\nc Cy Twombly\nd Cy Twombly\n"}
    outcome = command(
        "eval", "qrels.txt", "good.run", "other.run", "--providers", "map", "--manifest", "m.json", **files
    )
    assert outcome.code == 0
    for line in (
        "note: 2 relevant documents of 6 without a provider ('a'): credited to nobody; "
        "1 query with no other relevant document, left out of WorstProvider",
        "note: worst-off provider over all queries: good.run 'Cy Twombly' (mean exposure 0.5833 over 2 queries), "
        "other.run 'Ben' (mean exposure 0.0000 over 1 query)",
    ):
        assert line in outcome.err.splitlines()
    manifest = json.loads((tmp_path / "m.json").read_text())
    assert {note["kind"] for note in manifest["notes"]} >= {"without provider", "worst-off provider"}
    assert manifest["qrels"].items() >= {"provider_map": "map", "providers": 2, "without_provider": 2}.items()


def test_a_note_names_all_that_share_the_worst_place_and_each_exposure_asked_for() -> None:
    measures = ["WorstProviderOverall", "WorstProviderOverall(e=dcg)"]
    scores = evaluate(QRELS, {"q1": ["x"], "q2": ["y"], "q3": ["a"]}, measures, providers=MAP)
    (note,) = [note for note in scores.notes if note.kind == "worst-off provider"]
    tied = "run 'Cy Twombly', 'Ben' (mean exposure 0.0000 over up to 2 queries)"
    assert note.text.endswith(f": by WorstProviderOverall {tied}; by WorstProviderOverall(e='dcg') {tied}")


def test_standard_input_is_read_once(command: Command) -> None:
    outcome = command("eval", "-", "good.run", "--providers", "-", stdin=GOOD["qrels.txt"])
    assert (outcome.code, outcome.out) == (2, "")
    assert "stdin" in outcome.err
    assert command("eval", "qrels.txt", "good.run", "--providers", "-", stdin=MAP_TEXT).code == 0


def test_many_providers_take_little_room() -> None:
    """The map of a catalogue names far more providers than have a relevant document; only those are kept."""
    catalogue = {f"item{number}": f"provider{number}" for number in range(50_000)}
    positions = project({"q": {"item7": 1}}, {"q": ["item7"]}, providers=catalogue)
    assert positions.providers is not None
    assert positions.providers.names == ("provider7",)
    assert isinstance(positions.providers, Providers)


# The page for auditors


def test_the_examples_of_the_page_print_what_it_shows() -> None:
    result = doctest.testfile(str(Path(__file__).parents[1] / "docs" / "providers.md"), module_relative=False)
    assert result.attempted > 3
    assert result.failed == 0


def test_a_map_of_very_many_documents_takes_no_memory(tmp_path: Path) -> None:
    (tmp_path / "map").write_text("".join(f"document{number} Ada\n" for number in range(200_000)) + "a Ada\n")
    evaluate(QRELS, {"x": RUN}, ["AP"], providers=MAP)  # imports
    tracemalloc.start()
    try:
        evaluate(QRELS, {"x": RUN}, ["AP"], providers=tmp_path / "map")
        assert tracemalloc.get_traced_memory()[1] < 12 << 20  # all pairs would take 30 MiB
    finally:
        tracemalloc.stop()
