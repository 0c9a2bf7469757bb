"""Rows: what one session was credited with is not credited to its copy."""

from __future__ import annotations

from rose.reflection import rows
from tests import factories


def test_only_rows_of_other_sessions_are_credited_elsewhere(tmp_path):
    store = factories.a_store(tmp_path)
    rows.write(store, "one", ["a", "b"])
    assert rows.credited_elsewhere(store, "two", ["b", "c"]) == {"b"}
    assert rows.credited_elsewhere(store, "one", ["a", "b"]) == frozenset()


def test_what_was_taken_back_is_credited_no_longer(tmp_path):
    store = factories.a_store(tmp_path)
    rows.write(store, "one", ["a"])
    rows.forget(store, "one")
    rows.forget(store, "one")
    assert rows.credited_elsewhere(store, "two", ["a"]) == frozenset()


def test_any_id_survives(tmp_path):
    store = factories.a_store(tmp_path)
    rows.write(store, "one", ["\ud800", "a\nb", "ü"])
    assert rows.credited_elsewhere(store, "two", ["\ud800", "a\nb", "ü"]) == {"\ud800", "ü"}
