"""Errors as data: what is wrong, the rule, the fix and the place; words are made from these, and read by nobody.

A scan of the syntax tree finds every function that compares, searches, cuts or hands on the text of an error. Printing
it, or putting it into another error or a refusal, is no reading.
"""

import ast
import copy
import pickle
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.sources import parsed

import takifugu as tf
from takifugu.core.errors import BudgetExceeded, InputError, ReleaseState, SpecError, TakifuguError, within
from takifugu.core.nearest import did_you_mean, nearest
from takifugu.numbers.rationals import as_delta, as_epsilon

CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 10, states=["still", "walking"])
FRAMEWORK = tf.Pufferfish(tf.every_entry(), CHAIN)


def test_words_are_made_from_the_parts() -> None:
    error = InputError("the grid is -1", rule="it must be above 0", fix="write for example 0.001", where=("grid",))
    assert str(error) == error.message == "the grid is -1: it must be above 0; write for example 0.001"
    assert error.at("table", 0).line == (
        "table[0].grid: the grid is -1; it must be above 0; write for example 0.001"
    )
    assert str(InputError("a", rule="b")) == "a: b"
    assert str(InputError("a", fix="c")) == "a: c"
    assert str(InputError("a")) == InputError("a").line == "a"
    assert TakifuguError("a").at("codes", "x", 3).place == "codes.x[3]"


def test_outer_layers_put_their_steps_before() -> None:
    with pytest.raises(InputError) as caught, within("table", 1), within("query"):
        raise InputError("the grid is -1").at("grid")
    assert caught.value.where == ("table", 1, "query", "grid")
    with pytest.raises(KeyError), within("release"):
        raise KeyError("not ours")


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_copies_keep_every_part(again: Callable[[Any], Any]) -> None:
    error = InputError("a", rule="b", fix="c").at("d", 1)
    error.state = ReleaseState.PAID
    other = again(error)
    assert type(other) is InputError
    assert (other.what, other.rule, other.fix, other.where, other.state) == ("a", "b", "c", ("d", 1), ReleaseState.PAID)
    assert str(other) == str(error)
    faults = [InputError("b", fix="c").at("a"), InputError("e", fix="f").at("d")]
    assert again(SpecError(faults)).problems == ("a: b; c", "d: e; f")


@pytest.mark.parametrize(("call", "where"), [
    (lambda: as_epsilon(0), ("epsilon",)),
    (lambda: as_epsilon("x", "the budget"), ("epsilon",)),
    (lambda: as_delta(1), ("delta",)),
    (lambda: tf.MarkovChain([[0.9, 0.2], [0.4, 0.6]], 10), ("matrix", 0)),
    (lambda: tf.MarkovChain([[0.9, 0.1]], 10), ("matrix",)),
    (lambda: tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 0), ("length",)),
    (lambda: tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 9, initial="anyone"), ("initial",)),
    (lambda: tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 9, states=["a"]), ("states",)),
    (lambda: tf.ReversibleChains(0.9, 0.2, 10), ("pi",)),
    (lambda: tf.ReversibleChains(0.2, 2, 10), ("g",)),
    (lambda: tf.JointTable([(0, 1), (0, 1)], [0.5, 0.5]), ("rows",)),
    (lambda: tf.JointTable([(0, 1), (1, 1)], [0.5, 0.6]), ("probabilities",)),
    (lambda: tf.IndependentUsers([{0: 0.5, 1: 0.6}]), ("laws",)),
    (lambda: tf.IndependentUsers([{0: 0.5, 1: 0.5}], presence=2), ("presence",)),
    (lambda: tf.BayesianNetwork([("a", [0, 1], ["b"], [[0.5, 0.5]])]), ("nodes", "a")),
    (lambda: tf.Count([]), ("states",)),
    (lambda: tf.Count("running").resolve(CHAIN), ("states",)),
    (lambda: tf.Count("walking", entries=[10]).resolve(CHAIN), ("entries",)),
    (lambda: tf.Count("walking", entries=["ann"]).resolve(CHAIN), ("entries",)),
    (lambda: tf.Sum("age").resolve(CHAIN), ("attribute",)),
    (lambda: tf.Sum().resolve(CHAIN), ("codes",)),
    (lambda: tf.Sum(codes={"still": 0, "walking": "1/3000001"}).resolve(CHAIN), ("grid",)),
    (lambda: tf.Sum(grid=0), ("grid",)),
    (lambda: tf.Linear([1, "x"]), ("weights",)),
    (lambda: tf.Linear([1]).resolve(CHAIN), ("weights",)),
    (lambda: tf.Histogram(total=0), ("total",)),
    (lambda: tf.Pufferfish([], CHAIN), ("secrets",)),
    (lambda: tf.Pufferfish(tf.every_entry(), []), ("beliefs",)),
    (lambda: tf.entry(0, "still", "running").family(CHAIN), ("b",)),
    (lambda: tf.entry(10, "still", "walking").family(CHAIN), ("entry",)),
    (lambda: tf.calibrate(FRAMEWORK, tf.Count("walking"), 0), ("epsilon",)),
    (lambda: tf.calibrate(FRAMEWORK, tf.Count("walking"), 1, mechanism="groups"), ("mechanism",)),
    (lambda: tf.calibrate(FRAMEWORK, tf.Count("walking"), 1, delta=0.1, mechanism="group"), ("delta",)),
    (lambda: tf.with_scale(FRAMEWORK, tf.Count("walking"), 0), ("scale",)),
])  # fmt: skip
def test_faults_name_the_parameter(call: Callable[[], object], where: tuple[str | int, ...]) -> None:
    with pytest.raises(TakifuguError) as caught:
        call()
    assert caught.value.where == where
    assert caught.value.rule or caught.value.fix or caught.value.what


