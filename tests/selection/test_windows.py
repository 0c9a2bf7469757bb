"""The window chooser against a slow one that tries every span."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rose import text as texts
from rose.selection import windows

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

PIECES = st.sampled_from(
    (
        *("ci", "db", "max_tokens", "maxTokens", "__init__", "category", "cat", "Straße", "İİ"),
        *("404", "运行测试", "测", "か\u3099んは", "हिन्दी", "cafe\u0301", "a/b-ci", "of", "db" * 9),
        "filler",
    )
)
GAPS = st.sampled_from([" ", "  ", "\n\n", "\t", ", ", "-", "/", " ⚠\ufe0f "])
QUERY = "max_tokens ci db cat STRASSE ii̇ 404 运行测试 がん हिन्दी café dbdbdbdbdbdbdbdbdb init"
TERMS = frozenset(texts.words(QUERY))


@st.composite
def some_text(draw):
    return "".join(draw(st.lists(st.one_of(PIECES, GAPS), max_size=40)))


def places(text, width):
    """Return each term with the span that must lie in a window for the term to count."""
    found = []
    for token, start, end in texts.spans(text):
        if token not in TERMS:
            continue
        low, high = start, end
        while texts.is_inside_word(text, low):
            low -= 1
        while texts.is_inside_word(text, high):
            high += 1
        fits = high - low <= width
        found.append((token, low, high) if fits else (token, start, min(end, start + width)))
    return found


def covered(found, start, end):
    return {term for term, low, high in found if start <= low and high <= end}


def inside_a_short_word(text, at, width):
    if not texts.is_inside_word(text, at):
        return False
    low = high = at
    while texts.is_inside_word(text, low):
        low -= 1
    while texts.is_inside_word(text, high):
        high += 1
    return high - low <= width


@settings(max_examples=500)
@given(text=some_text(), width=st.integers(1, 60))
def test_no_span_of_the_width_holds_more_terms_and_the_earliest_of_the_best_is_shown(text, width):
    found = places(text, width)
    chosen = windows.choose(text, TERMS, width)
    ends = range(len(text) + 1)
    counts = [len(covered(found, end - width, end)) for end in ends]
    most = max(counts)
    assert bool(chosen) == bool(most)
    if not chosen:
        return
    [window] = chosen
    assert len(covered(found, window.start, window.end)) == most
    end = counts.index(most)
    starts = [s for s in range(end) if len(covered(found, s, end)) == most]
    assert window.start <= max(starts)
    assert end <= window.end


@settings(max_examples=500)
@given(text=some_text(), width=st.integers(1, 60), count=st.integers(1, 5))
def test_windows_are_narrow_apart_in_order_and_cut_no_word(text, width, count):
    chosen = windows.choose(text, TERMS, width, count)
    assert len(chosen) <= count
    assert all(0 < window.end - window.start <= width for window in chosen)
    assert all(one.end <= two.start for one, two in itertools.pairwise(chosen))
    edges = [edge for window in chosen for edge in (window.start, window.end)]
    assert not any(inside_a_short_word(text, edge, width) for edge in edges)
    assert all(w.text == " ".join(text[w.start : w.end].split()) != "" for w in chosen)
    assert all(covered(places(text, width), w.start, w.end) for w in chosen)


@settings(max_examples=500)
@given(text=some_text(), width=st.integers(1, 60))
def test_a_window_is_as_wide_as_whole_words_let_it_be(text, width):
    for window in windows.choose(text, TERMS, width):
        before, after = text[: window.start].rstrip(), text[window.end :]
        word_before = len(before) - len(before.rsplit(maxsplit=1)[-1]) if before else 0
        word_after = window.end + len(after) - len(after.lstrip())
        word_after += len(after.split(maxsplit=1)[0]) if after.split() else 0
        assert not before or window.end - word_before > width
        assert not after.strip() or word_after - window.start > width


@settings(max_examples=500)
@given(text=some_text(), width=st.integers(1, 60), count=st.integers(1, 5))
def test_a_further_window_is_the_best_of_what_is_left(text, width, count):
    found = places(text, width)
    fewer = windows.choose(text, TERMS, width, count)
    more = windows.choose(text, TERMS, width, count + 1)
    assert set(fewer) <= set(more)
    left = [window for window in more if window not in fewer]
    free = [
        place for place in found if all(place[2] <= w.start or place[1] >= w.end for w in fewer)
    ]
    gaps = [0, *(edge for w in fewer for edge in (w.start, w.end)), len(text)]
    best = max(
        len(covered(free, max(low, end - width), end))
        for low, high in zip(gaps[::2], gaps[1::2], strict=True)
        for end in range(low, high + 1)
    )
    reached = [len(covered(found, window.start, window.end)) for window in left]
    assert reached == ([best] if best and len(fewer) == count else [])


@pytest.mark.parametrize(
    ("text", "query", "width", "shown"),
    [
        ("alpha 123456 omega", "alpha omega", 18, "alpha 123456 omega"),
        ("x alpha 123456 omega", "alpha omega", 18, "alpha 123456 omega"),
        ("alpha 1234567 omega", "alpha omega", 18, "alpha 1234567"),
        ("the category of a cat sits", "cat", 9, "of a cat"),
        ("run ci\n\n  and   the db", "ci db", 50, "run ci and the db"),
        ("İİİİİİİİ so long STRASSE", "straße", 8, "STRASSE"),
        ("first hit and later a second hit", "hit", 9, "first hit"),
        ("words that lead up to the hit", "hit", 12, "to the hit"),
        ("see max_tokens here", "tokens", 10, "max_tokens"),
        ("see max_tokens here", "tokens", 6, "tokens"),
        ("这是一个运行测试的例子", "测试", 6, "运行测试的例"),
        ("in src/db.py and src/ci.py now", "ci", 12, "src/ci.py"),
    ],
)
def test_a_query_shows_this_window(text, query, width, shown):
    [window] = windows.choose(text, texts.words(query), width)
    assert window.text == shown


def test_offsets_are_those_of_the_original_text():
    text = "İ" * 30 + " then the Straße is closed"
    [window] = windows.choose(text, ["strasse"], 20)
    assert text[window.start : window.end] == "then the Straße is"


def test_a_word_longer_than_the_width_is_cut_around_its_part():
    text = "x" * 300 + "_token_" + "y" * 300
    [window] = windows.choose(text, ["token"], 20)
    assert "token" in window.text
    assert window.end - window.start == 20


def test_a_term_longer_than_the_width_shows_its_beginning():
    assert windows.choose("so abcdefghij it is", ["abcdefghij"], 4) == [(3, 7, "abcd")]


def test_two_windows_come_in_order_of_the_text():
    text = "alpha is here. " + "filler " * 20 + "alpha and omega are there."
    shown = [window.text for window in windows.choose(text, ["alpha", "omega"], 30, 2)]
    assert [word in part for part, word in zip(shown, ["alpha is", "omega"], strict=True)] == [
        True,
        True,
    ]


@settings(max_examples=500)
@given(text=some_text(), places=st.tuples(st.integers(0, 200), st.integers(0, 200)))
def test_the_window_around_a_span_holds_it_and_no_part_of_a_word_beside_it(text, places):
    start, end = sorted(min(place, len(text)) for place in places)
    width = end - start + 20
    window = windows.around(text, start, end, width)
    assert window.start <= start
    assert end <= window.end
    assert window.end - window.start <= width
    for edge in {window.start, window.end} - {start, end}:
        assert not inside_a_short_word(text, edge, 10)


def test_the_head_is_the_beginning_in_whole_words():
    assert windows.head("\n\n# A title\n\nand text", 12) == (2, 11, "# A title")
    assert windows.head("abcdefgh", 3).text == "abc"
    assert windows.head("short", 50).text == "short"
    assert windows.head("  ", 5).text == ""


def test_a_text_without_a_term_has_no_window():
    assert windows.choose("nothing here", ["alpha"], 50) == []
    assert windows.choose("nothing here", [], 50) == []
    assert windows.choose("", ["alpha"], 50) == []


@pytest.mark.parametrize(
    "unit", ["alpha omega ", "AlphaOmega", "alpha_", "运行", "alpha\u0301 ", "/alpha"]
)
def test_a_long_text_full_of_hits_is_chosen_from(unit):
    text = unit * ((1 << 17) // len(unit))
    terms = texts.words("alpha omega 运行 alpha\u0301")
    chosen = windows.choose(text, terms, 500, 3)
    assert len(chosen) == 3
    assert all(450 < window.end - window.start <= 500 for window in chosen)


def test_windows_are_the_same_under_any_hash_seed():
    program = (
        "from rose.selection import windows; from rose import text;"
        "t = ('alpha beta gamma 运行测试 max_tokens ' * 9 + 'filler ' * 30) * 5;"
        "print(ascii([windows.choose(t, set(text.words(q)), w, 3)"
        " for q in ('gamma max_tokens alpha', '测试 tokens beta') for w in (20, 60, 200)]))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": ROOT},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("0", "1", "2", "3", "4", "5")
    }
    assert len(printed) == 1
