"""What another library may spend an entry, and what is charged for it: against Laplace noise and brute force."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from mpmath import mp

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.calibration.record_epsilon import promise_of_entries, replaced
from takifugu.core.errors import BudgetExceeded, CompositionRefused, InputError, ReleaseState
from takifugu.numbers import Pmf
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.publishing.progress import Progress

ROWS = [[0.9, 0.1], [0.4, 0.6]]


def walk(length: int = 100, rows: Any = ROWS, **options: Any) -> Any:
    return tf.Pufferfish(tf.every_entry(), tf.MarkovChain(rows, length, **options))


def test_the_budget_of_the_readme() -> None:
    budget = tf.record_epsilon(walk(), 1, neighbours="replace")
    assert budget.epsilon == pytest.approx(1 / 3.33640892201402, rel=1e-9)
    assert budget.epsilon < 1 / 3.33640892201402 * (1 + 1e-9)
    half = tf.record_epsilon(walk(), 1, neighbours="add-remove")
    assert half.epsilon == pytest.approx(budget.epsilon / 2, rel=1e-12)
    weekly = tf.record_epsilon(walk(), 1, neighbours="replace", releases=52)
    assert weekly.epsilon * 52 == pytest.approx(budget.epsilon, rel=1e-12)
    assert "0.299723" in str(budget)


@pytest.mark.parametrize("rows", [ROWS, [[0.2, 0.8], [0.7, 0.3]], [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]])
def test_randomised_response_with_the_budget_keeps_the_promise(rows: Any) -> None:
    """Every entry is sent through the noisiest channel with this loss: the true loss of the secrets, by enumeration."""
    length, states = 4, len(rows)
    framework = walk(length, rows)
    spend = tf.record_epsilon(framework, 1, neighbours="replace").epsilon
    channel = np.full((states, states), 1.0) + np.eye(states) * (math.exp(spend) - 1)
    channel /= channel.sum(axis=1, keepdims=True)
    assert float(np.log(channel[:, None] / channel[None, :]).max()) <= spend + 1e-12
    chain = framework.beliefs[0]
    law = {(): 1.0}
    for step in range(length):
        law = {
            (*path, s): p * (float(chain.marginal(0)[s]) if not path else rows[path[-1]][s])
            for path, p in law.items() for s in range(states) if step >= 0
        }  # fmt: skip
    worst = 0.0
    for seen in product(range(states), repeat=length):
        likely = {path: p * math.prod(channel[list(path), list(seen)].tolist()) for path, p in law.items()}
        for entry in range(length):
            mass = [sum(p for path, p in law.items() if path[entry] == s) for s in range(states)]
            given = [sum(p for path, p in likely.items() if path[entry] == s) / mass[s] for s in range(states)]
            worst = max(worst, math.log(max(given) / min(given)))
    assert worst <= 1 + 1e-9
    assert worst > 0.4


def test_every_belief_and_every_part_counts() -> None:
    slow = walk(rows=[[0.99, 0.01], [0.02, 0.98]])
    two = tf.Pufferfish(tf.every_entry(), [tf.MarkovChain(ROWS, 100), *slow.beliefs])
    both, worst = (tf.record_epsilon(f, 1, neighbours="replace").epsilon for f in (two, slow))
    assert both == pytest.approx(worst, rel=1e-9)
    twins = tf.Pufferfish(tf.every_entry(), tf.JointTable([(0, 0), (1, 1)], [0.5, 0.5]))
    assert tf.record_epsilon(twins, 1, neighbours="replace").epsilon == 0.5
    people = tf.Pufferfish(tf.every_entry(), tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 3))
    assert tf.record_epsilon(people, 1, neighbours="replace").epsilon == 1


def test_a_delta_is_spent_by_theorem_4_and_charged_back() -> None:
    spend = tf.record_epsilon(walk(), 1, 1e-6, neighbours="replace")
    kappa = spend.delta / math.expm1(spend.epsilon)
    assert kappa * math.expm1(1) == pytest.approx(1e-6, rel=1e-6)
    back = promise_of_entries(walk(), *replaced(walk(), spend.epsilon, spend.delta, "replace"))
    assert back[0] <= 1
    assert back[1] <= Fraction(1, 10**6)
    removed = tf.record_epsilon(walk(), 1, 1e-6, neighbours="add-remove")
    doubled = replaced(walk(), removed.epsilon, removed.delta, "add-remove")
    assert doubled[0] <= Fraction(spend.epsilon) * (1 + Fraction(1, 10**12))
    assert doubled[1] <= Fraction(spend.delta) * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("lost", ["1e-9", "0.01", "0.3", "1", "8", "200", "590"])
def test_a_charged_delta_is_right_above_however_much_an_entry_loses(lost: str, neighbours: str) -> None:
    """Theorem 4: (e^epsilon - 1)/(e^c - 1) times an entry's; of removed and added (e^c/2 + 1) times that."""
    given = Fraction(1, 10**300)
    entry = replaced(walk(20), Fraction(lost), given, neighbours)
    epsilon, delta, _ = promise_of_entries(walk(20), *entry)
    with mp.workdps(600):
        c, secret, failing = (mp.mpf(x.numerator) / x.denominator for x in (entry[0], epsilon, given))
        if neighbours == "add-remove":
            failing *= 1 + mp.exp(c / 2)
        exact = failing * mp.expm1(secret) / mp.expm1(c)
        assert exact <= mp.mpf(delta.numerator) / delta.denominator <= exact * (1 + mp.mpf(10) ** -10)


