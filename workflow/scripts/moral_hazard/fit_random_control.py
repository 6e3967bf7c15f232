"""Give the random control's exact expectations and its Monte Carlo spread."""

import json

from infoecon.jobs import job

with job(snakemake) as made_by:
    from infoecon.moral_hazard.random_control import expectations, monte_carlo
    from infoecon.settings.moral_hazard import GridSettings, PayoffSettings, RandomControlSettings
    from infoecon.tables.moral_hazard import RandomExpectations, RandomMonteCarlo
    from infoecon.tables.parquet import write_table

    payoffs, grid, control = json.loads(snakemake.params.settings)
    payoffs, grid = PayoffSettings.model_validate(payoffs), GridSettings.model_validate(grid)
    control = RandomControlSettings.model_validate(control)
    write_table(expectations(grid, payoffs), RandomExpectations, snakemake.output.expectations, made_by)
    spread = monte_carlo(grid, payoffs, control.monte_carlo_replicates)
    write_table(spread, RandomMonteCarlo, snakemake.output.monte_carlo, made_by)
