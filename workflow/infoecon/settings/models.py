"""``config/models.yaml``: the language models a run may name, and how each is reached."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt, RootModel

from infoecon.settings.sections import Section

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
EnvironmentVariable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class Sampling(Section):
    """How a model draws its text; every field enters the request key."""

    temperature: NonNegativeFloat = 1.0
    """Softmax temperature; 0 is greedy."""
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Nucleus probability."""
    top_k: PositiveInt | None = None
    """Most likely tokens that are kept; not sent when omitted, since not every endpoint knows it."""
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    """Least probability of a kept token, relative to the likeliest; not sent when omitted."""
    max_output_tokens: PositiveInt = 4098
    """Most tokens of one reply."""


class Price(Section):
    """What an endpoint charges, in USD per million tokens."""

    prompt: NonNegativeFloat
    """USD per million prompt tokens."""
    cached_prompt: NonNegativeFloat | None = None
    """USD per million prompt tokens read from the provider's cache; the prompt price when omitted."""
    output: NonNegativeFloat
    """USD per million output tokens, reasoning tokens included."""


class EmbeddedModel(Section):
    """Weights from a Python package, served by llama.cpp in a subprocess on a loopback port."""

    endpoint: Literal["embedded"]
    """Kind of endpoint."""
    distribution: str
    """Python distribution that carries the weights."""
    file: str
    """Name of the GGUF file inside it."""
    weights_sha256: Digest
    """SHA-256 of the file."""
    revision: str
    """Version of the weights."""
    quantisation: str
    """Quantisation of the weights."""
    slots: PositiveInt = 1
    """Requests served at once."""
    context_tokens: PositiveInt = 1024
    """Context of one slot, in tokens."""
    threads: PositiveInt = 2
    """CPU threads."""


class OpenAIModel(Section):
    """Any OpenAI-compatible chat endpoint."""

    endpoint: Literal["openai"]
    """Kind of endpoint."""
    base_url: Annotated[str, Field(pattern=r"^https?://[^\s/@]+(/[^\s@]*)?$")]
    """Address of the API, usually ending in ``/v1``."""
    model: str
    """Name under which the endpoint serves the model."""
    revision: str = "unknown"
    """Revision of the weights, where known; part of the request key."""
    adapter_sha256: Digest | None = None
    """Digest of the adapter served on top, where there is one; part of the request key."""
    api_key_variable: EnvironmentVariable | None = None
    """Environment variable that holds the key; omit where the endpoint wants none."""
    price: Price | Literal["free"] | None = None
    """USD per million tokens, or ``free`` for your own server; without a price nothing is sent."""
    concurrency: PositiveInt = 32
    """Most requests in flight; lowered while the endpoint answers 429."""
    timeout_seconds: PositiveFloat = 600.0
    """Longest wait for one answer."""
    max_retries: Annotated[int, Field(ge=0)] = 8
    """Transport errors and 429s retried for one request, with exponential back-off."""


class ReplayModel(Section):
    """Answers from the response store alone; a request that it does not hold is an error."""

    endpoint: Literal["replay"]
    """Kind of endpoint."""
    of: str
    """Name of the model whose stored answers are read."""


LanguageModel = Annotated[EmbeddedModel | OpenAIModel | ReplayModel, Field(discriminator="endpoint")]


ModelName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
"""Name of a model; it is also that of its folder in the response store."""


class ModelRegistry(RootModel[dict[ModelName, LanguageModel]]):
    """All models by name."""
