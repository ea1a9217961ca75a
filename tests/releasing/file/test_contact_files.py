"""Release files of people who meet: from a public file of meetings to the certificate."""

import re
from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.answers import true_answer
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text
from tests.support.releases import put, refusal_of, refused

import takifugu as tf
from takifugu.core.errors import DataError, SpecError
from takifugu.model.beliefs import meetings
from takifugu.releasing.file import loading as spec

PUPILS = release_text(
    read_from("pupils", "data.csv", unit="who", value="state", budget=10),
    believe("contacts", file="meetings.csv", columns=["one", "other"], at_least={"minutes": 5}, people=["finn"],
            states=["well", "ill"], outside=0.1, inside="2/5"),
    publish("ill", "count", states=["ill"], epsilon=1),
    output="out", expect=EXPECT,
)  # fmt: skip

MEETINGS = "minutes,one,other\n30,ana,ben\n20,cem,ben\n45,ana,cem\n15,dora,eli\n1,cem,dora\n4,eli,dora\n"
STATES = {"finn": "well", "ana": "ill", "ben": "ill", "cem": "well", "dora": "well", "eli": "ill"}


def rows(states: dict[str, str]) -> str:
    return "state,who\n" + "".join(f"{state},{who}\n" for who, state in states.items())


def written(folder: Path, text: str = PUPILS, data: str = rows(STATES), meetings: str = MEETINGS) -> Path:
    (folder / "meetings.csv").write_text(meetings)
    return put(folder, {"spec.toml": text, "data.csv": data})


def expected() -> tf.CliqueInfection:
    return tf.CliqueInfection(
        [["ana", "ben", "cem"], ["dora", "eli"], ["finn"]],
        lambda size: tf.household_infection(size, outside=0.1, inside=0.4),
        ["well", "ill"],
    )


def test_the_order_of_rows_and_of_pairs_says_nothing(tmp_path: Path) -> None:
    meetings = "one,minutes,other\neli,15,dora\nben,20,cem\nben,30,ana\nben,0,ana\ncem,45,ana\ncem,1,dora\n"
    file = spec.load(written(tmp_path, data=rows(dict(reversed(STATES.items()))), meetings=meetings))
    assert file.belief.to_dict() == expected().to_dict()
    (record,) = file.kind.units(file)
    assert record.data == STATES
    assert "The members of each clique are public." in map(str, file.belief.assumptions())


def test_meetings_that_the_belief_ignores_are_counted(tmp_path: Path) -> None:
    """A graph with half of its meetings between groups had a certificate that said nothing of them."""
    text = PUPILS.replace('people = ["finn"]\n', "")
    belief = spec.load(written(tmp_path, text, meetings=f"{MEETINGS}9,cem,dora\n9,finn,finn\n")).belief
    assert belief.source == "assumed; 1 of 5 pairs who met are in two cliques: nothing spreads there"
    assert belief.cliques == expected().cliques


@pytest.mark.parametrize("hide", ['person = "eli"', 'person = "eli"\na = "well"\nb = "ill"'])
def test_one_person_hidden(tmp_path: Path, hide: str) -> None:
    file = spec.load(written(tmp_path, PUPILS.replace("[[table]]", f"[hide]\n{hide}\n\n[[table]]")))
    family = file.framework.secrets[0].family(file.belief)
    assert tuple(family.entries) == (file.belief.position("eli"),)
    assert tf.calibrate(file.framework, tf.Count("ill"), 1, mechanism="group-dp").scale == 2


def test_meetings_with_decimal_commas_are_read_by_a_select(tmp_path: Path) -> None:
    path = written(tmp_path, PUPILS)
    comma = MEETINGS.replace(",", ";").replace("30;", "30,5;")
    (tmp_path / "meetings.csv").write_text(comma)
    caught = refusal_of(path)
    assert "meetings.csv: column 'minutes' has texts that are no numbers" in str(caught)
    (line,) = caught.problems
    assert '''file = "select replace("minutes", ',', '.') as "minutes", ... from ..."''' in line
    columns = "one, other, replace(minutes, ',', '.') as minutes"
    select = f"select {columns} from read_csv('meetings.csv', delim = ';', all_varchar = true)"
    path.write_text(PUPILS.replace('file = "meetings.csv"', f'file = "{select}"'))
    assert spec.load(path).belief.size == 6
    (tmp_path / "meetings.csv").write_text(comma.replace("30,5;", ";"))
    assert "column 'minutes' has missing values; fill them" in str(refusal_of(path))


def test_states_that_a_table_lacks_are_told_by_those_of_the_file(tmp_path: Path) -> None:
    error = refusal_of(written(tmp_path, PUPILS.replace('states = ["ill"]\n', "")))
    assert 'table[0].states: is missing; write states = ["ill"] (' in str(error)


