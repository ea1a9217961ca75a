"""What is kept with an object: found once, lost with it, and never in its copies."""

import copy
import gc
import pickle
import threading
from functools import partial
from types import SimpleNamespace

import pytest

import takifugu as tf
from takifugu.core.cache import MOST, cached
from takifugu.influence.quilts.network.influence import influences_of

NETWORK = [("a", [0, 1], [], [0.5, 0.5]), ("b", [0, 1], ["a"], [[0.75, 0.25], [0.25, 0.75]])]
CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=400)
BELIEFS = (CHAIN, tf.BayesianNetwork(NETWORK), tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 3))


def test_the_oldest_goes() -> None:
    owner = SimpleNamespace()
    assert [cached(owner, key, partial(str, key)) for key in range(MOST + 1)] == list(map(str, range(MOST + 1)))
    assert cached(owner, 1, lambda: "new") == "1"
    assert cached(owner, 0, lambda: "new") == "new"


def test_nothing_made_is_found_once_too() -> None:
    owner, made = SimpleNamespace(), []
    for _ in range(2):
        cached(owner, "nothing", lambda: made.append(1))
    assert made == [1]


def test_a_copy_keeps_its_own() -> None:
    network = tf.BayesianNetwork(NETWORK)
    influences_of(network)
    other = copy.copy(network)
    del network
    gc.collect(1)  # what was made just now
    assert influences_of(other).network is other


@pytest.mark.parametrize("belief", BELIEFS, ids=lambda belief: type(belief).__name__)
def test_calibrations_that_were_used_are_copied_and_pickled_without_what_was_found(belief: object) -> None:
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), belief), tf.Count(1), epsilon=1, mechanism="group")
    tf.compose([calibration, calibration])
    written = pickle.dumps(calibration)
    assert len(written) < 5_000
    for other in (pickle.loads(written), copy.deepcopy(calibration), copy.copy(calibration)):
        assert other.to_dict() == calibration.to_dict()
        assert tf.compose([other, calibration]) == tf.compose([calibration, calibration])


def test_threads_keep_things_at_once() -> None:
    owner, errors = SimpleNamespace(), []

    def work(first: int) -> None:
        try:
            for key in range(first, first + 3_000):
                assert cached(owner, key % 97, lambda key=key: key % 97) == key % 97
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(13 * number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(owner._cached) <= MOST + len(threads)
