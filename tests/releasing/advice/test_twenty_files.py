"""Ten files, strange, small, large and useless: a remedy gives the error that it promised, in all of them."""

import re
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.releasing.advice.test_advice import of_example, of_units
from tests.support.one_file import imported
from tests.support.release_files import changed

import takifugu as tf
from takifugu.cli.samples.examples import examples, write_example
from takifugu.releasing.advice.advice import Advice
from takifugu.releasing.advice.advising import poorest
from takifugu.releasing.advice.changes import applied
from takifugu.releasing.advice.forecast import forecast_of
from takifugu.releasing.advice.worth import Verdict
from takifugu.releasing.file.loading import checked
from takifugu.releasing.planning.plan import plan

STATES = 'states = ["off", "on"]\nmatrix = [[0.95, 0.05], [0.1, 0.9]]'
SIX = "[" + ", ".join(str([0.9 if a == b else 0.02 for b in range(6)]) for a in range(6)) + "]"
#: What is changed in a file about wards by the hour, or in an example.
FILES: dict[str, tuple[str, dict[str, str]]] = {
    "a week of each ward": ("units", {}),
    "a small epsilon": ("units", {"epsilon = 0.2": "epsilon = 0.01"}),
    "one hour": ("units", {"to = 168": "to = 1"}),
    "both": ("units", {'per = "unit"': 'per = "both"'}),
    "one state": ("units", {'query = "histogram"': 'query = "count"\nstates = ["on"]'}),
    "states that alternate": ("units", {"[[0.95, 0.05], [0.1, 0.9]]": "[[0.1, 0.9], [0.9, 0.1]]"}),
    "six states": ("units", {STATES: f'states = ["off", "on", "a", "b", "c", "d"]\nmatrix = {SIX}'}),
    "a reader who wants much": ("units", {"[[table]]": '[expect]\nsource = "a guess"\nmatters = 1\n[[table]]'}),
    "epsilon as text": ("units", {"epsilon = 0.2": 'epsilon = "1/7"'}),
    "a school": ("school", {"epsilon = 2.0": "epsilon = 0.3"}),
    "made-up activities": ("activity", {"epsilon = 1.0": "epsilon = 0.02"}),
}


def advised(name: str, folder: Path) -> tuple[Path, Advice]:
    base, changes = FILES[name]
    path = of_units(folder) if base == "units" else of_example(base, folder)
    path.write_text(changed(path.read_text(encoding="utf-8"), *changes.items()), encoding="utf-8")
    return path, tf.advise(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_the_best_remedy_gives_the_error_that_it_promised(name: str, tmp_path: Path) -> None:
    path, advice = advised(name, tmp_path)
    if advice.verdict is Verdict.GOOD:
        assert advice.remedies == ()
        return
    assert advice.verdict is not None
    assert advice.remedies, "nothing helps"
    best = advice.remedies[0]
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    changed = applied(raw, best.changes)
    assert changed["belief"] == raw["belief"]
    if best.worth.difference is not None:
        assert best.promise == f"{best.sentence}; its ± is {best.joint}"
    foreseen = forecast_of(plan(checked(changed, path)), allow_useless=True)
    now = poorest(foreseen.advice)
    (table,) = (one for one in foreseen.tables if one.name == best.table)
    assert best.joint.half_width in {blur.half_width for blur in table.blurs}, "the dry run shows another ±"
    assert now.ratio == pytest.approx(best.worth.ratio, rel=0.05)
    assert now.ratio < max(one.worth.ratio for one in advice.tables if one.worth is not None)


# What we show is worth reading: every example is good or rough, as the gallery of the pages says.
ROOT = Path(__file__).resolve().parents[3]
HINT = "it is out of date: python tools/gallery.py"
gallery = imported(ROOT / "tools" / "gallery.py")


def check(advice: Advice) -> None:
    for table in advice.tables:
        if table.reason.startswith("each row is randomised by itself"):
            continue  # what is made of these rows is the receiver's
        assert table.worth is not None, table.reason
        assert table.worth.verdict.is_useful, table.sentence


@pytest.mark.mutants
@pytest.mark.parametrize("name", [example.name for example in examples()])
def test_an_example_is_worth_reading_and_in_the_gallery(name: str, tmp_path: Path) -> None:
    written = write_example(name, tmp_path)
    (file,) = (path for path in written if path.suffix == ".toml")
    advice = tf.advise(file)
    check(advice)
    (example,) = (one for one in examples() if one.name == name)
    assert gallery.row(example, advice) in gallery.PAGE.read_text(encoding="utf-8").splitlines(), HINT


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", gallery.STORIES)
def test_a_story_of_the_gallery_is_that_of_its_example(name: str) -> None:
    (example,) = (one for one in examples() if one.name == name)
    page = gallery.PAGE.read_text(encoding="utf-8")
    assert gallery.comparison(example) in page, HINT
    (alternative, picture) = re.findall(rf"!\[(.*)\]\(images/(gallery-{name}-.*\.svg)\)", page)[0]
    drawn = ElementTree.parse(gallery.PICTURES / picture).getroot()
    written = [text.replace(",", "") for text in re.findall(r" (-?[0-9,]+)(?=;|$)", alternative)]
    heights = [float(dot.attrib["cy"]) for dot in drawn.iter("{http://www.w3.org/2000/svg}circle")]
    if not alternative.endswith("as a map"):
        assert len(written) == 8 if alternative.endswith("; and more") else written, HINT
    if heights:
        slope, level = np.polyfit([float(text) for text in written], heights[: len(written)], 1)
        assert slope < 0
        assert all(abs(level + slope * float(text) - y) < 0.2 for text, y in zip(written, heights, strict=False)), HINT
    else:
        texts = [text.split(" ± ")[0].replace(",", "") for text in drawn.itertext() if " ± " in text]
        assert [text for text in texts if text in written] == written, HINT


def test_the_gallery_has_no_other_picture_and_no_other_example() -> None:
    page = gallery.PAGE.read_text(encoding="utf-8")
    assert page.count("\n| `") == len(examples())
    assert {path.name for path in gallery.PICTURES.glob("gallery-*")} == set(re.findall(r"gallery-[\w-]+\.svg", page))
