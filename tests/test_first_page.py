"""The first page: its length, its start, its table of what noise hides; the reference has every public name once."""

import importlib.util
import math
import re
import tomllib
from collections import Counter
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.support.one_file import imported

import takifugu as tf
from takifugu.calibration import calibrate
from takifugu.cli.samples.examples import write_example
from takifugu.numbers import monotone_coupling
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.expected import half_width
from takifugu.releasing.planning.plan import calibrated

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def words(text: str) -> int:
    """Count the words of prose: not those of commands and addresses."""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return len(re.findall(r"[\w'±%]+", re.sub(r"\]\([^)]*\)", "]", prose)))


def opening(text: str) -> str:
    """Return what stands between the title and the second heading, without where links lead."""
    return re.sub(r"\]\([^)]*\)", "]", text.split("\n## ")[0].partition("\n")[2]).strip()


def test_the_first_page_is_short_and_soon_at_its_first_command() -> None:
    assert words(README) <= 700
    assert words(README.partition("```console")[0]) <= 200


def test_the_site_starts_as_the_first_page_does() -> None:
    assert opening((ROOT / "docs" / "index.md").read_text(encoding="utf-8")) == opening(README)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["record-dp", "group-dp", "influence"])
def test_the_table_of_what_noise_hides_is_computed_again(tmp_path: Path, mechanism: str) -> None:
    file = write_example("households", tmp_path)[0]
    (table,) = calibrated(load(file)).tables
    problem = table.calibrations[0].problem
    noise = calibrate(problem.framework, problem.query, epsilon=problem.epsilon, mechanism=mechanism)
    width = half_width(noise.randomiser, 24)
    assert width is not None
    promised = math.exp(noise.guarantee.epsilon)
    share = 100 * promised / (1 + promised)
    (row,) = (line for line in README.splitlines() if line.startswith("|") and LABELS[mechanism] in line)
    (half, sure) = re.search(r"± ([\d,]+)\D+([\d.]+) % sure", row).groups()  # type: ignore[union-attr]
    assert Fraction(half.replace(",", "")) == width
    digits = len(sure.partition(".")[2])
    assert float(sure) == math.ceil(share * 10**digits) / 10**digits


LABELS = {"record-dp": "one record", "group-dp": "whole week", "influence": "the correlation"}


tool = imported(ROOT / "tools" / "pictures.py")


@pytest.mark.parametrize("name", tool.PICTURES)
def test_the_picture_in_the_folder_is_the_one_that_is_drawn(name: str) -> None:
    drawn = tool.PICTURES[name]()
    assert (ROOT / "docs" / "images" / name).read_text(encoding="utf-8") == drawn
    ElementTree.fromstring(drawn)


def test_the_plan_moves_two_fifths_by_one_step() -> None:
    moves = {0: Fraction(0), 1: Fraction(0)}
    for a, b, mass in monotone_coupling(tool.NORTH, tool.SOUTH).items():
        moves[int(b - a)] += Fraction(mass)
    assert moves == {0: Fraction(3, 5), 1: Fraction(2, 5)}


def test_the_quilt_separates_what_is_remote() -> None:
    people = list(tool.PLACES)
    parents = {child: [parent] for parent, child in tool.ARCS}
    table = {0: [0.7, 0.3], 1: [[0.8, 0.2], [0.4, 0.6]]}
    network = tf.BayesianNetwork(
        [(p, ["well", "ill"], parents.get(p, []), table[len(parents.get(p, []))]) for p in people]
    )
    quilt = [network.position(p) for p, role in tool.ROLES.items() if role == "quilt"]
    cem = network.position("cem")
    assert set(network.near_set(cem, quilt)) == {cem}


def test_every_public_name_is_in_one_room() -> None:
    tool = imported(ROOT / "tools" / "reference.py")
    described = {name for name in tf.__all__ if tool.described(getattr(tf, name))}
    assert Counter(name for room in tool.ROOMS for name in tool.names_in(room)) == dict.fromkeys(described, 1)
    page = "\n".join(tool.lines())
    assert all(f"\n### {name}\n" in page for name in described)
    assert all(importlib.util.find_spec(f"takifugu.{room}") is not None for room in tool.ROOMS)


def test_nothing_is_said_to_stay_hidden_without_a_number() -> None:
    """At epsilon 2 somebody who is 50 % sure can become 88.1 % sure: hidden has a number beside it."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    words = [*pages, *(ROOT / "src" / "takifugu" / "cli").rglob("*.py"), *(ROOT / "tools").glob("gallery.py")]
    hidden = re.compile(r"(?<!must )\b(?:stays?|remains?)\s+(?:\"\s*\")?hidden\b")
    assert not [path.name for path in words if hidden.search(path.read_text(encoding="utf-8"))]
    assert hidden.search('anybody \nstays "\n    "hidden')


def test_the_examples_say_how_sure_somebody_can_become() -> None:
    text = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[([\w-]+)\.toml\].* ([\d.]+) %[^|]*\|$", text, re.MULTILINE)
    assert {name for name, _ in rows} == {path.stem for path in (ROOT / "examples").glob("*.toml")}
    for name, share in rows:
        file = tomllib.loads((ROOT / "examples" / f"{name}.toml").read_text(encoding="utf-8"))
        promised = math.exp(float(file.get("joint_epsilon") or file["table"][0]["epsilon"]))
        assert float(share) == math.ceil(1000 * promised / (1 + promised)) / 10
