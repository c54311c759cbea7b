"""Plain Python values as DynamoDB's wire form, and back."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

Item: TypeAlias = Mapping[str, Any]
"""An item or a key: attributes by name, made of str, int, bytes, bool, None, lists and maps."""

Wire: TypeAlias = "dict[str, AttributeValueTypeDef]"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def wire(item: Item) -> Wire:
    return {name: _wire(value) for name, value in item.items()}


def plain(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(attribute) for name, attribute in item.items()}


def stamp(moment: datetime) -> int:
    """Microseconds since 1970: exact, and ordered for conditions."""
    return (moment - _EPOCH) // _MICROSECOND


def moment(stamp: int) -> datetime:
    return _EPOCH + stamp * _MICROSECOND


def ttl(moment: datetime) -> int:
    """The form of `expires_at`: whole seconds, not before the moment."""
    return -(-stamp(moment) // 1_000_000)


def _wire(value: Any) -> "AttributeValueTypeDef":
    match value:
        case str():
            return {"S": value}
        case bool():
            return {"BOOL": value}
        case int():
            return {"N": str(value)}
        case bytes():
            return {"B": value}
        case None:
            return {"NULL": True}
        case Mapping():
            return {"M": wire(value)}
        case list() | tuple():
            return {"L": [_wire(element) for element in value]}
    raise TypeError(f"DynamoDB holds no {type(value).__name__}")


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
