"""Bayesian networks from files and other libraries: BIF and the formats of pyAgrum, pyAgrum and pgmpy models."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.core.errors import InputError, about
from takifugu.core.rules import wrong_type
from takifugu.core.sections import FilePath, Key, Text
from takifugu.model.beliefs.networks.bif import read_bif
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.beliefs.networks.network_child import Table, plain, tables_of
from takifugu.model.beliefs.networks.nodes import Node
from takifugu.model.beliefs.sections import Public


def read_network(path: str | Path | object, source: str | None = None) -> BayesianNetwork:
    r"""Read a network file, or a model of pyAgrum or pgmpy.

    BIF is read directly; BIFXML, DSL, NET, O3PRM, UAI and XDSL need pyAgrum (`pip install 'takifugu[networks]'`), which
    holds some probabilities in single precision: each is taken as the shortest decimal that it stands for. A row that
    misses the sum 1 by up to 1e-6 is renormalised.

    Args:
        path: The file, or the model.
        source: Where the network comes from, in words; None names the file.

    Returns:
        The belief.

    Raises:
        InputError: For a missing file, anything that is no network, and where pyAgrum is needed and not installed.

    Examples:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "rain.bif"
        >>> _ = file.write_text(
        ...     "network n { }\nvariable rain { type discrete [ 2 ] { no, yes }; }\n"
        ...     "probability ( rain ) { table 0.8, 0.2; }\n"
        ... )
        >>> read_network(file).names
        ('rain',)
    """
    if not isinstance(path, str | Path):
        if hasattr(path, "get_cpds"):
            return from_pgmpy(path, source or "a pgmpy model")
        if hasattr(path, "cpt"):
            return _network(plain(path), source or "a pyAgrum model")
        raise wrong_type(path, "a network", "give a file's path, or a pyAgrum or pgmpy model").at("path")
    file = Path(path)
    if file.suffix.lower() == ".bif":
        return read_bif(file, source)
    if not os.path.isfile(file):
        raise InputError(f"the network file {str(path)!r} does not exist or is not a file", fix="give the path of one")
    if find_spec("pyagrum") is None:
        raise InputError("reading network files needs pyAgrum", fix="pip install 'takifugu[networks]'")
    return _network(tables_of(file), source or f"the file {file.name}")


def _network(tables: list[Table], source: str) -> BayesianNetwork:
    nodes = [Node(name, tuple(states), tuple(parents), _shortest(array)) for name, states, parents, array in tables]
    return BayesianNetwork(nodes, source)


def from_pgmpy(model: Any, source: str = "a pgmpy model") -> BayesianNetwork:
    """Return a pgmpy network (anything with `nodes()` and `get_cpds(node)`) as a belief."""
    tables = {str(name): model.get_cpds(name) for name in model.nodes()}
    for name, table in tables.items():
        if table is None:
            raise InputError(f"the pgmpy model has no table for {name!r}", fix="add one with add_cpds")
    states = {name: tuple(table.state_names[table.variables[0]]) for name, table in tables.items()}
    nodes = []
    for name, table in tables.items():
        values, parents = np.asarray(table.values, dtype=np.float64), table.variables[1:]
        for axis, parent in enumerate(parents, 1):
            parent_states, theirs = list(table.state_names[parent]), states.get(str(parent), ())
            if set(parent_states) != set(theirs):
                raise InputError(
                    f"the table of {name!r} names the states of {str(parent)!r} {parent_states}, and that variable's "
                    f"own table {list(theirs)}",
                    fix="name them alike",
                )
            values = values.take(list(map(parent_states.index, theirs)), axis)  # each table has its own order
        values = np.moveaxis(values, 0, -1)  # pgmpy keeps the node's own axis first
        nodes.append(Node(name, states[name], tuple(map(str, parents)), values.copy()))
    return BayesianNetwork(nodes, source)


def _shortest(array: FloatArray) -> FloatArray:
    """Return single-precision numbers as their shortest decimals."""
    single = np.asarray(array, dtype=np.float32)
    values = np.array(array, dtype=np.float64)
    if not np.array_equal(single.astype(np.float64), values):
        return values
    return np.array([float(str(v)) for v in single.ravel()], dtype=np.float64).reshape(values.shape)


@dataclass(frozen=True, kw_only=True)
class NetworkSection:
    """A Bayesian network; a record has one column for each of its variables."""

    kind: Annotated[Literal["network"], Key("a Bayesian network")]
    file: Annotated[FilePath, Key("a BIF file, or another that pyAgrum reads", "asia.bif")]
    source: Annotated[Text | None, Key("where the network comes from")] = None

    def belief(self, public: Public) -> BayesianNetwork:
        with about("file"):
            return read_network(public.folder / self.file, self.source)
