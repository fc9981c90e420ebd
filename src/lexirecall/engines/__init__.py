"""Engines: evaluation where the tables are, for tables that are too large for one machine.

Belongs here: Spark, which runs the same plan as DuckDB. Not here: the plan, and DuckDB, which is a reader (formats).
"""
