"""What a notebook or a console shows of a release, a chain and a calibration: one line, a table, a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import takifugu as tf
from takifugu.cli.samples import write_demo
from takifugu.cli.samples.examples import write_example
from takifugu.core.errors import InputError
from takifugu.core.text.plot import by_itself
from takifugu.releasing.publishing.run import release_file

CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=40, states=["still", "walking"])
CALIBRATION = tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Histogram(), 1)
NOISY = tf.release(CALIBRATION, ["still"] * 30 + ["walking"] * 10)


@pytest.mark.parametrize("thing", [CHAIN, CALIBRATION, NOISY], ids=["chain", "calibration", "release"])
def test_each_is_one_short_line_a_table_and_a_picture(thing: Any, tmp_path: Path) -> None:
    assert len(repr(thing)) < 120
    assert "\n" not in repr(thing)
    assert repr(thing).startswith(f"<{type(thing).__name__}")
    assert thing._repr_html_().count("<table") >= 1
    plot = thing.plot()
    assert ElementTree.fromstring(plot._repr_svg_()).tag.endswith("svg")
    assert plot.save(tmp_path / "a.svg").read_text(encoding="utf-8") == by_itself(plot.svg)
    assert plot.save(tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="no name of a picture"):
        plot.save(tmp_path / "a.gif")


def test_what_they_say() -> None:
    assert repr(CHAIN) == "<MarkovChain: 2 states, 40 steps>"
    about = "how often each state occurs, 2 values"
    assert repr(NOISY) == f"<Release release: {about}, {CALIBRATION.mechanism}, epsilon 1>"
    assert "still" in NOISY.plot().svg
    assert ">10 " in CHAIN.plot().svg or ">10<" in CHAIN.plot().svg
    html = CHAIN._repr_html_()
    assert "0.9" in html
    assert "walking" in html


def test_what_has_no_picture_says_so() -> None:
    with pytest.raises(InputError, match="no mechanisms were compared"):
        tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Histogram(), 1, mechanism="group").plot()
    with pytest.raises(InputError, match="no state of the chain ever ends"):
        tf.MarkovChain([[1.0, 0.0], [0.0, 1.0]], 4, initial=[0.5, 0.5]).plot()


def test_advice_and_what_was_published_are_one_line_each(tmp_path: Path) -> None:
    file = write_demo(tmp_path)
    outcome = release_file(file, new_ledger=True)
    assert repr(outcome) == "<Outcome: time-use-units, time-use-pooled>"
    said = "<Published time-use-pooled: how often each state occurs, for all participants together, in rows, 4 rows>"
    assert repr(outcome.tables[1]) == said
    assert repr(tf.advise(file)).startswith("<Advice: time-use-units: good: differences above")


def test_what_was_published_has_its_picture(tmp_path: Path) -> None:
    for table in release_file(write_demo(tmp_path), new_ledger=True).tables:
        assert ElementTree.fromstring(table.plot()._repr_svg_()).tag.endswith("svg")
        assert table.plot().svg in table._repr_html_()


def test_a_table_that_has_no_picture_says_so(tmp_path: Path) -> None:
    file = write_example("survey", tmp_path)[0]
    text = file.read_text(encoding="utf-8").replace('query = "count"\nstates = ["yes"]', 'query = "mode"')
    file.write_text(text, encoding="utf-8")
    (table,) = release_file(file, new_ledger=True).tables
    with pytest.raises(InputError, match="has no picture"):
        table.plot()
