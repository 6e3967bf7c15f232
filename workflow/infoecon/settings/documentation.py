"""Generates ``config/schema.json`` and ``config/README.md`` from the settings models.

Run ``python -m infoecon.settings.documentation config`` after changing a model; a test fails while they differ.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from infoecon.settings.models import ModelRegistry
from infoecon.settings.pipeline import PipelineSettings

_HEAD = """# Configuration

`config.yaml` is the laptop default. `paper.yaml` and `test.yaml` change single values of it
(`make CONFIG=config/paper.yaml`, or `snakemake --configfile config/paper.yaml`); your own file can do the same, and
`--config` changes a value for one call. Unknown keys and values of the wrong type stop the run with one sentence.
`models.yaml` lists the language models, `artefacts.yaml` the tables and figures. Editors that read JSON schemas
complete and check the keys with `schema.json`.
"""


def schema() -> str:
    """Give the JSON schema of ``config.yaml``."""
    return json.dumps(PipelineSettings.model_json_schema(), indent=2, ensure_ascii=False) + "\n"


def _resolve(node: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        node = definitions[node["$ref"].rpartition("/")[2]]
    return node


def _values(node: dict[str, Any]) -> dict[str, Any] | None:
    """Give the schema of the values of a section whose keys are names."""
    values = next(iter(node.get("patternProperties", {}).values()), node.get("additionalProperties"))
    return values if isinstance(values, dict) else None


def _type(node: dict[str, Any], definitions: dict[str, Any]) -> str:
    node = _resolve(node, definitions)
    if "const" in node:
        return f"`{node['const']}`"
    if "enum" in node:
        return " or ".join(f"`{value}`" for value in node["enum"])
    if "anyOf" in node:
        return " or ".join(_type(option, definitions) for option in node["anyOf"])
    if node.get("type") == "array":
        return f"list of {_type(node['items'], definitions)}"
    if node.get("type") == "object":
        return "section" if "properties" in node else "sections by name"
    return str(node.get("type", "any"))


def _rows(node: dict[str, Any], definitions: dict[str, Any], prefix: str) -> Iterator[str]:
    for key, field in node.get("properties", {}).items():
        inner = _resolve(field, definitions)
        name = f"{prefix}{key}"
        default = field.get("default")
        shown = f"`{json.dumps(default)}`" if "default" in field and not isinstance(default, dict) else ""
        kind, text = _type(field, definitions), field.get("description", inner.get("description", ""))
        yield f"| `{name}` | {kind} | {shown} | {' '.join(text.split())} |"
        if "properties" in inner:
            yield from _rows(inner, definitions, f"{name}.")
        elif values := _values(inner):
            yield from _rows(_resolve(values, definitions), definitions, f"{name}.<name>.")


def _table(model_schema: dict[str, Any], node: dict[str, Any]) -> str:
    head = "| key | type | default | what it is |\n|---|---|---|---|\n"
    return head + "\n".join(_rows(node, model_schema.get("$defs", {}), "")) + "\n"


def reference() -> str:
    """Give the reference of all keys as Markdown."""
    pipeline, models = PipelineSettings.model_json_schema(), ModelRegistry.model_json_schema()
    parts = [_HEAD, "## config.yaml\n", _table(pipeline, pipeline)]
    registry = _values(models)
    assert registry is not None
    for option in registry["oneOf"]:
        node = _resolve(option, models["$defs"])
        kind = node["properties"]["endpoint"]["const"]
        parts += [f"## models.yaml: endpoint `{kind}`\n", node["description"] + "\n", _table(models, node)]
    return "\n".join(parts)


if __name__ == "__main__":
    directory = Path(sys.argv[1])
    (directory / "schema.json").write_text(schema(), encoding="utf-8")
    (directory / "README.md").write_text(reference(), encoding="utf-8")
