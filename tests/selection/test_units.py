from __future__ import annotations

import pytest

from rose.selection import units


def split(text):
    return [unit.text for unit in units.split(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("One.\tTwo.\nThree", ["One.", "Two.", "Three"]),
        ("Wait... Then?! Go", ["Wait...", "Then?!", "Go"]),
        ("a heading\nand a line", ["a heading", "and a line"]),
        ("a\r\nb\rc", ["a", "b", "c"]),
        (
            "\u4e00\u3002 \u4e8c\uff01 \u4e09\uff1f \u56db\uff0e x\uff61 y",
            ["\u4e00\u3002", "\u4e8c\uff01", "\u4e09\uff1f", "\u56db\uff0e", "x\uff61", "y"],
        ),
    ],
)
def test_a_unit_ends_at_a_mark_before_white_space_and_at_a_line_end(text, expected):
    assert split(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Run it at 3.14 with v1.2.3 of x.y.z, not !important or a?b",
        "Call J. R. Hacker and the U.S. office at 9 a.m. on Monday",
        "Ask Dr. Who, Mr. Smith and Prof. Moriarty",
        "Set a port, e.g. 5432, i.e. the default, vs. any other",
        "See no. 5 of vol. 2",
        "Set ports, hosts, etc. in the file",
        "Edit ./build.sh and run ../x, then go test ./... -v",
        "cp a . && cd .. && ls nodes/. x",
        "if ! grep x; then echo ? y",
        "\u4e00\u3002\u4e8c\uff01\u4e09",
        'He said "stop." and went (as ever.) home',
    ],
)
def test_what_is_no_end_ends_no_unit(text):
    assert split(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It costs 5. Then no more", ["It costs 5.", "Then no more"]),
        ("Use version 1.2. Then run", ["Use version 1.2.", "Then run"]),
        ("The answer is no. Then", ["The answer is no.", "Then"]),
        ("Ports, hosts, etc. Then", ["Ports, hosts, etc.", "Then"]),
        ("See src/app.py. Then", ["See src/app.py.", "Then"]),
    ],
)
def test_a_sentence_may_end_in_a_number_a_path_or_a_short_word(text, expected):
    assert split(text) == expected


@pytest.mark.parametrize("mark", ["1.", "12.", "- 3.", "> 4.", "  5.", "a."])
def test_the_number_of_a_list_stays_with_its_item(mark):
    assert split(f"First\n{mark} Install it. Run it\n") == [
        "First",
        f"{mark} Install it.".strip(),
        "Run it",
    ]


@pytest.mark.parametrize(
    "block",
    [
        "```sh\nmake. all\n\nrun! it\n```",
        "~~~~\na. b\n~~~\nc. d\n~~~~",
        "````\n```\nx. y\n```\n````",
        "- ```\n  x. y\n  ```",
        "> ```\n> x. y\n> ```",
        "```\r\na. b\r\n```",
    ],
)
def test_a_fenced_block_is_one_unit(block):
    assert split(f"Before. This\n{block}\nAfter. That") == [
        "Before.",
        "This",
        block,
        "After.",
        "That",
    ]


def test_a_fence_that_nobody_closed_holds_the_rest():
    assert split("a\n```\nb. c\n\nd. e\n") == ["a", "```\nb. c\n\nd. e"]


def test_backticks_in_the_first_line_of_a_fence_make_it_inline_code():
    assert split("```a``` is code. Yes\nb") == ["```a``` is code.", "Yes", "b"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run `a. b` now. Then", ["Run `a. b` now.", "Then"]),
        ("Run ``a. ` b`` now. Then", ["Run ``a. ` b`` now.", "Then"]),
        ("Run `a\nb. c` now. Then", ["Run `a\nb. c` now.", "Then"]),
        ("A lone ` here. Then", ["A lone ` here.", "Then"]),
        ("`a\n\nb` c. d", ["`a", "b` c.", "d"]),
        ("`a\r\n\r\nb` c. d", ["`a", "b` c.", "d"]),
        ("`a\r\nb` c. d", ["`a\r\nb` c.", "d"]),
    ],
)
def test_inline_code_is_never_parted_and_ends_with_its_paragraph(text, expected):
    assert split(text) == expected


def test_a_unit_has_its_place_in_the_text():
    text = "  One.   Two\n\n  - three  \n"
    assert [(unit.start, unit.end) for unit in units.split(text)] == [(2, 6), (9, 12), (16, 23)]


@pytest.mark.parametrize("text", ["", " \n\t\r\n", "\u3000"])
def test_a_blank_text_has_no_unit(text):
    assert split(text) == []


@pytest.mark.parametrize(
    "text", ["." * 100_000 + "x", "5. " * 50_000, "`" * 100_000, "` `` " * 30_000, "x/ . " * 50_000]
)
def test_a_hostile_text_is_split_without_a_loss(text):
    assert "".join(split(text)).replace(" ", "") == text.replace(" ", "")
