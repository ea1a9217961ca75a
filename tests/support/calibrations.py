"""What one mechanism answers to one problem, computed once in a process: for tests of what is done with calibrations.

Calibration looks at framework, query and budget only, so that an equal problem has an equal answer. Tests of files,
ledgers and commands calibrate a few problems hundreds of times; those of mechanisms and of calibration itself compute
anew. What is not the package's own, or holds a function, is not remembered: JSON does not tell two of them apart.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

#: Where answers are remembered: folders of tests, and files.
ROOT = Path(__file__).parents[2]
USERS = tuple(ROOT / name for name in (
    "README.md", "docs", "tests/conformance/test_release_files.py", "tests/accounting/ledger", "tests/printed",
    "tests/releasing", "tests/cli/test_cli.py", "tests/cli/test_cli_commands.py", "tests/cli/test_cli_init.py",
    "tests/cli/test_cli_manners.py",
    "tests/releasing/file/test_drafts.py", "tests/cli/test_example_command.py", "tests/test_examples.py",
    "tests/releasing/planning/test_two_release_files.py",
))  # fmt: skip

_ANSWERS: dict[Any, Any] = {}


def are_remembered(path: Path) -> bool:
    """Return whether the tests of a file take answers that were computed before."""
    return any(path == user or user in path.parents for user in USERS)


def remember(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `calibrate` and `compare` take each mechanism's answer from an equal problem before."""
    from takifugu import calibration
    from takifugu.calibration import trials

    attempt = trials.attempt

    def remembered(line: Any, problem: Any, allow_zero_noise: bool, limited: bool) -> Any:
        written = _written(line, problem)
        if written is None:
            return attempt(line, problem, allow_zero_noise, limited)
        key = (line, written, problem.epsilon, problem.delta, problem.work_limit, allow_zero_noise, limited)
        if key not in _ANSWERS:
            _ANSWERS[key] = attempt(line, problem, allow_zero_noise, limited)
        return _ANSWERS[key]

    monkeypatch.setattr(trials, "attempt", remembered)
    monkeypatch.setattr(calibration, "attempt", remembered)


def _written(line: Any, problem: Any) -> str | None:
    framework, query = problem.framework, problem.query
    parts = (framework, query, *framework.beliefs, *framework.secrets)
    if not isinstance(line.place, str) or not all(type(part).__module__.startswith("takifugu.") for part in parts):
        return None
    written = json.dumps([framework.to_dict(), query.to_dict()])
    return None if '"statistic"' in written else written
