"""Release files of records: networks, tables of people and independent users, from the file to the certificate."""

import contextlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.support.answers import true_answer
from tests.support.release_files import EXPECT, believe, changed, group, hide, publish, read_from, release_text
from tests.support.releases import put, refusal_of, refused

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import DataError, ReadingChanged, SpecError, TakifuguError
from takifugu.releasing.file import loading as spec
from takifugu.releasing.planning import plan

EXAMPLES = Path(__file__).parents[2] / "examples"

BIF = """\
network clinic { }
variable smoke { type discrete [ 2 ] { yes, no }; }
variable cough { type discrete [ 3 ] { none, dry, wet }; }
variable breath { type discrete [ 2 ] { short, good }; }
probability ( smoke ) { table 0.3, 0.7; }
probability ( cough | smoke ) { (yes) 0.3, 0.3, 0.4; (no) 0.6, 0.2, 0.2; }
probability ( breath | smoke ) { (yes) 0.4, 0.6; (no) 0.3, 0.7; }
"""

NETWORK = release_text(
    read_from("clinic", "data.csv", unit="patient", budget=10),
    believe("network", file="clinic.bif", units_independent=True),
    hide(variable="smoke"),
    publish("found", "count", states=["dry", "wet", "short"], variables=["cough", "breath"], epsilon=1,
            mechanism="wasserstein"),
    output="out", expect=EXPECT,
)  # fmt: skip

PATIENTS = "breath,patient,spare,cough,smoke\nshort,p10,x,wet,yes\ngood,p9,x,none,no\nshort,p2,x,none,yes\n"

TABLE = release_text(
    read_from("people", "data.csv", unit="person", budget=10),
    believe("joint-table", source="a public census", units_independent=True,
            fit={"file": "census.csv", "columns": ["origin", "education"]}),
    hide(attribute="origin", a="north", b="south"),
    publish("education", "identity", attribute="education", codes={"basic": 1, "school": 2, "degree": 4}, epsilon=1,
            mechanism="kantorovich"),
    output="out", expect=EXPECT,
)  # fmt: skip

COUNTS = {
    ("north", "basic"): 4, ("north", "school"): 3, ("north", "degree"): 2,
    ("south", "basic"): 1, ("south", "school"): 4, ("south", "degree"): 4,
}  # fmt: skip
PEOPLE = "person,education,origin\nAna,degree,north\nBo,basic,south\n"

USERS = release_text(
    read_from("wards", "data.csv", value="state", group="ward", budget=10),
    believe("users", absence="removed"),
    group("A", 3, ["ill", "well"], ["0.1", "0.9"], presence=0.5),
    group("B", 2, ["ill", "well"], [0.6, 0.4]),
    hide(presence=True),
    publish("ill", "count", states=["ill"], epsilon=1),
    output="out", expect=EXPECT,
)  # fmt: skip

WARDS = "ward,state\nB,ill\nA,absent\nA,well\nB,ill\nA,ill\n"

LAYOUTS = {"network": (NETWORK, PATIENTS), "table": (TABLE, PEOPLE), "users": (USERS, WARDS)}


def write(folder: Path, text: str, data: str | None = None) -> Path:
    rows = "".join(f"{origin},{level}\n" * times for (origin, level), times in COUNTS.items())
    files = {"release.toml": text, "clinic.bif": BIF, "census.csv": f"origin,education\n{rows}"}
    return put(folder, files if data is None else {**files, "data.csv": data})


def problems(folder: Path, text: str, data: str | None = None) -> str:
    caught = refusal_of(write(folder, text, data))
    assert all(": " in line and "; " in line for line in caught.problems)
    return "\n".join(caught.problems)


def answers(path: Path) -> list[tuple[str | None, tuple[int, ...]]]:
    """Return the exact answers of the first release, in grid units, by unit."""
    table = plan.plan(spec.load(path)).tables[0]
    return [(q.unit, true_answer(q.calibration, q.data)) for q in table.questions]


