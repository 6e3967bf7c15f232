"""The ledger: every printed value, ours beside it, and a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import pandas as pd

from infoecon.errors import InfoeconError
from infoecon.ledger.claims import INLINE, Claim, Keys, Paper, canonical
from infoecon.ledger.comparison import Finding, Outcome, Source, Verdict, compare
from infoecon.ledger.inline_findings import INLINE_FINDINGS, Tables

_MODEL_KEYS = ("model", "omitted_model")

Row = Mapping[str, object]


def _rows_by_keys(name: str, table: pd.DataFrame, columns: tuple[str, ...]) -> dict[Keys, Row]:
    """Index the rows of one of our tables by the keys that the paper's table has."""
    missing = [column for column in columns if column not in table]
    if missing:
        raise InfoeconError(f"{name} has no column {missing[0]}, by which the paper names its rows; add it.")
    rows: dict[Keys, Row] = {}
    for record in table.to_dict("records"):
        row = {str(column): value for column, value in record.items()}
        keys = tuple((column, canonical(row[column])) for column in columns)
        if keys in rows:
            label = ", ".join(f"{column}={value}" for column, value in keys)
            raise InfoeconError(f"{name} has two rows with {label}; give them different keys.")
        rows[keys] = row
    return rows


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else math.nan


def _finding_in_row(claim: Claim, row: Row) -> Finding | None:
    value = _number(row.get(claim.column))
    if math.isnan(value):
        return None
    uncertainty = tuple(_number(row.get(column)) for column in claim.uncertainty_columns)
    source = Source(str(row.get("source", Source.EXACT)))
    return Finding(value, () if any(map(math.isnan, uncertainty)) else uncertainty, source, row)


class _Findings:
    """Our values, by the claims that they answer."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.indexed: dict[str, dict[Keys, Row]] = {}

    def find(self, claim: Claim) -> Finding | str:
        """Give our value for a claim, or say why there is none."""
        if claim.artefact == INLINE:
            inline = INLINE_FINDINGS.get(claim.identifier)
            if inline is None:
                return "Not derived from our tables"
            table = self.tables.get(inline.table)
            return f"{inline.table} was not made" if table is None else inline.find(table)
        name = f"{claim.paper}/{claim.artefact}"
        if name not in self.tables:
            return f"{name} was not made"
        if name not in self.indexed:
            self.indexed[name] = _rows_by_keys(name, self.tables[name], tuple(column for column, _ in claim.keys))
        row = self.indexed[name].get(claim.keys)
        finding = None if row is None else _finding_in_row(claim, row)
        if finding is None:
            models = [value for column, value in claim.keys if column in _MODEL_KEYS]
            return f"{models[0]} was not run" if models else f"{name} has no such row or value"
        return finding


def _written(uncertainty: tuple[object, ...]) -> str:
    parts = [str(part) for part in uncertainty]
    return f"[{', '.join(parts)}]" if len(parts) == 2 else "".join(parts)


def build_ledger(papers: Iterable[Paper], tables: Tables) -> pd.DataFrame:
    """Judge every printed value.

    Parameters
    ----------
    papers
        Printed values, see ``published.read_papers``.
    tables
        Our tables by study and name, for example ``moral_hazard/table_13``, with key and value columns named as in
        the paper's table. A column ``source`` says where a row comes from; without it, rows are exact.

    Returns
    -------
    pandas.DataFrame
        Contract ``Ledger``: one row for each claim, in the order of the papers.

    Raises
    ------
    InfoeconError
        If a table of ours lacks a key column or names two rows alike.
    """
    findings = _Findings(tables)
    entries = []
    for paper in papers:
        for claim in paper.claims:
            found = findings.find(claim)
            if isinstance(found, str):
                outcome, finding = Outcome(Verdict.NOT_RUN, found), None
            else:
                outcome, finding = compare(claim, found, paper.sampling(claim)), found
            remarks = [outcome.reason, *filter(None, [paper.notes.get(claim.identifier)])]
            entries.append(
                {
                    "claim": claim.identifier,
                    "paper": claim.paper,
                    "section": claim.section,
                    "quantity": claim.quantity,
                    "published": claim.value,
                    "published_uncertainty": _written(claim.uncertainty),
                    "uncertainty_kind": claim.uncertainty_kind,
                    "ours": finding.value if finding else math.nan,
                    "ours_uncertainty": _written(finding.uncertainty) if finding else "",
                    "unit": claim.unit,
                    "source": str(finding.source) if finding else "",
                    "verdict": str(outcome.verdict),
                    "reason": " ".join(f"{remark}." for remark in remarks),
                }
            )
    return pd.DataFrame(entries)


def count_verdicts(ledger: pd.DataFrame) -> pd.DataFrame:
    """Count verdicts: one row for each paper, one column for each verdict in the order of ``Verdict``."""
    counts = pd.crosstab(ledger["paper"], ledger["verdict"])
    return counts.reindex(index=ledger["paper"].unique(), columns=[str(verdict) for verdict in Verdict], fill_value=0)
