"""Regions of distributions by their definition: every vertex in rationals, a program with a row for every vertex."""

import math
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
from scipy.optimize import linprog


def vertices(sets, low, high, values):
    """Return every vertex of {p >= 0: sum p = 1, low_S <= p(S) <= high_S}: solutions of active constraints."""
    rows = []
    for members, a, b in zip(sets, low, high, strict=True):
        row = [Fraction(int(x in members)) for x in range(values)]
        rows += [(row, Fraction(a)), (row, Fraction(b))]
    rows += [([Fraction(int(x == y)) for x in range(values)], Fraction(0)) for y in range(values)]
    whole = ([Fraction(1)] * values, Fraction(1))
    extremes = set()
    for chosen in combinations(rows, values - 1):
        p = solved([whole, *chosen])
        if p is not None and min(p) >= 0 and all(
            a <= sum((p[x] for x in members), Fraction(0)) <= b for members, a, b in zip(sets, low, high, strict=True)
        ):  # fmt: skip
            extremes.add(p)
    return sorted(extremes)


def solved(rows):
    """Return the one solution of as many equations as unknowns, None where there is none or several."""
    table = [[*row, end] for row, end in rows]
    size = len(table)
    for column in range(size):
        pivot = next((n for n in range(column, size) if table[n][column]), None)
        if pivot is None:
            return None
        table[column], table[pivot] = table[pivot], table[column]
        table[column] = [x / table[column][column] for x in table[column]]
        for n in range(size):
            if n != column and table[n][column]:
                table[n] = [x - table[n][column] * y for x, y in zip(table[n], table[column], strict=True)]
    return tuple(row[-1] for row in table)


def corners(region, values):
    """Return the vertices of a region of the library, from the numbers that it holds."""
    blocks, unit = region.tree.all, 2**60
    low, high = ([Fraction(end, unit) for end in ends] for ends in (region.low, region.high))
    return vertices([set(block.values) for block in blocks], low, high, values)


def sent(channel, p):
    """Return the law of the output in the order of the channel's outputs."""
    rows = [[Fraction(mass, channel.total) for mass in row] for row in channel.masses]
    return [sum((a * row[y] for a, row in zip(p, rows, strict=True)), Fraction(0)) for y in range(len(rows[0]))]


def loss(one, other):
    """Return the largest log one/other."""
    return max(math.inf if not b else math.log(a / b) for a, b in zip(one, other, strict=True) if a)


def delta(one, other, epsilon):
    return sum(max(float(a) - math.exp(epsilon) * float(b), 0.0) for a, b in zip(one, other, strict=True))


def worst(channel, regions, values, measure=loss):
    """Return the largest loss over every two vertices of every two regions."""
    laws = {name: [sent(channel, p) for p in corners(of, values)] for name, of in regions.by_name.items()}
    return max(measure(p, q) for a, b in permutations(laws, 2) for p, q in product(laws[a], laws[b]))


def least_cost(cost, regions, epsilon):
    """Return the least cost of a channel that keeps epsilon for every two vertices: a program with a row for each."""
    size = len(cost)
    laws = {name: corners(of, size) for name, of in regions.by_name.items()}
    rows = []
    for a, b in permutations(laws, 2):
        for p, q in product(laws[a], laws[b]):
            limit = [float(x) - math.exp(epsilon) * float(y) for x, y in zip(p, q, strict=True)]
            for output in range(size):
                row = np.zeros((size, size))
                row[:, output] = limit
                rows.append(row.ravel())
    sums = np.kron(np.eye(size), np.ones((1, size)))
    solution = linprog(np.ravel(cost), rows, np.zeros(len(rows)), sums, np.ones(size), bounds=(0, None), method="highs")
    return float(solution.fun)
