"""The loss of one step of a chain of few states, in 60 digits: the recursion as it is printed.

R of the last step is 0. R_t is the least over jumps d of (d - 1) max c + S(P^d(a, .), P^d(b, .); c + R_{t+d}), closed
by shortest paths; L likewise for the chain backwards. The loss is the largest c + R + L (docs/theory/influence.md). The
supremum S over a cone is found among all trees of tight bounds whose ray lies in the cone.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import mpmath

DIGITS = 60
Matrix = list[list[mpmath.mpf]]


def step_loss(
    matrix: Sequence[Sequence[float]], changes: Sequence[Sequence[Fraction]], length: int, jumps: Sequence[int] = (1,),
    run: int = 1,
) -> mpmath.mpf:  # fmt: skip
    """Return the loss of any step, or of any `run` of them where all paths are possible (Theorem 18).

    `changes` is c(u, v), and rows of the matrix are divided by their sums.
    """
    with mpmath.workdps(DIGITS):
        chain = [[mpmath.mpf(x) / sum(map(mpmath.mpf, row)) for x in row] for row in matrix]
        c = [[mpmath.mpf(x.numerator) / x.denominator for x in row] for row in changes]
        after, before = losses(chain, c, length, jumps), losses(backwards(chain), c, length, jumps)
        pairs = [(a, b) for a, b in product(range(len(c)), repeat=2) if a != b]
        worst, run = mpmath.mpf(0), min(run, length)
        for entry in range(length - run + 1 if run > 1 else 0):
            right, left = after[length - run - entry], before[entry]
            ends = [max(c[a][b] + side[a][b] for a, b in pairs) for side in (right, left)]
            worst = max(worst, sum(ends) + (run - 2) * max(map(max, c)))
        for entry in range(length if run == 1 else 0):
            right, left = after[length - 1 - entry], before[entry]
            worst = max(worst, *(c[a][b] + right[a][b] + left[a][b] for a, b in pairs))
        return worst


def losses(chain: Matrix, c: Matrix, length: int, jumps: Sequence[int]) -> list[Matrix]:
    """Return R of the steps, the last one first."""
    count, most = len(chain), max(map(max, c))
    powers = {1: chain}
    for distance in range(2, max(jumps) + 1):
        powers[distance] = times(powers[distance - 1], chain)
    computed = [[[mpmath.mpf(0)] * count for _ in range(count)]]
    while len(computed) < length:
        best = [[mpmath.inf] * count for _ in range(count)]
        for distance in jumps:
            if distance > len(computed):
                continue
            jumped = after_jump(powers[distance], c, computed[-distance])
            for a, b in product(range(count), repeat=2):
                best[a][b] = min(best[a][b], jumped[a][b] + (distance - 1) * most if a != b else mpmath.mpf(0))
        computed.append(closed(best))
    return computed


def after_jump(chain: Matrix, c: Matrix, loss: Matrix) -> Matrix:
    """Return what a step, or several at once, make of a loss and the change of the entry that has it."""
    states = range(len(chain))
    rays = rays_of(closed([[c[u][v] + loss[u][v] for v in states] for u in states]))
    lifted = [[mpmath.exp(x) for x in ray] for ray in rays]
    means = [[mpmath.log(mpmath.fdot(row, ray)) for ray in lifted] for row in chain]
    return [[max(x - y for x, y in zip(means[a], means[b], strict=True)) for b in states] for a in states]


@cache
def trees_of(count: int) -> list[list[tuple[int, int, bool]]]:
    """Return all trees over some states as lists of arcs (from, to, whether the bound is on the second one)."""
    arcs = list(combinations(range(count), 2))
    trees = list[list[tuple[int, int, bool]]]()
    for chosen in combinations(arcs, count - 1):
        order = [0]
        path = list[tuple[int, int]]()
        for u in order:
            for v, w in chosen:
                other = w if v == u else v if w == u else None
                if other is not None and other not in order:
                    order.append(other)
                    path.append((u, other))
        if len(order) == count:
            sides = product((False, True), repeat=count - 1)
            trees += [[(u, v, side) for (u, v), side in zip(path, side_of, strict=True)] for side_of in sides]
    return trees


def rays_of(ratio: Matrix) -> list[list[mpmath.mpf]]:
    """Return the logarithms of all rays of the cone of a closed ratio: f(u) - f(v) <= ratio(u, v)."""
    states, rays = range(len(ratio)), list[list[mpmath.mpf]]()
    for tree in trees_of(len(ratio)):
        ray = [mpmath.mpf(0)] * len(ratio)
        for u, v, is_second in tree:
            ray[v] = ray[u] + ratio[v][u] if is_second else ray[u] - ratio[u][v]
        if all(ray[u] - ray[v] <= ratio[u][v] + mpmath.mpf(10) ** -50 for u, v in product(states, repeat=2)):
            rays.append(ray)
    return rays


def closed(ratio: Matrix) -> Matrix:
    """Return the lengths of shortest paths."""
    shortest, states = [row[:] for row in ratio], range(len(ratio))
    for w, u, v in product(states, repeat=3):
        shortest[u][v] = min(shortest[u][v], shortest[u][w] + shortest[w][v])
    return shortest


def backwards(chain: Matrix) -> Matrix:
    """Return the chain from its end to its start, once it has run for ever."""
    states = range(len(chain))
    equations = mpmath.matrix(len(chain), len(chain))
    for i, j in product(states, repeat=2):
        equations[i, j] = mpmath.mpf(1) if i == len(chain) - 1 else chain[j][i] - (i == j)
    law = mpmath.lu_solve(equations, mpmath.matrix([0] * (len(chain) - 1) + [1]))
    return [[law[u] * chain[u][s] / law[s] for u in states] for s in states]


def times(a: Matrix, b: Matrix) -> Matrix:
    states = range(len(a))
    return [[mpmath.fsum(a[u][w] * b[w][v] for w in states) for v in states] for u in states]
