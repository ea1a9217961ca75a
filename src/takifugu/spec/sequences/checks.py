"""What a release file means: the faults that no single key shows, each as `path.in.file: what; what to write`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from takifugu.beliefs.pieces import Chain
from takifugu.errors import TakifuguError, did_you_mean
from takifugu.frames import Table, missing_states, open_frame, parse_step
from takifugu.queries import Sum
from takifugu.spec.problems import as_problem
from takifugu.spec.promise import only_release_problems, promise_problems
from takifugu.spec.same_data import FIT_ELSEWHERE, GIVE_PUBLIC, IS_PRIVATE, PrivateBelief, is_one_of
from takifugu.spec.sections import (
    ChainClassSpec,
    ChainSpec,
    EntrySpec,
    EveryEntrySpec,
    FitSpec,
    ItemSpec,
    ReleaseSpec,
    SourceSpec,
)
from takifugu.spec.sequences.build import chain_of, codes_of, query_of, weights_of
from takifugu.spec.source import open_source, private_files

#: Parts of the file that failed their own validation are None here and are checked no further.
Belief = ChainSpec | ChainClassSpec
Hide = EveryEntrySpec | EntrySpec

#: The keys of [[release]] that only some queries have.
_BELONGS = {
    "states": ("histogram", "count"),
    "codes": ("sum", "mean", "linear"),
    "grid": ("sum", "mean", "linear"),
    "weights": ("linear",),
    "total": ("histogram",),
}


@dataclass(frozen=True, eq=False)
class Meaning:
    """What a release file means: its belief and its opened source (None where faulty), and every fault."""

    chain: Chain | None
    table: Table | None
    problems: tuple[str, ...]


def meaning_of(spec: ReleaseSpec, faulty: frozenset[str], folder: Path, data: Any = None) -> Meaning:
    """Return the meaning of a release file, as far as its keys are well formed.

    `faulty` are keys whose fault is known, with an example in their place; what depends on them is not checked. `data`
    stands for the source's file if given.
    """
    source: SourceSpec | None = spec.source
    belief: Belief | None = spec.belief
    hide: Hide | None = spec.hide
    found: list[str] = []
    chain: Chain | None = None
    table: Table | None = None
    if source is not None:
        if not faulty & {"source.file", "source.missing"}:
            table = _open(source, folder, data, found)
        found += _columns(source, table, faulty)
        found += _source(source)
    if belief is not None:
        found += _belief(belief, source, faulty)
        if source is not None and not faulty & {"belief.states", "belief.map", "source.missing"}:
            found += _missing(belief, source)
        if not any(key.startswith("belief.") for key in faulty):
            told = list(_private_files(belief, source, folder, data))
            chain = _try_chain(belief, source, folder, found, None if told else table)
            found += told
    if hide is not None:
        found += _hide(hide, source, None if "belief.states" in faulty else belief)
    if source is not None:
        found += only_release_problems(source, spec.release)
    names: set[str] = set()
    for number, item in enumerate(spec.release):
        if item is None:
            continue
        path = f"release[{number}]"
        for name in (item.name, f"{item.name}-units", f"{item.name}-pooled") if item.per == "both" else (item.name,):
            if name.lower() in names:
                found.append(f"{path}.name: {name!r} would name two tables; give each its own name")
            names.add(name.lower())  # on some machines A.csv and a.csv are one file
        found += _item(item, path, source, folder, chain)
    return Meaning(chain, table, tuple(found))


def _open(source: SourceSpec, folder: Path, data: Any, found: list[str]) -> Table | None:
    try:
        return open_source(source, folder, data)
    except TakifuguError as error:
        found.append(f"source.file: {as_problem(error)}")
        return None


def _columns(source: SourceSpec, table: Table | None, faulty: frozenset[str]) -> Iterator[str]:
    keys = [key for key in ("unit", "piece", "order", "value") if f"source.{key}" not in faulty]
    named = {key: getattr(source, key) for key in keys if getattr(source, key)}
    if len(set(named.values())) != len(named):
        yield "source: one column is named twice; unit, piece, order and value are different columns"
    for key, column in named.items() if table is not None else ():
        try:
            table.require([column], list(named.values()))  # type: ignore[union-attr]
        except TakifuguError as error:
            yield f"source.{key}: {as_problem(error)}"


def _source(source: SourceSpec) -> Iterator[str]:
    if source.step is not None:
        try:
            parse_step(source.step)
        except TakifuguError as error:
            yield f"source.step: {as_problem(error)}"
        if source.order is None:
            yield 'source.order: is missing; steps are counted along an order column, write order = "<column>"'


def _belief(belief: Belief, source: SourceSpec | None, faulty: frozenset[str]) -> Iterator[str]:
    texts = [str(s) for s in belief.states]
    if len(set(texts)) != len(texts):
        yield f"belief.states: {texts} repeats a name; name each state once"
    for raw, state in belief.map.items() if "belief.states" not in faulty else ():
        if state not in belief.states:
            yield f"belief.map.{raw}: {state!r} is no state{did_you_mean(state, texts)}; write one of {texts}"
    if belief.longer == "cut" and belief.max_length is None:
        yield "belief.max_length: is missing; write the number of steps that a longer piece is cut to"
    if belief.max_length is not None and belief.max_length < belief.min_length:
        yield "belief.max_length: is below min_length, so no piece would be left; increase it"
    if source is not None and source.piece is not None and belief.pieces_independent is not True:
        yield (
            "belief.pieces_independent: must be declared, because source.piece is used; write "
            "pieces_independent = true if one piece says nothing about another, or leave source.piece out"
        )
    if source is not None and source.unit is not None and belief.units_independent is not True:
        yield (
            "belief.units_independent: must be declared, because source.unit is used; write "
            "units_independent = true if one unit says nothing about another, or leave source.unit out"
        )
    if isinstance(belief, ChainSpec) and not faulty & {"belief.matrix", "belief.fit"}:
        what = "is missing" if belief.matrix is None else "is given beside fit"
        if (belief.matrix is None) == (belief.fit is None):
            yield f"belief.matrix: {what}; write either matrix = [[...], ...] or a section [belief.fit]"


def _missing(belief: Belief, source: SourceSpec) -> Iterator[str]:
    """Yield the states that would be read as missing, whose secret would become the public pattern of gaps."""
    what = "counts as missing, so it would be read as a gap and not as a state; "
    mend = "rename it, or remove it from source.missing"
    for text in missing_states(belief.states, (), source.missing):
        yield f"belief.states: {text!r} {what}{mend if text else 'map a word to it'}"
    for text in missing_states((), belief.map, source.missing):
        yield f"belief.map: {text!r} {what}{mend if text else 'fill it in the data'}"


def _private_files(belief: Belief, source: SourceSpec | None, folder: Path, data: Any) -> Iterator[str]:
    """Yield the keys of the belief that name the private data's own file undeclared."""
    if source is None or not isinstance(belief, ChainSpec):
        return
    private = private_files(source, folder, data)
    if belief.fit is not None and not belief.fit.private and is_one_of(folder / belief.fit.file, private):
        yield f"belief.fit.file: {IS_PRIVATE}{FIT_ELSEWHERE}"
    if isinstance(belief.matrix, str) and is_one_of(folder / belief.matrix, private):
        yield f"belief.matrix: {IS_PRIVATE}{GIVE_PUBLIC}"


