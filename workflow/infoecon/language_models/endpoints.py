"""From a name in ``models.yaml`` to a client that answers.

Each kind of endpoint gives two things: the identity that enters every key, and a way to connect that is used only
when the store does not hold an answer. A new kind (for example one that starts ``vllm serve`` inside the job) is one
more class in ``settings.models``, one more branch in each of the two functions below.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import metadata
from pathlib import Path
from typing import Literal

from infoecon.errors import InfoeconError
from infoecon.language_models.client import Connect, Endpoint, LanguageModelClient
from infoecon.language_models.meter import Meter
from infoecon.language_models.requests import ModelIdentity
from infoecon.language_models.servers import embedded_server
from infoecon.language_models.store import ResponseStore
from infoecon.settings.budget import Budget
from infoecon.settings.models import EmbeddedModel, LanguageModel, ModelRegistry, OpenAIModel, Price, ReplayModel

_EMBEDDED_TIMEOUT_SECONDS = 600.0
# The official client insists on a key.
_NO_KEY = "no-key"


def identify(model: EmbeddedModel | OpenAIModel) -> ModelIdentity:
    """Say what decides a model's answers; its name here, its address and its speed do not."""
    match model:
        case EmbeddedModel():
            try:
                version = metadata.version("xllamacpp")
            except metadata.PackageNotFoundError:
                raise InfoeconError(
                    f"The embedded model {model.file} needs the Python package xllamacpp, which is not installed; run "
                    "`make` or install envs/requirements.lock."
                ) from None
            return ModelIdentity(
                name=model.file,
                engine=f"llama.cpp of xllamacpp {version}",
                revision=model.revision,
                weights_sha256=model.weights_sha256,
                quantisation=model.quantisation,
            )
        case OpenAIModel():
            return ModelIdentity(
                name=model.model,
                engine="openai-compatible",
                revision=model.revision,
                adapter_sha256=model.adapter_sha256,
            )


def _concurrency(model: EmbeddedModel | OpenAIModel) -> int:
    return model.slots if isinstance(model, EmbeddedModel) else model.concurrency


def _connection(name: str, model: LanguageModel, log: Path, stack: AsyncExitStack) -> Connect:
    async def start_embedded() -> Endpoint:
        assert isinstance(model, EmbeddedModel)
        address = await stack.enter_async_context(embedded_server(name, model, log))
        return Endpoint(name, address.base_url, model.file, address.api_key, None, _EMBEDDED_TIMEOUT_SECONDS, 2)

    async def reach_openai() -> Endpoint:
        assert isinstance(model, OpenAIModel)
        variable = model.api_key_variable
        if model.price is None:
            raise InfoeconError(
                f"Model {name!r} has no price in config/models.yaml, so nothing is sent; give it USD per million "
                "tokens, or `price: free` for your own server."
            )
        key = _NO_KEY if variable is None else os.environ.get(variable, "").strip()
        if not key:
            raise InfoeconError(f"Model {name!r} needs its API key in the environment variable {variable}; set it.")
        if not (key.isascii() and key.isprintable()):
            raise InfoeconError(f"The environment variable {variable} holds what is no API key for {name!r}; set it.")
        return Endpoint(name, model.base_url, model.model, key, variable, model.timeout_seconds, model.max_retries)

    async def refuse() -> Endpoint:
        raise InfoeconError(
            f"The response store holds no answer for a request of {name!r}, and a replay asks nobody; run the model "
            "that it replays with the same settings first."
        )

    match model:
        case EmbeddedModel():
            return start_embedded
        case OpenAIModel():
            return reach_openai
        case ReplayModel():
            return refuse


@asynccontextmanager
async def open_client(
    name: str, models: ModelRegistry, cache_directory: Path, budget: Budget, log: Path
) -> AsyncIterator[LanguageModelClient]:
    """Open a client for a model; its server, if any, starts at the first request that the store cannot answer.

    Parameters
    ----------
    name
        Name in ``models.yaml``.
    cache_directory
        Holds one response store per model.
    budget
        Caps for this client.
    log
        File for the messages of a server that is started.

    Raises
    ------
    InfoeconError
        If the model is unknown, and from requests as the client says.
    """
    if name not in models.root:
        raise InfoeconError(
            f"config/models.yaml holds no model {name!r}; it holds: {', '.join(sorted(models.root)) or 'none'}."
        )
    model = models.root[name]
    stored = models.root[model.of] if isinstance(model, ReplayModel) else model
    assert not isinstance(stored, ReplayModel)
    store_name = model.of if isinstance(model, ReplayModel) else name
    price: Price | Literal["free"] = (stored.price if isinstance(stored, OpenAIModel) else None) or "free"
    async with AsyncExitStack() as stack:
        store = stack.enter_context(ResponseStore(cache_directory / store_name))
        client = LanguageModelClient(
            identify(stored), store, Meter(budget, price), _concurrency(stored), _connection(name, model, log, stack)
        )
        stack.push_async_callback(client.close)
        try:
            yield client
        finally:
            usage = client.meter.usage
            print(
                f"{name}: {usage.asked} asked, {usage.stored} from the store, {usage.prompt_tokens} prompt and "
                f"{usage.output_tokens} output tokens, {usage.usd:.4f} USD, {usage.retries} retries",
                file=sys.stderr,
            )
