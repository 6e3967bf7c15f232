"""The client: store first, then the endpoint through the official ``openai`` package."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx2
import openai
from openai.types.chat import ChatCompletion

from infoecon.errors import InfoeconError
from infoecon.language_models.concurrency import AdaptiveLimit
from infoecon.language_models.meter import Meter
from infoecon.language_models.requests import ModelIdentity, Request, Response
from infoecon.language_models.store import ResponseStore

_SECONDS_BETWEEN_NOTICES = 10.0
_LONGEST_QUOTE = 300


@dataclass(frozen=True)
class Endpoint:
    """Where a model is reached."""

    name: str
    """The model's name in ``models.yaml``, for errors."""
    base_url: str
    served_model: str
    api_key: str
    api_key_variable: str | None
    timeout_seconds: float
    max_retries: int


Connect = Callable[[], Awaitable[Endpoint]]
"""Reaches the endpoint, at the first request that the store cannot answer."""


class LanguageModelClient:
    """Answers requests of one model, each at most once.

    Parameters
    ----------
    identity
        What decides the model's answers; part of every request.
    store, meter
        Where answers are kept, and what they may cost.
    concurrency
        Most requests in flight.
    connect
        Called once, at the first request that the store does not hold.
    """

    def __init__(
        self, identity: ModelIdentity, store: ResponseStore, meter: Meter, concurrency: int, connect: Connect
    ) -> None:
        self.identity = identity
        self.meter = meter
        self.concurrency = concurrency
        self._store = store
        self._connect = connect
        self._connecting = asyncio.Lock()
        self._endpoint: Endpoint | None = None
        self._openai: openai.AsyncOpenAI | None = None
        self._limit = AdaptiveLimit(concurrency)
        self._under_way: dict[str, asyncio.Task[Response]] = {}
        self._last_notice = -_SECONDS_BETWEEN_NOTICES

    async def respond(self, request: Request) -> Response:
        """Answer a request from the store or, where it is not there, from the endpoint.

        Raises
        ------
        InfoeconError
            If the endpoint cannot be reached, refuses, or the budget does not allow the call.
        """
        stored = self._store.get(request.key)
        if stored is not None:
            self.meter.usage.stored += 1
            return stored
        task = self._under_way.get(request.key)
        if task is not None:
            self.meter.usage.stored += 1
            return await asyncio.shield(task)
        task = asyncio.create_task(self._ask(request))
        self._under_way[request.key] = task
        try:
            return await task
        finally:
            del self._under_way[request.key]

    async def close(self) -> None:
        """Close the connections."""
        if self._openai is not None:
            await self._openai.close()

    async def _ask(self, request: Request) -> Response:
        endpoint, client = await self._connected()
        async with self._limit.slot():
            reservation = self.meter.reserve(request)
            try:
                completion = await client.chat.completions.create(
                    model=endpoint.served_model,
                    messages=list(request.messages),  # type: ignore[arg-type]
                    temperature=request.sampling.temperature,
                    top_p=request.sampling.top_p,
                    max_tokens=request.sampling.max_output_tokens,
                    seed=request.seed,
                    n=1,
                    stream=False,
                )
                response = _response(completion)
            except (openai.OpenAIError, _NotACompletionError, ValueError) as error:
                self.meter.release(reservation)
                raise InfoeconError(_explain(error, endpoint)) from None
            except BaseException:
                self.meter.release(reservation)
                raise
            self.meter.settle(request, reservation, response)
            self._store.put(request, response)
            self._limit.served()
        return response

    async def _connected(self) -> tuple[Endpoint, openai.AsyncOpenAI]:
        async with self._connecting:
            if self._endpoint is None or self._openai is None:
                self._endpoint = endpoint = await self._connect()
                limits = httpx2.Limits(max_connections=self.concurrency, max_keepalive_connections=self.concurrency)
                self._openai = openai.AsyncOpenAI(
                    api_key=endpoint.api_key,
                    base_url=endpoint.base_url,
                    max_retries=endpoint.max_retries,
                    timeout=endpoint.timeout_seconds,
                    http_client=openai.DefaultAsyncHttpxClient(
                        limits=limits, event_hooks={"response": [self._on_response], "request": [self._on_request]}
                    ),
                )
        return self._endpoint, self._openai

    async def _on_request(self, request: httpx2.Request) -> None:
        if int(request.headers.get("x-stainless-retry-count", "0")):
            self.meter.usage.retries += 1
            if time.monotonic() - self._last_notice > _SECONDS_BETWEEN_NOTICES:
                self._last_notice = time.monotonic()
                print(
                    f"{self.identity.name}: {self.meter.usage.retries} requests tried again so far, at most "
                    f"{self._limit.limit} in flight",
                    file=sys.stderr,
                )

    async def _on_response(self, response: httpx2.Response) -> None:
        if response.status_code == httpx2.codes.TOO_MANY_REQUESTS:
            self._limit.refused()


