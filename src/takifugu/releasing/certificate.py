"""The certificate: what one release promises, to whom, under which assumptions; of the data only what is public."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from takifugu._version import __version__
from takifugu.beliefs.pair import LawPair
from takifugu.guarantee import Composition
from takifugu.laws.rationals import to_text

if TYPE_CHECKING:
    from takifugu.calibration import Calibration

FORMAT = "takifugu-certificate/1"
WIDTH = 78

#: How a release adds up with others on the same source, in words (DESIGN §4).
COMPOSES = {
    Composition.WHOLE: "The noise covers every change of the whole data set; its epsilon adds to that of any other "
    "release.",
    Composition.DATA: "The noise covers every change of one unit or piece; its epsilon adds to that of other releases "
    "of this kind and of the kind 'whole', not to that of the kind 'single'.",
    Composition.QUILT: "All additive-noise releases on this source together cost the largest, over entries, of the "
    "smallest, over quilts, of the quilt's influence plus the sum of change over scale. The ledger computes it.",
    Composition.SINGLE: "The promise is about this output alone. Together with any other release that reads the same "
    "data, before or after, no promise is proved; the ledger refuses such releases.",
}

NOISE = {
    "none": "no noise is added",
    "discrete-laplace": "discrete Laplace noise, drawn exactly from the operating system's randomness",
    "rounded-laplace": "Laplace noise, the noisy value rounded exactly once to the grid",
    "rounded-normal": "normal noise, the noisy value rounded exactly once to the grid",
}


@dataclass(frozen=True)
class Certificate:
    """One promise and what was published under it.

    `published` holds (unit, cell, value) rows; the unit is None where there are no units or where they are pooled.
    """

    source: str
    scope: str
    units: tuple[str, ...]
    statistic: str
    query: Mapping[str, Any]
    published: tuple[tuple[str | None, str, str], ...]
    definition: str
    hidden: tuple[str, ...]
    beliefs: tuple[str, ...]
    framework: Mapping[str, Any]
    fingerprint: str
    assumptions: tuple[str, ...]
    mechanism: str
    mechanism_source: str
    noise: Mapping[str, Any]
    scale: str
    grid: str
    expected_error: float
    epsilon: str
    delta: str
    composition: str
    conditions: tuple[str, ...]
    warnings: tuple[str, ...]
    private: bool
    ledger: str | None
    release_ids: tuple[str, ...]
    date: str
    software: str

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as plain values; the keys are stable within a format."""
        plain = {f.name: _plain(getattr(self, f.name)) for f in fields(self)}
        plain["published"] = [{"unit": u, "cell": c, "value": v} for u, c, v in self.published]
        return {"format": FORMAT, **plain}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def text(self) -> str:
        """Return the certificate as a page of sentences, at most 78 columns wide."""
        return "\n".join(_page(self))

    def __str__(self) -> str:
        return self.text()


def certify(
    calibration: Calibration,
    published: tuple[tuple[str | None, str, str], ...],
    *,
    source: str,
    scope: str,
    units: tuple[str, ...],
    private: bool,
    ledger: str | None,
    release_ids: tuple[str, ...],
    assumptions: tuple[str, ...] = (),
) -> Certificate:
    """Return the certificate of values drawn with one calibration."""
    framework, guarantee, noise = calibration.framework, calibration.guarantee, calibration.randomiser
    return Certificate(
        source=source, scope=scope, units=units,
        statistic=calibration.query.describe(), query=calibration.query.to_dict(), published=published,
        definition=framework.definition,
        hidden=tuple(s.describe() for s in framework.secrets),
        beliefs=tuple(b.describe() for b in framework.beliefs),
        framework=framework.to_dict(), fingerprint=framework.fingerprint(),
        assumptions=tuple(dict.fromkeys((*guarantee.assumptions, *assumptions))),
        mechanism=calibration.mechanism, mechanism_source=calibration.source,
        noise=noise.to_dict(), scale=to_text(noise.scale), grid=to_text(noise.grid),
        expected_error=noise.expected_error(),
        epsilon=to_text(guarantee.epsilon), delta=to_text(guarantee.delta),
        composition=str(guarantee.composition), conditions=guarantee.conditions,
        warnings=tuple(_warnings(calibration, private, ledger)),
        private=private, ledger=ledger, release_ids=release_ids,
        date=datetime.now(UTC).date().isoformat(), software=f"takifugu {__version__}",
    )  # fmt: skip


