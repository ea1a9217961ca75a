"""What a release file means: the faults that no single key shows, each as `path.in.file: what; what to write`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from takifugu.calibration import LARGEST_EPSILON, LEAST_EPSILON
from takifugu.calibration.registry import find
from takifugu.errors import TakifuguError, did_you_mean
from takifugu.laws.rationals import as_delta, as_epsilon
from takifugu.releasing.build import Chain, chain_of, query_of
from takifugu.releasing.problems import as_problem
from takifugu.releasing.sequences import parse_step
from takifugu.releasing.spec import ChainClassSpec, ChainSpec, ItemSpec, ReleaseSpec, SourceSpec

#: Parts of the file that failed their own validation are None here and are checked no further.
Belief = ChainSpec | ChainClassSpec


def meaning_problems(spec: ReleaseSpec, folder: Path) -> list[str]:
    """Return every fault in the meaning of a release file whose keys are well formed."""
    source: SourceSpec | None = spec.source
    belief: Belief | None = spec.belief
    found: list[str] = []
    chain: Chain | None = None
    if source is not None:
        found += _source(source, folder)
    if belief is not None:
        found += _belief(belief, source)
        chain = _try_chain(belief, source, folder, found)
    names: set[str] = set()
    for number, item in enumerate(spec.release):
        if item is None:
            continue
        path = f"release[{number}]"
        for name in (item.name, f"{item.name}-units", f"{item.name}-pooled") if item.per == "both" else (item.name,):
            if name in names:
                found.append(f"{path}.name: {name!r} would name two tables; give each its own name")
            names.add(name)
        found += _item(item, path, source, chain)
    return found


def _source(source: SourceSpec, folder: Path) -> Iterator[str]:
    if "://" in source.file:
        yield "source.file: is a URL; download it first and write the path of the copy"
    elif (folder / source.file).is_dir():
        yield f"source.file: {source.file!r} is a folder; write the path of a CSV or Parquet file"
    elif not (folder / source.file).exists():
        yield f"source.file: there is no file {source.file!r}; write its path as seen from the release file"
    if source.step is not None:
        try:
            parse_step(source.step)
        except TakifuguError as error:
            yield f"source.step: {as_problem(error)}"
        if source.order is None:
            yield 'source.order: is missing; steps are counted along an order column, write order = "<column>"'
    columns = [c for c in (source.unit, source.piece, source.order, source.value) if c is not None]
    if len(set(columns)) != len(columns):
        yield "source: one column is named twice; unit, piece, order and value are different columns"


def _belief(belief: Belief, source: SourceSpec | None) -> Iterator[str]:
    texts = [str(s) for s in belief.states]
    if len(set(texts)) != len(texts):
        yield f"belief.states: {texts} repeats a name; name each state once"
    for raw, state in belief.map.items():
        if state not in belief.states:
            yield f"belief.map.{raw}: {state!r} is no state{did_you_mean(state, texts)}; write one of {texts}"
    if belief.longer == "cut" and belief.max_length is None:
        yield "belief.max_length: is missing; write the number of steps that a longer piece is cut to"
    if belief.max_length is not None and belief.max_length < belief.min_length:
        yield "belief.max_length: is below min_length, so no piece would be left; raise it"
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
    if isinstance(belief, ChainSpec):
        if (belief.matrix is None) == (belief.fit is None):
            what = "is missing" if belief.matrix is None else "is given beside fit"
            yield f"belief.matrix: {what}; write either matrix = [[...], ...] or a section [belief.fit]"
        if belief.fit is not None and source is not None and belief.fit.file == source.file and not belief.fit.private:
            yield (
                "belief.fit.file: is the private data itself, so the belief would tell about it; fit on a public file, "
                "or write private = true and accept that the promise does not cover this"
            )


def _try_chain(belief: Belief, source: SourceSpec | None, folder: Path, found: list[str]) -> Chain | None:
    """Return the chain at one step, or add what is wrong with it."""
    if isinstance(belief, ChainSpec) and (belief.matrix is None) == (belief.fit is None):
        return None
    try:
        return chain_of(belief, source, folder)
    except TakifuguError as error:
        key = "belief"
        if isinstance(belief, ChainSpec):
            key = "belief.fit" if belief.fit is not None else "belief.matrix"
            key = "belief.initial" if str(error).startswith("initial") else key
        found.append(f"{key}: {as_problem(error)}")
        return None


def _item(item: ItemSpec, path: str, source: SourceSpec | None, chain: Chain | None) -> Iterator[str]:
    if item.query == "count" and not item.states:
        yield f'{path}.states: is missing; write the states that are counted, for example states = ["walking"]'
        return
    if item.query in ("sum", "mean") and item.states is not None:
        yield f"{path}.states: does not belong to a {item.query}; leave it out, or write codes"
    if item.query in ("histogram", "count") and item.codes is not None:
        yield f"{path}.codes: does not belong to a {item.query}; leave it out, or publish a sum or mean"
    if item.query != "histogram" and item.total is not None:
        yield f"{path}.total: does not belong to a {item.query}; only a histogram is divided by a public constant"
    if item.per != "pooled" and source is not None and source.unit is None:
        yield f'{path}.per: is {item.per!r}, and no unit column is declared; write source.unit, or per = "pooled"'
    if not LEAST_EPSILON <= as_epsilon(item.epsilon) <= LARGEST_EPSILON:
        yield f"{path}.epsilon: is {item.epsilon!r}; it must lie between 1e-9 and 10000, write for example 1.0"
    try:
        line = None if item.mechanism == "auto" else find(item.mechanism)
        if line is not None and as_delta(item.delta) > 0 and not line.takes_delta:
            yield f"{path}.delta: {item.mechanism} makes a pure promise that has no use for it; leave delta out"
    except TakifuguError as error:
        yield f"{path}.mechanism: {as_problem(error)}"
    if chain is None:
        return
    try:
        query_of(item, chain.states).resolve(chain)
    except TakifuguError as error:
        yield f"{path}: {as_problem(error)}"
