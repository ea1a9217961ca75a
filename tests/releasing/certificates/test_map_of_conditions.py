"""Each sentence about what a guarantee assumes has one kind, and is in a list: none is lost, none comes unread."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.sources import parsed

import takifugu
from takifugu.core.assumptions import Assumption, Kind, world
from takifugu.core.errors import InputError
from takifugu.model.frameworks import DEFINITIONS, Pufferfish
from takifugu.releasing.certificates.wording import NUMBERED, TITLES

LISTED: dict[str, Any] = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text(encoding="utf-8"))
#: Sentences that a certificate makes of its other fields.
OF_FIELDS = ("The *: *.", "**.")


def pattern(node: ast.expr) -> str | None:
    """Return a text with a star for each of its values, None for no text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in node.values)
    return None


def nodes() -> Iterator[Any]:
    for path in sorted(Path(takifugu.__file__).parent.rglob("*.py")):
        yield from ast.walk(parsed(path))


@pytest.mark.mutants
def test_every_sentence_is_listed_under_its_kind_and_none_is_lost() -> None:
    """A text that `format` fills in has a star for each name, too."""
    said, texts, kinds = {(kind, text) for kind in {*Kind} & {*LISTED} for text in LISTED[kind]}, set[str](), {*Kind}
    found = set[tuple[str, str]]()
    for node in nodes():
        if isinstance(node, ast.Constant | ast.JoinedStr):
            texts.add(re.sub(r"\{\w+\}", "*", pattern(node) or ""))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args and node.func.id in kinds:
            sentence = pattern(node.args[0])
            if sentence is not None and sentence[:1] in "*ABCDEFGHIJKLMNOPQRSTUVWXYZ" and sentence not in OF_FIELDS:
                found.add((node.func.id, sentence))
    assert found == said
    assert {*LISTED["parts"]} <= texts


def test_no_limit_of_a_definition_was_lost() -> None:
    ours = [one for one in DEFINITIONS if type(one).__module__.startswith("takifugu.")]  # other tests register theirs
    assert {one.name: [*one.not_promised()] for one in ours} == LISTED["not_promised"]


def test_each_kind_has_a_title_and_limits_have_no_number() -> None:
    assert set(TITLES) == set(Kind)
    assert set(NUMBERED) == set(Kind) - {Kind.LIMIT}


class Worded:
    """A domain that says its assumption as a text, as before there were kinds."""

    def assumptions(self) -> tuple[str, ...]:
        return ("its length is public",)


def test_a_text_has_no_kind_and_the_error_says_what_to_write() -> None:
    chain = takifugu.MarkovChain([[0.5, 0.5], [0.5, 0.5]], length=2)
    framework = Pufferfish(takifugu.every_entry(), chain)
    object.__setattr__(framework, "given_domain", Worded())
    with pytest.raises(InputError, match=r"of a Worded gives a text.*write world\('Its length is public.'\)"):
        framework.assumptions()


def test_an_assumption_comes_back_and_another_kind_does_not() -> None:
    assumption = world("The recordings are independent of each other.")
    assert Assumption.from_dict(assumption.to_dict()) == assumption
    with pytest.raises(ValueError, match="hope"):
        Assumption.from_dict({"kind": "hope", "text": "It holds."})
