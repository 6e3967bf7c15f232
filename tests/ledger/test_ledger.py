from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from infoecon.errors import InfoeconError
from infoecon.ledger.claims import INLINE, Paper
from infoecon.ledger.comparison import Source, Verdict
from infoecon.ledger.inline_findings import INLINE_FINDINGS
from infoecon.ledger.ledger import build_ledger, count_verdicts
from infoecon.ledger.published import read_papers
from infoecon.tables import ledger as contract
from infoecon.tables.parquet import read_table, write_table

PUBLISHED = Path(__file__).parents[2] / "published"


@pytest.fixture(scope="module")
def papers() -> tuple[Paper, ...]:
    return read_papers(PUBLISHED)


@pytest.fixture
def tables() -> dict[str, pd.DataFrame]:
    """The printed tables in the place of ours."""
    found = {}
    for file in PUBLISHED.glob("*/*_*_*.csv"):
        if name := re.match(r"(table|figure)_(\d+|I)_", file.name):
            found[f"{file.parent.name}/{name[1]}_{name[2].lower()}"] = pd.read_csv(file).assign(source="model")
    return found


def test_every_claim_is_in_the_ledger_once_even_with_nothing_of_ours(papers: tuple[Paper, ...], tmp_path: Path) -> None:
    ledger = build_ledger(papers, {})
    assert list(ledger["claim"]) == [claim.identifier for paper in papers for claim in paper.claims]
    assert set(ledger["verdict"]) == {Verdict.NOT_RUN}
    write_table(ledger, contract.Ledger, tmp_path / "ledger.parquet", {"rule": "test"})
    pd.testing.assert_frame_equal(read_table(tmp_path / "ledger.parquet", contract.Ledger), ledger)


def test_printed_values_in_the_place_of_ours_are_all_reproduced(
    papers: tuple[Paper, ...], tables: dict[str, pd.DataFrame]
) -> None:
    ledger = build_ledger(papers, tables).set_index("claim")
    in_tables = ~ledger.index.str.contains(f"/{INLINE}/")
    assert set(ledger.loc[in_tables, "verdict"]) == {Verdict.REPRODUCED}
    derived = ledger.loc[list(INLINE_FINDINGS), ["published", "ours", "verdict"]]
    assert set(derived["verdict"]) == {Verdict.REPRODUCED}, derived
    assert set(ledger.loc[~in_tables, "verdict"]) == {Verdict.REPRODUCED, Verdict.NOT_RUN}


def test_one_other_value_changes_one_verdict(papers: tuple[Paper, ...], tables: dict[str, pd.DataFrame]) -> None:
    before = build_ledger(papers, tables)
    tables["moral_hazard/table_14"].loc[3, "social_team_pct"] = 93.3
    after = build_ledger(papers, tables)
    [changed] = after.index[before["verdict"] != after["verdict"]]
    row = after.loc[changed]
    assert row["claim"] == "moral_hazard/table_14/social_team_pct[k_query_cost_reward_units=0.2]"
    assert (row["published"], row["ours"], row["verdict"]) == ("100.0", 93.3, Verdict.DIFFERS)
    assert row["reason"] == "Ours is 67.0 units of the last printed digit below."


def test_a_row_of_a_stand_in_is_not_comparable(papers: tuple[Paper, ...], tables: dict[str, pd.DataFrame]) -> None:
    tables["moral_hazard/table_35"]["source"] = "simulated"
    ledger = build_ledger(papers, tables)
    rows = ledger[ledger["claim"].str.startswith("moral_hazard/table_35/")]
    assert set(rows["verdict"]) == {Verdict.NOT_COMPARABLE}
    assert set(rows["source"]) == {Source.SIMULATED}


def test_what_is_missing_is_not_run(papers: tuple[Paper, ...], tables: dict[str, pd.DataFrame]) -> None:
    tables["moral_hazard/table_02"] = tables["moral_hazard/table_02"].query("model == 'random'")
    tables["moral_hazard/table_13"]["team_pct"] = float("nan")
    ledger = build_ledger(papers, tables).set_index("claim")
    gemma = ledger.loc["moral_hazard/table_02/team_pct[model=gemma-4b,condition=base]"]
    assert (gemma["verdict"], gemma["reason"]) == (Verdict.NOT_RUN, "gemma-4b was not run.")
    oracle = ledger.loc["moral_hazard/table_13/team_pct[policy=always_query_oracle,mapping=original]"]
    assert (oracle["verdict"], oracle["ours_uncertainty"]) == (Verdict.NOT_RUN, "")


def test_known_misprints_are_named(papers: tuple[Paper, ...], tables: dict[str, pd.DataFrame]) -> None:
    spread = tables["moral_hazard/table_25"]
    spread.loc[spread["metric"] == "unsafe", "mc_mean"] = 25.02
    ledger = build_ledger(papers, tables).set_index("claim")
    row = ledger.loc["moral_hazard/table_25/mc_mean[metric=unsafe]"]
    assert row["verdict"] == Verdict.DIFFERS
    assert "3.2 of its own standard errors above the exact 25" in row["reason"]
    assert (
        "4 of 9" in ledger.loc["moral_hazard/table_31/n_positive[comparison=rloo_minus_base,metric=unsafe]", "reason"]
    )
    assert "robust score" in ledger.loc["moral_hazard/inline/p1-124", "reason"]


def test_tables_that_do_not_fit_are_one_sentence(papers: tuple[Paper, ...], tables: dict[str, pd.DataFrame]) -> None:
    without = {"moral_hazard/table_13": tables["moral_hazard/table_13"].drop(columns="mapping")}
    with pytest.raises(InfoeconError, match=r"moral_hazard/table_13 has no column mapping.*\.$"):
        build_ledger(papers, without)
    twice = {"moral_hazard/table_14": pd.concat([tables["moral_hazard/table_14"]] * 2)}
    with pytest.raises(InfoeconError, match=r"two rows with k_query_cost_reward_units=0;.*\.$"):
        build_ledger(papers, twice)


def test_counts_and_contract_know_the_same_verdicts_and_sources(papers: tuple[Paper, ...]) -> None:
    ledger = build_ledger(papers, {})
    counts = count_verdicts(ledger)
    assert list(counts.columns) == [str(verdict) for verdict in Verdict] == contract.VERDICTS
    assert counts.to_numpy().sum() == len(ledger)
    assert set(contract.SOURCES) == {"", *map(str, Source)}
