import json
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoecon.language_models.meter import BudgetExceededError, Meter
from infoecon.language_models.requests import ModelIdentity, Request, Response
from infoecon.settings.budget import Budget
from infoecon.settings.models import Price, Sampling

REQUEST = Request(
    ModelIdentity("model", "engine", "revision"),
    ({"role": "user", "content": "How much?"},),
    Sampling(max_output_tokens=100),
    seed=1,
)
PRICE = Price(prompt=2.0, cached_prompt=0.5, output=8.0)

calls = st.lists(
    st.tuples(
        st.text(max_size=300),
        st.integers(1, 500),
        st.sampled_from(["settle", "settle", "settle", "release"]),
        st.none() | st.floats(0, 1),
        st.none() | st.floats(0, 1),
        st.none() | st.floats(0, 1),
    ),
    max_size=30,
)
prices = st.builds(
    Price, prompt=st.floats(0, 100), cached_prompt=st.none() | st.floats(0, 100), output=st.floats(0, 100)
)
budgets = st.builds(Budget, max_tokens=st.none() | st.integers(0, 5000), max_usd=st.none() | st.floats(0, 0.2))


@given(calls, prices, budgets, st.randoms(use_true_random=False))
def test_no_order_of_calls_passes_a_cap(calls, price, budget, random):
    meter = Meter(budget, price)
    under_way = []
    spent = [(0, 0.0)]

    def end_one():
        call, request, reservation = under_way.pop(random.randrange(len(under_way)))
        _, _, ending, *shares = call
        if ending == "release":
            meter.release(reservation)
        else:
            prompt, cached, output = shares
            took = None if prompt is None else int(prompt * reservation.prompt)
            meter.settle(
                request,
                reservation,
                Response(
                    "",
                    "stop",
                    prompt_tokens=took,
                    cached_tokens=None if cached is None or took is None else int(cached * took),
                    output_tokens=None if output is None else int(output * reservation.output),
                ),
            )
        usage = meter.usage
        spent.append((usage.prompt_tokens + usage.output_tokens, usage.usd))
        assert budget.max_tokens is None or spent[-1][0] <= budget.max_tokens
        assert budget.max_usd is None or spent[-1][1] <= budget.max_usd

    for call in calls:
        content, most = call[:2]
        request = replace(
            REQUEST, messages=({"role": "user", "content": content},), sampling=Sampling(max_output_tokens=most)
        )
        with suppress(BudgetExceededError):
            under_way.append((call, request, meter.reserve(request)))
        while under_way and random.random() < 0.5:
            end_one()
    while under_way:
        end_one()
    assert all(before[0] <= after[0] and before[1] <= after[1] for before, after in pairwise(spent))


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=20), prices, st.data())
def test_the_bill_does_not_depend_on_the_order(answers, price, data):
    bills = set()
    for order in (answers, data.draw(st.permutations(answers))):
        meter = Meter(Budget(), price)
        for prompt, output in order:
            meter.settle(
                REQUEST, meter.reserve(REQUEST), Response("", "stop", prompt_tokens=prompt, output_tokens=output)
            )
        bills.add(json.dumps(meter.summary()))
    assert len(bills) == 1


@pytest.mark.parametrize("content", ["", "ascii", "é漢😀", "half \ud800"])
def test_the_worst_case_is_one_token_for_each_byte(content):
    sizes = [
        Meter(Budget(), "free").reserve(replace(REQUEST, messages=({"role": "user", "content": text},))).prompt
        for text in ("", content)
    ]
    assert sizes[1] - sizes[0] == len(content.encode("utf-8", "surrogatepass"))


def test_calls_under_way_count_until_they_end():
    worst = sum(Meter(Budget(), "free").reserve(REQUEST))
    meter = Meter(Budget(max_tokens=2 * worst), "free")
    first = meter.reserve(REQUEST)
    meter.reserve(REQUEST)
    with pytest.raises(BudgetExceededError, match=f"budget.max_tokens = {2 * worst}; "):
        meter.reserve(REQUEST)
    meter.release(first)
    meter.reserve(REQUEST)


def test_a_settled_call_counts_at_what_it_took():
    worst = sum(Meter(Budget(), "free").reserve(REQUEST))
    meter = Meter(Budget(max_tokens=worst + 10), "free")
    for _ in range(2):
        meter.settle(REQUEST, meter.reserve(REQUEST), Response("", "stop", prompt_tokens=4, output_tokens=1))
    meter.reserve(REQUEST)


def test_a_refused_call_reserves_nothing():
    worst = sum(Meter(Budget(), "free").reserve(REQUEST))
    meter = Meter(Budget(max_tokens=worst), "free")
    longer = replace(REQUEST, messages=REQUEST.messages * 2)
    with pytest.raises(BudgetExceededError):
        meter.reserve(longer)
    meter.reserve(REQUEST)


def test_the_bill():
    meter = Meter(Budget(), PRICE)
    response = Response("", "stop", prompt_tokens=1000, cached_tokens=400, reasoning_tokens=30, output_tokens=50)
    meter.settle(REQUEST, meter.reserve(REQUEST), response)
    assert meter.summary() == {
        "asked": 1,
        "stored": 0,
        "unreported": 0,
        "retries": 0,
        "prompt_tokens": 1000,
        "cached_tokens": 400,
        "reasoning_tokens": 30,
        "output_tokens": 50,
        "usd": (600 * 2.0 + 400 * 0.5 + 50 * 8.0) / 1e6,
    }


def test_an_endpoint_that_reports_nothing_costs_its_worst_case():
    meter = Meter(Budget(), PRICE)
    reservation = meter.reserve(REQUEST)
    meter.settle(REQUEST, reservation, Response("", "stop"))
    usage = meter.usage
    assert (usage.prompt_tokens, usage.output_tokens, usage.unreported) == (*reservation, 1)


def test_cached_tokens_cost_the_full_price_where_no_other_is_given():
    meter = Meter(Budget(), Price(prompt=2.0, output=0.0))
    meter.settle(
        REQUEST, meter.reserve(REQUEST), Response("", "stop", prompt_tokens=100, cached_tokens=90, output_tokens=1)
    )
    assert meter.usage.usd == 200 / 1e6


def test_more_cached_tokens_than_the_prompt_has_earn_nothing():
    meter = Meter(Budget(), PRICE)
    meter.settle(
        REQUEST, meter.reserve(REQUEST), Response("", "stop", prompt_tokens=100, cached_tokens=900, output_tokens=0)
    )
    assert meter.usage.usd == 50 / 1e6


def test_a_free_endpoint_has_no_price_but_a_cap_on_tokens():
    Meter(Budget(max_usd=0.0), "free").reserve(REQUEST)
    with pytest.raises(BudgetExceededError):
        Meter(Budget(max_tokens=100), "free").reserve(REQUEST)
    with pytest.raises(BudgetExceededError, match=r"max_usd = 0;"):
        Meter(Budget(max_usd=0.0), PRICE).reserve(REQUEST)
