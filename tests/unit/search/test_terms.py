import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorybox.search.model import Words
from memorybox.search.terms import Lexicon, minus, plus, terms

LEXICON = Lexicon(b"key of the account")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't re-index Caroline's notes_v2", "don t re index carolin s note v2"),
        ("हिन्दी में", "हिन्दी में"),
        ("Obsidianの設定", "obsidian の設 設定"),
        ("京都大学", "京都 都大 大学"),
        ("京 都", "京 都"),
        ("\N{FULLWIDTH DIGIT FOUR}\N{FULLWIDTH DIGIT TWO}", "42"),
        ("The beds of the garden", "bed garden"),
        ("Straße STRASSE", "strass strass"),
        ("Gärten gärten", "gärten gärten"),
        ("정원을", "정원 원을"),
        ("สวนผัก", "สว วน นผ ผั ัก"),
        ("сад САД", "сад сад"),
        ("🍅 -- _ 🍅", ""),
        ("Tomatoes.MD", "tomato"),
        ("On 8 May, 2023", "8 may 2023 2023-05-08"),
    ],
)
def test_terms_of_every_script(text: str, expected: str) -> None:
    assert " ".join(terms(text)) == expected


def test_words_count_each_term_and_all_terms() -> None:
    words = LEXICON.words("Tomato tomato bed")

    tomato, bed = LEXICON.numbers("tomato"), LEXICON.numbers("bed")
    counts = {tomato: 2, bed: 1}
    assert words == Words(
        terms=b"".join(number.to_bytes(4, "little") for (number,) in sorted(counts)),
        counts=bytes(counts[number] for number in sorted(counts)),
        length=3,
    )


def test_a_count_stops_at_255_and_a_length_at_65535() -> None:
    words = LEXICON.words("x " * 70_000)

    assert (words.counts, words.length) == (b"\xff", 65_535)


def test_the_path_counts_four_times_without_its_ending() -> None:
    four_times = "garden beds plan " * 4

    assert LEXICON.path_words("/garden/beds/plan.md") == LEXICON.words(four_times)


@pytest.mark.parametrize("mark", ["# ", "###### "])
def test_a_heading_counts_twice(mark: str) -> None:
    text = LEXICON.words(f"Beans\n{mark}Tomato beds\nsoil")

    assert text == LEXICON.words("Beans Tomato beds Tomato beds soil")


@pytest.mark.parametrize("line", ["#tomato", "####### tomato", "A #1 # tomato", "#"])
def test_what_is_no_heading_counts_once(line: str) -> None:
    assert LEXICON.words(line) == LEXICON.words(line.replace("#", ""))


@pytest.mark.parametrize(
    "written",
    [
        "2026-11-03",
        "2026-11-03T08:15:00Z",
        "2026/11/3",
        "3 November 2026",
        "3. Nov. 2026",
        "November 3rd, 2026",
        "2026年11月3日に",
        "2026년 11월 3일",
        "11/03/2026",
        "3.11.2026",
        "\N{FULLWIDTH DIGIT TWO}026-11-03",
    ],
)
def test_a_day_is_one_more_word_however_it_is_written(written: str) -> None:
    assert "2026-11-03" in terms(f"Sown on {written}: beans")


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("03/04/2026", ["2026-03-04", "2026-04-03"]),
        ("4/4/2026", ["2026-04-04"]),
        ("2026-13-01", []),
        ("2026-01-32", []),
        ("2026-1 1026-11-03", []),
        ("November 2026, 3 beds", []),
        ("12026-11-03", []),
        ("3 November\n2026", []),
    ],
)
def test_which_days_a_text_names(text: str, days: list[str]) -> None:
    assert [term for term in terms(text) if "-" in term] == days


def test_numbers_of_a_query_are_distinct_and_ascend() -> None:
    numbers = LEXICON.numbers("when did the tomatoes fruit, the tomato?")

    assert numbers == tuple(sorted({*LEXICON.numbers("tomato"), *LEXICON.numbers("fruit")}))


def test_another_key_gives_other_numbers() -> None:
    assert Lexicon(b"another").numbers("tomato") != LEXICON.numbers("tomato")


def test_the_key_is_not_shown() -> None:
    assert repr(LEXICON) == "Lexicon()"


@given(st.text(), st.text())
def test_words_of_two_texts_add_up(one: str, other: str) -> None:
    together = plus(LEXICON.words(one), LEXICON.words(other))

    assert together == LEXICON.words(f"{one}\n{other}")
    assert minus(together, LEXICON.words(other)) == LEXICON.words(one)


@given(st.text())
def test_words_survive_as_bytes(text: str) -> None:
    words = LEXICON.words(text)

    assert Words.from_bytes(words.to_bytes()) == words


@pytest.mark.parametrize("data", [b"", b"\0", b"\0\0\0", bytes(2 + 5 * 3 - 1)])
def test_bytes_of_another_size_are_no_words(data: bytes) -> None:
    with pytest.raises(ValueError, match="Words"):
        Words.from_bytes(data)
