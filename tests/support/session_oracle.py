"""The exact law of a session, by its definition: places and thresholds chosen by the answers before. No takifugu.

A strategy gives the next place and threshold, or None where nobody asks any more.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product

from tests.support.asymmetric import SAFE, noisy

Answers = tuple[tuple[str, int, object], ...]
Strategy = Callable[[Answers], tuple[str, int] | None]


def transcripts(
    counts: Mapping[str, int], strategy: Strategy, limit: int | None, decay: Fraction, cap: int
) -> dict[Answers, Fraction]:
    """Return the law of everything that is answered: each question with noise of its own, `cap` and more lumped."""
    ended: dict[Answers, Fraction] = defaultdict(Fraction)
    going: dict[Answers, Fraction] = {(): Fraction(1)}
    while going:
        after: dict[Answers, Fraction] = defaultdict(Fraction)
        for past, chance in going.items():
            values = sum(answer != SAFE for _, _, answer in past)
            question = None if limit is not None and values >= limit else strategy(past)
            if question is None:
                ended[past] += chance
                continue
            place, threshold = question
            for z, mass in noisy(counts[place], decay, cap).items():
                answer = SAFE if z <= threshold else z
                after[(*past, (place, threshold, answer))] += chance * mass
        going = after
    return dict(ended)


def moves(counts: Mapping[str, int], most: int) -> list[dict[str, int]]:
    """Return where one person's move can lead: counts that fall by 1, `most` of them at most."""
    falls = []
    for falling in product((0, 1), repeat=len(counts)):
        after = {place: count - fall for (place, count), fall in zip(counts.items(), falling, strict=True)}
        if 0 < sum(falling) <= most and min(after.values()) >= 0:
            falls.append(after)
    return falls
