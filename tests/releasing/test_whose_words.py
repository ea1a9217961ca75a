"""A source of households is about households, from the comparison to the report; one without names is one source."""

import re
from pathlib import Path

from tests.releasing import files

import takifugu as tf
from takifugu.core.text.tables import fitting

NAMED = "Who is it?"
SPEC = files.SPEC.replace('per = "both"', 'per = "both"\nmechanism = "group"')
UNIT = re.compile(r"\bunits?\b")


def words(folder: Path, end: str) -> str:
    return " ".join((folder / f"out/time-use-{end}").read_text(encoding="utf-8").split())


def test_households_are_households_everywhere(tmp_path: Path) -> None:
    spec, data = (text.replace(NAMED, "household_id") for text in (SPEC, files.data()))
    path = files.write(tmp_path, spec, data)
    study = tf.open_study(path)
    with fitting(100):
        assert "time-use-pooled: all households together" in str(study.compare())
        calibrated, foreseen = str(study.calibrate()), str(study.dry_run())
    assert "for each household" in calibrated
    assert re.search("for (one household|[23] households): ", " ".join(foreseen.split()))
    outcome = study.release()
    assert "for each household" in outcome.tables[0].title
    certificate = words(tmp_path, "pooled.certificate.txt")
    assert "over all 3 households together" in certificate
    assert "which households there are" in certificate
    assert outcome.tables[0].certificate.person == "household"
    assert "Shown for" in words(tmp_path, "units.report.html")
    assert "of all 3 households" in words(tmp_path, "units.report.html")
    for text in (calibrated, foreseen, certificate):
        assert UNIT.findall(text.replace("time-use-units", "")) == []


def test_a_source_that_names_nobody_is_charged_as_a_whole(tmp_path: Path) -> None:
    one = {"ana": (40,)}
    data = "\n".join(line.removeprefix("ana,") for line in files.data(one).replace(f"{NAMED},", "").splitlines())
    spec = SPEC.replace(f'unit = "{NAMED}"\n', "").replace("units_independent = true\n", "")
    path = files.write(tmp_path, spec.replace('per = "both"\n', ""), data)
    text = " ".join(str(tf.open_study(path).dry_run()).split())
    assert "for the whole source: its noise loses less than it promises" in text
