"""The only package that draws randomness: exact integer noise, and ideal continuous noise rounded exactly once.

No floating-point number is ever an output, and none decides one without a proven margin. Two things are not
promised: drawing does not take constant time, and memory is not wiped afterwards.
"""

from takifugu.numbers.noise.entropy import Entropy, InsecureSeededEntropyForTests, SystemEntropy, is_private
from takifugu.numbers.noise.integers import (
    bernoulli_exp,
    choose,
    discrete_laplace,
    narrowed,
    permute_and_flip,
    total,
    uniform_below,
)
from takifugu.numbers.noise.one_sided import geometric, rounded_up_exponential
from takifugu.numbers.noise.rounded import rounded_laplace, rounded_normal

__all__ = [
    "Entropy",
    "InsecureSeededEntropyForTests",
    "SystemEntropy",
    "bernoulli_exp",
    "choose",
    "discrete_laplace",
    "geometric",
    "is_private",
    "narrowed",
    "permute_and_flip",
    "rounded_laplace",
    "rounded_normal",
    "rounded_up_exponential",
    "total",
    "uniform_below",
]
