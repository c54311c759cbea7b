"""What the tests say they are for: the arguments of their markers, read from the source."""

import ast
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

_TESTS = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Named:
    """A test function, and the arguments of its markers by the name of the marker."""

    file: Path
    name: str
    marks: Mapping[str, frozenset[str]]

    @property
    def id(self) -> str:
        return f"{self.file.relative_to(_TESTS)}::{self.name}"

    def of(self, marker: str) -> frozenset[str]:
        return self.marks.get(marker, frozenset())


@cache
def every_test() -> tuple[Named, ...]:
    """Every test there is."""
    return tuple(test for file in sorted(_files()) for test in _read(file))


def marked(marker: str) -> Mapping[str, list[str]]:
    """The tests that name each argument of a marker."""
    found: dict[str, list[str]] = {}
    for test in every_test():
        for argument in test.of(marker):
            found.setdefault(argument, []).append(test.id)
    return found


def _files() -> Iterator[Path]:
    for place, folders, names in os.walk(_TESTS):
        folders[:] = [name for name in folders if name != "node_modules"]
        yield from (Path(place, name) for name in names if fnmatch(name, "test_*.py"))


def _read(file: Path) -> Iterator[Named]:
    module = ast.parse(file.read_bytes())
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            marks: dict[str, set[str]] = {}
            for marker, argument in _arguments(node):
                marks.setdefault(marker, set()).add(argument)
            yield Named(file, node.name, {name: frozenset(given) for name, given in marks.items()})


def _arguments(function: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """Of every `pytest.mark.NAME("…")`, among the parameters of a test too."""
    for decorator in function.decorator_list:
        for node in ast.walk(decorator):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="mark"), attr=name)):
                    for given in node.args:
                        if isinstance(given, ast.Constant) and isinstance(given.value, str):
                            yield name, given.value
