"""What we show is worth reading: every example, and the demo, is good or rough, or says why it has no verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

import takifugu as tf
from takifugu.cli.samples import write_demo
from takifugu.cli.samples.examples import examples, write_example
from takifugu.releasing.advice.advice import Advice


def check(advice: Advice) -> None:
    for table in advice.tables:
        assert table.worth is not None, table.reason
        assert table.worth.verdict.is_useful, table.sentence


@pytest.mark.parametrize("name", [example.name for example in examples()])
def test_an_example_is_worth_reading(name: str, tmp_path: Path) -> None:
    written = write_example(name, tmp_path)
    (file,) = (path for path in written if path.suffix == ".toml")
    check(tf.advise(file))


def test_the_demo_is_worth_reading(tmp_path: Path) -> None:
    check(tf.advise(write_demo(tmp_path)))
