import asyncio

from hypothesis import given
from hypothesis import strategies as st

from infoecon.language_models.concurrency import AdaptiveLimit


@given(st.integers(1, 64), st.lists(st.booleans(), max_size=200))
def test_the_limit_stays_between_one_and_its_ceiling(ceiling, events):
    limit = AdaptiveLimit(ceiling)
    for refused in events:
        before = limit.limit
        limit.refused() if refused else limit.served()
        assert 1 <= limit.limit <= ceiling
        assert limit.limit <= before if refused else limit.limit >= before


def test_a_volley_of_refusals_halves_once_and_service_restores():
    limit = AdaptiveLimit(16)
    for _ in range(16):
        limit.refused()
    assert limit.limit == 8
    for _ in range(200):
        limit.served()
    assert limit.limit == 16


def test_half_of_a_volley_refused_halves_once():
    limit = AdaptiveLimit(32)
    for number in range(32):
        limit.refused() if number % 2 else limit.served()
    assert limit.limit == 16


def test_an_endpoint_that_keeps_refusing_is_asked_less_and_less():
    limit = AdaptiveLimit(16)
    limits = []
    for _ in range(5):
        for _ in range(limit.limit):
            limit.served()
        limit.refused()
        limits.append(limit.limit)
    assert limits == [8, 4, 2, 1, 1]


def test_waiting_requests_start_as_others_end():
    async def run():
        limit = AdaptiveLimit(3)
        running, most = 0, 0

        async def work():
            nonlocal running, most
            async with limit.slot():
                running += 1
                most = max(most, running)
                await asyncio.sleep(0.001)
                running -= 1

        await asyncio.gather(*(work() for _ in range(20)))
        return most

    assert asyncio.run(run()) == 3
