"""Additive increase, multiplicative decrease: how many requests may be in flight at an endpoint that says 429."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class AdaptiveLimit:
    """A bound on requests in flight that halves when the endpoint refuses and grows while it serves.

    Parameters
    ----------
    ceiling
        Most requests in flight; where it starts.
    """

    def __init__(self, ceiling: int) -> None:
        self.ceiling = ceiling
        self._limit = float(ceiling)
        self._in_flight = 0
        self._still_of_this_round = 0
        self._freed = asyncio.Event()

    @property
    def limit(self) -> int:
        """Requests that may be in flight now; never below 1."""
        return max(1, int(self._limit))

    def refused(self) -> None:
        """Halve the limit, once for all requests that were in flight together."""
        if self._still_of_this_round <= 0:
            self._limit = max(1.0, self._limit / 2)
            self._still_of_this_round = self.limit

    def served(self) -> None:
        """Grow the limit by one for every full round of served requests."""
        self._still_of_this_round -= 1
        self._limit = min(float(self.ceiling), self._limit + 1 / self._limit)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one of the slots, waiting for it first."""
        while self._in_flight >= self.limit:
            self._freed.clear()
            await self._freed.wait()
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1
            self._freed.set()
