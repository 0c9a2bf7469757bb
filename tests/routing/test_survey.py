from __future__ import annotations

import os
import shutil

import pytest

from rose import derived, tokens
from rose.routing import rules
from rose.routing.survey import survey
from tests.routing.samples import a_home, a_rule, a_store, ground, put, record, write


def _waits(found) -> dict[str, str]:
    return {place.rule.id: place.waits for place in found.places}


def test_an_empty_store_has_no_block(tmp_path):
    found = survey([ground(a_store(tmp_path))], exact=False)
    assert (found.block, found.places, found.tokens) == ("", (), 0)


def test_the_block_says_what_it_is_and_where_the_lessons_lie(tmp_path):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000bb", when="docs"), a_rule("r_0000aa", when="tests"))
    found = survey([ground(store)], exact=True)
    assert found.block == (
        "rose routing layer v1: where knowledge lies for the request at hand. "
        "Background from earlier sessions, not instructions; no reply is wanted.\n"
        f"Store: {store.base} (lessons in nodes/, one line each in .rose/index.md)\n"
        "- When tests: read nodes/testing/ before running pytest\n"
        "- When docs: read nodes/testing/ before running pytest"
    )
    assert (found.counter, found.tokens) == (tokens.EXACT, tokens.count(found.block))


def test_every_rule_outside_the_layer_has_its_reason(tmp_path):
    store = a_store(tmp_path)
    put(
        store,
        a_rule("r_000001", when="one"),
        a_rule("r_000002", when="two", status="proposed"),
        a_rule("r_000003", when="three", status="declined"),
        a_rule("r_000004", when="four", status="retired"),
        a_rule("r_000005", when="five", targets=("nodes/gone.md", "nodes/gone/")),
        a_rule("r_000006", when="word " * 300),
        a_rule("r_000007", when="ONE!"),
        a_rule("r_000008", when="eight", then="ask first", targets=()),
        a_rule("r_000009", when="one", effect="skip"),
    )
    write(f"{store.routing}/r_00000a.md", "")
    found = survey([ground(store)], exact=True)
    assert [place.rule.id for place in found.kept()] == ["r_000001", "r_000008", "r_000009"]
    assert found.waiting() == {
        "r_000002": "proposed",
        "r_000003": "declined",
        "r_000004": "retired",
        "r_000005": "targets gone: nodes/gone.md, nodes/gone/",
        "r_000006": "larger than a quarter of the cap",
        "r_000007": "says the same as r_000001",
        "r_00000a": "unreadable",
    }


@pytest.mark.parametrize("settings", [{"routing_enabled": False}, {"routing_max_tokens": 0}])
def test_a_layer_that_is_off_is_empty_and_every_rule_says_so(tmp_path, settings):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"), a_rule("r_0000bb", status="retired"))
    found = survey([ground(store, **settings)], exact=False)
    assert found.block == ""
    assert _waits(found) == {"r_0000aa": "routing is off", "r_0000bb": "retired"}


def test_the_record_decides_who_stays_when_the_cap_binds(tmp_path):
    store = a_store(tmp_path)
    ids = [f"r_{number:06x}" for number in range(1, 31)]
    put(store, *(a_rule(rule_id) for rule_id in ids))
    useless = {"delivered": ids, "rules": dict.fromkeys(ids[:20], "followed-useless")}
    record(store, *({"session": f"s{n}", "n": n, **useless} for n in range(1, 6)))
    found = survey([ground(store, routing_max_tokens=240)], exact=True)
    kept = [place.rule.id for place in found.kept()]
    assert 0 < len(kept) <= 10
    assert set(kept) < set(ids[20:])
    assert found.tokens <= 240
    # The best record comes first in the listing.
    assert found.places[0].standing.wasted == 0


def test_a_home_rule_renders_absolute_paths_under_its_own_heading(tmp_path):
    project, home = a_store(tmp_path), a_home(tmp_path)
    put(project, a_rule("r_0000aa"))
    put(home, a_rule("r_0000bb", when="style", then="read nodes/style.md", targets=()))
    found = survey([ground(project), ground(home)], exact=False)
    lines = found.block.split("\n")
    assert lines[2] == f"Home store: {home.base} (lessons in nodes/, one line each in index.md)"
    assert lines[4] == f"- When style: read {home.base}/nodes/style.md"


def test_a_home_store_without_a_rule_in_the_layer_is_not_named(tmp_path):
    project, home = a_store(tmp_path), a_home(tmp_path)
    put(project, a_rule("r_0000aa"))
    put(home, a_rule("r_0000bb", status="retired"))
    assert "Home store" not in survey([ground(project), ground(home)], exact=False).block


def test_a_home_store_alone_is_the_store(tmp_path):
    home = a_home(tmp_path)
    put(home, a_rule("r_0000bb", when="style", then="read nodes/style.md", targets=()))
    lines = survey([ground(home)], exact=False).block.split("\n")
    assert lines[1].startswith(f"Store: {home.base} ")
    assert len(lines) == 3


def test_each_store_has_its_own_record(tmp_path):
    project, home = a_store(tmp_path), a_home(tmp_path)
    put(project, a_rule("r_0000aa"))
    put(home, a_rule("r_0000bb", when="style", then="read nodes/style.md", targets=()))
    record(home, {"session": "s", "n": 1, "rules": {"r_0000bb": "followed-useful"}})
    places = survey([ground(project), ground(home)], exact=False).places
    assert [(p.rule.id, p.standing.helped) for p in places] == [("r_0000bb", 1), ("r_0000aa", 0)]


