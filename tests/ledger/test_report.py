from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from infoecon.ledger.ledger import build_ledger
from infoecon.ledger.published import read_papers
from infoecon.ledger.report import ParseFailure, ReportItem, build_report, parse_failures, sources_of

PUBLISHED = Path(__file__).parents[2] / "published"
HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(1)> ![x](http://evil.example/x.png) [y](http://evil.example)"
)
PICTURE = b"\x89PNG not really"
VOID = {"meta", "input", "img", "br", "link", "hr"}


class Page(HTMLParser):
    """Collects what a browser would load, link or run, and checks that elements are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.script = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.script += data
        elif self.open and self.open[-1] != "style":
            self.text.append(data)


@pytest.fixture(scope="module")
def ledger() -> pd.DataFrame:
    table = pd.read_csv(next((PUBLISHED / "moral_hazard").glob("table_14_*.csv")))
    return build_ledger(read_papers(PUBLISHED), {"moral_hazard/table_14": table})


def items() -> list[ReportItem]:
    table = f"**Title**\n\n| Policy | Team |\n| --- | --- |\n| {HOSTILE} | 26.7 ± 11.5 |\n\nA note.\n"
    return [
        ReportItem("moral_hazard", "table_13", "E.2", f"Controls {HOSTILE}", ("exact",), table),
        ReportItem("moral_hazard", "figure_04", "3.1", "Geometry", ("simulated", "embedded"), picture=PICTURE),
        ReportItem("moral_hazard", "table_02", "3.1", "Base performance", ("simulated",), "| A |\n| --- |\n| 1 |\n"),
        ReportItem("moral_hazard", "table_worked_example", "C", "Example", ("embedded",), "| A |\n| --- |\n| 1 |\n"),
    ]


def build(ledger: pd.DataFrame) -> str:
    failures = [ParseFailure("moral_hazard", f"model {HOSTILE}", "embedded", 41.25)]
    return build_report(items(), ledger, failures, {"Configuration": f"config.yaml {HOSTILE}"})


@pytest.fixture(scope="module")
def html(ledger: pd.DataFrame) -> str:
    return build(ledger)


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    parser = Page()
    parser.feed(html)
    parser.close()
    assert not parser.open
    return parser


def test_nothing_is_loaded_linked_or_run_but_the_page_itself(page: Page) -> None:
    sources = [value for _, attributes in page.tags for name, value in attributes.items() if name in ("src", "href")]
    assert all(value and value.startswith(("#", "data:image/png;base64,")) for value in sources)
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert "alert" not in page.script
    assert f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}" in sources


def test_the_policy_of_the_page_allows_its_script_alone(html: str, page: Page) -> None:
    [policy] = [tag["content"] for _, tag in page.tags if tag.get("http-equiv") == "Content-Security-Policy"]
    digest = base64.b64encode(hashlib.sha256(page.script.encode()).digest()).decode()
    assert policy is not None
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert not re.search(r"https?://(?!evil\.example)", html)


def test_hostile_text_is_shown_as_text(page: Page) -> None:
    shown = "".join(page.text)
    assert shown.count("<script>alert(1)</script>") >= 4
    assert "![x](http://evil.example/x.png)" in shown


def test_every_claim_is_shown_once_and_counted(page: Page, ledger: pd.DataFrame) -> None:
    assert sum("data-paper" in attributes for _, attributes in page.tags) == len(ledger)
    groups = [attributes["id"] for tag, attributes in page.tags if tag == "details"]
    assert groups == [
        f"verdict-{verdict}" for verdict in ("reproduced", "within-interval", "differs", "not-comparable", "not-run")
    ]
    anchors = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    links = {str(attributes["href"])[1:] for tag, attributes in page.tags if tag == "a"}
    assert links <= anchors
    assert "20" in page.text
    assert f"{(ledger['verdict'] == 'not run').sum()}" in page.text


def test_items_stand_in_the_order_of_the_paper(html: str) -> None:
    places = [
        html.index(f'id="moral-hazard-{name}"')
        for name in ("table-02", "figure-04", "table-worked-example", "table-13")
    ]
    assert places == sorted(places)
    assert "Worked example: Example" in html
    assert "26.7\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}11.5" in html
    assert "<strong>Title</strong>" not in html


def test_the_same_run_gives_the_same_bytes(ledger: pd.DataFrame, html: str) -> None:
    assert build(ledger) == html


def test_a_run_without_figures_or_failures_has_a_report(ledger: pd.DataFrame) -> None:
    html = build_report([], ledger, [], {})
    assert "Parse failures" not in html
    assert "Ledger" in html


def test_sources_and_parse_failures_come_from_the_tables() -> None:
    base = pd.DataFrame(
        {
            "model": ["smollm2", "random"],
            "source": ["embedded", "exact"],
            "unparsed_pct": [12.5, 0.0],
            "team_pct": [1.0, 2.0],
        }
    )
    assert sources_of(base) == ("exact", "embedded")
    assert sources_of(base.drop(columns="source")) == ("exact",)
    assert parse_failures({"moral_hazard/table_02": base, "moral_hazard/table_14": base[["team_pct"]]}) == [
        ParseFailure("moral_hazard", "smollm2", "embedded", 12.5),
        ParseFailure("moral_hazard", "random", "exact", 0.0),
    ]
