"""Every public name has a docstring with sections: its parameters, what it returns and raises, an example that runs.

The examples run as doctests (`pytest src`). Methods of public classes that the reference page lists have them, too, but
for examples.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import pytest
from tools import reference

import takifugu as tf

SECTIONS = ("Args", "Returns", "Attributes", "Raises", "Examples")
#: Modules that are public by a name of their own, and how a user calls them.
MODULES: dict[str, ModuleType] = {
    "numbers": tf.numbers, "local": tf.local, "asymmetric": tf.asymmetric, "audit": tf.audit,
}  # fmt: skip


def public() -> Iterator[tuple[str, Any]]:
    yield from ((name, getattr(tf, name)) for name in tf.__all__ if name not in ("__version__", "errors"))
    for called, module in MODULES.items():
        yield from ((f"{called}.{name}", getattr(module, name)) for name in module.__all__ if name not in tf.__all__)


def methods() -> Iterator[tuple[str, FunctionType]]:
    for name, thing in public():
        yield from ((f"{name}.{method}", function) for method, function in reference.methods_of(thing))


PUBLIC, METHODS = dict(public()), dict(methods())


def described(section: str) -> set[str]:
    """Return the names that a section describes."""
    return set(re.findall(r"^    \*{0,2}(\w+): \S", section, re.MULTILINE))


def own_raises(thing: Any) -> bool:
    """Return whether the code of a function, or of a class when it is made, raises something itself."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(thing)))).body[0]
    bodies = [tree]
    if isinstance(tree, ast.ClassDef):
        makers = ("__init__", "__post_init__")
        bodies = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in makers]
    return any(isinstance(node, ast.Raise) and node.exc is not None for body in bodies for node in ast.walk(body))


def parameters(thing: Any) -> list[str]:
    if getattr(thing, "_is_protocol", False) or (inspect.isclass(thing) and hasattr(thing, "__members__")):
        return []
    names = inspect.signature(thing).parameters
    return [name for name in names if name not in ("self", "cls") and not name.startswith("_")]


def check_sections(thing: Any) -> None:
    text = inspect.getdoc(thing) or ""
    sections = reference.sections(text)
    summary = text.partition("\n")[0]
    assert summary.endswith("."), summary
    assert list(sections) == sorted(sections, key=SECTIONS.index), "sections have one order"
    assert described(sections.get("Args", "")) == set(parameters(thing))
    if parameters(thing) and inspect.isfunction(thing) and inspect.signature(thing).return_annotation != "None":
        assert "Returns" in sections
    if own_raises(thing):
        assert "Raises" in sections
    rest = "\n".join(block for name, block in sections.items() if name not in ("Raises", "Examples"))
    assert not re.search(r"\b[Rr]aises \w*(Error|Refused|Exceeded|Unsupported)", rest + text.partition("\n\nArgs:")[0])


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_every_section(name: str) -> None:
    check_sections(PUBLIC[name])
    assert ">>> " in reference.sections(inspect.getdoc(PUBLIC[name]) or "").get("Examples", "")


@pytest.mark.parametrize("name", METHODS)
def test_a_method_of_a_public_class_has_the_sections_it_needs(name: str) -> None:
    check_sections(METHODS[name])
