"""What a contract is: columns with types, units and meanings, and nothing else in the table."""

from __future__ import annotations

from typing import Any

import pandera.pandas as pa

PERCENT = "%"
REWARD = "reward units"


class Contract(pa.DataFrameModel):
    """A table whose columns, their order and their types are fixed."""

    class Config:
        """No further columns, no conversion of what does not fit."""

        strict = True
        ordered = True
        coerce = False


def column(description: str, unit: str = "", **checks: Any) -> Any:
    """Describe a column.

    Parameters
    ----------
    description
        What it holds.
    unit
        Unit of its numbers, empty where they have none.
    **checks
        Arguments of ``pandera.Field``.
    """
    return pa.Field(description=description, metadata={"unit": unit}, **checks)
