"""Each assumption of certificates of format 7, its kind now, and its sentence: none was lost, none lacks a line.

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
from takifugu.model.frameworks import DEFINITIONS, Pufferfish
from takifugu.releasing.certificates.wording import NUMBERED, TITLES

#: The sentence of format 7, its kind, and the sentences that say the same now.
MAP: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    # Sequences: what a belief assumes.
    ("the sequence is a Markov chain with the stated transition matrix; its initial distribution is *", "world",
     ("The sequence is a Markov chain with the stated transition matrix. *",)),
    ("its length is public", "public", ("The length of the sequence is public.",)),
    ("the sequence is a reversible Markov chain whose stationary masses are at least * and whose eigengap is at least "
     "*; its initial distribution is unknown", "world",
     ("The sequence is a reversible Markov chain whose stationary masses are at least * and whose eigengap is at least "
      "*. Its initial distribution is unknown.",)),
    ("the sequence is a Markov chain that stays in either state with a probability from * to *; its initial "
     "distribution is unknown", "world",
     ("The sequence is a Markov chain that stays in either state with a probability from * to *. Its initial "
      "distribution is unknown.",)),
    ("the sequence is a Markov chain, and each step follows the stated transition matrix of its place in a period of * "
     "steps; its initial distribution is *", "world",
     ("The sequence is a Markov chain, and each step follows the stated transition matrix of its place in a period of "
      "* steps. *",)),
    ("its length is public, and so is where in a period it starts", "public",
     ("The length of the sequence is public, and so is where in a period it starts.",)),
    ("the sequence is a Markov chain with a matrix in the stated region; its initial distribution is unknown", "world",
     ("The sequence is a Markov chain with a matrix in the stated region. Its initial distribution is unknown.",)),
    ("the region was estimated, and covers the true matrix with confidence *: the promise holds only if it does",
     "world",
     ("The region was estimated. It covers the true matrix with confidence *, and the guarantee holds only if it "
      "does.",)),
    ("every step that was counted for the region followed that matrix, whatever came before it", "world",
     ("Every step that was counted for the region followed that matrix, whatever came before it.",)),
    ("the recordings are independent of each other", "world", ("The recordings are independent of each other.",)),
    # Sequences: what a file reads.
    ("the file does not say what a row says; each one was counted as the state in its own step alone", "reading",
     ("The file does not declare what a row means. Each counts as the state in its own step alone.",)),
    ("a row is an event, and its step has its state; what is hidden is the state in *: which event, if any", "reading",
     ("A row is an event, and its step has its state. *", "The secret is the state in *: which event, if any.")),
    ("a row is a * that holds *; what is hidden of it is the state in *, not all of the *", "reading",
     ("A row is a * that holds *. *", "The secret is the state in *, not all of the *.",
      "The secret is the state in *: all of a * that lasts no longer, not of others.")),
    ("a step has the state at its start; what changes within a step is not counted", "reading",
     ("A step has the state at its start. Changes within a step are not counted.",)),
    ("from when until when the data run is public, and declared: no row decides it; the data are declared to be "
     "complete until *", "public",
     ("From when until when the data run is public", "*, and declared: no row decides it.",
      "The data are declared complete until *.")),
    ("which * there are, and from when until when each is covered, is public, and declared: no row decides it; the "
     "data are declared to be complete until *", "public",
     ("Which * there are, and from when until when each is covered, is public", "*, and declared: no row decides it.")),
    ("who has no row at or before the first step was * until the first one", "reading",
     ("Before a first row the state is *.",)),
    ("who has no * is *", "reading", ("In a step without any * the state is *.",)),
    ("which * there are, and the lengths of their recordings, are public", "public",
     ("Which * there are, and the lengths of their recordings, are public.",)),
    ("the noise is right whichever steps were observed, and which were is not published; that is no secret", "limit",
     ("Which steps are missing: it is not published, but no secret. The noise is right for any.",)),
    ("which steps were observed is public", "public", ("Which steps were observed is public.",)),
    ("that the rows which sql leaves are against no rule is public, whichever these rows are", "public",
     ("The rows that sql leaves break no rule, which is public, whichever these rows are.",)),
    ("each step follows the matrix of the *, *, in which it starts", "world",
     ("Each step follows the matrix of the *, *, in which it starts.",)),
    ("which * has which * is public", "public", ("Which * has which * is public.",)),
    ("check: times are those of clocks, without offsets; where clocks are set back in the night of *, an hour is there "
     "twice, and what lasts through it may be counted an hour off", "check",
     ("Times are those of clocks, without offsets. In the night of * clocks are set back, so that an hour is there "
      "twice: a state that lasts through it may be counted an hour off.",)),
    ("hours and days are those of clocks in *", "reading", ("Hours and days are those of clocks in *.",)),
    ("numbers of * are read in bins: *", "reading", ("Numbers of * are read in bins: *.",)),
    ("the * are those of clocks *: no zone is declared, and its times name none", "reading",
     ("The * are those of clocks *: no zone is declared, and its times name none.",)),
    ("the * are those of clocks in *: an hour that they skip has no step, and one that they show twice has the steps "
     "of both", "reading",
     ("The * are those of clocks in *. *",
      "An hour that they skip has no step, and one that they show twice has the steps of both.")),
    ("no * has the * *, so that there is no such cell", "public", ("No * has the * *, so there is no such cell.",)),
    ("the sequence starts at step * of the recording", "reading", ("The sequence starts at step * of the recording.",)),
    ("by the belief, * lasts * at a time on average", "world", ("On average *.", "*: on average *.")),
    ("the window is *, to the end not included, in steps of *", "reading",
     ("The window is *, its end not included, in steps of **.",)),
    ("each step is hidden; what lasts as long as a window is not: to someone who knows all other steps the noise of "
     "this table alone hides * in which every step changes up to epsilon *", "limit",
     ("a whole *: * *", "against someone who knows all other steps, the noise alone gives epsilon")),
    # All kinds of files.
    ("which * there are is public", "public", ("Which * there are is public.",)),
    ("the * are independent of each other", "world", ("The * are independent of each other.",)),
    ("the rows are those of *", "reading", ("The rows are those of *",)),
    ("rows count where *; of others nothing is promised", "reading",
     ("Rows count where *. Nothing is guaranteed about others.",)),
    ("promise of the package *: that a row is the entry it is taken for is its author's word", "limit",
     ("A *: what a row means is its author's word, and was not checked.",)),
    ("it begins a series: later releases about the source count as multiples of it", "limit",
     ("The release begins a series: later releases about the source count as multiples of it.",)),
    ("declared on * to be the same entries (*): *", "reading", ("Declared on * to be the same entries (*):\n*",)),
    ("the people of the source * are the same people: each release about it counts here at the cost of a change of the "
     "whole data set", "public",
     ("The people of the source * are the same people. Each release about it counts here at the cost of a change of "
      "the whole data set.",)),
    ("the total * is a public constant that was not computed from the private data: this was declared by whoever made "
     "the table, and was not checked", "public",
     ("The total * is a public constant that was not computed from the private data. The maker of the table declared "
      "this, and it was not checked.",)),
    ("the total * is itself a noisy release about *, made *, with epsilon * of its own", "public",
     ("The total * is itself a noisy release about *, made *, with epsilon * of its own.",)),
    ("the belief treats every * alike, but this table compares them", "check",
     ("The model treats all *s alike, but this table compares them.",)),
    # Records, users, networks, contacts.
    ("the records are independent of each other, each with the same stated joint distribution of its columns", "world",
     ("The records are independent, each with the same stated joint distribution of its columns.",)),
    ("the number of records is public", "public", ("The number of records is public.",)),
    ("the record follows the stated joint table", "world", ("The record follows the stated joint table.",)),
    ("the record follows the stated Bayesian network", "world", ("The record follows the stated Bayesian network.",)),
    ("no column that this or another release of the source reads holds what is another *'s", "world",
     ("No column that this or another release of the source reads holds what is *.",)),
    ("that * reads *, and no other column, is public", "public",
     ("That the table * reads *, and no other column, is public.",)),
    ("the users are independent of each other, each with the stated distribution of its contribution", "world",
     ("The users are independent of each other, each with the stated distribution of its contribution.",)),
    ("the list of possible users is public; an absent user is *", "public",
     ("The list of possible users is public.", "*.")),
    ("how many users the belief is about is public", "public", ("How many users the belief is about is public.",)),
    ("who is in which * is public", "public", ("Who is in which * is public.",)),
    ("a missing value of * counts as *", "reading", ("A missing value of * counts as *.",)),
    ("people of different cliques fall ill independently of each other", "world",
     ("People of different cliques fall ill independently of each other.",)),
    ("the number of ill people in a clique has the stated distribution, all sets of that size equally likely", "world",
     ("The number of ill people in a clique has the stated distribution. All sets of that size are equally likely.",)),
    ("in a clique of * all sets of equally many ill people are equally likely", "world",
     ("In a clique of * all sets of equally many ill people are equally likely.",)),
    ("the members of each clique are public", "public", ("The members of each clique are public.",)),
    # Whole columns and attributes.
    ("the * records are independent, each drawn from the stated joint normal distribution of *", "world",
     ("The * records are independent, each drawn from the stated joint normal distribution of *.",)),
    ('values outside the declared ranges are clipped, which voids "jointly normal" as far as any are', "limit",
     ('Values outside the declared ranges are clipped. Where any are, "jointly normal" does not hold.',)),
    ("the joint normal distribution is any in the class that the public sample supports, which covers the true one "
     "with confidence *: the promise holds only if it does", "world",
     ("The joint normal distribution is any in the class that the public sample supports. The class covers the true "
      "one with confidence *, and the guarantee holds only if it does.",)),
    ("the rows of the public sample are independent draws of the same joint normal distribution", "world",
     ("The rows of the public sample are independent draws of the same joint normal distribution.",)),
    ("numbers are rounded to multiples of * when they are read", "reading",
     ("Numbers are rounded to multiples of * when they are read.",)),
    ("a missing or infinite value of * counts as *, as if that had been observed", "reading",
     ("A missing or infinite value of * counts as *, as if that had been observed.",)),
    ("the numbers of * are read in classes: *; a missing value counts as *", "reading",
     ("The numbers of * are read in classes: *.*", " A missing value counts as *.")),
    ("the stated densities are those of numbers that were put into their range", "world",
     ("The stated densities are those of numbers that were put into their range.",)),
    ("given *, the answer has the stated density, and is read within * of it", "world",
     ("Given *, the answer has **.", ", and is read within * of it")),
    ("the parameters of the population follow the stated joint distribution", "world",
     ("The parameters of the population follow the stated joint distribution.",)),
    ("given the parameters, the * records are independent of each other, and so are the columns of a record; each "
     "column follows its own parameter", "world",
     ("Given the parameters, the * records are independent of each other, and so are the columns of a record. Each "
      "column follows its own parameter.",)),
    ("the parameters of the population follow a joint distribution in the class that the counts support, which covers "
     "the true one with confidence *: the promise holds only if it does", "world",
     ("The parameters of the population follow a joint distribution in the class that the counts support. The class "
      "covers the true one with confidence *, and the guarantee holds only if it does.",)),
    ("the counted populations are independent of each other, and the parameters take no values but theirs", "world",
     ("The counted populations are independent. The parameters take no values but theirs.",)),
    # Populations.
    ("each row of a person follows the stated distribution of that person's population", "world",
     ("Each row of a person follows the stated distribution of that person's population.",)),
    ("no person has more than 1 row", "world", ("No person has more than 1 row.",)),
    ("no person has more than * rows", "world", ("No person has more than * rows.",)),
    ("the rows of a person may depend on each other in any way", "world",
     ("The rows of a person may depend on each other in any way.",)),
    ("given the population, the rows of a person are independent of each other", "world",
     ("Given the population, the rows of a person are independent of each other.",)),
    ("in no population a value is likelier than *, and nothing else is known of them: the promise holds for every two "
     "such distributions", "world",
     ("In no population is a value likelier than *. Nothing else is known of the populations. The guarantee holds for "
      "every two such distributions.",)),
    ("the populations were counted in a sample (*: *); the promise holds for every distribution in a class that holds "
     "the true ones with confidence *; two distributions of one population in it differ by at most * % of their mass",
     "world",
     ("The populations were counted in a sample (*: *). The guarantee holds for every distribution in a class that "
      "holds the true ones with confidence *. Two distributions of one population in it differ by at most * % of their "
      "mass.",)),
    ("the rows of the reference file are independent of each other", "world",
     ("The rows of the reference file are independent of each other.",)),
    ("the people of the reference file are independent of each other, and each counts once", "world",
     ("The people of the reference file are independent of each other, and each counts once.",)),
    ("a place counts as the centre of its cell, of * x * cells of a public box", "reading",
     ("A place counts as the centre of its cell, of *.", "* x * cells of a public box")),
    ("a place outside of the box counts as the nearest one inside", "reading",
     ("A place outside the box counts as the nearest one inside.",)),
    ("the reference file is about other people; * is added to the count of each value where losses are averaged",
     "world",
     ("The reference file is about other people.",
      "Where losses are averaged, * is added to the count of each value.")),
    ("the populations were counted in the private rows: that these, the table of probabilities and the maps tell "
     "something about them is accepted, and not covered", "limit",
     ("The populations were counted in the private rows. What these, the table of probabilities and the maps reveal "
      "about the rows is not covered.",)),
    ("how many rows there are, and their order, is public", "public",
     ("How many rows there are, and their order, is public.",)),
    ("which persons there are is public", "public", ("Which persons there are is public.",)),
    ("the persons are independent of each other", "world", ("The persons are independent of each other.",)),
    ("nothing in the data says whose row it is, and nobody has more rows than declared", "world",
     ("No column names the person of a row, and nobody has more rows than declared.",)),
    ("no row of * is under another name, too", "world", ("No row of * is under another name, too.",)),
    ("the answer follows one of the two stated distributions", "world",
     ("The answer follows one of the two stated distributions.",)),
    # Policies, which are one-sided.
    ("no person was at more than * of the places: this is a fact, nothing was cut", "world",
     ("No person was at more than * of the places*. This is a fact: no visit was cut.",)),
    ("how many people there are is public", "public", ("How many people there are is public.",)),
    ("the list of places is public, and so are the thresholds", "public",
     ("The list of places is public, and so are the thresholds.",)),
    ('the data are complete: "safe" speaks of the visits that are in them, each person counted once at a place, and of '
     "no others", "reading",
     ('The data are complete: "safe" is about the visits in them, each person counted once at a place, and about no '
      "others.",)),
    ("the file has a row: without any it is refused, which epsilon does not count", "limit",
     ("That the file has a row: without any it is refused, which epsilon does not count.",)),
    ("a visit counts in the step of the calendar in which its row is; of other steps a table says nothing", "reading",
     ("A visit counts in the step of its row. A table says nothing about other steps.",)),
    ("times are those of clocks in *", "reading", ("Times are those of clocks in *.",)),
    ("data in which somebody was at more than * of the places are refused: that a table was published at all tells "
     "that nobody was, which epsilon does not count", "limit",
     ("That nobody was at more than * of the places*: such data are refused, so a published table reveals it, which "
      "epsilon does not count.",)),
    ("the places and their thresholds were chosen one after the other, by earlier answers and by what is public, never "
     "by a look at the data", "reading",
     ("The places and their thresholds were chosen one after the other, by earlier answers and by what is public, "
      "never by a look at the data.",)),
)  # fmt: skip
#: Conditions of one promise stay as they were worded: a certificate has each as a limit.
CONDITIONS = (
    "nobody who sees it knows what the other components add: against someone who does, *",
    "*: estimated from the private data; the promise does not cover that",
    "one of * queries that share an epsilon of *",
    "also for a belief that is off by at most * from a stated one, *",
    "epsilon is multiplied by the distance of two populations: **",
    "outside of the class of populations what is sent of a person tells *",
    "the mechanism was run elsewhere: that it loses no more is its maker's word, and was not checked here",
)
#: What a definition does not protect: the words of format 7, and those that say the same now.
_ELSEWHERE = "anything combined with publications outside this ledger"
_BELIEFS = (
    "anything against someone whose belief is not listed, about facts that are not listed as hidden, or in combination "
    "with what is published elsewhere without this ledger",
    ("anything against readers whose beliefs differ from the assumptions about the world",
     "facts that are not listed as secrets", _ELSEWHERE),
)  # fmt: skip
_ONE_ROW = (
    "the share of a single row in the answer: someone who knows all other rows may read it off with a probability of "
    "up to 95 %",
    ("the share of a single row in the answer: someone who knows all other rows may read it off with a probability of "
     "up to 95 %",),
)  # fmt: skip
LIMITS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "pufferfish": (_BELIEFS,),
    "attribute": (_BELIEFS, _ONE_ROW),
    "asymmetric": (
        ("that the hidden thing is not so of somebody: who was not at a place is not protected, and an output may show "
         "for certain that few people were there",
         ("that a secret is not true: people who were not at a place are not protected, and an output may show for "
          "certain that few people were there",)),
        ("who is known to have been at exactly one of several places: at which of them may become known, because being "
         "somewhere else instead is no move that is hidden",
         ("a person known to have been at exactly one of several places: the output may reveal at which",)),
        ("the factor above for a whole suspicion, rather than for one record against the same without the hidden "
         "thing, unless to the adversary who was there was also elsewhere at least as often as who was not (the "
         "places of the ones stochastically dominate those of the others)",
         ("a whole suspicion: the factor is for one record against the same record without the secret. It holds for a "
          "whole suspicion only if, to the reader, people who were there were also elsewhere at least as often as the "
          "others (their places stochastically dominate those of the others)",)),
        ("facts that are not listed as hidden, and anything in combination with what is published elsewhere without "
         "this ledger", ("facts that are not listed as secrets", _ELSEWHERE)),
    ),
    "distribution": (
        ("that values stay secret: whoever knows a person's population may learn from what is sent where the person "
         "was, or what was answered",
         ("the values: someone who knows a person's population may learn from the output where the person was, or what "
          "the person answered",)),
        ("the value of a single row: someone who knows all else may read it off with a probability of up to 95 %",
         ("the value of a single row: someone who knows all else may read it off with a probability of up to 95 %",)),
        ("anything about populations that are not listed, or if these are distributed otherwise",
         ("populations that are not listed, or that are distributed otherwise",)),
        ("anything in combination with what is published elsewhere without this ledger", (_ELSEWHERE,)),
    ),
}  # fmt: skip
LIMITS["extended-distribution"] = LIMITS["distribution"]
#: Sentences of beliefs that format 7 did not know, by kind.
SINCE = {
    "The * values are one draw of a stationary autoregressive series: each is normal with mean * and standard "
    "deviation *, and the correlation of two of them is * to the power of their distance.": "world",
    "The values are one draw from the stated joint normal distribution of *.": "world",
}  # fmt: skip
#: Sentences that a certificate makes of its other fields.
OF_FIELDS = ("The *: *.", "**.")
SOURCES = sorted(Path(takifugu.__file__).parent.rglob("*.py"))


def pattern(node: ast.expr) -> str | None:
    """Return a text with a star for each of its values, None for no text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in node.values)
    return None