def _warnings(calibration: Calibration, private: bool, ledger: str | None) -> list[str]:
    found = []
    if not private:
        found.append(
            "NOT PRIVATE: the noise came from a seed, for tests. Whoever knows the seed can remove the noise; "
            "do not publish this."
        )
    if any("private data" in b.source for b in calibration.framework.beliefs):
        found.append("The belief was estimated from the private data itself; the promise does not cover that estimate.")
    loss = loss_to_who_knows_the_rest(calibration)
    if loss is None:
        found.append(
            "No noise is added. The secret is hidden by the randomness of the data under the beliefs above, and by "
            "nothing else; someone who knows more than they say may learn the secret."
        )
    elif loss > calibration.guarantee.epsilon:
        found.append(
            "The noise is less than what hides one entry from someone who knows all other entries: to them the loss is "
            f"up to {float(loss):.3g}, not {to_text(calibration.guarantee.epsilon)}. The promise holds under the "
            "beliefs above, and only under them."
        )
    if ledger is None:
        found.append("No ledger kept account of this release: nothing stops a second one from the same data.")
    return found


def loss_to_who_knows_the_rest(calibration: Calibration) -> Fraction | None:
    """Return the loss of one entry to someone who knows all others: its largest change over the scale; None: no noise.

    Zero for noise that has no Laplace scale and for the comparison of two laws, where no entry is known.
    """
    noise = calibration.randomiser
    if noise.kind == "none":
        return None
    if noise.kind not in ("discrete-laplace", "rounded-laplace"):
        return Fraction(0)
    worst = 0
    for belief in calibration.framework.beliefs:
        if isinstance(belief, LawPair):
            continue
        changes = calibration.query.resolve(belief).entry_changes()
        for secret in calibration.framework.secrets:
            entries = secret.family(belief).entries
            worst = max(worst, *(int(changes[i]) for i in entries)) if len(entries) else worst
    return worst * noise.grid / noise.scale


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, tuple | list) else value


def _page(c: Certificate) -> list[str]:
    who = {"all": "for the whole source", "pooled": f"for all {len(c.units)} units together", "unit": "for each unit"}
    lines = ["CERTIFICATE OF A PRIVATE RELEASE", "=" * 32, ""]
    if not c.private:
        lines += [*_fill(f"!!! {c.warnings[0]}"), ""]
    lines += _section("Published", [f"{c.statistic}, from the source {c.source!r}, {who[c.scope]}"])
    if c.units:
        lines += _section("Units", [", ".join(c.units)])
    lines += _section("Hidden", c.hidden)
    lines += _section("From whom", [
        "anyone who believes one of the following about the data, and sees all that is published here:", *c.beliefs
    ])  # fmt: skip
    lines += _section("Promise", [_promise(c)])
    lines += _section("If", c.assumptions)
    if c.conditions:
        lines += _section("And if", c.conditions)
    lines += _section("Noise", [_noise(c), f"found by the mechanism {c.mechanism!r} ({c.mechanism_source})"])
    lines += _section("More releases", [COMPOSES[Composition(c.composition)]])
    lines += _section("Not promised", [
        "Nothing is promised against someone whose belief is not listed, about facts that are not listed as hidden, or "
        "about what the data's owner publishes elsewhere without this ledger."
    ])  # fmt: skip
    if c.warnings:
        lines += _section("Warnings", c.warnings)
    account = "no ledger" if c.ledger is None else f"ledger {c.ledger}, release {', '.join(c.release_ids)}"
    lines += _section("Account", [account])
    lines += _section("Made", [f"{c.date} by {c.software}; beliefs {c.fingerprint}, in full in the JSON certificate"])
    return lines


def _promise(c: Certificate) -> str:
    epsilon, delta = Fraction(c.epsilon), Fraction(c.delta)
    factor = f"{2.718281828459045 ** float(epsilon):.4g}" if epsilon < 50 else f"e^{c.epsilon}"
    words = (
        f"epsilon = {c.epsilon}, delta = {c.delta} ({c.definition}): what is published makes any one hidden "
        f"possibility at most e^{c.epsilon} = {factor} times likelier, relative to another, than it was before"
    )
    return words if delta == 0 else f"{words}, except with probability {c.delta}"


def _noise(c: Certificate) -> str:
    what = NOISE.get(str(c.noise["kind"]), str(c.noise["kind"]))
    if c.noise["kind"] == "none":
        return f"{what}; values are multiples of {c.grid}"
    return (
        f"{what}; scale {float(Fraction(c.scale)):.6g}, on multiples of {c.grid}, independent for each value; expected "
        f"total error of one answer {c.expected_error:.4g}"
    )


def _section(title: str, sentences: tuple[str, ...] | list[str]) -> list[str]:
    lines = [line for s in sentences for line in _fill(s[:1].upper() + s[1:] if title != "Units" else s)]
    return [f"{title:<14}{lines[0]}", *(f"{'':<14}{line}" for line in lines[1:]), ""] if lines else []


def _fill(sentence: str) -> list[str]:
    return textwrap.wrap(sentence, WIDTH - 14, break_long_words=False, break_on_hyphens=False)
