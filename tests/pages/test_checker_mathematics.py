"""The checker's arithmetic and losses against Python's fractions, mpmath and hashlib, and against the library."""

import csv
import hashlib
import io
import json
import math
import struct
from fractions import Fraction
from random import Random
from typing import Any

import mpmath
import pytest
from tests.support.forged import random_matrix
from tests.support.javascript import Scripts
from tests.support.rounds import rounds, samples
from tests.support.step_losses import step_loss

import takifugu as tf
from takifugu.pages.checker import SCRIPTS

ONE = 2**256


@pytest.fixture(scope="module")
def scripts() -> Scripts:
    return Scripts("checker", SCRIPTS[:-1])


def test_a_float_is_the_fraction_that_it_is(scripts: Scripts) -> None:
    chance = Random(1)
    numbers = [0.0, 0.1, 1.0, 5e-324, 2.2250738585072014e-308, 0.7, 1e300]
    numbers += [struct.unpack(">d", chance.randbytes(8))[0] for _ in range(300)]
    for number in filter(math.isfinite, map(abs, numbers)):
        n, d = scripts.call("ofDouble(Number(x)).map(String)", x=repr(number))
        assert Fraction(int(n), int(d)) == Fraction(number)


def test_numbers_have_one_form(scripts: Scripts) -> None:
    for text in ("0", "-3", "12.5", "0.001", "-7/3", "21315286747/8589934592"):
        n, d = scripts.call("fraction(x).map(String)", x=text)
        assert Fraction(int(n), int(d)) == Fraction(text)
    odd = ("", "1.0", "01", "+1", "1e3", ".5", "1.", "2/4", "3/1", "-0", " 1", "1/0", "NaN", "0x1", "١", "1" * 20_000)
    for text in odd:
        assert scripts.call("(() => { try { fraction(x); return 'read'; } catch { return ''; } })()", x=text) == ""


def test_exponentials_enclose(scripts: Scripts) -> None:
    chance = Random(2)
    for _ in range(100):
        x = Fraction(chance.randint(0, 10**12), chance.randint(1, 10**12)) % 200
        ends = scripts.call("exponential(x.map(BigInt)).map(String)", x=[str(x.numerator), str(x.denominator)])
        low, high = map(int, ends)
        with mpmath.workdps(120):
            exact = mpmath.exp(mpmath.mpf(x.numerator) / x.denominator) * ONE
            assert low <= exact <= high
            assert (high - low) / exact < 1e-70


def random_value(chance: Random, depth: int = 0) -> Any:
    kinds = ["text", "number", "word"] if depth > 2 else ["text", "number", "word", "list", "object"]
    kind = chance.choice(kinds)
    if kind == "list":
        return [random_value(chance, depth + 1) for _ in range(chance.randint(0, 4))]
    if kind == "object":
        return {random_text(chance): random_value(chance, depth + 1) for _ in range(chance.randint(0, 6))}
    if kind == "number":
        return chance.choice([0, -1, 10**20, 0.1, 1e-05, 1e16, 1.0, -0.0, chance.random(), chance.random() * 1e-9])
    return random_text(chance) if kind == "text" else chance.choice([True, False, None])


def random_text(chance: Random) -> str:
    letters = ['"', "\\", "\n", "\x00", "\x7f", "é", "\u2028", "\ufffd", "😀", "a", "B", "0", "10", "__proto__", "/"]
    return "".join(chance.choice(letters) for _ in range(chance.randint(0, 5)))


def test_the_canonical_form_is_pythons(scripts: Scripts) -> None:
    chance = Random(3)
    for _ in range(300):
        value = random_value(chance)
        text = json.dumps(value, indent=chance.choice([None, 2]), ensure_ascii=chance.random() < 0.5)
        expected = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        assert scripts.call("canonical(parseJson(t))", t=text) == expected


@pytest.mark.parametrize(("text", "words"), [
    ('{"a": 1, "a": 2}', "twice"), ('{"a": 1, "\\u0061": 2}', "twice"), ("", "not JSON"), ("{", "not JSON"),
    ("[1,]", "not JSON"), ("01", "not JSON"), ("NaN", "not JSON"), ("'a'", "not JSON"), ('"a\nb"', "not JSON"),
    ("1 2", "something follows"), ("[" * 1000, "too deeply"), ('"\\q"', "not JSON"), ("{1: 2}", "not JSON"),
])  # fmt: skip
def test_what_is_not_json_is_said(scripts: Scripts, text: str, words: str) -> None:
    said = scripts.call("(() => { try { parseJson(t); return 'read'; } catch (e) { return e.message; } })()", t=text)
    assert words in said


