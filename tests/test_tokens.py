"""Tokens are counted exactly and offline, or charged in bytes and said to be."""

from __future__ import annotations

import base64
import hashlib
import lzma
import os
import socket
import sys

import pytest
import tiktoken_ext.openai_public
from hypothesis import given, settings
from hypothesis import strategies as st

from rose import tokens

ANY_TEXT = st.text(st.characters(), max_size=60)
PIECES = st.sampled_from(
    [
        "- When the task",
        " read nodes/api/",
        "pytest",
        " ",
        "…",
        ")",
        "('",
        "'s",
        "中文",
        "👩‍💻",
        "é",
        "//",
        "1234",
    ]
)
LINE = st.one_of(
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=40),
    st.lists(PIECES, max_size=8).map("".join),
).filter(lambda line: line.strip() and not line[0].isspace() and line[0] != "/")


@given(st.one_of(ANY_TEXT, LINE))
@settings(max_examples=500)
def test_what_the_parts_of_a_text_cost_adds_up(text):
    found = tokens.parts(text)
    assert "".join(found) == text
    assert sum(map(tokens.count, found)) == tokens.count(text)


@pytest.fixture
def fresh_vocabulary():
    tokens._vocabulary.cache_clear()
    yield
    tokens._vocabulary.cache_clear()


@pytest.fixture
def no_vocabulary(monkeypatch, tmp_path):
    monkeypatch.setattr(tokens, "PACKED", str(tmp_path / "missing.xz"))


@pytest.fixture
def registered(monkeypatch):
    """Return what tiktoken registers for o200k_base, without loading its vocabulary."""
    asked = {}

    def load(url, expected_hash=None):
        asked["sha256"] = expected_hash
        return {}

    monkeypatch.setattr(tiktoken_ext.openai_public, "load_tiktoken_bpe", load)
    return {**tiktoken_ext.openai_public.o200k_base(), **asked}


def as_tiktoken_file() -> bytes:
    with open(tokens.PACKED, "rb") as file:
        ranks = tokens._ranks(lzma.decompress(file.read()))
    return b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for token, rank in ranks.items())


def test_the_pattern_is_the_one_that_tiktoken_registers(registered):
    assert registered["pat_str"] == tokens.PATTERN


def test_the_packed_vocabulary_gives_back_the_file_that_tiktoken_pins(registered):
    assert hashlib.sha256(as_tiktoken_file()).hexdigest() == registered["sha256"]


def test_known_counts_of_o200k_base():
    assert tokens.count("hello world") == 2
    assert tokens.count("") == 0
    assert tokens.counter() == tokens.Counter("o200k_base", "")


def test_the_first_count_opens_no_socket_and_writes_no_file(
    monkeypatch, tmp_path, fresh_vocabulary
):
    # A call of None raises.
    monkeypatch.setattr(socket, "socket", None)
    empty = tmp_path / "empty"
    empty.mkdir()
    for name in ("HOME", "TMPDIR", "TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        monkeypatch.setenv(name, str(empty))
    assert tokens.count("hello world") == 2
    assert os.listdir(empty) == []


def test_a_switched_off_tiktoken_cache_does_not_matter(monkeypatch, fresh_vocabulary):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    assert tokens.counter().name == "o200k_base"
    assert os.environ["TIKTOKEN_CACHE_DIR"] == ""


@settings(deadline=None, max_examples=300)
@given(lines=st.lists(LINE, min_size=1, max_size=8))
def test_lines_with_their_line_feeds_add_up_to_the_block(lines):
    *first, last = lines
    costs = tokens.count_lines(first, {}, exact=True).costs
    final = tokens.count_lines([last], {}, exact=True, ending="").costs
    assert sum(costs[line] for line in first) + final[last] == tokens.count("\n".join(lines))


@settings(deadline=None)
@given(text=ANY_TEXT)
def test_bytes_are_never_below_the_true_count(text):
    charged = tokens.count_lines([text], {}, exact=False)
    assert charged.costs[text] >= tokens.count(text + "\n")
    assert charged.estimated == {text}


def test_only_unknown_lines_are_charged_in_bytes():
    counts = tokens.count_lines(["known", "né", "known"], {"known": 7, "other": 1}, exact=False)
    assert counts.costs == {"known": 7, "né": 4}
    assert counts.estimated == {"né"}
    assert counts.reason


def test_known_lines_need_no_vocabulary(no_vocabulary):
    counts = tokens.count_lines(["known"], {"known": 7}, exact=True)
    assert counts == tokens.Counts({"known": 7}, frozenset(), "")


def test_a_cost_includes_the_line_feed():
    assert tokens.count_lines(["abc"], {}, exact=True).costs == {"abc": tokens.count("abc\n")}


@pytest.mark.parametrize("text", ["<|endoftext|>", "a <|endofprompt|> b"])
def test_special_tokens_in_a_text_are_ordinary_text(text):
    assert tokens.count(text) > 3


@pytest.mark.parametrize("text", ["\ud800", "a\udfff b", "\ud83d\ude00"])
def test_surrogates_are_counted(text):
    counts = tokens.count_lines([text], {}, exact=True)
    assert counts.estimated == frozenset()
    assert 0 < counts.costs[text] <= len(text.encode("utf-8", "surrogatepass")) + 1


def test_a_text_that_tiktoken_cannot_read_is_charged_in_bytes():
    blanks = " " * 1_000_000 + "x"
    counts = tokens.count_lines([blanks], {}, exact=True)
    assert counts.costs == {blanks: 1_000_002}
    assert counts.estimated == {blanks}
    assert counts.reason.startswith("tiktoken could not read a text: ")
    assert tokens.count(blanks) == 1_000_001


def test_without_the_vocabulary_bytes_are_charged_and_the_reason_is_said(no_vocabulary):
    assert tokens.count("né") == 3
    assert tokens.counter().name == "bytes"
    assert "missing.xz" in tokens.counter().reason
    counts = tokens.count_lines(["né"], {}, exact=True)
    assert counts.estimated == {"né"}
    assert "missing.xz" in counts.reason


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "cannot be read"),
        (b"no xz at all", "cannot be read"),
        (lzma.compress(b"\x01a\x01b"), "not the one"),
        (lzma.compress(b"\x01a" * 1000)[:-20], "cannot be read"),
    ],
)
def test_a_damaged_vocabulary_is_not_used(monkeypatch, tmp_path, content, reason):
    packed = tmp_path / "damaged.xz"
    packed.write_bytes(content)
    monkeypatch.setattr(tokens, "PACKED", str(packed))
    assert tokens.count("word") == 4
    assert reason in tokens.counter().reason


def test_without_tiktoken_bytes_are_charged(monkeypatch, fresh_vocabulary):
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    assert tokens.count("word") == 4
    assert tokens.counter().reason.startswith("tiktoken cannot be imported")
