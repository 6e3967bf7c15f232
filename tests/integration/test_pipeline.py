"""The pipeline from end to end, on config/test.yaml, with the real embedded model."""

import hashlib
import shutil
from contextlib import contextmanager

import pyarrow.parquet as pq
import yaml


def digests(clone, pattern="results/**/*.parquet"):
    return {
        str(file.relative_to(clone.root)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(clone.root.glob(pattern))
    }


@contextmanager
def edited(file, change):
    before, times = file.read_text(encoding="utf-8"), file.stat()
    after = change(before)
    assert after != before
    file.write_text(after, encoding="utf-8")
    yield
    file.write_text(before, encoding="utf-8")
    import os

    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def stored_answers(clone):
    return [
        line for shard in sorted((clone.root / "cache").rglob("*.jsonl")) for line in shard.read_bytes().splitlines()
    ]


def test_every_artefact_is_there(finished):
    artefacts = yaml.safe_load((finished.root / "config/artefacts.yaml").read_text(encoding="utf-8"))
    for study, entries in artefacts.items():
        for name in entries:
            figure = name.startswith("figure_")
            folder = finished.root / (f"figures/{study}" if figure else f"results/{study}/tables")
            for suffix in ("pdf", "png", "csv") if figure else ("csv", "md", "tex"):
                assert (folder / f"{name}.{suffix}").stat().st_size > 0
    index = (finished.root / "results/index.txt").read_text(encoding="utf-8")
    assert "results/report.html" in index
    assert "table_13" in index


def test_the_embedded_model_was_really_asked(finished):
    assert len(stored_answers(finished)) >= 4


def test_parquet_files_say_what_made_them(finished):
    for name in digests(finished):
        metadata = pq.read_schema(finished.root / name).metadata
        assert {b"rule", b"code", b"settings", b"inputs", b"versions"} <= set(metadata)
        assert str(finished.root).encode() not in b"".join(metadata.values())


def test_a_second_run_has_nothing_to_do(finished):
    assert finished.planned() == set()


def test_comments_docstrings_and_formatting_re_run_nothing(finished):
    library = finished.root / "workflow/infoecon"
    with (
        edited(library / "moral_hazard/judgements.py", lambda text: text + "\n# A remark.\n"),
        edited(library / "moral_hazard/parser.py", lambda text: '"""Other words."""\n' + text.partition('"""\n')[2]),
        edited(
            finished.root / "workflow/scripts/moral_hazard/infer_transcripts.py", lambda text: text + "\n\n# More.\n"
        ),
    ):
        assert finished.planned() == set()


def test_an_edit_of_the_metrics_judges_again_and_asks_nobody(finished):
    with edited(
        finished.root / "workflow/infoecon/moral_hazard/judgements.py", lambda text: text + "\nEDITED = True\n"
    ):
        planned = finished.planned()
    assert {"judge_moral_hazard_transcripts", "fit_moral_hazard_estimates", "render_table"} <= planned
    assert not {"infer_moral_hazard_transcripts", "prepare_moral_hazard_cases"} & planned


def test_an_edit_of_one_figure_renders_that_figure_alone(finished):
    figure = finished.root / "workflow/infoecon/moral_hazard/artefacts/figure_04.py"
    with edited(figure, lambda text: text + "\nEDITED_COLOUR = '#000000'\n"):
        assert finished.planned() == {"render_figure", "write_report"}
        run = finished.snakemake("--dry-run")
    assert (run.stdout + run.stderr).count("rule render_figure") == 1


def test_a_changed_setting_re_runs_what_uses_it(finished):
    planned = finished.planned("--config", "moral_hazard={random_control: {monte_carlo_replicates: 150}}")
    assert "fit_moral_hazard_random_control" in planned
    assert not {"infer_moral_hazard_transcripts", "judge_moral_hazard_transcripts"} & planned


def test_sections_tables_and_figures_are_targets(finished):
    run = finished.snakemake(
        "--dry-run", "moral_hazard", "moral_hazard_table_12", "moral_hazard_section_e_1", "moral_hazard_figure_04"
    )
    assert run.returncode == 0, run.stderr


def test_all_results_come_back_from_the_store_byte_for_byte(finished):
    before, answers = digests(finished), stored_answers(finished)
    shutil.rmtree(finished.root / "results")
    run = finished.snakemake()
    assert run.returncode == 0, run.stderr[-4000:]
    assert digests(finished) == before
    assert stored_answers(finished) == answers
    assert not list((finished.root / "logs").rglob("*server*.log")) or "0 asked" in run.stderr
