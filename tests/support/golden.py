"""The reference values of tests/golden.json, computed independently in exact or high-precision arithmetic."""

import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

Law = dict[int, Fraction]


@cache
def golden() -> dict[str, Any]:
    """Return the whole file."""
    return dict(json.loads((Path(__file__).parent.parent / "golden.json").read_text()))


def transport_laws() -> dict[str, tuple[Law, Law]]:
    """Return the pairs of laws of the entry `transport`, by name."""
    return {name: (_law(entry["mu"]), _law(entry["nu"])) for name, entry in golden()["transport"].items()}


def _law(entry: dict[str, str]) -> Law:
    return {int(atom): Fraction(mass) for atom, mass in entry.items()}