def test_a_budget_says_its_numbers(tmp_path: Path) -> None:
    twins = tf.JointTable([("still",) * 10, ("walking",) * 10], [0.5, 0.5])
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), twins), tf.Count("walking"), 0.3)
    walk = ("still",) * 10
    tf.release(calibration, walk, entries="values", ledger=tmp_path / "ledger.db", source="walk", budget=0.5)
    with pytest.raises(BudgetExceeded) as caught:
        tf.release(calibration, walk, entries="values", ledger=tmp_path / "ledger.db", source="walk")
    error = caught.value
    for known in (error, pickle.loads(pickle.dumps(error))):
        assert known.spent == known.requested == (Fraction(3, 10), 0)
        assert (known.left, known.total) == ((Fraction(1, 5), 0), (Fraction(3, 5), 0))
        assert known.budget == (Fraction(1, 2), 0)
        assert known.fits == "epsilon at most 0.2"
        assert known.where == ("budget",)
        assert "epsilon 0.2 left of a budget of epsilon 0.5" in str(known)


def test_of_many_names_the_three_nearest_are_listed() -> None:
    """States, mechanisms, kinds: three of thirty-three; of a few, all."""
    states = [f"ward {number}" for number in range(31)] + ["theatre", "home"]
    matrix = [[1 / 33] * 33] * 33
    chain = tf.MarkovChain(matrix, 4, states=states)
    with pytest.raises(InputError) as refused:
        tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Count("theater"), 1)
    assert "write one of ['theatre', " in refused.value.fix
    assert refused.value.fix.count("'") <= 2 * 3 + 2
    assert "or 30 more" in refused.value.fix
    with pytest.raises(InputError) as refused:
        tf.calibrate(FRAMEWORK, tf.Count("walkin"), 1)
    assert "['still', 'walking']" in refused.value.fix
    with pytest.raises(InputError, match="'quilt-exact'") as refused:
        tf.calibrate(FRAMEWORK, tf.Count("walking"), 1, mechanism="quilt-exct")
    assert refused.value.fix.count("quilt") <= 4


def test_the_nearest_name_is_suggested() -> None:
    states = [f"s{number:02}" for number in range(33)]
    assert did_you_mean("s1O", states) == "; did you mean 's10'?"
    assert nearest("s1O", states).startswith("one of ['s10', ")
    assert did_you_mean("asymetric", ["parametric", "asymmetric"]) == "; did you mean 'asymmetric'?"


SRC = Path(__file__).parents[2] / "src"

#: Readers of errors that other libraries raise, which have words only, as "module function".
FOREIGN = frozenset({
    "takifugu.accounting.ledger.events.postgres asking", "takifugu.data.cluster.spark plain_errors",
})  # fmt: skip

CUTS = frozenset({
    "startswith", "endswith", "find", "rfind", "index", "count", "split", "rsplit", "splitlines", "partition",
    "rpartition", "replace", "removeprefix", "removesuffix", "translate",
})  # fmt: skip
#: Functions that may be handed the words: they only make them fit to be seen.
SHOWS = frozenset({"visible", "print", "len", "complain", "str", "repr", "format"})


