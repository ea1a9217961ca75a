"""A certificate in sentences: in short, the guarantee, its numbered assumptions, its limits, and how to verify it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from takifugu.accounting import definitions, suspicion
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import KINDS
from takifugu.analysis.robustness import if_belief_off
from takifugu.core.assumptions import Assumption, Kind, limit, public, sentence, world
from takifugu.core.escaping import at_least, at_most, number
from takifugu.core.plain import Plain
from takifugu.core.text.tables import shortened
from takifugu.model import secrets as secret_room
from takifugu.model.beliefs import OF_STEPS, VALUES_OF_ONE
from takifugu.model.frameworks import DEFINITIONS
from takifugu.model.queries.registry import KINDS as KNOWN_QUERIES
from takifugu.model.secrets.of_entries import longest_run
from takifugu.releasing.certificates.content import Content
from takifugu.releasing.certificates.facts import CAUTIONS

#: Beliefs that differ between units only in their public lengths are listed up to this many; the JSON has them all.
_LISTED, _LISTED_UNITS = 3, 40
#: So many chains are told in words.
_CHAINS = 7
#: How a release composes with others about the same source, in words (docs/decisions.md#composition).
COMPOSES = {
    "composes": "The release composes with others: the ledger computes the joint loss of all releases.",
    "alone": "The release does not compose: the guarantee is about this output only, while the ledger has no other "
    "release about the same people. Beside another one both are charged by their noise, and a release without a bound "
    "is refused.",
}
#: What a group of assumptions is called, in the order of a certificate.
TITLES = {
    Kind.WORLD: "Assumptions about the world", Kind.CHECK: "Check before you rely on this table",
    Kind.PUBLIC: "Known to everybody (not protected)", Kind.READING: "How rows were read", Kind.LIMIT: "Not protected",
}  # fmt: skip
#: Kinds that are numbered, one after the other: the guarantee holds if they are true.
NUMBERED = (Kind.WORLD, Kind.CHECK, Kind.PUBLIC, Kind.READING)


@dataclass(frozen=True)
class Section:
    """A part of a certificate: words beside a label, or a group below its title, numbered from `first` (0: bullets)."""

    title: str
    sentences: Sequence[str]
    first: int | None = None


def sections(c: Content) -> list[Section]:
    """Return the parts of a certificate that have words, in order."""
    parts = [
        Section("Warning", warnings(c)),
        Section("Check", list(map(sentence, c.doubts))),
        Section("Title", [c.title or ""]),
        Section("In short", in_short(c)),
        Section("Values", [*meaning_of(c), f"Measured in {c.measured_in}." if c.measured_in else "", *c.adjusting]),
        Section("Guarantee", [sentence(promise_text(c)), f"Secret: {secret_of(c)}."]),
    ]
    parts += groups(c)
    when = c.date or "As a rehearsal"
    publisher = ", ".join(filter(None, [c.publisher, c.contact]))
    technical = [sentence(noise_text(c)), f"Mechanism: {', '.join(mechanisms_of(c))}.", *composes(c)]
    parts += [
        Section("Technical", [" ".join(technical)]),
        Section("Verify", [sentence(account_text(c)), *_table(c)]),
        Section("Publisher", [publisher]),
        Section("Made", [f"{when}, {c.software}. The JSON certificate has every number and belief."]),
    ]
    with_words = [Section(part.title, [*filter(None, part.sentences)], part.first) for part in parts]
    return [part for part in with_words if part.sentences]


def groups(c: Content) -> Iterator[Section]:
    """Yield the assumptions by their kinds, as far as there are some: numbered one after the other, or limits."""
    first = 1
    for kind, title in TITLES.items():
        sentences = of_kind(c, kind)
        if sentences:
            yield Section(title, sentences, first if kind in NUMBERED else 0)
        first += len(sentences)  # limits come last


def assumed(c: Content) -> tuple[Assumption, ...]:
    """Return all assumptions by their kinds: those of the models, of the window and of the definition, too."""
    every = [*map(world, models(c)), *c.assumptions]
    every += map(world, shortened([stay.words for stay in c.stays], _CHAINS, "more matrices, which the belief lists."))
    if c.units:
        every.append(public(f"The {c.people.many}: {_units(c.units)}."))
    if c.window is not None:
        every += c.window.assumptions
    every += map(limit, (*off_by_a_bit(c), *map(sentence, not_protected(c))))
    order = list(Kind)
    return tuple(sorted(dict.fromkeys(every), key=lambda assumption: order.index(Kind(assumption.kind))))


def of_kind(c: Content, *kinds: Kind) -> tuple[str, ...]:
    """Return the sentences of some kinds, in the order of the certificate."""
    return tuple(assumption.text for assumption in assumed(c) if assumption.kind in kinds)


def warnings(c: Content) -> tuple[str, ...]:
    """Return the warnings of a certificate."""
    numbers = {"epsilon": charged(c.epsilon), "requested": at_least(Fraction(c.requested or c.epsilon))}
    return tuple(CAUTIONS[caution].format(**numbers, seed=c.rehearsal) for caution in c.cautions)


def models(c: Content) -> list[str]:
    """Return the beliefs as sentences: the guarantee is against readers who hold one of them."""
    if not c.beliefs:
        return []
    if len(c.beliefs) == 1:
        return [f"The model of the data: {c.beliefs[0]}."]
    several = [f"A model of the data: {belief}." for belief in c.beliefs]
    return list(shortened(several, _LISTED, "more models of this kind, with other lengths."))


def statistic_of(c: Content) -> str:
    """Name the statistic, and of whom it is, with their public number."""
    if c.scope == "unit":
        return f"{c.statistic}, for each {c.person}"
    if c.scope != "pooled":
        return c.statistic
    count = people_of(c)
    people = f"{count} {c.people.many}" if count else c.people.many
    return f"{c.statistic}, over all {people} together"


def people_of(c: Content) -> int | None:
    """Return the public number of people, None where there is none."""
    return len(c.units) or c.unit_count


def about(c: Content) -> str:
    """Say in one line what a table shows: the statistic, its unit, whose it is, and the days."""
    parts = [f"{c.statistic[:1].upper()}{c.statistic[1:]}"]
    if c.measured_in:
        parts[0] += f", in {c.measured_in}"
    people = people_of(c)
    if c.scope == "unit":
        parts.append(f"for each {c.person}")
    elif people:
        parts.append(f"{people:,} {c.person if people == 1 else c.people.many}")
    where = ", ".join(filter(None, [*parts[1:], "" if c.window is None else c.window.days]))
    return f"{parts[0]}; {where}" if where else parts[0]


def in_short(c: Content) -> list[str]:
    """Return what the table shows, what is protected, and how sure a reader can become."""
    span = f", {c.window.days}" if c.window is not None and c.window.days else ""
    sentences = [f"This table shows {statistic_of(c)}{span} (source {c.source!r})."]
    if is_worded(c):
        kinds = [str(secret["kind"]) for secret in secrets_of(c)]
        protects = definition_of(c).in_short(c.hidden, c.beliefs, kinds)
        sentences.append(protects or f"it limits what a reader can learn about {secret_of(c)}")
    if odds := odds_of(c):
        count = len(of_kind(c, *NUMBERED))
        sentences.append(f"{odds}{_if_true(count)}")
    return [" ".join(map(sentence, filter(None, sentences)))]


def _if_true(count: int) -> str:
    """Name the numbered assumptions."""
    known = {0: "", 1: ", if assumption 1 is true", 2: ", if assumptions 1 and 2 are true"}
    return known.get(count, f", if assumptions 1 to {count} are true")


def odds_of(c: Content) -> str:
    """Say how sure a reader can become of a secret; "" where nothing is known of it."""
    epsilon, delta = Fraction(c.epsilon), Fraction(c.delta)
    if not is_worded(c) or epsilon == 0:
        return ""
    definition = definition_of(c)
    if definition.per_distance:
        return "; ".join(definition.in_numbers(epsilon, delta))
    tenth, half = (suspicion.explain(prior, epsilon, delta) for prior in ("10 %", "50 %"))
    alike = ", all else equal," if definition.one_way else ""
    what = "one of two compared values of a secret" if compares_some(c) else "a secret"
    surest, other = (suspicion.percent(explained.high, up=True) for explained in (half, tenth))
    return f"someone 50 % sure of {what}{alike} becomes at most {surest} sure (10 %: {other}){half.exception}"


def secret_of(c: Content) -> str:
    """Name the secrets, in the words of the file for what is counted."""
    secrets, whose = list(map(dict, secrets_of(c))), f" of one {c.person}" if c.scope != "all" else ""
    if c.definition != "pufferfish" or len({secret["kind"] for secret in secrets}) != 1:
        return " and ".join(c.hidden)
    if (run := longest_run(secrets_of(c))) > 1:
        return f"the states{whose} in any {_steps(c, run)} in a row, together"
    if any(secret != {"kind": "every-entry", "attribute": None} for secret in secrets):
        return " and ".join(c.hidden)
    kinds = {str(belief["kind"]) for summary in c.frameworks.values() for belief in summary["beliefs"]}
    if kinds <= OF_STEPS or (not kinds <= VALUES_OF_ONE.keys() and (c.window or c.stays)):
        step = f"step of {c.window.step}" if c.window is not None and not c.window.step.isdigit() else "step"
        return f"the state{whose} in any one {step}"
    words = dict.fromkeys(VALUES_OF_ONE.get(kind, c.hidden[0]) for kind in kinds)
    return " or ".join(sorted(words)).replace("{person}", c.person)


def _steps(c: Content, run: int) -> str:
    """Count steps, with their length where the table has a window."""
    return f"{run} steps of {c.window.step}" if c.window is not None and not c.window.step.isdigit() else f"{run} steps"


def longer_stays(c: Content) -> str:
    """Name the stays of which a part is hidden only; "" where runs of steps are no secret."""
    run = longest_run(secrets_of(c))
    return f"that a stay of more than {_steps(c, run)} in a row took place" if run > 1 else ""


def promise_text(c: Content) -> str:
    """Name the definition, epsilon and delta, and the guarantee in one sentence."""
    words, name = definition_of(c).promise(Fraction(c.epsilon), Fraction(c.delta)), c.definition.replace("-", " ")
    if compares_some(c):
        words = f"of two compared values of a secret, {words}"
    return f"{name} privacy, epsilon {charged(c.epsilon)}, delta {charged(c.delta)}: {words}"


def compares_some(c: Content) -> bool:
    """Return whether values of a secret are not compared with all others."""
    return any(map(secret_room.compares_some, secrets_of(c)))


def secrets_of(c: Content) -> Iterator[Plain]:
    """Yield the secrets of all frameworks, as they are written."""
    return chain.from_iterable(summary["secrets"] for summary in c.frameworks.values())


def not_protected(c: Content) -> Iterator[str]:
    """Yield what the definition, the beliefs and what is public leave open."""
    yield from definition_of(c).not_promised()
    if stays := longer_stays(c):
        yield f"{stays}: of it any {longest_run(secrets_of(c))} steps are hidden"
    if not c.beliefs or not any(answer.values for answer in c.answers):  # a randomised column says it above
        return
    if is_worded(c) and definition_of(c).in_short(c.hidden, c.beliefs, []):
        yield "single rows, and everything else about the records that is not listed as a secret"
        return
    yield f"patterns over many {c.many}, and what the published numbers say about everybody on average"


def off_by_a_bit(c: Content) -> Iterator[str]:
    """Say what the promise becomes where the data are likelier or less likely than the models say."""
    is_whole = all(answer.covers == Covers.EVERYTHING for answer in c.answers)
    if is_whole or not c.beliefs or definition_of(c).per_distance or definition_of(c).one_way:
        return
    bit = next(row for row in if_belief_off(Fraction(c.epsilon), Fraction(c.delta)) if row.off_by == Fraction(1, 10))
    delta = f", and delta {charged(c.delta)} becomes {at_most(bit.delta)}" if bit.delta else ""
    yield (
        "If, given a secret, the data are up to e^0.1 times likelier or less likely than the models say, epsilon "
        f"{charged(c.epsilon)} becomes {at_most(bit.epsilon)}{delta}."
    )


def meaning_of(c: Content) -> Sequence[str]:
    """Return the meaning of the values, where the query's name lacks it."""
    query = KNOWN_QUERIES.get(c.query.get("kind"))
    if query is None:
        return ()
    try:
        return tuple(map(sentence, query.meaning(c.query, c.answers[0].noise)))
    except (LookupError, TypeError, ValueError, ArithmeticError):  # the file is not as it was written
        return ()


