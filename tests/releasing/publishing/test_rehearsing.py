"""Rehearsals: whole releases on made-up data, marked everywhere, of which the same seed makes the same bytes."""

import json
import os
import re
import shutil
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.releasing import files
from tests.support.commands import ended, invoke, json_of, refused, succeed, words_of
from tests.support.release_files import changed
from tests.support.simulated import stationary

import takifugu as tf
from takifugu.analysis.questions.made_up_data import made_up
from takifugu.cli.group import BAD_INPUT, REFUSED
from takifugu.core.errors import InputError, Unsupported
from takifugu.model.secrets.families import ABSENT
from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.certificates.cells import read_table
from takifugu.releasing.certificates.checksum import read_certificate
from takifugu.releasing.publishing.rehearsing import rehearse

SPEC = changed(
    files.SPEC, ("budget = 10", 'budget = 10\nroster = ["Ana", "Ben"]'), ('recording = "run no."\n', ""),
    ("recordings_independent = true\n", ""),
)  # fmt: skip
LONGER = ("--steps", 60, "--allow-useless")


@pytest.fixture
def toml(tmp_path: Path) -> Path:
    """A release file whose data would fail whoever opens them, and whose ledger is no ledger."""
    path = files.write(tmp_path, SPEC, "")
    (tmp_path / "data.csv").unlink()
    os.mkfifo(tmp_path / "data.csv")  # whoever opens it waits for ever
    (tmp_path / "ledger.db").write_bytes(b"no ledger")
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_neither_data_nor_ledger_is_opened_and_every_file_is_marked(toml: Path) -> None:
    outcome = succeed("rehearse", toml, "--seed", 7, *LONGER)
    assert words_of(outcome).count("REHEARSAL, no guarantee") == 3
    assert (toml.parent / "ledger.db").read_bytes() == b"no ledger"
    there = sorted(path.name for path in toml.parent.iterdir())
    assert there == ["data.csv", "ledger.db", "release-rehearsal", "release.toml"]
    written = contents(toml.parent / "release-rehearsal")
    assert len(written) == 10
    for name, content in written.items():
        assert b"ehearsal" in content, name
        assert b"no guarantee" in content, name
    rows = read_table(toml.parent / "release-rehearsal" / "time-use-units.csv")
    assert [row["unit"] for row in rows] == ["Ana", "Ana", "Ben", "Ben"]
    assert {row["rehearsal"] for row in rows} == {"no guarantee"}


@pytest.mark.mutants
def test_the_same_seed_makes_the_same_bytes(toml: Path) -> None:
    folder, seen = toml.parent / "release-rehearsal", list[dict[str, bytes]]()
    for seed in (7, 8, 7):
        succeed("rehearse", toml, "--seed", seed, *LONGER)
        seen.append(contents(folder))
    assert seen[0] == seen[2]
    assert all(seen[0][name] != seen[1][name] for name in seen[0] if not name.endswith(".svg"))


def test_what_a_certificate_of_it_says(toml: Path) -> None:
    rehearsal = rehearse(toml, 7, steps=60, allow_useless=True)
    certificate = read_certificate(rehearsal.folder / "time-use-pooled.certificate.json")
    assert (certificate.rehearsal, certificate.private, certificate.ledger, certificate.date) == (7, False, None, "")
    said = words_of(succeed("verify", rehearsal.folder / "time-use-pooled.certificate.json"))
    assert said.startswith("Rehearsal, no guarantee: certificate of 'time-use-pooled' with made-up data")
    assert "come from the seed 7. Nobody's data were read" in said
    assert "operating system" not in said
    document = json_of("rehearse", toml, "--seed", "7", *map(str, LONGER))
    assert document["rehearsal"].startswith("REHEARSAL, no guarantee: 2 people and their data are made up")
    assert [table["name"] for table in document["tables"]] == ["time-use-units", "time-use-pooled"]


def test_no_ledger_takes_it(toml: Path, tmp_path: Path) -> None:
    folder = rehearse(toml, 7, steps=60, allow_useless=True).folder
    said = refused("ledger", "import-certificates", tmp_path / "other.db", folder)
    assert "is of a rehearsal with made-up data, so there is nothing to enter" in said
    assert said.count(":") == 2
    assert "release" not in words_of(invoke("ledger", "show", tmp_path / "other.db")).replace("releases", "")


