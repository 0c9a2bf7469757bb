from __future__ import annotations

import json
import os
import shutil
from typing import Any

import pytest

from rose import layout
from rose.errors import NoStore
from rose.routing import compile as compiling
from rose.routing import compiled
from rose.routing import survey as surveys
from tests.routing.samples import a_home, a_rule, a_store, ground, put, record, stores_of, write


def _compile(*stores: Any, **settings):
    project = next((s for s in stores if s.kind == "project"), None)
    home = next((s for s in stores if s.kind == "home"), None)
    grounds = [ground(store, **(settings if at == 0 else {})) for at, store in enumerate(stores)]
    return compiling.compile_layer(stores_of(project, home), grounds, exact=False)


def test_what_is_written_is_what_the_hook_reads(tmp_path):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"))
    layer = _compile(store)
    read = compiled.read(store.layer)
    assert read is not None
    assert json.loads(str(read["encoded"])) == read["block"] == layer["block"]
    assert (read["rules"], read["stores"]) == (["r_0000aa"], [store.dot])
    assert read["exists"] == [f"{store.base}/nodes/testing/db.md"]
    assert (layer["written"], layer["reason"]) == (True, "")
    assert not compiled.is_stale(read, stores_of(store, None))


def test_the_block_is_kept_under_its_digest(tmp_path):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"))
    layer = _compile(store)
    with open(f"{store.blocks}/{layer['digest']}.txt", encoding="utf-8") as file:
        assert file.read() == layer["block"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "off"),
        ({"recall_serve": "pointers"}, "pointers"),
        ({"recall_serve": "bodies", "recall_max_tokens": 0}, "off"),
        ({"recall_serve": "bodies", "routing_enabled": False}, "off"),
    ],
)
def test_the_layer_says_whether_a_prompt_gets_more(tmp_path, settings, said):
    store = a_store(tmp_path)
    _compile(store, **settings)
    assert (compiled.read(store.layer) or {})["recall"] == said


def test_an_empty_layer_is_written_too(tmp_path):
    store = a_store(tmp_path)
    assert _compile(store)["block"] == ""
    read = compiled.read(store.layer)
    assert read is not None
    assert (read["encoded"], read["rules"]) == ('""', [])


def _change_rule(store):
    put(store, a_rule("r_0000aa", when="another kind"))


