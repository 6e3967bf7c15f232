"""Fit the observable-rank classifier and evaluate it, frozen, on the cases of every mapping."""

from infoecon.jobs import job

with job(snakemake) as made_by:
    from infoecon.moral_hazard.rank_classifier import accuracy_by_mapping, fit_rank_classifier
    from infoecon.tables.moral_hazard import Cases, RankClassifierAccuracy
    from infoecon.tables.parquet import read_table, write_table

    classifier = fit_rank_classifier(read_table(snakemake.input.rank_classifier_cases, Cases))
    accuracy = accuracy_by_mapping(classifier, read_table(snakemake.input.cases, Cases))
    write_table(accuracy, RankClassifierAccuracy, snakemake.output.rank_classifier, made_by)
