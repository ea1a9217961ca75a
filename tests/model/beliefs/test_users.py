"""Independent users: laws, alphabets, two named modes of absence, canonical form, bad input."""

import json
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import takifugu as tf
from takifugu.core.errors import InputError
from takifugu.model import beliefs, secrets
from takifugu.model.secrets import comparisons
from takifugu.model.secrets.families import ABSENT
from takifugu.numbers import Pmf

COIN = {0: Fraction(3, 10), 1: Fraction(7, 10)}


def test_absence_is_a_letter_where_it_is_possible() -> None:
    assert tf.IndependentUsers([COIN]).alphabet(0) == (0, 1, ABSENT)
    mixed = tf.IndependentUsers([COIN, COIN], presence=[1, Fraction(1, 2)], absence="removed")
    assert mixed.alphabet(0) == (0, 1)
    assert mixed.alphabet(1) == (0, 1, ABSENT)
    assert mixed.possible(0) == (True, True)
    assert not mixed.one_alphabet


def test_what_nobody_can_be_is_not_possible() -> None:
    users = tf.IndependentUsers([{0: 1, 1: 0}, COIN], presence=[Fraction(1, 2), 0], absence="removed")
    assert users.possible(0) == (True, False, True)
    assert users.possible(1) == (False, False, True)
    assert len(list(comparisons(tf.every_entry(), users))) == 0
    assert [c.label for c in comparisons(tf.presence(), users)] == [
        "user 0 = 0 against user 0 = 'absent'",
        "user 0 = 'absent' against user 0 = 0",
    ]


def test_presence_compares_values_with_absence_and_every_entry_compares_values() -> None:
    users = tf.IndependentUsers([{"a": 0.5, "b": 0.25, "c": 0.25}] * 2)
    against = {(c.left.value, c.right.value) for c in comparisons(tf.presence(1), users)}  # type: ignore[union-attr]
    assert against == {(v, ABSENT) for v in "abc"} | {(ABSENT, v) for v in "abc"}
    values = {(c.left.value, c.right.value) for c in comparisons(tf.every_entry(), users)}  # type: ignore[union-attr]
    assert values == {(v, w) for v in "abc" for w in "abc" if v != w}


def test_groups_and_users_one_by_one_are_the_same_belief() -> None:
    one = tf.IndependentUsers([COIN] * 3 + [{0: 0.5, 2: 0.5}] * 2, presence=[0.5] * 3 + [1] * 2, absence="removed")
    two = tf.IndependentUsers.groups([(3, COIN, 0.5), (2, {0: 0.5, 2: 0.5})], absence="removed")
    assert one.to_dict() == two.to_dict()
    assert [two.alphabet(i) for i in range(5)] == [one.alphabet(i) for i in range(5)]


def test_groups_of_other_names_are_another_belief() -> None:
    groups = [(1, COIN), (2, COIN)]
    one, other = (tf.IndependentUsers.groups(groups, names=[*names]) for names in ("ab", "ba"))
    assert len({one, other, tf.IndependentUsers.groups(groups)}) == 3
    assert beliefs.from_dict(json.loads(json.dumps(one.to_dict()))) == one
    with pytest.raises(InputError, match="names"):
        tf.IndependentUsers.groups(groups, names=["a"])


def test_the_canonical_form_reads_back() -> None:
    users = tf.IndependentUsers(
        [COIN, {"x": 0.1, "y": 0.9}, COIN], [1, 0.3, 1], "removed", ["ann", "ben", "cy"], "a public survey"
    )
    framework = tf.Pufferfish([tf.presence("ben"), tf.every_entry(), tf.presence()], users)
    again = tf.Framework.from_dict(json.loads(json.dumps(framework.to_dict())))
    assert again.to_dict() == framework.to_dict()
    assert again.fingerprint() == framework.fingerprint()
    assert beliefs.from_dict(users.to_dict()).names == ("ann", "ben", "cy")
    assert users.position("cy") == 2


def test_the_mode_of_absence_is_named_in_words() -> None:
    for mode, word in (("unknown", "an unknown value"), ("removed", "is removed")):
        users = tf.IndependentUsers([COIN], presence=0.5, absence=mode)
        assert word in users.describe()
        assert any(word in text for text in map(str, users.assumptions()))


def test_absence_is_told_where_somebody_can_be_absent() -> None:
    """A survey of people who all answered was certified with how an absent one counts."""
    certain, asked = [{0: 0.5, 1: 0.5}] * 3, {"unknown": "An absent user is still counted, with an unknown value."}
    for users, secret, is_told in (
        (tf.IndependentUsers(certain), tf.every_entry(), False),
        (tf.IndependentUsers(certain), tf.presence(), True),
        (tf.IndependentUsers(certain, presence=0.5, absence="unknown"), tf.every_entry(), True),
    ):
        words = [assumption.text for assumption in tf.Pufferfish(secret, users).assumptions()]
        assert words.count(asked["unknown"]) == is_told
    assert "absent" not in tf.IndependentUsers(certain).describe()


