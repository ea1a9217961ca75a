"""One case at a time: build it, calibrate, release, and set what was promised against the true loss."""

import math
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import chdtrc
from tests.fuzz import build, oracle, specs
from tests.fuzz.choices import Choices
from tests.fuzz.oracle import Loss, Noise, TooLarge
from tests.fuzz.specs import Key, Request, State, World
from tests.fuzz.walk import FAST

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import ReadingChanged

#: Releases drawn to compare frequencies with a law, and the p-value below which they differ.
DRAWS, UNLIKELY = 150, 1e-6
#: What is checked how often: draws take a second each, calibrations some milliseconds.
KINDS = ("one", "several", "one", "several", "one", "several", "one", "several", "pair", "orders", "draws")
#: Relative slack of "never above": scales are rounded up by 1e-10, and searches stop at 1e-9.
ORDER_SLACK = 1e-6


@dataclass(frozen=True)
class Case:
    """What is checked: `kind` says how; `value` are the private data of all entries, `seen` those that are observed."""

    kind: str
    requests: tuple[Request, ...]
    value: Mapping[Key, State]
    seen: tuple[Key, ...] | None
    order: tuple[Key, ...]


@dataclass(frozen=True)
class Outcome:
    """`status` is "kept", "refused", "too large" or "fault"; a fault says what it is, and how to see it."""

    status: str
    what: str = ""
    block: str = ""


class Fault(Exception):
    """A promise that does not hold; `block` is Python that shows it."""

    def __init__(self, what: str, block: str) -> None:
        super().__init__(what)
        self.what, self.block = what, block


def generate(c: Choices, kinds: Sequence[str] = KINDS) -> Case:
    kind = c.pick(kinds)
    if kind == "pair" or (kind == "draws" and c.chance(3)):
        request = specs.pair(c)
        atoms = [v for law in request.beliefs for v in law["values"]]
        return Case("pair" if kind == "pair" else "pair draws", (request,), {"value": c.pick(atoms)}, None, ())
    if kind == "several":
        about, requests = specs.several(c)
    else:
        about = specs.world(c)
        requests = (specs.requested(c, about),)
    value: dict[Key, State] = {}
    for place in range(oracle.reach(requests) or 0) if about.is_sequence else about.keys:
        key: Any = place
        value[key] = c.pick(about.alphabets[0 if about.is_sequence else key])
    return Case(kind, requests, value, _seen(c, about, requests), tuple(c.shuffled(about.keys)))


def _seen(c: Choices, about: World, requests: Sequence[Request]) -> tuple[Key, ...] | None:
    """Return the entries that are observed: a public pattern of gaps, of one release on a sequence; None for all."""
    if not about.is_sequence or len(requests) > 1:
        return None
    longer = any(oracle.length_of(b) != len(about.keys) for b in requests[0].beliefs)
    keys = [key for key in about.keys if longer or not (len(about.keys) > 1 and c.chance(5))]
    return tuple(keys) if keys and (longer or len(keys) < len(about.keys)) else None


def check(case: Case) -> Outcome:
    """Return whether what was promised holds; a crash is a fault, too."""
    try:
        return Outcome(_CHECKS[case.kind](case))
    except Fault as fault:
        return Outcome("fault", fault.what, fault.block)
    except TooLarge:
        return Outcome("too large")
    except tf.TakifuguError:
        return Outcome("refused")
    except Exception as error:  # a mistake of the user's or not: nothing else may reach a user
        blocks = [build.PRELUDE] + [_text(request) for request in case.requests]
        return Outcome("fault", f"crash: {type(error).__name__}: {error}", "\n".join(blocks))


def _text(request: Request) -> str:
    try:
        made = build.built(request).text
    except Exception:
        made = f"# the framework itself fails: {request}"
    return f"{made}\ncal = tf.calibrate(framework, query, {build.price(request)})"


def _one(case: Case) -> str:
    request = case.requests[0]
    made = build.built(request)
    cal = build.calibrated(request, made)
    if request.mechanism == "auto" and (cal.epsilon > request.epsilon or cal.delta > request.delta):
        raise Fault(f"auto promises {cal.epsilon}, {cal.delta}", f"{build.PRELUDE}\n{_text(request)}")
    noise = cal.to_dict()["randomiser"]
    if _one_length(request):
        _hold(request, noise, cal, None, "")
    if case.seen is not None:
        data = build.data_of(request, local_of(request, case.value), case.seen, case.order)
        published = tf.release(cal, data)  # refusals are fine: what is not released reveals nothing
        noise = published.certificate.to_dict()["answers"][0]["noise"]
        _hold(request, noise, cal, case.seen, f"\ntf.release(cal, {data!r})")
    return "kept"


