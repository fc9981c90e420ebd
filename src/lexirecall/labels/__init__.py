"""Labels: how much a result depends on what nobody has judged, and what a sample says of what was not read.

Belongs here: labellings that are possible, decisions that they reverse, what to judge next, certificates of recall.
Nothing else needs this room.
"""
