"""Engines: the relevance projection as one SQL plan, for tables that are too large for memory or for one machine.

Belongs here: the plan and those who run it.
"""
