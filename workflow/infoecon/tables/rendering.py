"""Tables as they are printed: plain numbers as CSV, words and rounded numbers as Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pandas as pd

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "×": r"$\times$", "−": r"$-$",
    "≤": r"$\leq$", "≥": r"$\geq$", "<": r"\textless{}", ">": r"\textgreater{}", "→": r"$\rightarrow$",
}  # fmt: skip
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|!&~$])")
_PROSE_LETTERS = 40
"""Columns with longer cells wrap in LaTeX."""


@dataclass(frozen=True)
class RenderedTable:
    """One table, ready to be written."""

    frame: pd.DataFrame
    """Plain numbers at full precision, one row per printed row; columns named as in ``published/``."""
    display: pd.DataFrame
    """The same rows in words and rounded numbers, as printed."""
    title: str
    notes: tuple[str, ...] = ()
    """What the numbers are, where they come from, what ± is."""


def rounded(value: float, digits: int = 1) -> str:
    """Round as printed tables are: half away from zero, on the decimal number that was meant; zero has no sign."""
    meant = Decimal(f"{value:.12g}").quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return str(meant if meant else abs(meant)).replace("-", "−")


def plus_minus(mean: float, sd: float, digits: int = 1) -> str:
    """Write a mean with its spread; the spread is left out where there is one replicate."""
    return rounded(mean, digits) if pd.isna(sd) else f"{rounded(mean, digits)} ± {rounded(sd, digits)}"


def escape_latex(text: str) -> str:
    """Make any text safe inside a LaTeX table cell."""
    return "".join(_LATEX.get(letter, letter if letter.isprintable() else " ") for letter in text)


def escape_markdown(text: str) -> str:
    """Make any text safe inside a Markdown table cell: no markup, no line break."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    return _MARKDOWN.sub(r"\\\1", printable)


def _markdown(table: RenderedTable) -> str:
    header = list(map(escape_markdown, table.display.columns))
    lines = [f"**{escape_markdown(table.title)}**", "", _row(header), _row(["---"] * len(header))]
    lines += [_row(map(escape_markdown, row)) for row in table.display.astype(str).itertuples(index=False)]
    return "\n".join([*lines, "", *(f"{escape_markdown(note)}  " for note in table.notes)]).rstrip() + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _latex_columns(display: pd.DataFrame) -> str:
    longest = [display[column].astype(str).str.len().max() for column in display]
    return "".join(r"p{0.3\textwidth}" if length > _PROSE_LETTERS else "l" for length in longest)


def _latex(table: RenderedTable) -> str:
    rows = [" & ".join(map(escape_latex, row)) + r" \\" for row in table.display.astype(str).itertuples(index=False)]
    caption = " ".join([f"{table.title}.", *table.notes])
    return "\n".join(
        [
            "% needs the packages booktabs and adjustbox",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape_latex(caption)}}}",
            r"\begin{adjustbox}{max width=\textwidth}",
            rf"\begin{{tabular}}{{{_latex_columns(table.display)}}}",
            r"\toprule",
            " & ".join(map(escape_latex, table.display.columns)) + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{adjustbox}",
            r"\end{table}",
            "",
        ]
    )


def write_rendered(table: RenderedTable, stem: Path) -> None:
    """Write ``stem.csv``, ``stem.md`` and ``stem.tex``."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    table.frame.to_csv(stem.with_suffix(".csv"), index=False, lineterminator="\n")
    stem.with_suffix(".md").write_text(_markdown(table), encoding="utf-8")
    stem.with_suffix(".tex").write_text(_latex(table), encoding="utf-8")
