"""What we show is worth reading: every example is good or rough, as the gallery of the pages says.

That the demo is good stands in `test_advice`.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.support.one_file import imported

import takifugu as tf
from takifugu.cli.samples.examples import examples, write_example
from takifugu.releasing.advice.advice import Advice

ROOT = Path(__file__).resolve().parents[3]
HINT = "it is out of date: python tools/gallery.py"


gallery = imported(ROOT / "tools" / "gallery.py")


def check(advice: Advice) -> None:
    for table in advice.tables:
        if table.reason.startswith("each row is randomised by itself"):
            continue  # what is made of these rows is the receiver's
        assert table.worth is not None, table.reason
        assert table.worth.verdict.is_useful, table.sentence


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [example.name for example in examples()])
def test_an_example_is_worth_reading_and_in_the_gallery(name: str, tmp_path: Path) -> None:
    written = write_example(name, tmp_path)
    (file,) = (path for path in written if path.suffix == ".toml")
    advice = tf.advise(file)
    check(advice)
    (example,) = (one for one in examples() if one.name == name)
    page = gallery.PAGE.read_text(encoding="utf-8").splitlines()
    assert gallery.row(example, advice) in page, HINT


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", gallery.STORIES)
def test_a_story_of_the_gallery_is_that_of_its_example(name: str) -> None:
    (example,) = (one for one in examples() if one.name == name)
    page = gallery.PAGE.read_text(encoding="utf-8")
    assert gallery.settings(example.files[0]) in page, HINT
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
        texts = [text.split(" ± ")[0].replace(",", "") for text in drawn.itertext()]
        assert [text for text in texts if text in written] == written, HINT


def test_the_gallery_has_no_other_picture_and_no_other_example() -> None:
    page = gallery.PAGE.read_text(encoding="utf-8")
    assert page.count("\n| `") == len(examples())
    assert {path.name for path in gallery.PICTURES.glob("gallery-*")} == set(re.findall(r"gallery-[\w-]+\.svg", page))
