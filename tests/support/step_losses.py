"""The loss of one step of a chain of two or three states, in 60 digits: the recursion as it is printed.

R of the last step is 0. R_t is the least over jumps d of (d - 1) max c + S(P^d(a, .), P^d(b, .); c + R_{t+d}), closed
by shortest paths; L likewise for the chain backwards. The loss is the largest c + R + L (docs/theory/influence.md). The
supremum S over a cone is found by the rays of both kinds of stars, as for three states there are no others.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

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
    ratio = closed([[c[u][v] + loss[u][v] for v in states] for u in states])
    return [[supremum(chain[a], chain[b], ratio) for b in states] for a in states]


def supremum(p: Sequence[mpmath.mpf], q: Sequence[mpmath.mpf], ratio: Matrix) -> mpmath.mpf:
    """Return S(p, q; ratio) of a closed ratio."""
    largest, states = mpmath.mpf(0), range(len(p))
    for v in states:
        for ray in ([mpmath.exp(ratio[u][v]) for u in states], [mpmath.exp(-ratio[v][u]) for u in states]):
            above = mpmath.fsum(x * y for x, y in zip(p, ray, strict=True))
            below = mpmath.fsum(x * y for x, y in zip(q, ray, strict=True))
            largest = max(largest, mpmath.log(above / below))
    return largest


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
