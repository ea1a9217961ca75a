"""Words of a release file for readers: on the certificate and the report, and nowhere else."""

import json
import re
from pathlib import Path

import pytest
from tests.releasing import files
from tests.support.release_files import believe, read_from, release_text
from tests.support.release_files import publish as a_table
from tests.support.releases import put, refusal_of

import takifugu as tf
from takifugu.core.errors import InputError, SpecError
from takifugu.core.text.tables import fitting
from takifugu.releasing.certificates.checksum import from_dict
from takifugu.releasing.certificates.facts import checksum_of
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan
from takifugu.releasing.publishing.orders import planned_of
from takifugu.releasing.publishing.run import publish

SPEC = files.SPEC.replace('per = "both"', 'per = "both"\nmechanism = "group-dp"')
TOP = {"publisher": "City Hospital <b>", "contact": "data@hospital.example"}
TABLE = {"title": "Activity & rest", "measured_in": "minutes"}


def lines(words: dict[str, str]) -> str:
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in words.items())


def worded(text: str, top: dict[str, str] = TOP, table: dict[str, str] = TABLE) -> str:
    """Return a release file with the words under its keys."""
    head, *items = text.split("[[table]]\n")
    return lines(top) + "".join([head, *(f"[[table]]\n{lines(table)}{item}" for item in items)])


def identity_of(folder: Path, text: str) -> bytes:
    return planned_of(plan(load(files.write(folder, text))), Path("out"), private=True).identity


@pytest.mark.mutants
def test_no_field_is_left_out(tmp_path: Path) -> None:
    (table, _) = publish(plan(load(files.write(tmp_path, worded(SPEC))))).tables
    content = json.loads(table.files[1].read_text(encoding="utf-8"))
    for key in content:
        if key not in ("checksum", "format"):
            less = {k: v for k, v in {**content, "software": "takifugu 7"}.items() if k != key}
            version = "takifugu 7" if key != "software" else ""
            with pytest.raises(InputError, match=f"{version}.*which this version cannot read"):
                from_dict({**less, "checksum": checksum_of(less)})


@pytest.mark.sampled(5)
@pytest.mark.parametrize("key", [*TOP, *TABLE])
@pytest.mark.parametrize("words", ["", " ", "two\nlines", "a\u202eb", "\u001b[2J", "x" * 201])
def test_words_that_no_line_shows_are_refused(key: str, words: str, tmp_path: Path) -> None:
    top, table = ({k: words if k == key else usual for k, usual in given.items()} for given in (TOP, TABLE))
    spec = worded(SPEC, top, table)
    refusal = refusal_of(files.write(tmp_path, spec))
    assert [line.partition(":")[0].rpartition(".")[2] for line in refusal.problems] == [key]


@pytest.mark.mutants
def test_other_words_are_no_other_release(tmp_path: Path) -> None:
    identities = {
        identity_of(tmp_path, spec)
        for spec in (SPEC, worded(SPEC), worded(SPEC, {"publisher": "another"}, {"title": "other"}))
    }
    assert len(identities) == 1
    adjusted = SPEC.replace('per = "both"', 'per = "both"\nadjust = true')
    assert identity_of(tmp_path, adjusted) not in identities


# A source of households is about households.
NAMED = "Who is it?"
UNIT = re.compile(r"\bunits?\b")


def words(folder: Path, end: str) -> str:
    return " ".join((folder / f"out/time-use-{end}").read_text(encoding="utf-8").split())


@pytest.mark.slow
def test_households_are_households_everywhere(tmp_path: Path) -> None:
    spec, data = (text.replace(NAMED, "household_id") for text in (SPEC, files.data()))
    path = files.write(tmp_path, spec, data)
    study = tf.open_study(path)
    with fitting(100):
        assert "time-use-pooled: all households together" in str(study.cost(with_all=True))
        calibrated, foreseen = str(study.cost()), str(study.dry_run())
    assert "for each household" in calibrated
    assert re.search("for (one household|[23] households) ", " ".join(foreseen.split()))
    outcome = study.release()
    assert "for each household" in outcome.tables[0].title
    certificate = words(tmp_path, "pooled.certificate.txt")
    assert "over all 3 households together" in certificate
    assert "Which households there are" in certificate
    assert outcome.tables[0].certificate.person == "household"
    assert "Shown for" in words(tmp_path, "units.report.html")
    assert "of all 3 households" in words(tmp_path, "units.report.html")
    for text in (calibrated, foreseen, certificate):
        assert UNIT.findall(text.replace("time-use-units", "")) == []


@pytest.mark.mutants
def test_a_declared_noun_is_the_word_and_changes_no_table(tmp_path: Path) -> None:
    unit = f'unit = "{NAMED}"\n'
    bays = SPEC.replace(unit, f'{unit}called = "parking bay"\n')
    assert load(files.write(tmp_path, bays)).people.many == "parking bays"
    assert "parking bay" in str(tf.open_study(files.write(tmp_path, bays)).cost())
    assert identity_of(tmp_path, SPEC) == identity_of(tmp_path, bays)
    with pytest.raises(SpecError, match=r"source\.called: .*control"):
        load(files.write(tmp_path, SPEC.replace(unit, f'{unit}called = "a\\nb"\n')))


TIMES = "who,t,v\nAna,2026-01-05T10:00,x\nAna,2026-01-05T10:15,y\n"
SAMPLES = release_text(
    read_from("meters", "a.csv", rows="samples", unit="who", order="t", step="15min", value="v", budget=9),
    believe("markov-chain", states=["x", "y"], matrix=[[0.5, 0.5], [0.5, 0.5]], units_independent=True),
    a_table("time", "histogram", epsilon=1),
)  # fmt: skip
ANSWERS = release_text(
    read_from("survey", "a.csv", rows="answers", value="v", budget=9),
    believe("users", size=2, values=["x", "y"], probabilities=[0.5, 0.5]),
    a_table("yes", "count", states=["x"], epsilon=1),
)  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("text", "unit"), [
    (SAMPLES, "steps of 15 minutes"), (SAMPLES.replace("[[table]]", '[[table]]\nmeasured_in = "hours"'), "hours"),
    (SAMPLES.replace('"15min"', "15").replace('"t"', '"minute(cast(t AS timestamp))"'), "rows"),
    (ANSWERS, "people"), (ANSWERS.replace('value = "v"', 'value = "v"\ncalled = "household"'), "households"),
])  # fmt: skip
def test_counts_say_what_they_are_of(tmp_path: Path, text: str, unit: str) -> None:
    """Without a calendar a sample of 15 minutes was a row, and so were the answers of people."""
    (table,) = plan(load(put(tmp_path, {"f.toml": text, "a.csv": TIMES}))).tables
    assert table.measured_in == unit
