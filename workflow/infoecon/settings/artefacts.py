"""``config/artefacts.yaml``: every table and figure, and the targets that follow from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import Field, RootModel

from infoecon.settings.sections import Section

ArtefactName = Annotated[str, Field(pattern=r"^(table|figure)_[0-9a-z_]+$")]

TABLE_FORMATS = ("csv", "md", "tex")
FIGURE_FORMATS = ("pdf", "png", "csv")


class Artefact(Section):
    """One table or figure of a paper."""

    section: Annotated[str, Field(pattern=r"^([0-9]+|[A-Z])(\.[0-9]+)*$")]
    """Section of the paper that shows it, for example ``E.1``."""
    title: str
    """What it shows, in one line."""
    inputs: Annotated[list[str], Field(min_length=1)]
    """Files below ``results/<study>/`` that it is made from."""


class ArtefactRegistry(RootModel[dict[str, dict[ArtefactName, Artefact]]]):
    """Artefacts by study and name; the name is also that of the module that renders it."""

    def items(self) -> Iterator[tuple[str, str, Artefact]]:
        """Iterate over study, name and artefact."""
        for study, artefacts in self.root.items():
            for name, artefact in artefacts.items():
                yield study, name, artefact

    def module(self, study: str, name: str) -> str:
        """Name the module that renders an artefact."""
        return f"infoecon.{study}.artefacts.{name}"

    def files(self, study: str, name: str) -> list[str]:
        """List the files that an artefact consists of."""
        if name.startswith("figure_"):
            return [f"figures/{study}/{name}.{suffix}" for suffix in FIGURE_FORMATS]
        return [f"results/{study}/tables/{name}.{suffix}" for suffix in TABLE_FORMATS]

    def inputs(self, study: str, name: str) -> list[str]:
        """List the files that an artefact is made from."""
        return [str(PurePosixPath("results", study, file)) for file in self.root[study][name].inputs]

    def targets(self) -> dict[str, list[str]]:
        """Map each target to its files: a study, a section of its paper (with its subsections), a table or figure."""
        targets: dict[str, list[str]] = {}
        for study, name, artefact in self.items():
            parts = re.split(r"\.", artefact.section.lower())
            sections = ["_".join(parts[: depth + 1]) for depth in range(len(parts))]
            for target in (study, f"{study}_{name}", *(f"{study}_section_{section}" for section in sections)):
                targets.setdefault(target, []).extend(self.files(study, name))
        return targets
