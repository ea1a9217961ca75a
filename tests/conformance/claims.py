"""What a mechanism says of its noise beyond (epsilon, delta), by brute force: too little of it keeps a smaller promise.

`record-dp` recomputes what its noise promises, and a choice with too sharp a rate is repaired until it keeps epsilon:
in both half of the noise breaks no promise, and is not the noise that the mechanism says it has.
"""

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from takifugu.analysis.bounds import Bound
from takifugu.analysis.problem import Problem
from takifugu.model.queries.answer import Additive
from takifugu.model.secrets.hypotheses import EntryIs

#: More joint values than these are not gone through.
MOST = 20_000


def check_entry(problem: Problem, bound: Bound) -> bool:
    """Laplace noise of scale D_1/epsilon; return whether the case was small enough to look at."""
    widest, comparisons = 0, list(problem.framework.comparisons())
    if problem.is_pair or not all(isinstance(one.left, EntryIs) for one in comparisons):
        return False
    for belief, answer in zip(problem.framework.beliefs, problem.answers, strict=True):
        sizes = [len(belief.alphabet(entry)) for entry in range(belief.size)]
        if not isinstance(answer, Additive) or math.prod(sizes) > MOST:
            return False
        secret = {one.left.entry for one in comparisons if isinstance(one.left, EntryIs)}
        at = {values: np.array(answer.evaluate(np.array(values))) for values in product(*map(range, sizes))}
        for values, entry in product(at, secret):
            for other in range(sizes[entry]):
                moved = (*values[:entry], other, *values[entry + 1 :])
                widest = max(widest, int(np.abs(at[values] - at[moved]).sum()))
    scale = bound.randomiser.scale
    assert abs(float(scale * problem.epsilon / problem.grid) - widest) <= 1e-9 * widest, (
        f"entry: the scale is {float(scale):g}, and one entry moves the answer by {widest} steps"
    )
    return bool(widest)


def check_exponential(problem: Problem, bound: Bound) -> bool:
    """P(y | x) proportional to e^(-rate |y - x|), rate d + |log Z(x')/Z(x)| <= epsilon for a move as long as any."""
    noise: Any = bound.randomiser
    if noise.kind != "exponential-choice":
        return False
    rate, channel, sums = float(noise.rate), noise.channel, {}
    for x, masses in zip(channel.inputs, channel.masses, strict=True):
        weights = [math.exp(-rate * abs(float(y - x))) for y in channel.outputs]
        sums[x] = sum(weights)
        seen = [mass / channel.total for mass in masses]
        assert np.allclose(seen, [w / sums[x] for w in weights], atol=1e-6), "other masses than of the rate"
    farthest = dict(bound.witness.numbers)["largest_move"] / float(problem.grid)
    costs = [
        rate * farthest + abs(math.log(sums[x] / sums[z]))
        for x, z in product(sums, repeat=2)
        if abs(abs(float(x - z)) - farthest) < 1e-9
    ]
    assert min(costs) <= float(problem.epsilon) * (1 + 1e-9), f"the rate {rate:g} is above what its theorem allows"
    return True


CLAIMS: dict[str, Callable[[Problem, Bound], bool]] = {
    "record-dp": check_entry, "kantorovich-exponential": check_exponential,
}  # fmt: skip
