"""The true loss by listing: every joint state of every law, every extreme output. Shares no code with takifugu.

A belief's call becomes exact joint laws (integer masses over all joint states; for a class, laws that lie in it: each
is a necessary condition). The answer is evaluated on each state by name. Noise is read from its declared plain form.
Whatever set of outputs is looked at, a loss found there is a loss: outputs are the atoms where ratios are extreme, and
for delta the bins of a partition (merging outputs is post-processing).
"""

import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, logsumexp
from tests.fuzz.specs import CHAINS, NEW, At, Call, Key, Request, State
from tests.support.chain_oracles import stationary_vector

Floats = NDArray[np.float64]
ABSENT = "absent"
#: Joint states beyond which a case is not looked at, and outputs beyond which some are chosen.
MOST_STATES, MOST_OUTPUTS = 3_000, 2_500
TOLERANCE = 1e-9


class TooLarge(Exception):
    """There are more joint states than the oracle lists."""


@dataclass(frozen=True)
class Law:
    """A joint law: for each joint state the letter of every entry, what it adds (None: nothing), and its mass."""

    keys: tuple[Key, ...]
    letters: list[tuple[State, ...]]
    values: list[tuple[State, ...]]
    masses: list[int]


def laws(call: Call, length: int | None = None) -> list[Law]:
    """Return the joint law of a belief, or laws of its class; chains are continued to `length` entries."""
    return [law for law in _LAWS[call.name](call, length) if sum(law.masses) > 0]


def exact(probabilities: Sequence[Any]) -> list[Fraction]:
    weights = [Fraction(p) for p in probabilities]
    return [p / sum(weights) for p in weights]


def _of(keys: Sequence[Key], rows: Sequence[tuple[tuple[State, ...], Fraction]]) -> Law:
    scale = math.lcm(*(p.denominator for _, p in rows))
    alive = [(states, int(p * scale)) for states, p in rows if p > 0]
    if len(alive) > MOST_STATES:
        raise TooLarge
    letters = [states for states, _ in alive]
    return Law(tuple(keys), letters, letters, [mass for _, mass in alive])


def _walk(
    start: Sequence[Fraction], steps: Callable[[int], Sequence[Sequence[Fraction]]], length: int, states: Any
) -> Law:
    """Return the law of a Markov chain whose step from t to t + 1 follows steps(t)."""
    if len(states) ** length > MOST_STATES:
        raise TooLarge
    paths: list[tuple[tuple[int, ...], Fraction]] = [((i,), p) for i, p in enumerate(start) if p > 0]
    for t in range(length - 1):
        matrix = steps(t)
        paths = [((*path, j), p * q) for path, p in paths for j, q in enumerate(matrix[path[-1]]) if q > 0]
    return _of(range(length), [(tuple(states[i] for i in path), p) for path, p in paths])


def _any_start(k: int) -> list[list[Fraction]]:
    """Starts at one state, in the middle, and on two states in uneven shares: the worst start may be a mixture."""
    points = [[Fraction(i == j) for j in range(k)] for i in range(k)]
    mixed = [
        [s * p + (1 - s) * q for p, q in zip(points[i], points[j], strict=True)]
        for i, j in itertools.permutations(range(k), 2) for s in (Fraction(1, 2), Fraction(1, 50)) if i < j or s < 0.5
    ]  # fmt: skip
    return [*points, [Fraction(1, k)] * k, *mixed]


def _chain(call: Call, length: int | None) -> Iterator[Law]:
    matrix, initial = [exact(line) for line in call["matrix"]], call["initial"]
    starts: list[Any] = [exact(initial)] if not isinstance(initial, str) else []
    if initial == "any":
        starts = _any_start(len(matrix))
    if initial == "stationary":
        with suppress(ZeroDivisionError):  # several laws are stationary
            starts = [stationary_vector(matrix)]
    for start in starts:
        yield _walk(start, lambda _: matrix, length or call["length"], call["states"])


