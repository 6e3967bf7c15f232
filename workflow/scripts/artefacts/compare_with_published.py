"""Put every published value beside ours."""

from os.path import commonpath
from pathlib import Path

from infoecon.jobs import job

with job(snakemake) as made_by:
    import pandas as pd

    from infoecon.ledger.ledger import build_ledger
    from infoecon.ledger.published import read_papers
    from infoecon.tables.ledger import Ledger
    from infoecon.tables.parquet import write_table

    tables = {f"{file.parts[-3]}/{file.stem}": pd.read_csv(file) for file in map(Path, snakemake.input.tables)}
    ledger = build_ledger(read_papers(Path(commonpath(snakemake.input.published))), tables)
    write_table(ledger, Ledger, snakemake.output.parquet, made_by)
    ledger.to_csv(snakemake.output.csv, index=False, lineterminator="\n")
