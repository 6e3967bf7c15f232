"""Every table and figure of study 1, made from one small real run."""

import importlib

import pandas as pd
import pytest
import yaml

from infoecon.agents.conductor import conduct
from infoecon.agents.plays import Reply
from infoecon.errors import InfoeconError
from infoecon.moral_hazard.cases import cases_frame, rank_classifier_cases_frame
from infoecon.moral_hazard.controls import controls
from infoecon.moral_hazard.design import episodes_frame
from infoecon.moral_hazard.estimates import estimate, estimate_seeds
from infoecon.moral_hazard.game import play
from infoecon.moral_hazard.judgements import judge
from infoecon.moral_hazard.prompts import renderer
from infoecon.moral_hazard.random_control import expectations, monte_carlo
from infoecon.moral_hazard.rank_classifier import accuracy_by_mapping, fit_rank_classifier
from infoecon.moral_hazard.simulated_agents import SimulatedAgent
from infoecon.moral_hazard.transcripts import play_with_policies
from infoecon.moral_hazard.worked_example import example_of_inputs
from infoecon.plotting.style import write_figure
from infoecon.settings.artefacts import ArtefactRegistry
from infoecon.settings.moral_hazard import Control, GridSettings, PayoffSettings, RunSettings
from infoecon.settings.moral_hazard_agents import SimulatedAgentSettings

PAYOFFS = PayoffSettings()
CONTROLS = list(Control.__args__)
SIMULATED = {
    "simulated_rational": SimulatedAgent(SimulatedAgentSettings()),
    "simulated_faulty": SimulatedAgent(SimulatedAgentSettings(temperature=0.1, format_error_rate=0.2)),
}


@pytest.fixture(scope="module")
def inputs():
    grid = GridSettings()
    cases = cases_frame(0, grid)
    classifier = fit_rank_classifier(rank_classifier_cases_frame(0, 100))
    runs = {
        "suite": RunSettings(policies=CONTROLS, mappings=["original", "balanced", "reversed"]),
        "random": RunSettings(policies=["random_valid"], outer_seeds=[0, 1, 2]),
        "simulated": RunSettings(policies=list(SIMULATED), outer_seeds=[0, 1]),
    }
    frames = {name: [] for name in ("episodes", "transcripts", "judgements", "estimates", "seed_estimates")}
    for run in runs.values():
        episodes = episodes_frame(run, grid, PAYOFFS)
        transcripts = play_with_policies(episodes, cases, {**controls(classifier), **SIMULATED})
        judgements = judge(cases, episodes, transcripts)
        sources = {name: "simulated" if name in SIMULATED else "exact" for name in run.policies}
        made = (
            episodes,
            transcripts,
            judgements,
            estimate(judgements, sources, PAYOFFS),
            estimate_seeds(judgements, sources),
        )
        for parts, frame in zip(frames.values(), made, strict=True):
            parts.append(frame)
    return {name: pd.concat(parts, ignore_index=True) for name, parts in frames.items()} | {
        "cases": cases,
        "rank_classifier": accuracy_by_mapping(classifier, cases),
        "random_expectations": expectations(grid, PAYOFFS),
        "random_monte_carlo": monte_carlo(grid, PAYOFFS, 50),
    }


def suite(inputs):
    estimates = inputs["estimates"]
    return inputs | {
        "estimates": estimates[estimates["source"].eq("exact") & estimates["replication"].eq("evaluation_seed")]
    }


def artefact(name):
    return importlib.import_module(f"infoecon.moral_hazard.artefacts.{name}")


def table(name, inputs):
    needs_suite = name in {"table_12", "table_13", "table_14", "table_15"}
    chosen = suite(inputs) if needs_suite else inputs
    if name == "table_22":
        seeds = inputs["seed_estimates"]
        counts = seeds.groupby("policy")["outer_seed"].transform("nunique")
        chosen = inputs | {
            "seed_estimates": seeds[counts.eq(3)].drop_duplicates(
                ["policy", "mapping", "outer_seed", "metric"], keep="last"
            )
        }
    return artefact(name).render(chosen)


def registered(repository, kind):
    registry = ArtefactRegistry.model_validate(
        yaml.safe_load((repository / "config/artefacts.yaml").read_text("utf-8"))
    )
    return [name for name in registry.root["moral_hazard"] if name.startswith(kind)]


def test_every_registered_table_renders_and_says_its_source(inputs, repository):
    names = registered(repository, "table")
    assert len(names) == 10
    for name in names:
        made = table(name, inputs)
        assert len(made.frame) == len(made.display) > 0
        assert "source" in made.frame
        assert "Source: " in made.notes[0]
        assert not made.display.astype(str).apply(lambda column: column.str.contains(r"(?i)\bnan\b")).any().any()


@pytest.mark.parametrize("number", [2, 12, 13, 14, 15, 22, 23, 24, 25])
def test_columns_and_keys_are_those_of_the_published_table(inputs, repository, number):
    (file,) = (repository / "published/moral_hazard").glob(f"table_{number:02d}_*.csv")
    printed = pd.read_csv(file)
    ours = table(f"table_{number:02d}", inputs).frame
    assert set(printed.columns) <= set(ours.columns)


