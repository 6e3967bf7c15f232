import asyncio

import pytest

from infoecon.errors import InfoeconError
from infoecon.language_models.endpoints import identify, open_client
from infoecon.language_models.requests import Request, Response
from infoecon.language_models.store import ResponseStore
from infoecon.settings.budget import Budget
from infoecon.settings.models import ModelRegistry, Sampling
from infoecon.settings.pipeline import load_models

MESSAGES = ({"role": "user", "content": "Choose."},)


def registry(**models):
    return ModelRegistry.model_validate(models)


def respond(models, name, directory, request_of):
    async def run():
        async with open_client(name, models, directory, Budget(), directory / "server.log") as client:
            return await client.respond(request_of(client.identity))

    return asyncio.run(run())


def any_request(identity):
    return Request(identity, MESSAGES, Sampling(), seed=1)


@pytest.fixture
def embedded(repository):
    return load_models(repository / "config/models.yaml").root["smollm2-135m-instruct"]


def test_an_unknown_model_names_the_known_ones(tmp_path, embedded):
    with pytest.raises(InfoeconError, match=r"holds no model 'gpt-9'; it holds: small\."):
        respond(registry(small=embedded.model_dump()), "gpt-9", tmp_path, any_request)


def test_a_replay_answers_from_the_store_of_what_it_replays(tmp_path, embedded):
    models = registry(small=embedded.model_dump(), again={"endpoint": "replay", "of": "small"})
    with ResponseStore(tmp_path / "small") as store:
        store.put(any_request(identify(embedded)), Response("FINAL A", "stop"))
    assert respond(models, "again", tmp_path, any_request).text == "FINAL A"


def test_a_replay_that_misses_is_one_sentence(tmp_path, embedded):
    models = registry(small=embedded.model_dump(), again={"endpoint": "replay", "of": "small"})
    with pytest.raises(InfoeconError, match=r"no answer for a request of 'again', and a replay asks nobody"):
        respond(models, "again", tmp_path, any_request)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"weights_sha256": "0" * 64}, "is not the file whose SHA-256 stands in config/models.yaml"),
        ({"distribution": "no-such-package"}, "needs the Python package no-such-package, which is not installed"),
        ({"file": "other.gguf"}, "holds no file other.gguf"),
    ],
)
def test_weights_that_are_missing_or_wrong_are_one_sentence(tmp_path, embedded, change, sentence):
    with pytest.raises(InfoeconError, match=sentence):
        respond(registry(small=embedded.model_dump() | change), "small", tmp_path, any_request)


def test_identity_is_what_decides_answers_and_nothing_else(embedded):
    faster = embedded.model_copy(update={"slots": 2, "threads": 1, "context_tokens": 2048})
    assert identify(faster) == identify(embedded)
    assert identify(embedded.model_copy(update={"weights_sha256": "0" * 64})) != identify(embedded)
    remote = {"endpoint": "openai", "base_url": "http://a/v1", "model": "m"}
    one = registry(a=remote, b=remote | {"base_url": "http://b/v1", "concurrency": 2}, c=remote | {"revision": "2"})
    assert identify(one.root["a"]) == identify(one.root["b"]) != identify(one.root["c"])
