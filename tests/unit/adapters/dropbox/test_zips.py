import zipfile
from io import BytesIO

from memorybox.adapters.dropbox.zips import LARGEST, members
from memorybox.files.hashing import content_hash

PLAN, SEEDS = b"the plan of the beds, " * 20, b"seeds, " * 20
BOTH = {content_hash(PLAN), content_hash(SEEDS)}


def archive(*files: tuple[str, bytes]) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("garden/", b"")
        for name, data in files:
            zipped.writestr(name, data)
    return buffer.getvalue()


def test_members_are_found_by_what_they_hold_whatever_their_names_are() -> None:
    data = archive(("garden/PLAN.md", PLAN), ("../../seeds", SEEDS), ("garden/x.png", b"picture"))

    assert members(data, BOTH) == {content_hash(PLAN): PLAN, content_hash(SEEDS): SEEDS}


def test_a_damaged_member_is_left_out_and_the_others_count() -> None:
    data = bytearray(archive(("garden/plan.md", PLAN), ("garden/seeds.md", SEEDS)))
    place = data.index(b"garden/plan.md") + len("garden/plan.md")
    data[place + 3] ^= 0xFF

    assert members(bytes(data), BOTH) == {content_hash(SEEDS): SEEDS}


def test_what_is_no_zip_has_no_members() -> None:
    whole = archive(("garden/plan.md", PLAN))

    for data in (b"", b"<html>Error</html>", whole[:-30], whole[:40]):
        assert members(data, BOTH) == {}


def test_a_member_that_unpacks_to_more_than_a_note_is_not_unpacked() -> None:
    bomb = bytes(LARGEST + 1)

    assert members(archive(("garden/bomb.md", bomb)), {content_hash(bomb)}) == {}
