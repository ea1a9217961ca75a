"""The sentences of certificates that no printed page and no other test shows: each is there, and of its kind.

A `*` stands for what a file says: a name, a number, a zone.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import takifugu
from takifugu.core.assumptions import Assumption, Kind, world
from takifugu.core.errors import InputError
from takifugu.model.frameworks import Pufferfish
from takifugu.releasing.certificates.wording import NUMBERED, TITLES

SENTENCES: dict[str, tuple[str, ...]] = {
    "world": (
        "The sequence is a reversible Markov chain whose stationary masses are at least * and whose eigengap is at "
        "least *. Its initial distribution is unknown.",
        "The sequence is a Markov chain that stays in either state with a probability from * to *. Its initial "
        "distribution is unknown.",
        "The sequence is a Markov chain, and each step follows the stated transition matrix of its place in a period "
        "of * steps. *",
        "The sequence is a Markov chain with a matrix in the stated region. Its initial distribution is unknown.",
        "The region was estimated. It covers the true matrix with confidence *, and the guarantee holds only if it "
        "does.",
        "Every step that was counted for the region followed that matrix, whatever came before it.",
        "Each step follows the matrix of the *, *, in which it starts.",
        "In a clique of * all sets of equally many ill people are equally likely.",
        "The * records are independent, each drawn from the stated joint normal distribution of *.",
        "The joint normal distribution is any in the class that the public sample supports. The class covers the "
        "true one with confidence *, and the guarantee holds only if it does.",
        "The rows of the public sample are independent draws of the same joint normal distribution.",
        "The stated densities are those of numbers that were put into their range.",
        "The parameters of the population follow the stated joint distribution.",
        "Given the parameters, the * records are independent of each other, and so are the columns of a record. Each "
        "column follows its own parameter.",
        "The parameters of the population follow a joint distribution in the class that the counts support. The "
        "class covers the true one with confidence *, and the guarantee holds only if it does.",
        "The counted populations are independent. The parameters take no values but theirs.",
        "The rows of a person may depend on each other in any way.",
        "Given the population, the rows of a person are independent of each other.",
        "In no population is a value likelier than *. Nothing else is known of the populations. The guarantee holds "
        "for every two such distributions.",
        "The people of the reference file are independent of each other, and each counts once.",
        "The answer follows one of the two stated distributions.",
    ),
    "public": (
        "The length of the sequence is public, and so is where in a period it starts.",
        "From when until when the data run is public",
        "No * has the * *, so there is no such cell.",
        "The people of the source * are the same people. Each release about it counts here at the cost of a change "
        "of the whole data set.",
        "The total * is a public constant that was not computed from the private data. The maker of the table "
        "declared this, and it was not checked.",
        "The total * is itself a noisy release about *, made *, with epsilon * of its own.",
        "Who is in which * is public.",
    ),
    "reading": (
        "The file does not declare what a row means. Each counts as the state in its own step alone.",
        "A row is an event, and its step has its state. *",
        "The secret is the state in *: all of a * that lasts no longer, not of others.",
        "Hours and days are those of clocks in *.",
        "Numbers of * are read in bins: *.",
        "The * are those of clocks in *. *",
        "An hour that they skip has no step, and one that they show twice has the steps of both.",
        "The sequence starts at step * of the recording.",
        "Declared on * to be the same entries (*):\n*",
        "A missing or infinite value of * counts as *, as if that had been observed.",
        "The numbers of * are read in classes: *.*",
        " A missing value counts as *.",
        "Times are those of clocks in *.",
        "The places and their thresholds were chosen one after the other, by earlier answers and by what is public, "
        "never by a look at the data.",
    ),
    "check": (
        "Times are those of clocks, without offsets. In the night of * clocks are set back, so that an hour is there "
        "twice: a state that lasts through it may be counted an hour off.",
    ),
    "limit": (
        "A *: what a row means is its author's word, and was not checked.",
        "The release begins a series: later releases about the source count as multiples of it.",
        'Values outside the declared ranges are clipped. Where any are, "jointly normal" does not hold.',
        "The populations were counted in the private rows. What these, the table of probabilities and the maps "
        "reveal about the rows is not covered.",
    ),
}
#: Conditions of mechanisms.
CONDITIONS = (
    "*: estimated from the private data; the promise does not cover that",
    "also for a belief that is off by at most * from a stated one, *",
    "the mechanism was run elsewhere: that it loses no more is its maker's word, and was not checked here",
)


def pattern(node: ast.expr) -> str | None:
    """Return a text with a star for each of its values, None for no text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in node.values)
    return None


def nodes() -> Iterator[ast.AST]:
    for path in sorted(Path(takifugu.__file__).parent.rglob("*.py")):
        yield from ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def test_each_sentence_is_there_and_of_its_kind() -> None:
    """A sentence is of the kind that is called with it; what `format` fills in is a star."""
    texts, kinds = set[str](), dict[str, str]()
    for node in nodes():
        text = pattern(node) if isinstance(node, ast.expr) else None
        if text is not None:
            texts.add(re.sub(r"\{\w+\}", "*", text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in set(Kind) and node.args:
            kinds[pattern(node.args[0]) or ""] = node.func.id
    said = [(sentence, kind) for kind, sentences in SENTENCES.items() for sentence in sentences]
    assert [sentence for sentence, _ in said if sentence not in texts] == []
    assert [sentence for sentence, kind in said if kinds.get(sentence, kind) != kind] == []
    assert set(CONDITIONS) <= texts


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
