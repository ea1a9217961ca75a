"""A reference file is a class of populations: people counted once, a half held out, bad keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.releasing.file.test_population_files import places_in, refused

import takifugu as tf
from takifugu.cli import main
from takifugu.core.errors import SpecError
from takifugu.releasing.file.loading import load

LISTED = 'reference = { file = "survey.csv", population = "status", smoothing = 1 }'


def with_reference(folder: Path, more: str) -> Path:
    file = places_in(folder)
    file.write_text(file.read_text().replace(LISTED, LISTED.replace(" }", f", {more} }}")))
    survey = (folder / "survey.csv").read_text().splitlines()
    named = [f"{line},q{number // 8}" for number, line in enumerate(survey[1:])]
    (folder / "survey.csv").write_text("\n".join([f"{survey[0]},who", *named]) + "\n")
    return file


def test_people_of_the_reference_file_are_counted_once(tmp_path: Path) -> None:
    by_people: Any = load(with_reference(tmp_path, 'unit = "who"')).belief
    by_rows: Any = load(with_reference(tmp_path, "confidence = 0.9")).belief
    assert by_people.regions.of_people
    assert sum(by_rows.regions.sizes.values()) == 400
    assert max(by_people.regions.sizes.values()) <= 50
    assert (by_people.regions.confidence, by_rows.regions.confidence) == (0.99, 0.9)
    assert by_people.regions.largest_move > by_rows.regions.largest_move
    assert any("each counts once" in words for words in by_people.assumptions())


def test_a_comparison_says_what_was_measured_on_the_other_half(tmp_path: Path) -> None:
    file = with_reference(tmp_path, 'unit = "who"')
    outcome = CliRunner().invoke(main, ["compare", str(file)])
    words = " ".join(outcome.output.split())
    assert "held out: optimal, found from one half of the people of the reference file" in words
    assert "the better of two guesses at the population is right for" in words
    compared = tf.open_study(file).compare().tables[0]
    assert any(words.startswith("held out:") for words in compared.rows.remarks)


def test_the_certificate_names_the_class(tmp_path: Path) -> None:
    tf.release_file(with_reference(tmp_path, 'unit = "who"'))
    (certificate,) = tmp_path.glob("*-published/places.certificate.txt")
    page = " ".join(certificate.read_text().split())
    for words in ("with confidence 0.99", "the people of the reference file are independent of each other",
                  "outside of the class of populations what is sent of a person tells"):  # fmt: skip
        assert words in page


@pytest.mark.parametrize(("more", "where"), [
    ("confidence = 1.0", "confidence"), ("confidence = 0.0", "confidence"), ("confidence = nan", "confidence"),
    ('unit = "nobody"', "nobody"),
])  # fmt: skip
def test_bad_keys_are_refused(tmp_path: Path, more: str, where: str) -> None:
    assert where in refused(with_reference(tmp_path, more), SpecError)
