import re
from html import unescape

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from infoecon.tables.rendering import (
    RenderedTable,
    escape_latex,
    escape_markdown,
    plus_minus,
    rounded,
    write_rendered,
)


def table(text="a_b"):
    display = pd.DataFrame({"Policy": [text], "Team (%)": ["26.7 ± 11.5"]})
    return RenderedTable(
        pd.DataFrame({"policy": [text], "team_pct": [26.666666666666668]}), display, "A table", ("A note.",)
    )


@pytest.mark.parametrize(
    ("value", "digits", "printed"),
    [
        (3.125, 2, "3.13"),
        (4.375, 2, "4.38"),
        (9.375, 2, "9.38"),
        (-6.25, 1, "−6.3"),
        (-0.04, 1, "0.0"),
        (0.05 * 62.5, 2, "3.13"),
        (0.0, 1, "0.0"),
    ],
)
def test_rounding_is_half_away_from_zero(value, digits, printed):
    assert rounded(value, digits) == printed


def test_a_single_replicate_has_no_spread():
    assert plus_minus(26.666, float("nan")) == "26.7"
    assert plus_minus(26.666, 11.547) == "26.7 ± 11.5"


def test_three_files_with_full_numbers_in_the_csv(tmp_path):
    write_rendered(table(), tmp_path / "table_13")
    assert pd.read_csv(tmp_path / "table_13.csv")["team_pct"].tolist() == [26.666666666666668]
    assert r"a\_b & 26.7 $\pm$ 11.5 \\" in (tmp_path / "table_13.tex").read_text()
    assert r"| a\_b | 26.7 ± 11.5 |" in (tmp_path / "table_13.md").read_text()


def test_long_cells_wrap_in_latex(tmp_path):
    write_rendered(table("word " * 20), tmp_path / "wide")
    assert r"\begin{tabular}{p{0.3\textwidth}l}" in (tmp_path / "wide.tex").read_text()


def test_the_same_table_is_the_same_bytes(tmp_path):
    for name in ("one", "other"):
        write_rendered(table(), tmp_path / name)
    for suffix in (".csv", ".md", ".tex"):
        assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"other{suffix}").read_bytes()


@given(st.text(max_size=60))
def test_no_text_becomes_markup_in_markdown(text):
    html = (
        MarkdownIt("commonmark", {"html": True})
        .enable("table")
        .render(f"| a |\n| --- |\n| {escape_markdown(text)} |\n")
    )
    inner = html.partition("<tbody>")[2]
    assert set(re.findall(r"<(/?\w+)", inner)) <= {"tr", "td", "/tr", "/td", "/tbody", "/table"}


@given(st.text("ab&;<>~$|*_`lt#", max_size=30))
def test_text_reads_in_markdown_as_it_was(text):
    html = MarkdownIt("commonmark").enable("table").render(f"| a |\n| --- |\n| x{escape_markdown(text)}x |\n")
    assert unescape(re.findall(r"<td>(.*)</td>", html)[0]) == f"x{text}x"


@given(st.text(max_size=60))
def test_no_text_becomes_a_command_in_latex(text):
    escaped = escape_latex(text)
    bare = re.sub(r"\\(text\w+\{\}|[{}&%$#_])|\$\\(pm|times|leq|geq|rightarrow)\$|\$-\$", "", escaped)
    assert not set(bare) & set("\\{}&%$#_^~<>")
    assert "\n" not in escaped
