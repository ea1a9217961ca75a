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
from dataclasses import dataclass

from tests.fuzz import specs
from tests.fuzz.checks import KINDS, Case, Outcome, check, generate
from tests.fuzz.choices import Choices, smaller
from tests.fuzz.oracle import length_of


def outcome(seed: str = "", replay: Sequence[int] | None = None, kinds: Sequence[str] = KINDS) -> Trial:
    c = Choices(seed, replay)
    case = generate(c, kinds)
    return Trial(check(case), c.taken, case)


@dataclass(frozen=True)
class Trial:
    """What became of a case, and the decisions that made it."""

    outcome: Outcome
    decisions: list[int]
    case: Case

    @property
    def sort(self) -> str:
        """Return what faults that are perhaps one have in common: who promised too much, for what sort of case."""
        requests, what = self.case.requests, self.outcome.what
        beliefs = [b for request in requests for b in request.beliefs]
        lengths = {length_of(b) for b in beliefs}
        sorts = {
            "named entries": None in lengths,
            "several beliefs": any(len(request.beliefs) > 1 for request in requests),
            "several lengths": len(lengths) > 1,
            "several windows": len({request.window for request in requests}) > 1,
            "tiny masses": "1e-200" in repr(beliefs),
            "gaps": self.case.seen is not None,
            "states spelled otherwise": any(request.spelled for request in requests),
            "units": any(request.unit for request in requests),
            "delta": any(request.delta for request in requests),
        }
        head = what if what.startswith("crash") else " ".join(what.split()[:2])
        return f"{head} [{', '.join(word for word, holds in sorts.items() if holds)}]"


def minimised(trial: Trial, kinds: Sequence[str], seconds: float) -> Trial:
    def fails(tried: Sequence[int]) -> bool:
        now = outcome(replay=tried, kinds=kinds)
        return now.outcome.status == "fault" and now.sort == trial.sort

    return outcome(replay=smaller(trial.decisions, fails, seconds), kinds=kinds)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("minutes", nargs="?", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=None, help="another seed is another walk (default: the time)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--mechanisms", help="look at these only, for example quilt-exact,group-dp")
    parser.add_argument("--shrink", type=float, default=30.0, help="seconds to make a fault smaller")
    options = parser.parse_args(arguments)
    seed = int(time.time()) if options.seed is None else options.seed
    kinds = tuple(options.kinds.split(","))
    if options.mechanisms:
        specs.MECHANISMS = specs.COMPOSING = specs.WITH_DELTA = tuple(options.mechanisms.split(","))
    start = reported = time.monotonic()
    counts: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    slowest, number = (0.0, -1), options.first
    print(f"seed {seed}, {options.minutes:g} minutes", flush=True)
    while time.monotonic() - start < 60 * options.minutes:
        before = time.monotonic()
        trial = outcome(f"{seed}:{number}", kinds=kinds)
        counts[trial.outcome.status] += 1
        slowest = max(slowest, (time.monotonic() - before, number))
        if trial.outcome.status == "fault":
            faults[trial.sort] += 1
            if faults[trial.sort] == 1:
                small = minimised(trial, kinds, options.shrink)
                print(f"\n--- case {number} after {before - start:.0f} s, {trial.sort}: {small.outcome.what}")
                print(f"{small.outcome.block}\n", flush=True)
        if time.monotonic() - reported > 30:
            reported = time.monotonic()
            print(
                f"{reported - start:5.0f} s, case {number}: {dict(counts)}; "
                f"slowest {slowest[0]:.1f} s (case {slowest[1]})",
                flush=True,
            )
        number += 1
    print(
        f"{number - options.first} cases in {time.monotonic() - start:.0f} s: {dict(counts)}; "
        f"slowest {slowest[0]:.1f} s (case {slowest[1]})"
    )
    for what, times in faults.most_common():
        print(f"  {times} x {what}")
    return 1 if faults else 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