@pytest.mark.parametrize(("columns", "words"), [('["one"]', "[1]: is missing"), ('["a", "b", "c"]', ": is too long")])
def test_a_list_of_another_length_is_told_the_whole_list(tmp_path: Path, columns: str, words: str) -> None:
    error = refusal_of(written(tmp_path, PUPILS.replace('["one", "other"]', columns)))
    assert f'belief.columns{words}; write columns = ["one", "other"] (' in str(error)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("old", "new", "problem"), [
    ('unit = "who"\n', "", r"source\.unit: is missing"),
    ('value = "state"\n', "", r"source\.value: is missing"),
    ('value = "state"', 'value = "state"\ngroup = "who"', r"source\.group: belongs to a belief of kind users"),
    ('value = "state"', 'value = "states"', r"source\.value: .*'states'; its column 1 is spelt alike"),
    ('file = "meetings.csv"', 'file = "data.csv"', r"belief\.file: is the private data itself"),
    ('file = "meetings.csv"', 'file = "nobody.csv"', r"belief\.file: .*nobody\.csv"),
    ('["one", "other"]', '["one", "others"]', r"belief\.file: .*'others'; its column 3 is spelt alike"),
    ('["one", "other"]', '["one"]', r"belief\.columns"),
    ("{ minutes = 5 }", "{ hours = 5 }", r"belief\.file: .*'hours'"),
    ("{ minutes = 5 }", "{ other = 5 }", r"belief: meetings.csv: column 'other' has texts that are no numbers"),
    ('["finn"]', '["finn", "ana"]', r"belief: people lists 'ana', whom the file names too; list only"),
    ("{ minutes = 5 }", "5", r"belief\.at_least: is 5, not { name = ... }; write at_least = { minutes = 5 }"),
    ('["well", "ill"]', '["well", "well"]', r"belief.states: .*states .*repeat a name"),
    ("outside = 0.1", "outside = 1.5", r"belief.outside: outside is 1\.5; it must be a probability"),
    ('inside = "2/5"', 'inside = "much"', r"belief: a probability is 'much'"),
    ('states = ["ill"]\nepsilon', 'states = ["sick"]\nepsilon', r"table\[0\]\.states: .*'sick'"),
    ("epsilon = 1\n", 'epsilon = 1\nvariables = ["ana"]\n', r"table\[0\]\.variables: names columns"),
    ("[[table]]", '[hide]\nperson = "zoe"\n\n[[table]]', r"hide: no clique holds the person 'zoe'"),
    ("[[table]]", '[hide]\nvariable = "ana"\n\n[[table]]', r"hide\.variable: .*with 'contacts' write person"),
    ("[[table]]", '[hide]\nperson = "ana"\na = "ill"\n\n[[table]]', r"hide: a and b are the two values"),
])  # fmt: skip
def test_faults_are_named_and_nothing_is_written(tmp_path: Path, old: str, new: str, problem: str) -> None:
    assert old in PUPILS
    refusal = refused(written(tmp_path, PUPILS.replace(old, new)), kind=SpecError)
    assert re.search(problem, str(refusal))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("data", "problem"), [
    (rows({**STATES, "zoe": "ill"}),
     r'source\.unit: the data has somebody whom the belief does not know: write people = \["Ana"\] under'),
    (rows({k: v for k, v in STATES.items() if k != "ben"}), r"source\.unit: somebody of the belief is not in"),
    (rows(STATES) + "ill,ana\n", r"source\.unit: row 7: a second row of one person"),
    (rows(STATES) + "ill,\n", r'source\.unit: row 7: nothing in "who"'),
    (rows({**STATES, "ben": "sick"}),
     r'row 3: a value in "state" that is not declared.* declared are \[\'well\', \'ill\'\]'),
    (rows({**STATES, "ben": ""}), r'source\.value: row 3: nothing in "state"'),
    (rows({**STATES, "ben": "ill "}), r'source\.value: row 3: a value in "state" that is a declared one up to case'),
    (rows({k: v for k, v in STATES.items() if k != "ben"} | {"Ben": "ill"}),
     r'source\.unit: row 6: a value in "who" that is a declared one up to case'),
    ("state,who\n", r"source\.file: there are no rows"),
])  # fmt: skip
def test_data_that_break_a_rule_release_nothing_and_are_not_repeated(tmp_path: Path, data: str, problem: str) -> None:
    refusal = str(refused(written(tmp_path, data=data), kind=DataError))
    assert re.search(problem, refusal)
    assert not any(word in refusal for word in ("zoe", "sick", "ben"))


def test_a_log_of_too_many_meetings_says_what_to_make_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meetings, "MOST_WORK", 3)
    path = written(tmp_path, PUPILS.replace("at_least = { minutes = 5 }", ""))
    caught = refusal_of(path)
    assert "at_least = { minutes = 5 }" in str(caught)
    assert "frame.groupby(['one', 'other']).size().reset_index(name=\"meetings\")" in str(caught)


def test_a_mapping_by_name_in_the_library() -> None:
    framework = tf.Pufferfish(tf.every_entry(), expected())
    calibration = tf.calibrate(framework, tf.Count("ill"), Fraction(1))
    in_order = [STATES[name] for name in expected().names]
    assert true_answer(calibration, STATES) == true_answer(calibration, in_order) == (3,)
    with pytest.raises(DataError, match="exactly the people of the belief"):
        true_answer(calibration, {**STATES, "zoe": "ill"})
