"""Groups in Spark: which queries belong together, and how many values may come to the driver for them.

Belongs here: taking the groups in any of their forms, and the limit. Not here: what is made of the values (verbs).
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lexirecall.aggregation import Aggregation
from lexirecall.engines.spark_faults import explained
from lexirecall.engines.spark_workspace import is_frame
from lexirecall.errors import UsageError
from lexirecall.formats.columns import Given, find_columns
from lexirecall.verbs import evaluate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_VALUES = 10**8
"""Values that come to the driver: 800 MB, and by default Spark refuses results of more than a gigabyte."""


NamedGroups = tuple[dict[bytes, bytes], str]
"""The group of each request, and what messages call the map."""


def read_aggregation(asked: Aggregation, qrels: "DataFrame", columns: Given) -> NamedGroups | None:
    """Check what values are to be aggregated over, and bring the group of each request to the driver, if asked for."""
    own: Any = None
    with explained():
        if isinstance(asked.by, str) and asked.by in qrels.columns:
            request = find_columns(qrels.columns, "qrels", columns, source="qrels").request
            own = qrels.select(request, asked.by).distinct().toArrow()
        elif is_frame(asked.by):
            asked = replace(asked, by=asked.by.toArrow())
    return evaluate.read_aggregation(asked, own, {"columns": columns})


def check_number_of_values(num_systems: int, num_requests: int, num_measures: int) -> None:
    """Raise if too many values would come to the driver.

    >>> check_number_of_values(100, 10**6, 7)
    Traceback (most recent call last):
    lexirecall.errors.UsageError: over and by need every value on the driver: 700,000,000, and the limit is 100,000,000
      ask for fewer runs or measures at a time, or aggregate per_query in Spark
    """
    if (number := num_systems * num_requests * num_measures) > MOST_VALUES:
        raise UsageError(
            f"over and by need every value on the driver: {number:,}, and the limit is {MOST_VALUES:,}",
            remedy="ask for fewer runs or measures at a time, or aggregate per_query in Spark",
        )
