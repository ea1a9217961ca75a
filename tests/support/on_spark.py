"""A session of Spark on this machine, whose executors run this Python."""

import os
import sys
from collections.abc import Iterator
from typing import Any


def running() -> Iterator[Any]:
    """Yield a session that shows Berlin and logs nothing, and stop it: the body of a fixture."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").appName("takifugu tests")
    settings = {
        "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1", "spark.sql.session.timeZone": "Europe/Berlin", "spark.log.level": "OFF",
    }  # fmt: skip
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
