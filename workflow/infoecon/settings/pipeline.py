"""The whole configuration: read, checked, and cut into the sections that rules depend on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from infoecon.errors import InfoeconError
from infoecon.settings.budget import Budget
from infoecon.settings.models import ModelRegistry, ReplayModel
from infoecon.settings.moral_hazard import MoralHazardSettings
from infoecon.settings.sections import Section

Model = TypeVar("Model", bound=BaseModel)


class PipelineSettings(Section):
    """``config/config.yaml``."""

    budget: Budget = Budget()
    """Caps on what one job may spend on a language model; checked before each call."""
    moral_hazard: MoralHazardSettings = MoralHazardSettings()
    """Study 1."""


def explain(error: ValidationError, where: str) -> str:
    """Put the first problem of a failed validation into one sentence that names the key."""
    problem = error.errors(include_url=False)[0]
    keys = [str(key) for key in problem["loc"]]
    message = str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        return f"{where}: unknown key '{'.'.join(keys)}'; remove it or check its spelling against config/README.md."
    given = problem["input"]
    shown = f" (it is {given!r})" if isinstance(given, str | int | float | bool) else ""
    name = f"'{'.'.join(keys)}': " if keys else ""
    return f"{where}: {name}{message[:1].lower()}{message[1:]}{shown}."


def validate(model: type[Model], data: Any, where: str) -> Model:
    """Check ``data`` against ``model``.

    Raises
    ------
    InfoeconError
        If a key is unknown or a value does not fit; the sentence names ``where`` and the key.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise InfoeconError(explain(error, where)) from error


def read_yaml(path: Path) -> Any:
    """Read a YAML file.

    Raises
    ------
    InfoeconError
        If the file is missing or is not YAML.
    """
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InfoeconError(f"{path} does not exist.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise InfoeconError(f"{path}{line}: this is not valid YAML.") from None


def load_models(path: Path) -> ModelRegistry:
    """Read ``models.yaml``.

    Raises
    ------
    InfoeconError
        If an entry does not fit, or replays a model that is not there.
    """
    registry = validate(ModelRegistry, read_yaml(path), str(path))
    for name, model in registry.root.items():
        if isinstance(model, ReplayModel) and isinstance(registry.root.get(model.of), ReplayModel | None):
            raise InfoeconError(f"{path}: '{name}.of' names {model.of!r}, which is no model with stored answers here.")
    return registry


def _with_numbers(value: Any) -> Any:
    """Read numbers, booleans and nulls in values that came as words: ``--config`` gives everything as words."""
    if isinstance(value, dict):
        return {key: _with_numbers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_numbers(inner) for inner in value]
    if isinstance(value, str) and isinstance(read := yaml.safe_load(value or "''"), int | float | None):
        return read
    return value


def load_settings(config: Mapping[str, Any], models: ModelRegistry, where: str) -> PipelineSettings:
    """Check the merged configuration, and that every model it names is known.

    Raises
    ------
    InfoeconError
        If a key is unknown, a value does not fit, or a run names a model that ``models.yaml`` does not hold.
    """
    settings = validate(PipelineSettings, _with_numbers(dict(config)), where)
    for name, run in settings.moral_hazard.runs.items():
        if run.model is not None and run.model not in models.root:
            raise InfoeconError(
                f"{where}: 'moral_hazard.runs.{name}.model' is {run.model!r}, which config/models.yaml does not hold; "
                f"add it there or choose one of: {', '.join(sorted(models.root))}."
            )
    return settings


def canonical(*parts: BaseModel | Any) -> str:
    """Write settings as canonical JSON: what a rule's params hold, so that key order and defaults change nothing."""
    plain = [part.model_dump(mode="json") if isinstance(part, BaseModel) else part for part in parts]
    return json.dumps(plain if len(plain) > 1 else plain[0], sort_keys=True, separators=(",", ":"))
