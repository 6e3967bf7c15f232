# infoecon: the information economics of language agents.
# Settings come from config/, rules from rules/, all logic from workflow/infoecon; this file is the map.

from snakemake.utils import min_version

min_version("9.0")


configfile: f"{workflow.basedir}/config/config.yaml"


include: "rules/common.smk"
include: "rules/moral_hazard.smk"
include: "rules/artefacts.smk"


rule all:
    default_target: True
    input:
        "results/report.html",
        "results/ledger.csv",


# Targets by name: a study, a section of its paper, a table or a figure (`snakemake --list`).
for target, files in artefacts.targets().items():

    rule:
        name:
            target
        input:
            files,


onstart:
    take_lock()


onerror:
    print_sentences()
