from __future__ import annotations

import os

import pytest

from rose import files, layout, trust
from tests.factories import a_store


def test_a_store_is_trusted_once_it_was_added_and_until_it_is_removed(tmp_path):
    store = a_store(tmp_path)
    assert not trust.is_trusted(store, os.environ)
    assert trust.add(store, os.environ)
    assert not trust.add(store, os.environ)
    assert trust.is_trusted(store, os.environ)
    assert trust.remove(store, os.environ)
    assert not trust.remove(store, os.environ)
    assert not trust.is_trusted(store, os.environ)


def test_trust_in_one_store_says_nothing_of_another(tmp_path):
    trust.add(a_store(tmp_path, "mine"), os.environ)
    assert not trust.is_trusted(a_store(tmp_path, "cloned"), os.environ)


def test_trust_is_remembered_outside_the_repository(tmp_path):
    store = a_store(tmp_path)
    trust.add(store, os.environ)
    found = [
        os.path.join(folder, name) for folder, _, names in os.walk(store.base) for name in names
    ]
    assert found == []
    assert os.path.isfile(os.path.join(os.environ["HOME"], ".local/state/rose/trusted.json"))


def test_the_state_folder_may_be_named(tmp_path):
    store = a_store(tmp_path)
    environ = {"HOME": os.environ["HOME"], "XDG_STATE_HOME": str(tmp_path / "state")}
    trust.add(store, environ)
    assert trust.is_trusted(store, environ)
    assert not trust.is_trusted(store, os.environ)


def test_the_home_store_is_the_person_s_own():
    home = layout.home_store(os.environ)
    assert home is not None
    assert trust.is_trusted(home, os.environ)


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "relative"}, {"HOME": "/dev/null"}])
def test_without_a_home_nothing_is_asked(tmp_path, environ):
    assert trust.is_trusted(a_store(tmp_path), environ)
    assert not trust.add(a_store(tmp_path, "other"), environ)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"v":1,"stores":"x"}', '{"v":1,"stores":[1]}'])
def test_a_spoilt_memory_trusts_nothing_and_is_written_anew(tmp_path, text):
    store = a_store(tmp_path)
    files.replace(os.path.join(os.environ["HOME"], ".local/state/rose/trusted.json"), text)
    assert not trust.is_trusted(store, os.environ)
    assert trust.add(store, os.environ)
    assert trust.is_trusted(store, os.environ)
