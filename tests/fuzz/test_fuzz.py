"""A minute of the fuzzer with one seed, and whether the fuzzer would see too little noise. `make fuzz` looks longer."""

import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.fuzz import build, checks, oracle, specs
from tests.fuzz.checks import Case, check, generate
from tests.fuzz.choices import Choices, smaller
from tests.fuzz.specs import Call, Request

from takifugu.analysis import randomisers

COIN = [0.5, 0.5]
DIE_OF_TWO = Call(
    "MarkovChain", {"matrix": [[0.75, 0.25], [0.25, 0.75]], "length": 3, "initial": COIN, "states": [0, 1]}
)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_a_seeded_minute_finds_nothing(seed: int) -> None:
    statuses = []
    for number in range(80):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcome = check(generate(Choices(f"test {seed}:{number}")))
        assert outcome.status != "fault", f"case test {seed}:{number}: {outcome.what}\n{outcome.block}"
        statuses.append(outcome.status)
    assert statuses.count("kept") >= 30  # most cases are looked at, and not refused


NOTICED = {
    name: Fraction(name in specs.WITH_DELTA, 10) for name in (*specs.MECHANISMS, *specs.WITH_DELTA) if name != "auto"
}


#: Half of its noise is still enough: printed constants (errata E1).
LOOSE = ("kantorovich-gaussian-a",)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", NOTICED)
def test_half_the_noise_is_noticed(mechanism: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fuzzer's own mutants: every mechanism adds half of what it found, or less where that still does."""
    share = Fraction(1, 4 if mechanism in LOOSE else 2)
    calibrated = build.calibrated
    monkeypatch.setattr(build, "calibrated", lambda request, made: with_less_noise(calibrated(request, made), share))
    monkeypatch.setattr(specs, "price", lambda c, *_: (specs.epsilon(c), NOTICED[mechanism], mechanism))
    cases = (check(generate(Choices(f"mutant:{number}"), ("one", "pair"))) for number in range(400))
    assert any(outcome.status == "fault" and "true" in outcome.what for outcome in cases)


def with_less_noise(cal: Any, share: Fraction) -> Any:
    described = dict(cal.randomiser.to_dict())
    for name in ("units", "scale", "sigma"):
        if name in described:
            described[name] = str(Fraction(described[name]) * share)
    if "masses" in described:  # a choice: every ratio of masses squared
        squared = [[int(m) ** 2 for m in row] for row in described["masses"]]
        total = 2**60
        rows = [[m * total // sum(row) for m in row] for row in squared]
        described["masses"] = [[str(row[0] + total - sum(row)), *map(str, row[1:])] for row in rows]
    return replace(cal, randomiser=randomisers.from_dict(described))


def test_the_oracle_knows_a_chain_by_heart() -> None:
    request = Request(
        (Call("every_entry"),), (DIE_OF_TWO,), Call("Count", {"state": 1}), Fraction(1), Fraction(0), "group-dp"
    )
    (law,) = oracle.laws(DIE_OF_TWO)
    assert sum(law.masses) * 27 == 64 * law.masses[0] * 1.5  # P(0, 0, 0) = 1/2 * 9/16
    loss = oracle.joint(request, DIE_OF_TWO, law, [request], [{"kind": "none", "grid": "1", "cells": 1}], 1.0, 0.0)
    assert loss.epsilon == float("inf")
    assert loss.breaks(100.0, 0.0)


def test_the_oracle_reads_names_and_not_positions() -> None:
    """Two releases of one variable, listed at two places, cost both; of two independent ones, the costlier."""

    def release(names: list[str], read: str) -> Request:
        net = Call("BayesianNetwork", {"nodes": [(name, [0, 1], [], COIN) for name in names]})
        query = Call("Count", {"state": 1, "entries": (specs.At(read),)})
        return Request((Call("every_entry"),), (net,), query, Fraction(1), Fraction(0), "group-dp")

    first, same, other = release(["a", "b"], "a"), release(["b", "a"], "a"), release(["b", "a"], "b")
    noise = {"kind": "discrete-laplace", "units": "1", "grid": "1", "cells": 1}
    (law,) = oracle.laws(first.beliefs[0])
    for second, true in ((same, 2.0), (other, 1.0)):
        loss = oracle.joint(first, first.beliefs[0], law, [first, second], [noise, noise], 1.0, 0.0)
        assert loss.epsilon == pytest.approx(true)


def test_windows_of_one_recording_overlap_in_the_oracle() -> None:
    chain = Call("MarkovChain", {"matrix": [COIN, COIN], "length": 2, "initial": "stationary", "states": [0, 1]})
    query = Call("Linear", {"weights": specs.Along({0: Fraction(0), 1: Fraction(1)}), "codes": None, "grid": None})
    first = Request((Call("every_entry"),), (chain,), query, Fraction(1), Fraction(0), "quilt-exact")
    earlier = specs.Along({0: Fraction(1), 1: Fraction(0)})
    back = replace(first, query=Call("Linear", {**query.arguments, "weights": earlier}))
    noise = {"kind": "discrete-laplace", "units": "1", "grid": "1", "cells": 1}
    for window, true in ((1, 2.0), (0, 1.0)):
        both = [first, replace(back, window=window)]
        (law,) = oracle.laws(chain, oracle.reach(both))
        assert oracle.joint(first, chain, law, both, [noise, noise], 1.0, 0.0).epsilon == pytest.approx(true)


def test_every_noise_of_the_oracle_sums_to_one() -> None:
    kinds: list[dict[str, Any]] = [
        {"kind": "discrete-laplace", "units": "7/3", "grid": "1", "cells": 1},
        {"kind": "rounded-laplace", "scale": "7/3", "grid": "1/2", "cells": 1},
        {"kind": "rounded-normal", "sigma": "7/3", "grid": "1/2", "cells": 1},
    ]
    for described in kinds:
        noise = oracle.Noise(described)
        for centre in (Fraction(0), Fraction(5) if described["kind"] == "discrete-laplace" else Fraction(1, 3)):
            for most in (7, 10_000):
                bins = noise.bins([centre, Fraction(9)], False, most)
                assert float(sum(oracle.np.exp(noise.log_masses([centre], bins)[0]))) == pytest.approx(1, abs=1e-12)


def test_drawn_values_that_do_not_follow_the_law_are_noticed() -> None:
    noise = oracle.Noise({"kind": "discrete-laplace", "units": "1", "grid": "1", "cells": 1})
    expected = [0] * 70 + [1, -1] * 25 + [2, -2] * 9 + [3, -3] * 3 + [4, -5] * 3
    assert checks.fit(noise, Fraction(3), [Fraction(3 + k) for k in expected]) > 1e-3
    assert checks.fit(noise, Fraction(3), [Fraction(3)] * 150) < 1e-6
    assert checks.fit(noise, Fraction(3), [Fraction(7, 2)] * 3) == 0


def test_decisions_become_fewer_and_smaller() -> None:
    assert smaller([5, 9, 3, 7, 7, 1], lambda tried: sum(tried) >= 8, 5.0) in ([8], [7, 1], [1, 7], [9])


def test_a_case_is_made_again_from_its_decisions() -> None:
    c = Choices("again")
    case = generate(c)
    assert generate(Choices(replay=c.taken)) == case
    assert isinstance(case, Case)
