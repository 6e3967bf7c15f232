# Study 1, moral hazard: cases → episodes → transcripts → judgements → checks → fits.
# Each run of the configuration is one job per stage.


wildcard_constraints:
    run="|".join(study.runs),


rule prepare_moral_hazard_cases:
    output:
        cases="results/moral_hazard/datasets/cases.parquet",
        rank_classifier_cases="results/moral_hazard/datasets/rank_classifier_cases.parquet",
    log:
        "logs/moral_hazard/prepare_cases.log",
    benchmark:
        "logs/moral_hazard/prepare_cases.benchmark.tsv"
    conda:
        "../envs/pipeline.yaml"
    params:
        code=code("moral_hazard/prepare_cases.py"),
        settings=canonical(study.case_seed, study.grid, study.rank_classifier_training_cases),
    script:
        "../workflow/scripts/moral_hazard/prepare_cases.py"


rule generate_moral_hazard_episodes:
    output:
        episodes="results/moral_hazard/episodes/{run}.parquet",
    log:
        "logs/moral_hazard/generate_episodes/{run}.log",
    benchmark:
        "logs/moral_hazard/generate_episodes/{run}.benchmark.tsv"
    conda:
        "../envs/pipeline.yaml"
    params:
        code=code("moral_hazard/generate_episodes.py"),
        settings=lambda wildcards: episode_settings(wildcards.run),
    script:
        "../workflow/scripts/moral_hazard/generate_episodes.py"


rule infer_moral_hazard_transcripts:
    input:
        cases="results/moral_hazard/datasets/cases.parquet",
        rank_classifier_cases="results/moral_hazard/datasets/rank_classifier_cases.parquet",
        episodes="results/moral_hazard/episodes/{run}.parquet",
    output:
        transcripts="results/moral_hazard/transcripts/{run}.parquet",
    log:
        "logs/moral_hazard/infer_transcripts/{run}.log",
    benchmark:
        "logs/moral_hazard/infer_transcripts/{run}.benchmark.tsv"
    conda:
        "../envs/pipeline.yaml"
    threads: lambda wildcards: threads_of_model(study.runs[wildcards.run].model)
    params:
        code=code("moral_hazard/infer_transcripts.py"),
        settings=lambda wildcards: answer_settings(wildcards.run),
    script:
        "../workflow/scripts/moral_hazard/infer_transcripts.py"


rule judge_moral_hazard_transcripts:
    input:
        cases="results/moral_hazard/datasets/cases.parquet",
        episodes="results/moral_hazard/episodes/{run}.parquet",
        transcripts="results/moral_hazard/transcripts/{run}.parquet",
    output:
        judgements="results/moral_hazard/judgements/{run}.parquet",
    log:
        "logs/moral_hazard/judge_transcripts/{run}.log",
    benchmark:
        "logs/moral_hazard/judge_transcripts/{run}.benchmark.tsv"
    conda:
        "../envs/pipeline.yaml"
    params:
        code=code("moral_hazard/judge_transcripts.py"),
        settings=canonical(study.scoring),
    script:
        "../workflow/scripts/moral_hazard/judge_transcripts.py"


rule validate_moral_hazard_run:
    input:
        cases="results/moral_hazard/datasets/cases.parquet",
        episodes="results/moral_hazard/episodes/{run}.parquet",
        transcripts="results/moral_hazard/transcripts/{run}.parquet",
        judgements="results/moral_hazard/judgements/{run}.parquet",
    output:
        checks="results/moral_hazard/checks/{run}.parquet",
    log:
        "logs/moral_hazard/validate_run/{run}.log",
    benchmark:
        "logs/moral_hazard/validate_run/{run}.benchmark.tsv"
    conda:
        "../envs/pipeline.yaml"
    params:
        code=code("moral_hazard/validate_run.py"),
        settings=lambda wildcards: canonical(study.runs[wildcards.run].worked_examples),
    script:
        "../workflow/scripts/moral_hazard/validate_run.py"


rule fit_moral_hazard_estimates:
    input:
        judgements="results/moral_hazard/judgements/{run}.parquet",
        checks="results/moral_hazard/checks/{run}.parquet",
    output:
        estimates="results/moral_hazard/fits/estimates/{run}.parquet",
        seed_estimates="results/moral_hazard/fits/seed_estimates/{run}.parquet",
    log:
        "logs/moral_hazard/fit_estimates/{run}.log",
    benchmark:
        "logs/moral_hazard/fit_estimates/{run}.benchmark.tsv"
    conda:
        "../envs/pipeline.yaml"
    params:
        code=code("moral_hazard/fit_estimates.py"),
        settings=lambda wildcards: canonical(sources_of_run(wildcards.run), study.payoffs),
    script:
        "../workflow/scripts/moral_hazard/fit_estimates.py"


rule fit_moral_hazard_rank_classifier:
    input:
        cases="results/moral_hazard/datasets/cases.parquet",
        rank_classifier_cases="results/moral_hazard/datasets/rank_classifier_cases.parquet",
    output:
        rank_classifier="results/moral_hazard/fits/rank_classifier.parquet",
    log:
        "logs/moral_hazard/fit_rank_classifier.log",
    benchmark:
        "logs/moral_hazard/fit_rank_classifier.benchmark.tsv"
    conda:
        "../envs/pipeline.yaml"
    params:
        code=code("moral_hazard/fit_rank_classifier.py"),
        settings="",
    script:
        "../workflow/scripts/moral_hazard/fit_rank_classifier.py"


rule fit_moral_hazard_random_control:
    input:
        cases="results/moral_hazard/datasets/cases.parquet",
    output:
        expectations="results/moral_hazard/fits/random_expectations.parquet",
        monte_carlo="results/moral_hazard/fits/random_monte_carlo.parquet",
    log:
        "logs/moral_hazard/fit_random_control.log",
    benchmark:
        "logs/moral_hazard/fit_random_control.benchmark.tsv"
    conda:
        "../envs/pipeline.yaml"
    params:
        code=code("moral_hazard/fit_random_control.py"),
        settings=canonical(study.payoffs, study.grid, study.random_control),
    script:
        "../workflow/scripts/moral_hazard/fit_random_control.py"
