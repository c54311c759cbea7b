"""read: a note as it is stored."""

import pytest

from local.dropbox.faults import Effect, Fault
from local.dropbox.knobs import Content
from tests.acceptance.box import Box
from tests.acceptance.notes import T71
from tests.cases.notes import ODD_TEXTS


@pytest.mark.promise("P-027", "T-05")
def test_read_answers_rev_and_size_and_then_the_text(box: Box) -> None:
    box.dropbox.put("/garden/tomatoes.md", T71)

    assert box.call("read", workspace="garden", path="tomatoes.md").texts == (
        f"rev: {box.rev('/garden/tomatoes.md')}\nsize: 71 bytes",
        T71,
    )
    assert box.calls_of_dropbox() == 1


@pytest.mark.promise("P-027", "P-032", "T-05")
@pytest.mark.parametrize("size", [1, 1_000_000])
def test_the_size_is_plain_digits_and_bytes_for_any_number(box: Box, size: int) -> None:
    box.dropbox.put("/garden/a.md", "a" * size)

    heading, text = box.call("read", workspace="garden", path="a.md").texts

    assert heading == f"rev: {box.rev('/garden/a.md')}\nsize: {size} bytes"
    assert text == "a" * size


@pytest.mark.promise("P-014")
def test_the_rev_is_that_of_dropbox(box: Box) -> None:
    file = box.dropbox.put("/garden/a.md", "a")

    heading, _ = box.call("read", workspace="garden", path="a.md").texts

    assert heading.splitlines()[0] == f"rev: {file.rev}"


@pytest.mark.promise("P-028", "P-201")
@pytest.mark.parametrize("name", ODD_TEXTS)
def test_read_gives_the_bytes_as_stored(box: Box, name: str) -> None:
    box.dropbox.put("/garden/a.md", ODD_TEXTS[name])

    _, text = box.call("read", workspace="garden", path="a.md").texts

    assert text.encode() == ODD_TEXTS[name]


@pytest.mark.promise("P-029", "P-037", "L-5", "T-06")
def test_an_empty_file_has_two_blocks(box: Box) -> None:
    written = box.says("write", workspace="garden", path="e.md", text="")
    rev = box.rev("/garden/e.md")

    assert written == f"rev: {rev}\nNot indexed for search: the file has no text."
    assert box.call("read", workspace="garden", path="e.md").texts == (
        f"rev: {rev}\nsize: 0 bytes",
        "",
    )


@pytest.mark.promise("P-030", "T-23")
@pytest.mark.parametrize("path", ["missing.md", "beds/missing.md", "folder.md"])
@pytest.mark.parametrize("workspace", ["garden", "nowhere"])
def test_a_file_that_is_not_there_is_refused(box: Box, workspace: str, path: str) -> None:
    box.dropbox.make_folder("/garden/folder.md")

    assert box.refuses("read", workspace=workspace, path=path) == (
        f'The file "{path}" in workspace "{workspace}" does not exist. '
        "Call list to see the files there."
    )


@pytest.mark.promise("P-030", "T-24")
@pytest.mark.parametrize(
    ("data", "offset"),
    [
        ("café\n".encode("latin-1"), 3),
        ("番茄".encode("gbk"), 0),
        ("note".encode("utf-16"), 0),
        ("tomato 🍅".encode()[:-1], 7),
        (b"half \xed\xa0\x80 of a pair", 5),
    ],
)
def test_a_file_that_is_no_utf8_is_refused_with_its_first_bad_byte(
    box: Box, data: bytes, offset: int
) -> None:
    box.dropbox.put("/garden/a.md", data)

    assert box.refuses("read", workspace="garden", path="a.md") == (
        f'The file "a.md" in workspace "garden" is not UTF-8 text (first bad byte at {offset}), '
        "so it cannot be shown. Open it in Dropbox."
    )


