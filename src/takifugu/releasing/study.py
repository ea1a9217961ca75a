"""A release file in a notebook: the steps of the command line, with results that a notebook shows as tables.

Nothing is decided here: each step reads the file anew and calls what the command of its name calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from takifugu.core.errors import SpecError, TakifuguError, standing
from takifugu.core.rules import as_path
from takifugu.core.searches import stopping
from takifugu.core.text.parts import InParts, Part, heading, rows
from takifugu.core.tracebacks import without_data
from takifugu.numbers.rationals import Number, as_fractions
from takifugu.releasing.advice.advice import Advice, advise
from takifugu.releasing.cost import Cost, cost
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.loading import load
from takifugu.releasing.file.sharing import epsilon_of, sharing
from takifugu.releasing.publishing.run import release_file
from takifugu.releasing.report.outcomes import Outcome
from takifugu.releasing.steps import DryRun, dry_run

P = ParamSpec("P")
T = TypeVar("T")

_HEADER = ("table", "query", "epsilon", "mechanism")


def _in_lines(step: Callable[P, T]) -> Callable[P, T]:
    """Show a step's errors in a notebook as the command line does."""

    @wraps(step)
    def with_lines(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return step(*args, **kwargs)
        except TakifuguError as error:
            lines = [*error.problems] if isinstance(error, SpecError) else [error.message]
            printed = [f"takifugu: {line}" for line in [*lines, standing(error)] if line]
            # IPython asks an exception how its traceback looks
            vars(error)["_render_traceback_"] = lambda: printed
            raise

    return with_lines


@dataclass(frozen=True, eq=False)
class Study(InParts):
    """A release file, and a frame or another file in place of its source's (`open_study`)."""

    path: Path
    data: object = field(default=None, repr=False)
    single_release: bool = False
    window: str | None = None

    @_in_lines
    def advise(self) -> Advice:
        """Return each table's worth and remedies; nothing is drawn or paid."""
        return advise(self.path, self.data, self.window)

    @_in_lines
    @without_data
    def cost(
        self, *, with_all: bool = False, mechanism: str | None = None, epsilons: Sequence[Number] = (),
        windows: int | None = None,
    ) -> Cost:  # fmt: skip
        """Return each table's noise, its causes and its price; nothing is drawn or paid (`cost`)."""
        requested, file = as_fractions(epsilons, "epsilon", "epsilons"), self._file(first=True)
        with stopping():
            return cost(file, with_all=with_all, mechanism=mechanism, epsilons=requested, windows=windows)

    @_in_lines
    def dry_run(
        self, output: str | Path | None = None, *, new_ledger: bool = False, allow_useless: bool = False,
        only: str | Sequence[str] = (), replace: str | Sequence[str] = (), idempotency_key: str | None = None,
        force: bool = False,
    ) -> DryRun:  # fmt: skip
        """Rehearse `release`: its tables, costs and refusals; nothing is drawn or paid."""
        return dry_run(
            self.path, self.data, output, self.single_release, new_ledger, allow_useless, self.window, only=only,
            replace=replace, idempotency_key=idempotency_key, force=force,
        )  # fmt: skip

    @_in_lines
    def release(
        self, output: str | Path | None = None, *, force: bool = False, new_ledger: bool = False,
        allow_useless: bool = False, only: str | Sequence[str] = (), replace: str | Sequence[str] = (),
        idempotency_key: str | None = None, same_entries: str = "", other_entries: bool = False,
    ) -> Outcome:  # fmt: skip
        """Publish every table: `release_file` with its arguments."""
        return release_file(
            self.path, self.data, output, force, self.single_release, new_ledger, allow_useless, self.window, only=only,
            replace=replace, idempotency_key=idempotency_key, same_entries=same_entries, other_entries=other_entries,
        )  # fmt: skip

    @property
    def parts(self) -> tuple[Part, ...]:
        return heading(self.path.name), rows(_HEADER, self._rows())

    @_in_lines
    @without_data
    def _rows(self) -> list[tuple[str, ...]]:
        file, lines = self._file(), list[tuple[str, ...]]()
        for item in file.items:
            together = f" for {len(sharing(file, item))} tables" if item.shares_epsilon else ""
            lines.append((item.name, item.query, f"{epsilon_of(file, item)}{together}", item.mechanism))
        return lines

    def _file(self, first: bool = False) -> ReleaseFile:
        return load(self.path, self.data, self.single_release, self.window, first)


def open_study(
    path: str | Path, data: object = None, *, single_release: bool = False, window: str | None = None
) -> Study:
    """Open a release file for a notebook.

    `cost`, `advise`, `dry_run` and `release` show their results. Each step reads the file anew, so you can edit it in
    between.

    Args:
        path: The release file.
        data: As in `release_file`.
        single_release: As in `release_file`.
        window: As in `release_file`.

    Returns:
        The study.

    Raises:
        SpecError: For a faulty file.

    Examples:
        >>> from takifugu.cli.samples import write_demo
        >>> study = open_study(write_demo(Path("study")))
        >>> print(study.cost().tables[0].noisiest.mechanism)
        influence
        >>> study.dry_run().refused
        False
    """
    study = Study(as_path(path, "path"), data, single_release, window)
    study._rows()
    return study
