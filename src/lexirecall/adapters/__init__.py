"""Adapters: lexirecall inside the tools that people already use.

Belongs here: one module for each tool, which takes what that tool takes and gives what it gives. Not here: formulas
(measures), reading (formats).
"""
