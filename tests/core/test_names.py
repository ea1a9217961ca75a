"""Names against Python's own tables of Unicode: what is white space, what is of zero width, what is a control."""

import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from takifugu.core.errors import InputError
from takifugu.core.names import LONGEST, budget_name, natural, normalised

EVERY_CHARACTER = [chr(code) for code in range(sys.maxunicode + 1)]
WRITING_DIRECTION = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@pytest.mark.parametrize("name", [7, 7.5, b"Ana", None, ["Ana"]])
def test_a_name_that_is_no_text_is_refused_and_not_quoted(name: object) -> None:
    for spelt in (normalised, budget_name):
        with pytest.raises(InputError, match=r"the name of a person is a .*, and no text: write it as one") as caught:
            spelt(name, "the name of a person")  # type: ignore[arg-type]
        assert "7" not in str(caught.value).partition(":")[0]
        assert "Ana" not in str(caught.value)


@pytest.mark.parametrize(("text", "name"), [
    ("Jose\u0301 Luis", "José Luis"), (" José Luis", "José Luis"), ("José Luis ", "José Luis"),
    ("José\u00a0Luis", "José Luis"), ("José  Luis", "José Luis"), ("José \t\u2003\r\n Luis\u3000", "José Luis"),
    ("\ufeffJosé Luis", "José Luis"), ("Jo\u200bsé\u2060 Lu\u00adis", "José Luis"),
    ("José\u200d \u200cLuis\ufe0f", "José Luis"), ("Jose\u034f\u0301 Luis", "José Luis"),
    *((text, "Ana Lu") for text in ("Ana Lu", " Ana Lu", "Ana  Lu", "Ana Lu ", "Ana\tLu")),
    # What is not seen behind "1.0" once made another name of it.
    *((text, "1") for text in ("1", "1.", " 1.0 ", "1.0\u200b", "\ufeff1.00", "1.0\u00ad")),
    *((f"a{zero_width}b", "ab") for zero_width in "\u00ad\u200b\u200c\u200d\u2060\ufeff\ufe0f\u180e\u3164\U000e0061"),
])  # fmt: skip
def test_spellings_of_one_name(text: str, name: str) -> None:
    assert normalised(text) == name


def test_the_longest_names() -> None:
    for name in ("a" * LONGEST, "é" * LONGEST):
        assert normalised(name) == name
        with pytest.raises(InputError, match="longer than 4,096"):
            normalised(name + "a")
    with pytest.raises(InputError, match="4,096"):  # at once
        normalised("a" + "\u0301\u0316" * LONGEST)


def test_case_and_letters_are_kept() -> None:
    assert len({normalised(name) for name in ("ana", "Ana", "ANA", "Añа", "Ana.", "A na")}) == 6


@pytest.mark.parametrize("text", ["A\x00", "\x1b[2JAna", "An\x7fa", "\x9bA", "A\u202ena", "\u200eAna", "A\u2066b"])
def test_controls_are_refused_and_not_quoted(text: str) -> None:
    with pytest.raises(InputError, match="remove it") as refused:
        normalised(text, "the name of row 3")
    assert "Ana" not in str(refused.value)
    assert str(refused.value).startswith("the name of row 3 holds")


@pytest.mark.mutants
def test_every_character_of_unicode_by_pythons_tables() -> None:
    for character in EVERY_CHARACTER:
        kind, direction = unicodedata.category(character), unicodedata.bidirectional(character)
        control = kind in ("Cc", "Cs") or direction in WRITING_DIRECTION or character in "\u061c\u200e\u200f"
        if character.isspace() and character not in "\x1c\x1d\x1e\x1f":
            assert normalised(f"a{character}b") == "a b"
            assert normalised(f"{character}b{character}") == "b"
        elif control:
            with pytest.raises(InputError):
                normalised(f"a{character}b")


@given(st.text(max_size=40))
def test_a_second_time_changes_nothing(text: str) -> None:
    try:
        once = normalised(text)
    except InputError:
        return
    assert normalised(once) == once
    assert once == unicodedata.normalize("NFC", once)
    assert once == " ".join(once.split(" ")).strip()


@given(st.text(alphabet="aé \u0301\u200b\u00a0\t", max_size=20))
def test_composed_and_decomposed_are_one(text: str) -> None:
    assert normalised(unicodedata.normalize("NFD", text)) == normalised(unicodedata.normalize("NFC", text))


@given(st.text(alphabet="10.- \u200b\u00ad\u00a0", max_size=8))
def test_a_number_is_one_name_whatever_is_not_seen_in_it(text: str) -> None:
    once = normalised(text)
    assert normalised(once) == once
    assert normalised(text.replace("\u200b", "").replace("\u00ad", "")) == once


@given(number=st.integers(-(10**30), 10**30), zeros=st.integers(0, 9), point=st.sampled_from(["", ".", ".0", ".000"]))
def test_a_whole_number_has_one_budget_however_it_is_written(number: int, zeros: int, point: str) -> None:
    signs = ["-"] if number < 0 else ["", "+"]
    for sign in signs:
        assert budget_name(f" {sign}{'0' * zeros}{abs(number)}{point}") == str(number)


@given(text=st.text(st.sampled_from("0017a.-+e ×²٣"), min_size=1, max_size=6))
def test_other_names_keep_their_zeros(text: str) -> None:
    name = normalised(text)
    digits = name[name.startswith(("-", "+")) :]
    is_number = digits.isascii() and digits.isdecimal()
    assert budget_name(text) == (str(int(name)) if is_number else name)


def parts(text: str) -> list[tuple[int, int, str]]:
    """Split a text into numbers, which come first, and other signs."""
    found = list[tuple[int, int, str]]()
    for part in re.findall(r"[0-9]+|[^0-9]+", text):
        found.append((0, int(part), part) if part.isdecimal() and part.isascii() else (1, 0, part))
    return found


@given(texts=st.lists(st.text(st.sampled_from("0019a b-é."), max_size=8), max_size=8))
def test_names_sort_by_their_numbers(texts: list[str]) -> None:
    assert sorted(texts, key=natural) == sorted(texts, key=parts)
