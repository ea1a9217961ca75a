"""The examples of Zhang22 from their definitions: enumeration in fractions, many digits for normal laws."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product

from mpmath import mp

Law = dict[int, Fraction]

#: Figure 1: gender points to income and height, income to the SAT score, height to weight.
ARCS = {"g": (), "i": ("g",), "s": ("i",), "h": ("g",), "w": ("h",)}


def sum_of(chances: Iterable[Fraction]) -> Law:
    """Return the law of how many of some independent records have a one."""
    law: Law = {0: Fraction(1)}
    for chance in chances:
        convolved: Law = {}
        for (value, mass), (one, p) in product(law.items(), ((0, 1 - chance), (1, chance))):
            convolved[value + one] = convolved.get(value + one, Fraction(0)) + mass * p
        law = convolved
    return law


def given_total(records: int, total: int, one: Fraction, zero: Fraction) -> Law:
    """Return the law of the sum of X_1 given that X_2 sums to `total` (Example 2): `one` is P(X_1 = 1 | X_2 = 1)."""
    return sum_of([one] * total + [zero] * (records - total))


def moves(p: Mapping[int, Fraction], q: Mapping[int, Fraction]) -> set[tuple[int, int]]:
    """Return from where to where the monotone plan moves mass, moves of no length left out."""
    pairs = set()
    left, right = [[v, m] for v, m in sorted(p.items()) if m], [[v, m] for v, m in sorted(q.items()) if m]
    while left and right:
        moved = min(left[0][1], right[0][1])
        pairs.add((int(left[0][0]), int(right[0][0])))
        left[0][1] -= moved
        right[0][1] -= moved
        left, right = [x for x in left if x[1]], [x for x in right if x[1]]
    return {(x, y) for x, y in pairs if x != y}


def printed_variance(slope: float, distance: float, conditional: float, epsilon: float, delta: float) -> float:
    """Return the noise variance of Section 4.3 for one attribute, which is negative where no noise is needed."""
    constant = mp.sqrt(2 * mp.log(mp.mpf("1.25") / delta))
    return float((constant * abs(slope) * distance / epsilon) ** 2 - conditional)


def normal_delta(shift: float, variance: float, epsilon: float) -> float:
    """Return the hockey-stick divergence of N(shift, v) and N(0, v), integrated from its definition."""
    with mp.workdps(40):
        m, s, e = mp.mpf(abs(shift)), mp.sqrt(mp.mpf(variance)), mp.mpf(epsilon)
        if not m:
            return 0.0
        # The densities cross once, where (2 m y - m^2) / (2 s^2) = e.
        cross = e * s**2 / m + m / 2

        def excess(y: object) -> object:
            return mp.npdf(y, m, s) - mp.exp(e) * mp.npdf(y, 0, s)

        # One point at the upper density's top keeps the quadrature on its mass; beyond 40 sigma lies less than 1e-300.
        ends = sorted({cross, max(cross, m), max(cross, m) + 8 * s, max(cross, m) + 40 * s})
        return float(mp.quad(excess, ends))


def right_guess(shift: float, variance: float) -> float:
    """Return how often the better guess between N(shift, v) and N(0, v) is right: (1 + TV) / 2."""
    return float(mp.ncdf(abs(shift) / (2 * mp.sqrt(variance))))


def quilts(nodes: Sequence[str], secret: str, parents: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str, str]]:
    """Yield every quilt (Q, N, R) of a node: N is what can still be reached in the moral graph when Q is deleted."""
    edges = {frozenset((a, b)) for b, above in parents.items() for a in above}
    edges |= {frozenset(pair) for above in parents.values() for pair in combinations(above, 2)}
    others = [n for n in nodes if n != secret]
    for size in range(len(others) + 1):
        for chosen in combinations(others, size):
            near, new = {secret}, {secret}
            while new:
                new = {n for n in nodes if n not in chosen and n not in near and any({n, m} in edges for m in new)}
                near |= new
            remote = set(nodes) - near - set(chosen)
            yield tuple("".join(sorted(part)) for part in (chosen, near, remote))  # type: ignore[misc]


def influence(joint: Mapping[tuple[int, ...], Fraction], nodes: Sequence[str], secret: str, quilt: str) -> Fraction:
    """Return exp of Definition 8's max-influence of a node on the nodes in `quilt`, from the joint law."""
    place = nodes.index(secret)
    places = [nodes.index(n) for n in quilt]
    best = Fraction(1)
    laws: dict[int, dict[tuple[int, ...], Fraction]] = {}
    for state, mass in joint.items():
        law = laws.setdefault(state[place], {})
        key = tuple(state[k] for k in places)
        law[key] = law.get(key, Fraction(0)) + mass
    totals = {a: sum(law.values()) for a, law in laws.items()}
    for a, b in product(laws, repeat=2):
        best = max([best, *(laws[a][key] / totals[a] / (laws[b][key] / totals[b]) for key in laws[a])])
    return best