def test_a_million_users_are_a_few_laws() -> None:
    users = tf.IndependentUsers.groups([(600_000, COIN), (300_000, {0: 0.5, 5: 0.5}), (100_000, COIN)])
    assert users.size == len(users.components()) == 1_000_000
    assert len(users.laws) == 2
    assert users.components()[999_999] == range(999_999, 1_000_000)
    assert users.component(7) is users.component(999_999)
    assert len(json.dumps(users.to_dict())) < 1_000


def test_laws_may_be_pmfs_and_numpy_numbers() -> None:
    users = tf.IndependentUsers([Pmf([0, 2], [Fraction(1, 4), Fraction(3, 4)]), {np.int64(1): np.float64(1.0)}])
    assert users.alphabet(0) == (0, 2, ABSENT)
    assert users.alphabet(1) == (1, ABSENT)
    assert users.law(0).exact
    assert not users.law(1).exact


TWO = partial(tf.IndependentUsers, [COIN, COIN])


@pytest.mark.parametrize(("make", "words"), [
    (lambda: tf.IndependentUsers([]), "no users"),
    (lambda: tf.IndependentUsers([{}]), "empty"),
    (lambda: tf.IndependentUsers([{0: -0.1, 1: 1.1}]), "at least 0"),
    (lambda: tf.IndependentUsers([{0: math.nan, 1: 1.0}]), "finite"),
    (lambda: tf.IndependentUsers([{0: math.inf}]), "finite"),
    (lambda: tf.IndependentUsers([{0: True}]), "finite number"),
    (lambda: tf.IndependentUsers([{0: 0.5, 1: 0.4}]), "sum to"),
    (lambda: tf.IndependentUsers([{0: Fraction(1, 3), 1: Fraction(1, 3)}]), "sum to 2/3"),
    (lambda: tf.IndependentUsers([[(0, 0.5), (0, 0.5)]]), "repeat a name"),
    (lambda: tf.IndependentUsers([{"absent": 0.5, 1: 0.5}]), "stands for an absent user"),
    (lambda: tf.IndependentUsers([7]), "value -> probability"),
    (lambda: TWO(presence=1.5), "from 0 to 1"),
    (lambda: TWO(presence=math.nan), "from 0 to 1"),
    (lambda: TWO(presence=[1, 1, 1]), "one per user"),
    (lambda: TWO(presence=0.5), "unknown.*removed"),
    (lambda: TWO(presence=0.5, absence="gone"), "write"),
    (lambda: TWO(absence="removed"), "presence below 1"),
    (lambda: TWO(names=["a", "a"]), "different name"),
    (lambda: TWO(names=["a"]), "different name"),
    *((lambda groups=groups: tf.IndependentUsers.groups(groups), None)
      for groups in ([], [(0, COIN)], [(1.5, COIN)], [(2,)], [COIN], [(True, COIN)])),
    *((lambda user=user: tf.presence(user), "the user is") for user in (-1, 1.5, True, ["a"])),
])  # fmt: skip
def test_bad_users_are_refused(make, words: str | None) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_secrets_that_do_not_fit_are_refused() -> None:
    users = tf.IndependentUsers([COIN, COIN])
    certain = tf.IndependentUsers([{0: 1}] * 2)
    for secret, belief, words in (
        (tf.presence(2), users, "users 0 to 1"),
        (tf.presence("ann"), users, "no names"),
        (tf.presence(), tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], length=2), "requires a belief with absent users"),
        (tf.entry(0, 0, 7), users, "cannot take"),
        (tf.every_entry(), certain, "probability zero under every belief"),
        (tf.entry(0, 0, 1), tf.IndependentUsers([{0: 1, 1: 0}]), "probability zero under every belief"),
    ):
        with pytest.raises(InputError, match=words):
            tf.Pufferfish(secret, belief)
    assert secrets.from_dict(tf.presence(1).to_dict()) == tf.presence(1)


def test_absence_is_not_a_state_that_queries_count() -> None:
    users = tf.IndependentUsers([COIN, {5: 1}], presence=0.5, absence="removed")
    with pytest.raises(InputError, match="has no state"):
        tf.Count("absent").resolve(users)
    histogram = tf.Histogram().resolve(users)
    assert histogram.labels == ("0", "1", "5")
    assert histogram.tables[0].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_group_noise_covers_removal() -> None:
    ages = {20: 0.5, 80: 0.5}
    counted, removed = tf.IndependentUsers([ages] * 3), tf.IndependentUsers([ages] * 3, 0.9, "removed")
    for users, change in ((counted, 60), (removed, 80)):
        framework = tf.Pufferfish([tf.presence(), tf.every_entry()], users)
        calibration = tf.calibrate(framework, tf.Sum(), 1, mechanism="group-dp")
        assert calibration.scale == change
        assert str(calibration.guarantee.covers) == "component"
