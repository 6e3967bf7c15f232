"""What every section of the configuration shares."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Item = TypeVar("Item")


def _without_repetition(items: list[Item]) -> list[Item]:
    if repeated := [item for index, item in enumerate(items) if item in items[:index]]:
        raise ValueError(f"{repeated[0]} stands here twice")
    return items


Levels = Annotated[list[Item], Field(min_length=1), AfterValidator(_without_repetition)]
"""A list of at least one value, none of them twice."""


class Section(BaseModel):
    """A section of the configuration: immutable, and a key it does not know is an error."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )
