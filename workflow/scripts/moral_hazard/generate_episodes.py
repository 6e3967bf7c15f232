"""Generate the episodes of one run: one row per episode to play."""

import json

from infoecon.jobs import job

with job(snakemake) as made_by:
    from infoecon.moral_hazard.design import episodes_frame
    from infoecon.settings.moral_hazard import GridSettings, PayoffSettings, RunSettings
    from infoecon.tables.moral_hazard import Episodes
    from infoecon.tables.parquet import write_table

    payoffs, grid, run = json.loads(snakemake.params.settings)
    episodes = episodes_frame(
        RunSettings.model_validate(run),
        grid=GridSettings.model_validate(grid),
        payoffs=PayoffSettings.model_validate(payoffs),
    )
    write_table(episodes, Episodes, snakemake.output.episodes, made_by)
