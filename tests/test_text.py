"""Tokens, quotes, canonical forms and clean lines, for any script and any hash seed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rose import text

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ANY_TEXT = st.text(
    st.one_of(st.characters(), st.sampled_from("aAbB_19 -\n\u0301ßİ中文かが한\u200d\u202e\ufe0f")),
    max_size=60,
)
SPACES = st.sampled_from([" ", "  ", "\n", "\t ", "\u00a0", "\u2028"])
FEW_WORDS = st.lists(st.sampled_from(["a", "aa", "b", "a-b"]), min_size=1, max_size=4)


@st.composite
def spaced(draw, some_words):
    """Draw the words with some white space between them."""
    return "".join(word + draw(SPACES) for word in some_words)


@pytest.mark.parametrize(
    ("given_text", "tokens"),
    [
        ("run the CI in go", ["run", "the", "ci", "in", "go"]),
        ("max_tokens", ["max_tokens", "max", "tokens"]),
        ("maxTokens", ["maxtokens", "max", "tokens"]),
        ("HTTPServerError", ["httpservererror", "http", "server", "error"]),
        ("S3Bucket2", ["s3bucket2", "s3", "bucket2"]),
        ("__init__", ["init"]),
        ("_x", ["x"]),
        ("___ - !", []),
        ("E501 404", ["e501", "404"]),
        ("iPhone", ["iphone", "phone"]),
        ("category", ["category"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("\uff21\uff22\uff23\uff11", ["abc1"]),
        ("cafe\u0301 caf\u00e9", ["caf\u00e9", "caf\u00e9"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("使用pytest运行测试", ["使用", "pytest", "运行", "行测", "测试"]),
        ("中", ["中"]),
        ("か\u3099んは", ["がん", "んは"]),
        ("한국어", ["한국", "국어"]),
        ("\u1112\u1161\u11ab\u1100\u116e\u11a8", ["한국"]),
        ("⚠\ufe0ffoo", ["foo"]),
        ("\ud800 a\ud800b", ["a", "b"]),
        ("Größe_Änderung", ["grösse_änderung", "grösse", "änderung"]),
    ],
)
def test_a_text_has_these_tokens(given_text, tokens):
    assert [token for token, _, _ in text.spans(given_text)] == tokens


def test_offsets_do_not_drift_where_folding_changes_lengths():
    assert text.spans("İİ ß max_ß") == [
        ("i̇i̇", 0, 2),
        ("ss", 3, 4),
        ("max_ss", 5, 10),
        ("max", 5, 8),
    ]


@given(given_text=ANY_TEXT)
def test_every_token_is_its_folded_place_in_the_text(given_text):
    found = text.spans(given_text)
    assert all(0 <= start < end <= len(given_text) for _, start, end in found)
    assert all(token == text.fold(given_text[start:end]) for token, start, end in found)
    assert not any(char.isspace() for token, _, _ in found for char in token)


@given(given_text=ANY_TEXT)
def test_tokens_come_in_order_and_no_place_twice(given_text):
    places = [(start, -end) for _, start, end in text.spans(given_text)]
    assert places == sorted(set(places))


@given(given_text=st.text(st.characters(categories=["L", "Nd", "Zs"]), max_size=40))
def test_no_letter_is_lost(given_text):
    covered = {at for _, start, end in text.spans(given_text) for at in range(start, end)}
    assert {at for at, char in enumerate(given_text) if char.isalnum()} <= covered


def test_words_leave_out_stop_words():
    assert text.words("Where is the max_tokens of it?") == ["max_tokens", "max", "tokens"]


@given(given_text=ANY_TEXT)
def test_words_are_the_tokens_without_stop_words(given_text):
    tokens = [token for token, _, _ in text.spans(given_text)]
    assert text.words(given_text) == [t for t in tokens if t not in text.STOP_WORDS]


@pytest.mark.parametrize(
    ("given_text", "joints"),
    [
        ("ab cd", [1, 4]),
        ("a_b-c/d", [1, 2]),
        ("x运行y", []),
        ("हिन्दी", [1, 2, 3, 4, 5]),
        ("か\u3099ん", [1]),
        ("\u1112\u1161\u11ab\u1100", [1, 2]),
        ("e\u0301a", [1, 2]),
        ("", []),
    ],
)
def test_a_cut_at_these_offsets_would_part_a_word(given_text, joints):
    ends = range(-1, len(given_text) + 2)
    assert [at for at in ends if text.is_inside_word(given_text, at)] == joints


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("Please fix the failing tests, then the tests again", ["fix", "failing", "tests"]),
        ("set max_tokens=800 in maxTokens", ["set", "max_tokens", "maxtokens"]),
        ("see https://example.org/deploy?x=y and src/app/db.py", []),
        (
            "open README.md:12, ./run, ~/notes, C:\\temp\\x, nodes/ or /etc/hosts",
            ["open", "readme", "md"],
        ),
        ("mail me at a.b@example.org about read/write", ["mail", "read", "write"]),
        ("3 times 1_000 v12 at 8f14e45fce 0x1f4", ["times"]),
        ("deface facade decade", ["deface", "facade", "decade"]),
        ("x 中 运行测试", ["中", "运行", "行测", "测试"]),
        ("修复src/app.py里的错误。", ["修复", "里的", "的错", "错误"]),
        ("rotate [redacted:github-token] keys", ["rotate", "keys"]),
        ("I don't think it's working", ["working"]),
        ("a" * 41 + " b" * 2 + " " + "c" * 40, ["c" * 40]),
        ("`pytest -q` (Docker)", ["pytest", "docker"]),
        ("", []),
    ],
)
def test_a_prompt_has_these_content_words(prompt, found):
    assert text.content_words(prompt) == found


@given(prompt=ANY_TEXT)
def test_content_words_are_unique_whole_tokens_of_the_prompt(prompt):
    found = text.content_words(prompt)
    assert len(found) == len(set(found))
    assert all(1 <= len(word) <= 40 and not word.isdigit() for word in found)


def test_tokens_are_the_same_under_any_hash_seed():
    program = (
        "from rose import text; s = 'é\\u0301 हिन्दी max_tokens 运行 fix the tests ⚠\\ufe0f\\u202e';"
        "print(ascii([text.spans(s), text.content_words(s), text.hostile_characters(s)]))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": ROOT},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(printed) == 1


@pytest.mark.parametrize(
    ("quote", "region", "found"),
    [
        ("could not connect", "it could  not\nconnect; could not connect", [3, 23]),
        ("aa", "aaaa", [0, 1, 2]),
        ("a a", "a\ta  a", [0, 2]),
        ("Case", "case", []),
        ("it's", "it\u2019s", []),
        (" padded ", "xpaddedx", [1]),
        ("", "anything", []),
        (" \n", "any thing", []),
        ("é", "e\u0301", []),
        ("end", " \n the end", [7]),
        ("longer than it", "longer", []),
    ],
)
def test_a_quote_is_found_here(quote, region, found):
    assert text.occurrences(quote, region) == found


@given(data=st.data(), quote=FEW_WORDS, region=st.lists(FEW_WORDS, max_size=4))
def test_quotes_are_found_under_any_white_space(data, quote, region):
    flat = " ".join(word for some in region for word in some)
    wide = data.draw(spaced(flat.split()))
    needle = " ".join(quote)
    hits = [at for at in range(len(flat)) if flat.startswith(needle, at)]
    found = text.occurrences(data.draw(spaced(quote)), wide)
    assert len(found) == len(hits)
    assert all(text.normalise(wide[at:]).startswith(needle) for at in found)


@given(given_text=ANY_TEXT)
def test_a_normal_text_stays_as_it_is(given_text):
    once = text.normalise(given_text)
    assert text.normalise(once) == once
    assert "  " not in once


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the task runs the tests", "The task: runs, the TESTS."),
        ("run `pytest`", "run pytest"),
        ("don't", "dont"),
        ("pre-commit hooks", "pre commit\u00a0hooks"),
        ("caf\u00e9", "cafe\u0301"),
        ("\uff21\uff30\uff29", "api"),
        ("Straße", "STRASSE"),
        ("a\u200bb\u202e", "ab"),
    ],
)
def test_these_are_one_condition(one, other):
    assert text.canonical(one) == text.canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("运行测试", "运行部署"),
        ("запуск тестов", "запуск сборки"),
        ("شغّل الاختبارات", "انشر الخدمة"),
        ("C++ code", "C code"),
        ("C# code", "C code"),
        ("cafe", "café"),
        ("🚀", "🐛"),
        ("test 1", "test 2"),
    ],
)
def test_these_are_different_conditions(one, other):
    assert text.canonical(one) != text.canonical(other)


@given(given_text=ANY_TEXT)
def test_a_canonical_text_is_canonical(given_text):
    once = text.canonical(given_text)
    assert text.canonical(once) == once


@pytest.mark.parametrize(
    ("given_text", "cleaned"),
    [
        ("a\r\nb\u2028c\u2029d\x85e\x0bf\x0cg\x1ch", "a b c d e f g h"),
        ("\x1b[31mred\x1b[0m \x1b[1;2Htext", "red text"),
        ("\x1b]0;title\x07 x", "]0;title x"),
        ("a\u202ecod\u202c \u2066x\u2069", "acod x"),
        ("a\u200bb\u200cc\u200dd\ufeffe\u00adf\u2060g", "abcdefg"),
        ("x\U000e0041\U000e0042\ufe01\U000e0101y\u3164z", "xyz"),
        ("\ud800a\udfff", "a"),
        ("a \u200b b", "a b"),
        ("\x00\x07\x7f\x9f", ""),
        ("  ordinary — text, 中文 é ", "ordinary — text, 中文 é"),
    ],
)
def test_a_line_is_cleaned(given_text, cleaned):
    assert text.clean_line(given_text) == cleaned


def test_a_visible_line_keeps_its_blanks():
    assert text.visible("  a  \u202eb\u200b\x1b[31mc\x07  ") == "  a  bc  "


@given(given_text=ANY_TEXT)
def test_a_clean_line_is_one_line_and_stays_clean(given_text):
    once = text.clean_line(given_text)
    assert text.clean_line(once) == once
    assert text.hostile_characters(once) == []
    assert len(once.splitlines()) <= 1
    assert once == once.strip()
    once.encode("utf-8")


@pytest.mark.parametrize(
    ("given_text", "named"),
    [
        ("a\u202eb\u202ec", ["U+202E RIGHT-TO-LEFT OVERRIDE"]),
        ("\x1b[0m\u200b", ["U+001B control character", "U+200B ZERO WIDTH SPACE"]),
        ("a\u2028b\x85", ["U+2028 LINE SEPARATOR", "U+0085 control character"]),
        ("a\u200db", ["U+200D ZERO WIDTH JOINER"]),
        ("\ud800", ["U+D800 surrogate"]),
        ("👍\ufe0f\ufe01", ["U+FE01 VARIATION SELECTOR-2"]),
        ("\ufe0f", ["U+FE0F VARIATION SELECTOR-16"]),
        ("\U000e0041", ["U+E0041 TAG LATIN CAPITAL LETTER A"]),
    ],
)
def test_hidden_characters_are_named(given_text, named):
    assert text.hostile_characters(given_text) == named


@pytest.mark.parametrize(
    "given_text",
    [
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "क्\u200dष",
        "👩\u200d💻 and 🏳\ufe0f\u200d🌈",
        "⚠\ufe0f 1\ufe0f\u20e3",
        "tabs\tand\nlines\r\n",
        "中文 é — “quoted”",
    ],
)
def test_what_a_script_needs_is_not_hostile(given_text):
    assert text.hostile_characters(given_text) == []