@pytest.mark.promise("P-030")
def test_a_file_that_dropbox_does_not_give_out_is_refused(box: Box) -> None:
    box.dropbox.put("/garden/a.md", "text")
    box.dropbox.set(content={"/garden/a.md": Content.RESTRICTED})

    assert box.refuses("read", workspace="garden", path="a.md") == (
        'The file "a.md" in workspace "garden" cannot be downloaded from Dropbox. '
        "Open it in Dropbox."
    )


@pytest.mark.promise("P-031")
def test_names_ignore_letter_case(box: Box) -> None:
    box.dropbox.put("/garden/Tomatoes.md", T71)

    assert box.call("read", workspace="GARDEN", path="tomatoes.MD").texts[1] == T71


@pytest.mark.promise("P-031")
def test_a_name_that_is_stored_decomposed_is_listed_and_read(box: Box) -> None:
    decomposed = "cafe\N{COMBINING ACUTE ACCENT}.md"
    with box.dropbox.changing() as tree:
        tree.write(
            f"/garden/{decomposed}",
            size=3,
            content_hash=box.dropbox.storage.keep(b"nfd"),
            client_modified=box.dropbox.now(),
            at=box.dropbox.now(),
        )

    assert decomposed in box.says("list", workspace="garden")
    assert box.call("read", workspace="garden", path=decomposed).texts[1] == "nfd"


@pytest.mark.promise("P-031")
def test_a_workspace_that_is_stored_decomposed_is_listed(box: Box) -> None:
    decomposed = "cafe\N{COMBINING ACUTE ACCENT}"
    with box.dropbox.changing() as tree:
        tree.write(
            f"/{decomposed}/menu.md",
            size=3,
            content_hash=box.dropbox.storage.keep(b"nfd"),
            client_modified=box.dropbox.now(),
            at=box.dropbox.now(),
        )

    assert "menu.md" in box.says("list", workspace=decomposed)


@pytest.mark.promise("P-032", "T-25")
def test_a_text_whose_answer_would_be_too_long_is_refused(box: Box) -> None:
    box.dropbox.put("/garden/nul.md", b"\0" * 1_000_000)

    assert box.refuses("read", workspace="garden", path="nul.md") == (
        'The file "nul.md" in workspace "garden" has 1000000 bytes, '
        "too many to read in one answer. Open it in Dropbox."
    )


@pytest.mark.promise("P-032", "P-206", "T-25")
def test_a_large_file_is_refused_before_it_is_downloaded_whole(box: Box) -> None:
    box.dropbox.put("/garden/huge.md", b"a" * 6_000_000)

    assert box.refuses("read", workspace="garden", path="huge.md") == (
        'The file "huge.md" in workspace "garden" has 6000000 bytes, '
        "too many to read in one answer. Open it in Dropbox."
    )


@pytest.mark.promise("P-032")
def test_the_frame_of_an_answer_is_ascii_so_that_no_line_end_of_a_text_breaks_it(box: Box) -> None:
    box.dropbox.put("/garden/a.md", "one\u2028two\u2029three\u0085four")

    body = box.post(
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read",'
        b'"arguments":{"workspace":"garden","path":"a.md"}}}'
    ).body

    assert b"one\\u2028two\\u2029three\\u0085four" in body


@pytest.mark.promise("P-017", "T-41")
def test_a_silent_dropbox_is_one_sentence_that_says_to_try_again(box: Box) -> None:
    box.dropbox.put("/garden/a.md", "text")
    box.breaks(Fault("files/download", Effect.LOST_RESPONSE, times=None))

    assert box.refuses("read", workspace="garden", path="a.md") == (
        "Dropbox did not answer. Try again in a minute."
    )


@pytest.mark.promise("P-204")
def test_a_download_whose_bytes_are_not_those_of_its_rev_is_made_again(box: Box) -> None:
    box.dropbox.put("/garden/a.md", "text")
    box.breaks(Fault("files/download", Effect.HALF_ANSWER, times=2))

    assert box.call("read", workspace="garden", path="a.md").texts[1] == "text"
    assert box.calls_of_dropbox("files/download") == 3
