"""What can be learnt where a promise about one output's distribution is chosen after an output was seen.

A secret bit, and independently of it a number, uniform on 0, ..., n - 1. First the number is published with two-sided
geometric noise; then somebody chooses k values of the number, and the bit is published if the number is one of them.
That alone keeps epsilon 0 and delta k/n, whichever values are chosen. Nothing here imports takifugu.
"""

import math


def late_delta(count: int, revealing: int, ratio: float) -> float:
    """Return the delta of both together, at any epsilon: how often the bit is published, if the values are chosen well.

    The noise has masses proportional to ratio^|z|. After each output the values that make it likeliest are chosen;
    outputs beyond 60 widths of the noise are left out, so that it is no more than the truth.
    """
    reach = math.ceil(60 / -math.log(ratio))
    norm = (1 - ratio) / (1 + ratio)
    return (
        math.fsum(
            math.fsum(
                sorted((norm * ratio ** abs(output - number) for number in range(count)), reverse=True)[:revealing]
            )
            for output in range(-reach, count + reach)
        )
        / count
    )
