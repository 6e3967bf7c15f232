import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoecon.agents.conductor import conduct, conduct_concurrently
from infoecon.agents.plays import Ask, Reply
from infoecon.errors import InfoeconError


def counting_play(number, waves):
    """A play whose waves grow: 1 ask, 2 asks, …; it returns all that was said."""
    said = []
    for size in range(1, waves + 1):
        asks = tuple(
            Ask(agent, "count", (number, size, agent), str, ("test", number, size, agent)) for agent in range(size)
        )
        said += [reply.text for reply in (yield asks)]
    return said


class Instant:
    def answer(self, ask):
        return Reply(str(ask.view))


class Slow:
    """Answers late and out of order."""

    def __init__(self, fails_at=None):
        self.asked = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.fails_at = fails_at

    async def answer(self, ask):
        self.asked += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        if self.asked == self.fails_at:
            raise InfoeconError("Gone.")
        await asyncio.sleep(random.random() / 500)
        self.in_flight -= 1
        return Reply(str(ask.view))


@given(st.lists(st.integers(0, 3), max_size=8), st.integers(1, 5))
def test_both_ways_give_the_same_records_in_the_same_order(waves, plays_in_flight):
    def plays():
        return (counting_play(number, count) for number, count in enumerate(waves))

    plain = list(conduct(plays(), Instant()))
    concurrent = asyncio.run(conduct_concurrently(plays(), Slow(), plays_in_flight))
    assert plain == concurrent
    assert [len(record) for record in plain] == [count * (count + 1) // 2 for count in waves]


def test_replies_and_ends_are_told():
    replies, ends = [], []
    asyncio.run(
        conduct_concurrently(
            (counting_play(number, 2) for number in range(5)),
            Slow(),
            2,
            lambda: replies.append(1),
            lambda: ends.append(1),
        )
    )
    assert (len(replies), len(ends)) == (15, 5)


def test_no_more_plays_than_allowed_are_open():
    policy = Slow()
    asyncio.run(conduct_concurrently((counting_play(number, 1) for number in range(30)), policy, 4))
    assert policy.most_in_flight == 4


def test_the_first_error_ends_all_and_leaves_no_task():
    async def run():
        policy = Slow(fails_at=20)
        with pytest.raises(InfoeconError, match="Gone"):
            await conduct_concurrently((counting_play(number, 3) for number in range(50)), policy, 4)
        assert len(asyncio.all_tasks()) == 1
        return policy.asked

    assert asyncio.run(run()) < 50
