"""Plain Python values as DynamoDB's wire form, and back."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

Item: TypeAlias = Mapping[str, Any]
"""An item or a key: attributes by name, made of str, int, bytes, bool, None, lists and maps."""

_KINDS: Mapping[type, str] = {str: "S", int: "N", bytes: "B", bool: "BOOL"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def wire(item: Item) -> dict[str, Any]:
    return {name: _wire(value) for name, value in item.items()}


def plain(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(attribute) for name, attribute in item.items()}


def stamp(moment: datetime) -> int:
    """Microseconds since 1970: exact, and ordered for conditions."""
    return (moment - _EPOCH) // _MICROSECOND


def moment(stamp: int) -> datetime:
    return _EPOCH + stamp * _MICROSECOND


def seconds(moment: datetime) -> int:
    """The form of `expires_at`, DynamoDB's time to live: not before the moment."""
    return -(-stamp(moment) // 1_000_000)


def _wire(value: Any) -> Mapping[str, Any]:
    if value is None:
        return {"NULL": True}
    if isinstance(value, Mapping):
        return {"M": wire(value)}
    if isinstance(value, list | tuple):
        return {"L": [_wire(element) for element in value]}
    kind = _KINDS[type(value)]
    return {kind: str(value) if kind == "N" else value}


def _plain(attribute: Mapping[str, Any]) -> Any:
    [(kind, value)] = attribute.items()
    match kind:
        case "N":
            return int(value)
        case "NULL":
            return None
        case "M":
            return plain(value)
        case "L":
            return [_plain(element) for element in value]
        case _:
            return value
