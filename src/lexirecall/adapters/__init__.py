"""Adapters: lexirecall inside the tools that people already use.

Belongs here: one module for each tool, which takes and gives what that tool takes and gives. Not here: formulas
(measures), reading (formats).
"""
