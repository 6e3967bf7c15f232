import os

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandera.typing import Series

from infoecon.errors import InfoeconError
from infoecon.tables.contracts import Contract, column
from infoecon.tables.parquet import read_inputs, read_table, write_table

MADE_BY = {"rule": "a_rule", "code": "0" * 64}


class Scores(Contract):
    """A small contract with every kind of column."""

    name: Series[str] = column("who")
    note: Series[str] = column("what was said", nullable=True)
    score: Series[float] = column("how well", "reward units", ge=0)
    tokens: Series[pd.Int64Dtype] = column("how long", "tokens", nullable=True)
    valid: Series[bool] = column("whether")


def frame(**changes):
    columns = {
        "name": pd.Series(["a", "b"], dtype="str"),
        "note": pd.Series(["x", None], dtype="str"),
        "score": [0.5, 1.0],
        "tokens": pd.Series([1, None], dtype="Int64"),
        "valid": [True, False],
    }
    return pd.DataFrame(columns | changes)


def test_a_table_comes_back_as_it_was(tmp_path):
    write_table(frame(), Scores, tmp_path / "a.parquet", MADE_BY)
    pd.testing.assert_frame_equal(read_table(tmp_path / "a.parquet", Scores), frame())


@pytest.mark.parametrize("column_name", ["note", "tokens"])
def test_a_column_of_nulls_comes_back_as_it_was(tmp_path, column_name):
    nothing = frame(**{column_name: pd.Series([None, None], dtype="Int64" if column_name == "tokens" else "str")})
    write_table(nothing, Scores, tmp_path / "a.parquet", MADE_BY)
    pd.testing.assert_frame_equal(read_table(tmp_path / "a.parquet", Scores), nothing)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), min_size=2, max_size=2))
def test_any_text_comes_back_as_it_was(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("texts") / "a.parquet"
    written = frame(name=pd.Series(texts, dtype="str"))
    write_table(written, Scores, path, MADE_BY)
    assert read_table(path, Scores)["name"].tolist() == texts


def test_the_same_table_is_the_same_bytes(tmp_path):
    for name in "ab":
        write_table(frame(), Scores, tmp_path / f"{name}.parquet", MADE_BY)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_units_meanings_and_makers_stand_in_the_file(tmp_path):
    write_table(frame(), Scores, tmp_path / "a.parquet", MADE_BY)
    schema = pq.read_schema(tmp_path / "a.parquet")
    assert schema.metadata == {b"rule": b"a_rule", b"code": b"0" * 64}
    assert schema.field("score").metadata == {b"description": b"how well", b"unit": b"reward units"}


def test_nothing_is_left_behind_when_a_table_breaks_its_contract(tmp_path):
    with pytest.raises(InfoeconError, match=r"a\.parquet breaks the contract Scores: column 'score'"):
        write_table(frame(score=[-1.0, 1.0]), Scores, tmp_path / "a.parquet", MADE_BY)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "wrong",
    [
        frame().drop(columns="valid"),
        frame(extra=[1, 2]),
        frame(score=["0.5", "1"]),
        frame(name=pd.Series(["a", None], dtype="str")),
        frame()[["note", "name", "score", "tokens", "valid"]],
    ],
    ids=["column missing", "column too many", "wrong type", "null", "wrong order"],
)
def test_a_file_that_breaks_the_contract_is_one_sentence(tmp_path, wrong):
    path = tmp_path / "a.parquet"
    wrong.to_parquet(path, index=False)
    with pytest.raises(
        InfoeconError, match=r"a\.parquet breaks the contract Scores: .*; delete it and run again\."
    ) as caught:
        read_table(path, Scores)
    assert "\n" not in str(caught.value)


def test_a_file_cut_anywhere_is_one_sentence(tmp_path):
    path = tmp_path / "a.parquet"
    write_table(frame(), Scores, path, MADE_BY)
    whole = path.stat().st_size
    for size in {0, 1, 4, 100, whole // 2, whole - 8, whole - 1}:
        write_table(frame(), Scores, path, MADE_BY)
        os.truncate(path, size)
        with pytest.raises(
            InfoeconError, match=r"a\.parquet is damaged or no Parquet file .*delete it and run again"
        ) as caught:
            read_table(path, Scores)
        assert "\n" not in str(caught.value)


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(InfoeconError, match="does not exist"):
        read_table(tmp_path / "nowhere.parquet", Scores)


def test_inputs_are_named_by_what_they_hold(tmp_path):
    for path in (
        "fits/estimates/one.parquet",
        "fits/estimates/two.parquet",
        "fits/spread.parquet",
        "datasets/cases.parquet",
    ):
        write_table(frame(), Scores, tmp_path / path, MADE_BY)
    inputs = read_inputs(sorted(tmp_path.rglob("*.parquet")))
    assert {name: len(rows) for name, rows in inputs.items()} == {"estimates": 4, "spread": 2, "cases": 2}
