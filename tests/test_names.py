"""Names of measures: every spelling that is read, the one that is printed, and what is said about all others."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lexirecall import Measure, parse_measure, register
from lexirecall.errors import UnknownMeasure, UsageError
from lexirecall.measures import MEASURES, Parameter
from lexirecall.measures.parameter import GainMap
from lexirecall.names import parse_measures, parse_names
from strategies import quick

decimals = st.integers(1, 9999).map(lambda number: number / 10_000)


def values_of(parameter: Parameter) -> st.SearchStrategy[Any]:
    """Values that a setting allows, whole and fractional, small and large."""
    if parameter.options:
        return st.sampled_from(parameter.options)
    if isinstance(parameter, GainMap):
        grades = decimals | st.integers(1, 10**6)
        return st.dictionaries(grades, st.integers(0, 9) | st.floats(0, 1e300), max_size=4)
    if parameter.kind is bool:
        return st.booleans()
    if parameter.kind is int:
        return st.integers(int(parameter.low), int(min(parameter.high, parameter.below - 1, 2**61)))
    return (decimals | st.integers(0, 10**6) | st.floats(1e-300, 1e300)).filter(
        lambda value: parameter.low <= value <= parameter.high and parameter.above < value < parameter.below
    )


@st.composite
def measures(draw: st.DrawFn) -> Measure:
    """Any row of the table with any of its settings, also those that are the default."""
    row = draw(st.sampled_from(list(MEASURES.values())))
    chosen = draw(st.sets(st.sampled_from(sorted(row.offered)))) if row.offered else set()
    if row.needs_at:
        chosen.add(row.at)
    for names in row.exclusive:
        chosen -= set(draw(st.permutations(names))[1:])
    return row(**{name: draw(values_of(row.offered[name])) for name in chosen})


# Reading and printing


@quick(300)
@given(measures())
def test_reading_is_the_inverse_of_printing(measure: Measure) -> None:
    read = parse_measure(str(measure))
    assert read == measure
    assert str(read) == str(measure)
    assert read.settings == measure.settings
    assert {read: 1}[measure] == 1  # as keys they are one


@quick(100)
@given(measures(), st.data())
def test_the_case_of_a_name_does_not_matter(measure: Measure, data: st.DataObject) -> None:
    printed = str(measure)
    name = "".join(data.draw(st.sampled_from([c.lower(), c.upper()])) for c in measure.name)
    assert parse_measure(name + printed[len(measure.name) :]) == measure


@quick(100)
@given(st.lists(measures(), min_size=1, max_size=6))
def test_several_names_may_stand_in_one_string(several: list[Measure]) -> None:
    unique = list(dict.fromkeys(several))
    assert parse_measures(" ".join(map(str, several))) == unique
    assert parse_measures("\n\t".join(map(str, several))) == unique
    assert parse_measures(map(str, several)) == unique
    assert parse_measures(several) == unique


@pytest.mark.parametrize(
    ("written", "canonical"),
    {
        # settings: blanks, quotes, defaults, order, and numbers in any form
        "RBP( p = 0.5 , rel = 2 )@10": "RBP(p=0.5,rel=2)@10",
        "RBP(rel=2,p=0.5)@10": "RBP(p=0.5,rel=2)@10",
        "RBP(p=0.8)": "RBP",
        "RBP(p=.5)": "RBP(p=0.5)",
        "AP(rel=2.0)@1e2": "AP(rel=2)@100",
        "AP(rel=0.5)": "AP(rel=0.5)",
        "AP(cutoff=10)": "AP@10",
        "R@1e3": "R@1000",
        "TSE(e=dcg)": "TSE(e='dcg')",
        'TSE(e="dcg")': "TSE(e='dcg')",
        "TSE(e='ap')": "TSE",
        "SetF(beta=1)": "SetF",
        "SetF(beta=1e15)": "SetF(beta=1000000000000000)",
        "AP()": "AP",
        "RBP(rel=1)@10": "RBP(rel=1)@10",
        "nDCG(rel=level)": "nDCG(rel='level')",
        "nDCG(rel=1)@10": "nDCG(rel=1)@10",
        "nDCG(gains={0:0, 1:1, 2:3})@10": "nDCG(gains={2:3})@10",
        "nDCG( gains = { 4 : 1.50, 2.0:3, 1: 0 } )": "nDCG(gains={1:0,2:3,4:1.5})",
        "nDCG(gains={1:0,2:1},cutoff=5)": "nDCG(gains={1:0,2:1})@5",
        "nDCG(gains={-1:0,3:3})": "nDCG",
        "nDCG(gains={})": "nDCG",
    }.items(),
)
def test_a_name_is_printed_in_one_way(written: str, canonical: str) -> None:
    assert str(parse_measure(written)) == canonical


TREC_EVAL = {
    "map": "AP", "map_cut_100": "AP@100", "map_cut.5": "AP@5", "ndcg": "nDCG", "ndcg_cut_10": "nDCG@10",
    "recip_rank": "RR", "P_5": "P@5", "P.5": "P@5", "recall_1000": "R@1000", "success_1": "Success@1", "Rprec": "Rprec",
    "bpref": "Bpref", "infAP": "infAP", "iprec_at_recall_0.10": "IPrec@0.1", "iprec_at_recall.0.5": "IPrec@0.5",
    "set_P": "SetP", "set_recall": "SetR", "set_F": "SetF", "num_ret": "NumRet", "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
}  # fmt: skip
RANX = {
    "mrr": "RR", "mrr@10": "RR@10", "map": "AP", "map@100": "AP@100", "ndcg@10": "nDCG@10",
    "ndcg_burges@10": "nDCG(dcg='exp-log2')@10", "precision@5": "P@5", "precision-l2@5": "P(rel=2)@5",
    "recall@100": "R@100", "recall-l3@10": "R(rel=3)@10", "hit_rate@1": "Success@1", "r-precision": "Rprec",
    "r-precision-l2": "Rprec(rel=2)", "rbp.95": "RBP(p=0.95)", "rbp.05": "RBP(p=0.05)", "rbp.8": "RBP", "f1": "SetF",
    "bpref": "Bpref",
}  # fmt: skip


@pytest.mark.parametrize(("theirs", "ours"), [*TREC_EVAL.items(), *RANX.items()])
def test_spellings_of_trec_eval_and_ranx_are_read(theirs: str, ours: str) -> None:
    assert str(parse_measure(theirs)) == ours


@pytest.mark.parametrize(
    "name", ["recall_all", "full_recall", "perfect_recall", "allrel", "PerfRecall", "Recall_All", "ALL"]
)
def test_finding_all_has_the_names_that_others_give_it(name: str) -> None:
    assert str(parse_measure(f"{name}@10")) == str(parse_measure(f"{name}_10")) == "All@10"


def read_or_refused(name: str) -> str:
    """Return the measure that a name is read as, or what is said about it."""
    try:
        return str(parse_measure(name))
    except UnknownMeasure as error:
        return str(error)


ONE_OF_ALL = ["All", "ALL", "al", "full", "Full", "perfect", "perf", "complete", "every", "total"]
A_RECALL = ["recall", "Recall", "RECALL", "recal", "racall", "reccall", "rcall"]


@pytest.mark.parametrize("between", ["", "_", "-", "__", "_of_"])
def test_a_name_that_means_all_is_never_taken_for_recall(between: str) -> None:
    """Recall is higher than that: who asks for all and gets R is told a number that is too good."""
    glued = [] if between else ["al"]  # nobody can tell where it ends
    pairs = [(x, y) for x in ONE_OF_ALL if x not in glued for y in A_RECALL]
    for name in [between.join(pair) for x, y in pairs for pair in ((x, y), (y, x))]:
        assert "All@5" in read_or_refused(f"{name}@5"), name
        assert ("All@20" if between != "-" else "'All'") in read_or_refused(f"{name}_20"), name


@pytest.mark.parametrize("name", ["recall-all", "RecallAll", "recallall", "allrecall", "full-recall", "recall_al"])
def test_a_name_near_all_is_refused_with_all(name: str) -> None:
    with pytest.raises(UnknownMeasure, match="did you mean 'All@5'"):
        parse_measure(f"{name}@5")


def test_each_name_that_a_row_declares_is_read_as_that_row() -> None:
    for row in MEASURES.values():
        plain, cut = (*row.trec, "", "")[:2]
        at = {"cutoff": "10", "recall": "0.50", "share": "0.50", "": ""}[row.at]
        spellings = [plain, *([] if row.needs_at else [row.name, *row.aliases]), *([f"{cut}_{at}"] if cut else [])]
        spellings += [f"{name}@{at}" for name in (row.name, *row.aliases) if row.at]
        assert {parse_measure(name).name for name in spellings if name} == {row.name}


def test_trec_eval_names_several_cut_offs_at_once() -> None:
    assert parse_measures("P.5,10 ndcg_cut.1,3") == parse_measures(["P@5 P@10", "nDCG@1 nDCG@3"])
    with pytest.raises(UsageError, match="names 2 measures, but must name one"):
        parse_measure("P.5,10")


def test_trec_evals_parameter_of_set_f_is_beta() -> None:
    """trec_eval asks for `set_F.0.5`, pytrec_eval for `set_F_0.5`; what follows the name is beta there."""
    assert str(parse_measure("set_F.0.5")) == str(parse_measure("set_F_0.5")) == "SetF(beta=0.5)"


def test_a_measure_asked_for_twice_comes_out_once() -> None:
    assert parse_measures(["map", "AP", MEASURES["AP"], "nDCG", "ap(rel=1)"]) == parse_measures("AP nDCG AP(rel=1)")


# Names of one's own


def test_a_registered_measure_is_known_by_name() -> None:
    squared = Measure("Squared", "falls fast", exposure=lambda i: 1 / i**2, weight=lambda i: i)
    try:
        assert parse_measure(str(register(squared)(rel=2))) == squared(rel=2)
    finally:
        del MEASURES["Squared"]


@pytest.mark.parametrize(
    "name", ["ap", "AP", "map", "recall", "ndcg_cut", "P_5", "ndcg_burges", "my measure", "F@1", ""]
)
def test_a_name_that_is_taken_or_cannot_be_read_is_not_registered(name: str) -> None:
    """Another `map` would change what an old spelling means; a name with a blank would never be understood."""
    before = dict(MEASURES)
    try:
        with pytest.raises(UsageError):
            register(Measure(name, "not that one", exposure=lambda i: 1 / i, weight=lambda i: i))
    finally:
        MEASURES.clear()
        MEASURES.update(before)


# What cannot be read


@pytest.mark.parametrize(
    ("written", "meant"),
    {
        "nDGC@10": "nDCG@10",
        "lastrell": "LastRel",
        "tsee": "TSE",
        "TES(rel=2)": "TSE(rel=2)",
        "recal@10": "R@10",
        "mapp": "AP",
        "racall@3": "R@3",
        "recall_at_10": "R@10",
        "recall-any@5": "Success@5",
        "anyrecall_5": "Success@5",
        "hitrate@5": "Success@5",
        "ndgc_cut_10": "nDCG@10",
        "map_all": "AP",
        "bprefs": "Bpref",
    }.items(),
)
def test_an_unknown_name_is_refused_with_a_suggestion(written: str, meant: str) -> None:
    with pytest.raises(UnknownMeasure, match="unknown measure") as caught:
        parse_measure(written)
    assert repr(written) in str(caught.value)
    assert f"did you mean {meant!r}?" in str(caught.value)


def test_a_name_like_no_other_is_refused_with_all_names() -> None:
    with pytest.raises(UnknownMeasure, match="choose from") as caught:
        parse_measure("xxxxxxx")
    assert all(name in str(caught.value) for name in MEASURES)


def test_all_unknown_names_are_reported_at_once() -> None:
    with pytest.raises(UnknownMeasure) as caught:
        parse_measures(["AP tsee", "nDCG@10", "lexirecal P@0", "ndgc@5"])
    message = str(caught.value)
    assert all(part in message for part in ("'tsee'", "'TSE'", "'lexirecal'", "'ndgc@5'", "'nDCG@5'", "P: cutoff is 0"))
    assert "'AP'" not in message


@pytest.mark.parametrize(
    ("written", "said"),
    {
        "R": "R needs a cutoff: write it as R@10",
        "P(rel=2)": "P needs a cutoff: write it as P@10",
        "recall": "R needs a cutoff: write it as R@10",
        "WSS": "WSS needs a recall: write it as WSS@0.95",
        "IPrec": "IPrec needs a recall",
        "P@0": "P: cutoff is 0, but must be a whole number of at least 1",
        "P@-1": "P: cutoff is -1, but must be",
        "P@2.5": "P: cutoff is 2.5, but must be a whole number",
        "P@nan": "P: cutoff is nan, but must be",
        "P@inf": "P: cutoff is inf, but must be",
        "P@ten": "P: cutoff is 'ten', but must be a number",
        "P@1e30": "P: cutoff is 1e+30, but must be",
        "nDCG@True": "nDCG: cutoff is 'True', but must be a number",
        "RBP(p=1.5)": "RBP: p is 1.5, but must be a number above 0 and below 1",
        "RBP(p=0)": "RBP: p is 0, but must be",
        "RBP(p=1)": "RBP: p is 1, but must be",
        "rbp.0": "RBP: p is 0.0, but must be",
        "IPrec@1.5": "IPrec: recall is 1.5, but must be",
        "WSS@0": "WSS: recall is 0, but must be a number above 0 and at most 1",
        "R@0%": "R: cutoff is 0%, but a share must be above 0% and at most 100%",
        "R@101%": "R: cutoff is 101%, but a share must be",
        "R@nan%": "R: cutoff is nan%, but a share must be",
        "R@ten%": "R: cutoff is 'ten%', but must be a number",
        "R@0.1": "for a share of the corpus, write 10%",
        "P@10%": "P: cutoff is 10%, but must be a number",
        "RRF": "RRF needs a share: write it as RRF@0.1",
        "AP(rel=0)": "AP: rel is 0, but must be a number above 0",
        "AP(rel=inf)": "AP: rel is inf, but must be",
        "AP(foo=1)": "AP has no setting 'foo': it takes rel, cutoff",
        "ERR(rel=2)": "ERR has no setting 'rel': it takes max_grade, cutoff",
        "ndcg-l2@10": "nDCG(gains={1:0})",
        "err-l2": "leave -l2 out",
        "nDCG(rel=two)": "nDCG: rel is 'two', but must be a number or 'level'",
        "AP(rel=level)": "AP: rel is 'level', but must be a number",
        "nDCG(rel=2,gains={1:0})": "gains={1:0} and rel=2 exclude each other, because each says what the gains are",
        "nDCG(rel=2,dcg=exp-log2)": "dcg='exp-log2' and rel=2 exclude each other",
        "nDCG(gains={2:3},dcg=exp-log2)": "dcg='exp-log2' and gains={2:3} exclude each other",
        "nDCG(gains=2)": "nDCG: gains is 2, but must be a map of grades to gains",
        "nDCG(gains={2})": "cannot read '{2}' in the measure 'nDCG(gains={2})'",
        "nDCG(gains={2:1)": "cannot read '{2:1' in the measure",
        "nDCG(gains={1:2,1:3})": "lists a grade twice",
        "nDCG(gains={1:-1})": "nDCG: gains: the gain of grade 1 is -1, but must be a number, 0 or more",
        "nDCG(gains={1:inf})": "the gain of grade 1 is inf, but must be",
        "nDCG(gains={one:1})": "the gain of grade 'one' is given, but a grade must be a number",
        "nDCG(gains={0:1})": "only grades above 0 have a gain",
        "nDCG(gains={-1:2})": "only grades above 0 have a gain",
        "TSE(e=xyz)": "TSE: e is 'xyz', but must be one of ap, dcg, rbp, linear",
        "nDCG(dcg=log10)": "nDCG: dcg is 'log10', but must be one of log2, exp-log2",
        "SL3@10": "SL3 takes no cut-off: write SL3, not SL3@10",
        "Rprec@5": "Rprec takes no cut-off",
        "SetF(beta=-1)": "SetF: beta is -1, but must be a number of at least 0",
        "SetF(beta=1000000000000001)": "SetF: beta is 1000000000000001, but must be",
        "ERR(max_grade=2.5)": "ERR: max_grade is 2.5, but must be a whole number",
        "AP(2)": "cannot read '2' in the measure 'AP(2)'",
        "AP(rel)": "cannot read 'rel'",
        "AP(rel=)": "AP: rel is '', but must be a number",
        "AP(rel=2,rel=3)": "rel",
        "AP(cutoff=5)@10": "cutoff",
        "precision-l2(rel=3)@5": "rel",
    }.items(),
)
def test_a_setting_that_is_not_offered_is_refused(written: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_measure(written)
    assert said in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("written", "name"),
    {
        "R@10%": "R@10%", "recall@12.5%": "R@12.5%", "R@10.0%": "R@10%", "R(cutoff=7%)": "R@7%", "all@5%": "All@5%",
        "WSS@95%": "WSS@0.95", "RRF@10%": "RRF@0.1", "ERF@7%": "ERF@0.07", "Reached(r=95%)@10%": "Reached(r=0.95)@10%",
    }.items(),
)  # fmt: skip
def test_a_share_may_be_written_in_percent(written: str, name: str) -> None:
    assert str(parse_measure(written)) == name
    assert parse_measure(name) == parse_measure(written)


@pytest.mark.parametrize("written", ["AP,nDCG@10,P.5,10", "AP, nDCG@10, P.5,10,", "ap,,ndcg@10 P.5,10"])
def test_names_are_separated_by_blanks_or_commas(written: str) -> None:
    assert parse_names(written) == parse_names(["AP", "nDCG@10", "P@5", "P@10"])


def test_commas_inside_parentheses_separate_settings() -> None:
    assert [str(row) for row in parse_names("RBP(p=0.5,rel=2),nDCG(gains={1:0,2:3})@10")] == [
        "RBP(p=0.5,rel=2)",
        "nDCG(gains={1:0,2:3})@10",
    ]


@pytest.mark.parametrize(
    ("written", "share"), [("WSS@95", "0.95"), ("Depth@100", "1"), ("IPrec@2.5", "0.025"), ("RRF@10", "0.1")]
)
def test_a_share_that_is_written_in_percent_is_refused_with_the_share(written: str, share: str) -> None:
    with pytest.raises(UsageError, match=f"it is a share: write {share} for "):
        parse_measure(written)


@pytest.mark.parametrize(
    "written", ["AP(", "", " ", "@10", "AP@", "AP)", "(AP)", "AP@10@5", "P@10(rel=2)", "=", "10", "AP;RR", ",", "é"]
)
def test_what_is_no_name_is_refused(written: str) -> None:
    with pytest.raises(UsageError, match=r"measure|@"):
        parse_measure(written)


@quick(200)
@example("AP(rel=1" + 400 * "0" + ")")
@example("P@1" + 5000 * "0")
@given(st.text(alphabet="APnDCGrecl@()=,.5_'-l {:}\t", max_size=12) | st.text(max_size=8))
def test_any_text_is_read_or_refused_and_never_crashes(text: str) -> None:
    try:
        measures = parse_measures(text)
    except UsageError:
        return
    assert parse_measures(map(str, measures)) == measures


def test_a_name_follows_the_tables_however_they_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a word meant is remembered, but no longer than the tables are what they were."""
    first, second = (
        Measure("Half", "a share", lambda p, half=half: half / p, lambda i, m: i / m) for half in (0.5, 0.25)
    )
    with pytest.raises(UnknownMeasure):
        parse_measure("Half")
    for row in (first, second):
        monkeypatch.setitem(MEASURES, "Half", row)
        assert parse_measure("half(rel=2)").exposure is row.exposure
    monkeypatch.delitem(MEASURES, "Half")
    with pytest.raises(UnknownMeasure):
        parse_measure("half(rel=2)")


def test_as_many_names_as_anybody_likes() -> None:
    assert [str(parse_measure(f"P@{k}")) for k in range(1, 1200)] == [f"P@{k}" for k in range(1, 1200)]
