"""From plain cases to takifugu: the Python that a user would write, as text that is run and printed alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.fuzz.specs import Along, At, Call, Key, Request, State

import takifugu as tf

PRELUDE = "import takifugu as tf\nfrom fractions import Fraction"


@dataclass(frozen=True)
class Built:
    """A framework and a query, the text that made them, and the keys by position (None in sequences)."""

    framework: Any
    query: Any
    text: str
    names: tuple[Key, ...] | None


def built(request: Request) -> Built:
    """Build the framework and the query of a release; raises what takifugu raises."""
    spelled = request.spelled or {}
    if request.beliefs[0].name == "Pmf":
        text = f"framework = tf.distribution_pair({', '.join(written(b) for b in request.beliefs)})"
        return Built(
            run(text)["framework"], run(query := f"query = {written(request.query)}")["query"], f"{text}\n{query}", None
        )
    beliefs = f"beliefs = [{', '.join(written(respelled(b, spelled)) for b in request.beliefs)}]"
    namespace = run(beliefs)
    first = namespace["beliefs"][0]
    names = getattr(first, "listed", None) or first.names  # numbers count what was listed
    places = None if names is None else {name: i for i, name in enumerate(names)}
    secrets = ", ".join(written(respelled(s, spelled), places) for s in request.secrets)
    lines = [
        f"framework = tf.Pufferfish([{secrets}], beliefs)",
        f"query = {written(respelled(request.query, spelled), places)}",
    ]
    made = run("\n".join(lines), namespace)
    return Built(made["framework"], made["query"], "\n".join([beliefs, *lines]), names)


def price(request: Request) -> str:
    """Return the rest of the arguments of calibrate."""
    delta = f", delta={float(request.delta)!r}" if request.delta else ""
    return f"epsilon={written(request.epsilon)}{delta}, mechanism={request.mechanism!r}, allow_zero_noise=True"


def calibrated(request: Request, made: Built) -> Any:
    return run(
        f"cal = tf.calibrate(framework, query, {price(request)})", {"framework": made.framework, "query": made.query}
    )["cal"]


def run(text: str, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
    space = {"tf": tf, "Fraction": Fraction, **(known or {})}
    exec(text, space)
    return space


def written(value: Any, places: Mapping[Key, int] | None = None) -> str:
    """Write a value as Python; `places` are positions by key, where they are not the keys themselves."""
    if isinstance(value, Call):
        arguments = ", ".join(f"{k}={written(v, places)}" for k, v in value.arguments.items() if v is not None)
        home = "tf.numbers" if value.name == "Pmf" else "tf"
        return f"{home}.{value.name}({arguments})"
    if isinstance(value, At):
        return repr(value.key if places is None or value.by_name else places[value.key])
    if isinstance(value, Along):
        size = max(value.weights) + 1 if places is None else len(places)
        line = [Fraction(0)] * size
        for key, weight in value.weights.items():
            line[key if places is None else places[key]] = weight
        return written([int(w) if w.denominator == 1 else w for w in line])
    if isinstance(value, Fraction):
        return f"Fraction({value.numerator}, {value.denominator})" if value.denominator != 1 else f"{value.numerator}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{written(k)}: {written(v, places)}" for k, v in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + "".join(f"{written(v, places)}, " for v in value) + ")"
    if isinstance(value, list):
        return "[" + ", ".join(written(v, places) for v in value) + "]"
    return repr(value)


def respelled(call: Call, spelled: Mapping[State, State]) -> Call:
    """Return a belief, secret or query with the states called otherwise; numbers that were added become codes."""
    if not spelled:
        return call
    new, given = dict(call.arguments), call.arguments
    for argument in ("states", "state", "a", "b"):
        if given.get(argument) is not None:
            value = given[argument]
            new[argument] = (
                [spelled.get(s, s) for s in value] if isinstance(value, list | tuple) else spelled.get(value, value)
            )
    if "codes" in given:
        codes = given["codes"] or {s: s for s in spelled if not isinstance(s, str)}
        new["codes"] = {spelled.get(s, s): c for s, c in codes.items()}
    if call.name == "GroupBy":
        new["query"] = respelled(given["query"], spelled)
    if call.name == "IndependentPieces":
        new["chain"] = respelled(given["chain"], spelled)
    if call.name == "IndependentUsers":
        new["laws"] = [{spelled.get(s, s): p for s, p in law.items()} for law in given["laws"]]
    if call.name == "JointTable":
        new["rows"] = [tuple(spelled.get(s, s) for s in row) for row in given["rows"]]
    if call.name == "BayesianNetwork":
        new["nodes"] = [(n, [spelled.get(s, s) for s in states], *rest) for n, states, *rest in given["nodes"]]
    return Call(call.name, new)


def data_of(request: Request, value: Mapping[Key, State], seen: Sequence[Key] | None, order: Sequence[Key]) -> Any:
    """Return what is given to tf.release: a list for sequences (None: not observed), else a mapping in some order."""
    spelled = request.spelled or {}
    called = {key: "absent" if v is None else spelled.get(v, v) for key, v in value.items()}
    first = request.beliefs[0]
    if first.name == "IndependentPieces":
        pieces, place = [], 0
        for length in first["lengths"]:
            pieces.append([called[t] if seen is None or t in seen else None for t in range(place, place + length)])
            place += length
        return pieces
    if first.name in ("BayesianNetwork", "JointTable", "CliqueInfection") or first.get("names"):
        return {key: called[key] for key in order}
    return [called[t] if seen is None or t in seen else None for t in sorted(called)]
