"""Play the episodes of one run: with scripted and simulated policies, or with a language model."""

import asyncio
import json
from pathlib import Path

from infoecon.jobs import job

with job(snakemake) as made_by:
    from infoecon.moral_hazard.controls import controls
    from infoecon.moral_hazard.rank_classifier import fit_rank_classifier
    from infoecon.moral_hazard.simulated_agents import SimulatedAgent
    from infoecon.moral_hazard.transcripts import ask_model, play_with_policies
    from infoecon.settings.budget import Budget
    from infoecon.settings.models import ModelRegistry
    from infoecon.settings.moral_hazard import RunSettings
    from infoecon.settings.moral_hazard_agents import SimulatedAgentSettings
    from infoecon.tables.moral_hazard import Cases, Episodes, Transcripts
    from infoecon.tables.parquet import read_table, write_table

    settings = json.loads(snakemake.params.settings)
    run = RunSettings.model_validate(settings["run"])
    cases = read_table(snakemake.input.cases, Cases)
    episodes = read_table(snakemake.input.episodes, Episodes)
    if run.policies is not None:
        classifier = fit_rank_classifier(read_table(snakemake.input.rank_classifier_cases, Cases))
        simulated = {
            name: SimulatedAgent(SimulatedAgentSettings.model_validate(agent))
            for name, agent in settings["simulated_agents"].items()
        }
        transcripts = play_with_policies(episodes, cases, {**controls(classifier), **simulated})
    else:
        transcripts = asyncio.run(
            ask_model(
                episodes,
                cases,
                run,
                models=ModelRegistry.model_validate(settings["models"]),
                budget=Budget.model_validate(settings["budget"]),
                cache_directory=Path("cache/responses"),
                server_log=Path(snakemake.log[0]).with_suffix(".server.log"),
            )
        )
    write_table(transcripts, Transcripts, snakemake.output.transcripts, made_by)
