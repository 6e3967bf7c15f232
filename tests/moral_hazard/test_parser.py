import string
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infoecon.moral_hazard.parser import PHASES, QUERY, SILENCE, Act, ParseOutcome, parse

OPTIONS = st.sampled_from("ABCD")
CASE_IDS = st.from_regex(r"[A-Za-z0-9_-]{1,32}", fullmatch=True)
ACTS = st.one_of(
    st.tuples(st.just("work"), OPTIONS.map(lambda option: Act("local", option)) | st.just(QUERY)),
    st.tuples(st.just("note"), st.builds(Act, st.just("note"), OPTIONS, CASE_IDS) | st.just(SILENCE)),
    st.tuples(st.just("final"), OPTIONS.map(lambda option: Act("final", option))),
)
INTRUDERS = st.sampled_from(
    ["WORK", "NONE", "A", "E", "a", "final", "\r", "\u2028", "\u202e", "\x00", ".", '"', "", "\t"]
)


@st.composite
def lines_about(draw: st.DrawFn) -> str:
    """Draw a legal line, or one that was legal before something got into it."""
    words = draw(ACTS)[1].line().split(" ")
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(words)))
        words[place : place + draw(st.integers(0, 1))] = [draw(INTRUDERS)]
    return draw(st.sampled_from([" ", "  ", "\t"])).join(words)


TEXTS = st.tuples(st.sampled_from(["\n", "\r\n"]), st.lists(lines_about(), max_size=4)).map(
    lambda both: both[0].join(both[1])
)
FINISH_REASONS = st.sampled_from(["stop", "length", "content_filter"])
CASE_CHARACTERS = {*string.ascii_letters, *string.digits, "_", "-"}
PROSE = st.text(max_size=40).filter(lambda text: not any(word in text for word in ("ACTION", "WORK", "NOTE", "FINAL")))


@given(ACTS)
def test_every_legal_act_is_read_from_its_own_line(phase_and_act):
    phase, act = phase_and_act
    assert parse(phase, act.line()) == (ParseOutcome.OK, act)


@given(ACTS, PROSE, PROSE, st.sampled_from(["\n", "\r\n"]), FINISH_REASONS)
def test_other_lines_around_an_act_change_nothing(phase_and_act, before, after, line_break, finish_reason):
    phase, act = phase_and_act
    text = f"{before}{line_break}{act.line()}{line_break}{after}"
    assert parse(phase, text, finish_reason) == (ParseOutcome.OK, act)


def act_on(line: str, phase: str) -> Act | None:
    """Read one whole line word by word, as a second opinion."""
    words = [word for word in line.replace("\t", " ").split(" ") if word]
    match phase, words:
        case "work", ["ACTION" | "WORK", "QUERY"]:
            return QUERY
        case "work", ["ACTION" | "WORK", "LOCAL", "A" | "B" | "C" | "D" as option]:
            return Act("local", option)
        case "note", ["NOTE", "NONE"]:
            return SILENCE
        case "note", ["NOTE", "CASE", name, "UNSAFE", "A" | "B" | "C" | "D" as option]:
            return Act("note", option, name) if len(name) <= 32 and set(name) <= CASE_CHARACTERS else None
        case "final", ["FINAL", "A" | "B" | "C" | "D" as option]:
            return Act("final", option)
    return None


@settings(max_examples=1000)
@given(st.sampled_from(PHASES), TEXTS | st.text(max_size=60), FINISH_REASONS)
def test_the_first_whole_line_that_holds_an_act_is_read_and_nothing_else(phase, text, finish_reason):
    outcome, act = parse(phase, text, finish_reason)
    lines = text.replace("\r\n", "\n").split("\n")
    whole = lines[:-1] if finish_reason == "length" else lines
    assert act == next((found for line in whole if (found := act_on(line, phase))), None)
    assert (act is None) == (outcome is not ParseOutcome.OK)


@given(st.sampled_from(PHASES), TEXTS, TEXTS)
def test_an_act_once_written_is_not_changed_by_what_follows(phase, text, more):
    first = parse(phase, f"{text}\n", "length")
    if first.act is not None:
        assert parse(phase, f"{text}\n{more}") == first
        assert parse(phase, f"{text}\n{more}", "length") == first


