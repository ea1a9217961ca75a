"""The joint promise of releases on one source, of one reading or of several, and `compose` for calibrations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain

from takifugu.accounting.composition.charges import Calibrated, charge_of
from takifugu.accounting.composition.losses import Joint, cost_of_all
from takifugu.accounting.composition.several import Several
from takifugu.accounting.composition.views import View
from takifugu.analysis.guarantee import Charge, Covers, Guarantee
from takifugu.core.cache import cached
from takifugu.core.errors import CompositionRefused, InputError
from takifugu.core.lists import members_of
from takifugu.core.nearest import did_you_mean
from takifugu.core.rules import check_type
from takifugu.model.frameworks import DEFINITIONS, Framework
from takifugu.numbers.rationals import as_truth

#: Why releases of one unit in several readings count at the cost of a change of all that they read.
_READINGS = "these releases read the data as other entries, so one row of the one may be many of the other"


def joint(
    framework: Framework, charges: Iterable[Charge], as_composing: bool = False, fingerprint: str | None = None
) -> Joint:
    """Return the joint promise under `framework`, in the order of release.

    All releases are on one unit's data. Without a delta the promise is the least of all that is proved. Beside a delta
    promises that are alone and have no place are given up with `as_composing`, and charged by their noise; without a
    delta, those about several people are. Releases in several readings count at the cost of a change of all that each
    reads, since one entry of the one may be many of another. `fingerprint` is the framework's where it was read from
    a file. Raises CompositionRefused, with the reason and the cheapest remedy, where nothing is proved. Source:
    docs/decisions.md#composition; quilts after Song17 Theorem 4.3.

    >>> from takifugu import Count, MarkovChain, Pufferfish, calibrate, every_entry
    >>> framework = Pufferfish(every_entry(), MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=10))
    >>> charge = charge_of(calibrate(framework, Count(1), epsilon="1/3"))
    >>> round(float(joint(framework, [charge] * 3).epsilon), 3)
    1.119
    """
    question = fingerprint or framework.fingerprint(), tuple(charges), as_composing
    for charge in question[1]:
        if isinstance(charge, Several) and charge.runs:  # such a set is never asked about twice
            return _joint(framework, *question)
    remembered = cached(framework, joint, lambda: lru_cache(maxsize=4096)(partial(_joint, framework)))
    return remembered(*question)


def _joint(framework: Framework, fingerprint: str, charges: tuple[Charge, ...], recharge: bool) -> Joint:
    if framework.definition not in DEFINITIONS:
        raise CompositionRefused(
            f"no joint proof for definition {framework.definition!r}",
            rule="releases under it do not compose",
            fix=f"known: {list(DEFINITIONS.names)}{did_you_mean(framework.definition, DEFINITIONS.names)}",
        )
    if _in_several_readings(charges):
        cost = cost_of_all(((charge, 1) for charge in charges), _READINGS)
        return Joint(*cost, "sum over readings", Covers.EVERYTHING)
    definition, history = DEFINITIONS.find(framework.definition), []
    for charge in charges:
        if charge.definition not in DEFINITIONS:
            raise CompositionRefused(
                f"no joint proof for definition {charge.definition!r} together with {framework.definition!r}",
                fix="publish about this source under one definition",
            )
        if charge.definition not in (framework.definition, *definition.reads_alike):
            charge = replace(definition.converted(charge), framework=fingerprint)
        history.append(charge)
    joint: Joint = definition.joint(View(framework, fingerprint), tuple(history), recharge)
    return joint


def _in_several_readings(charges: Sequence[Charge]) -> bool:
    """Return whether releases are of several readings; a pooled one is refused there.

    A whole promise that names no entries (of another source, or definition) holds in every reading. The charge of a
    pooled release is one unit's share, and in another reading this unit's data may be anybody's: CompositionRefused.
    """
    readings = set()
    for charge in charges:
        if charge.entries or charge.covers is not Covers.EVERYTHING:
            readings.add(charge.read_as)
    if len(readings) > 1 and any(charge.scope == "pooled" for charge in charges):
        raise CompositionRefused(
            _READINGS,
            rule="a pooled release is charged to a person for that person's share alone",
            fix="keep one reading, or let a ledger charge everybody",
        )
    return len(readings) > 1


def compose(
    calibrations: Iterable[Calibrated], as_composing: bool = False, fixed_in_advance: bool = False
) -> Guarantee:
    """Return the joint promise of calibrations for one source's same entries.

    Calibrations are taken in the order given, each fixed before those after it are released. Every framework among them
    is charged for all of them, and the largest joint epsilon and delta are promised. Where some release has a delta,
    `as_composing` gives up promises that are alone and have no place beside it, and charges their noise.
    `fixed_in_advance` says that all of them are fixed before the first is released: then normal noise adds up by its
    squares, with Laplace noise beside it (docs/theory/influence.md#with-a-delta).

    Raises CompositionRefused, with the reason and the cheapest remedy, where nothing is proved, and InputError for no
    calibrations. Source: docs/decisions.md#composition.

    >>> from takifugu import Count, MarkovChain, Pufferfish, calibrate, every_entry
    >>> framework = Pufferfish(every_entry(), MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=10))
    >>> calibrations = [calibrate(framework, Count(1), epsilon="1/3")] * 3
    >>> round(float(compose(calibrations).epsilon), 3)
    1.057
    """
    calibrated = tuple(members_of(calibrations, "the calibrations", "calibrations", "[calibrate(...)]"))
    if not calibrated:
        raise InputError("there is nothing to compose", fix="give at least one calibration").at("calibrations")
    together, as_composing = as_truth(fixed_in_advance, "fixed_in_advance"), as_truth(as_composing, "as_composing")
    charges, frameworks = [], dict[str, Framework]()
    for calibration in calibrated:
        check_type(calibration, Calibrated, "a calibration", "give what calibrate(...) returns", "calibrations")
        charges.append(charge_of(calibration, reading="together", fixed_in_advance=together))
        frameworks[calibration.framework.fingerprint()] = calibration.framework
    definitions = dict.fromkeys(framework.definition for framework in frameworks.values())
    met: Framework | None = None
    if len(frameworks) > 1 and len(definitions) == 1:
        met = DEFINITIONS.find(*definitions).met(tuple(frameworks.values()))
    if met is not None:
        frameworks = {met.fingerprint(): met}
    joints = [joint(framework, charges, as_composing, fingerprint) for fingerprint, framework in frameworks.items()]
    return _together(calibrated, joints, frameworks, met, "+".join(definitions), together)


def _together(
    calibrated: Sequence[Calibrated], joints: Sequence[Joint], frameworks: Mapping[str, Framework],
    met: Framework | None, definition: str, fixed_in_advance: bool,
) -> Guarantee:  # fmt: skip
    """Return the promise of all calibrations at their largest joint cost."""
    worst = max(joints, key=lambda joint: joint.epsilon)
    conditions = [*chain.from_iterable(calibration.guarantee.conditions for calibration in calibrated)]
    if len(calibrated) > 1:
        conditions.append(f"{len(calibrated)} releases together, by the rule '{worst.rule}'")
    if met is not None:
        conditions.append(f"what the releases hide together: {'; '.join(s.describe() for s in met.secrets)}")
    if len(calibrated) > 1 and fixed_in_advance:
        conditions.append("all queries and all noise are fixed before the first release")
    if worst.covers is Covers.ENTRIES:
        conditions.append("each release's query, noise and stopping depend on the data through past outputs only")
    assumptions = chain.from_iterable(calibration.guarantee.assumptions for calibration in calibrated)
    return Guarantee(
        epsilon=worst.epsilon,
        delta=max(joint.delta for joint in joints),
        covers=max((joint.covers for joint in joints), key=list(Covers).index),
        definition=definition,
        framework="+".join(frameworks),
        assumptions=tuple(dict.fromkeys(assumptions)),
        conditions=tuple(dict.fromkeys(conditions)),
        hides_facts=all(framework.hides_facts for framework in frameworks.values()),
    )
