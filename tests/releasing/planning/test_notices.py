"""What is said before a release is paid for."""

from types import SimpleNamespace
from typing import Any

from takifugu.releasing.planning import notices as module


def test_a_fallback_to_one_secret_is_said_once_a_table() -> None:
    words = "the belief is too large for quilt-exact"
    framework = SimpleNamespace(definition="pufferfish")
    large = SimpleNamespace(fallback=words, epsilon=1, forbids="", framework=framework)
    small = SimpleNamespace(fallback="", epsilon=1, forbids="", framework=framework)
    questions: Any = [
        SimpleNamespace(release=name, calibration=calibration, begins_series=True)
        for name, calibration in (("a", large), ("a", large), ("b", small))
    ]
    account: Any = SimpleNamespace(budget_is_declared=True, asks=None, reading="", charges=[])
    people: Any = None
    assert module.notices(questions, "ward", account, people) == (f"a: {words}",)
