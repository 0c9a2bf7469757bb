from __future__ import annotations

import os

import pytest

from rose import files, layout, trust
from rose.errors import RoseError
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


@pytest.mark.parametrize("text", ["", "{", "[]", '{"v":1,"stores":"x"}', '{"v":2,"stores":[]}'])
def test_a_spoilt_memory_trusts_nothing_and_is_left_for_its_owner_to_mend(tmp_path, text):
    store = a_store(tmp_path)
    path = os.path.join(os.environ["HOME"], ".local/state/rose/trusted.json")
    files.replace(path, text)
    assert not trust.is_trusted(store, os.environ)
    with pytest.raises(RoseError, match=r"trusted\.json"):
        trust.add(store, os.environ)
    assert files.read_text(path) == text


def test_trust_holds_for_what_lies_there_and_not_for_the_name(tmp_path):
    store, evil = a_store(tmp_path), a_store(tmp_path, "evil")
    trust.add(store, os.environ)
    os.rename(store.dot, store.dot + "-aside")
    os.symlink(evil.dot, store.dot)
    assert not trust.is_trusted(store, os.environ)


def test_the_state_folder_may_be_a_link_into_the_person_s_own_files(tmp_path):
    store = a_store(tmp_path)
    (tmp_path / "dotfiles").mkdir()
    state = tmp_path / "home" / ".local" / "state"
    state.mkdir(parents=True)
    (state / "rose").symlink_to(tmp_path / "dotfiles")
    assert trust.add(store, os.environ)
    assert trust.is_trusted(store, os.environ)
    assert (tmp_path / "dotfiles" / "trusted.json").is_file()
