"""The ordinary sparse vector: published variants by enumeration, which of them are private, and ours by its draws."""

from collections import Counter
from typing import Any

import pytest
from tests.support import asymmetric as oracle
from tests.support.broken_sparse import ORDINARY
from tests.support.goodness_of_fit import fits

from takagi.ordinary_sparse import OrdinarySparse
from takifugu.mechanisms.one_sided.sparse import SAFE
from takifugu.numbers.noise import InsecureSeededEntropyForTests

TWO = 2.0  # epsilon
STREAMS: list[tuple[tuple[int, ...], tuple[int, ...], int]] = [
    ((0, 1), (1, 0), 1), ((0, 0, 1), (1, 1, 0), 1), ((0, 0, 0, 1), (1, 1, 1, 0), 1), ((0, 0), (1, 1), 2),
    ((0, 0, 0, 1, 1, 1), (1, 1, 1, 0, 0, 0), 3), ((0, 1, 0, 1, 0, 1), (1, 0, 1, 0, 1, 0), 3),
    ((0, 0, 0, 0, 0, 0), (1, 1, 1, 1, 1, 1), 1), ((1, 1, 1, 0, 0, 0), (0, 0, 0, 1, 1, 1), 2),
]  # fmt: skip


def worst_of(variant: Any, epsilon: float) -> float:
    worst = 0.0
    for one, other, limit in STREAMS:
        laws = [variant.law(world, 0, limit, epsilon) for world in (one, other)]
        assert sum(laws[0].values()) == pytest.approx(1)
        worst = max(worst, oracle.log_ratio(laws[0], laws[1], 1e-10), oracle.log_ratio(laws[1], laws[0], 1e-10))
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("variant", ORDINARY, ids=lambda variant: variant.name)
def test_published_variants(variant: Any) -> None:
    worst = worst_of(variant, TWO)
    if variant.is_private:
        assert TWO / 4 < worst <= TWO
    else:
        assert worst > TWO * 1.1


@pytest.mark.mutants
def test_our_ordinary_technique_has_the_law_of_algorithm_1() -> None:
    variant, mechanism = ORDINARY[0], OrdinarySparse(TWO, limit=2)
    assert mechanism.threshold_scale == variant.threshold(2) / 2
    assert mechanism.question_scale == variant.question(2) / 2
    counts, threshold = (0, 2, 1), 0
    law, seen, entropy = variant.law(counts, threshold, 2, TWO), Counter[Any](), InsecureSeededEntropyForTests(3)
    draws = 6000
    for _ in range(draws):
        answers = mechanism.answer(counts, threshold, entropy)
        seen[tuple({0: SAFE, 1: "above", 2: None}[mark] for mark in answers.marks.tolist())] += 1
        assert (answers.values == -1).all()
    assert fits(seen, law, draws, least=8)
    assert sum(seen.values()) - sum(seen[answers] for answers in law) < draws / 50
