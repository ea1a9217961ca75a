"""Every kind of belief: sizes, alphabets, components, what is possible, words, and the way to JSON and back."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.corpus import corpus
from tests.conformance.suite import check_belief

from takifugu.beliefs.pair import LawPair

BELIEFS: dict[str, Any] = {
    f"{case.name}, belief {number}": belief
    for case in corpus()
    for number, belief in enumerate(case.framework.beliefs)
    if not isinstance(belief, LawPair)
}


@pytest.mark.parametrize("name", BELIEFS)
def test_it_is_a_belief(name: str) -> None:
    check_belief(BELIEFS[name])


def test_every_kind_of_belief_is_in_the_corpus() -> None:
    from takifugu import beliefs
    from takifugu.errors import InputError

    with pytest.raises(InputError) as error:
        beliefs.from_dict({"kind": "no such kind"})
    known = set(str(error.value).partition("[")[2].partition("]")[0].replace("'", "").split(", "))
    assert known == {b.to_dict()["kind"] for b in BELIEFS.values()} | {"law-pair"}
