"""The report: one static page with everything that came out and the ledger.

The page asks nothing of any other machine and works without scripts, which only add the ledger's filter. All text is
escaped, and what a model wrote can neither load, link nor run anything: Markdown is rendered without HTML, links and
images, and the page's content security policy allows its own style, script and embedded pictures alone.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from infoecon.ledger.comparison import STANDARD_ERRORS, Verdict
from infoecon.ledger.inline_findings import Tables
from infoecon.ledger.ledger import count_verdicts

SOURCES = {
    "exact": "follows from the game and its scripted policies; no model took part",
    "recomputed": "computed from values that the paper prints",
    "simulated": "simulated agents with known behaviour, no language model",
    "embedded": "the small language model that comes with the pipeline, not one of the paper's",
    "model": "a language model behind an endpoint",
}
"""What each source of a value means."""
VERDICTS = {
    Verdict.REPRODUCED: "equal to every printed digit, uncertainty included where both sides have one",
    Verdict.WITHIN_INTERVAL: f"another random sample, at most {STANDARD_ERRORS:g} combined standard errors away; where"
    f" the exact expectation is known, both are at most {STANDARD_ERRORS:g} of their standard errors from it",
    Verdict.DIFFERS: "none of these; the reason says by how much and what is known about it; of two fair samples, some"
    " three pairs in a thousand end here by chance",
    Verdict.NOT_COMPARABLE: "ours comes from a stand-in for the paper's models, or the paper prints words",
    Verdict.NOT_RUN: "this configuration has no value for it",
}
"""What each verdict means, in the words of the report."""

_TITLE = re.compile(r"\A\*\*.*\*\*\n+")
_KEPT_TOGETHER = re.compile(r"(?<=\d)( ± |, )(?=-?\d)")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{4,}(?:e-?\d+)?")
"""Numbers of full precision, as no paper prints them."""


@dataclass(frozen=True)
class ReportItem:
    """One table or figure of the report."""

    study: str
    name: str
    """For example ``table_13``."""
    section: str
    title: str
    sources: tuple[str, ...]
    """Sources of its values, keys of ``SOURCES``."""
    markdown: str = ""
    """A table as rendered (its first line, the title in bold, is not shown again), or the caption of a figure."""
    picture: bytes = b""
    """A figure as PNG."""

    @property
    def anchor(self) -> str:
        """Its place in the page."""
        return f"{self.study}-{self.name}".replace("_", "-")

    @property
    def label(self) -> str:
        """Kind and number, for example ``Table 13``."""
        kind, _, rest = self.name.partition("_")
        return f"{kind.capitalize()} {int(rest)}" if rest.isdecimal() else rest.replace("_", " ").capitalize()

    @cached_property
    def body(self) -> Markup:
        """The Markdown as HTML that cannot load or run anything."""
        markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "link", "autolink"])
        text = _KEPT_TOGETHER.sub(lambda gap: gap[0].replace(" ", "\N{NO-BREAK SPACE}"), _TITLE.sub("", self.markdown))
        return Markup(markdown.render(text))  # noqa: S704

    @cached_property
    def data(self) -> str:
        """The picture as a data address."""
        return f"data:image/png;base64,{base64.b64encode(self.picture).decode()}" if self.picture else ""


@dataclass(frozen=True)
class ParseFailure:
    """Share of one policy's answers that did not parse."""

    study: str
    policy: str
    source: str
    percent: float


def sources_of(table: pd.DataFrame) -> tuple[str, ...]:
    """Give the sources of a table's rows in the order of ``SOURCES``; ``exact`` where it has no column ``source``."""
    present = set(table["source"].dropna()) if "source" in table else {"exact"}
    return tuple(source for source in SOURCES if source in present)


def parse_failures(tables: Tables) -> list[ParseFailure]:
    """Collect the rates of unparsed answers from every table that names a model and has ``unparsed_pct``."""
    return [
        ParseFailure(name.partition("/")[0], str(row["model"]), str(row["source"]), float(row["unparsed_pct"]))
        for name, table in tables.items()
        if {"model", "source", "unparsed_pct"} <= set(table)
        for row in table.to_dict("records")
    ]


def _short(number: float) -> str:
    return f"{number:.4g}" if abs(number) < 1000 else f"{number:.10g}"


def _uncertain(uncertainty: str) -> str:
    """Write an uncertainty behind its value, its long numbers shortened."""
    short = _LONG_NUMBER.sub(lambda number: _short(float(number[0])), uncertainty)
    return f" ± {short}" if short and not short.startswith("[") else f" {short}".rstrip()


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _order(item: ReportItem) -> tuple[object, ...]:
    """Put sections in the order of a paper: numbers, then letters; tables before figures."""
    section = [(not part.isdecimal(), part.zfill(3)) for part in item.section.split(".")]
    return item.study, section, not item.name.startswith("table"), item.name


def _ledger_groups(ledger: pd.DataFrame) -> list[dict[str, Any]]:
    groups = []
    for verdict, meaning in VERDICTS.items():
        rows = ledger[ledger["verdict"] == verdict]
        groups.append({"verdict": str(verdict), "meaning": meaning, "rows": rows.to_dict("records")})
    return groups


def build_report(
    items: Iterable[ReportItem],
    ledger: pd.DataFrame,
    failures: Sequence[ParseFailure],
    provenance: Mapping[str, str],
) -> str:
    """Write the page.

    Parameters
    ----------
    items
        Tables and figures, in any order.
    ledger
        Contract ``Ledger``.
    failures
        Rates of unparsed answers.
    provenance
        What made the run, in words: configuration, versions.

    Returns
    -------
    str
        A whole HTML document; the same arguments give the same text.
    """
    environment = Environment(
        loader=PackageLoader("infoecon.ledger", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(short=_short, uncertain=_uncertain, words=_words)
    script = environment.get_template("report.js.jinja").render()
    studies: dict[str, list[ReportItem]] = {}
    for item in sorted(items, key=_order):
        studies.setdefault(item.study, []).append(item)
    return environment.get_template("report.html.jinja").render(
        studies=studies,
        counts=count_verdicts(ledger),
        groups=_ledger_groups(ledger),
        verdicts=VERDICTS,
        sources=SOURCES,
        failures=failures,
        provenance=provenance,
        script=Markup(script),  # noqa: S704
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
