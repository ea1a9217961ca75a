"""Outside `model/beliefs/` nothing asks which type a belief has: questions are answered by what is registered."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.sources import parsed

SRC = Path(__file__).parents[2] / "src" / "takifugu"

#: Where a belief's type is still asked for, how often, and why: a list that only ever shrinks. Two given distributions
#: of an answer (LawPair) are no distribution of data: they have no entries, and no joint states.
LEFT = {
    "model/frameworks.py": (2, "secrets of entries do not fit two given distributions, nor the other way round"),
    "audit/exact.py": (1, "the audit lists the laws of a class by itself, and asks nothing of what it examines"),
    "releasing/auditing.py": (3, "data are made up in the shape that each belief is about"),
}


def belief_types() -> set[str]:
    """Return the names of the classes of beliefs, of what derives from them, and of unions of them."""
    files = (SRC / "model" / "beliefs").rglob("*.py")
    nodes = [node for path in files for node in parsed(path).body]
    types = {"OneSequence", "Undivided"}
    for _ in range(5):  # what derives from what derives
        for node in nodes:
            if isinstance(node, ast.ClassDef) and node.name != "Belief":  # the protocol may be asked for
                defined = {inside.name for inside in node.body if isinstance(inside, ast.FunctionDef)}
                if {"components", "possible"} <= defined or set().union(*map(_names, node.bases)) & types:
                    types.add(node.name)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and _names(node.value) & types:
                types |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return types


def _names(node: ast.AST) -> set[str]:
    return {inside.id for inside in ast.walk(node) if isinstance(inside, ast.Name)}


def checks(tree: ast.AST, types: set[str]) -> Iterator[str]:
    """Yield every isinstance() or issubclass() check, and every `type(x) is`, that names a type of belief."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2:
            asks_type = node.func.id in ("isinstance", "issubclass") and _names(node.args[1]) & types
        elif isinstance(node, ast.Compare):
            asks_type = "type(" in ast.unparse(node.left) and set().union(*map(_names, node.comparators)) & types
        elif isinstance(node, ast.MatchClass):
            asks_type = _names(node.cls) & types
        else:
            continue
        if asks_type:
            yield ast.unparse(node)


def test_nothing_asks_for_the_type_of_a_belief() -> None:
    types = belief_types()
    assert {"MarkovChain", "ChainRegion", "JointTable", "BayesianNetwork", "IndependentUsers", "ChainClass"} <= types
    assert "Belief" not in types
    counts = Counter[str]()
    for path in sorted(SRC.rglob("*.py")):
        name = path.relative_to(SRC).as_posix()
        if not name.startswith("model/beliefs/"):
            counts[name] += len([*checks(parsed(path), types)])
    new = counts - Counter({name: count for name, (count, _) in LEFT.items()})
    assert not new, f"types of beliefs are asked for in {+new}; ask a question of takifugu.analysis.questions"


@pytest.mark.parametrize(("line", "count"), [
    ("isinstance(belief, MarkovChain)", 1), ("isinstance(x, JointTable | MarkovChain)", 1),
    ("isinstance(x, (MarkovChain, int))", 1), ("type(x) is MarkovChain", 1), ("issubclass(kind, MarkovChain)", 1),
    ("isinstance(x, int)", 0), ("type(x) is int", 0), ("MarkovChain(x)", 0),
])  # fmt: skip
def test_a_check_is_found(line: str, count: int) -> None:
    assert len([*checks(ast.parse(line), {"MarkovChain", "JointTable"})]) == count
