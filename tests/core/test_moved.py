"""Each name that left the package says where it is now."""

from pathlib import Path

import pytest

import takifugu as tf
from takifugu.core.moved import IN_EXPERIMENTS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", IN_EXPERIMENTS)
def test_what_moved_is_there(name: str) -> None:
    file = ROOT / "experiments" / IN_EXPERIMENTS[name]
    assert name in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["Mangat", "NoisyMax", "OrdinarySparse"])
def test_a_name_of_before_says_where_it_is(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"'takifugu.asymmetric' has no attribute '{name}'; experiments/takagi/"):
        getattr(tf.asymmetric, name)
    assert not hasattr(tf.asymmetric, "Nothing")