def _class(call: Call, length: int | None) -> Iterator[Law]:
    k, rng = len(call["states"]), random.Random(0)
    pi, g = Fraction(call["pi"]), Fraction(call["g"])
    uneven = [pi] * (k - 1) + [1 - (k - 1) * pi]
    for law in ([Fraction(1, k)] * k, uneven, uneven[::-1]):
        for root in (1 - g, g - 1):
            matrix = [[(1 - root) * q + root * (i == j) for j, q in enumerate(law)] for i in range(k)]
            if min(min(line) for line in matrix) < 0:
                continue
            for start in rng.sample(starts := _any_start(k), min(4, len(starts))):
                yield _walk(start, lambda _, m=matrix: m, length or call["length"], call["states"])


def _interval(call: Call, length: int | None) -> Iterator[Law]:
    low = Fraction(call["low"])
    for stay0, stay1 in itertools.product((low, 1 - low), repeat=2):
        matrix = [[stay0, 1 - stay0], [1 - stay1, stay1]]
        for start in _any_start(2):
            yield _walk(start, lambda _, m=matrix: m, length or call["length"], call["states"])


def _region(call: Call, length: int | None) -> Iterator[Law]:
    rng, k = random.Random(0), len(call["states"])
    ends = [
        ([Fraction(p) for p in low], [Fraction(p) for p in high])
        for low, high in zip(call["lower"], call["upper"], strict=True)
    ]

    def matrix() -> list[list[Fraction]]:
        lines = []
        for low, high in ends:
            line, left = list(low), 1 - sum(low)
            for j in rng.sample(range(k), k):
                more = min(left, high[j] - low[j])
                line[j], left = line[j] + more, left - more
            lines.append([p / sum(line) for p in line])
        return lines

    steps = length or call["length"]
    for start in rng.sample(starts := _any_start(k), min(5, len(starts))):
        one = matrix()
        yield _walk(start, lambda _, m=one: m, steps, call["states"])
        several = [matrix() for _ in range(steps)]
        yield _walk(start, lambda t, m=several: m[t], steps, call["states"])


def _pieces(call: Call, length: int | None) -> Iterator[Law]:
    if length is not None and length != sum(call["lengths"]):
        raise TooLarge
    each = {n: laws(Call(call["chain"].name, {**call["chain"].arguments, "length": n})) for n in set(call["lengths"])}
    for number in range(max(map(len, each.values()))):  # the pieces' laws of a class move together and apart
        yield _product([each[n][(number * (place + 1)) % len(each[n])] for place, n in enumerate(call["lengths"])])


def _product(parts: Sequence[Law]) -> Law:
    states, values, masses = [()], [()], [1]
    for part in parts:
        if len(states) * len(part.masses) > MOST_STATES:
            raise TooLarge
        states = [a + b for a in states for b in part.letters]
        values = [a + b for a in values for b in part.values]
        masses = [a * b for a in masses for b in part.masses]
    return Law(tuple(range(len(states[0]))), states, values, masses)


def _users(call: Call, length: int | None) -> Iterator[Law]:
    if length is not None and length != len(call["laws"]):
        raise TooLarge
    parts = []
    for law, there in zip(call["laws"], call["presence"], strict=True):
        share, presence = exact(list(law.values())), Fraction(there)
        rows = [(v, v, presence * p) for v, p in zip(law, share, strict=True)]
        if call["absence"] == "unknown" or (call["absence"] is None):
            away = 1 - presence or Fraction(1)  # whatever the presence says, absence is possible
            rows += [(ABSENT, v, away * p) for v, p in zip(law, share, strict=True)]
        elif presence < 1:
            rows.append((ABSENT, None, 1 - presence))
        scale = math.lcm(*(p.denominator for *_, p in rows))
        alive = [(x, v, int(p * scale)) for x, v, p in rows if p > 0]
        parts.append(Law((0,), [(x,) for x, *_ in alive], [(v,) for _, v, _ in alive], [p for *_, p in alive]))
    whole = _product(parts)
    yield Law(tuple(call.get("names") or whole.keys), whole.letters, whole.values, whole.masses)


