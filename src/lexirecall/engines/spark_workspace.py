"""Spark's workspace: the views and frames of one evaluation, which are held as long as they are in use.

Belongs here: recognizing frames of Spark, running queries over them, and letting go of what was held. Not here: the
queries (spark_tables).
"""

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from lexirecall.engines.spark_faults import quietly
from lexirecall.engines.spark_session import pyspark
from lexirecall.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def is_frame(frame: Any) -> bool:
    """Tell whether this is a data frame of Spark."""
    return type(frame).__module__.startswith("pyspark.sql")


def check_frame(frame: Any, what: str) -> None:
    """Raise unless this is a data frame of Spark."""
    if not is_frame(frame):
        raise UsageError(
            f"{what} is of type {type(frame).__name__}, but must be a Spark data frame",
            remedy="spark.read.parquet(...) and spark.createDataFrame(...) return one",
        )


class Workspace:
    """Views and frames that are held while they are in use; its names are unique, so sessions can be shared."""

    def __init__(self, spark: "SparkSession") -> None:
        self.spark = spark
        self._views: dict[int, str] = {}
        self._frames: list[DataFrame] = []

    def sql(self, text: str, **frames: "DataFrame") -> "DataFrame":
        """Run a query in which {name} stands for a frame.

        Spark's own way to do this drops the views at once, and with a view goes what is kept of its frame.
        """
        return self.spark.sql(text.format(**{name: self._view(frame) for name, frame in frames.items()}))

    def _view(self, frame: "DataFrame") -> str:
        if id(frame) not in self._views:
            self._views[id(frame)] = f"lexirecall_{uuid4().hex}"
            self._frames.append(frame)  # keeps the id from being used again
            frame.createOrReplaceTempView(self._views[id(frame)])
        return self._views[id(frame)]

    def hold(self, frame: "DataFrame") -> "DataFrame":
        """Keep a frame, in memory or on disk, so that it is not computed again for each query."""
        self._frames.append(frame.persist(pyspark("storagelevel").StorageLevel.MEMORY_AND_DISK))
        return frame

    @quietly()
    def release(self) -> None:
        """Let go of all that is held; what was made from it can still be computed."""
        for frame in self._frames:
            if frame.is_cached:
                frame.unpersist()
        for name in self._views.values():
            self.spark.catalog.dropTempView(name)