def test_what_loses_so_much_that_no_delta_is_left_is_refused() -> None:
    for lost in ("700", "5000"):
        assert promise_of_entries(walk(20), *replaced(walk(20), Fraction(lost), Fraction(1, 10**9), "replace"))[1] < 1
        with pytest.raises(InputError, match="must be below 1"):
            replaced(walk(20), Fraction(lost), Fraction(1, 10**9), "add-remove")
    assert replaced(walk(20), Fraction(700), Fraction(0), "add-remove") == (1400, 0)
    still = walk(200, [[1, 0], [0, 1]], initial=[0.5, 0.5])
    with pytest.raises(InputError, match="must be below 1"):
        promise_of_entries(still, Fraction(5), Fraction(1, 10**400))


def charged(tmp_path: Any, framework: Any, epsilon: Any, **options: Any) -> Certificate:
    defaults = {"neighbours": "replace", "made_by": "opendp 0.16",
        "entries": "v", "ledger": tmp_path / "a.db", "source": "walks"}  # fmt: skip
    return tf.charge_external(framework, epsilon, **{**defaults, **options})


def test_what_was_asked_for_is_what_is_charged_and_it_composes(tmp_path: Any) -> None:
    framework = walk(states=["still", "walking"])
    spend = tf.record_epsilon(framework, 1, neighbours="replace").epsilon
    certificate = charged(tmp_path, framework, spend, budget=4)
    assert 0.999 < Fraction(certificate.epsilon) <= 1
    assert certificate.mechanisms == {"outside": "opendp 0.16"}
    assert certificate.ledger is not None
    text = certificate.text()
    assert "opendp 0.16" in text
    assert "as declared" in text
    assert "operating system" not in text
    book = Ledger.open(tmp_path / "a.db")
    assert 0.999 < book.spent("walks").epsilon <= 1
    assert book.pending() == ()
    count = tf.calibrate(framework, tf.Count("walking"), 1)
    tf.release(count, ["still"] * 100, entries="v", ledger=book, source="walks")
    total = book.spent("walks").epsilon
    assert total == pytest.approx(float(tf.compose([count, count]).epsilon), rel=1e-6)
    with pytest.raises(BudgetExceeded):
        charged(tmp_path, framework, 3)
    assert book.spent("walks").epsilon == total
    assert len(book.payments("walks")) == 2


@pytest.mark.parametrize(("stops_at", "state"), [("keep", ReleaseState.PAID), ("record", ReleaseState.DRAWN)])
def test_a_charge_that_was_interrupted_counts_and_is_nobody_elses(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, stops_at: str, state: ReleaseState
) -> None:
    def interrupted(*words: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Progress, stops_at, interrupted)
        with pytest.raises(KeyboardInterrupt):
            charged(tmp_path, walk(), "0.1", budget=9)
    book = Ledger.open(tmp_path / "a.db")
    spent = book.spent("walks")
    assert [one.state for one in book.pending()] == ["drawn" if state is ReleaseState.DRAWN else "reserved"]
    assert [one.state for one in tf.resume(book)] == [
        ReleaseState.DONE if state is ReleaseState.DRAWN else ReleaseState.PAID
    ]
    assert book.spent("walks") == spent
    assert bool(book.pending()) == (state is ReleaseState.PAID)
    charged(tmp_path, walk(), "0.1", budget=9)
    assert book.spent("walks") > spent
    assert bool(book.pending()) == (state is ReleaseState.PAID)


