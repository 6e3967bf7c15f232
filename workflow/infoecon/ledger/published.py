"""Values that the papers print, read from ``published/`` as one claim for each printed value.

``published/README.md`` describes the files; ``published/columns.csv`` says what each of their columns is.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from infoecon.errors import InfoeconError
from infoecon.ledger.claims import INLINE, STATISTICS, Claim, Keys, Paper, Sampling, as_number, canonical

Row = dict[str, str]

_ARTEFACT = re.compile(r"(table|figure)_(\d+|[A-Z])_")
_INTERVAL = re.compile(r"\[([^,\[\]]+),([^,\[\]]+)\]")
_SPREADS = ("standard deviation", "standard error")
_UNCERTAINTIES = (*_SPREADS, "lower bound", "upper bound", "uncertainty")
_ROLES = ("identifier", "section", "quantity", "unit", "remark", "key", "value", *_UNCERTAINTIES)
_UNITS_AS_TRANSCRIBED = {"pct": "%", "100_x_reward_units": "100 × reward", "reward units": "reward"}
_ABOUT_CLAIMS = {
    "sections.csv": ("artefact", "section"),
    "sampling.csv": ("artefact", "column", "keys", "statistic", "size", "deviation", "expectation"),
    "notes.csv": ("claim", "note"),
}


def _rows(file: Path, columns: tuple[str, ...] = ()) -> tuple[list[str], list[Row]]:
    try:
        with file.open(newline="", encoding="utf-8") as stream:
            header, *lines = csv.reader(stream, strict=True)
    except FileNotFoundError:
        raise InfoeconError(f"{file} is missing; restore it from the repository.") from None
    except (csv.Error, ValueError) as error:
        raise InfoeconError(f"{file} is no CSV file in UTF-8 ({error}); restore it from the repository.") from None
    if len(set(header)) < len(header) or (columns and tuple(header) != columns):
        wanted = f"the columns {', '.join(columns)}" if columns else "columns of different names"
        raise InfoeconError(f"{file} must have {wanted}; correct its first line.")
    for number, line in enumerate(lines, start=2):
        if len(line) != len(header):
            raise InfoeconError(f"{file}, row {number} has {len(line)} cells instead of {len(header)}; correct it.")
    return header, [dict(zip(header, line, strict=True)) for line in lines]


def _about_claims(folder: Path, name: str) -> list[tuple[str, Row]]:
    """Read an optional file about the claims of a paper, each row with its place."""
    file = folder / name
    rows = _rows(file, _ABOUT_CLAIMS[name])[1] if file.is_file() else []
    return [(f"{file}, row {number}", row) for number, row in enumerate(rows, start=2)]


class _Column(NamedTuple):
    name: str
    role: str
    unit: str
    words: str


class _Dictionary:
    """Roles and units of columns by patterns of their names: the first line that matches and gives one holds."""

    def __init__(self, file: Path) -> None:
        self.file = file
        _, self.lines = _rows(file, ("pattern", "role", "unit"))
        for number, line in enumerate(self.lines, start=2):
            if line["role"] not in _ROLES:
                raise InfoeconError(f"{file}, row {number}: {line['role']!r} is no role; use {', '.join(_ROLES)}.")

    def column(self, name: str, file: Path) -> _Column:
        matches = [line for line in self.lines if fnmatchcase(name, line["pattern"])]
        if not matches:
            raise InfoeconError(f"{file} has a column {name} that {self.file} does not describe; add a line for it.")
        unit, pattern = next(((line["unit"], line["pattern"]) for line in matches if line["unit"]), ("", ""))
        words = name.removesuffix(pattern[1:]) if pattern.startswith("*") else name
        return _Column(name, matches[0]["role"], unit, words.replace("_", " "))


def _groups(columns: list[_Column], file: Path) -> list[tuple[_Column, list[_Column]]]:
    """Give each value its uncertainties; one belongs to the nearest value of its unit at its left."""
    groups: list[tuple[_Column, list[_Column]]] = []
    for column in columns:
        if column.role == "value":
            groups.append((column, []))
        elif column.role in _UNCERTAINTIES:
            owner = next((parts for value, parts in reversed(groups) if value.unit == column.unit), None)
            if owner is None:
                raise InfoeconError(f"{file} has {column.name} without a value at its left; reorder its columns.")
            owner.append(column)
    return groups


def _uncertainty(parts: list[_Column], row: Row) -> tuple[str, tuple[str, ...]]:
    printed = tuple(row[part.name].strip() for part in parts)
    if not any(printed):
        return "", ()
    if parts[0].role in _SPREADS:
        return parts[0].role, printed
    if len(parts) == 2:
        return "interval", printed
    if ends := _INTERVAL.search(printed[0]):
        return "interval", (ends[1].strip(), ends[2].strip())
    return ("standard deviation", printed) if as_number(printed[0]) is not None else ("", ())


def _quantity(words: str, keys: Iterable[tuple[_Column, str]]) -> str:
    """Name what is printed; a key that is a number gets its own name, the others speak for themselves."""
    labels = [f"{column.words} {text}" if as_number(text) is not None else text for column, text in keys]
    return f"{words} ({', '.join(labels)})" if labels else words


def _claims_of_table(
    file: Path, artefact: str, section: str, dictionary: _Dictionary, header: list[str], rows: list[Row]
) -> Iterator[Claim]:
    columns = [dictionary.column(name, file) for name in header]
    key_columns = [column for column in columns if column.role == "key"]
    unit_column = next((column.name for column in columns if column.role == "unit"), None)
    groups = _groups(columns, file)
    for number, row in enumerate(rows, start=2):
        named = [(column, canonical(row[column.name])) for column in key_columns]
        keys = tuple((column.name, text) for column, text in named)
        labels = ",".join(f"{name}={text}" for name, text in keys)
        for value, parts in groups:
            printed = row[value.name].strip()
            if not printed:
                continue
            kind, uncertainty = _uncertainty(parts, row)
            for text in (printed, *uncertainty):
                if as_number(text) is None:
                    raise InfoeconError(f"{file}, row {number}: {text!r} beside {value.name} is no number; correct it.")
            unit = row[unit_column] if unit_column else value.unit
            yield Claim(
                identifier=f"{file.parent.name}/{artefact}/{value.name}[{labels}]",
                paper=file.parent.name,
                section=section,
                artefact=artefact,
                column=value.name,
                keys=keys,
                quantity=_quantity(value.words, named),
                value=printed,
                unit=_UNITS_AS_TRANSCRIBED.get(unit, unit),
                uncertainty_kind=kind,
                uncertainty=uncertainty,
                uncertainty_columns=tuple(part.name for part in parts) if uncertainty else (),
            )


def _claims_in_prose(file: Path, dictionary: _Dictionary, header: list[str], rows: list[Row]) -> Iterator[Claim]:
    columns = [dictionary.column(name, file) for name in header]
    of_role = {column.role: column.name for column in columns}
    for role in ("identifier", "section", "quantity", "value", "unit"):
        if role not in of_role:
            raise InfoeconError(f"{file} has no column for the {role} of a claim; add one that columns.csv describes.")
    key_columns = [column for column in columns if column.role == "key"]
    [(_, parts)] = _groups(columns, file)
    for number, row in enumerate(rows, start=2):
        printed = row[of_role["value"]].strip()
        if not printed or not row[of_role["identifier"]]:
            raise InfoeconError(f"{file}, row {number} has no identifier or no value; fill it in or delete it.")
        named = [(column, canonical(row[column.name])) for column in key_columns if row[column.name]]
        kind, uncertainty = _uncertainty(parts, row)
        unit = row[of_role["unit"]]
        yield Claim(
            identifier=f"{file.parent.name}/{INLINE}/{row[of_role['identifier']]}",
            paper=file.parent.name,
            section=row[of_role["section"]],
            artefact=INLINE,
            column=of_role["value"],
            keys=tuple((column.name, text) for column, text in named),
            quantity=_quantity(row[of_role["quantity"]], named),
            value=printed,
            unit=_UNITS_AS_TRANSCRIBED.get(unit, unit),
            uncertainty_kind=kind,
            uncertainty=uncertainty,
        )


def _claims_of_file(file: Path, dictionary: _Dictionary, sections: Mapping[str, str]) -> Iterator[Claim]:
    header, rows = _rows(file)
    if file.name == "inline_claims.csv":
        return _claims_in_prose(file, dictionary, header, rows)
    name = _ARTEFACT.match(file.name)
    if not name:
        raise InfoeconError(f"{file} is not known; name it table_NN_….csv, figure_NN_….csv or inline_claims.csv.")
    artefact = f"{name[1]}_{name[2].lower()}"
    if artefact not in sections:
        raise InfoeconError(f"{file.parent / 'sections.csv'} gives no section for {artefact}; add a line for it.")
    return _claims_of_table(file, artefact, sections[artefact], dictionary, header, rows)


def _keys(text: str, place: str) -> Keys:
    pairs = [part.partition("=") for part in text.split(",") if part]
    if not all(separator for _, separator, _ in pairs):
        raise InfoeconError(f"{place}: {text!r} names no keys; write them as name=value,name=value.")
    return tuple((name.strip(), canonical(value)) for name, _, value in pairs)


def _samplings(folder: Path, claims: Mapping[str, Claim]) -> Iterator[Sampling]:
    for place, row in _about_claims(folder, "sampling.csv"):
        if row["statistic"] not in STATISTICS or not row["size"].isdecimal() or int(row["size"]) < 1:
            raise InfoeconError(f"{place} needs a statistic ({', '.join(STATISTICS)}) and a size ≥ 1; correct it.")
        if (row["statistic"] == "mean") != bool(row["deviation"]):
            raise InfoeconError(
                f"{place}: a mean needs the deviation of one draw, and nothing else has it; correct it."
            )
        sampling = Sampling(
            artefact=row["artefact"],
            column=row["column"],
            keys=_keys(row["keys"], place),
            statistic=row["statistic"],
            size=int(row["size"]),
            deviation=row["deviation"],
            expectation=row["expectation"],
        )
        if not any(map(sampling.covers, claims.values())):
            raise InfoeconError(f"{place} covers no claim of {sampling.artefact}; correct its column or keys.")
        yield sampling


def read_paper(folder: Path, dictionary_file: Path) -> Paper:
    """Read the printed values of one paper.

    Parameters
    ----------
    folder
        ``published/<study>``.
    dictionary_file
        ``published/columns.csv``.

    Raises
    ------
    InfoeconError
        If a file or column is unknown, a number unreadable, a claim there twice, or a remark about no claim.
    """
    dictionary = _Dictionary(dictionary_file)
    sections = {row["artefact"]: row["section"] for _, row in _about_claims(folder, "sections.csv")}
    claims: dict[str, Claim] = {}
    for file in sorted(folder.glob("*.csv")):
        if file.name in _ABOUT_CLAIMS:
            continue
        for claim in _claims_of_file(file, dictionary, sections):
            if claim.identifier in claims:
                raise InfoeconError(f"{file} holds the claim {claim.identifier} twice; give its rows different keys.")
            claims[claim.identifier] = claim
    notes = {}
    for place, row in _about_claims(folder, "notes.csv"):
        if row["claim"] not in claims:
            raise InfoeconError(f"{place} remarks on {row['claim']}, which is no claim; correct its name.")
        notes[row["claim"]] = row["note"]
    return Paper(tuple(claims.values()), tuple(_samplings(folder, claims)), notes)


def read_papers(folder: Path) -> tuple[Paper, ...]:
    """Read the printed values of every paper below ``published/``, see ``read_paper``."""
    studies = sorted(path for path in folder.iterdir() if path.is_dir())
    return tuple(read_paper(study, folder / "columns.csv") for study in studies)
