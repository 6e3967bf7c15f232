"""The strict parser of replies: Table 7 is the contract.

A reply is read line by line and the first line that matches the phase's grammar is the act; all other text is ignored.

    work    ACTION LOCAL <OPTION>  or  ACTION QUERY          (WORK is accepted for ACTION)
    note    NOTE CASE <ID> UNSAFE <OPTION>  or  NOTE NONE
    final   FINAL <OPTION>

Where the paper is silent, no act is read into a text: keywords and options count in capitals alone, and nothing but
blanks (spaces, tabs) may stand beside them on the line, so that an act quoted inside prose is none. A line ends at
``\\n``, at ``\\r\\n`` or where a finished text ends; the last line of a text that the token limit cut is not complete.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import Literal, NamedTuple

Phase = Literal["work", "note", "final"]
PHASES: tuple[Phase, ...] = ("work", "note", "final")


class ParseOutcome(StrEnum):
    """What became of a reply."""

    OK = "ok"
    """An act was read."""
    TRUNCATED = "truncated"
    """No act, and the token limit cut the text."""
    EMPTY = "empty"
    """A finished text of nothing but white space."""
    UNMATCHED = "unmatched"
    """No act in a finished text."""
    ILLEGAL_OPTION = "illegal_option"
    """No act, but a whole line that would be one if its option existed."""


class Act(NamedTuple):
    """What an agent did in one phase."""

    kind: Literal["local", "query", "note", "silence", "final"]
    option: str = ""
    """Option named, where the act names one."""
    case_id: str = ""
    """Case named by a note."""

    def line(self) -> str:
        """Write the act as its canonical line."""
        match self.kind:
            case "local":
                return f"ACTION LOCAL {self.option}"
            case "query":
                return "ACTION QUERY"
            case "note":
                return f"NOTE CASE {self.case_id} UNSAFE {self.option}"
            case "silence":
                return "NOTE NONE"
            case "final":
                return f"FINAL {self.option}"


class Parsed(NamedTuple):
    """The outcome of parsing one reply, with the act where there is one."""

    outcome: ParseOutcome
    act: Act | None


QUERY = Act("query")
SILENCE = Act("silence")


_BLANK = "[ \t]"


def _grammar(option: str) -> dict[Phase, re.Pattern[str]]:
    lines: dict[Phase, str] = {
        "work": f"(?:ACTION|WORK) (?:QUERY|LOCAL ({option}))",
        "note": f"NOTE (?:NONE|CASE ([A-Za-z0-9_-]{{1,32}}) UNSAFE ({option}))",
        "final": f"FINAL ({option})",
    }
    return {
        phase: re.compile(f"^{_BLANK}*+{line.replace(' ', f'{_BLANK}++')}{_BLANK}*+$", re.MULTILINE)
        for phase, line in lines.items()
    }


_LEGAL = _grammar("[A-D]")
_ALMOST = _grammar("[A-Za-z0-9]{1,3}")


def _act(phase: Phase, match: re.Match[str]) -> Act:
    if phase == "work":
        return Act("local", match[1]) if match[1] else QUERY
    if phase == "note":
        return Act("note", match[2], match[1]) if match[1] else SILENCE
    return Act("final", match[1])


def _complete_lines(text: str, finish_reason: str) -> str:
    """Keep the lines that are known to be whole."""
    lines = text.replace("\r\n", "\n")
    return lines[: lines.rfind("\n") + 1] if finish_reason == "length" else lines


def _parse(phase: Phase, text: str, finish_reason: str) -> Parsed:
    lines = _complete_lines(text, finish_reason)
    if match := _LEGAL[phase].search(lines):
        return Parsed(ParseOutcome.OK, _act(phase, match))
    if _ALMOST[phase].search(lines):
        return Parsed(ParseOutcome.ILLEGAL_OPTION, None)
    if finish_reason == "length":
        return Parsed(ParseOutcome.TRUNCATED, None)
    if not text.strip():
        return Parsed(ParseOutcome.EMPTY, None)
    return Parsed(ParseOutcome.UNMATCHED, None)


# Short replies are few and come again and again; remembering them is several times faster than matching.
_SHORT = 64
_parse_short = lru_cache(maxsize=4096)(_parse)


def parse(phase: Phase, text: str, finish_reason: str = "stop") -> Parsed:
    """Read the act of one phase out of a reply.

    Parameters
    ----------
    phase
        ``work``, ``note`` or ``final``.
    text
        The raw reply.
    finish_reason
        Why the text ended; ``length`` says that the token limit cut it.

    Returns
    -------
    Parsed
        Its act is ``None`` exactly where the outcome is not ``ok``.
    """
    return _parse_short(phase, text, finish_reason) if len(text) <= _SHORT else _parse(phase, text, finish_reason)
