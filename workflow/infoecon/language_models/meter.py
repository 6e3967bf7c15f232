"""The meter: what asking costs, and the caps that no call may pass."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from infoecon.errors import InfoeconError
from infoecon.language_models.requests import Request, Response
from infoecon.settings.budget import Budget
from infoecon.settings.models import Price

_TOKENS_AROUND_A_MESSAGE = 16
_TOKENS_AROUND_A_REQUEST = 128  # Templates add a system prompt of their own.
_TOKENS_OF_A_PRICE = 1_000_000


class BudgetExceededError(InfoeconError):
    """The next call could pass a cap; it was not sent."""


class Reservation(NamedTuple):
    """The worst case of one call that is under way, in tokens."""

    prompt: int
    output: int


@dataclass
class Usage:
    """What was asked and what it took; tokens and USD are those of asked answers alone."""

    asked: int = 0
    """Answers that the endpoint gave."""
    stored: int = 0
    """Answers that the store gave."""
    unreported: int = 0
    """Asked answers whose usage the endpoint left out, counted at their worst case."""
    retries: int = 0
    """Transport errors and refusals that were tried again."""
    prompt_tokens: int = 0
    """Prompt tokens, cached ones included."""
    cached_tokens: int = 0
    """Prompt tokens that the endpoint read from its cache."""
    reasoning_tokens: int = 0
    """Output tokens that are not part of the text."""
    output_tokens: int = 0
    """Output tokens, reasoning included."""
    usd: float = 0.0


class Meter:
    """Counts tokens and USD of one job and keeps them within its budget.

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
        self._prompt_price = self._cached_price = self._output_price = Fraction(0)
        if price != "free":
            self._prompt_price, self._output_price = Fraction(price.prompt), Fraction(price.output)
            self._cached_price = Fraction(price.prompt if price.cached_prompt is None else price.cached_prompt)
        self._reserved = Reservation(0, 0)

    def reserve(self, request: Request) -> Reservation:
        """Set aside the worst case of a call: no tokenizer makes more tokens than there are bytes.

        Raises
        ------
        BudgetExceededError
            If the call, with those under way, could pass a cap.
        """
        worst = Reservation(
            _TOKENS_AROUND_A_REQUEST + sum(map(_bytes_and_frame, request.messages)), request.sampling.max_output_tokens
        )
        reserved = Reservation(self._reserved.prompt + worst.prompt, self._reserved.output + worst.output)
        self._check("max_tokens", self._budget.max_tokens, self._spent_tokens() + sum(reserved))
        self._check("max_usd", self._budget.max_usd, self._spent_usd() + self._worst_usd(reserved))
        self._reserved = reserved
        return worst

    def release(self, reservation: Reservation) -> None:
        """Give back what was set aside for a call that failed."""
        self._reserved = Reservation(
            self._reserved.prompt - reservation.prompt, self._reserved.output - reservation.output
        )

    def settle(self, request: Request, reservation: Reservation, response: Response) -> None:
        """Count a call at what it took; where the endpoint does not say, at its worst case."""
        self.release(reservation)
        prompt, output = response.prompt_tokens, response.output_tokens
        usage = self.usage
        usage.asked += 1
        usage.unreported += prompt is None or output is None
        usage.prompt_tokens += reservation.prompt if prompt is None else prompt
        usage.output_tokens += request.sampling.max_output_tokens if output is None else output
        usage.cached_tokens += min(response.cached_tokens or 0, prompt or 0)
        usage.reasoning_tokens += response.reasoning_tokens or 0
        usage.usd = float(self._spent_usd())

    def summary(self) -> dict[str, Any]:
        """Give the usage as plain data."""
        return asdict(self.usage)

    def _check(self, name: str, cap: float | None, worst: Fraction | int) -> None:
        if cap is not None and worst > cap:
            raise BudgetExceededError(
                f"The next call could bring this job to {float(worst):.12g}, past budget.{name} = {cap:.12g}; it was "
                "not sent and all answers so far are kept, raise the budget to go on."
            )

    def _spent_tokens(self) -> int:
        return self.usage.prompt_tokens + self.usage.output_tokens

    def _spent_usd(self) -> Fraction:
        """Price the tokens counted so far, exactly: sums of floats would depend on the order of the answers."""
        usage = self.usage
        return (
            (usage.prompt_tokens - usage.cached_tokens) * self._prompt_price
            + usage.cached_tokens * self._cached_price
            + usage.output_tokens * self._output_price
        ) / _TOKENS_OF_A_PRICE

    def _worst_usd(self, reservation: Reservation) -> Fraction:
        prompt_price = max(self._prompt_price, self._cached_price)
        return (reservation.prompt * prompt_price + reservation.output * self._output_price) / _TOKENS_OF_A_PRICE


def _bytes_and_frame(message: dict[str, str]) -> int:
    size = sum(len(value.encode("utf-8", "surrogatepass")) for value in message.values())
    return size + _TOKENS_AROUND_A_MESSAGE
