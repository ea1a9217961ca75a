"""What the columns of a table hold, as `takifugu init` sees it."""

from takifugu.data import Table
from takifugu.releasing.file.guessing.columns import first_look


def kinds_of(table: Table) -> dict[str, str]:
    return {name: column.kind for name, column in first_look(table).columns.items()}
