"""Random cases as plain data: calls of the public constructors with their arguments, and releases in their order.

Nothing here imports takifugu. Entries are meant by their *key*: a name (of a column, a variable, a person) or, in
sequences, a position; `At(key)` stands where the library takes a position, `Along` where it takes a weight per entry.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tests.fuzz.choices import Choices

Key = Hashable
State = Hashable

MECHANISMS = (
    "group-dp", "quilt-exact", "auto", "laplace-exact", "wasserstein", "record-dp", "quilt-approx",
    "kantorovich-relaxed", "kantorovich-exponential", "optimal",
)  # fmt: skip
WITH_DELTA = (
    "gaussian-analytic", "wasserstein-delta", "auto", "gaussian-exact", "kantorovich-gaussian-a",
    "kantorovich-gaussian-b",
)  # fmt: skip
COMPOSING = (
    "quilt-exact", "group-dp", "quilt-exact", "auto", "quilt-approx", "laplace-exact", "record-dp", "wasserstein",
)  # fmt: skip
#: Mechanisms that hide runs of entries.
OF_RUNS = ("influence", "influence", "group-dp", "auto", "record-dp")
#: Mechanisms whose scale is never above that of another one, wherever both apply (docs/reference/mechanisms.md).
NEVER_ABOVE = (
    ("laplace-exact", "wasserstein"), ("laplace-exact", "group-dp"), ("wasserstein", "group-dp"),
    ("quilt-exact", "group-dp"),
)  # fmt: skip

CHAINS = ("MarkovChain", "ReversibleChains", "BinaryChains", "IntervalMarkovChain")
ALPHABETS: tuple[tuple[State, ...], ...] = (
    (0, 1), ("no", "yes"), (0, 1, 2), ("a", "b", "c"), (-1, 2), (1, 0), (0.5, 2, 3), (False, True), ("1", 1),
)  # fmt: skip
#: A state that only some beliefs know.
NEW = "new"
NAMES = ("a", "b", "c", "d", "x1", "x2", "hiv", "flu")


@dataclass(frozen=True)
class Call:
    """A call of one of takifugu's public names with plain keyword arguments."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, argument: str) -> Any:
        return self.arguments[argument]

    def get(self, argument: str, default: Any = None) -> Any:
        return self.arguments.get(argument, default)


@dataclass(frozen=True)
class At:
    """The position that the framework's first belief gives to an entry, or its name."""

    key: Key
    by_name: bool = False


@dataclass(frozen=True)
class Along:
    """One weight for each entry, in the order of the framework's first belief."""

    weights: Mapping[Key, Fraction]


@dataclass(frozen=True)
class Request:
    """One release: what is hidden, believed and published, at which cost, by which mechanism.

    `window` is the first position of the sequence that is read, in the recording that all releases are about. `spelled`
    says what the states are called in this release, where they are called otherwise than in the others. Where it is
    `placed`, the release declares its window.
    """

    secrets: tuple[Call, ...]
    beliefs: tuple[Call, ...]
    query: Call
    epsilon: Fraction
    delta: Fraction
    mechanism: str
    window: int = 0
    unit: str | None = None
    spelled: Mapping[State, State] | None = None
    placed: bool = False


@dataclass(frozen=True)
class World:
    """Which entries there are and which states they have: what all releases of a case are about."""

    alphabets: Mapping[Key, tuple[State, ...]]
    is_sequence: bool

    @property
    def keys(self) -> list[Key]:
        return list(self.alphabets)


def world(c: Choices) -> World:
    if c.below(2) == 0:
        alphabet = c.pick(ALPHABETS)
        length = c.pick((2, 1, 3, 4, 5) if len(alphabet) == 2 else (2, 1, 3, 4))
        return World(dict.fromkeys(range(length), alphabet), True)
    names = c.shuffled(NAMES)[: c.pick((2, 1, 3, 4))]
    if c.chance(3):
        return World({name: c.pick(ALPHABETS) for name in names}, False)
    return World(dict.fromkeys(names, c.pick(ALPHABETS)), False)


