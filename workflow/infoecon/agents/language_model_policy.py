"""A language model as a policy."""

from __future__ import annotations

from typing import NamedTuple

from infoecon.agents.plays import Ask, Reply
from infoecon.language_models.client import LanguageModelClient
from infoecon.language_models.requests import Request
from infoecon.settings.models import Sampling


class LanguageModelPolicy(NamedTuple):
    """Sends each ask to a model; the sampling seed comes from the key of the ask."""

    client: LanguageModelClient
    sampling: Sampling
    replicate: int = 0

    async def answer(self, ask: Ask) -> Reply:
        """Answer one ask with the model's text."""
        request = Request(self.client.identity, tuple(ask.messages()), self.sampling, ask.seed(), self.replicate)
        response = await self.client.respond(request)
        return Reply(
            response.text,
            response.finish_reason,
            response.prompt_tokens,
            response.output_tokens,
            response.reasoning_tokens,
            request.key,
        )
