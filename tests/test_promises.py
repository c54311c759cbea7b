"""Every promise has a test, and every test of the acceptance suite says what it is for."""

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from tests.promises import PROMISES

_TESTS = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Named:
    """A test function and the promises its markers name."""

    file: Path
    name: str
    promises: frozenset[str]


@cache
def _tests() -> tuple[Named, ...]:
    return tuple(test for file in _files() for test in _read(file))


def _files() -> Iterator[Path]:
    for place, folders, names in os.walk(_TESTS):
        folders[:] = [name for name in folders if name != "node_modules"]
        yield from (Path(place, name) for name in names if fnmatch(name, "test_*.py"))


def _read(file: Path) -> Iterator[Named]:
    module = ast.parse(file.read_bytes())
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield Named(file, node.name, frozenset(_promises(node)))


def _promises(function: ast.FunctionDef) -> Iterator[str]:
    """The arguments of `pytest.mark.promise(...)`, among the parameters of a test too."""
    for decorator in function.decorator_list:
        for node in ast.walk(decorator):
            match node:
                case ast.Call(func=ast.Attribute(attr="promise"), args=arguments):
                    yield from (ast.literal_eval(argument) for argument in arguments)


def test_every_promise_has_a_test() -> None:
    kept = {promise for test in _tests() for promise in test.promises}

    assert PROMISES.keys() - kept == set()


def test_no_test_names_a_promise_that_nobody_made() -> None:
    named = {(test.name, promise) for test in _tests() for promise in test.promises}

    assert {(name, promise) for name, promise in named if promise not in PROMISES} == set()


def test_every_acceptance_test_names_a_promise() -> None:
    acceptance = [test for test in _tests() if test.file.parent.name == "acceptance"]

    assert acceptance
    assert [test.name for test in acceptance if not test.promises] == []
