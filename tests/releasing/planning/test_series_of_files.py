"""Release files whose tables begin a series of normal releases, or share a delta, up to what the ledger counts."""

import json
import random
from fractions import Fraction
from pathlib import Path

import pytest
from tests.releasing import files
from tests.support.commands import ended, invoke, succeed, words_of
from tests.support.release_files import EXPECT, believe, changed, publish, read_from, release_text
from tests.support.releases import put, spent

import takifugu as tf
from takifugu.accounting.composition import charge_of, joint
from takifugu.accounting.ledger import Amount
from takifugu.cli.group import REFUSED
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan

WEEK = release_text(
    read_from("study", "data.csv", order="hour", value="state", step="1h", from_="2026-01-05", until="2026-01-06",
              budget={"epsilon": 4, "delta": 1e-4}),
    believe("markov-chain", states=["still", "walking"], matrix=[[0.9, 0.1], [0.4, 0.6]]),
    output="out", expect=EXPECT,
)  # fmt: skip
TABLE = """
[[table]]
name = "{name}"
query = "{query}"
window = "2026-01-05"
{keys}
"""
NORMAL = 'epsilon = 1\ndelta = 1e-6\nmechanism = "influence-gaussian"'
BEGINS = "begins_series = true"
COUNT = ("walking", "count", f'states = ["walking"]\n{NORMAL}')
UNIMPORTANT = '[table.expect]\nsource = "a test"\nmatters = 1000\nunimportant = ["still", "walking"]\n'
HISTOGRAM = ("time-use", "histogram", f"{NORMAL}\n{UNIMPORTANT}")
PURE = ("still", "count", 'states = ["still"]\nepsilon = 0.2')


def write(folder: Path, *tables: tuple[str, str, str], keys: str = BEGINS) -> Path:
    lines = [f"2026-01-05T{hour:02}:00,{('still', 'walking')[hour % 3 == 0]}" for hour in range(24)]
    made = [
        TABLE.format(name=name, query=query, keys=more.replace(NORMAL, f"{NORMAL}\n{keys}"))
        for name, query, more in tables
    ]
    return files.write(folder, WEEK + "".join(made), "\n".join(["hour,state", *lines]))


@pytest.mark.slow
def test_tables_of_one_file_after_another_add_up_by_their_squares(tmp_path: Path) -> None:
    where = write(tmp_path, COUNT)
    assert "is alone" not in succeed("release", where).output
    assert spent(tmp_path, "study") == Amount(1, Fraction(1, 10**6))
    write(tmp_path, COUNT, ("again", *COUNT[1:]), PURE)
    succeed("release", where)
    made = {table.name: table.calibrations[0] for table in plan(load(where)).tables}
    begun = charge_of(made["walking"], at=0, begins_series=True)
    framework = made["walking"].framework
    charged = joint(framework, [begun, *(charge_of(made[name], at=0) for name in ("again", "still"))])
    assert spent(tmp_path, "study") == Amount(charged.epsilon, charged.delta)
    assert 1 < charged.epsilon < 2
    words = (tmp_path / "out" / "walking.certificate.txt").read_text()
    assert "The release begins a series: later releases" in " ".join(words.split())


@pytest.mark.slow
def test_without_the_key_a_second_one_is_refused(tmp_path: Path) -> None:
    where = write(tmp_path, COUNT, keys="")
    succeed("release", where)
    before = spent(tmp_path, "study")
    write(tmp_path, COUNT, ("again", *COUNT[1:]), keys="")
    ended(REFUSED, "release", where)
    write(tmp_path, COUNT, ("again", *COUNT[1:]))  # it is too late to begin one
    assert "begin after another release" in words_of(ended(REFUSED, "release", where))
    assert spent(tmp_path, "study") == before


@pytest.mark.slow
def test_tables_that_are_published_at_once_begin_it_together(tmp_path: Path) -> None:
    """The pure one counts as a multiple of both, wherever it stands in the file."""
    where = write(tmp_path, PURE, COUNT, HISTOGRAM)
    succeed("release", where)
    made = {table.name: table.calibrations[0] for table in plan(load(where)).tables}
    begun = [charge_of(made[name], at=0, begins_series=True) for name in ("walking", "time-use")]
    charged = joint(made["walking"].framework, [*begun, charge_of(made["still"], at=0)])
    assert spent(tmp_path, "study") == Amount(charged.epsilon, charged.delta)
    advance = tf.compose([made["walking"], made["time-use"]], begins_series=True)
    assert joint(made["walking"].framework, begun).epsilon == pytest.approx(advance.epsilon, rel=1e-8)


# A pooled table that counts on other units' randomness: by name, with what it is worth beside it, and alone.
HOMES = release_text(
    read_from("homes", "homes.csv", unit="home", order="t", step=1, value="state",
              budget={"epsilon": 100.0, "delta": 0.001}),
    believe("markov-chain", matrix=[[0.7, 0.3], [0.6, 0.4]], states=["still", "up"], units_independent=True),
    publish("up", "count", states=["up"], epsilon=1, delta=1e-05, mechanism="gaussian-exact"),
    output="out", expect=EXPECT,
)  # fmt: skip


def homes(folder: Path, spec: str = HOMES) -> Path:
    draw = random.Random(1)
    rows = [f"{home},{t},{draw.choice(['still', 'up'])}" for home in range(8) for t in range(3)]
    return put(folder, {"release.toml": spec, "homes.csv": "home,t,state\n" + "\n".join(rows) + "\n"})


@pytest.mark.slow
def test_a_pooled_table_says_what_is_lost_to_who_knows_others_and_blocks_what_follows(tmp_path: Path) -> None:
    file = homes(tmp_path)
    words = words_of(invoke("cost", file, "--all"))
    assert "what the other components add: against someone who does, epsilon is at most" in words
    succeed("release", file)
    certificate = json.loads((tmp_path / "out" / "up.certificate.json").read_text())
    limits = [line["text"] for line in certificate["assumptions"] if line["kind"] == "limit"]
    (condition,) = (line for line in limits if "what the other components add" in line)
    assert float(condition.removesuffix(".").split()[-1]) > 1
    page = " ".join((tmp_path / "out" / "up.certificate.txt").read_text().split())
    assert "Nobody who sees it knows what the other components add" in page
    each = changed(HOMES, ('name = "up"', 'name = "each"\nper = "unit"'), ("delta = 1e-05\n", ""))
    again = ended(REFUSED, "release", homes(tmp_path, each.replace("gaussian-exact", "quilt-exact")))
    assert not (tmp_path / "out" / "each.csv").exists()
    assert "alone" in again.output
