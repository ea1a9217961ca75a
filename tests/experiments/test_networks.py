"""Real networks: the schools are those of the description, and the page says what the program finds."""

import math
import re
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
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


@pytest.mark.mutants
def test_the_page_holds_what_a_network_needs() -> None:
    net = tf.read_network(research_file("bif/survey.bif"))
    scales = networks.scales(tf.Pufferfish(tf.every_entry(), net), networks.first_states(net), networks.EPSILON)
    assert f"| survey, hide all | {' | '.join(scales[:-1])} |" in made(networks.PAGE, "networks")


#: The parents of a variable, and the masses of its values given theirs.
Conditional = tuple[list[str], dict[tuple[str, ...], list[float]]]


def parsed_bif(text: str) -> tuple[dict[str, list[str]], dict[str, Conditional]]:
    """Return the values of each variable, and its parents with the rows of its table."""
    values, tables = {}, {}
    for name, states in re.findall(r"variable (\S+) \{\s*type discrete \[ \d+ \] \{ ([^}]*) \}", text):
        values[name] = [state.strip() for state in states.split(",")]
    for name, parents, body in re.findall(r"probability \( (\S+)(?: \| ([^)]*))? \) \{([^}]*)\}", text):
        rows = {}
        for given, masses in re.findall(r"(?:\(([^)]*)\)|table) ([^;]*);", body):
            key = tuple(part.strip() for part in given.split(",") if part.strip())
            rows[key] = [float(mass) for mass in masses.split(",")]
        tables[name] = ([parent.strip() for parent in parents.split(",") if parent.strip()], rows)
    return values, tables


def counts_given(text: str) -> dict[tuple[str, str], np.ndarray]:
    """Return the law of the count of variables in a first state, given each value of each variable."""
    values, tables = parsed_bif(text)
    counted = {states[0] for states in values.values()}
    laws: dict[tuple[str, str], np.ndarray] = {}
    for states in product(*values.values()):
        case, mass = dict(zip(values, states, strict=True)), 1.0
        for name, (parents, rows) in tables.items():
            mass *= rows[tuple(case[parent] for parent in parents)][values[name].index(case[name])]
        for pair in case.items():
            laws.setdefault(pair, np.zeros(len(values) + 1))[sum(state in counted for state in states)] += mass
    return {pair: law / law.sum() for pair, law in laws.items() if law.sum() > 0}


def w_infinity(p: np.ndarray, q: np.ndarray) -> int:
    """Return the farthest move of the monotone plan; masses below 1e-12 are rounding."""
    farthest, i, j, p, q = 0, 0, 0, p.copy(), q.copy()
    while i < len(p) and j < len(q):
        moved = min(p[i], q[j])
        farthest = max(farthest, abs(i - j) if moved > 1e-12 else 0)
        p[i], q[j] = p[i] - moved, q[j] - moved
        i, j = i + (p[i] <= 1e-15), j + (q[j] <= 1e-15)
    return farthest


def least_scale(pairs: list[tuple[np.ndarray, np.ndarray]], epsilon: float) -> float:
    """Return the least scale with which every log-ratio of noisy counts is at most epsilon, by bisection."""
    at = np.arange(len(pairs[0][0]))

    def loss(scale: float) -> float:
        kernel = np.exp(-np.abs(at[:, None] - at) / scale)
        return max(float(np.abs(np.log((kernel @ p) / (kernel @ q))).max()) for p, q in pairs)

    low, high = 1e-3, len(at) / epsilon
    for _ in range(60):
        low, high = ((low + high) / 2, high) if loss((low + high) / 2) > epsilon else (low, (low + high) / 2)
    return high


@pytest.mark.parametrize("name", ["cancer", "earthquake", "survey", "asia"])
def test_the_least_noise_of_a_network_by_every_assignment(name: str) -> None:
    laws = counts_given(research_file(f"bif/{name}.bif").read_text(encoding="utf-8"))
    first = next(iter(laws))[0]
    for what, names in ((f"hide {first}", {first}), ("hide all", {variable for variable, _ in laws})):
        pairs = [(laws[a], laws[b]) for a, b in combinations(laws, 2) if a[0] == b[0] and a[0] in names]
        (line,) = [x for x in made(networks.PAGE, "networks").splitlines() if x.startswith(f"| {name}, {what} |")]
        farthest = max(w_infinity(p, q) for p, q in pairs)
        scales = [f"{farthest / networks.EPSILON:.3f}", f"{least_scale(pairs, networks.EPSILON):.3f}"]
        assert line.split(" | ")[4:6] == scales


def infected(size: int, outside: float, inside: float) -> np.ndarray:
    """Return the law of how many of a clique fall ill, by the last size of a chain of generations."""

    @cache
    def law(well: int, fresh: int) -> tuple[float, ...]:
        if not fresh or not well:
            return tuple(float(k == size - well) for k in range(size + 1))
        risk, total = 1 - (1 - inside) ** fresh, np.zeros(size + 1)
        for more in range(well + 1):
            total += math.comb(well, more) * risk**more * (1 - risk) ** (well - more) * np.array(law(well - more, more))
        return tuple(total)

    start = np.zeros(size + 1)
    for fresh in range(size + 1):
        share = math.comb(size, fresh) * outside**fresh * (1 - outside) ** (size - fresh)
        start += share * np.array(law(size - fresh, fresh))
    return start


@pytest.mark.parametrize(("name", "largest"), [("primary", 12), ("high", 7)])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_the_least_noise_of_a_school_by_every_course_of_an_infection(name: str, largest: int, epsilon: float) -> None:
    """Of a clique of n with k ill, one is ill with probability k/n: the dearest clique is the largest."""
    needed = 0.0
    for size in range(1, largest + 1):
        law, ill = infected(size, 0.05, 0.2), np.arange(size + 1) / size
        sick, well = law * ill, law * (1 - ill)
        needed = max(needed, least_scale([(sick / sick.sum(), well / well.sum())], epsilon))
    row = re.compile(rf"\| {name}: .* ε = {epsilon:g} \|")
    (line,) = [x for x in made(networks.PAGE, "schools").splitlines() if row.match(x)]
    assert f"{needed:.3f}" == line.split(" | ")[5]
