import json

import jsonschema
import yaml

from infoecon.settings import documentation


def test_the_schema_is_that_of_the_models(repository):
    assert (repository / "config/schema.json").read_text(encoding="utf-8") == documentation.schema(), (
        "run `python -m infoecon.settings.documentation config`"
    )


def test_the_reference_is_that_of_the_models(repository):
    assert (repository / "config/README.md").read_text(encoding="utf-8") == documentation.reference(), (
        "run `python -m infoecon.settings.documentation config`"
    )


def test_the_default_configuration_fits_the_schema(repository):
    schema = json.loads((repository / "config/schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(yaml.safe_load((repository / "config/config.yaml").read_text(encoding="utf-8")), schema)


def test_every_key_of_the_models_has_a_description():
    rows = [row for row in documentation.reference().splitlines() if row.startswith("| `")]
    assert len(rows) > 40
    assert not [row for row in rows if row.rstrip(" |").count("|") < 4]