def composes(c: Content) -> list[str]:
    """Say how the release adds up with others about its source."""
    if is_worded(c):
        words = [*map(definition_of(c).composes, once(answer.covers for answer in c.answers))]
        if any(words):
            return words
    return [COMPOSES[place] for place in c.compositions]


def account_text(c: Content) -> str:
    return "no ledger" if c.ledger is None else f"ledger {c.ledger_id}, release {c.release_id}"


def mechanisms_of(c: Content) -> list[str]:
    """Name the mechanisms with their sources."""
    return [f"{name} ({source})" for name, source in c.mechanisms.items()]


def _table(c: Content) -> list[str]:
    """Name the certified bytes by the ends of their digest."""
    if c.table is None:
        return []
    kind, _, digest = c.table.partition(":")
    ends = f"{digest[:8]}...{digest[-4:]} (in full in the JSON)"
    return [f"{kind.upper().replace('SHA', 'SHA-')} of {c.release}.csv: {ends}."]


def _units(units: tuple[str, ...]) -> str:
    words = ", ".join(units[:_LISTED_UNITS])
    if len(units) > _LISTED_UNITS:
        words += f" and {len(units) - _LISTED_UNITS} more"
    return words


def is_worded(c: Content) -> bool:
    """Return whether a certificate's definition is registered here: only such a one can word it."""
    return c.definition in DEFINITIONS