def test_digests_are_those_of_sha_256(scripts: Scripts) -> None:
    chance = Random(4)
    for length in [*range(130), 1000, 4096]:
        content = chance.randbytes(length)
        digest = scripts.call("digestOf(new Uint8Array(b))", b=list(content))
        assert digest == f"sha256:{hashlib.sha256(content).hexdigest()}"


def test_tables_are_read_as_python_reads_them(scripts: Scripts) -> None:
    chance = Random(5)
    for _ in range(200):
        rows = [[random_text(chance).replace("\x00", "") or "x" for _ in range(3)] for _ in range(chance.randint(1, 5))]
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator=chance.choice(["\r\n", "\n"])).writerows(rows)
        assert scripts.call("parseTable(t)", t=text.getvalue()) == rows
    assert scripts.call("(() => { try { parseTable('\"a'); } catch (e) { return e.message; } })()") is not None


# Losses

LOSS = """(() => {
  const c = changes.map(row => row.map(([n, d]) => [BigInt(n), BigInt(d)]));
  const change = c.map((row, u) => row.map((x, v) => u === v ? ONE : exponential(x)[1]));
  const chain = wholeRows(matrix.map(row => row.map(x => ofDouble(Number(x)))));
  return String(stepLoss(chain, change, jumps, length, null, ONE, run).loss);
})()"""


def page_loss(
    scripts: Scripts, matrix: list[list[float]], changes: list[list[Fraction]], length: int, jumps: list[int],
    run: int = 1,
) -> mpmath.mpf:  # fmt: skip
    """Return the page's loss, which it carries as a power of e."""
    texts = [[[str(c.numerator), str(c.denominator)] for c in row] for row in changes]
    rows = [list(map(repr, row)) for row in matrix]
    given = {"matrix": rows, "changes": texts, "jumps": jumps, "length": length, "run": run}
    return mpmath.log(mpmath.mpf(int(scripts.call(LOSS, **given))) / ONE)


def changes_of(chance: Random, states: int) -> list[list[Fraction]]:
    """Return c(u, v) of a count or a histogram."""
    scale = Fraction(chance.randint(10, 400), 20)
    weights = [chance.choice([0, 1]) for _ in range(states)]
    if chance.random() < 0.5 or len(set(weights)) == 1:
        return [[Fraction(2 * (u != v)) / scale for v in range(states)] for u in range(states)]
    return [[Fraction(abs(x - y)) / scale for y in weights] for x in weights]


@pytest.mark.parametrize(("seed", "cases"), samples((6, 4), (6, 8), *((seed, 50) for seed in range(70, 74))))
def test_the_loss_is_that_of_the_oracle(scripts: Scripts, seed: int, cases: int) -> None:
    """The page's loss is above the oracle's, and not by more than its rounding and its settled bounds allow."""
    chance = Random(seed)
    for _ in range(cases):
        states = chance.choice([2, 3, 3, 4])
        matrix, changes = random_matrix(chance, states), changes_of(chance, states)
        jumps = [1] if states == 2 else chance.choice([[1], [1, 2, 3, 4]])
        length = chance.choice([1, 2, 3, 7, 24, 40] if states < 4 else [1, 2, 3, 7])
        run = chance.choice([1, 1, 2, 3, 9])
        with mpmath.workdps(100):
            loss = page_loss(scripts, matrix, changes, length, jumps, run)
            exact = step_loss(matrix, changes, length, jumps, run)
            assert exact <= loss + mpmath.mpf(10) ** -55
            assert loss <= exact * (1 + mpmath.mpf(10) ** -11) + mpmath.mpf(10) ** -40, (matrix, changes, length, jumps)


@pytest.mark.mutants
@pytest.mark.parametrize("numbers", rounds(2, 12))
def test_the_loss_is_that_of_the_library(scripts: Scripts, numbers: range) -> None:
    chance = Random(8 + numbers.start)
    for number in numbers:
        states, length = (2, 3, 3, 4)[number % 4], chance.choice([5, 60, 300] if number % 4 < 3 else [5, 30])
        matrix, scale = random_matrix(chance, states), chance.choice([2, 5, 10, 30])
        framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(matrix, length))
        charged = float(tf.with_scale(framework, tf.Histogram(), scale).guarantee.epsilon)
        changes = [[Fraction(2 * (u != v), scale) for v in range(states)] for u in range(states)]
        computed = page_loss(scripts, matrix, changes, length, [1] if states == 2 else [1, 2, 3, 4])
        assert charged == pytest.approx(float(computed), rel=1e-6)