@pytest.mark.parametrize("step", ["keep", "record"])
def test_of_two_equal_charges_at_one_time_each_is_paid_for(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Another process, with noise of its own, is between two steps of this one."""
    of_others, as_before = list[Certificate](), getattr(Progress, step)

    def meanwhile(*words: Any) -> Any:
        monkeypatch.setattr(Progress, step, as_before)
        of_others.append(charged(tmp_path, walk(), "0.1", budget=9))
        return as_before(*words)

    monkeypatch.setattr(Progress, step, meanwhile)
    mine = charged(tmp_path, walk(), "0.1", budget=9)
    assert mine.ledger != of_others[0].ledger
    assert len(Ledger.open(tmp_path / "a.db").payments("walks")) == 2


def test_add_remove_counts_double_and_a_delta_stands_alone(tmp_path: Any) -> None:
    framework = walk()
    once = charged(tmp_path, framework, 0.1, ledger=tmp_path / "once.db")
    twice = charged(tmp_path, framework, 0.05, neighbours="add-remove", ledger=tmp_path / "twice.db")
    assert once.epsilon == twice.epsilon
    alone = charged(tmp_path, framework, 0.1, delta=1e-7, budget=(5, 0.1))
    assert alone.compositions == ("alone",)
    assert 1e-7 < Fraction(alone.delta) < 1e-6
    with pytest.raises(CompositionRefused):
        charged(tmp_path, framework, 0.1, delta=1e-7)


def test_a_delta_that_was_chosen_after_a_pure_release_is_refused(tmp_path: Any) -> None:
    """It promises something about its own output only, and nothing is known of its noise."""
    framework = walk(states=["still", "walking"])
    book = Ledger.open(tmp_path / "a.db")
    tf.release(
        tf.calibrate(framework, tf.Count("walking"), 1), ["still"] * 100,
            entries="v", ledger=book, source="walks", budget=(9, 0.5)
    )
    before = book.spent("walks")
    with pytest.raises(CompositionRefused, match="or has normal noise, has no joint promise"):
        charged(tmp_path, framework, 0.1, delta=1e-3)
    assert book.spent("walks") == before


def test_a_framework_of_other_states_is_charged_for_it(tmp_path: Any) -> None:
    """What is kept is the loss of an entry, whatever its values are."""
    charged(tmp_path, walk(10), "0.3", budget=9)
    three = walk(10, [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
    book, made = Ledger.open(tmp_path / "a.db"), tf.calibrate(three, tf.Count(1), 1)
    tf.release(made, [0] * 10, entries="v", ledger=book, source="walks")
    charged_once = tf.charge_external(three, "0.3", neighbours="replace", made_by="a",
        entries="v", ledger=tmp_path / "b.db", budget=9)  # fmt: skip
    tf.release(made, [0] * 10, entries="v", ledger=tmp_path / "b.db")
    least = Ledger.open(tmp_path / "b.db").spent("data").epsilon
    assert Fraction(charged_once.epsilon) < least <= book.spent("walks").epsilon


@pytest.mark.parametrize(("options", "words"), [
    ({"neighbours": "both"}, "write one of"),
    ({"epsilon": 0}, "above 0"),
    ({"epsilon": -1}, "above 0"),
    ({"epsilon": math.nan}, "epsilon"),
    ({"epsilon": math.inf}, "epsilon"),
    ({"epsilon": 1e-320}, "between 1e-9 and 10000"),
    ({"epsilon": "1e-400", "delta": 1e-6}, "between 1e-9 and 10000"),
    ({"delta": 1}, "below 1"),
    ({"made_by": ""}, "the maker"),
    ({"made_by": None}, "the maker"),
    ({"ledger": None}, "no ledger"),
    ({"framework": "walk"}, "Pufferfish"),
    ({"framework": tf.distribution_pair(Pmf([0], [1]), Pmf([1], [1]))}, "Pufferfish"),
])  # fmt: skip
def test_bad_input_charges_nothing(tmp_path: Any, options: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {"framework": walk(), "epsilon": 0.1, **options}
    with pytest.raises(InputError, match=words):
        charged(tmp_path, arguments.pop("framework"), arguments.pop("epsilon"), **arguments)
    assert not (tmp_path / "a.db").exists()


@pytest.mark.parametrize("releases", [0, -1, 1.5, True])
def test_a_number_of_releases_is_a_whole_number(releases: Any) -> None:
    with pytest.raises(InputError, match="whole number"):
        tf.record_epsilon(walk(), 1, neighbours="replace", releases=releases)


@pytest.mark.parametrize("epsilon", [1e-320, "1e-400", 10001])
def test_a_budget_is_shared_only_where_a_promise_means_something(epsilon: Any) -> None:
    with pytest.raises(InputError, match="between 1e-9 and 10000"):
        tf.record_epsilon(walk(), epsilon, neighbours="replace")


def test_people_who_may_be_absent_are_no_neighbours_by_values() -> None:
    people = tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 3, presence=0.5, absence="removed")
    with pytest.raises(InputError, match="may be removed"):
        tf.record_epsilon(tf.Pufferfish(tf.presence(), people), 1, neighbours="replace")
    assert tf.record_epsilon(tf.Pufferfish(tf.presence(), people), 1, neighbours="add-remove").epsilon == 0.5
    unknown = tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 3, presence=0.5, absence="unknown")
    hidden = tf.Pufferfish(tf.presence(), unknown)
    assert tf.record_epsilon(hidden, 1, neighbours="replace").epsilon == 1  # as some value


def test_a_charge_about_the_same_people_is_charged_to_the_other_source_and_certified(tmp_path: Any) -> None:
    """Neither source names units: 6 entries lose 6 times what one does in a charge, 6 / b in a count."""
    book, framework = Ledger.open(tmp_path / "ledger.db"), walk(6)
    count = tf.calibrate(framework, tf.Count(1), 1)
    tf.release(count, [0, 1, 1, 0, 0, 1], entries="v", ledger=book, source="sleep", budget=9)
    terms: dict[str, Any] = {"neighbours": "replace", "made_by": "opendp 0.14",
        "entries": "v", "ledger": book, "source": "work"}  # fmt: skip
    paid = tf.charge_external(framework, "0.1", **terms, budget=9, same_people=True)
    assert any("The people of the source 'sleep' are the same people" in line for line in map(str, paid.assumptions))
    assert float(book.spent("sleep").epsilon) == pytest.approx(1 + 0.6, rel=1e-9)
    whole = Fraction(paid.epsilon) + 6 / Fraction(count.scale)
    assert float(book.spent("work").epsilon) == pytest.approx(float(whole), rel=1e-9)
    with pytest.raises(InputError, match="are the same") as refusal:
        tf.charge_external(framework, "0.1", **{**terms, "source": "third"}, budget=9)
    assert refusal.value.state is ReleaseState.NOTHING


@pytest.mark.parametrize("epsilon", [1, 30, 700, 1000, 5000])
def test_a_share_of_delta_is_right_below_however_large_epsilon_is(epsilon: int) -> None:
    by_value = tf.record_epsilon(walk(20), epsilon, 1e-6, neighbours="replace")
    by_presence = tf.record_epsilon(walk(20), epsilon, 1e-6, neighbours="add-remove")
    with mp.workdps(60):
        loss = mp.mpf(by_value.epsilon)
        exact = mp.mpf(1e-6) * mp.expm1(loss) / mp.expm1(epsilon)
        assert exact * (1 - mp.mpf(10) ** -9) <= by_value.delta <= exact * (1 + mp.mpf(10) ** -10)
        most = exact / (1 + mp.exp(loss / 2))
        assert by_presence.delta <= most * (1 + mp.mpf(10) ** -11)
        assert by_presence.delta >= most * (1 - mp.mpf(10) ** -9) or epsilon == 5000  # there is no such small float
