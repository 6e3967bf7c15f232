"""What a language model is asked for an ask, and what of its answer the game sees; the store answers."""

import asyncio

import pytest

from infoecon.agents.language_model_policy import LanguageModelPolicy
from infoecon.agents.plays import Ask, Reply
from infoecon.errors import InfoeconError
from infoecon.language_models.client import LanguageModelClient
from infoecon.language_models.meter import Meter
from infoecon.language_models.requests import ModelIdentity, Request, Response
from infoecon.language_models.store import ResponseStore
from infoecon.settings.budget import Budget
from infoecon.settings.models import Sampling

IDENTITY = ModelIdentity("model", "engine", "revision")
SAMPLING = Sampling(temperature=0.7, max_output_tokens=9)


def render(view):
    return [{"role": "system", "content": "Rules."}, {"role": "user", "content": f"You see {view}."}]


ASK = Ask(2, "work", "a board", render, ("study", 0, 2), truth="hidden")
STORED = Request(IDENTITY, tuple(render("a board")), SAMPLING, seed=ASK.seed(), replicate=3)


async def nobody():
    raise InfoeconError("Nobody is there.")


@pytest.fixture
def client(tmp_path):
    """A client whose store holds one answer, and that can reach nobody."""
    with ResponseStore(tmp_path) as store:
        store.put(STORED, Response("ACTION QUERY", "length", 50, 40, 6, 9))
        yield LanguageModelClient(IDENTITY, store, Meter(Budget(), "free"), 1, nobody)


def test_the_answer_to_the_rendered_ask_is_the_reply(client):
    reply = asyncio.run(LanguageModelPolicy(client, SAMPLING, replicate=3).answer(ASK))
    assert reply == Reply("ACTION QUERY", "length", 50, 9, 6, STORED.key)


@pytest.mark.parametrize(
    ("changes", "sampling", "replicate"),
    [
        ({"key": ("study", 0, 3)}, SAMPLING, 3),
        ({"view": "no board"}, SAMPLING, 3),
        ({}, Sampling(temperature=0.7, max_output_tokens=10), 3),
        ({}, SAMPLING, 0),
    ],
    ids=["seed", "view", "sampling", "replicate"],
)
def test_all_that_decides_an_answer_is_asked_anew(client, changes, sampling, replicate):
    with pytest.raises(InfoeconError, match="Nobody is there"):
        asyncio.run(LanguageModelPolicy(client, sampling, replicate).answer(ASK._replace(**changes)))


def test_what_no_agent_may_know_changes_nothing(client):
    policy = LanguageModelPolicy(client, SAMPLING, replicate=3)
    other = ASK._replace(truth="something else", agent=1, phase="final")
    assert asyncio.run(policy.answer(other)) == asyncio.run(policy.answer(ASK))