def test_the_exact_answers(tmp_path: Path) -> None:
    assert answers(write(tmp_path, NETWORK, PATIENTS)) == [("p2", (1,)), ("p9", (0,)), ("p10", (2,))]
    assert answers(write(tmp_path, TABLE, PEOPLE)) == [("Ana", (4,)), ("Bo", (1,))]
    assert answers(write(tmp_path, USERS, WARDS)) == [(None, (3,))]


def test_the_calibration_is_that_of_the_same_belief_in_python(tmp_path: Path) -> None:
    belief = tf.JointTable.from_counts(COUNTS, COUNTS.values(), ["origin", "education"], source="a public census")
    framework = tf.Pufferfish(tf.attribute("origin", "north", "south"), belief)
    query = tf.Identity("education", codes={"basic": 1, "school": 2, "degree": 4})
    expected = tf.calibrate(framework, query, 1, mechanism="kantorovich")
    calibration = plan.calibrated(spec.load(write(tmp_path, TABLE))).tables[0].calibrations[0]
    assert (calibration.scale, calibration.guarantee.epsilon) == (expected.scale, expected.guarantee.epsilon)
    assert expected.scale == 2  # 2 of 9 move from basic, 2 of 9 to degree: at best school stays, and one moves 2


def test_counted_masses_are_exact(tmp_path: Path) -> None:
    belief = spec.load(write(tmp_path, TABLE)).belief
    assert isinstance(belief, tf.JointTable)
    masses = dict(zip(belief.rows, (Fraction(int(m), belief.total or 0) for m in belief.masses), strict=True))
    assert masses == {row: Fraction(times, 18) for row, times in COUNTS.items()}
    assert "a public census; counted in census.csv" in belief.describe()


def test_one_record_needs_no_unit(tmp_path: Path) -> None:
    text = NETWORK.replace('unit = "patient"\n', "").replace("units_independent = true\n", "")
    assert answers(write(tmp_path, text, "smoke,cough,breath\nyes,dry,short\n")) == [(None, (2,))]
    with pytest.raises(DataError, match="several rows"):
        plan.plan(spec.load(write(tmp_path, text, PATIENTS)))


def test_numbers_are_read_as_they_are_declared(tmp_path: Path) -> None:
    text = USERS[: USERS.index("[[belief")].replace('group = "ward"\n', "").replace('absence = "removed"', "")
    text += 'size = 3\nvalues = [0, 5]\nprobabilities = [0.5, 0.5]\n\n[[table]]\nname = "s"\nquery = "mean"\n'
    text += "epsilon = 1\n"
    frame = pl.DataFrame({"state": [0, 5, 5]})
    table = plan.plan(spec.load(write(tmp_path, text), frame)).tables[0]
    assert true_answer(table.questions[0].calibration, table.questions[0].data) == (2,)
    assert table.calibrations[0].randomiser.grid == Fraction(5, 3)
    path = write(tmp_path, text)
    with pytest.raises(SpecError, match=r'numbers with a point .*; or value = "cast\(.*"state.*" AS bigint\)"'):
        spec.load(path, pl.DataFrame({"state": [0.0, 5.0, 5.0]}))
    path.write_text(text.replace('value = "state"', 'value = "cast(state AS bigint)"'))
    again = plan.plan(spec.load(path, pl.DataFrame({"state": [0.0, 5.0, 5.0]}))).tables[0]
    assert again.questions[0].data == table.questions[0].data


@pytest.mark.mutants
def test_where_whose_a_row_is_changed_names_are_asked_about_too(tmp_path: Path) -> None:
    """A ledger knows people by their names alone: the same rows under other names are those of other people."""
    table = changed(TABLE, ('mechanism = "kantorovich"', 'mechanism = "group-dp"'))
    tf.release_file(write(tmp_path, table, PEOPLE), allow_useless=True)
    later = changed(table, ('unit = "person"', 'unit = "lower(person)"'), ('name = "education"', 'name = "later"'))
    path = write(tmp_path, later, PEOPLE)
    said = refused(path, kind=ReadingChanged, allow_useless=True)
    assert "are these the same entries, under the same names?" in str(said)
    tf.release_file(path, allow_useless=True, same_entries="cleaned")
    certificate = " ".join((tmp_path / "out" / "later.certificate.txt").read_text(encoding="utf-8").split())
    assert "to be the same entries, under the same names (cleaned)" in certificate


