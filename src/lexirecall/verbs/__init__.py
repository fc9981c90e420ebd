"""The verbs: what a user asks for, from input to a frozen result that prints and converts itself.

Belongs here: one module for each verb.
"""
