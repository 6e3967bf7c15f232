from pathlib import Path

import pytest

from infoecon import provenance
from infoecon.provenance import code_digest


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A tiny first-party package: script → scoring → parser; plotting stands apart."""
    root = tmp_path / "infoecon"
    (root / "game").mkdir(parents=True)
    for init in (root, root / "game"):
        (init / "__init__.py").write_text('"""Words."""\n')
    (root / "game" / "parser.py").write_text("def parse(text):\n    return text.strip()\n")
    (root / "game" / "scoring.py").write_text("from infoecon.game.parser import parse\n\nWEIGHT = 0.35\n")
    (root / "plotting.py").write_text("COLOUR = 'blue'\n")
    (tmp_path / "script.py").write_text("def main():\n    from infoecon.game import scoring\n\n    return scoring\n")
    monkeypatch.setattr(provenance, "PACKAGE_DIRECTORY", root)
    return tmp_path


def digest(package: Path) -> str:
    provenance._parse.cache_clear()
    code_digest.cache_clear()
    return code_digest(package / "script.py")


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_comments_formatting_and_docstrings_do_not_count(package):
    before = digest(package)
    (package / "infoecon/game/parser.py").write_text(
        '"""A docstring."""\n# a comment\ndef parse( text ):\n    """Another."""\n    return (text.strip())  # more\n'
    )
    assert digest(package) == before


def test_an_edit_in_a_module_reached_through_another_counts(package):
    before = digest(package)
    edit(package / "infoecon/game/parser.py", "strip", "lstrip")
    assert digest(package) != before


def test_an_edit_in_a_module_that_is_not_reached_does_not_count(package):
    before = digest(package)
    edit(package / "infoecon/plotting.py", "blue", "red")
    assert digest(package) == before


def test_a_constant_counts(package):
    before = digest(package)
    edit(package / "infoecon/game/scoring.py", "0.35", "0.36")
    assert digest(package) != before


def test_a_string_that_is_no_docstring_counts(package):
    before = digest(package)
    edit(package / "script.py", "    return scoring", "    return scoring, 'words'")
    assert digest(package) != before


def test_a_missing_source_is_refused(package):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        code_digest("infoecon.nowhere")


def test_modules_are_named_or_given_as_files(package):
    assert code_digest("infoecon.plotting") == code_digest(package / "infoecon/plotting.py")
