import copy

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from infoecon.errors import InfoeconError
from infoecon.settings.models import ModelRegistry
from infoecon.settings.pipeline import canonical, load_models, load_settings, read_yaml, validate


@pytest.fixture(scope="module")
def models(repository):
    return load_models(repository / "config/models.yaml")


@pytest.fixture
def config(repository):
    return yaml.safe_load((repository / "config/config.yaml").read_text(encoding="utf-8"))


def merge(base, change):
    for key, value in change.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            merge(base[key], value)
        else:
            base[key] = value


@pytest.mark.parametrize("name", ["paper", "test"])
def test_the_shipped_configurations_load(name, config, models, repository):
    merge(config, yaml.safe_load((repository / f"config/{name}.yaml").read_text(encoding="utf-8")))
    assert load_settings(config, models, name).moral_hazard.runs["embedded_model"].model in models.root


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"moral_hazrd": {}}, "unknown key 'moral_hazrd'"),
        ({"moral_hazard": {"payoffs": {"query_costs": 0.1}}}, "unknown key 'moral_hazard.payoffs.query_costs'"),
        ({"moral_hazard": {"payoffs": {"query_cost": -0.1}}}, "'moral_hazard.payoffs.query_cost'.*greater than.*-0.1"),
        ({"moral_hazard": {"payoffs": {"query_cost": "much"}}}, "'moral_hazard.payoffs.query_cost'.*number.*much"),
        ({"moral_hazard": {"payoffs": {"query_cost": float("nan")}}}, "'moral_hazard.payoffs.query_cost'"),
        ({"moral_hazard": {"grid": {"group_sizes": [1]}}}, "'moral_hazard.grid.group_sizes.0'"),
        ({"moral_hazard": {"grid": {"query_costs": []}}}, "'moral_hazard.grid.query_costs'"),
        (
            {"moral_hazard": {"grid": {"query_costs": [0.1, 0.1]}}},
            "'moral_hazard.grid.query_costs': 0.1 stands here twice",
        ),
        ({"moral_hazard": {"runs": {"embedded_model": {"model": "gpt-9"}}}}, "'gpt-9'.*models.yaml.*smollm2"),
        ({"moral_hazard": {"runs": {"mine": {"policies": ["alway_local"]}}}}, "runs.mine.*'alway_local'"),
        ({"moral_hazard": {"runs": {"mine": {}}}}, "runs.mine.*either"),
        ({"moral_hazard": {"runs": {"embedded_model": {"episodes_per_seed": 9}}}}, "episodes_per_seed is 9"),
        ({"moral_hazard": {"runs": {"embedded_model": {"evaluation_seeds": [7]}}}}, "evaluation_seeds holds 7"),
        ({"moral_hazard": {"runs": {"Embedded Model!": {"model": "m"}}}}, "Embedded Model!"),
        ({"budget": {"max_usd": -1}}, "'budget.max_usd'"),
    ],
)
def test_a_mistake_is_one_sentence_that_names_the_key(change, sentence, config, models):
    merge(config, change)
    with pytest.raises(InfoeconError, match=sentence) as caught:
        load_settings(config, models, "configuration")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("mine:\n  endpoint: openai\n  model: m\n", "mine.*base_url"),
        ("mine:\n  endpoint: carrier-pigeon\n", "mine.*carrier-pigeon"),
        ("mine:\n  endpoint: replay\n  of: yours\n", "mine.of.*'yours'"),
        ("mine: [\n", r"models.yaml, line \d+: this is not valid YAML"),
        ("mine:\n  endpoint: openai\n  base_url: http://x\n  model: m\n  api_key: secret\n", "unknown key.*api_key"),
    ],
)
def test_a_mistake_in_the_models_is_one_sentence(tmp_path, text, sentence):
    file = tmp_path / "models.yaml"
    file.write_text(text)
    with pytest.raises(InfoeconError, match=sentence) as caught:
        load_models(file)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(InfoeconError, match="does not exist"):
        read_yaml(tmp_path / "nowhere.yaml")


@given(st.permutations(["temperature", "top_p", "max_output_tokens"]))
def test_canonical_settings_do_not_depend_on_the_order_of_keys(order):
    values = {"temperature": 0.5, "top_p": 0.9, "max_output_tokens": 8}
    assert canonical({key: values[key] for key in order}) == canonical(values)


def test_defaults_that_are_written_out_change_nothing(config, models):
    before = canonical(load_settings(config, models, "configuration"))
    spelled = copy.deepcopy(config)
    merge(spelled, {"moral_hazard": {"runs": {"embedded_model": {"mappings": ["original"], "outer_seeds": [0]}}}})
    assert canonical(load_settings(spelled, models, "configuration")) == before


def test_numbers_may_come_as_words_as_on_the_command_line(config, models):
    merge(
        config, {"moral_hazard": {"payoffs": {"query_cost": "0.2"}, "runs": {"embedded_model": {"outer_seeds": ["3"]}}}}
    )
    settings = load_settings(config, models, "configuration").moral_hazard
    assert settings.payoffs.query_cost == 0.2
    assert settings.runs["embedded_model"].outer_seeds == [3]


def test_the_registry_round_trips(models):
    assert validate(ModelRegistry, models.model_dump(mode="json"), "models.yaml") == models
