"""What other tools say about us: their own tests with our code in place of theirs, and their values beside ours.

Belongs here: what `make suites` and `make oracles` run. Nothing of the other tools is kept here: the tests come from a
folder that the user names, the packages from an environment of their own.
"""
