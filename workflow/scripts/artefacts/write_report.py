"""Put tables, figures and ledger on one page, and list what came out."""

import json
from pathlib import Path

from infoecon.jobs import job

with job(snakemake):
    import pandas as pd

    from infoecon.ledger.report import ReportItem, build_report, parse_failures, sources_of
    from infoecon.provenance import versions
    from infoecon.tables.ledger import Ledger
    from infoecon.tables.parquet import read_table

    artefacts, run = json.loads(snakemake.params.settings)
    files = [Path(file) for file in [*snakemake.input.tables, *snakemake.input.figures]]
    data = {
        (file.parts[1] if file.parts[0] == "figures" else file.parts[-3], file.stem): file
        for file in files
        if file.suffix == ".csv"
    }
    tables = {key: pd.read_csv(file, dtype={"outer_seed": str}) for key, file in data.items()}
    items = []
    for (study, name), file in data.items():
        picture, text = file.with_suffix(".png"), file.with_suffix(".md")
        items.append(
            ReportItem(
                study=study,
                name=name,
                section=artefacts[study][name]["section"],
                title=artefacts[study][name]["title"],
                sources=sources_of(tables[study, name]),
                markdown=text.read_text(encoding="utf-8") if text in files else "",
                picture=picture.read_bytes() if picture in files else b"",
            )
        )
    failures = parse_failures({"/".join(key): table for key, table in tables.items() if key[1].startswith("table")})
    provenance = {"configuration": ", ".join(run["configuration"]), "versions": versions()}
    report = build_report(items, read_table(snakemake.input.ledger, Ledger), failures, provenance)
    Path(snakemake.output.report).write_text(report, encoding="utf-8")

    lines = ["", "report    results/report.html", "ledger    results/ledger.csv", ""]
    for item in items:
        shown = data[item.study, item.name].with_suffix(".png" if item.picture else ".md")
        lines.append(f"{item.label:<16}  {shown}  {item.title}")
    Path(snakemake.output.index).write_text("\n".join(lines) + "\n", encoding="utf-8")