BAD_DATA = [
    ("network", PATIENTS.replace("wet", "bloody"), "row 1: a value in \"cough\" that is not declared"),
    ("network", PATIENTS.replace("p9", "p10"), "row 2: a second row of one person"),
    ("network", PATIENTS.replace("p9", "Total"), "has a name of totals"),
    ("network", PATIENTS.replace("p9", "7").replace("p10", "007"), "is written in two ways in rows 1 and 2"),
    ("network", PATIENTS.replace("p9", ""), "row 2: nothing in \"patient\""),
    ("network", PATIENTS.replace("p9", " p9"), "a name in \"patient\" with blanks around it"),
    ("network", PATIENTS.replace("none", ""), "row 2 and 1 more: nothing in \"cough\""),
    ("network", PATIENTS.splitlines()[0] + "\n", "no rows"),
    ("table", PEOPLE.replace("basic", "Preschool"), "row 2: a value in \"education\""),
    ("table", PEOPLE.replace("south", "Southh"), "in \"origin\" that is a declared one up to case"),
    ("table", PEOPLE.replace("south", "elsewhere"), "row 2: a value in \"origin\""),
    ("users", WARDS.replace("well", "dead"), "row 3: a value in \"state\""),
    ("users", WARDS.replace("B,ill", "B,absent"), "column 'state' has a value"),
    ("users", WARDS.replace("A,ill", "C,ill"), "not a group of the belief"),
    ("users", WARDS.replace("A,ill", "B,ill"), "the declared number of rows"),
    ("users", WARDS + "A,ill\n", "one row for each user"),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("kind", "data", "words"), BAD_DATA)
def test_bad_data_are_refused_and_nothing_is_spent(kind: str, data: str, words: str, tmp_path: Path) -> None:
    Ledger.open(tmp_path / "ledger.db")
    refusal = str(refused(write(tmp_path, LAYOUTS[kind][0], data)))
    assert words in refusal
    assert not any(secret in refusal for secret in ("bloody", "Preschool", "Southh", "elsewhere", "dead"))


