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


REMOTE = {"endpoint": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "served", "max_retries": 0}


def test_an_endpoint_without_a_price_is_asked_nothing(tmp_path):
    with pytest.raises(InfoeconError, match=r"'mine' has no price in config/models.yaml, so nothing is sent; .*\.$"):
        respond(registry(mine=REMOTE), "mine", tmp_path, any_request)
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        (None, "'mine' needs its API key in the environment variable MY_KEY; set it."),
        ("  ", "'mine' needs its API key in the environment variable MY_KEY; set it."),
        ("sk-secr\u00e9t", "MY_KEY holds what is no API key for 'mine'; set it."),
        ("sk-secret\nsk-secret", "MY_KEY holds what is no API key for 'mine'; set it."),
        ("sk-secret", "Cannot reach model 'mine' at http://127.0.0.1:9/v1; "),
    ],
)
def test_a_key_that_is_missing_or_none_is_one_sentence(tmp_path, monkeypatch, capfd, key, sentence):
    monkeypatch.delenv("MY_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("MY_KEY", key)
    with pytest.raises(InfoeconError) as caught:
        respond(registry(mine=REMOTE | {"price": "free", "api_key_variable": "MY_KEY"}), "mine", tmp_path, any_request)
    assert sentence in str(caught.value)
    assert str(caught.value).isprintable()
    assert "secr" not in str(caught.value) + "".join(capfd.readouterr())


def test_stored_answers_need_neither_key_nor_price_nor_server(tmp_path, capfd):
    models = registry(mine=REMOTE | {"api_key_variable": "NO_SUCH_KEY"})
    with ResponseStore(tmp_path / "mine") as store:
        store.put(any_request(identify(models.root["mine"])), Response("FINAL A", "stop"))
    assert respond(models, "mine", tmp_path, any_request).text == "FINAL A"
    assert capfd.readouterr().err == (
        "mine: 0 asked, 1 from the store, 0 prompt and 0 output tokens, 0.0000 USD, 0 retries\n"
    )


def test_an_address_with_a_password_is_refused():
    with pytest.raises(ValueError, match="base_url"):
        registry(mine=REMOTE | {"base_url": "http://me:secret@127.0.0.1/v1"})


def test_identity_is_what_decides_answers_and_nothing_else(embedded):
    faster = embedded.model_copy(update={"slots": 2, "threads": 1, "context_tokens": 2048})
    assert identify(faster) == identify(embedded)
    assert identify(embedded.model_copy(update={"weights_sha256": "0" * 64})) != identify(embedded)
    remote = {"endpoint": "openai", "base_url": "http://a/v1", "model": "m"}
    one = registry(a=remote, b=remote | {"base_url": "http://b/v1", "concurrency": 2}, c=remote | {"revision": "2"})
    assert identify(one.root["a"]) == identify(one.root["b"]) != identify(one.root["c"])