def test_a_release_has_no_seed(toml: Path) -> None:
    said = words_of(ended(BAD_INPUT, "release", toml, "--seed", 7))
    assert "Whoever knows the seed knows the noise" in said
    assert "takifugu rehearse FILE --seed 7" in said


def test_what_is_refused_is_refused_here(toml: Path) -> None:
    toml.write_text(SPEC.replace("budget = 10", "budget = 1"), encoding="utf-8")
    said = words_of(ended(REFUSED, "rehearse", toml, "--seed", 7, *LONGER))
    assert "budget" in said
    assert not (toml.parent / "release-rehearsal").exists()
    for words, names in (([], "--seed"), (["--seed", -1], "seed"), (["--seed", 1, "--people", 0], "people")):
        assert names in words_of(ended(BAD_INPUT, "rehearse", toml, *words))


def test_files_of_a_release_are_not_overwritten(toml: Path) -> None:
    folder = rehearse(toml, 7, steps=60, allow_useless=True).folder
    path = folder / "time-use-units.certificate.json"
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.5, 0.5]] * 2, 9))
    made = tf.release(tf.calibrate(framework, tf.Count(1), epsilon=1), [0] * 9)
    path.write_text(made.certificate.to_json(), encoding="utf-8")
    before = contents(folder)
    assert "is of a release, and would be overwritten" in refused("rehearse", toml, "--seed", 7, *LONGER)
    assert contents(folder) == before


def test_data_in_its_folder_are_not_overwritten(toml: Path) -> None:
    data = toml.parent / "release-rehearsal" / "time-use-units.csv"
    data.parent.mkdir()
    data.write_bytes(b"the private data")
    toml.write_text(SPEC.replace('"data.csv"', f'"{data.parent.name}/{data.name}"'), encoding="utf-8")
    assert "would replace 'time-use-units.csv'" in refused("rehearse", toml, "--seed", 7, *LONGER)
    assert contents(data.parent) == {data.name: b"the private data"}


def test_people_and_steps_are_those_of_the_caller(toml: Path) -> None:
    rehearsal = rehearse(toml, 7, people=3, steps=40, allow_useless=True)
    assert {row["unit"] for row in rehearsal.tables[0].rows} == {"person 1", "person 2", "person 3"}
    assert "3 people and their data are made up, in recordings of 40 steps" in rehearsal.words
    written = json.loads((rehearsal.folder / "time-use-pooled.certificate.json").read_text(encoding="utf-8"))
    assert "3 independent recordings of 40 steps" in written["beliefs"][0]


@pytest.mark.parametrize("asked", [{"people": 10**9}, {"steps": 10**10}, {"people": 10**4, "steps": 10**4}])
def test_more_steps_than_can_be_made_up_are_refused_at_once(toml: Path, asked: dict[str, int]) -> None:
    with pytest.raises(InputError, match="are too many to be made up: at most 50,000,000 are"):
        rehearse(toml, 7, allow_useless=True, **asked)
    assert not (toml.parent / f"{toml.stem}-rehearsal").exists()


