"""The joint promise of releases about the same entries, and `compose` for calibrations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain

from takifugu.accounting.composition.charges import charge_of
from takifugu.accounting.composition.losses import ELSEWHERE, Joint, as_whole, whole_change
from takifugu.accounting.composition.series import NORMAL, SERIES
from takifugu.accounting.composition.several import Several
from takifugu.accounting.composition.views import View
from takifugu.analysis.calibrated import Calibrated
from takifugu.analysis.guarantee import Charge, Covers, Guarantee
from takifugu.core.cache import cached
from takifugu.core.errors import CompositionRefused, InputError
from takifugu.core.nearest import did_you_mean
from takifugu.core.rules import check_type, members_of
from takifugu.model.frameworks import DEFINITIONS, Framework
from takifugu.numbers.rationals import as_truth


def joint(
    framework: Framework, charges: Iterable[Charge], fingerprint: str | None = None, is_alone: bool | None = None
) -> Joint:
    """Return the least proven joint promise of charges, in the order of release (docs/theory/composition.md)."""
    charges = tuple(charges)
    # alone: nothing else is known of the unit, so that a promise about one output's own distribution counts
    question = fingerprint or framework.fingerprint(), charges, len(charges) == 1 if is_alone is None else is_alone
    for charge in charges:
        if isinstance(charge, Several) and len(charge.windows) > 1:  # such a set is never asked about twice
            return _joint(framework, *question)
    remembered = cached(framework, joint, lambda: lru_cache(maxsize=16384)(partial(_joint, framework)))
    return remembered(*question)


def _joint(framework: Framework, fingerprint: str, charges: tuple[Charge, ...], is_alone: bool) -> Joint:
    if framework.definition not in DEFINITIONS:
        raise CompositionRefused(
            f"no joint proof for definition {framework.definition!r}",
            rule="releases under it do not compose",
            fix=f"known: {list(DEFINITIONS.names)}{did_you_mean(framework.definition, DEFINITIONS.names)}",
        )
    definition, history, view = DEFINITIONS.find(framework.definition), [], View(framework, fingerprint)
    for charge in charges:
        if charge.query == ELSEWHERE:  # such a promise is one under every framework
            charge = replace(charge, framework=fingerprint, definition=framework.definition)
        elif charge.definition not in (framework.definition, *definition.reads_alike):
            change = whole_change(view, charge)
            charge = replace(as_whole(charge, framework.definition, change), framework=fingerprint)
        history.append(charge)
    joint: Joint = definition.joint(view, tuple(history), is_alone)
    return joint


def compose(calibrations: Iterable[Calibrated], begins_series: bool = False) -> Guarantee:
    """Compute the joint guarantee of calibrations about the same entries of one source.

    Each calibration is fixed before those after it are released. Every framework among them is charged for all
    releases; the largest joint epsilon and delta are guaranteed, as a ledger counts.

    Args:
        calibrations: The calibrations, in the order of release.
        begins_series: Whether those with normal noise begin a series together, all fixed before the first is released.
            Their noise then adds up by its squares.

    Returns:
        The joint guarantee.

    Raises:
        CompositionRefused: Where nothing is proved, with the reason and the cheapest remedy.
        InputError: For no calibrations.

    Source: docs/decisions.md#composition; docs/theory/influence.md#with-a-delta.

    Examples:
        >>> from takifugu import Count, MarkovChain, Pufferfish, calibrate, every_entry
        >>> framework = Pufferfish(every_entry(), MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=10))
        >>> calibrations = [calibrate(framework, Count(1), epsilon="1/3")] * 3
        >>> round(float(compose(calibrations).epsilon), 3)
        1.057
    """
    calibrated = tuple(members_of(calibrations, "the calibrations", "calibrations", "[calibrate(...)]"))
    if not calibrated:
        raise InputError("there is nothing to compose", fix="give at least one calibration").at("calibrations")
    begins, charges, frameworks = as_truth(begins_series, "begins_series"), [], dict[str, Framework]()
    for calibration in calibrated:
        check_type(calibration, Calibrated, "a calibration", "give what calibrate(...) returns", "calibrations")
        is_normal = calibration.randomiser.kind == NORMAL
        charges.append(charge_of(calibration, reading="together", begins_series=begins and is_normal))
        frameworks[calibration.framework.fingerprint()] = calibration.framework
    definitions = dict.fromkeys(framework.definition for framework in frameworks.values())
    met: Framework | None = None
    if len(frameworks) > 1 and len(definitions) == 1:
        met = DEFINITIONS.find(*definitions).met(tuple(frameworks.values()))
    if met is not None:
        frameworks = {met.fingerprint(): met}
    joints = [joint(framework, charges, fingerprint) for fingerprint, framework in frameworks.items()]
    return _together(calibrated, joints, frameworks, met, "+".join(definitions))


def _together(
    calibrated: Sequence[Calibrated], joints: Sequence[Joint], frameworks: Mapping[str, Framework],
    met: Framework | None, definition: str,
) -> Guarantee:  # fmt: skip
    """Return the promise of all calibrations at their largest joint cost."""
    worst = max(joints, key=lambda joint: joint.epsilon)
    conditions = [*chain.from_iterable(calibration.guarantee.conditions for calibration in calibrated)]
    if len(calibrated) > 1:
        conditions.append(f"{len(calibrated)} releases together, by the rule '{worst.rule}'")
    if met is not None:
        conditions.append(f"what the releases hide together: {'; '.join(s.describe() for s in met.secrets)}")
    if len(calibrated) > 1 and worst.rule == SERIES:
        conditions.append("the releases that begin the series are fixed before the first of them is released")
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
