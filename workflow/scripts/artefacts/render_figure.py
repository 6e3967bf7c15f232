"""Render one figure as PDF and PNG, with the data drawn as CSV."""

from importlib import import_module
from pathlib import Path

from infoecon.jobs import job

with job(snakemake):
    from infoecon.plotting.style import write_figure
    from infoecon.tables.parquet import read_inputs

    figure, drawn = import_module(snakemake.params.module).draw(read_inputs(snakemake.input))
    write_figure(figure, drawn, Path(snakemake.output.pdf).with_suffix(""))
