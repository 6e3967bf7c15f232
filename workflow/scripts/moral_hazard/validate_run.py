"""Check one run; the first failed check stops the pipeline with its first offending row."""

import json

from infoecon.jobs import job

with job(snakemake) as made_by:
    from infoecon.errors import InfoeconError
    from infoecon.moral_hazard.checks import check_run
    from infoecon.tables.moral_hazard import Cases, Checks, Episodes, Judgements, Transcripts
    from infoecon.tables.parquet import read_table, write_table

    checks = check_run(
        read_table(snakemake.input.cases, Cases),
        read_table(snakemake.input.episodes, Episodes),
        read_table(snakemake.input.transcripts, Transcripts),
        read_table(snakemake.input.judgements, Judgements),
        worked_examples=json.loads(snakemake.params.settings),
    )
    for check in checks[~checks["passed"]].itertuples():
        raise InfoeconError(
            f"The run {snakemake.wildcards.run} fails the check '{check.check}' in {check.failed} of {check.checked} "
            f"rows, first: {check.detail}."
        )
    write_table(checks, Checks, snakemake.output.checks, made_by)