def nodes() -> Iterator[ast.AST]:
    for path in SOURCES:
        yield from ast.walk(ast.parse(path.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def texts() -> set[str]:
    """Return every text of the sources, what `format` fills in as a star."""
    every = {pattern(node) for node in nodes() if isinstance(node, ast.Constant | ast.JoinedStr)}
    return {re.sub(r"\{\w+\}", "*", text) for text in every if text is not None}


@pytest.mark.parametrize(("before", "kind", "now"), MAP, ids=[row[0][:60] for row in MAP])
def test_no_assumption_was_lost(before: str, kind: str, now: tuple[str, ...], texts: set[str]) -> None:
    assert kind in set(Kind)
    assert set(now) <= texts, f"not said any more: {before}"


@pytest.mark.parametrize("condition", CONDITIONS)
def test_no_condition_was_lost(condition: str, texts: set[str]) -> None:
    assert condition in texts


def test_no_limit_of_a_definition_was_lost() -> None:
    ours = [one for one in DEFINITIONS if type(one).__module__.startswith("takifugu.")]  # other tests register theirs
    now = {one.name: set(one.not_promised()) for one in ours}
    assert now == {name: {said for _, words in limits for said in words} for name, limits in LIMITS.items()}


def test_every_assumption_of_the_sources_is_in_the_map() -> None:
    known = {sentence: kind for _, kind, now in MAP for sentence in now} | SINCE
    for node in nodes():
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in set(Kind):
            continue
        said = pattern(node.args[0]) if node.args else None
        if said is not None and said[:1] in "*ABCDEFGHIJKLMNOPQRSTUVWXYZ" and said not in OF_FIELDS:
            assert said in known, f"no line of the map: {said}"


def test_the_kind_of_a_sentence_is_the_one_of_the_map() -> None:
    """A sentence that stands for a part of an older one may have a kind of its own."""
    kinds = {now[0]: kind for _, kind, now in MAP if len(now) == 1}
    for node in nodes():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            said = pattern(node.args[0])
            if said in kinds and node.func.id in set(Kind):
                assert node.func.id == kinds[said], said


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