def row(c: Choices, size: int, zeros: bool = True) -> list[float]:
    """Return probabilities that floats hold exactly, often equal, nearly equal, extreme or zero."""
    kind = c.pick(("even", "any", "sharp", "zeros", "tiny") if zeros else ("even", "any", "sharp"))
    if size == 1:
        return [1.0]
    if kind == "even":
        parts = [64 // size] * size
        parts[0] += 64 - sum(parts)
        return [part / 64 for part in parts]
    if kind == "sharp":
        sharp = [1 / 64] * size
        sharp[c.below(size)] = 1 - (size - 1) / 64
        return sharp
    if kind == "tiny" and not c.chance(3):
        kind = "zeros"
    if kind == "tiny":
        return _tiny(c, size)
    least = 0 if kind == "zeros" else 1
    parts = [least] * size
    for _ in range(16 - least * size):
        parts[c.below(size)] += 1
    if kind == "zeros":
        gone = c.below(size)
        parts[(gone + 1) % size], parts[gone] = parts[(gone + 1) % size] + parts[gone], 0
    return [part / 16 for part in parts]


def epsilon(c: Choices) -> Fraction:
    return c.pick((Fraction(1), Fraction(1, 10), Fraction(3)))


def markov_chain(c: Choices, states: Sequence[State], length: int) -> Call:
    """Return a chain whose rows are any, all equal (independent steps: quilts cost nothing), nearly so, or tiny."""
    order, k = c.shuffled(states), len(states)
    rows = c.pick(("any", "equal", "nearly", "any", "tiny"))
    if rows == "tiny":
        matrix = [_tiny(c, k) for _ in range(k)]
    elif rows == "any":
        matrix = [row(c, k) for _ in range(k)]
    else:
        common = row(c, k, zeros=False)
        matrix = [_moved_a_little(c, common) if rows == "nearly" else common for _ in range(k)]
    initial: Any = c.pick(("stationary", "any", "given"))
    if initial == "given":
        initial = row(c, k)
    return Call("MarkovChain", {"matrix": matrix, "length": length, "initial": initial, "states": order})


def _tiny(c: Choices, size: int) -> list[float]:
    masses = [c.pick((1e-200, 0.0, 1e-30, 1e-200)) for _ in range(size)]
    masses[c.below(size)] = 1.0
    return masses


def _moved_a_little(c: Choices, common: Sequence[float]) -> list[float]:
    masses, to, since = list(common), c.below(len(common)), c.below(len(common))
    step = min(c.pick((1 / 256, 1 / 16, 1 / 4)), masses[since] / 2)
    return [p + step * ((i == to) - (i == since)) for i, p in enumerate(masses)]


def chain_class(c: Choices, states: Sequence[State], length: int) -> Call:
    pi, g = c.pick((0.25, 0.125)) if len(states) < 4 else 0.125, c.pick((1.0, 0.5, 0.75, 0.875))
    return Call("ReversibleChains", {"pi": pi, "g": g, "length": length, "states": c.shuffled(states)})


def interval(c: Choices, states: Sequence[State], length: int) -> Call:
    low = c.pick((0.5, 0.25, 0.375, 0.4375, 0.0625, 0.0))
    return Call("BinaryChains", {"low": low, "length": length, "states": c.shuffled(states)})


def region(c: Choices, states: Sequence[State], length: int) -> Call:
    k = len(states)
    middle = [row(c, k) for _ in range(k)]
    wide = c.pick((0.0, 0.03125, 0.125))
    lower = [[max(0.0, p - wide * c.below(2)) for p in line] for line in middle]
    upper = [[min(1.0, p + wide) for p in line] for line in middle]
    return Call("IntervalMarkovChain", {"lower": lower, "upper": upper, "length": length, "states": c.shuffled(states)})


def one_chain(c: Choices, states: Sequence[State], length: int) -> Call:
    kinds = [markov_chain, markov_chain, markov_chain, chain_class, region, *([interval] if len(states) == 2 else [])]
    return c.pick(kinds)(c, states, length)


def pieces(c: Choices, states: Sequence[State], length: int) -> Call:
    lengths = []
    while sum(lengths) < length:
        lengths.append(c.between(1, length - sum(lengths)))
    return Call("IndependentPieces", {"chain": one_chain(c, states, max(lengths)), "lengths": lengths})


def users(c: Choices, alphabets: Mapping[Key, Sequence[State]], named: bool) -> Call:
    order = c.shuffled(list(alphabets)) if named else list(alphabets)
    laws = []
    for key in order:
        states = c.shuffled(alphabets[key])
        laws.append(dict(zip(states, row(c, len(states)), strict=True)))
    absence = c.pick((None, "unknown", "removed"))
    presence = [1 if absence is None else c.pick((0.5, 1, 0.75, 0)) for _ in order]
    if absence == "removed" and 1 in presence and set(presence) == {1}:
        presence[0] = 0.5
    arguments: dict[str, Any] = {"laws": laws, "presence": presence, "absence": absence}
    return Call("IndependentUsers", {**arguments, "names": order} if named else arguments)


def joint_table(c: Choices, alphabets: Mapping[Key, Sequence[State]]) -> Call:
    order = c.shuffled(list(alphabets))
    rows: list[tuple[State, ...]] = [()]
    for key in order:
        rows = [(*r, state) for r in rows for state in alphabets[key]]
    weights = [c.pick((1, 0, 2, 5, 31)) for _ in rows]
    if len(rows) == 2 ** len(order) and c.chance(4):  # parity and copies, where one column alone tells nothing
        first = [alphabets[key][0] for key in order]
        parity = c.below(2)
        weights = [sum(v != f for v, f in zip(r, first, strict=True)) % 2 == parity for r in rows]
    weights[c.below(len(rows))] += 1
    if all(w == 0 for w in weights):
        weights[0] = 1
    masses = [Fraction(int(w), int(sum(weights))) for w in weights]
    if c.chance(3):
        masses = [float(m) for m in masses]
    return Call("JointTable", {"rows": rows, "probabilities": masses, "names": order})


def network(c: Choices, alphabets: Mapping[Key, Sequence[State]]) -> Call:
    order, nodes = c.shuffled(list(alphabets)), []
    states = {key: c.shuffled(alphabets[key]) for key in order}
    for place, key in enumerate(order):
        parents = c.shuffled(c.some(order[:place], 0))[:3]
        nodes.append((key, states[key], parents, _conditional(c, [len(states[p]) for p in parents], len(states[key]))))
    return Call("BayesianNetwork", {"nodes": c.shuffled(nodes)})


def _conditional(c: Choices, parents: Sequence[int], size: int) -> list[Any]:
    if not parents:
        return row(c, size)
    return [_conditional(c, parents[1:], size) for _ in range(parents[0])]


def cliques(c: Choices, alphabets: Mapping[Key, Sequence[State]]) -> Call:
    left, groups = c.shuffled(list(alphabets)), []
    while left:
        size = c.between(1, len(left))
        groups.append(left[:size])
        left = left[size:]
    number = {m: row(c, m + 1) for m in sorted({len(group) for group in groups})}
    states = c.shuffled(next(iter(alphabets.values())))
    return Call("CliqueInfection", {"cliques": groups, "number": number, "states": states})


def belief(c: Choices, about: World, like: Call | None = None) -> Call:
    """Return a belief about all entries; of the kind of another one where one is given."""
    alphabets, first = about.alphabets, next(iter(about.alphabets.values()))
    if about.is_sequence:
        length = len(alphabets)
        if like is not None and like.name == "IndependentPieces":  # data come in pieces, for every belief
            chain = one_chain(c, first, max(like["lengths"]))
            return Call("IndependentPieces", {"chain": chain, "lengths": like["lengths"]})
        if like is not None and like.name in CHAINS:
            return markov_chain(c, first, length) if like.name == "MarkovChain" else one_chain(c, first, length)
        kind = c.pick((one_chain, one_chain, one_chain, one_chain, users, pieces))
        if kind is users or like is not None:
            return users(c, alphabets, named=False)
        return kind(c, first, length)
    kinds: dict[str, Any] = {
        "BayesianNetwork": network,
        "JointTable": joint_table,
        "IndependentUsers": lambda c, a: users(c, a, named=True),
    }
    if all(a == first for a in alphabets.values()) and len(first) == 2:
        kinds["CliqueInfection"] = cliques
    if like is not None and like.name in kinds:
        return kinds[like.name](c, alphabets)
    return c.pick([network, *kinds.values()])(c, alphabets)


def beliefs(c: Choices, about: World) -> tuple[Call, ...]:
    believed: list[Call] = []
    for number in range(c.pick((1, 1, 2, 3))):
        seen, like = about, believed[0] if believed and (about.is_sequence or not c.chance(3)) else None
        if number and c.chance(8) and (like is None or like.name in CHAINS or not about.is_sequence):
            if about.is_sequence:  # the same recording, believed to go on
                seen = World(dict.fromkeys(range(len(about.keys) + 1), about.alphabets[0]), True)
            else:
                key = c.pick(about.keys)
                seen = World({**about.alphabets, key: (*about.alphabets[key], NEW)}, False)
        believed.append(belief(c, seen, like))
    return tuple(believed)


def secrets(c: Choices, about: World, believed: Sequence[Call]) -> tuple[Call, ...]:
    return tuple(_secret(c, about, believed) for _ in range(c.pick((1, 1, 1, 2))))


def _secret(c: Choices, about: World, believed: Sequence[Call]) -> Call:
    kinds = ["every", "entry"]
    if about.is_sequence and all(b.name in CHAINS or b.name == "IndependentPieces" for b in believed):
        kinds += ["run"]
    if not about.is_sequence:
        kinds += ["every of", "attribute"]
    if all(b.name == "IndependentUsers" for b in believed):
        kinds += ["presence", "presence"]
    kind = c.pick(kinds)
    key = c.pick(about.keys)
    if kind == "every":
        return Call("every_entry")
    if kind == "run":
        return Call("every_run", {"length": c.pick((1, 2, 2, 3))})
    if kind == "every of":
        return Call("every_entry", {"attribute": key})
    if kind == "presence":
        who: Any = c.pick((None, At(key), key))
        return Call("presence", {"user": At(key) if about.is_sequence and who is not None else who})
    a, b = c.shuffled(about.alphabets[key])[:2]
    if kind == "entry":
        return Call("entry", {"i": At(key), "a": a, "b": b})
    return Call("attribute", {"name": key, "a": a, "b": b})


def query(c: Choices, about: World) -> Call:
    if c.chance(8):
        return by_cells(c, about)
    states = list(dict.fromkeys(s for alphabet in about.alphabets.values() for s in alphabet))
    named = not about.is_sequence and c.chance(3)
    some = c.pick((None, c.some(about.keys), [c.pick(about.keys)]))
    entries = None if some is None else tuple(At(key, named) for key in some)
    kind = c.pick(("Count", "Sum", "Linear", "Histogram", "Mean", "Linear", "Identity"))
    if kind == "Identity" and about.is_sequence and len(about.keys) > 1:
        kind = "Linear"
    if kind == "Count":
        which = c.some(states)
        return Call("Count", {"state": which[0] if len(which) == 1 else which, "entries": entries})
    if kind == "Histogram":
        cells = None if c.below(2) == 0 else c.shuffled(c.some(states))
        return Call("Histogram", {"states": cells, "total": c.pick((None, 7)), "entries": entries})
    codes = None
    if any(isinstance(s, str | bool) for s in states) or c.chance(3):
        codes = {s: c.pick((i, Fraction(1, 2), -1, 5, 20)) for i, s in enumerate([*states, NEW])}
    grid = c.pick((None, None, Fraction(1), Fraction(1, 2), Fraction(2)))
    if kind == "Linear":
        choose = (Fraction(1), Fraction(0), Fraction(-1), Fraction(1, 2), Fraction(3), Fraction(40))
        sparse = c.below(2) == 0
        weights = {key: Fraction(0) if sparse and c.below(2) else c.pick(choose) for key in about.keys}
        return Call("Linear", {"weights": Along(weights), "codes": codes, "grid": grid})
    if kind == "Identity":
        column = None if about.is_sequence else c.pick(about.keys)
        return Call("Identity", {"attribute": column, "codes": codes, "grid": grid})
    if entries is None and not about.is_sequence and c.chance(2):
        return Call(kind, {"attribute": c.pick(about.keys), "codes": codes, "grid": grid})
    return Call(kind, {"codes": codes, "entries": entries, "grid": grid})


def by_cells(c: Choices, about: World) -> Call:
    """A count, histogram, sum or mean of each of one to three cells, which may overlap and leave entries out."""
    states = list(dict.fromkeys(s for alphabet in about.alphabets.values() for s in alphabet))
    kind = c.pick(("Count", "Histogram", "Sum", "Mean"))
    inner = Call(kind, {"codes": {s: c.pick((i, -1, Fraction(1, 2))) for i, s in enumerate([*states, NEW])}})
    if kind == "Histogram":
        inner = Call(kind, {"states": c.some(states), "total": c.pick((None, 7))})
    if kind == "Count":
        inner = Call(kind, {"state": c.some(states)})
    cells = {f"cell {n}": tuple(At(key) for key in c.some(about.keys)) for n in range(1 + c.below(3))}
    return Call("GroupBy", {"query": inner, "cells": cells})


def price(c: Choices, mechanisms: Sequence[str], believed: Sequence[Call]) -> tuple[Fraction, Fraction, str]:
    """Return epsilon, delta and a mechanism; mostly one that has something to say about such beliefs."""
    with_delta = c.chance(6)
    chosen = WITH_DELTA if with_delta else mechanisms
    if not c.chance(12):
        chosen = [name for name in chosen if all(_knows(name, b) for b in believed)] or ["group-dp"]
        with_delta = with_delta and chosen != ["group-dp"]
    delta = c.pick((Fraction(1, 100), Fraction(1, 10), Fraction(1, 10**5))) if with_delta else Fraction(0)
    return epsilon(c), delta, c.pick(chosen)


def _knows(mechanism: str, believed: Call) -> bool:
    kind = believed["chain"].name if believed.name == "IndependentPieces" else believed.name
    if kind in CHAINS and kind != "MarkovChain":
        return mechanism in ("group-dp", "record-dp", "quilt-approx", "auto")
    if mechanism == "quilt-approx":
        return kind == "MarkovChain"
    if mechanism.startswith("quilt"):
        return kind in ("MarkovChain", "BayesianNetwork")
    return True


def requested(c: Choices, about: World, mechanisms: Sequence[str] = ()) -> Request:
    believed = beliefs(c, about)
    hidden, chosen = secrets(c, about, believed), list(mechanisms or MECHANISMS)
    if any(secret.name == "every_run" for secret in hidden):
        chosen = [name for name in chosen if name in OF_RUNS]
    return Request(hidden, believed, query(c, about), *price(c, chosen or OF_RUNS, believed))


def pair(c: Choices) -> Request:
    """Two laws of an answer: near each other, far apart, on and off the grid."""
    places = c.pick(([0, 1, 2, 5], [0, 0.25, 0.5, 1], [0.000049, 0.000051, 1000.0, 1.0], [0.4, 0.6, 0.51, 2]))
    laws = []
    for _ in range(2):
        atoms = c.some(places)
        masses: list[Any] = row(c, len(atoms))
        if c.chance(2):
            masses = [Fraction(m) for m in masses]
            masses = [m / sum(masses) for m in masses]
        laws.append(Call("Pmf", {"values": atoms, "probabilities": masses}))
    about = Call("Identity", {"grid": c.pick((None, Fraction(1), Fraction(1, 10**4)))})
    return Request((), tuple(laws), about, *price(c, MECHANISMS, laws))


def several(c: Choices) -> tuple[World, tuple[Request, ...]]:
    """Two or three releases about one source, in frameworks of their own or in one, orders and windows of their own."""
    if c.chance(4):
        return rolling(c)
    about, count = world(c), c.pick((2, 2, 3))
    shared, mechanisms = c.pick(("belief", "belief", "nothing")), c.pick((COMPOSING, COMPOSING[:1], COMPOSING))
    first = requested(c, about, mechanisms)
    requests = [first]
    for _ in range(count - 1):
        if shared == "nothing":
            requests.append(requested(c, about, mechanisms))
            continue
        believed, seen = tuple(relisted(c, b) for b in first.beliefs), about
        if about.is_sequence and all(b.name in CHAINS for b in believed) and c.chance(4):  # more, or less, of the same
            length = max(1, len(about.keys) + c.pick((1, -1)))
            seen = World(dict.fromkeys(range(length), about.alphabets[0]), True)
            believed = tuple(Call(b.name, {**b.arguments, "length": length}) for b in believed)
        hidden, published = first.secrets, first.query
        if seen is not about or c.below(3) == 0:
            published = query(c, seen)
        if seen is not about:
            hidden = secrets(c, seen, believed)
        requests.append(Request(hidden, believed, published, *price(c, mechanisms, believed)))
    if about.is_sequence and all(_moves(b) for a in requests for b in a.beliefs):
        requests = [replace(_moved(c, a), placed=c.chance(2)) for a in requests]
    if c.chance(6):
        requests = [replace(a, unit=c.pick(("ana", "bo"))) for a in requests]
    if c.chance(6):
        requests = [requests[0], *(_spelled(c, about, a) for a in requests[1:])]
    return about, tuple(requests)


def rolling(c: Choices) -> tuple[World, tuple[Request, ...]]:
    """Windows of one recording, each read at few of its entries, often at the same one: where positions matter most."""
    states, length = c.pick(ALPHABETS[:3]), c.pick((2, 3, 4))
    about = World(dict.fromkeys(range(length), states), True)
    chain = markov_chain(c, states, length)
    if not isinstance(chain["initial"], str):
        chain = Call(chain.name, {**chain.arguments, "initial": "any"})
    places, read, requests = c.pick(("told", "untold", "mixed")), c.below(length), []
    codes = {s: Fraction(i) for i, s in enumerate(states)}
    for _ in range(c.pick((2, 2, 3))):
        window = c.below(length)
        weights = {t: Fraction(int(t + window == read or c.chance(4))) for t in range(length)}
        published = Call("Linear", {"weights": Along(weights), "codes": codes, "grid": None})
        mechanism = c.pick(COMPOSING[:2])
        secret = Call("every_entry")
        if c.chance(4):
            secret, mechanism = Call("every_run", {"length": 2}), c.pick(OF_RUNS[:3])
        one = Request((secret,), (chain,), published, epsilon(c), Fraction(0), mechanism, window)
        requests.append(replace(one, placed=places == "told" or (places == "mixed" and c.chance(2))))
    return about, tuple(requests)


def relisted(c: Choices, call: Call) -> Call:
    """Return the same belief, its columns, variables, people or states listed in another order."""
    if call.name == "BayesianNetwork":
        return Call(call.name, {"nodes": c.shuffled(call["nodes"])})
    if call.name == "JointTable":
        order = c.shuffled(range(len(call["names"])))
        rows = [tuple(r[i] for i in order) for r in call["rows"]]
        return Call(call.name, {**call.arguments, "rows": rows, "names": [call["names"][i] for i in order]})
    if call.name == "MarkovChain":
        order = c.shuffled(range(len(call["states"])))
        new: dict[str, Any] = {"matrix": [[call["matrix"][i][j] for j in order] for i in order]}
        new["states"] = [call["states"][i] for i in order]
        if not isinstance(call["initial"], str):
            new["initial"] = [call["initial"][i] for i in order]
        return Call(call.name, {**call.arguments, **new})
    if call.name == "IndependentUsers" and call.get("names"):
        order = c.shuffled(range(len(call["laws"])))
        new = {name: [call[name][i] for i in order] for name in ("laws", "presence", "names")}
        return Call(call.name, {**call.arguments, **new})
    if call.name == "CliqueInfection":
        return Call(call.name, {**call.arguments, "cliques": c.shuffled([c.shuffled(g) for g in call["cliques"]])})
    return call


def _moves(call: Call) -> bool:
    """Whether the belief says the same of every window of a longer recording."""
    return call.name in CHAINS and (call.name != "MarkovChain" or isinstance(call["initial"], str))


def _moved(c: Choices, request: Request) -> Request:
    """Move a release to a later window of the recording; sometimes it goes on reading the same entries of that."""
    window, length = c.pick((0, 0, 1, 2)), request.beliefs[0]["length"]
    if request.query.name != "Linear" or window >= length or c.below(2) == 0:
        return replace(request, window=window)
    read = request.query["weights"].weights
    weights = {t: read.get(t + window, Fraction(0)) for t in range(length)}
    return replace(request, window=window, query=Call("Linear", {**request.query.arguments, "weights": Along(weights)}))


def _spelled(c: Choices, about: World, request: Request) -> Request:
    """Give the states new names for one release: the same people, coded by another office."""
    states = list(dict.fromkeys(s for a in about.alphabets.values() for s in a))
    return replace(request, spelled={s: c.pick(("s{}", "t{}")).format(i) for i, s in enumerate(states)})
