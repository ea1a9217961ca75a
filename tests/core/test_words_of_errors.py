"""Nothing in `src` reads the words of an error: what is wrong, and where, are attributes; words are for people.

A scan of the syntax tree finds every function that compares, searches, cuts or hands on the text of an error. Printing
it, or putting it into another error or a refusal, is no reading.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.sources import parsed

SRC = Path(__file__).parents[2] / "src"

#: Readers of errors that other libraries raise, which have words only, as "module function".
FOREIGN = frozenset({"takifugu.data.engines.faults fault_of", "takifugu.data.files.duckdb_file _base"})

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
