"""A walk over seeded cases: until the time is over, with a line for each fault and the number of each outcome."""

import argparse
import random
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

#: The outcomes that are faults.
FAULTS = ("fault", "crashed")
#: Memory, where there is any: a ledger waits for the disk at every commit.
FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None
Outcome = TypeVar("Outcome")


def in_a_folder(seed: str, judge: Callable[[random.Random, Path], Outcome]) -> Outcome:
    """Judge one case in a folder that goes with it, without warnings."""
    with tempfile.TemporaryDirectory(dir=FAST) as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return judge(random.Random(seed), Path(folder))


def judge_cases(
    name: str, about: str | None, judge: Callable[[str], tuple[str, str]], arguments: Sequence[str] | None
) -> int:
    """Judge one case after the other; return the exit code.

    `judge` takes the seed of a case, and returns its outcome and what is to be printed of it, if anything.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m tests.fuzz.{name}", description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("minutes", nargs="?", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=None, help="another seed is another walk (default: the time)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--cases", type=int, default=10**9, help="stop after so many, if the time allows")
    options = parser.parse_args(arguments)
    seed = int(time.time()) if options.seed is None else options.seed
    outcomes: Counter[str] = Counter()
    start = time.monotonic()
    print(f"{name}: seed {seed}, {options.minutes:g} minutes", flush=True)
    for number in range(options.first, options.first + options.cases):
        if time.monotonic() - start > 60 * options.minutes:
            break
        try:
            outcome, words = judge(f"{seed}:{number}")
        except Exception:
            outcome, words = "crashed", traceback.format_exc()
        outcomes[outcome] += 1
        if words:
            print(f"\n--- case {seed}:{number}: {words}", flush=True)
        if number % 500 == 499:
            print(f"{time.monotonic() - start:5.0f} s, case {number}: {dict(outcomes)}", flush=True)
    print(f"{outcomes.total()} cases in {time.monotonic() - start:.0f} s: {dict(outcomes)}")
    return 1 if any(outcomes[fault] for fault in FAULTS) else 0
