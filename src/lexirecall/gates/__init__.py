"""Gates: whether a change lost something that must be found, and where.

Belongs here: the gate that a run must pass, and the funnel of the stages that a document passes. Nothing else imports
this room.
"""