def test_tables_13_and_14_are_those_printed(inputs, repository):
    for name, file in (
        ("table_13", "table_13_query_mediated_controls"),
        ("table_14", "table_14_threshold_calibration"),
    ):
        printed = pd.read_csv(repository / f"published/moral_hazard/{file}.csv")
        keys = [column for column in printed if not column.endswith("_pct")]
        ours = table(name, inputs).frame[list(printed)]
        both = printed.merge(ours, on=keys, suffixes=("", "_ours"))
        assert len(both) == len(printed)
        for column in set(printed) - set(keys):
            assert (both[column] - both[f"{column}_ours"]).abs().max() <= 0.05 + 1e-9, column


def test_table_15_has_every_cell_that_no_sample_can_change(inputs, repository):
    printed = pd.read_csv(repository / "published/moral_hazard/table_15_deterministic_control_suite.csv")
    ours = table("table_15", inputs).frame
    both = printed.merge(ours, on=["policy", "mapping"], suffixes=("", "_ours"))
    assert len(both) == len(printed) == 30
    scripted = both[both["policy"].ne("random_valid")]
    checked = 0
    for metric in ("team", "local", "query", "transfer", "unsafe"):
        fixed = scripted[scripted[f"{metric}_sd_pct"].eq(0.0)]
        assert (fixed[f"{metric}_pct"] == fixed[f"{metric}_pct_ours"]).all(), metric
        checked += len(fixed)
    assert checked > 110


def test_table_12_is_100_about_25_and_0(inputs):
    accuracy = table("table_12", inputs).frame.set_index("mapping")["hidden_label_accuracy_pct"]
    assert accuracy["original"] == 100
    assert accuracy["reversed"] == 0
    assert abs(accuracy["balanced"] - 25) < 3 * 100 * (0.25 * 0.75 / 135) ** 0.5


def test_table_2_shows_bounds_and_unparsed_replies(inputs):
    frame = table("table_02", inputs).frame.set_index("model")
    assert frame.loc["random", "unparsed_pct"] == 0
    faulty = frame.loc["simulated_faulty"]
    assert faulty["unparsed_pct"] > 20
    assert faulty["query_lower_pct"] <= faulty["query_pct"] < faulty["query_upper_pct"]
    assert set(frame["source"]) == {"simulated", "exact"}
    display = table("table_02", inputs).display.set_index("Policy")
    assert "[" in display.loc["simulated_faulty", "Query (%)"]
    assert "[" not in display.loc["random_valid", "Query (%)"]


def test_a_policy_of_two_runs_stops_with_its_name(inputs):
    twice = pd.concat([inputs["estimates"]] * 2)
    with pytest.raises(InfoeconError, match="Two runs of the configuration give values for simulated_rational"):
        table("table_02", inputs | {"estimates": twice})


def test_the_worked_example_prefers_agents_to_oracles_and_is_real(inputs):
    example = example_of_inputs(inputs)
    assert example.source == "simulated"
    assert "provenance=anonymous" in example.episode_id
    assert example.passed_over == ()
    assert example.score == pytest.approx(
        0.15 + example.episode.payoffs.team_reward - example.episode.payoffs.query_cost
    )
    said = inputs["transcripts"][inputs["transcripts"]["episode_id"].eq(example.episode_id)]
    assert sorted(said["text"]) == sorted(answer.text for answer in example.answers.values())
    frame = table("table_worked_example", inputs).frame
    assert len(frame) == 6
    assert list(frame["phase"]) == ["work", "work", "note", "note", "final", "final"]


class ReadAloud:
    """Says what the example's agents said and keeps what they were shown."""

    def __init__(self, answers):
        self.answers, self.shown = answers, []

    def answer(self, ask):
        self.shown.append(ask.messages()[-1]["content"])
        return Reply(self.answers[ask.agent, ask.phase].text)


def test_the_worked_example_shows_the_board_that_the_agents_saw(inputs):
    example = example_of_inputs(inputs)
    reader = ReadAloud(example.answers)
    list(conduct([play(example.episode, renderer(worked_examples=False))], reader))
    board = f"Board: {'; '.join(artefact('table_worked_example').board_lines(example))}."
    assert sum(board in shown for shown in reader.shown) == 2


def test_policies_without_a_success_are_passed_over_by_name(inputs):
    estimates = inputs["estimates"]
    is_local = estimates["policy"].eq("always_local")
    embedded = estimates.assign(source=estimates["source"].mask(is_local, "embedded"))
    made = table("table_worked_example", inputs | {"estimates": embedded})
    assert "No episode of always_local went from query to team success." in made.notes


def test_without_a_success_there_is_no_example(inputs):
    judgements = inputs["judgements"]
    with pytest.raises(InfoeconError, match="No two-agent episode of any run went from query to team success"):
        example_of_inputs(inputs | {"judgements": judgements[judgements["policy"].eq("always_local")]})


def test_figures_are_the_same_bytes_every_time_and_hold_what_they_draw(inputs, repository, tmp_path):
    for name in registered(repository, "figure"):
        for attempt in ("one", "other"):
            write_figure(*artefact(name).draw(inputs), tmp_path / attempt / name)
        for suffix in ("pdf", "png", "csv"):
            one, other = ((tmp_path / attempt / f"{name}.{suffix}").read_bytes() for attempt in ("one", "other"))
            assert one == other, f"{name}.{suffix}"
        assert len(pd.read_csv(tmp_path / "one" / f"{name}.csv")) > 0


def test_figure_4_names_its_sources_and_draws_every_policy(inputs):
    figure, drawn = artefact("figure_04").draw(inputs)
    assert "simulated" in figure.get_suptitle()
    assert set(drawn["policy"]) == {"random_valid", *SIMULATED}
    for axes in figure.axes:
        assert "%" in axes.get_xlabel()
        assert "%" in axes.get_ylabel()
