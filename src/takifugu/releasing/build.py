"""A checked release file as beliefs, secrets and queries."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from takifugu.beliefs.chain import MarkovChain, MarkovChainClass
from takifugu.errors import InputError
from takifugu.laws.rationals import as_fraction
from takifugu.queries import Count, Histogram, Mean, Query, State, Sum
from takifugu.releasing.reading import read_columns
from takifugu.releasing.sequences import UNOBSERVED, Layout, Recode, sequences
from takifugu.releasing.spec import ChainClassSpec, ChainSpec, FitSpec, ItemSpec, SourceSpec
from takifugu.secrets import Secret, every_entry

Chain = MarkovChain | MarkovChainClass


def layout_of(source: SourceSpec) -> Layout:
    return Layout(source.value, source.unit, source.piece, source.order, source.step, source.nulls)


def recode_of(belief: ChainSpec | ChainClassSpec) -> Recode:
    return Recode(belief.states, belief.map)


def secret_of() -> Secret:
    """Return the secret of a release file of sequences: the value of every entry."""
    return every_entry()


def chain_of(belief: ChainSpec | ChainClassSpec, source: SourceSpec | None, folder: Path, length: int = 1) -> Chain:
    """Return the belief about one piece of `length` steps; reads the matrix or the public sequences it names.

    Raises InputError for a matrix that is no transition matrix, and DataError for a file that cannot be read.
    """
    if isinstance(belief, ChainClassSpec):
        return MarkovChainClass(belief.pi, belief.g, length, belief.states, belief.source)
    if belief.fit is not None:
        if source is None:
            raise InputError("the belief is fitted with the source's columns: repair [source] first")
        return fitted(belief, belief.fit, source, folder, length)
    matrix: Sequence[Sequence[float]]
    if isinstance(belief.matrix, str):
        matrix = _matrix_file(folder / belief.matrix)
    else:
        matrix = belief.matrix or ()
    return MarkovChain(matrix, length, belief.initial, belief.states, belief.source)


def fitted(belief: ChainSpec, fit: FitSpec, source: SourceSpec, folder: Path, length: int) -> MarkovChain:
    """Return the chain with the transition frequencies of a file of sequences; unobserved entries end a sequence."""
    columns = (fit.value or source.value, fit.unit or source.unit, fit.piece or source.piece, fit.order or source.order)
    layout = Layout(*columns, source.step, source.nulls)
    units = sequences(read_columns(folder / fit.file, layout.columns), layout, recode_of(belief))
    walks = [list(walk) for u in units for piece in u.pieces for seen, walk in groupby(piece, _is_seen) if seen]
    said = "" if belief.source == "assumed" else f"{belief.source}; "
    origin = f"{said}estimated from {fit.file} with smoothing {fit.smoothing}"
    return MarkovChain.fit(
        walks, length, belief.states, float(fit.smoothing), belief.initial, source=origin, private=fit.private
    )


def _is_seen(state: State) -> bool:
    return state is not UNOBSERVED


def query_of(item: ItemSpec, states: Sequence[State]) -> Query:
    """Return the query of one release; names of states become the belief's own.

    Raises InputError for codes of states that the belief does not know.
    """
    if item.query == "histogram":
        return Histogram(item.states, item.total)
    if item.query == "count":
        return Count(item.states or ())
    codes = None
    if item.codes is not None:
        named = {str(s): s for s in states}
        for name in item.codes:
            if name not in named:
                raise InputError(f"there is a code for {name!r}, which is no state; write one of {list(named)}")
        codes = {named[name]: as_fraction(code, f"the code of {name!r}") for name, code in item.codes.items()}
    return Sum(codes=codes) if item.query == "sum" else Mean(codes=codes)


def _matrix_file(path: Path) -> list[list[float]]:
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return [[float(p) for p in row] for row in csv.reader(file) if row]
    except OSError as error:
        raise InputError(f"{path.name} cannot be read ({(error.strerror or '').lower()}): check the path") from None
    except ValueError:
        raise InputError(f"{path.name} holds something that is no number: write k lines of k probabilities") from None
