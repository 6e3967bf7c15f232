"""The meter: what asking costs, and the caps that no call may pass."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from infoecon.errors import InfoeconError
from infoecon.language_models.requests import Request, Response
from infoecon.settings.budget import Budget
from infoecon.settings.models import Price

_TOKENS_AROUND_A_MESSAGE = 16
_PER_MILLION = 1e-6


class BudgetExceededError(InfoeconError):
    """The next call could pass a cap; it was not sent."""


class Reservation(NamedTuple):
    """The worst case of one call that is under way."""

    tokens: int
    usd: float


@dataclass
class Usage:
    """What was asked and what it took."""

    asked: int = 0
    """Answers that the endpoint gave."""
    stored: int = 0
    """Answers that the store gave."""
    retries: int = 0
    """Transport errors and refusals that were tried again."""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0


class Meter:
    """Counts tokens and USD of one job and keeps them below its budget.

    Parameters
    ----------
    budget
        The caps.
    price
        USD per million tokens, or ``free``.
    """

    def __init__(self, budget: Budget, price: Price | Literal["free"]) -> None:
        self.usage = Usage()
        self._budget = budget
        self._price = Price(prompt=0.0, output=0.0) if price == "free" else price
        self._reserved_tokens = 0
        self._reserved_usd = 0.0

    def worst_case(self, request: Request) -> Reservation:
        """Bound what a call can take: no tokenizer makes more tokens than there are bytes."""
        size = sum(len(message["content"].encode()) + _TOKENS_AROUND_A_MESSAGE for message in request.messages)
        output = request.sampling.max_output_tokens
        return Reservation(size + output, self._usd(size, 0, output))

    def reserve(self, request: Request) -> Reservation:
        """Set aside the worst case of a call.

        Raises
        ------
        BudgetExceededError
            If the call could pass a cap.
        """
        worst = self.worst_case(request)
        tokens = self.usage.prompt_tokens + self.usage.output_tokens + self._reserved_tokens + worst.tokens
        usd = self.usage.usd + self._reserved_usd + worst.usd
        for cap, value, name in (
            (self._budget.max_tokens, tokens, "max_tokens"),
            (self._budget.max_usd, usd, "max_usd"),
        ):
            if cap is not None and value > cap:
                raise BudgetExceededError(
                    f"The next call could pass budget.{name} = {cap:g} of this job (worst case {value:g}); all answers "
                    "so far are kept, raise the budget to go on."
                )
        self._reserved_tokens += worst.tokens
        self._reserved_usd += worst.usd
        return worst

    def release(self, reservation: Reservation) -> None:
        """Give back what was set aside for a call that failed."""
        self._reserved_tokens -= reservation.tokens
        self._reserved_usd -= reservation.usd

    def settle(self, request: Request, reservation: Reservation, response: Response) -> None:
        """Count a call at what it took; where the endpoint does not say, at its worst case."""
        self.release(reservation)
        output = request.sampling.max_output_tokens
        prompt = reservation.tokens - output if response.prompt_tokens is None else response.prompt_tokens
        output = output if response.output_tokens is None else response.output_tokens
        cached = response.cached_tokens or 0
        self.usage.asked += 1
        self.usage.prompt_tokens += prompt
        self.usage.cached_tokens += cached
        self.usage.reasoning_tokens += response.reasoning_tokens or 0
        self.usage.output_tokens += output
        self.usage.usd += self._usd(prompt, cached, output)

    def summary(self) -> dict[str, Any]:
        """Give the usage as plain data."""
        return asdict(self.usage)

    def _usd(self, prompt: int, cached: int, output: int) -> float:
        price = self._price
        cached_price = price.prompt if price.cached_prompt is None else price.cached_prompt
        whole = (prompt - cached) * price.prompt + cached * cached_price + output * price.output
        return whole * _PER_MILLION
