"""Values that the papers print, read from ``published/`` as one claim for each printed value.

``published/README.md`` describes the files; ``published/columns.csv`` says what each of their columns is.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from pathlib import Path

from infoecon.errors import InfoeconError

INLINE = "inline"
"""Name of the artefact that stands for numbers printed in prose."""

Keys = tuple[tuple[str, str], ...]
Row = dict[str, str]

_ARTEFACT = re.compile(r"(table|figure)_(\d+|[A-Z])_")
_INTERVAL = re.compile(r"\[([^,\[\]]+),([^,\[\]]+)\]")
_ROLES_OF_UNCERTAINTY = ("standard deviation", "standard error", "lower bound", "upper bound", "uncertainty")
_ROLES = {"identifier", "section", "quantity", "unit", "remark", "key", "value", *_ROLES_OF_UNCERTAINTY}
_UNITS_AS_TRANSCRIBED = {"pct": "%", "100_x_reward_units": "100 × reward", "reward units": "reward"}
_FILES_ABOUT_FILES = ("columns.csv", "sections.csv", "sampling.csv", "notes.csv")


@dataclass(frozen=True)
class Claim:
    """One printed value."""

    identifier: str
    """For example ``moral_hazard/table_13/team_pct[policy=random_valid,mapping=original]``."""
    paper: str
    """Study whose paper prints it."""
    section: str
    artefact: str
    """``table_13``, or ``inline`` for a number in prose."""
    column: str
    keys: Keys
    """Columns that name the row, with their values."""
    quantity: str
    """What is printed, in words."""
    value: str
    """Exactly as printed."""
    unit: str
    uncertainty_kind: str = ""
    """``standard deviation``, ``standard error``, ``interval``, or empty where none is printed."""
    uncertainty: tuple[str, ...] = ()
    """Exactly as printed: one number, or both ends of an interval."""
    uncertainty_columns: tuple[str, ...] = ()

    @property
    def number(self) -> Decimal | None:
        """The printed number; ``None`` where the paper prints words or several numbers."""
        return as_number(self.value)


@dataclass(frozen=True)
class Sampling:
    """Says that some printed values come from random draws, and from how many."""

    artefact: str
    column: str
    """Pattern of column names, ``*`` for all."""
    keys: Keys
    """Keys that a claim must have, among others."""
    statistic: str
    """``share``, ``count``, ``mean``, ``deviation`` or ``percentile``, see ``comparison``."""
    size: int
    """Number of draws behind the printed value."""
    deviation: str
    """Standard deviation of one draw: a number, or the column of the same row that holds it."""
    expectation: str
    """Column of our row that holds the exact expectation, empty where none is known."""

    def covers(self, claim: Claim) -> bool:
        """Tell whether this says something about ``claim``."""
        return (
            claim.artefact == self.artefact
            and fnmatchcase(claim.column, self.column)
            and set(self.keys) <= set(claim.keys)
        )


@dataclass(frozen=True)
class Paper:
    """All that is known about the printed values of one paper."""

    claims: tuple[Claim, ...]
    samplings: tuple[Sampling, ...] = ()
    """The first one that covers a claim holds."""
    notes: Mapping[str, str] | None = None
    """Remark by claim, for example on a misprint."""


def as_number(text: str) -> Decimal | None:
    """Read a finite decimal number; ``None`` if ``text`` is none."""
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def canonical(value: object) -> str:
    """Write the value of a key such that ``0.50``, ``0.5`` and the float agree."""
    text = "" if value is None or value != value else str(value).strip()
    return text if as_number(text) is None else f"{float(text):.12g}"


def _rows(file: Path) -> tuple[list[str], list[Row]]:
    try:
        with file.open(newline="", encoding="utf-8") as stream:
            header, *lines = csv.reader(stream, strict=True)
    except FileNotFoundError:
        raise InfoeconError(f"{file} is missing; restore it from the repository.") from None
    except (csv.Error, UnicodeDecodeError, ValueError) as error:
        raise InfoeconError(f"{file} is no CSV file in UTF-8 ({error}); restore it from the repository.") from None
    if len(set(header)) < len(header):
        raise InfoeconError(f"{file} has two columns of one name; rename one.")
    for number, line in enumerate(lines, start=2):
        if len(line) != len(header):
            raise InfoeconError(f"{file}, row {number} has {len(line)} cells instead of {len(header)}; correct it.")
    return header, [dict(zip(header, line, strict=True)) for line in lines]


def _optional_rows(file: Path, columns: tuple[str, ...]) -> list[Row]:
    if not file.is_file():
        return []
    header, rows = _rows(file)
    if tuple(header) != columns:
        raise InfoeconError(f"{file} must have the columns {', '.join(columns)}; correct its first line.")
    return rows


@dataclass(frozen=True)
class _Column:
    name: str
    role: str
    unit: str
    stem: str


class _Dictionary:
    """The roles and units of columns, by patterns of names: the first line that matches and gives one holds."""

    def __init__(self, file: Path) -> None:
        self.file = file
        _, self.lines = _rows(file)
        for number, line in enumerate(self.lines, start=2):
            if line.get("role") not in _ROLES:
                raise InfoeconError(f"{file}, row {number} gives no known role; use one of {', '.join(sorted(_ROLES))}.")

    def column(self, name: str, file: Path) -> _Column:
        matches = [line for line in self.lines if fnmatchcase(name, line["pattern"])]
        if not matches:
            raise InfoeconError(f"{file} has a column {name} that {self.file} does not describe; add a line for it.")
        unit, suffix = next(((line["unit"], line["pattern"]) for line in matches if line["unit"]), ("", ""))
        stem = name.removesuffix(suffix[1:]) if suffix.startswith("*") else name
        return _Column(name, matches[0]["role"], unit, stem.replace("_", " "))


def _groups(columns: list[_Column]) -> list[tuple[_Column, list[_Column]]]:
    """Pair each value column with the uncertainties that follow it: the nearest value of their unit at their left."""
    groups: list[tuple[_Column, list[_Column]]] = []
    for column in columns:
        if column.role == "value":
            groups.append((column, []))
        elif column.role in _ROLES_OF_UNCERTAINTY:
            next(parts for value, parts in reversed(groups) if value.unit == column.unit).append(column)
    return groups


def _uncertainty(parts: list[_Column], row: Row) -> tuple[str, tuple[str, ...]]:
    printed = tuple(row[part.name].strip() for part in parts)
    if not any(printed):
        return "", ()
    if parts[0].role in ("standard deviation", "standard error"):
        return parts[0].role, printed
    if len(parts) == 2:
        return "interval", printed
    if ends := _INTERVAL.search(printed[0]):
        return "interval", (ends[1].strip(), ends[2].strip())
    return ("standard deviation", printed) if as_number(printed[0]) is not None else ("", ())


def _claims_of_file(file: Path, dictionary: _Dictionary, sections: Mapping[str, str]) -> Iterator[Claim]:
    paper = file.parent.name
    inline = file.stem == "inline_claims"
    name = _ARTEFACT.match(file.name)
    if not inline and not name:
        raise InfoeconError(f"{file} is not known; name it table_NN_….csv, figure_NN_….csv or inline_claims.csv.")
    artefact = f"{name[1]}_{name[2].lower()}" if name else INLINE
    if not inline and artefact not in sections:
        raise InfoeconError(f"{file.with_name('sections.csv')} gives no section for {artefact}; add a line for it.")
    header, rows = _rows(file)
    columns = [dictionary.column(column, file) for column in header]
    of_role = {column.role: column.name for column in columns}
    key_columns = [column.name for column in columns if column.role == "key"]
    try:
        groups = _groups(columns)
    except StopIteration:
        raise InfoeconError(f"{file} has an uncertainty without a value at its left; reorder its columns.") from None
    for number, row in enumerate(rows, start=2):
        keys = tuple((key, canonical(row[key])) for key in key_columns if row[key].strip())
        for value, parts in groups:
            printed = row[value.name].strip()
            if not printed:
                continue
            kind, uncertainty = _uncertainty(parts, row)
            for text in (*uncertainty, *(() if inline else (printed,))):
                if as_number(text) is None:
                    raise InfoeconError(f"{file}, row {number}: {text!r} is not a number; correct {value.name}.")
            labels = ",".join(f"{key}={text}" for key, text in keys)
            words = row[of_role["quantity"]] if inline else value.stem
            given = row[of_role["unit"]] if "unit" in of_role else value.unit
            yield Claim(
                identifier=(
                    f"{paper}/{INLINE}/{row[of_role['identifier']]}"
                    if inline
                    else f"{paper}/{artefact}/{value.name}[{labels}]"
                ),
                paper=paper,
                section=row[of_role["section"]] if inline else sections[artefact],
                artefact=artefact,
                column=value.name,
                keys=keys,
                quantity=f"{words} ({', '.join(text for _, text in keys)})" if keys else words,
                value=printed,
                unit=_UNITS_AS_TRANSCRIBED.get(given, given),
                uncertainty_kind=kind,
                uncertainty=uncertainty,
                uncertainty_columns=() if inline else tuple(part.name for part in parts),
            )


def _parse_keys(text: str, where: str) -> Keys:
    pairs = [part.partition("=") for part in text.split(",") if part]
    if any(not separator for _, separator, _ in pairs):
        raise InfoeconError(f"{where}: {text!r} are no keys; write them as name=value,name=value.")
    return tuple((key.strip(), canonical(value)) for key, _, value in pairs)


def _read_samplings(file: Path, statistics: frozenset[str]) -> tuple[Sampling, ...]:
    columns = ("artefact", "column", "keys", "statistic", "size", "deviation", "expectation")
    samplings = []
    for number, row in enumerate(_optional_rows(file, columns), start=2):
        if row["statistic"] not in statistics or not row["size"].isdecimal() or int(row["size"]) < 1:
            raise InfoeconError(
                f"{file}, row {number} needs a statistic ({', '.join(sorted(statistics))}) and a size ≥ 1; correct it."
            )
        keys = _parse_keys(row["keys"], f"{file}, row {number}")
        samplings.append(Sampling(**{**row, "keys": keys, "size": int(row["size"])}))  # type: ignore[arg-type]
    return tuple(samplings)


def read_paper(folder: Path, dictionary_file: Path, statistics: frozenset[str]) -> Paper:
    """Read the printed values of one paper.

    Parameters
    ----------
    folder
        ``published/<study>``.
    dictionary_file
        ``published/columns.csv``.
    statistics
        Statistics that ``sampling.csv`` may name.

    Raises
    ------
    InfoeconError
        If a file is unknown, a number unreadable, a claim printed twice, or a remark about no claim.
    """
    dictionary = _Dictionary(dictionary_file)
    sections = {row["artefact"]: row["section"] for row in _optional_rows(folder / "sections.csv", ("artefact", "section"))}
    claims: dict[str, Claim] = {}
    for file in sorted(folder.glob("*.csv")):
        if file.name in _FILES_ABOUT_FILES:
            continue
        for claim in _claims_of_file(file, dictionary, sections):
            if claim.identifier in claims:
                raise InfoeconError(f"{file} holds the claim {claim.identifier} twice; give its rows different keys.")
            claims[claim.identifier] = claim
    notes = {row["claim"]: row["note"] for row in _optional_rows(folder / "notes.csv", ("claim", "note"))}
    for identifier in notes:
        if identifier not in claims:
            raise InfoeconError(f"{folder / 'notes.csv'} remarks on {identifier}, which is no claim; correct its name.")
    samplings = _read_samplings(folder / "sampling.csv", statistics)
    for sampling in samplings:
        if not any(map(sampling.covers, claims.values())):
            raise InfoeconError(
                f"{folder / 'sampling.csv'} describes {sampling.artefact}, column {sampling.column}, which no claim has; correct it."
            )
    return Paper(tuple(claims.values()), samplings, notes)


def read_papers(folder: Path, statistics: frozenset[str]) -> tuple[Paper, ...]:
    """Read the printed values of every paper in ``published/``, see ``read_paper``."""
    folders = sorted(path for path in folder.iterdir() if path.is_dir())
    return tuple(read_paper(path, folder / "columns.csv", statistics) for path in folders)