def _edit_in_place(store):
    with open(f"{store.routing}/r_0000aa.md", "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"#")


def _mend_the_broken(store):
    with open(f"{store.routing}/r_0000bb.md", "ab") as file:
        file.write(b"---\nwhen: x\nthen: y\n---\n")


CHANGES = {
    "a rule is rewritten": _change_rule,
    "a rule is edited in place": _edit_in_place,
    "a broken rule is mended in place": _mend_the_broken,
    "a rule is added": lambda store: put(store, a_rule("r_0000cc")),
    "a rule is deleted": lambda store: os.unlink(f"{store.routing}/r_0000aa.md"),
    "a setting is made": lambda store: write(store.config, "routing: {max_tokens: 9}\n"),
    "a ledger comes": lambda store: record(store, {"session": "s", "n": 1}),
    "the lesson goes": lambda store: os.unlink(f"{store.base}/nodes/testing/db.md"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_change_makes_the_layer_stale(tmp_path, change):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"))
    write(f"{store.routing}/r_0000bb.md", "")
    _compile(store)
    before = compiled.read(store.layer)
    assert before is not None
    assert not compiled.is_stale(before, stores_of(store, None))
    change(store)
    assert compiled.is_stale(before, stores_of(store, None))


def test_beyond_256_rules_only_those_of_the_layer_are_stamped(tmp_path):
    store = a_store(tmp_path)
    put(store, *(a_rule(f"r_{number:06x}") for number in range(300)))
    layer = _compile(store)
    stamped = [path for path, kind, _ in layer["stamps"] if kind == "full"]
    assert stamped == [f"{store.routing}/{rule_id}.md" for rule_id in layer["rules"]]


def test_the_file_does_not_grow_with_the_rules_that_wait(tmp_path):
    store = a_store(tmp_path)
    put(store, *(a_rule(f"r_{number:06x}") for number in range(300)))
    layer = _compile(store)
    assert len(layer["waiting"]) + len(layer["rules"]) == 300
    assert "waiting" not in (compiled.read(store.layer) or {})


def test_the_revision_changes_with_a_rule_and_not_with_the_choice(tmp_path):
    store = a_store(tmp_path)
    put(store, *(a_rule(f"r_{number:06x}") for number in range(9)))
    first = _compile(store)
    fewer = _compile(store, routing_max_tokens=300)
    assert fewer["digest"] != first["digest"]
    assert fewer["revision"] == first["revision"]
    put(store, a_rule("r_000003", when="another kind"))
    assert _compile(store)["revision"] != first["revision"]


def test_credit_alone_changes_no_byte_of_the_block(tmp_path):
    """Text that changes with every session would break the hosts' prompt cache."""
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"), a_rule("r_0000bb"))
    first = _compile(store)
    record(store, {"session": "s", "n": 1, "rules": {"r_0000bb": "followed-useful"}})
    again = _compile(store)
    assert (again["block"], again["revision"]) == (first["block"], first["revision"])


def test_a_home_store_is_stamped_and_named(tmp_path):
    project, home = a_store(tmp_path), a_home(tmp_path)
    put(home, a_rule("r_0000bb", when="style", then="read nodes/style.md", targets=()))
    layer = _compile(project, home)
    assert layer["stores"] == [project.dot, home.dot]
    assert layer["rules"] == ["r_0000bb"]
    assert compiled.read(project.layer) is not None
    assert compiled.read(home.layer) is None
    put(home, a_rule("r_0000cc"))
    assert compiled.is_stale(layer, stores_of(project, home))


def test_a_rule_that_leads_to_archived_lessons_waits(tmp_path):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"))
    write(f"{store.base}/nodes/testing/db.md", "---\nstatus: archived\n---\n")
    layer = _compile(store)
    assert layer["waiting"] == {"r_0000aa": "targets gone: nodes/testing/"}


def test_a_disk_that_refuses_is_said_and_the_layer_still_comes(tmp_path):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"))
    write(store.local, "a file in place of the folder")
    layer = _compile(store)
    assert layer["written"] is False
    assert "not written" in str(layer["reason"])
    assert "r_0000aa" in layer["rules"]


def test_a_folder_whose_name_is_no_text_has_a_layer(tmp_path):
    store = a_store(tmp_path / "caf\udce9")
    put(store, a_rule("r_0000aa"))
    layer = _compile(store)
    assert layer["written"] is True
    assert str(layer["block"]).encode("utf-8")
    assert compiled.fresh(stores_of(store, None)) is not None


def test_without_a_store_there_is_nothing_to_compile():
    with pytest.raises(NoStore):
        _compile()


def test_a_copied_project_does_not_get_the_layer_of_the_other(tmp_path):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"))
    _compile(store)
    twin = layout.project_store(store.base + "-copy")
    shutil.copytree(store.base, twin.base)
    assert compiled.fresh(stores_of(store, None)) is not None
    assert compiled.fresh(stores_of(twin, None)) is None


def test_a_home_store_that_comes_later_makes_the_layer_stale(tmp_path):
    store = a_store(tmp_path)
    _compile(store)
    assert compiled.fresh(stores_of(store, a_home(tmp_path))) is None


@pytest.mark.parametrize(
    "change",
    [
        {"encoded": "garbage"},
        {"encoded": '"another block"'},
        {"encoded": '"another block"', "block": "another block"},
        {"stamps": []},
        {"block": "x" * 10_001, "encoded": json.dumps("x" * 10_001)},
        {"rules": None},
        {"v": 0},
    ],
    ids=["no literal", "another", "edited", "no stamps", "too long", "no rules", "version"],
)
def test_a_layer_that_is_not_what_was_compiled_is_not_printed(tmp_path, change):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"))
    _compile(store)
    layer = compiled.read(store.layer)
    assert layer is not None
    write(store.layer, json.dumps({**layer, **change}))
    assert compiled.read(store.layer) is None


def test_too_many_new_rules_are_read_in_steps(tmp_path, monkeypatch):
    monkeypatch.setattr(surveys, "MOST_NEW", 3)
    store = a_store(tmp_path)
    put(store, *(a_rule(f"r_{number:06x}", when=f"kind {number}") for number in range(7)))
    steps = []
    for _ in range(3):
        layer = _compile(store)
        is_fresh = compiled.fresh(stores_of(store, None)) is not None
        steps.append((len(layer["rules"]), layer["unread"], is_fresh))
    assert steps == [(3, 4, False), (6, 1, False), (7, 0, True)]
