"""Learn: rankings that are made to find everything, from judgments.

Belongs here: fusing runs, with the loss that is minimised, and what the result is compared with. Not here: evaluating
runs as they are (verbs), losses for neural rankers (torch).
"""
