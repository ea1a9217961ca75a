"""Mechanisms are found by what papers call them; an alias of two mechanisms is an error."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.registries import restored

from takifugu import Count, MarkovChain, Pufferfish, calibrate, every_entry
from takifugu.calibration.registry import REGISTRY, find, register
from takifugu.core.errors import CalibrationRefused, InputError
from takifugu.mechanisms.group import MECHANISM as GROUP

GLOSSARY = Path(__file__).resolve().parents[2] / "docs" / "glossary.md"


def test_every_alias_finds_its_mechanism_in_any_case_and_is_in_the_glossary() -> None:
    words = GLOSSARY.read_text(encoding="utf-8")
    lines = [line for line in REGISTRY if line.aliases]
    assert {"ALap", "SALap", "AGeo", "APGM", "Mangat", "Kantorovich-Laplace"} <= {
        a for line in lines for a in line.aliases
    }
    for line in lines:
        assert re.search(rf"\| {re.escape(', '.join(line.aliases))} \| = `{line.name}` \|", words)
        for alias in line.aliases:
            assert find(alias) is find(alias.upper()) is line
            assert line.named_as(alias) == f"{alias} (= {line.name})"


def test_an_alias_calibrates_and_the_result_has_the_name() -> None:
    framework = Pufferfish(every_entry(), MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=6))
    requested, named = (
        calibrate(framework, Count(1), 1, mechanism=name) for name in ("Kantorovich-Laplace", "kantorovich")
    )
    assert requested.mechanism == named.mechanism == "kantorovich"
    assert requested.scale == named.scale
    with pytest.raises(CalibrationRefused, match=r"^ALap \(= asymmetric-laplace\)"):
        calibrate(framework, Count(1), 1, mechanism="ALap")
    with pytest.raises(InputError, match=r"GK16 \(= inferential\) makes a pure promise"):
        calibrate(framework, Count(1), 1, 0.1, mechanism="GK16")


@pytest.mark.parametrize("alias", ["ALap", "alap", "group", "Algorithm 1 of Song"])
def test_an_alias_of_two_mechanisms_is_an_error(alias: str) -> None:
    with restored():
        with pytest.raises(InputError, match="would be an alias of two mechanisms"):
            register(replace(GROUP, name="mine"), aliases=(alias,))
        assert "mine" not in [line.name for line in REGISTRY]
        register(replace(GROUP, name="mine"), aliases=("my own",))
        assert find("My Own").name == "mine"


def test_a_name_may_not_be_the_alias_of_another() -> None:
    with pytest.raises(InputError, match="would be an alias of two mechanisms"):
        register(replace(GROUP, name="alap"))
