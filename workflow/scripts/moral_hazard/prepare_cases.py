"""Prepare the cases of the grid under all mappings, and the classifier's disjoint training cases."""

import json

from infoecon.jobs import job

with job(snakemake) as made_by:
    from infoecon.moral_hazard.cases import cases_frame, rank_classifier_cases_frame
    from infoecon.settings.moral_hazard import GridSettings
    from infoecon.tables.moral_hazard import Cases
    from infoecon.tables.parquet import write_table

    case_seed, grid, training_cases = json.loads(snakemake.params.settings)
    grid = GridSettings.model_validate(grid)
    write_table(cases_frame(case_seed, grid), Cases, snakemake.output.cases, made_by)
    write_table(
        rank_classifier_cases_frame(case_seed, training_cases), Cases, snakemake.output.rank_classifier_cases, made_by
    )
