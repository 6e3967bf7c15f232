"""The one error that a user is meant to read."""

from __future__ import annotations


class InfoeconError(Exception):
    """A mistake that one sentence explains: what is wrong, where, and how to mend it.

    Scripts and the Snakefile print the sentence without a traceback and exit with status 1.
    """
