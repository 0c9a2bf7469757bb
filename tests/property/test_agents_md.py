"""A file of another's making, with any line ends: what goes in comes out again."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from rose.hosts import agents_md

parts = st.sampled_from(["\n", "\r\n", "\r", "# Mine", "- a", " ", "\ufeff", "\x0c", "é", "```"])
texts = st.lists(parts, max_size=12).map("".join)


@given(text=texts)
@example("")
@example("\n")
@example("a\r")
@example("a\r\n")
@example("a\n\n")
def test_an_uninstall_gives_back_the_text_whatever_its_end(text):
    assert agents_md.without(agents_md.added(text)) == text


@given(text=texts)
def test_three_installs_leave_what_one_leaves(text):
    once = agents_md.added(text)
    assert agents_md.added(agents_md.added(once)) == once
    assert once.count(agents_md.BEGIN) == 1


@given(text=texts)
def test_an_install_adds_and_never_changes(text):
    assert agents_md.added(text).startswith(text)


@given(text=texts)
def test_a_text_without_the_block_is_left(text):
    assert agents_md.without(text) == text