def _hold(request: Request, noise: Mapping[str, Any], cal: Any, seen: Sequence[Key] | None, more: str) -> None:
    promised, known = (float(cal.epsilon), float(cal.delta)), oracle.Known()
    for believed in request.beliefs:
        for law in oracle.laws(believed):
            loss = oracle.joint(request, believed, law, [request], [noise], *promised, seen, known)
            _judge_calibration(request, loss, promised, more)


def _judge_calibration(request: Request, loss: Loss, promised: tuple[float, float], more: str = "") -> None:
    text = f"{build.PRELUDE}\n{_text(request)}{more}"
    printed = "cal.epsilon, cal.delta, cal.scale, cal.mechanism"
    _judge(loss, promised, f"the calibration ({request.mechanism})", text, printed)


def _judge(loss: Loss, promised: tuple[float, float], who: str, text: str, printed: str) -> None:
    """Raise the fault of a promise (epsilon, delta) that a true loss breaks."""
    epsilon, delta = promised
    if not loss.breaks(epsilon, delta):
        return
    lost = f"delta {loss.delta:.6g} at epsilon {epsilon:.6g}" if delta else f"loss {loss.epsilon:.6g}"
    what = f"{who} promises epsilon {epsilon:.6g}, delta {delta:.3g}; true {lost}: {loss.about}"
    raise Fault(what, f"{text}\nprint({printed})  # {what}")


def local_of(request: Request, value: Mapping[Key, State]) -> Mapping[Key, State]:
    length = oracle.length_of(request.beliefs[0])
    if length is None:
        return value
    return {t: value[t + request.window] for t in range(length)}


def _pair(case: Case) -> str:
    request = case.requests[0]
    cal = build.calibrated(request, build.built(request))
    promised = float(cal.epsilon), float(cal.delta)
    _judge_calibration(request, oracle.between(request, cal.to_dict()["randomiser"], *promised), promised)
    return "kept"


def _several(case: Case) -> str:
    with tempfile.TemporaryDirectory(prefix="takifugu-fuzz-", dir=FAST) as folder:
        return _through_ledger(case, Path(folder) / "ledger.db")


def _through_ledger(case: Case, ledger: Path) -> str:
    done: list[tuple[Request, Any]] = []
    text = [build.PRELUDE, "from takifugu.accounting.ledger import Ledger"]
    for request in case.requests:
        try:
            cal = build.calibrated(request, build.built(request))
            call = released(case, request, cal, ledger)
        except tf.TakifuguError:
            continue
        done.append((request, cal))
        text += [_text(request), call]
    if not done:
        return "refused"
    spent = Ledger.open(ledger).spent("s")
    for unit in {request.unit for request, _ in done}:
        held = [(request, cal) for request, cal in done if request.unit == unit]
        _account(held, spent, "the ledger", "\n".join(text), "Ledger.open('fuzz.db').spent('s')")
    if len(done) > 1 and same_entries([request for request, _ in done]):
        try:
            together = tf.compose([cal for _, cal in done])
        except tf.TakifuguError:
            return "kept"
        _account(done, together, "compose", "\n".join(text), "tf.compose([...])")
    return "kept"


def released(case: Case, request: Request, calibration: Any, ledger: Path) -> str:
    """Pay for a release, and return the call; its entries have a place on one recording, or the name of their start."""
    data = build.data_of(request, local_of(request, case.value), None, case.order)
    words: dict[str, Any] = {"entries": "v", "at": request.window}
    if not request.placed:
        words = {"entries": f"v from {request.window}"}
    if request.unit is not None:
        words["unit"] = request.unit
    try:
        tf.release(calibration, data, ledger=ledger, source="s", budget=(5000, 0.9), **words)
    except ReadingChanged:  # other entries, or perhaps some of the same
        words["other_entries"] = True
        tf.release(calibration, data, ledger=ledger, source="s", budget=(5000, 0.9), **words)
    named = "".join(f", {name}={value!r}" for name, value in words.items())
    return f"tf.release(cal, {data!r}, ledger='fuzz.db', source='s', budget=(5000, 0.9){named})"


def same_entries(requests: Sequence[Request]) -> bool:
    """Whether all releases are about the same entries of the same unit."""
    return len({(request.unit, request.window, *map(oracle.length_of, request.beliefs)) for request in requests}) == 1


def _account(done: Sequence[tuple[Request, Any]], spent: Any, who: str, text: str, printed: str) -> None:
    """Compare what was spent with the true joint loss, under every framework that anything was released for."""
    promised = float(spent.epsilon), float(spent.delta)
    requests = [request for request, _ in done]
    noises = [cal.to_dict()["randomiser"] for _, cal in done]
    length, known = oracle.reach(requests), oracle.Known()
    for request in {id(t.beliefs): t for t in requests}.values():
        for believed in request.beliefs:
            same = length is None or length == oracle.length_of(believed)
            for law in oracle.laws(believed, None if same else length):
                loss = oracle.joint(request, believed, law, requests, noises, *promised, None, known)
                names = " + ".join(cal.mechanism for _, cal in done)
                _judge(loss, promised, f"{who} ({names})", text, printed)


