"""What a release of the demo does once: resolve a query for a belief, write a framework down, decompose a problem."""

import json
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

import pytest

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.cli.samples import write_demo

#: How often at most, for each (query, belief), framework and (framework, query): upper bounds of today, which only ever
#: shrink, down to 1.
MOST = {"resolved": 1, "written": 1, "decomposed": 1, "posed": 2}


class Calls:
    """How often a method was called, by what it was called with; that is kept, so that an id stays one object's."""

    def __init__(self, patch: pytest.MonkeyPatch, of: type, method: str, key: Callable[..., Hashable]) -> None:
        self.counts: Counter[Hashable] = Counter()
        self._arguments: list[Any] = []
        plain: Callable[..., Any] = getattr(of, method)

        def counted(*args: Any, **more: Any) -> Any:
            self._arguments.append((args, more))
            self.counts[key(*args, **more)] += 1
            return plain(*args, **more)

        patch.setattr(of, method, counted)


def _text(query: Any) -> str:
    return json.dumps(query.to_dict(), sort_keys=True)


def _key(framework, query: Any) -> Hashable:
    return id(framework), _text(query)


@pytest.mark.slow
def test_a_release_does_its_work_once(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    calls = {
        "resolved": Calls(monkeypatch, tf.Histogram, "resolve", lambda query, belief: (_text(query), id(belief))),
        "written": Calls(monkeypatch, tf.MarkovChain, "to_dict", id),
        "decomposed": Calls(monkeypatch, Problem, "_parts", lambda it, *_, **__: _key(it.framework, it.query)),
        "posed": Calls(monkeypatch, Problem, "__init__", lambda _, *parts, **__: _key(*parts[:2])),
    }
    outcome = tf.release_file(write_demo(tmp_path))
    assert len(outcome.tables) == 2
    most = {what: max(calls_of_it.counts.values()) for what, calls_of_it in calls.items()}
    assert all(most[what] <= limit for what, limit in MOST.items()), f"{most}, and at most {MOST} are allowed"
