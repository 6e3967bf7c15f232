"""Render one table as CSV, Markdown and LaTeX."""

from importlib import import_module
from pathlib import Path

from infoecon.jobs import job

with job(snakemake):
    from infoecon.tables.parquet import read_inputs
    from infoecon.tables.rendering import write_rendered

    table = import_module(snakemake.params.module).render(read_inputs(snakemake.input))
    write_rendered(table, Path(snakemake.output.csv).with_suffix(""))