def _table(call: Call, length: int | None) -> Iterator[Law]:
    rows = zip(call["rows"], exact(call["probabilities"]), strict=True)
    yield _of(call["names"], [(tuple(states), p) for states, p in rows])


def _network(call: Call, length: int | None) -> Iterator[Law]:
    nodes, keys = list(call["nodes"]), [node[0] for node in call["nodes"]]
    states = {name: list(listed) for name, listed, *_ in nodes}
    if math.prod(map(len, states.values())) > MOST_STATES:
        raise TooLarge
    weighted = []
    for row in itertools.product(*(states[name] for name in keys)):
        value, p = dict(zip(keys, row, strict=True)), Fraction(1)
        for name, listed, parents, table in nodes:
            line = table
            for parent in parents:
                line = line[states[parent].index(value[parent])]
            p *= Fraction(line[list(listed).index(value[name])]) / sum(map(Fraction, line))
        weighted.append((row, p))
    yield _of(keys, weighted)


def _cliques(call: Call, length: int | None) -> Iterator[Law]:
    parts, (well, ill) = [], call["states"]
    for clique in call["cliques"]:
        m = len(clique)
        number = exact(call["number"][m])
        rows = [
            (row, number[row.count(ill)] / comb(m, row.count(ill))) for row in itertools.product((well, ill), repeat=m)
        ]
        parts.append(_of(clique, rows))
    whole = _product(parts)
    yield Law(tuple(name for clique in call["cliques"] for name in clique), whole.letters, whole.values, whole.masses)


_LAWS: dict[str, Callable[[Call, int | None], Iterator[Law]]] = {
    "MarkovChain": _chain, "ReversibleChains": _class, "BinaryChains": _interval, "IntervalMarkovChain": _region,
    "IndependentPieces": _pieces, "IndependentUsers": _users, "JointTable": _table, "BayesianNetwork": _network,
    "CliqueInfection": _cliques,
}  # fmt: skip


def length_of(call: Call) -> int | None:
    """Return the number of entries of a sequence; None where entries have names."""
    if call.name in CHAINS:
        return int(call["length"])
    if call.name == "IndependentPieces":
        return int(sum(call["lengths"]))
    if call.name == "IndependentUsers" and not call.get("names"):
        return len(call["laws"])
    return None


def answer(query: Call, value: Mapping[Key, State], seen: Sequence[Key] | None = None) -> tuple[Fraction, ...]:
    """Return what the query publishes of the entries' values, without noise; what is not `seen` adds nothing."""
    if query.name == "GroupBy":
        inner = [Call(query["query"].name, {**query["query"].arguments, "entries": c}) for c in query["cells"].values()]
        return tuple(number for part in inner for number in answer(part, value, seen))
    chosen = query.get("entries")
    keys = list(value) if chosen is None else [at.key for at in chosen]
    if query.name in ("Sum", "Mean", "Identity") and query.get("attribute") is not None:
        keys = [query["attribute"]]
    read = [key for key in keys if value[key] is not None and (seen is None or key in seen)]
    if query.name == "Count":
        states = query["state"] if isinstance(query["state"], list) else [query["state"]]
        return (Fraction(sum(_among(value[key], states) for key in read)),)
    if query.name == "Histogram":
        share = Fraction(1, query["total"] or 1)
        return tuple(share * sum(_among(value[key], [cell]) for key in read) for cell in query["states"])
    weights: Mapping[Key, Fraction] = (
        query["weights"].weights if query.name == "Linear" else dict.fromkeys(keys, Fraction(1))
    )
    total = Fraction(0)
    for key in read:
        product = Fraction(weights[key]) * _code(query, value[key])
        grid = query.get("grid")
        total += product if grid is None else round(product / grid) * grid
    return (total / len(keys) if query.name == "Mean" else total,)


