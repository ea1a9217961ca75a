"""Permute-and-flip by its definition: a random order, one coin after the other. Nothing of takifugu is used."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from math import exp, factorial, inf, log
from typing import Any

Law = dict[tuple[int, ...], float]


def first_heads(coins: Sequence[Any]) -> list[Any]:
    """Return P(candidate is the first head in a random order); the last one shows heads for certain where none did."""
    chances: list[Any] = [0 * coins[0] for _ in coins]
    for order in permutations(range(len(coins))):
        still = Fraction(1, factorial(len(coins)))
        for place in order:
            chances[place] += still * coins[place]
            still = still * (1 - coins[place])
    return chances


def frequent_law(counts: Sequence[int], draws: int, rate: float) -> Law:
    """Return the law of the values of the most frequent candidates, drawn one after the other."""
    law: Law = {(): 1.0}
    for _ in range(draws):
        wider: Law = {}
        for past, mass in law.items():
            left = [k for k in range(len(counts)) if k not in past]
            best = max(counts[k] for k in left)
            for k, chance in zip(left, first_heads([exp(-rate * (best - counts[k])) for k in left]), strict=True):
                wider[(*past, k)] = mass * float(chance)
        law = wider
    return law


def rank_law(counts: Sequence[int], shares: Sequence[Fraction], rate: float) -> Law:
    """Return the law of quantiles, drawn independently."""
    each = []
    for share in shares:
        size, far = sum(counts), []
        for k in range(len(counts)):
            below, above = sum(counts[:k]), sum(counts[k + 1 :])
            far.append(max(0.0, below - float(share) * size, above - (1 - float(share)) * size))
        each.append([float(chance) for chance in first_heads([exp(-rate * (d - min(far))) for d in far])])
    law: Law = {(): 1.0}
    for chances in each:
        law = {(*past, k): mass * chance for past, mass in law.items() for k, chance in enumerate(chances)}
    return law


def neighbours(candidates: int, size: int, others: bool) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield counts of so many entries and the counts after one of them changed; `others` may have no candidate."""
    kinds = candidates + others
    for counts in product(range(size + 1), repeat=kinds):
        if sum(counts) == size:
            for u, v in permutations(range(kinds), 2):
                if counts[u]:
                    after = [n - (k == u) + (k == v) for k, n in enumerate(counts)]
                    yield counts[:candidates], tuple(after[:candidates])


def worst_ratio(law_of: Callable[[tuple[int, ...]], Law], candidates: int, size: int, others: bool = True) -> float:
    """Return the largest log-ratio of anything published between data that differ in one entry."""
    known: dict[tuple[int, ...], Law] = {}
    worst = 0.0
    for before, after in neighbours(candidates, size, others):
        for counts in (before, after):
            if counts not in known:
                known[counts] = law_of(counts)
        for output, mass in known[before].items():
            other = known[after][output]
            if mass:
                worst = max(worst, log(mass / other) if other else inf)
    return worst
