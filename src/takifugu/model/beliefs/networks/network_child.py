"""Network files through pyAgrum, read in a separate process: a hostile file may hang or kill that one only.

pyAgrum 3.3 crashes on deeply nested XML, and hangs or exhausts memory on some truncated files.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.core.errors import InputError

#: What the process may take: seconds, bytes of address space, and bytes of output.
SECONDS, MEMORY, LARGEST_OUTPUT = 60, 1 << 30, 1 << 28
#: A file for which the process takes longer per byte is damaged: it has two seconds to start, and one per megabyte.
_TO_START, _PER_MEGABYTE = 6.0, 2.0

#: name, states, parents, and the table's shape and numbers, the node's own states last.
Table = tuple[str, list[str], list[str], FloatArray]


def tables_of(path: Path) -> list[Table]:
    """Return the nodes of a network file that pyAgrum reads within the limits."""
    seconds = min(SECONDS, _TO_START + _PER_MEGABYTE * path.stat().st_size / 1e6)
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-P", __file__, str(path.resolve())]  # this file alone: the package would load more
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, env=surroundings, timeout=seconds, check=False
        )
        nodes = None
        if done.returncode == 0 and len(done.stdout) < LARGEST_OUTPUT:
            nodes = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        nodes = None
    if nodes is None:
        raise InputError(
            f"{path.name} cannot be read as a Bayesian network",
            rule=(
                "the file is damaged, cut short or too large, or its ending does not name its format (.bif, .bifxml, "
                ".net, .dsl, .xdsl, .uai, .o3prm)"
            ),
        )
    return [(name, states, parents, np.array(cells).reshape(shape)) for name, states, parents, shape, cells in nodes]


def read(path: str) -> list[list[object]]:
    """Return the nodes of a network file as plain values."""
    import pyagrum

    return [[name, states, parents, table.shape, table.ravel().tolist()] for name, states, parents, table in plain(
        pyagrum.loadBN(path)
    )]  # fmt: skip


def plain(model: Any) -> list[Table]:
    """Return the nodes of a pyAgrum `BayesNet`."""
    nodes = []
    for number in model.nodes():
        variable, table = model.variable(number), model.cpt(number)
        axes = list(reversed(table.names))  # pyAgrum's first variable is the array's last axis
        name = variable.name()
        parents = [a for a in axes if a != name]
        array = np.transpose(table.toarray(), list(map(axes.index, (*parents, name))))
        nodes.append((name, list(variable.labels()), parents, array))
    return nodes


def main() -> None:
    """Print the nodes of the file in sys.argv, under process limits."""
    try:
        import resource
    except ImportError:  # Windows has no such limits; the time is limited from outside
        pass
    else:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    json.dump(read(sys.argv[1]), sys.stdout)


if __name__ == "__main__":
    main()
