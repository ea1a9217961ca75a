"""A belief written outside the package, in one file, works from `takifugu init` to what the ledger says is spent."""

import re
from pathlib import Path

import pytest
from tests.conformance.release_files import Example, check_release_file
from tests.support.commands import ended, json_of, succeed, words_of
from tests.support.one_file import load
from tests.support.release_files import believe, publish, read_from, release_text
from tests.support.starting import published

from takifugu.core.errors import InputError
from takifugu.releasing.file.loading import json_schema

URN = '''
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from takifugu import extending
from takifugu.extending import Key

Number = Annotated[int, Ge(0)]


@dataclass(frozen=True)
class Urn:
    """An urn from which balls are drawn without replacement."""

    size: Annotated[Number, Key("how many balls are drawn", 6)]
    balls: Annotated[Number, Key("how many balls the urn holds", 10)]
    red: Annotated[Number, Key("how many of them are red", 4)]
    source: Annotated[str, Key("where the belief comes from", "a photograph")] = "assumed"

    names = None
    one_alphabet = True

    def __post_init__(self):
        if self.size > self.balls or self.red > self.balls:
            raise extending.InputError(f"there are only {self.balls} balls", fix="write more balls").at("balls")

    def alphabet(self, entry):
        return ("white", "red")

    def possible(self, entry):
        return (self.red < self.balls, self.red > 0)

    def components(self):
        return (range(self.size),)

    def component(self, number):
        return self

    def position(self, name):
        raise extending.InputError(f"the draws have no names, and {name!r} is one", fix="count them from 0")

    def assumptions(self):
        return (extending.world("The balls are drawn at random, without replacement."),)

    def describe(self):
        return f"{self.size} draws from an urn with {self.red} of {self.balls} balls red ({self.source})"

    def to_dict(self):
        return {"kind": "urn", "size": self.size, "balls": self.balls, "red": self.red, "source": self.source}

    @staticmethod
    def from_dict(data):
        return Urn(data["size"], data["balls"], data["red"], data["source"])


extending.register_belief("urn", Urn, rows="people")
'''
DRAWS = "colour\nred\nwhite\nwhite\nred\nred\nwhite\n"
FILE = release_text(
    read_from("draws", "draws.csv", value="colour"),
    believe("urn", size=6, balls=10, red=4),
    publish("red", "count", states=["red"], epsilon=4.0),
)
FILLED = {
    "source": 'value = "colour"\nbudget = 4.0', "belief": "size = 6\nballs = 10\nred = 4",
    "table": 'states = ["red"]\nepsilon = 4.0',
}  # fmt: skip


@pytest.mark.slow
def test_it_works_from_init_to_the_ledger(tmp_path: Path) -> None:
    load(URN, "urn", tmp_path)
    (tmp_path / "draws.csv").write_text(DRAWS, encoding="utf-8")
    path = tmp_path / "release.toml"
    missing = json_of("init", tmp_path / "draws.csv", "-o", path, "--kind", "urn", "--unit", "-")["fill_in"]
    assert {"belief.size", "belief.balls", "belief.red"} <= {line.partition(":")[0] for line in missing}
    assert published(path, **FILLED)["spent"]["epsilon"] == "4"
    out = tmp_path / "release-published"
    words = words_of(succeed("verify", out / "published-number.certificate.json"))
    assert "6 draws from an urn with 4 of 10 balls red" in words
    assert "drawn at random, without replacement" in (out / "published-number.report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_it_passes_what_every_kind_of_release_file_must(tmp_path: Path) -> None:
    load(URN, "urn", tmp_path)
    (tmp_path / "elsewhere").mkdir()
    faults = (("balls = 10", "balls = -1", "belief.balls"), ('name = "red"', 'name = "../up"', "table[0].name"))
    check_release_file(Example("urn", FILE, {"draws.csv": DRAWS}, faults), tmp_path / "elsewhere")
    assert set(json_schema("urn")["$defs"]["UrnSection"]["properties"]) == {"kind", "size", "balls", "red", "source"}


@pytest.mark.parametrize(("old", "new", "line"), [
    ("size = 6\n", "", "belief.size: is missing; write size = 6 (how many balls are drawn)"),
    ("size = 6", "size = 12", "belief.balls: there are only 10 balls; write more balls"),
    ("size = 6", "size = 7", "source.file: the data must have one row for each entry of the belief: check both"),
    ("red = 4", "red = true", "belief.red: is true, not a whole number; write red = 4"),
    ("red = 4", "read = 4", "belief.read: is not a known key here; did you mean 'red'?"),
    ('value = "colour"', 'value = "colour"\nunit = "who"', "source.unit: is given, and the belief names nobody"),
    ('value = "colour"', 'value = "colour"\ngroup = "who"', "source.group: belongs to a belief of kind users"),
    ('states = ["red"]', 'states = ["rde"]', "table[0].states: the belief has no value 'rde'"),
])  # fmt: skip
def test_its_faults_are_told_as_those_of_ours(tmp_path: Path, old: str, new: str, line: str) -> None:
    load(URN, "urn", tmp_path)
    (tmp_path / "draws.csv").write_text(DRAWS, encoding="utf-8")
    (tmp_path / "release.toml").write_text(FILE.replace(old, new), encoding="utf-8")
    assert line in ended(2, "release", tmp_path / "release.toml").stderr


def test_a_file_that_it_is_read_from_is_not_that_of_the_data(tmp_path: Path) -> None:
    counted = '    photograph: Annotated[extending.FilePath | None, Key("a file of balls", "balls.csv")] = None\n'
    load(URN.replace("\n    names = None", f"{counted}\n    names = None"), "urn", tmp_path)
    (tmp_path / "draws.csv").write_text(DRAWS, encoding="utf-8")
    text = FILE.replace("red = 4", 'red = 4\nphotograph = "draws.csv"')
    (tmp_path / "release.toml").write_text(text, encoding="utf-8")
    refused = ended(2, "release", tmp_path / "release.toml")
    assert "belief.photograph: is the private data itself, so the belief would reveal it" in refused.stderr


@pytest.mark.parametrize(("old", "new", "words"), [
    ('rows="people"', 'section=Urn, rows="people"', "is no section of a belief"),
    ('rows="people"', "section=Urn", 'write register_belief(..., rows="people")'),
    ('rows="people"', 'rows="crowds"', "the shape of the data is 'crowds'"),
    ("@dataclass(frozen=True)\n", "", "is no dataclass, whose fields are keys"),
    ('register_belief("urn"', 'register_belief("network"', "the kind of release file 'network' is registered already"),
    ('Annotated[Number, Key("how many of them are red", 4)]', "int", "the field 'red' of Urn has neither a Key nor a"),
])  # fmt: skip
def test_a_section_that_no_file_could_use_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in URN
    with pytest.raises(InputError, match=re.escape(words)):
        load(URN.replace(old, new), "urn", tmp_path)
