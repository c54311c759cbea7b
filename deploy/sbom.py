"""Lists what a build ships, as a CycloneDX document, and under which licences.

https://cyclonedx.org/docs/1.6/json/
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageMetadata
from pathlib import Path
from typing import Final

from deploy.build import LAMBDA

SBOM: Final = LAMBDA.folder.with_name("sbom.json")


@dataclass(frozen=True, slots=True)
class Component:
    """A package of a layer."""

    name: str
    version: str
    licence: str

    def entry(self) -> Mapping[str, object]:
        return {
            "type": "library",
            "name": self.name,
            "version": self.version,
            "purl": f"pkg:pypi/{self.name}@{self.version}",
            "licenses": [{"license": {"name": self.licence}}],
        }


def components(layer: Path) -> list[Component]:
    """The packages of a built layer, in the order of their names."""
    found = (Distribution.at(folder).metadata for folder in layer.glob("python/*.dist-info"))
    return sorted(
        (
            Component(about["Name"].lower().replace("_", "-"), about["Version"], _licence(about))
            for about in found
        ),
        key=lambda component: component.name,
    )


def document(found: Sequence[Component]) -> Mapping[str, object]:
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "memorybox"}},
        "components": [component.entry() for component in found],
    }


def _licence(about: PackageMetadata) -> str:
    """From whichever of three places the package says it in."""
    for field in "License-Expression", "License":
        if field in about:
            return about[field].strip().partition("\n")[0]
    classifiers = about.get_all("Classifier") or []
    kinds = [kind.rpartition(" :: ")[2] for kind in classifiers if kind.startswith("License ::")]
    return ", ".join(kinds) or "not said"


def main() -> int:
    found = components(LAMBDA.folder / "DependenciesLayer")
    SBOM.write_text(json.dumps(document(found), indent=1))
    for component in found:
        print(f"{component.name:24} {component.version:16} {component.licence}")
    print(f"{len(found)} packages; {SBOM}")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