def _draws(case: Case) -> str:
    """Draw through tf.release with the data named in two orders: both must follow the declared law."""
    request = case.requests[0]
    made = build.built(request)
    cal = build.calibrated(request, made)
    value = local_of(request, case.value)
    believed, query = request.beliefs[0], request.query
    if believed.name == "IndependentUsers" and believed["absence"] is None and None in value.values():
        return "refused"
    if query.name == "Histogram" and query["states"] is None:
        return "too large"
    answer = oracle.answer(query, value)
    for order in (case.order, tuple(reversed(case.order))):
        data = build.data_of(request, value, None, order)
        _follows(request, cal, data, answer)
    return "kept"


def _pair_draws(case: Case) -> str:
    request = case.requests[0]
    cal = build.calibrated(request, build.built(request))
    value: Any = case.value["value"]
    _follows(request, cal, value, (Fraction(repr(value)) if isinstance(value, float) else Fraction(value),))
    return "kept"


def _follows(request: Request, cal: Any, data: Any, answer: Sequence[Fraction]) -> None:
    first = tf.release(cal, data)
    declared = first.certificate.to_dict()["answers"][0]["noise"]
    noise = Noise(declared)
    drawn = [first.values] + [tf.release(cal, data).values for _ in range(DRAWS - 1)]
    for cell, centre in enumerate(answer):
        steps = Fraction(centre) / noise.grid
        got = [Fraction(values[cell]) / noise.grid for values in drawn]
        p = fit(noise, steps, got)
        if p < UNLIKELY:
            what = f"drawn values do not follow the declared law around {centre} (p = {p:.1e})"
            draw = f"print([tf.release(cal, {data!r}).value for _ in range({DRAWS})])"
            raise Fault(what, f"{build.PRELUDE}\n{_text(request)}\n{draw}  # {declared}")


def fit(noise: Noise, centre: Fraction, got: Sequence[Fraction]) -> float:
    """Return a p-value for values (steps of the grid) drawn around a centre; 0 for impossible ones."""
    if any(y.denominator != 1 for y in got):
        return 0.0
    if noise.kind in ("none", "exponential-choice", "channel"):
        bins = noise.bins([centre], True, 0)
    else:
        spread = max(1, round(2 * noise.steps))
        ends = sorted({round(centre) + k * max(1, spread // 8) for k in range(-8, 9)})
        inner = [(float(a), float(b - 1)) for a, b in pairwise(ends)]
        bins = [(-math.inf, ends[0] - 1.0), *inner, (float(ends[-1]), math.inf)]
    expected = np.exp(noise.log_masses([centre], bins)[0]) * len(got)
    counts = Counter(next((i for i, (low, high) in enumerate(bins) if low <= y <= high), -1) for y in got)
    if any(i < 0 or expected[i] <= 1e-9 for i in counts):
        return 0.0
    statistic, cells, rest_seen, rest = 0.0, 0, 0, 0.0
    for i, e in enumerate(expected):
        if e >= 5:
            statistic, cells = statistic + (counts[i] - e) ** 2 / e, cells + 1
        else:
            rest_seen, rest = rest_seen + counts[i], rest + e
    if rest >= 1:
        statistic, cells = statistic + (rest_seen - rest) ** 2 / rest, cells + 1
    return float(chdtrc(cells - 1, statistic)) if cells > 1 else 1.0


def _orders(case: Case) -> str:
    """A sharper mechanism never needs more noise than a cheaper one, where the documents say so."""
    request = replace(case.requests[0], delta=Fraction(0))
    made = build.built(request)
    lower, upper = specs.NEVER_ABOVE[(len(request.mechanism) + len(case.order)) % len(specs.NEVER_ABOVE)]
    low, high = (build.calibrated(replace(request, mechanism=name), made) for name in (lower, upper))
    if low.scale > high.scale * (1 + ORDER_SLACK):
        text = f"{build.PRELUDE}\n{made.text}"
        both = "\n".join(
            f"print(tf.calibrate(framework, query, {build.price(replace(request, mechanism=name))}).scale)"
            for name in (lower, upper)
        )
        raise Fault(f"{lower} needs scale {low.scale:.9g}, above {upper}'s {high.scale:.9g}", f"{text}\n{both}")
    if _one_length(request):
        for cal, name in ((low, lower), (high, upper)):
            _hold(replace(request, mechanism=name), cal.to_dict()["randomiser"], cal, None, "")
    return "kept"


def _one_length(request: Request) -> bool:
    return len({oracle.length_of(b) for b in request.beliefs}) == 1


_CHECKS = {
    "one": _one, "pair": _pair, "several": _several, "draws": _draws, "pair draws": _pair_draws, "orders": _orders,
}  # fmt: skip
