"""Counted pieces as columns: parts of them, their gaps and their digests are those of the walks themselves."""

from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.support.counting import counts_of

WALK = st.lists(st.sampled_from([0, 1, None]), min_size=1, max_size=6)


@given(walks=st.lists(WALK, min_size=1, max_size=5), data=st.data())
def test_a_part_is_counted_as_its_walks_are(walks: list[list[int | None]], data: st.DataObject) -> None:
    chosen = data.draw(st.permutations(range(len(walks))))[: data.draw(st.integers(1, len(walks)))]
    part = counts_of(walks, 2).taken(np.array(chosen))
    alone = counts_of([walks[number] for number in chosen], 2)
    assert part.lengths.tolist() == alone.lengths.tolist()
    assert part.are_seen.tolist() == alone.are_seen.tolist()
    assert part.counts.tolist() == alone.counts.tolist()
    assert part.names[0].tolist() == [f"p{number}" for number in chosen]
    assert [part.observed(place) for place in range(len(part))] == [alone.observed(place) for place in range(len(part))]
    entries = list(chain.from_iterable(walks[number] for number in chosen))
    seen = list(chain.from_iterable(part.observed_through(range(len(part)))))
    assert seen == [place for place, value in enumerate(entries) if value is not None]
    weights = list[int]()
    for number, length in enumerate(part.lengths.tolist()):
        weights += part.weights(number).at(np.arange(length)).tolist()
    assert weights == [value is not None for value in entries]
    assert part.summed(np.arange(len(part))).tolist() == [[entries.count(0), entries.count(1)]]


@given(walks=st.lists(WALK, min_size=1, max_size=3), others=st.lists(WALK, min_size=1, max_size=3))
def test_digests_tell_counts_apart(walks: list[list[int | None]], others: list[list[int | None]]) -> None:
    def said(some: list[list[int | None]]) -> object:
        return [(walk.count(0), walk.count(1), [value is None for value in walk]) for walk in some]

    assert (counts_of(walks, 2).digest() == counts_of(others, 2).digest()) == (said(walks) == said(others))
