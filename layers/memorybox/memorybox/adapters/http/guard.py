"""Which addresses we connect to when a stranger chose the host."""

from ipaddress import IPv4Network, IPv6Network, ip_address

_GLOBAL_UNICAST = IPv6Network("2000::/3")
# Every one of these embeds or tunnels an IPv4 address, or documents something.
_NOT_IPV6 = [IPv6Network(net) for net in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")]
_NOT_IPV4 = [IPv4Network(net) for net in ("192.0.0.0/24", "192.88.99.0/24")]
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


def is_public(text: str) -> bool:
    """True for a plain public unicast address.

    `is_global` is not enough: it passes NAT64, IPv4-compatible, site-local and multicast forms.
    """
    address = ip_address(text)
    if address.version == 4:  # noqa: PLR2004 - the name of the protocol
        return (
            address.is_global
            and not address.is_multicast
            and not any(address in net for net in _NOT_IPV4)
        )
    if address.scope_id or address not in _GLOBAL_UNICAST:
        return False
    if any(address in net for net in _NOT_IPV6):
        return False
    return (int(address) >> 32) & 0xFFFF_FFFF not in _ISATAP
