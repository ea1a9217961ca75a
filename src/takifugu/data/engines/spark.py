"""Apache Spark for kinds of release files that are not read as relations yet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from takifugu.core.errors import TakifuguError
from takifugu.data.cluster import spark
from takifugu.data.engines.outside import Address, Engine


def opened(address: Address) -> Any:
    """Return the frame at an address, with the columns that the release file names."""
    place = address.file if address.file is not None else str(address.table)
    try:
        return spark.opened(place, Path(), lambda read: address.columns or read.columns)
    except TakifuguError as error:
        if address.file is None and error.where == ("file",):
            error.where = ("table",)
        raise


SPARK = Engine("spark", holds=lambda data: False, frame=lambda data: data, opened=opened)
