"""Noise draws per second: exact discrete Laplace and rounded noise, next to OpenDP's integer Laplace."""

from __future__ import annotations

from fractions import Fraction

import opendp.prelude as dp

from measure import row, seconds, title
from takifugu.numbers.noise import SystemEntropy, discrete_laplace

DRAWS = 1_000_000
PEER_DRAWS = 100_000


def main() -> None:
    dp.enable_features("contrib")
    entropy = SystemEntropy()
    title(f"discrete Laplace on the integers: draws per second, {DRAWS:,} at once, best of 3")
    for scale in (Fraction(1), Fraction(33, 10), Fraction(1000), Fraction(10**6)):
        ours = DRAWS / seconds(lambda s=scale: discrete_laplace(s, DRAWS, entropy))
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
        measurement = dp.m.make_laplace(*space, scale=float(scale))
        zeros = [0] * PEER_DRAWS
        theirs = PEER_DRAWS / seconds(lambda m=measurement, z=zeros: m(z), runs=2)
        row(f"scale {float(scale):g}", f"{ours:.2e}/s", f"{ours / theirs:.1f} times OpenDP's {theirs:.2e}/s")
    title("single draws (a release of one number)")
    ours = 2000 / seconds(lambda: [discrete_laplace(Fraction(33, 10), 1, entropy) for _ in range(2000)], runs=2)
    one = dp.m.make_laplace(dp.atom_domain(T="i64"), dp.absolute_distance(T="i64"), scale=3.3)
    theirs = 2000 / seconds(lambda: [one(0) for _ in range(2000)], runs=2)
    row("scale 3.3, one at a time", f"{ours:.2e}/s", f"{ours / theirs:.1f} times OpenDP's {theirs:.2e}/s")


if __name__ == "__main__":
    main()
