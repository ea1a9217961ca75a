"""What is the same for many tests, computed once in a process: for tests of what is done with calibrations.

Calibration looks at framework, query and budget only, so that an equal problem has an equal answer. Tests of files,
ledgers and commands calibrate a few problems hundreds of times; those of mechanisms and of calibration itself compute
anew. What is not the package's own, or holds a function, is not remembered: JSON does not tell two of them apart.
"""

import json
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest

#: Where answers are remembered: folders of tests, and files.
ROOT = Path(__file__).parents[2]
USERS = tuple(ROOT / name for name in (
    "README.md", "docs", "src/takifugu/releasing", "tests/conformance/test_release_files.py", "tests/accounting/ledger",
    "tests/releasing", "tests/cli", "tests/pages", "tests/printed", "tests/test_examples.py",
))  # fmt: skip
#: Of these, files whose tests are about a search while it goes on.
SEARCHES = tuple(ROOT / "tests/cli" / name for name in ("test_cli_searches.py", "test_cli_interrupts.py"))

_ANSWERS: dict[Any, Any] = {}


@cache
def are_remembered(path: Path) -> bool:
    """Return whether the tests of a file take answers that were computed before."""
    return path not in SEARCHES and any(path == user or user in path.parents for user in USERS)


def remember(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each mechanism's answer, shared scales, and what releases cost together be those of an equal problem."""
    from takifugu import calibration
    from takifugu.accounting.composition import composing
    from takifugu.calibration import jointly, trials

    attempt, best, joint = trials.attempt, jointly.Split.best, composing._joint

    def remembered(line: Any, problem: Any, allow_zero_noise: bool, limited: bool) -> Any:
        written = _written(line, problem)
        if written is None:
            return attempt(line, problem, allow_zero_noise, limited)
        requested = (problem.epsilon, problem.delta, problem.work_limit, problem.metric)
        key = (line, written, *requested, allow_zero_noise, limited)
        if key not in _ANSWERS:
            _ANSWERS[key] = attempt(line, problem, allow_zero_noise, limited)
        return _ANSWERS[key]

    def remembered_scales(split: Any) -> Any:
        noise = split.noise
        written = tuple(_problem_written(problem) for problem in noise.problems)
        if None in written:
            return best(split)
        numbers = (getattr(noise, one.name) for one in fields(noise) if one.name not in ("framework", "problems"))
        key = (type(noise), *numbers, written, split.weights)
        if key not in _ANSWERS:
            _ANSWERS[key] = best(split)
        return list(_ANSWERS[key])

    def remembered_joint(framework: Any, *question: Any) -> Any:
        if question not in _ANSWERS:
            _ANSWERS[question] = joint(framework, *question)
        return _ANSWERS[question]

    monkeypatch.setattr(composing, "_joint", remembered_joint)
    monkeypatch.setattr(trials, "attempt", remembered)
    monkeypatch.setattr(calibration, "attempt", remembered)
    monkeypatch.setattr(jointly.Split, "best", remembered_scales)


def _written(line: Any, problem: Any) -> str | None:
    return _problem_written(problem) if isinstance(line.place, str) else None


def _problem_written(problem: Any) -> str | None:
    framework, query = problem.framework, problem.query
    parts = (framework, query, *framework.beliefs, *framework.secrets)
    if not all(type(part).__module__.startswith("takifugu.") for part in parts):
        return None
    written = json.dumps([framework.to_dict(), query.to_dict()])
    return None if '"statistic"' in written else written
