# Tables, figures, ledger and report: what config/artefacts.yaml lists, and what is made from all of it.


wildcard_constraints:
    study="|".join(artefacts.root),
    table="table_[a-z0-9_]+",
    figure="figure_[a-z0-9_]+",


rule render_table:
    input:
        lambda wildcards: inputs_of(wildcards.study, wildcards.table),
    output:
        csv="results/{study}/tables/{table}.csv",
        md="results/{study}/tables/{table}.md",
        tex="results/{study}/tables/{table}.tex",
    log:
        "logs/{study}/render/{table}.log",
    benchmark:
        "logs/{study}/render/{table}.benchmark.tsv"
    conda:
        "../envs/pipeline.yaml"
    params:
        module=lambda wildcards: artefacts.module(wildcards.study, wildcards.table),
        code=lambda wildcards: code("artefacts/render_table.py", artefacts.module(wildcards.study, wildcards.table)),
        settings=lambda wildcards: canonical(artefacts.root[wildcards.study][wildcards.table]),
    script:
        "../workflow/scripts/artefacts/render_table.py"


rule render_figure:
    input:
        lambda wildcards: inputs_of(wildcards.study, wildcards.figure),
    output:
        pdf="figures/{study}/{figure}.pdf",
        png="figures/{study}/{figure}.png",
        csv="figures/{study}/{figure}.csv",
    log:
        "logs/{study}/render/{figure}.log",
    benchmark:
        "logs/{study}/render/{figure}.benchmark.tsv"
    conda:
        "../envs/pipeline.yaml"
    params:
        module=lambda wildcards: artefacts.module(wildcards.study, wildcards.figure),
        code=lambda wildcards: code("artefacts/render_figure.py", artefacts.module(wildcards.study, wildcards.figure)),
        settings=lambda wildcards: canonical(artefacts.root[wildcards.study][wildcards.figure]),
    script:
        "../workflow/scripts/artefacts/render_figure.py"


rule compare_with_published:
    input:
        tables=[file for file in files_of_artefacts("table") if file.endswith(".csv")],
        published=sorted(str(file) for file in (BASE / "published").rglob("*.csv")),
    output:
        parquet="results/ledger.parquet",
        csv="results/ledger.csv",
    log:
        "logs/compare_with_published.log",
    benchmark:
        "logs/compare_with_published.benchmark.tsv"
    conda:
        "../envs/pipeline.yaml"
    params:
        code=code("artefacts/compare_with_published.py"),
        settings="",
    script:
        "../workflow/scripts/artefacts/compare_with_published.py"


rule write_report:
    input:
        tables=files_of_artefacts("table"),
        figures=files_of_artefacts("figure"),
        ledger="results/ledger.parquet",
        templates=sorted(str(file) for file in (BASE / "workflow/infoecon/ledger").glob("*.jinja")),
    output:
        report="results/report.html",
        index="results/index.txt",
    log:
        "logs/write_report.log",
    benchmark:
        "logs/write_report.benchmark.tsv"
    conda:
        "../envs/pipeline.yaml"
    params:
        code=code("artefacts/write_report.py"),
        settings=lambda wildcards: canonical(
            artefacts, {"configuration": [Path(file).name for file in workflow.configfiles]}
        ),
    script:
        "../workflow/scripts/artefacts/write_report.py"
