"""Research data in tests: skipped with a message where it is missing, a failure in CI."""

import os
from pathlib import Path

import pytest

from research_data import find


def research_file(name: str) -> Path:
    """Return the path of a research data file."""
    path = find(name)
    if path is None:
        missing = f"the research data file {name} is not here: put it under a folder that TAKIFUGU_DATA names"
        assert os.environ.get("TAKIFUGU_BUILD") != "true", missing
        pytest.skip(missing)
    return path