BAD_FILES: list[tuple[str, str, str, str]] = [
    ("network", 'variable = "smoke"', 'variable = "smok"', "hide: the network has no node 'smok'; write one of"),
    ("network", 'variable = "smoke"', 'attribute = "smoke"', "attribute: belongs to a belief of kind 'joint-table'"),
    ("network", 'variable = "smoke"', "presence = true", "hide.presence: belongs to a belief of kind 'users'"),
    ("network", '"dry", "wet"', '"dri", "wet"', "table[0].states: the belief has no value 'dri'"),
    ("network", '["cough", "breath"]', '["cough", "breth"]', "table[0].variables: the network has no node 'breth'"),
    ("network", "units_independent = true", "", "belief.units_independent: must be declared"),
    ("network", 'unit = "patient"', 'unit = "whose"', "source.unit: the first line of data.csv has no 'whose'"),
    ("network", 'unit = "patient"', 'unit = "smoke"', "source.unit: unit depends on 'smoke', as value does"),
    ("network", 'unit = "patient"', 'value = "smoke"', "source.value: belongs to a belief of kind users"),
    ("network", '"clinic.bif"', '"none.bif"', "belief.file: the network file"),
    ("network", 'query = "count"', 'query = "identity"', "table[0].attribute: is missing"),
    ("network", "epsilon = 1", "epsilon = 0", "table[0].epsilon: "),
    ("network", 'kind = "network"', 'kind = "netwrk"', 'write kind = "network" or '),
    ("table", 'b = "south"', 'b = "east"', "hide: the belief has no value 'east'"),
    ("table", 'b = "south"', "", "hide: a and b are the two values"),
    ("table", 'b = "south"', 'b = "north"', "hide: the secret compares 'north' with itself"),
    ("table", "basic = 1, ", "", "table[0].codes: the query gives no code for state 'basic'"),
    ("table", "basic = 1", "base = 1", "table[0].codes: the belief has no value 'base'"),
    ("table", '"origin", "education"]', '"origin", "educ"]', "belief.fit: the first line of census.csv has no 'educ'"),
    ("table", 'source = "a public census"', "", "belief.source: is missing"),
    ("table", '"census.csv"', '"data.csv"', "belief.fit.file: is the private data itself"),
    ("users", "units_independent = true", "", "belief.units_independent: must be declared, because each row"),
    ("users", 'value = "state"', "", "source.value: is missing"),
    ("users", 'group = "ward"', "", "source.group: is missing"),
    ("users", '["ill", "well"]', '["ill", ""]', "belief: '' counts as missing"),
    ("users", "[0.6, 0.4]", "[0.6, 0.6]", "belief: the probabilities of a user's distribution sum to 1.2"),
    ("users", "[0.6, 0.4]", "[0.6]", "belief: there are 2 values and 1 probabilities"),
    ("users", "[0.6, 0.4]", "[nan, 0.4]", "belief: the probability of 'ill' is nan"),
    ("users", "presence = 0.5", "presence = -0.5", "belief: a presence is -0.5"),
    ("users", 'absence = "removed"', "", "belief: "),
    ("users", "size = 3", "size = 0", "belief.groups[0].size: is 0"),
    ("users", 'name = "B"', 'name = "A"', "belief.groups: two groups have the same name"),
    ("users", "presence = true", 'variable = "state"', "hide.variable: belongs to a belief of kind 'network'"),
    ("users", 'states = ["ill"]', 'states = ["ill"]\nvariables = ["state"]', "table[0].variables: names columns"),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("kind", "old", "new", "words"), BAD_FILES)
def test_faults_of_the_file_name_their_key(kind: str, old: str, new: str, words: str, tmp_path: Path) -> None:
    text, data = LAYOUTS[kind]
    assert old in text
    assert words in problems(tmp_path, text.replace(old, new), data)


def test_other_files_have_faults_and_several_are_told_at_once(tmp_path: Path) -> None:
    message = problems(tmp_path, NETWORK, PATIENTS.replace("smoke", "smoking"))
    assert message.startswith("source.file: the first line of data.csv has no 'smoke'; its column 5 is spelt alike")
    text = NETWORK.replace('"smoke"', '"smok"').replace('"dry"', '"dri"').replace('"patient"', '"whose"')
    assert len(problems(tmp_path, text, PATIENTS).splitlines()) == 3
    path = write(tmp_path, NETWORK, PATIENTS)
    (tmp_path / "clinic.bif").write_text(BIF[: len(BIF) // 2])
    assert "belief.file" in str(refusal_of(path))
    assert not (tmp_path / "ledger.db").exists()


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", LAYOUTS)
def test_no_value_of_any_key_ends_in_a_traceback(kind: str, tmp_path: Path) -> None:
    """Every key in turn is left out, and set to values of other types."""
    text, data = LAYOUTS[kind]
    path = write(tmp_path, text, data)
    lines = text.splitlines()
    odd: list[Any] = ["", "-1", '""', "[]", "{}", '"§"', "true", "inf", "[[1]]", "{ a = 1 }"]
    for number, line in enumerate(lines):
        if " = " not in line:
            continue
        for value in odd:
            key = line.split(" = ")[0]
            changed = [*lines[:number], f"{key} = {value}" if value else "", *lines[number + 1 :]]
            path.write_text("\n".join(changed), encoding="utf-8")
            with contextlib.suppress(TakifuguError):
                plan.calibrated(spec.load(path))


def test_records_are_not_shown(tmp_path: Path) -> None:
    for text, data in LAYOUTS.values():
        file = spec.load(write(tmp_path, text, data))
        assert not any(word in repr(file.kind.units(file)) for word in ("wet", "degree", "absent"))
        assert "Record(" not in repr(plan.plan(file))
