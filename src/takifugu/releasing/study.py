"""A release file in a notebook: the steps of the command line, with results that a notebook shows as tables.

Nothing is decided here: each step reads the file anew and calls what the command of its name calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from takifugu.core.errors import SpecError, TakifuguError, standing
from takifugu.core.searches import stopping
from takifugu.core.text.markup import html_table, text
from takifugu.core.text.tables import text_table
from takifugu.core.tracebacks import without_data
from takifugu.releasing.advice.advice import Advice, advise
from takifugu.releasing.advice.forecast import forecast_of
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.loading import load
from takifugu.releasing.file.sharing import epsilon_of, sharing
from takifugu.releasing.file.tables import Table as Item
from takifugu.releasing.planning.comparison import Comparison, comparison
from takifugu.releasing.planning.plan import calibrated
from takifugu.releasing.publishing.choosing import Choice
from takifugu.releasing.publishing.run import release_file
from takifugu.releasing.report.outcomes import Outcome
from takifugu.releasing.steps import Calibrated, DryRun, calibrated_tables, dry_run

_HEADER = ("table", "query", "epsilon", "mechanism")


@dataclass(frozen=True, eq=False)
class Study:
    """A release file, and a frame or another file in place of its source's (`open_study`).

    Errors are raised as everywhere; a notebook shows the lines of the command line in place of a traceback.
    """

    path: Path
    data: object = field(default=None, repr=False)
    only_release: bool = False
    window: str | None = None

    def compare(self) -> Comparison:
        """Compare every mechanism for each table; nothing is drawn or paid."""
        with _in_lines():
            return self._compared()

    def advise(self) -> Advice:
        """Return each table's worth and remedies; nothing is drawn or paid."""
        with _in_lines():
            return advise(self.path, self.data, self.window)

    def calibrate(self) -> Calibrated:
        """Return each table's noise and its causes; nothing is drawn or paid."""
        with _in_lines():
            return self._calibrated()

    def dry_run(
        self, output: str | Path | None = None, *, new_ledger: bool = False, anyway: bool = False,
        only: str | Sequence[str] = (), again: str | Sequence[str] = (), once: str | None = None, force: bool = False,
    ) -> DryRun:  # fmt: skip
        """Rehearse `release`: its tables, costs and refusals; nothing is drawn or paid."""
        with _in_lines():
            return self._foreseen(output, new_ledger, anyway, Choice(only, again, once, force))

    def release(
        self, output: str | Path | None = None, *, force: bool = False, new_ledger: bool = False, anyway: bool = False,
        only: str | Sequence[str] = (), again: str | Sequence[str] = (), once: str | None = None,
    ) -> Outcome:  # fmt: skip
        """Publish every table: `release_file` with its arguments."""
        with _in_lines():
            return release_file(
                self.path, self.data, output, force, self.only_release, new_ledger, anyway, self.window, only=only,
                again=again, once=once,
            )  # fmt: skip

    def __str__(self) -> str:
        with _in_lines():
            return f"{self.path.name}\n\n{text_table(_HEADER, self._rows())}"

    def _repr_html_(self) -> str:
        with _in_lines():
            return f"<h3>{text(self.path.name)}</h3>{html_table(_HEADER, self._rows())}"

    @without_data
    def _rows(self) -> list[tuple[str, ...]]:
        file = self._file()
        return [(item.name, item.query, _promised(file, item), item.mechanism) for item in file.items]

    @without_data
    def _compared(self) -> Comparison:
        return comparison(self._file())

    @without_data
    def _calibrated(self) -> Calibrated:
        with stopping():
            planned = calibrated(self._file())
        return Calibrated(calibrated_tables(planned), forecast_of(planned))

    @without_data
    def _foreseen(self, output: str | Path | None, new_ledger: bool, anyway: bool, choice: Choice) -> DryRun:
        with stopping(once=False):
            folder = None if output is None else Path(output)
            return dry_run(self._file(), folder, new_ledger, anyway, choice=choice)

    def _file(self) -> ReleaseFile:
        return load(self.path, self.data, self.only_release, self.window)


def open_study(
    path: str | Path, data: object = None, *, only_release: bool = False, window: str | None = None
) -> Study:
    """Open a release file for a notebook.

    `compare`, `advise`, `calibrate`, `dry_run`, `release` show their results. `data`, `only_release` and `window` are
    those of `release_file`. Each step reads the file anew, so that it may be edited in between. Raises SpecError for a
    faulty file.

    >>> from takifugu.cli.samples import write_demo
    >>> study = open_study(write_demo(Path("study")))
    >>> print(study.compare().tables[0].rows[0].name)
    group
    >>> study.dry_run().forecast.refused
    False
    """
    study = Study(Path(path), data, only_release, window)
    with _in_lines():
        study._rows()
    return study


def _promised(file: ReleaseFile, item: Item) -> str:
    """Return a table's epsilon in words, with any tables sharing it."""
    together = f" for {len(sharing(file, item))} tables" if item.shares_epsilon else ""
    return f"{epsilon_of(file, item)}{together}"


@contextmanager
def _in_lines() -> Iterator[None]:
    """Show errors in a notebook as the command line does.

    IPython asks an exception how its traceback looks.
    """
    try:
        yield
    except TakifuguError as error:
        vars(error)["_render_traceback_"] = lambda error=error: _lines(error)
        raise


def _lines(error: TakifuguError) -> list[str]:
    lines = [*error.problems] if isinstance(error, SpecError) else [error.message]
    return [f"takifugu: {line}" for line in [*lines, standing(error)] if line]
