"""Ibis tables: one of DuckDB's is the relation that its expression says; of other engines they are refused.

narwhals reads no times of Ibis as integers, and strips no chosen characters from its texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from takifugu.core.errors import InputError

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation
    from ibis import Table


def relation_of(table: Table) -> DuckDBPyRelation:
    """Return the relation of an Ibis table whose rows DuckDB holds; InputError where another engine does."""
    import ibis

    engine = table.get_backend()
    if engine.name != "duckdb":
        raise InputError(
            f"the data is an Ibis table of {engine.name}",
            rule="of Ibis, tables of DuckDB are read: narwhals reads no times of Ibis as whole numbers",
            fix="give what the engine holds itself (a Spark or Polars frame), or table.to_pyarrow(), which loads all",
        )
    engine.to_pyarrow_batches(table.limit(0)).close()  # DuckDB gets to know tables of this process's memory
    relation: DuckDBPyRelation = engine.con.sql(str(ibis.to_sql(table, dialect="duckdb")))
    return relation
