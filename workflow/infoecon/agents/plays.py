"""What passes between a game and whoever plays it.

A game is a generator that does no I/O: it yields a *wave* of simultaneous asks and is sent the replies in the
same order; it returns its record when it ends. Scripted policies, simulated agents, recorded transcripts and
language models all answer text, so the game never knows who answers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from infoecon.language_models.requests import Message
from infoecon.randomness import Key, keyed_integer

Record = TypeVar("Record")


class Ask(NamedTuple):
    """One question to one agent."""

    agent: int
    """Number of the agent within its play, from 1."""
    phase: str
    """Phase of the game, for example ``work``."""
    view: Any
    """All that the agent may see, as structured data."""
    render: Callable[[Any], list[Message]]
    """Turns ``view`` into chat messages; called only when somebody reads them."""
    key: Key
    """Key of every random draw that belongs to this ask; holds no policy, model, mapping or condition label."""
    truth: Any = None
    """The hidden state, for oracle policies alone; never rendered."""

    def messages(self) -> list[Message]:
        """Render the chat messages."""
        return self.render(self.view)

    def seed(self) -> int:
        """Give the 31-bit sampling seed of this ask."""
        return keyed_integer(("sampling", *self.key), 31)


class Reply(NamedTuple):
    """What came back for one ask: the raw text and how it ended."""

    text: str
    finish_reason: str = "stop"
    """``stop``, ``length`` (cut by the token limit) or another reason that the endpoint gave."""
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    request_key: str = ""
    """Key of the stored response, empty where no model was asked."""


Play = Generator[tuple[Ask, ...], Sequence[Reply], Record]


class Policy(Protocol):
    """Answers asks at once, by rule or simulation.

    ``answer`` must be a pure function of the ask: whatever it draws comes from ``ask.key``.
    """

    def answer(self, ask: Ask) -> Reply:
        """Answer one ask with text."""
        ...


class RemotePolicy(Protocol):
    """Answers asks after waiting for somebody, for example a language model."""

    async def answer(self, ask: Ask) -> Reply:
        """Answer one ask with text."""
        ...
