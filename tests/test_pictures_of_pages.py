"""The pictures that explain plans and quilts are what their command draws, and show what the pages say."""

from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.support.one_file import imported

import takifugu as tf

ROOT = Path(__file__).resolve().parent.parent


tool = imported(ROOT / "tools" / "pictures.py")


@pytest.mark.parametrize("name", tool.PICTURES)
def test_the_picture_in_the_folder_is_the_one_that_is_drawn(name: str) -> None:
    drawn = tool.PICTURES[name]()
    assert (ROOT / "docs" / "images" / name).read_text(encoding="utf-8") == drawn
    ElementTree.fromstring(drawn)


def test_the_plan_moves_two_fifths_by_one_step() -> None:
    moves = {0: Fraction(0), 1: Fraction(0)}
    for a, b, mass in tf.monotone_plan(tool.NORTH, tool.SOUTH).items():
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