def test_a_projects_rule_stands_before_a_home_rule_of_the_same_id(tmp_path):
    project, home = a_store(tmp_path), a_home(tmp_path)
    put(project, a_rule("r_0000aa", when="project"))
    put(home, a_rule("r_0000aa", when="house"))
    assert "house" not in survey([ground(project), ground(home)], exact=False).block


def test_a_rule_that_leads_to_archived_lessons_only_is_not_injected(tmp_path):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"))
    write(f"{store.base}/nodes/testing/db.md", "---\nstatus: archived\n---\n")
    assert _waits(survey([ground(store)], exact=False)) == {
        "r_0000aa": "targets gone: nodes/testing/"
    }


@pytest.mark.parametrize(
    ("path", "then", "waits"),
    [
        ("nodes/upper/A.MD", "read nodes/upper/", ""),
        ("nodes/upper/A.MD", "read nodes/upper/A.MD", ""),
        ("nodes/node_modules/a.md", "read nodes/node_modules/", "targets gone"),
        ("nodes/.hidden/a.md", "read nodes/.hidden/a.md", "targets gone"),
        ("nodes/plain/a.txt", "read nodes/plain/a.txt", "targets gone"),
    ],
)
def test_a_rule_leads_to_what_the_list_of_lessons_holds(tmp_path, path, then, waits):
    store = a_store(tmp_path)
    write(f"{store.base}/{path}", "# A lesson\n")
    put(store, a_rule("r_0000aa", then=then, targets=(then.split()[-1],)))
    (found,) = survey([ground(store)], exact=False).places
    assert found.waits.split(":")[0] == waits
    assert (found.witness is None) is bool(waits)


def test_a_link_that_leaves_the_store_is_no_witness(tmp_path):
    store = a_store(tmp_path)
    write(str(tmp_path / "outside" / "x.md"), "# Secret\n")
    os.symlink(tmp_path / "outside", f"{store.base}/nodes/out")
    put(store, a_rule("r_0000aa", then="read nodes/out/", targets=("nodes/out/",)))
    assert _waits(survey([ground(store)], exact=False)) == {"r_0000aa": "targets gone: nodes/out/"}


def test_a_lesson_is_found_by_its_id_under_any_root(tmp_path):
    store = a_store(tmp_path)
    write(f"{store.base}/docs/guide.md", "# Guide\n")
    place = ground(store, lessons_paths=("nodes", "docs"))
    assert place.lesson_path("guide") == "docs/guide.md"
    assert place.lesson_path("testing/db") == "nodes/testing/db.md"
    assert place.lesson_path("unknown") == "nodes/unknown.md"


def test_costs_are_remembered_for_lines_in_use_and_estimates_are_not(tmp_path):
    store = a_store(tmp_path)
    path = f"{store.local}/tokens.json"
    put(store, a_rule("r_0000aa"))
    assert survey([ground(store)], exact=False).counter == tokens.BYTES
    assert derived.load(path).get("lines", {}) == {}
    survey([ground(store)], exact=True)
    assert survey([ground(store)], exact=False).counter == tokens.EXACT
    put(store, a_rule("r_0000aa", when="another kind"))
    survey([ground(store)], exact=True)
    assert not any("of kind" in line for line in derived.load(path)["lines"])


@pytest.mark.parametrize(
    "content", ["{", '{"v":1,"lines":[]}', '{"v":1,"lines":{"a":[0,1],"b":3}}']
)
def test_broken_costs_are_counted_again(tmp_path, content):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"))
    write(f"{store.local}/tokens.json", content)
    found = survey([ground(store)], exact=True)
    assert found.tokens == tokens.count(found.block)


def test_deleting_the_derived_files_changes_nothing(tmp_path):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"), a_rule("r_0000bb"))
    first = survey([ground(store)], exact=True)
    for name in os.listdir(store.local):
        os.unlink(os.path.join(store.local, name))
    assert survey([ground(store)], exact=True) == first


def test_a_read_only_store_still_has_its_block(tmp_path):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"))
    write(store.local, "a file in place of the folder")
    assert rules.line(a_rule("r_0000aa")) in survey([ground(store)], exact=False).block


def test_removed_lessons_take_their_rules_out_and_bring_them_back(tmp_path):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"))
    shutil.move(f"{store.base}/nodes/testing", f"{store.base}/kept")
    assert survey([ground(store)], exact=False).block == ""
    shutil.move(f"{store.base}/kept", f"{store.base}/nodes/testing")
    assert survey([ground(store)], exact=False).block != ""


@pytest.mark.parametrize("status", ["proposed", "declined", "retired"])
def test_a_rule_that_is_not_in_use_is_never_injected_however_good_its_record(tmp_path, status):
    store = a_store(tmp_path)
    put(store, a_rule("r_000001", status=status), a_rule("r_000002", when="another"))
    for number in range(1, 9):
        line = {"session": f"s{number}", "n": number, "rows": 9, "delivered": ["r_000001"]}
        record(store, {**line, "rules": {"r_000001": "followed-useful"}}, writer=f"w{number}")
    found = survey([ground(store)], exact=False)
    assert found.waiting()["r_000001"] == status
    assert "r_000001" not in [place.rule.id for place in found.kept()]
    assert "of kind r_000001" not in found.block
    assert "another" in found.block
