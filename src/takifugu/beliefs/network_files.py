"""Bayesian networks from files and other libraries: BIF and the formats of pyAgrum, pyAgrum and pgmpy models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from takifugu.beliefs.bif import read_bif
from takifugu.beliefs.network import BayesianNetwork, Node
from takifugu.errors import InputError


def read_network(path: str | Path, source: str | None = None) -> BayesianNetwork:
    """Read a network file: BIF directly, BIFXML, DSL, NET, O3PRM, UAI and XDSL through pyAgrum, the extra `networks`.

    pyAgrum holds some probabilities in single precision; each is taken as the shortest decimal that it stands for.
    Rows that miss a sum of one by up to 1e-6 are renormalised. Raises InputError for a file that is missing or not a
    network, and where pyAgrum is needed and not installed.
    """
    file = Path(path)
    if file.suffix.lower() == ".bif":
        return read_bif(file, source)
    if not file.is_file():
        raise InputError(f"the network file {str(path)!r} does not exist or is not a file")
    try:
        import pyagrum
    except ImportError as error:
        raise InputError("reading network files needs pyAgrum: pip install 'takifugu[networks]'") from error
    try:
        model = pyagrum.loadBN(str(file))
    except Exception as error:  # pyAgrum raises its own kinds, which share no public root with ValueError
        raise InputError(
            f"{file.name} cannot be read as a Bayesian network: the file is damaged or cut short, or its ending does "
            "not name its format (.bif, .bifxml, .net, .dsl, .xdsl, .uai, .o3prm)"
        ) from error
    return from_pyagrum(model, source or f"the file {file.name}")


def from_pyagrum(model: Any, source: str = "a pyAgrum model") -> BayesianNetwork:
    """Return a pyAgrum `BayesNet` as a belief."""
    nodes = []
    for number in model.nodes():
        variable, table = model.variable(number), model.cpt(number)
        axes = list(reversed(table.names))  # pyAgrum's first variable is the array's last axis
        name = variable.name()
        parents = [a for a in axes if a != name]
        array = np.transpose(table.toarray(), [axes.index(v) for v in (*parents, name)])
        nodes.append(Node(name, tuple(variable.labels()), tuple(parents), _shortest(array)))
    return BayesianNetwork(nodes, source)


def from_pgmpy(model: Any, source: str = "a pgmpy model") -> BayesianNetwork:
    """Return a pgmpy network (anything with `nodes()` and `get_cpds(node)`) as a belief; pgmpy is not imported."""
    nodes = []
    for name in model.nodes():
        table = model.get_cpds(name)
        variables, states = [str(v) for v in table.variables], table.state_names
        values = np.asarray(table.values, dtype=np.float64)
        order = [*range(1, len(variables)), 0]  # pgmpy keeps the node's own axis first
        labels = tuple(states[table.variables[0]])
        nodes.append(Node(variables[0], labels, tuple(variables[1:]), np.transpose(values, order).copy()))
    return BayesianNetwork(nodes, source)


def _shortest(array: Any) -> Any:
    """Return what single-precision numbers stand for: their shortest decimals, where the array holds such numbers."""
    single = np.asarray(array, dtype=np.float32)
    values = np.array(array, dtype=np.float64)
    if not np.array_equal(single.astype(np.float64), values):
        return values
    return np.array([float(str(v)) for v in single.ravel()], dtype=np.float64).reshape(values.shape)