class _NotACompletionError(Exception):
    """The endpoint answered something else, for example a proxy's own page."""


def _response(completion: object) -> Response:
    """Read a completion as it is: one without text is an answer without text."""
    # The official client does not validate what it receives.
    if not isinstance(completion, ChatCompletion) or not isinstance(completion.choices, list):
        raise _NotACompletionError(str(completion))
    choice = completion.choices[0] if completion.choices else None
    text = getattr(getattr(choice, "message", None), "content", None) or ""
    if not isinstance(text, str):
        raise _NotACompletionError(str(text))
    usage = getattr(completion, "usage", None)
    prompt_details = getattr(usage, "prompt_tokens_details", None)
    output_details = getattr(usage, "completion_tokens_details", None)
    return Response(
        # Half of a surrogate pair can be written neither to the store nor to a table.
        text=text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"),
        finish_reason=str(choice.finish_reason or "unknown") if choice is not None else "no choice",
        prompt_tokens=getattr(usage, "prompt_tokens", None),
        cached_tokens=getattr(prompt_details, "cached_tokens", None),
        reasoning_tokens=getattr(output_details, "reasoning_tokens", None),
        output_tokens=getattr(usage, "completion_tokens", None),
    )


def _quote(text: str, endpoint: Endpoint) -> str:
    """Make an endpoint's own words printable, short and free of the key."""
    if len(endpoint.api_key) > 3:
        text = text.replace(endpoint.api_key, "[key]")
    shown = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return shown[:_LONGEST_QUOTE].rstrip(". ")


def _explain(error: Exception, endpoint: Endpoint) -> str:
    where = f"model {endpoint.name!r} at {endpoint.base_url}"
    kept = "all answers so far are kept"
    match error:
        case openai.APITimeoutError():
            return (
                f"No answer from {where} within {endpoint.timeout_seconds:g} s, after {endpoint.max_retries} retries; "
                f"{kept}, raise timeout_seconds in config/models.yaml or run again."
            )
        case openai.APIConnectionError():
            return f"Cannot reach {where}; {kept}, check that the server is up and run again."
        case openai.AuthenticationError() | openai.PermissionDeniedError():
            key = (
                f"check the key in ${endpoint.api_key_variable}"
                if endpoint.api_key_variable
                else ("name the environment variable of its key as api_key_variable in config/models.yaml")
            )
            return f"Access to {where} was refused ({error.status_code}); {kept}, {key}."
        case openai.NotFoundError():
            return (
                f"{where[0].upper()}{where[1:]} is not there (404: {_quote(error.message, endpoint)}); check base_url "
                f"and model ({endpoint.served_model!r}) in config/models.yaml."
            )
        case openai.RateLimitError():
            return (
                f"{where[0].upper()}{where[1:]} still refuses with 429 after {endpoint.max_retries} retries; {kept}, "
                "lower its concurrency in config/models.yaml or run again later."
            )
        case openai.APIStatusError():
            answer = f"{error.status_code}: {_quote(error.message, endpoint)}"
            return f"{where[0].upper()}{where[1:]} answered {answer}; {kept}."
    return f"{where[0].upper()}{where[1:]} sent something that is no chat completion: {_quote(str(error), endpoint)}."
