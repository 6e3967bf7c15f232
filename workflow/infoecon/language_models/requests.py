"""Requests to a language model, their keys, and responses."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

import orjson

from infoecon.settings.models import Sampling

Message = dict[str, str]


@dataclass(frozen=True)
class ModelIdentity:
    """What decides a model's answers, as far as its endpoint tells."""

    name: str
    """Name under which the weights are known."""
    engine: str
    """What computes the answers; two engines differ on the same weights."""
    revision: str
    weights_sha256: str | None = None
    template_sha256: str | None = None
    adapter_sha256: str | None = None
    quantisation: str | None = None


@dataclass(frozen=True)
class Request:
    """One draw of one answer: all that decides it."""

    model: ModelIdentity
    messages: tuple[Message, ...]
    sampling: Sampling
    seed: int
    """Sampling seed, 31 bits."""
    replicate: int = 0
    """Number of the draw; two draws of one prompt are two keys."""

    def plain(self) -> dict[str, Any]:
        """Give the request as plain data."""
        return {
            "model": {field.name: getattr(self.model, field.name) for field in fields(self.model)},
            "messages": [dict(message) for message in self.messages],
            "sampling": self.sampling.model_dump(mode="json"),
            "seed": self.seed,
            "replicate": self.replicate,
        }

    @cached_property
    def key(self) -> str:
        """SHA-256 of the canonical JSON of the request, 64 hexadecimal digits."""
        return key_of(self.plain())


def key_of(plain: dict[str, Any]) -> str:
    """Key a request that is given as plain data."""
    return hashlib.sha256(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)).hexdigest()


@dataclass(frozen=True)
class Response:
    """What a model answered."""

    text: str
    finish_reason: str
    """``stop``, ``length`` or what else the endpoint said."""
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    """Prompt tokens that the endpoint read from its cache."""
    reasoning_tokens: int | None = None
    """Output tokens that are not part of the text."""
    output_tokens: int | None = None
    """All tokens generated, reasoning included."""

    def plain(self) -> dict[str, Any]:
        """Give the response as plain data."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Self:
        """Read a response back; unknown fields are an error."""
        return cls(**plain)
