"""Plays that ask, policies that answer, and the conductor that drives many plays at once."""
