"""Judge one run: parse every reply again and say what it means for every agent."""

import json

from infoecon.jobs import job

with job(snakemake) as made_by:
    from infoecon.moral_hazard.judgements import judge
    from infoecon.tables.moral_hazard import Cases, Episodes, Judgements, Transcripts
    from infoecon.tables.parquet import read_table, write_table

    judgements = judge(
        read_table(snakemake.input.cases, Cases),
        read_table(snakemake.input.episodes, Episodes),
        read_table(snakemake.input.transcripts, Transcripts),
        scoring=json.loads(snakemake.params.settings),
    )
    write_table(judgements, Judgements, snakemake.output.judgements, made_by)