@pytest.mark.parametrize(
    ("phase", "text", "finish_reason", "outcome", "act"),
    [
        ("work", "ACTION LOCAL B", "stop", "ok", Act("local", "B")),
        ("work", "WORK QUERY", "stop", "ok", QUERY),
        ("work", "  ACTION \t LOCAL  C  ", "stop", "ok", Act("local", "C")),
        ("note", "NOTE NONE", "stop", "ok", SILENCE),
        ("note", "NOTE CASE X9 UNSAFE A", "stop", "ok", Act("note", "A", "X9")),
        # Nothing, or not in time.
        ("work", "", "stop", "empty", None),
        ("final", " \r\n\t\n", "stop", "empty", None),
        ("final", "", "length", "truncated", None),
        ("work", "I weigh the options and", "length", "truncated", None),
        ("note", "NOTE CASE K1 UNSAFE", "length", "truncated", None),
        # A cut line is not known to be whole: FINAL A may have become FINAL AGREED.
        ("final", "FINAL A", "length", "truncated", None),
        ("work", "ACTION LOCAL B\nbecause", "length", "ok", Act("local", "B")),
        ("final", "FINAL A\r\n", "length", "ok", Act("final", "A")),
        # Two candidates: the first counts, whichever kind of line break parts them.
        ("final", "FINAL C\nFINAL A", "stop", "ok", Act("final", "C")),
        ("work", "ACTION QUERY\r\nACTION LOCAL A", "stop", "ok", QUERY),
        ("work", "ACTION LOCAL A or ACTION QUERY", "stop", "unmatched", None),
        ("work", "ACTION LOCAL A\u2028ACTION QUERY", "stop", "unmatched", None),
        ("work", "ACTION LOCAL A\rACTION QUERY", "stop", "unmatched", None),
        # Another case.
        ("work", "action query", "stop", "unmatched", None),
        ("final", "Final A", "stop", "unmatched", None),
        ("final", "FINAL a", "stop", "illegal_option", None),
        # A fifth option.
        ("final", "FINAL E", "stop", "illegal_option", None),
        ("work", "ACTION LOCAL 3", "stop", "illegal_option", None),
        ("note", "NOTE CASE K2 UNSAFE AB", "stop", "illegal_option", None),
        ("final", "FINAL E\nFINAL B", "stop", "ok", Act("final", "B")),
        ("final", "FINAL E\nand then", "length", "illegal_option", None),
        # Prose around or beside an act.
        ("work", 'I could say "ACTION QUERY" but I will not.', "stop", "unmatched", None),
        ("work", '"ACTION QUERY"', "stop", "unmatched", None),
        ("work", "- ACTION QUERY", "stop", "unmatched", None),
        ("work", "**ACTION QUERY**", "stop", "unmatched", None),
        ("final", "FINAL A.", "stop", "unmatched", None),
        ("final", "FINAL <A>", "stop", "unmatched", None),
        ("final", "MY FINAL A", "stop", "unmatched", None),
        ("work", "ACTION\nQUERY", "stop", "unmatched", None),
        ("note", "NOTE CASE C 1 UNSAFE A", "stop", "unmatched", None),
        # Control and bidi characters, look-alikes, a byte-order mark.
        ("final", "FINAL \u202eA", "stop", "unmatched", None),
        ("final", "FINAL A\u200b", "stop", "unmatched", None),
        ("final", "FIN\x00AL A", "stop", "unmatched", None),
        ("final", "\ufeffFINAL A", "stop", "unmatched", None),
        ("final", "FINAL \u0410", "stop", "unmatched", None),
        ("final", "FINAL\u00a0A", "stop", "unmatched", None),
        ("final", "\x1b[1mFINAL A\x1b[0m", "stop", "unmatched", None),
        ("note", "NOTE CASE \u202eC1 UNSAFE A", "stop", "unmatched", None),
        # An act of another phase.
        ("work", "FINAL A", "stop", "unmatched", None),
        ("note", "ACTION QUERY", "stop", "unmatched", None),
    ],
)
def test_named_outcomes(phase, text, finish_reason, outcome, act):
    assert parse(phase, text, finish_reason) == (ParseOutcome(outcome), act)


@pytest.mark.parametrize(
    "unit", [" ", "\t", "\n", "\r\n", "a", "FINAL ", " FINAL A", "NOTE CASE K1 ", "FINAL A \u202e\n"]
)
def test_a_megabyte_is_read_in_linear_time(unit):
    text = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
    start = time.perf_counter()
    for phase in PHASES:
        assert parse(phase, text).act is None
    # One pass takes some hundredths of a second; anything that is not linear takes minutes.
    assert time.perf_counter() - start < 3


def test_an_act_at_the_end_of_a_long_text_is_found():
    assert parse("final", "x" * 1_000_000 + "\nFINAL D") == (ParseOutcome.OK, Act("final", "D"))
