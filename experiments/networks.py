"""Real networks: a count of findings on published Bayesian networks, and of ill pupils on two schools' contacts.

Networks: how many variables are in their first state, one variable hidden (the first) or all of them,
epsilon 3. Schools: pupils who met for 300 s or more, cliques peeled off greedily, the Reed-Frost model
inside a clique. It writes the tables of experiments/real-networks.md.
"""

from __future__ import annotations

import csv
import gzip
import time
from pathlib import Path
from typing import Any

import takifugu as tf
from pages import PAGES, make, table
from research_data import needed_file
from takifugu.core.errors import CalibrationRefused

REPRODUCES = "counts on published Bayesian networks and on the SocioPatterns schools (ours, not a paper's)"

NETWORKS = ("cancer", "earthquake", "survey", "asia", "sachs", "child", "alarm", "insurance", "hailfinder")
SCHOOLS = {"primary": "contact_primary_school_edges", "high": "contact_high_school_edges"}
MECHANISMS = ("group-dp", "quilt-exact", "influence", "wasserstein", "laplace-exact")
SECONDS, SLOT = 300, 20
EPSILON = 3.0
PAGE = PAGES / "real-networks.md"


def first_states(network: tf.BayesianNetwork) -> tf.Count:
    """Return the count of variables that are in the first state of their list."""
    return tf.Count(list(dict.fromkeys(network.alphabet(i)[0] for i in range(network.size))))


def scales(framework: Any, query: Any, epsilon: float) -> list[str]:
    """Return the scale that each mechanism needs, and the processor seconds of all of them together."""
    started, cells = time.process_time(), []
    for mechanism in MECHANISMS:
        try:
            calibration = tf.calibrate(framework, query, epsilon, mechanism=mechanism, allow_zero_noise=True)
            cells.append(f"{calibration.scale:.3f}")
        except CalibrationRefused:
            cells.append("-")
    return [*cells, f"{time.process_time() - started:.1f}"]


def networks() -> str:
    rows = []
    for name in NETWORKS:
        net = tf.read_network(needed_file(f"bif/{name}.bif"))
        first = str(net.names[0])
        for secret, what in ((tf.every_entry(first), f"hide {first}"), (tf.every_entry(), "hide all")):
            rows.append([f"{name}, {what}", *scales(tf.Pufferfish(secret, net), first_states(net), EPSILON)])
    return table([f"ε = {EPSILON:g}", *MECHANISMS, "seconds"], rows)


def meetings(file: Path) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the pairs who met for SECONDS or more in all, and everybody."""
    pairs, people = [], set()
    with gzip.open(file, "rt", encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            i, j = int(row["i"]), int(row["j"])
            people |= {i, j}
            if int(row["contacts_20s"]) * SLOT >= SECONDS:
                pairs.append((i, j))
    return pairs, sorted(people)


def schools() -> str:
    rows = []
    for name, file in SCHOOLS.items():
        pairs, people = meetings(needed_file(f"contacts/{file}.csv.gz"))
        cliques = tf.cliques_of(pairs, people=people)
        belief = tf.CliqueInfection(cliques, lambda size: tf.household_infection(size, outside=0.05, inside=0.2))
        sizes = f"{len(people)} pupils, {len(cliques)} cliques of up to {max(map(len, cliques))}"
        rows += [
            [
                f"{name}: {sizes}, ε = {epsilon:g}",
                *scales(tf.Pufferfish(tf.every_entry(), belief), tf.Count(1), epsilon),
            ]
            for epsilon in (0.2, 1.0, 3.0)
        ]
    return table(["ill pupils", *MECHANISMS, "seconds"], rows)


def main() -> None:
    command = "takifugu reproduce networks"
    make(PAGE, command, {"networks": lambda: {"networks": networks()}, "schools": lambda: {"schools": schools()}})


if __name__ == "__main__":
    main()
