"""A table is doubted where its values contradict the belief, and under the belief in one table of 1,000 at most."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb
from pathlib import Path

import numpy as np
import pytest
from tests.support import members, simulated
from tests.support.release_files import believe, publish, read_from, release_text
from tests.support.releases import put, words_in

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import ReleaseState, TakifuguError
from takifugu.numbers.noise import SystemEntropy
from takifugu.releasing.planning.questions import NoisyAnswer, Question
from takifugu.releasing.planning.truth import answer_of, read
from takifugu.releasing.publishing import doubts
from takifugu.releasing.publishing.doubts import doubts_of
from takifugu.releasing.report.published import verdict_of

STICKY = [[0.9, 0.1], [0.4, 0.6]]
TURN = [[0.6, 0.4], [0.2, 0.8]]


@dataclass(frozen=True, eq=False)
class Case:
    """A belief, a query about it, and how data of the belief are drawn."""

    name: str
    belief: object
    query: object
    draw: simulated.Draw
    secret: object = None


def cases() -> Iterator[Case]:
    start = simulated.stationary(STICKY)
    one = simulated.chain([STICKY], 200, start)
    yield Case("chain", tf.MarkovChain(STICKY, 200), tf.Histogram(), one)
    given = simulated.chain([STICKY], 150, [0.2, 0.8])
    yield Case("given start", tf.MarkovChain(STICKY, 150, [0.2, 0.8]), tf.Count(1), given)
    last = simulated.chain([STICKY], 60, [0, 1])
    yield Case("any start", tf.MarkovChain(STICKY, 60, "any"), tf.Count(1), last)
    turning = simulated.chain([STICKY, TURN], 120, [0.5, 0.5])
    yield Case("periodic", tf.PeriodicChain([STICKY, TURN], 120, initial=[0.5, 0.5]), tf.Mean(), turning)
    chain = tf.MarkovChain(STICKY, 96)
    by_hour = tf.GroupBy(tf.Count(1), {str(hour): range(hour * 4, hour * 4 + 4) for hour in range(6)}, "hour", every=24)
    several = simulated.pieces([simulated.chain([STICKY], 96, start)] * 5)
    yield Case("pieces, by hour", tf.IndependentPieces(chain, [96] * 5), by_hour, several)
    lengths = list(range(20, 90))
    different = simulated.pieces([simulated.chain([STICKY], length, start) for length in lengths])
    yield Case("pieces of many lengths", tf.IndependentPieces(chain, lengths), tf.Histogram(), different)
    laws = [{"ill": 0.1, "well": 0.9}] * 60 + [{"ill": 0.4, "well": 0.6}] * 40
    users = tf.IndependentUsers.groups([(60, laws[0]), (40, laws[-1])])
    yield Case("users", users, tf.Histogram(), simulated.values(laws))
    rows, masses = [("a", 0), ("a", 1), ("b", 0), ("b", 1)], [0.4, 0.1, 0.3, 0.2]
    table = tf.JointTable(rows, masses, names=["group", "ill"])
    of_rows = simulated.row(rows, masses, 150)
    yield Case("records", tf.Records(table, 150), tf.CrossTable(["group", "ill"]), of_rows)
    one_row = simulated.row(rows, masses, 1)
    yield Case("a row", table, tf.Identity("ill"), lambda chance: one_row(chance)[0], tf.attribute("group", "a", "b"))
    nodes = [("a", [0, 1], [], [0.7, 0.3]), ("b", [0, 1], ["a"], [[0.9, 0.1], [0.2, 0.8]])]

    def of_network(chance: np.random.Generator) -> list[int]:
        first = int(chance.random() < 0.3)
        return [first, int(chance.random() < (0.1, 0.8)[first])]

    yield Case("network", tf.BayesianNetwork(nodes), tf.Count(1), of_network)
    yield from classes()


def classes() -> Iterator[Case]:
    """Classes of beliefs: each table is of another member."""

    def steps(length: int, states: int, pi: float, g: float) -> simulated.Draw:
        def draw(chance: np.random.Generator) -> list[int]:
            matrix = members.reversible(chance, pi, g, states)
            return simulated.chain([matrix], length, np.eye(states)[chance.integers(states)])(chance)

        return draw

    yield Case("class of chains", tf.ReversibleChains(0.2, 0.4, 300), tf.Count(1), steps(300, 2, 0.2, 0.4))
    three = tf.ReversibleChains(0.1, 0.5, 40, (0, 1, 2))
    several = simulated.pieces([steps(40, 3, 0.1, 0.5)] * 8)
    yield Case("pieces of a class", tf.IndependentPieces(three, [40] * 8), tf.Histogram(), several)

    def of_two(chance: np.random.Generator) -> list[int]:
        stay = chance.choice([0.3, 0.7, chance.uniform(0.3, 0.7)], 2)
        return simulated.chain([[[stay[0], 1 - stay[0]], [1 - stay[1], stay[1]]]], 300, [0, 1])(chance)

    yield Case("two states", tf.BinaryChains(0.3, 300), tf.Count(1), of_two)
    towns = [("few", "few"), ("few", "many"), ("many", "few"), ("many", "many")]
    coins, names = {"few": {1: "0.1", 0: "0.9"}, "many": {1: "0.4", 0: "0.6"}}, ["smokers", "cough"]
    counted = tf.CountedParameters(towns, [60, 40, 40, 60], names, {"cough": coins}, 200, source="counted towns")

    def of_town(chance: np.random.Generator) -> list[tuple[int]]:
        share = chance.choice([0.1, 0.4])
        return [(int(ill),) for ill in chance.random(200) < share]

    yield Case("counted", counted, tf.Sum("cough"), of_town, tf.distribution_parameter("smokers"))


CASES = {case.name: case for case in cases()}


def question_of(case: Case, epsilon: float = 2.0, belief: object = None) -> Question:
    framework = tf.Pufferfish(case.secret or tf.every_entry(), belief or case.belief)
    mechanism = "group-dp" if case.name in ("users", "network", "records", "counted") else "auto"
    calibration = tf.calibrate(framework, case.query, epsilon, mechanism=mechanism, allow_zero_noise=True)
    return Question("table", None, calibration, None, {"": framework})


def published(question: Question, data: object) -> NoisyAnswer:
    calibration = question.calibration
    steps = answer_of(calibration, read(calibration, data))
    values = calibration.randomiser.draw(steps, SystemEntropy())
    return NoisyAnswer(question, tuple(values), True, None)


def doubted(case: Case, times: int, seed: int = 1) -> int:
    """Return how many tables of so many are doubted, of data drawn from the belief."""
    question, chance = question_of(case), np.random.default_rng(seed)
    return sum(bool(doubts_of([published(question, case.draw(chance))])) for _ in range(times))


def most_by_chance(times: int, rate: float = 0.001) -> int:
    """Return the number that is exceeded with probability below 1e-6, of so many events of a rate."""
    left, most = 1.0, -1
    while left > 1e-6:
        most += 1
        left -= comb(times, most) * rate**most * (1 - rate) ** (times - most)
    return most


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", CASES)
def test_a_true_belief_is_hardly_ever_doubted(name: str) -> None:
    assert doubted(CASES[name], 30) <= most_by_chance(30)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_true_belief_is_doubted_once_in_a_thousand_tables_at_most(name: str) -> None:
    assert doubted(CASES[name], 3_000, seed=2) <= most_by_chance(3_000)


@pytest.mark.mutants
def test_a_range_that_is_too_narrow_doubts_true_beliefs(monkeypatch) -> None:
    """The mutant: where only the mean were likely, and the noise half as wide, tables are doubted for nothing."""
    monkeypatch.setattr(doubts.Expected, "likely", lambda expected, miss: (expected.low, expected.high))
    monkeypatch.setattr(doubts, "MISS", 1.0)
    assert doubted(CASES["chain"], 60) > most_by_chance(60)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["chain", "periodic", "pieces, by hour", "pieces of many lengths", "users", "records"])
def test_a_wrong_belief_is_doubted(name: str) -> None:
    """Whoever believes the states the other way round is told so."""
    case, chance = CASES[name], np.random.default_rng(5)
    wrong = {
        "chain": tf.MarkovChain([[0.5, 0.5], [0.05, 0.95]], 200),
        "periodic": tf.PeriodicChain([[[0.1, 0.9], [0.1, 0.9]], [[0.1, 0.9], [0.05, 0.95]]], 120, initial=[0.1, 0.9]),
        "pieces, by hour": tf.IndependentPieces(tf.MarkovChain([[0.2, 0.8], [0.02, 0.98]], 96), [96] * 5),
        "pieces of many lengths": tf.IndependentPieces(tf.MarkovChain([[0.5, 0.5], [0.1, 0.9]], 96), range(20, 90)),
        "users": tf.IndependentUsers.groups([(100, {"ill": 0.8, "well": 0.2})]),
        "records": tf.Records(tf.JointTable(
            [("a", 0), ("a", 1), ("b", 0), ("b", 1)], [0.05, 0.05, 0.1, 0.8], names=["group", "ill"]), 150),
    }[name]
    epsilon = 60.0 if name == "records" else 4.0  # of all records at once
    (words,) = doubts_of([published(question_of(case, epsilon, wrong), case.draw(chance))])
    assert re.search(r"the model expected [\d.,]+; published -?[\d.,]+ ± [\d.,]+.*: the model looks wrong", words)


THREE = tf.ReversibleChains(0.1, 0.5, 40, (0, 1, 2))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "belief", "data", "epsilon"), [
    ("class of chains", tf.ReversibleChains(0.2, 0.4, 3_000), [1] * 3_000, 4.0),
    ("pieces of a class", tf.IndependentPieces(THREE, [40] * 100), [[1] * 40] * 100, 4.0),
    ("two states", tf.BinaryChains(0.3, 3_000), [1] * 3_000, 4.0),
    ("counted", CASES["counted"].belief, [(1,)] * 200, 60.0),
])  # fmt: skip
def test_a_class_is_doubted_where_no_member_explains_what_is_published(name, belief, data, epsilon) -> None:
    """All steps, or records, are in one state, which no member of the class makes likely."""
    (words,) = doubts_of([published(question_of(CASES[name], epsilon, belief), data)])
    expected = r"the model expected [\d.,]+ to [\d.,]+; published [\d.,]+ ± [\d.,]+.*: the model looks wrong"
    assert re.search(expected, words)


def test_a_fitted_normal_law_is_never_doubted() -> None:
    """The class has laws of every mean."""
    sample = {"height": [160, 165, 171, 174, 180, 183], "weight": [61, 60, 75, 68, 79, 92]}
    ranges = {"height": (100, 250)}
    fitted = tf.MultivariateNormal.fit(sample, source="a survey", records=400, ranges=ranges, confidence=0.99)
    near = tf.dataset_property("weight", "mean", max_difference=2)
    question = question_of(Case("fitted", fitted, tf.Mean("height"), CASES["chain"].draw, near))
    assert not doubts_of([NoisyAnswer(question, (Fraction(240),), True, None)])


def test_a_belief_is_one_of_several_where_several_are_believed() -> None:
    case, chance = CASES["chain"], np.random.default_rng(5)
    wrong = tf.MarkovChain([[0.5, 0.5], [0.05, 0.95]], 200)
    question = question_of(case, 4.0, [wrong, case.belief])
    assert not doubts_of([published(question, case.draw(chance))])


@pytest.mark.mutants
def test_what_the_belief_makes_impossible_is_doubted() -> None:
    """A belief whose expectation is 0."""
    never = tf.MarkovChain([[0.9, 0.1, 0], [0.4, 0.6, 0], [0.5, 0.5, 0]], 200, [0.5, 0.5, 0])
    question = question_of(Case("chain", never, tf.Count(2), CASES["chain"].draw))
    assert not doubts_of([NoisyAnswer(question, (Fraction(0),), True, None)])
    (words,) = doubts_of([NoisyAnswer(question, (Fraction(900),), True, None)])
    assert "the model expected 0; published 900 ±" in words


def test_numbers_beyond_floats_are_doubted_and_break_nothing() -> None:
    question = question_of(CASES["given start"])
    (words,) = doubts_of([NoisyAnswer(question, (Fraction(10**400),), True, None)])
    assert "the model looks wrong" in words


@pytest.mark.parametrize(("value", "is_doubted"), [(60, False), (70, True)])
def test_one_value_in_a_thousand_is_doubted_where_its_distribution_with_noise_is_known(
    value: int, is_doubted: bool
) -> None:
    """The rarest value of 1,000 true ones is; no bound on noise and belief apart finds it."""
    question = question_of(CASES["given start"])
    assert bool(doubts_of([NoisyAnswer(question, (Fraction(value),), True, None)])) == is_doubted


def test_missing_rows_explain_what_is_too_small_and_not_what_is_too_large() -> None:
    question = replace(question_of(CASES["given start"]), may_miss=True)
    (small,) = doubts_of([NoisyAnswer(question, (Fraction(-90),), True, None)])
    assert small.endswith(": rows are missing, or the model looks wrong, and the guarantee rests on it")
    (large,) = doubts_of([NoisyAnswer(question, (Fraction(190),), True, None)])
    assert large.endswith(" ± 5: the model looks wrong, and the guarantee rests on it") or "rows" not in large


# --- release files -----------------------------------------------------------------------------------------------

#: A row of each of 28 days of 10 people every hour: "on" in one hour of two.
HOURS = 28 * 24
ROWS = "who,when,state\n" + "".join(
    f"p{who},2026-01-{1 + hour // 24:02}T{hour % 24:02}:00,{'on' if (hour + who) % 2 else 'off'}\n"
    for who in range(10) for hour in range(HOURS)
)  # fmt: skip

SPARSE = "\n".join(ROWS.splitlines()[::7]) + "\n"
LIKEWISE = "and likewise in all 23 other cells: the model looks wrong, and the guarantee rests on it"


def study(folder: Path, stay: dict[str, str], table: str = ROWS, **keys: object) -> Path:
    text = release_text(
        read_from("study", "data.csv", rows="samples", unit="who", order="when", value="state", step="1h",
                  from_="2026-01-01", until="2026-01-29", budget=10, **keys),
        believe("markov-chain", states=["off", "on"], mean_duration=stay, source="a test", units_independent=True),
        publish("by-hour", "count", states=["on"], by="hour", epsilon=4.0, per="pooled"),
    )  # fmt: skip
    return put(folder, {"release.toml": text, "data.csv": table})


@pytest.mark.mutants
@pytest.mark.parametrize(("stay", "table", "keys", "doubt"), [
    ({"off": "2 h", "on": "30 h"}, ROWS, {"gaps": "public"}, LIKEWISE),
    ({"off": "60 h", "on": "2 h"}, ROWS, {"gaps": "public"}, LIKEWISE),
    ({"off": "2 h", "on": "2 h"}, ROWS, {}, ""),
    ({"off": "2 h", "on": "2 h"}, SPARSE, {}, "rows are missing, or the model looks wrong"),
], ids=["too large", "too small", "it fits", "hidden gaps"])  # fmt: skip
def test_good_is_not_said_over_a_belief_that_is_plainly_wrong(
    stay: dict[str, str], table: str, keys: dict[str, str], doubt: str, tmp_path: Path
) -> None:
    """Much less than the model expects, and much more, is told on every page."""
    (made,) = tf.release_file(study(tmp_path, stay, table, **keys), allow_useless=True).tables
    pages = [re.sub("&#x27;|&#39;", "'", words_in(made.files[0].parent / f"by-hour.{page}"))
             for page in ("certificate.txt", "report.html")]  # fmt: skip
    if not doubt:
        assert made.certificate.doubts == ()
        assert "looks wrong" not in pages[0]
        return
    (words,) = made.certificate.doubts
    assert doubt in words
    verdict, sentence = verdict_of(made)
    assert verdict is None
    assert "Good" not in sentence
    assert [words in page for page in pages] == [True, True]


@pytest.mark.parametrize(("table", "is_doubted"), [(ROWS, False), (ROWS.replace("off", "on"), True)])
def test_a_class_in_a_file_is_doubted_where_it_is_wrong(table: str, is_doubted: bool, tmp_path: Path) -> None:
    text = release_text(
        read_from("study", "data.csv", rows="samples", unit="who", order="when", value="state", step="1h",
                  from_="2026-01-01", until="2026-01-29", budget=10, gaps="public"),
        believe("markov-chain-class", states=["off", "on"], pi=0.2, g=0.4, source="a test", units_independent=True),
        publish("all", "count", states=["on"], epsilon=4.0, per="pooled"),
    )  # fmt: skip
    (one,) = tf.release_file(put(tmp_path, {"release.toml": text, "data.csv": table}), allow_useless=True).tables
    doubt = re.compile(r"In all the model expected 1,333 to 5,387; published 6,\d+ ± \d+: the model looks wrong")
    assert bool(list(filter(doubt.match, one.certificate.doubts))) == is_doubted
    assert bool(one.certificate.doubts) == is_doubted


def test_users_who_are_not_asked_may_have_other_values(tmp_path: Path) -> None:
    """Their alphabets differ: the tables of a query are those of the users who are counted."""
    laws = [{-1: 0.5, 2: 0.5}, {2: 0.625, -1: 0.375}, {5: 0.0, -1: 0.5, 2: 0.5}]
    users = tf.IndependentUsers(laws, 1)
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), users), tf.Sum(entries=[1]), "0.1", mechanism="group-dp")
    noisy = tf.release(calibration, [2, 2, 2], entries="values", ledger=tmp_path / "l.db", source="s", budget=9)
    assert noisy.certificate.doubts == ()


def test_what_cannot_be_compared_is_told_before_anything_is_paid(tmp_path: Path, monkeypatch) -> None:
    """A failure that depends on the values would have them drawn again, until it does not fail."""
    def fail(*given: object) -> None:
        raise IndexError

    monkeypatch.setattr(doubts, "likely_range", fail)
    coin = tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 9)
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), coin), tf.Count(1), 1)
    with pytest.raises(TakifuguError) as fault:
        tf.release(calibration, [1] * 9, entries="values", ledger=tmp_path / "l.db", source="s", budget=9)
    assert fault.value.state in (None, ReleaseState.NOTHING)
    assert "s" not in {row.name for row in Ledger.open(tmp_path / "l.db").show()}
