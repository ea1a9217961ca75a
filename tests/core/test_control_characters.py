"""No name holds a character that a terminal, a table or a page obeys: it is refused at loading and shown escaped."""

import copy
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import takifugu as tf
from takifugu.core.errors import InputError, SpecError
from takifugu.core.text.marks import words
from takifugu.releasing.certificates.cells import rows_text, table_text
from takifugu.releasing.file.loading import checked

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))
#: One of C0, of C1, of the writing direction, and a separator of lines, each with how it is shown.
CHARACTERS = {"\x1b": "\\x1b", "\x9b": "\\x9b", "\u202e": "\\u202e", "\u2067": "\\u2067", "\u2028": "\\u2028"}


def edits(raw: Any, bad: str, here: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], bool]]:
    """Yield the place of each text of a release file, and of each key."""
    if isinstance(raw, str):
        yield here, False
    elif isinstance(raw, dict):
        for key, part in raw.items():
            yield (*here, key), True
            yield from edits(part, bad, (*here, key))
    elif isinstance(raw, list):
        for number, part in enumerate(raw):
            yield from edits(part, bad, (*here, number))


def edited(raw: Any, place: tuple[Any, ...], is_key: bool, bad: str) -> Any:
    content = copy.deepcopy(raw)
    inside = content
    for step in place[:-1]:
        inside = inside[step]
    if is_key:
        inside[f"{place[-1]}{bad}m"] = inside.pop(place[-1])
    else:
        inside[place[-1]] = f"{inside[place[-1]]}{bad}m"
    return content


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_text_and_key_of_a_release_file_is_refused_with_one(path: Path) -> None:
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    characters = [*CHARACTERS.items()]
    for number, (place, is_key) in enumerate(edits(raw, "")):
        bad, escaped = characters[number % len(characters)]
        with pytest.raises(SpecError) as refusal:
            checked(edited(raw, place, is_key, bad), path)
        (said,) = (line for line in refusal.value.problems if "control character" in line)
        assert escaped in said, (place, said)
        assert bad not in said


MADE: dict[str, Callable[[str], object]] = {
    "a chain": lambda name: tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 4, states=["a", name]),
    "a class": lambda name: tf.ReversibleChains(0.2, 0.5, 4, states=["a", name]),
    "users": lambda name: tf.IndependentUsers([{"a": 0.5, name: 0.5}]),
    "a table's rows": lambda name: tf.JointTable([("a",), (name,)], [0.5, 0.5], ["x"]),
    "a network's states": lambda name: tf.BayesianNetwork([("x", ["a", name], [], [0.5, 0.5])]),
    "a network's node": lambda name: tf.BayesianNetwork([(name, ["a", "b"], [], [0.5, 0.5])]),
}


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("bad", [*CHARACTERS, "\n"])
def test_a_belief_refuses_a_name_with_one(kind: str, bad: str) -> None:
    with pytest.raises(InputError) as refusal:
        MADE[kind](f"b{bad}m")
    assert "control character" in str(refusal.value)
    assert bad not in str(refusal.value)
    assert CHARACTERS.get(bad, "\\x0a") in str(refusal.value)


@pytest.mark.parametrize("bad", CHARACTERS)
def test_no_output_holds_one(bad: str) -> None:
    name = f"a{bad}]0;pwn"
    for text in (table_text([{"cell": name, "value": 1}]), rows_text([name], [name], [0], [0]), words(0, 0, name)):
        assert bad not in text
        assert CHARACTERS[bad] in text
