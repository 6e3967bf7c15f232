"""The ledger: every printed value, ours beside it, and a verdict."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

import pandas as pd

from infoecon.errors import InfoeconError
from infoecon.ledger.claims import INLINE, Claim, Keys, Paper, canonical
from infoecon.ledger.comparison import Finding, Outcome, Source, Verdict, compare
from infoecon.ledger.inline_findings import INLINE_FINDINGS, Tables

MODEL_KEYS = ("model", "omitted_model")


@dataclass(frozen=True)
class _Entry:
    claim: str
    paper: str
    section: str
    quantity: str
    published: str
    published_uncertainty: str
    uncertainty_kind: str
    ours: float
    ours_uncertainty: str
    unit: str
    source: str
    verdict: str
    reason: str


def _written(uncertainty: tuple[object, ...]) -> str:
    parts = [str(part) for part in uncertainty]
    return f"[{', '.join(parts)}]" if len(parts) == 2 else "".join(parts)


class _Rows:
    """The rows of one of our tables by the keys that the paper's table has."""

    def __init__(self, name: str, table: pd.DataFrame, keys: tuple[str, ...]) -> None:
        missing = [key for key in keys if key not in table]
        if missing:
            raise InfoeconError(f"{name} has no column {missing[0]}, by which the paper's rows are named; add it.")
        self.rows: dict[Keys, Mapping[str, object]] = {}
        for row in table.to_dict("records"):
            named = tuple((key, canonical(row[key])) for key in keys)
            if named in self.rows:
                label = ", ".join(f"{key}={value}" for key, value in named)
                raise InfoeconError(f"{name} has two rows with {label}; give them different keys.")
            self.rows[named] = {str(column): value for column, value in row.items()}


def _as_float(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else math.nan


def _finding(claim: Claim, row: Mapping[str, object]) -> Finding | None:
    value = _as_float(row.get(claim.column))
    if math.isnan(value):
        return None
    uncertainty = tuple(_as_float(row.get(column)) for column in claim.uncertainty_columns)
    source = Source(str(row.get("source", Source.EXACT)))
    return Finding(value, () if any(map(math.isnan, uncertainty)) else uncertainty, source, row)


def _missing(claim: Claim, name: str, table_exists: bool) -> str:
    models = [value for key, value in claim.keys if key in MODEL_KEYS]
    if claim.artefact == INLINE:
        return "Not derived from our tables"
    if not table_exists:
        return f"{name} was not made"
    return f"{models[0]} was not run" if models else f"{name} has no such row or value"


def build_ledger(papers: Iterable[Paper], tables: Tables) -> pd.DataFrame:
    """Judge every printed value.

    Parameters
    ----------
    papers
        Printed values, see ``published.read_papers``.
    tables
        Our rendered tables by study and name, for example ``moral_hazard/table_13``, with the key and value columns
        of the paper's table under the same names. A column ``source`` says where a row comes from (``exact`` without).

    Returns
    -------
    pandas.DataFrame
        Contract ``Ledger``: one row for each claim, in the order of the papers.

    Raises
    ------
    InfoeconError
        If a table of ours lacks a key column or names two rows alike.
    """
    indexed: dict[tuple[str, tuple[str, ...]], _Rows] = {}
    entries = []
    for paper in papers:
        for claim in paper.claims:
            name = f"{claim.paper}/{claim.artefact}"
            finding = None
            if claim.identifier in INLINE_FINDINGS:
                inline = INLINE_FINDINGS[claim.identifier]
                finding = inline.find(tables[inline.table]) if inline.table in tables else None
            elif name in tables:
                columns = tuple(key for key, _ in claim.keys)
                index = (name, columns)
                if index not in indexed:
                    indexed[index] = _Rows(name, tables[name], columns)
                row = indexed[index].rows.get(claim.keys)
                finding = _finding(claim, row) if row is not None else None
            outcome = (
                compare(claim, finding, paper.sampling(claim))
                if finding is not None
                else Outcome(Verdict.NOT_RUN, _missing(claim, name, name in tables))
            )
            note = paper.notes.get(claim.identifier)
            entries.append(
                _Entry(
                    claim=claim.identifier,
                    paper=claim.paper,
                    section=claim.section,
                    quantity=claim.quantity,
                    published=claim.value,
                    published_uncertainty=_written(claim.uncertainty),
                    uncertainty_kind=claim.uncertainty_kind,
                    ours=finding.value if finding else math.nan,
                    ours_uncertainty=_written(finding.uncertainty) if finding else "",
                    unit=claim.unit,
                    source=str(finding.source) if finding else "",
                    verdict=str(outcome.verdict),
                    reason=f"{outcome.reason}. {note}." if note else f"{outcome.reason}.",
                )
            )
    return pd.DataFrame([asdict(entry) for entry in entries], columns=list(_Entry.__annotations__))


def count_verdicts(ledger: pd.DataFrame) -> pd.DataFrame:
    """Count verdicts: one row for each paper, one column for each verdict in the order of ``Verdict``."""
    counts = Counter(zip(ledger["paper"], ledger["verdict"], strict=True))
    papers = list(dict.fromkeys(ledger["paper"]))
    return pd.DataFrame(
        [[counts[paper, verdict] for verdict in Verdict] for paper in papers],
        index=pd.Index(papers, name="paper"),
        columns=[str(verdict) for verdict in Verdict],
    )
