"""What a gate decided as JUnit XML: any id may be in it, every lost document is, and cases fail if the gate does."""

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate_fixture import HOSTILE, ids, lossy, tiny
from lexirecall.gates.gate import gate
from lexirecall.gates.junit import junit
from lexirecall.gates.result import GateResult
from lexirecall.text import visible
from strategies import quick

LOST, REQUIRED, DECIDED = "nothing lost", "required", "no worse than the baseline"


def parsed(result: GateResult) -> ET.Element:
    """Return the root, once it has what GitLab and Jenkins read: suites, cases with names, and counts."""
    text = junit(result)
    assert text.isascii()
    root = ET.fromstring(text)  # noqa: S314 - it is our own
    assert root.tag == "testsuites"
    cases = list(root.iter("testcase"))
    for suites, own in [(root, cases), *((suite, list(suite)) for suite in root)]:
        assert int(suites.attrib["tests"]) == len(own)
        assert int(suites.attrib["failures"]) == sum(case.find("failure") is not None for case in own)
        assert (suites.attrib["errors"], suites.attrib["skipped"]) == ("0", "0")
    for suite in root:
        assert (suite.tag, bool(suite.attrib["name"])) == ("testsuite", True)
        assert {case.tag for case in suite} == {"testcase"}
    for case in cases:
        assert case.attrib["name"]
        assert case.attrib["classname"]
        assert {child.tag for child in case} in ({"failure"}, {"system-out"})
        for failure in case.iter("failure"):
            assert failure.attrib["message"]
            assert failure.text
    names = [(case.attrib["classname"], case.attrib["name"]) for case in cases]
    assert len(set(names)) == len(names), "cases of one name are shown as one"
    return root


def cases(root: ET.Element, suite: str) -> dict[str, bool]:
    """Return the cases of a suite, and whether they fail."""
    own = root.iterfind(f"testsuite[@name='{suite}']/testcase")
    return {case.attrib["name"]: case.find("failure") is not None for case in own}


def output(root: ET.Element, suite: str, name: str) -> str:
    case = next(each for each in root.iter("testcase") if (each.get("classname"), each.get("name")) == (suite, name))
    return case[0].text or ""


@pytest.mark.parametrize("name", HOSTILE)
def test_xml_of_a_hostile_name_is_valid_and_names_it(name: str) -> None:
    result = lossy((name, name, name), name)
    names = {visible(f"{name}0"), visible(f"{name}0").replace("\ufffe", r"\ufffe").replace("\uffff", r"\uffff")}
    assert set(cases(parsed(result), LOST)) <= names


@quick(60)
@given(ids, ids, ids, ids)
def test_xml_of_any_name_is_valid(query: str, document: str, other: str, text: str) -> None:
    result = lossy((query, document, other), text)
    root = parsed(result)
    if "\ufffe" not in document and "\uffff" not in document:
        assert visible(f"{document}2") in "".join(root.itertext())


def test_ids_that_look_alike_are_told_apart() -> None:
    qrels = {"a\x00": {"d": 1}, r"a\x00": {"d": 1}, r"a\x00 (2)": {"d": 1}}
    result = gate(qrels, {query: ["x"] for query in qrels}, {query: ["d"] for query in qrels})
    assert len(cases(parsed(result), LOST)) == 3


def test_there_is_a_case_for_each_decision_requirement_and_lost_query() -> None:
    result = lossy(("q", "d", "group"), "a text")
    root = parsed(result)
    assert list(cases(root, DECIDED)) == [each.name for each in result.decisions]
    assert list(cases(root, REQUIRED)) == [each.name for each in result.checks]
    assert list(cases(root, LOST)) == ["q0"]
    assert "in group0" in " ".join(cases(root, DECIDED))
    assert output(root, LOST, "q0") == "1 relevant document lost: d2 (query: a text)\nd2 (was at 2): a text"


def test_every_lost_document_is_listed() -> None:
    root = parsed(tiny(60, 50, require=["no query loses a relevant document"]))
    assert len(cases(root, LOST)) == 50
    assert output(root, REQUIRED, "no query loses a relevant document").count("(was at 2)") == 50


def test_a_lost_query_fails_if_lexirecall_decides_so() -> None:
    assert set(cases(parsed(tiny(8, 6)), LOST).values()) == {True}
    assert set(cases(parsed(tiny(8, 2)), LOST).values()) == {False}, "too few to be significant: the gate passes"


def test_a_query_on_which_fewer_are_found_is_to_blame_if_the_number_found_decides() -> None:
    result = tiny(9, 7, measures=["NumRelRet"])
    first, *others = result.changes
    root = parsed(replace(result, changes=(replace(first, found_now=first.found_before), *others)))
    assert list(cases(root, LOST).values()) == [False, True, True, True, True, True, True]


def test_no_query_fails_for_a_requirement_that_holds() -> None:
    root = parsed(tiny(8, 2, require=["at most 25% of queries lose a relevant document"]))
    assert list(cases(root, REQUIRED).values()) == [False]
    assert set(cases(root, LOST).values()) == {False}
    root = parsed(tiny(8, 2, require=["at most 24.9% of queries lose a relevant document"]))
    assert list(cases(root, REQUIRED).values()) == [True]
    assert set(cases(root, LOST).values()) == {True}


def test_a_lost_query_passes_if_another_measure_decides() -> None:
    """A measure need not have changed where a document is lost; its own case says that the gate fails."""
    root = parsed(tiny(8, 6, measures=["P@2"]))
    assert list(cases(root, DECIDED).values()) == [True]
    assert set(cases(root, LOST).values()) == {False}
    assert output(root, LOST, "q7").startswith("1 relevant document lost: d7b")


def test_a_query_that_gains_more_than_it_loses_is_not_to_blame() -> None:
    result = tiny(9, 7, measures=["LexiRecall"])
    swapped = replace(result, changes=(replace(result.changes[0], sign=1), *result.changes[1:]))
    assert list(cases(parsed(swapped), LOST).values()) == [False, True, True, True, True, True, True]


def test_a_lost_query_fails_if_a_requirement_names_it() -> None:
    root = parsed(tiny(8, 2, require=["no query loses a relevant document"]))
    assert cases(root, DECIDED) == {"NumRelRet": False, "LexiRecall": False}
    assert set(cases(root, LOST).values()) == {True}
    root = parsed(tiny(8, 2, require=["no query loses a relevant document within the first 1"]))
    assert set(cases(root, LOST).values()) == {False}, "they are lost further down"


@quick(40)
@given(
    st.integers(1, 12),
    st.integers(0, 12),
    st.lists(
        st.sampled_from(
            ["All@1>=0.5", "no query loses a relevant document", "at most 40% of queries lose a relevant document"]
        ),
        unique=True,
    ),
    st.sampled_from([None, 0.0, 0.5, 0.99]),
    st.sampled_from(["LexiRecall", "AP", "All@2", "NumRelRet LexiRecall"]),
)
def test_cases_fail_if_and_only_if_the_gate_does(
    num_queries: int, num_lost: int, require: list[str], margin: float | None, measure: str
) -> None:
    result = tiny(num_queries, min(num_lost, num_queries), measures=[measure], require=require, margin=margin)
    assert (parsed(result).attrib["failures"] == "0") == result.passed


def test_a_message_is_short_and_the_body_whole() -> None:
    name = "d" * 5000
    root = parsed(lossy(("q", name, "new"), "t" * 5000))
    for failure in root.iter("failure"):
        assert len(failure.attrib["message"]) <= 300
    assert f"{name}2" in output(root, LOST, "q0")
