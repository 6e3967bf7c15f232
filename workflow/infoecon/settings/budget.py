"""What one job may spend on a language model."""

from __future__ import annotations

from pydantic import NonNegativeFloat, NonNegativeInt

from infoecon.settings.sections import Section


class Budget(Section):
    """Caps that are checked before each call, at its worst case; stored answers cost nothing."""

    max_tokens: NonNegativeInt | None = None
    """Most prompt and output tokens of one job; no cap when omitted."""
    max_usd: NonNegativeFloat | None = None
    """Most USD of one job; no cap when omitted."""
