"""Requests to a language model, their keys, and responses."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from infoecon.settings.models import Sampling

Message = dict[str, str]


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What decides a model's answers, as far as its endpoint tells."""

    name: str
    """Name under which the weights are known."""
    engine: str
    """What computes the answers; two engines differ on the same weights."""
    revision: str
    """Revision of the weights."""
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
            "model": asdict(self.model),
            "messages": list(self.messages),
            "sampling": self.sampling.model_dump(exclude_none=True),
            "seed": self.seed,
            "replicate": self.replicate,
        }

    @cached_property
    def key(self) -> str:
        """SHA-256 of the canonical JSON of the request, 64 hexadecimal digits."""
        return digest(self.plain())


@dataclass(frozen=True, slots=True)
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
        return asdict(self)


def canonical_json(plain: dict[str, Any]) -> bytes:
    """Write plain data in the one way that is digested: sorted keys, no spaces, ASCII (half a surrogate pair too)."""
    return json.dumps(plain, sort_keys=True, separators=(",", ":")).encode("ascii")


def digest(plain: dict[str, Any]) -> str:
    """Give the SHA-256 of plain data's canonical JSON, 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(plain)).hexdigest()
