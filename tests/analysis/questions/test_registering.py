"""A kind of belief is registered once, whole, and then read back."""

from __future__ import annotations

from typing import Any

import pytest

from takifugu.core.errors import InputError
from takifugu.model import beliefs
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.beliefs.one_sequence import AnySequence


def test_a_kind_is_registered_once() -> None:
    with pytest.raises(InputError, match="'markov-chain' is registered already"):
        beliefs.register("markov-chain", MarkovChain)


@pytest.mark.parametrize(("kind", "belief"), [("", MarkovChain), (3, MarkovChain), ("chain", 3)])
def test_a_type_is_registered_under_a_name(kind: Any, belief: Any) -> None:
    with pytest.raises(InputError, match="a type is registered under a name"):
        beliefs.register(kind, belief)


@pytest.mark.parametrize("kind", [None, [], "no such"])
def test_an_unknown_kind_is_an_error_of_the_input(kind: Any) -> None:
    with pytest.raises(InputError, match="the belief's kind is"):
        beliefs.from_dict({"kind": kind})


def test_what_lacks_something_that_every_belief_has_is_refused_at_once() -> None:
    class Half:
        source: str

        def alphabet(self, entry: int) -> tuple[int, ...]:
            return (0, 1)

    with pytest.raises(InputError, match=r"Half lacks .*from_dict.*to_dict") as error:
        beliefs.register("half", Half)
    assert "lacks assumptions, component, components, describe, from_dict" in str(error.value)
    with pytest.raises(InputError, match="'half'"):
        beliefs.from_dict({"kind": "half"})


def test_a_sequence_that_does_not_describe_itself_is_refused_at_once() -> None:
    class Mute(AnySequence):
        def with_length(self, length: int) -> Mute:
            return self

    with pytest.raises(InputError, match="Mute lacks assumptions, describe, from_dict, to_dict"):
        beliefs.register("mute", Mute)


def test_what_is_registered_is_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    class Loop(MarkovChain): ...

    monkeypatch.setattr(beliefs.KINDS, "_known", dict(beliefs.KINDS._known))
    beliefs.register("loop", Loop)
    assert beliefs.belief_class("loop") is Loop
    described = MarkovChain([[0.5, 0.5], [0.5, 0.5]], 2).to_dict()
    assert beliefs.from_dict({**described, "kind": "loop"}).to_dict() == described  # Loop.from_dict is inherited
