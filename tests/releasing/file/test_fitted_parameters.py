"""Parameters of populations counted in a public file: quilts with less noise than `group`, and more than none."""

import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

import takifugu as tf
from takifugu.core.errors import SpecError
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan

COLUMNS = ["smokers", "cough", "fever"]
FILE = """\
ledger = "ledger.db"

[source]
name = "ward"
file = "ward.csv"
budget = 1.0

[belief]
kind = "parameters"
records = 40
source = "a public survey"
prior = { fit = { file = "towns.csv", columns = ["smokers", "cough", "fever"] } }

[belief.columns]
smokers = { values = ["no", "yes"], given = { few = ["0.9", "0.1"], many = ["0.7", "0.3"] } }
cough = { values = ["no", "yes"], given = { few = ["0.9", "0.1"], many = ["0.7", "0.3"] } }
fever = { values = ["no", "yes"], given = { few = ["0.9", "0.1"], many = ["0.7", "0.3"] } }

[hide]
parameter = { attribute = "smokers" }

[[release]]
name = "ills"
query = "sum"
attribute = ["smokers", "cough", "fever"]
codes = { no = 0, yes = 1 }
epsilon = 1.0
"""


def towns() -> list[tuple[str, ...]]:
    chance, rows = Random(5), []
    for _ in range(2000):
        level, levels = chance.choice([0, 1]), []
        for _ in COLUMNS:
            levels.append(("few", "many")[level])
            level ^= chance.random() < 0.42
        rows.append(tuple(levels))
    return rows


def written(folder: Path, change: tuple[str, str] = ("", "")) -> Path:
    rows = [",".join(row) for row in (COLUMNS, *towns())]
    (folder / "towns.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "ward.csv").write_text(",".join(COLUMNS) + "\n" + "yes,no,no\nno,yes,no\n" * 20, encoding="utf-8")
    (folder / "release.toml").write_text(FILE.replace(*change), encoding="utf-8")
    return folder / "release.toml"


def largest_influence() -> float:
    """Return the largest log-ratio of the other parameters' counted distribution given two levels of the hidden one."""
    counts, totals = Counter(towns()), Counter(row[0] for row in towns())
    largest = 0.0
    for others in {row[1:] for row in towns()}:
        few, many = (Fraction(counts[level, *others], totals[level]) for level in ("few", "many"))
        largest = max(largest, abs(math.log(few / many)))
    return largest


def test_a_quilt_of_counted_parameters_needs_less_than_group_and_more_than_nothing(tmp_path: Path) -> None:
    (table,) = plan(load(written(tmp_path))).tables
    (question,) = table.questions
    calibration = question.calibration
    assert calibration is not None
    assert calibration.mechanism == "attribute-quilt"
    quilted = 40 / (1 - largest_influence())  # the near set is the column itself
    assert float(calibration.scale) == pytest.approx(quilted, rel=1e-6)
    group = tf.calibrate(calibration.framework, calibration.query, 1, mechanism="group")
    assert 0 < calibration.scale < group.scale == 120
    assert "counted in towns.csv" in calibration.framework.beliefs[0].source


@pytest.mark.parametrize(("change", "place"), [
    (('"cough", "fever"] } }', '"cough", "rash"] } }'), "belief.prior"),
    (("prior = { fit", 'prior = { network = "n.bif", fit'), "belief.prior.fit"),
    (("prior = { fit", 'prior = { columns = ["smokers"], fit'), "belief.prior.columns"),
    (('file = "towns.csv"', 'file = "ward.csv"'), "belief.prior.fit"),
])  # fmt: skip
def test_faults_of_a_fit_name_their_place(tmp_path: Path, change: tuple[str, str], place: str) -> None:
    with pytest.raises(SpecError) as caught:
        load(written(tmp_path, change))
    assert any(line.startswith(place) for line in caught.value.problems), caught.value.problems


CONFIDENT = ('"fever"] }', '"fever"], confidence = 0.9 }')


def scale_of(path: Path) -> float:
    (table,) = plan(load(path)).tables
    (question,) = table.questions
    assert question.calibration is not None
    return float(question.calibration.scale)


def test_with_a_confidence_it_is_a_class_with_more_noise(tmp_path: Path) -> None:
    less = scale_of(written(tmp_path))
    file = load(written(tmp_path, CONFIDENT))
    assert isinstance(file.belief, tf.CountedParameters)
    assert sorted(file.belief.counts) == sorted(Counter(towns()).values())
    assert less < scale_of(file.path) < 120
    assert "point estimate" not in file.belief.describe()


def test_it_is_released_with_the_class_on_the_certificate(tmp_path: Path) -> None:
    tf.release_file(written(tmp_path, CONFIDENT), anyway=True)
    (certificate,) = tmp_path.glob("*/ills.certificate.json")
    words = certificate.read_text(encoding="utf-8")
    assert "covers the true one with confidence 0.9" in words
    assert "2,000 counted populations support" in words


@pytest.mark.parametrize("confidence", ["0", "1", "1.5", '"high"'])
def test_a_confidence_lies_between_0_and_1(confidence: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"prior\.fit\.confidence"):
        load(written(tmp_path, (CONFIDENT[0], CONFIDENT[1].replace("0.9", confidence))))
