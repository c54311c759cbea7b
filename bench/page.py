"""The page of all measurements: each stands between two marks."""

import re
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs/benchmarks.md"


def publish(name: str, text: str) -> None:
    """Put `text` between the marks of that measurement, if the page has them."""
    first, last = f"<!-- {name} -->", f"<!-- end of {name} -->"
    page = PAGE.read_text()
    between = re.compile(f"{re.escape(first)}.*?{re.escape(last)}", re.DOTALL)
    PAGE.write_text(between.sub(lambda _: f"{first}\n{text}\n{last}", page))
