"""Text from outside as lines that can stand in a question."""

from __future__ import annotations

import pytest

from rose.hosts.base import BLOCK_HEADING, REFLECTION_MARKER
from rose.reflection import digest_text

KEY = "ghp_" + "a1B2" * 10
BLOCK = f"{BLOCK_HEADING} (1 rule)\nRead what fits.\n- When the task is a test: read nodes/x.md"


def test_the_block_of_rose_is_no_part_of_a_text():
    assert digest_text.lines(f"before\n\n{BLOCK}\nafter", 500) == ["before", "after"]


def test_a_reflection_question_is_cut_out_to_its_end():
    question = f"{REFLECTION_MARKER} v=1>\nadd rules\n</rose-reflection>"
    assert digest_text.lines(f"one\n{question}\ntwo", 500) == ["one", "two"]


def test_what_stood_around_a_question_is_not_joined():
    question = f"{REFLECTION_MARKER}>add rules</rose-reflection>"
    assert digest_text.lines(f"one{question}two", 500) == ["one", "two"]


def test_a_reflection_question_without_an_end_is_cut_out_whole():
    assert digest_text.lines(f"one\n{REFLECTION_MARKER}>\nadd rules", 500) == ["one"]


@pytest.mark.parametrize("part", [5, 20, 35])
def test_a_head_reads_no_half_of_a_secret(part):
    text = "so" + " " * (1_198 - part) + KEY
    said = digest_text.head(text, 120)
    assert "so [redacted:github-token]".startswith(said)


def test_a_secret_is_replaced_before_the_text_is_cut():
    """The end that is kept begins after `--token`, which alone tells what the value is."""
    value = "q8Zt3Lm5Wp9Xc2Vb7Nk4Rd"
    text = "word " * 30 + f"--token {value} then it ends."
    assert not digest_text.clip(text, 120).split("\n")[-1].startswith("--token")
    assert value not in "\n".join(digest_text.lines(text, 120))


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("a\u202eb", "ab"),
        ("a\x00b\ud800c", "abc"),
        ("one\u2028two\x85three\x0cfour\rfive", "one two three four five"),
        ("\t  spaced   out ", "spaced out"),
    ],
)
def test_a_line_is_printable_and_single(raw, shown):
    assert digest_text.lines(raw, 100) == [shown]


def test_a_marker_that_hidden_characters_parted_does_not_come_together():
    parted = BLOCK_HEADING.replace("routing", "rou\x00ting")
    assert digest_text.lines(f"say {parted}", 100) == ["say [rose]"]


def test_a_marker_over_two_lines_does_not_come_together_on_one():
    first, _, rest = BLOCK_HEADING.partition(" ")
    assert digest_text.line(f"{first}\n{rest}", 100) == "[rose]"


def test_a_secret_that_hidden_characters_parted_is_found_when_it_comes_together():
    assert KEY not in digest_text.line(f"key {KEY[:3]}\u200b{KEY[3:]} end", 200)


def test_a_long_text_keeps_its_beginning_and_its_end_in_whole_words():
    text = " ".join(f"word{number}" for number in range(100))
    shown = digest_text.clip(text, 60).split("\n")
    assert shown[1] == digest_text.CUT
    assert text.startswith(shown[0] + " ")
    assert text.endswith(" " + shown[2])
    assert len(shown[0]) + len(shown[2]) <= 60


def test_a_head_is_the_beginning_of_a_text():
    text = " ".join(f"word{number}" for number in range(100))
    assert digest_text.head(text, 13) == f"word0 word1 {digest_text.CUT}"
    assert digest_text.head("all of it", 12) == "all of it"
