from __future__ import annotations

import pytest

from rose import derived


def test_what_is_saved_is_loaded(tmp_path):
    path = str(tmp_path / "local" / "a.json")
    assert derived.save(path, {"a": [1, "\ud800"], "b": {}}) == ""
    assert derived.load(path) == {"a": [1, "\ud800"], "b": {}}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda raw: raw[:-1],
        lambda raw: raw.replace(b"1", b"2"),
        lambda raw: raw.partition(b"\n")[2],
        lambda _: b"",
        lambda _: b"rose 3 \xff\n{}",
    ],
    ids=["cut", "edited", "no digest", "empty", "garbage"],
)
def test_a_damaged_cache_is_no_cache(tmp_path, spoil):
    path = tmp_path / "a.json"
    derived.save(str(path), {"cost": 1})
    path.write_bytes(spoil(path.read_bytes()))
    assert derived.load(str(path)) == {}


def test_a_disk_that_refuses_is_a_reason(tmp_path):
    (tmp_path / "local").write_text("a file in place of the folder")
    assert "not written" in derived.save(str(tmp_path / "local" / "a.json"), {})
