"""Reading and writing Parquet tables under a contract, with what made them in their metadata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd
import pandera.errors
import pyarrow as pa
import pyarrow.parquet as pq

from infoecon.errors import InfoeconError
from infoecon.tables.contracts import Contract

_STAGE_FOLDERS = ("datasets", "fits")


def _problem(error: pandera.errors.SchemaError) -> str:
    cases = error.failure_cases
    name = getattr(error.schema, "name", None)
    first = cases.iloc[0] if isinstance(cases, pd.DataFrame) and len(cases) else None
    value = f", first {first['failure_case']!r}" if first is not None else ""
    row = f" in row {first['index']}" if first is not None and pd.notna(first.get("index")) else ""
    return f"{f'column {name!r}: ' if name else ''}{error.check!s}{value}{row}"


def _validate(frame: pd.DataFrame, contract: type[Contract], where: str, mend: str) -> pd.DataFrame:
    try:
        return contract.validate(frame)
    except (pandera.errors.SchemaError, pandera.errors.SchemaErrors) as error:
        first = error.schema_errors[0] if isinstance(error, pandera.errors.SchemaErrors) else error
        problem = " ".join(_problem(first).split())
        raise InfoeconError(f"{where} breaks the contract {contract.__name__}: {problem}; {mend}.") from None


def write_table(frame: pd.DataFrame, contract: type[Contract], path: str | Path, made_by: Mapping[str, str]) -> None:
    """Write a table; the file appears whole or not at all.

    Parameters
    ----------
    frame
        One row per thing that the contract describes; its index is dropped.
    contract
        Checked before anything is written; units and descriptions go into the file.
    made_by
        What made the table, see ``provenance.describe``.

    Raises
    ------
    InfoeconError
        If the frame breaks the contract.
    """
    path = Path(path)
    frame = _validate(frame.reset_index(drop=True), contract, str(path), "this is a fault of the pipeline")
    table = pa.Table.from_pandas(frame, preserve_index=False)
    fields = []
    for name, column in contract.to_schema().columns.items():
        field = table.schema.field(name)
        kind = pa.string() if pa.types.is_large_string(field.type) else field.type
        meaning = {"description": column.description or "", "unit": (column.metadata or {}).get("unit", "")}
        fields.append(field.with_type(kind).with_metadata(meaning))
    table = table.cast(pa.schema(fields)).replace_schema_metadata(dict(made_by))
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        pq.write_table(table, unfinished, compression="zstd")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _read(path: Path, columns: Sequence[str] | None = None) -> pd.DataFrame:
    try:
        return pq.read_table(path, columns=columns, partitioning=None).to_pandas()
    except FileNotFoundError:
        raise InfoeconError(f"{path} does not exist; run the pipeline to make it.") from None
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(". ")
        raise InfoeconError(f"{path} is damaged or no Parquet file ({reason}); delete it and run again.") from None


def read_table(path: str | Path, contract: type[Contract]) -> pd.DataFrame:
    """Read a table and check it.

    Raises
    ------
    InfoeconError
        If the file is missing, damaged, or breaks the contract; the sentence names the file and the first fault.
    """
    frame = _read(Path(path))
    for name, column in contract.to_schema().columns.items():
        # Parquet keeps whole numbers and nulls, but pandas reads them as floats, and a column of nulls as nothing.
        kind = "str" if name in frame and pd.api.types.is_string_dtype(column.dtype.type) else column.dtype.type
        if name in frame and (kind == pd.Int64Dtype() or frame[name].isna().all()):
            frame[name] = frame[name].astype(kind)
    return _validate(frame, contract, str(path), "delete it and run again")


def read_inputs(paths: Iterable[str | Path]) -> dict[str, pd.DataFrame]:
    """Read the inputs of a table or figure by what they hold.

    Returns
    -------
    dict
        ``fits/rank_classifier.parquet`` under ``rank_classifier``; the files of one folder, one for each run, put
        together under its name, for example ``fits/estimates/*.parquet`` under ``estimates``.
    """
    frames: dict[str, list[pd.DataFrame]] = {}
    for path in map(Path, paths):
        name = path.stem if path.parent.name in _STAGE_FOLDERS else path.parent.name
        frames.setdefault(name, []).append(_read(path))
    return {name: pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0] for name, parts in frames.items()}
