from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoecon.errors import InfoeconError
from infoecon.ledger.claims import Paper, as_number, canonical
from infoecon.ledger.published import read_paper, read_papers

PUBLISHED = Path(__file__).parents[2] / "published"
DESIGN_COLUMNS = {
    "k_query_cost_reward_units", "w_t_team_reward", "n_agents", "token_cap_tokens", "prompt_seed", "gepa_seed",
    "outer_seed", "observer_id", "observed_peer_id",
}  # fmt: skip
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?(e-?\d+)?")


@pytest.fixture(scope="module")
def papers() -> dict[str, Paper]:
    return {paper.claims[0].paper: paper for paper in read_papers(PUBLISHED)}


@pytest.mark.parametrize("study", ["moral_hazard", "social_learning", "interpretation_risk"])
def test_every_printed_number_is_in_one_claim(papers: dict[str, Paper], study: str) -> None:
    claims = papers[study].claims
    tables = [claim for claim in claims if claim.artefact != "inline"]
    cells = 0
    for file in (PUBLISHED / study).glob("*_[0-9I]*_*.csv"):
        with file.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        cells += sum(
            bool(NUMBER.fullmatch(cell)) for row in rows for name, cell in row.items() if name not in DESIGN_COLUMNS
        )
    assert sum(1 + len(claim.uncertainty) for claim in tables) == cells
    with (PUBLISHED / study / "inline_claims.csv").open(newline="", encoding="utf-8") as stream:
        assert len(claims) - len(tables) == sum(1 for _ in csv.DictReader(stream))
    assert len({claim.identifier for claim in claims}) == len(claims)
    assert all(claim.section and claim.quantity and claim.unit for claim in claims)


@pytest.mark.parametrize(
    ("identifier", "section", "value", "kind", "uncertainty", "unit", "quantity"),
    [
        (
            "moral_hazard/table_13/query_pct[policy=selective_query_oracle,mapping=balanced]",
            "E.2", "26.7", "standard deviation", ("11.5",), "%", "query (selective_query_oracle, balanced)",
        ),
        ("moral_hazard/table_22/team_pct[outer_seed=0]", "G.1", "23.1", "", (), "%", "team (outer seed 0)"),
        (
            "moral_hazard/table_12/hidden_label_accuracy_pct[mapping=balanced]",
            "E.1", "27.4", "interval", ("20.6", "35.5"), "%", "hidden label accuracy (balanced)",
        ),
        (
            "moral_hazard/table_25/mc_sd[metric=expected_reward_x100]",
            "G.1", "4.29", "", (), "100 × reward", "mc sd (expected_reward_x100)",
        ),
        (
            "moral_hazard/inline/p1-091",
            "D.2", "-26.7", "interval", ("-32.9", "-20.9"), "pp", "paired query-rate contrast k=0.40 minus k=0.00",
        ),
        (
            "social_learning/table_01/observe_rate_social_pct[model=gpt-oss-120b,comparison=llm_social_minus_llm_solo]",
            "5", "35.92", "standard error", ("1.4",), "%",
            "observe rate social (gpt-oss-120b, llm_social_minus_llm_solo)",
        ),
        ("interpretation_risk/inline/p3-003", "5", "five", "", (), "receivers", "receivers (pool)"),
    ],
)  # fmt: skip
def test_claims_as_printed(
    papers: dict[str, Paper],
    identifier: str,
    section: str,
    value: str,
    kind: str,
    uncertainty: tuple[str, ...],
    unit: str,
    quantity: str,
) -> None:
    paper = papers[identifier.partition("/")[0]]
    [claim] = [claim for claim in paper.claims if claim.identifier == identifier]
    assert (claim.section, claim.value, claim.uncertainty_kind, claim.uncertainty) == (
        section,
        value,
        kind,
        uncertainty,
    )
    assert (claim.unit, claim.quantity) == (unit, quantity)


