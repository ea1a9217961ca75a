"""Each name that left the package says where it is now."""

from operator import attrgetter
from pathlib import Path

import pytest
from tests.releasing.files import SPEC, write
from tests.support.commands import refused, succeed

import takifugu as tf
from takifugu.calibration.registry import find
from takifugu.core.errors import InputError
from takifugu.core.moved import GONE, IN_EXPERIMENTS, MECHANISMS

FOLDER = Path(__file__).resolve().parents[2] / "experiments"


@pytest.mark.parametrize("name", IN_EXPERIMENTS)
def test_a_name_of_before_says_where_it_is(name: str) -> None:
    module = {"kawamoto": "local", "takagi": "asymmetric"}[IN_EXPERIMENTS[name].partition("/")[0]]
    with pytest.raises(AttributeError) as refusal:
        getattr(getattr(tf, module), name)
    assert str(refusal.value) == (
        f"module 'takifugu.{module}' has no attribute {name!r}; experiments/{IN_EXPERIMENTS[name]} of a checkout has it"
    )
    assert name in (FOLDER / IN_EXPERIMENTS[name]).read_text(encoding="utf-8")
    assert not hasattr(getattr(tf, module), "Nothing")


@pytest.mark.parametrize("name", [name for name, (file, _) in MECHANISMS.items() if file])
def test_a_mechanism_of_before_says_where_it_is_and_what_to_write(name: str) -> None:
    file, other = MECHANISMS[name]
    with pytest.raises(InputError) as refusal:
        find(name)
    assert refusal.value.where == ("mechanism",)
    assert f"experiments/{file} of a checkout has it; write mechanism = \"{other}\"" in str(refusal.value)
    assert (FOLDER / file).is_file()
    assert find(other)


@pytest.mark.mutants
@pytest.mark.parametrize(("name", "now"), [("entry", "record-dp"), ("group", "group-dp")])
def test_a_mechanism_with_another_name_is_named(name: str, now: str, tmp_path: Path) -> None:
    """From Python, from a release file and from the command line."""
    told, fix = f'mechanism "{name}" is now "{now}"', f'write mechanism = "{now}"'
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 3))
    with pytest.raises(InputError) as refusal:
        tf.calibrate(framework, tf.Count(1), 1, mechanism=name)
    assert (str(refusal.value), refusal.value.where) == (f"{told}: {fix}", ("mechanism",))
    file = write(tmp_path, SPEC.replace("epsilon = 1.0", f'epsilon = 1.0\nmechanism = "{name}"'))
    assert f"table[0].mechanism: {told}; {fix}" in refused("check", file)
    written = write(tmp_path, SPEC)
    assert told in refused("cost", "--mechanism", name.upper(), written)
    succeed("cost", "--mechanism", now, written)
    assert find(now).name == now


@pytest.mark.parametrize("name", GONE)
def test_a_name_that_is_gone_says_what_to_write(name: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute {name!r}; intervals of parameters are gone: list"):
        getattr(tf, name)


@pytest.mark.parametrize("name", tf._FORMER)
def test_a_public_name_of_before_names_the_one_of_now(name: str) -> None:
    now = tf._FORMER[name]
    with pytest.raises(AttributeError, match=f"^takifugu.{name} is now takifugu.{now}$"):
        getattr(tf, name)
    assert attrgetter(now)(tf) is not None
    assert name not in tf.__all__