def readers(tree: ast.AST, name: str) -> Iterator[str]:
    """Yield "module function" for every function that reads the words of an error."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _reads(node):
            yield f"{name} {node.name}"


def _reads(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    nodes = _nodes_of(function)
    errors = {n.name for n in nodes if isinstance(n, ast.ExceptHandler) and n.name}
    arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    errors |= {a.arg for a in arguments if a.annotation is not None and _is_error(ast.unparse(a.annotation))}
    if not errors:
        return False
    words: set[str] = set()
    for _ in range(3):  # words of words of words
        for node in nodes:
            if isinstance(node, ast.Assign) and _holds(node.value, errors, words):
                words |= {t.id for t in node.targets if isinstance(t, ast.Name)}
            if isinstance(node, ast.NamedExpr) and _holds(node.value, errors, words):
                words.add(node.target.id)
    return any(_is_reading(node, errors, words) for node in nodes)


def _nodes_of(function: ast.AST) -> list[ast.AST]:
    """List the nodes of a function without those of functions inside it."""
    nodes = [function]
    for node in nodes:
        nodes += [n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return nodes[1:]


def _is_error(annotation: str) -> bool:
    return any(part.strip().rsplit(".", 1)[-1].endswith(("Error", "Exception")) for part in annotation.split("|"))


def _holds(node: ast.AST, errors: set[str], words: set[str]) -> bool:
    """Return whether an expression is the words of an error, or made of them."""
    if isinstance(node, ast.Name):
        return node.id in words
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
        first = node.args[0]
        is_error = isinstance(first, ast.Name) and first.id in errors
        return node.func.id in ("str", "repr", "visible") and (is_error or _holds(first, errors, words))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _holds(node.func.value, errors, words)
    if isinstance(node, ast.Attribute):
        is_of_error = isinstance(node.value, ast.Name) and node.value.id in errors
        return is_of_error and node.attr in ("args", "message", "line", "what", "rule", "fix", "problems")
    if isinstance(node, ast.JoinedStr):
        filled_in = [v.value for v in node.values if isinstance(v, ast.FormattedValue)]
        return any(_holds(v, errors, words) or (isinstance(v, ast.Name) and v.id in errors) for v in filled_in)
    if isinstance(node, ast.IfExp):
        return _holds(node.body, errors, words) or _holds(node.orelse, errors, words)
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.Subscript):
        return any(_holds(child, errors, words) for child in ast.iter_child_nodes(node))
    return False


def _is_reading(node: ast.AST, errors: set[str], words: set[str]) -> bool:
    if isinstance(node, ast.Compare):
        return any(_holds(side, errors, words) for side in (node.left, *node.comparators))
    if isinstance(node, ast.Subscript):
        return _holds(node.value, errors, words)
    if not isinstance(node, ast.Call):
        return False
    arguments = [*node.args, *(k.value for k in node.keywords)]
    if isinstance(node.func, ast.Attribute):
        if node.func.attr in CUTS and _holds(node.func.value, errors, words):
            return True
        is_pattern = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
        return (is_pattern or node.func.attr in ("search", "match", "fullmatch")) and any(
            _holds(t, errors, words) for t in arguments
        )
    is_small = isinstance(node.func, ast.Name) and node.func.id.lstrip("_")[:1].islower()
    is_small = is_small and node.func.id not in SHOWS
    handed = (t.value if isinstance(t, ast.Starred) else t for t in arguments)
    return is_small and any(_holds(t, errors, words) for t in handed)


def test_nothing_reads_the_words_of_an_error() -> None:
    reading = set[str]()
    for path in sorted(SRC.rglob("*.py")):
        name = ".".join(path.relative_to(SRC).with_suffix("").parts)
        reading.update(readers(parsed(path), name))
    assert reading - FOREIGN == set(), "an error says by its attributes what is wrong and where: read those"
    assert reading >= FOREIGN, f"take {sorted(FOREIGN - reading)} off the list FOREIGN: nothing reads words there"


TRY = "def f():\n    try:\n        g()\n    except ValueError as error:\n        "


@pytest.mark.parametrize("line", [
    'return "grid" in str(error)', 'return str(error).startswith("pi")', "return error.args[0]",
    'return re.search("pi", error.message)', 'return pattern.match(f"{error}")',
    'text = str(error)\n        return text == "x"',
    "return place_of_words(str(error))", 'return any(words in str(error) for words in KNOWN)', "return str(error)[:3]",
    'text = "" if good else str(error)\n        other = visible(text)\n        return "x" in other',
    "return error.problems[0]", 'return error.rule == "it must be above 0"', 'return "pi" in error.what',
    'return (text := str(error)) and text.partition(":")',
])  # fmt: skip
def test_a_reader_is_found(line: str) -> None:
    assert list(readers(ast.parse(TRY + line), "m")) == ["m f"]
    of_argument = f"def f(error: TakifuguError):\n    try:\n        {line}\n    finally:\n        pass"
    assert list(readers(ast.parse(of_argument), "m")) == ["m f"]


@pytest.mark.parametrize("line", [
    "return Refusal(str(error))", 'raise DataError(f"{name}: {error}") from None', "return error.state is DONE",
    "found.append(str(error))", "print(error)", 'return [f"{line}" for line in error.problems]',
    "return type(error).__name__",
    "return other(error)", 'return "grid" in error.where', "return (error.strerror or type(error).__name__).lower()",
])  # fmt: skip
def test_telling_an_error_is_no_reading(line: str) -> None:
    assert not list(readers(ast.parse(TRY + line), "m"))
