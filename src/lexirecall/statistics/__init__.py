"""Statistics: what the differences between systems are worth.

Belongs here: tests of pairs (`paired`), corrections for many of them (`corrections`), all systems at once (`hsd`), how
much a measure can tell apart (`power`), and one order of systems (`aggregate`). Numbers in, numbers out: no names of
runs, no tables.
"""
