"""`make fuzz`: random frameworks, queries, mechanisms and releases against brute force, for some minutes.

    python -m tests.fuzz [MINUTES] [--seed N] [--first N] [--kinds one,several] [--keep-going]

Prints what it tries, and for every fault a block of Python that shows it, as small as half a minute of search makes it.
Exit code 1 if anything was found.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from collections.abc import Sequence

from tests.fuzz.checks import KINDS, Outcome, check, generate
from tests.fuzz.choices import Choices, smaller


def outcome(
    seed: str = "", replay: Sequence[int] | None = None, kinds: Sequence[str] = KINDS
) -> tuple[Outcome, list[int]]:
    c = Choices(seed, replay)
    case = generate(c, kinds)
    return check(case), c.taken


def sort(found: Outcome) -> str:
    """Return what two faults have in common that are perhaps one: the words of the message without its numbers."""
    return " ".join(w for w in found.what.split("promises")[0].split() if not any(ch.isdigit() for ch in w))


def minimised(decisions: Sequence[int], found: Outcome, kinds: Sequence[str], seconds: float) -> Outcome:
    kind = found.what.split(" ")[0:2]

    def fails(tried: Sequence[int]) -> bool:
        now, _ = outcome(replay=tried, kinds=kinds)
        return now.status == "fault" and now.what.split(" ")[0:2] == kind

    return outcome(replay=smaller(decisions, fails, seconds), kinds=kinds)[0]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("minutes", nargs="?", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=None, help="another seed is another walk (default: the time)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--shrink", type=float, default=30.0, help="seconds to make a fault smaller")
    asked = parser.parse_args(arguments)
    seed = int(time.time()) if asked.seed is None else asked.seed
    kinds = tuple(asked.kinds.split(","))
    start = told = time.monotonic()
    counts: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    slowest, number = (0.0, -1), asked.first
    print(f"seed {seed}, {asked.minutes:g} minutes", flush=True)
    while time.monotonic() - start < 60 * asked.minutes:
        before = time.monotonic()
        found, decisions = outcome(f"{seed}:{number}", kinds=kinds)
        counts[found.status] += 1
        slowest = max(slowest, (time.monotonic() - before, number))
        if found.status == "fault":
            known = sort(found)
            faults[known] += 1
            if faults[known] == 1:
                small = minimised(decisions, found, kinds, asked.shrink)
                print(f"\n--- case {number} after {before - start:.1f} s: {small.what}\n{small.block}\n", flush=True)
        if time.monotonic() - told > 30:
            told = time.monotonic()
            print(
                f"{told - start:5.0f} s, case {number}: {dict(counts)}; slowest {slowest[0]:.1f} s (case {slowest[1]})",
                flush=True,
            )
        number += 1
    print(
        f"{number - asked.first} cases in {time.monotonic() - start:.0f} s: {dict(counts)}; "
        f"slowest {slowest[0]:.1f} s (case {slowest[1]})"
    )
    for what, times in faults.most_common():
        print(f"  {times} x {what}")
    return 1 if faults else 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
