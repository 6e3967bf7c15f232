"""The client: store first, then the endpoint through the official ``openai`` package."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import httpx2
import openai

from infoecon.errors import InfoeconError
from infoecon.language_models.concurrency import AdaptiveLimit
from infoecon.language_models.meter import Meter
from infoecon.language_models.requests import ModelIdentity, Request, Response
from infoecon.language_models.store import ResponseStore

_SECONDS_BETWEEN_NOTICES = 10.0
_LONGEST_QUOTE = 300
_SECONDS_TO_CONNECT = 30.0
_THIS_MACHINE = ("127.0.0.1", "localhost", "::1")


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
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._last_notice = -_SECONDS_BETWEEN_NOTICES

    async def respond(self, request: Request) -> Response:
        """Answer a request from the store or, where it is not there, from the endpoint.

        Raises
        ------
        InfoeconError
            If the endpoint cannot be reached, refuses, or the budget does not allow the call.
        """
        # The same request in flight twice is one call: the second waits for its turn and then finds the answer.
        async with self._turns.setdefault(request.key, asyncio.Lock()):
            stored = self._store.get(request.key)
            if stored is None:
                return await self._ask(request)
            self.meter.usage.stored += 1
            return stored

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
                    extra_body=request.sampling.model_dump(include={"top_k", "min_p"}, exclude_none=True),
                    seed=request.seed,
                    n=1,
                    stream=False,
                )
                response = _response(completion)
            except BaseException as error:
                self.meter.release(reservation)
                if isinstance(error, _FAILURES):
                    raise InfoeconError(_explain(error, endpoint)) from None
                raise
            self.meter.settle(request, reservation, response)
            self._store.put(request, response)
            self._limit.served()
        return response

    async def _connected(self) -> tuple[Endpoint, openai.AsyncOpenAI]:
        async with self._connecting:
            if self._endpoint is None or self._openai is None:
                self._endpoint = endpoint = await self._connect()
                seconds = endpoint.timeout_seconds
                self._openai = openai.AsyncOpenAI(
                    api_key=endpoint.api_key,
                    base_url=endpoint.base_url,
                    max_retries=endpoint.max_retries,
                    timeout=httpx2.Timeout(seconds, connect=min(seconds, _SECONDS_TO_CONNECT)),
                    http_client=openai.DefaultAsyncHttpxClient(
                        limits=httpx2.Limits(
                            max_connections=self.concurrency, max_keepalive_connections=self.concurrency
                        ),
                        # A proxy that the environment names cannot reach what listens on this machine.
                        trust_env=httpx2.URL(endpoint.base_url).host not in _THIS_MACHINE,
                        event_hooks={"response": [self._on_response], "request": [self._on_request]},
                    ),
                )
        return self._endpoint, self._openai

    async def _on_request(self, request: httpx2.Request) -> None:
        if int(request.headers.get("x-stainless-retry-count", "0")):
            self.meter.usage.retries += 1
            if time.monotonic() - self._last_notice > _SECONDS_BETWEEN_NOTICES:
                self._last_notice = time.monotonic()
                print(
                    f"{self.identity.name}: retries so far: {self.meter.usage.retries}, requests in flight: at most "
                    f"{self._limit.limit}",
                    file=sys.stderr,
                )

    async def _on_response(self, response: httpx2.Response) -> None:
        if response.status_code == httpx2.codes.TOO_MANY_REQUESTS:
            self._limit.refused()


class _NotACompletionError(Exception):
    """The endpoint answered something else, for example a proxy's own page."""


# The last two come from JSON that is cut short or nested without end.
_FAILURES = (openai.OpenAIError, _NotACompletionError, ValueError, RecursionError)


def _response(completion: Any) -> Response:
    """Read a completion as it is: one without text is an answer without text."""
    # The official client does not validate what it receives.
    choices = getattr(completion, "choices", None)
    if not isinstance(choices, list):
        raise _NotACompletionError(str(completion))
    choice = choices[0] if choices else None
    text = getattr(getattr(choice, "message", None), "content", None) or ""
    if isinstance(choice, str) or not isinstance(text, str):
        raise _NotACompletionError(str(choice))
    finish_reason = getattr(choice, "finish_reason", None) or ("unknown" if choices else "no choice")
    usage = getattr(completion, "usage", None)
    return Response(
        text=_without_half_pairs(text),
        finish_reason=_without_half_pairs(str(finish_reason)),
        prompt_tokens=_count(usage, "prompt_tokens"),
        cached_tokens=_count(getattr(usage, "prompt_tokens_details", None), "cached_tokens"),
        reasoning_tokens=_count(getattr(usage, "completion_tokens_details", None), "reasoning_tokens"),
        output_tokens=_count(usage, "completion_tokens"),
    )


def _without_half_pairs(text: str) -> str:
    """Replace halves of surrogate pairs, which no table can hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _count(usage: Any, name: str) -> int | None:
    count = getattr(usage, name, None)
    return count if isinstance(count, int) and count >= 0 else None


def _quote(text: str, endpoint: Endpoint) -> str:
    """Make an endpoint's own words printable, short and free of the key."""
    if len(endpoint.api_key) > 3:
        text = text.replace(endpoint.api_key, "[key]")
    shown = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return shown[:_LONGEST_QUOTE].rstrip(". ")


def _explain(error: BaseException, endpoint: Endpoint) -> str:
    where = f"model {endpoint.name!r} at {endpoint.base_url}"
    subject = where[0].upper() + where[1:]
    kept = "all answers so far are kept"
    match error:
        case openai.APITimeoutError() if not isinstance(error.__cause__, httpx2.ConnectTimeout):
            return (
                f"No answer from {where} within {endpoint.timeout_seconds:g} s, after {endpoint.max_retries} retries; "
                f"{kept}, raise timeout_seconds in config/models.yaml or run again."
            )
        case openai.APIConnectionError():
            return f"Cannot reach {where}; {kept}, check that the server is up and run again."
        case openai.AuthenticationError() | openai.PermissionDeniedError():
            mend = "name the environment variable of its key as api_key_variable in config/models.yaml"
            if endpoint.api_key_variable is not None:
                mend = f"check the key in ${endpoint.api_key_variable}"
            return f"Access to {where} was refused ({error.status_code}); {kept}, {mend}."
        case openai.NotFoundError():
            return (
                f"{subject} is not there (404: {_quote(error.message, endpoint)}); check base_url and model "
                f"({endpoint.served_model!r}) in config/models.yaml."
            )
        case openai.RateLimitError():
            return (
                f"{subject} keeps refusing with 429 ({_quote(error.message, endpoint)}); {kept}, lower its concurrency "
                "in config/models.yaml or run again later."
            )
        case openai.APIStatusError():
            return f"{subject} answered {error.status_code}: {_quote(error.message, endpoint)}; {kept}."
    return f"{subject} sent something that is no chat completion: {_quote(str(error), endpoint)}."
