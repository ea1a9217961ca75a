"""The corpus holds every kind of secret and query, and the cases that are easily forgotten."""

from typing import Any

import pytest
from tests.conformance.corpus import DELTAS, EPSILONS, Case, whole

from takifugu.model.beliefs.pair import LawPair
from takifugu.model.queries.registry import KINDS
from takifugu.model.queries.resolving.summing import resolved


def beliefs(case: Case) -> list[dict[str, Any]]:
    described: list[dict[str, Any]] = case.framework.to_dict()["beliefs"]
    return described


def nodes(case: Case) -> list[dict[str, Any]]:
    return [node for belief in beliefs(case) for node in belief.get("nodes", ())]


def has_negative_values(case: Case) -> bool:
    listed = [belief for belief in case.framework.beliefs if not isinstance(belief, LawPair)]
    answers = [answer for belief in listed if hasattr(answer := resolved(case.query, belief), "contribution")]
    return any((answer.contribution(i) < 0).any() for answer in answers for i in range(answer.size))


def numbers(values: Any) -> list[float]:
    return [x for row in values for x in numbers(row)] if isinstance(values, list) else [float(values)]


HELD = {
    "any start": lambda case: any(b.get("initial") == "any" for b in beliefs(case)),
    "pieces of any start": lambda case: any(b.get("chain", {}).get("initial") == "any" for b in beliefs(case)),
    "several beliefs": lambda case: len(beliefs(case)) > 1,
    "a chain with zeros": lambda case: any(0.0 in numbers(b.get("matrix", [])) for b in beliefs(case)),
    "users whose absence is unknown": lambda case: any(b.get("absence") == "unknown" for b in beliefs(case)),
    "users who are removed": lambda case: any(b.get("absence") == "removed" for b in beliefs(case)),
    "users of two sorts": lambda case: any(len(b.get("users", ())) > 1 for b in beliefs(case)),
    "a collider": lambda case: any(len(node["parents"]) > 1 for node in nodes(case)),
    "a network with zeros": lambda case: any(0.0 in numbers(node["table"]) for node in nodes(case)),
    "several components": lambda case: any(len(b.components()) > 1 for b in case.framework.beliefs),
    "cliques of two sizes": lambda case: any(len({*map(len, b.get("cliques", ()))}) > 1 for b in beliefs(case)),
    "a table without some rows": lambda case: any(0 < len(b.get("rows", ())) < 6 for b in beliefs(case)),
    "two laws off a grid": lambda case: any("0.4" in str(b.get("right")) for b in beliefs(case)),
    "negative values": has_negative_values,
    "several cells": lambda case: case.query.to_dict()["kind"] == "histogram",
    "a class of chains": lambda case: bool(case.members),
}


@pytest.mark.parametrize("what", HELD)
def test_it_holds(what: str) -> None:
    assert any(HELD[what](case) for case in whole())


def test_it_holds_every_kind_of_secret_and_query() -> None:
    secrets = {secret["kind"] for case in whole() for secret in case.framework.to_dict()["secrets"]}
    assert secrets >= {
        "every-entry", "every-run", "entry", "presence", "which-law", "distribution-parameter", "dataset-property",
        "policy",
    }  # fmt: skip
    assert {case.query.to_dict()["kind"] for case in whole()} == set(KINDS.names) - {"every-change"}
    assert len({case.name for case in whole()}) == len(whole())
    assert len(EPSILONS) == 3
    assert {delta > 0 for delta in DELTAS} == {True, False}
