"""Study 1, moral hazard: what is played, by whom and how often."""

from __future__ import annotations

from typing import Annotated, Literal, Self, get_args

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt, model_validator

from infoecon.settings.models import Sampling
from infoecon.settings.moral_hazard_agents import SimulatedAgentSettings
from infoecon.settings.sections import Levels, Section

Mapping = Literal["original", "balanced", "reversed"]
Sweep = Literal["provenance", "query_cost", "team_reward", "group_size"]
Provenance = Literal["anonymous", "visible"]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$")]
GroupSize = Annotated[int, Field(ge=2)]
Control = Literal[
    "random_valid",
    "always_local",
    "rank_second_no_query",
    "query_ignore_information",
    "always_query_oracle",
    "selective_query_oracle",
    "wrong_information",
    "private_threshold",
    "social_planner",
    "observable_rank_classifier",
]


class PayoffSettings(Section):
    """The reward contract of Eq. 2 at its primary values."""

    local_weight: NonNegativeFloat = 0.35
    """Reward for a correct local answer."""
    final_weight: NonNegativeFloat = 0.15
    """Reward for a correct final choice."""
    team_reward: NonNegativeFloat = 0.50
    """Reward when every final choice of the group is correct."""
    query_cost: NonNegativeFloat = 0.10
    """Cost of one query."""


class GridSettings(Section):
    """The labelled cells of the base grid (App. B.1): each sweep varies one parameter, the others stay primary."""

    provenances: Levels[Provenance] = ["visible", "anonymous"]
    """Whether notes show their author."""
    query_costs: Levels[NonNegativeFloat] = [0.0, 0.05, 0.10, 0.20, 0.35]
    """Query costs."""
    team_rewards: Levels[NonNegativeFloat] = [0.0, 0.20, 0.50, 0.80, 1.00]
    """Team rewards."""
    group_sizes: Levels[GroupSize] = [2, 3, 4]
    """Agents in the ring."""
    evaluation_seeds: Levels[NonNegativeInt] = [0, 100, 200]
    """Seeds of the case samples; shared by all policies."""
    episodes_per_seed: PositiveInt = 5
    """Episodes for each cell and evaluation seed."""


class RandomControlSettings(Section):
    """The chance level of every metric (App. G.1)."""

    monte_carlo_replicates: PositiveInt = 1000
    """Replicated data sets behind Table 25."""


class RunSettings(Section):
    """One run: some policies without a model, or one language model, over the base grid."""

    policies: Levels[Name] | None = None
    """Scripted controls and simulated agents by name."""
    model: Name | None = None
    """A language model of models.yaml."""
    mappings: Levels[Mapping] = ["original"]
    """Relations between public rank and the hidden unsafe option."""
    outer_seeds: Levels[NonNegativeInt] = [0]
    """Seeds of the policy's own draws."""
    sweeps: Levels[Sweep] = ["provenance", "query_cost", "team_reward", "group_size"]
    """Sweeps of the grid that are played."""
    evaluation_seeds: Levels[NonNegativeInt] | None = None
    """Evaluation seeds; the grid's when omitted."""
    episodes_per_seed: PositiveInt | None = None
    """Episodes for each cell and evaluation seed; the grid's number when omitted."""
    sampling: Sampling = Sampling()
    """How the model draws its text."""
    worked_examples: bool = False
    """Whether prompts carry worked turns; the paper's are zero-shot, small models need them."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.policies is None) == (self.model is None):
            raise ValueError("name either `policies` or one `model`")
        return self


class MoralHazardSettings(Section):
    """Study 1: the Dialogue Moral Hazard Game."""

    case_seed: NonNegativeInt = 0
    """Seed of the case templates."""
    payoffs: PayoffSettings = PayoffSettings()
    """The primary reward contract."""
    grid: GridSettings = GridSettings()
    """The base grid."""
    rank_classifier_training_cases: PositiveInt = 2000
    """Disjoint original cases on which the observable-rank classifier is fitted (App. E.1)."""
    random_control: RandomControlSettings = RandomControlSettings()
    """The random valid-action control."""
    scoring: Literal["fallback", "strict"] = "fallback"
    """What an unparsed act counts as: Table 7's fallback, or nothing at all (Table 26)."""
    simulated_agents: dict[Name, SimulatedAgentSettings] = {}
    """Stochastic agents with known truth, by name."""
    runs: Annotated[dict[Name, RunSettings], Field(min_length=1)] = {}
    """The runs by name."""

    @model_validator(mode="after")
    def _policies_are_known(self) -> Self:
        controls = get_args(Control)
        if clash := sorted(set(controls) & set(self.simulated_agents)):
            raise ValueError(f"simulated_agents.{clash[0]} has the name of a scripted control; choose another")
        for name, run in self.runs.items():
            if unknown := sorted(set(run.policies or ()) - set(controls) - set(self.simulated_agents)):
                raise ValueError(
                    f"runs.{name}.policies names {unknown[0]!r}, which is neither a scripted control "
                    f"({', '.join(controls)}) nor defined under simulated_agents"
                )
        return self

    @model_validator(mode="after")
    def _runs_within_grid(self) -> Self:
        for name, run in self.runs.items():
            if run.episodes_per_seed is not None and run.episodes_per_seed > self.grid.episodes_per_seed:
                raise ValueError(
                    f"runs.{name}.episodes_per_seed is {run.episodes_per_seed}, but the grid has only "
                    f"{self.grid.episodes_per_seed} (grid.episodes_per_seed)"
                )
            if missing := sorted(set(run.evaluation_seeds or ()) - set(self.grid.evaluation_seeds)):
                raise ValueError(f"runs.{name}.evaluation_seeds holds {missing[0]}, which grid.evaluation_seeds lacks")
        return self