def _among(value: State, states: Sequence[State]) -> bool:
    return any(value == s for s in states)


def _code(query: Call, state: Any) -> Fraction:
    codes = query.get("codes")
    if state == NEW or (codes is not None and state not in codes):
        raise TooLarge  # a state that this release's data cannot have
    return Fraction(state if codes is None else codes[state])


def pairs(
    secret: Call, law: Law, positions: Sequence[Key], pieces: Sequence[int] = ()
) -> list[tuple[Key, State, State]]:
    """Return the unordered pairs (entry, a, b) that the secret hides; `positions` are the keys by position.

    Of a run of entries, inside one of the `pieces`, the entry is a tuple of them, and a and b tuples of states.
    """
    if secret.name == "every_run":
        return list(_pairs_of_runs(int(secret["length"]), law, positions, pieces or [len(positions)]))
    if secret.name == "every_entry":
        about: Sequence[Key] = positions if secret.get("attribute") is None else [secret["attribute"]]
        return [(key, a, b) for key in about for a, b in itertools.combinations(_letters(law, key), 2)]
    if secret.name == "presence":
        who = secret.get("user")
        about = positions if who is None else [who.key if isinstance(who, At) else who]
        return [(key, a, ABSENT) for key in about for a in _letters(law, key)]
    key = secret["i"].key if secret.name == "entry" else secret["name"]
    return [(key, secret["a"], secret["b"])]


def _pairs_of_runs(
    length: int, law: Law, positions: Sequence[Key], pieces: Sequence[int]
) -> Iterator[tuple[Any, Any, Any]]:
    for end, size in zip(itertools.accumulate(pieces), pieces, strict=True):
        steps = min(length, size)
        for first in range(end - size, end - steps + 1):
            keys = tuple(positions[first : first + steps])
            places = [law.keys.index(key) for key in keys]
            paths = dict.fromkeys(tuple(states[place] for place in places) for states in law.letters)
            for a, b in itertools.combinations(paths, 2):
                yield keys, a, b


def _letters(law: Law, key: Key) -> list[State]:
    place = law.keys.index(key)
    return [s for s in dict.fromkeys(states[place] for states in law.letters) if s != ABSENT]


Bin = tuple[float, float]  # whole steps of the grid, both ends included; infinite ends are tails