def test_tables_of_one_window_are_about_the_same_data(toml: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without noise the values of all people add up to those of the pooled table."""
    from takifugu.analysis.randomisers import DiscreteLaplace

    monkeypatch.setattr(DiscreteLaplace, "draw", lambda self, answer, entropy: tuple(x * self.grid for x in answer))
    units, pooled = rehearse(toml, 7, steps=60, allow_useless=True).tables
    sums = Counter[str]()
    for row in units.rows:
        sums[row["cell"]] += row["value"]
    assert {row["cell"]: row["value"] for row in pooled.rows} == sums
    assert sum(sums.values()) == 120


def bits() -> InsecureSeededEntropyForTests:
    return InsecureSeededEntropyForTests(2026)


@pytest.mark.mutants
def test_a_made_up_chain_follows_its_matrices() -> None:
    matrices = [[[0.9, 0.1], [0.4, 0.6]], [[0.2, 0.8], [0.7, 0.3]]]
    chain = tf.PeriodicChain(matrices, 40_001, initial=[0, 1], states=["a", "b"])
    states = ["ab".index(state) for state in made_up(chain, bits())]
    assert states[0] == 1
    for phase, matrix in enumerate(matrices):
        moves = Counter(zip(states[phase:-1:2], states[phase + 1 :: 2], strict=False))
        for before in range(2):
            total = moves[before, 0] + moves[before, 1]
            assert abs(moves[before, 0] / total - matrix[before][0]) < 5 * np.sqrt(0.25 / total)
    pieces = tf.IndependentPieces(tf.MarkovChain(matrices[0], 3), [1, 2, 3] * 4000)
    starts = Counter(piece[0] for piece in made_up(pieces, bits()))
    assert abs(starts[0] / 12_000 - stationary(matrices[0])[0]) < 5 * np.sqrt(0.25 / 12_000)
    assert set(map(type, made_up(tf.MarkovChain(matrices[0], 30, initial="any"), bits()))) == {int}


@pytest.mark.mutants
def test_made_up_people_records_and_networks() -> None:
    users = tf.IndependentUsers([{"x": Fraction(1, 4), "y": Fraction(3, 4)}] * 9000, presence=0.5, absence="removed")
    seen = Counter(made_up(users, bits()))
    assert abs(seen[ABSENT] / 9000 - 0.5) < 0.03
    assert abs(seen["x"] / 9000 - 0.125) < 0.02
    table = tf.JointTable([("a", 0), ("a", 1), ("b", 1)], [0.5, 0.3, 0.2], names=["group", "ill"])
    rows = Counter(made_up(tf.Records(table, 9000), bits()))
    assert all(abs(rows[row] / 9000 - share) < 0.03 for row, share in zip(table.rows, (0.5, 0.3, 0.2), strict=True))
    assert made_up(table, bits()).keys() == {"group", "ill"}
    entropy = bits()
    network = tf.BayesianNetwork([("a", [0, 1], [], [0.3, 0.7]), ("b", [0, 1], ["a"], [[0.9, 0.1], [0.2, 0.8]])])
    pairs = Counter((record["a"], record["b"]) for record in (made_up(network, entropy) for _ in range(5000)))
    assert abs(pairs[0, 0] / 5000 - 0.27) < 0.04
    assert abs(pairs[1, 0] / 5000 - 0.14) < 0.04
    cliques = tf.CliqueInfection([["ann", "bob", "cem"]], {3: [0.5, 0, 0.5, 0]}, states=["well", "ill"])
    ill = Counter(tuple(sorted(name for name, state in made_up(cliques, entropy).items() if state == "ill"))
                  for _ in range(3000))  # fmt: skip
    assert ill.keys() == {(), ("ann", "bob"), ("ann", "cem"), ("bob", "cem")}
    assert abs(ill[()] / 3000 - 0.5) < 0.05
    assert all(abs(ill[who] / 3000 - 1 / 6) < 0.04 for who in ill if who)


def test_of_other_beliefs_nothing_is_made_up(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="no data are drawn from"):
        made_up(tf.ReversibleChains(0.2, 0.5, 9), bits())
    shutil.copy(Path(__file__).parents[3] / "examples" / "venues.toml", tmp_path)
    said = words_of(ended(REFUSED, "rehearse", tmp_path / "venues.toml", "--seed", 7, "--allow-useless"))
    assert "nothing is believed of these data, so none are drawn: rehearse a file of a Markov chain" in said


def test_a_number_that_the_file_fixes_is_refused_and_not_left_out(tmp_path: Path) -> None:
    succeed("example", "households", "--output", tmp_path)
    for words in (("rehearse", "--seed", 1), ("attack",)):
        assert "leave --steps out" in words_of(ended(BAD_INPUT, *words, tmp_path / "households.toml", "--steps", 5))
    alone = tmp_path / "households.toml"
    alone.write_text(re.sub(r'(?s)(roster = .*?\]|unit\w* = .*?)\n', "", alone.read_text()))
    assert "leave --people out" in words_of(ended(BAD_INPUT, "rehearse", alone, "--seed", 1, "--people", 3))


def test_a_folder_that_cannot_be_written_to_has_a_fix_that_works(toml: Path) -> None:
    """The folder of a rehearsal is beside the file, and no option names another."""
    (toml.parent / f"{toml.stem}-rehearsal").write_text("in the way")
    said = refused("rehearse", toml, "--seed", 7, *LONGER)
    assert "cannot be written to (file exists): rehearse a copy of the release file elsewhere" in " ".join(said.split())
