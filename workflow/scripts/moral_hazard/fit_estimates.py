"""Estimate the metrics of one run."""

import json

from infoecon.jobs import job

with job(snakemake) as made_by:
    from infoecon.moral_hazard.estimates import estimate, estimate_seeds
    from infoecon.settings.moral_hazard import PayoffSettings
    from infoecon.tables.moral_hazard import Estimates, Judgements, SeedEstimates
    from infoecon.tables.parquet import read_table, write_table

    sources, payoffs = json.loads(snakemake.params.settings)
    judgements = read_table(snakemake.input.judgements, Judgements)
    estimates = estimate(judgements, sources, PayoffSettings.model_validate(payoffs))
    write_table(estimates, Estimates, snakemake.output.estimates, made_by)
    write_table(estimate_seeds(judgements, sources), SeedEstimates, snakemake.output.seed_estimates, made_by)
