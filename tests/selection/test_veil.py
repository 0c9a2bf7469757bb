"""The veil: what of a lesson a tool may show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rose import redact
from rose.selection import veil
from rose.selection.windows import Window

KEY = "AKIA" + "IOSFODNN7" + "QWERTYU"
BLOCK = "\n".join(["-----BEGIN PRIVATE KEY-----", *["MIIEvQIBADANBgkqhkiG9w0" * 2] * 6])
BLOCK += "\n-----END PRIVATE KEY-----"


def test_a_secret_is_replaced_and_the_rest_stays_as_it_is():
    text = f"# Keys\n\n\tUse {KEY} here.\n"
    assert veil.Veil(text).part(0, len(text)) == "# Keys\n\n\tUse [redacted:aws-key] here.\n"


@pytest.mark.parametrize("at", [0, 30, 60, 200])
def test_a_part_that_begins_within_a_secret_shows_nothing_of_it(at):
    text = f"before\n{BLOCK}\nafter"
    start = len("before\n") + at
    shown = veil.Veil(text).part(start, len(text))
    assert shown.endswith("]\nafter")
    assert "MIIE" not in shown


def test_hidden_characters_are_taken_out_and_hide_no_secret():
    text = f"a\u202eb\u200bc\x1b[31md\x07\r\n{KEY[:8]}\u200b{KEY[8:]}\n"
    assert veil.Veil(text).part(0, len(text)) == "abcd\n[redacted:aws-key]\n"


def test_a_window_keeps_its_offsets_and_loses_what_may_not_be_shown():
    text = f"one\n\n  {KEY}\u200b two"
    shown = veil.Veil(text).window(Window(0, len(text), "whatever"))
    assert shown == Window(0, len(text), "one [redacted:aws-key] two")


def test_every_text_of_a_value_is_looked_at():
    value = {"a": [KEY, 1, None, {"b": f"x\u200b{KEY}"}], "c": True}
    mark = "[redacted:aws-key]"
    assert veil.anything(value) == {"a": [mark, 1, None, {"b": f"x{mark}"}], "c": True}


@given(
    text=st.lists(st.sampled_from([*"ab \n\t", KEY, "\u200b"]), max_size=12).map("".join),
    data=st.data(),
)
def test_no_part_of_any_text_holds_a_secret(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    shown = veil.Veil(text).part(start, end)
    assert not redact.holds_secret(shown)
    assert "\u200b" not in shown
