"""Two tables that differ in what is hidden are equal in all that is public, but for the noisy values themselves.

Values are drawn as if every answer were 0, so that whatever differs then does not come from noise: files, words,
notices, what is spent. Rows stand in another order, too.
"""

import gc
import re
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pytest
from tests.releasing.attribute_files import BODIES, NORMAL, PARAMETERS, RECORDS, SCHOOL, STAFF
from tests.releasing.test_records import NETWORK, PATIENTS, PEOPLE, TABLE, USERS, WARDS
from tests.releasing.test_records import write as with_public_files
from tests.support.release_files import EXPECT, believe, changed, hide, publish, read_from, release_text
from tests.support.scripted_entropy import seeded

import takifugu as tf
from takifugu.releasing.publishing import publish as publishing
from takifugu.releasing.publishing import run

CONTACTS = release_text(
    read_from("pupils", "data.csv", unit="pupil", value="state", budget=3),
    believe("contacts", file="meetings.csv", columns=["one", "other"], people=["finn"], states=["well", "ill"],
            outside=0.1, inside=0.4, source="a textbook"),
    publish("flu", "count", states=["ill"], epsilon=1),
    output="out", expect=EXPECT,
)  # fmt: skip
VISITS = release_text(
    read_from("infected", "data.csv", unit="who", value="where", budget=3),
    believe("asymmetric", places=["bar", "gym", "park"], most=2),
    hide(visits="all"),
    publish("safe", "safe", at_most=1, epsilon=1),
    publish("visitors", "visitors", epsilon=1),
    output="out",
)  # fmt: skip
DENSITY = release_text(
    read_from("customers", "data.csv", budget=3),
    believe("density", records=3, source="ten years", column="weight", answer="mean", about="income", function="mean",
            ranges={"weight": [0, 200]}, resolution="0.01",
            given=[{"value": 40, "mean": 70, "deviation": 0.7}, {"value": 45, "mean": 72, "deviation": 0.7}]),
    hide(property={"attribute": "income", "function": "mean"}),
    publish("weights", "mean", attribute="weight", epsilon=1),
    output="out", expect=EXPECT,
)  # fmt: skip


def turned(rows: str) -> str:
    """Return a table with its rows in another order."""
    header, *others = rows.splitlines()
    return "\n".join([header, *reversed(others)]) + "\n"


#: Of each kind of file a table, and one that could stand in its place.
TWINS: dict[str, tuple[str, str, str, str]] = {
    "network": (NETWORK, "data.csv", PATIENTS, turned(PATIENTS.replace("wet,yes", "none,no"))),
    "joint table": (
        changed(TABLE, ("kantorovich", "group-dp")), "data.csv", PEOPLE,
        turned(PEOPLE.replace("basic,south", "school,north")),
    ),
    "users": (USERS, "data.csv", WARDS, "ward,state\nA,ill\nA,ill\nA,ill\nB,well\nB,ill\n"),
    "contacts": (
        CONTACTS, "data.csv", "pupil,state\nana,ill\nben,well\nfinn,well\n", "pupil,state\nfinn,ill\nben,ill\nana,ill\n"
    ),
    "visits": (VISITS, "data.csv", "who,where\nA,bar\nA,gym\nB,bar\n", "who,where\nB,park\nB,park\n"),
    "records": (
        RECORDS, "staff.csv", STAFF, turned(STAFF.replace("yes,b,99", "no,a,").replace("no,a,20", "no,a,-inf")),
    ),
    "normal": (NORMAL, "bodies.csv", BODIES, turned(BODIES.replace("40.000;70.00", "-50;200"))),
    "parameters": (PARAMETERS, "school.csv", SCHOOL, turned(SCHOOL.replace("2,big", "3,small"))),
    "density": (DENSITY, "data.csv", "weight\n70\n71\n72\n", "weight\n0\n200\n3.14159\n"),
}  # fmt: skip


def public(folder: Path, text: str, name: str, rows: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return all that a release shows: its files, what is printed and warned of, and what is spent."""
    path = with_public_files(folder, text, rows)
    (folder / name).write_text(rows, encoding="utf-8")
    (folder / "meetings.csv").write_text("one,other\nana,ben\n", encoding="utf-8")
    with warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always")
        outcome = tf.release_file(path, allow_useless=True)
    shown = {file.name: file.read_text(encoding="utf-8") for file in sorted((folder / "out").iterdir())}
    shown["printed"] = str(capsys.readouterr()) + "".join(str(notice.message) for notice in noticed)
    shown["outcome"] = repr(outcome)
    source = re.search(r'name = "(\w+)"', text)
    assert source is not None
    (ledger,) = folder.glob("*.db")
    shown["spent"] = str(tf.Ledger.open(ledger).spent(source[1]))
    random = r"(sha256:)?[0-9a-f]{12,}|\d{4}-\d\d-\d\d(T[\d:.+]+Z?)?|\b\d\d:\d\d(:\d\d)?"  # ids, digests and times
    return {key: re.sub(random, "*", words.replace(str(folder), "")) for key, words in shown.items()}


@pytest.mark.mutants
@pytest.mark.parametrize("kind", TWINS)
def test_what_was_read_is_gone_with_its_release(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A refusal that a frame keeps for itself keeps all others, and the private folder, until garbage is collected."""
    text, name, rows, _ = TWINS[kind]
    private = tmp_path / "private"
    private.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(private))
    gc.collect()
    gc.disable()
    try:
        public(tmp_path / "one", text, name, rows, capsys)
        assert not [*private.iterdir()]
    finally:
        gc.enable()


@pytest.mark.mutants
@pytest.mark.parametrize("kind", TWINS)
def test_all_but_noisy_values_is_equal(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers, exact = list[Any](), publishing.answer_of

    def nothing(calibration: Any, seen: Any) -> Any:
        answers.append(exact(calibration, seen))
        return tuple(0 for _ in answers[-1])

    monkeypatch.setattr(publishing, "answer_of", nothing)
    monkeypatch.setattr(run, "SystemEntropy", seeded)
    text, name, one, other = TWINS[kind]
    first = public(tmp_path / "one", text, name, one, capsys)
    half = len(answers)
    second = public(tmp_path / "two", text, name, other, capsys)
    assert answers[:half] != answers[half:], "the twins have one answer, so that nothing was looked at"
    assert first.keys() == second.keys()
    assert {key: (first[key], second[key]) for key in first if first[key] != second[key]} == {}
    assert any(key.endswith(".certificate.json") for key in first)
