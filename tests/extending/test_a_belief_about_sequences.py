"""A belief about sequences that is written outside the package, in one file, works from `init` to the ledger."""

from pathlib import Path

import pytest
from tests.conformance.release_files import Example, check_release_file
from tests.support.commands import ended, json_of, succeed
from tests.support.one_file import load
from tests.support.release_files import believe, publish, read_from, release_text

SHIFT = '''
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from annotated_types import MinLen

from takifugu import extending
from takifugu.extending import Key


@dataclass(frozen=True)
class Shift(extending.AnySequence):
    """A shift of `length` hours: who is at one place in an hour may be at any of `states` in the next one."""

    length: int
    states: tuple[str, ...]
    source: str = "assumed"

    def with_length(self, length):
        return replace(self, length=length)

    def assumptions(self):
        return (extending.world("Nobody changes places inside an hour."),)

    def describe(self):
        return f"a shift of {self.length} hours at {', '.join(self.states)} ({self.source})"

    def to_dict(self):
        return {"kind": "shift", "length": self.length, "states": list(self.states), "source": self.source}

    @staticmethod
    def from_dict(data):
        return Shift(data["length"], tuple(data["states"]), data["source"])


@dataclass(frozen=True)
class ShiftSection:
    """Shifts, in which any place may follow any other one."""

    kind: Literal["shift"]
    states: Annotated[tuple[str, ...], MinLen(2), Key("the places", ["desk", "ward"])]
    source: Annotated[str, Key("where the belief comes from", "the rota")] = "assumed"

    def faults(self):
        if "break" in self.states:
            yield extending.InputError("a break is no place", fix="leave it out").at("states")

    def belief(self, public):
        return Shift(1, self.states, self.source)


extending.register_belief("shift", Shift, section=ShiftSection, rows="sequences")
'''
HOURS = "nurse,hour,place\n" + "".join(
    f"{nurse},{hour},{place}\n" for nurse in ("ana", "ben") for hour, place in enumerate(["desk", "ward", "ward"])
)
FILE = release_text(
    read_from("rounds", "rounds.csv", unit="nurse", order="hour", step=1, value="place"),
    believe("shift", states=["desk", "ward"], units_independent=True),
    publish("ward", "count", states=["ward"], epsilon=4.0),
)


@pytest.fixture(autouse=True)
def _registered(tmp_path: Path) -> None:
    load(SHIFT, "shift", tmp_path)
    (tmp_path / "rounds.csv").write_text(HOURS, encoding="utf-8")


@pytest.mark.slow
def test_it_passes_what_every_kind_of_release_file_must(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    faults = (
        ('["desk", "ward"]', '["desk", "break"]', "belief.states"),
        ('name = "ward"', 'name = "../up"', "table[0].name"),
    )
    named = ("unit", "order", "units_independent")
    check_release_file(Example("shift", FILE, {"rounds.csv": HOURS}, faults, named), tmp_path / "elsewhere")


@pytest.mark.parametrize(("old", "new", "line"), [
    ("units_independent = true\n", "", "belief.units_independent: must be declared, because source.unit is used"),
    ('states = ["desk", "ward"]', 'states = ["desk"]', "belief.states: "),
    ('order = "hour"', 'order = "hour"\nfrom = 0', "source.from: starts a calendar, and the belief"),
    ('states = ["ward"]', 'states = ["wrad"]', "table[0].states: the belief has no value 'wrad'"),
])  # fmt: skip
def test_its_faults_are_told_as_those_of_chains(tmp_path: Path, old: str, new: str, line: str) -> None:
    (tmp_path / "release.toml").write_text(FILE.replace(old, new), encoding="utf-8")
    assert line in ended(2, "release", tmp_path / "release.toml").stderr


def test_two_releases_of_one_sequence_cost_their_sum(tmp_path: Path) -> None:
    """Nothing is known of how its steps depend on each other, so two tables about it cost twice their epsilon."""
    both = FILE.replace("epsilon = 4.0\n", 'epsilon = 4.0\nper = "unit"\n')
    both += publish("desk", "count", states=["desk"], epsilon=4.0)
    (tmp_path / "release.toml").write_text(both, encoding="utf-8")
    succeed("release", tmp_path / "release.toml", "--allow-useless")
    (source,) = json_of("ledger", "show", tmp_path / "ledger.db")["sources"]
    assert source["spent"]["epsilon"] == "8"