def definition_of(c: Content) -> definitions.Definition:
    """Return the certificate's definition, or plain Pufferfish, which guarantees no more, if unregistered."""
    return definitions.find(c.definition) if is_worded(c) else definitions.find("pufferfish")


def once(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def charged(value: str) -> str:
    """Write an epsilon or a delta of a certificate, never less."""
    return at_most(Fraction(value))


def noise_text(c: Content) -> str:
    """Describe the noise, and where its bits come from."""
    words = _noise_words(c)
    return words if c.private else words.replace("the operating system's randomness", "a seed that is known")


def _noise_words(c: Content) -> str:
    kinds = [*map(KINDS.find, once(str(answer.noise["kind"]) for answer in c.answers))]
    if len(kinds) == 1 and kinds[0].words is not None:
        words = kinds[0].words(kinds[0].read(c.answers[0].noise))
        if kinds[0].is_drawn_here:
            words += "; drawn exactly from the operating system's randomness"
        return words
    if len(kinds) == 1 and c.answers[0].noise["kind"] == "none":
        return f"{kinds[0].sentence}; the values are multiples of {c.grid}"
    scales = sorted(Fraction(a.scale) for a in c.answers if a.scale is not None)
    errors = sorted(float(Fraction(a.expected_error)) for a in c.answers if a.expected_error is not None)
    kind_words = " or ".join(kind.sentence for kind in kinds)
    law = "independent for each value"
    if len(kinds) == 1 and not kinds[0].has_scale:
        law, errors = f"on multiples of {c.grid}", errors[-1:]
    elif scales:
        size = " to ".join(map(number, dict.fromkeys((scales[0], scales[-1]))))
        law = f"scale {size}, on multiples of {c.grid}, {law}"
    parts = [kind_words, law]
    if errors:  # in ascending order
        span = " to ".join(dict.fromkeys(number(error, digits=4) for error in (errors[0], errors[-1])))
        parts.append(f"expected L1 error per answer {span}")
    return "; ".join(parts)
