"""Real networks: the schools are those of the description, and the page says what the program finds."""

from __future__ import annotations

from tests.support.research import research_file

import networks
import takifugu as tf
from pages import made


def test_the_schools_are_those_of_the_description() -> None:
    pairs, people = networks.meetings(research_file(f"contacts/{networks.SCHOOLS['primary']}.csv.gz"))
    assert (len(people), len(pairs)) == (242, 1938)
    cliques = tf.cliques_of(pairs, people=people)
    assert (len(cliques), len(cliques[0]), sum(len(c) == 1 for c in cliques)) == (70, 12, 21)
    assert sorted(p for c in cliques for p in c) == people


def test_the_page_holds_what_a_network_needs() -> None:
    net = tf.read_network(research_file("bif/survey.bif"))
    scales = networks.scales(tf.Pufferfish(tf.every_entry(), net), networks.first_states(net), networks.EPSILON)
    assert f"| survey, hide all | {' | '.join(scales[:-1])} |" in made(networks.PAGE, "networks")
