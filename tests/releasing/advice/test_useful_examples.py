"""What we show is worth reading: every example is good or rough, as the gallery of the pages says.

That the demo is good stands in `test_advice`.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.support.one_file import imported

import takifugu as tf
from takifugu.cli.samples.examples import examples, write_example
from takifugu.releasing.advice.advice import Advice

ROOT = Path(__file__).resolve().parents[3]


gallery = imported(ROOT / "tools" / "gallery.py")


def check(advice: Advice) -> None:
    for table in advice.tables:
        assert table.worth is not None, table.reason
        assert table.worth.verdict.is_useful, table.sentence


@pytest.mark.parametrize("name", [example.name for example in examples()])
def test_an_example_is_worth_reading_and_in_the_gallery(name: str, tmp_path: Path) -> None:
    written = write_example(name, tmp_path)
    (file,) = (path for path in written if path.suffix == ".toml")
    advice = tf.advise(file)
    check(advice)
    (example,) = (one for one in examples() if one.name == name)
    hint = "it is out of date: python tools/gallery.py"
    page = gallery.PAGE.read_text(encoding="utf-8").splitlines()
    assert gallery.row(example, advice) in page, hint
    for table in advice.tables:
        (alternative,) = (line for line in page if line.endswith(f"](images/gallery-{name}-{table.name}.svg)"))
        picture = ElementTree.parse(gallery.PICTURES / f"gallery-{name}-{table.name}.svg").getroot()
        values = [text.split(" ± ")[0] for text in picture.itertext() if " ± " in text]
        said = re.findall(r" (-?[0-9,]+)(?=[;\]])", alternative)
        assert values == said or (values[:8] == said and "; and more]" in alternative), hint


def test_the_gallery_has_no_other_example() -> None:
    page = gallery.PAGE.read_text(encoding="utf-8")
    assert page.count("\n| `") == len(examples())
