"""The conductor: it carries asks from many plays to a policy and the replies back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from infoecon.agents.plays import Ask, Play, Policy, RemotePolicy, Reply

Record = TypeVar("Record")


def conduct(plays: Iterable[Play[Record]], policy: Policy) -> Iterator[Record]:
    """Drive plays one after another with a policy that answers at once.

    Yields
    ------
    Record
        What each play returned, in the order of ``plays``.
    """
    answer = policy.answer
    for play in plays:
        try:
            asks = next(play)
            while True:
                asks = play.send([answer(ask) for ask in asks])
        except StopIteration as stop:
            yield stop.value


async def conduct_concurrently(
    plays: Iterable[Play[Record]],
    policy: RemotePolicy,
    plays_in_flight: int,
    on_reply: Callable[[], object] = lambda: None,
    on_end: Callable[[], object] = lambda: None,
) -> list[Record]:
    """Drive many plays at once with a policy that has to be waited for.

    Parameters
    ----------
    plays_in_flight
        Most plays that are open at once; the asks of one phase are sent together, so a bound of the endpoint's own
        concurrency keeps it busy.
    on_reply, on_end
        Called after each reply and after each finished play, for progress.

    Returns
    -------
    list
        What each play returned, in the order of ``plays``, whatever the order of the replies.

    Raises
    ------
    Exception
        The first error of a reply, after all other waiting asks were cancelled.
    """
    waiting = enumerate(plays)
    records: dict[int, Record] = {}

    async def reply_to(ask: Ask) -> Reply:
        reply = await policy.answer(ask)
        on_reply()
        return reply

    async def replies_to(asks: tuple[Ask, ...]) -> list[Reply]:
        async with asyncio.TaskGroup() as wave:
            waiting_for = [wave.create_task(reply_to(ask)) for ask in asks]
        return [task.result() for task in waiting_for]

    async def drive(play: Play[Record]) -> Record:
        try:
            asks = next(play)
            while True:
                asks = play.send(await replies_to(asks))
        except StopIteration as stop:
            on_end()
            return stop.value  # type: ignore[no-any-return]

    async def work() -> None:
        for index, play in waiting:
            records[index] = await drive(play)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(plays_in_flight):
                group.create_task(work())
    except* Exception as errors:
        raise _first(errors) from None
    return [records[index] for index in range(len(records))]


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