def test_sampling_covers_what_varies_and_nothing_that_a_policy_fixes(papers: dict[str, Paper]) -> None:
    paper = papers["moral_hazard"]
    for claim in paper.claims:
        keys = dict(claim.keys)
        if claim.artefact in ("table_12", "table_13", "table_15"):
            varies = keys.get("policy") == "random_valid" or keys["mapping"] == "balanced"
            if (
                claim.uncertainty == ("0.0",)
                and claim.value in ("0.0", "100.0")
                and keys.get("policy") != "random_valid"
            ):
                assert paper.sampling(claim) is None, claim.identifier
            elif claim.column != "n_cases" and claim.uncertainty not in ((), ("0.0",)):
                assert (paper.sampling(claim) is not None) == varies, claim.identifier
        if claim.uncertainty not in ((), ("0.0",)) and claim.artefact in ("table_13", "table_15", "table_22"):
            assert paper.sampling(claim) is not None, claim.identifier
    mean = next(claim for claim in paper.claims if claim.identifier.endswith("team_pct[outer_seed=mean_sd]"))
    assert paper.sampling(mean).size == 3  # type: ignore[union-attr]


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**6), max_value=10**6))
def test_keys_agree_however_a_number_is_written(number: object) -> None:
    text = str(number)
    assert canonical(text) == canonical(f"{text}0") == canonical(float(text))
    assert as_number(canonical(text)) == as_number(text)


@given(st.text())
def test_words_stay_words(text: str) -> None:
    if as_number(text) is None:
        assert canonical(text) == text.strip()


HEADER = "policy,team_pct,team_sd_pct\n"


def _break_number(folder: Path) -> None:
    (folder / "table_01_a.csv").write_text(HEADER + "x,4O.0,1.0\n")


def _repeat_row(folder: Path) -> None:
    (folder / "table_01_a.csv").write_text(HEADER + "x,40.0,1.0\nx,41.0,1.0\n")


def _tear_row(folder: Path) -> None:
    (folder / "table_01_a.csv").write_text(HEADER + "x,40.0\n")


def _add_unknown_file(folder: Path) -> None:
    (folder / "supplement.csv").write_text(HEADER)


def _add_unknown_column(folder: Path) -> None:
    (folder / "table_01_a.csv").write_text("policy,team_share\nx,4\n")


def _add_table_without_section(folder: Path) -> None:
    (folder / "table_02_a.csv").write_text(HEADER)


def _orphan_uncertainty(folder: Path) -> None:
    (folder / "table_01_a.csv").write_text("policy,team_sd_pct\nx,1.0\n")


def _note_on_nothing(folder: Path) -> None:
    (folder / "notes.csv").write_text("claim,note\nstudy/table_01/team_pct[policy=y],a remark\n")


def _sample_nothing(folder: Path) -> None:
    (folder / "sampling.csv").write_text(
        "artefact,column,keys,statistic,size,deviation,expectation\ntable_01,team_pct,policy=y,share,3,,\n"
    )


def _sample_without_deviation(folder: Path) -> None:
    (folder / "sampling.csv").write_text(
        "artefact,column,keys,statistic,size,deviation,expectation\ntable_01,team_pct,,mean,3,,\n"
    )


def _write_latin(folder: Path) -> None:
    (folder / "table_01_a.csv").write_bytes(b"policy,team_pct,team_sd_pct\n\xe9,40.0,1.0\n")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_break_number, ["table_01_a.csv", "row 2", "4O.0"]),
        (_repeat_row, ["table_01_a.csv", "study/table_01/team_pct[policy=x]", "twice"]),
        (_tear_row, ["table_01_a.csv", "row 2", "2 cells instead of 3"]),
        (_add_unknown_file, ["supplement.csv", "table_NN"]),
        (_add_unknown_column, ["table_01_a.csv", "team_share", "columns.csv"]),
        (_add_table_without_section, ["sections.csv", "table_02"]),
        (_orphan_uncertainty, ["table_01_a.csv", "team_sd_pct"]),
        (_note_on_nothing, ["notes.csv", "row 2", "policy=y"]),
        (_sample_nothing, ["sampling.csv", "row 2", "table_01"]),
        (_sample_without_deviation, ["sampling.csv", "row 2", "deviation"]),
        (_write_latin, ["table_01_a.csv", "UTF-8"]),
    ],
)
def test_a_fault_in_the_files_is_one_sentence(tmp_path: Path, damage: Callable[[Path], None], words: list[str]) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "sections.csv").write_text("artefact,section\ntable_01,2.1\n")
    (folder / "table_01_a.csv").write_text(HEADER + "x,40.0,1.0\n")
    assert len(read_paper(folder, PUBLISHED / "columns.csv").claims) == 1
    damage(folder)
    with pytest.raises(InfoeconError) as caught:
        read_paper(folder, PUBLISHED / "columns.csv")
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert all(word in sentence for word in words), sentence