@dataclass(frozen=True)
class Noise:
    """One cell's noise, from its declared plain form."""

    described: Mapping[str, Any]

    @property
    def grid(self) -> Fraction:
        return Fraction(self.described["grid"])

    @property
    def kind(self) -> str:
        return str(self.described["kind"])

    @property
    def steps(self) -> float:
        """Return the scale in steps of the grid."""
        if self.kind == "discrete-laplace":
            return float(Fraction(self.described["units"]))
        return float(Fraction(self.described["sigma" if self.kind == "rounded-normal" else "scale"]) / self.grid)

    def bins(self, centres: Sequence[Fraction], pure: bool, most: int) -> list[Bin]:
        """Return outputs: for a pure promise those where ratios are extreme, else a partition of all."""
        if self.kind in ("exponential-choice", "channel"):
            return [(float(Fraction(y)),) * 2 for y in self.described["outputs"]]
        if self.kind == "none":
            return [(float(y),) * 2 for y in sorted({round(x) for x in centres})]
        near = {
            math.floor(x) + k for x in centres for k in ((0,) if self.kind == "discrete-laplace" else (-1, 0, 1, 2))
        }
        if pure:
            return [(float(y),) * 2 for y in sorted(near)]
        reach = math.ceil((9 if self.kind == "rounded-normal" else 40) * self.steps) + 1
        low, high = min(near) - reach, max(near) + reach
        if high - low < most:
            edges = list(range(low, high + 1))
        else:
            edges = sorted({round(x) for x in np.linspace(low, high, most)} | set(sorted(near)[: most // 2]))
        inner = [(float(a), float(b - 1)) for a, b in itertools.pairwise(edges)]
        return [(-math.inf, edges[0] - 1.0), *inner, (float(edges[-1]), math.inf)]

    def log_masses(self, centres: Sequence[Fraction], bins: Sequence[Bin]) -> Floats:
        """Return log P(output in bin | answer) of answers (steps of the grid) and bins, shape (answers, bins)."""
        if self.kind in ("exponential-choice", "channel"):
            inputs = [Fraction(x) for x in self.described["inputs"]]
            rows = [
                self.described["masses"][min(range(len(inputs)), key=lambda k: (abs(inputs[k] - x), k))]
                for x in centres
            ]
            with np.errstate(divide="ignore"):
                return np.log(np.array([[int(m) / sum(map(int, r)) for m in r] for r in rows], dtype=float))
        ends, middle = np.array(bins), np.array([float(x) for x in centres])
        low, high = ends[None, :, 0] - middle[:, None], ends[None, :, 1] - middle[:, None]
        if self.kind == "none":
            with np.errstate(divide="ignore"):
                return np.log((np.array([[float(round(x))] for x in centres]) == ends[None, :, 0]).astype(float))
        mirrored = low < -high  # more on the left: look at it from the other side, where tails are small
        low, high = np.where(mirrored, -high, low), np.where(mirrored, -low, high)
        masses = {"discrete-laplace": _discrete, "rounded-laplace": _laplace, "rounded-normal": _normal}[self.kind]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return masses(low, high, self.steps)


def _discrete(low: Floats, high: Floats, scale: float) -> Floats:
    """Return log P(low <= K <= high), high >= -low, P(K = k) proportional to exp(-|k|/scale)."""
    a = math.exp(-1 / scale)
    outside = -low / scale + np.log(-np.expm1(-(high - low + 1) / scale)) - math.log1p(a)
    across = np.log1p(-(np.exp((low - 1) / scale) + np.exp(-(high + 1) / scale)) / (1 + a))
    at_zero = math.log(-math.expm1(-1 / scale)) - math.log1p(a)
    return np.where(low > 0, outside, np.where((low == 0) & (high == 0), at_zero, across))


def _laplace(low: Floats, high: Floats, scale: float) -> Floats:
    """Return log P(low - 1/2 <= Z <= high + 1/2), high >= -low, Z with density exp(-|z|/scale)/(2 scale)."""
    first, last = (low - 0.5) / scale, (high + 0.5) / scale
    outside = -first + np.log(-np.expm1(-(high - low + 1) / scale)) - math.log(2)
    across = np.log(-(np.expm1(np.minimum(first, 0)) + np.expm1(-last)) / 2)
    return np.where(first >= 0, outside, across)


def _normal(low: Floats, high: Floats, sigma: float) -> Floats:
    """Return log P(low - 1/2 <= Z <= high + 1/2), high >= -low, Z normal; close enough for sums of masses."""
    first, second = log_ndtr(-(low - 0.5) / sigma), log_ndtr(-(high + 0.5) / sigma)
    return np.asarray(np.where(second == -np.inf, first, first + np.log(-np.expm1(second - first))), dtype=np.float64)


@dataclass(frozen=True)
class Loss:
    """How far a promise is missed: the largest log-ratio found (or delta at epsilon), and for which hypotheses."""

    epsilon: float
    delta: float
    about: str

    def breaks(self, epsilon: float, delta: float) -> bool:
        if delta == 0:
            return self.epsilon > epsilon + TOLERANCE * max(1.0, epsilon)
        return self.delta > delta * (1 + 1e-7) + 1e-12 * math.exp(min(epsilon, 20))


NO_LOSS = Loss(0.0, 0.0, "")


def worst(
    law: Law, hidden: Sequence[tuple[Key, State, State]], answers: Sequence[tuple[Fraction, ...]],
    noises: Sequence[Noise], epsilon: float, delta: float,
) -> Loss:  # fmt: skip
    """Return the largest loss over the hidden pairs, both ways; `answers`: all cells of all releases, a state each."""
    places = [_places(law, key) for key, *_ in hidden]
    hypotheses = list(dict.fromkeys((p, s) for p, (_, a, b) in zip(places, hidden, strict=True) for s in (a, b)))
    atoms = list(dict.fromkeys(answers))
    number = {atom: i for i, atom in enumerate(atoms)}
    weights = [[0] * len(atoms) for _ in hypotheses]
    for letters, atom, mass in zip(law.letters, answers, law.masses, strict=True):
        for h, (place, state) in enumerate(hypotheses):
            if _at(letters, place) == state:
                weights[h][number[atom]] += mass
    possible = [h for h, w in enumerate(weights) if sum(w) > 0]
    logs = np.array([[_log(m) - _log(sum(weights[h])) for m in weights[h]] for h in possible])
    if not len(possible):
        return NO_LOSS
    density = _densities(logs, _outputs(atoms, noises, delta == 0))
    row = {hypotheses[h]: i for i, h in enumerate(possible)}
    largest = NO_LOSS
    for place, (key, a, b) in zip(places, hidden, strict=True):
        if (place, a) not in row or (place, b) not in row:
            continue
        for left, right in ((a, b), (b, a)):
            p, q = density[row[place, left]], density[row[place, right]]
            loss = _loss(p, q, epsilon, delta)
            if (loss[0], loss[1]) > (largest.epsilon, largest.delta):
                largest = Loss(*loss, f"{key!r} = {left!r} against {right!r}")
    return largest


def _places(law: Law, key: Any) -> Any:
    return tuple(map(law.keys.index, key)) if isinstance(key, tuple) else law.keys.index(key)


def _at(letters: Sequence[State], place: Any) -> Any:
    return tuple(letters[p] for p in place) if isinstance(place, tuple) else letters[place]


def _log(mass: int) -> float:
    return math.log(mass) if mass else -math.inf


def _loss(p: Floats, q: Floats, epsilon: float, delta: float) -> tuple[float, float]:
    if delta == 0:
        seen = p > -np.inf
        return float(np.max(p[seen] - q[seen], initial=0.0)), 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        return 0.0, float(np.maximum(np.exp(p) - np.exp(q + epsilon), 0).sum())


def _outputs(atoms: Sequence[tuple[Fraction, ...]], noises: Sequence[Noise], pure: bool) -> Floats:
    """Return log P(output | answer), shape (answers, outputs), over outputs of all cells together."""
    cells = len(noises)
    most = max(3, int(MOST_OUTPUTS ** (1 / cells)))
    columns = []
    for cell, noise in enumerate(noises):
        centres = [Fraction(atom[cell]) / noise.grid for atom in atoms]
        columns.append((noise, centres, noise.bins(list(dict.fromkeys(centres)), pure, most)))
    total = math.prod(len(bins) for *_, bins in columns)
    masses = [noise.log_masses(centres, bins) for noise, centres, bins in columns]
    sizes = [m.shape[1] for m in masses]
    if total <= MOST_OUTPUTS:
        chosen = np.array(list(itertools.product(*map(range, sizes))))
    elif pure:
        rng = np.random.default_rng(0)
        chosen = np.unique(rng.integers(0, sizes, size=(MOST_OUTPUTS, cells)), axis=0)
        corners = [[int(np.argmax(m[i])) for m in masses] for i in range(len(atoms))]
        chosen = np.vstack([chosen, corners])
    else:
        raise TooLarge
    return sum(m[:, chosen[:, cell]] for cell, m in enumerate(masses))


def _densities(logs: Floats, outputs: Floats) -> Floats:
    """Return log P(output | hypothesis), shape (hypotheses, outputs)."""
    densities = np.empty((len(logs), outputs.shape[1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        for start in range(0, outputs.shape[1], 500):
            block = logs[:, :, None] + outputs[None, :, start : start + 500]
            densities[:, start : start + 500] = logsumexp(block, axis=1)
    return densities


Known = dict[tuple[int, tuple[Key, ...], tuple[State, ...]], tuple[Fraction, ...]]


def reach(requests: Sequence[Request]) -> int | None:
    """Return how long the recording is that all releases and beliefs are about; None where entries have names."""
    lengths = [(length_of(believed), request.window) for request in requests for believed in request.beliefs]
    return None if lengths[0][0] is None else max(length + window for length, window in lengths if length is not None)


def joint(
    request: Request, believed: Call, law: Law, requests: Sequence[Request], noises: Sequence[Mapping[str, Any]],
    epsilon: float, delta: float, seen: Sequence[Key] | None = None, known: Known | None = None,
) -> Loss:  # fmt: skip
    """Return the loss of several releases together about what one of them (`request`) hides, under one law.

    `known` keeps answers from one law to the next.
    """
    known = {} if known is None else known
    size, named = length_of(believed), length_of(believed) is None
    answers: list[tuple[Fraction, ...]] = [() for _ in law.masses]
    cells: list[Noise] = []
    for place, (one, noise) in enumerate(zip(requests, noises, strict=True)):
        length = length_of(one.beliefs[0]) or 0
        window = range(one.window, min(one.window + length, len(law.keys)))
        query = one.query
        if not _may_be_gone(one) and any(None in values for values in law.values):
            raise TooLarge  # this release's data cannot lack anybody
        if query.name == "Histogram" and query["states"] is None:
            query = Call("Histogram", {**query.arguments, "states": _all_states(law)})
        for i, values in enumerate(law.values):
            numbers = known.get((place, law.keys, values))
            if numbers is None:
                if named:
                    value: dict[Key, State] = dict(zip(law.keys, values, strict=True))
                else:
                    value = {t - one.window: values[t] for t in window}
                numbers = answer(query, value, seen)
                if query is one.query:
                    known[place, law.keys, values] = numbers
            answers[i] += numbers
        cells += [Noise(noise)] * (len(answers[0]) - len(cells))
    hidden = []
    positions = list(law.keys) if size is None else list(range(size))
    start = request.window
    for secret in request.secrets:
        local = law if named else _window(law, start, positions)
        pieces = believed["lengths"] if believed.name == "IndependentPieces" else ()
        for key, a, b in pairs(secret, local, positions, pieces):
            hidden.append((key if named else _later(key, start), a, b))
    return worst(law, list(dict.fromkeys(hidden)), answers, cells, epsilon, delta)


def _later(key: Any, start: int) -> Any:
    return tuple(step + start for step in key) if isinstance(key, tuple) else key + start


def _may_be_gone(request: Request) -> bool:
    return any(believed.get("absence") == "removed" for believed in request.beliefs)


def _window(law: Law, start: int, positions: Sequence[Key]) -> Law:
    cut = [letters[start : start + len(positions)] for letters in law.letters]
    return Law(tuple(positions), cut, cut, law.masses)


def _all_states(law: Law) -> list[State]:
    return [s for s in dict.fromkeys(v for values in law.values for v in values) if s is not None]


def between(request: Request, noise: Mapping[str, Any], epsilon: float, delta: float) -> Loss:
    """Return the loss of one release about which of two laws the answer follows."""
    rows: list[tuple[str, Fraction, Fraction]] = []
    for side, law in zip(("left", "right"), request.beliefs, strict=True):
        for value, probability in zip(law["values"], exact(law["probabilities"]), strict=True):
            if probability:  # floats tell no loss exactly at an output as far away as a value that never occurs
                rows.append((side, Fraction(value), probability))
    scale = math.lcm(*(p.denominator for *_, p in rows))
    law = Law(("law",), [(s,) for s, *_ in rows], [(s,) for s, *_ in rows], [int(p * scale) for *_, p in rows])
    return worst(law, [("law", "left", "right")], [(v,) for _, v, _ in rows], [Noise(noise)], epsilon, delta)
