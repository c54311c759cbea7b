"""Which addresses may be connected to."""

import pytest

from memorybox.adapters.http.guard import is_public

REFUSED = """
169.254.169.254 ::ffff:169.254.169.254 ::ffff:10.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::a9fe:a9fe
2002:a9fe:a9fe::1 2001:0:a9fe:a9fe::1 100.64.0.1 fd00:ec2::254 ::1 :: 0.0.0.0 192.0.0.8 192.88.99.1
198.18.0.1 fe80::1 fe80::1%eth0 ff02::1 224.0.0.1 240.0.0.1 255.255.255.255 fec0::1
::ffff:0:a9fe:a9fe ::a9fe:a9fe 2001:db8::1 2606:4700::5efe:a9fe:a9fe 10.1.2.3 127.0.0.1
192.168.1.1 172.16.0.1 3fff::1 2606:4700::200:5efe:a9fe:a9fe 2606:4700::1111%eth0
"""
ACCEPTED = "8.8.8.8 1.1.1.1 2606:4700::1111 2a00:1450:4001:81b::200e"


@pytest.mark.requirement("R2")
@pytest.mark.parametrize("address", REFUSED.split())
def test_an_address_that_is_private_special_or_embeds_another_is_refused(address: str) -> None:
    assert not is_public(address)


@pytest.mark.requirement("R2")
@pytest.mark.parametrize("address", ACCEPTED.split())
def test_a_plain_public_address_is_accepted(address: str) -> None:
    assert is_public(address)
