"""How many steps a length is: a time where steps have one, a number of them where they have none."""

from datetime import timedelta
from typing import Any

import pytest

from takifugu.core.errors import InputError
from takifugu.data import steps_in

QUARTER = timedelta(minutes=15)


@pytest.mark.parametrize(("length", "step", "words"), [
    ("1h", None, "write a number of steps"), ("1h", 5, "write a number of steps"),
    ("20min", QUARTER, 'length = "30min"'),
    (3, QUARTER, 'length = "45min"'),
])  # fmt: skip
def test_a_length_of_another_kind_is_refused(length: Any, step: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        steps_in(length, step)