def _try_chain(
    belief: Belief, source: SourceSpec | None, folder: Path, found: list[str], private: Table | None
) -> Chain | None:
    """Return the chain at one step, or add what is wrong with it; `private` is what it must not be fitted to."""
    if isinstance(belief, ChainSpec) and (belief.matrix is None) == (belief.fit is None):
        return None
    if isinstance(belief, ChainSpec) and belief.fit is not None and source is not None:
        faults = list(_fit_columns(belief.fit, source, folder))
        if faults:
            found += faults
            return None
    try:
        return chain_of(belief, source, folder, private=private)
    except PrivateBelief as error:
        found.append(f"belief.fit.file: {error}")
        return None
    except TakifuguError as error:
        key = "belief"
        if isinstance(belief, ChainSpec):
            key = "belief.fit" if belief.fit is not None else "belief.matrix"
            key = "belief.initial" if str(error).startswith("initial") else key
        elif str(error).startswith(("pi ", "g ")):
            key = f"belief.{str(error).split()[0]}"
        found.append(f"{key}: {as_problem(error)}")
        return None


def _fit_columns(fit: FitSpec, source: SourceSpec, folder: Path) -> Iterator[str]:
    try:
        table = open_frame(fit.file if "://" in fit.file else folder / fit.file, source.missing)
    except TakifuguError as error:
        yield f"belief.fit.file: {as_problem(error)}"
        return
    keys = ("unit", "piece", "order", "value")
    named = {key: column for key in keys if (column := getattr(fit, key) or getattr(source, key)) is not None}
    for key, column in named.items():
        try:
            table.require([column], list(named.values()))
        except TakifuguError as error:
            yield f"belief.fit.{key}: {as_problem(error)}"


