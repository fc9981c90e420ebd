"""The version, in one place. Belongs here: nothing else; asking an installed package for it is slow."""

VERSION = "0.1.0"
