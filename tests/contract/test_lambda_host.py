"""Functions under the real runtime client: answers, errors, timeouts, restarts."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import pytest

from local.lambdas import Function, PayloadTooLarge, Settings
from local.runtime_api import HandlerFailed, InitFailed, TimedOut, WorkerDied


@contextmanager
def running(
    folder: Path, source: str, lines: list[str], timeout: float = 10, workers: int = 1
) -> Iterator[Function]:
    (folder / "app.py").write_text(dedent(source))
    settings = Settings("toy", folder, timeout, {"GREETING": "hello"})
    function = Function(settings, lines.append, workers)
    try:
        yield function
    finally:
        function.stop()


def test_the_answer_of_the_handler_comes_back(tmp_path: Path) -> None:
    source = """
        import os

        def handler(event, context):
            return {
                "event": event,
                "greeting": os.environ["GREETING"],
                "name": context.function_name,
                "home": os.environ.get("HOME"),
            }
    """
    with running(tmp_path, source, []) as function:
        function.await_start()
        assert function.invoke({"text": "ünï 🍅"}) == {
            "event": {"text": "ünï 🍅"},
            "greeting": "hello",
            "name": "toy",
            "home": None,
        }


def test_the_handler_sees_how_much_time_it_has_left(tmp_path: Path) -> None:
    source = """
        def handler(event, context):
            return context.get_remaining_time_in_millis()
    """
    with running(tmp_path, source, [], timeout=7) as function:
        left = function.invoke({})
    assert isinstance(left, int)
    assert 6_000 < left <= 7_000


def test_an_exception_is_reported_and_the_worker_goes_on(tmp_path: Path) -> None:
    source = """
        import os

        def handler(event, context):
            if event["wrong"]:
                raise ValueError("not this one")
            return os.getpid()
    """
    with running(tmp_path, source, []) as function:
        before = function.invoke({"wrong": False})
        with pytest.raises(HandlerFailed, match=r"^ValueError: not this one$"):
            function.invoke({"wrong": True})
        assert function.invoke({"wrong": False}) == before


def test_a_worker_past_its_timeout_is_killed_with_its_children_and_replaced(tmp_path: Path) -> None:
    source = """
        import os, subprocess, time

        def handler(event, context):
            if event["slow"]:
                child = subprocess.Popen(["sleep", "60"])
                open("pids", "w").write(f"{os.getpid()} {child.pid}")
                time.sleep(60)
            return "quick"
    """
    lines: list[str] = []
    with running(tmp_path, source, lines, timeout=0.5) as function:
        with pytest.raises(TimedOut):
            function.invoke({"slow": True})
        assert function.invoke({"slow": False}) == "quick"
    worker, child = (int(pid) for pid in (tmp_path / "pids").read_text().split())
    for pid in worker, child:
        assert not is_running(pid)
    assert [line.partition(" ")[2] for line in lines] == ["Task timed out after 0.50 seconds"]


def test_a_worker_that_dies_at_an_event_is_replaced(tmp_path: Path) -> None:
    source = """
        import os

        def handler(event, context):
            if event["die"]:
                os._exit(3)
            return "alive"
    """
    with running(tmp_path, source, []) as function:
        with pytest.raises(WorkerDied, match="exit code 3"):
            function.invoke({"die": True})
        assert function.invoke({"die": False}) == "alive"


def test_a_handler_that_cannot_be_imported_is_reported_and_not_started_again(
    tmp_path: Path,
) -> None:
    source = """
        with open("starts", "a") as starts:
            starts.write("x")
        raise RuntimeError("no settings")
    """
    with running(tmp_path, source, []) as function:
        for _ in range(3):
            with pytest.raises(InitFailed, match=r"^RuntimeError: no settings$"):
                function.invoke({})
        with pytest.raises(InitFailed):
            function.await_start()
    assert (tmp_path / "starts").read_text() == "x"


def test_what_a_worker_prints_arrives_line_by_line(tmp_path: Path) -> None:
    source = """
        def handler(event, context):
            print("one")
            print("two", flush=True)
    """
    lines: list[str] = []
    with running(tmp_path, source, lines) as function:
        assert function.invoke({}) is None
    assert lines == ["one", "two"]


def test_two_workers_take_two_events_at_a_time(tmp_path: Path) -> None:
    source = """
        import os, time

        def handler(event, context):
            open(event["mine"], "w").close()
            while not os.path.exists(event["other"]):
                time.sleep(0.01)
            return event["mine"]
    """
    with (
        running(tmp_path, source, [], workers=2) as function,
        ThreadPoolExecutor() as threads,
    ):
        answers = threads.map(
            function.invoke, [{"mine": "a", "other": "b"}, {"mine": "b", "other": "a"}]
        )
        assert list(answers) == ["a", "b"]


def test_payloads_over_six_megabytes_are_refused(tmp_path: Path) -> None:
    source = """
        def handler(event, context):
            return "x" * 6_291_456
    """
    with running(tmp_path, source, []) as function:
        with pytest.raises(PayloadTooLarge):
            function.invoke("x" * 6_291_456)
        with pytest.raises(HandlerFailed, match="ResponseSizeTooLarge"):
            function.invoke({})


def test_stopping_ends_the_event_under_way_and_starts_nothing_new(tmp_path: Path) -> None:
    source = """
        import os, time

        open(f"started-{os.getpid()}", "w").close()

        def handler(event, context):
            open("taken", "w").close()
            time.sleep(60)
    """
    with running(tmp_path, source, []) as function, ThreadPoolExecutor() as threads:
        answer = threads.submit(function.invoke, {})
        while not (tmp_path / "taken").exists():
            assert not answer.done()
        function.stop()
        with pytest.raises(WorkerDied):
            answer.result()
        with pytest.raises(WorkerDied):
            function.invoke({})
    [started] = tmp_path.glob("started-*")
    assert not is_running(int(started.name.removeprefix("started-")))


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
