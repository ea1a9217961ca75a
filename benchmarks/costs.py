"""Predicted operations per second, by mechanism: OPERATIONS_A_SECOND in problem.py is about the median."""

from __future__ import annotations

import time
from fractions import Fraction
from statistics import median

from measure import row, title
from takifugu import Count, MarkovChain, Pufferfish, Sum, every_entry
from takifugu.analysis.bounds import OPERATIONS_A_SECOND
from takifugu.analysis.problem import Problem
from takifugu.calibration import REGISTRY

CASES = {
    "binary chain, 500 steps": (MarkovChain([[0.9, 0.1], [0.1, 0.9]], 500), Count(1)),
    "3 states, 200 steps": (MarkovChain([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]], 200), Sum()),
    "unknown initial distribution, 150 steps": (MarkovChain([[0.9, 0.1], [0.1, 0.9]], 150, initial="any"), Count(1)),
}


def main() -> None:
    title("predicted operations per second, by mechanism")
    rates = []
    for name, (chain, query) in CASES.items():
        for line in REGISTRY:
            delta = Fraction(1, 10**6) if line.takes_delta else Fraction(0)
            problem, mechanism = Problem(Pufferfish(every_entry(), chain), query, Fraction(1), delta), line.load()
            predicted = mechanism.cost(problem).operations
            if not 1e7 < predicted < 5e9:
                continue
            start = time.process_time()
            mechanism.bound(problem)
            rates.append(predicted / max(time.process_time() - start, 1e-9))
            row(f"{name}, {line.name}", f"{rates[-1]:.1e}", f"predicted {predicted:.1e}")
    row("median", f"{median(rates):.1e}", f"stated {OPERATIONS_A_SECOND:.1e}")


if __name__ == "__main__":
    main()
