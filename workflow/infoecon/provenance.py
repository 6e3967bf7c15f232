"""What made an artefact: digests of code, settings and inputs."""

from __future__ import annotations

import ast
import hashlib
import platform
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

PACKAGE = "infoecon"
PACKAGE_DIRECTORY = Path(__file__).parent
REPOSITORY = PACKAGE_DIRECTORY.parent.parent
_VERSIONED = ("numpy", "pandas", "pyarrow")


class _WithoutDocstrings(ast.NodeTransformer):
    """Drops docstrings, so that rewording one re-runs nothing."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [
                statement
                for statement in body
                if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
            ]
            node.body = kept or [ast.Pass()]  # type: ignore[attr-defined]
        return node


def _module_file(name: str) -> Path | None:
    parts = name.split(".")
    if parts[0] != PACKAGE:
        return None
    base = PACKAGE_DIRECTORY.joinpath(*parts[1:])
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@cache
def _parse(file: Path) -> tuple[str, frozenset[Path]]:
    """Digest one file's syntax tree and list the first-party files that it imports anywhere in its body."""
    tree = ast.parse(file.read_bytes(), filename=str(file))
    imported: set[Path] = set()
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            parents = name.split(".")
            for depth in range(1, len(parents) + 1):
                if path := _module_file(".".join(parents[:depth])):
                    imported.add(path)
    syntax = ast.dump(_WithoutDocstrings().visit(tree), annotate_fields=False)
    return hashlib.sha256(syntax.encode()).hexdigest(), frozenset(imported)


@cache
def code_digest(*sources: str | Path) -> str:
    """Digest scripts or modules together with all first-party modules that they can reach.

    Comments, formatting and docstrings do not count; any other edit does, and only for the code that imports it.
    Relative imports and imports by computed names are not followed: name such modules as further sources.

    Parameters
    ----------
    *sources
        Paths of scripts, or dotted names of modules of this package.

    Returns
    -------
    str
        64 hexadecimal digits.

    Raises
    ------
    FileNotFoundError
        If a source is no file and no module of this package.
    """
    queue: list[Path] = []
    for source in sources:
        file = Path(source)
        if not file.is_file():
            module = _module_file(str(source))
            if module is None:
                raise FileNotFoundError(f"{source} is neither a file nor a module of {PACKAGE}")
            file = module
        queue.append(file.resolve())
    seen: dict[Path, str] = {}
    while queue:
        file = queue.pop()
        if file not in seen:
            seen[file], imported = _parse(file)
            queue.extend(path.resolve() for path in imported)
    parts = sorted(f"{file.name}:{digest}" for file, digest in seen.items())
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def text_digest(text: str) -> str:
    """Digest a text, for example canonical settings."""
    return hashlib.sha256(text.encode()).hexdigest()


def file_digest(path: Path) -> str:
    """Digest the bytes of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _name(file: Path) -> str:
    """Name a file of the project by its place in the clone, so that no artefact holds where the clone lies."""
    whole = file.resolve()
    return str(whole.relative_to(REPOSITORY) if whole.is_relative_to(REPOSITORY) else file)


def versions() -> str:
    """Name the versions that numbers can depend on."""
    libraries = [f"{name} {metadata.version(name)}" for name in _VERSIONED]
    return ", ".join([f"python {platform.python_version()}", *libraries])


def describe(rule: str, code: str, settings: str, inputs: Iterable[str]) -> Mapping[str, str]:
    """Say what made an artefact, without clock or machine, so that the same making gives the same bytes."""
    return {
        "rule": rule,
        "code": code,
        "settings": text_digest(settings),
        "inputs": "\n".join(f"{_name(Path(file))} {file_digest(Path(file))}" for file in sorted(inputs)),
        "versions": versions(),
    }