def _hide(hide: Hide, source: SourceSpec | None, belief: Belief | None) -> Iterator[str]:
    if not isinstance(hide, EntrySpec):
        return
    for key in ("unit", "piece"):
        if source is not None and getattr(source, key) is not None:
            yield (
                f"hide.kind: 'one-entry' hides one entry of one sequence, and source.{key} says that there are "
                f'several; write kind = "every-entry", or leave source.{key} out'
            )
    for key, state in (("a", hide.a), ("b", hide.b)):
        known: Sequence[Any] = () if belief is None else belief.states
        if belief is not None and state not in known:
            yield f"hide.{key}: {state!r} is no state{did_you_mean(state, known)}; write one of {list(map(str, known))}"
    if hide.a == hide.b:
        yield f"hide.b: is {hide.b!r}, as a is; write the other state that the entry may have"


def _item(
    item: ItemSpec, path: str, source: SourceSpec | None, folder: Path, chain: Chain | None
) -> Iterator[str]:
    if item.query == "count" and not item.states:
        yield f'{path}.states: is missing; write the states to count, for example states = ["walking"]'
        return
    for key, queries in _BELONGS.items():
        if getattr(item, key) is not None and item.query not in queries:
            yield f"{path}.{key}: does not belong to a {item.query}; leave it out, or publish a {' or '.join(queries)}"
    if item.per != "pooled" and source is not None and source.unit is None:
        yield f'{path}.per: is {item.per!r}, and no unit column is declared; write source.unit, or per = "pooled"'
    yield from promise_problems(item, path)
    if item.query == "linear":
        yield from _linear(item, path, source, folder)
    if chain is None:
        return
    key = f"{path}.states" if item.query in ("histogram", "count") else f"{path}.codes"
    try:
        if item.query == "linear":
            Sum(codes=codes_of(item, chain.states), grid=item.grid).resolve(chain)
        else:
            query_of(item, chain.states, folder).resolve(chain)
    except TakifuguError as error:
        at = f"{path}.grid" if "grid" in str(error) else key
        yield f"{at}: {as_problem(error)}"


def _linear(item: ItemSpec, path: str, source: SourceSpec | None, folder: Path) -> Iterator[str]:
    if item.weights is None:
        yield f"{path}.weights: is missing; write one number for each entry of the sequence, such as [1, 0, 0.5]"
        return
    if source is not None and source.unit is not None and item.per != "unit":
        yield f'{path}.per: a linear query weighs the entries of one sequence; write per = "unit"'
    try:
        weights_of(item, folder)
    except TakifuguError as error:
        yield f"{path}.weights: {as_problem(error)}"
