"""The kinds of places where people check in most: the top 3 and 5 of each, by four ways to share one epsilon.

Each of 193 people's first 127 check-ins in New York, as one chain of nine kinds of places; hidden is every single
check-in. All ways choose by permute-and-flip, and differ in what a check-in may lose. It writes the table of
most_visited.md.
"""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

import numpy as np

import takifugu as tf
from pages import IS_WHOLE, PAGES, make, table, whole_command
from research_data import needed_file
from takifugu.numbers.noise import InsecureSeededEntropyForTests

REPRODUCES = "the task of Bai, He, Gu, Kifer and Maeng 2026 as it is described, Foursquare's top 3 and 5, on our data"

PAGE = PAGES / "most_visited.md"
CHECKINS = "checkins/foursquare_nyc.csv.gz"
LENGTH, EPSILONS, RANKS, DRAWS = 127, (1.0, 4.0), (3, 5), 20 if IS_WHOLE else 2
#: A kind with 26 check-ins in all, which is no state.
RARE = "Event"
Floats = np.ndarray


def checkins() -> tuple[list[list[str]], tf.MarkovChain]:
    """Return each person's kinds of places in order, and one chain for all of them, counted within weeks."""
    people, weeks = defaultdict(list), defaultdict(list)
    with gzip.open(needed_file(CHECKINS), "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["category"] != RARE:
                people[row["user"]].append(row["category"])
                weeks[row["tid"]].append(row["category"])
    kinds = sorted({kind for week in weeks.values() for kind in week})
    counts = np.zeros((len(kinds), len(kinds)))
    for week in weeks.values():
        for before, after in pairwise(week):
            counts[kinds.index(before), kinds.index(after)] += 1
    matrix = counts / counts.sum(axis=1, keepdims=True)
    chain = tf.MarkovChain(matrix.tolist(), length=LENGTH, states=kinds)
    return [visited[:LENGTH] for visited in people.values()], chain


def largest(p: Floats, q: Floats, spread: float) -> float:
    """Return the largest log of p·φ/q·φ over φ in [1, e^spread]: φ is e^spread where p/q is large."""
    order = np.argsort(-(p / q))
    above, below = np.cumsum(p[order]), np.cumsum(q[order])
    rise = np.expm1(spread)
    return float(np.log((1 + rise * above) / (1 + rise * below)).max())


def scalar_loss(matrix: Floats, entry_loss: float, steps: int) -> float:
    """Return what a check-in loses by one number for all values beyond it, `steps` of them on either side.

    Every check-in may lose `entry_loss`. The recursion is that of Cao, Yoshikawa, Xiao and Xiong 2017.
    """
    stationary = np.linalg.matrix_power(matrix, 2000)[0]
    backwards = (matrix * stationary[:, None]).T / stationary[:, None]
    total = entry_loss
    for rows in (matrix, backwards):
        beyond = 0.0
        for _ in range(steps):
            spread = entry_loss + beyond
            beyond = max(largest(rows[u], rows[v], spread) for u, v in permutations(range(len(rows)), 2))
        total += beyond
    return total


def scalar_budget(matrix: Floats, epsilon: float, steps: int) -> float:
    """Return the largest loss of a check-in with which the recursion keeps epsilon."""
    low, high = 0.0, epsilon
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if scalar_loss(matrix, middle, steps) <= epsilon else (low, middle)
    return low


def ways(chain: tf.MarkovChain, count: int, epsilon: float) -> dict[str, Any]:
    """Return the choice that each way makes, and what it lets a check-in lose."""
    framework, query = tf.Pufferfish(tf.every_entry(), chain), tf.TopK(count)
    choices = {}
    for name in ("group-dp", "quilt-exact", "influence"):
        calibration = tf.calibrate(framework, query, epsilon, mechanism=name)
        choices[name] = (1 / float(calibration.scale), calibration.randomiser)
    loss, choice = choices["influence"]
    budget = scalar_budget(np.array(chain.matrix), epsilon, LENGTH // 2)
    choices["one number beyond"] = (budget, replace(choice, units=choice.units * Fraction(loss / budget)))
    return choices


def hits(choice: Any, answers: Sequence[Any], count: int) -> float:
    """Return the share of the most frequent kinds that are chosen, on average."""
    entropy, right = InsecureSeededEntropyForTests(40), 0.0
    for answer in answers:
        true = sorted(answer, reverse=True)[:count]
        for _ in range(DRAWS):
            chosen = [answer[choice.outcomes.index(kind)] for kind in choice.draw(answer, entropy)]
            right += sum(value >= true[-1] for value in chosen) / count
    return right / (DRAWS * len(answers))


def most_visited() -> dict[str, str]:
    people, chain = checkins()
    rows, states = [], list(chain.alphabet(0))
    for epsilon in EPSILONS:
        for count in RANKS:
            framework = tf.Pufferfish(tf.every_entry(), chain)
            answering = tf.calibrate(framework, tf.TopK(count), epsilon, mechanism="group-dp")
            answer = answering.problem.answers[0]
            answers = [answer.evaluate(np.array([states.index(kind) for kind in kinds])) for kinds in people]
            for name, (loss, choice) in ways(chain, count, epsilon).items():
                share = f"{100 * hits(choice, answers, count):.1f} %"
                rows.append([f"ε = {epsilon:g}, top {count}: {name}", f"{loss:.3f}", share])
    return {"most visited": table(["what hides every check-in", "ε of a check-in", "of the true ones, chosen"], rows)}


def main() -> None:
    command = whole_command("takifugu reproduce most_visited")
    make(PAGE, command, {"the kinds of places that are visited most": most_visited})


if __name__ == "__main__":
    main()
