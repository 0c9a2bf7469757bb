"""Which rules lead to a lesson, and why one that does is not in the layer."""

from __future__ import annotations

from rose import files, layout
from rose.report import leads, sources
from tests.factories import a_lesson_file, a_rule_file, a_store


def found(tmp_path, prompt="", home=False):
    store = a_store(tmp_path)
    a_lesson_file(store, "nodes/testing/db.md")
    a_lesson_file(store, "nodes/docs/links.md")
    tests = {"when": "the task runs the integration tests", "then": "read nodes/testing/"}
    a_rule_file(store, id="r_0000aa", targets=["nodes/testing/"], **tests)
    a_rule_file(
        store,
        id="r_0000bb",
        status="retired",
        targets=["nodes/**/db.md"],
        when="the task runs pytest",
        then="read nodes/**/db.md",
        match=["word:database"],
    )
    a_rule_file(
        store,
        id="r_0000cc",
        effect="skip",
        targets=["nodes/testing/db.md"],
        when="the task is a docs change",
        then="nothing in nodes/testing/db.md applies",
    )
    a_rule_file(
        store, id="r_0000dd", when="x is y", then="read nodes/docs/", targets=["nodes/docs/"]
    )
    read = sources.read(layout.Stores(store, None, "test"))
    [lesson] = [one for one in read.first.shelf.lessons if one.id == "testing/db"]
    return {one.place.rule.id: one for one in leads.leads(read, lesson, prompt)}


def test_each_rule_that_leads_there_is_named_with_its_place(tmp_path):
    ways = found(tmp_path)
    assert sorted(ways) == ["r_0000aa", "r_0000bb", "r_0000cc"]
    assert {name: one.target for name, one in ways.items()} == {
        "r_0000aa": "nodes/testing/",
        "r_0000bb": "nodes/**/db.md",
        "r_0000cc": "nodes/testing/db.md",
    }
    assert ways["r_0000aa"].said == ways["r_0000cc"].said == ""
    assert ways["r_0000bb"].said.startswith("retired: rose route --restore r_0000bb")
    assert ways["r_0000cc"].as_json()["effect"] == "skip"


def test_how_far_a_prompt_meets_each_condition_is_told(tmp_path):
    ways = found(tmp_path, "the integration tests need the database")
    assert {name: one.met for name, one in ways.items()} == {
        "r_0000aa": 0.6667,
        "r_0000bb": 1.0,
        "r_0000cc": 0.0,
    }


def test_without_a_prompt_nobody_says_how_far(tmp_path):
    assert {one.met for one in found(tmp_path).values()} == {None}


def test_a_layer_that_is_off_is_the_reason(tmp_path):
    store = a_store(tmp_path)
    files.replace(store.config, "routing.enabled: false\n")
    a_lesson_file(store, "nodes/testing/db.md")
    a_rule_file(store, targets=["nodes/testing/"])
    read = sources.read(layout.Stores(store, None, "test"))
    [way] = leads.leads(read, read.first.shelf.lessons[0])
    assert "routing is off" in way.said


def test_a_rule_of_the_home_store_leads_to_no_lesson_of_the_project(tmp_path):
    store = a_store(tmp_path)
    a_lesson_file(store, "nodes/testing/db.md")
    home = layout.Store(str(tmp_path / "own"), str(tmp_path / "own"), "home")
    a_lesson_file(home, "nodes/testing/db.md")
    a_rule_file(home, targets=["nodes/testing/"])
    read = sources.read(layout.Stores(store, home, "test"))
    assert leads.leads(read, read.each[0].shelf.lessons[0]) == []
    assert len(leads.leads(read, read.each[1].shelf.lessons[0])) == 1
